"""Detectors by name."""

import subprocess
import sys
from inspect import Parameter, signature

import numpy as np
import pytest

from ctad import CalibratedDetector
from ctad.detectors import KNOWN_DETECTORS, known_detector, make

from ..data import normal
from .small import SMALL, SMALL_OF_PYOD, TRAINED

OF_THE_PAPER = ["OCSVM", "KNN", "PCA", "IForest", "ECOD", "DeepSVDD", "AutoEncoder", *SMALL]
FAMILIES = {
    *("density", "classification", "reconstruction", "isolation"),
    *("self-supervised", "diffusion"),
}


@pytest.mark.filterwarnings("ignore:.* scores a row differently in a different batch")
@pytest.mark.parametrize("name", KNOWN_DETECTORS)
def test_every_detector_can_be_made_and_calibrated(name):
    known = KNOWN_DETECTORS[name]
    options = (SMALL_OF_PYOD | TRAINED).get(known.name, {})
    detector = CalibratedDetector(make(name, **options), random_state=0).fit(normal(200, 3))
    assert type(detector.detector_).__name__ == known.name
    far, near = detector.anomaly_score(np.array([[20.0, 20.0, 20.0], [0.0, 0.0, 0.0]]))
    assert far > near
    assert known.installed


def test_all_detectors_of_the_paper_are_there():
    assert len(OF_THE_PAPER) == 13
    assert {known_detector(name).name for name in OF_THE_PAPER} == set(OF_THE_PAPER)


@pytest.mark.parametrize("known", KNOWN_DETECTORS.values(), ids=KNOWN_DETECTORS)
def test_every_detector_is_described(known):
    assert known.family in FAMILIES
    assert all([known.description, known.cost, known.licence, known.reference])
    assert any(str(year) in known.reference for year in range(1990, 2030))
    defaults = {name: p.default for name, p in signature(known.load()).parameters.items()}
    assert known.parameters == {**defaults, **known.options}
    assert Parameter.empty not in known.parameters.values()
    detector = make(known.name)
    assert {name: getattr(detector, name) for name in known.options} == known.options
    if known.name not in SMALL_OF_PYOD:  # PyOD fills in some of theirs
        assert detector.get_params() == known.parameters


@pytest.mark.parametrize("name", SMALL)
def test_our_own_say_whose_code_they_do_not_use(name):
    assert "written from its description, without its authors' code" in known_detector(name).licence


def test_our_own_say_what_they_do_in_their_own_way():
    assert "Here a step takes 64 rows" in known_detector("ICL").notes
    assert "Parameters" not in known_detector("ICL").notes
    assert all(known_detector(name).notes for name in SMALL)
    assert known_detector("KNN").notes == ""


def test_names_do_not_care_about_case_and_options_are_passed_on():
    assert make("iForest", n_estimators=7).n_estimators == 7
    assert make("LOCALOUTLIERFACTOR").novelty


def test_unknown_names_and_options_are_answered_with_the_known_ones():
    with pytest.raises(ValueError, match=r"no detector is called 'forest'. There are Isolation"):
        make("forest")
    with pytest.raises(ValueError, match=r"IForest has no option 'trees'. It has n_estimators,"):
        make("iforest", trees=3)


# detector: (what its module needs, what is said)
MISSING = {
    "KNN": ("pyod", r"KNN needs pyod: pip install 'ctad\[pyod\]' brings it"),
    "DRL": ("torch", r"DRL needs torch: pip install 'ctad\[deep\]' brings it"),
    "MCM": ("safetensors", r"MCM needs safetensors: pip install 'ctad\[deep\]' brings it"),
    "DeepSVDD": ("torch", r"needs torch: pip install 'ctad\[pyod,deep\]' brings it"),
}


@pytest.mark.parametrize("name", MISSING)
def test_a_library_that_is_not_installed_is_named_with_the_way_to_get_it(name, monkeypatch):
    missing, message = MISSING[name]
    monkeypatch.setitem(sys.modules, KNOWN_DETECTORS[name.lower()].place.partition(":")[0], None)
    with pytest.raises(ImportError, match=r"import of .* halted"):  # a fault of its own
        make(name)
    monkeypatch.setattr(
        "ctad.detectors._registry.find_spec", lambda package: None if package == missing else ""
    )
    assert not known_detector(name).installed
    with pytest.raises(ImportError, match=message):
        make(name)


def test_listing_detectors_imports_none():
    code = (
        "import sys, ctad, ctad.detectors as d; [k.installed for k in d.KNOWN_DETECTORS.values()];"
        "print({*sys.modules} & {'torch', 'pyod', 'sklearn', 'tqdm'})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
