"""SciPy, where it is installed."""

from __future__ import annotations

import importlib
import sys
from typing import Any


def module() -> Any:
    """scipy.sparse. Raises: ImportError: it is not installed."""
    try:
        return importlib.import_module("scipy.sparse")
    except ImportError as problem:
        raise ImportError(f"SciPy is needed for this, and cannot be imported: {problem}") from problem


def is_csr(thing: Any) -> bool:
    """Whether a thing is a matrix of SciPy in compressed rows."""
    return is_matrix(thing) and thing.format == "csr"


def is_matrix(thing: Any) -> bool:
    """Whether a thing is a sparse matrix of SciPy, which is imported already then."""
    known = sys.modules.get("scipy.sparse")
    return known is not None and known.issparse(thing)
