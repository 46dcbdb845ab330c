"""Initial values of parameters: `mx.init.Xavier()`, by name as `"xavier"`, by patterns of names as `mx.init.Mixed`.

An initializer is called with a name and an array. The end of the name chooses the method that fills the array: of
`dense0_bias` it is `_init_bias`, which writes zeros, of `dense0_weight` it is `_init_weight`, in which kinds differ.
"""

from __future__ import annotations

import json
import logging
import math
import re
from typing import Any, Callable

import numpy as np

from mxlite import random, registry
from mxlite._public import show
from mxlite.error import WrongTypeError, WrongValueError
from mxlite.ndarray import NDArray
from mxlite.ndarray import array as _array
from mxlite.ndarray import load as _load


class InitDesc(str):
    """The name of a parameter with its attributes.

    Args:
        attrs: `"__init__"` in it, an initializer as JSON, goes before all patterns.
        global_init: the initializer of a whole model, for those that give a part of the work to it.
    """

    attrs: dict[str, str]
    global_init: Any

    def __new__(cls, name: str, attrs: dict[str, str] | None = None, global_init: Any = None) -> InitDesc:
        made = super().__new__(cls, name)
        made.attrs = attrs or {}
        made.global_init = global_init
        return made


def _root_mean_square(array: NDArray) -> str:
    return str((array.as_nd_ndarray().norm() / math.sqrt(array.size)).asscalar())


