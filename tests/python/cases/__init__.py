"""The operator case table: a file per family, one row per call. See `_case.Case` for the columns.

The folders are those of capi/ops.
"""

from __future__ import annotations

import ctypes
import os
from importlib import import_module

from . import internal
from ._case import TOLERANCE, Case, In, generate, heads

__all__ = [
    "ABOUT",
    "CASES",
    "FAMILIES",
    "INTERNAL",
    "OTHER_NAMES",
    "OWN",
    "TOLERANCE",
    "Case",
    "In",
    "generate",
    "heads",
    "of",
    "operators",
]

#: folders as in capi/ops; the order is that of the pages of `make docs`
_NAMES = """
    elementwise.unary elementwise.binary elementwise.scalar elementwise.elementwise elementwise.compare
    elementwise.where elementwise.combined reduce.reduce reduce.reduction linalg.dot linalg.products linalg.linalg
    linalg.factors linalg.fourier shape.shape shape.movement shape.parts shape.slice index.take index.gather_nd
    index.embedding index.ravel index.sequence reduce.softmax create.fill random.random random.sample
    random.multinomial random.density parameters index.sort loss.loss loss.nll nn.convolution nn.normalise
    nn.local_norm nn.pooling nn.images nn.sampler vision.roi optimizer.sgd optimizer.adam optimizer.adamw
    optimizer.lamb optimizer.multi_sgd optimizer.finite elementwise.amp vision.boxes vision.multibox vision.image
    vision.colour vision.resize nn.rnn loss.ctc nn.attention nn.scaled_attention nn.hawkes loss.svm_output
    vision.proposal vision.deformable vision.cv vision.correlation vision.pooling_v1 vision.psroi loss.sparse_reg
    numpy.names numpy.arithmetic numpy.reductions numpy.spread numpy.moves numpy.joins numpy.stacks numpy.axes
    numpy.distributions numpy.choices numpy.algebra numpy.sums numpy.more numpy.ordered special_values
    special_inputs no_axes quantized.quantized quantized.quantized_pieces quantized.quantized_ends
""".split()


def _there(cases: list[Case]) -> tuple[Case, ...]:
    """The rows; of a library without some parts (`make test-parts` says so) those of the operators that it has."""
    if os.environ.get("MXLITE_TEST_PARTS") != "1":
        return tuple(cases)
    from mxlite._lib import LIB  # not at the top: 1.9.1's Python reads the rows too

    return tuple(case for case in cases if LIB.NNGetOpHandle(case.op.encode(), ctypes.byref(ctypes.c_void_p())) == 0)


_MODULES = {name.rpartition(".")[2]: import_module(f".{name}", __name__) for name in _NAMES}
#: family name -> its rows
FAMILIES = {name: _there(module.CASES) for name, module in _MODULES.items()}
#: family name -> what its operators do, in a line
ABOUT = {name: (module.__doc__ or "").strip().splitlines()[0] for name, module in _MODULES.items()}

#: every row, in a fixed order
CASES = tuple(case for rows in FAMILIES.values() for case in rows)
#: rows of operators that backward rules and the engine call by name; a family may have its own
INTERNAL = _there(internal.CASES) + _there(
    [case for module in _MODULES.values() for case in getattr(module, "INTERNAL", ())]
    + import_module(".nn.training", __name__).INTERNAL
)
#: rows of the library's own operators, which mxlite.torch calls
OWN = _there([case for case in import_module(".own_ranks", __name__).CASES if case.op.startswith("_mxl_")])

_seen: set = set()
for _case in CASES + OWN + INTERNAL:
    if _case.id in _seen:
        raise ValueError(f"two cases are called {_case.id}")
    _seen.add(_case.id)

_BY_OPERATOR = {case.op: () for case in CASES + INTERNAL}
for _case in CASES + INTERNAL:
    _BY_OPERATOR[_case.op] += (_case,)


#: names that are an operator by itself in 1.9.1, and another name of one here
OTHER_NAMES = {case.op for case in FAMILIES["names"]} | {"_npi_cholesky"}


def operators() -> set:
    """The first names of the operators that have a case."""
    return {case.op for case in CASES} - OTHER_NAMES


def of(op: str) -> tuple:
    """The rows of one operator."""
    return _BY_OPERATOR.get(op, ())
