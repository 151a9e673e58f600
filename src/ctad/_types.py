"""Types of arrays that all packages use."""

from typing import Any

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.floating[Any]]  # (n, features), of float32 or float64
Integers = npt.NDArray[np.int64]
Booleans = npt.NDArray[np.bool_]
