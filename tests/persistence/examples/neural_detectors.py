"""Neural detectors of ctad and PyOD, hardly trained."""

from contextlib import redirect_stdout

import pandas as pd
from pyod.models.auto_encoder import AutoEncoder
from pyod.models.deep_svdd import DeepSVDD
from pyod.models.lunar import LUNAR
from pyod.models.mo_gaal import MO_GAAL
from pyod.models.so_gaal import SO_GAAL
from sklearn.base import clone

from ctad.detectors import make

from . import RANDOM, X_NEW, X_TRAIN, Example

FRAMES = [pd.DataFrame(rows, columns=["a", "b", "c"]) for rows in (X_TRAIN, X_NEW)]
WIDE = RANDOM.normal(size=(20, 45))
ONE_COLUMN = X_TRAIN[:, :1]


def own(name, what="", *, rows=(X_TRAIN, X_NEW), **options):
    """An example of ctad's own detectors."""
    detector = make(name, epochs=1, random_state=0, **options)
    module = f"ctad.detectors.{name.lower()}.{name}"
    return Example(module, lambda: detector.fit(rows[0]), rows[1], what)


def deep_svdd(what="", rows=X_TRAIN, **options):
    """Examples of PyOD's class and of ctad's subclass."""
    options = {"hidden_neurons": [5, 4], "epochs": 1, "verbose": 0, "random_state": 0} | options
    n = rows.shape[1]
    yield Example(
        "pyod.models.deep_svdd.DeepSVDD",
        lambda: DeepSVDD(n, **options).fit(rows),
        X_NEW[:, :n],
        f"of PyOD {what}",
    )
    yield Example(
        "ctad.detectors._pyod_networks.DeepSVDD",
        lambda: make("DeepSVDD", **options).fit(rows),
        X_NEW[:, :n],
        f"of ctad {what}",
    )


def auto_encoder(what="", rows=X_TRAIN, **options):
    """Examples of PyOD's class and of ctad's subclass."""
    options = {"hidden_neuron_list": [4, 2], "epoch_num": 1, "verbose": 0} | options
    new_rows = X_NEW[:, : rows.shape[1]].astype(rows.dtype)
    yield Example(
        "pyod.models.auto_encoder.AutoEncoder",
        lambda: AutoEncoder(**options).fit(rows),
        new_rows,
        f"of PyOD {what}",
    )
    yield Example(
        "ctad.detectors._pyod_networks.AutoEncoder",
        lambda: make("AutoEncoder", **options).fit(rows),
        new_rows,
        f"of ctad {what}",
    )


def other(what, detector):
    """An example of PyOD's other networks, which print while they train."""

    def fit():
        with redirect_stdout(None):
            return clone(detector).fit(X_TRAIN)

    return Example(f"{type(detector).__module__}.{type(detector).__name__}", fit, name=what)


EXAMPLES = [
    own("DRL", width=8),
    own("DRL", "of a data frame", rows=FRAMES, width=4, n_basis=2, scaling="none"),
    own("DRL", "of one column", rows=(ONE_COLUMN, X_NEW[:, :1]), width=2, n_basis=1, patience=1),
    own("DTE", n_bins=3),
    own("GOAD", n_maps=4, map_width=5),
    own("GOAD", "of three layers", n_maps=4, map_width=5, n_layers=3, width=2, scaling="minmax"),
    own("ICL"),
    own("ICL", "of many columns", rows=(WIDE, WIDE[:5]), window=40),
    own("MCM", n_masks=2, betas=(0.5, 0.9)),
    own("NeuTraLAD", n_views=2),
    *deep_svdd(),
    *deep_svdd("with a decoder", use_ae=True, hidden_neurons=[4, 3, 2], hidden_activation="elu"),
    *deep_svdd("without scaling", preprocessing=False, c=0.5, optimizer="sgd"),
    *deep_svdd("of one column", ONE_COLUMN, hidden_neurons=[2, 1], hidden_activation="tanh"),
    *auto_encoder(),
    *auto_encoder("without batch normalisation", batch_norm=False, preprocessing=False),
    *auto_encoder("in single precision", X_TRAIN.astype("float32"), hidden_neuron_list=[1]),
    *auto_encoder("on a device", device="cpu", optimizer_name="sgd", optimizer_params={}),
    other("", SO_GAAL(stop_epochs=1)),
    other("", MO_GAAL(k=2, stop_epochs=1)),
    other("", LUNAR(n_epochs=1, n_neighbours=2, random_state=0)),
    other("without scaling", LUNAR("SCORE", 3, scaler=False, n_epochs=1, metric="manhattan")),
]
