"""The mathematics of each method, once more in plain loops."""

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


def drawn(network):
    """With weights, ready to be scored."""
    with torch.no_grad():
        network.draw(numbers())
    return network.eval()


def numbers():
    return torch.Generator().manual_seed(7)


def loss_of(network, rows=ROWS):
    return float(network.loss(tensor(rows), numbers()).detach())


def scores_of(network, rows=ROWS):
    with torch.no_grad():
        return network.score(tensor(rows)).numpy()


def tensor(rows):
    return torch.tensor(rows, dtype=torch.float32)


def plain(module):
    """Its weights, in double precision."""
    return [weights.detach().numpy().astype(float) for weights in module.parameters()]


def leaky(values):
    return np.where(values > 0, values, 0.2 * values)


def relu(values):
    return np.maximum(values, 0)


def through(matrices, row, bend):
    """Linear layers without bias, bent in between."""
    for matrix in matrices[:-1]:
        row = bend(matrix @ row)
    return matrices[-1] @ row


def cosine(a, b):
    return a @ b / max(np.linalg.norm(a) * np.linalg.norm(b), 1e-12)  # 0 with a zero vector


def log_softmax(values):
    return np.array([value - math.log(sum(math.exp(v) for v in values)) for value in values])


def close(ours, plainly):
    np.testing.assert_allclose(ours, plainly, rtol=2e-5, atol=1e-6)


def test_mcm():
    network = drawn(MCMNetwork(4, 15, 5.0))
    encoder, decoder = map(plain, network.auto_encoder)
    generators = plain(network.masks)
    errors, likenesses = [], []
    for row in ROWS:
        masks = [through([part[k].T for part in generators], row, relu) for k in range(15)]
        codes = [through(encoder, row / (1 + np.exp(-mask)), leaky) for mask in masks]
        restored = [through(decoder, code, leaky) for code in codes]
        errors.append(np.mean([np.linalg.norm(back - row) for back in restored]))
        likenesses.append(
            sum(
                math.log(
                    sum(math.exp(cosine(masks[i], masks[j]) / 0.1) for j in range(15) if j != i)
                )
                for i in range(15)
            )
            / abs(14 * math.log(1 / 14))
        )
    close(scores_of(network), errors)
    close(loss_of(network), np.mean(errors) + 5 * np.mean(likenesses))


def test_a_smaller_learning_rate_makes_the_loss_of_mcm_smaller():
    """As its documentation advises; the default is that of its authors."""
    X, benign = load_breast_cancer(return_X_y=True)
    usual, slower = (
        MCM(epochs=15, random_state=0, learning_rate=rate).fit(X[benign == 1]).loss_curve_[-1]
        for rate in (MCM.learning_rate, 0.005)
    )
    assert slower < usual / 2


def test_drl():
    network = drawn(DRLNetwork(4, 16, 3, 0.1, 0.06))
    basis = network.basis.numpy().astype(float)
    np.testing.assert_allclose(basis @ basis.T, np.eye(3), atol=1e-6)
    hidden = [leaky(through(plain(network.encoder), row, leaky)) for row in ROWS]
    weights = [through(plain(network.weights), row, leaky) for row in ROWS]
    rests = [hidden[i] - sum(weights[i][k] * basis[k] for k in range(3)) for i in range(5)]
    sizes = [(rest @ rest, h @ h) for rest, h in zip(rests, hidden, strict=True)]
    decomposition = np.mean([max(of_rest, of_rest / of_h) for of_rest, of_h in sizes])
    decoder = plain(network.decoder)[0]
    alignment = np.mean([1 - cosine(decoder @ hidden[i], ROWS[i]) for i in range(5)])
    sample = torch.randperm(5, generator=numbers())[:4].tolist()
    separation = sum(cosine(weights[i], weights[j]) for i in sample for j in sample if i != j) / 16
    close(scores_of(network), [np.mean(rest**2) for rest in rests])
    close(loss_of(network), decomposition + 0.1 * alignment + 0.06 * separation)


def test_the_basis_of_drl_is_not_trained():
    one, three = (small("DRL", epochs=n).fit(normal(60, 4)).network_ for n in (1, 3))
    assert torch.equal(one.basis, three.basis)
    assert not torch.equal(one.decoder.weight, three.decoder.weight)


def test_goad():
    network = drawn(GOADNetwork(4, 6, (5, 3), 0.1))
    with torch.no_grad():
        network.finish(tensor(normal(300, 4, seed=1)))
    maps = network.maps.numpy().astype(float)
    trunk, (head, bias) = plain(network.trunk), plain(network.head)

    def places(rows):
        return np.array([[leaky(trunk[0] @ (row @ maps[:, r])) for r in range(6)] for row in rows])

    def away(place, centres):
        return [np.sum((place - centre) ** 2) for centre in centres]

    centres = places(normal(300, 4, seed=1)).mean(axis=0)
    scores = [
        -sum(log_softmax(-np.array(away(z[r], centres)))[r] for r in range(6)) for z in places(ROWS)
    ]
    close(network.centres, centres)
    close(scores_of(network), scores)

    cross_entropies, triplets = [], []
    means = places(ROWS).mean(axis=0)  # of the batch
    for z in places(ROWS):
        for r in range(6):
            cross_entropies.append(-log_softmax(head @ z[r] + bias)[r])
            distances = away(z[r], means)
            nearest_other = min(distances[s] for s in range(6) if s != r)
            triplets.append(max(distances[r] + 1 - nearest_other, 0))
    close(loss_of(network), np.mean(cross_entropies) + 0.1 * np.mean(triplets))


