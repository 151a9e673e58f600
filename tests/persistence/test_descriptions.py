"""All descriptions: round trips to the last bit, and nothing past the borders is accepted."""

import copy
import inspect
from importlib import import_module

import numpy as np
import pytest

from ctad.persistence._arrays import array_from_bytes, array_to_bytes
from ctad.persistence._descriptions import DESCRIPTIONS
from ctad.persistence._descriptions._common import NoPrinting
from ctad.persistence._kinds import (
    Array,
    Choice,
    Flag,
    Integer,
    ListOf,
    MayBeMissing,
    Names,
    NotDescribedError,
    Number,
    Object,
    Record,
    Seed,
    Text,
)
from ctad.persistence._reader import Reader, Scope

from .examples import Example
from .stored import ANYWHERE, places, restore, store

pytestmark = pytest.mark.slow

MODULES = (
    *("calibrated_detector", "calibrators", "neural_detectors", "pyod_detectors"),
    "pyod_wrappers",
    *("scikit_learn_detectors", "scikit_learn_pipelines", "scalers", "projections"),
    *("imputers", "category_encoders", "derived_features"),
    "table_encoder",
)
EXAMPLES: list[Example] = [
    example
    for module in MODULES
    for example in import_module(f".examples.{module}", __package__).EXAMPLES
]

each_example = pytest.mark.parametrize(
    "example",
    [pytest.param(each, marks=[pytest.mark.slow] * each.slow) for each in EXAMPLES],
    ids=str,
)


@pytest.fixture(scope="module")
def stored_example():
    """The stored form of an example, made once."""
    made = {}

    def get(example):
        if id(example) not in made:
            item = example.made()
            made[id(example)] = (item, *store(item))
        item, stored, entries = made[id(example)]
        return item, copy.deepcopy(stored), dict(entries)

    return get


def test_every_description_has_an_example():
    assert {example.type for example in EXAMPLES} >= DESCRIPTIONS.keys()


def assert_same(first, second):
    assert first.keys() == second.keys()
    for method in first:
        np.testing.assert_array_equal(first[method], second[method], err_msg=method)


@each_example
def test_round_trip(example, stored_example):
    item, stored, entries = stored_example(example)
    assert stored["type"] == example.type
    again = restore(stored, entries)
    assert type(again) is type(item)
    assert_same(example.results(item), example.results(again))
    # What was restored can be stored again, and is the same.
    assert store(again) == (stored, entries)


@each_example
def test_parameters_are_those_of_the_class(example):
    item = example.made()
    described = DESCRIPTIONS[example.type].parameters
    assert set(item.get_params(deep=False)) <= described.keys()
    assert not {name for name in described if "__" in name}
    assert set(described) <= set(inspect.signature(type(item)).parameters)


def outside(kind, stored, entries):
    """Values that are not of a kind: of another type, or just past a border."""
    other = [{"type": "x"}, [[]], "no such value", 1.5, True, None, 10**30, {"array": "arrays/x"}]
    match kind:
        case Flag():
            return [0, 1, None, "True", []]
        case Integer():
            return [kind.low - 1, kind.high + 1, 0.5, True, "1", None, []]
        case Seed():
            return [-1, 2**32, 0.5, True, "1"]
        case Number():
            low = [] if kind.low == -np.inf else [np.nextafter(kind.low, -np.inf)]
            high = [] if kind.high == np.inf else [np.nextafter(kind.high, np.inf)]
            special = [] if kind.infinite else ["inf", "-inf"]
            return [*low, *high, *special, *([] if kind.nan else ["nan"]), True, "x", None, []]
        case Choice():
            return [value for value in other if value not in kind.values]
        case Text():
            return [0, None, [], "\ud800"]
        case ListOf() | Names():
            items = stored if isinstance(stored, list) else []
            return [None, {}, "x", [*items, {}], [*items, *items, None]]
        case Record():
            needed = [
                name for name in stored if not isinstance(kind.fields.get(name), MayBeMissing)
            ]
            without = [{k: v for k, v in stored.items() if k != name} for name in needed]
            return [None, [], {**stored, "__class__": 1}, *without]
        case Array():
            return [None, [1.0], {"array": "arrays/999.npy"}, {"array": 0}, {"type": "x"}, 1.0]
        case Object():
            return [
                None,
                {},
                {**stored, "__array_interface__": {}},
                {**stored, "type": "os.system"},
            ]
    return []


