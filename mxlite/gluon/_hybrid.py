"""HybridBlock: a block whose computation is written with `F`: mx.nd, or mx.sym where it becomes a graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Callable, NoReturn

from mxlite import ndarray
from mxlite._lib import hot
from mxlite._lib.libraries import refuse_backend
from mxlite.context import Context, current_context
from mxlite.error import MXNotImplementedError
from mxlite.gluon import _graph
from mxlite.gluon._block import Block
from mxlite.gluon._cached import CachedGraph, find_shapes, flat_inputs, graph_for
from mxlite.gluon._nested import _flatten
from mxlite.gluon._parameter import Parameter, epoch
from mxlite.gluon._parameter_dict import ParameterDict
from mxlite.gluon.utils import shape_is_known
from mxlite.ndarray import _kinds
from mxlite.ndarray.ndarray import NDArray
from mxlite.symbol import Symbol

if TYPE_CHECKING:
    from mxlite.gluon._typing import hybrid_call

_device = hot.device

#: What `hot.device` says of arrays in cpu(0).
_CPU0 = 1

#: What a block remembers of its last call in cpu(0): the class of its first array, F, the parameters' arrays by name,
#: and the number of the epoch that they are of.
_UNKNOWN: tuple[Any, Any, dict[str, Any], int] = (None, None, {}, -1)


class HybridBlock(Block):
    """A block of operators: `hybrid_forward(self, F, x, *args, **params)` gets mx.nd and the parameters' arrays.

    Of symbols it gets mx.sym and the parameters' variables, and makes a symbol. Children must be HybridBlocks.
    After `hybridize()` the first call with inputs of a form (which of them are lists, or None) makes a graph of the
    block, by symbols; that runs from then on for inputs of this form.
    """

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=prefix, params=params)
        self._active = False
        self._flags: list[tuple[str, Any]] = []
        #: The form of the inputs (see _nested.py), and their class; None: it has not run since it was hybridized.
        self._form: Any = None
        self._input_class: type[NDArray] = NDArray
        #: The graphs that have been made (see _cached.py), and the one that has run last.
        self._graphs: dict[Any, CachedGraph] = {}
        self._cached: CachedGraph | None = None
        #: What `register_op_hook` was given.
        self._op_hook: tuple[Any, bool] | None = None
        self._backend: str | None = None
        self._backend_opts: dict[str, Any] = {}
        self._known = _UNKNOWN

    def __getstate__(self) -> dict[str, Any]:
        """The state for pickle and copies, without what is remembered: epochs are this process's."""
        return {**vars(self), "_known": _UNKNOWN, "_cached": None, "_graphs": {}}

    def __setattr__(self, name: str, value: Any) -> None:
        """As Block's. Raises: ValueError: a child that is no HybridBlock."""
        super().__setattr__(name, value)
        if isinstance(value, (Parameter, HybridBlock)):
            self._known = _UNKNOWN
            self._clear_cached_op()

    def register_child(self, block: HybridBlock, name: str | None = None) -> None:
        """Makes a block a child. Raises: ValueError: it is no HybridBlock."""
        if not isinstance(block, HybridBlock):
            raise ValueError(
                f"a HybridBlock has only HybridBlocks as children; {block} is a {type(block)}; in place of "
                "Sequential take HybridSequential"
            )
        super().register_child(block, name)
        self._clear_cached_op()

    def _clear_cached_op(self) -> None:
        """Forgets the graphs: the next call makes another (1.9.1's name, which detectors of GluonCV call)."""
        self._graphs = {}
        self._cached = None
        self._form = None

    @property
    def _in_format(self) -> Any:
        """The form of the inputs, as 1.9.1 calls it (GluonTS writes it to a file); None: the block has not run."""
        return self._form

    @property
    def _out_format(self) -> Any:
        """The form of what the hybridized block returns; None: it has no graph yet."""
        return None if self._cached is None else self._cached.made

    @property
    def _cached_graph(self) -> tuple:
        """The inputs and outputs of the graph as symbols (1.9.1's name, for mxboard); (): there is none."""
        return () if self._cached is None else self._cached.symbols()

    def _get_graph(self, *args: Any) -> tuple:
        """`_cached_graph`, which is made for such inputs if there is none, also of a block that is not hybridized."""
        if args:
            graph_for(self, *flat_inputs(args[0], args[1:])[1:])
        return self._cached_graph

    #: What a graph depends on besides the form of the inputs, at this call.
    _variant: Any = None

    def _described_graph(self) -> dict[str, Any]:
        return {"hybridized": False}

    #: Names of the nodes of the block's graph, by what they would be called; a step's prefix to these (see _graph.py).
    _node_names: dict[str, str] = {}

    def _step_prefix(self) -> str:
        return ""

    # ---- calls ----

    def forward(self, x: Any, *args: Any) -> Any:
        """Runs `hybrid_forward` with the parameters of the first array's context.

        Raises: ValueError: no input is an NDArray, or a shape cannot be inferred; RuntimeError: parameters are not
            initialized, or not there.
        """
        if self._active:
            return self._forward_graph(x, args)
        kind, F, arrays, number = self._known  # noqa: N806
        if x.__class__ is kind and number == epoch.number and _device(x._h) == _CPU0:
            if args or arrays:
                return self.hybrid_forward(F, x, *args, **arrays)
            return self.hybrid_forward(F, x)
        first = _first_array((x, *args))
        if isinstance(first, Symbol):
            return _graph.forward(self, x, args)
        return self._forward_in(first, x, args)

    def _forward_graph(self, x: Any, args: tuple) -> Any:
        """`forward` of a hybridized block: the graph of arrays, or what is made of symbols."""
        cached = self._cached
        if x.__class__ is NDArray or x.__class__ in _kinds.CLASSES:
            if (
                cached is not None
                and cached.count == 1 + len(args)
                and cached.kind is x.__class__
                and cached.variant == self._variant
            ):
                if not args:
                    return cached.of_one(x)
                for each in args:
                    if each.__class__ is not x.__class__:
                        break
                else:
                    return cached.of_arrays([x, *args])
        elif isinstance(_first_array((x, *args)), Symbol):
            return _graph.forward(self, x, args)
        if type(self).infer_shape is not HybridBlock.infer_shape:
            self._find_own_shapes(x, args)
        arrays, form, kind = flat_inputs(x, args)
        if cached is None or (form, kind, self._variant) != (cached.form, cached.kind, cached.variant):
            cached = graph_for(self, form, kind)
        return cached.of(arrays)

    def _traced(self, form: Any, kind: type[NDArray]) -> tuple[list, Symbol, Any]:
        """The graph that a hybridized block runs, for inputs of a form and a class; see _graph.trace."""
        return _graph.trace(self, form, kind)

    def _forward_in(self, first: NDArray, x: Any, args: tuple) -> Any:
        """`forward` outside of cpu(0), and where the parameters' arrays are not remembered.

        Args:
            first: the first array of the inputs.
        """
        device, kind = _device(first._h), first._kind
        ctx = Context(Context.devtype2str.get(device & 15, "cpu"), device >> 4)
        before = epoch.number
        if self._form is None:
            self._form, self._input_class = _form_of(x, args), kind
        arrays, complete = self._collect_arrays(ctx, x, args)
        arrays = _kinds.as_kind(arrays, kind)
        F = _functions_for(type(self), kind)  # noqa: N806
        if complete and device == _CPU0 and before == epoch.number:
            self._known = kind, F, arrays, before
        if ctx == current_context():
            return self.hybrid_forward(F, x, *args, **arrays)
        with ctx:
            return self.hybrid_forward(F, x, *args, **arrays)

    def _collect_arrays(self, ctx: Context, x: Any, args: tuple) -> tuple[dict[str, Any], bool]:
        """The parameters' arrays in a context, made where they waited for a shape; whether they stay the same."""
        params = self._reg_params.values()
        self._find_own_shapes(x, args)
        for each in params:
            each._finish_deferred_init()
        arrays = {name: each.data(ctx) for name, each in self._reg_params.items()}
        return arrays, all(type(each).data is Parameter.data for each in params)

    def _find_own_shapes(self, x: Any, args: tuple) -> None:
        """Calls `infer_shape` where a parameter of this block itself waits for its shape. Raises: ValueError."""
        params = self._reg_params.values()
        waiting = [each.name for each in params if each._deferred_init and not shape_is_known(each.shape)]
        if not waiting:
            return
        try:
            self.infer_shape(x, *args)
        except Exception as error:
            names = ", ".join(f"'{name}'" for name in waiting)
            raise ValueError(f"the shape of Parameter {names} cannot be inferred: {error}") from error

    if TYPE_CHECKING:
        __call__ = hybrid_call

        def hybrid_forward(self, F: Any, x: Any, /, *args: Any, **kwargs: Any) -> Any: ...  # noqa: N803
    else:

        def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N803 - 1.9.1's name
            """The computation; each kind of block writes its own.

            Args:
                F: The module mx.nd; in layers of the package, and kinds of them, of arrays of `mx.np` its twin.
                kwargs: The arrays of the parameters that are attributes of the block, by their names.
            """
            raise NotImplementedError

    # ---- shapes and dtypes ----

    def infer_shape(self, *args: Any) -> None:
        """Finds the unknown sizes of the parameters of this block and those in it, from inputs; they get no values.

        Raises: ValueError: what the block computes does not tell them.
        """
        arrays, form, kind = flat_inputs(args[0], args[1:])
        if self._active:
            graph_for(self, form, kind).find_shapes(arrays)
            return
        inputs, graph, _ = self._traced(form, kind)
        used = set(graph.list_inputs())
        find_shapes(inputs, graph, [each for each in self.collect_params().values() if each.name in used], arrays)

    def infer_type(self, *args: Any) -> None:
        """Sets the dtypes of all parameters to that of the first input."""
        self.cast(_first_array(args).dtype)

    # ---- graphs ----

    def hybridize(
        self,
        active: bool = True,
        backend: str | None = None,
        clear: bool = True,
        static_alloc: bool = False,
        static_shape: bool = False,
        inline_limit: int = 2,
        forward_bulk_size: int | None = None,
        backward_bulk_size: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Makes the block run as a graph, which the next call makes with F = mx.sym: once for each form of the inputs.

        Args:
            active: False: `hybrid_forward` runs at each call, with F = mx.nd.
            clear: whether a graph that is there is forgotten.
            static_alloc, static_shape, inline_limit, forward_bulk_size, backward_bulk_size: of cached operators.
            backend, kwargs: remembered; mxlite has no other back ends. But for `fast=True`: training may have other
                roundings where that is faster, and `remat=True`: backward computes cheap results again, which takes
                less memory and gives the same bits.

        Raises: NotImplementedError: `backend` is a partitioner or a graph pass of a loaded library; ValueError: `fast`
            or `remat` is neither True nor False.
        """
        own = {name: kwargs.pop(name, False) for name in ("fast", "remat")}
        for name, value in own.items():
            if value not in (True, False):
                raise ValueError(f"hybridize: {name} is True or False, not {value!r}")
        if backend is not None:
            refuse_backend("hybridize", backend)
        self._active = active
        if clear or not active:
            self._clear_cached_op()
        self._known = _UNKNOWN
        self._backend = backend
        self._backend_opts = kwargs
        flags = {
            "static_alloc": static_alloc,
            "static_shape": static_shape,
            "inline_limit": inline_limit,
            "forward_bulk_size": forward_bulk_size,
            "backward_bulk_size": backward_bulk_size,
            **{name: True for name, value in own.items() if value},
        }
        self._flags = [(name, value) for name, value in flags.items() if value is not None]
        super().hybridize(active, **flags)

    def optimize_for(
        self,
        x: Any,
        *args: Any,
        backend: str | None = None,
        clear: bool = False,
        static_alloc: bool = False,
        static_shape: bool = False,
        inline_limit: int = 2,
        forward_bulk_size: int | None = None,
        backward_bulk_size: int | None = None,
        **kwargs: Any,
    ) -> NoReturn:
        """Raises: NotImplementedError: mxlite has no other back ends. ValueError: none is named."""
        if backend is None:
            raise ValueError("optimize_for: `backend` is missing")
        refuse_backend("optimize_for", backend)
        raise MXNotImplementedError(f"optimize_for: backend {backend!r} is not in mxlite; blocks run without one")

    def export(self, path: str, epoch: int = 0, remove_amp_cast: bool = True) -> None:
        """Writes what the block computes to `path-symbol.json`, and its parameters to `path-0000.params`.

        If it has been called with inputs of several forms, that is what it computes of those of the last call.
        1.9.1, `SymbolBlock.imports` and the Predict API read them. The inputs are called `data`, or `data0`, `data1`.
        Raises: RuntimeError: the block has not run, or was hybridized since; MXNetError: a file cannot be written.
        """
        graph = self._cached.graph if self._cached is not None else self._as_graph("export")[1]
        _graph.export(self, graph, path, epoch, remove_amp_cast)

    def _as_graph(self, function: str) -> tuple[list[Any], Any]:
        """The inputs of the last call, and what the block computes of them, as symbols."""
        if self._form is None:
            raise RuntimeError(f"{function}: there is no graph yet; call hybridize() and then the block once")
        inputs, graph, _ = _graph.trace(self, self._form, self._input_class)
        return [each for each in inputs if each is not None], graph

    def register_op_hook(self, callback: Callable[[bytes, bytes, int], Any], monitor_all: bool = False) -> None:
        """Calls `callback(name, operator, handle)` with each array that an operator of the graph computes.

        Nothing is called before the block is hybridized. The handle is the callback's own: `NDArray(handle)` frees it.

        Args:
            monitor_all: whether also with each input of an operator.
        """
        self._op_hook = callback, monitor_all
        for graph in self._graphs.values():
            graph.watch(callback, monitor_all)
        super().register_op_hook(callback, monitor_all)


def _functions_for(block: type, kind: type[NDArray]) -> Any:
    """F for a class of blocks and one of arrays: mx.nd, whose functions the package's own classes get for both."""
    return ndarray if kind is NDArray or not _graph.is_own(block) else _kinds.functions_for(kind)


def _form_of(x: Any, args: tuple) -> Any:
    """The form of a block's inputs; None: there are others among them, of which no graph can be made."""
    try:
        return _flatten([x, *args], "input")[1]
    except ValueError:
        return None


def _arrays_in(values: Any) -> Iterator[Any]:
    """The arrays and symbols in lists and tuples."""
    for each in values:
        if isinstance(each, NDArray):
            yield each
        elif isinstance(each, (list, tuple)):
            yield from _arrays_in(each)
        elif isinstance(each, Symbol):
            yield each


def _first_array(values: Any) -> Any:
    """The first array or symbol in lists and tuples. Raises: ValueError: there is none."""
    for each in _arrays_in(values):
        return each
    raise ValueError("HybridBlock: no argument is an NDArray or a Symbol")
