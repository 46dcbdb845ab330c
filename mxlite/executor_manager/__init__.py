"""`mx.executor_manager`: executors of one symbol on several devices, each with a share of the batch by its work load.

It is what `mx.model.FeedForward` trains with, and what programs from before `mx.mod.Module` use themselves.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any

from mxlite import ndarray
from mxlite._public import show as _show
from mxlite.context import Context
from mxlite.error import MXNotImplementedError, WrongValueError
from mxlite.executor import Executor
from mxlite.ndarray.ndarray import NDArray
from mxlite.symbol import Symbol

__all__ = ["DataParallelExecutorGroup", "DataParallelExecutorManager"]


def _split_input_slice(batch_size: int, work_load_list: Sequence[float]) -> list[slice]:
    """The rows of a batch that each device gets, in proportion to its work load; the last one gets what is left.

    Raises: ValueError: one would get none.
    """
    total = sum(work_load_list)
    counts = [round(load * batch_size / total) for load in work_load_list]
    counts[-1] += max(batch_size - sum(counts), 0)
    found, begin = [], 0
    for count in counts:
        end = min(begin + count, batch_size)
        if begin >= end:
            raise ValueError(
                f"a batch of {batch_size} rows cannot be divided among devices with work loads {list(work_load_list)}"
            )
        found.append(slice(begin, end))
        begin = end
    return found


def _check_arguments(symbol: Symbol) -> None:
    """Raises: ValueError: two arguments, or two auxiliary states, have one name."""
    for kind, names in (
        ("arguments", symbol.list_arguments()),
        ("auxiliary states", symbol.list_auxiliary_states()),
    ):
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"{kind} with one name: {', '.join(twice)}; each needs a name of its own, all are {names}")


def _load_general(data: Iterable[Any], targets: Iterable[Any]) -> None:
    """Copies arrays to others, or to the parts of rows that lists of (slice, array) name.

    Raises: ValueError: an array has another number of rows than its parts together.
    """
    for source, target in zip(data, targets):
        if isinstance(target, NDArray):
            source.copyto(target)
            continue
        if target[-1][0].stop != source.shape[0]:
            raise WrongValueError(f"a batch of {target[-1][0].stop} rows is expected, given {source.shape[0]}")
        for rows, part in target:
            source[rows].copyto(part)


def _load_data(batch: Any, targets: Iterable[Any]) -> None:
    """Copies a batch's data."""
    _load_general(batch.data, targets)


def _load_label(batch: Any, targets: Iterable[Any]) -> None:
    """Copies a batch's labels."""
    _load_general(batch.label, targets)


def _wanted_gradients(arguments: list[str], inputs: Iterable[str], need_grad: bool | set[str]) -> set[str]:
    if isinstance(need_grad, (set, frozenset)):
        return set(need_grad)
    return set(arguments) - set(inputs) if need_grad else set()


def _array(name: str, held: Any, shape: tuple[int, ...], dtype: Any, ctx: Context) -> NDArray:
    """An array that is there already, or a new one. Raises: ValueError: it has another shape or dtype."""
    if held is None:
        return ndarray.zeros(shape, dtype=dtype, ctx=ctx)
    if held.shape != shape or held.dtype != dtype:
        raise WrongValueError(f"{name} is shared: it has shape {held.shape} and {held.dtype}, needed {shape}, {dtype}")
    return held


