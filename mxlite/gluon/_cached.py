"""A hybridized block's graphs, which cached operators run: one for each form of its inputs, made at the first call."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Callable

from mxlite._lib import hot
from mxlite.context import Context, current_context
from mxlite.error import WrongValueError
from mxlite.gluon._nested import _flatten, _regroup, with_nones
from mxlite.gluon._parameter import Parameter, epoch
from mxlite.gluon.utils import shape_is_known
from mxlite.ndarray.ndarray import NDArray
from mxlite.symbol import Symbol
from mxlite.symbol._cached_op import CachedOp

if TYPE_CHECKING:
    from mxlite.gluon._hybrid import HybridBlock

_device = hot.device

#: What `hot.device` says of arrays in cpu(0).
_CPU0 = 1

#: Held while a block is traced: threads that call it first make one graph.
_tracing = threading.RLock()


class CachedGraph:
    """The graph of a block, with the parameters that it takes.

    Args:
        form, kind: of the block's inputs (see _graph.trace).
        inputs, graph, made: as _graph.trace gives them.
    Raises: ValueError: the graph has a variable that is no input and no parameter of the block.
    """

    def __init__(
        self, block: HybridBlock, form: Any, kind: type[NDArray], inputs: list, graph: Symbol, made: Any
    ) -> None:
        self.form, self.kind, self.inputs, self.graph, self.made = form, kind, inputs, graph, made
        self.variant = block._variant
        #: The number of the block's inputs where all are arrays; else 0.
        self.count = len(form) if form == [0] * len(form) else 0
        self._parameters(block)
        self._op = CachedOp(self.graph, [each for each in block._flags if each[1] is not None])
        self._plain = all(type(each).data is Parameter.data for each in self._params)
        self._one = len(self.graph) == 1 and self.made == 0
        #: What `_arrays_in` returns, by device, as it was at `_epoch`.
        self._arrays: dict[int, list[Any]] = {}
        self._epoch = -1
        self._watched = False
        if block._op_hook is not None:
            self.watch(*block._op_hook)

    def _parameters(self, block: HybridBlock) -> None:
        """Sorts the graph's variables: which of them are inputs, which parameters, and who is not there."""
        known = block.collect_params()
        names = [None if each is None else str(each.name) for each in self.inputs]
        order = self.graph.list_inputs()
        #: For each input of the cached operator, the number of an input of the block; -1: a parameter.
        self._from = [names.index(each) if each in names else -1 for each in order]
        #: The others, in that order.
        self._params = []
        for name, number in zip(order, self._from):
            if number < 0:
                if name not in known.keys():
                    raise WrongValueError(
                        f"the graph of a HybridBlock has an input that is no argument and no parameter: {name}"
                    )
                self._params.append(known[name])
        #: Where in the cached operator's inputs each input of the block is; -1: nowhere.
        self._places = [order.index(each) if each in order else -1 for each in names]
        for number, (name, place) in enumerate(zip(names, self._places)):
            if name is not None and place < 0:
                _warn(f"the graph of this block does not use its input {number}")
        used = {id(each) for each in self._params}
        for name, each in known.items():
            if id(each) not in used:
                _warn(f"the graph of this block does not use its parameter {name}")

    def symbols(self) -> tuple[list[Symbol], Symbol]:
        """The inputs that are not None, and the outputs."""
        return [each for each in self.inputs if each is not None], self.graph

    # ---- calls ----

    def of_one(self, x: Any) -> Any:
        """What a graph of one array gives for it. Raises: as `of`."""
        device = _device(x._h)
        arrays = self._arrays_in(device, [x])
        if self._places[0] >= 0:
            arrays[self._places[0]] = x
        return self._run_in(device, arrays, x._kind)

    def of_arrays(self, given: list) -> Any:
        """The same of several arrays of one class, in the order of the form."""
        device = _device(given[0]._h)
        for each in given:
            if _device(each._h) != device:
                return self.of(given)  # which refuses them
        arrays = self._arrays_in(device, given)
        for place, each in zip(self._places, given):
            if place >= 0:
                arrays[place] = each
        return self._run_in(device, arrays, given[0]._kind)

    def of(self, given: list) -> Any:
        """What the graph gives for the block's inputs, in the order of their form.

        Raises: ValueError: they are in several contexts; RuntimeError: parameters are not initialized, or not there;
            MXNetError: shapes or dtypes do not fit.
        """
        device = _one_device(given)
        arrays = self._arrays_in(device, given)
        for place, each in zip(self._places, given):
            if place >= 0:
                arrays[place] = each
        return self._run_in(device, arrays, next(each._kind for each in given if each is not None))

    def _run_in(self, device: int, arrays: list[Any], kind: type[NDArray]) -> Any:
        if device == _CPU0:
            return self._run(arrays, kind)
        ctx = _context(device)
        if ctx == current_context():
            return self._run(arrays, kind)
        with ctx:
            return self._run(arrays, kind)

    def _run(self, arrays: list[Any], kind: type[NDArray]) -> Any:
        handles = [each._h for each in arrays]
        if self._one and not self._watched:
            return self._op.run_one(handles, kind)
        made = self._op.run(handles, len(self.graph), kind)
        return _regroup(with_nones(made, self.made), self.made)

    def _arrays_in(self, device: int, given: list) -> list[Any]:
        """A new list of the cached operator's inputs in a context: parameters, and None for the block's inputs."""
        if self._epoch == epoch.number and device in self._arrays:
            return self._arrays[device].copy()
        if any(each._deferred_init for each in self._params):
            self.find_shapes(given)
            for each in self._params:
                each._finish_deferred_init()
        before = epoch.number
        ctx = _context(device)
        params = iter(self._params)
        found = [next(params).data(ctx) if number < 0 else None for number in self._from]
        if not self._plain or before != epoch.number:
            return found
        if self._epoch != before:
            self._arrays = {}
            self._epoch = before
        self._arrays[device] = found
        return found.copy()

    # ---- shapes ----

    def find_shapes(self, arrays: list) -> None:
        """Finds unknown shapes of parameters by inference, from the block's inputs.

        Raises: ValueError: the graph does not tell them.
        """
        find_shapes(self.inputs, self.graph, self._params, arrays)

    # ---- hooks ----

    def watch(self, callback: Callable[[bytes, bytes, int], Any], monitor_all: bool) -> None:
        """Calls `callback(name, operator, handle)` with what operators compute, and with what they get."""
        self._op._register_op_hook(callback, monitor_all)
        self._watched = True