class Initializer:
    """The base class: chooses by a name what to write. A kind of one's own overrides `_init_weight(name, array)`.

    Keyword arguments are what `dumps` writes, so that `create` makes an equal one.
    """

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs
        self._verbose = False
        self._print_func: Callable[[NDArray], str] | None = None

    def set_verbosity(self, verbose: bool = False, print_func: Callable[[NDArray], str] | None = None) -> Initializer:
        """Whether initialized parameters are logged, with what `print_func` says of the array; returns itself."""
        self._verbose = verbose
        self._print_func = print_func or _root_mean_square
        return self

    def _verbose_print(self, desc: str, init: str, arr: NDArray) -> None:
        if self._verbose and self._print_func:
            logging.info("Initialized %s as %s: %s", desc, init, self._print_func(arr))

    def dumps(self) -> str:
        """The name and the arguments as JSON, which `create` takes."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, desc: str, arr: NDArray) -> None:
        """Fills an array.

        Raises:
            TypeError: `desc` is not a string.
            ValueError: the name's end says nothing.
        """
        if not isinstance(desc, InitDesc):
            self._legacy_init(desc, arr)
            return
        if desc.global_init is None:
            desc.global_init = self
        init = desc.attrs.get("__init__", "")
        if init:
            create(init)._init_weight(desc, arr)
            self._verbose_print(desc, init, arr)
        else:
            self._by_pattern(_PATTERNS, desc, arr)

    def _legacy_init(self, name: str, arr: NDArray) -> None:
        """Fills the array of a plain name, by which more patterns are known than by an InitDesc."""
        if not isinstance(name, str):
            raise TypeError(f"Initializer: a name is a str, got {type(name).__name__}")
        self._by_pattern(_LEGACY_PATTERNS, name, arr)

    def _by_pattern(self, patterns: tuple, name: str, arr: NDArray) -> None:
        for pattern, kind in patterns:
            if re.search(pattern, name):
                getattr(self, f"_init_{kind}")(name, arr)
                self._verbose_print(name, kind, arr)
                return
        self._init_default(name, arr)

    def _init_zero(self, _: str, arr: NDArray) -> None:
        arr[:] = 0.0

    _init_bias = _init_beta = _init_quantized_bias = _init_zero

    def _init_one(self, _: str, arr: NDArray) -> None:
        arr[:] = 1.0

    _init_gamma = _init_one

    def _init_bilinear(self, _: str, arr: NDArray) -> None:
        """Weights by which a transposed convolution interpolates: the last two axes are rows and columns."""
        rows, columns = arr.shape[2], arr.shape[3]
        factor = math.ceil(columns / 2.0)
        centre = (2 * factor - 1 - factor % 2) / (2.0 * factor)
        weights = [1 - np.abs(np.arange(count) / factor - centre) for count in (rows, columns)]
        arr[:] = _array(np.broadcast_to(np.outer(*weights), arr.shape), dtype=arr.dtype)

    def _init_loc_bias(self, _: str, arr: NDArray) -> None:
        if arr.shape[0] != 6:
            raise WrongValueError(f"the bias of a spatial transformer has 6 elements, got {arr.shape}")
        arr[:] = _array([1.0, 0, 0, 0, 1.0, 0])

    def _init_weight(self, name: str, arr: NDArray) -> None:
        raise NotImplementedError(f"{type(self).__name__}: an initializer must have _init_weight")

    def _init_quantized_weight(self, _: str, arr: NDArray) -> None:
        random.uniform(-127, 127, out=arr)

    def _init_default(self, name: str, _: NDArray) -> None:
        raise ValueError(
            f'no initializer is known for {name}. Names end with "weight", "bias", "gamma" (1.0) or "beta" '
            "(0.0); another parameter says how it begins: Parameter(init=...), mx.sym.Variable(init=...)"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Initializer) and type(self) is type(other) and self._kwargs == other._kwargs

    __hash__ = None  # type: ignore[assignment]


#: Ends of names, and the method that writes to such an array; of the names of InitDescs, and of plain strings.
_ENDS = tuple((f"{end}$", end) for end in ("weight", "bias", "gamma", "beta"))
_RANGES = (("min$", "zero"), ("max$", "one"))
_PATTERNS = (*_ENDS, *_RANGES)
_LEGACY_PATTERNS = (
    ("^upsampling", "bilinear"),
    ("^stn_loc.*weight$", "zero"),
    ("^stn_loc.*bias$", "loc_bias"),
    *_ENDS,
    ("moving_(mean|inv_var|avg)$", "zero"),
    ("moving_var$", "one"),
    *_RANGES,
)

register = registry.get_register_func(Initializer, "initializer")
alias = registry.get_alias_func(Initializer, "initializer")
create = registry.get_create_func(Initializer, "initializer")


class Load:
    """Takes parameters from a file or a dictionary, and gives others to `default_init`.

    Args:
        param: a path for `mx.nd.load`, or names and arrays; `arg:` and `aux:` before names are dropped.
        default_init: an initializer for names that are not among them; None: such a name is an error.
        verbose: whether each is logged.
    """

    def __init__(self, param: Any, default_init: Any = None, verbose: bool = False) -> None:
        if isinstance(param, str):
            param = _load(param)
        if not isinstance(param, dict):
            raise WrongTypeError(f"Load takes a path or a dictionary of arrays, got {type(param).__name__}")
        self.param = {name[4:] if name[:4] in ("arg:", "aux:") else name: each for name, each in param.items()}
        self.default_init = default_init
        self.verbose = verbose

    def __call__(self, name: str, arr: NDArray) -> None:
        """Fills an array.

        Raises: ValueError: the shape is another one, or the name is unknown and there is no default.
        """
        if name in self.param:
            found = self.param[name]
            if found.shape != arr.shape:
                raise WrongValueError(
                    f"Parameter {name} cannot be initialized from loading: its shape is {arr.shape}, the loaded one's "
                    f"{found.shape}"
                )
            arr[:] = found
        elif self.default_init is None:
            raise WrongValueError(f"Cannot initialize {name}: it is not among the loaded, and there is no default_init")
        else:
            self.default_init(name, arr)
        if self.verbose:
            logging.info("Initialized %s by %s", name, "loading" if name in self.param else "default")


class Mixed:
    """An initializer for each pattern of names; the first pattern that a name begins with counts.

    Raises: ValueError: there are not as many initializers as patterns.
    """

    def __init__(self, patterns: list[str], initializers: list[Initializer]) -> None:
        if len(patterns) != len(initializers):
            raise WrongValueError(f"{len(patterns)} patterns and {len(initializers)} initializers")
        self.map = list(zip(map(re.compile, patterns), initializers))

    def __call__(self, name: str, arr: NDArray) -> None:
        """Fills an array. Raises ValueError: no pattern matches."""
        for pattern, init in self.map:
            if pattern.match(name):
                init(name, arr)
                return
        raise ValueError(f'Mixed: no pattern matches {name}; a last pattern ".*" matches all')


@alias("zeros")
@register
class Zero(Initializer):
    """Zeros."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, _: str, arr: NDArray) -> None:
        arr[:] = 0


