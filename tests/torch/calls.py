"""Random calls of the forms of forms.py: `Call(name, forms, seed)` is a text and the tensors that it is about.

Tensors are of all dtypes, of no dimensions to three, empty ones among them; transposed, strided, reversed, expanded, at
an offset, or views by as_strided; of ordinary numbers, special ones (0, -0, inf, NaN, 1e20, the smallest) or, for
integers, the extremes. Equal seeds give equal calls.
"""

from __future__ import annotations

import random
import re
from typing import Any

import numpy as np

FLOATS, INTEGERS = ("float64", "float32", "float16"), ("int64", "int32", "int16", "int8", "uint8")
_SHAPES = ((), (0,), (0, 3), (1,), (3,), (3,), (2, 3), (2, 3), (2, 1, 3), (2, 3, 2), (3, 3))
_SPECIAL = (0.0, -0.0, float("inf"), -float("inf"), float("nan"), 1e20, -1.0, 1.0, 0.5, 2.0, 1e-30, -1e20, 5e-324)
_NUMBERS = (0, 1, 2, -1, 3, 0.5, -1.5, 2.0, True, False, 0.0)
_SPECIAL_NUMBERS = ("inf", "-inf", "nan", "-0.0", "1e20", "5e-324")
_KEYS = (
    "0",
    "-1",
    "1",
    "2",
    ":",
    "1:",
    ":1",
    "::2",
    "-2:",
    "1:1",
    "5:",
    "None",
    "...",
    "True",
    "False",
    "[0, 1]",
    "[]",
)

#: Functions in which PyTorch ends the process when the least integer is divided by -1.
_DIVIDES = re.compile("div|mod|remainder|gcd|lcm")


class Drawn:
    """A tensor that a call is about: values, and how they lie."""

    def __init__(self, values: np.ndarray, layout: str, arguments: Any, target: bool = False) -> None:
        self.values, self.layout, self.arguments = np.asarray(values), layout, arguments
        #: Whether the call writes to it: then it is a copy.
        self.target = target

    def make(self, torch: Any, gradient: bool) -> tuple[Any, Any, Any]:
        """The leaf, the tensor that owns the memory, and the tensor."""
        if self.values.size:
            leaf = torch.from_numpy(self.values.copy()).clone()
        else:  # NumPy's strides of nothing are its own
            leaf = torch.zeros(self.values.shape, dtype=getattr(torch, self.values.dtype.name))
        if gradient and leaf.is_floating_point():
            leaf.requires_grad_()
        base = leaf.clone() if self.target else leaf
        return leaf, base, self.lay(base)

    def lay(self, base: Any) -> Any:
        """The tensor as a view of its base."""
        if self.layout == "plain":
            return base
        if self.layout == "transposed":
            return base.permute(self.arguments)
        if self.layout == "strided":
            return base[..., ::2]
        if self.layout == "offset":
            return base[1:]
        if self.layout == "flip":
            return base.flip(self.arguments)
        if self.layout == "expand":
            return base.expand(self.arguments)
        return base.as_strided(*self.arguments)

    def text(self) -> str:
        """The tensor as a program says it."""
        kind = self.values.dtype.name
        made = f"torch.tensor({self.values.tolist()}, dtype=torch.{kind})"
        if not self.values.size:
            made = f"torch.zeros({self.values.shape}, dtype=torch.{kind})"
        made += ".clone()" if self.target else ""
        ways = {"plain": "", "strided": "[..., ::2]", "offset": "[1:]", "transposed": ".permute{}", "flip": ".flip({})",
                "expand": ".expand({})", "as_strided": ".as_strided{}"}  # fmt: skip
        return made + ways[self.layout].format(self.arguments)


