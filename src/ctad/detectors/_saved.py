"""Neural detectors in files of their own."""

from __future__ import annotations

from os import PathLike
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..modelfile import Writer, plain_parameters


class Saved:
    """Something with networks that a model file can hold."""

    decision_scores_: Any
    get_params: Any

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted detector to one file that `ctad.load` reads, without pickle.

        Parameters
        ----------
        path : path-like
            Replaced at once, or left as it is if something goes wrong. Usually ends in .ctad.
        """
        check_is_fitted(self, "labels_")
        writer = Writer()
        parameters = self.get_params()
        if parameters.get("device") is not None:
            parameters["device"] = str(parameters["device"])  # PyOD puts an object of PyTorch there
        description = {
            "class": type(self).__name__,
            "parameters": plain_parameters(parameters),
            "state": {"fitted": writer.object(self)},
        }
        writer.save(path, description, training_rows=len(self.decision_scores_))
