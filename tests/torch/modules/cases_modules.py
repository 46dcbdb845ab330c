"""Programs about modules whose methods are overridden or hooked, and about copies of tensors over one memory, run on
PyTorch and on mxlite.torch by test_torch_style_graph.py."""

from __future__ import annotations

import copy

from programs import error, programs_of

PROGRAMS, program = programs_of()


def net(torch, calls):
    """A module with a child, buffers and extra state."""
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self, value=1):
            super().__init__()
            self.value, self.w, self.child = value, nn.Parameter(torch.ones(2)), nn.Linear(2, 2)
            self.register_buffer("b", torch.zeros(1))
            self.register_buffer("temporary", torch.zeros(1), persistent=False)

        def get_extra_state(self):
            calls.append("get")
            return {"value": self.value}

        def set_extra_state(self, state):
            calls.append("set")
            self.value = state["value"]

    return Net


@program
def extra_state(torch, log):
    make = net(torch, log)
    one, other = make(1), make(2)
    state = one.state_dict()
    log.append((list(state), state._metadata, state["_extra_state"]))
    log.append((other.load_state_dict(state), other.value))
    del state["_extra_state"]
    error(log, lambda: other.load_state_dict(state))
    log.append(other.load_state_dict(state, strict=False))
    plain = torch.nn.Linear(2, 2)
    state = {**plain.state_dict(), "_extra_state": 1}
    error(log, lambda: plain.load_state_dict(state))
    log.append(plain.load_state_dict(state, strict=False))
    error(log, plain.get_extra_state)
    error(log, lambda: plain.set_extra_state(1))


@program
def hooks_of_saving(torch, log):
    m = net(torch, log)()
    handles = [
        m.register_state_dict_pre_hook(lambda module, prefix, keep: log.append(("pre", prefix, keep))),
        m.register_state_dict_post_hook(lambda module, state, prefix, kept: log.append(("post", list(state), kept))),
        m._register_state_dict_hook(lambda module, state, prefix, kept: {**state, "more": prefix}),
        m.child.register_state_dict_post_hook(lambda module, state, prefix, kept: log.append(("child", prefix))),
    ]
    log.append(list(m.state_dict(prefix="x.", keep_vars=True)))
    for each in handles:
        each.remove()
    log.append(list(m.state_dict()))
    m.register_state_dict_post_hook(lambda *_: 3)
    error(log, m.state_dict)


@program
def hooks_of_loading(torch, log):
    make = net(torch, log)
    m = make()

    def note(name):
        def hook(*given):
            log.append((name, [sorted(each) if hasattr(each, "keys") else str(each) for each in given[-7:]]))

        return hook

    m.register_load_state_dict_pre_hook(note("pre"))
    m.child._register_load_state_dict_pre_hook(note("child"))
    m.child._register_load_state_dict_pre_hook(
        lambda module, *given: log.append(type(module).__name__), with_module=True
    )
    m.register_load_state_dict_post_hook(lambda module, keys: log.append(keys))
    m.child.register_load_state_dict_post_hook(lambda module, keys: log.append(("of the child", keys)))
    state = make().state_dict()
    for name in ("child.more", "q.r", "w.deep"):
        state[name] = torch.ones(1)
    del state["b"], state["child.bias"]
    error(log, lambda: m.load_state_dict(state))
    log.append(m.load_state_dict(state, strict=False))
    log.append(m.load_state_dict(make().state_dict(), assign=True))
    m.register_load_state_dict_post_hook(lambda module, keys: 5)
    error(log, lambda: m.load_state_dict(make().state_dict()))
    forgiving = make()
    forgiving.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    log.append(forgiving.load_state_dict({k: v for k, v in make().state_dict().items() if k != "w"}))


