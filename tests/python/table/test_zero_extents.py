"""Arrays without elements: rows of each operator with each size of each input set to 0, in turn and together.

An operator may refuse them. If it answers, its backward must too, and where results are finite, so are gradients.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from _table import invoke_text, to_nd
from cases import CASES, OWN, Case, In

import mxlite as mx
from mxlite import autograd

pytestmark = pytest.mark.one_binding


#: rows of an operator that differ in parameters or ranks
MOST = 12


def _rows() -> dict[str, list[Case]]:
    """Rows of each operator that has a derivative, those with the most sizes first."""
    rows: dict[str, dict] = {}
    for case in CASES + OWN:
        if case.diff and not (case.error or case.random or case.mutates):
            kind = (*case.params, *(len(_shape(row)) for row in case.inputs))
            rows.setdefault(case.op, {}).setdefault(kind, case)
    return {
        op: sorted(kinds.values(), key=lambda case: -sum(len(_shape(row)) for row in case.inputs))[:MOST]
        for op, kinds in rows.items()
    }


def _shape(row: In) -> tuple:
    return tuple(row.shape) if row.values is None else np.shape(row.values)


def _resized(row: In, shape: tuple) -> In:
    return (
        row if shape == _shape(row) else In(shape, row.dtype, ("int", 0, 1) if row.values is not None else row.domain)
    )


def _emptied(case: Case) -> Iterator[tuple]:
    """The inputs with a size of one input as 0; with a size of the first two; with a number everywhere."""
    shapes = [_shape(row) for row in case.inputs]
    places = [[(i, dim) for dim in range(len(shape))] for i, shape in enumerate(shapes)]
    chosen = [[place] for each in places for place in each]
    if len(shapes) > 1:
        chosen += [[one, other] for one in places[0] for other in places[1]]
    for number in sorted({size for shape in shapes for size in shape}):
        chosen.append([(i, dim) for each in places for i, dim in each if shapes[i][dim] == number])
    for which in chosen:
        made = [tuple(0 if (i, dim) in which else size for dim, size in enumerate(s)) for i, s in enumerate(shapes)]
        yield tuple(_resized(row, shape) for row, shape in zip(case.inputs, made))


ROWS = _rows()


@pytest.mark.parametrize("op", ROWS)
def test_empty(op: str) -> None:
    for case, inputs in ((row, inputs) for row in ROWS[op] for inputs in _emptied(row)):
        what = f"{case.id} {[_shape(row) for row in inputs]}"
        arrays = [to_nd(row.array(f"{case.id}#{i}")) for i, row in enumerate(inputs)]
        variables = [arrays[i] for i in case.diff]
        for variable in variables:
            variable.attach_grad()
        with mx.np_shape(True):
            try:
                with autograd.record(train_mode=case.train):
                    outputs = invoke_text(op, arrays, case.strings())
            except mx.MXNetError:
                continue
            autograd.backward(outputs, train_mode=case.train)
            finite = all(np.isfinite(output.asnumpy()).all() for output in outputs)
            for variable in variables:
                assert not finite or np.isfinite(variable.grad.asnumpy()).all(), what


def test_softmax_output_without_classes() -> None:
    data = to_nd(np.ones((2, 0, 4), "float32"))
    with mx.np_shape(True):
        data.attach_grad()
        with autograd.record():
            made = mx.nd.SoftmaxOutput(data, to_nd(np.ones((2, 0), "float32")))
        made.backward()
    assert data.grad.shape == (2, 0, 4)
