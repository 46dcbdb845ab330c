"""Minimax polynomials for kernel/math_*.h: fit_polynomial.py EXPRESSION FROM TO POWERS [--weight W] [--float].

EXPRESSION and W are in x, with mpmath's functions; POWERS is a list such as 0-5 or 1,3,5. The error that is made
smallest is that of the polynomial times W: 1/(EXPRESSION) for a relative one. By Remez' exchange in 50 digits; then
the coefficients are rounded one after the other, lowest power first, each time fitting the rest again where that is
better, to double or (--float) float. For instance, of e^x with |x| <= ln(2)/2, where 1 + x stays as it is:

    fit_polynomial.py '(exp(x)-1-x)/x**2' -0.3466 0.3466 0-4 --weight 'x**2/exp(x)' --float

Powers that are all even, or all odd, want an interval on one side of 0. Needs mpmath.
"""

from __future__ import annotations

import argparse
import struct
from typing import Any, Callable

import mpmath as mp

Function = Callable[[Any], Any]
GRID = 600


def evaluate(polynomial: dict[int, Any], x: Any) -> Any:
    return mp.fsum(value * x**power for power, value in polynomial.items())


def solve(f: Function, w: Function, free: list[int], points: list[Any], fixed: dict[int, Any]) -> tuple[dict, Any]:
    """The polynomial whose weighted error has one size and alternating signs at the points, and that size."""
    size = len(free) + 1
    matrix, right = mp.matrix(size, size), mp.matrix(size, 1)
    for i, x in enumerate(points):
        for j, power in enumerate(free):
            matrix[i, j] = x**power
        matrix[i, len(free)] = (-1) ** i / w(x)
        right[i] = f(x) - evaluate(fixed, x)
    solution = mp.lu_solve(matrix, right)
    return {**fixed, **{power: solution[j] for j, power in enumerate(free)}}, abs(solution[len(free)])


def alternation(errors: list[Any], wanted: int) -> list[int]:
    """Where the error is largest between its changes of sign, the smallest of them left out until `wanted` remain."""
    runs = [[0]]
    for i in range(1, len(errors)):
        if (errors[i] > 0) == (errors[i - 1] > 0):
            runs[-1].append(i)
        else:
            runs.append([i])
    tops = [max(run, key=lambda i: abs(errors[i])) for run in runs]
    while len(tops) > wanted:
        if len(tops) == wanted + 1:
            tops.pop(0 if abs(errors[tops[0]]) < abs(errors[tops[-1]]) else -1)
        else:
            pairs = range(len(tops) - 1)
            k = min(pairs, key=lambda k: max(abs(errors[tops[k]]), abs(errors[tops[k + 1]])))
            del tops[k : k + 2]
    return tops


def remez(f: Function, w: Function, powers: list[int], low: Any, high: Any, fixed: dict[int, Any]) -> tuple[dict, Any]:
    """The best polynomial with some coefficients fixed, and its largest weighted error on a grid."""
    middle, half = (low + high) / 2, (high - low) / 2
    grid = [middle - half * mp.cos(mp.pi * (2 * i + 1) / (2 * GRID)) for i in range(GRID)]
    values, weights = [f(x) for x in grid], [w(x) for x in grid]
    free = [power for power in powers if power not in fixed]
    count = len(free) + 1
    points = [grid[(2 * i + 1) * GRID // (2 * count)] for i in range(count)]  # none is 0, where w may be
    polynomial, worst = dict(fixed), mp.inf
    for _ in range(20):
        level = mp.mpf(0)
        if free:
            polynomial, level = solve(f, w, free, points, fixed)
        errors = [(value - evaluate(polynomial, x)) * weight for value, x, weight in zip(values, grid, weights)]
        worst = max(abs(error) for error in errors)
        tops = alternation(errors, count)
        if not free or worst <= level * mp.mpf("1.002") or len(tops) < count:
            break
        points = [grid[i] for i in tops]
    return polynomial, worst


def rounded(value: Any, single: bool) -> Any:
    number = float(value)
    return mp.mpf(struct.unpack("f", struct.pack("f", number))[0] if single else number)


def powers_of(text: str) -> list[int]:
    """0-5 or 1,3,5."""
    first, dash, last = text.partition("-")
    return list(range(int(first), int(last) + 1)) if dash else [int(power) for power in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("expression")
    parser.add_argument("low", type=mp.mpf)
    parser.add_argument("high", type=mp.mpf)
    parser.add_argument("powers", type=powers_of)
    parser.add_argument("--weight", default="1")
    parser.add_argument("--float", action="store_true", dest="single")
    args = parser.parse_args()
    mp.mp.dps = 50
    names = vars(mp)
    f: Function = eval(f"lambda x: mp.mpf({args.expression})", {**names, "mp": mp})
    w: Function = eval(f"lambda x: mp.mpf({args.weight})", {**names, "mp": mp})
    polynomial, worst = remez(f, w, args.powers, args.low, args.high, {})
    print(f"in {mp.mp.dps} digits: 2^{float(mp.log(worst, 2)):.2f}")
    fixed: dict[int, Any] = {}
    for power in args.powers:
        again, worst_again = remez(f, w, args.powers, args.low, args.high, fixed)
        as_it_is = {**polynomial, **fixed}
        _, worst = remez(f, w, args.powers, args.low, args.high, as_it_is)
        polynomial = again if worst_again < worst else as_it_is
        fixed[power] = rounded(polynomial[power], args.single)
    _, worst = remez(f, w, args.powers, args.low, args.high, fixed)
    print(f"rounded: 2^{float(mp.log(worst, 2)):.2f}")
    for power in reversed(args.powers):
        print(f"x^{power:<3} {float(fixed[power]):.9g}f" if args.single else f"x^{power:<3} {float(fixed[power])!r}")


if __name__ == "__main__":
    main()
