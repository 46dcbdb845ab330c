"""mxlite.torch: edits in place of every kind: what they let go, what rules read after them, changes of shape."""

from __future__ import annotations

import ast
import glob
import itertools
from typing import Any

import pytest
from conftest import live_handles

import mxlite.torch as torch
from mxlite.torch import _edits, _nodes
from mxlite.torch.nn import functional as F


def leaf(*values: Any) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


# ---- every method that edits ----

#: What such a method gets beside the tensor `h`; None: it is not for tensors with a gradient.
ARGUMENTS: dict[str, Any] = {
    **dict.fromkeys(("bernoulli_", "normal_", "random_", "uniform_", "requires_grad_"), lambda h, x: ()),
    **dict.fromkeys(("addcdiv_", "addcmul_"), lambda h, x: (x, x.sin())),
    **dict.fromkeys(("clamp_", "clip_"), lambda h, x: (0.1, 0.2)),
    **dict.fromkeys(("squeeze_", "unsqueeze_"), lambda h, x: (0,)),
    **dict.fromkeys(("swapaxes_", "swapdims_", "transpose_"), lambda h, x: (0, 0)),
    "fill_": lambda h, x: (0.5,),
    "index_add_": lambda h, x: (0, torch.tensor([0, 0]), x[:2]),
    "index_fill_": lambda h, x: (0, torch.tensor([1]), 0.5),
    "index_put_": lambda h, x: ((torch.tensor([0, 0]),), x[:2]),
    "lerp_": lambda h, x: (x, 0.25),
    "masked_fill_": lambda h, x: (torch.tensor([True, False, False]), 0.5),
    **dict.fromkeys(("scatter_", "scatter_add_", "index_copy_"), lambda h, x: (0, torch.tensor([2, 0]), x[:2])),
    **dict.fromkeys(("scatter_reduce_", "index_reduce_"), lambda h, x: (0, torch.tensor([2, 0]), x[:2], "mean")),
    **dict.fromkeys(("cumsum_", "cumprod_"), lambda h, x: (0,)),
    **dict.fromkeys(("polygamma_", "mvlgamma_"), lambda h, x: (1,)),
    **dict.fromkeys(("clamp_max_", "clamp_min_", "geometric_"), lambda h, x: (0.25,)),
    "addmv_": lambda h, x: (torch.ones(3, 3, dtype=torch.float64), x),
    "masked_scatter_": lambda h, x: (torch.tensor([True, False, False]), x),
    "put_": lambda h, x: (torch.tensor([2, 0]), x[:2]),
}
BINARY = tuple(
    """add sub subtract mul multiply div divide true_divide remainder pow copy atan2 arctan2 copysign eq ne not_equal lt
    less le less_equal gt greater ge greater_equal float_power fmod hypot ldexp logical_and logical_or logical_xor
    nextafter xlogy""".split()
)
WITHOUT_GRADIENT = {"__iand__", "__ior__", "__ixor__", "__ilshift__", "__irshift__"}
WITHOUT_GRADIENT |= {f"bitwise_{name}_" for name in ("and", "or", "xor", "left_shift", "right_shift")} | {
    "gcd_",
    "lcm_",
}
#: Of matrices, or of tensors without a gradient.
OTHERS = set(
    """addbmm_ addmm_ addr_ baddbmm_ tril_ triu_ renorm_ fill_diagonal_ igamma_ igammac_ floor_divide_ heaviside_
    as_strided_ resize_ resize_as_ set_ apply_ map_ map2_ bitwise_not_""".split()
)
METHODS = sorted(
    name
    for name in dir(torch.Tensor)
    if (name.endswith("_") and not name.endswith("__") and hasattr(torch.Tensor, name))
    or name in WITHOUT_GRADIENT
    or name in ("__iadd__", "__isub__", "__imul__", "__itruediv__", "__imod__", "__ipow__")
)


def arguments_of(name: str, h: Any, x: Any) -> tuple:
    if name in ARGUMENTS:
        return ARGUMENTS[name](h, x)
    return (x,) if name.startswith("__i") or name[:-1] in BINARY else ()


@pytest.mark.parametrize("way", ["alone", "backward", "detached other"])
@pytest.mark.parametrize("name", [name for name in METHODS if name not in WITHOUT_GRADIENT | OTHERS])
def test_an_edit_leaves_nothing_behind(name, way):
    x = leaf(0.2, 0.3, 0.4)

    def edit() -> None:
        h = x * 1.5
        getattr(h, name)(*arguments_of(name, h, h.detach().clone() if way == "detached other" else x))
        if way != "alone" and h.requires_grad:
            h.sum().backward()

    edit()
    before = live_handles()
    for _ in range(5):
        edit()
    assert live_handles() == before


