"""Functions of older Pythons' standard libraries that later ones have not. `python_tables` names them."""

from __future__ import annotations

import functools
import sys
from collections import namedtuple
from collections.abc import Set
from types import ModuleType
from typing import Any

from mxlite._cli._old._said import note

ArgSpec = namedtuple("ArgSpec", "args varargs keywords defaults")


def getargspec(func: Any) -> ArgSpec:
    """The names of a function's arguments and their defaults.

    Raises: ValueError: it has arguments that can be given by name only, or annotations.
    """
    import inspect

    found = inspect.getfullargspec(func)
    if found.kwonlyargs or found.annotations:
        raise ValueError("Function has keyword-only parameters or annotations, use inspect.signature()")
    return ArgSpec(found.args, found.varargs, found.varkw, found.defaults)


def formatargspec(
    args: Any,
    varargs: str | None = None,
    varkw: str | None = None,
    defaults: Any = None,
    *_: Any,
    formatvalue: Any = lambda value: "=" + repr(value),
) -> str:
    """Arguments as a text, as they are written in `def`."""
    first = len(args) - len(defaults or ())
    words = [str(each) + (formatvalue(defaults[at - first]) if at >= first else "") for at, each in enumerate(args)]
    words += [f"*{varargs}"] * (varargs is not None) + [f"**{varkw}"] * (varkw is not None)
    return f"({', '.join(words)})"


def coroutine(func: Any) -> Any:
    """A generator function that can be awaited."""
    import inspect
    import types

    if inspect.iscoroutinefunction(func):
        return func
    if inspect.isgeneratorfunction(func):
        return types.coroutine(func)

    @functools.wraps(func)
    def generator(*args: Any, **kwargs: Any) -> Any:
        found = func(*args, **kwargs)
        if inspect.isgenerator(found):
            found = yield from found
        elif inspect.isawaitable(found):
            found = yield from found.__await__()
        return found

    return types.coroutine(generator)


def gcd(a: Any, b: Any) -> Any:
    """The greatest common divisor, with the sign of b."""
    while b:
        a, b = b, a % b
    return a


def escape(s: str, quote: Any = None) -> str:
    """A text for HTML; `"` also if asked."""
    s = s.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return s.replace('"', "&quot;") if quote else s


def unescape(self: Any, s: str) -> str:
    """The characters that references of HTML stand for."""
    import html

    return html.unescape(s)


def find_loader(name: str, path: Any = None) -> Any:
    """The loader of a module; None: there is none."""
    import importlib.util

    spec = importlib.util.find_spec(name)
    return None if spec is None else spec.loader


def linux_distribution(*_: Any, **__: Any) -> tuple[str, str, str]:
    """The name of the system, its version and the version's name; empty where it is not said."""
    import shlex

    for path in ("/etc/os-release", "/usr/lib/os-release"):
        try:
            with open(path, encoding="utf-8") as file:
                pairs = [line.strip().partition("=")[::2] for line in file if "=" in line and line[0] != "#"]
        except OSError:
            continue
        held = {name: "".join(shlex.split(value)[:1]) for name, value in pairs}
        return held.get("NAME", ""), held.get("VERSION_ID", ""), held.get("VERSION_CODENAME", "")
    return "", "", ""


def format_number(percent: str, value: Any, grouping: bool = False, monetary: bool = False, *additional: Any) -> str:
    """A number as the locale writes it."""
    import locale

    return locale.format_string(percent, (value, *additional), grouping, monetary)


def resetlocale(category: Any = None) -> None:
    """The locale that the environment names."""
    import locale

    locale.setlocale(locale.LC_ALL if category is None else category, "")


_INTERVAL = [100]


def getcheckinterval() -> int:
    """What `setcheckinterval` got; 100 at first."""
    return _INTERVAL[0]


def setcheckinterval(n: int) -> None:
    """Does nothing: Python has `sys.setswitchinterval`, in seconds."""
    _INTERVAL[0] = n


def get_children(self: Any) -> list[Any]:
    """The elements in it."""
    return list(self)


def get_iterator(self: Any, tag: Any = None) -> list[Any]:
    """The elements below it, and itself, that have a tag."""
    return list(self.iter(tag))


def readfp(self: Any, fp: Any, filename: Any = None) -> None:
    """`read_file`."""
    self.read_file(fp, source=filename)


# ---- tests ----


def make_suite(
    testCaseClass: Any,
    prefix: str = "test",
    sortUsing: Any = None,
    suiteClass: Any = None,  # noqa: N803
) -> Any:
    """All tests of a class."""
    return _loader(prefix, sortUsing, suiteClass).loadTestsFromTestCase(testCaseClass)


def find_test_cases(
    module: Any,
    prefix: str = "test",
    sortUsing: Any = None,
    suiteClass: Any = None,  # noqa: N803
) -> Any:
    """All tests of a module."""
    return _loader(prefix, sortUsing, suiteClass).loadTestsFromModule(module)


def _loader(prefix: str, order: Any, suite: Any) -> Any:
    import unittest

    loader = unittest.TestLoader()
    loader.testMethodPrefix = prefix
    if order is not None:
        loader.sortTestMethodsUsing = order
    if suite is not None:
        loader.suiteClass = suite
    return loader


