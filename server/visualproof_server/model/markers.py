"""How places are named in a prompt."""

from enum import Enum


class MarkerStyle(Enum):
    """How markers are spelled."""

    LINE = "<{0} {1}>"
    COMPACT = "<{0[0]}{1}>"
