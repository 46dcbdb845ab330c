"""The binding: the table of prototypes, both ways of making hot calls, one library, errors, the GIL."""

from __future__ import annotations

import ctypes
import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import mxlite as mx
from mxlite import _lib, nd
from mxlite._lib import hot_ctypes
from mxlite._lib.prototypes import TABLE

INCLUDE = Path(mx.get_include())

LETTERS = {
    "bool": "b",
    "const char *": "s",
    "dim_t": "q",
    "double": "d",
    "float": "f",
    "int": "i",
    "int64_t": "q",
    "nn_uint": "I",
    "size_t": "z",
    "uint32_t": "I",
    "uint64_t": "Q",
    "unsigned": "I",
    "unsigned int": "I",
    "void": "v",
}


def letter(declaration: str, named: bool) -> str:
    """The letter of a parameter's (named) or a result's type."""
    if "(" in declaration or "[" in declaration:
        return "P"
    text = " ".join(declaration.replace("*", " * ").split())
    if text in LETTERS:
        return LETTERS[text]
    if named and text.split()[-1].isidentifier() and " ".join(text.split()[:-1]) in LETTERS:
        return LETTERS[" ".join(text.split()[:-1])]
    return "P"


def parts(text: str) -> list[str]:
    """The texts between commas that are not within parentheses."""
    found, depth = [""], 0
    for char in text:
        if char == "," and depth == 0:
            found.append("")
        else:
            found[-1] += char
            depth += (char == "(") - (char == ")")
    return [part.strip() for part in found if part.strip() not in ("", "void")]


def declared() -> dict[str, str]:
    """name -> letters, from the public headers."""
    found = {}
    for header in sorted(INCLUDE.glob("mxlite/*.h")):
        text = re.sub(r"/\*.*?\*/", " ", header.read_text(), flags=re.S)
        text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.M)
        text = re.sub(r"MXL_DEFAULT\([^()]*\)", "", text)
        for result, name, arguments in re.findall(r"MXL_API\s+([\w\s*]*?)((?:MX|NN)\w+)\((.*?)\)\s*;", text, re.S):
            letters = "".join(letter(part, True) for part in parts(arguments))
            returned = letter(result, False)
            found[name] = letters + ("" if returned == "i" else f">{returned}")
    return found


def test_prototypes_are_those_of_the_headers() -> None:
    table = dict(entry.split(":") for entry in TABLE.split())
    assert table == declared() and len(table) > 300


def test_every_function_is_there() -> None:
    for name in declared():
        assert getattr(_lib.LIB, name) is getattr(_lib.LIB, name)
    assert set(dir(_lib.LIB)) == set(declared())
    with pytest.raises(AttributeError, match="MXNothing"):
        _lib.LIB.MXNothing  # noqa: B018


def test_binding_is_the_one_asked_for() -> None:
    assert _lib.BINDING in ("cffi", "ctypes")
    assert os.environ.get("MXLITE_BINDING", _lib.BINDING) == _lib.BINDING
    assert _lib.hot.__name__ == f"mxlite._lib.hot_{_lib.BINDING}"


HOT = """
call1 call2 call1_float call1_int call1_list into1 into2 into1_float slice_rows at reshape copy_out copy_in free_array
set_recording set_training call_n call_into info
""".split()


def test_both_bindings_have_the_same_functions() -> None:
    hot_ctypes.bind(_lib.LIB)
    for name in HOT:
        assert callable(getattr(_lib.hot, name)) and callable(getattr(hot_ctypes, name))


def test_handles_pass_between_the_bindings() -> None:
    hot_ctypes.bind(_lib.LIB)
    x = nd.array([[1, 2], [3, 4], [5, 6]])
    for one, two in ((_lib.hot, hot_ctypes), (hot_ctypes, _lib.hot)):
        handle = one.slice_rows(x._h, -2, 3)
        assert two.info(handle) == ((2, 2), 0)
        assert two.free_array(handle) == 0
        assert one.free_array(handle) == -1 and one.info(handle) == (None, -2)
        for begin, end in ((0, 1), (-1, 3), (1, 9), (-9, -1), (3, 3)):
            first, second = one.slice_rows(x._h, begin, end), two.slice_rows(x._h, begin, end)
            assert one.info(first) == two.info(second) == (x.asnumpy()[begin:end].shape, 0)
            assert one.free_array(first) == two.free_array(second) == 0
        assert one.at(x._h, 3) == one.at(x._h, -4) == one.slice_rows(x._h, 2, 1) == one.reshape(x._h, 1, (5,)) == 0
        row = one.at(x._h, -1)
        assert nd.NDArray(row).asnumpy().tolist() == [5, 6]


