"""Data sets in files of all formats."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import scipy.io
import scipy.sparse

from ctad.datasets import Dataset, find_datasets, read_dataset
from ctad.io import TableError
from ctad.tables import TableEncoder

from ..io.files import write
from .conftest import small

X, Y = small()
EXPECTED = Dataset("small", X, Y)
TABLE = pa.table({**{f"x{i}": column for i, column in enumerate(X.T)}, "y": Y.astype(np.int64)})


def write_npz(path, X=X, y=Y, **more):
    np.savez(path, X=X, y=y, **more)


def write_mat(path, X=X, y=Y, **options):
    scipy.io.savemat(path, {"X": X, "y": np.asarray(y).reshape(-1, 1), "note": "hi"}, **options)


WRITERS = {
    "small.npz": write_npz,
    "small.mat": write_mat,
    **dict.fromkeys(
        ["small.csv", "small.csv.gz", "small.parquet", "small.feather", "small.arrow", "SMALL.CSV"],
        lambda path: write(path, TABLE),
    ),
}


@pytest.mark.parametrize("name", WRITERS)
def test_all_formats_give_the_same_values(tmp_path, name):
    WRITERS[name](tmp_path / name)
    dataset = read_dataset(tmp_path / name)
    assert dataset.name == name.partition(".")[0]
    assert dataset.sha256 == EXPECTED.sha256
    np.testing.assert_array_equal(dataset.X, X)
    np.testing.assert_array_equal(dataset.y, Y)


def test_a_name_may_contain_dots(tmp_path):
    write_npz(tmp_path / "comm.and.crime.npz")
    assert read_dataset(tmp_path / "comm.and.crime.npz").name == "comm.and.crime"


def test_sparse_and_compressed_matlab_files_are_read(tmp_path):
    write_mat(tmp_path / "a.mat", scipy.sparse.csc_matrix(X), do_compression=True)
    assert read_dataset(tmp_path / "a.mat").sha256 == EXPECTED.sha256


@pytest.mark.parametrize("labels", [Y, Y.astype(">f8"), Y.astype(np.uint8), Y.astype(str)])
def test_labels_may_have_any_type(tmp_path, labels):
    write_npz(tmp_path / "a.npz", y=labels)
    np.testing.assert_array_equal(read_dataset(tmp_path / "a.npz").y, Y)


@pytest.mark.parametrize("name", ["a.npz", "a.mat", "a.csv", "a.parquet"])
def test_the_label_column_may_have_another_name_and_other_values(tmp_path, name):
    labels = np.where(Y, 2.0, 1.0)
    if name == "a.npz":
        np.savez(tmp_path / name, X=X, kind=labels)
    elif name == "a.mat":
        scipy.io.savemat(tmp_path / name, {"X": X, "kind": labels})
    else:
        write(
            tmp_path / name,
            TABLE.drop_columns(["y"]).append_column("kind", [labels.astype(np.int8)]),
        )
    dataset = read_dataset(tmp_path / name, label="kind", anomalous="2")
    assert dataset.sha256 == EXPECTED.sha256
    with pytest.raises(TableError, match=r"has '2'. Say which value means anomaly.*anomalous="):
        read_dataset(tmp_path / name, label="kind")
    with pytest.raises(TableError, match="0 of 20 rows are labelled anomalous"):
        read_dataset(tmp_path / name, label="kind", anomalous="3")


MIXED = pd.DataFrame(
    {
        "size": [1.5, None, 2.5, 2.0, 9.0],
        "day": [f"2024-01-0{day}" for day in range(1, 6)],
        "plan": ["a", "b", "a", "b", "b"],
        "y": [0, 0, 0, 0, 1],
    }
)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_text_dates_and_missing_values_stay_in_a_table_for_the_encoder(tmp_path, suffix):
    if suffix == ".csv":
        MIXED.to_csv(tmp_path / "mixed.csv", index=False)
    else:
        MIXED.assign(day=pd.to_datetime(MIXED["day"])).to_parquet(tmp_path / "mixed.parquet")
    dataset = read_dataset(tmp_path / f"mixed{suffix}")
    assert dataset.X.column_names == ["size", "day", "plan"]
    assert dataset.X["size"].null_count == 1
    encoder = TableEncoder().fit(dataset.X.filter(pa.array(~dataset.y)))
    assert {column.name: column.kind for column in encoder.columns_} == {
        "size": "number",
        "day": "date",
        "plan": "category",
    }


@pytest.mark.parametrize("identifier", [np.arange(100, 120), np.full(20, 2**60)])
def test_a_possible_identifier_is_left_to_the_encoder(tmp_path, identifier):
    write(tmp_path / "a.parquet", TABLE.append_column("id", [identifier]))
    dataset = read_dataset(tmp_path / "a.parquet")
    with pytest.warns(UserWarning, match="not used: 'id'"):
        encoded = TableEncoder().fit_transform(dataset.X)
    np.testing.assert_array_equal(encoded, X)


def test_an_empty_column_is_left_to_the_encoder(tmp_path):
    MIXED[["size", "y"]].fillna(1).assign(nothing="NA").to_csv(tmp_path / "a.csv", index=False)
    dataset = read_dataset(tmp_path / "a.csv")
    assert str(dataset.X.schema.field("nothing").type) == "null"


def write_damaged(path):
    WRITERS[f"small{path.suffix}"](path)
    path.write_bytes(path.read_bytes()[:300])


def write_hdf5(path):
    """The header of a MATLAB file of version 7.3; scipy reads no more of it."""
    path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM" + b"\x89HDF\r\n\x1a\n" * 50)


# what is wrong: (name of the file, how it is written, message)
WRONG = {
    "no X": ("a.npz", lambda p: np.savez(p, rows=X, y=Y), "has no array 'X'; it has 'rows', 'y'"),
    "no y": ("a.npz", lambda p: np.savez(p, X=X), "has no array 'y'; it has 'X'"),
    "no y in .mat": (
        "a.mat",
        lambda p: scipy.io.savemat(p, {"X": X}),
        "has no array 'y'; it has 'X'",
    ),
    "no label column": (
        "a.csv",
        lambda p: write(p, TABLE.drop_columns(["y"])),
        "lacks column 'y', which should have the labels; it has 'x0', 'x1', 'x2'",
    ),
    "only a label column": (
        "a.csv",
        lambda p: write(p, TABLE.select(["y"])),
        "X must have rows and columns",
    ),
    "pickled": (
        "a.npz",
        lambda p: np.savez(p, X=X.astype(object), y=Y),
        "cannot be read as .npz: Object arrays cannot be loaded when allow_pickle=False",
    ),
    "a single array": (
        "a.npz",
        lambda p: np.save(p.with_suffix(".npy"), X) or p.with_suffix(".npy").rename(p),
        "cannot be read as .npz",
    ),
    "damaged .npz": ("a.npz", write_damaged, "cannot be read as .npz"),
    "damaged .mat": ("a.mat", write_damaged, "cannot be read as .mat"),
    "damaged .parquet": ("a.parquet", write_damaged, "cannot be read as Parquet"),
    "empty": ("a.mat", lambda p: p.touch(), "cannot be read as .mat"),
    "HDF5": ("a.mat", write_hdf5, r"version 7.3 \(HDF5\).*save\('a.mat', 'X', 'y', '-v7'\)"),
    "missing values": (
        "a.npz",
        lambda p: write_npz(p, X=np.where(X > 1, np.nan, X)),
        r"NaN or infinite: \d in column 0, \d in column 1",
    ),
    "too few labels": ("a.npz", lambda p: write_npz(p, y=Y[1:]), "for each of the 20 rows"),
    "no anomalies": ("a.npz", lambda p: write_npz(p, y=0 * Y), "0 of 20 rows are labelled"),
    "odd labels": ("a.npz", lambda p: write_npz(p, y=Y * 2 - 1), "but column 'y' has '-1'"),
    "labels that are objects": (
        "a.mat",
        lambda p: scipy.io.savemat(p, {"X": X, "y": [{"a": 1}]}),
        "y must be numbers or text, not of type object",
    ),
    "another suffix": ("a.xlsx", lambda p: p.touch(), "read from .npz, .mat, .csv"),
}


@pytest.mark.parametrize(("name", "writer", "message"), WRONG.values(), ids=list(WRONG))
def test_a_file_that_cannot_be_read_is_named(tmp_path, name, writer, message):
    writer(tmp_path / name)
    with pytest.raises(TableError, match=message) as refused:
        read_dataset(tmp_path / name)
    assert str(tmp_path / name) in str(refused.value)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"a.npz: there is no such file"):
        read_dataset(tmp_path / "a.npz")


def test_files_of_all_formats_are_found_in_a_folder(tmp_path):
    names = ["b.csv.gz", "a.npz", "C.parquet", "d.e.mat", "notes.txt", ".hidden.csv", "_x.csv"]
    for name in names:
        (tmp_path / name).touch()
    (tmp_path / "folder.csv").mkdir()
    assert find_datasets(tmp_path) == {
        "C": tmp_path / "C.parquet",
        "a": tmp_path / "a.npz",
        "b": tmp_path / "b.csv.gz",
        "d.e": tmp_path / "d.e.mat",
    }


@pytest.mark.parametrize("names", [("a.npz", "a.csv"), ("A.mat", "a.npz")])
def test_two_files_of_the_same_name_are_an_error(tmp_path, names):
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(TableError, match="data sets of the same name") as refused:
        find_datasets(tmp_path)
    assert all(name in str(refused.value) for name in names)


def test_a_folder_without_data_sets_is_an_error(tmp_path):
    (tmp_path / "notes.txt").touch()
    with pytest.raises(FileNotFoundError, match=r"no data sets in this folder. .npz, .mat, .csv"):
        find_datasets(tmp_path)
    with pytest.raises(NotADirectoryError, match="there is no such folder"):
        find_datasets(tmp_path / "no")
