"""Tensors over the memory of other libraries and of files."""

from __future__ import annotations

import os

import numpy as np
import pytest

import mxlite.torch as torch


@pytest.mark.parametrize("shape", [(2, 3), (0,), (), (40, 1)])
def test_capsules_share_memory(shape: tuple[int, ...]) -> None:
    x = torch.ones(shape)
    y = torch.from_dlpack(torch.to_dlpack(x))
    y.add_(1)
    assert x.tolist() == y.tolist() == np.from_dlpack(x).tolist() and x.dtype is y.dtype
    assert torch.from_dlpack(x, copy=True).add_(1).tolist() != x.tolist() or 0 in shape


def test_a_capsule_is_taken_once() -> None:
    capsule = torch.to_dlpack(torch.ones(2))
    torch.from_dlpack(capsule)
    with pytest.raises(ValueError, match="taken already"):
        torch.from_dlpack(capsule)


def test_writes_of_others_end_saved_values() -> None:
    x = torch.ones(2, requires_grad=True)
    kept = (x * 1).detach().requires_grad_()
    y = (kept * kept).sum()
    torch.from_dlpack(torch.to_dlpack(kept)).fill_(3)
    with pytest.raises(RuntimeError, match="edited in place"):
        y.backward()


def test_arrays_of_numpy_in_any_order() -> None:
    values = np.arange(6.0).reshape(2, 3).T
    made = torch.from_dlpack(values)
    made[0, 1] = 9
    assert values[0, 1] == 9 and made.stride() == (1, 3)
    assert np.from_dlpack(made).tolist() == values.tolist()


def test_a_file_as_memory(tmp_path: os.PathLike) -> None:
    name = os.path.join(tmp_path, "x")
    with pytest.raises(FileNotFoundError):
        torch.from_file(name, size=3)
    made = torch.from_file(name, True, 3, dtype=torch.int32)
    made.copy_(torch.tensor([1, 2, 3]))
    mine = torch.from_file(name, size=2, dtype=torch.int32)
    mine.fill_(7)
    assert np.fromfile(name, np.int32).tolist() == [1, 2, 3] and mine.tolist() == [7, 7]
