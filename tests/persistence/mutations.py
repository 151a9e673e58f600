"""Stored models, altered at random. The schema says where, and what would still be accepted."""

from __future__ import annotations

import io
import itertools
import json
import math
import random
import struct
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ctad.persistence import _kinds as kinds
from ctad.persistence._arrays import array_from_bytes, array_to_bytes
from ctad.persistence._descriptions import DESCRIPTIONS

from .stored import ANYWHERE, places

Path = tuple[str | int, ...]

# Values of every type that JSON has, and some that mean something elsewhere.
ODD_VALUES = (
    *(None, True, False, 0, 1, -1, 2, 3, 255, 2**31, -(2**31), 2**53, 2**53 + 1, 2**63, 10**400),
    *(0.0, -0.0, 0.5, 1e-300, 5e-324, 1e308, -1e308, "inf", "-inf", "nan", "NaN"),
    *("", "x", "auto", "scale", "precomputed", "euclidean", "__class__", "arrays/0.npy"),
    *("\ud800", "\x1b[2J\x07", "a\0b", "\u202e", "x" * 10_000, "os.system"),
    *([], {}, [[]], [1], [None], {"array": "arrays/0.npy"}, {"array": "arrays/99999.npy"}),
    *({"function": "system"}, {"type": "x", "trusted": "trusted/0.skops"}),
    {"type": "sklearn.preprocessing.StandardScaler", "parameters": {}, "fitted": None},
)
NAMES = (
    *("__class__", "__dict__", "__array_interface__", "__reduce__", "__setstate__", "_x"),
    *("fit", "transform", "decision_function", "predict", "n_features_in_", "feature_names_in_"),
    *("threshold_", "labels_", "random_state", "n_jobs", "novelty", "kernel", "metric"),
)
FLOATS = (
    *(0.0, -0.0, 1.0, -1.0, 2.0, 0.5, 1e-8, 1e8, -1e8, 1e16, 1e-16, 1e155, -1e155, 1e300),
    *(1e-300, 5e-324, 1.7e308, -1.7e308, np.nan, np.inf, -np.inf, 3.4e38, 1e-45),
)
INTEGERS = (0, 1, 2, 3, -1, -2, -3, 10, 255, 2**31 - 1, 2**31, -(2**31), 2**62, 2**63 - 1, -(2**63))
DTYPES = ("<f8", "<f4", "<i8", "<i4", "|b1", "|u1", ">f8", ">i8", "<f2", "<u8", "<c16", "<U1")


@dataclass(frozen=True)
class Place:
    """A value in the JSON of a model; `owner` is the path of the object whose lengths it has."""

    path: Path
    kind: Any
    owner: Path


@dataclass(frozen=True)
class Side:
    """A value with a length of a name: a side of an array, a list, or the length as an integer."""

    place: Place
    axis: int
    more: int  # "bins+1" is one more than "bins"


