"""mx.init."""

from __future__ import annotations

import inspect

import numpy as np
from _case import case

_KINDS = {
    "Zero": {},
    "One": {},
    "Constant": {"value": 3},
    "Uniform": {"scale": 0.5},
    "Normal": {"sigma": 2},
    "Orthogonal": {"scale": 1.5, "rand_type": "normal"},
    "Xavier": {"rnd_type": "gaussian", "factor_type": "in", "magnitude": 2.34},
    "MSRAPrelu": {"factor_type": "out", "slope": 0.1},
    "Bilinear": {},
    "LSTMBias": {"forget_bias": 2.5},
}
_SHARED = ["Initializer", "Mixed", "Load", *_KINDS]


@case(name=_SHARED)
def signature(mx, name):
    parameters = inspect.signature(getattr(mx.init, name)).parameters.values()
    return [[each.name, str(each.default) if each.default is not each.empty else "-"] for each in parameters]


@case(name=list(_KINDS))
def dumped_and_made_again(mx, name):
    made = getattr(mx.init, name)(**_KINDS[name])
    again = mx.init.create(made.dumps())
    return made.dumps(), again.dumps(), made == again, made == mx.init.Xavier(), type(again).__name__


@case(name=["zeros", "ones", "xavier", "msraprelu", "Normal", "UNIFORM", "bilinear", "lstmbias", "nothing", "mixed"])
def created_by_name(mx, name):
    return type(mx.init.create(name)).__name__


_NAMES = [
    "a_weight", "a_bias", "a_gamma", "a_beta", "a_running_mean", "a_running_var", "a_moving_mean", "a_moving_var",
    "a_moving_inv_var", "a_moving_avg", "a_min", "a_max", "a_other", "weight", "weights", "A_WEIGHT", "A_BIAS",
    "a_quantized_weight", "biased_weight", "", "stn_loc_weight", "stn_loc_bias",
]  # fmt: skip


@case(name=_NAMES, desc=[False, True])
def patterns_of_names(mx, name, desc):
    array = mx.nd.full((6,), 7)
    mx.init.Constant(3)(mx.init.InitDesc(name) if desc else name, array)
    return array


@case
def upsampling_by_name(mx):
    array = mx.nd.zeros((2, 1, 4, 4))
    mx.init.One()("upsampling0_w", array)
    return array


@case(desc=[3, None, b"a_weight"])
def names_are_strings(mx, desc):
    mx.init.One()(desc, mx.nd.zeros((2,)))


@case(init=["one", '["constant", {"value": 4}]', "none"])
def attribute_goes_first(mx, init):
    array = mx.nd.zeros((2,))
    mx.init.Zero()(mx.init.InitDesc("a_bias", {"__init__": init}), array)
    return array


@case
def description(mx):
    desc = mx.init.InitDesc("a", {"b": "c"}, global_init="d")
    plain = mx.init.InitDesc("e")
    return [str(desc), desc.attrs, desc.global_init, plain.attrs, plain.global_init, desc + "f"]


@case(
    shape=[(4, 3), (8, 5, 2, 2), (7,), (1, 1), (3, 0)], kind=["uniform", "gaussian"], factor=["in", "out", "avg", "no"]
)
def xavier_is_in_its_range(mx, shape, kind, factor):
    array = mx.nd.zeros(shape)
    mx.init.Xavier(kind, factor, 2)("a_weight", array)
    rest = float(np.prod(shape[2:]))
    count = {"in": shape[1] * rest, "out": shape[0] * rest, "avg": (shape[0] + shape[1]) * rest / 2}[factor]
    bound = np.sqrt(2 / count) * (1 if kind == "uniform" else 6)
    found = np.abs(array.asnumpy())
    return list(found.shape), bool((found <= bound + 1e-6).all()), bool((found > 0).all())


@case(name=["Uniform", "Normal", "Xavier", "MSRAPrelu"])
def spread(mx, name):
    array = mx.nd.zeros((300, 200))
    getattr(mx.init, name)()("a_weight", array)
    found = array.asnumpy()
    return round(
        float(found.std() / {"Uniform": 0.0404, "Normal": 0.01, "Xavier": 0.0632, "MSRAPrelu": 0.0868}[name]), 1
    )


