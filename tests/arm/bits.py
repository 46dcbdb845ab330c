"""Whether two processors give the same bits: the rows of the case table, with gradients, run on both.

    bits.py run FILE [1/4]               runs the rows (each fourth from the second on) here, and keeps what they gave
    bits.py compare LIST ONE OTHERS...   compares such files: of all rows, and of their parts on the other processor

An operator that differs must be listed in the file LIST with the reason, and one that is listed must differ.
`make test-arm` runs both libraries at the vector level "baseline", whose loops round each operation by itself.
"""

from __future__ import annotations

import pickle
import sys
import zlib
from collections import defaultdict
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent.parent), str(HERE.parent / "python"), str(HERE.parent / "reference")]


def _checksum(arrays: list) -> int:
    sum_ = 0
    for array in arrays:
        sum_ = zlib.crc32(np.ascontiguousarray(array).tobytes(), sum_)
    return sum_


def _gradients(case, inputs: list, outputs: list) -> list:
    from _table import to_nd
    from cases import heads

    from mxlite import autograd

    given = heads(case, [y.shape for y in outputs], [np.dtype(y.dtype).name for y in outputs])
    variables = [inputs[i] for i in case.diff]
    found = autograd.grad(list(outputs), variables, [to_nd(head) for head in given], train_mode=case.train)
    return [x.asnumpy() for x in found]


def _row(case) -> list:
    """The outputs, what was changed, and the gradients."""
    from _table import given_out, invoke_text, scope, to_nd

    import mxlite as mx
    from mxlite import autograd

    mx.random.seed(7)
    inputs = [to_nd(array) for array in case.arrays()]
    with mx.np_shape(case.np_shape), scope(case):
        found = [x.asnumpy() for x in invoke_text(case.op, inputs, case.strings(), given_out(case))]
        found += [inputs[i].asnumpy() for i in case.mutates]
        if case.order >= 1 and case.diff and not case.random and not case.defined:
            inputs = [to_nd(array) for array in case.arrays()]
            for i in case.diff:
                inputs[i].attach_grad()
            with autograd.record(train_mode=case.train):
                outputs = invoke_text(case.op, inputs, case.strings())
            found += _gradients(case, inputs, outputs)
    return found


def run(file: str, piece: str = "0/1") -> None:
    """Keeps {row: (operator, checksum of the inputs, outputs or the kind of an error)} in a file."""
    from cases import CASES, INTERNAL, OWN

    kept = {}
    first, pieces = (int(number) for number in piece.split("/"))
    for case in [case for case in CASES + OWN + INTERNAL if not case.error][first::pieces]:
        try:
            answer = _row(case)
        except Exception as error:  # noqa: BLE001 - an error must be the same one on both
            answer = type(error).__name__
        kept[case.id] = (case.op, _checksum(case.arrays()), answer)
    Path(file).write_bytes(pickle.dumps(kept))
    print(f"bits: {len(kept)} rows run, {sum(isinstance(row[2], str) for row in kept.values())} of them are errors")


def _ulps(one: np.ndarray, two: np.ndarray) -> float:
    """The largest distance, in units of the last place of the largest number: sums cancel."""
    if one.dtype.kind != "f" or one.shape != two.shape or one.dtype != two.dtype:
        return np.inf
    same = (one == two) | (np.isnan(one) & np.isnan(two))
    with np.errstate(all="ignore"):
        apart = np.abs(one.astype(np.longdouble) - two.astype(np.longdouble))[~same]
        scale = np.abs(one[np.isfinite(one)]).max(initial=np.finfo(one.dtype).tiny)
        return float(np.max(apart / np.spacing(scale), initial=0.0))


def _distance(one, two) -> float:
    """0: the same bits; NaN are alike whatever their bits."""
    if isinstance(one, str) or isinstance(two, str):
        return 0.0 if isinstance(one, str) and isinstance(two, str) and one == two else np.inf
    if len(one) != len(two):
        return np.inf
    most = 0.0
    for a, b in zip(one, two):
        if a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes():
            continue
        most = max(most, _ulps(a, b))
    return most


def _listed(file: Path) -> dict[str, str]:
    lines = (line.partition(":") for line in file.read_text().splitlines())
    return {name.strip(): why.strip() for name, colon, why in lines if colon and not name.startswith("#")}


def compare(listing: str, one: str, *others: str) -> int:
    """Prints what differs; 1 if something does that is not listed, or is listed and does not."""
    first, *parts = (pickle.loads(Path(file).read_bytes()) for file in (one, *others))
    second = {name: row for part in parts for name, row in part.items()}
    listed, apart, unlike, alike = _listed(Path(listing)), defaultdict(float), 0, 0
    for name in first.keys() & second.keys():
        op, inputs, answer = first[name]
        if second[name][1] != inputs:
            unlike += 1
            continue
        distance = _distance(answer, second[name][2])
        alike += distance == 0
        if distance > 0:
            apart[op] = max(apart[op], distance)
            if op not in listed:
                print(f"bits: {name}: differs, by {distance:.3g} units of the last place of its largest number")
    for op in sorted(set(listed) - set(apart)):
        print(f"bits: {op}: listed in {listing}, but its bits are the same")
    print(f"bits: {alike} rows alike; {len(apart)} operators differ ({', '.join(sorted(apart)) or 'none'})")
    if unlike:
        print(f"bits: {unlike} rows have other inputs there: not compared")
    wrong = set(apart) ^ set(listed) or first.keys() ^ second.keys()
    return 1 if wrong or alike < 0.9 * len(first) else 0


if __name__ == "__main__":
    if sys.argv[1] == "run":
        run(*sys.argv[2:])
    else:
        sys.exit(compare(*sys.argv[2:]))