class Model:
    """A model as data, as in its file, and what the schema says about it.

    Parameters
    ----------
    stored : dict
        The object as JSON.
    entries : dict of str to bytes
    """

    def __init__(self, stored: dict[str, Any], entries: dict[str, bytes]) -> None:
        self.stored, self.entries = stored, entries

    @cached_property
    def places(self) -> list[Place]:
        """All values with their kinds. The same value may have several kinds."""
        found, owners = [], []
        for path, kind, value in places(ANYWHERE, self.stored, self.entries):
            owner = max((o for o in owners if path[: len(o)] == o), key=len, default=())
            found.append(Place(path, kind, owner))
            is_object = isinstance(kind, kinds.Object) and isinstance(value, dict)
            if is_object or getattr(kind, "own_lengths", False):
                owners.append(path)
        return found

    def of_kind(self, *wanted: type) -> list[Place]:
        """All values of these kinds."""
        return [place for place in self.places if isinstance(place.kind, wanted)]

    @cached_property
    def arrays(self) -> list[Place]:
        """All arrays."""
        return [p for p in self.of_kind(kinds.Array) if isinstance(at(self.stored, p.path), dict)]

    @cached_property
    def objects(self) -> list[Place]:
        """All objects inside the model."""
        objects = [
            place
            for place in self.of_kind(kinds.Object)
            if place.path and isinstance(at(self.stored, place.path), dict)
        ]
        return [place for place in objects if "parameters" in at(self.stored, place.path)]

    @cached_property
    def keys(self) -> list[Path]:
        """The path of every value in the JSON, with and without a kind."""

        def walk(value: Any, path: Path) -> Iterator[Path]:
            inside: Any = ()
            if isinstance(value, dict):
                inside = value.items()
            elif isinstance(value, list):
                inside = enumerate(value)
            for key, item in inside:
                yield (*path, key)
                yield from walk(item, (*path, key))

        return list(walk(self.stored, ()))

    @cached_property
    def lengths(self) -> dict[tuple[Path, str], tuple[int, list[Side]]]:
        """The lengths of each object by name: the value, and all values that have this length."""
        found: dict[tuple[Path, str], tuple[int, list[Side]]] = {}
        for place in self.places:
            value = at(self.stored, place.path)
            named: list[tuple[Any, int, int]] = []
            if isinstance(place.kind, kinds.Array) and isinstance(value, dict):
                shape = array_from_bytes(self.entries[value["array"]]).shape
                if len(shape) == len(place.kind.shape):
                    named = [
                        (name, axis, shape[axis]) for axis, name in enumerate(place.kind.shape)
                    ]
            elif isinstance(place.kind, kinds.ListOf | kinds.Names) and isinstance(value, list):
                named = [(place.kind.length, 0, len(value))]
            elif isinstance(place.kind, kinds.Integer) and isinstance(value, int):
                named = [(place.kind.length, -1, value)]
            for name, axis, length in named:
                if isinstance(name, str) and name != kinds.ANY_LENGTH:
                    name, _, more = name.partition("+")
                    side = Side(place, axis, int(more or 0))
                    _, sides = found.setdefault((place.owner, name), (length - side.more, []))
                    sides.append(side)
        return found

    def part(self, place: Place) -> Model:
        """An object inside the model, as a model of its own."""
        stored = at(self.stored, place.path)
        text = json.dumps(stored)
        return Model(stored, {name: e for name, e in self.entries.items() if f'"{name}"' in text})


def at(value: Any, path: Path) -> Any:
    """A value in JSON."""
    for key in path:
        value = value[key]
    return value


class Draft:
    """A model that is being altered. The original stays as it is."""

    def __init__(self, model: Model, choose: random.Random, pool: Sequence[Model]) -> None:
        self.model, self.choose, self.pool = model, choose, pool
        self.stored: Any = model.stored
        self.entries = dict(model.entries)
        self.random = np.random.default_rng(choose.getrandbits(64))
        self._numbers = itertools.count(len(self.entries) + 1000)

    def set(self, path: Path, value: Any) -> None:
        """Replace a value, or add one."""
        self.stored = _replaced(self.stored, path, value)

    def remove(self, path: Path) -> None:
        """Remove a value."""
        parent = at(self.stored, path[:-1])
        if isinstance(parent, dict):
            rest: Any = {key: value for key, value in parent.items() if key != path[-1]}
        else:
            rest = [value for number, value in enumerate(parent) if number != path[-1]]
        self.set(path[:-1], rest)

    def array(self, path: Path) -> Any:
        """An array."""
        return array_from_bytes(self.entries[at(self.stored, path)["array"]]).copy(order="K")

    def set_array(self, path: Path, values: Any) -> None:
        """Replace an array, also by one that the format does not have."""
        content = values if isinstance(values, bytes) else array_to_bytes(np.asanyarray(values))
        self.entries[at(self.stored, path)["array"]] = content

    def add_part(self, path: Path, part: Model) -> None:
        """Put another object at a place, with its arrays."""
        names = {name: f"arrays/{next(self._numbers)}.npy" for name in part.entries}
        self.set(path, _renamed(part.stored, names))
        self.entries |= {names[name]: content for name, content in part.entries.items()}

    def drop_unused(self) -> None:
        """Remove the entries that no part of the model uses: they alone would be refused."""
        text = json.dumps(self.stored)
        self.entries = {name: e for name, e in self.entries.items() if f'"{name}"' in text}


