"""The version of mxlite; include/mxlite/mxlite.h says the same in C (tools/check_versions.py compares them)."""

__version__ = "0.1.0"
