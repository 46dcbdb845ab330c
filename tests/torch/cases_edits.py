"""Programs about edits in place, views and versions, run on PyTorch and on mxlite.torch by
test_torch_style_graph.py."""

from __future__ import annotations

from programs import error, leaf, programs_of

PROGRAMS, program = programs_of()


def six(torch):
    """A leaf of two rows and three columns."""
    return torch.tensor([[1.0, 2, 3], [4, 5, 6]], dtype=torch.float64, requires_grad=True)


VIEWS = {
    "row": lambda y: y[0], "column": lambda y: y[:, 1], "block": lambda y: y[:, 1:], "step": lambda y: y[:, ::2],
    "view": lambda y: y.view(3, 2), "reshape": lambda y: y.reshape(6), "t": lambda y: y.t(),
    "transpose": lambda y: y.transpose(0, 1), "permute": lambda y: y.permute(1, 0), "flatten": lambda y: y.flatten(),
    "unsqueeze": lambda y: y.unsqueeze(1), "squeeze": lambda y: y[:1].squeeze(0), "none": lambda y: y[None],
    "narrow": lambda y: y.narrow(1, 1, 2), "select": lambda y: y.select(0, 1),
    "diagonal": lambda y: y.diagonal(),
    "detach": lambda y: y.detach(), "expand": lambda y: y[:, :1].expand(2, 3), "T": lambda y: y.T,
    "view_as": lambda y: y.view_as(y), "ellipsis": lambda y: y[...], "of a view": lambda y: y[1][1:],
    "of a transposed": lambda y: y.t()[1:], "movedim": lambda y: y.movedim(0, 1),
    "swapaxes": lambda y: y.swapaxes(0, 1), "ravel": lambda y: y.ravel(),
    "list": lambda y: y[[0, 1]], "mask": lambda y: y[y > 2], "clone": lambda y: y[0].clone(),
    "unflatten": lambda y: y.unflatten(1, (3, 1)), "as_strided": lambda y: y.as_strided((2, 2), (1, 2)),
}  # fmt: skip

EDITS = {
    "mul_": lambda v: v.mul_(3), "add_": lambda v: v.add_(1), "imul": lambda v: v.__imul__(v.detach().clone()),
    "zero_": lambda v: v.zero_(), "fill_": lambda v: v.fill_(2), "copy_": lambda v: v.copy_(v.detach() * 5),
    "exp_": lambda v: v.exp_(), "item": lambda v: v.__setitem__(0, 9.0), "sub_": lambda v: v.sub_(v.detach()),
    "sqrt_": lambda v: v.sqrt_(), "clamp_": lambda v: v.clamp_(2, 4), "neg_": lambda v: v.neg_(),
}  # fmt: skip


def tried(torch, log, view, edit, of_base):
    """Edits a view and reads its base, or edits the base and reads the view."""
    x = six(torch)
    y = x * 2
    v = VIEWS[view](y)
    version = y._version, v._version
    error(log, lambda: EDITS[edit](y if of_base else v) is not None)
    log.append((y._version - version[0], v._version - version[1], y.requires_grad))
    error(log, lambda: v.requires_grad)
    log.append((y, y.grad_fn))
    error(log, lambda: (v, v.grad_fn))
    error(log, lambda: (y * y).sum().backward(retain_graph=True))
    log.append(x.grad)
    x.grad = None
    error(log, lambda: (v * v).sum().backward() if v.requires_grad else None)
    log.append(x.grad)


def every_view(edit, of_base):
    """A program for each edit."""

    def run(torch, log):
        for view in VIEWS:
            if view == "expand" and edit in ("zero_", "fill_"):
                continue  # an_expanded_view_that_is_filled
            log.append(view)
            tried(torch, log, view, edit, of_base)

    run.__name__ = f"{edit}_of_{'a_base' if of_base else 'every_view'}"
    return run


for _edit in EDITS:
    for _of_base in (False, True):
        program(every_view(_edit, _of_base))


