"""The list of types that objects in a model file may have, each by its full name.

skops has a loader per kind of value. The list is by loader, because some loaders only look up a
name and others call it.
"""

from __future__ import annotations

import numpy as np

from ..detectors import KNOWN_DETECTORS
from ._compiled_objects import METRICS

# Loader: the only types it may build. Not allowed are loaders that call what a file names
# (MethodNode, PartialNode, OperatorFuncNode, ConstructorFromReduceNode), refer to other nodes
# (CachedNode) or read archives inside the archive (SparseMatrixNode).
BUILT_IN = {
    "JsonNode": {"builtins.str"},
    "DictNode": {"builtins.dict"},
    "ListNode": {"builtins.list"},
    "TupleNode": {"builtins.tuple"},
    "SetNode": {"builtins.set"},
    "SliceNode": {"builtins.slice"},
    "MaskedArrayNode": {"numpy.ma.MaskedArray", "numpy.ma.core.MaskedArray"},
    "DTypeNode": {"numpy.dtype"},
    "RandomStateNode": {"numpy.random.mtrand.RandomState"},
    "TreeNode": {"sklearn.tree._tree.Tree"},  # its nodes are checked
    "LossNode": {"sklearn.linear_model._sgd_fast.Hinge"},
}

NUMBERS = {
    f"numpy.{name}"
    for name in (
        *("bool", "bool_", "str_", "datetime64", "timedelta64", "float16", "float32", "float64"),
        *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
        *("longlong", "ulonglong"),
    )
}
KEY_TYPES = {"builtins.str", "builtins.int", "builtins.float", "builtins.bool", *NUMBERS}

UFUNCS = {f"numpy.{name}" for name in dir(np) if isinstance(getattr(np, name), np.ufunc)}

SCIKIT_LEARN = {
    # detectors
    "sklearn.covariance._elliptic_envelope.EllipticEnvelope",
    "sklearn.decomposition._factor_analysis.FactorAnalysis",
    "sklearn.decomposition._pca.PCA",
    "sklearn.ensemble._iforest.IsolationForest",
    "sklearn.linear_model._stochastic_gradient.SGDOneClassSVM",
    "sklearn.mixture._bayesian_mixture.BayesianGaussianMixture",
    "sklearn.mixture._gaussian_mixture.GaussianMixture",
    "sklearn.neighbors._kde.KernelDensity",
    "sklearn.neighbors._lof.LocalOutlierFactor",
    "sklearn.svm._classes.OneClassSVM",
    # their parts
    "sklearn.cluster._hdbscan.hdbscan.HDBSCAN",
    "sklearn.cluster._kmeans.KMeans",
    "sklearn.cluster._kmeans.MiniBatchKMeans",
    "sklearn.covariance._empirical_covariance.EmpiricalCovariance",
    "sklearn.covariance._robust_covariance.MinCovDet",
    "sklearn.covariance._shrunk_covariance.LedoitWolf",
    "sklearn.linear_model._base.LinearRegression",
    "sklearn.neighbors._ball_tree.BallTree",
    "sklearn.neighbors._kd_tree.KDTree",
    "sklearn.neighbors._unsupervised.NearestNeighbors",
    "sklearn.tree._classes.ExtraTreeRegressor",
    # around them
    "sklearn.compose._column_transformer.ColumnTransformer",
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.frozen._frozen.FrozenEstimator",
    "sklearn.metrics._scorer._PassthroughScorer",
    "sklearn.model_selection._search.GridSearchCV",
    "sklearn.model_selection._search.RandomizedSearchCV",
    "sklearn.model_selection._split.KFold",
    "sklearn.model_selection._split.ShuffleSplit",
    "sklearn.model_selection._split.StratifiedKFold",
    "sklearn.pipeline.FeatureUnion",
    "sklearn.pipeline.Pipeline",
    # before them
    "sklearn.decomposition._fastica.FastICA",
    "sklearn.decomposition._incremental_pca.IncrementalPCA",
    "sklearn.decomposition._kernel_pca.KernelPCA",
    "sklearn.decomposition._truncated_svd.TruncatedSVD",
    "sklearn.feature_selection._variance_threshold.VarianceThreshold",
    "sklearn.impute._base.MissingIndicator",
    "sklearn.impute._base.SimpleImputer",
    "sklearn.impute._knn.KNNImputer",
    "sklearn.kernel_approximation.Nystroem",
    "sklearn.kernel_approximation.RBFSampler",
    "sklearn.preprocessing._data.Binarizer",
    "sklearn.preprocessing._data.KernelCenterer",
    "sklearn.preprocessing._data.MaxAbsScaler",
    "sklearn.preprocessing._data.MinMaxScaler",
    "sklearn.preprocessing._data.Normalizer",
    "sklearn.preprocessing._data.PowerTransformer",
    "sklearn.preprocessing._data.QuantileTransformer",
    "sklearn.preprocessing._data.RobustScaler",
    "sklearn.preprocessing._data.StandardScaler",
    "sklearn.preprocessing._discretization.KBinsDiscretizer",
    "sklearn.preprocessing._encoders.OneHotEncoder",
    "sklearn.preprocessing._encoders.OrdinalEncoder",
    "sklearn.preprocessing._function_transformer.FunctionTransformer",
    "sklearn.preprocessing._polynomial.PolynomialFeatures",
    "sklearn.random_projection.GaussianRandomProjection",
}

PYOD = {
    "pyod.models.abod.ABOD",
    "pyod.models.auto_encoder.AutoEncoder",
    "pyod.models.cblof.CBLOF",
    "pyod.models.cd.CD",
    "pyod.models.cof.COF",
    "pyod.models.copod.COPOD",
    "pyod.models.deep_svdd.DeepSVDD",
    "pyod.models.ecod.ECOD",
    "pyod.models.gmm.GMM",
    "pyod.models.hbos.HBOS",
    "pyod.models.hdbscan.HDBSCAN",
    "pyod.models.iforest.IForest",
    "pyod.models.inne.INNE",
    "pyod.models.kde.KDE",
    "pyod.models.knn.KNN",
    "pyod.models.kpca.KPCA",
    "pyod.models.kpca.PyODKernelPCA",
    "pyod.models.loci.LOCI",
    "pyod.models.loda.LODA",
    "pyod.models.lof.LOF",
    "pyod.models.mad.MAD",
    "pyod.models.mcd.MCD",
    "pyod.models.ocsvm.OCSVM",
    "pyod.models.pca.PCA",
    "pyod.models.qmcd.QMCD",
    "pyod.models.rgraph.RGraph",
    "pyod.models.rod.ROD",
    "pyod.models.sampling.Sampling",
    "pyod.models.sod.SOD",
    "pyod.models.sos.SOS",
}

REGISTERED = {detector.class_path for detector in KNOWN_DETECTORS.values()}

# Loader: names it may look up. For some of them, users may trust more names.
LOOKED_UP = {
    "NdArrayNode": {"numpy.ndarray", *NUMBERS},
    "ObjectNode": SCIKIT_LEARN | PYOD | REGISTERED | METRICS,
    "TypeNode": KEY_TYPES | {"builtins.list", "builtins.tuple", "builtins.object"},
    "FunctionNode": UFUNCS,
}
EXTENDABLE = {"ObjectNode", "TypeNode", "FunctionNode"}
ALLOWED: dict[str, set[str]] = BUILT_IN | LOOKED_UP
