"""Defaults and sizes of the networks are those of the papers."""

from itertools import pairwise

import pytest
import torch

from ctad.detectors import make

# Values of the papers. Scaling, shuffling and ICL's batch size are ours (see the classes).
DEFAULTS = {
    "MCM": {
        **{"n_masks": 15, "diversity_weight": 5, "epochs": 200, "batch_size": 512},
        **{"learning_rate": 0.05, "weight_decay": 1e-5, "decay": 0.98, "decay_epochs": 1},
    },
    "DRL": {
        **{"n_basis": 5, "width": 128, "alignment_weight": 0.1, "separation_weight": 0.06},
        **{"epochs": 200, "batch_size": 512, "learning_rate": 0.05, "weight_decay": 1e-5},
        **{"decay": 0.98, "decay_epochs": 1},
    },
    "GOAD": {
        **{"n_maps": 256, "map_width": 32, "n_layers": 1, "width": 8, "triplet_weight": 0.1},
        **{"epochs": 1, "batch_size": 64, "learning_rate": 1e-3, "betas": (0.5, 0.999)},
    },
    "NeuTraLAD": {
        **{"n_views": 11, "temperature": 0.1, "epochs": 200, "batch_size": 128},
        **{"learning_rate": 1e-3, "decay": 0.5},
    },
    "ICL": {"temperature": 0.01, "epochs": 2000, "learning_rate": 1e-3},
    "DTE": {
        **{"n_steps": 400, "n_bins": 7, "dropout": 0.5, "epochs": 400, "batch_size": 64},
        **{"learning_rate": 1e-4, "weight_decay": 5e-4},
    },
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults_are_the_papers(name):
    parameters = make(name).get_params()
    assert {key: parameters[key] for key in DEFAULTS[name]} == DEFAULTS[name]


def chain(*widths):
    return [[n_out, n_in] for n_in, n_out in pairwise(widths)]


def with_biases(*widths):
    return [shape for n_out, n_in in chain(*widths) for shape in ([n_out, n_in], [n_out])]


def norm(n):
    return [[n], [n]]  # scale and shift


# (detector, columns): shapes of the trained weights, (outputs, inputs), in the method's order
SHAPES = {
    ("MCM", 9): [
        *[[15, 9, 9]] * 3,
        *chain(9, 256, 256, 128),
        *chain(128, 256, 256, 9),
    ],
    ("DRL", 9): [*chain(9, 128, 128), *chain(9, 128, 5), [9, 128]],
    ("GOAD", 9): [[8, 32], *with_biases(8, 256)],
    **{
        ("NeuTraLAD", d): [[11, d, h], [11, h, d], *chain(d, h, h, h, h, z)]
        for d, h, z in ((9, 18, 18), (31, 62, 62), (32, 64, 32), (300, 64, 32), (301, 256, 64))
    },
    **{
        ("ICL", d): [
            *(*with_biases(k, 50), *norm(d - k + 1), *with_biases(50, 100, 200)),
            *(*with_biases(d - k, 200), *norm(d - k + 1)),
            *(*with_biases(200, 400), *norm(d - k + 1), *with_biases(400, 200)),
        ]
        for d, k in ((9, 2), (40, 2), (41, 10), (160, 10), (161, 11))
    },
    ("DTE", 9): with_biases(9, 256, 512, 256, 7),
}


@pytest.mark.parametrize(("name", "columns"), SHAPES)
def test_networks_have_the_papers_sizes(name, columns):
    with torch.device("meta"):
        network = make(name)._build_network(columns)
    assert [list(weights.shape) for weights in network.parameters()] == SHAPES[name, columns]


def test_random_tensors_that_are_not_trained_have_the_papers_sizes():
    with torch.device("meta"):
        assert make("DRL")._build_network(9).basis.shape == (5, 128)
        assert make("GOAD")._build_network(9).maps.shape == (9, 256, 32)


@pytest.mark.parametrize(("columns", "stop_loss"), [(40, 0.001), (41, 0.01)])
def test_icl_stops_at_the_papers_loss(columns, stop_loss):
    detector = make("ICL")
    detector.n_features_in_ = columns
    assert detector.stop_loss_ == stop_loss
    assert detector._may_stop(0.9 * stop_loss)
    assert not detector._may_stop(1.1 * stop_loss)


def test_activations_have_the_papers_slope():
    with torch.device("meta"):
        networks = {name: make(name)._build_network(9) for name in DEFAULTS}
    slopes = {
        part.negative_slope
        for network in networks.values()
        for part in network.modules()
        if isinstance(part, torch.nn.LeakyReLU)
    }
    assert slopes == {0.2}