def _run(code: str, **environment: str) -> subprocess.CompletedProcess:
    full = {**os.environ, **environment}
    return subprocess.run([sys.executable, "-c", code], env=full, capture_output=True, text=True, timeout=60)


_WITHOUT_CFFI = "import sys; sys.modules['mxlite._mxlite_cffi'] = None\n"


def test_ctypes_is_the_fallback() -> None:
    code = _WITHOUT_CFFI + "import mxlite._cli.information as m; import json; print(json.dumps(m.information()))"
    environment = {key: value for key, value in os.environ.items() if key != "MXLITE_BINDING"}
    run = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert json.loads(run.stdout)["binding"] == "ctypes" and run.stderr == ""


def test_a_forced_binding_is_not_replaced() -> None:
    run = _run(_WITHOUT_CFFI + "import mxlite", MXLITE_BINDING="cffi")
    assert run.returncode != 0 and "MXLITE_BINDING=cffi" in run.stderr
    run = _run("import mxlite", MXLITE_BINDING="swig")
    assert run.returncode != 0 and "'swig'" in run.stderr
    run = _run("from mxlite import _lib; print(_lib.BINDING)", MXLITE_BINDING="ctypes")
    assert run.stdout == "ctypes\n"


def test_a_missing_library_is_named() -> None:
    run = _run("import mxlite", MXLITE_LIBRARY="/nowhere/libmxlite.so")
    assert run.returncode != 0 and "/nowhere/libmxlite.so" in run.stderr.splitlines()[-1]


def test_one_library_under_both_names() -> None:
    """A handle made through libmxnet.so is one of libmxlite.so's."""
    other = ctypes.CDLL(os.path.join(os.path.dirname(mx.get_library()), "libmxnet.so"))
    handle, extents = ctypes.c_void_p(), (ctypes.c_uint32 * 2)(2, 3)
    assert other.MXNDArrayCreate(extents, 2, 1, 0, 0, ctypes.byref(handle)) == 0
    assert nd.NDArray(handle).shape == (2, 3)
    assert other.MXNDArrayFree(ctypes.c_void_p(12345)) == -1
    other.MXGetLastError.restype = ctypes.c_char_p
    assert other.MXGetLastError() == _lib.LIB.MXGetLastError()


