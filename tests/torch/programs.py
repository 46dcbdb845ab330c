"""Random programs of tensors: up to 30 operations with shared values, views, edits in place and several heads.

`program(seed)` is text that runs on PyTorch and on mxlite.torch alike; `run(torch, seed)` runs it and gives values,
gradients of first and second order, and the tree of the graph, as plain numbers and text.
"""

from __future__ import annotations

import random
from typing import Any

_UNARY = (
    "exp() sin() cos() tanh() sigmoid() relu() neg() abs() square() clamp(-0.5,0.5) clamp(min=0.1) softmax(-1) "
    "log_softmax(-1) erf() atan() clone() cumsum(-1) flip(0) tril() expm1() asinh() sign()"
).split()
_SHAPED = (
    "sum()",
    "mean()",
    "sum(0)",
    "sum(-1,keepdim=True)",
    "mean(1)",
    "amax(1)",
    "max(1)[0]",
    "logsumexp(0)",
    "var(1)",
    "prod(0)",
    "norm()",
    "std()",
)
_VIEWS = (
    "t()",
    "T",
    "view(-1)",
    "reshape(2,6)",
    "reshape(3,4)",
    "unsqueeze(0)",
    "squeeze()",
    "transpose(0,1)",
    "[0]",
    "[1:]",
    "[:,1]",
    "[:,1:3]",
    "[None]",
    "[...,0]",
    "[::2]",
    "expand(2,3,4)",
    "flatten()",
    "permute(1,0)",
    "chunk(2)[0]",
    "unbind(0)[1]",
    "diagonal()",
    "narrow(0,0,2)",
    "select(1,2)",
)
_PICKS = (
    "[[0,2]]",
    "[idx]",
    "[:,idx]",
    "[mask]",
    "index_select(0,idx)",
    "repeat(2,1)",
    "triu()",
    "roll(1,0)",
    "masked_fill(mask,0.5)",
)
_BINARY = (
    "{a}+{b}",
    "{a}-{b}",
    "{a}*{b}",
    "{a}/({b}*{b}+1)",
    "torch.maximum({a},{b})",
    "torch.where({a}>{b},{a},{b})",
    "{a}+2*{b}",
    "torch.atan2({a},{b}+3)",
    "{a}.lerp({b},0.3)",
    "torch.add({a},{b},alpha=2)",
)
_SCALAR = (
    "{a}+1",
    "2-{a}",
    "{a}*0.5",
    "1.5*{a}",
    "{a}/3",
    "2/({a}*{a}+1)",
    "{a}**2",
    "({a}*{a}+0.5)**1.5",
    "2**{a}",
    "{a}%0.7",
    "-{a}",
)
_EDITS = (
    "{a}.mul_(2)",
    "{a}.add_(1)",
    "{a}.add_({b})",
    "{a}.mul_({b})",
    "{a}[0]=0.5",
    "{a}[1:]=1",
    "{a}[:,1]={b}[:,0]",
    "{a}[0].mul_(3)",
    "{a}.neg_()",
    "{a}.exp_()",
    "{a}.zero_()",
    "{a}.fill_(2)",
    "{a}.sigmoid_()",
    "{a}.t().mul_(2)",
    "{a}[:,:2].add_(1)",
    "{a}.copy_({b})",
    "{a}.clamp_(-1,1)",
    "{a}[mask]=0.1",
    "{a}.sub_({b}, alpha=0.5)",
    "{a}.div_(2)",
    "{a}.masked_fill_(mask,0.2)",
    "{a}.relu_()",
)


