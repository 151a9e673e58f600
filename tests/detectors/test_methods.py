"""Losses and scores of each method, compared with plain loops over the formulas."""

import math

import numpy as np
import pytest
import torch
from sklearn.datasets import load_breast_cancer

from ctad.detectors.drl import DRLNetwork
from ctad.detectors.dte import DTENetwork
from ctad.detectors.goad import GOADNetwork
from ctad.detectors.icl import ICLNetwork
from ctad.detectors.mcm import MCM, MCMNetwork
from ctad.detectors.neutralad import NeuTraLADNetwork

from ..data import normal
from .small import small

ROWS = normal(5, 4)


def initialised(network):
    """The network with weights, ready to score."""
    with torch.no_grad():
        network.initialise(generator())
    return network.eval()


def generator():
    return torch.Generator().manual_seed(7)


def loss_of(network, rows=ROWS):
    return float(network.loss(tensor(rows), generator()).detach())


def scores_of(network, rows=ROWS):
    with torch.no_grad():
        return network.score(tensor(rows)).numpy()


def tensor(rows):
    return torch.tensor(rows, dtype=torch.float32)


def weights_of(module):
    """In double precision."""
    return [weights.detach().numpy().astype(float) for weights in module.parameters()]


def leaky(values):
    return np.where(values > 0, values, 0.2 * values)


def relu(values):
    return np.maximum(values, 0)


def through(matrices, row, activation):
    """Linear layers without bias, with an activation in between."""
    for matrix in matrices[:-1]:
        row = activation(matrix @ row)
    return matrices[-1] @ row


def cosine(a, b):
    return a @ b / max(np.linalg.norm(a) * np.linalg.norm(b), 1e-12)  # 0 with a zero vector


def log_softmax(values):
    return np.array([value - math.log(sum(math.exp(v) for v in values)) for value in values])


def assert_close(ours, expected):
    np.testing.assert_allclose(ours, expected, rtol=2e-5, atol=1e-6)


def test_mcm():
    network = initialised(MCMNetwork(4, 15, 5.0))
    encoder, decoder = map(weights_of, network.auto_encoder)
    generators = weights_of(network.mask_generators)
    errors, similarities = [], []
    for row in ROWS:
        masks = [through([part[k].T for part in generators], row, relu) for k in range(15)]
        codes = [through(encoder, row / (1 + np.exp(-mask)), leaky) for mask in masks]
        reconstructed = [through(decoder, code, leaky) for code in codes]
        errors.append(np.mean([np.linalg.norm(back - row) for back in reconstructed]))
        similarities.append(
            sum(
                math.log(
                    sum(math.exp(cosine(masks[i], masks[j]) / 0.1) for j in range(15) if j != i)
                )
                for i in range(15)
            )
            / abs(14 * math.log(1 / 14))
        )
    assert_close(scores_of(network), errors)
    assert_close(loss_of(network), np.mean(errors) + 5 * np.mean(similarities))


def test_a_smaller_learning_rate_makes_the_loss_of_mcm_smaller():
    """As its documentation says; the default is its authors' value."""
    X, benign = load_breast_cancer(return_X_y=True)
    rows = X[benign == 1][:100]
    default, smaller = (
        MCM(n_masks=5, epochs=8, random_state=0, learning_rate=rate).fit(rows).loss_curve_[-1]
        for rate in (MCM.learning_rate, 0.005)
    )
    assert smaller < default / 2