def _replaced(value: Any, path: Path, new: Any) -> Any:
    if not path:
        return new
    copy = value.copy()
    if isinstance(copy, list) and path[0] == len(copy):
        copy.append(None)
    inside = copy.get(path[0]) if isinstance(copy, dict) else copy[path[0]]
    copy[path[0]] = _replaced(inside, path[1:], new)
    return copy


def _renamed(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _renamed(item, names) for key, item in value.items()}
    if isinstance(value, list):
        return [_renamed(item, names) for item in value]
    return names.get(value, value) if isinstance(value, str) else value


# Values ------------------------------------------------------------------------------------------


def change_value(draft: Draft) -> None:
    """Another value of the same kind, or one just past its border."""
    place = draft.choose.choice(draft.model.places)
    if place.path:
        _change(draft, place)


def change_parameter(draft: Draft) -> None:
    """Another parameter, which may contradict what was fitted."""
    found = [
        place
        for place in draft.model.places
        if len(place.path) == len(place.owner) + 2 and place.path[len(place.owner)] == "parameters"
    ]
    if found:
        _change(draft, draft.choose.choice(found))


def _change(draft: Draft, place: Place) -> None:
    choose, kind = draft.choose, place.kind
    if isinstance(kind, kinds.Array):
        change_array(draft, place)
        return
    if isinstance(kind, kinds.Object):
        swap_object(draft, place)
        return
    if isinstance(kind, kinds.ListOf | kinds.TupleOf | kinds.Names):
        _change_list(draft, place)
        return
    values = list(_values(kind, at(draft.stored, place.path), choose))
    if values:
        draft.set(place.path, choose.choice(values))
    elif isinstance(kind, kinds.MayBeMissing):
        draft.remove(place.path)


