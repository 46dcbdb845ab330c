"""Classes that are looked up by name: optimizers, initializers and metrics, and a user's own kinds.

register = mx.registry.get_register_func(Base, "thing")
create = mx.registry.get_create_func(Base, "thing")
"""

from __future__ import annotations

import json
import warnings
from typing import Any, Callable, TypeVar

from mxlite._public import show
from mxlite._public.near import did_you_mean
from mxlite.error import WrongTypeError, WrongValueError

_T = TypeVar("_T", bound=type)

#: base class -> lower-case name -> class
_REGISTERED: dict[type, dict[str, type]] = {}


def get_registry(base_class: type) -> dict[str, type]:
    """The classes that are registered as kinds of `base_class`, by lower-case name; a copy."""
    return dict(_REGISTERED.get(base_class, {}))


def get_register_func(base_class: type, nickname: str) -> Callable[..., Any]:
    """A function `register(klass, name=None)`, a decorator too, that registers a class under its own name or `name`.

    It raises TypeError for a class that is not derived from `base_class`, and warns where the name is taken.
    """
    known = _REGISTERED.setdefault(base_class, {})

    def register(klass: _T, name: str | None = None) -> _T:
        if not issubclass(klass, base_class):
            raise WrongTypeError(f"{klass.__name__} is no subclass of {base_class.__name__}")
        name = (klass.__name__ if name is None else name).lower()
        if known.get(name, klass) is not klass:
            old = known[name]
            warnings.warn(
                f"{nickname} {name!r} is now {klass.__module__}.{klass.__name__}; it was {old.__module__}."
                f"{old.__name__}",
                UserWarning,
                stacklevel=2,
            )
        known[name] = klass
        return klass

    register.__doc__ = f"Registers a class as a {nickname}, under its own name in lower case or under `name`."
    return register


def get_alias_func(base_class: type, nickname: str) -> Callable[..., Any]:
    """A function `alias(*names)`: a decorator that registers a class under each name."""
    register = get_register_func(base_class, nickname)

    def alias(*aliases: str) -> Callable[[_T], _T]:
        def decorate(klass: _T) -> _T:
            for name in aliases:
                register(klass, name)
            return klass

        return decorate

    alias.__doc__ = f"A decorator that registers a class as a {nickname} under each of the names."
    return alias


def get_create_func(base_class: type, nickname: str) -> Callable[..., Any]:
    """A function `create(*args, **kwargs)` that makes an instance of a registered class.

    Its first argument, or the keyword `nickname`, is an instance (which is returned), a name, a dictionary with the
    entry `nickname`, or JSON of such a dictionary or of `[name, keywords]`. The other arguments are the constructor's.
    It raises ValueError or TypeError for an unknown name, a value of another type, and arguments that have no place.
    """
    known = _REGISTERED.setdefault(base_class, {})

    def create(*args: Any, **kwargs: Any) -> Any:
        name, *args = args or [kwargs.pop(nickname)]
        if isinstance(name, base_class):
            if args or kwargs:
                raise WrongTypeError(f"{nickname} is an object already; it takes no further arguments")
            return name
        if isinstance(name, dict):
            return create(**name)
        if not isinstance(name, str):
            raise WrongTypeError(f"{nickname}: a name is a str, got {type(name).__name__}")
        if name[:1] in ("[", "{"):
            if args or kwargs:
                raise WrongValueError(f"{nickname}: {name} has its arguments, others are invalid")
            given = json.loads(name)
            return create(**given) if isinstance(given, dict) else create(given[0], **given[1])
        if name.lower() not in known:
            meant = did_you_mean(name.lower(), known) or f"; {nickname}.register adds one"
            raise WrongValueError(f"there is no {nickname} {name}{meant}")
        return known[name.lower()](*args, **kwargs)

    create.__doc__ = f"Makes a {nickname} of a name and arguments, a dictionary, JSON, or returns an instance as it is."
    return create


show(globals())
