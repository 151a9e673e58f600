"""Neural detectors that train quickly."""

from ctad.detectors import make

# name: options that make the network small or the training short
SMALL = {
    "MCM": {"epochs": 2, "n_masks": 3},
    "DRL": {"epochs": 2},
    "GOAD": {"n_maps": 16},
    "NeuTraLAD": {"epochs": 2},
    "ICL": {"epochs": 2},
    "DTE": {"epochs": 2},
}
SMALL_OF_PYOD = {"DeepSVDD": {"epochs": 2}, "AutoEncoder": {"epoch_num": 2}}
# The same with enough training to find clear anomalies.
TRAINED = {
    "MCM": {"epochs": 8, "n_masks": 3, "batch_size": 64, "learning_rate": 0.005},
    "DRL": {"epochs": 20},
    "GOAD": {"n_maps": 32, "epochs": 4},
    "NeuTraLAD": {"epochs": 20},
    "ICL": {"epochs": 6, "batch_size": 16},
    "DTE": {"epochs": 10, "learning_rate": 1e-3},
}


def small(name, **options):
    """A small detector, by default with seed 0."""
    return make(name, **{"random_state": 0, **(SMALL | SMALL_OF_PYOD)[name], **options})