@program
def a_hook_that_renames(torch, log):
    make = net(torch, log)
    m, state = make(), make().state_dict()
    state["old"] = state.pop("w") * 7

    def rename(module, state, prefix, *_):
        state[prefix + "w"] = state.pop(prefix + "old")

    m.register_load_state_dict_pre_hook(rename)
    twin = copy.deepcopy(m)
    log.append((m.load_state_dict(state), m.w.detach(), list(state)))
    log.append((twin.load_state_dict(state), twin.w.detach()))


METHODS = """_apply train apply state_dict _save_to_state_dict _load_from_state_dict load_state_dict named_parameters
    parameters named_modules named_children children modules named_buffers requires_grad_ zero_grad register_parameter
    register_buffer add_module get_submodule extra_repr _get_name forward eval to float double half cpu type""".split()

#: What calls them, of the module itself and of one that it is within.
USES = {
    "state": lambda torch, m: list(m.state_dict()), "load": lambda torch, m: m.load_state_dict(m.state_dict()),
    "train": lambda torch, m: m.train(), "eval": lambda torch, m: m.eval(),
    "to": lambda torch, m: m.to("cpu"), "to dtype": lambda torch, m: m.to(torch.float64),
    "float": lambda torch, m: m.float(), "double": lambda torch, m: m.double(), "half": lambda torch, m: m.half(),
    "cpu": lambda torch, m: m.cpu(), "type": lambda torch, m: m.type(torch.float32),
    "apply": lambda torch, m: m.apply(lambda each: None), "parameters": lambda torch, m: list(m.parameters()),
    "buffers": lambda torch, m: list(m.buffers()), "modules": lambda torch, m: list(m.modules()),
    "children": lambda torch, m: list(m.children()), "zero": lambda torch, m: m.zero_grad(),
    "wants": lambda torch, m: m.requires_grad_(), "repr": lambda torch, m: repr(m),
    "find": lambda torch, m: m.get_parameter("weight"), "find below": lambda torch, m: m.get_parameter("0.weight"),
    "module": lambda torch, m: m.register_module("k", torch.nn.ReLU()),
    "set": lambda torch, m: setattr(m, "p", torch.nn.Parameter(torch.ones(1))),
    "call": lambda torch, m: m(torch.ones(1, 2)), "copy": lambda torch, m: type(copy.deepcopy(m)),
}  # fmt: skip


@program
def methods_that_are_overridden(torch, log):
    calls: list = []

    def counting(name):
        def method(self, *args, **kwargs):
            calls.append(name)
            return getattr(super(Counting, self), name)(*args, **kwargs)

        return method

    Counting = type("Counting", (torch.nn.Linear,), {name: counting(name) for name in METHODS})  # noqa: N806
    Counting._version = 7
    for name, use in USES.items():
        for where, made in (("itself", Counting(2, 2)), ("within", torch.nn.Sequential(Counting(2, 2)))):
            calls.clear()
            try:
                use(torch, made)
            except Exception as problem:  # noqa: BLE001 - its class is compared
                calls.append(type(problem).__name__)
            kept = [each for each in calls if each != "_get_name"]  # ours is in other messages too
            log.append((name, where, kept))


@program
def functions_applied_to_values(torch, log):
    m = torch.nn.Linear(2, 2)
    weight = m.weight
    weight.grad = torch.ones(2, 2)
    m._apply(lambda t: t * 0 + 5)
    log.append((m.weight is weight, weight.detach(), weight.grad, weight.requires_grad))
    m._apply(lambda t: t.add_(1))
    log.append((weight.detach(), weight.grad))
    m._apply(lambda t: t[:1].clone())
    log.append((m.weight is weight, tuple(weight.shape), tuple(weight.grad.shape)))
    error(log, lambda: m._apply(lambda t: t.long()))
    log.append(m.weight.dtype)


