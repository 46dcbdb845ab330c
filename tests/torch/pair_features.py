"""What pairs.py puts one after the other: functions of the user's own, formulas, edits, views, hooks."""

from __future__ import annotations

from typing import Any, Callable

from compare import numbers_of

#: A feature takes the module, a float64 tensor of three elements, and a list for what it notices; it returns such a
#: tensor. So any two can be chained.
Feature = Callable[[Any, Any, list], Any]


class Kept:
    """A tensor that lives until all is done."""

    def __init__(self, tensor: Any) -> None:
        self.tensor = tensor


class Retained(Kept):
    """One whose gradient is looked at then."""


def variable(torch: Any, *values: float) -> Any:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


# ---- functions of the user's own ----


def _class_of(torch: Any, forward: Callable, backward: Callable, **more: Any) -> Any:
    space = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    space.update({name: staticmethod(each) for name, each in more.items()})
    return type("Made", (torch.autograd.Function,), space)


def saves_input(torch: Any, x: Any, log: list) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x * x

    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        log.append((x.requires_grad, x.grad_fn is None))
        return g * 3 * x * x

    return _class_of(torch, forward, backward).apply(x)


def saves_output(torch: Any, x: Any, log: list) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        y = (x / 2).exp()
        ctx.save_for_backward(y)
        return y

    def backward(ctx: Any, g: Any) -> Any:
        (y,) = ctx.saved_tensors
        log.append((y.requires_grad, y.grad_fn.name()))
        return g * y / 2

    return _class_of(torch, forward, backward).apply(x)


def saves_intermediate(torch: Any, x: Any, log: list) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        c = x.cos()
        ctx.save_for_backward(c)
        return x.sin()

    def backward(ctx: Any, g: Any) -> Any:
        (c,) = ctx.saved_tensors
        log.append((c.requires_grad, c.grad_fn))
        return g * c

    return _class_of(torch, forward, backward).apply(x)


def saves_captured(torch: Any, x: Any, log: list) -> Any:
    w = variable(torch, 0.3, 0.4, 0.5)
    scaled = w * w

    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(w, scaled)
        return x * w * scaled

    def backward(ctx: Any, g: Any) -> Any:
        w, scaled = ctx.saved_tensors
        log.append((w.requires_grad, w.is_leaf, scaled.requires_grad, scaled.is_leaf))
        return g * w * scaled

    return _class_of(torch, forward, backward).apply(x)


def saves_all(torch: Any, x: Any, log: list) -> Any:
    def forward(ctx: Any, x: Any, y: Any, by: float) -> Any:
        made, other = x * y, x + by
        ctx.save_for_backward(made, x, None, y, x, other)
        return made, other

    def backward(ctx: Any, g: Any, h: Any) -> Any:
        made, x, none, y, again, other = ctx.saved_tensors
        log.append((none, made.grad_fn is None, other.grad_fn is None))
        return g * y + h * other / (again + 2), g * made / y, None

    made, other = _class_of(torch, forward, backward).apply(x, x.sin(), 2)
    return made + other


def saves_in_setup(torch: Any, x: Any, log: list) -> Any:
    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0], output)

    def backward(ctx: Any, g: Any) -> Any:
        x, y = ctx.saved_tensors
        return g * y / (x + 1)

    return _class_of(torch, lambda x: x + 1, backward, setup_context=setup).apply(x)


def keeps_attributes(torch: Any, x: Any, log: list) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.half, ctx.by = x / 2, 3
        return x * x

    return _class_of(torch, forward, lambda ctx, g: g * ctx.half * 4 * ctx.by / 3).apply(x)


def once(torch: Any, x: Any, log: list) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x

    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * 2 * x

    return _class_of(torch, forward, backward).apply(x)


def function_in_function(torch: Any, x: Any, log: list) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x * x / 3

    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        return g * saves_all(torch, x, log) * saves_input(torch, x, log)

    return _class_of(torch, forward, backward).apply(x)


def grads_in_forward(torch: Any, x: Any, log: list) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        with torch.enable_grad():
            mine = x.detach().requires_grad_()
            (ctx.grad,) = torch.autograd.grad((mine * mine).sum(), mine)
        return x * x

    def backward(ctx: Any, g: Any) -> Any:
        return g * (ctx.saved_tensors[0] + ctx.grad / 2)

    return _class_of(torch, forward, backward).apply(x)