def _values(kind: Any, value: Any, choose: random.Random) -> Iterator[Any]:
    """Values of a kind, and some that are not."""
    match kind:
        case kinds.Flag():
            yield not value
        case kinds.Integer():
            near = (kind.low, kind.low + 1, kind.high, kind.high - 1, choose.randint(0, 100))
            yield from (number for number in near if kind.low <= number <= kind.high)
            yield from (kind.low - 1, kind.high + 1)
            if isinstance(value, int):
                yield from (value - 1, value + 1, 2 * value, value // 2, value + 100)
        case kinds.Number():
            inside = (0.0, -0.0, 1.0, -1.0, 0.5, 1e-300, 1e300, 5e-324, 1e8, 1e-8, 3, 0)
            yield from (number for number in inside if kind.low <= number <= kind.high)
            for border, past in ((kind.low, -math.inf), (kind.high, math.inf)):
                if math.isfinite(border):
                    yield from (border, math.nextafter(border, past), math.nextafter(border, 0))
            yield from ("inf", "-inf", "nan")
            if isinstance(value, float):
                yield from (value * 2, value / 2, -value, value * 1e-100)
        case kinds.Choice():
            yield from (other for other in kind.values if other != value)
        case kinds.Seed():
            yield from (None, 0, 2**32 - 1, 2**32, -1)
        case kinds.Text():
            yield from ("", "a", "__class__", "\x1b[2J", "\u202e", "\ud800", f"{value}x", "0")
        case kinds.Optional():
            yield None
            yield from _values(kind.kind, value, choose)
        case kinds.MayBeMissing():
            if choose.random() < 0.7:
                yield from _values(kind.kind, value, choose)
        case kinds.OneOf():
            for each in kind.kinds:
                yield from _values(each, value, choose)


def _change_list(draft: Draft, place: Place) -> None:
    items = list(at(draft.stored, place.path) or ())
    choose = draft.choose
    if not items:
        items = [choose.choice(ODD_VALUES)]
    first, second = choose.randrange(len(items)), choose.randrange(len(items))
    action = choose.randrange(7)
    if action == 0:
        del items[first]
    elif action == 1:
        items.insert(second, items[first])
    elif action == 2:
        items[first], items[second] = items[second], items[first]
    elif action == 3:
        items[first] = items[second]
    elif action == 4:
        choose.shuffle(items)
    elif action == 5:
        items[first] = choose.choice(ODD_VALUES)
    else:
        items = items * choose.choice((0, 2, 3))
    draft.set(place.path, items)


def odd_value(draft: Draft) -> None:
    """A value of another type."""
    draft.set(draft.choose.choice(draft.model.keys), draft.choose.choice(ODD_VALUES))


def copied_value(draft: Draft) -> None:
    """A value from elsewhere in the model."""
    to, source = (draft.choose.choice(draft.model.keys) for _ in range(2))
    draft.set(to, at(draft.stored, source))


def swapped_values(draft: Draft) -> None:
    """Two values of the same kind, each in the other's place."""
    first = draft.choose.choice(draft.model.places)
    same = [p for p in draft.model.places if type(p.kind) is type(first.kind)]
    second = draft.choose.choice(same)
    one, other = (at(draft.stored, place.path) for place in (first, second))
    if first.path[: len(second.path)] != second.path:
        draft.set(first.path, other)
        draft.set(second.path, one)


def missing_key(draft: Draft) -> None:
    """A key that is missing."""
    draft.remove(draft.choose.choice(draft.model.keys))


def missing_optional_keys(draft: Draft) -> None:
    """Attributes that may be missing, and parameters, are missing."""
    for path in draft.model.keys:
        optional = len(path) >= 2 and path[-2] == "parameters"
        if optional and draft.choose.random() < 0.3:
            draft.remove(path)
    for place in draft.model.of_kind(kinds.MayBeMissing):
        if draft.choose.random() < 0.5:
            draft.remove(place.path)


def additional_key(draft: Draft) -> None:
    """A key too many, with a value from elsewhere or a harmless one."""
    parents = [p for p in ((), *draft.model.keys) if isinstance(at(draft.stored, p), dict)]
    value = draft.choose.choice((1, None, "x", at(draft.stored, draft.choose.choice(parents))))
    draft.set((*draft.choose.choice(parents), draft.choose.choice(NAMES)), value)


# Arrays ------------------------------------------------------------------------------------------


def change_array(draft: Draft, place: Place | None = None) -> None:
    """Other numbers, another dtype, another shape, or another layout."""
    place = place or draft.choose.choice(draft.model.arrays)
    action = draft.choose.choices(
        (_other_numbers, _other_order, _other_dtype, _other_shape, _other_bytes),
        (60, 15, 5, 10, 2),
    )[0]
    draft.set_array(place.path, action(draft, place, draft.array(place.path)))


def change_all_arrays(draft: Draft) -> None:
    """Other numbers in all arrays of an object."""
    owner = draft.choose.choice(draft.model.arrays).owner
    for place in draft.model.arrays:
        if place.owner == owner:
            values = draft.array(place.path)
            draft.set_array(place.path, _other_numbers(draft, place, values))


def _other_numbers(draft: Draft, place: Place, values: Any) -> Any:
    if not values.size:
        return values
    choose, flat = draft.choose, values.reshape(-1)  # a copy, if it is in Fortran order
    if values.dtype.kind == "b":
        flat[draft.random.random(flat.size) < choose.random()] ^= True
        return flat.reshape(values.shape)
    some: Any = choose.choice(
        (
            choose.randrange(flat.size),
            slice(None),
            draft.random.random(flat.size) < 0.3,
            np.array([0, -1]),
        )
    )
    with np.errstate(all="ignore"):
        if values.dtype.kind == "f":
            action = choose.randrange(6)
            if action <= 2:
                flat[some] = choose.choice((*FLOATS, *_borders(place.kind)))
            elif action == 3:
                flat[some] *= choose.choice((-1, 0, 2, 1e-3, 1e3, 1e150, 1e-150, 1e300))
            elif action == 4:
                flat[some] += choose.choice((-1, 1, 1e-9, 1e9, -1e9))
            else:
                flat[some] = draft.random.normal(size=flat[some].shape)
        elif choose.random() < 0.5:
            largest = np.iinfo(values.dtype).max
            number = choose.choice((*INTEGERS, *values.shape, *_borders(place.kind)))
            flat[some] = max(min(int(number), largest), -largest - 1)
        else:
            flat[some] += choose.choice((1, -1, 2, 100))
    return _fitted_to(place.kind, flat.reshape(values.shape), draft)


def _borders(kind: Any) -> Iterator[float]:
    for border in (getattr(kind, "low", None), getattr(kind, "high", None)):
        if isinstance(border, int | float) and math.isfinite(border):
            yield from (border, border - 1, border + 1)
            if isinstance(border, float):
                yield from (math.nextafter(border, -math.inf), math.nextafter(border, math.inf))


def _fitted_to(kind: Any, values: Any, draft: Draft) -> Any:
    """Mostly: the values changed such that the kind accepts them."""
    if draft.choose.random() < 0.2 or not isinstance(kind, kinds.Array):
        return values
    if values.dtype.kind == "f":
        if not kind.nan:
            values = np.nan_to_num(values, nan=0.0, posinf=np.inf, neginf=-np.inf)
        if kind.finite:
            largest = np.finfo(values.dtype).max
            values = np.clip(values, -largest, largest)
    low = kind.low
    high = kind.high if isinstance(kind.high, int | float) else None
    if low is not None or high is not None:
        values = np.clip(values, low, high).astype(values.dtype)
    if kind.increasing and draft.choose.random() < 0.8:
        values = np.sort(values, axis=0)
    return values


def _other_order(draft: Draft, place: Place, values: Any) -> Any:
    """The same numbers, permuted, sorted, reversed or repeated."""
    if not values.size:
        return values
    axis = draft.choose.randrange(values.ndim) if values.ndim else None
    action = draft.choose.randrange(6)
    if axis is None:
        return values
    if action == 0:
        return draft.random.permutation(values, axis=axis)
    if action == 1:
        return np.sort(values, axis=axis)
    if action == 2:
        return np.flip(values, axis=axis)
    if action == 3:  # all the same
        return np.repeat(np.take(values, [0], axis=axis), values.shape[axis], axis=axis)
    if action == 4:
        return draft.random.permutation(values.reshape(-1)).reshape(values.shape)
    return np.asfortranarray(values) if values.flags.c_contiguous else np.ascontiguousarray(values)


def _other_dtype(draft: Draft, place: Place, values: Any) -> Any:
    dtype = draft.choose.choice(DTYPES)
    with np.errstate(all="ignore"):
        return values.view(dtype) if draft.choose.random() < 0.2 else values.astype(dtype)


def _other_shape(draft: Draft, place: Place, values: Any) -> Any:
    action = draft.choose.randrange(7)
    if action == 0:
        return values.T
    if action == 1:
        return values.ravel()
    if action == 2:
        return values[None]
    if action == 3:
        return values[..., None]
    if action == 4 or not values.ndim:
        return np.atleast_1d(values)[:0]
    axis = draft.choose.randrange(values.ndim)
    return _resized(values, axis, _other_length(draft, values.shape[axis]), draft)


def _other_bytes(draft: Draft, place: Place, values: Any) -> bytes:
    """A .npy file with a damaged or unusual header."""
    content = array_to_bytes(values)
    action = draft.choose.randrange(5)
    if action == 0:
        return altered_bytes(content, draft.choose)
    if action == 1:
        return content.replace(b"False", b"True ")
    if action == 2:
        return content.replace(b"'shape': (", b"'shape': (1, ", 1)
    if action == 3:
        return content.replace(str(values.shape[:1])[1:-2].encode() or b"(", b"99999999999", 1)
    header = {"descr": "|O", "fortran_order": False, "shape": values.shape}
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, header)
    return buffer.getvalue() + content[-values.nbytes :]


