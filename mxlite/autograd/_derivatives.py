"""Values, products and matrices of derivatives, for both front ends: what autograd.functional offers."""

from __future__ import annotations

from typing import Any, Callable

import numpy as np

from mxlite.autograd import _static
from mxlite.autograd._front_end import FrontEnd
from mxlite.autograd._nodes import detached, gradients, recorded, rows_of_jacobian, unrecorded
from mxlite.autograd._transforms.levels import lifted


def as_tuple(value: Any) -> tuple:
    """The arguments or results of a function, as a tuple."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


class Forward:
    """Derivatives forward: how outputs that were recorded change when their inputs move, for as many moves as asked.

    The gradients of the inputs are linear in those of the outputs. They are recorded as a function of the latter, once,
    with dummies in their place; a move of the inputs times its derivative is that of the outputs. A function of the
    user's with a `jvp` computes the latter by that.

    Args:
        inputs: Arrays at places in the graph that the outputs were computed from; or not, then they do not move.
    """

    def __init__(self, front_end: FrontEnd, outputs: list, inputs: list) -> None:
        self.front_end, self.outputs, self.inputs = front_end, outputs, inputs
        # Ones: at a gradient of 0 some rules (xlogy) are none of the linear function.
        ones = (lifted(front_end, front_end.zeros(tuple(each.shape), each.dtype) + 1) for each in outputs)
        self.dummies = [each.requires_grad_() for each in ones]
        with recorded(front_end), _static.transposed():
            self.grads = gradients(front_end, outputs, inputs, self.dummies, create_graph=True)

    def __call__(self, moves: list, create_graph: bool) -> list:
        """The moves of the outputs; None for one that depends on no input."""
        reached = [(grad, move) for grad, move in zip(self.grads, moves) if grad is not None and move is not None]
        heads = [grad for grad, _ in reached], [move for _, move in reached]
        found = gradients(self.front_end, heads[0], self.dummies, heads[1], create_graph)
        return [self._still(each) if move is None else move for each, move in zip(self.outputs, found)]

    def _still(self, output: Any) -> Any:
        """Zeros for an output whose derivative is none, None for one that does not depend on the inputs."""
        grads = gradients(self.front_end, [output], self.inputs, [None])
        return None if all(each is None for each in grads) else self.front_end.zeros(tuple(output.shape), output.dtype)


class Derivatives:
    """autograd.functional of a front end; functions take arrays and return one, or a tuple of them."""

    def __init__(self, front_end: FrontEnd) -> None:
        self.front_end = front_end

    def _inputs(self, inputs: Any, create_graph: bool) -> tuple:
        """Variables with the values of the inputs; with `create_graph` aliases, through which gradients flow."""
        front_end = self.front_end
        made = []
        for each in as_tuple(inputs):
            if not isinstance(each, front_end.array_class):
                raise TypeError(f"inputs must be arrays, got {type(each).__name__}")
            if create_graph and each.requires_grad:
                with recorded(front_end):
                    made.append(front_end.alias(each))
            else:
                made.append(detached(front_end, each).requires_grad_())
        return tuple(made)

    def _run(self, func: Callable, inputs: tuple) -> tuple[bool, list]:
        with recorded(self.front_end):
            output = func(*inputs)
        outputs = list(as_tuple(output))
        for each in outputs:
            if not isinstance(each, self.front_end.array_class):
                raise TypeError(f"the function must return arrays, it returned {type(each).__name__}")
        return isinstance(output, (tuple, list)), outputs

    def _heads(self, v: Any, like: list, name: str) -> list:
        """Vectors of the shapes of `like`; None: 1, of one array with one element."""
        if v is None:
            if len(like) != 1 or self.front_end.values(like[0]).size != 1:
                raise self.front_end.error(f"{name}: v can be left out only where there is one array of one element")
            return [self.front_end.array(np.ones_like(self.front_end.values(like[0])))]
        heads = list(as_tuple(v))
        if [tuple(each.shape) for each in heads] != [tuple(each.shape) for each in like]:
            raise self.front_end.error(
                f"{name}: v has shapes {[tuple(each.shape) for each in heads]}, expected "
                f"{[tuple(each.shape) for each in like]}"
            )
        return heads

    def _finished(self, found: list, like: list, create_graph: bool, strict: bool, name: str) -> list:
        front_end, made = self.front_end, []
        for number, (grad, each) in enumerate(zip(found, like)):
            if grad is None:
                if strict:
                    dependent = "output {} depends on no input" if name == "jvp" else "no output depends on input {}"
                    raise front_end.error(f"{name}: {dependent.format(number)}, which strict=True refuses")
                made.append(front_end.zeros(tuple(each.shape), each.dtype))
            else:
                made.append(grad if create_graph else detached(front_end, grad))
        return made

    def _results(self, arrays: list, several: bool, create_graph: bool) -> Any:
        arrays = [each if create_graph else detached(self.front_end, each) for each in arrays]
        return tuple(arrays) if several else arrays[0]

    def vjp(self, func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
        """(func(*inputs), v times the Jacobian): gradients of the outputs with the head gradients `v`.

        Args:
            v: Arrays of the shapes of the outputs; None: 1, for one output of one element.
            create_graph: Whether results can be differentiated.
            strict: Whether an input that nothing depends on is an error, instead of zeros.
        """
        variables = self._inputs(inputs, create_graph)
        several, outputs = self._run(func, variables)
        heads = self._heads(v, outputs, "vjp")
        found = gradients(self.front_end, outputs, list(variables), heads, create_graph)
        grads = self._finished(found, list(variables), create_graph, strict, "vjp")
        return self._results(outputs, several, create_graph), self._results(
            grads, isinstance(inputs, (tuple, list)), create_graph
        )

    def jvp(self, func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
        """(func(*inputs), the Jacobian times v): how the outputs change when the inputs move along `v`.

        `Forward` computes it.
        """
        variables = self._inputs(inputs, create_graph)
        heads = self._heads(v, list(variables), "jvp")
        several, outputs = self._run(func, variables)
        found = Forward(self.front_end, outputs, list(variables))(heads, create_graph)
        made = self._finished(found, outputs, create_graph, strict, "jvp")
        return self._results(outputs, several, create_graph), self._results(made, several, create_graph)

    def _first(self, func: Callable, variables: tuple, name: str) -> tuple[Any, list]:
        """The one output, of one element, and its gradients, recorded."""
        several, outputs = self._run(func, variables)
        if several or self.front_end.values(outputs[0]).size != 1:
            raise self.front_end.error(f"{name}: the function must return one array of one element")
        with recorded(self.front_end):
            return outputs[0], gradients(self.front_end, outputs, list(variables), [None], create_graph=True)

    def vhp(self, func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
        """(func(*inputs), v times the Hessian), of a function whose result has one element."""
        variables = self._inputs(inputs, create_graph)
        heads = self._heads(v, list(variables), "vhp")
        output, grads = self._first(func, variables, "vhp")
        reached = [(grad, head) for grad, head in zip(grads, heads) if grad is not None]
        found = gradients(
            self.front_end, [grad for grad, _ in reached], list(variables), [head for _, head in reached], create_graph
        )
        made = self._finished(found, list(variables), create_graph, strict, "vhp")
        several = isinstance(inputs, (tuple, list))
        return self._results([output], False, create_graph), self._results(made, several, create_graph)

    def hvp(self, func: Callable, inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False) -> Any:
        """(func(*inputs), the Hessian times v): the same as vhp, as a Hessian is symmetric."""
        return self.vhp(func, inputs, v, create_graph, strict)

    def jacobian(self, func: Callable, inputs: Any, create_graph: bool = False, strict: bool = False) -> Any:
        """The Jacobian: of each output and each input an array with the shape of the output, then that of the input.

        Returns: one array for one output and one input; a tuple where there are tuples of inputs or outputs.
        """
        variables = self._inputs(inputs, create_graph)
        several, outputs = self._run(func, variables)
        rows = [self._rows(output, list(variables), create_graph, strict) for output in outputs]
        made = [tuple(row) if isinstance(inputs, (tuple, list)) else row[0] for row in rows]
        return tuple(made) if several else made[0]

    def _rows(self, output: Any, inputs: list, create_graph: bool, strict: bool) -> list:
        front_end, made = self.front_end, []
        rows = [
            self._finished(grads, inputs, create_graph, strict, "jacobian")
            for grads in rows_of_jacobian(front_end, output, inputs, create_graph)
        ]
        for number, each in enumerate(inputs):
            whole = (*output.shape, *each.shape)
            if not rows:
                made.append(front_end.zeros(whole, each.dtype))
                continue
            with recorded(front_end) if create_graph else unrecorded(front_end):
                made.append(front_end.stack([row[number] for row in rows]).reshape(whole))
        return made

    def hessian(self, func: Callable, inputs: Any, create_graph: bool = False, strict: bool = False) -> Any:
        """The Hessian of a function whose result has one element: the Jacobian of its gradient.

        Returns: one array for one input; for a tuple of inputs a tuple of tuples.
        """
        is_tuple = isinstance(inputs, (tuple, list))

        def first(*given: Any) -> tuple:
            _, grads = self._first(func, given, "hessian")
            return tuple(
                self.front_end.zeros(tuple(each.shape), each.dtype) if grad is None else grad
                for each, grad in zip(given, grads)
            )

        made = self.jacobian(first, inputs, create_graph, strict)
        return made if is_tuple else made[0]