def _bind_exec(
    sym: Symbol,
    ctx: Context,
    input_shapes: dict[str, tuple[int, ...]],
    param_names: Sequence[str],
    need_grad: bool | set[str] = False,
    base_exec: Executor | None = None,
    shared_data_arrays: dict[str, NDArray] | None = None,
    input_types: dict[str, Any] | None = None,
    logger: Any = logging,
) -> Executor:
    """An executor over new arrays, and over the parameters and states of another one.

    Args:
        need_grad: whether all but the inputs get gradients, or the names of those that do.
        base_exec: whose parameters, gradients and states are used.
        shared_data_arrays: arrays of inputs by name, used where they have the shape and dtype, and the new ones.
    Raises: ValueError: the shapes do not suffice; ValueError: a shared parameter has another shape.
    """
    shapes, _, state_shapes = sym.infer_shape(**input_shapes)
    types, _, state_types = sym.infer_type(**(input_types or dict.fromkeys(input_shapes, "float32")))
    if shapes is None or types is None:
        raise ValueError(f"the shapes {input_shapes} do not suffice to bind the symbol")
    names = sym.list_arguments()
    wanted = _wanted_gradients(names, input_shapes, need_grad)
    known = {} if shared_data_arrays is None else shared_data_arrays
    arrays, grads = [], {}
    for name, shape, dtype in zip(names, shapes, types):
        shares = base_exec is not None and name in param_names
        held = base_exec.arg_dict[name] if shares and base_exec is not None else known.get(name)
        if not shares and held is not None and (held.shape != shape or held.dtype != dtype):
            held = None
        arrays.append(_array(name, held, shape, dtype, ctx))
        if name in input_shapes:
            known[name] = arrays[-1]
        if name in wanted:
            old = base_exec.grad_dict.get(name) if shares and base_exec is not None else None
            grads[name] = _array(name, old, shape, dtype, ctx)
    states = [
        _array(name, None if base_exec is None else base_exec.aux_dict[name], shape, dtype, ctx)
        for name, shape, dtype in zip(sym.list_auxiliary_states(), state_shapes or (), state_types or ())
    ]
    requests = {name: "write" if name in wanted else "null" for name in names}
    return sym.bind(ctx, arrays, args_grad=grads, grad_req=requests, aux_states=states)