def swapped_arrays(draft: Draft) -> None:
    """Two arrays, each in the other's place."""
    first = draft.choose.choice(draft.model.arrays)
    alike = [p for p in draft.model.arrays if p.kind.dtype == first.kind.dtype]
    second = draft.choose.choice(alike)
    one, other = (at(draft.stored, place.path) for place in (first, second))
    draft.set(first.path, other)
    draft.set(second.path, one)


def shared_array(draft: Draft) -> None:
    """One array used twice."""
    first, second = (draft.choose.choice(draft.model.arrays) for _ in range(2))
    draft.set(first.path, at(draft.stored, second.path))


# Lengths -----------------------------------------------------------------------------------------


def change_length(draft: Draft) -> None:
    """All arrays of an object that share a length become shorter or longer together."""
    (length, sides) = draft.choose.choice(list(draft.model.lengths.values()))
    _set_length(draft, sides, _other_length(draft, length))


def change_lengths_everywhere(draft: Draft) -> None:
    """All arrays of the model with a side of some length change together: the columns, say."""
    lengths = draft.model.lengths.values()
    old, _ = draft.choose.choice(list(lengths))
    new = _other_length(draft, old)
    for length, sides in lengths:
        if length == old and draft.choose.random() < 0.97:
            _set_length(draft, sides, new)


