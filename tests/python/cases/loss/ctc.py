"""CTCLoss."""

from __future__ import annotations

import itertools

import numpy as np

from .._case import Case, In

CASES: list = []


def _round(value: float) -> int:
    return int(np.floor(value + 0.5))


def _labels(row: np.ndarray, blank_label: str, length: int | None) -> list:
    padding = 0 if blank_label == "first" else -1
    row = [_round(value) for value in row]
    if length is not None:
        return row[: _round(length)]
    return row[: row.index(padding)] if padding in row else row


def _says(path: tuple, blank: int) -> list:
    """The labels that a path means."""
    return [label for label, _ in itertools.groupby(path) if label != blank]


def _ctc(data, label, *lengths, use_data_lengths=False, use_label_lengths=False, blank_label="first"):
    """By the definition: the sum over all paths of classes."""
    lengths = list(lengths)
    steps, batch, classes = data.shape
    ends = lengths.pop(0) if use_data_lengths else [steps] * batch
    counts = lengths.pop(0) if use_label_lengths else [None] * batch
    blank = 0 if blank_label == "first" else classes - 1
    x = data.astype(np.float64)
    p = np.exp(x - x.max(axis=2, keepdims=True, initial=-np.inf))
    p /= p.sum(axis=2, keepdims=True)
    loss = np.zeros(batch)
    for b in range(batch):
        wanted, end = _labels(label[b], blank_label, counts[b]), _round(ends[b])
        paths = itertools.product(range(classes), repeat=end)
        total = sum(np.prod(p[range(end), b, path]) for path in paths if _says(path, blank) == wanted)
        loss[b] = -np.log(total) if total != 0 else 0
    return loss.astype(data.dtype)


_NEAR = {"float32": (2e-4, 1e-4), "float16": (1e-2, 1e-2), "float64": (1e-9, 1e-9)}
_DATA = In((4, 2, 3))
_SINGLE = "differs: has float32 data, and lengths of that dtype, alone"
_EMPTY = "differs: without any label the loss is 0 and the gradient what lay in memory"
_OUTSIDE = "skip: reads and writes out of bounds"


def _row(label, inputs, params=None, order=2, oracle="", **more):
    CASES.append(Case("CTCLoss", label, inputs, params or {}, _ctc, order=order, diff=(0,), tolerance=_NEAR,
                      oracle=oracle, **more))  # fmt: skip


def _ints(values, dtype="float32"):
    return In(dtype=dtype, values=values)


_row("plain", (_DATA, _ints([[1, 2], [2, 0]])))
_row("repeated", (_DATA, _ints([[1, 1], [2, 2]])))
_row("one-label", (_DATA, _ints([[1], [2]])))
_row("one-step", (In((1, 2, 3)), _ints([[1], [2]])))
_row("hole", (_DATA, _ints([[1, 0, 2], [2, 0, 0]])))
_row("no-label", (_DATA, _ints([[1, 2], [0, 0]])))
_row("last", (_DATA, _ints([[0, 1], [1, -1]])), {"blank_label": "last"})
_row("last-full", (_DATA, _ints([[0, 1], [1, 0]])), {"blank_label": "last"})
_row("label-int32", (_DATA, _ints([[1, 2], [2, 0]], "int32")))
_row("label-float64", (_DATA, _ints([[1, 2], [2, 0]], "float64")))
_row("data-lengths", (_DATA, _ints([[1, 2], [2, 1]]), _ints([2, 4])), {"use_data_lengths": True})
_row("label-lengths", (_DATA, _ints([[1, 2], [2, 1]]), _ints([2, 1])), {"use_label_lengths": True})
_row("label-lengths-zero", (_DATA, _ints([[1, 2], [2, 1]]), _ints([0, 2])), {"use_label_lengths": True})
_row("label-lengths-last", (_DATA, _ints([[0, 1], [1, 1]]), _ints([2, 1])),
     {"use_label_lengths": True, "blank_label": "last"})  # fmt: skip
