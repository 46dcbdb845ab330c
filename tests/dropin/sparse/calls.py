"""Random calls of operators with arrays of all storage types, as text. programs.py makes programs of them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

ROWS = [0, 1, 1, 2, 3, 4, 5, 7, 32, 33, 64, 65, 70, 100, 1001]
COLUMNS = [1, 1, 2, 3, 4, 5, 8, 33]
STYPES = ["default", "row_sparse", "csr"]
DENSITIES = [0, 0, 0.05, 0.3, 0.3, 0.6, 1]

UNARY = """abs sign square sqrt relu sin tan arcsin arctan sinh tanh arcsinh arctanh cos arccos arccosh cosh exp expm1
log log10 log1p log2 rint round ceil floor trunc fix sigmoid gamma gammaln reciprocal rsqrt cbrt rcbrt degrees radians
erf softsign logical_not ones_like zeros_like negative identity BlockGrad stop_gradient make_loss hard_sigmoid
shape_array size_array flatten transpose""".split()
SPARSE_UNARY = """abs sign square sqrt relu sin tan arcsin arctan sinh tanh arcsinh arctanh cos arccos arccosh cosh exp
expm1 log log10 log1p log2 rint round ceil floor trunc fix sigmoid gamma gammaln negative cbrt degrees radians rsqrt
zeros_like stop_gradient make_loss""".split()
METHODS = """abs sign square sqrt relu sin tan arcsin arctan sinh tanh exp expm1 log1p rint round ceil floor trunc fix
zeros_like ones_like copy detach""".split()
SIGNS = ["+", "-", "*", "/"]
OTHER_SIGNS = ["**", "%", "==", "!=", "<", ">=", ">", "<="]
PAIRS = "elemwise_add elemwise_sub elemwise_mul elemwise_div".split()
BROADCAST = "broadcast_add broadcast_sub broadcast_mul broadcast_div broadcast_plus broadcast_minus".split()
OTHER_PAIRS = """maximum minimum broadcast_maximum broadcast_minimum broadcast_power broadcast_mod broadcast_equal
broadcast_lesser broadcast_hypot broadcast_logical_and""".split()
SCALARS = ["0", "1", "2", "-1.5", "0.5", "3", "-2"]
REDUCTIONS = ["sum", "mean", "norm", "max", "min", "prod", "nansum", "sum_axis"]

Shape = tuple


@dataclass
class Step:
    """One statement, and what it answers with."""

    text: str
    shows: list[str]
    function: str = ""  # empty: it makes an array
    inputs: list[str] = field(default_factory=list)


class Maker:
    """Makes one program."""

    def __init__(self, number: int) -> None:
        self.random = random.Random(f"sparse {number}")
        self.steps: list[Step] = []
        self.arrays: list[tuple[str, Shape]] = []
        self.count = 0
        self.dtype = self.random.choice(["float32"] * 5 + ["float64"] * 2)
        self.special = self.random.random() < 0.05

    def one(self, of: list) -> object:
        return self.random.choice(of)

    def chance(self, part: float) -> bool:
        return self.random.random() < part

    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def shape(self) -> Shape:
        rows = self.one(ROWS)
        return (rows or 1 if self.chance(0.7) else rows, self.one(COLUMNS))

    def new(self, shape: Shape, stype: str = "", density: float | None = None) -> str:
        """A new array; `stype` of any kind where it is empty."""
        stype = stype or self.one(STYPES)
        if stype == "csr" and len(shape) != 2:
            stype = "row_sparse"
        if shape[0] == 0:
            stype = "csr" if len(shape) == 2 else "default"
        density = self.one(DENSITIES) if density is None else density
        dtype = self.dtype if not self.chance(0.01) else self.one(["float32", "float64", "float16"])
        seed = self.random.randrange(10000)
        name = self.name()
        special = ", special=True" if self.special else ""
        self.steps.append(Step(f"{name} = make({stype!r}, {shape}, {density}, {dtype!r}, {seed}{special})", [name]))
        self.arrays.append((name, shape))
        return name

    def of(self, shape: Shape, stype: str = "", fresh: float = 0.5) -> str:
        """An array of this shape, an earlier one or new."""
        found = [name for name, its in self.arrays if its == shape]
        if found and not stype and not self.chance(fresh):
            return self.one(found)
        return self.new(shape, stype)

    def axis(self, ndim: int = 2) -> str:
        return self.one(
            ["", "axis=0", "axis=1", "axis=-1", "axis=(0, 1)", "axis=(1,)", "axis=()"][: 7 if ndim == 2 else 2]
        )


Call = tuple  # function, text, result's shape or None where it is not to be used again


def unary(m: Maker, s: Shape) -> Call:
    x = m.of(s)
    kind = m.random.random()
    if kind < 0.35:
        name = m.one(UNARY)
        shape = s if name not in ("shape_array", "size_array", "transpose") else None
        return name, f"nd.{name}({x})", shape
    if kind < 0.75:
        name = m.one(SPARSE_UNARY)
        return f"sparse.{name}", f"sp.{name}({x})", s
    if kind < 0.9:
        name = m.one(METHODS)
        return f"method {name}", f"{x}.{name}()", s
    return m.one([("-", f"-{x}", s), ("abs()", f"abs({x})", s)])


def scalar(m: Maker, s: Shape) -> Call:
    x, sign, number = m.of(s), m.one(SIGNS * 3 + OTHER_SIGNS), m.one(SCALARS)
    kind = m.random.random()
    if kind < 0.6:
        return f"array {sign} number", f"{x} {sign} {number}", s
    if kind < 0.75:
        return f"number {sign} array", f"{number} {sign} {x}", s
    name = m.one(["add", "subtract", "multiply", "divide"])
    if kind < 0.85:
        return f"sparse.{name} number", f"sp.{name}({x}, {number})", s
    name = m.one(["maximum", "minimum", "power", "modulo", "add", "multiply", "equal", "hypot"])
    if name == "hypot":
        name = "_internal._hypot_scalar"
        return name, f"nd.{name}({x}, scalar={number})", s
    return f"{name} number", f"nd.{name}({x}, {number})", s


def other_shape(m: Maker, s: Shape) -> Shape:
    return m.one([s, s, (1, s[1]), (s[0], 1), (1, 1)])


def pair(m: Maker, s: Shape) -> Call:
    kind = m.random.random()
    x = m.of(s)
    if kind < 0.35:
        name = m.one(PAIRS)
        where = m.one(["nd", "sp"])
        return name, f"{where}.{name}({x}, {m.of(s)})", s
    if kind < 0.55:
        sign = m.one(SIGNS * 4 + OTHER_SIGNS)
        return f"array {sign} array", f"{x} {sign} {m.of(other_shape(m, s))}", s
    if kind < 0.8:
        name = m.one(BROADCAST)
        return name, f"{m.one(['nd', 'sp'])}.{name}({x}, {m.of(other_shape(m, s))})", s
    if kind < 0.87:
        name = m.one(["add", "subtract", "multiply", "divide"])
        return f"sparse.{name}", f"sp.{name}({x}, {m.of(other_shape(m, s))})", s
    if kind < 0.9:
        return "_scatter_elemwise_div", f"nd._internal._scatter_elemwise_div({x}, {m.of(s)})", s
    name = m.one(OTHER_PAIRS)
    return name, f"nd.{name}({x}, {m.of(s)})", s


def several(m: Maker, s: Shape) -> Call:
    stype = m.one(["", "", "row_sparse", "csr"])
    arrays = [m.of(s, stype) for _ in range(m.one([1, 2, 2, 3, 3, 4, 5]))]
    listed = ", ".join(arrays)
    kind = m.random.random()
    if kind < 0.5:
        name = m.one(["nd.add_n", "sp.add_n", "sp.ElementWiseSum"])
        return "add_n", f"{name}({listed})", s
    if kind < 0.8:
        dim = m.one([0, 0, 0, 1, -1])
        shape = (s[0] * len(arrays), s[1]) if dim == 0 else (s[0], s[1] * len(arrays))
        return "concat", f"{m.one(['nd', 'sp'])}.concat({listed}, dim={dim})", shape
    if kind < 0.9:
        return "stack", f"nd.stack({listed}, axis={m.one([0, 1])})", None
    condition = m.of(m.one([s, s, (s[0],)]))
    return "where", f"{m.one(['nd', 'sp'])}.where({condition}, {m.of(s)}, {m.of(s)})", s


def reduce(m: Maker, s: Shape) -> Call:
    x = m.of(s)
    arguments = [text for text in (m.axis(), m.one(["", "", "keepdims=True"])) if text]
    kind = m.random.random()
    listed = "".join(f", {text}" for text in arguments)
    if kind < 0.55:
        name = m.one(["sum", "mean", "norm"])
        return f"sparse.{name}", f"sp.{name}({x}{listed})", None
    if kind < 0.65:
        axis = m.one(["axis=0", "axis=1", "axis=(0, 1)"])
        return "_square_sum", f"nd._internal._square_sum({x}, {axis}{m.one(['', ', keepdims=True'])})", None
    if kind < 0.75:
        return "norm", f"nd.norm({x}, ord={m.one([1, 2])}{listed})", None
    if kind < 0.8:
        return "argmax", f"nd.argmax({x}, axis={m.one([0, 1])})", None
    name = m.one(REDUCTIONS)
    exclude = ", exclude=True" if name not in ("norm",) and m.chance(0.15) else ""
    return name, f"nd.{name}({x}{listed}{exclude})", None


def cut(m: Maker, s: Shape) -> Call:
    x = m.of(s)
    a, b = sorted(m.random.sample(range(-1, s[0] + 2), 2))
    c, d = sorted(m.random.sample(range(s[1] + 1), 2))
    kind = m.random.random()
    inside = 0 <= a < b <= s[0]
    if kind < 0.35:
        return "array[i:j]", f"{x}[{a}:{b}]", (b - a, s[1]) if inside else None
    if kind < 0.45:
        return "array[i]", f"{x}[{m.one([a, b, 0])}]", None
    if kind < 0.7 and s[0]:
        name = m.one(["nd.slice", "sp.slice"])
        if m.chance(0.5):
            return "slice", f"{name}({x}, begin=({a}, {c}), end=({b}, {d}))", (b - a, d - c) if inside else None
        return "slice", f"{name}({x}, begin=({max(a, 0)},), end=({b},))", None
    if kind < 0.8:
        return "slice_axis", f"nd.slice_axis({x}, axis={m.one([0, 1])}, begin=0, end=1)", None
    at = [
        m.random.randrange(-1, s[0] + 1) if m.chance(0.1) else m.random.randrange(max(s[0], 1))
        for _ in range(m.one([1, 2, 5]))
    ]
    if kind < 0.95:
        mode = m.one(["", "", ", mode='wrap'", ", mode='clip'"])
        return "take", f"nd.take({x}, nd.array({at}, dtype={m.one(['float32', 'int32', 'int64'])!r}){mode})", None
    return "take axis 1", f"nd.take({x}, nd.array([0, {s[1] - 1}]), axis=1)", None


def stored(m: Maker, s: Shape) -> Call:
    x, stype = m.of(s), m.one(STYPES)
    kind = m.random.random()
    if kind < 0.3:
        return "cast_storage", f"{m.one(['nd', 'sp'])}.cast_storage({x}, {stype!r})", s
    if kind < 0.5:
        return "tostype", f"{x}.tostype({stype!r})", s
    at = sorted({m.random.randrange(max(s[0], 1)) for _ in range(m.one([0, 1, 2, 5, 40]))})
    if kind < 0.75:
        dtype = m.one(["float32", "int64", "int32", "float64"])
        return (
            "retain",
            f"sp.retain({m.of(s, m.one(['', 'row_sparse', 'row_sparse']))}, nd.array({at or [0]}, dtype={dtype!r}))",
            s,
        )
    if kind < 0.8:
        return "clip", f"{m.one(['nd', 'sp'])}.clip({x}, {m.one(SCALARS)}, {m.one(SCALARS)})", s
    if kind < 0.88:
        low, high = m.one([("-1", "1"), ("0", "1"), ("-2", "0"), ("1", "2")])
        return "clip", f"{m.one(['nd', 'sp'])}.clip({x}, {low}, {high})", s
    if kind < 0.94:
        return "astype", f"{x}.astype({m.one(['float32', 'float64', 'float16', 'int32'])!r})", None
    name = m.one(["_scatter_plus_scalar", "_scatter_minus_scalar"])
    return name, f"nd._internal.{name}({x}, scalar={m.one(SCALARS)})", s


def product(m: Maker, s: Shape) -> Call:
    inner = m.one([1, 2, 3, 8, 33, 70])
    ta, tb = m.chance(0.35) and s[0] > 0, m.chance(0.2)
    left = (inner, s[0]) if ta else s
    inner = inner if ta else s[1]
    columns = m.one([1, 2, 3, 8, 33])
    right = (columns, inner) if tb else (inner, columns)
    if m.chance(0.1) and not tb:
        right = m.one([(inner,), (inner, 2, 3)])
    a = m.of(left, m.one(["", "csr", "csr", "default"]), 0.3)
    b = m.of(right, m.one(["", "default", "row_sparse", "csr"]), 0.3)
    flags = (", transpose_a=True" if ta else "") + (", transpose_b=True" if tb else "")
    if m.chance(0.25):
        flags += f", forward_stype={m.one(STYPES)!r}"
    shape = (s[0], columns) if len(right) == 2 else None
    return "dot", f"{m.one(['nd', 'sp'])}.dot({a}, {b}{flags})", shape


def layer(m: Maker, s: Shape) -> Call:
    kind = m.random.random()
    if kind < 0.4:
        rows = max(s[0], 1)
        at = [m.random.randrange(rows) for _ in range(m.one([1, 3, 40]))]
        weight = m.of((rows, s[1]))
        sparse = m.one(["", ", sparse_grad=True", ", sparse_grad=False"])
        return (
            "Embedding",
            f"{m.one(['nd', 'sp'])}.Embedding(nd.array({at}), {weight}, input_dim={rows}, output_dim={s[1]}{sparse})",
            None,
        )
    if kind < 0.7:
        hidden = m.one([1, 3])
        bias = m.chance(0.5)
        rest = f", {m.of((hidden,), 'default' if m.chance(0.8) else '')}" if bias else ", no_bias=True"
        return (
            "FullyConnected",
            f"{m.one(['nd', 'sp'])}.FullyConnected({m.of(s)}, {m.of((hidden, s[1]))}{rest}, num_hidden={hidden})",
            None,
        )
    name = m.one(["LinearRegressionOutput", "LogisticRegressionOutput", "MAERegressionOutput"])
    return name, f"{m.one(['nd', 'sp'])}.{name}({m.of(s, 'default')}, {m.of(s)})", None


def moved(m: Maker, s: Shape) -> Call:
    x = m.of(s)
    return m.one(
        [
            ("reshape", f"nd.reshape({x}, (-1,))", None),
            ("broadcast_to", f"nd.broadcast_to({m.of((1, s[1]))}, shape={(max(s[0], 1), s[1])})", None),
            ("tile", f"nd.tile({x}, reps=(2, 1))", None),
            ("repeat", f"nd.repeat({x}, repeats=2)", None),
            ("expand_dims", f"nd.expand_dims({x}, axis=0)", None),
            ("T", f"{x}.T", None),
            ("softmax", f"nd.softmax({x})", None),
            ("split", f"nd.split({x}, num_outputs=1)", None),
            ("reverse", f"nd.reverse({x}, axis=0)", None),
            ("as_nd_ndarray", f"{x}.as_nd_ndarray()", s),
            ("asnumpy", f"nd.array({x}.asnumpy())", s),
            ("nd.array", f"nd.array({x})", s),
            ("sp.array", f"sp.array({x})", s),
        ]
    )


FAMILIES: list[tuple[float, Callable[[Maker, Shape], Call]]] = [
    (1.6, unary),
    (1.2, scalar),
    (2.4, pair),
    (1.2, several),
    (1.2, reduce),
    (1.0, cut),
    (1.4, stored),
    (2.0, product),
    (0.7, layer),
    (0.3, moved),
]
DIFFERENTIABLE = [(weight, make) for weight, make in FAMILIES if make is not moved]


def inputs_of(text: str) -> list[str]:
    """The names of arrays in a text, in its order."""
    found, at = [], 0
    while at < len(text):
        if text[at] == "v" and (at == 0 or not (text[at - 1].isalnum() or text[at - 1] in "_.'")):
            end = at + 1
            while end < len(text) and text[end].isdigit():
                end += 1
            if end > at + 1:
                found.append(text[at:end])
            at = end
        else:
            at += 1
    return found


def call(m: Maker, shape: Shape, families: list = FAMILIES) -> Call:
    weights = [weight for weight, _ in families]
    return m.random.choices([make for _, make in families], weights)[0](m, shape)
