"""vmap: functions that run once, on tensors that stand for all examples of a batch."""

from __future__ import annotations

import time
import warnings
from typing import Any, Callable

import pytest

import mxlite.torch as torch
import mxlite.torch.nn.functional as F
from mxlite.torch import nn
from mxlite.torch.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

torch.manual_seed(3)
X, Y = torch.randn(5, 3, 4), torch.rand(5, 3, 4) + 0.1
I = torch.randint(0, 3, (5, 4))  # noqa: E741
M = torch.randn(5, 4, 4)
SQUARE = M @ M.mT + torch.eye(4)
IMAGE = torch.randn(3, 2, 6, 6)
CONV, NORM, EMBED, LSTM = nn.Conv2d(2, 3, 3, padding=1), nn.LayerNorm(4), nn.Embedding(10, 3), nn.LSTM(4, 3)


def _assigned(a: Any, key: Any, value: Any) -> Any:
    made = a * 2
    made[key] = value
    return made


def _view_edited(a: Any) -> Any:
    made = a * 2
    made.view(-1)[1:3].mul_(3)
    return made


CASES: dict[str, tuple] = {
    **{name: (lambda a, name=name: getattr(torch, name)(a), Y) for name in "exp tanh sqrt relu floor lgamma".split()},
    **{name: (lambda a, name=name: getattr(F, name)(a), X) for name in "gelu silu elu leaky_relu logsigmoid".split()},
    **{
        name: (lambda a, b, name=name: getattr(torch, name)(a, b), Y, X.abs() + 0.1)
        for name in "add mul div pow maximum remainder atan2 lt".split()
    },
    **{
        name: (lambda a, name=name: getattr(torch, name)(a), X)
        for name in "sum mean prod amax std norm argmax median".split()
    },
    **{
        name + "-1": (lambda a, name=name: getattr(torch, name)(a, 1), X)
        for name in "sum prod var cumsum cumprod softmax log_softmax logsumexp argsort".split()
    },
    "sum of a number": (lambda a: a.sum(), X[:, 0, 0]),
    "softmax from the end": (lambda a: a.softmax(-1), X),
    "broadcast": (lambda a, b: a[:, None] * b, X[:, :, 0], X[:, 0]),
    "where": (lambda a, b: torch.where(a > 0, a, b), X, Y),
    "masked_fill": (lambda a: a.masked_fill(a > 0, 0.0), X),
    "sort": (lambda a: a.sort(0).values, X),
    "gather": (lambda a, i: a.gather(0, i[None]), X, I),
    "pick": (lambda a, i: a[i[0]], X, I),
    "index": (lambda a: a[torch.tensor([0, 2])], X),
    "index_select": (lambda a: a.index_select(1, torch.tensor([0, 2])), X),
    "assigned": (lambda a, b: _assigned(a, (slice(None), 1), b[:, 0]), X, Y),
    "assigned number": (lambda a: _assigned(a, 0, 1.0), X),
    "edited": (lambda a: (a * 2).add_(a).mul_(3).sin_(), X),
    "view edited": (_view_edited, X),
    "new_zeros": (lambda a: a.new_zeros(4).copy_(a[0]) + torch.zeros_like(a).copy_(a), X),
    "einsum": (lambda a, b: torch.einsum("ij,kj->ik", a, b), X, X),
    "matmul": (lambda a, b: a @ b, X, M),
    "matmul of one": (lambda a: M[0] @ a.mT, X),
    "matmul by one": (lambda a: a @ M[0], X),
    "mv": (lambda a, b: a @ b, M, X[:, 0]),
    "dot": (lambda a, b: torch.dot(a, b), X[:, 0], X[:, 1]),
    "outer": (lambda a, b: torch.outer(a, b), X[:, 0], X[:, 1]),
    "addmm": (lambda a, b, c: torch.addmm(a, b, c, alpha=2, beta=3), X, X, M),
    "linear": (lambda a, w: F.linear(a, w, w[:, 0]), X, M),
    "solve": (lambda a, b: torch.linalg.solve(a, b), SQUARE, X[:, 0]),
    "cholesky": (torch.linalg.cholesky, SQUARE),
    "det": (torch.det, SQUARE),
    "movements": (lambda a: a.t().reshape(-1)[1:].unflatten(0, (11, 1)).flip(0).expand(11, 2), X),
    "cat": (lambda a, b: torch.cat([a, b.flip(0)], 1), X, Y),
    "stack": (lambda a: torch.stack([a, X[0]]), X),
    "split": (lambda a: a.split(3, 1)[1], X),
    "pad": (lambda a: F.pad(a, (1, 1)), X),
    "conv": (lambda a: CONV(a), IMAGE),
    "pool": (lambda a: F.max_pool2d(a, 2) + F.avg_pool2d(a, 2), IMAGE),
    "layer_norm": (lambda a: NORM(a), X),
    "embedding": (lambda i: EMBED(i), I),
    "lstm": (lambda a: LSTM(a)[0], X),
    "cross_entropy": (lambda a, i: F.cross_entropy(a, i), X.mT.contiguous(), I),
    "mse_loss": (lambda a, b: F.mse_loss(a, b), X, Y),
    "attention": (lambda a: F.scaled_dot_product_attention(a[None], a[None], a[None]), X),
    "values": (lambda a: torch.bucketize(a, torch.tensor([0.0, 1.0])), X),
    "dtypes": (lambda a: a.double().int() + torch.ones(3, 1, dtype=torch.int64), X),
    "one_hot": (lambda i: F.one_hot(i, 3), I),
}


