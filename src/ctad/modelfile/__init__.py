"""Model files: one zip with a JSON manifest, arrays without pickle, and checked objects.

Nothing here runs code from a file. `Reader` checks the container, sizes and checksums before
anything is built, and foreign objects (scikit-learn's and PyOD's, by skops) against a list of
types by name.
"""

from ._container import ModelFileError, read_manifest, refusing
from ._reader import Reader
from ._values import from_number, integer, number, plain_parameters, text, to_number
from ._writer import Writer

__all__ = [
    "ModelFileError",
    "Reader",
    "Writer",
    "from_number",
    "integer",
    "number",
    "plain_parameters",
    "read_manifest",
    "refusing",
    "text",
    "to_number",
]
