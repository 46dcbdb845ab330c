"""mx.util."""

from __future__ import annotations

import numpy as np
from _case import case


def _modes(mx):
    return mx.util.is_np_shape(), mx.util.is_np_array()


@case
def names(mx):
    listed = "is_np_array is_np_shape np_array np_shape set_np_shape use_np use_np_array use_np_shape"
    return [hasattr(module, name) for name in listed.split() for module in (mx, mx.util)]


@case(shape=[True, False])
def set_np_without_arrays(mx, shape):
    result = mx.util.set_np(shape, array=False)
    found = _modes(mx)
    mx.util.reset_np()
    return result, found, _modes(mx)


@case
def set_np_of_arrays_alone(mx):
    mx.util.set_np(shape=False, array=True)


@case(how=["set_np", "np_array", "use_np", "use_np_array"])
def arrays_of_mx_np(mx, how):
    if how == "set_np":
        mx.util.set_np()
        found = _modes(mx)
        mx.util.reset_np()
        return found
    if how == "np_array":
        with mx.util.np_array(True):
            return _modes(mx)
    return getattr(mx, how)(lambda: _modes(mx))()


@case
def np_array_is_off(mx):
    with mx.np_array(False):
        return _modes(mx), mx.is_np_array()


@case(active=[True, False], inner=[True, False])
def np_shape(mx, active, inner):
    found = []
    with mx.np_shape(active):
        found.append(mx.is_np_shape())
        with mx.np_shape(inner):
            found.append(mx.is_np_shape())
        found.append(mx.is_np_shape())
    return found, mx.is_np_shape(), mx.util.set_np_shape(False)


@case
def use_np_shape_of_a_function(mx):
    @mx.use_np_shape
    def some(a, b=2):
        """A docstring."""
        return a, b, mx.is_np_shape()

    return some(1, b=3), some.__name__, some.__doc__, mx.is_np_shape()


@case
def use_np_shape_of_a_class(mx):
    @mx.use_np_shape
    class Some:
        constant = 3

        def __init__(self, a):
            self.made = a, mx.is_np_shape()

        def method(self, b):
            return b, mx.is_np_shape()

        @staticmethod
        def static(a):
            return a, mx.is_np_shape()

        @classmethod
        def of_class(cls, a):
            return cls.__name__, a, mx.is_np_shape()

        @property
        def value(self):
            return mx.is_np_shape()

    some = Some(1)
    return some.made, some.method(2), Some.static(3), Some.of_class(4), some.value, Some.constant, mx.is_np_shape()


@case(what=[3, "text", None])
def use_np_shape_of_another(mx, what):
    mx.use_np_shape(what)


@case(module=["some.where", None])
def set_module(mx, module):
    @mx.util.set_module(module)
    def some():
        pass

    return some.__module__ == (module or __name__)


@case
def environment(mx):
    mx.util.setenv("MX_CASE", "some text")
    found = mx.util.getenv("MX_CASE")
    mx.util.setenv("MX_CASE", "")
    return found, mx.util.getenv("MX_CASE"), mx.util.getenv("MX_CASE_THAT_IS_NOT")


@case
def gpus(mx):
    return mx.util.get_gpu_count()


@case
def memory_of_no_gpu(mx):
    mx.util.get_gpu_memory(0)


@case(device=["cpu", "gpu"])
def compute_capability(mx, device):
    mx.util.get_cuda_compute_capability(getattr(mx, device)(0))


_VALUES = [
    True,
    False,
    None,
    "K",
    "C",
    "same_kind",
    "no",
    "safe",
    "unsafe",
    "equiv",
    "float32",
    "int8",
    "int16",
    "bool",
]


@case(key=["where", "casting", "order", "dtype", "subok", "other"])
def ufunc_options(mx, key):
    legal = mx.util.np_ufunc_legal_option
    kinds = [np.float32, np.float16, np.int64, np.int16, np.dtype("float32")]
    return [bool(legal(key, value)) for value in _VALUES], [bool(legal(key, kind)) for kind in kinds]


_OPTIONS = {
    "none": {},
    "where": {"where": True},
    "not where": {"where": False},
    "order": {"order": "K"},
    "order C": {"order": "C"},
    "casting": {"casting": "same_kind"},
    "casting no": {"casting": "no"},
    "casting x": {"casting": "x"},
    "dtype": {"dtype": None},
    "dtype float32": {"dtype": "float32"},
    "dtype x": {"dtype": "x"},
    "subok": {"subok": True},
    "subok 3": {"subok": 3},
    "out": {"out": 7},
    "other": {"other": 1},
    "all": {"where": True, "casting": "same_kind", "order": "K", "dtype": None, "subok": True, "out": 5},
}


@case(options=list(_OPTIONS), inputs=[1, 2])
def ufunc_wrapped(mx, options, inputs):
    wrap = mx.util.wrap_np_unary_func if inputs == 1 else mx.util.wrap_np_binary_func
    function = (lambda x, out=None: [x, out]) if inputs == 1 else (lambda x1, x2, out=None: [x1, x2, out])
    return wrap(function)(*range(inputs), **_OPTIONS[options])


@case(count=[0, 1, 2, 3, 4], inputs=[1, 2])
def ufunc_arguments(mx, count, inputs):
    wrap = mx.util.wrap_np_unary_func if inputs == 1 else mx.util.wrap_np_binary_func
    function = (lambda x, out=None: [x, out]) if inputs == 1 else (lambda x1, x2, out=None: [x1, x2, out])
    return wrap(function)(*range(count))