@program
def running_statistics(torch, log):
    nn = torch.nn
    x = torch.arange(24.0).view(2, 3, 4)
    for make in (nn.BatchNorm1d, nn.InstanceNorm1d):
        for track, mode in ((True, True), (True, False), (False, True), (False, False)):
            m = make(3, track_running_stats=True)
            m.track_running_stats = track
            m.train(mode)
            log.append((make.__name__, track, mode, m(x).detach(), m.running_mean, m.num_batches_tracked))
    for change in ("running_mean", "num_batches_tracked"):
        for momentum in (0.1, None):
            m = nn.BatchNorm1d(3, momentum=momentum)
            setattr(m, change, None)
            error(log, lambda: (m(x).detach(), m.running_mean, m.running_var))  # noqa: B023 - called here
            error(log, lambda: m.eval()(x).detach())  # noqa: B023
    m = nn.BatchNorm1d(3)
    state = m.state_dict()
    log.append(m.load_state_dict({name: each for name, each in state.items() if "batches" not in name}))
    del state["num_batches_tracked"]
    error(log, lambda: m.load_state_dict(state))


@program
def targets_of_to(torch, log):
    x, m, d = torch.ones(2), torch.nn.Linear(2, 2), torch.float64
    given = [(), (None,), (d,), ("cpu",), ("cpu", d), ("cpu", None), (d, True), (d, True, True), (d, True, True, True),
             ("cpu", True), ("cpu", d, True), ("nowhere",), (0,), ([],), (x.double(),), (x, True), (x, d), (None, True),
             (None, d, True), (float,), (int,), (d, d), ("cpu", "cpu"), (d, "cpu"), (d, None)]  # fmt: skip
    named = [{"device": "cpu"}, {"dtype": d}, {"dtype": d, "copy": True}, {"device": None, "dtype": None},
             {"dtype": "float64"}, {"non_blocking": True}, {"copy": True}, {"foo": 1}, {"dtype": float}]  # fmt: skip
    for args, kwargs in [*((each, {}) for each in given), *(((), each) for each in named), ((d,), {"dtype": d})]:
        error(log, lambda: x.to(*args, **kwargs).dtype)  # noqa: B023 - called here
        error(log, lambda: m.to(*args, **kwargs).weight.dtype)  # noqa: B023
        m.float()


@program
def copies_of_one_memory(torch, log):
    for copied in (copy.deepcopy, lambda given: {name: copy.copy(each) for name, each in given.items()}):
        x = torch.arange(4.0)
        made = copied(
            {
                "part": x[1:3],
                "all": x,
                "flat": x.view(2, 2),
                "turned": x.view(2, 2).t(),
                "wide": x[:1].expand(3),
                "none": x[4:],
                "steps": x[::2],
                "one": x[2],
                "again": x,
            }  # fmt: skip
        )
        made["all"][1] = 9
        log.append((made, x))
        log.append([(each.stride(), each.storage_offset()) for each in made.values() if each.numel()])
        log.append([(each.is_contiguous(), each.is_leaf) for each in made.values()])
        w = torch.nn.Parameter(torch.ones(3))
        w.grad, v = torch.ones(3), torch.ones(3, requires_grad=True)
        v.grad = torch.ones(3)
        made = copied({"w": w, "v": v, "part": v.detach()[1:], "grad": v.grad})
        with torch.no_grad():
            made["v"].mul_(3)
            made["w"].mul_(3)
        log.append((made, type(made["w"]), made["v"].grad is made["grad"], w.detach(), v.detach()))
        log.append((made["w"].grad, made["w"].requires_grad))


@program
def copies_of_tied_modules(torch, log):
    nn = torch.nn
    m = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 2))
    m[1].weight = m[0].weight
    m.register_buffer("b", torch.zeros(4))
    m.register_buffer("part", m.b[1:])
    twin = copy.deepcopy(m)
    with torch.no_grad():
        twin[0].weight.fill_(2)
        twin.b.fill_(5)
    log.append((twin[1].weight is twin[0].weight, twin[1].weight.detach(), twin.part, m.part))
    log.append([each.requires_grad for each in twin.parameters()])
