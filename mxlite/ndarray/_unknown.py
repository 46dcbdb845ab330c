"""Arrays that are not there yet, in operators: parameters without a shape, see mxlite/gluon/_shapes.py.

The handle of such a stand-in raises `Unknown`. Who runs an operator of any name catches it and passes `Waiting` on in
place of the handles; `run` gives the call to the stand-in, which finds the shapes.
"""

from __future__ import annotations

from typing import Any


class Unknown(AttributeError):
    """The handle of a stand-in was wanted. As any other operand without a handle, it is judged by Python code."""

    def __init__(self, stand_in: Any, message: str) -> None:
        super().__init__(message)
        self.stand_in = stand_in


class Waiting(list):
    """The inputs of an operator with a stand-in among them; no list of handles."""

    def __init__(self, arrays: Any, stand_in: Any) -> None:
        super().__init__()
        self.arrays = tuple(arrays)
        self.stand_in = stand_in

    def call(self, operator: Any, given: dict[str, Any], out: Any) -> Any:
        """What the operator gives."""
        return self.stand_in.call(operator, self.arrays, given, out)
