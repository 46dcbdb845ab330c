"""`torch.nn.utils.rnn`: sequences of several lengths as one tensor, with padding or packed step by step."""

from __future__ import annotations

from collections.abc import Sequence as _Sequence
from typing import Any, NamedTuple

import numpy as _np

from mxlite._public import show as _show
from mxlite.torch._shape.parts import cat as _cat
from mxlite.torch._tensor import Tensor
from mxlite.torch._tensor import from_values as _from_values


class _Packed(NamedTuple):
    data: Tensor
    batch_sizes: Tensor
    sorted_indices: Tensor | None = None
    unsorted_indices: Tensor | None = None


class PackedSequence(_Packed):
    """Sequences, longest first: `data` has the first elements of all, then all second ones, and so on.

    `batch_sizes` says how many sequences have each step, `sorted_indices` which sequence each is.
    """

    def __new__(
        cls, data: Any, batch_sizes: Any = None, sorted_indices: Any = None, unsorted_indices: Any = None
    ) -> Any:  # fmt: skip
        if unsorted_indices is None:
            unsorted_indices = invert_permutation(sorted_indices)
        return super().__new__(cls, data, batch_sizes, sorted_indices, unsorted_indices)

    def to(self, *args: Any, **kwargs: Any) -> PackedSequence:
        """With data of another dtype."""
        return type(self)(self.data.to(*args, **kwargs), *self[1:])

    @property
    def is_cuda(self) -> bool:
        """False."""
        return False


def invert_permutation(permutation: Tensor | None) -> Tensor | None:
    """Where each index is in a permutation."""
    return None if permutation is None else permutation.argsort()


def pack_padded_sequence(
    input: Tensor, lengths: Any, batch_first: bool = False, enforce_sorted: bool = True
) -> PackedSequence:  # fmt: skip
    """Packs (step, batch, ...), of whose sequences only the first `lengths` count.

    Args:
        enforce_sorted: Whether it is an error that a longer one follows a shorter one.
    """
    counts = _np.asarray(lengths._values() if isinstance(lengths, Tensor) else lengths).astype(_np.int64)
    x, order = (input.transpose(0, 1) if batch_first else input), None
    if not enforce_sorted:
        order = _np.argsort(-counts, kind="stable")
        counts = counts[order]
    if x.shape[1] != len(counts) or not len(counts) or counts.min() <= 0 or (_np.diff(counts) > 0).any():
        raise RuntimeError(
            f"pack_padded_sequence: a length of 1 or more for each of {x.shape[1]} sequences, longest first "
            f"(enforce_sorted=False sorts them), got {counts.tolist()}"
        )
    sizes = (counts[None, :] > _np.arange(counts[0])[:, None]).sum(1)
    rows = order if order is not None else _np.arange(len(counts))
    places = _np.concatenate([step * len(counts) + rows[:size] for step, size in enumerate(sizes)])
    data = x.reshape(-1, *x.shape[2:]).index_select(0, _from_values(places))
    return PackedSequence(data, _from_values(sizes), None if order is None else _from_values(order))


def pad_packed_sequence(
    sequence: PackedSequence, batch_first: bool = False, padding_value: float = 0.0, total_length: int | None = None
) -> tuple[Tensor, Tensor]:
    """(step, batch, ...) with padding behind shorter sequences, and their lengths.

    Args:
        total_length: The number of steps; None: of the longest one.
    """
    sizes = sequence.batch_sizes._values()
    steps = len(sizes) if total_length is None else total_length
    if steps < len(sizes):
        raise ValueError(f"pad_packed_sequence: total_length is {len(sizes)} or more, got {steps}")
    rows, starts = _np.arange(sizes[0]), _np.append(0, _np.cumsum(sizes))
    if sequence.unsorted_indices is not None:
        rows = sequence.unsorted_indices._values()
    sizes = _np.append(sizes, _np.zeros(steps - len(sizes), _np.int64))
    given = rows[None, :] < sizes[:, None]
    places = _np.where(given, _np.append(starts, starts[-1:].repeat(steps))[:steps, None] + rows, 0)
    x = sequence.data.index_select(0, _from_values(places.reshape(-1))).reshape(*places.shape, *sequence.data.shape[1:])
    x = x.masked_fill(_from_values(~given).reshape(*given.shape, *[1] * (x.ndim - 2)), padding_value)
    return x.transpose(0, 1) if batch_first else x, _from_values(given.sum(0))


def pad_sequence(
    sequences: _Sequence[Tensor], batch_first: bool = False, padding_value: float = 0.0, padding_side: str = "right"
) -> Tensor:
    """Sequences of several lengths as (step, batch, ...), with padding behind ("left": before) shorter ones."""
    from mxlite.torch.nn._rims import constant_pad  # noqa: PLC0415 - it imports this module

    if padding_side not in ("left", "right"):
        raise RuntimeError(f"pad_sequence: padding_side is 'left' or 'right', got {padding_side!r}")
    given, made = [*sequences], []
    steps = max(len(each) for each in given)
    for each in given:
        rim = (0, steps - len(each)) if padding_side == "right" else (steps - len(each), 0)
        made.append(constant_pad(each, (0, 0) * (each.ndim - 1) + rim, padding_value).unsqueeze(not batch_first))
    return _cat(made, 0 if batch_first else 1)


def unpad_sequence(padded_sequences: Tensor, lengths: Tensor, batch_first: bool = False) -> list[Tensor]:
    """The sequences without their padding."""
    x = padded_sequences if batch_first else padded_sequences.transpose(0, 1)
    return [row.narrow(0, 0, int(count)) for row, count in zip(x.unbind(0), lengths)]


def pack_sequence(sequences: _Sequence[Tensor], enforce_sorted: bool = True) -> PackedSequence:
    """Packs sequences of several lengths."""
    return pack_padded_sequence(pad_sequence(sequences), [len(each) for each in sequences], False, enforce_sorted)


def unpack_sequence(packed_sequences: PackedSequence) -> list[Tensor]:
    """The sequences that pack_sequence packed."""
    return unpad_sequence(*pad_packed_sequence(packed_sequences))


_show(globals())
