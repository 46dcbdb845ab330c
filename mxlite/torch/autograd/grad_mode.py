"""Whether operations are recorded: no_grad, enable_grad, set_grad_enabled, inference_mode, as blocks and decorators."""

from __future__ import annotations

import ctypes
import functools
import inspect
from typing import Any, Callable

from mxlite._lib import LIB, ask
from mxlite._public import defined as _defined
from mxlite._public import show as _show
from mxlite.torch._nodes import is_grad_enabled, set_grad_mode


class _Mode:
    """A with-block, or a decorator, that sets the thread's grad mode and puts it back, however it ends."""

    _enabled = False

    def __init__(self) -> None:
        self._before: list[bool] = []

    def __enter__(self) -> None:
        self._before.append(set_grad_mode(self._enabled))

    def __exit__(self, *_: object) -> None:
        set_grad_mode(self._before.pop())

    def clone(self) -> Any:
        """Another one of the same kind."""
        return type(self)()

    def __call__(self, function: Callable) -> Callable:
        if inspect.isgeneratorfunction(function):
            return self._generator(function)

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return wrapper

    def _generator(self, function: Callable) -> Callable:
        """A generator runs in the mode, and its caller, between its steps, does not."""

        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            generator = function(*args, **kwargs)
            with self.clone():
                try:
                    value = next(generator)
                except StopIteration as end:
                    return end.value
            while True:
                try:
                    sent = yield value
                except BaseException as problem:
                    step = functools.partial(generator.throw, problem)
                else:
                    step = functools.partial(generator.send, sent)
                with self.clone():
                    try:
                        value = step()
                    except StopIteration as end:
                        return end.value

        return wrapper


class _Decorates(_Mode):
    """`@no_grad` without brackets is the same as with them."""

    def __new__(cls, function: Callable | None = None) -> Any:
        return super().__new__(cls) if function is None else cls()(function)


class no_grad(_Decorates):  # noqa: N801 - PyTorch's name
    """A with-block, or a decorator, whose operations are not recorded."""


class enable_grad(_Decorates):  # noqa: N801
    """A with-block, or a decorator, whose operations are recorded."""

    _enabled = True


class set_grad_enabled(_Mode):  # noqa: N801
    """Switches recording at once; as a with-block, back at its end."""

    def __init__(self, mode: bool) -> None:
        self.mode = self._enabled = bool(mode)
        self._before = [set_grad_mode(self._enabled)]

    def __enter__(self) -> None:
        pass

    def __call__(self, function: Callable) -> Callable:
        set_grad_mode(self._before.pop())
        return super().__call__(function)

    def clone(self) -> Any:
        """Another one of the same mode."""
        return set_grad_enabled(self.mode)

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    def __str__(self) -> str:
        return self.__repr__()


class inference_mode(_Mode):  # noqa: N801
    """A with-block, or a decorator, whose operations are not recorded; inference_mode(False) records.

    Tensors that are made in it are inference tensors: no backward may need them, and outside they are not edited.
    """

    def __new__(cls, mode: Any = True) -> Any:
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        super().__init__()
        self.mode = mode
        self._enabled = not mode
        self._before_it: list[int] = []

    def __enter__(self) -> None:
        super().__enter__()
        self._before_it.append(ask(ctypes.c_int, LIB.MXLSetInferenceMode, self.mode))

    def __exit__(self, *problem: object) -> None:
        ask(ctypes.c_int, LIB.MXLSetInferenceMode, self._before_it.pop())
        super().__exit__(*problem)

    def clone(self) -> Any:
        """Another one of the same mode."""
        return inference_mode(self.mode)


class set_multithreading_enabled:  # noqa: N801
    """Has no effect: backward runs on the thread that calls it; as a with-block, too."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        pass


def is_inference_mode_enabled() -> bool:
    """Whether an inference_mode block runs on this thread."""
    before = ask(ctypes.c_int, LIB.MXLSetInferenceMode, 0)
    ask(ctypes.c_int, LIB.MXLSetInferenceMode, before)
    return bool(before)


__all__ = [*_defined(globals()), "is_grad_enabled"]

_show(globals())
