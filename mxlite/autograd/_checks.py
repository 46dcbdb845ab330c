"""Checks of gradients against differences: gradcheck, and gradgradcheck for second ones, for both front ends.

Inputs are moved where they are, so that a function may read them by any way: as arguments, or as parameters of a layer.
"""

from __future__ import annotations

import ctypes
import warnings
from typing import Any, Callable

import numpy as np

from mxlite._lib import LIB, check_call, last_error
from mxlite.autograd._derivatives import Forward, as_tuple
from mxlite.autograd._front_end import FrontEnd
from mxlite.autograd._nodes import detached, gradients, record, recorded
from mxlite.autograd._transforms.batches import mapped


class GradcheckError(RuntimeError):
    """Gradients and differences do not agree."""


# ---- the function ----


def _results(front_end: FrontEnd, func: Callable, inputs: tuple) -> tuple:
    """What the function returns, recorded. Raises: TypeError: something else than arrays."""
    with recorded(front_end):
        made = as_tuple(func(*inputs))
    for number, each in enumerate(made):
        if not isinstance(each, front_end.array_class):
            raise TypeError(f"gradcheck: the function must return arrays, output {number} is {type(each).__name__}")
    return made


def _flat(front_end: FrontEnd, array: Any) -> np.ndarray:
    return front_end.values(array).astype(np.float64).reshape(-1)


def _memory(array: Any, kind: np.dtype) -> np.ndarray:
    """The elements of an array where they are.

    A write goes past the array's version: nothing that was saved is taken for edited, and the old values come back.

    Raises: RuntimeError: several elements are at one address.
    """
    shape, strides, address = array.shape, (ctypes.c_int64 * max(1, len(array.shape)))(), ctypes.c_void_p()
    if LIB.MXLNDArrayGetStrides(array._h, len(shape), strides, None) < 0:
        raise last_error()
    steps = [step * kind.itemsize for step in strides[: len(shape)]]
    if any(step == 0 and size > 1 for step, size in zip(steps, shape)):
        raise RuntimeError(f"gradcheck: an input of shape {tuple(shape)} has a stride of 0; its elements must be apart")
    check_call(LIB.MXLNDArrayGetAddress(array._h, ctypes.byref(address)))
    if not address.value:
        return np.zeros(tuple(shape), kind)
    span = sum((size - 1) * step for step, size in zip(steps, shape)) + kind.itemsize
    whole = np.frombuffer((ctypes.c_char * span).from_address(address.value), np.uint8)
    return np.lib.stride_tricks.as_strided(whole[: kind.itemsize].view(kind), tuple(shape), steps)


class _Undefined:
    """The rule of a node through which no gradient comes."""

    def __call__(self, grads: list, wanted: list) -> list:
        return [None] * len(wanted)