def test_drl():
    network = initialised(DRLNetwork(4, 16, 3, 0.1, 0.06))
    basis = network.basis.numpy().astype(float)
    np.testing.assert_allclose(basis @ basis.T, np.eye(3), atol=1e-6)
    hidden = [leaky(through(weights_of(network.encoder), row, leaky)) for row in ROWS]
    weights = [through(weights_of(network.coefficients), row, leaky) for row in ROWS]
    residuals = [hidden[i] - sum(weights[i][k] * basis[k] for k in range(3)) for i in range(5)]
    sizes = [(rest @ rest, h @ h) for rest, h in zip(residuals, hidden, strict=True)]
    decomposition = np.mean([max(of_rest, of_rest / of_h) for of_rest, of_h in sizes])
    decoder = weights_of(network.decoder)[0]
    alignment = np.mean([1 - cosine(decoder @ hidden[i], ROWS[i]) for i in range(5)])
    sample = torch.randperm(5, generator=generator())[:4].tolist()
    separation = sum(cosine(weights[i], weights[j]) for i in sample for j in sample if i != j) / 16
    assert_close(scores_of(network), [np.mean(rest**2) for rest in residuals])
    assert_close(loss_of(network), decomposition + 0.1 * alignment + 0.06 * separation)


def test_the_basis_of_drl_is_not_trained():
    one, three = (small("DRL", epochs=n).fit(normal(60, 4)).network_ for n in (1, 3))
    assert torch.equal(one.basis, three.basis)
    assert not torch.equal(one.decoder.weight, three.decoder.weight)


def test_goad():
    network = initialised(GOADNetwork(4, 6, (5, 3), 0.1))
    with torch.no_grad():
        network.after_training(tensor(normal(300, 4, seed=1)))
    maps = network.maps.numpy().astype(float)
    trunk, (head, bias) = weights_of(network.encoder), weights_of(network.classifier)

    def embeddings(rows):
        return np.array([[leaky(trunk[0] @ (row @ maps[:, r])) for r in range(6)] for row in rows])

    def squared_distances(embedding, centres):
        return [np.sum((embedding - centre) ** 2) for centre in centres]

    centres = embeddings(normal(300, 4, seed=1)).mean(axis=0)
    scores = [
        -sum(log_softmax(-np.array(squared_distances(z[r], centres)))[r] for r in range(6))
        for z in embeddings(ROWS)
    ]
    assert_close(network.centres, centres)
    assert_close(scores_of(network), scores)

    cross_entropies, triplets = [], []
    means = embeddings(ROWS).mean(axis=0)  # of the batch
    for z in embeddings(ROWS):
        for r in range(6):
            cross_entropies.append(-log_softmax(head @ z[r] + bias)[r])
            distances = squared_distances(z[r], means)
            nearest_other = min(distances[s] for s in range(6) if s != r)
            triplets.append(max(distances[r] + 1 - nearest_other, 0))
    assert_close(loss_of(network), np.mean(cross_entropies) + 0.1 * np.mean(triplets))


def test_the_maps_of_goad_are_not_trained():
    one, three = (small("GOAD", epochs=n).fit(normal(60, 4)).network_ for n in (1, 3))
    assert torch.equal(one.maps, three.maps)
    assert not torch.equal(one.classifier.weight, three.classifier.weight)


@pytest.mark.parametrize("columns", [4, 40])
def test_neutralad(columns):
    rows = normal(5, columns)
    network = initialised(NeuTraLADNetwork(columns, 3, 0.1))
    first, second = weights_of(network.transformations)
    scores = []
    for row in rows:
        views = [row] + [row + through([first[k].T, second[k].T], row, relu) for k in range(3)]
        codes = [through(weights_of(network.encoder), view, relu) for view in views]
        score = 0
        for k in range(1, 4):
            like = [math.exp(cosine(codes[k], codes[j]) / 0.1) for j in range(4)]
            score += math.log(like[0] + sum(like[j] for j in range(1, 4) if j != k))
            score -= cosine(codes[k], codes[0]) / 0.1
        scores.append(score)
    assert_close(scores_of(network, rows), scores)
    assert_close(loss_of(network, rows), np.mean(scores))


