"""Errors that are not bugs: something in the user's input or installation has to change."""

__all__ = ["DetectorError", "InputError", "MissingPackageError"]


class InputError(ValueError):
    """Input that cannot be used: the message says what is wrong and what would be right.

    Examples
    --------
    >>> from ctad import CTAD
    >>> from ctad.errors import InputError
    >>> try:
    ...     CTAD(target="even").fit([[0.0], [1.0]])
    ... except InputError as error:
    ...     print(error)
    target must be one of 'uniform', 'sizes', 'free', not 'even'
    """


class DetectorError(InputError):
    """A wrapped detector failed on the rows it got; its own error is the `__cause__`."""


class MissingPackageError(ImportError):
    """An optional package is needed; the message says how to install it."""
