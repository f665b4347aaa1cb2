"""The version of this package, as it was installed."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("visualproof")
except PackageNotFoundError:
    # Run from a checkout that was not installed.
    __version__ = "0+unknown"
