"""`mx.sym.contrib.foreach`, `while_loop` and `cond`: nodes that run the graphs of functions.

A function is called once, with variables. What it makes is marked by the attribute `__subgraph_name__`, and cut out of
the graph there: other symbols that it reads become inputs of the node.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any, Callable

from mxlite._lib import LIB, check_call
from mxlite.attribute import AttrScope
from mxlite.error import WrongTypeError, WrongValueError
from mxlite.name import NameManager
from mxlite.symbol._generate import node
from mxlite.symbol._kinds import of_both_classes
from mxlite.symbol.symbol import Group, Symbol, var

_MARK = "__subgraph_name__"

#: Counts the graphs of each name; within another graph the name begins with that one's.
_graph_names = NameManager()


# ---- symbols in nested lists ----


def _flat(nested: Any, what: str) -> list[Symbol]:
    """The symbols of a nested list, from left to right; one with several outputs is a list of them.

    Raises: TypeError: something in it is neither a symbol nor a list; `what` names it.
    """
    if isinstance(nested, Symbol):
        return nested._outputs()
    if not isinstance(nested, (list, tuple)):
        raise WrongTypeError(f"{what} is a Symbol or a nested list of Symbols, not {nested} of type {type(nested)}")
    return [symbol for each in nested for symbol in _flat(each, what)]


def _form(nested: Any) -> Any:
    """The lists of a nested list, without their symbols."""
    if isinstance(nested, Symbol):
        return None if nested.num_outputs == 1 else [None] * nested.num_outputs
    return [_form(each) for each in nested]


def _refilled(form: Any, symbols: Iterator[Symbol]) -> Any:
    return next(symbols) if form is None else [_refilled(each, symbols) for each in form]


# ---- graphs of functions ----


class _Graph:
    """The graph of a function, which is made within `with graph:`."""

    def __init__(self, name: str) -> None:
        outer = AttrScope.current.get(None).get(_MARK)
        self.name = _graph_names.get(None, name if outer is None else f"{outer}${name}")
        self.scope = AttrScope(**{_MARK: self.name})
        self.symbol: Symbol
        self.inputs: list[tuple[str, Symbol]] = []

    def __enter__(self) -> _Graph:
        self.scope.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self.scope.__exit__(*error)

    def close(self, outputs: list[Symbol], states: list[Symbol]) -> None:
        """Takes what the function has made; called in the `with` block.

        What is a variable, or not of this graph, or a state and of a node that makes an output, becomes a copy: each
        output of the graph has a node of its own.
        """
        inputs: set[str | None] = {*Group([*outputs, *states]).list_inputs()}
        made = {each.name for each in outputs}

        def own(symbol: Symbol, taken: set[str | None]) -> Symbol:
            if symbol.name in taken or symbol.attr(_MARK) != self.name:
                return node("_copy", "identity", [symbol], {})
            return symbol

        results = [own(each, inputs) for each in outputs]
        results += [own(each, inputs | made) for each in states]
        self.symbol = Group(results)
        self.inputs = self._cut()

    def _cut(self) -> list[tuple[str, Symbol]]:
        """Cuts the graph out: the names of its variables, and what each of them gets from outside."""
        handles, count = ctypes.POINTER(ctypes.c_void_p)(), ctypes.c_int()
        check_call(LIB.MXSymbolCutSubgraph(self.symbol._h, ctypes.byref(handles), ctypes.byref(count)))
        cut = [Symbol(handles[i]) for i in range(count.value)]
        outside = {each.list_outputs()[0]: each for each in cut}
        names = self.symbol.list_inputs()
        if len(set(names)) < len(names):
            raise WrongValueError(f"two inputs of the inner graph have one name: {names}")
        return [(name, outside.get(name, own)) for name, own in zip(names, self.symbol.get_inputs())]


def _name_within(symbol: Symbol) -> str:
    """The name of the variable that takes a symbol's place in a sub-graph."""
    return f"{symbol.name}-{symbol.attr('_value_index')}"


def _node(operator: str, graphs: list[_Graph], inputs: list[Symbol], given: dict[str, Any]) -> Symbol:
    """The node that runs graphs; lists are written as 1.9.1 writes them."""
    texts = {key: str(value) if isinstance(value, list) else value for key, value in given.items()}
    texts["num_args"] = len(graphs) + len(inputs)
    return node(operator, operator, [*[each.symbol for each in graphs], *inputs], texts)


