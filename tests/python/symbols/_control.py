"""Cases of symbols that run graphs: loops and branches, and graphs cut out of others."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

from _graph import GraphError, Library, Symbol
from _predict import Predictor, params_bytes

MARK = "__subgraph_name__"


def _marked(symbol: Symbol, name: str = "g") -> Symbol:
    symbol.set_attr(MARK, name)
    return symbol


def _step(g: Library) -> Symbol:
    """Of a part d, a state s and a weight w: the result d * s + w, and the state s + d."""
    d, s = _marked(g.variable("d")), _marked(g.variable("s"))
    product = _marked(g.op("elemwise_mul", "product", d, s))
    result = _marked(g.op("elemwise_add", "result", product, g.variable("w")))
    return g.group(result, _marked(g.op("elemwise_add", "next", s, d)))


def loop(g: Library, step: Symbol | None = None, **params: str) -> Symbol:
    """`_foreach` over `data` with `state` and `w`."""
    given = {"num_args": "4", "num_outputs": "2", "num_out_data": "1", "in_data_locs": "[0]", "in_state_locs": "[1]"}
    given = {**given, "remain_locs": "[2]", **params}
    inputs = [g.variable(name) for name in ("data", "state", "w")]
    return g.op("_foreach", "loop", step or _step(g), *inputs, **given)


def while_loop(g: Library) -> Symbol:
    """While i < n: a result i * w, at most 5."""
    i, w = g.variable("i"), g.variable("w")
    condition = g.op("broadcast_lesser", "less", i, g.variable("n"))
    step = g.group(g.op("broadcast_mul", "times", w, i), g.op("_plus_scalar", "more", i, scalar="1"))
    places = {"cond_input_locs": "[0, 1]", "func_input_locs": "[2, 0]", "func_var_locs": "[1]"}
    inputs = [g.variable(name) for name in ("i", "n", "w")]
    counts = {"num_args": "5", "num_outputs": "2", "num_out_data": "1", "max_iterations": "5"}
    return g.op("_while_loop", "while", condition, step, *inputs, **counts, **places)


def branch(g: Library) -> Symbol:
    """If p: a + b, else b."""
    a, b = g.variable("a"), g.variable("b")
    graphs = [g.op("_copy", "same", g.variable("p")), g.op("broadcast_add", "sum", a, b), g.op("_copy", "other", b)]
    places = {"cond_input_locs": "[0]", "then_input_locs": "[1, 2]", "else_input_locs": "[2]"}
    counts = {"num_args": "6", "num_outputs": "1"}
    return g.op("_cond", "branch", *graphs, *[g.variable(name) for name in "pab"], **counts, **places)


def controls(g: Library) -> Iterator[tuple[str, Symbol]]:
    yield "loop", loop(g)
    yield "loop with a note", loop(g, __note__="1")
    yield "loop in a net", g.op("FullyConnected", "fc", loop(g).output(0), num_hidden="2")
    yield "loop in a loop", loop(g, loop(g))
    yield "while", while_loop(g)
    yield "branch", branch(g)
    wide = g.group(*[g.op("_plus_scalar", f"p{i}", g.variable(f"v{i}"), scalar="1") for i in range(12)])
    more = {"in_data_locs": str(list(range(12))), "in_state_locs": "[]", "remain_locs": "[]"}
    inputs = [g.variable(f"x{i}") for i in range(12)]
    counts = {"num_args": "13", "num_outputs": "12", "num_out_data": "12"}
    yield "loop of twelve", g.op("_foreach", "wide", wide, *inputs, **counts, **more)


def cut(symbol: Symbol) -> list[Symbol]:
    """The inputs that MXSymbolCutSubgraph takes away."""
    handles, count = ctypes.POINTER(ctypes.c_void_p)(), ctypes.c_int()
    symbol.library.call("MXSymbolCutSubgraph", symbol.handle, ctypes.byref(handles), ctypes.byref(count))
    return [Symbol(symbol.library, ctypes.c_void_p(handles[i])) for i in range(count.value)]


def _cut_apart(make: Callable[[], Symbol]) -> Any:
    symbol = make()
    parts = cut(symbol)
    return {"parts": [[part.outputs(), part.arguments()] for part in parts], "left": symbol.json()}


def cuts(g: Library) -> dict[str, Any]:
    doubled = lambda: g.op("_mul_scalar", "doubled", g.variable("a"), scalar="2")  # noqa: E731

    def sums() -> Symbol:
        two, parts = doubled(), g.op("SliceChannel", "parts", g.variable("q"), num_outputs="2")
        one = _marked(g.op("elemwise_add", "one", two, _marked(g.variable("b"))))
        return _marked(g.op("add_n", "all", one, two, parts.output(1), parts.output(0), num_args="4"))

    def layer() -> Symbol:
        inputs = {"data": _marked(g.variable("x")), "moving_mean": g.variable("mean", lr_mult="2")}
        return _marked(g.op("BatchNorm", "bn", named=inputs))

    def group_of(name: str) -> Symbol:
        two = doubled()
        one = _marked(g.op("exp", "one", two), name)
        return g.group(one, _marked(g.op("exp", "other", one)), two)

    cases = {"no mark": doubled, "sums": sums, "layer": layer, "group": lambda: group_of("g")}
    cases["other mark"] = lambda: group_of("h")
    cases["loop"] = lambda: _marked(loop(g))
    return {name: _cut_apart(make) for name, make in cases.items()}


def _said(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except GraphError:
        return "error"


def control_facts(g: Library) -> dict[str, Any]:
    """Shapes and dtypes; which output of its node a symbol is."""
    one, two = loop(g), loop(g, loop(g))
    return {
        "loop": one.shapes(data=(3, 4)),
        "loop of numbers": one.shapes(data=(3,), w=(1,)),
        "loop from state": _said(lambda: one.shapes(partial=True, state=(4,))),
        "loop that contradicts": _said(lambda: one.shapes(data=(3, 4), state=(5,))),
        "loop in a loop": two.shapes(data=(2, 3, 4), state=(4,)),
        "loop, dtypes": one.dtypes(data=1),
        "loop, other dtypes": _said(lambda: one.dtypes(data=1, w=0)),
        "while, dtypes": while_loop(g).dtypes(i=1),
        "places": [one.attr("_value_index"), one.output(1).attr("_value_index"), g.variable("a").attr("_value_index")],
        "places in groups": [
            g.group(one.output(1), one.output(0)).attr("_value_index"),
            g.group(one, two).attr("_value_index"),
        ],
        "no graphs": _said(lambda: g.op("_foreach", "f", g.variable("a"), num_outputs="1").json()),
    }


def control_predicting(g: Library) -> dict[str, Any]:
    """Loops and branches in the Predict API."""
    weight = params_bytes({"arg:w": ((2,), [0.5, -1.0])})
    one = Predictor.made(g, loop(g).json(), weight, data=(3, 2), state=(2,))
    first = one(data=[1.0, 2, 3, 4, 5, 6], state=[1.0, -1])
    deep = Predictor.made(g, loop(g, loop(g)).json(), weight, data=(2, 1, 2), state=(2,))
    found = {"loop": first, "shape": [one.shape(0), one.shape(1)], "state": one.output(1)}
    found["loop in a loop"] = deep(data=[1.0, 2, 3, 4], state=[1.0, -1])

    def chosen(number: float) -> list[float]:
        made = Predictor.made(g, branch(g).json(), params_bytes({"arg:b": ((1,), [3.0])}), p=(1,), a=(1,), b=(1,))
        return made(p=[number], a=[2.0], b=[3.0])

    for number in (0.0, 1.0):
        found[f"branch of {number}"] = _said(lambda number=number: chosen(number))
    return found
