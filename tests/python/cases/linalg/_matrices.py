"""What the families of linear algebra share: matrices to start from, rows of one operator, and the usual errors."""

from __future__ import annotations

import numpy as np

from .._case import Case, In, generate

__all__ = ["LOOSE", "Matrices", "both", "lower", "numbers", "positive", "regular", "spread", "t"]

#: What a factorisation in float32 may be off.
LOOSE = {"float32": (2e-4, 2e-5)}


def t(a: np.ndarray) -> np.ndarray:
    return np.swapaxes(a, -1, -2)


def numbers(label: str, *shape: int) -> np.ndarray:
    """Multiples of 1/16 in [-2, 2]."""
    return np.round(generate(f"linalg {label}", shape, "float64", "real") * 16) / 16


def regular(label: str, *shape: int) -> np.ndarray:
    """Square matrices with a heavy diagonal, of both signs."""
    n = shape[-1]
    signs = np.where(numbers(label + " signs", *shape[:-1]) < 0, -1.0, 1.0)
    return numbers(label, *shape) + signs[..., None] * np.eye(n) * (2 * n)


def positive(label: str, *shape: int) -> np.ndarray:
    """Symmetric positive definite matrices."""
    a = numbers(label, *shape)
    return (a @ t(a) + np.eye(shape[-1])).round(8)


def spread(label: str, *shape: int) -> np.ndarray:
    """Symmetric matrices whose eigenvalues are well apart."""
    a = numbers(label, *shape) / 4
    return a + t(a) + np.diag(3.0 * np.arange(shape[-1]) - 4)


def lower(label: str, *shape: int) -> np.ndarray:
    """Matrices whose lower triangle is well conditioned; the upper one holds other numbers."""
    return numbers(label, *shape) + np.eye(shape[-1]) * 5


def both(make, label: str, *shape: int) -> tuple:
    """The same input in float32 and float64."""
    values = make(label, *shape)
    return In(values=values), In(values=values, dtype="float64")


_SQUARE_ERRORS = (
    ("rectangular", [In((2, 3))], {}, None),
    ("rectangular-batch", [In((2, 3, 2))], {}, None),
    ("vector", [In((3,))], {}, None),
    ("int32", [In((2, 2), "int32", "bool")], {}, None),
    ("float16", [In((2, 2), "float16")], {}, None),
    ("two-inputs", [In((2, 2)), In((2, 2))], {}, None),
)


class Matrices(list):
    """The rows of a family."""

    def rows(self, name: str, *cases: tuple, **common) -> None:
        """Rows of one operator: (label, inputs, params, forward or None, {more}); None: an error."""
        for label, inputs, params, forward, *more in cases:
            extra = {**common, **(more[0] if more else {})}
            if forward is None:
                extra = {key: value for key, value in extra.items() if key in ("np_shape", "oracle", "out")}
                self.append(Case(name, label, tuple(inputs), params, error=True, **extra))
            else:
                self.append(Case(name, label, tuple(inputs), params, forward, **extra))

    def square_errors(self, name: str, parameters: bool = False, oracle: str = "") -> None:
        """What is no square matrix of floats; and a parameter that only operators without `parameters` ignore."""
        self.rows(name, *_SQUARE_ERRORS)
        self.append(
            Case(name, "unknown-parameter", (In(values=np.eye(2)),), {"foo": 1}, error=parameters, oracle=oracle)
        )
