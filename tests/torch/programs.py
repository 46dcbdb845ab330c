"""What programs of cases_*.py are made with: each runs on PyTorch and on mxlite.torch, and what comes is compared.

A program gets the module, and a Log to write down what happens; what it returns is compared too.
"""

from __future__ import annotations

import warnings
from typing import Any, Callable

from compare import builtin, describe, difference


class Log(list):
    """What happened, described when it is written down: tensors change later."""

    def append(self, what: Any) -> None:
        super().append(describe(what))


Program = Callable[[Any, Log], Any]


def programs_of() -> tuple[dict[str, Program], Callable[[Program], Program]]:
    """A dictionary of programs, and the decorator that takes a function into it."""
    programs: dict[str, Program] = {}

    def program(run: Program) -> Program:
        programs[run.__name__] = run
        return run

    return programs, program


def leaf(torch: Any, *values: float) -> Any:
    """A leaf of float64 that requires a gradient."""
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def pair(torch: Any, returned: Callable, several: bool = True) -> Any:
    """A function of two tensors whose backward returns what `returned` makes of the gradients."""

    class Pair(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            return (a * 2, b * 3) if several else a * b

        @staticmethod
        def backward(ctx, *grads):
            return returned(*grads)

    return Pair


def error(log: Log, run: Callable[[], Any]) -> None:
    """Writes down what a call gives, or the class of its error."""
    try:
        log.append(run())
    except Exception as problem:  # noqa: BLE001 - its class is the result
        log.append(f"error {builtin(problem)}")


def outcome(torch: Any, run: Program) -> list:
    """What a program wrote down, and what it returned or the class of its error."""
    log = Log()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            returned = describe(run(torch, log))
        except Exception as problem:  # noqa: BLE001 - its class is the result
            returned = f"error {builtin(problem)}"
    return [*log, ("returned", returned)]


def apart(one: Any, other: Any, run: Program) -> list[str]:
    """Where the outcomes of a program on two modules differ."""
    mine, theirs = outcome(one, run), outcome(other, run)
    found = [difference(a, b, f"[{place}]") for place, (a, b) in enumerate(zip(mine, theirs))]
    return [*filter(None, found), *([] if len(mine) == len(theirs) else [f"lengths {len(mine)} and {len(theirs)}"])]