def _looped(function: Callable, args: tuple) -> Any:
    return torch.stack([function(*(each[k] for each in args)) for k in range(len(args[0]))])


def _scalar(function: Callable) -> Callable:
    def scalar(*args: Any) -> Any:
        made = function(*args)
        return (made * made.detach().cos()).sum() + (made * made).sum() if made.is_floating_point() else args[0].sum()

    return scalar


def _same(found: Any, expected: Any) -> None:
    assert found.dtype is expected.dtype
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-3, equal_nan=True)


@pytest.mark.filterwarnings("ignore:vmap")
@pytest.mark.parametrize("name", CASES)
def test_as_the_loop(name: str) -> None:
    """Values, gradients within and of the map, of first and second order."""
    function, *args = CASES[name]
    _same(vmap(function)(*args), _looped(function, tuple(args)))
    floats = [k for k, each in enumerate(args) if each.is_floating_point()]
    if not floats:
        return
    first = grad(_scalar(function), argnums=floats[-1])
    _same(vmap(first)(*args), _looped(first, tuple(args)))
    second = grad(lambda *given: grad(_scalar(function))(*given).pow(2).sum())
    _same(vmap(second)(*args), _looped(second, tuple(args)))
    leaves = [each.clone().requires_grad_() if each.is_floating_point() else each for each in args]
    again = [each.clone().requires_grad_() if each.is_floating_point() else each for each in args]
    vmap(_scalar(function))(*leaves).sum().backward()
    _looped(_scalar(function), tuple(again)).sum().backward()
    _same(leaves[0].grad, again[0].grad)


def test_gradients_of_gradients_through_the_map() -> None:
    leaf = X.clone().requires_grad_()
    vmap(grad(lambda a: (a.sin() * a[0]).sum()))(leaf).pow(2).sum().backward()
    rows = X.clone().requires_grad_()
    sum(grad(lambda a: (a.sin() * a[0]).sum())(rows[k]).pow(2).sum() for k in range(5)).backward()
    _same(leaf.grad, rows.grad)


