"""Print the memory that `CTAD.calibrate` needs beyond its input and output, in MB.

A script of its own, because the peak memory of a process includes all that it did before.
"""

import sys

import numpy as np
from measurements import peak_megabytes

from ctad import CTAD

COLUMNS = 21

n_rows = int(sys.argv[1])
random = np.random.default_rng(0)
train = random.standard_normal((5000, COLUMNS), np.float32)
calibrator = CTAD(score_scaling="standard", random_state=0).fit(train, scores=train[:, 0])
rows = np.empty((n_rows, COLUMNS), np.float32)
random.standard_normal(out=rows, dtype=np.float32)
scores = random.standard_normal(n_rows)
before = peak_megabytes()
calibrated = calibrator.calibrate(scores, rows)
needed = peak_megabytes() - before - calibrated.nbytes / 2**20
print(f"{n_rows:,} x {COLUMNS} float32: MB beyond in- and output: {needed:.0f}")
