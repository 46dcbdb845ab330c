"""Random programs over arrays of all storage types, as text: `program(number)` gives always the same one.

A program makes arrays, and calls operators with them and with what they gave. A step is a statement, and the names
whose values it answers with. The functions that the statements use are those of answers.py.
"""

from __future__ import annotations

from calls import DIFFERENTIABLE, SCALARS, SIGNS, STYPES, Maker, Step, call, inputs_of


def plain(m: Maker) -> None:
    """Calls, of which later ones take what earlier ones gave."""
    shape = m.shape()
    for _ in range(m.one([3, 5, 8])):
        if m.chance(0.25) and m.arrays:
            shape = m.one([its for _, its in m.arrays if len(its) == 2 and its[0] * its[1] < 4000] or [shape])
        function, text, result = call(m, shape)
        name = m.name()
        m.steps.append(Step(f"{name} = {text}", [name], function, inputs_of(text)))
        if result is not None and 0 not in result:
            m.arrays.append((name, result))


def given(m: Maker) -> None:
    """Calls that write to arrays that exist."""
    shape = m.shape()
    for _ in range(m.one([2, 4])):
        function, text, result = call(m, shape)
        if (
            result is None
            or not text.startswith(("nd.", "sp."))
            or function.endswith("number")
            or text.startswith("sp.sub")
        ):
            continue
        if text.startswith(("sp.add(", "sp.multiply(", "sp.divide(", "nd.array", "sp.array")):
            continue
        out = m.of(result, fresh=0.8)
        m.steps.append(Step(f"{text[:-1]}, out={out})", [out], f"{function} out", [*inputs_of(text), out]))


def assigned(m: Maker) -> None:
    """Copies and writes into arrays that exist."""
    shape = m.shape()
    for _ in range(m.one([2, 4])):
        x, y = m.of(shape), m.of(shape)
        sign = m.one(SIGNS)
        function, text = m.one(
            [
                ("copyto", f"{x}.copyto({y})"),
                ("copyto", f"{x}.copyto({y})"),
                ("array[:] = array", f"{y}[:] = {x}"),
                ("array[:] = array", f"{y}[:] = {x}"),
                ("array[:] = number", f"{y}[:] = {m.one(['1', '-2.5'])}"),
                ("array[:] = numpy", f"{y}[:] = {x}.asnumpy()"),
                (f"array {sign}= array", f"{y} {sign}= {x}"),
                (f"array {sign}= number", f"{y} {sign}= {m.one(SCALARS)}"),
                ("array[i:j] = array", f"{y}[0:1] = {x}[0:1]"),
                ("zeros_like out", f"nd.zeros_like({x}, out={y})"),
            ]
        )
        m.steps.append(Step(text, [y], function, inputs_of(text)))


def gradients(m: Maker) -> None:
    """Recorded calls, a backward, and the gradients."""
    shape = m.shape()
    m.special = False
    made = [call(m, shape, DIFFERENTIABLE)]
    if m.chance(0.5) and made[0][2] is not None and 0 not in made[0][2]:
        result = m.name()
        m.arrays.append((result, made[0][2]))
        made.append(call(m, made[0][2], DIFFERENTIABLE))
        m.arrays.remove((result, made[0][2]))
    else:
        result = ""
    leaves = [name for name, _ in m.arrays if any(name in inputs_of(text) for _, text, _ in made)]
    marked = [leaf for leaf in leaves if m.chance(0.75)]
    if not marked:
        return
    for leaf in marked:
        stype = m.one(["", "", "", ", stype='default'", ", stype='row_sparse'", ", stype='csr'"])
        request = m.one(["'write'", "'write'", "'write'", "'add'"])
        m.steps.append(Step(f"{leaf}.attach_grad({request}{stype})", [f"{leaf}.grad"], "attach_grad", [leaf]))
    recorded = [Step("recording(True)", [])]
    head = ""
    for i, (function, text, _) in enumerate(made):
        head = result if i == 0 and result else m.name()
        recorded.append(Step(f"{head} = {text}", [head], f"{function} recorded", inputs_of(text)))
    recorded.append(Step("recording(False)", []))
    m.steps += recorded
    used = [name for _, text, _ in made for name in inputs_of(text)]
    backward = f"{head}.backward()"
    if m.chance(0.3) and made[-1][2] is not None:
        above = m.new(made[-1][2], m.one(["default", "default", *STYPES]))
        backward = f"{head}.backward({above})"
        used.append(above)
    kind = "backward " + " of ".join(function for function, _, _ in reversed(made))
    kind += " with head" if "(v" in backward else ""
    grads = [f"{leaf}.grad" for leaf in marked]
    m.steps.append(Step(backward, grads, kind, [*used, head]))
    if m.chance(0.2):
        m.steps += recorded
        m.steps.append(Step(backward, grads, f"{kind} again", [*used, head]))


UPDATES = {
    "sgd_update": (0, True),
    "sgd_mom_update": (1, True),
    "adam_update": (2, True),
    "ftrl_update": (2, False),
    "adagrad_update": (1, False),
    "group_adagrad_update": (1, False),
    "nag_mom_update": (1, False),
    "rmsprop_update": (1, False),
    "signsgd_update": (0, False),
}


def updates(m: Maker) -> None:
    """Steps of optimizers."""
    shape = m.shape()
    name = m.one([*UPDATES, *list(UPDATES)[:6]])
    states, lazy = UPDATES[name]
    weight = m.new(shape, m.one(["default", "row_sparse", "row_sparse"]), m.one([1, 1, 1, 0.5]))
    stype = m.one(["default", "row_sparse", "row_sparse"])
    arrays = []
    for _ in range(states):
        its = (shape[0], 1) if name == "group_adagrad_update" else shape
        arrays.append(m.new(its, stype if not m.chance(0.05) else "", m.one([0, 1])))
        m.steps.append(Step(f"{arrays[-1]} = nd.abs({arrays[-1]})", [arrays[-1]], "abs", [arrays[-1]]))
    for _ in range(m.one([1, 2])):
        grad = m.new(shape, m.one(["row_sparse", "row_sparse", "row_sparse", "default", "csr"]))
        text = f"lr={m.one(['0.5', '0.1'])}" if "adagrad" not in name or m.chance(0.9) else "lr=0.5"
        if name not in ("adagrad_update", "group_adagrad_update") and m.chance(0.5):
            text += ", wd=0.1"
        if m.chance(0.4):
            text += ", rescale_grad=0.5"
        if m.chance(0.4):
            text += ", clip_gradient=1.0"
        if name in ("sgd_mom_update", "nag_mom_update"):
            text += f", momentum={m.one(['0.9', '0'])}"
        if lazy and m.chance(0.5):
            text += f", lazy_update={m.one(['True', 'False'])}"
        where = {"adagrad_update": "sp", "group_adagrad_update": "nd.contrib"}.get(name, m.one(["nd", "sp"]))
        if where == "sp" and name in ("nag_mom_update", "rmsprop_update", "signsgd_update"):
            where = "nd"
        listed = ", ".join([weight, grad, *arrays])
        out = weight if not m.chance(0.05) else m.new(shape)
        text = f"{where}.{name}({listed}, {text}, out={out})"
        m.steps.append(Step(text, list(dict.fromkeys([weight, *arrays, out])), name, [weight, grad, *arrays]))


KINDS = [(5, plain), (2, given), (1, assigned), (4, gradients), (1.5, updates)]


def program(number: int) -> list[Step]:
    """The steps of a program."""
    m = Maker(number)
    m.random.choices([make for _, make in KINDS], [weight for weight, _ in KINDS])[0](m)
    return m.steps
