"""The executors of a module: one for each context, over shares of the batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mxlite import ndarray
from mxlite._public import show
from mxlite.context import Context
from mxlite.error import MXValueError, WrongValueError
from mxlite.executor import Executor
from mxlite.io import DataDesc
from mxlite.ndarray.ndarray import NDArray
from mxlite.ndarray.sparse import BaseSparseNDArray
from mxlite.symbol import Symbol

__all__ = ["DataParallelExecutorGroup"]


def _shares(batch: int, count: int) -> list[slice]:
    """Which rows of a batch each context gets. Raises: ValueError: there are fewer rows than contexts."""
    if batch < count:
        raise ValueError(f"a batch of {batch} rows cannot be divided among {count} contexts")
    ends = [round(batch * number / count) for number in range(count + 1)]
    return [slice(begin, end) for begin, end in zip(ends, ends[1:])]


def _devices_of_groups(given: Any, count: int) -> list[dict[str, Context] | None]:
    """For each of `count` contexts the devices of groups of nodes, from one dictionary for each, or from one of all:
    its devices are those of every context, or a list of one for each.

    Raises: ValueError: neither of them, or lists of another length; TypeError: a device that is none.
    """
    if given is None or isinstance(given, (list, tuple)):
        found = [None] * count if given is None else list(given)
        if len(found) != count:
            raise WrongValueError(
                f"group2ctxs: {count} dictionaries are needed, one for each context, got {len(found)}"
            )
        return found
    if not isinstance(given, dict):
        raise WrongValueError(f"group2ctxs: a dictionary, or one for each context, is needed, got {given!r}")
    made: list[dict[str, Context] | None] = [{} for _ in range(count)]
    for group, devices in given.items():
        listed = [devices] if isinstance(devices, Context) else list(devices)
        if len(listed) not in (1, count):
            raise WrongValueError(f"group2ctxs: group {group} needs 1 device or {count}, got {len(listed)}")
        for number, each in enumerate(made):
            each[group] = listed[number % len(listed)]
    return made


class DataParallelExecutorGroup:
    """Executors of one symbol in several contexts, which share out each batch.

    Attributes:
        execs: the executors. param_arrays, grad_arrays, aux_arrays: for each parameter or state, its array in each.
    """

    def __init__(
        self,
        symbol: Symbol,
        contexts: Sequence[Context],
        data_shapes: list[DataDesc],
        label_shapes: list[DataDesc] | None,
        param_names: list[str],
        requests: dict[str, str],
        shared_group: DataParallelExecutorGroup | None = None,
        state_names: Sequence[str] = (),
        group2ctxs: Any = None,
    ) -> None:
        self.symbol = symbol
        self.contexts = list(contexts)
        self.param_names = param_names
        self.state_names = list(state_names)
        self.arg_names = symbol.list_arguments()
        self.aux_names = symbol.list_auxiliary_states()
        self.requests = requests
        self.group2ctxs = _devices_of_groups(group2ctxs, len(self.contexts))
        self._shared = shared_group
        self.execs: list[Executor] = []
        self.bind_exec(data_shapes, label_shapes)

    # ---- binding ----

    def bind_exec(self, data_shapes: list[DataDesc], label_shapes: list[DataDesc] | None) -> None:
        """Makes the executors, or those with other shapes, which keep the parameters' arrays.

        Raises: MXNetError: shapes that do not fit; ValueError: parameters would change; all is as before then.
        """
        before = dict(vars(self))
        try:
            self._bind_exec(data_shapes, label_shapes)
        except Exception:
            vars(self).update(before)
            raise

    def _bind_exec(self, data_shapes: list[DataDesc], label_shapes: list[DataDesc] | None) -> None:
        self.batch_axes = {each.name: DataDesc.get_batch_axis(getattr(each, "layout", None)) for each in data_shapes}
        self.batch_axes.update({each.name: DataDesc.get_batch_axis(each.layout) for each in label_shapes or ()})
        axis = self.batch_axes[data_shapes[0].name]
        self.batch_size = data_shapes[0].shape[max(axis, 0)]
        self.slices = _shares(self.batch_size, len(self.contexts))
        self.execs = [self._make(number, [*data_shapes, *(label_shapes or ())]) for number in range(len(self.contexts))]
        self.data_shapes, self.label_shapes = data_shapes, label_shapes
        self.data_names = [each.name for each in data_shapes]
        self.label_names = [each.name for each in label_shapes or ()]
        self._list_arrays()

    def _make(self, number: int, described: list[DataDesc]) -> Executor:
        shapes = {each.name: self._share_of_shape(each, self.slices[number]) for each in described}
        if self.execs:
            return self._reshaped(self.execs[number], shapes)
        types = {each.name: each.dtype for each in described}
        more: dict[str, Any] = {}
        if self._shared is not None:  # parameters are shared, and a buffer of this executor alone has the data
            names = self.param_names
            more = {"shared_exec": self._shared.execs[number], "shared_arg_names": names, "shared_buffer": {}}
        given = {"grad_req": self.requests, "type_dict": types, "group2ctx": self.group2ctxs[number], **more, **shapes}
        return self.symbol.simple_bind(self.contexts[number], **given)

    def _reshaped(self, executor: Executor, shapes: dict[str, tuple[int, ...]]) -> Executor:
        """An executor with other shapes of data; labels that are not described follow."""
        made = executor.reshape(partial_shaping=True, allow_up_sizing=True, **shapes)
        for name in self.param_names:
            old, new = executor.arg_dict[name].shape, made.arg_dict[name].shape
            if old != new:
                raise MXValueError(f"data of shapes {shapes} change the shape of parameter {name} from {old} to {new}")
        return made

    def _share_of_shape(self, described: DataDesc, share: slice) -> tuple[int, ...]:
        axis, shape = self.batch_axes[described.name], list(described.shape)
        if axis >= 0 and shape:
            shape[axis] = share.stop - share.start
        return tuple(shape)

    def _list_arrays(self) -> None:
        def arrays(kind: str, names: Sequence[str]) -> list[list[Any]]:
            return [[getattr(each, kind)[name] for each in self.execs] for name in names]

        self.param_arrays = arrays("arg_dict", self.param_names)
        self.grad_arrays = arrays("grad_dict", self.param_names)
        self.aux_arrays = arrays("aux_dict", self.aux_names)
        self.state_arrays = arrays("arg_dict", self.state_names)
        self.input_grad_arrays = arrays("grad_dict", self.data_names)
        self.data_arrays = [list(zip(self.slices, each)) for each in arrays("arg_dict", self.data_names)]
        labels = [name for name in self.label_names if name in self.arg_names]
        self.label_arrays = [list(zip(self.slices, each)) for each in arrays("arg_dict", labels)]

    # ---- parameters ----

    def set_params(self, arg_params: dict, aux_params: dict | None, allow_extra: bool = False) -> None:
        """Copies values into all executors. Raises: ValueError: there is no such parameter."""
        for each in self.execs:
            each.copy_params_from(arg_params, aux_params, allow_extra_params=allow_extra)

    def get_params(self, arg_params: dict[str, NDArray], aux_params: dict[str, NDArray]) -> None:
        """Writes the means of the contexts' values into these arrays, by name."""
        for into, listed, arrays in (
            (arg_params, self.param_names, self.param_arrays),
            (aux_params, self.aux_names, self.aux_arrays),
        ):
            for name, copies in zip(listed, arrays):
                mean = copies[0] if len(copies) == 1 else _summed(copies) / len(copies)
                mean.astype(into[name].dtype, copy=False).copyto(into[name])

    # ---- runs ----

    def forward(self, data: Sequence[Any], label: Sequence[Any] | None, is_train: bool) -> None:
        """Runs all executors on their shares of a batch."""
        self._load(self.data_names, self.data_arrays, data)
        if label:
            self._load(self.label_names, self.label_arrays, label)
        for each in self.execs:
            each.forward(is_train=is_train)

    def _load(self, names: list[str], targets: list, given: Sequence[Any]) -> None:
        for name, places, array in zip(names, targets, given):
            axis = self.batch_axes[name]
            for share, target in places:
                whole = len(places) == 1 or axis < 0
                if isinstance(array, BaseSparseNDArray):
                    (array if whole else array[share]).copyto(target)
                else:
                    target[:] = array if whole else _cut(array, axis, share)

    def backward(self, out_grads: Any = None) -> None:
        """Writes the gradients of the last forward in training."""
        if out_grads is not None and isinstance(out_grads, NDArray):
            out_grads = [out_grads]
        for each, share in zip(self.execs, self.slices):
            heads = None
            if out_grads is not None:
                heads = [_cut(grad, 0, share) for grad in out_grads]
            each.backward(out_grads=heads)

    def get_outputs(self, merge_multi_context: bool = True) -> list[Any]:
        """The outputs: joined along the batch, or (without merging) a list of each output's parts."""
        parts = [[each.outputs[i] for each in self.execs] for i in range(len(self.execs[0].outputs))]
        return [_joined(each, 0) for each in parts] if merge_multi_context else parts

    def get_input_grads(self, merge_multi_context: bool = True) -> list[Any]:
        """The gradients of the data, joined along the batch or as a list of each one's parts."""
        if not merge_multi_context:
            return self.input_grad_arrays
        return [_joined(each, self.batch_axes[name]) for name, each in zip(self.data_names, self.input_grad_arrays)]

    def get_output_shapes(self) -> list[tuple[str, tuple[int, ...]]]:
        """The names and shapes of the outputs, of a whole batch."""
        found = []
        for number, name in enumerate(self.symbol.list_outputs()):
            shape = list(self.execs[0].outputs[number].shape)
            if len(self.execs) > 1 and shape:
                shape[0] = sum(each.outputs[number].shape[0] for each in self.execs)
            found.append((name, tuple(shape)))
        return found

    def get_states(self, merge_multi_context: bool = True) -> list[Any]:
        """The arrays of the states, joined along the batch or as a list of each one's parts."""
        return [_joined(each, 0) for each in self.state_arrays] if merge_multi_context else self.state_arrays

    def set_states(self, states: Any = None, value: float | None = None) -> None:
        """Writes the states: arrays as `get_states` gives them, or one number everywhere."""
        if states is None:
            for arrays in self.state_arrays:
                for array in arrays:
                    array[:] = value
            return
        for arrays, given in zip(self.state_arrays, states):
            sources = given if isinstance(given, (list, tuple)) else [given[share] for share in self.slices]
            for array, source in zip(arrays, sources):
                array[:] = source

    def update_metric(self, eval_metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Adds the last outputs to a metric.

        Args:
            labels: of the whole batch, or (pre_sliced) a list for each context.
        """
        for number, (each, share) in enumerate(zip(self.execs, self.slices)):
            if pre_sliced:
                mine = labels[number]
            elif len(self.execs) == 1:
                mine = labels
            else:
                axes = [self.batch_axes.get(name, 0) for name in self.label_names]
                mine = [_cut(label, max(axis, 0), share) for label, axis in zip(labels, axes)]
            names = dict(zip(self.label_names, mine))
            eval_metric.update_dict(names, dict(each.output_dict))

    def install_monitor(self, mon: Any) -> None:
        """Installs a monitor in all executors."""
        for each in self.execs:
            mon.install(each)


def _cut(array: Any, axis: int, share: slice) -> Any:
    if isinstance(array, np.ndarray):
        array = ndarray.array(array, dtype=array.dtype)
    return array.slice_axis(axis=axis, begin=share.start, end=share.stop)


def _joined(parts: list[NDArray], axis: int) -> NDArray:
    if len(parts) == 1:
        return parts[0]
    return ndarray.concatenate([each.as_in_context(parts[0].context) for each in parts], axis=max(axis, 0))


def _summed(arrays: list[NDArray]) -> NDArray:
    return ndarray.add_n(*[each.as_in_context(arrays[0].context) for each in arrays])


show(globals())
