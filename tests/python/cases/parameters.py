"""How parameter strings are read: one representative operator per type."""

from __future__ import annotations

import numpy as np

from ._case import Case, In

CASES: list = []
_pair = In(values=[[1.0, 2.0]])

for _text, _keeps in {
    "True": 1, "true": 1, "TRUE": 1, "1": 1, "False": 0, "false": 0, "0": 0,
}.items():  # fmt: skip
    CASES.append(
        Case(
            "sum",
            f"bool-{_text}",
            (_pair,),
            {"keepdims": _text},
            lambda x, keepdims, k=_keeps: x.sum().reshape((1, 1) if k else (1,)),
        )
    )
for _label, _text in {"two": "2", "minus": "-1", "t": "t", "yes": "yes", "nothing": "", "none": "None"}.items():
    CASES.append(Case("sum", f"bool-bad-{_label}", (_pair,), {"keepdims": _text}, error=True))

for _label, _text, _shape in (
    ("number", "3", (3,)),
    ("parenthesised", "(3)", (3,)),
    ("bracketed", "[3]", (3,)),
    ("tuple", "(3,)", (3,)),
    ("blank-before", " 3", (3,)),
    ("blank-after", "3 ", (3,)),
    ("blanks", "( 2 , 3 )", (2, 3)),
    ("long-suffix", "(2L,3L)", (2, 3)),
    ("trailing-comma", "(2,3,)", (2, 3)),
):
    CASES.append(
        Case("_zeros", f"shape-{_label}", (), {"shape": _text}, lambda shape, s=_shape: np.zeros(s, "float32"))
    )
for _label, _text in {
    "nothing": "",
    "bare-list": "2,3",
    "open": "(2,3",
    "fraction": "(2.5,)",
    "exponent": "(1e0,)",
    "plus": "+3",
    "hex": "0x3",
    "no-comma": "(3 4)",
    "semicolon": "(3;4)",
    "only-comma": "(,)",
    "two-commas": "(3,,)",
    "none-inside": "(None,)",
    "word": "abc",
    "after": "(3)x",
}.items():
    CASES.append(Case("_zeros", f"shape-bad-{_label}", (), {"shape": _text}, error=True))

_ones = In(values=[1.0, 1.0])
for _label, _text, _value in (
    ("integer", "2", 2.0),
    ("negative", "-2", -2.0),
    ("plus", "+2", 2.0),
    ("point", "2.", 2.0),
    ("no-zero", ".5", 0.5),
    ("exponent", "1e2", 100.0),
    ("exponent-minus", "25E-1", 2.5),
    ("blank-before", " 2", 2.0),
    ("inf", "inf", np.inf),
    ("infinity", "-infinity", -np.inf),
    ("nan", "nan", np.nan),
    ("suffix", "2.5f", 2.5),
):
    CASES.append(
        Case(
            "_plus_scalar",
            f"double-{_label}",
            (_ones,),
            {"scalar": _text},
            lambda x, scalar, v=_value: x + np.float32(v),
        )
    )
for _label, _text in {
    "nothing": "",
    "blank-after": "2 ",
    "hex": "0x10",
    "word": "True",
    "none": "None",
    "two": "1 2",
    "small": "1e-400",
    "comma": "1,5",
}.items():
    CASES.append(Case("_plus_scalar", f"double-bad-{_label}", (_ones,), {"scalar": _text}, error=True))

CASES.append(
    Case(
        "_plus_scalar",
        "double-bad-sign",
        (_ones,),
        {"scalar": "-"},
        error=True,
        oracle="differs: 1.9.1 reads a bare sign as 0",
    )
)

_index = In(values=[0.0, 1.0])
for _label, _text in {"plain": "2", "blank-before": " 2", "plus": "+2", "zeros": "02", "blank-after": "2 "}.items():
    CASES.append(
        Case("one_hot", f"int-{_label}", (_index,), {"depth": _text}, lambda i, depth: np.eye(2, dtype="float32"))
    )
for _label, _text in {
    "nothing": "",
    "fraction": "2.5",
    "exponent": "1e1",
    "hex": "0x2",
    "word": "a",
    "none": "None",
    "too-large": "99999999999",
    "suffix": "2L",
}.items():
    CASES.append(Case("one_hot", f"int-bad-{_label}", (_index,), {"depth": _text}, error=True))
for _label, _text in {"upper": "CLIP", "blank": " clip", "nothing": "", "number": "0"}.items():
    CASES.append(Case("take", f"enum-bad-{_label}", (_ones, _index), {"mode": _text}, error=True))
for _label, _text in {"none": "None", "number": "0", "negative": "-1"}.items():
    CASES.append(
        Case(
            "argmax",
            f"optional-{_label}",
            (_pair,),
            {"axis": _text},
            lambda x, axis: np.array([0.0, 0.0] if axis == "0" else [1.0], "float32"),
        )
    )
for _label, _text in {"word": "none", "fraction": "1.5", "nothing": ""}.items():
    CASES.append(Case("argmax", f"optional-bad-{_label}", (_pair,), {"axis": _text}, error=True))
for _label, _text in {"float": "0.5", "whole": "0", "suffix": "0.5f"}.items():
    CASES.append(Case("Dropout", f"float-{_label}", (_ones,), {"p": _text}, lambda x, p: x.copy()))
for _label, _text in {"word": "half", "trailing": "0.5x", "nothing": ""}.items():
    CASES.append(Case("Dropout", f"float-bad-{_label}", (_ones,), {"p": _text}, error=True))
CASES += [
    Case("sum", "hidden-attribute", (_pair,), {"__layout__": "NCHW"}, lambda x, **p: x.sum().reshape((1,))),
]
