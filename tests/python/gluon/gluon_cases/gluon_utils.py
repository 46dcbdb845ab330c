"""mx.gluon.utils."""

from __future__ import annotations

import collections
import hashlib
import os
import pickle
import warnings

import numpy as np
from _case import case

from gluon_cases._parts import array, signature

FUNCTIONS = """
    split_data split_and_load clip_global_norm check_sha1 download replace_file shape_is_known _get_repo_url
    _get_repo_file_url _indent _brief_print_list HookHandle
""".split()


@case(name=FUNCTIONS)
def signature_of(mx, name):
    return signature(getattr(mx.gluon.utils, name))


@case
def names(mx):
    return sorted(mx.gluon.utils.__all__)


# ---- batches ----


@case(
    shape=[(5, 2), (4,), (2, 6), (7, 1), (1, 3)],
    num_slice=[1, 2, 3],
    even_split=[True, False],
    kind=["NDArray", "NumPy"],
)
def split_data(mx, shape, num_slice, even_split, kind):
    data = np.arange(np.prod(shape)).reshape(shape).astype("float32")
    data = mx.nd.array(data) if kind == "NDArray" else data
    return mx.gluon.utils.split_data(data, num_slice, even_split=even_split)


@case(batch_axis=[0, 1, 2, 5], num_slice=[2, 3], even_split=[True, False])
def split_along_axis(mx, batch_axis, num_slice, even_split):
    return mx.gluon.utils.split_data(mx.nd.arange(24).reshape((2, 4, 3)), num_slice, batch_axis, even_split)


@case(num_slice=[0, -1])
def split_into_no_slices(mx, num_slice):
    return mx.gluon.utils.split_data(mx.nd.arange(4), num_slice)


@case
def split_of_a_list(mx):
    return mx.gluon.utils.split_data([1, 2, 3, 4], 2)


@case(contexts=[[0], [1], [0, 1], [0, 1, 2]], kind=["NDArray", "NumPy", "list"], even_split=[True, False])
def split_and_load(mx, contexts, kind, even_split):
    data = {"NDArray": mx.nd.arange(4), "NumPy": np.arange(4), "list": [0, 1, 2, 3]}[kind]
    found = mx.gluon.utils.split_and_load(data, [mx.cpu(each) for each in contexts], even_split=even_split)
    return [[str(each.context), each] for each in found]


@case
def split_and_load_keeps_an_array(mx):
    data = mx.nd.arange(4)
    return mx.gluon.utils.split_and_load(data, [mx.cpu(0)])[0] is data


@case(dtype=["float64", "int32", "uint8"])
def split_and_load_of_dtype(mx, dtype):
    return mx.gluon.utils.split_and_load(np.arange(4).astype(dtype), [mx.cpu(0), mx.cpu(1)])


@case
def split_and_load_nowhere(mx):
    mx.gluon.utils.split_and_load(mx.nd.arange(4), [])


# ---- gradients ----


@case(max_norm=[0.5, 1.0, 4.0, 100.0, -1.0], check_isfinite=[True, False])
def clip_global_norm(mx, max_norm, check_isfinite):
    arrays = [array(mx, (2, 3)), array(mx, (4,), 1), array(mx, (1,), 2)]
    norm = mx.gluon.utils.clip_global_norm(arrays, max_norm, check_isfinite)
    return norm, arrays


@case(value=[np.inf, np.nan])
def clip_global_norm_of(mx, value):
    arrays = [mx.nd.array([value, 1])]
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        norm = mx.gluon.utils.clip_global_norm(arrays, 1.0)
    kinds = [each.category.__name__ for each in found if each.category is UserWarning]
    return norm, arrays, kinds


@case
def clip_global_norm_of_zeros(mx):
    arrays = [mx.nd.zeros((2, 3))]
    return mx.gluon.utils.clip_global_norm(arrays, 1.0), arrays


@case
def clip_global_norm_of_nothing(mx):
    mx.gluon.utils.clip_global_norm([], 1.0)


@case
def clip_global_norm_in_contexts(mx):
    arrays = [mx.nd.ones((2,), ctx=mx.cpu(0)) * 3, mx.nd.ones((2,), ctx=mx.cpu(1)) * 4]
    return mx.gluon.utils.clip_global_norm(arrays, 1.0), [[str(each.context), each] for each in arrays]


