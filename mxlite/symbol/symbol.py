"""Symbol: outputs of a graph of operators that runs later, on arrays. Variables, groups, files.

Python's operators and the methods that are operators of the library are added by _arithmetic.py; shapes and dtypes
are found in _infer.py, and _bind.py makes executors.
"""

from __future__ import annotations

import ctypes
import importlib
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn

from mxlite._lib import LIB, Handle, ask, c_text, check_call
from mxlite._lib.libraries import refuse_backend
from mxlite._public import show
from mxlite._public.near import did_you_mean
from mxlite.attribute import AttrScope
from mxlite.base import STYPE_NUMBERS, NotImplementedForSymbol, dtype_flag
from mxlite.error import MXIndexError, MXNotImplementedError
from mxlite.symbol import _bind, _calls, _infer, _shown

__all__ = ["Group", "Symbol", "Variable", "fromjson", "load", "load_json", "var"]


class Symbol(Handle):
    """Outputs of nodes of a graph: variables, and operators on other symbols. It holds no values.

    Make one with `mx.sym.var("x")`, with the functions of `mx.sym` on symbols, or from a file.

    Args:
        handle: an integer or c_void_p that an API function returned as new; the Symbol frees it.
    """

    __slots__ = ()

    #: The class that operators take and give: Symbol, or that of `mx.sym.np`.
    _kind: type[Symbol]

    #: NumPy's arrays leave operators to ours.
    __array_priority__ = 1000.0

    def __init__(self, handle: int | ctypes.c_void_p) -> None:
        self._own(handle.value if isinstance(handle, ctypes.c_void_p) else handle, LIB.NNSymbolFree)

    @property
    def handle(self) -> ctypes.c_void_p:
        """The handle, for the C API. It stays this object's."""
        return ctypes.c_void_p(self._h)

    def __repr__(self) -> str:
        name = self.name
        return f"<Symbol {name}>" if name is not None else f"<Symbol group [{', '.join(_names(self))}]>"

    def _repr_svg_(self) -> str | None:
        """For a notebook: the network, with shapes as far as its variables tell them."""
        return _shown.as_svg(self)

    def _repr_html_(self) -> str | None:
        """For a notebook: the same as a table, where it is too large for a picture."""
        return _shown.as_html(self)

    # ---- copies ----

    def __copy__(self) -> Symbol:
        return self._kind(ask(ctypes.c_void_p, LIB.MXSymbolCopy, self._h))

    def _results(self) -> Any:
        """What a function that has made this symbol answers: the symbol; of `mx.sym.np` a list of several outputs."""
        return self

    def __deepcopy__(self, memo: Any) -> Symbol:
        return self.__copy__()

    def __reduce__(self) -> Any:
        return load_json, (self.tojson(remove_amp_cast=False),)

    __hash__ = object.__hash__

    def __call__(self, *args: Symbol, **kwargs: Any) -> Symbol:
        """A copy with other symbols in place of its variables: `net(data=features)`.

        Args:
            name: the node's, where the symbol is an operator without inputs yet.
        Raises: TypeError: not symbols, or both positional and by name; MXNetError: there is no such variable.
        """
        copied = self.__copy__()
        copied._compose(*args, **kwargs)
        return copied

    def _compose(self, *args: Symbol, **kwargs: Any) -> None:
        """The same, in place."""
        name = kwargs.pop("name", None)
        if args and kwargs:
            raise TypeError("a symbol is composed with Symbols by position or by name, not both")
        given = args or tuple(kwargs.values())
        if not all(isinstance(each, Symbol) for each in given):
            raise TypeError("a symbol is composed with Symbols")
        _calls.compose(self._h, name, [each._h for each in given], list(kwargs) if kwargs else None)

    # ---- outputs ----

    @property
    def num_outputs(self) -> int:
        """How many outputs it has."""
        return ask(ctypes.c_uint32, LIB.MXSymbolGetNumOutputs, self._h)

    def __len__(self) -> int:
        return self.num_outputs

    def __iter__(self) -> Iterator[Symbol]:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, index: int | slice | str) -> Symbol:
        """An output by its number or name, or several of them by a slice.

        Raises: IndexError: there is none of that number; ValueError: none, or more than one, of that name.
        """
        count = self.num_outputs
        if isinstance(index, slice):
            chosen = range(count)[index]
            if not chosen or (index.stop is not None and index.stop > count):
                raise IndexError(f"{index} selects no outputs of {count}")
            return Group([self._output(number) for number in chosen])
        if isinstance(index, str):
            index = _number_of(index, self.list_outputs())
        if not isinstance(index, int):
            raise TypeError("an output of a symbol is chosen by its number or name")
        if not 0 <= index < count:
            raise MXIndexError(f"output {index} of a symbol with {count} outputs")
        return self._output(index)

    def _output(self, number: int) -> Symbol:
        return self._kind(ask(ctypes.c_void_p, LIB.MXSymbolGetOutput, self._h, number))

    def _outputs(self) -> list[Symbol]:
        """The outputs, each a symbol."""
        return [self] if self.num_outputs == 1 else [self._output(number) for number in range(self.num_outputs)]

    # ---- what it is ----

    @property
    def name(self) -> str | None:
        """The node's name; None for a group."""
        return _calls.found_text(LIB.MXSymbolGetName, self._h)

    def attr(self, key: str) -> str | None:
        """An attribute of the node; None: it has none of that name."""
        return _calls.found_text(LIB.MXSymbolGetAttr, self._h, c_text(key))

    def list_attr(self, recursive: bool = False) -> dict[str, str]:
        """The node's attributes, parameters of its operator among them. Raises: DeprecationWarning: recursive."""
        if recursive:
            raise DeprecationWarning(
                "list_attr(recursive=True) has gone: attr_dict() gives the attributes of all nodes"
            )
        pairs = _calls.texts_of(LIB.MXSymbolListAttrShallow, self._h, per_entry=2)
        return dict(zip(pairs[::2], pairs[1::2]))

    def attr_dict(self) -> dict[str, dict[str, str]]:
        """The attributes of all nodes that have some, by the nodes' names."""
        pairs = _calls.texts_of(LIB.MXSymbolListAttr, self._h, per_entry=2)
        found: dict[str, dict[str, str]] = {}
        for key, value in zip(pairs[::2], pairs[1::2]):
            node, _, attribute = key.partition("$")
            found.setdefault(node, {})[attribute] = value
        return found

    def _set_attr(self, **kwargs: str) -> None:
        """Sets attributes of the node. Raises: ValueError: a value is no string."""
        for key, value in kwargs.items():
            if not isinstance(value, str):
                raise ValueError("the values of attributes are texts")
            check_call(LIB.MXSymbolSetAttr(self._h, c_text(key), c_text(value)))

    def get_internals(self) -> Symbol:
        """A group of the outputs of all nodes, in the order in which they run."""
        return Symbol(ask(ctypes.c_void_p, LIB.MXSymbolGetInternals, self._h))

    def get_children(self) -> Symbol | None:
        """A group of what the nodes take as inputs; None: nothing."""
        children = Symbol(ask(ctypes.c_void_p, LIB.MXSymbolGetChildren, self._h))
        return children if children.num_outputs else None

    def get_inputs(self) -> Symbol:
        """A group of the variables."""
        count, inputs = ctypes.c_int(), ctypes.POINTER(ctypes.c_void_p)()
        check_call(LIB.MXSymbolGetInputSymbols(self._h, ctypes.byref(inputs), ctypes.byref(count)))
        return Group([Symbol(inputs[i]) for i in range(count.value)])

    def list_arguments(self) -> list[str]:
        """The names of the variables that are no auxiliary states, in the order in which the graph meets them."""
        return _calls.texts_of(LIB.MXSymbolListArguments, self._h)

    def list_outputs(self) -> list[str]:
        """The names of the outputs: `fc1_output`, or `sp_output0`, `sp_output1`."""
        return _calls.texts_of(LIB.MXSymbolListOutputs, self._h)

    def list_auxiliary_states(self) -> list[str]:
        """The names of the variables that operators change, such as a BatchNorm's moving averages."""
        return _calls.texts_of(LIB.MXSymbolListAuxiliaryStates, self._h)

    def list_inputs(self) -> list[str]:
        """The names of all variables, auxiliary states too."""
        count, names = ctypes.c_size_t(), _calls.Texts()
        check_call(LIB.NNSymbolListInputNames(self._h, 0, ctypes.byref(count), ctypes.byref(names)))
        return [(names[i] or b"").decode() for i in range(count.value)]

    infer_shape = _infer.infer_shape
    infer_shape_partial = _infer.infer_shape_partial
    infer_type = _infer.infer_type
    infer_type_partial = _infer.infer_type_partial

    # ---- files ----

    def debug_str(self) -> str:
        """The nodes as text, one after another."""
        return _calls.text_of(LIB.MXSymbolPrint, self._h)

    def tojson(self, remove_amp_cast: bool = True) -> str:
        """The graph as JSON, which 1.9.1 reads; without the casts of automatic mixed precision."""
        written = self._without_casts(remove_amp_cast)
        return _calls.text_of(LIB.MXSymbolSaveToJSON, written._h)

    def save(self, fname: str, remove_amp_cast: bool = True) -> None:
        """Writes that to a file. Raises: TypeError: the name is no string; MXNetError: it cannot be written."""
        if not isinstance(fname, str):
            raise TypeError("fname is a text")
        written = self._without_casts(remove_amp_cast)
        check_call(LIB.MXSymbolSaveToFile(written._h, c_text(fname)))

    def _without_casts(self, wanted: bool) -> Symbol:
        return Symbol(ask(ctypes.c_void_p, LIB.MXSymbolRemoveAmpCast, self._h)) if wanted else self

    # ---- runs ----

    bind = _bind.bind
    simple_bind = _bind.simple_bind

    def eval(self, ctx: Any = None, **kwargs: Any) -> list:
        """The outputs for arrays given by the names of the variables."""
        return self.bind(ctx, kwargs).forward()

    def gradient(self, wrt: Any) -> NoReturn:
        """Raises: MXNetError: 1.9.1 has it not; bind with `args_grad`, or use mx.autograd."""
        raise MXNotImplementedError(
            "Symbol.gradient is not implemented, as in 1.9.1; Executor.backward gives gradients"
        )

    def optimize_for(self, backend: str, *args: Any, **kwargs: Any) -> NoReturn:
        """Raises: NotImplementedError: mxlite has no other back ends."""
        refuse_backend("optimize_for", backend)
        raise MXNotImplementedError(f"optimize_for: backend {backend!r} is not in mxlite; symbols run without one")

    def get_backend_symbol(self, backend: str) -> NoReturn:
        """Raises: NotImplementedError: mxlite has no other back ends."""
        refuse_backend("get_backend_symbol", backend)
        raise MXNotImplementedError(f"get_backend_symbol: backend {backend!r} is not in mxlite")

    def as_nd_ndarray(self) -> Symbol:
        """Itself: it is no symbol of `mx.sym.np`."""
        return self

    def as_np_ndarray(self) -> Symbol:
        """The same outputs, of the same graph, as a symbol of `mx.sym.np`."""
        return of_numpy()(self._shared())

    def _shared(self) -> int:
        """A new handle of the same outputs."""
        return ask(ctypes.c_void_p, LIB.MXShallowCopySymbol, self._h)

    def __bool__(self) -> NoReturn:
        raise NotImplementedForSymbol(self.__bool__, "bool")


