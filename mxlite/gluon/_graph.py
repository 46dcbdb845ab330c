"""Blocks as symbols: what a block computes as a graph, its files, and blocks made of graphs."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mxlite import ndarray, symbol
from mxlite.base import STYPE_NUMBERS
from mxlite.error import WrongValueError
from mxlite.gluon._nested import _flatten, _regroup, places_of
from mxlite.name import NameManager
from mxlite.symbol import Group, Symbol, _kinds

if TYPE_CHECKING:
    from mxlite.gluon._hybrid import HybridBlock

#: The nodes that the layers of gluon.nn name, by what they would be called: files of 1.9.1 have these names.
_LAYERS = dict.fromkeys(
    """
    activation batchnorm batchnormwithrelu convolution deconvolution dropout embedding fullyconnected instancenorm
    leakyrelu pooling sigmoid
    """.split(),
    "fwd",
)
#: Those of them that name none; what a container, or a function of the user's, computes is not theirs.
_WITHOUT_NAMES = ("ELU.", "HybridLambda.", "HybridSequential.")


class NodeNames(NameManager):
    """Names for the nodes that one call of a block makes, within the manager that is current when it is made."""

    def __init__(self, names: dict[str, str], step: str = "") -> None:
        super().__init__()
        self._names, self._step, self.within = names, step, NameManager.current

    def get(self, name: str | None, hint: str) -> str:
        """The manager's name for `name`; without one for what `names` has for the hint, with or without its number."""
        if not name:
            counted = super().get(None, hint)
            name = self._names.get(counted) or self._names.get(hint)
            if self._step:
                name = self._step + (name or counted)
        return self.within.get(name, hint)


def _names_for(block: HybridBlock, function: Any) -> contextlib.AbstractContextManager:
    if block._node_names:
        return NodeNames(block._node_names, block._step_prefix())
    module = function.__module__ or ""  # None where `exec` ran without a name
    if module.startswith("mxlite.gluon.nn.") and not function.__qualname__.startswith(_WITHOUT_NAMES):
        return NodeNames(_LAYERS)
    return contextlib.nullcontext()


def forward(block: HybridBlock, x: Any, args: tuple) -> Any:
    """What a block makes of symbols: its `hybrid_forward` with F = mx.sym and the parameters' variables.

    Of symbols of `mx.sym.np` the package's own blocks compute with their twin of mx.sym.
    """
    kind = _kinds.first_kind((x, *args))
    variables = {name: _kinds.as_kind(each.var(), kind) for name, each in block._reg_params.items()}
    F = _kinds.functions_for(kind) if is_own(type(block)) else symbol  # noqa: N806
    with block.name_scope(), _names_for(block, type(block).hybrid_forward):
        return block.hybrid_forward(F, x, *args, **variables)


def is_own(block: type) -> bool:
    """Whether a class of blocks computes, in part at least, what one of the package does."""
    return any(
        "hybrid_forward" in vars(each) and each.__module__.startswith("mxlite.") and each.__name__ != "HybridBlock"
        for each in block.__mro__
    )


def trace(block: HybridBlock, form: Any, kind: type[ndarray.NDArray]) -> tuple[list[Symbol], Symbol, Any]:
    """A block's graph: its inputs, its outputs as one symbol, and the form of these (see _nested.py).

    Args:
        form: that of the inputs.
        kind: the class of the inputs' arrays; the symbols are of `mx.sym` or `mx.sym.np` with it.
    """
    places = list(places_of(form))
    given = [number for number, each in enumerate(places) if each >= 0]
    names = ["data"] if len(given) == 1 else [f"data{number}" for number in range(len(given))]
    inputs: list = [None] * len(places)
    for number, name in zip(given, names):
        inputs[number] = symbol.var(name)
        if kind is not ndarray.NDArray:
            inputs[number] = inputs[number].as_np_ndarray()
    outputs, made = _flatten(forward(block, *_split_first(_regroup(inputs, form))), "output")
    return inputs, Group([each for each in outputs if each is not None]), made


def _split_first(values: Sequence) -> tuple[Any, tuple]:
    return values[0], tuple(values[1:])


def export(block: HybridBlock, graph: Symbol, path: str, epoch: int, remove_amp_cast: bool) -> None:
    """Writes a graph to `path-symbol.json` and its parameters to `path-0000.params`, as 1.9.1 does."""
    graph.save(f"{path}-symbol.json", remove_amp_cast=remove_amp_cast)
    arguments, states = set(graph.list_arguments()), set(graph.list_auxiliary_states())
    held = {}
    for name, param in block.collect_params().items():
        if name in arguments:
            held[f"arg:{name}"] = param._reduce()
        elif name in states:
            held[f"aux:{name}"] = param._reduce()
        else:
            warnings.warn(
                f'export: the graph has no parameter "{name}", which the file will lack',
                stacklevel=3,
            )
    ndarray.save(f"{path}-{epoch:04d}.params", held)


# ---- blocks of graphs ----


def checked_graph(outputs: Any, inputs: Any) -> tuple[list[Symbol], Any, Symbol, Any]:
    """Inputs and their form, outputs as one symbol and their form.

    Raises: ValueError: no symbols; ValueError: an input is no variable.
    """
    if isinstance(inputs, Symbol) and inputs.num_outputs == 1:
        inputs = [inputs]
    if isinstance(outputs, (list, tuple)) and len(outputs) == 1:
        outputs = outputs[0]
    flat_inputs, input_form = _flatten(inputs._outputs() if isinstance(inputs, Symbol) else inputs, "input")
    if isinstance(outputs, Symbol) and outputs.num_outputs > 1:
        outputs = outputs._outputs()
    flat_outputs, output_form = _flatten(outputs, "output")
    for each in flat_inputs:
        if each.list_inputs() != [each.name]:
            raise WrongValueError(f"SymbolBlock: an input must be a variable; {each} is computed by operators")
    return flat_inputs, input_form, Group(flat_outputs), output_form


def common_prefix(names: Iterable[str]) -> str:
    """What all names begin with."""
    return os.path.commonprefix(list(names))


def storage_types(graph: Symbol) -> dict[str, str]:
    """The storage types of variables that are sparse, by name."""
    stypes = {str(STYPE_NUMBERS[stype]): stype for stype in ("row_sparse", "csr")}
    found = {name: each.get("__storage_type__", "") for name, each in graph.attr_dict().items()}
    return {name: stypes[number] for name, number in found.items() if number in stypes}
