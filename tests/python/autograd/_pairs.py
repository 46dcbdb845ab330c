"""What test_pairs.py puts one after the other: functions of the user's own, operators, edits, views and hooks.

A feature takes a float64 array of three elements and returns one, so any two can be chained.
"""

from __future__ import annotations

from typing import Any, Callable

from mxlite import autograd, nd

Feature = Callable[[nd.NDArray], nd.NDArray]


def own(x: nd.NDArray) -> nd.NDArray:
    """The array, or what may be edited of a variable."""
    return x * 1 if x.is_leaf else x


# ---- functions of the user's own ----


def _static(forward: Callable, backward: Callable, **more: Any) -> Any:
    space = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    space.update({name: staticmethod(each) for name, each in more.items()})
    return type("Made", (autograd.Function,), space)


def saves_input(x: nd.NDArray) -> nd.NDArray:
    def forward(ctx: Any, x: nd.NDArray) -> nd.NDArray:
        ctx.save_for_backward(x)
        return x * x * x

    return _static(forward, lambda ctx, g: 3 * g * ctx.saved_tensors[0] ** 2).apply(x)


def saves_output(x: nd.NDArray) -> nd.NDArray:
    def forward(ctx: Any, x: nd.NDArray) -> nd.NDArray:
        y = nd.exp(x / 2)
        ctx.save_for_backward(y)
        return y

    return _static(forward, lambda ctx, g: g * ctx.saved_tensors[0] / 2).apply(x)


def saves_captured(x: nd.NDArray) -> nd.NDArray:
    w = nd.array([0.3, 0.4, 0.5], dtype="float64").requires_grad_()
    scaled = w * w

    def forward(ctx: Any, x: nd.NDArray) -> nd.NDArray:
        ctx.save_for_backward(w, scaled)
        return x * w * scaled

    def backward(ctx: Any, g: nd.NDArray) -> nd.NDArray:
        w, scaled = ctx.saved_tensors
        return g * w * scaled

    return _static(forward, backward).apply(x)


def saves_all(x: nd.NDArray) -> nd.NDArray:
    def forward(ctx: Any, x: nd.NDArray, y: nd.NDArray, by: float) -> tuple:
        made, other = x * y, x + by
        ctx.save_for_backward(made, x, None, y, x, other)
        return made, other

    def backward(ctx: Any, g: nd.NDArray, h: nd.NDArray) -> tuple:
        made, x, _, y, again, other = ctx.saved_tensors
        return g * y + h * other / (again + 2), g * made / y, None

    made, other = _static(forward, backward).apply(x, nd.sin(x), 2)
    return made + other


def saves_in_setup(x: nd.NDArray) -> nd.NDArray:
    def setup(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0], output)

    def backward(ctx: Any, g: nd.NDArray) -> nd.NDArray:
        x, y = ctx.saved_tensors
        return g * y / (x + 1)

    return _static(lambda x: x + 1, backward, setup_context=setup).apply(x)


def edits_its_input(x: nd.NDArray) -> nd.NDArray:
    def forward(ctx: Any, x: nd.NDArray) -> nd.NDArray:
        x *= 3
        ctx.mark_dirty(x)
        ctx.save_for_backward(x)
        return x

    return _static(forward, lambda ctx, g: 3 * g + 0 * ctx.saved_tensors[0]).apply(own(x))


def function_in_function(x: nd.NDArray) -> nd.NDArray:
    def forward(ctx: Any, x: nd.NDArray) -> nd.NDArray:
        ctx.save_for_backward(x)
        return x**4 / 4

    return _static(forward, lambda ctx, g: g * saves_input(ctx.saved_tensors[0])).apply(x)


class InMxnetsStyle(autograd.Function):
    """sin(x) * exp(x)."""

    def forward(self, x: nd.NDArray) -> nd.NDArray:
        self.save_for_backward(x, nd.cos(x))
        return nd.sin(x) * nd.exp(x)

    def backward(self, grad: nd.NDArray) -> nd.NDArray:
        x, _ = self.saved_tensors
        return grad * (nd.sin(x) + nd.cos(x)) * nd.exp(x)


# ---- operators ----


def product(x: nd.NDArray) -> nd.NDArray:
    m = nd.dot(x.reshape((3, 1)), x.reshape((1, 3)))
    return nd.dot(m, x)


FORMULAS: dict[str, Feature] = {
    "softmax": lambda x: nd.softmax(x) + x,
    "prod": lambda x: x * nd.prod(x),
    "norm": lambda x: x * nd.norm(x),
    "power": lambda x: nd.power(x, x),
    "take": lambda x: nd.take(x, nd.array([2, 0, 0])) * x,
    "where": lambda x: nd.where(x > 0.6, x * x, x),
    "sort": lambda x: nd.sort(x) * x,
    "log_softmax": lambda x: nd.log_softmax(x) * x + 3,
    "product": product,
}

# ---- edits ----


def _edit(run: Callable[[nd.NDArray, nd.NDArray], Any]) -> Feature:
    def feature(x: nd.NDArray) -> nd.NDArray:
        h = own(x)
        run(h, x)
        return h

    return feature


def _edit_part(h: nd.NDArray, _: nd.NDArray) -> None:
    part = h[1:]
    part *= 1.5


def _set_items(h: nd.NDArray, x: nd.NDArray) -> None:
    h[0:2] = (x * x)[1:]


EDITS: dict[str, Feature] = {
    "multiplied": _edit(lambda h, x: h.__imul__(1.5)),
    "added": _edit(lambda h, x: h.__iadd__(nd.sin(h))),
    "overwritten": _edit(lambda h, x: nd.broadcast_mul(nd.cos(x), h, out=h)),
    "written": _edit(lambda h, x: nd.sigmoid(h, out=h)),
    "set_items": _edit(_set_items),
    "set_all": _edit(lambda h, x: h.__setitem__(slice(None), nd.tanh(h))),
    "part": _edit(_edit_part),
    "edits_its_input": edits_its_input,
}

# ---- views and hooks ----


def slices(x: nd.NDArray) -> nd.NDArray:
    return nd.concat(x[1:], x[:1], dim=0)


def reshaped(x: nd.NDArray) -> nd.NDArray:
    return (x.reshape((3, 1)) * nd.broadcast_to(x[0].reshape((1, 1)), (3, 1))).reshape((3,))


def tensor_hook(x: nd.NDArray) -> nd.NDArray:
    h = x * 1
    h.register_hook(lambda g: g * 2)
    return h


def node_hooks(x: nd.NDArray) -> nd.NDArray:
    h = nd.sin(x)
    h.grad_fn.register_prehook(lambda grads: (grads[0] * 0.5,))
    h.grad_fn.register_hook(lambda ins, outs: (ins[0] * 3,))
    return h


HOOKS: dict[str, Feature] = {each.__name__: each for each in (tensor_hook, node_hooks)}

FEATURES: dict[str, Feature] = {
    **{
        each.__name__: each
        for each in (
            saves_input,
            saves_output,
            saves_captured,
            saves_all,
            saves_in_setup,
            function_in_function,
            slices,
            reshaped,
        )
    },
    "in_mxnets_style": lambda x: InMxnetsStyle()(x),
    **FORMULAS,
    **EDITS,
    **HOOKS,
}
