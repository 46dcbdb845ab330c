"""One step of each kind of recurrent cell, on arrays or symbols, from the products of the input and the last output.

The cells of `mx.gluon.rnn`, `mx.gluon.contrib.rnn` and `mx.rnn` call these. `i2h` and `h2h` are the products, for all
gates one after another along one axis. What differs between cells comes as functions:

    split(values, name): the parts of `values`, one for each gate.
    act(values, name), gate(values, name): the activation of new content, and that of gates.

`name` is what a cell that names its nodes calls the result; None: it has no name. Each step returns the output and the
next states. Cells made of other cells share `own_states`, `ask_base` and `zoneout`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Callable

Function = Callable[[Any, Any], Any]


def rnn_step(i2h: Any, h2h: Any, act: Function) -> tuple[Any, list]:
    """h' = act(W x + b + R h + c)"""
    output = act(i2h + h2h, "out")
    return output, [output]


def lstm_step(i2h: Any, h2h: Any, memory: Any, split: Function, act: Function, gate: Function) -> tuple[Any, list]:
    """Long short-term memory (Hochreiter and Schmidhuber 1997); gates are in the order in, forget, cell, out."""
    into, forget, cell, out = split(i2h + h2h, "slice")
    into, forget = gate(into, "i"), gate(forget, "f")
    new, out = act(cell, "c"), gate(out, "o")
    memory = forget * memory + into * new
    output = out * act(memory, None)
    return output, [output, memory]


def gru_step(i2h: Any, h2h: Any, before: Any, split: Function, act: Function, gate: Function) -> tuple[Any, list]:
    """Gated recurrent unit (Cho et al. 2014), as cuDNN has it: the reset gate multiplies R h + c."""
    (i2h_r, i2h_z, i2h), (h2h_r, h2h_z, h2h) = split(i2h, "i2h_slice"), split(h2h, "h2h_slice")
    reset, keep = gate(i2h_r + h2h_r, "r_act"), gate(i2h_z + h2h_z, "z_act")
    output = (1.0 - keep) * act(i2h + reset * h2h, "h_act") + keep * before
    return output, [output]


def zoneout(F: Any, rate: float, new: Any, old: Any) -> Any:  # noqa: N803 - 1.9.1's name
    """`new` with elements of `old` in random places, while training (Krueger et al. 2016)."""
    return F.where(F.Dropout(F.ones_like(new), p=rate), new, old) if rate != 0.0 else new


def own_states(cells: Iterable[Any], count: Callable[[Any], int], states: Any) -> Iterator[tuple[Any, Any]]:
    """Each cell with those of `states` that are its own, of which it has `count(cell)`."""
    first = 0
    for cell in cells:
        behind = first + count(cell)
        yield cell, states[first:behind]
        first = behind


def ask_base(base_cell: Any, method: str, *args: Any, **kwargs: Any) -> Any:
    """For a modifier cell: calls a method of the cell within, which refuses all other callers."""
    base_cell._modified = False
    try:
        return getattr(base_cell, method)(*args, **kwargs)
    finally:
        base_cell._modified = True