Symbol._kind = Symbol


def of_numpy() -> type[Symbol]:
    """The class of `mx.sym.np`'s symbols."""
    found: type[Symbol] = importlib.import_module("mxlite.symbol.numpy")._Symbol
    return found


def _names(symbol: Symbol) -> list[str]:
    return [str(each.name) for each in symbol._outputs()]


def _number_of(name: str, outputs: list[str]) -> int:
    """Which output has a name; that of a lone one is found without its end `_output` too."""
    found = [number for number, each in enumerate(outputs) if each == name]
    if len(found) > 1:
        raise ValueError(f'several outputs are called "{name}"')
    if not found:
        raise ValueError(f'no output is called "{name}"{did_you_mean(name, outputs)}')
    return found[0]


def var(
    name: str,
    attr: dict[str, str] | None = None,
    shape: tuple[int, ...] | None = None,
    lr_mult: float | None = None,
    wd_mult: float | None = None,
    dtype: Any = None,
    init: Any = None,
    stype: str | None = None,
    **kwargs: str,
) -> Symbol:
    """A variable: a place for an array that is given when the graph runs.

    Args:
        attr: attributes of the node, in addition to those of the AttrScope.
        shape: where 0 is a size that is found by inference.
        init: an Initializer or its JSON, for who fills the array.
        stype: how the array is stored: "default", "row_sparse" or "csr".
        kwargs: further attributes, with names that begin and end with two underscores.
    Raises: TypeError: the name is no string; ValueError: another attribute; KeyError: another `stype`.
    """
    if not isinstance(name, str):
        raise TypeError("var: name is a text")
    given: dict[str, Any] = {"shape": shape, "lr_mult": lr_mult, "wd_mult": wd_mult}
    attributes = dict(AttrScope.current.get(attr))
    attributes.update({f"__{key}__": str(value) for key, value in given.items() if value is not None})
    if dtype is not None:
        attributes["__dtype__"] = str(dtype_flag(dtype))
    if init is not None:
        attributes["__init__"] = init if isinstance(init, str) else init.dumps()
    if stype is not None:
        attributes["__storage_type__"] = str(STYPE_NUMBERS[stype])
    for key, value in kwargs.items():
        if not (key.startswith("__") and key.endswith("__")):
            raise ValueError(
                f"var: there is no parameter {key}; the names of attributes begin and end with __, as __{key}__"
            )
        attributes[key] = str(value)
    made = Symbol(ask(ctypes.c_void_p, LIB.MXSymbolCreateVariable, c_text(name)))
    made._set_attr(**attributes)
    return made