def assert_dict_contains(self: Any, subset: dict[Any, Any], dictionary: dict[Any, Any], msg: Any = None) -> None:
    """Fails unless the second has all of the first."""
    self.assertEqual({**dictionary, **subset}, dict(dictionary), msg)


# ---- functions that take less than they did ----


def change_json(module: ModuleType) -> None:
    """`encoding=`, which has done nothing since Python 3.0."""

    def without(real: Any) -> Any:
        @functools.wraps(real)
        def function(*args: Any, **kwargs: Any) -> Any:
            if "encoding" in kwargs:
                del kwargs["encoding"]
                note("json.loads(encoding=)")
            return real(*args, **kwargs)

        return function

    for name in ("load", "loads"):
        setattr(module, name, without(getattr(module, name)))


def change_random(module: Any) -> None:
    """Samples of sets, seeds of any kind, whole numbers that are floats, and `shuffle` with a function of one's own."""
    if sys.version_info < (3, 11):
        return
    kind = module.Random
    sample_now, shuffle_now, seed_now, range_now = kind.sample, kind.shuffle, kind.seed, kind.randrange

    @functools.wraps(sample_now)
    def sample(self: Any, population: Any, k: int, *args: Any, **kwargs: Any) -> Any:
        if isinstance(population, Set):
            note("random.sample of a set")
            population = tuple(population)
        return sample_now(self, population, k, *args, **kwargs)

    @functools.wraps(shuffle_now)
    def shuffle(self: Any, x: Any, random: Any = None) -> None:
        if random is None:
            return shuffle_now(self, x)
        note("random.shuffle(random=)")
        for at in reversed(range(1, len(x))):
            other = int(random() * (at + 1))
            x[at], x[other] = x[other], x[at]
        return None

    @functools.wraps(seed_now)
    def seed(self: Any, a: Any = None, version: int = 2) -> None:
        try:
            return seed_now(self, a, version)
        except TypeError:
            number = hash(a)
        note("random.seed of any object")
        return seed_now(self, number, version)

    @functools.wraps(range_now)
    def randrange(self: Any, start: Any, stop: Any = None, step: Any = 1) -> int:
        given = [start] if stop is None else [start, stop, step]
        try:
            return int(range_now(self, start, stop, step))
        except TypeError:
            if not any(isinstance(each, float) for each in given):
                raise
        if any(each != int(each) for each in given):
            raise ValueError(f"randrange: the arguments must be whole numbers, got {', '.join(map(str, given))}")
        note("random.randrange of floats")
        return int(range_now(self, *map(int, given)))

    kind.sample, kind.shuffle, kind.seed, kind.randrange = sample, shuffle, seed, randrange
    for name in ("sample", "shuffle", "seed", "randrange"):
        setattr(module, name, getattr(module._inst, name))


def change_re(module: Any) -> None:
    """Flags of the whole expression that are not at its beginning: `a(?i)b`."""
    if sys.version_info < (3, 11):
        return
    real = module._compile

    @functools.wraps(real)
    def compile(pattern: Any, flags: Any) -> Any:
        try:
            return real(pattern, flags)
        except module.error as error:
            moved = _flags_first(module, pattern, error)
            if moved is None:
                raise
        found = compile(moved, flags)
        note("re.compile with flags in the middle")
        return found

    module._compile = compile


def _flags_first(module: Any, pattern: Any, error: Any) -> Any:
    """The expression with the flags that the error is about at its beginning; None: it is about something else."""
    if error.msg != "global flags not at the start of the expression" or not isinstance(pattern, (str, bytes)):
        return None
    rest = pattern[error.pos :]
    end = rest.index(")" if isinstance(rest, str) else b")") + 1
    return rest[:end] + pattern[: error.pos] + rest[end:]


def change_open(module: Any) -> None:
    """Files opened with "U", which has been what "r" does since Python 3.0."""
    import io

    if sys.version_info < (3, 11):
        return
    real = module.open

    @functools.wraps(real)
    def open(file: Any, mode: Any = "r", *args: Any, **kwargs: Any) -> Any:
        if isinstance(mode, str) and "U" in mode and not set(mode) & set("wax+"):
            note("open(mode='U')")
            mode = mode.replace("U", "") if "r" in mode else mode.replace("U", "r")
        return real(file, mode, *args, **kwargs)

    module.open = io.open = open


def typing_io() -> ModuleType:
    """The module `typing.io`."""
    return _of_typing("io", ("IO", "TextIO", "BinaryIO"))


def typing_re() -> ModuleType:
    """The module `typing.re`."""
    return _of_typing("re", ("Pattern", "Match"))


def _of_typing(name: str, has: tuple[str, ...]) -> ModuleType:
    import typing

    module = ModuleType(f"typing.{name}")

    def __getattr__(asked: str) -> Any:  # noqa: N807 - the module's
        if asked not in has:
            raise AttributeError(f"module 'typing.{name}' has no attribute {asked!r}")
        note(f"typing.{name}")
        return getattr(typing, asked)

    vars(module).update(__getattr__=__getattr__, __all__=list(has))
    return module