@alias("ones")
@register
class One(Initializer):
    """Ones."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, _: str, arr: NDArray) -> None:
        arr[:] = 1


@register
class Constant(Initializer):
    """One number, or an array of the parameter's shape."""

    def __init__(self, value: Any) -> None:
        super().__init__(value=value)
        self.value = value

    def _init_weight(self, _: str, arr: NDArray) -> None:
        arr[:] = self.value

    def dumps(self) -> str:
        value = self.value.asnumpy() if isinstance(self.value, NDArray) else self.value
        return json.dumps(["constant", {"value": np.asarray(value).tolist()}])


@register
class Uniform(Initializer):
    """Uniformly distributed numbers from -scale to scale."""

    def __init__(self, scale: float = 0.07) -> None:
        super().__init__(scale=scale)
        self.scale = scale

    def _init_weight(self, _: str, arr: NDArray) -> None:
        random.uniform(-self.scale, self.scale, out=arr)


@register
class Normal(Initializer):
    """Normally distributed numbers with mean 0 and standard deviation sigma."""

    def __init__(self, sigma: float = 0.01) -> None:
        super().__init__(sigma=sigma)
        self.sigma = sigma

    def _init_weight(self, _: str, arr: NDArray) -> None:
        random.normal(0, self.sigma, out=arr)


@register
class Orthogonal(Initializer):
    """A matrix with orthogonal rows or columns of length `scale`, whichever there are fewer of (Saxe et al. 2013).

    Args:
        rand_type: "uniform" or "normal", the distribution of the matrix whose singular vectors are taken.
    """

    def __init__(self, scale: float = 1.414, rand_type: str = "uniform") -> None:
        super().__init__(scale=scale, rand_type=rand_type)
        self.scale = scale
        self.rand_type = rand_type

    def _init_weight(self, _: str, arr: NDArray) -> None:
        rows, columns = arr.shape[0], int(np.prod(arr.shape[1:]))
        if self.rand_type == "uniform":
            drawn = np.random.uniform(-1.0, 1.0, (rows, columns))
        elif self.rand_type == "normal":
            drawn = np.random.normal(0.0, 1.0, (rows, columns))
        else:
            raise ValueError(f"Orthogonal: rand_type must be 'uniform' or 'normal', got {self.rand_type!r}")
        left, _, right = np.linalg.svd(drawn, full_matrices=False)
        found = left if left.shape == drawn.shape else right
        arr[:] = _array(self.scale * found.reshape(arr.shape), dtype=arr.dtype)