class Call:
    """One call.

    Attributes:
        text: The expression, over t0, t1, ...
        tensors: What those are.
        special: Whether numbers are special ones.
    """

    def __init__(self, name: str, forms: list[str], seed: int) -> None:
        self.name, self.seed = name, seed
        self.random = random.Random(seed)
        self.tensors: list[Drawn] = []
        self.special = self.random.random() < 0.4
        self.gradient = self.random.random() < 0.5
        if self.gradient and self.random.random() < 0.6:
            self.special = False
        self.kind: str | None = None
        self.shape: tuple[int, ...] = ()
        self.place = 0
        form = self.random.choice(forms)
        self.text = re.sub(r"\{([a-z_]+)(:[\d,]*)?\}", self._argument, form)

    def program(self) -> str:
        """The call as a program of its own."""
        return "; ".join([*(f"t{i} = {each.text()}" for i, each in enumerate(self.tensors)), self.text])

    # ---- tensors ----

    def _argument(self, match: re.Match) -> str:
        word, extents = match[1], match[2]
        shape = None if extents is None else tuple(int(each) for each in extents[1:].split(",") if each)
        made = getattr(self, "_" + word)
        return made() if extents is None else made(shape)

    def _kind(self, among: tuple[str, ...] | None = None) -> str:
        choose = self.random
        if self.kind is not None and (among is None or self.kind in among) and choose.random() < 0.75:
            return self.kind
        if among is None:
            among = (
                FLOATS if choose.random() < 0.7 or (self.gradient and choose.random() < 0.7) else (*INTEGERS, "bool")
            )
        if among == FLOATS:
            kind = choose.choices(FLOATS, (5, 4, 1))[0]
        else:
            kind = choose.choice(among)
        self.kind = self.kind or kind
        return kind

    def _values(self, shape: tuple[int, ...], kind: str) -> np.ndarray:
        choose = self.random
        count = int(np.prod(shape, dtype=int))
        if kind == "bool":
            found = [choose.random() < 0.5 for _ in range(count)]
        elif kind in INTEGERS:
            low = 0 if kind == "uint8" else -4
            found = [choose.randint(low, 5) for _ in range(count)]
            if self.special:
                limits = np.iinfo(kind)
                least = limits.min + bool(_DIVIDES.search(self.name))
                ends = (least, limits.max, 0, limits.max - 1)
                found = [choose.choice(ends) if choose.random() < 0.3 else each for each in found]
        else:
            found = [choose.choice((-2.0, -1.0, 0.0, 0.5, 1.0, 2.0)) if choose.random() < 0.15
                     else choose.uniform(-2.5, 2.5) for _ in range(count)]  # fmt: skip
            if self.special:
                found = [choose.choice(_SPECIAL) if choose.random() < 0.4 else each for each in found]
        with np.errstate(all="ignore"):
            return np.array(found).reshape(shape).astype(kind)

    def _lay(self, values: np.ndarray, target: bool = False) -> str:
        """A new tensor of those values, in some layout; its name."""
        shape = values.shape
        ways = ["plain", "plain", "as_strided"]
        if values.ndim > 1:
            ways += ["transposed", "transposed"]
        if values.ndim:
            ways += ["offset", "strided", "flip"]
        if (
            not target
            and values.ndim
            and values.shape[0] > 1
            and (values.view(f"V{values.itemsize}")[:1] == values.view(f"V{values.itemsize}")).all()
        ):
            ways = ["expand"]
        way = self.random.choice(ways)
        arguments: Any = None
        if way == "transposed":
            arguments = list(range(values.ndim))
            self.random.shuffle(arguments)
            values = np.ascontiguousarray(values.transpose(np.argsort(arguments)))
            arguments = tuple(arguments)
        elif way == "offset":
            values = np.concatenate([np.ones((1, *shape[1:]), values.dtype), values])
        elif way == "strided":
            values = np.stack([values, np.ones_like(values)], -1).reshape(*shape[:-1], 2 * shape[-1])
        elif way == "flip":
            arguments = self.random.randrange(values.ndim)
            values = np.ascontiguousarray(np.flip(values, arguments))
        elif way == "expand":
            arguments, values = shape, np.ascontiguousarray(values[:1])
        elif way == "as_strided":
            steps = [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
            arguments = (shape, tuple(steps), 2)
            values = np.concatenate([np.ones(2, values.dtype), values.reshape(-1)])
        self.tensors.append(Drawn(values, way, arguments, target))
        return f"t{len(self.tensors) - 1}"

    def _new(self, shape: tuple[int, ...], kind: str, target: bool = False) -> str:
        values = self._values(shape, kind)
        if not target and shape and shape[0] > 1 and self.random.random() < 0.1:
            values = np.ascontiguousarray(np.broadcast_to(values[:1], shape))
        return self._lay(values, target)

    def _first(self, shape: tuple[int, ...] | None, among: tuple[str, ...] | None, target: bool = False) -> str:
        self.shape = self.random.choice(_SHAPES) if shape is None else shape
        return self._new(self.shape, self._kind(among), target)

    def _a(self, shape: tuple[int, ...] | None = None) -> str:
        return self._first(shape, None)

    def _w(self, shape: tuple[int, ...] | None = None) -> str:
        return self._first(shape, None, True)

    def _f(self, shape: tuple[int, ...] | None = None) -> str:
        return self._first(shape, FLOATS if self.random.random() < 0.93 else None)

    def _wf(self, shape: tuple[int, ...] | None = None) -> str:
        return self._first(shape, FLOATS, True)

    def _like(self, shape: tuple[int, ...] = ()) -> str:
        return self._new(shape, self._kind())

    def _b(self) -> str:
        choose = self.random
        shape = [1 if choose.random() < 0.15 else extent for extent in self.shape]
        if choose.random() < 0.25:
            shape = shape[choose.randrange(len(shape) + 1) :]
        elif choose.random() < 0.1:
            shape = [2, *shape]
        elif choose.random() < 0.04:
            shape = [*shape, 4]
        return self._new(tuple(shape), self._kind())

    def _same(self) -> str:
        shape = self.shape if self.random.random() < 0.93 else (*self.shape, 2)
        return self._new(shape, self._kind())

    def _o(self) -> str:
        return self._b() if self.random.random() < 0.6 else self._number()

    def _zero_d(self) -> str:
        return self._new((), self._kind())

    def _unit(self) -> str:
        self.shape = self.random.choice(_SHAPES)
        return self._unit_same()

    def _unit_same(self) -> str:
        special, self.special = self.special, False
        kind = self._kind(FLOATS)
        values = np.abs(np.sin(self._values(self.shape, kind).astype("float64"))).astype(kind)
        self.special = special
        if special and values.size:
            values.reshape(-1)[0] = self.random.choice((0.0, 1.0))
        return self._lay(values)

    def _matrix(self, shape: tuple[int, ...] | None = None) -> str:
        shape = self.random.choice(((3, 3), (2, 2), (1, 1), (2, 2, 2), (0, 0))) if shape is None else shape
        kind = self._kind(("float64", "float32"))
        special, self.special = self.special, False
        self.shape = shape
        values = self._values(shape, kind) + (3 * np.eye(shape[-1])).astype(kind)
        self.special = special
        return self._lay(values)

    def _positive_matrix(self) -> str:
        kind = self._kind(("float64", "float32"))
        special, self.special = self.special, False
        self.shape = self.random.choice(((3, 3), (2, 2), (2, 2, 2)))
        values = self._values(self.shape, kind)
        self.special = special
        return self._lay(values @ np.swapaxes(values, -1, -2) + np.eye(self.shape[-1], dtype=kind))

    def _zeros(self, shape: tuple[int, ...]) -> str:
        return self._lay(np.zeros(shape, self._kind(FLOATS)))

    def _ones(self, shape: tuple[int, ...]) -> str:
        return self._lay(np.ones(shape, self._kind(FLOATS)))

    def _mask(self) -> str:
        choose = self.random
        if not self.tensors:
            self.shape = choose.choice(_SHAPES)
        shape = self.shape if choose.random() < 0.8 else self.shape[choose.randrange(len(self.shape) + 1) :]
        values = np.array([choose.random() < 0.5 for _ in range(int(np.prod(shape, dtype=int)))], bool).reshape(shape)
        if choose.random() < 0.2:
            values = np.zeros(shape, bool)
        return self._lay(values)

    def _few(self) -> str:
        kind = self._kind(INTEGERS)
        values = [self.random.randint(0, 5) for _ in range(int(np.prod(self.shape, dtype=int)))]
        return self._lay(np.array(values).reshape(self.shape).astype(kind))

    def _unit_vector(self) -> str:
        return self._lay(np.array([0.0, 0.3, 0.5, 1.0]).astype(self._kind(FLOATS)))

    def _unit_vector3(self) -> str:
        return self._lay(np.array([0.0, 0.3, 0.5]).astype(self._kind(FLOATS)))

    def _ordered(self) -> str:
        return self._lay(np.sort(self._values((4,), self._kind())))

    # ---- indices ----

    def _extent(self) -> int:
        room = len(self.shape)
        return self.shape[self.place % room] if room else 1

    def _of_extent(self, shape: tuple[int, ...], extent: int, low: int = 0) -> np.ndarray:
        choose = self.random
        high = max(extent - 1, 0) if choose.random() < 0.95 else extent
        found = [choose.randint(low, high) for _ in range(int(np.prod(shape, dtype=int)))]
        return np.array(found, np.int64).reshape(shape)

    def _index_values(self) -> np.ndarray:
        shape = self.random.choice(((2,), (3,), (1,), (0,), (), (4,)))
        if self._extent() == 0:
            shape = (0,)
        return self._of_extent(shape, self._extent())

    def _index(self) -> str:
        return self._lay(self._index_values().astype("int64" if self.random.random() < 0.9 else "int32"))

    def _index_once(self) -> str:
        return self._lay(np.arange(self.shape[-1] if self.shape else 1)[::-1].copy())

    def _index_of(self, shape: tuple[int, ...]) -> str:
        self.shape = shape
        return self._lay(self._of_extent(shape, 3))

    def _flat_index(self) -> str:
        count = int(np.prod(self.shape, dtype=int))
        return self._lay(self._of_extent(self.random.choice(((2,), (2, 2), (), (0,))) if count else (0,), count))

    def _along_shape(self) -> tuple[int, ...]:
        return tuple(extent if self.random.random() < 0.8 else max(extent - 1, 0) for extent in self.shape)

    def _along(self) -> str:
        values = self._of_extent(self._along_shape(), self._extent())
        if self._extent() == 0:
            values = np.zeros(tuple(0 if each == 0 else each for each in values.shape), np.int64)
        self.along = values.shape
        return self._lay(values)

    def _along_once(self) -> str:
        """Every position once: what scatter leaves is then sure."""
        shape = self._along_shape()
        self.along = shape
        if not shape:
            return self._lay(np.zeros((), np.int64))
        place = self.place % len(shape)
        view = [1] * len(shape)
        view[place] = shape[place]
        return self._lay(np.broadcast_to(np.arange(shape[place]).reshape(view), shape).copy())

    def _src(self) -> str:
        shape = tuple(extent + (self.random.random() < 0.1) for extent in self.along)
        return self._new(shape, self.tensors[0].values.dtype.name if self.random.random() < 0.95 else self._kind())

    def _parts(self) -> str:
        count = self.tensors[-1].values
        indices = self._count_of_last(count)
        shape = list(self.shape)
        if shape:
            shape[self.place % len(shape)] = indices
        return self._new(tuple(shape), self._kind())

    def _count_of_last(self, values: np.ndarray) -> int:
        drawn = self.tensors[-1]
        skip = {"offset": 1, "as_strided": 2}.get(drawn.layout, 0)
        if drawn.layout == "strided":
            return values.size // 2
        return drawn.arguments[0] if drawn.layout == "expand" else values.size - skip

    def _repeats(self) -> str:
        return self._lay(np.array([self.random.randint(0, 2) for _ in range(self.shape[0] if self.shape else 1)]))

    # ---- Python's numbers and lists ----

    def _pick(self, *among: Any) -> str:
        return str(self.random.choice(among))

    def _number(self) -> str:
        return self._pick(*_SPECIAL_NUMBERS) if self.special and self.random.random() < 0.4 else self._pick(*_NUMBERS)

    def _float(self) -> str:
        return (
            self._pick(*_SPECIAL_NUMBERS)
            if self.special and self.random.random() < 0.3
            else self._pick(0.5, -1.5, 1.0, 0.0, 2.0)
        )

    def _positive(self) -> str:
        return self._pick(0.5, 1.0, 2.0)

    def _exponent(self) -> str:
        return self._pick(0, 1, 2, 3, 0.5, -1, -0.5, 2.0, 1.5, 0.0, True, *(_SPECIAL_NUMBERS if self.special else ()))

    def _integer(self) -> str:
        return self._pick(0, 1, 2, 3, -1, True, False)

    def _small(self) -> str:
        return self._pick(0, 1, 2, -1, 1, 3, -2)

    def _count(self) -> str:
        return self._pick(0, 1, 2, 3, 5)

    def _few_parts(self) -> str:
        return self._pick(1, 2, 3, 4, 2, 0)

    def _step(self) -> str:
        return self._pick(1, 0.5, 2, 0.3, -1, 0)

    def _power(self) -> str:
        return self._pick(2, 1, 3, 0, 0.5, "inf", "-inf", -1, 2.0)

    def _reduce(self) -> str:
        return self._pick("'sum'", "'prod'", "'mean'", "'amax'", "'amin'", "'prod'", "'other'")

    def _norm_order(self) -> str:
        return self._pick("'fro'", "'nuc'", 1, -1, 2, -2, "inf", "-inf", 3)

    def _between(self) -> str:
        return self._pick("'linear'", "'lower'", "'higher'", "'midpoint'", "'nearest'", "'other'")

    def _flag(self) -> str:
        return self._pick(True, False)

    def _dtype(self) -> str:
        return self._dtype_text((*FLOATS, *INTEGERS, "bool"))

    def _dtype_text(self, among: tuple[str, ...]) -> str:
        return "torch." + self.random.choice(among)

    def _float_dtype(self) -> str:
        return self._dtype_text(FLOATS)

    def _reduction(self) -> str:
        return self._pick("'none'", "'mean'", "'sum'", "'sum'", "'other'")

    def _dim(self) -> str:
        room = len(self.shape) or 1
        if self.random.random() < 0.06:
            return self._pick(room, -room - 1, 7)
        self.place = self.random.randrange(-room, room)
        return str(self.place)

    def _dims_tuple(self) -> str:
        room = len(self.shape)
        found = self.random.sample(range(room), self.random.randrange(room + 1))
        return str(tuple(each - room if self.random.random() < 0.3 else each for each in found))

    def _dims(self) -> str:
        return self.random.choice((self._dim, self._dim, self._dims_tuple, lambda: "None"))()

    def _dims_list(self) -> str:
        return "[" + self._dims_tuple()[1:-1] + "]"

    def _order(self) -> str:
        places = list(range(len(self.shape)))
        self.random.shuffle(places)
        if self.random.random() < 0.08 and places:
            places[0] = places[-1]
        return str(tuple(places))

    def _drawn_shape(self) -> tuple[int, ...]:
        count = int(np.prod(self.shape, dtype=int))
        fits = {0: ((0,), (0, 3), (2, 0)), 1: ((1,), (), (1, 1)), 3: ((3,), (3, 1), (1, 3), (-1, 1)),
                6: ((6,), (3, 2), (2, -1), (1, 6)), 12: ((12,), (3, 4), (2, 2, -1)), 9: ((9,), (3, -1))}  # fmt: skip
        if self.random.random() < 0.1:
            return self.random.choice(((5,), (2, 7), (-1, -1), (-1, 0), (-2, 3)))
        return self.random.choice(fits.get(count, ((count,), (-1,))))

    def _shape(self) -> str:
        return str(self._drawn_shape())

    def _wider(self) -> str:
        wide = [
            self.random.choice((extent, -1, 4)) if extent == 1 else self.random.choice((extent, extent, -1))
            for extent in self.shape
        ]
        if self.random.random() < 0.4:
            wide = [2, *wide]
        if self.random.random() < 0.05:
            wide = [*wide, 3]
        return str(tuple(wide))

    def _times(self) -> str:
        times = [self.random.choice((1, 2, 0, 1)) for _ in self.shape]
        if self.random.random() < 0.3:
            times = [2, *times]
        if self.random.random() < 0.15:
            times = times[1:]
        return str(tuple(times))

    def _list(self) -> str:
        return self._pick(
            "[1, 2]", "[1.5, 2]", "[]", "[True, False]", "[[1, 2], [3, 4.0]]", "[[], []]", "[True, 2]", "[1, [2]]", "3"
        )

    def _key(self) -> str:
        return self._pick(*_KEYS)