def edits_its_input(torch: Any, x: Any, log: list) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        x.mul_(x)
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    def backward(ctx: Any, g: Any) -> Any:
        (y,) = ctx.saved_tensors
        return g * 2 * y.abs().sqrt()

    return _class_of(torch, forward, backward).apply(own(x))


def returns_its_input(torch: Any, x: Any, log: list) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x

    return _class_of(torch, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x)


def returns_a_view(torch: Any, x: Any, log: list) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x.view(3)

    return _class_of(torch, forward, lambda ctx, g: g * ctx.saved_tensors[0] / 2).apply(x)


def marks_a_constant(torch: Any, x: Any, log: list) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        signs = x.sign()
        ctx.mark_non_differentiable(signs)
        ctx.save_for_backward(x, signs)
        return x * x, signs

    def backward(ctx: Any, g: Any, none: Any) -> Any:
        x, signs = ctx.saved_tensors
        return g * 2 * x * signs.abs()

    y, signs = _class_of(torch, forward, backward).apply(x)
    log.append(signs.requires_grad)
    return y * signs


def leaves_gradients_out(torch: Any, x: Any, log: list) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x)
        return x * x, x.exp()

    def backward(ctx: Any, g: Any, h: Any) -> Any:
        log.append((g is None, h is None))
        return g * 2 * ctx.saved_tensors[0]

    return _class_of(torch, forward, backward).apply(x)[0]


def grads_in_backward(torch: Any, x: Any, log: list) -> Any:
    def forward(ctx: Any, x: Any) -> Any:
        ctx.save_for_backward(x)
        return x * x.sin()

    def backward(ctx: Any, g: Any) -> Any:
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            own = x if x.requires_grad else x.detach().requires_grad_()
            y = own * own.sin()
            return torch.autograd.grad(y, own, g, create_graph=torch.is_grad_enabled())[0]

    return _class_of(torch, forward, backward).apply(x)


def edits_a_part(torch: Any, x: Any, log: list) -> Any:
    def forward(ctx: Any, part: Any, by: Any) -> Any:
        ctx.save_for_backward(by)
        ctx.mark_dirty(part)
        return part.mul_(by)

    def backward(ctx: Any, g: Any) -> Any:
        (by,) = ctx.saved_tensors
        return g * by, None

    h = own(x)
    _class_of(torch, forward, backward).apply(h[1:], h.detach()[1:] * 2)
    return h


# ---- formulas and operators ----


def _formula(name: str, run: Callable) -> Feature:
    def feature(torch: Any, x: Any, log: list) -> Any:
        return run(torch, x)

    feature.__name__ = name
    return feature


FORMULAS = [
    _formula("prod", lambda torch, x: x * x.prod()),
    _formula("cumprod", lambda torch, x: x.cumprod(0)),
    _formula("std", lambda torch, x: x + x.std()),
    _formula("norm", lambda torch, x: x * x.norm(3)),
    _formula("logsumexp", lambda torch, x: x * x.logsumexp(0)),
    _formula("power", lambda torch, x: 1.5**x),
    _formula("logaddexp", lambda torch, x: torch.logaddexp(x, x.sin())),
    _formula("xlogy", lambda torch, x: torch.xlogy(x, x * x + 1)),
    _formula("gelu", lambda torch, x: torch.nn.functional.silu(x)),
    _formula("max", lambda torch, x: x * x.max(0)[0]),
    _formula("where", lambda torch, x: torch.where(x > 0.6, x * x, x)),
    _formula("gather", lambda torch, x: x.gather(0, torch.tensor([2, 0, 0])) * x),
    _formula("multiply", lambda torch, x: x * x.tanh()),
    _formula("matrix", lambda torch, x: torch.outer(x, x) @ x),
]


# ---- edits ----


def own(x: Any) -> Any:
    """The tensor, or what may be edited of a leaf."""
    return x * 1 if x.is_leaf else x


def _edit(name: str, run: Callable) -> Feature:
    def feature(torch: Any, x: Any, log: list) -> Any:
        h = own(x)
        run(torch, h, x)
        return h

    feature.__name__ = name
    return feature


def _set(key: Any, value: Callable) -> Callable:
    def run(torch: Any, h: Any, x: Any) -> None:
        h[key] = value(x)

    return run


