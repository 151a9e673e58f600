"""The detectors that can be asked for by name."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from inspect import signature
from typing import Any, NamedTuple


class KnownDetector(NamedTuple):
    """A detector that has a name here.

    Attributes
    ----------
    name : str
    family : str
        What it assumes about anomalies.
    description : str
    library : str
        The library it comes from.
    place : str
        Its module and class.
    options : dict
        Parameters that are not the class's defaults.
    """

    name: str
    family: str
    description: str
    library: str
    place: str
    options: dict[str, Any] = {}  # noqa: RUF012 - never changed

    @property
    def installed(self) -> bool:
        """Whether its library is there."""
        return find_spec({"scikit-learn": "sklearn", "PyOD": "pyod", "PyTorch":"torch"}[self.library]) is not None

    @property
    def extra(self) -> str | None:
        """The extra of ctad that brings its library, if ctad alone does not."""
        return None if self.library == "scikit-learn" else "pyod"


_SKLEARN = "scikit-learn"
_PYOD = "PyOD"

KNOWN_DETECTORS = {
    known.name.lower(): known
    for known in (
        KnownDetector(
            "IsolationForest",
            "isolation",
            "few random cuts set an anomaly apart",
            _SKLEARN,
            "sklearn.ensemble:IsolationForest",
        ),
        KnownDetector(
            "LocalOutlierFactor",
            "density",
            "its neighbourhood is sparser than its neighbours'",
            _SKLEARN,
            "sklearn.neighbors:LocalOutlierFactor",
            {"novelty": True},
        ),
        KnownDetector(
            "OneClassSVM",
            "classification",
            "outside a boundary around normal rows",
            _SKLEARN,
            "sklearn.svm:OneClassSVM",
        ),
        KnownDetector(
            "EllipticEnvelope",
            "density",
            "far from the middle of one Gaussian",
            _SKLEARN,
            "sklearn.covariance:EllipticEnvelope",
        ),
        KnownDetector(
            "IForest",
            "isolation",
            "few random cuts set an anomaly apart",
            _PYOD,
            "pyod.models.iforest:IForest",
        ),
        KnownDetector(
            "KNN", "density", "far from its nearest neighbours", _PYOD, "pyod.models.knn:KNN"
        ),
        KnownDetector(
            "LOF",
            "density",
            "its neighbourhood is sparser than its neighbours'",
            _PYOD,
            "pyod.models.lof:LOF",
        ),
        KnownDetector(
            "OCSVM",
            "classification",
            "outside a boundary around normal rows",
            _PYOD,
            "pyod.models.ocsvm:OCSVM",
        ),
        KnownDetector(
            "PCA",
            "reconstruction",
            "far along the directions of little variance",
            _PYOD,
            "pyod.models.pca:PCA",
        ),
        KnownDetector(
            "ECOD", "density", "in the tails of single columns", _PYOD, "pyod.models.ecod:ECOD"
        ),
        KnownDetector(
            "COPOD",
            "density",
            "in the tails of an empirical copula",
            _PYOD,
            "pyod.models.copod:COPOD",
        ),
        KnownDetector(
            "HBOS",
            "density",
            "in sparse bins of the columns' histograms",
            _PYOD,
            "pyod.models.hbos:HBOS",
        ),
        KnownDetector("DeepSVDD","classification","","PyOD","ctad.detectors._pyod:DeepSVDD",{"n_features": None, "verbose": 0}),
        KnownDetector("AutoEncoder","reconstruction","","PyOD","ctad.detectors._pyod:AutoEncoder",{"verbose": 0}),
        *(KnownDetector(n,"","","PyTorch",f"ctad.detectors.{n.lower()}:{n}",{}) for n in ("MCM","DRL","GOAD","NeuTraLAD","ICL","DTE")),
    )
}


def make(name: str, **options: Any) -> Any:
    """An untrained detector.

    Parameters
    ----------
    name : str
        In upper or lower case, such as "iforest".
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
    known = KNOWN_DETECTORS.get(name.lower())
    if known is None:
        listed = ", ".join(known.name for known in KNOWN_DETECTORS.values())
        raise ValueError(f"no detector is called {name!r}. There are {listed}.")
    module, _, class_name = known.place.partition(":")
    try:
        detector = getattr(import_module(module), class_name)
    except ImportError as error:
        raise ImportError(
            f"{known.name} is {known.library}'s: pip install 'ctad[{known.extra}]' brings it"
        ) from error
    accepted = signature(detector).parameters
    unknown = [option for option in options if option not in accepted]
    if unknown:
        raise ValueError(
            f"{known.name} has no option {unknown[0]!r}. It has {', '.join(accepted)}."
        )
    return detector(**{**known.options, **options})
