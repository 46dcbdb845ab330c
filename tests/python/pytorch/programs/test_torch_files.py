"""torch.save and torch.load: PyTorch's own files, of which nothing is run."""

from __future__ import annotations

import io
import math
import os
import pickle
import zipfile
from collections import Counter, OrderedDict
from pathlib import Path

import numpy as np
import pytest
from _net import Net

import mxlite.torch as torch
from mxlite.torch import nn


def test_what_files_hold(tmp_path: Path) -> None:
    shared = torch.arange(6).reshape(2, 3)
    given = {
        "tensor": shared, "again": [shared, (shared,)], "parameter": nn.Parameter(torch.ones(2), False),
        "leaf": torch.ones(1, requires_grad=True), "half": torch.ones(2).half(),
        "flag": torch.tensor(True),
        "none": None, "number": 3, "real": [1.5, math.inf, -0.0], "text": "ä\n", "bytes": b"\x00\xff", 7: (1, [2]),
        True: {},
        "order": OrderedDict(b=1, a=2), "count": Counter({5: 2}), "size": torch.Size([2, 3]), "set": {1, 2},
        "dtype": torch.float64, "device": torch.device("cpu"), "array": np.arange(3.0), "scalar": np.float32(0.5),
        (1, "key"): "tuple", "empty": torch.zeros(0, 3),
    }  # fmt: skip
    torch.save(given, tmp_path / "all.pt")
    found = torch.load(tmp_path / "all.pt", map_location="cpu")
    assert list(found) == list(given)
    assert found["again"][0] is found["tensor"] is found["again"][1][0] and torch.equal(found["tensor"], shared)
    assert type(found["parameter"]) is nn.Parameter and not found["parameter"].requires_grad
    assert found["leaf"].requires_grad and found["half"].dtype is torch.float16 and found["flag"].item() is True
    assert np.array_equal(found["array"], given["array"]) and found["empty"].shape == (0, 3)
    plain = [
        key for key in given if key not in ("tensor", "again", "parameter", "leaf", "half", "flag", "array", "empty")
    ]
    for key in plain:
        assert found[key] == given[key] and (type(found[key]) is type(given[key]) or key == "scalar"), key


def test_a_model_goes_through_a_file(tmp_path: Path) -> None:
    net, other = Net().eval(), Net().eval()
    torch.save(net.state_dict(), str(tmp_path / "net.pt"))
    assert str(other.load_state_dict(torch.load(str(tmp_path / "net.pt")))) == "<All keys matched successfully>"
    x = torch.randn(3, 2)
    assert torch.equal(net(x), other(x))


def test_what_cannot_be_saved_leaves_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    torch.save([1], path)
    for bad in (nn.Linear(1, 1), {"f": len}, 1j, np.array([None]), [nn.Linear], os.system, range(2)):
        with pytest.raises(TypeError, match="mxlite.torch: torch.save"):
            torch.save(bad, path)
    assert torch.load(path) == [1]


def test_files_of_others_and_damaged_ones(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    with pytest.raises(FileNotFoundError):
        torch.load(path)
    path.write_bytes(pickle.dumps([1]))
    with pytest.raises(RuntimeError, match="no file of torch.save's"):
        torch.load(path)
    good = io.BytesIO()
    torch.save({"x": torch.ones(100)}, good)
    whole = good.getvalue()
    for end in range(0, len(whole), 37):
        with pytest.raises(RuntimeError, match="torch.load"):
            torch.load(io.BytesIO(whole[:end]))
    with pytest.raises(AssertionError, match="there is no CUDA"):
        torch.load(io.BytesIO(whole), map_location="cuda")


def _with_pickle(text: bytes, storages: tuple[bytes, ...] = ()) -> io.BytesIO:
    """A file whose pickle is this one."""
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("x/data.pkl", text)
        for place, each in enumerate(storages):
            archive.writestr(f"x/data/{place}", each)
    return made


class _Harm:
    def __reduce__(self) -> tuple:
        return os.system, ("exit 3",)


def _tensor_of(size: tuple, stride: tuple, offset: int, kind: str = "Float", where: str = "cpu") -> io.BytesIO:
    """A file with a tensor over a storage of four numbers."""
    place = f"(X\7\0\0\0storagectorch\n{kind}Storage\nX\1\0\0\x000X{chr(len(where))}\0\0\0{where}K\4tQ"
    numbers = b"".join(pickle.dumps(each, 2)[2:-1] for each in (offset, size, stride))
    text = b"\x80\2ctorch._utils\n_rebuild_tensor_v2\n(" + place.encode() + numbers + b"\x89NtR."
    return _with_pickle(text, (np.arange(4, dtype=np.float32).tobytes(),))


def test_files_name_only_what_is_safe() -> None:
    refused = [pickle.dumps(each, 2) for each in (_Harm(), nn.ReLU, np.random.default_rng, getattr)]
    for text in refused:
        with pytest.raises(pickle.UnpicklingError, match="which is not loaded"):
            torch.load(_with_pickle(text))
    array = pickle.dumps(np.arange(3.0), 2)
    assert np.array_equal(torch.load(_with_pickle(array)), np.arange(3.0))
    damaged = [array.replace(b"f8", b"O8"), b"", b"]", b"\x80\2N", pickle.dumps(np.array([None]), 2)]
    damaged.append(b"\x80\2ccollections\nOrderedDict\n)R}X\5\0\0\0itemsK\1sb.")  # a state of its own
    for text in damaged:
        with pytest.raises((RuntimeError, pickle.UnpicklingError)):
            torch.load(_with_pickle(text))


def test_tensors_of_files_stay_within_their_storage() -> None:
    assert torch.load(_tensor_of((2, 2), (1, 2), 0)).tolist() == [[0, 2], [1, 3]]
    assert torch.load(_tensor_of((3,), (0,), 3)).tolist() == [3, 3, 3]
    assert torch.load(_tensor_of((), (), 1)).item() == 1 and torch.load(_tensor_of((0, 9), (9, 1), 0)).shape == (0, 9)
    outside = [
        ((5,), (1,), 0),
        ((2,), (1,), 3),
        ((2,), (-1,), 1),
        ((2,), (1,), -1),
        ((2, 2), (1,), 0),
        ((-1,), (1,), 0),
    ]
    for size, stride, offset in [*outside, ((1 << 62, 4), (1 << 62, 1), 0)]:
        with pytest.raises(RuntimeError, match="torch.load: the file is damaged"):
            torch.load(_tensor_of(size, stride, offset))
    with pytest.raises(RuntimeError, match="map_location='cpu'"):
        torch.load(_tensor_of((4,), (1,), 0, where="cuda:0"))
    assert torch.load(_tensor_of((4,), (1,), 0, where="cuda:0"), map_location="cpu").sum() == 6
    with pytest.raises(RuntimeError, match="a storage's size|buffer"):
        torch.load(_tensor_of((4,), (1,), 0, "Double"))


def test_tensors_over_one_memory_share_it_after_loading() -> None:
    x, file = torch.arange(6.0).reshape(2, 3), io.BytesIO()
    loop: list = [x.t()[1:], x, x[0]]
    loop.append(loop)
    torch.save(loop, file)
    turned, whole, row, again = torch.load(file)
    assert again[1] is whole and turned.stride() == (1, 3)
    whole[0, 1] = 9
    assert turned[0, 0] == 9 == row[1]