def test_dimensions_chunks_and_nesting() -> None:
    b = torch.randn(4)
    _same(vmap(lambda a, b: a * b, in_dims=(1, None), out_dims=-1)(X, b), X.movedim(1, -1) * b[:, None])
    _same(vmap(lambda a: a.sin(), chunk_size=2)(X), X.sin())
    _same(vmap(vmap(lambda a, b: (a * b).sum(), (0, None)), (None, 0))(X[0], X[:, 0]), X[:, 0] @ X[0].mT)
    tree = vmap(lambda d: {"s": d["a"] + d["b"]}, in_dims=({"a": 0, "b": None},))({"a": X, "b": b})
    _same(tree["s"], X + b)
    assert vmap(lambda a: a * 2)(torch.zeros(0, 3)).shape == (0, 3)
    _same(vmap(lambda a: a)(X[:1]), X[:1])
    long = torch.randn(1025, 33)
    _same(vmap(lambda a: a.softmax(0).sum() * a)(long), long.softmax(1).sum(1, keepdim=True) * long)
    _same(vmap(jacrev(lambda a: a**2))(X[:, 0]), torch.diag_embed(2 * X[:, 0]))
    _same(vmap(jacfwd(lambda a: a**2))(X[:, 0]), torch.diag_embed(2 * X[:, 0]))
    _same(vmap(hessian(lambda a: (a**3).sum()))(X[:, 0]), torch.diag_embed(6 * X[:, 0]))
    _same(vmap(lambda a: vjp(torch.sin, a)[1](a)[0])(X), X.cos() * X)
    _same(vmap(lambda a: jvp(torch.sin, (a,), (a,))[1])(X), X.cos() * X)


def test_gradients_in_batches() -> None:
    leaf, unused = X[0].clone().requires_grad_(), torch.ones(2, requires_grad=True)
    out = (leaf**2).sum(1)
    found = torch.autograd.grad(out, [leaf, unused], torch.eye(3), is_grads_batched=True, allow_unused=True)
    _same(found[0], torch.diag_embed(torch.ones(3))[:, :, None] * 2 * X[0])
    assert found[1] is None
    jacobian = torch.autograd.functional.jacobian
    leaf = X[0].clone().requires_grad_()
    jacobian(lambda a: a**3, leaf, create_graph=True, vectorize=True).sum().backward()
    _same(leaf.grad, 6 * X[0])


def test_random_functions() -> None:
    zeros = torch.zeros(6, 8)
    different = vmap(lambda a: a + torch.randn(8), randomness="different")(zeros)
    assert not torch.equal(different[0], different[1])
    same = vmap(lambda a: F.dropout(a + 1), randomness="same")(zeros)
    assert torch.equal(same[0], same[1])
    assert not torch.equal(*vmap(lambda a: F.dropout(a + 1), randomness="different")(torch.zeros(2, 64)))
    with pytest.raises(RuntimeError, match="random"):
        vmap(lambda a: a + torch.randn(8))(zeros)


@pytest.mark.parametrize(
    "function",
    [
        lambda a: a.sum().item(),
        lambda a: a if a.sum() > 0 else -a,
        lambda a: a.tolist(),
        lambda a: a.numpy(),
        lambda a: (a > 0).nonzero(),
        lambda a: a[a > 0],
        lambda a: torch.zeros(3, 4).add_(a),
    ],
)
def test_what_each_example_has_its_own_of(function: Callable) -> None:
    with pytest.raises(RuntimeError):
        vmap(function)(X)
    _same(vmap(lambda a: a + 1)(X), X + 1)


def test_errors() -> None:
    for error, function, options, args in (
        (ValueError, lambda a, b: a, {"in_dims": (0,)}, (X, X)),
        (ValueError, lambda a, b: a, {}, (X, X[:2])),
        (ValueError, lambda a: a, {"in_dims": None}, (X,)),
        (ValueError, lambda a: 3, {}, (X,)),
        (ValueError, lambda a: a, {"out_dims": None}, (X,)),
        (IndexError, lambda a: a, {"out_dims": 5}, (X,)),
        (ValueError, lambda a: a, {"in_dims": 3}, (X,)),
        (RuntimeError, lambda a: a, {"randomness": "any"}, (X,)),
        (ValueError, lambda a: a, {"chunk_size": 0}, (X,)),
    ):
        with pytest.raises(error):
            vmap(function, **options)(*args)


def test_a_loop_is_told() -> None:
    with pytest.warns(UserWarning, match="example by example"):
        vmap(torch.isin)(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        vmap(lambda a: F.linear(a, M[0]).relu().softmax(-1).sum())(X)


class Cube(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x: Any, w: Any) -> Any:
        return x**3 * w

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, dy: Any) -> Any:
        x, w = ctx.saved_tensors
        return 3 * x**2 * w * dy, x**3 * dy


