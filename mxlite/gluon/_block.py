"""Block: the base class of layers and networks."""

from __future__ import annotations

import json
import re
import warnings
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, Callable

from mxlite import _replace, initializer, ndarray
from mxlite.context import Context
from mxlite.error import WrongValueError
from mxlite.gluon import _summary
from mxlite.gluon._naming import BlockScope, prefix_and_params
from mxlite.gluon._parameter import Parameter
from mxlite.gluon._parameter_dict import ParameterDict, has_whole_names, named
from mxlite.gluon.utils import HookHandle, _brief_print_list, _indent

if TYPE_CHECKING:
    from mxlite.gluon._typing import call


class Block:
    """A layer, or a network of blocks: blocks and parameters that are set as attributes belong to it.

        class Net(Block):
            def __init__(self, **kwargs):
                super().__init__(**kwargs)
                with self.name_scope():
                    self.hidden = nn.Dense(20)
                    self.out = nn.Dense(10)

            def forward(self, x):
                return self.out(nd.relu(self.hidden(x)))

    Args:
        prefix: How the names of the parameters begin; None: the class name and a number.
        params: The parameters of another block, which this one shares.
    """

    def __init__(self, prefix: str | None = None, params: ParameterDict | None = None) -> None:
        self._empty_prefix = prefix == ""
        self._prefix, self._params = prefix_and_params(prefix, params, self._alias())
        self._name = self._prefix[:-1] if self._prefix.endswith("_") else self._prefix
        self._scope = BlockScope(self._prefix, self._params, self._empty_prefix)
        self._children: OrderedDict[str, Any] = OrderedDict()
        self._reg_params: dict[str, Parameter] = {}
        self._forward_hooks: OrderedDict[int, Callable] = OrderedDict()
        self._forward_pre_hooks: OrderedDict[int, Callable] = OrderedDict()

    def __repr__(self) -> str:
        return self._repr_of((name, each) for name, each in vars(self).items() if isinstance(each, Block))

    def _repr_of(self, children: Any) -> str:
        lines = "\n".join(f"  ({name}): {_indent(repr(each), 2)}" for name, each in children)
        return f"{type(self).__name__}(\n{lines}\n)"

    def _repr_html_(self) -> str:
        """For a notebook: the layers and their parameters as a table."""
        return _summary.as_html(self)

    def __setattr__(self, name: str, value: Any) -> None:
        """Sets an attribute; a block becomes a child, a parameter one of the block's.

        Raises: TypeError: it would replace a block or a parameter by another kind of thing; ValueError: it would
            replace a parameter.
        """
        existing = self.__dict__.get(name)
        if isinstance(existing, (Parameter, Block)) and not isinstance(value, type(existing)):
            raise TypeError(f"attribute {name} is a {type(existing)}; it cannot become a {type(value)}")
        if isinstance(value, Block):
            self.register_child(value, name)
        elif isinstance(value, Parameter):
            if name in self._reg_params:
                raise WrongValueError(
                    f"attribute {name} is a Parameter already; blocks share parameters by `params=` when they are made"
                )
            self._reg_params[name] = value
        super().__setattr__(name, value)

    def _alias(self) -> str:
        """What the block's name begins with, if it gets none."""
        return type(self).__name__.lower()

    @property
    def prefix(self) -> str:
        """How the names of the parameters begin."""
        return self._prefix

    @property
    def name(self) -> str:
        """The prefix without its last `_`."""
        return self._name

    def name_scope(self) -> BlockScope:
        """A with-block: the names of blocks made in it begin with this block's prefix."""
        return self._scope

    # ---- parameters ----

    @property
    def params(self) -> ParameterDict:
        """The parameters of this block, without those of its children."""
        return self._params

    def collect_params(self, select: str | None = None) -> ParameterDict:
        """The parameters of this block and all blocks in it.

        Args:
            select: A regular expression; only names that match it, from their beginning, are in the result.
        """
        chosen = ParameterDict(self._params.prefix)
        matches = re.compile(select).match if select else None
        for block in self._all_blocks():
            block._check_container_with_block()
            if matches is None:
                chosen.update(block.params)
            else:
                chosen.update({name: each for name, each in block.params.items() if matches(name)})
        return chosen

    def _all_blocks(self) -> Iterator[Block]:
        """The block and all in it, in the order of their parameters."""
        yield self
        for child in self._children.values():
            yield from child._all_blocks()

    def _check_container_with_block(self) -> None:
        """Warns of blocks in lists, tuples and dictionaries, which are no children."""
        children = {id(each) for each in self._children.values()}
        for name, value in vars(self).items():
            if name[:2] == "__" or name == "_children" or not isinstance(value, (list, tuple, dict)):
                continue
            if any(id(each) not in children for each in _blocks_in(value)):
                warnings.warn(
                    f'"{type(self).__name__}.{name}" holds Blocks that this block does not know, so it lacks their '
                    "parameters: call register_child() for each, or keep them in nn.Sequential or "
                    "nn.HybridSequential",
                    stacklevel=3,
                )

    def _collect_params_with_prefix(self, prefix: str = "") -> dict[str, Parameter]:
        """All parameters by the attributes that lead to them: "hidden.weight"."""
        start = prefix + "." if prefix else ""
        found = {start + name: each for name, each in self._reg_params.items()}
        for name, child in self._children.items():
            found.update(child._collect_params_with_prefix(start + name))
        return found

    def initialize(
        self,
        init: Any = initializer.Uniform(),  # noqa: B008 - 1.9.1's default
        ctx: Context | Sequence[Context] | None = None,
        verbose: bool = False,
        force_reinit: bool = False,
    ) -> None:
        """Gives values to all parameters of the block and those in it; see ParameterDict.initialize."""
        self.collect_params().initialize(init, ctx, verbose, force_reinit)

    def cast(self, dtype: Any) -> None:
        """Converts all parameters to a dtype."""
        for child in self._children.values():
            child.cast(dtype)
        for each in self.params.values():
            each.cast(dtype)

    # ---- files ----

    def save_parameters(self, filename: str, deduplicate: bool = False) -> None:
        """Writes all parameters to a file, by the attributes that lead to them: "hidden.weight".

        Args:
            deduplicate: Whether a parameter that blocks share is written once.
        """
        params = self._collect_params_with_prefix()
        if deduplicate:
            names = {each: name for name, each in params.items()}
            params = {name: each for each, name in names.items()}
        ndarray.save(filename, {name: each._reduce() for name, each in params.items()})

    def load_parameters(
        self,
        filename: str,
        ctx: Context | Sequence[Context] | None = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
        cast_dtype: bool = False,
        dtype_source: str = "current",
    ) -> None:
        """Reads what `save_parameters`, `collect_params().save` or `export` wrote; arguments as of ParameterDict.load.

        Raises: ValueError: the file lacks a parameter, or has one of another shape or dtype, or it has one
            more.
        """
        arrays = named(ndarray.load(filename), filename)
        params = self._collect_params_with_prefix()
        if not arrays and not params:
            return
        if not any("." in name for name in arrays):  # names of parameters, after the block's prefix or with it
            options = {"cast_dtype": cast_dtype, "dtype_source": dtype_source, "filename": filename}
            whole = self.collect_params()
            prefix = "" if has_whole_names(arrays, whole) else self.prefix
            whole.load_dict(arrays, ctx, allow_missing, ignore_extra, prefix, **options)
            return
        if not allow_missing:
            there = {id(params[name]) for name in arrays if name in params}
            for name, each in params.items():
                if id(each) not in there:
                    raise WrongValueError(
                        f"file '{filename}' has no parameter '{name}'; it has {_brief_print_list(arrays)}. With "
                        "allow_missing=True what is missing keeps its values"
                    )
        for name, array in arrays.items():
            if name in params:
                params[name]._load_init(array, ctx, cast_dtype=cast_dtype, dtype_source=dtype_source)
            elif not ignore_extra:
                raise ValueError(
                    f"parameter '{name}' of file '{filename}' is none of this block's, which are "
                    f"{_brief_print_list(params)}. With ignore_extra=True it is left out"
                )

    def save_params(self, filename: str) -> None:
        """Writes all parameters by their names without this block's prefix; MXNet has deprecated it."""
        warnings.warn("save_params is an old name of save_parameters", stacklevel=2)
        try:
            self.collect_params().save(filename, strip_prefix=self.prefix)
        except ValueError as error:
            raise ValueError(f"{error} save_parameters saves such blocks.") from error

    def load_params(
        self,
        filename: str,
        ctx: Context | Sequence[Context] | None = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
    ) -> None:
        """`load_parameters`; MXNet has deprecated the name."""
        warnings.warn("load_params is an old name of load_parameters", stacklevel=2)
        self.load_parameters(filename, ctx, allow_missing, ignore_extra)

    def save(self, prefix: str) -> None:
        """Writes the parameters to `prefix-model.params` and the tree of blocks to `prefix-model.json`."""
        _replace.write(f"{prefix}-model.json", json.dumps({self.name: self._described(count(1))}))
        self.save_parameters(f"{prefix}-model.params")

    def _described(self, numbers: Iterator[int]) -> dict[str, Any]:
        """The block's name, and its children: their attributes and, by class and number, they themselves."""
        found: dict[str, Any] = {"orig_name": self.name, **self._described_graph()}
        found["children"] = {each.name: name for name, each in self._children.items()}
        for each in self._children.values():
            name = f"{type(each).__name__.lower()}{next(numbers)}"
            found[name] = each._described(numbers)
        return found

    def _described_graph(self) -> dict[str, Any]:
        """What a description says of a compiled graph."""
        return {}

    def load(self, prefix: str) -> None:
        """Reads what `save` wrote for a block of the same structure; graphs that 1.9.1 wrote too are passed over.

        Raises: FileNotFoundError: there are no such files; otherwise as `load_parameters`.
        """
        with open(f"{prefix}-model.json", encoding="utf-8") as file:
            json.load(file)
        self.load_parameters(f"{prefix}-model.params")

    # ---- children, hooks ----

    def register_child(self, block: Block, name: str | None = None) -> None:
        """Makes a block a child, under a name or a number; attributes become children by themselves."""
        self._children[str(len(self._children)) if name is None else name] = block

    def register_forward_pre_hook(self, hook: Callable) -> HookHandle:
        """Calls `hook(block, inputs)` before each forward; the handle takes it off."""
        handle = HookHandle()
        handle.attach(self._forward_pre_hooks, hook)
        return handle

    def register_forward_hook(self, hook: Callable) -> HookHandle:
        """Calls `hook(block, inputs, outputs)` after each forward; the handle takes it off."""
        handle = HookHandle()
        handle.attach(self._forward_hooks, hook)
        return handle

    def register_op_hook(self, callback: Callable, monitor_all: bool = False) -> None:
        """Registers a hook with all HybridBlocks in the block; see HybridBlock.register_op_hook."""
        for child in self._children.values():
            child.register_op_hook(callback, monitor_all)

    def apply(self, fn: Callable[[Block], Any]) -> Block:
        """Calls `fn` with every child, theirs first, and then with the block; returns the block."""
        for child in self._children.values():
            child.apply(fn)
        fn(self)
        return self

    def hybridize(self, active: bool = True, **kwargs: Any) -> None:
        """Tells all HybridBlocks in the block to compile; see HybridBlock.hybridize."""
        for child in self._children.values():
            child.hybridize(active, **kwargs)

    # ---- calls ----

    if TYPE_CHECKING:
        __call__ = call

        def forward(self, *args: Any, **kwargs: Any) -> Any: ...  # so kinds may have any arguments
    else:

        def __call__(self, *args: Any) -> Any:
            """`forward`, with the hooks before and after it."""
            if self._forward_pre_hooks:
                for hook in list(self._forward_pre_hooks.values()):
                    hook(self, args)
            out = self.forward(*args)
            if self._forward_hooks:
                for hook in list(self._forward_hooks.values()):
                    hook(self, args, out)
            return out

        def forward(self, *args: Any) -> Any:
            """The computation; each kind of block writes its own."""
            raise NotImplementedError

    def summary(self, *inputs: Any) -> None:
        """Prints the blocks that a call with these inputs runs: their outputs' shapes and numbers of parameters.

        Raises: MXNetError: a block is hybridized; RuntimeError: parameters are not initialized.
        """
        _summary.print_summary(self, inputs)


def _blocks_in(value: Any) -> Iterator[Block]:
    """The blocks in a list, tuple or dictionary, at any depth."""
    if isinstance(value, (list, tuple)):
        for each in value:
            yield from _blocks_in(each)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _blocks_in(each)
    elif isinstance(value, Block):
        yield value
