"""Detectors by name."""

import subprocess
import sys
from dataclasses import replace
from inspect import Parameter, signature
from pathlib import Path

import numpy as np
import pytest

from ctad import CalibratedDetector, load
from ctad.detectors import KNOWN_DETECTORS, KnownDetector, known_detector, make
from ctad.detectors.drl import DRL
from ctad.errors import InputError, MissingPackageError
from ctad.persistence._descriptions import DESCRIPTIONS

from ..cli.conftest import run
from ..data import normal
from .small import SMALL, SMALL_OF_PYOD, TRAINED

OF_THE_PAPER = ["OCSVM", "KNN", "PCA", "IForest", "ECOD", "DeepSVDD", "AutoEncoder", *SMALL]
FAMILIES = {
    *("density", "classification", "reconstruction", "isolation"),
    *("self-supervised", "diffusion"),
}
API_PAGE = Path(__file__).parents[2] / "docs" / "api" / "detectors.rst"


@pytest.mark.filterwarnings("ignore:.* scores a row differently in a different batch")
@pytest.mark.parametrize("name", KNOWN_DETECTORS)
def test_every_detector_can_be_made_and_calibrated(name):
    known = KNOWN_DETECTORS[name]
    options = (SMALL_OF_PYOD | TRAINED).get(known.name, {})
    detector = CalibratedDetector(make(name, **options), random_state=0).fit(normal(100, 3))
    assert type(detector.detector_).__name__ == known.name
    assert known.installed
    rows = np.vstack([np.full(3, 20.0), np.zeros(3), normal(20, 3, seed=1)])
    far, near, *_ = scores = detector.anomaly_score(rows)
    assert far > near
    # A score does not depend on the other rows, except of the two that sort all rows again.
    assert detector.batch_dependent_ == (name in ("ecod", "copod"))
    if not detector.batch_dependent_:
        np.testing.assert_array_equal(detector.anomaly_score(rows[1:2]), [near])
        np.testing.assert_array_equal(detector.anomaly_score(rows[::-1]), scores[::-1])


def test_all_detectors_of_the_paper_are_registered():
    assert len(OF_THE_PAPER) == 13
    assert {known_detector(name).name for name in OF_THE_PAPER} == set(OF_THE_PAPER)


@pytest.mark.parametrize("known", KNOWN_DETECTORS.values(), ids=KNOWN_DETECTORS)
def test_every_detector_is_described(known):
    assert known.family in FAMILIES
    assert all([known.description, known.cost, known.licence, known.reference])
    assert any(str(year) in known.reference for year in range(1990, 2030))
    defaults = {name: p.default for name, p in signature(known.import_class()).parameters.items()}
    assert known.parameters == {**defaults, **known.changed_defaults}
    assert Parameter.empty not in known.parameters.values()
    detector = make(known.name)
    changed = {name: getattr(detector, name) for name in known.changed_defaults}
    assert changed == known.changed_defaults
    if known.name not in SMALL_OF_PYOD:  # PyOD changes some of theirs
        assert detector.get_params() == known.parameters


@pytest.mark.parametrize("name", SMALL)
def test_detectors_implemented_here_are_documented(name):
    known = known_detector(name)
    assert "written from its description, without its authors' code" in known.licence
    assert known.notes
    assert f".. autoclass:: {known.class_path}\n" in API_PAGE.read_text()


def test_notes_are_the_text_between_summary_and_parameters():
    assert known_detector("ICL").notes.startswith("At least three columns are needed.")
    assert known_detector("ICL").notes.endswith("after the epoch with the 1,000th step.")
    assert known_detector("KNN").notes == ""


def test_names_may_be_in_any_case_and_options_are_passed_on():
    assert make("iForest", n_estimators=7).n_estimators == 7
    assert make("LOCALOUTLIERFACTOR").novelty


def test_unknown_names_and_options_are_refused_with_the_known_ones():
    with pytest.raises(InputError, match=r"no detector is called 'forest'. Known detectors: Isol"):
        make("forest")
    with pytest.raises(InputError, match=r"IForest has no option 'trees'. Its options are n_est"):
        make("iforest", trees=3)


class MadeUp(DRL):
    """A made-up detector.

    It exists in this test only.
    """


ENTRY = KnownDetector(
    name="MadeUp",
    family="reconstruction",
    description="made up",
    cost="low",
    reference="Nobody: Nothing. 2024",
    library=known_detector("DRL").library,
    class_path=f"{__name__}.MadeUp",
)


def test_one_entry_adds_a_detector_everywhere(tmp_path, monkeypatch):
    monkeypatch.setitem(KNOWN_DETECTORS, "madeup", ENTRY)
    detector = make("madeup", epochs=1, random_state=0).fit(normal(50, 3))
    assert type(detector) is MadeUp
    assert "MadeUp" in {known["name"] for known in run("detectors", "--json").json["detectors"]}
    facts = run("detectors", "madeup", "--json").json
    assert facts["notes"] == "It exists in this test only."
    assert facts["parameters"]["n_basis"] == 5
    # Model files need a description. Here it is that of its base class.
    monkeypatch.setitem(
        DESCRIPTIONS,
        ENTRY.class_path,
        replace(DESCRIPTIONS["ctad.detectors.drl.DRL"], type=ENTRY.class_path),
    )
    detector.save(tmp_path / "model.ctad")
    loaded = load(tmp_path / "model.ctad")
    assert type(loaded) is MadeUp
    np.testing.assert_array_equal(
        loaded.decision_function(normal(50, 3)), detector.decision_scores_
    )


@pytest.mark.parametrize("known", KNOWN_DETECTORS.values(), ids=KNOWN_DETECTORS)
def test_model_files_can_hold_every_registered_detector(known):
    assert known.class_path in DESCRIPTIONS
    assert known.parameters.keys() <= DESCRIPTIONS[known.class_path].parameters.keys()


# detector: (missing package, message)
MISSING = {
    "KNN": ("pyod", r"KNN needs pyod. Install it with pip install 'ctad\[pyod\]'"),
    "DRL": ("torch", r"DRL needs torch. Install it with pip install 'ctad\[deep\]'"),
    "MCM": ("tqdm", r"MCM needs tqdm. Install it with pip install 'ctad\[deep\]'"),
    "DeepSVDD": ("torch", r"needs torch. Install it with pip install 'ctad\[pyod,deep\]'"),
}


@pytest.mark.parametrize("name", MISSING)
def test_a_missing_package_is_named_with_the_command_to_install_it(name, monkeypatch):
    missing, message = MISSING[name]
    module, _, _ = known_detector(name).class_path.rpartition(".")
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=r"import of .* halted"):  # another error is not hidden
        make(name)
    monkeypatch.setattr(
        "ctad.detectors._registry.find_spec", lambda package: None if package == missing else ""
    )
    assert not known_detector(name).installed
    with pytest.raises(MissingPackageError, match=message):
        make(name)


def test_listing_detectors_imports_no_library():
    code = (
        "import sys, ctad, ctad.detectors as d; [k.installed for k in d.KNOWN_DETECTORS.values()];"
        "print({*sys.modules} & {'torch', 'pyod', 'sklearn', 'tqdm'})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