class _Check:
    """One gradcheck: a function at its inputs, and what may differ."""

    def __init__(self, front_end: FrontEnd, func: Callable, inputs: tuple, options: dict[str, Any]) -> None:
        self.front_end, self.func, self.inputs = front_end, func, inputs
        self.eps, self.atol, self.rtol = options["eps"], options["atol"], options["rtol"]
        self.options = options
        self.wanted = [each for each in inputs if isinstance(each, front_end.array_class) and each.requires_grad]
        self.kinds = [front_end.values(each).dtype for each in self.wanted]
        self.memory = [_memory(each, kind) for each, kind in zip(self.wanted, self.kinds)]
        made = _results(front_end, func, inputs)
        #: Which outputs are compared: those that a gradient flows to.
        self.places = [place for place, each in enumerate(made) if each.requires_grad and front_end.is_floating(each)]
        self.floats = [place for place, each in enumerate(made) if front_end.is_floating(each)]

    def outputs(self) -> list:
        """The outputs that are compared, made anew."""
        made = _results(self.front_end, self.func, self.inputs)
        return [made[place] for place in self.places]

    def run(self) -> None:
        """Raises: GradcheckError: something differs."""
        if not self.places:
            for number in range(len(self.wanted)):
                if any(column.any() for column in self.differences(number, self.floats)):
                    raise GradcheckError(
                        f"gradcheck: no output requires a gradient, but differences with respect to input {number} are "
                        "not zero"
                    )
            return
        if self.options["check_forward_ad"]:
            self.compare_forward()
        if not self.options["check_backward_ad"]:
            return
        (self.compare_projected if self.options["fast_mode"] else self.compare)()
        if self.options["check_undefined_grad"]:
            self.check_undefined()
        if self.options["check_batched_grad"]:
            self.compare_batched()

    def compare_batched(self) -> None:
        """Compares two backwards at once, as vmap runs them, with one after the other."""
        front_end = self.front_end
        for output in self.outputs():
            kind = front_end.values(output).dtype
            heads = np.random.default_rng(0).uniform(size=(2, *output.shape)).astype(kind)

            def pull(head: Any, output: Any = output) -> tuple:
                found = gradients(front_end, [output], self.wanted, [head])
                return tuple(each for each in found if each is not None)

            try:
                together = mapped(front_end, pull, 0, 0, "error")(front_end.array(heads))
            except Exception as problem:
                raise GradcheckError(f"gradcheck: a batch of gradients cannot be computed: {problem}") from problem
            rows = [pull(front_end.array(head)) for head in heads]
            for number, (found, each) in enumerate(zip(together, zip(*rows))):
                expected = np.stack([front_end.values(row) for row in each])
                if not np.allclose(front_end.values(found), expected, self.rtol, self.atol, equal_nan=True):
                    raise GradcheckError(f"gradcheck: gradients of input {number} differ if they come in a batch")

    # ---- differences ----

    def values_at(self, places: list[int]) -> list[np.ndarray]:
        """The values of outputs at the inputs as they are now."""
        made = _results(self.front_end, self.func, self.inputs)
        return [_flat(self.front_end, made[place]) for place in places]

    def difference(self, number: int, move: np.ndarray, places: list[int]) -> list[np.ndarray]:
        """How outputs change, by the unit, when an input is moved by eps times `move`."""
        memory = self.memory[number]
        before, sides = memory.copy(), []
        try:
            for sign in (1, -1):
                memory[...] = before.astype(np.float64) + sign * self.eps * move
                sides.append(self.values_at(places))
        finally:
            memory[...] = before
        with np.errstate(all="ignore"):
            return [(high - low) / (2 * self.eps) for high, low in zip(*sides)]

    def differences(self, number: int, places: list[int]) -> list[np.ndarray]:
        """The Jacobian of each output with respect to one input: a row for each element of the input."""
        memory = self.memory[number]
        rows = []
        for place in range(memory.size):
            move = np.zeros(memory.size)
            move[place] = 1
            rows.append(self.difference(number, move.reshape(memory.shape), places))
        return [np.array(column) for column in zip(*rows)] if rows else [np.zeros((0, 0)) for _ in places]

    # ---- gradients ----

    def gradients_of(self, output: Any, head: np.ndarray) -> list[np.ndarray]:
        """The gradients of an output with respect to all inputs, run twice.

        Raises: GradcheckError: the two runs differ by more than nondet_tol, or a gradient has another dtype.
        """
        runs = []
        for _ in range(2):
            with recorded(self.front_end):
                found = gradients(self.front_end, [output], self.wanted, [self.front_end.array(head)])
            self.check_dtypes(found)
            runs.append(
                [
                    np.zeros(memory.size) if grad is None else _flat(self.front_end, grad)
                    for grad, memory in zip(found, self.memory)
                ]
            )
        tolerated = self.options["nondet_tol"]
        for number, (one, other) in enumerate(zip(*runs)):
            if not np.allclose(one, other, 0, tolerated, equal_nan=True):
                raise GradcheckError(
                    "gradcheck: the backward is not deterministic: two runs with the same gradients differ by "
                    f"{np.abs(one - other).max()} for input {number} (nondet_tol is {tolerated})"
                )
        return runs[0]

    def check_dtypes(self, found: list) -> None:
        for number, (grad, input) in enumerate(zip(found, self.wanted)):
            if self.options["check_grad_dtypes"] and grad is not None and grad.dtype != input.dtype:
                raise GradcheckError(f"gradcheck: input {number} is {input.dtype}, its gradient is {grad.dtype}")

    def jacobians(self, output: Any) -> list[np.ndarray]:
        """The Jacobian of an output with respect to each input: a row for each element of the input."""
        values = self.front_end.values(output)
        rows = []
        for place in range(values.size):
            head = np.zeros(values.shape, values.dtype)
            head.reshape(-1)[place] = 1
            rows.append(self.gradients_of(output, head))
        return [np.array([row[k] for row in rows]).reshape(len(rows), m.size).T for k, m in enumerate(self.memory)]

    # ---- comparing ----

    def compare(self) -> None:
        """Compares all elements of all Jacobians."""
        expected = [self.differences(number, self.places) for number in range(len(self.wanted))]
        for o, output in enumerate(self.outputs()):
            for i, found in enumerate(self.jacobians(output)):
                if found.size and not np.allclose(found, expected[i][o], self.rtol, self.atol):
                    self.differ(o, i, found, expected[i][o])

    def compare_projected(self) -> None:
        """Compares a random combination of the elements of each Jacobian."""
        numbers = np.random.RandomState(0)
        moves = [numbers.rand(*memory.shape) for memory in self.memory]
        expected = [self.difference(number, np.asarray(move), self.places) for number, move in enumerate(moves)]
        for o, output in enumerate(self.outputs()):
            values = self.front_end.values(output)
            head = np.asarray(numbers.rand(*values.shape)).astype(values.dtype)
            weights = head.astype(np.float64).reshape(-1)
            for i, found in enumerate(self.gradients_of(output, head)):
                move = np.asarray(moves[i]).reshape(-1)
                one, other = float(found @ move), float(weights @ expected[i][o])
                if not np.allclose(one, other, self.rtol, self.atol * weights.sum() * move.sum()):
                    self.differ(o, i, np.array(one), np.array(other))

    def compare_forward(self) -> None:
        """Compares the moves of outputs along each element of the inputs (fast: a random one) with differences."""
        outputs, numbers = self.outputs(), np.random.RandomState(0)
        forward = Forward(self.front_end, outputs, self.wanted)
        for i, memory in enumerate(self.memory):
            moves = np.eye(memory.size).reshape(memory.size, *memory.shape)
            if self.options["fast_mode"]:
                moves = np.asarray(numbers.rand(1, *memory.shape))
            for move in moves:
                given: list = [None] * len(self.wanted)
                given[i] = self.front_end.array(move.astype(self.kinds[i]))
                expected = self.difference(i, move, self.places)
                for o, each in enumerate(forward(given, False)):
                    found = np.zeros(expected[o].shape) if each is None else _flat(self.front_end, each)
                    if not np.allclose(found, expected[o], self.rtol, self.atol):
                        self.differ(o, i, found, expected[o])

    def differ(self, output: int, input: int, found: np.ndarray, expected: np.ndarray) -> None:
        text = [np.array2string(each, threshold=200) for each in (expected, found)]
        raise GradcheckError(
            f"gradcheck: the Jacobian of output {output} with respect to input {input} from gradients differs from "
            f"that from differences\ndifferences:\n{text[0]}\ngradients:\n{text[1]}"
        )

    def check_undefined(self) -> None:
        """Runs backward without gradients of outputs: all that comes must be zero, or nothing.

        Raises: GradcheckError: it is not.
        """
        front_end, count = self.front_end, len(self.places)
        for chosen in [[place] for place in range(count)] + ([list(range(count))] if count > 1 else []):
            made = self.outputs()
            ends = []
            for place in chosen:
                with recorded(front_end):
                    ends.append(detached(front_end, made[place]))
                    record(front_end, "UndefinedGrad", [made[place]], ends[-1:], _Undefined())
            with recorded(front_end):
                found = gradients(front_end, ends, self.wanted, [None] * len(ends))
            for number, grad in enumerate(found):
                if grad is not None and front_end.values(grad).any():
                    raise GradcheckError(
                        f"gradcheck: without gradients of outputs {chosen} that of input {number} must be zero or "
                        "None, it is not"
                    )