class Sine(torch.autograd.Function):
    told: list = []

    @staticmethod
    def forward(x: Any) -> Any:
        return x.sin()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple, output: Any) -> None:
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx: Any, dy: Any) -> Any:
        return dy * ctx.saved_tensors[0].cos()

    @staticmethod
    def vmap(info: Any, in_dims: tuple, x: Any) -> Any:
        Sine.told.append((info.batch_size, info.randomness, in_dims))
        return Sine.apply(x), in_dims[0]


#: Functions of which an operator takes several tensors: with each of them batched, and all.
WHOLE: dict[str, tuple] = {
    "key": (lambda a, i: a[i[0]], X, I % 3),
    "key behind": (lambda a, i: a[:, i[0]], X, I),
    "keys side by side": (lambda a, i: a[i[0], i[1]], X, (I % 3)[:, None].expand(5, 2, 4)),
    "keys apart": (lambda a, i: a[None].expand(2, 3, 4)[i[0], :, i[1]], X, (I % 2)[:, None].expand(5, 2, 4)),
    "put": (lambda a, b, i: torch.index_put(a, (i,), b[0]), X, Y, I[:, :2]),
    "put behind": (lambda a, b, i: _assigned(a + 0 * (b.sum() + i.sum()), (slice(None), i), b[:, :1]), X, Y, I[:, :2]),
    "added": (lambda a, b, i: torch.index_put(a, (i,), b[0], True), X, Y, I[:, :3]),
    "select": (lambda a, i: a.index_select(1, i), X, I),
    "embedding": (lambda w, i: F.embedding(i, w), X, I),
    "take": (lambda a, i: a.take(i), X, I),
    "gather": (lambda a, i: a.gather(0, i[None]), X, I % 3),
    "product": (lambda a, b: torch.index_reduce(a, 0, torch.tensor([0, 2]), b[:2], "prod"), X, Y),
    "conv": (lambda a, w: F.conv2d(a, w, w[:, 0, 0, 0]), IMAGE[:, None], torch.randn(3, 4, 2, 3, 3)),
    "grouped conv": (lambda a, w: F.conv2d(a, w, groups=2, stride=2), IMAGE[:, None], torch.randn(3, 4, 1, 2, 2)),
    "conv_transpose": (lambda a, w: F.conv_transpose2d(a, w), IMAGE[:, None], torch.randn(3, 2, 3, 3, 3)),
    "bias": (lambda a, b: F.conv2d(a[None], torch.ones(3, 2, 2, 2), b), IMAGE, torch.randn(3, 3)),
    "layer_norm": (lambda a, w: F.layer_norm(a, (4,), w, w * 2), X, Y[:, 0]),
    "group_norm": (lambda a, w: F.group_norm(a[None], 3, w, w * 2), X, Y[:, :, 0]),
    "batch_norm": (lambda a, w: F.batch_norm(a.mT, None, None, w, w * 2, True), X, Y[:, :, 0]),
    "given statistics": (lambda a, w: F.batch_norm(a.mT, w, w * 2, w, w), X, Y[:, :, 0]),
    "attention": (
        lambda a, b, m: F.scaled_dot_product_attention(a[None], b[None], b[None], m),
        X,
        Y,
        torch.randn(5, 3, 3),
    ),
    "mse_loss": (lambda a, b: F.mse_loss(a, b), X, Y),
    "searchsorted": (lambda a, b: torch.searchsorted(a[0].cumsum(0), b) + (a.sum() + b.sum()) * 0, Y, Y),
    "rnn": (lambda a, h: nn.RNN.forward(RECURRENT, a, h[None])[0], X, Y[:, 0, :3]),
}
RECURRENT = nn.RNN(4, 3)