@pytest.mark.parametrize("name", sorted(WITHOUT_GRADIENT))
def test_an_edit_of_integers(name):
    h = torch.tensor([5, 6])
    getattr(h, name)(torch.tensor([2, 1]))
    assert h.tolist() != [5, 6]


def test_edits_at_indices():
    """The numbers are PyTorch's."""
    rows, lanes = torch.tensor([[1], [3], [0]]), torch.tensor([[0, 0, 2], [1, 1, 1]])
    hot = torch.zeros(3, 4)
    assert hot.scatter_(1, rows, 1) is hot
    assert hot.tolist() == [[0, 1, 0, 0], [0, 0, 0, 1], [1, 0, 0, 0]]
    w, v = leaf([0.0, 1.0, 2.0], [3.0, 4.0, 5.0]), leaf([1.0, 3.0, 5.0], [7.0, 9.0, 11.0])
    x = w * 1.5
    x.scatter_add_(1, lanes, v)
    assert x.tolist() == [[4, 1.5, 8], [4.5, 33, 7.5]]
    x.t().index_add_(0, torch.tensor([1, 1]), v.t()[:2])
    assert x.tolist() == [[4, 5.5, 8], [4.5, 49, 7.5]]
    x[1].index_fill_(0, torch.tensor([0]), v[0, 0].detach())
    (x * x).sum().backward()
    assert w.grad.tolist() == [[12, 16.5, 24], [0, 147, 22.5]]
    assert v.grad.tolist() == [[19, 19, 16], [196, 196, 98]]
    number = torch.tensor(1.0)
    assert number.index_add_(0, torch.tensor(0), torch.tensor(3.0)) is number and number.item() == 4
    assert number.scatter_(dim=0, index=torch.tensor(0), src=torch.tensor(5.0)) is number and number.item() == 5
    for edit in ("scatter_", "scatter_add_"):
        with pytest.raises(RuntimeError, match="index 5 is outside dimension 1, which has size 4"):
            getattr(hot, edit)(1, torch.tensor([[5]]), torch.ones(1, 1))
    assert hot.sum().item() == 3
    with pytest.raises(RuntimeError, match="a variable whose gradient is wanted cannot be edited in place"):
        w.scatter_(1, lanes, 1.0)


INPLACE = ["celu", "elu", "hardsigmoid", "hardswish", "hardtanh", "leaky_relu", "mish", "relu", "relu6", "selu", "silu"]


@pytest.mark.parametrize("name", INPLACE)
def test_an_activation_in_place_leaves_nothing_behind(name):
    x = leaf(0.2, -0.3)
    getattr(F, name)(x * 2, inplace=True)  # the fixture counts
    h = x * 2
    getattr(F, name)(h, inplace=True).sum().backward()
    expected = leaf(0.2, -0.3)
    getattr(F, name)(expected * 2).sum().backward()
    assert x.grad.tolist() == pytest.approx(expected.grad.tolist())


def test_an_edit_that_does_not_fit():
    h, wide = torch.zeros(2), torch.ones(3, 2)
    for run in (lambda: h.lerp_(wide, 0.5), lambda: h.addcmul_(wide, wide), lambda: h.add_(wide, alpha=2)):
        with pytest.raises(RuntimeError, match=r"the result has shape \[3, 2\], which a tensor of shape \[2\]"):
            run()
    with pytest.raises(RuntimeError, match="a result of dtype Float does not fit in a tensor of dtype Long"):
        torch.tensor([1, 2]).addcmul_(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.0]))
    assert h.tolist() == [0.0, 0.0] and h._version == 0


# ---- what rules read ----


def rules() -> Any:
    """(file, line, parameters of the function around it, names that the rule reads) of each formula."""
    for path in sorted(glob.glob(torch.__path__[0] + "/**/*.py", recursive=True)):
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
        for outer in ast.walk(tree):
            if isinstance(outer, ast.FunctionDef):
                local = {each.name: each for each in outer.body if isinstance(each, ast.FunctionDef)}
                for call in ast.walk(outer):
                    if isinstance(call, ast.Call) and getattr(call.func, "id", "") in ("formula", "edit", "made"):
                        yield path, call.lineno, outer, names_in(call.args[3:4], local)