@case
def clip_gradients(mx):
    net = mx.gluon.nn.Dense(2, in_units=3)
    net.initialize("ones")
    with mx.autograd.record():
        loss = net(array(mx, (4, 3)) * 5).sum()
    loss.backward()
    grads = [each.grad() for each in net.collect_params().values()]
    norm = mx.gluon.utils.clip_global_norm(grads, 0.1)
    return norm, [each.grad() for each in net.collect_params().values()]


# ---- files ----


def _written(folder, name="a", text=b"hello"):
    path = os.path.join(folder, name)
    with open(path, "wb") as file:
        file.write(text)
    return path


HELLO = hashlib.sha1(b"hello").hexdigest()


@case(sha1=[HELLO, HELLO[:8], HELLO[:7], "0", "", HELLO.upper()])
def check_sha1(mx, folder, sha1):
    return mx.gluon.utils.check_sha1(_written(folder), sha1)


@case
def check_sha1_of_no_file(mx, folder):
    return mx.gluon.utils.check_sha1(folder + "/nope", HELLO)


@case
def replace_file(mx, folder):
    first, second = _written(folder), _written(folder, "b", b"other")
    mx.gluon.utils.replace_file(first, second)
    with open(second, "rb") as file:
        return sorted(os.listdir(folder)), file.read()


@case(sha1=[None, HELLO])
def download_what_is_there(mx, folder, sha1):
    path = _written(folder)
    found = mx.gluon.utils.download("http://127.0.0.1:9/a", path=path, sha1_hash=sha1)
    return found == path, mx.gluon.utils.download("http://127.0.0.1:9/a", path=folder) == path


@case(why=["nowhere", "overwrite", "sha1"])
def download_from_nowhere(mx, folder, why):
    kwargs = {"overwrite": why == "overwrite", "sha1_hash": "0" if why == "sha1" else None, "retries": 0}
    path = folder + "/b" if why == "nowhere" else _written(folder)
    mx.gluon.utils.download("http://127.0.0.1:9/a", path=path, **kwargs)


@case
def download_without_retries(mx, folder):
    mx.gluon.utils.download("http://127.0.0.1:9/a", path=folder + "/b", retries=-1)


@case
def download_without_name(mx):
    mx.gluon.utils.download("http://127.0.0.1:9/", retries=0)


@case(namespace=["gluon/models", "x"])
def repository(mx, namespace):
    utils = mx.gluon.utils
    return utils._get_repo_url(), utils._get_repo_file_url(namespace, "a.zip")


@case(url=["http://x/y", "http://x/y/"])
def repository_of_the_environment(mx, url):
    os.environ["MXNET_GLUON_REPO"] = url
    try:
        return mx.gluon.utils._get_repo_url(), mx.gluon.utils._get_repo_file_url("a", "b")
    finally:
        del os.environ["MXNET_GLUON_REPO"]


# ---- helpers ----


@case(shape=[None, (), (0,), (1,), (1, 0), (-1,), (1, 2), [1, 2]], np_shape=[False, True])
def shape_is_known(mx, shape, np_shape):
    with mx.util.np_shape(np_shape):
        return mx.gluon.utils.shape_is_known(shape)


@case(text=["", "a", "a\nb\nc", "a\n\nb"], spaces=[0, 2])
def indent(mx, text, spaces):
    return mx.gluon.utils._indent(text, spaces)


@case(count=[0, 1, 3, 7, 8, 9, 13], limit=[7, 3, 4])
def brief_list(mx, count, limit):
    return mx.gluon.utils._brief_print_list(list("abcdefghijklmnop"[:count]), limit)


@case
def hook_handles(mx):
    hooks, handle, other = collections.OrderedDict(), mx.gluon.utils.HookHandle(), mx.gluon.utils.HookHandle()
    handle.attach(hooks, "x")
    other.attach(hooks, "y")
    seen = [list(hooks.values())]
    handle.detach()
    handle.detach()
    seen.append(list(hooks.values()))
    with other:
        seen.append(list(hooks.values()))
    return [*seen, list(hooks.values())]


@case
def hook_handle_is_used_twice(mx):
    hooks, handle = collections.OrderedDict(), mx.gluon.utils.HookHandle()
    handle.attach(hooks, "x")
    handle.attach(hooks, "y")


@case
def hook_handle_of_a_plain_dict(mx):
    mx.gluon.utils.HookHandle().attach({}, "x")


@case
def hook_handle_is_pickled(mx):
    hooks, handle = collections.OrderedDict(), mx.gluon.utils.HookHandle()
    handle.attach(hooks, "x")
    pickle.dumps(handle)
    return [len(hooks)]
