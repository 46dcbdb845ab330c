"""Layers that map features: Linear, Bilinear, Embedding, convolutions."""

from __future__ import annotations

import math
from typing import Any

from mxlite.torch._basic import empty_of, placed
from mxlite.torch._dtypes import get_default_dtype
from mxlite.torch.nn import functional, init
from mxlite.torch.nn._module import Module
from mxlite.torch.nn._windows import sizes_of
from mxlite.torch.nn.parameter import Parameter


class Layer(Module):
    """A module whose own parameters are made from shapes."""

    #: The options that `repr` prints: {0} is the layer, {1} whether it has a bias.
    _shown = ""
    #: Options that are shown where they are not the usual ones.
    _usual: dict[str, Any] = {}

    def extra_repr(self) -> str:  # noqa: D102
        more = (
            f", {name}={getattr(self, name)}" for name, usual in self._usual.items() if getattr(self, name) != usual
        )
        return self._shown.format(self, getattr(self, "bias", None) is not None) + "".join(more)

    def _parameter(self, name: str, shape: tuple[int, ...] | None, dtype: Any = None, device: Any = None) -> None:
        """Registers a parameter of a shape, or None."""
        make = placed(empty_of, device)
        made = None if shape is None else Parameter(make(shape, dtype or get_default_dtype()))
        self.register_parameter(name, made)

    def _uniform(self, bound: float) -> None:
        for each in self._parameters.values():
            if each is not None:
                init.uniform_(each, -bound, bound)


class Identity(Module):
    """What it is given; it takes any arguments."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        """The input itself."""
        return input


class Linear(Layer):
    """x W' + b: (..., in_features) becomes (..., out_features)."""

    _shown = "in_features={0.in_features}, out_features={0.out_features}, bias={1}"

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        self._parameter("weight", (out_features, in_features), dtype, device)
        self._parameter("bias", (out_features,) if bias else None, dtype, device)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws the parameters anew: uniform, up to 1 / sqrt(in_features)."""
        self._uniform(1 / math.sqrt(self.in_features) if self.in_features else 0.0)

    def forward(self, input: Any) -> Any:
        """x W' + b."""
        own = self._parameters
        try:  # what _pair does, in the time that a call would take
            weight, bias = own["weight"], own["bias"]
        except KeyError:
            weight, bias = self.weight, self.bias
        return functional.linear(input, weight, bias)


