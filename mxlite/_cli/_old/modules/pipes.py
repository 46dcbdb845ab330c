"""The module `pipes` of Python 3.12 and before: `quote`. Its class Template is left out."""

from shlex import quote

__all__ = ["quote"]