def test_errors_belong_to_the_thread() -> None:
    messages = {}

    def fail(name: str, operate) -> None:
        for _ in range(200):
            try:
                operate()
            except mx.MXNetError as problem:
                messages.setdefault(name, set()).add(str(problem).split(":")[0])

    x = nd.ones((2, 3))
    threads = [
        threading.Thread(target=fail, args=("dot", lambda: nd.dot(x, x))),
        threading.Thread(target=fail, args=("sum", lambda: nd.sum(x, axis=7))),
        threading.Thread(target=fail, args=("concat", lambda: nd.concat(x, x, dim=9))),
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {name: len(found) for name, found in messages.items()} == {"dot": 1, "sum": 1, "concat": 1}


def test_the_gil_is_released() -> None:
    """Another thread runs Python while an operator computes."""
    x = nd.ones((900, 900))
    span = []

    def work() -> None:
        start = time.perf_counter()
        nd.dot(x, x)
        span.extend((start, time.perf_counter()))

    for _ in range(20):
        span.clear()
        thread = threading.Thread(target=work)
        ticks = []
        thread.start()
        while thread.is_alive():
            ticks.append(time.perf_counter())
        thread.join()
        start, end = span
        middle = [tick for tick in ticks if start + (end - start) * 0.2 < tick < end - (end - start) * 0.2]
        if len(middle) > 10:
            return
    pytest.fail("no Python ran while the operator did")


def test_base_helpers() -> None:
    base = mx.base
    assert base.c_str("a").value == b"a" and base.py_str(b"a") == "a"
    assert list(base.c_array(ctypes.c_int, [1, 2])) == [1, 2]
    assert list(base.c_str_array(["a", "b"])) == [b"a", b"b"]
    for cut in (base.c_str, lambda text: base.c_str_array(["a", text])):
        with pytest.raises(ValueError, match="embedded null byte"):
            cut("a\0b")
    x = nd.ones((2,))
    assert list(base.c_handle_array([x])) == [x._h]
    buffer = bytearray(8)
    base.c_array_buf(ctypes.c_uint8, buffer)[0] = 3
    assert buffer[0] == 3
    with pytest.raises(mx.MXNetError):
        base.check_call(base._LIB.MXNDArrayWaitToRead(None))
    assert repr(base._Null) == "_Null" and not base._Null


def test_pointers_of_c() -> None:
    base = mx.base
    values = (ctypes.c_float * 6)(*range(6))
    shared = base.ctypes2numpy_shared(ctypes.cast(values, base.mx_float_p), (2, 3))
    shared[0, 1] = 7
    assert values[1] == 7 and shared.shape == (2, 3) and shared.dtype == base.mx_real_t
    text = ctypes.create_string_buffer(b"abc\0d")
    assert base.ctypes2buffer(ctypes.cast(text, ctypes.POINTER(ctypes.c_char)), 5) == b"abc\0d"
    with pytest.raises(TypeError, match="pointer to c_char"):
        base.ctypes2buffer(text, 2)
    with pytest.raises(RuntimeError, match="pointer to c_float"):
        base.ctypes2numpy_shared(text, (2,))
    handle = base.NDArrayHandle()
    base.check_call(base._LIB.MXNDArrayCreateNone(ctypes.byref(handle)))
    base.check_call(base._LIB.MXNDArrayFree(handle))
    assert base.SymbolHandle is base.ExecutorHandle is ctypes.c_void_p
    assert [name for name, _ in base.MXCallbackList._fields_] == ["num_callbacks", "callbacks", "contexts"]


def test_helpers_of_front_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    """The answers are those of 1.9.1."""
    base = mx.base
    assert [base._as_list(each) for each in (3, [1], (1, 2), None)] == [[3], [1], (1, 2), [None]]
    monkeypatch.setenv("MXNET_HOME", "~/here")
    assert base.data_dir() == os.path.expanduser("~/here") and base.data_dir_default().endswith("/.mxnet")
    monkeypatch.delenv("MXNET_HOME")
    assert base.data_dir() == base.data_dir_default()
    names, kinds, texts = ["a", "b", "a"], ["int", "str, optional", "x"], ["the a.", "", "again"]
    once = "Parameters\n----------\na : int\n    the a.\nb : str, optional\n"
    assert base.build_param_doc(names, kinds, texts) == once
    assert base.build_param_doc(names, kinds, texts, remove_dup=False) == once + "a : x\n    again\n"
    assert base.build_param_doc([], [], []) == "Parameters\n----------\n\n"


def test_properties_of_classes() -> None:
    base = mx.base

    class Plain:
        @base.classproperty
        def name(cls) -> str:  # noqa: N805
            return cls.__name__

    class Set(base.with_metaclass(base._MXClassPropertyMetaClass, dict)):
        held = 1

        @base.classproperty
        def value(cls) -> int:  # noqa: N805
            return cls.held

        @value.setter
        def value(cls, held: int) -> None:  # noqa: N805
            cls.held = held

    assert Plain.name == Plain().name == "Plain"
    with pytest.raises(AttributeError, match="cannot be assigned"):
        Plain().name = "x"
    Set.value = 5
    assert (Set.held, Set.value, Set().value) == (5, 5, 5) and Set.__mro__ == (Set, dict, object)
    Set().value = 6
    assert Set.held == 6


def test_errors_get_their_names_from_classes() -> None:
    @mx.base.register_error
    class OfMine(mx.MXNetError):
        pass

    @mx.base.register_error("Another")
    class Second(mx.MXNetError):
        pass

    mx.base.register_error("Third", KeyError)
    made = [mx.error.error_from_message(f"{name}: text") for name in ("OfMine", "Another", "Third", "None")]
    assert [type(each) for each in made] == [OfMine, Second, KeyError, mx.MXNetError]


def test_texts_are_not_cut():
    """C would end a text at a NUL character, and take only the part before it."""
    x = mx.nd.ones((1, 2))
    for cut in (
        lambda: mx.util.getenv("PATH\0x"),
        lambda: mx.util.setenv("MXLITE_TEST\0x", "1"),
        lambda: mx.util.setenv("MXLITE_TEST", "1\0"),
        lambda: mx.nd.Activation(x, act_type="relu\0x"),
        lambda: mx.nd.Activation(x, **{"act_type\0x": "relu"}),
        lambda: mx.nd.take(x, mx.nd.zeros(1), mode="clip\0"),
    ):
        with pytest.raises(ValueError, match="embedded null byte"):
            cut()
    assert mx.util.getenv("MXLITE_TEST") is None and not hasattr(mx.nd, "tanh\0x")
