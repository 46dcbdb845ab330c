"""Makes keys.txt: what the real MXNet 1.9.1 does with the 5,000 keys of tests/python/ndarray/_keys.py.

Run it with mxnet==1.9.1 and numpy==1.23.5, as make_reference.py. Every key is read, and written, in a process of its
own, since 1.9.1 ends some of them; where it writes outside of memory, what happens is not the same every time.

The file: the checksum of the keys, then two letters per key, reading and writing: `=` NumPy's answer, `#` another one,
`+` an answer where NumPy has none, `!` the end of the process, and for errors `I` IndexError, `V` ValueError, `T`
TypeError, `A` AssertionError, `M` MXNetError, `O` any other.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "python" / "ndarray"))

import mxnet as mx  # noqa: E402
from _keys import Case, cases, checksum  # noqa: E402

ERRORS = {"IndexError": "I", "ValueError": "V", "TypeError": "T", "AssertionError": "A", "MXNetError": "M"}


def letter(case: Case, write: bool) -> str:
    """What MXNet does, compared with NumPy; run in a process of its own."""
    try:
        wanted = case.written_by_numpy() if write else case.read_by_numpy()
    except (IndexError, ValueError, TypeError):
        wanted = None
    mx.util.set_np_shape(case.numpy_mode)
    array = mx.nd.array(case.array(), dtype=case.dtype)
    try:
        if write:
            array[case.key(mx.nd)] = case.written(mx.nd)
            got = array.asnumpy()
        else:
            got = array[case.key(mx.nd)].asnumpy()
    except Exception as error:
        return ERRORS.get(type(error).__name__, "O")
    if wanted is None:
        return "+"
    return "=" if got.shape == wanted.shape and np.array_equal(got, wanted) else "#"


def apart(case: Case, write: bool) -> str:
    """`letter` in a child."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        signal.alarm(20)
        os.write(writing, letter(case, write).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        answer = pipe.read()
    return answer if os.waitpid(child, 0)[1] == 0 and answer else "!"


def main() -> None:
    """Writes the file."""
    answers = [apart(case, False) + apart(case, True) for case in cases()]
    lines = [" ".join(answers[start : start + 40]) for start in range(0, len(answers), 40)]
    (HERE / "keys.txt").write_text("\n".join([str(checksum()), *lines]) + "\n")


if __name__ == "__main__":
    main()
