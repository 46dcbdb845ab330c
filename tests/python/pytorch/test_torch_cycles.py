"""Cycles of references through the graph, of mxlite.torch: functions and hooks that keep what they were recorded for.

The collector of cycles sees what the handles of tensors alone keep (mxlite/_lib/cffi/survey.c); over ctypes it cannot,
and such a cycle stays. tests/python/autograd/test_cycles.py is about functions of `mx.autograd`.
"""

from __future__ import annotations

import gc
import threading
import weakref

import pytest

import mxlite.torch as torch
from mxlite._lib import hot

pytestmark = pytest.mark.skipif(
    hot.__name__.endswith("ctypes"), reason="over ctypes classes of tensors cannot show what the library keeps"
)


class Probe:
    """Lives as long as the cycle that holds it."""


class Keep(torch.autograd.Function):
    """x * 2, which keeps what `keep(ctx, its result)` says."""

    @staticmethod
    def forward(ctx, x, probe, keep):
        y = x * 2
        ctx.probe = probe
        keep(ctx, y)
        return y

    @staticmethod
    def backward(ctx, grad):
        assert ctx.probe is not None
        return grad * 2, None, None


def leaf():
    return torch.ones(3, requires_grad=True)


def _function(keep, use=lambda y: None):
    def make(probe):
        y = Keep.apply(leaf(), probe, keep)
        use(y)
        return y

    return make


def _in_module(probe):
    module = torch.nn.Module()
    module.last = Keep.apply(leaf(), probe, lambda ctx, y: setattr(ctx, "module", module))
    return module.last


def _later(probe):
    contexts = []
    y = Keep.apply(leaf(), probe, lambda ctx, y: contexts.append(ctx))
    contexts[0].loss = (y * 2).exp().sum()
    return contexts[0].loss


def _input(probe):
    h = leaf() * 2
    h.made = Keep.apply(h, probe, lambda ctx, y: setattr(ctx, "h", h))
    return h


def _hook(add):
    def make(probe):
        y = leaf() * 2
        add(y, lambda *_: (y, probe) and None)
        return y

    return make


def _leaf_hook(probe):
    x = leaf()
    x.register_hook(lambda grad: (x, probe) and None)
    x.register_post_accumulate_grad_hook(lambda x_: (x, probe) and None)
    return x


def _row(probe):
    y = leaf()
    for _ in range(5):
        y = Keep.apply(y, probe, lambda ctx, y: setattr(ctx, "y", y))
    return y


def _used_twice(probe):
    y = Keep.apply(leaf(), probe, lambda ctx, y: setattr(ctx, "y", y))
    return Keep.apply(y * y + y.exp() * y, probe, lambda ctx, z: setattr(ctx, "yz", (y, z)))


class Pair(torch.autograd.Function):
    """x * 2 and x * 3, which keeps both."""

    @staticmethod
    def forward(ctx, x, probe):
        ctx.kept = x * 2, x * 3, probe
        return ctx.kept[:2]

    @staticmethod
    def backward(ctx, first, second):
        return first * 2 + second * 3, None


def _two_results(probe):
    return Keep.apply(Pair.apply(leaf(), probe)[1], probe, lambda ctx, y: setattr(ctx, "y", y))


def _base_and_view(probe):
    base = leaf() * 2
    view = base[1:]
    base.register_hook(lambda grad: (view, probe) and None)
    view.register_hook(lambda grad: (base, probe) and None)
    return view


def _leaf_that_nodes_save(probe):
    x = leaf()
    y = x * x + x
    x.register_hook(lambda grad: (x, probe) and None)
    y.register_hook(lambda grad: (y, x, probe) and None)
    return y


CYCLES = {
    "attribute": _function(lambda ctx, y: setattr(ctx, "y", y)),
    "list": _function(lambda ctx, y: setattr(ctx, "ys", [y])),
    "nested": _function(lambda ctx, y: setattr(ctx, "ys", {"a": ([y],)})),
    "after a backward": _function(lambda ctx, y: setattr(ctx, "y", y), lambda y: y.sum().backward()),
    "kept graph": _function(lambda ctx, y: setattr(ctx, "y", y), lambda y: y.sum().backward(retain_graph=True)),
    "module": _in_module,
    "a later result": _later,
    "its input": _input,
    "hook": _hook(lambda y, fn: y.register_hook(fn)),
    "hook of a node": _hook(lambda y, fn: y.grad_fn.register_hook(fn)),
    "hook before a node": _hook(lambda y, fn: y.grad_fn.register_prehook(fn)),
    "metadata": _hook(lambda y, fn: y.grad_fn.metadata.update(fn=fn)),
    "hooks of a leaf": _leaf_hook,
    "functions in a row": _row,
    "a result used twice": _used_twice,
    "two results": _two_results,
    "hooks of a base and a view": _base_and_view,
    "hooks of a leaf that nodes save": _leaf_that_nodes_save,
}


