"""Keywords that there are not: Python's error, with the names that may have been meant.

`mx.gluon.nn.Dense(10, activaton="relu")`. `_public.show` gives the constructors of each public module's classes this
error; functions have it by a decorator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import wraps
from types import FunctionType
from typing import Any, Callable, TypeVar

_F = TypeVar("_F", bound=Callable)

#: Modules with classes that are made in the loops of programs, and take few keywords.
_BUSY = ("mxlite.autograd.", "mxlite.context.", "mxlite.ndarray.", "mxlite.symbol.", "mxlite.torch.autograd.")

_SAID = re.compile(r"\(\) got an unexpected keyword argument '(\w+)'")


def unexpected(function: str, name: str, known: Iterable[str]) -> TypeError:
    """The error for a keyword that a function does not take."""
    from mxlite._public.near import did_you_mean

    known = [each for each in known if each != "self"]
    hint = did_you_mean(name, known) or (f"; it takes {', '.join(known)}" if known else "")
    return TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")


def _parameters(functions: Iterable[Callable]) -> list[str]:
    import inspect

    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    each = (parameter for function in functions for parameter in inspect.signature(function).parameters.values())
    return list(dict.fromkeys(parameter.name for parameter in each if parameter.kind in named))


def _retold(
    error: TypeError, function: str, keywords: dict[str, Any], functions: Callable[[], Iterable[Callable]]
) -> TypeError | None:
    """The error for an unknown keyword of a call, in place of Python's; None: that one is about something else.

    An argument that is missing may be there by a wrong name.
    """
    text = str(error)
    found = _SAID.search(text)
    if not keywords or "; did you mean" in text or not (found or "() missing " in text):
        return None
    known = _parameters(functions())
    name = found[1] if found else next((each for each in keywords if each not in known), None)
    return unexpected(function, name, known) if name in keywords else None


def judge(function: _F) -> _F:
    """A decorator: the function's errors about keywords name those that it has. It costs a call."""

    @wraps(function)
    def judged(*args: Any, **keywords: Any) -> Any:
        try:
            return function(*args, **keywords)
        except TypeError as error:
            retold = _retold(error, function.__name__.strip("_"), keywords, lambda: [function])
            if retold is None:
                raise
        raise retold

    return judged  # type: ignore[return-value]


def _judge_constructor(cls: type, init: Callable) -> None:
    @wraps(init)
    def judged(self: Any, *args: Any, **keywords: Any) -> None:
        try:
            return init(self, *args, **keywords)
        except TypeError as error:
            bases = type(self).__mro__[:-1]
            retold = _retold(
                error,
                type(self).__name__,
                keywords,
                lambda: [vars(each)["__init__"] for each in bases if "__init__" in vars(each)],
            )
            if retold is None:
                raise
        raise retold

    judged._is_judged = True  # type: ignore[attr-defined]
    cls.__init__ = judged  # type: ignore[misc]


def ask_in(module: str, thing: Any) -> None:
    """Has the constructor of a class of a module, or of a module within it, name the keywords that there are."""
    own = module + "."
    if not isinstance(thing, type) or not f"{thing.__module__}.".startswith(own) or own.startswith(_BUSY):
        return
    for each in thing.__mro__:
        init = vars(each).get("__init__")
        if init is not None:
            if isinstance(init, FunctionType) and each.__module__.startswith("mxlite.") and init.__code__.co_argcount:
                if not hasattr(init, "_is_judged"):
                    _judge_constructor(each, init)
            return