@case(kind=["other", ""])
def xavier_of_an_unknown_kind(mx, kind):
    mx.init.Xavier(kind)("a_weight", mx.nd.zeros((2, 2)))


@case(shape=[(2, 1, 4, 4), (1, 2, 3, 5), (1, 1, 1, 1), (2, 2, 2, 6), (3, 3)])
def bilinear(mx, shape):
    array = mx.nd.zeros(shape)
    mx.init.Bilinear()("a_weight", array)
    return array


@case(shape=[(3, 5), (5, 3), (4, 2, 2), (1, 1)], rand_type=["uniform", "normal", "other"])
def orthogonal(mx, shape, rand_type):
    array = mx.nd.zeros(shape)
    mx.init.Orthogonal(2.0, rand_type)("a_weight", array)
    found = array.asnumpy().reshape(shape[0], -1)
    product = found @ found.T if shape[0] <= found.shape[1] else found.T @ found
    return np.abs(product).round(3)


@case(size=[4, 8, 12])
def bias_of_lstm(mx, size):
    array = mx.nd.ones((size,))
    mx.init.LSTMBias(2.0)(mx.init.InitDesc("a_bias", {"__init__": mx.init.LSTMBias(3.0).dumps()}), array)
    plain = mx.nd.ones((size,))
    mx.init.LSTMBias(2.0)("a_bias", plain)
    return array, plain


@case(name=["a_weight", "a_bias", "b_weight", "c_gamma"])
def mixed(mx, name):
    array = mx.nd.full((3,), 7)
    mx.init.Mixed(["a_", ".*weight"], [mx.init.Constant(1), mx.init.Constant(2)])(name, array)
    return array


@case
def mixed_of_too_few(mx):
    mx.init.Mixed(["a", "b"], [mx.init.Zero()])


@case(name=["a", "b", "c_weight"], default=[False, True])
def loaded(mx, name, default):
    held = {"arg:a": mx.nd.array([1, 2]), "aux:b": mx.nd.array([1, 2, 3])}
    array = mx.nd.zeros((2,))
    mx.init.Load(held, mx.init.One() if default else None)(name, array)
    return array


@case
def loaded_from_a_file(mx, folder):
    mx.nd.save(f"{folder}/a.params", {"arg:a": mx.nd.array([1, 2])})
    array = mx.nd.zeros((2,))
    mx.init.Load(f"{folder}/a.params")("a", array)
    return array


@case
def loaded_of_a_list(mx, folder):
    mx.nd.save(f"{folder}/a.params", [mx.nd.array([1, 2])])
    mx.init.Load(f"{folder}/a.params")


@case(value=[2, 2.5])
def constant(mx, value):
    array = mx.nd.zeros((3,))
    made = mx.init.Constant(value)
    made("a_weight", array)
    return array, made.dumps()


@case
def constant_of_an_array(mx):
    array = mx.nd.zeros((2,))
    made = mx.init.Constant(mx.nd.array([4, 5]))
    made("a_weight", array)
    return array, made.dumps()


@case
def own_kind(mx):
    class Counting(mx.init.Initializer):
        def __init__(self, start=1):
            super().__init__(start=start)
            self.start = start

        def _init_weight(self, name, array):
            array[:] = mx.nd.arange(self.start, self.start + array.size).reshape(array.shape)

    mx.init.register(Counting)
    arrays = [mx.nd.zeros((2, 2)), mx.nd.ones((2, 2))]
    mx.init.create("counting", start=3)("a_weight", arrays[0])
    mx.init.create(Counting(5).dumps())("a_bias", arrays[1])
    return arrays


@case
def kind_without_a_method(mx):
    mx.init.Initializer()("a_weight", mx.nd.zeros((2,)))


@case(dtype=["float16", "float64", "int32"])
def dtypes(mx, dtype):
    arrays = []
    for name, kwargs in (("One", {}), ("Constant", {"value": 2.5}), ("Orthogonal", {})):
        arrays.append(mx.nd.zeros((2, 2), dtype=dtype))
        getattr(mx.init, name)(**kwargs)("a_weight", arrays[-1])
    return [arrays[0], arrays[1], arrays[2].dtype.__name__]