@pytest.mark.parametrize("name", WHOLE)
def test_batches_run_whole(name: str) -> None:
    """Values and gradients within and of the map, to order 2, and nested, without a loop, where some are batched."""
    function, *args = WHOLE[name]
    floats = tuple(k for k, each in enumerate(args) if each.is_floating_point())
    count, size = len(args), len(args[0])
    for some in [(0,) * count, *(tuple(0 if j == k else None for j in range(count)) for k in range(count))]:
        given = [each if dim == 0 else each[1] for each, dim in zip(args, some)]
        rows = [[each[k] if dim == 0 else each for each, dim in zip(given, some)] for k in range(size)]
        first = grad(_scalar(function), floats)

        def second(*tensors: Any, first: Callable = first) -> tuple:
            return grad(lambda *same: sum(each.pow(2).sum() for each in first(*same)), floats)(*tensors)

        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = vmap(function, some)(*given)
            twice = (
                vmap(vmap(function, some), tuple(0 if dim is None else None for dim in some))(
                    *(torch.stack([each, each]) if dim is None else each for each, dim in zip(given, some))
                )
                if None in some
                else found[None]
            )
            of_map = [vmap(each, some)(*given) for each in (first, second)]
        expected = torch.stack([function(*row) for row in rows])
        _same(found, expected)
        _same(twice[-1], expected)
        for each, made in zip((first, second), of_map):
            for mine, wanted in zip(made, zip(*(each(*row) for row in rows))):
                _same(mine, torch.stack(wanted))
        leaves = [each.clone().requires_grad_() if k in floats else each for k, each in enumerate(given)]
        again = [each.clone().requires_grad_() if k in floats else each for k, each in enumerate(given)]
        vmap(_scalar(function), some)(*leaves).sum().backward()
        parts = [[each[k] if dim == 0 else each for each, dim in zip(again, some)] for k in range(size)]
        sum(_scalar(function)(*row) for row in parts).backward()
        for k in floats:
            _same(leaves[k].grad, again[k].grad)


def test_the_gradient_of_a_map_is_that_of_the_function() -> None:
    """Not that of an operator which computes the function where no gradient flows: equal maxima share theirs."""
    x = torch.ones(2, 4, requires_grad=True)
    vmap(lambda a: a.max())(x).sum().backward()
    _same(x.grad, torch.full((2, 4), 0.25))


def test_copies_in_a_map_are_no_views() -> None:
    for make in (lambda a: a.flip(0), lambda a: a.repeat(1), lambda a: a.roll(1)):
        x = torch.arange(6.0).reshape(6, 1)
        _same(vmap(lambda a, make=make: make(a).mul_(2))(x), torch.arange(6.0).reshape(6, 1) * 2)
        _same(x, torch.arange(6.0).reshape(6, 1))


@pytest.mark.parametrize(
    ("make", "view"),
    [
        (lambda a: a * 1, lambda c: c.t()[0]),
        (lambda a: a * 1, lambda c: c[:, 1:].t()[:, 1]),
        (lambda a: a.t() * 1, lambda c: c[0]),
        (lambda a: a.t() * 1, lambda c: c.t()[1]),
        (lambda a: a.flip(0).clone(), lambda c: c.diagonal()),
    ],
)
def test_views_of_views_are_edited(make: Callable, view: Callable) -> None:
    """Also where operators follow the memory: with gradients of the map, and in a nested one."""
    x, y = torch.rand(2, 3, 3) + 1, torch.rand(2, 3)[:, : view(torch.ones(3, 3)).shape[-1]]

    def edited(a: Any, b: Any) -> Any:
        made = make(a)
        view(made).mul_(b)
        return made

    expected = torch.stack([edited(x[k], y[k]) for k in range(2)])
    _same(vmap(edited)(x, y), expected)
    _same(vmap(vmap(edited), (0, 0))(x[None], y[None])[0], expected)
    _same(vmap(vmap(edited), (0, None))(x[:, None], y[:1])[0, 0], expected[0])
    leaf, again = x.clone().requires_grad_(), x.clone().requires_grad_()
    vmap(edited)(leaf, y).pow(3).sum().backward()
    torch.stack([edited(again[k], y[k]) for k in range(2)]).pow(3).sum().backward()
    _same(leaf.grad, again.grad)


