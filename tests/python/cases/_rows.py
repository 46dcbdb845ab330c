"""What families share: rows over shapes, over dtypes and of errors for operators that move data, and the rows of
operators that fill a shape with random numbers."""

from __future__ import annotations

from ._case import Case, In

__all__ = ["BOOL", "DTYPES", "Rows", "filling"]

#: Why a row of bool is no question for 1.9.1.
BOOL = "differs: 1.9.1 does not take bool"
#: The dtypes beside float32, and what to draw.
DTYPES = {
    "float16": "real",
    "float64": "real",
    "uint8": ("int", 0, 99),
    "int8": ("int", -99, 99),
    "int32": ("int", -99, 99),
    "int64": ("int", -99, 99),
    "bool": "bool",
}


class Rows(list):
    """The rows of a family."""

    def rows(self, op: str, forward, shapes: tuple, rows: dict, order: int = 2, diff: tuple = (0,)) -> None:
        """A differentiated row for each label: parameters, inputs of the given shapes."""
        for label, params in rows.items():
            self.append(Case(op, label, tuple(In(shape) for shape in shapes), params, forward, order=order, diff=diff))

    def dtypes(self, op: str, forward, shape: tuple, params: dict, no_bool: bool = False) -> None:
        """A row for every other dtype."""
        for dtype, domain in DTYPES.items():
            oracle = BOOL if dtype == "bool" and no_bool else ""
            self.append(Case(op, dtype, (In(shape, dtype, domain),), params, forward, oracle=oracle))

    def errors(self, op: str, shapes: tuple, rows: dict, np_shape: bool = False) -> None:
        """A row for each label that must fail."""
        for label, params in rows.items():
            inputs = tuple(In(shape) for shape in shapes)
            self.append(Case(op, label, inputs, params, error=True, np_shape=np_shape))


def filling(op: str, check) -> list[Case]:
    """What every operator that fills a shape with random numbers is called with."""
    return [
        Case(op, "ctx", (), {"shape": (3,), "ctx": "cpu(0)"}, random=True, check=check),
        Case(op, "out", (), {"shape": (3,)}, random=True, check=check, out=(((3,), "float32"),)),
        Case(op, "empty", (), {"shape": (0, 3)}, random=True, check=check, np_shape=True),
        Case(op, "scalar", (), {"shape": ()}, random=True, check=check, np_shape=True),
        Case(op, "no-shape", (), {}, error=True),
        Case(op, "empty-legacy", (), {"shape": (0,)}, error=True),
        Case(op, "int32", (), {"shape": (3,), "dtype": "int32"}, error=True),
        Case(op, "out-wrong-shape", (), {"shape": (2,)}, out=(((3,), "float32"),), error=True),
        Case(op, "one-input", (In((2,)),), {"shape": (2,)}, error=True),
        Case(op, "unknown-parameter", (), {"shape": (2,), "foo": 1}, error=True),
        Case(op, "malformed-ctx", (), {"shape": (2,), "ctx": "bad"}, error=True),
    ]