Variable = var


def Group(symbols: Iterable[Symbol], create_fn: Any = Symbol) -> Symbol:  # noqa: N802 - 1.9.1's name
    """A symbol with the outputs of all symbols of a list, in order. Raises: TypeError: no list of symbols."""
    members = list(symbols)
    if not members or not all(isinstance(each, Symbol) for each in members):
        raise TypeError("Group: the argument is a list of Symbols")
    inside = _calls.handles([each._h for each in members])
    return create_fn(ask(ctypes.c_void_p, LIB.MXSymbolCreateGroup, len(members), inside))


def load(fname: str) -> Symbol:
    """The symbol in a JSON file of any 1.x version. Raises: TypeError: no string; MXNetError: no such file."""
    if not isinstance(fname, str):
        raise TypeError("fname is a text")
    return Symbol(ask(ctypes.c_void_p, LIB.MXSymbolCreateFromFile, c_text(fname)))


def load_json(json_str: str) -> Symbol:
    """The symbol in a JSON text. Raises: TypeError: no string; MXNetError: it holds no graph."""
    if not isinstance(json_str, str):
        raise TypeError("fname is a text")
    return Symbol(ask(ctypes.c_void_p, LIB.MXSymbolCreateFromJSON, c_text(json_str)))


fromjson = load_json

show(globals())
