"""Imports all modules that register functions and methods, which makes both whole."""

import importlib
import pkgutil

from mxlite.torch import _edits, _make, _math, _shape  # noqa: F401

for _folder in (_make, _math, _shape):
    for _module in pkgutil.iter_modules(_folder.__path__, _folder.__name__ + "."):
        importlib.import_module(_module.name)
