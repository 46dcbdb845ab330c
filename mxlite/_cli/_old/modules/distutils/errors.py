"""Errors of distutils."""

__all__ = ["DistutilsError", "DistutilsFileError"]


class DistutilsError(Exception):
    """An error of distutils."""


class DistutilsFileError(DistutilsError):
    """A file or a folder is not as it should be."""
