"""mx.contrib.autograd, the old interface, and mx.contrib.io."""

from __future__ import annotations

import importlib

import numpy as np
from _case import case


def _old(mx):
    return importlib.import_module(f"{mx.__name__}.contrib.autograd")


def _state(mx):
    return [mx.autograd.is_recording(), mx.autograd.is_training()]


@case(before=[False, True], set_to=[False, True])
def set_is_training(mx, before, set_to):
    _old(mx).set_is_training(before)
    answer = _old(mx).set_is_training(set_to)
    found = _state(mx)
    _old(mx).set_is_training(False)
    return [answer, found]


@case(outer=["train_section", "test_section"], inner=["train_section", "test_section"])
def sections(mx, outer, inner):
    found = []
    with getattr(_old(mx), outer)() as value:
        found.append(_state(mx))
        with getattr(_old(mx), inner)():
            found.append(_state(mx))
        found.append(_state(mx))
    return [value, *found, _state(mx)]


@case(state=[False, True])
def a_scope(mx, state):
    scope = _old(mx).TrainingStateScope(state)
    with scope:
        found = _state(mx)
    return [found, _state(mx)]


def _marked(mx, request="write"):
    x, grad = mx.nd.array([1, 2]), mx.nd.array([10, 20])
    _old(mx).mark_variables([x], [grad], request)
    with _old(mx).train_section():
        y = x * x
    return y, grad


@case(request=["null", "write", "add", "often", ["add"], ["often"]])
def mark_variables(mx, request):
    y, grad = _marked(mx, request)
    if request != "null":
        _old(mx).backward([y])
    return grad


@case(out_grads=[None, "list", "none", "array", "long"], retain=[False, True])
def backward(mx, out_grads, retain):
    y, grad = _marked(mx)
    given = {"list": [mx.nd.array([3, 4])], "none": [None], "array": mx.nd.array([3, 4]), "long": [None, None]}
    _old(mx).backward([y], given.get(out_grads), retain_graph=retain)
    return grad


@case
def backward_of_an_array(mx):
    _old(mx).backward(_marked(mx)[0])


@case
def compute_gradient(mx):
    y, grad = _marked(mx)
    return [_old(mx).compute_gradient([y]), grad]


@case(argnum=[None, 0, 1, [0], [1, 0], 5], of=["grad", "grad_and_loss"])
def gradients(mx, argnum, of):
    function = getattr(_old(mx), of)(lambda a, b: a * b + a, argnum)
    return function(mx.nd.array([1, 2]), mx.nd.array([3, 4]))


@case(argnum=[None, 0, 1])
def gradient_with_a_number(mx, argnum):
    return _old(mx).grad_and_loss(lambda a, b: a * b, argnum)(mx.nd.array([1, 2]), 3)


@case(of=["grad", "grad_and_loss"])
def gradients_of_lists(mx, of):
    return getattr(_old(mx), of)(lambda a: [a * 2, a * a])(mx.nd.array([1, 2]))


@case(of=["grad", "grad_and_loss"])
def names_stay(mx, of):
    def function(a):
        return a

    return getattr(_old(mx), of)(function).__name__


def _loader(mx, rows, batch=2):
    data = mx.gluon.data.ArrayDataset(np.arange(rows * 2).reshape(rows, 2).astype("float32"), np.arange(rows))
    return mx.gluon.data.DataLoader(data, batch_size=batch, last_batch="keep")


def _iterator(mx, *args, **kwargs):
    return importlib.import_module(f"{mx.__name__}.contrib.io").DataLoaderIter(*args, **kwargs)


@case(rows=[2, 4, 6], dtype=["float32", "float64", "float16"])
def loader_iter(mx, rows, dtype):
    iterator = _iterator(mx, _loader(mx, rows), dtype=dtype)
    found = []
    for _ in range(2):
        for batch in iterator:
            found.append([batch.data, batch.label, batch.pad, batch.index])
        iterator.reset()
    return found


@case(rows=[3, 5])
def loader_iter_pads(mx, rows):
    batches = list(_iterator(mx, _loader(mx, rows)))
    last = batches[-1]
    return [len(batches), last.pad, last.data[0][: 2 - last.pad], last.label[0][: 2 - last.pad], last.data[0].shape]


@case(differs="The last batch has the iterator's dtype, as the others; 1.9.1 makes it float32.")
def dtype_of_a_short_batch(mx):
    return [str(np.dtype(batch.data[0].dtype)) for batch in _iterator(mx, _loader(mx, 3), dtype="float16")]


@case(names=[{}, {"data_name": "x", "label_name": "y"}])
def loader_iter_provides(mx, names):
    iterator = _iterator(mx, _loader(mx, 5), **names)
    described = [*iterator.provide_data, *iterator.provide_label]
    return [[each.name, each.shape, str(each.dtype)] for each in described] + [iterator.batch_size]


@case
def loader_iter_of_nothing(mx):
    return _iterator(mx, [])


@case
def names_of_contrib(mx):
    contrib = importlib.import_module(f"{mx.__name__}.contrib")
    return [hasattr(contrib, name) for name in ("autograd", "io", "nd", "ndarray", "text")]