_row("both-lengths", (_DATA, _ints([[1, 2], [2, 1]]), _ints([3, 4]), _ints([1, 2])),
     {"use_data_lengths": True, "use_label_lengths": True})  # fmt: skip
_row("lengths-int32", (_DATA, _ints([[1, 2], [2, 1]]), _ints([3, 4], "int64"), _ints([1, 2], "int32")),
     {"use_data_lengths": True, "use_label_lengths": True}, oracle=_SINGLE)  # fmt: skip
_row("too-few-steps", (_DATA, _ints([[1, 2], [2, 1]]), _ints([1, 4])), {"use_data_lengths": True},
     oracle="forward: gradients of a loss without a path are what lay in memory")  # fmt: skip
_row("too-few-steps-for-repeated", (In((2, 2, 3)), _ints([[1, 1], [2, 1]])),
     oracle="forward: gradients of a loss without a path are what lay in memory")  # fmt: skip
_row("no-steps-of-one", (_DATA, _ints([[1, 2], [2, 1]]), _ints([0, 4])), {"use_data_lengths": True})
_row("no-labels", (_DATA, _ints([[0, 0], [0, 0]])), oracle=_EMPTY)
_row("no-label-axis", (_DATA, In((2, 0))), np_shape=True, oracle=_EMPTY)
_row(
    "blank-alone",
    (In((3, 2, 1)), _ints([[0], [0]])),
    oracle="forward: gradients without any label are what lay in memory",
)
_row("no-batch", (In((4, 0, 3)), In((0, 2))), np_shape=True, order=0, oracle="skip: the process ends")
_row("float64", (In((4, 2, 3), "float64"), _ints([[1, 2], [2, 0]], "float64")), oracle=_SINGLE)
_row("float16", (In((4, 2, 3), "float16"), _ints([[1, 2], [2, 0]], "float16")), order=0, oracle=_SINGLE)
_row("odd", (In((6, 3, 4)), _ints([[1, 2, 3], [2, 2, 0], [3, 1, 3]])), order=1)
_row("large-values", (_ints([[[0, 1000, -1000], [0, 1000, -1000]]] * 3), _ints([[1, 2], [2, 0]])), order=0)
CASES[-1] = Case("CTCLoss", "large-values", CASES[-1].inputs, {}, lambda *_, **__: np.float32([2000, 3998.9014]),
                 diff=(0,), tolerance=_NEAR)  # fmt: skip
CASES += [
    Case("CTCLoss", "special-float32", (_ints([[[0, np.inf, 0], [0, np.nan, 0]]] * 3), _ints([[1, 2], [2, 0]])), {},
         lambda *_, **__: np.full(2, np.nan, "float32"), diff=(0,)),
    Case("CTCLoss", "fractions", (_DATA, _ints([[1.25, 1.5], [1.75, 0.25]]), _ints([2.5, 3.75]), _ints([1.5, 1.25])),
         {"use_data_lengths": True, "use_label_lengths": True}, _ctc, diff=(0,), tolerance=_NEAR,
         oracle="forward: cuts the lengths of the gradient"),
]  # fmt: skip


def _with_blanks(data, label, *lengths, use_label_lengths=False, blank_label="first"):
    """By the recursion over labels between blanks, where a label may be a blank, which no step skips."""
    steps, batch, classes = data.shape
    blank = 0 if blank_label == "first" else classes - 1
    x = data.astype(np.float64)
    p = np.exp(x) / np.exp(x).sum(axis=2, keepdims=True)
    loss = np.zeros(batch)
    for b in range(batch):
        wanted = _labels(label[b], blank_label, lengths[0][b] if use_label_lengths else None)
        path = [blank, *(each for label in wanted for each in (label, blank))]
        chance = np.zeros(len(path))
        chance[:2] = p[0, b, path[:2]]
        for t in range(1, steps):
            before = np.concatenate([[0, 0], chance])
            skips = [s > 1 and path[s] not in (blank, path[s - 2]) for s in range(len(path))]
            chance = (before[2:] + before[1:-1] + np.where(skips, before[:-2], 0)) * p[t, b, path]
        loss[b] = -np.log(chance[-2:].sum())
    return loss.astype(data.dtype)