def foreach(body: Callable[[Any, Any], Any], data: Any, init_states: Any, name: str = "foreach") -> tuple[Any, Any]:
    """A loop over the first axis of symbols, which hands states from each step to the next, as one node.

    Args:
        body: called once, with symbols in the lists of `data` and of the states; returns a pair, the outputs of a step
            and the new states, in the same lists. It must use all of both.
        data: a symbol or a nested list of symbols. The first axis of the first one is the number of steps.
        init_states: the states of the first step, a symbol or a nested list of symbols, which may be empty.
        name: how the name of the graph of `body` begins.

    Returns: the outputs of all steps, stacked along a new first axis, and the last states.

    Raises:
        ValueError: something else than symbols, states in other lists, or data or states that are not used.
    """
    arrays, states = _flat(data, "foreach input"), _flat(init_states, "foreach states")
    with _Graph(name) as graph:
        parts, variables = ([var(_name_within(each)) for each in group] for group in (arrays, states))
        outputs, new = body(_refilled(_form(data), iter(parts)), _refilled(_form(init_states), iter(variables)))
        results, new_states = _flat(outputs, "foreach output"), _flat(new, "foreach loop_vars")
        if _form(new) != _form(init_states):
            raise WrongValueError("the step returns loop_vars in another form than it gets")
        graph.close(results, new_states)
    names = [each for each, _ in graph.inputs]
    places = {}
    for what, symbols in (("data", parts), ("state", variables)):
        if not all(each.name in names for each in symbols):
            raise WrongValueError(f"the loop body must use the {what} arrays")
        places[what] = [names.index(str(each.name)) for each in symbols]
    rest = [i for i in range(len(names)) if i not in places["data"] and i not in places["state"]]
    given = {
        "num_outputs": len(graph.symbol),
        "num_out_data": len(results),
        "in_state_locs": places["state"],
        "in_data_locs": places["data"],
        "remain_locs": rest,
    }
    every = iter(_node("_foreach", [graph], [*arrays, *states, *[graph.inputs[i][1] for i in rest]], given))
    return _refilled(_form(outputs), every), _refilled(_form(init_states), every)


def _most(max_iterations: Any) -> int:
    if max_iterations is None:
        raise ValueError("while_loop: max_iterations is missing")
    try:
        return int(max_iterations)
    except (TypeError, ValueError):
        raise ValueError("Cannot convert max_iteration to python int") from None


def _places(graph: _Graph, variables: dict[str, Symbol], inputs: list[Symbol], shared: dict[str, int]) -> list[int]:
    """Which input of the node each variable of a graph gets; new ones are appended to `inputs`.

    Args:
        variables: those of the loop, by their names in the graph.
        shared: where such a variable is among the inputs already.
    """
    found = []
    for name, symbol in graph.inputs:
        if name not in shared:
            if name in variables:
                shared[name] = len(inputs)
            inputs.append(variables.get(name, symbol))
        found.append(shared.get(name, len(inputs) - 1))
    return found


def _loop_graphs(
    cond: Callable[..., Any], func: Callable[..., Any], loop_vars: Any, names: list[str], name: str
) -> tuple[list[_Graph], Any]:
    """The graphs of a loop's condition and step, and the outputs of a step.

    Args:
        names: those of the variables in the graphs.
    """

    def call(function: Callable[..., Any]) -> Any:
        given = _refilled(_form(loop_vars), iter([var(each) for each in names]))
        return function(*given) if isinstance(given, list) else function(given)

    with _Graph(f"{name}_cond") as condition:
        holds = call(cond)
        if not isinstance(holds, Symbol):
            raise ValueError("while_loop: cond must return a Symbol")
        condition.close([], [holds])
    with _Graph(f"{name}_func") as step:
        outputs, new = (([] if each is None else each) for each in call(func))
        results, new_vars = _flat(outputs, "while output"), _flat(new, "while loop_vars")
        if len(new_vars) != len(names):
            raise ValueError("while_loop: the step returns another number of loop_vars than it gets")
        step.close(results, new_vars)
    return [condition, step], outputs