class Bilinear(Layer):
    """y[k] = x1' W[k] x2 + b[k]: (..., in1_features) and (..., in2_features) become (..., out_features)."""

    _shown = "in1_features={0.in1_features}, in2_features={0.in2_features}, out_features={0.out_features}, bias={1}"

    def __init__(
        self, in1_features: int, in2_features: int, out_features: int, bias: bool = True, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if in1_features <= 0:
            raise ValueError(f"Bilinear: in1_features is 1 or more, got {in1_features}")
        self.in1_features, self.in2_features, self.out_features = in1_features, in2_features, out_features
        self._parameter("weight", (out_features, in1_features, in2_features), dtype, device)
        self._parameter("bias", (out_features,) if bias else None, dtype, device)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws the parameters anew: uniform, up to 1 / sqrt(in1_features)."""
        self._uniform(1 / math.sqrt(self.in1_features))

    def forward(self, input1: Any, input2: Any) -> Any:
        """x1' W x2 + b."""
        return functional.bilinear(input1, input2, self.weight, self.bias)


class Embedding(Layer):
    """Rows of a weight at indices: (...) becomes (..., embedding_dim)."""

    _shown, _usual = "{0.num_embeddings}, {0.embedding_dim}", {"padding_idx": None, "max_norm": None, "norm_type": 2.0}

    def __init__(
        self, num_embeddings: int, embedding_dim: int, padding_idx: int | None = None, max_norm: float | None = None,
        norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False, _weight: Any = None,
        _freeze: bool = False, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.max_norm, self.norm_type, self.scale_grad_by_freq, self.sparse = (
            max_norm, norm_type, scale_grad_by_freq, sparse
        )  # fmt: skip
        if scale_grad_by_freq or sparse:
            raise NotImplementedError("mxlite.torch: Embedding has no scale_grad_by_freq and no sparse")
        if padding_idx is not None:
            if not -num_embeddings <= padding_idx < num_embeddings:
                raise AssertionError(f"Embedding: padding_idx is one of {num_embeddings} rows, got {padding_idx}")
            padding_idx %= num_embeddings
        self.num_embeddings, self.embedding_dim, self.padding_idx = num_embeddings, embedding_dim, padding_idx
        if _weight is None:
            self._parameter("weight", (num_embeddings, embedding_dim), dtype, device)
            self.reset_parameters()
        else:
            if list(_weight.shape) != [num_embeddings, embedding_dim]:
                raise AssertionError(
                    f"Embedding: a weight of shape {list(_weight.shape)}, expected {[num_embeddings, embedding_dim]}"
                )
            self.weight = Parameter(_weight)
        self.weight.requires_grad_(not _freeze)

    def reset_parameters(self) -> None:
        """Draws the weight anew, normally distributed; the row of padding_idx is 0."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            init.zeros_(self.weight.detach()[self.padding_idx])

    @classmethod
    def from_pretrained(cls, embeddings: Any, freeze: bool = True, padding_idx: int | None = None) -> Embedding:
        """One with a given weight, which wants no gradient if `freeze`."""
        return cls(*embeddings.shape, padding_idx=padding_idx, _weight=embeddings, _freeze=freeze)

    def forward(self, input: Any) -> Any:
        """The rows at indices."""
        return functional.embedding(input, self.weight, self.padding_idx, self.max_norm, self.norm_type)


class EmbeddingBag(Layer):
    """Sums, means or maxima (`mode`) of rows of a weight at indices in bags."""

    _shown, _usual = "{0.num_embeddings}, {0.embedding_dim}", {"max_norm": None, "norm_type": 2.0}

    def __init__(
        self, num_embeddings: int, embedding_dim: int, max_norm: float | None = None, norm_type: float = 2.0,
        scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, _weight: Any = None,
        include_last_offset: bool = False, padding_idx: int | None = None, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if scale_grad_by_freq or sparse:
            raise NotImplementedError("mxlite.torch: EmbeddingBag has no scale_grad_by_freq and no sparse")
        if padding_idx is not None and not -num_embeddings <= padding_idx < num_embeddings:
            raise AssertionError(f"EmbeddingBag: padding_idx is one of {num_embeddings} rows, got {padding_idx}")
        self.num_embeddings, self.embedding_dim, self.mode = num_embeddings, embedding_dim, mode
        self.max_norm, self.norm_type, self.include_last_offset = max_norm, norm_type, include_last_offset
        self.padding_idx = None if padding_idx is None else padding_idx % num_embeddings
        if _weight is None:
            self._parameter("weight", (num_embeddings, embedding_dim), dtype, device)
            self.reset_parameters()
        else:
            self.weight = Parameter(_weight)

    reset_parameters = Embedding.reset_parameters

    @classmethod
    def from_pretrained(cls, embeddings: Any, freeze: bool = True, **options: Any) -> EmbeddingBag:
        """One with a given weight, which wants no gradient if `freeze`."""
        made = cls(*embeddings.shape, _weight=embeddings, **options)
        made.weight.requires_grad_(not freeze)
        return made

    def forward(self, input: Any, offsets: Any = None, per_sample_weights: Any = None) -> Any:
        """A row for each bag: of indices (bag, index), or one behind another with offsets."""
        return functional.embedding_bag(
            input, self.weight, offsets, self.max_norm, self.norm_type, mode=self.mode, padding_idx=self.padding_idx,
            per_sample_weights=per_sample_weights, include_last_offset=self.include_last_offset,
        )  # fmt: skip

    def extra_repr(self) -> str:  # noqa: D102
        padding = "" if self.padding_idx is None else f", padding_idx={self.padding_idx}"
        return f"{super().extra_repr()}, mode={self.mode!r}{padding}"


class _Convolution(Layer):
    """What Conv1d to Conv3d and ConvTranspose1d to ConvTranspose3d have in common."""

    _dims = 0
    _turned = False

    def _prepare(
        self, channels: tuple[int, int], sizes: dict[str, Any], groups: int, bias: bool, padding_mode: str, made: dict
    ) -> None:
        Module.__init__(self)
        if groups <= 0:
            raise ValueError(f"{type(self).__name__}: groups is 1 or more, got {groups}")
        for count, word in zip(channels, ("in_channels", "out_channels")):
            if count % groups:
                raise ValueError(f"{type(self).__name__}: groups ({groups}) does not divide {word} ({count})")
        padding = sizes["padding"]
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"{type(self).__name__}: padding as a word is 'same' or 'valid', got {padding!r}")
            if padding == "same" and any(each != 1 for each in sizes_of(sizes["stride"], self._dims)):
                raise ValueError(f"{type(self).__name__}: padding='same' is for stride 1, got {sizes['stride']}")
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(
                f"{type(self).__name__}: padding_mode is 'zeros', 'reflect', 'replicate' or 'circular', "
                f"got {padding_mode!r}"
            )
        self.in_channels, self.out_channels = channels
        for name, size in sizes.items():
            setattr(self, name, size if isinstance(size, str) else sizes_of(size, self._dims))
        self.groups, self.padding_mode = groups, padding_mode
        first, second = reversed(channels) if not self._turned else channels
        self._parameter("weight", (first, second // groups, *self.kernel_size), **made)
        self._parameter("bias", (self.out_channels,) if bias else None, **made)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draws the parameters anew: uniform, up to 1 / sqrt of what the weight's first dimension does not count."""
        fan = math.prod(self.weight.shape[1:])
        self._uniform(1 / math.sqrt(fan) if fan else 0.0)

    def extra_repr(self) -> str:  # noqa: D102
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        plain = {"padding": 0, "dilation": 1, "output_padding": 0}
        for name, usual in plain.items():
            size = getattr(self, name)
            if size != (usual,) * self._dims:
                text += f", {name}={size}"
        text += f", groups={self.groups}" * (self.groups != 1) + ", bias=False" * (self.bias is None)
        return text + f", padding_mode={self.padding_mode}" * (self.padding_mode != "zeros")


class _Straight(_Convolution):
    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros", device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        sizes = {"kernel_size": kernel_size, "stride": stride, "padding": padding, "dilation": dilation}
        made = {"device": device, "dtype": dtype}
        sizes["output_padding"] = 0
        self._prepare((in_channels, out_channels), sizes, groups, bias, padding_mode, made)

    def forward(self, input: Any) -> Any:
        """The convolution of (batch, channels, ...), or without the batch."""
        padding = self.padding
        if self.padding_mode != "zeros":
            if isinstance(padding, str):
                whole = [d * (k - 1) * (padding == "same") for d, k in zip(self.dilation, self.kernel_size)]
            else:
                whole = [2 * each for each in padding]
            rims = [rim for each in reversed(whole) for rim in (each // 2, each - each // 2)]
            input, padding = functional.pad(input, rims, self.padding_mode), 0  # noqa: A001
        return self._function(input, *self._pair(), self.stride, padding, self.dilation, self.groups)


class _Turned(_Convolution):
    _turned = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: int = 1, bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros",
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if padding_mode != "zeros":
            raise ValueError(f"{type(self).__name__}: padding_mode is 'zeros', got {padding_mode!r}")
        sizes = {"kernel_size": kernel_size, "stride": stride, "padding": padding, "dilation": dilation}
        sizes["output_padding"] = output_padding
        made = {"device": device, "dtype": dtype}
        self._prepare((in_channels, out_channels), sizes, groups, bias, padding_mode, made)

    def forward(self, input: Any, output_size: Any = None) -> Any:
        """The transposed convolution; `output_size`: the spatial sizes of the result, which choose output_padding."""
        more = self.output_padding
        if output_size is not None:
            wanted = tuple(output_size)[-self._dims :]
            sizes = zip(input.shape[-self._dims :], self.stride, self.padding, self.dilation, self.kernel_size)
            least = [(n - 1) * step - 2 * rim + d * (k - 1) + 1 for n, step, rim, d, k in sizes]
            more = tuple(want - size for want, size in zip(wanted, least))
            if any(not 0 <= each < step for each, step in zip(more, self.stride)):
                raise ValueError(f"{type(self).__name__}: output_size is {least} or a little more, got {wanted}")
        return self._function(input, *self._pair(), self.stride, self.padding, more, self.groups, self.dilation)


for _dims in (1, 2, 3):
    for _base, _name, _of in ((_Straight, "Conv", "conv"), (_Turned, "ConvTranspose", "conv_transpose")):
        _function = staticmethod(getattr(functional, f"{_of}{_dims}d"))
        _document = f"functional.{_of}{_dims}d: (batch, in_channels, ...) becomes (batch, out_channels, ...)."
        _body = {"_dims": _dims, "_function": _function, "__doc__": _document, "__module__": __name__}
        globals()[f"{_name}{_dims}d"] = type(f"{_name}{_dims}d", (_base,), _body)