def _other_length(draft: Draft, length: int) -> int:
    return draft.choose.choice(
        (0, 1, 1, 2, 2, 3, 4, 5, length - 1, length - 1, length + 1, length + 1, 2 * length, 100)
    )


def _set_length(draft: Draft, sides: list[Side], length: int) -> None:
    length = max(length, 0)
    for side in sides:
        path, new = side.place.path, max(length + side.more, 0)
        value = at(draft.stored, path)
        if side.axis < 0:
            draft.set(path, new)
        elif isinstance(value, list):
            longer = [value[i] if i < len(value) else f"more {i}" for i in range(new)]
            if value and not isinstance(value[0], str):
                longer = [value[i % len(value)] for i in range(new)]
            draft.set(path, longer)
        else:
            values = draft.array(path)
            if values.ndim > side.axis:
                draft.set_array(path, _resized(values, side.axis, new, draft))
    # What were indices of something of the old length become indices of the new one.
    for side in sides:
        for place in draft.model.arrays:
            high = place.kind.high
            if place.owner == side.place.owner and isinstance(high, str) and length:
                values = draft.array(place.path)
                if values.size and draft.choose.random() < 0.8:
                    draft.set_array(place.path, np.minimum(values, length - 1))


def _resized(values: Any, axis: int, length: int, draft: Draft) -> Any:
    old = values.shape[axis]
    if not old:
        shape = (*values.shape[:axis], max(length, 0), *values.shape[axis + 1 :])
        return np.zeros(shape, values.dtype)
    start = draft.choose.choice((0, max(old - length, 0)))
    order = (start + np.arange(max(length, 0))) % old
    return np.take(values, order, axis=axis)


# Objects -----------------------------------------------------------------------------------------


def swap_object(draft: Draft, place: Place | None = None) -> None:
    """Another object: mostly of a type that is allowed here."""
    if place is None or place.path == ():
        if not draft.model.objects:
            return
        place = draft.choose.choice(draft.model.objects)
    candidates: Sequence[Model] = draft.pool
    if draft.choose.random() < 0.85:
        candidates = [
            part
            for part in draft.pool
            if place.kind.allows(DESCRIPTIONS[part.stored["type"]])
            and (place.kind.fitted is None or place.kind.fitted == bool(part.stored["fitted"]))
        ]
    if candidates:
        draft.add_part(place.path, draft.choose.choice(candidates))
        draft.drop_unused()