def program(seed: int) -> str:
    """A program: lines of assignments to v0, v1, ..., over x, y (3 x 4), w (4 x 4) and b (4)."""
    choose = random.Random(seed)
    lines: list[str] = []
    names = ["x", "y"]
    every = ["x", "y", "w", "b"]
    for number in range(choose.randint(3, 30)):
        kind = choose.random()
        a, b = choose.choice(names), choose.choice(names)
        new = f"v{number}"
        if kind < 0.22:
            method = choose.choice(_UNARY)
            lines.append(f"{new} = {a}.{method}")
        elif kind < 0.40:
            lines.append(f"{new} = " + choose.choice(_BINARY).format(a=a, b=b))
        elif kind < 0.52:
            lines.append(f"{new} = " + choose.choice(_SCALAR).format(a=a))
        elif kind < 0.60:
            lines.append(
                f"{new} = "
                + choose.choice(
                    (
                        "{a}@w",
                        "{a}*b",
                        "F.linear({a},w,b)",
                        "torch.cat([{a},{b}])[:3]",
                        "torch.stack([{a},{b}]).sum(0)",
                        "{a}.mm(w.t())",
                        "torch.addmm(b,{a},w)",
                    )
                ).format(a=a, b=b)
            )
        elif kind < 0.85:
            shape = choose.choice((_SHAPED, _VIEWS, _VIEWS, _PICKS))
            method = choose.choice(shape)
            text = f"{a}{method}" if method[0] == "[" else f"{a}.{method}"
            every.append(new)
            lines.append(f"{new} = {text}")
            if choose.random() < 0.5:
                lines.append(
                    f"{new}.mul_(0.5)" if choose.random() < 0.3 else f"{new} = {new}*{choose.choice((2, 0.5))}"
                )
            continue
        else:
            lines.append(choose.choice(_EDITS).format(a=a, b=b))
            continue
        names.append(new)
        every.append(new)
    return "\n".join(lines)


def _tree(node: Any, depth: int = 6) -> str:
    if node is None:
        return "-"
    name = node.name()
    if name.endswith("AccumulateGrad"):
        return "leaf"
    if depth == 0:
        return name
    inputs = (_tree(each, depth - 1) + (f":{number}" if number else "") for each, number in node.next_functions)
    return f"{name}({','.join(inputs)})"


def _tree_of(tensor: Any) -> str:
    try:
        return _tree(tensor.grad_fn)
    except RuntimeError:  # a view that may not be used any more
        return "RuntimeError"


def _numbers(tensor: Any) -> Any:
    return None if tensor is None else [float(number) for number in (tensor.detach() + 0.0).reshape(-1).tolist()]


def run(torch: Any, seed: int) -> dict:
    """Runs the program of a seed on a module like torch; lines that raise have no effect but their class's name."""
    numbers = random.Random(-seed)

    def leaf(*shape: int) -> Any:
        count = 1
        for extent in shape:
            count *= extent
        values = torch.tensor([numbers.uniform(-1, 1) for _ in range(count)], dtype=torch.float64)
        return values.reshape(shape).clone().requires_grad_()

    space = {"torch": torch, "F": torch.nn.functional, "x": leaf(3, 4), "y": leaf(3, 4), "w": leaf(4, 4), "b": leaf(4)}
    space["idx"] = torch.tensor([0, 2])
    space["mask"] = torch.tensor([[True, False, True, False], [False, True, True, False], [True, True, False, False]])
    leaves = [space[name] for name in ("x", "y", "w", "b")]
    errors = []
    for line in program(seed).split("\n"):
        try:
            exec(line, space)
        except Exception as problem:
            errors.append(f"{line}: {_class_of(problem)}")
    made = [value for name, value in space.items() if name[0] == "v" and value.requires_grad][-4:]
    result: dict = {"errors": errors, "values": [_numbers(each) for each in made]}
    result["trees"] = [_tree_of(each) for each in made]
    if not made:
        return result
    try:
        heads = [
            torch.tensor([0.5 + 0.1 * i for i in range(each.numel())], dtype=torch.float64).reshape(each.shape)
            for each in made
        ]
        first = torch.autograd.grad(made, leaves, heads, create_graph=True, allow_unused=True)
        result["first"] = [_numbers(each) for each in first]
        total = sum(((each * each).sum() for each in first if each is not None and each.requires_grad), torch.zeros(()))
        if total.requires_grad:
            result["second"] = [_numbers(each) for each in torch.autograd.grad(total, leaves, allow_unused=True)]
    except Exception as problem:
        result["failed"] = _class_of(problem)
    return result


def _class_of(problem: BaseException) -> str:
    for kind in (IndexError, TypeError, ValueError, AttributeError, NotImplementedError, RuntimeError):
        if isinstance(problem, kind):
            return kind.__name__
    return type(problem).__name__