def find_shapes(inputs: list, graph: Symbol, params: Iterable[Parameter], arrays: list) -> None:
    """Gives parameters the shapes that a graph tells for arrays as its inputs; all of them, or none.

    Args:
        inputs: variables of the graph, or None, for each array.
    Raises: ValueError: the graph does not tell them all; MXNetError: they contradict each other.
    """
    names = [*graph.list_arguments(), *graph.list_auxiliary_states()]
    given = {str(each.name): array.shape for each, array in zip(inputs, arrays) if each is not None}
    given = {name: shape for name, shape in given.items() if name in names}
    arguments, _, states = graph.infer_shape_partial(**given)
    found = dict(zip(names, [*(arguments or ()), *(states or ())]))
    missing = [each for each in params if not shape_is_known(each.shape)]
    unknown = ", ".join(f"'{each.name}'" for each in missing if not shape_is_known(found.get(each.name)))
    if unknown:
        raise ValueError(
            f"the graph does not tell the shape of Parameter {unknown}; give the sizes (in_units, in_channels, "
            "shape=...)"
        )
    for each in missing:
        each.shape = found[each.name]


def graph_for(block: HybridBlock, form: Any, kind: type[NDArray]) -> CachedGraph:
    """The graph of a hybridized block for inputs of a form and a class of arrays, made if there is none; it becomes the
    block's present one.

    The key is both, and what the block says besides (`_variant`).
    """
    key = str(form), kind, block._variant
    with _tracing:
        graph = block._graphs.get(key)
        if graph is None:
            graph = block._graphs[key] = CachedGraph(block, form, kind, *block._traced(form, kind))
        block._cached, block._form, block._input_class = graph, form, kind
        return graph


def flat_inputs(x: Any, args: tuple) -> tuple[list, Any, type[NDArray]]:
    """A block's inputs as one list, their form and class. Raises: ValueError: one is neither an array nor None."""
    arrays, form = _flatten([x, *args], "input")
    _refuse_symbols(arrays)
    return arrays, form, next((each._kind for each in arrays if each is not None), NDArray)


def _refuse_symbols(inputs: list) -> None:
    if any(isinstance(each, Symbol) for each in inputs):
        raise ValueError("HybridBlock: some arguments are NDArrays and some are Symbols; all must be of one kind")


def _warn(text: str) -> None:
    warnings.warn(text, stacklevel=9)


def _context(device: int) -> Context:
    return Context(Context.devtype2str.get(device & 15, "cpu"), device >> 4)


def _one_device(arrays: list) -> int:
    """Where all inputs are. Raises: ValueError: in several contexts, or one is a symbol."""
    _refuse_symbols(arrays)
    devices = {_device(each._h) for each in arrays if each is not None}
    if len(devices) != 1:
        listed = ", ".join(sorted(str(_context(each)) for each in devices))
        raise ValueError(
            f"HybridBlock: the inputs are on several contexts, {listed}; a hybridized block needs them on one"
        )
    return devices.pop()
