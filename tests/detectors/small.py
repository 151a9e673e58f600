"""Neural detectors that are quick to train."""

from ctad.detectors import make

# name: options that leave the method as it is, but smaller or shorter
SMALL = {
    "MCM": {"epochs": 2, "n_masks": 4},
    "DRL": {"epochs": 2},
    "GOAD": {"n_maps": 16},
    "NeuTraLAD": {"epochs": 2},
    "ICL": {"epochs": 2},
    "DTE": {"epochs": 2},
}
SMALL_OF_PYOD = {"DeepSVDD": {"epochs": 2}, "AutoEncoder": {"epoch_num": 2}}
# Once more with enough training to tell what is far off.
TRAINED = {
    "MCM": {"epochs": 100, "n_masks": 4},
    "DRL": {"epochs": 20},
    "GOAD": {"n_maps": 64, "epochs": 5},
    "NeuTraLAD": {"epochs": 20},
    "ICL": {"epochs": 20},
    "DTE": {"epochs": 40},
}


def small(name, **options):
    """One of these, seeded unless told otherwise."""
    return make(name, **{"random_state": 0, **(SMALL | SMALL_OF_PYOD)[name], **options})
