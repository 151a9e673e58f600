"""ctad report: an HTML page from a model and a table."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ctad import load

from .conftest import REAL_TABLES, SMALL_FOREST, link_files, run

pytestmark = pytest.mark.filterwarnings("ignore:missing values in 'Horsepower'")  # all held out


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A model of European and Japanese cars; American ones are the anomalies."""
    folder = tmp_path_factory.mktemp("report")
    cars = REAL_TABLES["cars"]().frame
    foreign = cars["Origin"] == "USA"
    cars = cars.assign(odd=foreign.astype(int)).drop(columns="Origin")
    cars.to_csv(folder / "cars.csv", index=False)
    options = ("-o", folder / "m.ctad", "--label", "odd", *SMALL_FOREST)
    assert run("fit", folder / "cars.csv", *options).code == 0
    cars.to_pickle(folder / "cars.pickle")
    return folder


@pytest.fixture
def model(ctad, files):
    link_files(files)
    return pd.read_pickle("cars.pickle")


def test_a_page_is_written_and_its_address_printed(ctad, model):
    done = ctad("report", "m.ctad", "cars.csv", "-o", "report.html", "--label", "odd")
    page = Path("report.html").read_text(encoding="utf-8")
    assert done.out.startswith("Report on 406 rows: report.html\n")
    assert Path("report.html").resolve().as_uri() in done.out
    assert "254" in page  # anomalies by the labels
    assert "ctad report m.ctad cars.csv -o report.html --label odd" in page
    top = int(np.argmax(load("m.ctad").anomaly_score(model)))
    assert f"</span>{top}</button>" in page


def test_the_report_does_not_depend_on_columns_of_scores(ctad, model):
    ctad("score", "m.ctad", "cars.csv", "-o", "scored.csv")
    for name in ("cars", "scored"):
        ctad("report", "m.ctad", f"{name}.csv", "-o", f"{name}.html")
    plain, scored = (Path(f"{name}.html").read_text() for name in ("cars", "scored"))
    assert scored.replace("scored", "cars") == plain


def test_a_sample_has_the_row_numbers_of_the_file(ctad, model):
    options = ("--sample-rows", 100, "--json")
    done = ctad("report", "m.ctad", "cars.csv", "-o", "r.html", *options).json
    assert (done["rows"], done["rows_seen"]) == (100, 406)
    assert done["notices"][0] == "These are 100 of 406 rows, chosen at random."
    page = Path("r.html").read_text()
    assert "These are 100 of 406 rows, chosen at random." in page
    assert "ctad report m.ctad cars.csv -o r.html --sample-rows 100" in page
    scores = load("m.ctad").anomaly_score(model)
    shown = [int(row) for row in re.findall(r"</span>(\d+)</button>", page)]
    assert len(shown) == 100
    assert max(shown) > 100
    assert (np.diff(scores[shown]) <= 0).all()


def test_a_folder_whose_files_have_additional_columns(ctad, model):
    Path("new").mkdir()
    model.to_csv("new/a.csv", index=False)
    model.assign(remark="new").to_csv("new/b.csv", index=False)
    assert ctad("report", "m.ctad", "new", "-o", "r.html", "--json").json["rows"] == 812


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["m.ctad", "cars.csv", "-o", "-"], 2, "a page is written to a file"),
        (["m.ctad", "cars.csv", "-o", "no/r.html"], 1, "no does not exist"),
        (["m.ctad", "cars.csv", "-o", "r.pdf"], 2, "its name must end in .html: r.pdf.html"),
        (["m.ctad", "table.html", "-o", "table.html"], 1, "table.html is an input file and"),
        (["m.ctad", "other.csv", "-o", "r.html"], 1, "other.csv: the table lacks column 'Cylin"),
        (["m.ctad", "no.csv", "-o", "r.html"], 1, "no.csv: there is no such"),
        (["m.ctad", "cars.csv", "-o", "r.html", "--label", "x"], 1, "lacks column 'x'"),
        (
            ["m.ctad", "cars.csv", "-o", "r.html", "--label", "Cylinders"],
            1,
            "label column 'Cylinders'",
        ),
        (["m.ctad", "cars.csv", "-o", "r.html", "--anomalous", "7"], 2, "needs --label"),
        (["m.ctad", "empty.csv", "-o", "r.html"], 1, "empty.csv: there are no rows to report on"),
    ],
)
def test_errors_say_what_is_wrong(ctad, model, arguments, code, message):
    model.head(0).to_csv("empty.csv", index=False)
    model.to_csv("table.html", index=False)
    model.drop(columns="Cylinders").to_csv("other.csv", index=False)
    done = run("report", *arguments)
    assert done.code == code
    assert message in " ".join(done.err.replace("│", " ").split())
    assert not Path("r.html").exists()