# ---- what a front end offers ----


def _require(name: str, **options: bool) -> None:
    """Raises: AssertionError: none of the options is set."""
    if not any(options.values()):
        raise AssertionError(f"{name}: without {' and '.join(options)} there is nothing to check")


class Checks:
    """The checks that a front end offers."""

    def __init__(self, front_end: FrontEnd) -> None:
        self.front_end = front_end

    def gradcheck(
        self,
        func: Callable,
        inputs: Any,
        *,
        eps: float = 1e-6,
        atol: float = 1e-5,
        rtol: float = 1e-3,
        raise_exception: bool = True,
        nondet_tol: float = 0.0,
        check_undefined_grad: bool = True,
        check_grad_dtypes: bool = False,
        check_batched_grad: bool = False,
        check_batched_forward_grad: bool = False,
        check_forward_ad: bool = False,
        check_backward_ad: bool = True,
        fast_mode: bool = False,
        masked: bool | None = None,
    ) -> bool:
        """Compares the gradients of `func` at `inputs` with differences.

        Args:
            func: A function of arrays that returns one array or a tuple of them; it is run while recording, often, and
                may read the inputs where they are instead of its arguments.
            inputs: An array or a tuple; those that require a gradient are differentiated (use float64). Their elements
                are moved in place, and put back.
            eps: How far inputs are moved.
            atol, rtol: How much may differ.
            raise_exception: Whether a difference raises; else it gives False.
            nondet_tol: How much two runs of the same backward may differ.
            check_undefined_grad: Whether backward is also run without gradients of outputs, which must give zeros.
            check_grad_dtypes: Whether gradients must have the dtypes of inputs.
            fast_mode: Whether one random combination of the elements of each Jacobian is compared, not each element.
            masked: Has no effect: inputs are dense.
            check_forward_ad: Whether derivatives forward are compared, too.
            check_backward_ad: Whether gradients are.
            check_batched_grad: Whether several gradients at once, as vmap computes them, are compared with single ones
                (of mxlite.torch alone).
            check_batched_forward_grad: Has no effect: derivatives forward are made of gradients.
        Raises:
            GradcheckError: they differ.
            ValueError: no input requires a gradient.
            TypeError: the function returns something else than arrays.
            RuntimeError: elements of an input share an address.
        """
        _require("gradcheck", check_forward_ad=check_forward_ad, check_backward_ad=check_backward_ad)
        if check_batched_grad:
            _require("gradcheck: check_batched_grad", check_backward_ad=check_backward_ad)
        if check_batched_forward_grad:
            _require("gradcheck: check_batched_forward_grad", check_forward_ad=check_forward_ad)
        arguments = as_tuple(inputs)
        self._check_inputs(arguments)
        options = {
            "eps": eps,
            "atol": atol,
            "rtol": rtol,
            "nondet_tol": nondet_tol,
            "fast_mode": fast_mode,
            "check_undefined_grad": check_undefined_grad,
            "check_grad_dtypes": check_grad_dtypes,
            "check_forward_ad": check_forward_ad,
            "check_backward_ad": check_backward_ad,
            "check_batched_grad": check_batched_grad and self.front_end.maps,
        }
        try:
            _Check(self.front_end, func, arguments, options).run()
        except GradcheckError:
            if raise_exception:
                raise
            return False
        return True

    def gradgradcheck(
        self,
        func: Callable,
        inputs: Any,
        grad_outputs: Any = None,
        *,
        eps: float = 1e-6,
        atol: float = 1e-5,
        rtol: float = 1e-3,
        gen_non_contig_grad_outputs: bool = False,
        raise_exception: bool = True,
        nondet_tol: float = 0.0,
        check_undefined_grad: bool = True,
        check_grad_dtypes: bool = False,
        check_batched_grad: bool = False,
        check_fwd_over_rev: bool = False,
        check_rev_over_rev: bool = True,
        fast_mode: bool = False,
        masked: bool = False,
    ) -> bool:
        """Compares the gradients of the gradients of `func` with differences; other arguments are those of gradcheck.

        Args:
            grad_outputs: Gradients of the outputs that require one; those that require a gradient themselves are
                differentiated too. None: random ones.
            gen_non_contig_grad_outputs: Whether the random ones lie in memory with gaps.
            check_fwd_over_rev: Whether derivatives forward of gradients are compared, too.
            check_rev_over_rev: Whether gradients of gradients are.
        Raises: what gradcheck raises; RuntimeError: `grad_outputs` do not fit the outputs.
        """
        _require("gradgradcheck", check_fwd_over_rev=check_fwd_over_rev, check_rev_over_rev=check_rev_over_rev)
        front_end, arguments = self.front_end, as_tuple(inputs)
        flags = [isinstance(each, front_end.array_class) and each.requires_grad for each in arguments]
        if grad_outputs is None:
            self._check_inputs(arguments)
            heads = self._random_heads(func, arguments, gen_non_contig_grad_outputs)
        else:
            heads = list(as_tuple(grad_outputs))

        def first(*given: Any) -> tuple:
            moved, head = given[: len(arguments)], given[len(arguments) :]
            made = [each for each in _results(front_end, func, moved) if _is_compared(front_end, each)]
            wanted = [each for each, flag in zip(moved, flags) if flag]
            found = gradients(front_end, made, wanted, self._fitted(made, head), create_graph=True)
            return tuple(each for each in found if each is not None)

        return self.gradcheck(
            first,
            (*arguments, *heads),
            eps=eps,
            atol=atol,
            rtol=rtol,
            raise_exception=raise_exception,
            nondet_tol=nondet_tol,
            check_undefined_grad=check_undefined_grad,
            check_grad_dtypes=check_grad_dtypes,
            check_batched_grad=check_batched_grad and check_rev_over_rev,
            check_forward_ad=check_fwd_over_rev,
            check_backward_ad=check_rev_over_rev,
            fast_mode=fast_mode,
            masked=masked,
        )

    def _check_inputs(self, arguments: tuple) -> None:
        arrays = self.front_end.array_class
        wanted = [each for each in arguments if isinstance(each, arrays) and each.requires_grad]
        if not wanted:
            raise ValueError("gradcheck: at least one input must require a gradient, none does")
        for number, each in enumerate(wanted):
            kind = self.front_end.values(each).dtype
            if kind != np.float64:
                warnings.warn(
                    f"gradcheck: input {number} is {kind}, not of double precision (float64); rounding will look like "
                    "wrong gradients",
                    stacklevel=3,
                )

    def _random_heads(self, func: Callable, arguments: tuple, gaps: bool) -> list:
        front_end, numbers, heads = self.front_end, np.random.RandomState(0), []
        for each in _results(front_end, func, arguments):
            if not _is_compared(front_end, each):
                continue
            like = front_end.values(each)
            values = np.asarray(numbers.randn(*like.shape)).astype(like.dtype)
            made = front_end.array(np.stack([values, values], -1))[..., 0] if gaps else front_end.array(values)
            heads.append(detached(front_end, made).requires_grad_())
        return heads

    def _fitted(self, outputs: list, heads: tuple) -> list:
        """The heads with the outputs' dtypes. Raises: RuntimeError: their number or a shape is another."""
        if not outputs:
            return []  # nothing depends on the inputs
        if len(outputs) != len(heads):
            raise RuntimeError(
                f"gradgradcheck: {len(outputs)} outputs require a gradient, grad_outputs has {len(heads)} gradients"
            )
        fitted = []
        for number, (output, head) in enumerate(zip(outputs, heads)):
            if head is not None and tuple(head.shape) != tuple(output.shape):
                raise RuntimeError(
                    f"gradgradcheck: output {number} has shape {tuple(output.shape)}, its gradient in grad_outputs "
                    f"{tuple(head.shape)}"
                )
            fitted.append(head if head is None else self.front_end.cast(head, output.dtype))
        return fitted


def _is_compared(front_end: FrontEnd, output: Any) -> bool:
    return output.requires_grad and front_end.is_floating(output)
