"""Sequences: one array with a time axis, or a list of an array for each step; lengths, order and masks."""

from __future__ import annotations

from typing import Any

from mxlite import ndarray as nd
from mxlite.ndarray import NDArray


def steps_of(data: NDArray, axis: int) -> list[NDArray]:
    """An array for each step of a time axis."""
    found = nd.split(data, num_outputs=data.shape[axis], axis=axis, squeeze_axis=True)
    return found if isinstance(found, list) else [found]


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

    Returns: the sequence, its time axis, the module mx.nd, the size of the batch.

    Raises: AssertionError: the sequence is None or has another length.
    """
    if inputs is None:
        raise AssertionError("unroll: inputs= is missing: an array, or a list with an array for each step")
    axis, batch_axis = layout.find("T"), layout.find("N")
    in_axis = axis if in_layout is None else in_layout.find("T")
    if isinstance(inputs, NDArray):
        batch_size, count = inputs.shape[batch_axis], inputs.shape[in_axis]
        if merge is False:
            inputs = steps_of(inputs, in_axis)
    else:
        count = len(inputs)
        batch_size = inputs[0].shape[0]
        if merge is True:
            inputs, in_axis = nd.stack(*inputs, axis=axis), axis
    if length is not None and length != count:
        raise AssertionError(f"unroll: the sequence has {count} steps, not {length}")
    if isinstance(inputs, NDArray) and axis != in_axis:
        inputs = nd.swapaxes(inputs, dim1=axis, dim2=in_axis)
    return inputs, axis, nd, batch_size


def _mask_sequence_variable_length(
    F: Any,  # noqa: N803 - 1.9.1's name
    data: Any,
    length: int,
    valid_length: NDArray,
    time_axis: int,
    merge: bool,
) -> Any:
    """A sequence with zeros from the valid length of each sample on; one array, or a list."""
    if not isinstance(data, NDArray):
        data = nd.stack(*data, axis=time_axis)
    masked = nd.SequenceMask(data, valid_length, use_sequence_length=True, axis=time_axis)
    return masked if merge else steps_of(masked, time_axis)


def _reverse_sequences(sequences: list, unroll_step: int, valid_length: NDArray | None = None) -> list:
    """The steps in reversed order; with lengths, those of each sample up to its length."""
    if valid_length is None:
        return list(reversed(sequences))
    whole = nd.SequenceReverse(nd.stack(*sequences, axis=0), valid_length, use_sequence_length=True)
    return steps_of(whole, 0)


def last_states(states: list[list], valid_length: NDArray) -> list[NDArray]:
    """Of the states after each step those after the last valid step of each sample."""
    return [
        nd.SequenceLast(nd.stack(*each, axis=0), valid_length, use_sequence_length=True, axis=0)
        for each in zip(*states)
    ]
