"""The detectors that can be asked for by name."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from inspect import getdoc, signature
from typing import Any, NamedTuple

from ..errors import InputError, MissingPackageError


class Library(NamedTuple):
    """Where detectors come from."""

    name: str
    licence: str
    needs: tuple[str, ...]  # packages to import
    extra: str | None  # of ctad, that brings them, if ctad alone does not


SCIKIT_LEARN = Library("scikit-learn", "BSD-3-Clause", ("sklearn",), None)
PYOD = Library("PyOD", "BSD-2-Clause", ("pyod",), "pyod")
_DEEP = ("torch", "safetensors", "tqdm")  # what the extra "deep" brings
PYOD_NETWORKS = Library("PyOD and PyTorch", "BSD-2-Clause", ("pyod", *_DEEP), "pyod,deep")
CTAD = Library("ctad and PyTorch", "BSD-3-Clause", _DEEP, "deep")


class KnownDetector(NamedTuple):
    """A detector that has a name here.

    Attributes
    ----------
    name : str
    family : str
        How it goes about it: "density", "classification", "reconstruction", "isolation",
        "self-supervised" or "diffusion".
    description : str
        What an anomaly is to it.
    cost : str
        What training costs with n rows of D columns.
    reference : str
        The paper it comes from.
    library : Library
    place : str
        Its module and class.
    options : dict
        Parameters that are not the class's defaults.
    authors_code : str
        The licence of its authors' code, where that was not used.
    """

    name: str
    family: str
    description: str
    cost: str
    reference: str
    library: Library
    place: str
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed
    authors_code: str = ""

    @property
    def installed(self) -> bool:
        """Whether all it needs is there."""
        return not self._missing

    @property
    def _missing(self) -> list[str]:
        return [package for package in self.library.needs if find_spec(package) is None]

    @property
    def licence(self) -> str:
        """Under which licence it comes."""
        if not self.authors_code:
            return self.library.licence
        return (
            f"{self.library.licence}; written from its description, without its authors' code "
            f"({self.authors_code})"
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """Its parameters with their defaults.

        These are its authors', unless the class says otherwise.
        """
        parameters = signature(self.load()).parameters.values()
        return {parameter.name: parameter.default for parameter in parameters} | self.options

    @property
    def notes(self) -> str:
        """What one written here does in its own way, and what it cannot see."""
        if self.library is not CTAD:
            return ""
        about, _, _ = (getdoc(self.load()) or "").partition("\nParameters\n")
        _, _, behind_the_first_line = about.partition("\n\n")
        return " ".join(behind_the_first_line.replace("`", "").split())

    def load(self) -> Any:
        """Its class."""
        if self._missing:
            raise MissingPackageError(
                f"{self.name} needs {', '.join(self._missing)}: "
                f"pip install 'ctad[{self.library.extra}]' brings it"
            )
        module, _, class_name = self.place.partition(":")
        return getattr(import_module(module), class_name)


_FOREST = "Liu, Ting, Zhou: Isolation forest. ICDM 2008"
_LOF = "Breunig, Kriegel, Ng, Sander: LOF: identifying density-based local outliers. SIGMOD 2000"
_SVM = "Schölkopf et al.: Estimating the support of a high-dimensional distribution. 2001"

KNOWN_DETECTORS = {
    known.name.lower(): known
    for known in (
        KnownDetector(
            "IsolationForest",
            "isolation",
            "set apart by few random cuts",
            "little; trees see 256 rows each",
            _FOREST,
            SCIKIT_LEARN,
            "sklearn.ensemble:IsolationForest",
        ),
        KnownDetector(
            "LocalOutlierFactor",
            "density",
            "in a neighbourhood sparser than its neighbours'",
            "n log n to n² searches; keeps all rows",
            _LOF,
            SCIKIT_LEARN,
            "sklearn.neighbors:LocalOutlierFactor",
            {"novelty": True},
        ),
        KnownDetector(
            "OneClassSVM",
            "classification",
            "outside a boundary around normal rows",
            "n² and more; keeps half of the rows",
            _SVM,
            SCIKIT_LEARN,
            "sklearn.svm:OneClassSVM",
        ),
        KnownDetector(
            "EllipticEnvelope",
            "density",
            "far from the middle of one Gaussian",
            "n D² and D³",
            "Rousseeuw, Van Driessen: A fast algorithm for the minimum covariance determinant "
            "estimator. 1999",
            SCIKIT_LEARN,
            "sklearn.covariance:EllipticEnvelope",
        ),
        KnownDetector(
            "IForest",
            "isolation",
            "set apart by few random cuts",
            "little; trees see 256 rows each",
            _FOREST,
            PYOD,
            "pyod.models.iforest:IForest",
        ),
        KnownDetector(
            "KNN",
            "density",
            "far from its nearest neighbours",
            "n log n to n² searches; keeps all rows",
            "Ramaswamy, Rastogi, Shim: Efficient algorithms for mining outliers from large data "
            "sets. SIGMOD 2000",
            PYOD,
            "pyod.models.knn:KNN",
        ),
        KnownDetector(
            "LOF",
            "density",
            "in a neighbourhood sparser than its neighbours'",
            "n log n to n² searches; keeps all rows",
            _LOF,
            PYOD,
            "pyod.models.lof:LOF",
        ),
        KnownDetector(
            "OCSVM",
            "classification",
            "outside a boundary around normal rows",
            "n² and more; keeps half of the rows",
            _SVM,
            PYOD,
            "pyod.models.ocsvm:OCSVM",
        ),
        KnownDetector(
            "PCA",
            "reconstruction",
            "far along the directions of little variance",
            "n D²",
            "Shyu, Chen, Sarinnapakorn, Chang: A novel anomaly detection scheme based on principal "
            "component classifier. 2003",
            PYOD,
            "pyod.models.pca:PCA",
        ),
        KnownDetector(
            "ECOD",
            "density",
            "in the tails of single columns",
            "n log n; scoring sorts all rows again",
            "Li, Zhao, Hu, Botta, Ionescu, Chen: ECOD: unsupervised outlier detection using "
            "empirical cumulative distribution functions. TKDE 2022",
            PYOD,
            "pyod.models.ecod:ECOD",
        ),
        KnownDetector(
            "COPOD",
            "density",
            "in the tails of an empirical copula",
            "n log n; scoring sorts all rows again",
            "Li, Zhao, Botta, Ionescu, Hu: COPOD: copula-based outlier detection. ICDM 2020",
            PYOD,
            "pyod.models.copod:COPOD",
        ),
        KnownDetector(
            "HBOS",
            "density",
            "in sparse bins of the columns' histograms",
            "n",
            "Goldstein, Dengel: Histogram-based outlier score (HBOS). KI 2012",
            PYOD,
            "pyod.models.hbos:HBOS",
        ),
        KnownDetector(
            "DeepSVDD",
            "classification",
            "far from the centre of a learnt ball",
            "100 epochs of a small network",
            "Ruff et al.: Deep one-class classification. ICML 2018",
            PYOD_NETWORKS,
            "ctad.detectors._pyod:DeepSVDD",
            {"n_features": None, "verbose": 0},
        ),
        KnownDetector(
            "AutoEncoder",
            "reconstruction",
            "badly restored from a summary of itself",
            "10 epochs of a small network",
            "Chen, Sathe, Aggarwal, Turaga: Outlier detection with autoencoder ensembles. SDM 2017",
            PYOD_NETWORKS,
            "ctad.detectors._pyod:AutoEncoder",
            {"verbose": 0, "random_state": None},
        ),
        KnownDetector(
            "MCM",
            "reconstruction",
            "badly restored where cells are hidden",
            "200 epochs, each row 15 times: about a minute per 1,000 rows",
            "Yin, Qiao, Zhou, Wang, Yang: MCM: masked cell modeling for anomaly detection in "
            "tabular data. ICLR 2024",
            CTAD,
            "ctad.detectors.mcm:MCM",
            authors_code="which has no licence",
        ),
        KnownDetector(
            "DRL",
            "reconstruction",
            "not composed of what normal rows are",
            "200 epochs of a small network",
            "Ye, Zhao, Fan, Zhou, Guo, Chang: DRL: decomposed representation learning for tabular "
            "anomaly detection. ICLR 2025",
            CTAD,
            "ctad.detectors.drl:DRL",
            authors_code="which has no licence",
        ),
        KnownDetector(
            "GOAD",
            "self-supervised",
            "hard to recognise behind random maps",
            "1 epoch, each row 256 times",
            "Bergman, Hoshen: Classification-based anomaly detection for general data. ICLR 2020",
            CTAD,
            "ctad.detectors.goad:GOAD",
            authors_code="which is for research only",
        ),
        KnownDetector(
            "NeuTraLAD",
            "self-supervised",
            "unlike its own learnt views",
            "200 epochs, each row 12 times",
            "Qiu, Pfrommer, Kloft, Mandt, Rudolph: Neural transformation learning for deep anomaly "
            "detection beyond images. ICML 2021",
            CTAD,
            "ctad.detectors.neutralad:NeuTraLAD",
            authors_code="which is AGPL-3.0",
        ),
        KnownDetector(
            "ICL",
            "self-supervised",
            "a row whose columns do not go together",
            "1,000 steps or one epoch, each row up to D times",
            "Shenkar, Wolf: Anomaly detection for tabular data with internal contrastive learning. "
            "ICLR 2022",
            CTAD,
            "ctad.detectors.icl:ICL",
            authors_code="which has no licence",
        ),
        KnownDetector(
            "DTE",
            "diffusion",
            "like a row with much noise on it",
            "400 epochs of a wide network",
            "Livernoche, Jain, Hezaveh, Ravanbakhsh: On diffusion modeling for anomaly detection. "
            "ICLR 2024",
            CTAD,
            "ctad.detectors.dte:DTE",
            authors_code="which is MIT",
        ),
    )
}


def known_detector(name: str) -> KnownDetector:
    """What is known of the detector of this name, in upper or lower case."""
    known = KNOWN_DETECTORS.get(name.lower())
    if known is None:
        listed = ", ".join(known.name for known in KNOWN_DETECTORS.values())
        raise InputError(f"no detector is called {name!r}. There are {listed}.")
    return known


def make(name: str, **options: Any) -> Any:
    """An untrained detector.

    Parameters
    ----------
    name : str
        In upper or lower case, such as "iforest". `KNOWN_DETECTORS` has all.
    **options
        The detector's own parameters.

    Returns
    -------
    detector

    Examples
    --------
    >>> from ctad.detectors import make
    >>> make("isolationforest", n_estimators=50)
    IsolationForest(n_estimators=50)
    """
    known = known_detector(name)
    accepted = known.parameters
    unknown = [option for option in options if option not in accepted]
    if unknown:
        raise InputError(
            f"{known.name} has no option {unknown[0]!r}. It has {', '.join(accepted)}."
        )
    return known.load()(**{**known.options, **options})