def test_the_maps_of_goad_are_not_trained():
    one, three = (small("GOAD", epochs=n).fit(normal(60, 4)).network_ for n in (1, 3))
    assert torch.equal(one.maps, three.maps)
    assert not torch.equal(one.head.weight, three.head.weight)


@pytest.mark.parametrize("columns", [4, 40])
def test_neutralad(columns):
    rows = normal(5, columns)
    network = drawn(NeuTraLADNetwork(columns, 3, 0.1))
    first, second = plain(network.changes)
    scores = []
    for row in rows:
        views = [row] + [row + through([first[k].T, second[k].T], row, relu) for k in range(3)]
        codes = [through(plain(network.encoder), view, relu) for view in views]
        score = 0
        for k in range(1, 4):
            like = [math.exp(cosine(codes[k], codes[j]) / 0.1) for j in range(4)]
            score += math.log(like[0] + sum(like[j] for j in range(1, 4) if j != k))
            score -= cosine(codes[k], codes[0]) / 0.1
        scores.append(score)
    close(scores_of(network, rows), scores)
    close(loss_of(network, rows), np.mean(scores))


@pytest.mark.parametrize("window", [1, 2, 3])
def test_icl(window):
    network = drawn(ICLNetwork(4, window, 0.1))
    random = np.random.default_rng(0)
    for part in network.modules():
        if isinstance(part, torch.nn.BatchNorm1d):  # as if it had seen rows
            part.running_mean.copy_(torch.tensor(random.normal(size=5 - window)))
            part.running_var.copy_(torch.tensor(random.uniform(0.5, 2, size=5 - window)))

    def code(parts, values, j):
        for part in parts:
            if isinstance(part, torch.nn.Linear):
                matrix, bias = plain(part)
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
        windows = [code(network.of_window, row[j : j + window], j) for j in starts]
        rests = [np.delete(row, range(j, j + window)) for j in starts]
        complements = [code(network.of_complement, rest, j) for j, rest in enumerate(rests)]
        scores.append(
            np.mean(
                [
                    -log_softmax([cosine(complements[j], w) / 0.1 for w in windows])[j]
                    for j in starts
                ]
            )
        )
    close(scores_of(network), scores)
    close(loss_of(network), np.mean(scores))


@pytest.mark.parametrize(("columns", "window"), [(3, 2), (40, 2), (41, 10), (160, 10), (161, 11)])
def test_icl_sees_every_column_in_the_window_or_beside_it(columns, window):
    network = drawn(small("ICL")._network(columns))
    seen = {}
    for name in ("of_window", "of_complement"):
        getattr(network, name).register_forward_pre_hook(
            lambda module, inputs, name=name: seen.update({name: inputs[0][0].tolist()})
        )
    scores_of(network, np.arange(2.0 * columns).reshape(2, columns))
    assert len(seen["of_window"]) == len(seen["of_complement"]) == columns - window + 1
    for first, (inside, outside) in enumerate(
        zip(seen["of_window"], seen["of_complement"], strict=True)
    ):
        assert inside == list(range(first, first + window))
        assert outside == [c for c in range(columns) if c not in inside]


def test_dte():
    network = drawn(DTENetwork(4, 400, 7, 0.0))
    matrices, biases = plain(network.layers)[::2], plain(network.layers)[1::2]

    def log_chances(row):
        for matrix, bias in zip(matrices[:-1], biases[:-1], strict=True):
            row = relu(matrix @ row + bias)
        return log_softmax(matrices[-1] @ row + biases[-1])

    close(
        scores_of(network),
        [sum(k * math.exp(log_chances(row)[k]) for k in range(7)) for row in ROWS],
    )

    betas = [1e-4 + (1e-2 - 1e-4) * s / 399 for s in range(400)]
    sigmas = [math.sqrt(1 - math.prod(1 - beta for beta in betas[: t + 1])) for t in range(400)]
    np.testing.assert_allclose(network._sigma("cpu"), sigmas, rtol=2e-3)
    random = numbers()
    times = torch.randint(400, (5,), generator=random).tolist()
    noise = torch.randn(5, 4, generator=random).numpy()
    losses = [
        -log_chances(row + sigmas[t] * e)[7 * t // 400]
        for row, t, e in zip(ROWS, times, noise, strict=True)
    ]
    np.testing.assert_allclose(loss_of(network), np.mean(losses), rtol=1e-4)


def test_dte_begins_with_all_bins_alike():
    network = drawn(DTENetwork(4, 400, 7, 0.5))
    assert loss_of(network, normal(1000, 4)) == pytest.approx(math.log(7), abs=0.05)


def test_dte_leaves_out_as_much_as_told_in_training_only():
    whole, halved = (drawn(DTENetwork(4, 400, 7, dropout)) for dropout in (0.0, 0.5))
    assert loss_of(whole) != loss_of(halved)
    np.testing.assert_array_equal(scores_of(whole), scores_of(halved))
