"""All modules that register functions and methods: importing this one makes both whole."""

# ruff: noqa: F401

from mxlite.torch import _edits
from mxlite.torch._make import (
    creation,
    data,
    random,
)
from mxlite.torch._math import (
    arithmetic,
    bits,
    bounds,
    comparisons,
    contractions,
    diagonals,
    elementwise,
    equality,
    extremes,
    linalg,
    matrix,
    norms,
    order,
    pairs,
    reductions,
    scaled,
    softmax,
    special,
    ternary,
)
from mxlite.torch._shape import (
    indexing,
    parts,
    picking,
    repeats,
    shapes,
    slices,
    where,
)
from mxlite.torch._tensor import install_methods