@pytest.mark.parametrize("window", [1, 2, 3])
def test_icl(window):
    network = initialised(ICLNetwork(4, window, 0.1))
    random = np.random.default_rng(0)
    for part in network.modules():
        if isinstance(part, torch.nn.BatchNorm1d):  # as after training
            part.running_mean.copy_(torch.tensor(random.normal(size=5 - window)))
            part.running_var.copy_(torch.tensor(random.uniform(0.5, 2, size=5 - window)))

    def code(parts, values, j):
        for part in parts:
            if isinstance(part, torch.nn.Linear):
                matrix, bias = weights_of(part)
                values = matrix @ values + bias
            elif isinstance(part, torch.nn.BatchNorm1d):
                scale = math.sqrt(float(part.running_var[j]) + 1e-5)
                values = (values - float(part.running_mean[j])) / scale
            else:
                values = np.tanh(values) if isinstance(part, torch.nn.Tanh) else leaky(values)
        return values

    scores = []
    for row in ROWS:
        starts = range(4 - window + 1)
        windows = [code(network.window_encoder, row[j : j + window], j) for j in starts]
        rests = [np.delete(row, range(j, j + window)) for j in starts]
        complements = [code(network.complement_encoder, rest, j) for j, rest in enumerate(rests)]
        scores.append(
            np.mean(
                [
                    -log_softmax([cosine(complements[j], w) / 0.1 for w in windows])[j]
                    for j in starts
                ]
            )
        )
    assert_close(scores_of(network), scores)
    assert_close(loss_of(network), np.mean(scores))


@pytest.mark.parametrize(("columns", "window"), [(3, 2), (40, 2), (41, 10), (160, 10), (161, 11)])
def test_icl_sees_every_column_in_the_window_or_beside_it(columns, window):
    detector = small("ICL")
    detector.n_features_in_ = columns
    assert detector.window_ == window
    network = initialised(detector._build_network(columns))
    seen = {}
    for name in ("window_encoder", "complement_encoder"):
        getattr(network, name).register_forward_pre_hook(
            lambda module, inputs, name=name: seen.update({name: inputs[0][0].tolist()})
        )
    scores_of(network, np.arange(2.0 * columns).reshape(2, columns))
    assert len(seen["window_encoder"]) == len(seen["complement_encoder"]) == columns - window + 1
    for first, (inside, outside) in enumerate(
        zip(seen["window_encoder"], seen["complement_encoder"], strict=True)
    ):
        assert inside == list(range(first, first + window))
        assert outside == [c for c in range(columns) if c not in inside]


def test_dte():
    network = initialised(DTENetwork(4, 400, 7, 0.0))
    matrices, biases = weights_of(network.layers)[::2], weights_of(network.layers)[1::2]

    def log_probabilities(row):
        for matrix, bias in zip(matrices[:-1], biases[:-1], strict=True):
            row = relu(matrix @ row + bias)
        return log_softmax(matrices[-1] @ row + biases[-1])

    assert_close(
        scores_of(network),
        [sum(k * math.exp(log_probabilities(row)[k]) for k in range(7)) for row in ROWS],
    )

    betas = [1e-4 + (1e-2 - 1e-4) * s / 399 for s in range(400)]
    sigmas = [math.sqrt(1 - math.prod(1 - beta for beta in betas[: t + 1])) for t in range(400)]
    np.testing.assert_allclose(network._sigma("cpu"), sigmas, rtol=2e-3)
    random = generator()
    times = torch.randint(400, (5,), generator=random).tolist()
    noise = torch.randn(5, 4, generator=random).numpy()
    losses = [
        -log_probabilities(row + sigmas[t] * e)[7 * t // 400]
        for row, t, e in zip(ROWS, times, noise, strict=True)
    ]
    np.testing.assert_allclose(loss_of(network), np.mean(losses), rtol=1e-4)


def test_dte_starts_with_equal_probabilities_of_all_bins():
    network = initialised(DTENetwork(4, 400, 7, 0.5))
    assert loss_of(network, normal(1000, 4)) == pytest.approx(math.log(7), abs=0.05)


def test_dte_uses_dropout_in_training_only():
    without, with_dropout = (initialised(DTENetwork(4, 400, 7, dropout)) for dropout in (0.0, 0.5))
    assert loss_of(without) != loss_of(with_dropout)
    np.testing.assert_array_equal(scores_of(without), scores_of(with_dropout))
