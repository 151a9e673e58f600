"""Parameters of neural detectors: wrong ones are refused by name, the smallest ones work."""

from inspect import signature

import numpy as np
import pytest
import torch

from ctad.detectors import make
from ctad.errors import InputError

from ..data import normal
from .small import SMALL, small

X_TRAIN = normal(60, 5)

WRONG = [
    ("DRL", {"epochs": 0}, "epochs must be an integer >= 1, not 0"),
    ("DRL", {"epochs": True}, "epochs"),
    ("DRL", {"epochs": None}, "epochs"),
    ("DRL", {"batch_size": 2.5}, "batch_size must be an integer >= 1, not 2.5"),
    ("DRL", {"max_steps": 0}, "max_steps must be an integer >= 1 or None, not 0"),
    ("DRL", {"learning_rate": -1}, "learning_rate must be a number >= 0, not -1"),
    ("DRL", {"learning_rate": np.nan}, "learning_rate"),
    ("DRL", {"learning_rate": np.inf}, "learning_rate"),
    ("DRL", {"learning_rate": "fast"}, "learning_rate"),
    ("DRL", {"learning_rate": None}, "learning_rate"),
    ("DRL", {"weight_decay": -1}, "weight_decay"),
    ("DRL", {"betas": (0.9, 1.0)}, r"betas must be two numbers in \[0, 1\)"),
    ("DRL", {"betas": (0.9,)}, "betas"),
    ("DRL", {"betas": 0.9}, "betas"),
    ("DRL", {"decay": -0.1}, "decay"),
    ("DRL", {"decay_epochs": 0}, "decay_epochs"),
    ("DRL", {"shuffle": "yes"}, "shuffle must be True or False, not 'yes'"),
    ("DRL", {"scaling": "robust"}, "scaling must be one of 'standard'"),
    ("DRL", {"scaling": None}, "scaling"),
    ("DRL", {"patience": 0}, "patience"),
    ("DRL", {"contamination": 0.9}, r"contamination must be in \(0, 0.5\]"),
    ("DRL", {"device": "tpu"}, "device must be one of 'auto', 'cpu', 'cuda', not 'tpu'"),
    ("DRL", {"show_progress": 1}, "show_progress"),
    ("DRL", {"n_basis": 129}, "n_basis must be an integer from 1 to 128, not 129"),
    ("DRL", {"width": 0}, "width"),
    ("DTE", {"dropout": 1}, "dropout must be a number from 0 to 0.99, not 1"),
    ("DTE", {"n_bins": 1}, "n_bins must be an integer from 2 to 400, not 1"),
    ("DTE", {"n_bins": 401}, "n_bins must be an integer from 2 to 400, not 401"),
    ("DTE", {"n_steps": 1}, "n_steps must be an integer >= 2"),
    ("GOAD", {"n_maps": 1}, "n_maps must be an integer >= 2"),
    ("GOAD", {"n_layers": 101}, "n_layers must be an integer from 1 to 100, not 101"),
    ("ICL", {"temperature": 0}, "temperature must be a number >= 1e-06, not 0"),
    ("ICL", {"window": 0}, "window"),
    ("ICL", {"window": 5}, "more than its window of 5, but X has 5"),
    ("ICL", {"stop_loss": -1}, "stop_loss must be a number >= 0 or None, not -1"),
    ("MCM", {"n_masks": 0}, "n_masks"),
    ("MCM", {"diversity_weight": -1}, "diversity_weight"),
    ("NeuTraLAD", {"n_views": 1}, "n_views must be an integer >= 2"),
    ("NeuTraLAD", {"temperature": 0}, "temperature"),
]


@pytest.mark.parametrize(("name", "parameters", "message"), WRONG)
def test_wrong_parameters_are_refused_by_name(name, parameters, message):
    with pytest.raises(InputError, match=message):
        small(name, **parameters).fit(X_TRAIN)


@pytest.mark.parametrize(
    ("name", "parameter"),
    [
        (name, parameter)
        for name in SMALL
        for parameter in signature(type(make(name))).parameters
        if parameter != "random_state"  # scikit-learn checks it
    ],
)
def test_every_parameter_is_checked(name, parameter):
    with pytest.raises(InputError, match=f"^{parameter} must be "):
        small(name, **{parameter: object()}).fit(X_TRAIN)


def test_a_seed_that_is_not_one_is_refused():
    with pytest.raises(ValueError, match="seed"):
        small("DRL", random_state="seed").fit(X_TRAIN)


@pytest.mark.skipif(torch.cuda.is_available(), reason="cuda is available")
def test_a_device_that_is_not_available_is_refused():
    with pytest.raises(InputError, match="device='cuda': PyTorch finds no cuda device"):
        small("DRL", device="cuda").fit(X_TRAIN)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        *[("MCM", {"n_masks": n}) for n in (1, 2, 3)],
        *[("ICL", {"window": n}) for n in (1, 4)],
        ("DRL", {"n_basis": 128}),
        ("DRL", {"width": 1, "n_basis": 1}),
        ("DRL", {"learning_rate": 0, "betas": [0, 0.5], "epochs": np.int64(1)}),
        ("DTE", {"n_steps": 2, "n_bins": 2, "dropout": 0}),
        ("GOAD", {"n_maps": 2, "map_width": 1, "width": 1}),
        ("NeuTraLAD", {"n_views": 2, "temperature": 1e-6}),
    ],
)
def test_the_smallest_and_largest_parameters_work(name, parameters):
    scores = small(name, **parameters).fit(X_TRAIN).decision_scores_
    assert np.isfinite(scores).all()
    assert len(set(scores)) > 1
