"""SymbolBlock: a symbol as a block, such as one from a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mxlite import symbol
from mxlite.context import Context
from mxlite.error import WrongTypeError
from mxlite.gluon import _graph
from mxlite.gluon._cached import graph_for
from mxlite.gluon._hybrid import HybridBlock
from mxlite.gluon._nested import _flatten, _regroup
from mxlite.gluon._parameter_dict import ParameterDict
from mxlite.ndarray.ndarray import NDArray
from mxlite.symbol import Symbol
from mxlite.symbol._kinds import as_kind


class SymbolBlock(HybridBlock):
    """A block that runs a symbol; the variables that are no inputs are its parameters, under their own names.

    Args:
        outputs: a symbol, or a list of them. inputs: the variables that are given when it is called, one or a list.
        params: parameters of another block, which it shares where names are equal.
    Raises: ValueError: no symbols; TypeError: an input is no variable.
    """

    def __init__(self, outputs: Any, inputs: Any, params: ParameterDict | None = None) -> None:
        super().__init__(prefix=None, params=None)
        self._prefix = ""
        self._params = ParameterDict("", params)
        self._inputs, self._input_form, self._graph, self._output_form = _graph.checked_graph(outputs, inputs)
        given = {each.name for each in self._inputs}
        arguments, states = self._graph.list_arguments(), self._graph.list_auxiliary_states()
        known = self._known_attributes()
        for name in [*arguments, *states]:
            if name not in given:
                request = {"grad_req": "null"} if name in states else {}
                self.params.get(name, **request, **known.get(name, {}), allow_deferred_init=True)
        prefix = _graph.common_prefix(self._params.keys())
        self._reg_params = {name[len(prefix) :]: each for name, each in self._params.items()}

    @property
    def _in_format(self) -> Any:
        """The form of the inputs, which a program may set: the same arrays are then given in other lists."""
        return self._input_form

    @_in_format.setter
    def _in_format(self, form: Any) -> None:
        self._input_form = form
        self._clear_cached_op()

    @property
    def _out_format(self) -> Any:
        """The form of what is returned, which a program may set."""
        return self._output_form

    @_out_format.setter
    def _out_format(self, form: Any) -> None:
        self._output_form = form
        self._clear_cached_op()

    @property
    def _cached_graph(self) -> tuple:
        return self._inputs, self._graph

    def _known_attributes(self) -> dict[str, dict[str, Any]]:
        """The dtypes and storage types that the graph tells of its variables."""
        arguments, _, states = self._graph.infer_type_partial()
        names = [*self._graph.list_arguments(), *self._graph.list_auxiliary_states()]
        found = zip(names, [*(arguments or ()), *(states or ())])
        known = {name: {"dtype": dtype} for name, dtype in found if dtype is not None}
        for name, stype in _graph.storage_types(self._graph).items():
            known.setdefault(name, {})["stype"] = stype
        return known

    def reset_ctx(self, ctx: Context | list[Context]) -> None:
        """Moves all parameters to other contexts; see `Parameter.reset_ctx`."""
        self.collect_params().reset_ctx(ctx)

    @staticmethod
    def imports(
        symbol_file: str,
        input_names: str | Sequence[str],
        param_file: str | None = None,
        ctx: Context | Sequence[Context] | None = None,
        allow_missing: bool = False,
        ignore_extra: bool = False,
    ) -> SymbolBlock:
        """The block of a file that `export`, a checkpoint or 1.9.1 has written.

        Args:
            input_names: which variables are inputs. param_file: the parameters; None: they are to be initialized.
            allow_missing, ignore_extra: as load_parameters'.
        Raises: MXNetError: no such file; TypeError: parameters are missing, or there are more of them.
        """
        graph = symbol.load(symbol_file)
        names = [input_names] if isinstance(input_names, str) else list(input_names)
        made = SymbolBlock(graph, [symbol.var(name) for name in names])
        if param_file is not None:
            flags = {"allow_missing": allow_missing, "ignore_extra": ignore_extra}
            made.collect_params().load(param_file, ctx, cast_dtype=True, dtype_source="saved", **flags)
        return made

    def __repr__(self) -> str:
        return f"{type(self).__name__}(\n{self._graph} : {len(self._inputs)} -> {len(self._graph)}\n)"

    def forward(self, x: Any, *args: Any) -> Any:
        """What the symbol gives for arrays, or for other symbols in place of its inputs.

        Raises: TypeError: neither; ValueError: another number of inputs; RuntimeError: no parameters yet.
        """
        if not isinstance(x, (NDArray, Symbol, list, tuple)):
            kind = type(x)
            raise WrongTypeError(f"forward: the first argument is an NDArray or a Symbol, not a {kind}")
        arrays, form = _flatten([x, *args], "input")
        if form != self._input_form:
            raise ValueError(
                f"SymbolBlock: its inputs are nested as {self._input_form} (0: an array, -1: None, a list for a list), "
                f"got {form}"
            )
        if isinstance(arrays[0], Symbol):
            names = [each.name for each in self._inputs]
            outputs = self._graph(**dict(zip(names, arrays)))._outputs()
            return _regroup(as_kind(outputs, arrays[0]._kind), self._output_form)
        return (self._cached or graph_for(self, form, NDArray)).of(arrays)

    def _traced(self, form: Any, kind: type[NDArray]) -> tuple[list, Symbol, Any]:
        return self._inputs, self._graph, self._output_form

    def infer_shape(self, *args: Any) -> None:
        """Finds the shapes of the parameters from inputs. Raises: ValueError: they do not tell them."""
        arrays, form = _flatten(args, "input")
        graph_for(self, form, NDArray).find_shapes(arrays)

    def export(self, path: str, epoch: int = 0, remove_amp_cast: bool = True) -> None:
        """Writes the symbol and its parameters, as HybridBlock.export."""
        _graph.export(self, self._graph, path, epoch, remove_amp_cast)

    def hybrid_forward(self, F: Any, x: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N803
        """Raises: NotImplementedError: the symbol is what it computes."""
        raise NotImplementedError("a SymbolBlock runs its symbol")
