"""Sequences: one array with a time axis, or a list of an array for each step; lengths, order and masks."""

from __future__ import annotations

from typing import Any

from mxlite.error import WrongTypeError, WrongValueError
from mxlite.ndarray import NDArray
from mxlite.ndarray._kinds import functions_for
from mxlite.symbol import Symbol


def functions_of(value: Any) -> Any:
    """F for a symbol or an array: mx.sym, or mx.nd for arrays of its class."""
    return functions_for(value._kind)


def steps_of(data: Any, axis: int, length: int | None = None) -> list:
    """An array for each step of a time axis; `length`: how many steps a symbol has."""
    F = functions_of(data)  # noqa: N806
    count = length if isinstance(data, Symbol) else data.shape[axis]
    found = F.split(data, num_outputs=count, axis=axis, squeeze_axis=True)
    return [found] if isinstance(found, NDArray) else list(found)


def _format_sequence(
    length: int | None, inputs: Any, layout: str, merge: bool | None, in_layout: str | None = None
) -> tuple[Any, int, Any, int]:
    """A sequence in the form that is wanted.

    Args:
        length: how many steps it must have; None: any number.
        inputs: one array, or a list with an array for each step.
        layout: "NTC" or "TNC": the axes of one array.
        merge: True: one array is wanted; False: a list; None: either.
        in_layout: the axes of `inputs`, if other than `layout`.

    Returns: the sequence, its time axis, mx.nd or mx.sym, the size of the batch (of symbols 0, unknown).

    Raises: ValueError or TypeError: the sequence is None or has another length.
    """
    if inputs is None:
        raise WrongTypeError("unroll: inputs= is missing: an array, or a list with an array for each step")
    axis, batch_axis = layout.find("T"), layout.find("N")
    in_axis = axis if in_layout is None else in_layout.find("T")
    F = functions_of(inputs[0] if isinstance(inputs, (list, tuple)) else inputs)  # noqa: N806
    batch_size = 0
    if isinstance(inputs, (NDArray, Symbol)):
        count = length
        if isinstance(inputs, NDArray):
            batch_size, count = inputs.shape[batch_axis], inputs.shape[in_axis]
        if merge is False:
            inputs = steps_of(inputs, in_axis, length)
    else:
        count = len(inputs)
        if isinstance(inputs[0], NDArray):
            batch_size = inputs[0].shape[0]
        if merge is True:
            inputs, in_axis = F.stack(*inputs, axis=axis), axis
    if length is not None and length != count:
        raise WrongValueError(f"unroll: the sequence has {count} steps, not {length}")
    if isinstance(inputs, (NDArray, Symbol)) and axis != in_axis:
        inputs = F.swapaxes(inputs, dim1=axis, dim2=in_axis)
    return inputs, axis, F, batch_size


def _mask_sequence_variable_length(
    F: Any,  # noqa: N803 - 1.9.1's name
    data: Any,
    length: int,
    valid_length: Any,
    time_axis: int,
    merge: bool,
) -> Any:
    """A sequence with zeros from the valid length of each sample on; one array, or a list."""
    if not isinstance(data, (NDArray, Symbol)):
        data = F.stack(*data, axis=time_axis)
    masked = F.SequenceMask(data, valid_length, use_sequence_length=True, axis=time_axis)
    return masked if merge else steps_of(masked, time_axis, length)


def _reverse_sequences(sequences: list, unroll_step: int, valid_length: Any = None) -> list:
    """The steps in reversed order; with lengths, those of each sample up to its length."""
    if valid_length is None:
        return list(reversed(sequences))
    F = functions_of(sequences[0])  # noqa: N806
    whole = F.SequenceReverse(F.stack(*sequences, axis=0), valid_length, use_sequence_length=True)
    return steps_of(whole, 0, unroll_step)


def last_states(states: list[list], valid_length: Any) -> list:
    """Of the states after each step those after the last valid step of each sample."""
    F = functions_of(states[0][0])  # noqa: N806
    return [
        F.SequenceLast(F.stack(*each, axis=0), valid_length, use_sequence_length=True, axis=0) for each in zip(*states)
    ]