def other_type(draft: Draft) -> None:
    """An object that claims to be of another type."""
    objects = [(), *(place.path for place in draft.model.objects)]
    path = draft.choose.choice(objects)
    draft.set((*path, "type"), draft.choose.choice([*DESCRIPTIONS, "builtins.object", "__main__"]))


def not_fitted(draft: Draft) -> None:
    """An object that is not fitted, or has the fitted values of another one."""
    objects = [(), *(place.path for place in draft.model.objects)]
    path = draft.choose.choice(objects)
    part = draft.choose.choice(("parameters", "fitted"))
    if draft.choose.random() < 0.5:
        draft.set((*path, part), draft.choose.choice((None, {}, [])))
    else:
        same = [p for p in draft.pool if p.stored["type"] == at(draft.stored, path)["type"]]
        if same:
            other = draft.choose.choice(same)
            if path and part == "fitted":
                stored = {**at(draft.stored, path), "fitted": other.stored["fitted"]}
                draft.add_part(path, Model(stored, {**draft.entries, **other.entries}))
            else:
                draft.set((*path, "parameters"), other.stored["parameters"])
    draft.drop_unused()


MUTATIONS: dict[Callable[[Draft], None], int] = {
    change_value: 24,
    change_parameter: 10,
    odd_value: 4,
    copied_value: 3,
    swapped_values: 3,
    missing_key: 2,
    missing_optional_keys: 2,
    additional_key: 2,
    change_array: 20,
    change_all_arrays: 4,
    swapped_arrays: 2,
    shared_array: 1,
    change_length: 8,
    change_lengths_everywhere: 8,
    swap_object: 6,
    other_type: 2,
    not_fitted: 2,
}


def mutated(model: Model, choose: random.Random, pool: Sequence[Model]) -> Model:
    """The model, altered in one place or in several."""
    draft = Draft(model, choose, pool)
    n_mutations = choose.choice((1, 1, 1, 1, 2, 2, 3, 4, 6))
    for mutate in choose.choices(list(MUTATIONS), list(MUTATIONS.values()), k=n_mutations):
        try:
            mutate(draft)
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError):
            continue  # an earlier mutation removed the place, or numpy cannot do that to the array
    return Model(draft.stored, draft.entries)


# Bytes -------------------------------------------------------------------------------------------


def altered_bytes(content: bytes, choose: random.Random) -> bytes:
    """Bytes with a few of them flipped, removed, repeated or replaced."""
    changed = bytearray(content)
    for _ in range(choose.choice((1, 1, 2, 5))):
        start = choose.randrange(len(changed) + 1)
        span = slice(start, start + choose.choice((1, 1, 2, 4, 8, 40)))
        action = choose.randrange(6)
        if action == 0:
            del changed[span]
        elif action == 1:
            changed[start:start] = changed[span] * choose.choice((1, 3))
        elif action == 2:
            changed[span] = choose.randbytes(len(changed[span]))
        elif action == 3:
            number = choose.choice((0, 1, 2**16 - 1, 2**31, 2**32 - 1))
            changed[start : start + 4] = struct.pack("<L", number)
        elif action == 4 and start < len(changed):
            changed[start] ^= 1 << choose.randrange(8)
        elif action == 5:
            del changed[start:]
    return bytes(changed)


def altered_text(text: str, choose: random.Random) -> str:
    """JSON with a few changes that the objects of a JSON parser cannot express."""
    pieces = ("NaN", "Infinity", "1e999", "-0", "[" * 100, '"a": 1, ', "\\ud800", "9" * 5000, "//")
    for _ in range(choose.choice((1, 1, 2, 3))):
        start = choose.randrange(len(text) + 1)
        stop = start + choose.choice((0, 0, 1, 1, 5))
        text = text[:start] + choose.choice(("", *pieces, text[start : start + 30])) + text[stop:]
    return text


def file_bytes(manifest: str, entries: dict[str, bytes]) -> bytes:
    """A model file, whatever the manifest is."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(zipfile.ZipInfo("manifest.json"), manifest.encode(errors="replace"))
        for name, content in entries.items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return buffer.getvalue()