@program
def leaves_may_not_be_edited(torch, log):
    for view in VIEWS:
        for edit in ("add_", "zero_", "item"):
            x = six(torch)
            log.append((view, edit))
            error(log, lambda: EDITS[edit](VIEWS[view](x)))  # noqa: B023 - called here
            error(log, lambda: EDITS[edit](x))  # noqa: B023
            with torch.no_grad():
                error(log, lambda: EDITS[edit](VIEWS[view](x)) is None)  # noqa: B023
            log.append((x._version, x.detach().clone(), x.is_leaf))


@program
def views_made_without_recording(torch, log):
    x = six(torch)
    with torch.no_grad():
        v = x[0]
        w = (x * 2)[0]
    error(log, lambda: v.add_(1))
    error(log, lambda: v.mul_(x[1]))
    error(log, lambda: w.mul_(x[1]))


@program
def parts_of_unbind_and_split(torch, log):
    cut = (lambda y: y.unbind(0), lambda y: y.split(1), lambda y: y.chunk(2))
    for number, parts in enumerate(cut):
        for edit in EDITS:
            part = parts(six(torch) * 2)[0]
            log.append((number, edit))
            error(log, lambda: EDITS[edit](part))  # noqa: B023 - called here


@program
def parts_of_a_base_that_was_edited(torch, log):
    for parts in (lambda y: y.unbind(0), lambda y: y.split(1), lambda y: y.chunk(2)):
        y = six(torch) * 2
        part = parts(y)[0]
        y.mul_(2)
        error(log, lambda: part * 1)  # noqa: B023 - called here


@program
def saved_values_that_are_edited(torch, log):
    operations = [
        lambda y: y * y, lambda y: y.exp(), lambda y: y.sin(), lambda y: y + 1, lambda y: y**2, lambda y: y.sqrt(),
        lambda y: y.sum(), lambda y: y.sigmoid(), lambda y: y.relu(), lambda y: y / 2, lambda y: 2 / y,
        lambda y: y.abs(), lambda y: y.max(), lambda y: y.log(), lambda y: y @ y.t(), lambda y: y.softmax(0),
        lambda y: y.clamp(1, 3), lambda y: y.mean(), lambda y: y.prod(), lambda y: y.norm(), lambda y: y.tanh(),
        lambda y: y.logsumexp(0), lambda y: y.cumsum(0), lambda y: y[[0]], lambda y: y.var(),
        lambda y: y.where(y > 1, -y),
    ]  # fmt: skip
    for number, operation in enumerate(operations):
        for which in (0, 1):
            x = six(torch)
            y = x * 1
            z = operation(y)
            log.append((number, which))
            (y, z)[which].add_(1)
            error(log, lambda: (z * 1).sum().backward())  # noqa: B023 - called here
            log.append(x.grad)


@program
def an_edit_after_backward_is_no_error(torch, log):
    x = six(torch)
    y = x.exp()
    y.sum().backward(retain_graph=True)
    y.add_(1)
    error(log, y.sum().backward)
    return x.grad


@program
def an_expanded_view_that_is_filled(torch, log):
    for edit in ("zero_", "fill_"):
        tried(torch, log, "expand", edit, False)


@program
def versions(torch, log):
    y = torch.zeros(2, 3)
    log.append(y._version)
    for edit in (
        lambda: y.add_(1), lambda: y[0].add_(1), lambda: y.__setitem__(0, 1.0),
        lambda: y.detach().add_(1), lambda: y.view(6).add_(1), lambda: y.t().add_(1), lambda: y.zero_(),
        lambda: y.copy_(torch.ones(2, 3)), lambda: y.fill_(3), lambda: y.clone().add_(1), lambda: y.add(1),
        lambda: y.numpy().fill(2), lambda: y.requires_grad_(), lambda: y.requires_grad_(False), lambda: y.uniform_(),
        lambda: y.normal_(), lambda: y.clamp_(0, 1), lambda: y.__iadd__(1),
        lambda: y.masked_fill_(y > 0, 1.0),
        lambda: y.relu_(), lambda: y.detach_(), lambda: y.t_(),
        lambda: y.unsqueeze_(0), lambda: y.squeeze_(0),
    ):  # fmt: skip
        error(log, lambda: edit() is None)  # noqa: B023 - called here
        log.append(y._version)


