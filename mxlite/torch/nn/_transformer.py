"""MultiheadAttention, and the layers of transformers that are made of it."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from typing import Any

from mxlite.torch._dtypes import get_default_dtype
from mxlite.torch._errors import warn
from mxlite.torch._tensor import Tensor, full_of
from mxlite.torch.nn import functional, init
from mxlite.torch.nn._containers import ModuleList
from mxlite.torch.nn._linear import Layer, Linear
from mxlite.torch.nn._module import Module
from mxlite.torch.nn._norms import LayerNorm
from mxlite.torch.nn._plain import GELU, Dropout, ReLU  # type: ignore[attr-defined]


class NonDynamicallyQuantizableLinear(Linear):
    """Linear, as PyTorch calls the last layer of MultiheadAttention."""


class MultiheadAttention(Layer):
    """Attention of several heads: each is softmax(q k' / sqrt(d)) v of its own projections of query, key and value.

    Args:
        add_bias_kv: Whether key and value get one more step, of parameters; add_zero_attn: of zeros.
        kdim, vdim: The features of key and value, if they are not embed_dim.
        batch_first: Whether inputs are (batch, step, feature), not (step, batch, feature).
    """

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(f"MultiheadAttention: sizes are 1 or more, got {embed_dim} and {num_heads}")
        super().__init__()
        if embed_dim % num_heads:
            raise AssertionError(f"MultiheadAttention: num_heads ({num_heads}) does not divide embed_dim ({embed_dim})")
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.kdim, self.vdim = (embed_dim if each is None else each for each in (kdim, vdim))
        self.head_dim, self.add_zero_attn = embed_dim // num_heads, add_zero_attn
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        whole = (3 * embed_dim, embed_dim) if self._qkv_same_embed_dim else None
        parts = [None] * 3 if whole else [(embed_dim, size) for size in (embed_dim, self.kdim, self.vdim)]
        more = (1, 1, embed_dim) if add_bias_kv else None
        shapes = {**dict(zip(("q_proj_weight", "k_proj_weight", "v_proj_weight"), parts)), "in_proj_weight": whole}
        shapes.update(in_proj_bias=(3 * embed_dim,) if bias else None)
        for name, shape in shapes.items():
            self._parameter(name, shape, dtype, device)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, device, dtype)
        self._parameter("bias_k", more, dtype, device)
        self._parameter("bias_v", more, dtype, device)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for name, each in self._parameters.items():
            if each is not None:
                starts = {"in_proj_bias": init.zeros_, "bias_k": init.xavier_normal_, "bias_v": init.xavier_normal_}
                starts.get(name, init.xavier_uniform_)(each)
        if self.out_proj.bias is not None:
            init.zeros_(self.out_proj.bias)

    def forward(
        self, query: Any, key: Any, value: Any, key_padding_mask: Any = None, need_weights: bool = True,
        attn_mask: Any = None, average_attn_weights: bool = True, is_causal: bool = False,
    ) -> tuple[Any, Any]:  # fmt: skip
        """The attended values, and the weights (of all heads, or their mean; None without need_weights).

        Args:
            key_padding_mask: (batch, step) keys, attn_mask: (query, key) or one for each head, that are left out
                (bool), or what is added to the scores.
        """
        turned = self.batch_first and query.ndim == 3
        given = [each.transpose(0, 1) if turned else each for each in (query, key, value)]
        made, weights = functional.multi_head_attention_forward(
            *given, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k,
            self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, self.training,
            key_padding_mask, need_weights, attn_mask, not self._qkv_same_embed_dim, self.q_proj_weight,
            self.k_proj_weight, self.v_proj_weight, None, None, average_attn_weights, is_causal,
        )  # fmt: skip
        return made.transpose(0, 1) if turned else made, weights


class _Block(Module):
    """A layer of attentions and a network of each step, each added to what it is given, and normalised."""

    _attentions: tuple[str, ...] = ()

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: str | Callable = functional.relu, layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        made = {"device": device, "dtype": dtype}
        for name in self._attentions:
            setattr(self, name, MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **made))
        self.linear1 = Linear(d_model, dim_feedforward, bias, **made)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias, **made)
        self.norm_first, numbers = norm_first, range(1, len(self._attentions) + 2)
        for number in numbers:
            setattr(self, f"norm{number}", LayerNorm(d_model, layer_norm_eps, bias=bias, **made))
        for number in numbers:
            setattr(self, f"dropout{number}", Dropout(dropout))
        if isinstance(activation, str):
            if activation not in ("relu", "gelu"):
                raise RuntimeError(f"{type(self).__name__}: activation is 'relu', 'gelu' or a function, {activation!r}")
            activation = getattr(functional, activation)
        self.activation = activation

    def _through(self, x: Any, *attend: Callable[[Any], Any]) -> Any:
        for number, part in enumerate((*attend, self._feed), 1):
            norm, drop = getattr(self, f"norm{number}"), getattr(self, f"dropout{number}")
            x = x + drop(part(norm(x))) if self.norm_first else norm(x + drop(part(x)))
        return x

    def _feed(self, x: Any) -> Any:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_Block):
    """Attention of a sequence to itself, then a network of each step."""

    _attentions = ("self_attn",)

    def forward(
        self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False
    ) -> Any:  # fmt: skip
        """The sequence, encoded."""
        return self._through(
            src, lambda x: self.self_attn(x, x, x, src_key_padding_mask, False, src_mask, is_causal=is_causal)[0]
        )


class TransformerDecoderLayer(_Block):
    """Attention of a sequence to itself, and to the encoded one (`memory`), then a network of each step."""

    _attentions = ("self_attn", "multihead_attn")

    def forward(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None, tgt_is_causal: bool = False, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """The sequence, decoded."""
        given = (memory, memory, memory_key_padding_mask, False, memory_mask)
        return self._through(
            tgt,
            lambda x: self.self_attn(x, x, x, tgt_key_padding_mask, False, tgt_mask, is_causal=tgt_is_causal)[0],
            lambda x: self.multihead_attn(x, *given, is_causal=memory_is_causal)[0],
        )


class _Stack(Module):
    """Copies of a layer, one after another, and a norm."""

    def __init__(self, layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def _run(self, x: Any, *given: Any) -> Any:
        for layer in self.layers:
            x = layer(x, *given)
        return x if self.norm is None else self.norm(x)


def _is_causal(mask: Any, flag: bool | None) -> bool:
    """Whether a mask leaves out later steps and nothing else; `flag`: what the caller says."""
    if flag is not None or mask is None or mask.ndim != 2 or mask.shape[0] != mask.shape[1]:
        return bool(flag)
    return bool((mask == Transformer.generate_square_subsequent_mask(mask.shape[0], dtype=mask.dtype)).all())


#: Why PyTorch runs an encoder of such layers without nested tensors (which there are none of here).
_NOT_NESTED: dict[str, Callable[[Any], Any]] = {
    "is no TransformerEncoderLayer": lambda layer: not isinstance(layer, TransformerEncoderLayer),
    "has norm_first": lambda layer: layer.norm_first,
    "has no batch_first": lambda layer: not layer.self_attn.batch_first,
    "has no bias": lambda layer: layer.self_attn.in_proj_bias is None,
    "has another activation than relu and gelu": lambda layer: (
        layer.activation not in (functional.relu, functional.gelu) and not isinstance(layer.activation, (ReLU, GELU))
    ),
    "has norms of several eps": lambda layer: layer.norm1.eps != layer.norm2.eps,
    "has an odd number of heads": lambda layer: layer.self_attn.num_heads % 2,
}


class TransformerEncoder(_Stack):
    """Copies of an encoder layer, one after another, and a norm."""

    def __init__(
        self, encoder_layer: Any, num_layers: int, norm: Any = None, enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(encoder_layer, num_layers, norm)
        self.enable_nested_tensor, self.mask_check = enable_nested_tensor, mask_check
        why = next((each for each, is_so in _NOT_NESTED.items() if is_so(encoder_layer)), None)
        self.use_nested_tensor = enable_nested_tensor and why is None
        if enable_nested_tensor and why is not None:
            warn(f"TransformerEncoder: enable_nested_tensor has no effect with a layer that {why}")

    def forward(
        self, src: Any, mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool | None = None
    ) -> Any:  # fmt: skip
        """The sequence, encoded."""
        return self._run(src, mask, src_key_padding_mask, _is_causal(mask, is_causal))


class TransformerDecoder(_Stack):
    """Copies of a decoder layer, one after another, and a norm."""

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Any = None) -> None:
        super().__init__(decoder_layer, num_layers, norm)

    def forward(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None, tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """The sequence, decoded."""
        masks = (tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask)
        return self._run(tgt, memory, *masks, _is_causal(tgt_mask, tgt_is_causal), memory_is_causal)


class Transformer(Module):
    """An encoder and a decoder."""

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
        dim_feedforward: int = 2048, dropout: float = 0.1, activation: str | Callable = functional.relu,
        custom_encoder: Any = None, custom_decoder: Any = None, layer_norm_eps: float = 1e-5,
        batch_first: bool = False, norm_first: bool = False, bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        made = {"bias": bias, "device": device, "dtype": dtype}
        norms = [LayerNorm(d_model, layer_norm_eps, **made) for _ in range(2)]
        self.encoder = custom_encoder or TransformerEncoder(
            TransformerEncoderLayer(*options, device, dtype), num_encoder_layers, norms[0]
        )
        self.decoder = custom_decoder or TransformerDecoder(
            TransformerDecoderLayer(*options, device, dtype), num_decoder_layers, norms[1]
        )
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def _reset_parameters(self) -> None:
        for each in self.parameters():
            if each.ndim > 1:
                init.xavier_uniform_(each)

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """A mask (sz, sz) that leaves out later steps: -inf above the diagonal, else 0."""
        return full_of((sz, sz), -math.inf, dtype or get_default_dtype()).triu(1)

    def forward(
        self, src: Any, tgt: Any, src_mask: Any = None, tgt_mask: Any = None, memory_mask: Any = None,
        src_key_padding_mask: Any = None, tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None,
        src_is_causal: bool | None = None, tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """The target sequence, decoded by the encoded source."""
        if src.shape[-1] != self.d_model or tgt.shape[-1] != self.d_model or (
            src.ndim == 3 and src.shape[not self.batch_first] != tgt.shape[not self.batch_first]
        ):  # fmt: skip
            raise RuntimeError(
                f"Transformer: {self.d_model} features, and as many sequences, got {src.shape} and {tgt.shape}"
            )
        memory = self.encoder(src, src_mask, src_key_padding_mask, src_is_causal)
        return self.decoder(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask,
                            tgt_is_causal, memory_is_causal)  # fmt: skip