def names_in(nodes: Any, local: dict) -> set[str]:
    """What is read from outside, also by functions that it calls."""
    found, left, known = set(), list(nodes), set()
    while left:
        function = left.pop()
        if isinstance(function, ast.Name):
            function = local.get(function.id)
        if function is None or id(function) in known:
            continue
        known.add(id(function))
        inside = list(ast.walk(function))
        own = {each.arg for each in inside if isinstance(each, ast.arg)}
        own |= {each.id for each in inside if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)}
        read = {each.id for each in inside if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Load)} - own
        found |= read
        left += [local[name] for name in read if name in local]
    return found


def test_no_rule_reads_a_tensor_that_it_was_not_given():
    """A tensor of a caller's may be edited, or get another shape; what is saved of it is checked."""
    wrong, count = [], 0
    for path, line, outer, names in rules():
        count += 1
        for each in (*outer.args.args, *outer.args.kwonlyargs):
            kind = "" if each.annotation is None else ast.unparse(each.annotation)
            if each.arg in names and "Tensor" in kind:
                wrong.append(f"{path}:{line}: {each.arg}")
    assert count > 50 and not wrong


def held(value: Any) -> Any:
    """The tensors that a function's closure leads to."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from held(each)
    elif getattr(value, "__closure__", None):
        for cell in value.__closure__:
            yield from held(cell.cell_contents)


INDEX = torch.tensor([[1, 0, 2], [0, 1, 1]])
TURNED = {
    "max": lambda h: h.max(1)[0],
    "min": lambda h: h.min(0)[0],
    "sort": lambda h: h.sort(1)[0],
    "topk": lambda h: h.topk(2, 1)[0],
    "median": lambda h: h.median(),
    "median dim": lambda h: h.median(1)[0],
    "gather": lambda h: h.gather(1, INDEX),
    "gather part": lambda h: h.gather(1, INDEX[:1]),
    "scatter": lambda h: h.scatter(1, INDEX[:1, :1], 9.0),
    "scatter of a tensor": lambda h: torch.zeros(2, 3, dtype=h.dtype).scatter(1, INDEX[:, :1], h),
    "scatter_add": lambda h: torch.zeros(2, 3, dtype=h.dtype).scatter_add(1, INDEX, h),
    "index_add": lambda h: h.index_add(1, torch.tensor([0]), h.detach()[:, :1]),
    "index_select": lambda h: h.index_select(1, torch.tensor([2])),
    "index": lambda h: h[[0, 1], [1, 2]],
    "take": lambda h: h.take(torch.tensor([1, 5])),
    "masked_select": lambda h: h[h.detach() > 3],
    "masked_fill": lambda h: h.masked_fill(h.detach() > 3, 0.0),
    "where": lambda h: torch.where(h.detach() > 3, h, h * 2),
    "empty": lambda h: h[:, 3:].sum() + h.sum(),
    "prod": lambda h: h.prod(1),
    "cumprod": lambda h: h.cumprod(1),
    "std": lambda h: h.std(1),
    "norm": lambda h: h.norm(dim=1),
    "logsumexp": lambda h: h.logsumexp(1),
    "clamp": lambda h: h.clamp(h.detach() / 2, h.detach()[:1]),
    "lerp": lambda h: h.lerp(h.detach()[:1], 0.5),
    "addcmul": lambda h: h.addcmul(h.detach(), h.detach()[:1]),
    "diag": lambda h: torch.diag(h),
    "trace": lambda h: torch.trace(h),
    "embedding": lambda h: F.embedding(torch.tensor([1, 0, 1]), h),
    "layer_norm": lambda h: F.layer_norm(h, (3,)),
    "pad": lambda h: F.pad(h, (1, 1)),
    "glu": lambda h: F.glu(h, 0),
    "roll": lambda h: h.roll(1, 1),
    "nll_loss": lambda h: F.nll_loss(h, torch.tensor([2, 0])),
    "mse_loss": lambda h: F.mse_loss(h, h.detach() * 2),
}


#: What saves the tensor itself: a change of shape counts as an edit, as in PyTorch.
SAVES_IT = {"clamp", "median", "prod", "cumprod", "std", "norm", "logsumexp", "layer_norm", "glu", "mse_loss"}


@pytest.mark.parametrize("name", sorted(TURNED))
def test_a_change_of_shape_after_an_operator(name):
    def gradient(change: Any) -> list:
        x = leaf([1.0, 5.0, 3.0], [4.0, 2.0, 6.0])
        h = x * 1
        made = TURNED[name](h)
        change(h)
        (made * made).sum().backward()
        return x.grad.tolist()

    expected = gradient(lambda h: None)
    for change in (lambda h: h.unsqueeze_(0), lambda h: h.t_()):
        if name in SAVES_IT:
            with pytest.raises(RuntimeError, match="was edited in place"):
                gradient(change)
        else:
            assert gradient(change) == expected


CONSTANTS = {
    "gather": (INDEX, lambda h, index: h.gather(1, index)),
    "gather part": (INDEX[:1], lambda h, index: h.gather(1, index)),
    "scatter": (INDEX, lambda h, index: h.scatter(1, index, h * 2)),
    "scatter_add": (INDEX, lambda h, index: h.scatter_add(1, index, h * 2)),
    "index_select": (torch.tensor([2]), lambda h, index: h.index_select(1, index)),
    "index_add": (torch.tensor([2]), lambda h, index: h.index_add(1, index, h[:, :1])),
    "masked_fill": (torch.tensor([True, False, True]), lambda h, mask: h.masked_fill(mask, 0.0)),
    "masked_fill_": (torch.tensor([True, False, True]), lambda h, mask: (h * 1).masked_fill_(mask, 0.0)),
    "where": (torch.tensor([True, False, True]), lambda h, mask: torch.where(mask, h, h[:1])),
    "max": (None, lambda h, _: h.max(1)),
    "sort": (None, lambda h, _: h.sort(1)),
    "embedding": (torch.tensor([1, 0]), lambda h, index: F.embedding(index, h)),
    "weights": (torch.tensor([1.0, 2.0, 3.0]).double(), lambda h, w: F.binary_cross_entropy(h / 9, h / 9, weight=w)),
}


@pytest.mark.parametrize("name", sorted(CONSTANTS))
def test_indices_and_masks_that_were_edited_since(name):
    given, run = CONSTANTS[name]
    x = leaf([1.0, 5.0, 3.0], [4.0, 2.0, 6.0])
    constant = None if given is None else given.clone()
    made = run(x * 1, constant)
    values, indices = made if constant is None else (made, constant)
    indices.zero_()
    with pytest.raises(RuntimeError, match="was edited in place"):
        values.sum().backward()


@pytest.mark.parametrize("name", sorted(TURNED))
def test_no_rule_holds_what_it_was_recorded_for(name, monkeypatch):
    wrong = []

    def record(label: str, inputs: list, outputs: list, rule: Any, *rest: Any) -> None:
        wrong.extend(
            label
            for each in held(getattr(rule, "rule", None) or rule.compute)
            if any(each is other for other in (*inputs, *outputs))
        )

    monkeypatch.setattr(_nodes, "record", record)
    monkeypatch.setattr(_edits, "record", record)
    TURNED[name](leaf([1.0, 5.0, 3.0], [4.0, 2.0, 6.0]))
    assert not wrong


# ---- changes of shape ----

TURNS = {"t_": (), "squeeze_": (0,), "unsqueeze_": (0,), "transpose_": (0, 1), "swapaxes_": (0, 1), "swapdims_": (0, 1)}


@pytest.mark.parametrize("name", sorted(TURNS))
def test_the_shape_of_a_variable_is_not_changed_while_recording(name):
    x = leaf([1.0, 2.0])
    part = x[0:1]
    with pytest.raises(RuntimeError, match=": a variable whose gradient is wanted cannot be edited in place"):
        getattr(x, name)(*TURNS[name])
    with pytest.raises(
        RuntimeError,
        match="a view of a variable whose gradient is wanted cannot be edited in place",
    ):
        getattr(part, name)(*TURNS[name])
    assert x.shape == part.shape == (1, 2) and x._version == 0 and x.is_leaf and x.requires_grad


@pytest.mark.parametrize("name", sorted(TURNS))
def test_a_variable_whose_shape_was_changed_unrecorded(name):
    x = leaf([1.0, 2.0])
    node = (x * 1).grad_fn.next_functions[0][0]
    with torch.no_grad():
        getattr(x, name)(*TURNS[name])
    assert x.is_leaf and x.requires_grad and x.grad is None and x._version == 1
    assert (x * 1).grad_fn.next_functions[0][0] is node and node.variable is x
    (x * x).sum().backward()
    assert x.grad.shape == x.shape and x.grad.reshape(-1).tolist() == [2.0, 4.0]


def test_gradients_of_a_shape_from_before():
    x = leaf([1.0, 2.0], [4.0, 5.0])
    y = (x * torch.arange(4.0).reshape(2, 2)).sum()
    with torch.no_grad():
        x.t_()
    y.backward()  # as in PyTorch: what was recorded knows the old order
    assert x.grad.tolist() == [[0.0, 1.0], [2.0, 3.0]]
    x = leaf([1.0, 2.0, 3.0])
    y, square = (x * 3).sum(), (x * x).sum()
    with torch.no_grad():
        x.t_()
    with pytest.raises(RuntimeError, match=r"a gradient of shape \(1,3\) arrived at a variable of shape \(3,1\)"):
        y.backward()
    with pytest.raises(RuntimeError, match="was edited in place"):
        square.backward()
    assert x.grad is None
    assert torch.autograd.grad((x * 3).sum(), x)[0].shape == (3, 1)


def test_what_was_computed_keeps_its_gradient_when_its_shape_changes_unrecorded():
    x = leaf([1.0, 2.0, 3.0])
    h, part = x * 2, x.view(3, 1)
    with torch.no_grad():
        h.t_()
        part.t_()
    assert h.requires_grad and part.requires_grad and h.grad_fn.name() == "TBackward1"
    (h * h).sum().backward()
    part.sum().backward()
    assert x.grad.tolist() == [[9.0, 17.0, 25.0]]


def test_nodes_of_a_changed_shape():
    x = leaf([1.0, 2.0])
    h = x * 1
    view = h.view(2, 1)
    assert view.t_().grad_fn.next_functions[0][0].name() == "ViewBackward0"
    assert [
        (x * 1).unsqueeze_(0).grad_fn.name(),
        (x * 1).squeeze_().grad_fn.name(),
        (x * 1).squeeze_(0).grad_fn.name(),
    ] == [
        "UnsqueezeBackward1",
        "SqueezeBackward3",
        "SqueezeBackward4",
    ]


def test_a_tensor_whose_shape_was_changed_is_no_view():
    x = leaf([1.0, 2.0])
    h = x * 1
    before = h[0]
    h.unsqueeze_(0)
    assert h.mul_(3).grad_fn.name() == "MulBackward0"
    assert h.grad_fn.next_functions[0][0].name() == "UnsqueezeBackward1"
    (h.sum() + (before * before).sum()).backward()
    assert x.grad.tolist() == [[21.0, 39.0]]
    with torch.no_grad():
        view = torch.zeros(1, 2)[:]
    assert view.squeeze_(0).shape == (2,) and torch.zeros(2, 3).unbind(0)[0].unsqueeze_(0).shape == (1, 3)


# ---- gradients that are retained ----

RETAINED = {
    "the view": lambda h, v: v.mul_(5),
    "twice": lambda h, v: v.mul_(5).mul_(2),
    "constants": lambda h, v: v.zero_(),
    "a formula": lambda h, v: v.lerp_(v.detach(), 0.5),
    "its part": lambda h, v: v[0].mul_(2),
    "its base": lambda h, v: h.mul_(5),
    "another view": lambda h, v: h[0].mul_(5),
}


@pytest.mark.parametrize("name", sorted(RETAINED))
def test_a_view_retains_its_gradient_over_an_edit(name):
    x = leaf([1.0, 2.0], [3.0, 4.0])
    h = x * 1
    v = h[0]
    v.retain_grad()
    before = (v * 7).sum()
    RETAINED[name](h, v)
    (before + (v * 3).sum()).backward()
    assert v.retains_grad and v.grad.tolist() == [3.0, 3.0]


def test_pairs_of_edits_count_versions():
    h = leaf(1.0, 2.0) * 1
    for edit, count in zip(
        (lambda: h.lerp_(h.detach() * 2, 0.5), lambda: h.add_(h.detach(), alpha=2)), itertools.count(1)
    ):
        edit()
        assert h._version == count


@pytest.mark.parametrize("key", [0, (slice(None), 1), (0, 1), ..., [0], slice(0, 1)])
@pytest.mark.parametrize(
    ("dtype", "number"),
    [("int8", 128), ("int8", -129), ("uint8", 256), ("int32", 1 << 31), ("int64", 1e19), ("int64", float("inf")),
     ("int32", float("nan")), ("float32", 1e300)],
)  # fmt: skip
def test_a_number_that_the_dtype_cannot_hold_is_not_assigned(dtype: str, number: float, key: object) -> None:
    x = torch.ones(2, 2).to(getattr(torch, dtype))
    with pytest.raises(RuntimeError, match="outside the range of dtype"):
        x[key] = number
    assert x.tolist() == [[1, 1], [1, 1]]


def test_a_factor_is_applied_in_the_common_dtype() -> None:
    x, y = torch.tensor([4, 3, 5], dtype=torch.int32), torch.tensor([4, 4, 2], dtype=torch.uint8)
    assert x.clone().sub_(y, alpha=-1).tolist() == x.clone().add_(y, alpha=1).tolist() == [8, 7, 7]
    assert x.clone().add_(y, alpha=100).tolist() == torch.add(x, y, alpha=100).tolist() == [404, 403, 205]