@program
def assignments_through_keys(torch, log):
    keys = [
        0, (0, 1), slice(None), (slice(None), 1), Ellipsis, None, [0, 1], ([0, 1], [1, 2]), (slice(None), [0, 2]),
        (Ellipsis, 0), (0, slice(1, None)), (slice(None, None, 2), slice(1, 3)), -1, (None, 0),
    ]  # fmt: skip
    for key in keys:
        x, w = six(torch), leaf(torch, 7)
        y = x * 2
        before = y.sum(0)
        log.append(str(key))
        error(log, lambda: y.__setitem__(key, w * 3))  # noqa: B023 - called here
        log.append((y, y.grad_fn, y._version))
        error(log, lambda: ((y * y).sum() + before.sum()).backward())  # noqa: B023
        log.append((x.grad, w.grad))


@program
def assignments_of_masks(torch, log):
    x, w = six(torch), leaf(torch, 7)
    y = x * 2
    y[y > 5] = 1.0
    y[y < 3] = w
    y[torch.tensor([1]), torch.tensor([1])] = w * w
    y[torch.tensor([True, False])] = x[1]
    log.append((y, y.grad_fn, y._version))
    (y * y).sum().backward()
    return x.grad, w.grad


@program
def assignments_into_constants(torch, log):
    x = leaf(torch, 1, 2)
    y = torch.zeros(2, 2, dtype=torch.float64)
    v = y[0]
    y[0] = x
    log.append((y, v, y.requires_grad, y.is_leaf, v.requires_grad, v.is_leaf))
    y[1] = x * x
    (y * y).sum().backward()
    log.append(x.grad)
    z = torch.zeros(2, dtype=torch.float64)
    z.copy_(x)
    z.add_(x)
    z.mul_(x)
    log.append(z)
    z.sum().backward()
    return x.grad


@program
def chains_of_views(torch, log):
    x = six(torch)
    y = x * 1
    a = y[1]
    b = a[1:]
    c = b.view(2, 1)
    c.mul_(10)
    log.append((y, a, b, c, y.grad_fn, a.grad_fn, b.grad_fn, c.grad_fn))
    a.add_(1)
    y.mul_(2)
    log.append((y, a, b, c, c._version, c.grad_fn, b.grad_fn))
    (c.sum() + a.sum() * 2 + y.sum() * 3).backward()
    return x.grad


@program
def a_view_of_a_constant_that_becomes_part(torch, log):
    x = leaf(torch, 1, 2)
    base = torch.ones(2, 2, dtype=torch.float64)
    part = base[0]
    part.mul_(x)
    log.append((base, part, base.grad_fn, part.grad_fn))
    base.sum().backward()
    log.append(x.grad)
    part.sum().backward()
    return x.grad


@program
def shapes_and_dtypes_of_edits(torch, log):
    y = torch.zeros(2, 3, dtype=torch.float64)
    for edit in (
        lambda: y.add_(torch.ones(3)), lambda: y.add_(torch.ones(2, 2, 3)), lambda: y.add_(torch.ones(4)),
        lambda: torch.zeros(2, dtype=torch.int64).add_(0.5),
        lambda: torch.zeros(2).add_(torch.ones(2, dtype=torch.int64)),
        lambda: torch.zeros(2, dtype=torch.int64).mul_(torch.ones(2)), lambda: y.copy_(torch.ones(3)),
        lambda: y.copy_(torch.ones(4)), lambda: y.__setitem__(0, torch.ones(4)), lambda: y.__setitem__(5, 1.0),
        lambda: y.expand(2, 2, 3).add_(1), lambda: torch.zeros(1).expand(3).add_(1),
        lambda: y.t().add_(torch.ones(3, 2)),
        lambda: torch.zeros(2, dtype=torch.bool).add_(True),
    ):  # fmt: skip
        error(log, edit)
    log.append(y)


