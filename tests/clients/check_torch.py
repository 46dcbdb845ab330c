#!/usr/bin/env python3
"""Arrays to and from PyTorch by DLPack, without a copy: run with an interpreter that has PyTorch (make test-peers)."""

import gc

import numpy as np
import torch

import mxlite as mx

DTYPES = ("float32", "float64", "float16", "uint8", "int8", "int32", "int64", "bool")


def address(array: mx.nd.NDArray) -> int:
    """Where the array's memory is."""
    return np.asarray(array).__array_interface__["data"][0]


def check_out(dtype: str) -> None:
    """An NDArray seen by PyTorch."""
    x = mx.nd.array([[1, 0, 1], [0, 1, 1]], dtype=dtype)
    for tensor in (torch.from_dlpack(x), torch.from_dlpack(x.to_dlpack_for_write()), torch.utils.dlpack.from_dlpack(x)):
        assert str(tensor.dtype) == f"torch.{dtype}" and tuple(tensor.shape) == (2, 3)
        assert tensor.data_ptr() == address(x)
        tensor[0, 1] = 1
        assert x.asnumpy()[0, 1] == 1
        x[0, 1] = 0
        assert not tensor[0, 1]
    kept = torch.from_dlpack(mx.nd.array([1, 0, 1], dtype=dtype)[1:])
    gc.collect()
    assert kept.tolist() == [0, 1]


def check_in(dtype: str) -> None:
    """A tensor seen by mxlite."""
    tensor = torch.tensor([[1, 0], [0, 1]]).to(getattr(torch, dtype))
    for x in (mx.nd.from_dlpack(tensor), mx.nd.from_dlpack(torch.utils.dlpack.to_dlpack(tensor))):
        assert address(x) == tensor.data_ptr() and np.dtype(x.dtype).name == dtype and x.shape == (2, 2)
        x[0, 1] = 1
        assert tensor[0, 1]
        tensor[0, 1] = 0
        assert not x.asnumpy()[0, 1]
    part = mx.nd.from_dlpack(torch.tensor([[1, 0], [1, 1]]).to(getattr(torch, dtype))[1])
    gc.collect()
    assert part.asnumpy().tolist() == [1, 1]


def check_refused() -> None:
    """What mxlite cannot look at."""
    for wrong in (torch.ones(4, 4)[:, ::2], torch.ones(2, 3).t(), torch.ones(2, dtype=torch.bfloat16)):
        try:
            mx.nd.from_dlpack(wrong)
        except mx.MXNetError:
            continue
        raise AssertionError(f"{wrong.dtype} of strides {wrong.stride()} was accepted")
    copied = mx.nd.from_dlpack(torch.ones(2, 3), copy=True)
    assert copied.asnumpy().sum() == 6


def main() -> None:
    """Runs every check."""
    for dtype in DTYPES:
        check_out(dtype)
        check_in(dtype)
    check_refused()
    print(f"check_torch: {2 * len(DTYPES) + 1} checks passed, PyTorch {torch.__version__}")


if __name__ == "__main__":
    main()