def while_loop(
    cond: Callable[..., Any],
    func: Callable[..., Any],
    loop_vars: Any,
    max_iterations: int | None = None,
    name: str = "while_loop",
) -> tuple[Any, Any]:
    """A loop that runs while a condition holds, and hands its variables from each step to the next, as one node.

    Args:
        cond: called once, with symbols for the variables; returns a symbol of one element.
        func: called once, with symbols for the variables; returns a pair, the outputs of a step (None: none) and the
            new variables, as many. It must use all variables.
        loop_vars: a symbol or a nested list of symbols, one argument for each entry.
        max_iterations: the most steps; needed.
        name: how the names of the graphs begin.

    Returns: the outputs of all steps, stacked along a new first axis of size `max_iterations`, with zeros behind the
        last step; and the last variables, in the lists of `loop_vars`.

    Raises:
        ValueError or TypeError: something else than symbols.
        ValueError: `max_iterations` is missing or no number, there are no variables, `func` does not use one or changes
            their number, or the condition is no symbol.
    """
    most = _most(max_iterations)
    if not isinstance(loop_vars, Symbol) and len(loop_vars) == 0:
        raise ValueError("while_loop: there are no loop_vars")
    start = _flat(loop_vars, "while loop_vars")
    names = [_name_within(each) for each in start]
    graphs, outputs = _loop_graphs(cond, func, loop_vars, names, name)
    read = [each for each, _ in graphs[1].inputs]
    for number, each in enumerate(names, 1):
        if each not in read:
            raise ValueError(f"while_loop: nothing uses loop_var {number}")
    inputs: list[Symbol] = []
    shared: dict[str, int] = {}
    places = [_places(graph, dict(zip(names, start)), inputs, shared) for graph in graphs]
    given = {
        "num_outputs": len(graphs[1].symbol),
        "num_out_data": len(graphs[1].symbol) - len(start),
        "max_iterations": most,
        "cond_input_locs": places[0],
        "func_input_locs": places[1],
        "func_var_locs": [read.index(each) for each in names],
    }
    every = iter(_node("_while_loop", graphs, inputs, given))
    return _refilled(_form(outputs), every), _refilled(_form(loop_vars), every)


def _branch(name: str, function: Callable[[], Any]) -> tuple[_Graph, Any]:
    """The graph of a branch, and the form of its outputs."""
    with _Graph(name) as graph:
        outputs = function()
        graph.close(_flat(outputs, "cond outputs"), [])
    return graph, _form(outputs)


def cond(pred: Symbol, then_func: Callable[[], Any], else_func: Callable[[], Any], name: str = "cond") -> Any:
    """One of two graphs, as one node.

    Args:
        pred: a symbol of one element.
        then_func: called once, without arguments: what is computed if `pred` is not 0, a symbol or a nested list.
        else_func: the same otherwise; it has as many outputs.
        name: how the names of the graphs begin.

    Returns: the outputs, in the lists of `then_func`.

    Raises:
        ValueError or TypeError: something else than symbols.
        ValueError: the branches have different numbers of outputs.
    """
    condition, _ = _branch(f"{name}_pred", lambda: pred)
    then, form = _branch(f"{name}_then", then_func)
    otherwise, _ = _branch(f"{name}_else", else_func)
    if len(then.symbol) != len(otherwise.symbol):
        raise ValueError("cond: the branches have different numbers of outputs")
    inputs: list[Symbol] = []
    places: list[list[int]] = []
    for graph in (condition, then, otherwise):
        places.append([])
        for each, symbol in graph.inputs:
            there = [i for i, before in enumerate(inputs) if before.name == each]
            if not there:
                inputs.append(symbol)
            places[-1].append(there[0] if there else len(inputs) - 1)
    made = _node(
        "_cond",
        [condition, then, otherwise],
        inputs,
        {
            "num_outputs": len(then.symbol),
            "cond_input_locs": places[0],
            "then_input_locs": places[1],
            "else_input_locs": places[2],
        },
    )
    return _refilled(form, iter(made))


foreach, while_loop, cond = map(of_both_classes, (foreach, while_loop, cond))
for _function in (foreach, while_loop, cond):
    _function.__module__ = "mxlite.symbol.contrib"
