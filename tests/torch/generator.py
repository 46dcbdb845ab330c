"""Random programs in PyTorch's style, as text: `source(seed)` defines `program(torch, leaves)`.

Up to 30 operators on float64 tensors of (3, 4), (4,), (3,) and (): shared values, views, edits in place, several heads.
The text never says which `torch` it is, so that the same program runs on both. Values stay near 1 in size.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field

#: Statement templates by the shape of the result: {0}, {1} are replaced by names of the shapes beside them.
MATRIX, ROW, COLUMN, SCALAR = (3, 4), (4,), (3,), ()

#: (result's shape, shapes of the operands, text)
EXPRESSIONS = [
    *[(shape, (shape,), text) for shape in (MATRIX, ROW, COLUMN, SCALAR) for text in (
        "{0}.exp() * 0.1", "{0}.tanh()", "{0}.sigmoid()", "{0}.sin()", "{0}.cos()", "-{0}", "torch.relu({0})",
        "({0} * {0} + 1.0).sqrt()", "({0}.abs() + 1.0).log()", "{0} + 5", "{0} * 2.0", "{0} - 1.5", "{0} / 3",
        "2 - {0}", "{0} ** 2", "{0}.clamp(-1.0, 1.0)", "{0}.detach() * {0}", "{0}.clone()", "0.5 * {0}",
        "torch.square({0})", "{0}.neg().exp() * 0.1", "torch.where({0} > 0, {0}, {0} * 0.1)", "{0}.reciprocal().tanh()",
    )],
    *[(shape, (shape, shape), text) for shape in (MATRIX, ROW, COLUMN, SCALAR) for text in (
        "{0} + {1}", "{0} - {1}", "{0} * {1}", "{0} / ({1} * {1} + 2.0)", "torch.maximum({0}, {1})",
        "torch.minimum({0}, {1})", "torch.where({0} > {1}, {0}, {1})", "torch.add({0}, {1}, alpha=2)",
    )],
    (MATRIX, (MATRIX, ROW), "{0} + {1}"),
    (MATRIX, (MATRIX, ROW), "{0} * {1}"),
    (MATRIX, (COLUMN, MATRIX), "{0}.unsqueeze(1) * {1}"),
    (MATRIX, (COLUMN, ROW), "torch.outer({0}, {1})"),
    (MATRIX, (SCALAR, MATRIX), "{0} * {1}"),
    (MATRIX, (ROW,), "{0}.expand(3, 4)"),
    (MATRIX, (ROW, ROW), "torch.stack([{0}, {1}, {0}])"),
    (MATRIX, (MATRIX, MATRIX), "torch.cat([{0}[:1], {1}[1:]])"),
    (MATRIX, (MATRIX, MATRIX), "torch.mm(torch.mm({0}, {1}.t()), {0}) * 0.1"),
    (MATRIX, (MATRIX, MATRIX), "({0} @ {1}.t()) @ {0} * 0.1"),
    (MATRIX, (MATRIX,), "{0}.t().t()"),
    (MATRIX, (MATRIX,), "{0}.transpose(0, 1).reshape(3, 4)"),
    (MATRIX, (MATRIX,), "{0}.reshape(2, 6).view(3, 4)"),
    (MATRIX, (MATRIX,), "torch.softmax({0}, 1)"),
    (MATRIX, (MATRIX,), "torch.log_softmax({0}, 0) * 0.3"),
    (MATRIX, (MATRIX,), "{0}.flip(1)"),
    (ROW, (MATRIX,), "{0}[1]"),
    (ROW, (MATRIX,), "{0}.sum(0)"),
    (ROW, (MATRIX,), "{0}.mean(0)"),
    (ROW, (MATRIX,), "{0}.select(0, 2)"),
    (ROW, (MATRIX, COLUMN), "{0}.t().mv({1}) * 0.3"),
    (ROW, (ROW,), "torch.cumsum({0}, 0) * 0.5"),
    (COLUMN, (MATRIX,), "{0}[:, 1]"),
    (COLUMN, (MATRIX,), "{0}.sum(dim=1)"),
    (COLUMN, (MATRIX,), "{0}.mean(1, keepdim=True).squeeze(1)"),
    (COLUMN, (MATRIX, ROW), "({0} @ {1}) * 0.3"),
    (COLUMN, (ROW,), "{0}[1:]"),
    (COLUMN, (ROW,), "{0}[:3].clone()"),
    (SCALAR, (ROW,), "{0}[2]"),
    (SCALAR, (MATRIX,), "{0}.sum()"),
    (SCALAR, (MATRIX,), "{0}.mean()"),
    (SCALAR, (ROW, ROW), "torch.dot({0}, {1}) * 0.2"),
    (SCALAR, (MATRIX,), "{0}[0, 3]"),
]  # fmt: skip

#: (shape edited, shapes of other operands, text); {t} is what is edited.
EDITS = [
    *[(shape, others, text) for shape in (MATRIX, ROW, COLUMN) for others, text in (
        ((), "{t}.mul_(0.5)"), ((), "{t}.add_(1.0)"), ((), "{t} *= 2"), ((), "{t}.tanh_()"), ((), "{t}.sigmoid_()"),
        ((shape,), "{t} += {0}"), ((shape,), "{t}.mul_({0})"), ((shape,), "{t}.sub_({0}, alpha=2)"),
        ((shape,), "{t}.copy_({0})"), ((), "{t}.neg_()"), ((), "{t}[0] = 0.25"), ((), "{t}.zero_()"),
        ((), "{t}.fill_(0.5)"), ((), "{t}[1:].mul_(3.0)"), ((), "{t}[1:] += 1"),
    )],
    (MATRIX, (ROW,), "{t}[1] = {0}"),
    (MATRIX, (ROW,), "{t}[0].mul_({0})"),
    (MATRIX, (COLUMN,), "{t}[:, 2] = {0}"),
    (MATRIX, (COLUMN,), "{t}[:, 0] += {0}"),
    (MATRIX, (COLUMN,), "{t}.t()[3].copy_({0})"),
    (MATRIX, (ROW,), "{t}.add_({0})"),
    (MATRIX, (ROW,), "{t}[1:, :] *= {0}"),
    (ROW, (SCALAR,), "{t}[3] = {0}"),
    (COLUMN, (SCALAR,), "{t}.mul_({0})"),
]  # fmt: skip


@dataclass
class Writer:
    """A program that grows."""

    choose: random.Random
    lines: list[str] = field(default_factory=list)
    names: dict[tuple[int, ...], list[str]] = field(default_factory=dict)
    count: int = 0

    def new(self, shape: tuple[int, ...], text: str) -> str:
        name = f"v{self.count}"
        self.count += 1
        self.lines.append(f"{name} = {text}")
        self.names.setdefault(shape, []).append(name)
        return name

    def pick(self, shape: tuple[int, ...]) -> str:
        """A name of that shape; younger ones more often."""
        names = self.names[shape]
        return names[max(self.choose.randrange(len(names)), self.choose.randrange(len(names)))]

    def step(self) -> None:
        """One statement more."""
        if self.choose.random() < 0.25:
            shape, others, text = self.choose.choice(EDITS)
            computed = [name for name in self.names[shape] if name.startswith("v")]
            if computed:
                target = self.choose.choice(computed)
                self.lines.append(text.format(*(self.pick(other) for other in others), t=target))
                return
        shape, operands, text = self.choose.choice(EXPRESSIONS)
        self.new(shape, text.format(*(self.pick(operand) for operand in operands)))


def source(seed: int, most: int = 30) -> str:
    """The text of a program. It returns a list of its heads."""
    choose = random.Random(seed)
    writer = Writer(choose)
    writer.names = {MATRIX: ["a", "b"], ROW: ["r"], COLUMN: ["c"], SCALAR: ["s"]}
    for _ in range(choose.randrange(3, most)):
        writer.step()
    computed = [name for names in writer.names.values() for name in names if name.startswith("v")]
    if not computed:
        computed = [writer.new(MATRIX, "a * b")]
    heads = choose.sample(computed, min(len(computed), choose.randrange(1, 4)))
    body = "\n".join(f"    {line}" for line in [*writer.lines, f"return [{', '.join(heads)}]"])
    return f"def program(torch, a, b, r, c, s):\n{body}\n"