class DataParallelExecutorGroup:
    """The executors of one symbol, one for each device.

    Args:
        slices: the rows that each device gets.
        train_data: what describes the inputs: `provide_data`, `provide_label`.
        shared_group: whose parameters and states the executors use.
    Raises: ValueError: names that come twice.
    """

    def __init__(
        self,
        sym: Symbol,
        arg_names: list[str],
        param_names: Sequence[str],
        ctx: Sequence[Context],
        slices: list[slice],
        train_data: Any,
        shared_group: DataParallelExecutorGroup | None = None,
    ) -> None:
        _check_arguments(sym)
        self.data_names = [each[0] for each in train_data.provide_data]
        self.label_names = [each[0] for each in train_data.provide_label]
        self.aux_names = sym.list_auxiliary_states()
        self.param_idx = [i for i, name in enumerate(arg_names) if name in param_names]
        self.param_names = [arg_names[i] for i in self.param_idx]
        self.slices = slices
        described = [*train_data.provide_data, *train_data.provide_label]
        types = {each[0]: getattr(each, "dtype", "float32") for each in described}
        others = [{} for _ in ctx] if shared_group is None else shared_group.shared_data_arrays
        self.shared_data_arrays: list[dict[str, NDArray]] = others
        self.train_execs: list[Executor] = []
        for number, (device, rows) in enumerate(zip(ctx, slices)):
            shapes = {each[0]: (rows.stop - rows.start, *each[1][1:]) for each in described}
            base = None if shared_group is None else shared_group.train_execs[number]
            made = _bind_exec(sym, device, shapes, self.param_names, True, base, others[number], types)
            self.train_execs.append(made)
        self._list_arrays()

    def _list_arrays(self) -> None:
        def parts(names: list[str]) -> list[list[tuple[slice, NDArray]]]:
            return [
                [(rows, each.arg_dict[name]) for rows, each in zip(self.slices, self.train_execs)] for name in names
            ]

        self.data_arrays, self.label_arrays = parts(self.data_names), parts(self.label_names)
        self.param_arrays = [[each.arg_dict[name] for each in self.train_execs] for name in self.param_names]
        self.grad_arrays = [[each.grad_dict[name] for each in self.train_execs] for name in self.param_names]
        self.aux_arrays = [[each.aux_dict[name] for each in self.train_execs] for name in self.aux_names]

    def load_data_batch(self, data_batch: Any) -> None:
        """Copies the parts of a batch to the devices. Raises: ValueError: it has another number of rows."""
        _load_data(data_batch, self.data_arrays)
        _load_label(data_batch, self.label_arrays)

    def forward(self, is_train: bool = False) -> None:
        """Runs all executors."""
        for each in self.train_execs:
            each.forward(is_train=is_train)

    def backward(self) -> None:
        """Writes the gradients of the last forward in training."""
        for each in self.train_execs:
            each.backward()

    def update_metric(self, metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Adds the last outputs to a metric.

        Args:
            labels: of the whole batch, or (pre_sliced) a list for each device.
        """
        for number, (each, rows) in enumerate(zip(self.train_execs, self.slices)):
            mine = labels[number] if pre_sliced else [label[rows] for label in labels]
            metric.update(mine, each.outputs)


class DataParallelExecutorManager:
    """A group of executors, or one for each bucket, with the parameters that they train.

    Args:
        work_load_list: the part of each device's work; None: all alike.
        sym_gen: makes the symbol of a bucket from its key, which a batch says (`bucket_key`).
    Raises: ValueError: not one work load for each device.
    """

    def __init__(
        self,
        symbol: Symbol,
        ctx: Sequence[Context],
        train_data: Any,
        arg_names: list[str],
        param_names: Sequence[str],
        aux_names: list[str],
        work_load_list: Sequence[float] | None = None,
        logger: Any = None,
        sym_gen: Any = None,
    ) -> None:
        loads = [1] * len(ctx) if work_load_list is None else work_load_list
        if not isinstance(loads, list) or len(loads) != len(ctx):
            raise WrongValueError(f"work_load_list: a list of {len(ctx)} numbers is needed, got {loads}")
        self.slices = _split_input_slice(train_data.batch_size, loads)
        self.symbol, self.ctx, self.sym_gen = symbol, ctx, sym_gen
        self.arg_names, self.param_names, self.aux_names = arg_names, param_names, aux_names
        self.execgrp = DataParallelExecutorGroup(symbol, arg_names, param_names, ctx, self.slices, train_data)
        self.curr_execgrp = self.execgrp
        self.execgrp_bucket = {} if sym_gen is None else {train_data.default_bucket_key: self.execgrp}

    def install_monitor(self, monitor: Any) -> None:
        """Installs a monitor in all executors. Raises: NotImplementedError: there are buckets."""
        if self.sym_gen is not None:
            raise MXNotImplementedError("install_monitor: of a symbol for each bucket; monitor one of a fixed shape")
        for each in self.execgrp.train_execs:
            monitor.install(each)

    def set_params(self, arg_params: dict[str, NDArray], aux_params: dict[str, NDArray]) -> None:
        """Copies values to all devices."""
        for each in self.execgrp.train_execs:
            each.copy_params_from(arg_params, aux_params)

    def copy_to(self, arg_params: dict[str, NDArray], aux_params: dict[str, NDArray]) -> None:
        """Writes the means of the devices' values into these arrays, by name."""
        for names, arrays, into in (
            (self.execgrp.param_names, self.param_arrays, arg_params),
            (self.execgrp.aux_names, self.aux_arrays, aux_params),
        ):
            for name, copies in zip(names, arrays):
                here = [each.as_in_context(copies[0].context) for each in copies]
                mean = here[0] if len(here) == 1 else ndarray.add_n(*here) / len(here)
                mean.astype(into[name].dtype, copy=False).copyto(into[name])

    @property
    def param_arrays(self) -> list[list[NDArray]]:
        """For each parameter its array on each device."""
        return self.execgrp.param_arrays

    @property
    def grad_arrays(self) -> list[list[NDArray]]:
        """For each parameter its gradient on each device."""
        return self.execgrp.grad_arrays

    @property
    def aux_arrays(self) -> list[list[NDArray]]:
        """For each auxiliary state its array on each device."""
        return self.execgrp.aux_arrays

    def load_data_batch(self, data_batch: Any) -> None:
        """Copies a batch to the devices, of its bucket if there are any."""
        if self.sym_gen is not None:
            key = data_batch.bucket_key
            if key not in self.execgrp_bucket:
                self.execgrp_bucket[key] = DataParallelExecutorGroup(
                    self.sym_gen(key), self.arg_names, self.param_names, self.ctx, self.slices, data_batch, self.execgrp
                )
            self.curr_execgrp = self.execgrp_bucket[key]
        self.curr_execgrp.load_data_batch(data_batch)

    def forward(self, is_train: bool = False) -> None:
        """Runs the executors of the last batch's bucket."""
        self.curr_execgrp.forward(is_train=is_train)

    def backward(self) -> None:
        """Writes the gradients of the last forward in training."""
        self.curr_execgrp.backward()

    def update_metric(self, metric: Any, labels: Any, pre_sliced: bool = False) -> None:
        """Adds the last outputs to a metric; labels as `DataParallelExecutorGroup.update_metric` takes them."""
        self.curr_execgrp.update_metric(metric, labels, pre_sliced)


_show(globals())
