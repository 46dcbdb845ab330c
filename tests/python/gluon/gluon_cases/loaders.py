"""Cases of the loader of batches."""

from __future__ import annotations

from typing import Any

import numpy as np
from _case import case


def _simple(mx: Any, size: int = 10) -> Any:
    return mx.gluon.data.SimpleDataset(list(range(size)))


def _arrays(mx: Any) -> Any:
    return mx.gluon.data.ArrayDataset(np.arange(15).reshape(5, 3), mx.nd.array([1, 2, 3, 4, 5]), [5, 6, 7, 8, 9])


@case(size=[1, 10], batch=[1, 3, 12], last=["keep", "discard", "rollover", None], shuffle=[True, False])
def epochs(mx, size, batch, last, shuffle):
    loader = mx.gluon.data.DataLoader(_simple(mx, size), batch, shuffle, last_batch=last)
    return [[list(loader), len(loader)] for _ in range(2)]


@case(workers=[1, 2], threads=[True, False], prefetch=[None, 0, 3], last=["keep", "discard"])
def workers(mx, workers, threads, prefetch, last):
    loader = mx.gluon.data.DataLoader(
        _arrays(mx), 2, num_workers=workers, thread_pool=threads, prefetch=prefetch, last_batch=last
    )
    return [list(loader), len(loader), [str(batch[0].context) for batch in loader]]


@case(workers=[0, 1], pinned=[True, False], device=[0, 1])
def contexts(mx, workers, pinned, device):
    loader = mx.gluon.data.DataLoader(
        _arrays(mx), 2, num_workers=workers, pin_memory=pinned, pin_device_id=device if pinned else 0
    )
    return [[str(each.context) for each in batch] for batch in loader]


@case(workers=[0, 2])
def sampler(mx, workers):
    sampler = mx.gluon.data.SequentialSampler(4, 3)
    return list(mx.gluon.data.DataLoader(_simple(mx), 3, sampler=sampler, num_workers=workers))


@case(workers=[0, 2])
def batch_sampler(mx, workers):
    loader = mx.gluon.data.DataLoader(_simple(mx), batch_sampler=[[1], [2, 3], [9, 9]], num_workers=workers)
    return [list(loader), len(loader)]


@case(
    given=[
        {},
        {"batch_size": 2, "shuffle": True, "sampler": [1]},
        {"batch_size": 2, "batch_sampler": [[1]]},
        {"shuffle": True, "batch_sampler": [[1]]},
        {"sampler": [1], "batch_sampler": [[1]]},
        {"last_batch": "keep", "batch_sampler": [[1]]},
        {"batch_size": 3, "timeout": 0},
        {"batch_size": 3, "timeout": -1},
        {"batch_size": 0},
        {"batch_size": 3, "last_batch": "foo"},
        {"batch_size": 3, "num_workers": -1},
        {"batch_size": 3, "prefetch": -2},
        {"batch_size": 3, "prefetch": 2},
        {"batch_size": 3, "unknown": 2},
        {"batch_size": 4, "auto_reload": True, "num_workers": 1},
        {"batch_size": 4, "sampler": [3, 1, 2]},
    ]
)
def arguments(mx, given):
    return list(mx.gluon.data.DataLoader(_simple(mx), **given))


@case(workers=[0, 1])
def auto_reload(mx, workers):
    loader = mx.gluon.data.DataLoader(_simple(mx), 4, num_workers=workers, auto_reload=True)
    epochs = [list(loader), list(loader)]
    return [epochs, loader.clean(), loader.refresh(), list(loader)]


def _sums(samples: list) -> list:
    return [sum(samples), samples, np.array(samples, "int8")]


@case(workers=[0, 1, 2], threads=[True, False])
def own_batchify(mx, workers, threads):
    dataset = _simple(mx)
    return list(mx.gluon.data.DataLoader(dataset, 4, batchify_fn=_sums, num_workers=workers, thread_pool=threads))


@case(workers=[0, 1], threads=[True, False], kind=[KeyError, ValueError, IndexError])
def errors(mx, workers, threads, kind):
    def fails(sample):
        if sample == 5:
            raise kind("this one")
        return sample

    dataset = _simple(mx).transform(fails)
    return list(mx.gluon.data.DataLoader(dataset, 4, num_workers=workers, thread_pool=threads))


SAMPLES = {
    "ints": [1, 2],
    "floats": [1.5, 2],
    "bools": [True, False],
    "float32": [np.float32(1), np.float32(2)],
    "int64": [np.int64(7)],
    "pairs": [(1, 2.5), (3, 4)],
    "lists": [[1, 2], [3, 4]],
    "nested": [(1, (2, 3)), (3, (4, 5))],
    "tuple": ((1, 2), (3, 4, 5)),
    "numpy": np.ones((2, 3)),
    "uint8": [np.ones((2, 2), "uint8")] * 3,
    "float16": [np.ones((2,), "float16")] * 3,
    "scalars": [np.array(3, "int32")] * 2,
    "none": [],
}


@case(of=["default_batchify_fn", "default_mp_batchify_fn"], samples=list(SAMPLES))
def batchify(mx, of, samples):
    return getattr(mx.gluon.data.dataloader, of)(SAMPLES[samples])


@case(of=["default_batchify_fn", "default_mp_batchify_fn"], dtype=["float32", "uint8", "int64"], shape=[(1,), (2, 3)])
def batchify_arrays(mx, of, dtype, shape):
    arrays = [mx.nd.full(shape, number, dtype=dtype) for number in range(3)]
    made = getattr(mx.gluon.data.dataloader, of)(arrays)
    return [made, str(made.context)]


@case(differs="a TypeError, which says that the values have no dtype of an array")
def batchify_texts(mx):
    return mx.gluon.data.dataloader.default_batchify_fn(["a", "b"])


@case(kind=["array", "list", "tuple", "nested", "number", "text"])
def batch_in_another_context(mx, kind):
    """By a private name that GluonNLP imports, beside the pickler."""
    x = mx.nd.ones((2,))
    batch = {"array": x, "list": [x, x], "tuple": (x, 1), "nested": [[x], (x,)], "number": 1, "text": "a"}[kind]
    moved = mx.gluon.data.dataloader._as_in_context(batch, mx.cpu(1))
    return moved, mx.gluon.data.dataloader.ForkingPickler.__name__
