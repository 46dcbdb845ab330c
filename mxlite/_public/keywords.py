"""Arguments of constructors that there are not: the error of Python's, with the names that may have been meant.

`mx.gluon.nn.Dense(10, activaton="relu")`. `_public.show` has the classes of each public module ask here.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import wraps
from typing import Any, Callable, TypeVar

_F = TypeVar("_F", bound=Callable)

#: Modules with classes that are made in the loops of programs, and take few keywords.
_BUSY = ("mxlite.autograd.", "mxlite.context.", "mxlite.ndarray.", "mxlite.symbol.", "mxlite.torch.autograd.")

#: Flag of a code object that takes `**keywords`.
_OPEN = 0x08


def unexpected(function: str, names: Iterable[str], known: Iterable[str]) -> TypeError:
    """The error for keywords that a function does not take."""
    from mxlite._public.near import did_you_mean

    name, known = next(iter(names)), [each for each in known if each != "self"]
    hint = did_you_mean(name, known) or (f"; it takes {', '.join(known)}" if known else "")
    return TypeError(f"{function}() got an unexpected keyword argument {name!r}{hint}")


def accepted(cls: type) -> tuple[str, ...] | None:
    """The keywords that a constructor takes; None: any, or nobody knows.

    A class whose `_keywords_go_up` is true hands those that it does not know to its base class, as blocks do; one of
    a program's own, and others that take `**keywords`, may do anything with them.
    """
    found: dict[str, None] = {}
    for each in cls.__mro__:
        function = vars(each).get("__init__")
        code = getattr(function, "__code__", None)
        if code is None:
            continue
        found.update(dict.fromkeys(code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]))
        if not code.co_flags & _OPEN:
            return tuple(found)
        if not getattr(cls, "_keywords_go_up", False) or not _is_ours(function):
            return None
    return None


def judge(function: _F) -> _F:
    """A decorator: the function judges its keywords too. It costs a call, and so is for functions that take longer."""
    code = function.__code__  # type: ignore[attr-defined]
    known = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    names = frozenset(known)

    @wraps(function)
    def judged(*args: Any, **keywords: Any) -> Any:
        if not keywords.keys() <= names:
            raise unexpected(function.__name__.strip("_"), [name for name in keywords if name not in names], known)
        return function(*args, **keywords)

    return judged  # type: ignore[return-value]


def _is_ours(function: Any) -> bool:
    """Whether a function was written in the package, and not put into a class by a program."""
    return str(function.__globals__.get("__name__")).startswith("mxlite.")


def _ask_in(cls: type) -> None:
    def new(kind: type, *args: Any, **keywords: Any) -> Any:
        if keywords:
            known = accepted(kind)
            if known is not None and not keywords.keys() <= set(known):
                raise unexpected(kind.__name__, [name for name in keywords if name not in known], known)
        made = super(cls, kind).__new__  # type: ignore[misc] # what a program's class has among its bases
        return made(kind) if made is object.__new__ else made(kind, *args, **keywords)

    new.__name__, new.__qualname__ = "__new__", f"{cls.__qualname__}.__new__"
    cls.__new__ = new  # type: ignore[assignment, method-assign]


def ask_in(module: str, thing: Any) -> None:
    """Has a class of a module, or one of the modules within it, judge the keywords that it is given.

    Left to Python are those that make their objects in ways of their own, and what is no class.
    """
    own = module + "."
    if isinstance(thing, type) and f"{thing.__module__}.".startswith(own) and not own.startswith(_BUSY):
        if thing.__new__ is object.__new__ and accepted(thing) != ():
            _ask_in(thing)