def test_functions_of_the_users_own() -> None:
    w = torch.tensor([1.0, 2.0, 3.0, 4.0])
    x, leaf = X[:, 0].clone().requires_grad_(), w.clone().requires_grad_()
    vmap(Cube.apply, (0, None))(x, leaf).sum().backward()
    _same(x.grad, 3 * X[:, 0] ** 2 * w)
    _same(leaf.grad, (X[:, 0] ** 3).sum(0))
    _same(vmap(grad(lambda a: grad(lambda b: Cube.apply(b, w).sum())(a).sum()))(X[:, 0]), 6 * X[:, 0] * w)
    _same(vmap(vmap(Cube.apply))(X, Y), X**3 * Y)
    _same(vmap(grad(lambda a: Sine.apply(a).sum()))(X), X.cos())
    assert Sine.told == [(5, "error", (0,))]

    class Bare(Cube):
        generate_vmap_rule = False

    with pytest.raises(RuntimeError, match="generate_vmap_rule"):
        vmap(Bare.apply)(X, Y)


def test_gradients_of_each_sample_are_quick() -> None:
    model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 10))
    parameters = {name: each.detach() for name, each in model.named_parameters()}
    x, y = torch.randn(128, 20), torch.randint(0, 10, (128,))

    def loss(given: Any, x: Any, y: Any) -> Any:
        return F.cross_entropy(functional_call(model, given, (x[None],)), y[None])

    together, one = vmap(grad(loss), in_dims=(None, 0, 0)), grad(loss)
    together(parameters, x, y)
    start = time.perf_counter()
    found = together(parameters, x, y)
    middle = time.perf_counter()
    rows = [one(parameters, x[k], y[k]) for k in range(128)]
    end = time.perf_counter()
    for name in parameters:
        _same(found[name], torch.stack([each[name] for each in rows]))
    assert middle - start < (end - middle) / 5


def test_gradcheck_of_batches() -> None:
    class Reads(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2

        @staticmethod
        def backward(ctx: Any, dy: Any) -> Any:
            return dy * 2 if bool((dy > -1e9).all()) else dy

    x = torch.randn(3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda a: a.sin() * a.sum(), x, check_batched_grad=True)
    assert torch.autograd.gradcheck(Reads.apply, x)
    with pytest.raises(torch.autograd.gradcheck.__globals__["GradcheckError"], match="batch"):
        torch.autograd.gradcheck(Reads.apply, x, check_batched_grad=True)


def test_gradients_of_a_permuted_batch_are_taken_by_its_own_strides():
    def scattered(a, b):
        return torch.select_scatter(a.permute(1, 0), b, 0, 1)

    a, b = torch.zeros(3, 2, 3), torch.arange(6.0).reshape(3, 2) + 1
    found = vmap(grad(lambda a, b: (scattered(a, b) ** 2).sum(), (0, 1)))(a, b)
    assert torch.equal(found[1], 2 * b) and found[0].abs().sum() == 0


@pytest.mark.parametrize(
    "edit",
    [
        lambda x, y: x.clone().copy_(y),
        lambda x, y: x.clone().copy_(y[0]),
        lambda x, y: x.clone().copy_(y.sum()),
        lambda x, y: x.clone().select(0, 1).copy_(y[1]),
        lambda x, y: torch.select_scatter(x, y[:, 0], 1, 1),
        lambda x, y: torch.slice_scatter(x, y[:, :1], 1, 0, 3, 4),
        lambda x, y: x.clone().digamma_(),
    ],
)
@pytest.mark.parametrize("in_dims", [(0, 0), (0, None), (1, 2)])
def test_edits_of_batches_run_whole(edit, in_dims):
    wide = {0: (3, 2, 4), 1: (2, 3, 4), 2: (2, 4, 3), None: (2, 4)}
    given = [torch.rand(*wide[each], dtype=torch.float64) + 0.5 for each in in_dims]
    both = [each if dim is None else each.movedim(dim, 0) for each, dim in zip(given, in_dims)]
    rows = [[each[k] if dim is not None else each for each, dim in zip(both, in_dims)] for k in range(3)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = vmap(edit, in_dims)(*given)
        moved = vmap(grad(lambda x, y: (edit(x, y) ** 2).sum(), (0, 1)), in_dims)(*given)
    assert torch.allclose(found, torch.stack([edit(*row) for row in rows]))
    expected = [grad(lambda x, y: (edit(x, y) ** 2).sum(), (0, 1))(*row) for row in rows]
    for each, wanted in zip(moved, zip(*expected)):
        assert torch.allclose(each, torch.stack(wanted))