for _label, _inputs, _params, _order in (
    ("label-blank", (_DATA, _ints([[0, 2], [2, 0]]), _ints([2, 1])), {"use_label_lengths": True}, 2),
    ("label-blank-last", (_DATA, _ints([[2, 0], [1, 2]])), {"blank_label": "last"}, 2),
    ("label-blank-alone", (_DATA, _ints([[0, 0], [0, 1]]), _ints([2, 1])), {"use_label_lengths": True}, 2),
    ("label-blank-inside", (In((6, 2, 4)), _ints([[1, 3, 3, 2], [3, 1, -1, 3]])), {"blank_label": "last"}, 2),
    ("label-blank-infinite", (In((2, 2, 3)), _ints([[1, 0], [0, 2]]), _ints([2, 2])), {"use_label_lengths": True}, 0),
):
    CASES.append(Case("CTCLoss", _label, _inputs, _params, _with_blanks, order=_order, diff=(0,), tolerance=_NEAR,
                      oracle="forward: with a blank as label its gradient is not that of its loss"))  # fmt: skip
for _label, _inputs, _params, _oracle in (
    ("0-axes", (In(values=0.5), In(values=1.0)), {}, ""),
    ("data-matrix", (In((4, 3)), _ints([[1, 2]])), {}, ""),
    ("label-vector", (_DATA, _ints([1, 2])), {}, ""),
    ("batches-differ", (_DATA, _ints([[1, 2]])), {}, ""),
    ("more-labels-than-steps", (In((1, 2, 3)), _ints([[1, 2], [2, 0]])), {}, ""),
    ("no-classes", (In((4, 2, 0)), _ints([[1, 2], [2, 0]])), {}, _OUTSIDE),
    ("data-lengths-shape", (_DATA, _ints([[1, 2], [2, 0]]), _ints([1, 2, 3])), {"use_data_lengths": True}, ""),
    ("label-lengths-shape", (_DATA, _ints([[1, 2], [2, 0]]), _ints([1])), {"use_label_lengths": True}, ""),
    ("data-length-too-large", (_DATA, _ints([[1, 2], [2, 0]]), _ints([5, 4])), {"use_data_lengths": True}, _OUTSIDE),
    ("data-length-negative", (_DATA, _ints([[1, 2], [2, 0]]), _ints([-1, 4])), {"use_data_lengths": True}, _OUTSIDE),
    ("label-length-too-large", (_DATA, _ints([[1, 2], [2, 0]]), _ints([3, 1])), {"use_label_lengths": True}, _OUTSIDE),
    ("label-length-negative", (_DATA, _ints([[1, 2], [2, 0]]), _ints([-1, 1])), {"use_label_lengths": True}, _OUTSIDE),
    ("label-too-large", (_DATA, _ints([[3, 2], [2, 0]])), {}, _OUTSIDE),
    ("label-negative", (_DATA, _ints([[-1, 2], [2, 0]])), {}, _OUTSIDE),
    ("int32", (_DATA.like("int32"), _ints([[1, 2], [2, 0]])), {}, ""),
    ("lengths-missing", (_DATA, _ints([[1, 2], [2, 0]])), {"use_data_lengths": True}, ""),
    ("lengths-unwanted", (_DATA, _ints([[1, 2], [2, 0]]), _ints([1, 2])), {}, ""),
    ("unknown-blank", (_DATA, _ints([[1, 2], [2, 0]])), {"blank_label": "middle"}, ""),
    ("unknown-parameter", (_DATA, _ints([[1, 2], [2, 0]])), {"foo": 1}, ""),
):  # fmt: skip
    CASES.append(Case("CTCLoss", _label, _inputs, _params, error=True, oracle=_oracle,
                      np_shape=_label in ("0-axes", "no-classes")))  # fmt: skip