@program
def detaching(torch, log):
    x = leaf(torch, 1, 2)
    y = x * 2
    d = y.detach()
    log.append((d.requires_grad, d.is_leaf, d._version, d.data_ptr() == y.data_ptr()))
    d.zero_()
    log.append((y, y._version, d._version))
    error(log, (y * y).sum().backward)
    log.append(x.grad)
    y.detach_()
    log.append((y.requires_grad, y.is_leaf, y.grad_fn))
    x.data.mul_(5)
    x.data = torch.ones(2, dtype=torch.float64)
    log.append(x)


@program
def detaching_a_view(torch, log):
    part = (leaf(torch, 1, 2) * 2)[0:]
    error(log, part.detach_)


@program
def versions_of_data(torch, log):
    x = leaf(torch, 1, 2)
    y = x.exp()
    y.data.mul_(2)
    error(log, y.sum().backward)
    return y._version, x.grad


@program
def edits_after_a_change_of_shape(torch, log):
    for change in (lambda h: h.unsqueeze_(0), lambda h: h.squeeze_(), lambda h: h.unsqueeze_(2).squeeze_(2)):
        x = six(torch)
        h = x * 1
        before = h[0]
        change(h)
        log.append((h.grad_fn, before.grad_fn))
        h.mul_(2)
        log.append((h.grad_fn, before.grad_fn))
        h[0].mul_(3)
        log.append((h, h.grad_fn, before, before.grad_fn))
        h.copy_(h * h)
        log.append((h.grad_fn, h._version))
        (h.sum() + (before * before).sum()).backward()
        log.append(x.grad)


@program
def a_change_of_shape_keeps_what_is_retained(torch, log):
    x = leaf(torch, 1, 2, 3)
    h = x * 1
    h.retain_grad()
    h.register_hook(lambda grad: grad * 2)
    h.unsqueeze_(0)
    (h * h).sum().backward()
    log.append((h.retains_grad, h.grad, x.grad))


@program
def shapes_of_constants_that_are_changed(torch, log):
    base = torch.zeros(2, 3)
    with torch.no_grad():
        view = base.t()
    error(log, lambda: view.squeeze_(0))
    error(log, lambda: base.unbind(0)[0].unsqueeze_(0))
    error(log, lambda: (six(torch) * 1).unbind(0)[0].unsqueeze_(0))
    part = base[1:]
    base.unsqueeze_(0)
    base.add_(1)
    log.append((base, part))


@program
def transposed_with_less_than_two_dimensions(torch, log):
    for x in (leaf(torch, 1, 2), leaf(torch, 1)[0]):
        h = x * 1
        log.append((x.t().grad_fn, x.transpose(0, -1).grad_fn))
        log.append((h.t_().grad_fn, h.transpose_(0, 0).grad_fn))
        h.sum().backward()


@program
def changing_what_wants_a_gradient(torch, log):
    x = leaf(torch, 1, 2)
    error(log, lambda: x.requires_grad_(False).requires_grad)
    error(log, lambda: x.requires_grad_().requires_grad)
    y = x * 2
    error(log, lambda: y.requires_grad_(False))
    error(log, lambda: setattr(y, "requires_grad", False))
    error(log, lambda: y.requires_grad_())
    error(log, lambda: torch.ones(2, dtype=torch.int64).requires_grad_())
    error(log, lambda: torch.ones(2, dtype=torch.bool, requires_grad=True))
    error(log, lambda: setattr(x, "grad", torch.ones(3, dtype=torch.float64)))
    error(log, lambda: setattr(x, "grad", torch.ones(2)))
    error(log, lambda: setattr(x, "grad", 3))
    error(log, lambda: setattr(x, "grad", x))
    error(log, lambda: setattr(x, "grad", torch.ones(2, dtype=torch.float64)))
    error(log, lambda: setattr(x, "is_leaf", True))
    error(log, lambda: setattr(x, "grad_fn", None))
    error(log, lambda: setattr(x, "data", 3))
    log.append(x.grad)