EDITS = [
    _edit("mul_", lambda torch, h, x: h.mul_(1.5)),
    _edit("mul_by_other_", lambda torch, h, x: h.mul_(h.detach() + 1)),
    _edit("add_alpha_", lambda torch, h, x: h.add_(h.sin(), alpha=0.5)),
    _edit("sigmoid_", lambda torch, h, x: h.sigmoid_()),
    _edit("relu_", lambda torch, h, x: h.relu_()),
    _edit("lerp_", lambda torch, h, x: h.lerp_(h.cos(), 0.25)),
    _edit("addcmul_", lambda torch, h, x: h.addcmul_(h.sin(), h.cos(), value=0.5)),
    _edit("addcdiv_", lambda torch, h, x: h.addcdiv_(h.sin(), h.exp())),
    _edit("masked_fill_", lambda torch, h, x: h.masked_fill_(torch.tensor([True, False, False]), 0.5)),
    _edit("set_item", _set(0, lambda x: 0.7)),
    _edit("set_items", _set(slice(0, 2), lambda x: (x * x)[1:])),
    _edit("index_put_", lambda torch, h, x: h.index_put_((torch.tensor([0, 2]),), h[:2].sin())),
    _edit("scatter_", lambda torch, h, x: h.scatter_(0, torch.tensor([2, 0]), h[:2].sin())),
    _edit("scatter_add_", lambda torch, h, x: h.scatter_add_(0, torch.tensor([2, 2]), h[:2].sin())),
    _edit("index_add_", lambda torch, h, x: h.index_add_(0, torch.tensor([2, 2]), h[:2].sin(), alpha=2)),
    _edit("index_fill_", lambda torch, h, x: h.index_fill_(0, torch.tensor([1]), 0.5)),
    _edit("copy_", lambda torch, h, x: h.copy_(h.tanh())),
    _edit("part_exp_", lambda torch, h, x: h[1:].exp_()),
    _edit("view_mul_", lambda torch, h, x: h.view(3, 1).mul_(h.detach().view(3, 1))),
]


def turned_(torch: Any, x: Any, log: list) -> Any:
    h = own(x)
    top = h.max(0)[0]
    h.unsqueeze_(0)
    h.t_()
    return h.squeeze_(1) * top


def turned_and_sorted(torch: Any, x: Any, log: list) -> Any:
    h = own(x)
    parts = h.sort(0)[0] + h.scatter(0, torch.tensor([1]), 0.5) + h.prod() + h.topk(3, 0)[0]
    h.unsqueeze_(0)
    return parts


def kept_part_exp_(torch: Any, x: Any, log: list) -> Any:
    h = own(x)
    part = h[1:]
    log.append(Kept(part))
    part.exp_()
    return h


# ---- views ----

VIEWS = [
    _formula("slices", lambda torch, x: torch.cat([x[1:], x[:1]])),
    _formula("expanded", lambda torch, x: x[0].expand(3) * x),
    _formula("transposed", lambda torch, x: (x.view(3, 1).t() * x).sum(0)),
    _formula("unbound", lambda torch, x: torch.stack(list(x.unbind(0))) * x),
    _formula("strided", lambda torch, x: x.as_strided((3,), (1,)) * x),
]


# ---- hooks ----


def tensor_hook(torch: Any, x: Any, log: list) -> Any:
    h = own(x)
    h.register_hook(lambda g: log.append(("hook", numbers_of(g))))
    h.register_hook(lambda g: g * 2)
    return h


def node_hooks(torch: Any, x: Any, log: list) -> Any:
    h = own(x)
    h.grad_fn.register_prehook(lambda grads: (grads[0] * 0.5, *grads[1:]))
    h.grad_fn.register_hook(lambda ins, outs: log.append(("node", [numbers_of(each) for each in ins])))
    return h


def retained(torch: Any, x: Any, log: list) -> Any:
    h = own(x)
    h.retain_grad()
    log.append(Retained(h))
    return h * h


def retained_part(torch: Any, x: Any, log: list) -> Any:
    h = own(x)
    part = h[:2]
    part.retain_grad()
    part.mul_(1.25)
    log.append(Retained(part))
    return h + part.sum()


FEATURES: dict[str, Feature] = {
    each.__name__: each
    for each in (
        saves_input,
        saves_output,
        saves_intermediate,
        saves_captured,
        saves_all,
        saves_in_setup,
        keeps_attributes,
        once,
        function_in_function,
        grads_in_forward,
        edits_its_input,
        returns_its_input,
        returns_a_view,
        marks_a_constant,
        leaves_gradients_out,
        grads_in_backward,
        edits_a_part,
        *FORMULAS,
        *EDITS,
        kept_part_exp_,
        turned_,
        turned_and_sorted,
        *VIEWS,
        tensor_hook,
        node_hooks,
        retained,
        retained_part,
    )
}