def altered_arrays(kind, values):
    """Arrays that are not of a kind."""
    yield values.astype("float32" if kind.dtype != "float32" else "float64")
    yield values[None]
    yield values.ravel() if values.ndim > 1 else values[:, None] if values.ndim else values[None]
    if values.dtype.kind == "f" and values.size:
        if kind.finite:
            yield _with(values, np.inf)
        if not kind.nan:
            yield _with(values, np.nan)
    if kind.low is not None and values.size:
        yield _with(values, kind.low - 1 if values.dtype.kind == "i" else -np.inf)
    if isinstance(kind.high, int | float) and values.size:
        yield _with(values, kind.high + 1 if values.dtype.kind == "i" else np.inf)


def _with(values, value):
    changed = values.copy(order="K")
    changed.flat[0] = value
    return changed


def accepts(kind, value, entries=None):
    """Whether a kind, one of several at a place, accepts a value."""
    try:
        kind.read(value, Scope(Reader("", {}, entries or {})))
    except NotDescribedError:
        return False
    return True


def replaced(stored, path, value):
    """A copy of a JSON value with another value at a place."""
    changed = copy.deepcopy(stored)
    parent = changed
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = value
    return changed


@each_example
def test_values_past_the_borders_are_refused(example, stored_example):
    _, stored, entries = stored_example(example)
    n_tried = 0
    found = [place for place in places(ANYWHERE, stored, entries) if place[0]]
    for path, kind, value in found:
        others = [other for at, other, _ in found if at == path and other is not kind]
        for wrong in outside(kind, value, entries):
            if any(accepts(other, wrong) for other in others):
                continue
            n_tried += 1
            with pytest.raises(NotDescribedError):
                restore(replaced(stored, path, wrong), dict(entries))
        if isinstance(kind, Array) and isinstance(value, dict):
            name = value["array"]
            for wrong in altered_arrays(kind, array_from_bytes(entries[name])):
                changed = {**entries, name: array_to_bytes(wrong)}
                if any(accepts(other, value, changed) for other in others):
                    continue
                n_tried += 1
                with pytest.raises(NotDescribedError):
                    restore(stored, changed)
    assert n_tried > 0


@each_example
def test_unknown_attributes_are_refused(example, stored_example):
    _, stored, entries = stored_example(example)
    for part in ("parameters", "fitted"):
        for name in ("__array_interface__", "__class__", "_x", "transform"):
            changed = copy.deepcopy(stored)
            changed[part] = {**(changed[part] or {}), name: 1}
            with pytest.raises(NotDescribedError):
                restore(changed, entries)
    with pytest.raises(NotDescribedError):
        restore(stored, {**entries, "arrays/999.npy": array_to_bytes(np.zeros(1))})


@each_example
def test_objects_with_more_attributes_cannot_be_stored(example):
    item = copy.copy(example.made())  # examples may be shared
    item.one_more_ = 1
    with pytest.raises(NotDescribedError, match="one_more_"):
        store(item)


@each_example
def test_parameters_left_out_have_their_default(example, stored_example):
    item, stored, entries = stored_example(example)
    defaults = inspect.signature(type(item)).parameters
    described = DESCRIPTIONS[example.type].parameters
    for name in stored["parameters"]:
        if isinstance(described[name], NoPrinting):
            continue
        changed = copy.deepcopy(stored)
        del changed["parameters"][name]
        try:
            again = restore(changed, entries)
        except NotDescribedError:  # the fitted values are not those of the default
            continue
        default, value = defaults[name].default, DESCRIPTIONS[example.type].given(again)[name]
        is_nan = value != value and default != default
        assert value is default or value == default or is_nan