@pytest.mark.parametrize("name", CYCLES)
def test_a_cycle_is_collected_when_nothing_else_holds_it(name):
    probe = Probe()
    held = CYCLES[name](probe)
    alive = weakref.ref(probe)
    del probe
    for generation in (0, 1, 2):
        gc.collect(generation)
        assert alive() is not None  # `held` holds it
    if "hook" not in name and name not in ("metadata", "after a backward"):  # a backward releases hooks
        (held * 1).sum().backward()
        gc.collect()
        assert alive() is not None
    del held
    gc.collect()
    assert alive() is None


def test_what_other_parts_of_the_graph_hold_stays():
    probe = Probe()
    alive = weakref.ref(probe)
    x = leaf()
    y = Keep.apply(x, probe, lambda ctx, y: setattr(ctx, "y", y))
    z = y * 3
    del y, probe
    gc.collect()
    assert alive() is not None
    z.sum().backward()
    assert x.grad.tolist() == [6, 6, 6]
    node = z.grad_fn
    del z
    gc.collect()
    assert alive() is not None  # the node leads to the function's
    del node
    gc.collect()
    assert alive() is None


def test_a_finalizer_that_brings_a_result_back():
    saved = []

    class Last:
        def __del__(self):
            saved.append(self.y * 2)

    x = leaf()
    y = Keep.apply(x, Probe(), lambda ctx, y: setattr(ctx, "y", y))
    y.grad_fn.metadata["last"] = last = Last()
    last.y = y
    del y, last
    gc.collect()
    saved[0].sum().backward()
    assert x.grad.tolist() == [4, 4, 4]
    saved.clear()
    gc.collect()
    gc.collect()


def test_one_collection_frees_a_row_of_thousands():
    y = leaf()
    for _ in range(3000):
        y = Keep.apply(y, None, lambda ctx, y: setattr(ctx, "y", y))
    gc.collect()
    assert hot.num_kept() == 6000
    del y
    gc.collect()
    assert hot.num_kept() == 0


@pytest.mark.parametrize("length", [1, 4])
def test_a_loop_of_a_thousand_steps_keeps_few(length):
    most = 0
    for _ in range(1000):
        y = leaf()
        for _ in range(length):
            y = Keep.apply(y, None, lambda ctx, y: setattr(ctx, "y", y))
        most = max(most, hot.num_kept())
    del y
    gc.collect()
    assert hot.num_kept() == 0
    assert most < 1000  # of 2,000 and 8,000: the collector has come by on its own


def test_what_an_old_tensor_keeps_stays():
    """A collection of young objects does not ask old ones, which may keep what it looks at."""
    probe = Probe()
    alive = weakref.ref(probe)
    x = leaf()
    h = x * 2
    gc.collect()  # h is old from here on
    y = Keep.apply(x, probe, lambda ctx, y: setattr(ctx, "y", y))
    h += y
    del y, probe
    for generation in (0, 1, 2, 0, 1):
        gc.collect(generation)
        assert alive() is not None
    h.sum().backward()
    assert x.grad.tolist() == [4, 4, 4]
    del h
    gc.collect()
    assert alive() is None


def test_questions_outside_a_collection():
    y = Keep.apply(leaf(), None, lambda ctx, y: setattr(ctx, "y", y))
    before = gc.get_referents(y)
    gc.collect()
    assert gc.get_referents(y) == before  # what the collection has found is not shown later
    assert gc.get_referrers(y)
    del y, before
    gc.collect()
    assert hot.num_kept() == 0


def test_collections_while_other_threads_use_the_graph():
    wrong = []

    def train():
        try:
            for _ in range(40):
                x = leaf()
                y = Keep.apply(x, Probe(), lambda ctx, y: setattr(ctx, "y", y))
                for _ in range(5):
                    y = Keep.apply(y, Probe(), lambda ctx, y: setattr(ctx, "ys", [y]))
                y.sum().backward()
                assert x.grad.tolist() == [64] * 3
        except BaseException as problem:  # noqa: BLE001 - of any kind
            wrong.append(problem)

    threads = [threading.Thread(target=train) for _ in range(3)]
    before = gc.get_threshold()
    gc.set_threshold(20, 2, 1000)
    try:
        for each in threads:
            each.start()
        for each in threads:
            each.join()
    finally:
        gc.set_threshold(*before)
    gc.collect()
    assert not wrong and not hot.num_kept()
