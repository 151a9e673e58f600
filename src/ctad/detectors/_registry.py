"""All detectors with a name.

One entry in `KNOWN_DETECTORS` adds a detector everywhere, except to model files: these need a
description of its class in `ctad.persistence`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from importlib.util import find_spec
from inspect import getdoc, signature
from typing import Any

from ..errors import InputError, MissingPackageError


@dataclass(frozen=True)
class Library:
    """A library that has detectors.

    Attributes
    ----------
    name : str
    licence : str
    needs : tuple of str
        Packages that must be installed.
    extra : str or None
        The extra of ctad that installs them; None if ctad itself does.
    """

    name: str
    licence: str
    needs: tuple[str, ...]
    extra: str | None


SCIKIT_LEARN = Library("scikit-learn", "BSD-3-Clause", ("sklearn",), None)
PYOD = Library("PyOD", "BSD-2-Clause", ("pyod",), "pyod")
_DEEP = ("torch", "tqdm")  # installed by the extra "deep"
PYOD_NETWORKS = Library("PyOD and PyTorch", "BSD-2-Clause", ("pyod", *_DEEP), "pyod,deep")
CTAD = Library("ctad and PyTorch", "BSD-3-Clause", _DEEP, "deep")


@dataclass(frozen=True, kw_only=True)
class KnownDetector:
    """A detector with a name.

    Attributes
    ----------
    name : str
    family : str
        "density", "classification", "reconstruction", "isolation", "self-supervised" or
        "diffusion".
    description : str
        What it considers an anomaly.
    cost : str
        The cost of training with n rows of D columns.
    reference : str
        The paper that proposed it.
    library : Library
    class_path : str
        Module and class, such as "ctad.detectors.drl.DRL".
    changed_defaults : dict
        Parameters whose default here is not that of the class.
    authors_licence : str
        The licence of its authors' code, if the detector was written without that code.
    """

    name: str
    family: str
    description: str
    cost: str
    reference: str
    library: Library
    class_path: str
    changed_defaults: dict[str, Any] = field(default_factory=dict)
    authors_licence: str = ""

    @property
    def installed(self) -> bool:
        """Whether all packages it needs are installed."""
        return not self._missing_packages

    @property
    def licence(self) -> str:
        """The licence of its code."""
        if not self.authors_licence:
            return self.library.licence
        return (
            f"{self.library.licence}; written from its description, without its authors' code "
            f"({self.authors_licence})"
        )

    @property
    def parameters(self) -> dict[str, Any]:
        """Its parameters with their defaults, as in its paper unless `notes` says otherwise."""
        parameters = signature(self.import_class()).parameters.values()
        defaults = {parameter.name: parameter.default for parameter in parameters}
        return defaults | self.changed_defaults

    @property
    def notes(self) -> str:
        """Limits and deviations from its paper, for the detectors that ctad implements."""
        if self.library is not CTAD:
            return ""
        summary_and_notes, _, _ = (getdoc(self.import_class()) or "").partition("\nParameters\n")
        _, _, notes = summary_and_notes.partition("\n\n")
        return " ".join(notes.replace("`", "").split())

    @property
    def _missing_packages(self) -> list[str]:
        return [package for package in self.library.needs if find_spec(package) is None]

    def import_class(self) -> Any:
        """Import its class."""
        if self._missing_packages:
            raise MissingPackageError(
                f"{self.name} needs {', '.join(self._missing_packages)}. Install it with "
                f"pip install 'ctad[{self.library.extra}]'."
            )
        module, _, class_name = self.class_path.rpartition(".")
        return getattr(import_module(module), class_name)


_ISOLATION_FOREST = "Liu, Ting, Zhou: Isolation forest. ICDM 2008"
_LOF = "Breunig, Kriegel, Ng, Sander: LOF: identifying density-based local outliers. SIGMOD 2000"
_SVM = "Schölkopf et al.: Estimating the support of a high-dimensional distribution. 2001"

_DETECTORS = (
    KnownDetector(
        name="IsolationForest",
        family="isolation",
        description="isolated by few random splits",
        cost="low; each tree uses 256 rows",
        reference=_ISOLATION_FOREST,
        library=SCIKIT_LEARN,
        class_path="sklearn.ensemble.IsolationForest",
    ),
    KnownDetector(
        name="LocalOutlierFactor",
        family="density",
        description="in a sparser region than its neighbours",
        cost="n log n to n²; stores all rows",
        reference=_LOF,
        library=SCIKIT_LEARN,
        class_path="sklearn.neighbors.LocalOutlierFactor",
        changed_defaults={"novelty": True},
    ),
    KnownDetector(
        name="OneClassSVM",
        family="classification",
        description="outside a boundary around the normal rows",
        cost="n² or more; stores half of the rows",
        reference=_SVM,
        library=SCIKIT_LEARN,
        class_path="sklearn.svm.OneClassSVM",
    ),
    KnownDetector(
        name="EllipticEnvelope",
        family="density",
        description="far from the centre of one Gaussian",
        cost="n D² and D³",
        reference="Rousseeuw, Van Driessen: A fast algorithm for the minimum covariance "
        "determinant estimator. 1999",
        library=SCIKIT_LEARN,
        class_path="sklearn.covariance.EllipticEnvelope",
    ),
    KnownDetector(
        name="IForest",
        family="isolation",
        description="isolated by few random splits",
        cost="low; each tree uses 256 rows",
        reference=_ISOLATION_FOREST,
        library=PYOD,
        class_path="pyod.models.iforest.IForest",
    ),
    KnownDetector(
        name="KNN",
        family="density",
        description="far from its nearest neighbours",
        cost="n log n to n²; stores all rows",
        reference="Ramaswamy, Rastogi, Shim: Efficient algorithms for mining outliers from large "
        "data sets. SIGMOD 2000",
        library=PYOD,
        class_path="pyod.models.knn.KNN",
    ),
    KnownDetector(
        name="LOF",
        family="density",
        description="in a sparser region than its neighbours",
        cost="n log n to n²; stores all rows",
        reference=_LOF,
        library=PYOD,
        class_path="pyod.models.lof.LOF",
    ),
    KnownDetector(
        name="OCSVM",
        family="classification",
        description="outside a boundary around the normal rows",
        cost="n² or more; stores half of the rows",
        reference=_SVM,
        library=PYOD,
        class_path="pyod.models.ocsvm.OCSVM",
    ),
    KnownDetector(
        name="PCA",
        family="reconstruction",
        description="far from the mean along directions of low variance",
        cost="n D²",
        reference="Shyu, Chen, Sarinnapakorn, Chang: A novel anomaly detection scheme based on "
        "principal component classifier. 2003",
        library=PYOD,
        class_path="pyod.models.pca.PCA",
    ),
    KnownDetector(
        name="ECOD",
        family="density",
        description="in the tails of single columns",
        cost="n log n; scoring sorts all rows again",
        reference="Li, Zhao, Hu, Botta, Ionescu, Chen: ECOD: unsupervised outlier detection using "
        "empirical cumulative distribution functions. TKDE 2022",
        library=PYOD,
        class_path="pyod.models.ecod.ECOD",
    ),
    KnownDetector(
        name="COPOD",
        family="density",
        description="in the tails of an empirical copula",
        cost="n log n; scoring sorts all rows again",
        reference="Li, Zhao, Botta, Ionescu, Hu: COPOD: copula-based outlier detection. ICDM 2020",
        library=PYOD,
        class_path="pyod.models.copod.COPOD",
    ),
    KnownDetector(
        name="HBOS",
        family="density",
        description="in sparse bins of the columns' histograms",
        cost="n",
        reference="Goldstein, Dengel: Histogram-based outlier score (HBOS). KI 2012",
        library=PYOD,
        class_path="pyod.models.hbos.HBOS",
    ),
    KnownDetector(
        name="DeepSVDD",
        family="classification",
        description="far from the centre of a trained hypersphere",
        cost="100 epochs of a small network",
        reference="Ruff et al.: Deep one-class classification. ICML 2018",
        library=PYOD_NETWORKS,
        class_path="ctad.detectors._pyod_networks.DeepSVDD",
        changed_defaults={"n_features": None, "verbose": 0},
    ),
    KnownDetector(
        name="AutoEncoder",
        family="reconstruction",
        description="badly reconstructed from a short code",
        cost="10 epochs of a small network",
        reference="Chen, Sathe, Aggarwal, Turaga: Outlier detection with autoencoder ensembles. "
        "SDM 2017",
        library=PYOD_NETWORKS,
        class_path="ctad.detectors._pyod_networks.AutoEncoder",
        changed_defaults={"verbose": 0, "random_state": None},
    ),
    KnownDetector(
        name="MCM",
        family="reconstruction",
        description="badly reconstructed where cells are masked",
        cost="200 epochs, each row 15 times: about a minute per 1,000 rows",
        reference="Yin, Qiao, Zhou, Wang, Yang: MCM: masked cell modeling for anomaly detection in "
        "tabular data. ICLR 2024",
        library=CTAD,
        class_path="ctad.detectors.mcm.MCM",
        authors_licence="no licence",
    ),
    KnownDetector(
        name="DRL",
        family="reconstruction",
        description="badly approximated by the basis of normal rows",
        cost="200 epochs of a small network",
        reference="Ye, Zhao, Fan, Zhou, Guo, Chang: DRL: decomposed representation learning for "
        "tabular anomaly detection. ICLR 2025",
        library=CTAD,
        class_path="ctad.detectors.drl.DRL",
        authors_licence="no licence",
    ),
    KnownDetector(
        name="GOAD",
        family="self-supervised",
        description="hard to classify by the random map applied to it",
        cost="1 epoch, each row 256 times",
        reference="Bergman, Hoshen: Classification-based anomaly detection for general data. ICLR "
        "2020",
        library=CTAD,
        class_path="ctad.detectors.goad.GOAD",
        authors_licence="research only",
    ),
    KnownDetector(
        name="NeuTraLAD",
        family="self-supervised",
        description="dissimilar to its own transformed views",
        cost="200 epochs, each row 12 times",
        reference="Qiu, Pfrommer, Kloft, Mandt, Rudolph: Neural transformation learning for deep "
        "anomaly detection beyond images. ICML 2021",
        library=CTAD,
        class_path="ctad.detectors.neutralad.NeuTraLAD",
        authors_licence="AGPL-3.0",
    ),
    KnownDetector(
        name="ICL",
        family="self-supervised",
        description="a row whose columns do not match each other",
        cost="1,000 steps or one epoch, each row up to D times",
        reference="Shenkar, Wolf: Anomaly detection for tabular data with internal contrastive "
        "learning. ICLR 2022",
        library=CTAD,
        class_path="ctad.detectors.icl.ICL",
        authors_licence="no licence",
    ),
    KnownDetector(
        name="DTE",
        family="diffusion",
        description="similar to a row with much noise",
        cost="400 epochs of a wide network",
        reference="Livernoche, Jain, Hezaveh, Ravanbakhsh: On diffusion modeling for anomaly "
        "detection. ICLR 2024",
        library=CTAD,
        class_path="ctad.detectors.dte.DTE",
        authors_licence="MIT",
    ),
)

KNOWN_DETECTORS = {detector.name.lower(): detector for detector in _DETECTORS}


def known_detector(name: str) -> KnownDetector:
    """The entry of a detector; its name may be in upper or lower case."""
    known = KNOWN_DETECTORS.get(name.lower())
    if known is None:
        listed = ", ".join(known.name for known in KNOWN_DETECTORS.values())
        raise InputError(f"no detector is called {name!r}. Known detectors: {listed}.")
    return known


def make(name: str, **options: Any) -> Any:
    """Create an untrained detector by name.

    Parameters
    ----------
    name : str
        In upper or lower case, such as "iforest". `KNOWN_DETECTORS` has all names.
    **options
        Parameters of the detector.

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
            f"{known.name} has no option {unknown[0]!r}. Its options are {', '.join(accepted)}."
        )
    return known.import_class()(**{**known.changed_defaults, **options})
