"""What goes wrong with table files."""


class TableError(ValueError):
    """A table file that cannot be read or written; the message names it."""
