"""mxlite.torch: functions that PyTorch has beside layers: picking, order, sets, statistics, matrices, special ones.

tests/torch/check_calls.py compares each with PyTorch; here are numbers of PyTorch's, sizes from nothing to thousands,
and what goes wrong.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import mxlite.torch as torch
from mxlite.torch import linalg, special
from mxlite.torch.autograd import gradcheck, gradgradcheck


def leaf(*shape: int, low: float = 0.2) -> torch.Tensor:
    count = math.prod(shape)
    values = low + np.abs(np.sin(np.arange(1, count + 1) * 1.7)) * 1.3
    return torch.tensor(values.reshape(shape), dtype=torch.float64, requires_grad=True)


INDEX = torch.tensor([[2, 0, 2], [1, 1, 0]])
SQUARE = torch.tensor([[2.0, 0.3, -0.4], [0.1, 1.5, 0.2], [-0.3, 0.6, 1.1]], dtype=torch.float64)

CASES = {
    **{
        f"scatter_reduce {reduce} {flag}": lambda x, reduce=reduce, flag=flag: x.scatter_reduce(
            1, INDEX, x.sin()[:, :3] + torch.arange(3) * 0.1, reduce, include_self=flag
        )
        for reduce in ("sum", "prod", "mean", "amax", "amin")
        for flag in (True, False)
    },
    "index_copy": lambda x: x.index_copy(1, torch.tensor([2, 0]), x[:, 1:3].exp()),
    "index_reduce": lambda x: x.index_reduce(0, torch.tensor([1, 1]), x.cos(), "prod"),
    "masked_scatter": lambda x: x.masked_scatter(x > 1, x.sin()),
    "put": lambda x: x.put(torch.tensor([0, -1, 0]), x[0, :3].exp(), True),
    "slice_scatter": lambda x: x.slice_scatter(x.sin()[:, :2], 1, 0, 3, 2),
    "diagonal_scatter": lambda x: x.diagonal_scatter(x[0, :2].exp()),
    "unfold": lambda x: x.unfold(1, 2, 1) ** 2,
    "unfold strided": lambda x: x[:, ::2].unfold(1, 2, 1) ** 2,
    "rot90": lambda x: x.rot90(1, (0, 1)) ** 2,
    "kron": lambda x: torch.kron(x, x[:1, :2]),
    "quantile": lambda x: x.quantile(torch.tensor([0.2, 0.9], dtype=torch.float64), 1),
    "logcumsumexp": lambda x: x.logcumsumexp(1),
    "cummax": lambda x: x.cummax(1).values ** 2,
    "kthvalue": lambda x: x.kthvalue(2, 1).values ** 2,
    "cdist": lambda x: torch.cdist(x, x[:1] + 3),
    "renorm": lambda x: x.renorm(2, 0, 0.7),
    "cov": torch.cov,
    "corrcoef": torch.corrcoef,
    "cumulative_trapezoid": torch.cumulative_trapezoid,
    "gradient": lambda x: torch.gradient(x**2, dim=1, edge_order=2)[0],
    "fmax": lambda x: x.fmax(x.flip(1) * 0.9),
    "xlog1py": lambda x: special.xlog1py(x, x),
    "i0": lambda x: x.i0(),
    "i1e": special.i1e,
    "erfcx": special.erfcx,
    "log_ndtr": special.log_ndtr,
    "ndtri": lambda x: special.ndtri(x / 3),
    "polygamma": lambda x: torch.polygamma(1, x),
    "mvlgamma": lambda x: (x + 2).mvlgamma(2),
    "matrix_exp": lambda x: linalg.matrix_exp(SQUARE * x[0, 0]),
    "pinv": linalg.pinv,
    "qr": lambda x: linalg.qr(x.mT + torch.eye(4, 2, dtype=torch.float64))[1],
    "lu": lambda x: linalg.lu(SQUARE * x[0, :3])[2],
    "eigh": lambda x: linalg.eigh((SQUARE + SQUARE.mT) * x[0, 0])[0],
    "svdvals": linalg.svdvals,
    "solve_triangular": lambda x: linalg.solve_triangular(SQUARE * x[0, 0], x[:, :3].mT, upper=True),
}


@pytest.mark.parametrize("name", CASES)
def test_gradients(name):
    x = leaf(2, 4)
    assert gradcheck(CASES[name], x) and gradgradcheck(CASES[name], x)


IN_PLACE = {
    "addmm_": lambda h, x: h.addmm_(x, x.sin()),
    "addbmm_": lambda h, x: h.addbmm_(x[None], x[None].sin()),
    "addr_": lambda h, x: h.addr_(x[0], x[1], alpha=2),
    "baddbmm_": lambda h, x: h[None].baddbmm_(x[None], x[None]),
    "tril_": lambda h, x: h.tril_(),
    "triu_": lambda h, x: h.triu_(1),
    "renorm_": lambda h, x: h.renorm_(2, 0, 0.5),
    "fill_diagonal_": lambda h, x: h.fill_diagonal_(3.0),
    "scatter_reduce_": lambda h, x: h.scatter_reduce_(1, INDEX[:, :2] % 2, x.sin(), "mean"),
    "masked_scatter_": lambda h, x: h.masked_scatter_(h > 1, x.cos()),
    "xlogy_": lambda h, x: h.xlogy_(x),
    "cumprod_": lambda h, x: h.cumprod_(1),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place(name):
    assert gradcheck(lambda x: IN_PLACE[name](x * 1.5, x) * 1, leaf(2, 2))


@pytest.mark.parametrize("size", [1, 2, 33, 1500])
def test_order_and_sets(size):
    values = np.sin(np.arange(size) * 2.3).round(2)
    x = torch.tensor(values)
    found, inverse, counts = x.unique(return_inverse=True, return_counts=True)
    assert np.array_equal(found.numpy(), np.unique(values)) and torch.equal(found[inverse], x)
    assert counts.sum().item() == size
    assert x.kthvalue(size // 2 + 1).values.item() == np.sort(values)[size // 2]
    assert x.quantile(0.3).item() == pytest.approx(np.quantile(values, 0.3))
    assert torch.equal(x.cummin(0).values, torch.tensor(np.minimum.accumulate(values)))
    edges = torch.tensor([-0.5, 0.0, 0.5], dtype=torch.float64)
    assert torch.bucketize(x, edges).tolist() == np.searchsorted(edges.numpy(), values).tolist()
    assert x.histc(4, -1, 1).sum().item() == size
    middle, place = x.mode()
    assert x[place] == middle and (values == middle.item()).sum() == counts.max().item()
    parts = x.tensor_split(3)
    assert [len(each) for each in parts] == [len(each) for each in np.array_split(values, 3)]


def test_nan_and_nothing():
    x = torch.tensor([math.nan, 1.0, math.nan, 3.0])
    assert x.nanmedian().item() == 1.0 and x.nanmean().item() == 2.0 and x.nanquantile(0.5).item() == 2.0
    assert len(x.unique()) == 4 and x.cummax(0).indices.tolist() == [0, 0, 2, 2]
    empty = torch.zeros(0)
    assert empty.unique().shape == (0,) and empty.cummax(0).values.shape == (0,) and empty.diff().shape == (0,)
    assert torch.block_diag().shape == (1, 0) and torch.combinations(torch.arange(1), 2).shape == (0, 2)
    assert torch.tensor(3.0).cummax(0).values.item() == 3.0 and torch.tensor(2.0).unfold(0, 1, 1).tolist() == [2.0]


def test_unfold_is_a_view():
    x = torch.zeros(5)
    x.unfold(0, 2, 3)[1, 0] = 7
    assert x.tolist() == [0, 0, 0, 7, 0]


def test_matrices():
    for made in (linalg.svd(SQUARE), linalg.svd(SQUARE[:2]), linalg.svd(SQUARE[:, :2])):
        u, s, vh = made
        whole = torch.zeros(u.shape[-1], vh.shape[-2], dtype=torch.float64)
        whole[: len(s), : len(s)] = s.diag()
        assert torch.allclose(u @ whole @ vh, SQUARE[: u.shape[0], : vh.shape[1]])
    p, lower, upper = linalg.lu(SQUARE)
    assert torch.allclose(p @ lower @ upper, SQUARE)
    b = torch.ones(3, 2, dtype=torch.float64)
    assert torch.allclose(linalg.lu_solve(*linalg.lu_factor(SQUARE), b), linalg.solve(SQUARE, b))
    q, r = linalg.qr(SQUARE[:, :2], "complete")
    assert torch.allclose(q @ r, SQUARE[:, :2]) and torch.allclose(q.mT @ q, torch.eye(3, dtype=torch.float64))
    assert linalg.matrix_rank(torch.ones(3, 3)).item() == 1
    assert linalg.inv_ex(torch.zeros(2, 2)).info.item() != 0
    with pytest.raises(linalg.LinAlgError):
        linalg.inv_ex(torch.zeros(2, 2), check_errors=True)


@pytest.mark.parametrize(
    ("name", "x", "expected"),  # of the functions of Abramowitz and Stegun's tables
    [
        ("bessel_j0", 3.0, -0.2600519549019334), ("bessel_y0", 3.0, 0.3768500100127904),
        ("bessel_j1", 30.0, -0.11875106261662291), ("modified_bessel_k0", 0.1, 2.4270690247020164),
        ("i0", 2.0, 2.279585302336067), ("airy_ai", 1.0, 0.13529241631288141), ("erfcx", 1.0, 0.4275835761558070),
        ("ndtri", 0.975, 1.959963984540054), ("modified_bessel_k1", 3.0, 0.04015643112819418),
    ],
)  # fmt: skip
def test_special(name, x, expected):
    found = getattr(special, name)(torch.tensor(x, dtype=torch.float64)).item()
    assert found == pytest.approx(expected, rel=1e-12)


def test_out():
    out = torch.empty(0)
    assert torch.exp(torch.zeros(3), out=out) is out and out.tolist() == [1, 1, 1]
    values, places = torch.empty(0), torch.empty(0, dtype=torch.int64)
    made = torch.max(torch.tensor([[1.0, 2.0]]), 1, out=(values, places))
    assert values.tolist() == [2] and places.tolist() == [1] and made.values is values
    with pytest.raises(RuntimeError, match="does not fit"):
        torch.exp(torch.zeros(3), out=torch.empty(3, dtype=torch.int64))
    with pytest.raises(RuntimeError, match="has no gradient"):
        torch.exp(leaf(2), out=torch.empty(2))
    with pytest.raises(TypeError):
        torch.exp(torch.zeros(3), out=3)


def test_generators():
    torch.manual_seed(3)
    state = torch.get_rng_state()
    first, own = torch.rand(4), torch.Generator().manual_seed(5)
    drawn = torch.rand(3, generator=own), torch.randn(2, generator=own)
    torch.set_rng_state(state)
    assert torch.equal(torch.rand(4), first)  # another generator leaves it alone
    own.manual_seed(5)
    assert torch.equal(torch.rand(3, generator=own), drawn[0]) and own.initial_seed() == 5
    copy = torch.Generator().set_state(own.get_state())
    assert torch.equal(torch.randn(2, generator=copy), drawn[1])
    x = torch.zeros(2000)
    assert abs(x.exponential_(2.0).mean().item() - 0.5) < 0.05 and x.geometric_(0.5).min().item() == 1
    assert abs(torch.poisson(torch.full((2000,), 3.0)).mean().item() - 3) < 0.2
    with pytest.raises(TypeError):
        own.set_state(torch.zeros(3))


def test_what_is_wrong():
    x = torch.ones(2, 3)
    for call, kind in (
        (lambda: x.scatter_reduce(0, INDEX, x, "sum"), RuntimeError),
        (lambda: x.scatter_reduce(1, INDEX, x, "other"), RuntimeError),
        (lambda: x.index_copy(0, torch.tensor([2]), x[:1]), IndexError),
        (lambda: x.put(torch.tensor([0]), torch.ones(2)), IndexError),
        (lambda: x.masked_scatter(x > 0, torch.ones(2)), RuntimeError),
        (lambda: x.hsplit(2), RuntimeError),
        (lambda: x.kthvalue(9), RuntimeError),
        (lambda: x.quantile(1.5), RuntimeError),
        (lambda: torch.histc(torch.arange(3)), NotImplementedError),
        (lambda: torch.gcd(x, x), NotImplementedError),
        (lambda: torch.cross(x[:, :2], x[:, :2]), RuntimeError),
        (lambda: x.unique().sum().backward(), RuntimeError),
        (lambda: linalg.svd(x[0]), RuntimeError),
        (lambda: linalg.qr(x, "other"), RuntimeError),
        (lambda: torch.polygamma(-1, x), RuntimeError),
        (lambda: x.cummax(2), IndexError),
    ):
        with pytest.raises(kind):
            call()
    with pytest.raises(NotImplementedError):
        leaf(3).unique().sum().backward()
    assert x.sum().item() == 6