@register
class Xavier(Initializer):
    """Random numbers whose variance is magnitude / n / 3 (uniform) or magnitude / n (Glorot and Bengio 2010).

    Of a shape (out, in, ...) with k elements per pair, n is in * k, out * k, or the mean of both.

    Args:
        rnd_type: "uniform" or "gaussian".
        factor_type: "in", "out" or "avg": what n is.
    """

    def __init__(self, rnd_type: str = "uniform", factor_type: str = "avg", magnitude: float = 3) -> None:
        super().__init__(rnd_type=rnd_type, factor_type=factor_type, magnitude=magnitude)
        self.rnd_type = rnd_type
        self.factor_type = factor_type
        self.magnitude = float(magnitude)

    def _init_weight(self, name: str, arr: NDArray) -> None:
        shape = arr.shape
        if len(shape) < 2:
            raise ValueError(f"Xavier: {name} has fewer than 2 dimensions")
        rest = float(np.prod(shape[2:]))
        fan_in, fan_out = shape[1] * rest, shape[0] * rest
        factor = {"in": fan_in, "out": fan_out, "avg": (fan_in + fan_out) / 2.0}.get(self.factor_type)
        if factor is None:
            raise ValueError(f"Incorrect factor type: {self.factor_type!r} is not 'in', 'out' or 'avg'")
        scale = math.sqrt(self.magnitude / factor)
        if self.rnd_type == "uniform":
            random.uniform(-scale, scale, out=arr)
        elif self.rnd_type == "gaussian":
            random.normal(0, scale, out=arr)
        else:
            raise ValueError(f"Unknown random type: {self.rnd_type!r} is not 'uniform' or 'gaussian'")


@register
class MSRAPrelu(Xavier):
    """Xavier's normal numbers for layers before a leaky unit with that slope (He et al. 2015)."""

    def __init__(self, factor_type: str = "avg", slope: float = 0.25) -> None:
        super().__init__("gaussian", factor_type, 2.0 / (1 + slope**2))
        self._kwargs = {"factor_type": factor_type, "slope": slope}


@register
class Bilinear(Initializer):
    """Weights of a transposed convolution that interpolates linearly between pixels."""

    def __init__(self) -> None:
        super().__init__()

    def _init_weight(self, name: str, arr: NDArray) -> None:
        self._init_bilinear(name, arr)


@register
class LSTMBias(Initializer):
    """The bias of an LSTM: zeros, and `forget_bias` for the forget gate, the second quarter."""

    def __init__(self, forget_bias: float = 1.0) -> None:
        super().__init__(forget_bias=forget_bias)
        self.forget_bias = forget_bias

    def _init_weight(self, name: str, arr: NDArray) -> None:
        units = arr.shape[0] // 4
        arr[:] = 0.0
        arr[units : 2 * units] = self.forget_bias


@register
class FusedRNN(Initializer):
    """The packed weights of `mx.rnn.FusedRNNCell`: each part as an initializer does it by the part's name.

    Args:
        init: an initializer, or one as JSON, for parts named `l0_i2h_f_weight`; None: that of the whole model.
        num_hidden, num_layers, mode, bidirectional: those of the cell.
        forget_bias: with what the biases of an LSTM's forget gates begin.
    """

    def __init__(
        self,
        init: Any,
        num_hidden: int,
        num_layers: int,
        mode: str,
        bidirectional: bool = False,
        forget_bias: float = 1.0,
    ) -> None:
        if isinstance(init, str):
            init = create(init)
        super().__init__(
            init=None if init is None else init.dumps(),
            num_hidden=num_hidden,
            num_layers=num_layers,
            mode=mode,
            bidirectional=bidirectional,
            forget_bias=forget_bias,
        )
        self._init = init
        self._num_hidden = num_hidden
        self._num_layers = num_layers
        self._mode = mode
        self._bidirectional = bidirectional
        self._forget_bias = forget_bias

    def _init_weight(self, desc: str, arr: NDArray) -> None:
        from mxlite.rnn._packed import Packing

        whole = getattr(desc, "global_init", None)
        init = whole if self._init is None else self._init
        if init is None:
            raise WrongTypeError(f"FusedRNN: neither it nor the model has an initializer for the parts of {desc}")
        packing = Packing(self._num_hidden, self._num_layers, self._mode, self._bidirectional)
        for name, start, shape in packing.parts(packing.num_input(arr.size)):
            part = arr[start : start + math.prod(shape)].reshape(shape)
            if self._mode == "lstm" and name.endswith("_f_bias"):
                part[:] = self._forget_bias
            else:
                init(InitDesc(name, global_init=whole), part)


show(globals())
