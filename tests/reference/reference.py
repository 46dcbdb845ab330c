"""Reads the committed answers of MXNet 1.9.1. NumPy only; used by the tests of tests/python."""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent

__all__ = ["Answer", "Answers", "introspection"]


@dataclass(frozen=True)
class Answer:
    """What 1.9.1 said to a case: `error` (its last line) or `outputs`, and `gradients` in the order of `case.diff`.

    `gradient_error`: the last line of its error where it has no gradients.
    """

    inputs: int
    error: str = ""
    outputs: tuple[np.ndarray, ...] = ()
    gradients: tuple[np.ndarray, ...] | None = None
    gradient_error: str = ""

    def same_inputs(self, arrays: Sequence[np.ndarray]) -> bool:
        """Whether these are, bit for bit, the inputs that 1.9.1 was given."""
        return zlib.crc32(b"".join(array.tobytes() for array in arrays)) == self.inputs


class Answers:
    """All answers by case id. `answers[case.id]` raises KeyError for a case that was not asked."""

    def __init__(self) -> None:
        index = json.loads((HERE / "answers.json").read_text())
        with np.load(HERE / "answers.npz", allow_pickle=False) as file:
            self._data = file["data"].tobytes()
        self.mxnet: str = index["mxnet"]
        self._rows: dict = index["cases"]

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self):
        return iter(self._rows)

    def __getitem__(self, name: str) -> Answer:
        row = self._rows[name]
        outputs = tuple(self._array(entry) for entry in row.get("outputs", ()))
        gradients = tuple(self._array(entry) for entry in row["gradients"]) if "gradients" in row else None
        return Answer(row["inputs"], row.get("error", ""), outputs, gradients, row.get("gradient_error", ""))

    def _array(self, entry: Sequence[Any]) -> np.ndarray:
        dtype, shape, offset = entry
        count = int(np.prod(shape, dtype=np.int64))
        return np.frombuffer(self._data, dtype, count, offset).reshape(shape)


def introspection() -> dict:
    """Operator name -> aliases, arguments [name, type text], key_var_num_args, return_type, as 1.9.1 prints them."""
    return json.loads((HERE / "introspection.json").read_text())["operators"]
