"""The devices of executors' arrays: the context, and group2ctx. Real answers are those of MXNet 1.9.1."""

import numpy as np
import pytest

import mxlite as mx

MAP = {"one": mx.cpu(1), "two": mx.cpu(2)}


def network(first="one", second="two"):
    def scope(group):
        return mx.AttrScope(ctx_group=group) if group else mx.AttrScope()

    with scope(first):
        data = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=4, name="fc1")
        data = mx.sym.BatchNorm(data, name="bn")
    with scope(second):
        return mx.sym.FullyConnected(data, num_hidden=4, name="fc2")


def numbers(arrays):
    return [each.context.device_id for each in arrays]


def devices(executor):
    return [numbers(each) for each in (executor.arg_arrays, executor.grad_arrays)], [
        numbers(each) for each in (executor.aux_arrays, executor.outputs)
    ]


@pytest.mark.parametrize(
    ("groups", "given", "first", "second"),
    [
        ((None, None), None, 3, 3),
        (("one", "two"), None, 3, 3),
        (("one", "two"), MAP, 1, 2),
        (("one", "two"), {**MAP, "other": mx.Context("gpu", 0)}, 1, 2),
        ((None, "two"), MAP, 3, 2),
    ],
)
def test_arrays_are_where_they_were_asked_for(groups, given, first, second):
    executor = network(*groups).simple_bind(mx.cpu(3), group2ctx=given, data=(2, 3))
    arguments = [first] * 5 + [second] * 2
    expected = [arguments, arguments], [[first] * 2, [second]]
    assert devices(executor) == expected
    executor.forward(is_train=True, data=mx.nd.ones((2, 3)))
    executor.backward(mx.nd.ones((2, 4)))
    assert devices(executor) == expected
    for shape in ((1, 3), (8, 3)):
        reshaped = executor.reshape(allow_up_sizing=True, data=shape)
        assert devices(reshaped) == expected
        reshaped.forward(is_train=True)
        assert devices(reshaped) == expected


def test_nodes_without_a_group_are_where_their_first_input_is():
    plain = mx.sym.var("plain")
    with mx.AttrScope(ctx_group="one"):
        first = mx.sym.exp(plain)
        grouped = mx.sym.var("grouped")
    with mx.AttrScope(ctx_group="two"):
        second = mx.sym.exp(first)
    outputs = [mx.sym.sin(mx.sym.cos(first)), first + second, second + first, plain, grouped, plain + grouped]
    source = mx.sym.zeros((2,))
    executor = mx.sym.Group([*outputs, source]).simple_bind(mx.cpu(5), group2ctx=MAP, plain=(2,), grouped=(2,))
    assert numbers(executor.outputs) == [1, 1, 2, 5, 1, 5, 5]
    executor.forward()
    assert numbers(executor.outputs) == [1, 1, 2, 5, 1, 5, 5]


def test_pinned_memory():
    executor = network().simple_bind(mx.cpu(), group2ctx={**MAP, "one": mx.cpu_pinned(0)}, data=(1, 3))
    assert executor.arg_dict["data"].context == mx.cpu_pinned(0)


def test_groups_without_a_device_are_refused():
    with pytest.raises(mx.MXNetError, match="group2ctx has no device for two, the group of fc2_weight"):
        network().simple_bind(mx.cpu(), group2ctx={"one": mx.cpu(1)}, data=(1, 3))
    with pytest.raises(mx.MXNetError, match=r"two: device type 2 \(gpu\)"):
        network().simple_bind(mx.cpu(), group2ctx={**MAP, "two": mx.gpu(0)}, data=(1, 3))
    with pytest.raises(mx.MXNetError, match=r"two: device type 2 \(gpu\)"):
        bound(network(), mx.cpu(), group2ctx={**MAP, "two": mx.gpu(0)})
    unused = network().simple_bind(mx.cpu(), group2ctx={**MAP, "none has it": mx.gpu(0)}, data=(1, 3))
    assert unused.forward()[0].context == MAP["two"]
    with pytest.raises(mx.MXNetError, match="group2ctx has no device for one, the group of data"):
        bound(network(), mx.cpu(), group2ctx={"other": mx.cpu(1)})


def bound(symbol, ctx, group2ctx=None, args=None, grads=None, states=None):
    """An executor over arrays on cpu(0), or where the dictionaries say."""
    shapes, _, _ = symbol.infer_shape(data=(1, 3))
    names = symbol.list_arguments()
    arrays, gradients = (
        {name: mx.nd.ones(shape, ctx=mx.cpu((where or {}).get(name, 0))) for name, shape in zip(names, shapes)}
        for where in (args, grads)
    )
    own = {name: mx.nd.ones((4,), ctx=mx.cpu((states or {}).get(name, 0))) for name in symbol.list_auxiliary_states()}
    return symbol.bind(ctx, arrays, gradients, aux_states=own, group2ctx=group2ctx)


@pytest.mark.parametrize(
    ("ctx", "where", "text"),
    [
        (0, {"args": {"fc1_bias": 1}}, r"fc1_bias is on cpu\(1\), and the executor on cpu\(0\)"),
        (0, {"grads": {"fc1_bias": 1}}, r"the gradient of fc1_bias is on cpu\(1\), and the executor on cpu\(0\)"),
        (1, {}, r"data is on cpu\(0\), and the executor on cpu\(1\)"),
    ],
)
def test_without_groups_all_arrays_are_on_one_device(ctx, where, text):
    with pytest.raises(mx.MXNetError, match=text):
        bound(network(None, None), mx.cpu(ctx), **where)
    bound(network(None, None), mx.cpu(0), states={"bn_moving_mean": 4}).forward()


def test_bind_with_groups():
    names = network().list_arguments()
    where = {name: 2 if name.startswith("fc2") else 1 for name in names}
    executor = bound(network(), mx.cpu(), MAP, args=where, grads=where)
    executor.forward(is_train=True)
    assert devices(executor) == ([list(where.values())] * 2, [[0, 0], [2]])
    plain = bound(network(None, None), mx.cpu(), MAP, args=dict.fromkeys(names, 7))
    assert numbers(plain.outputs) == [7]


def test_gradients_may_be_anywhere():
    executor = bound(network(), mx.cpu(), MAP, grads={"fc1_weight": 6})
    executor.forward(is_train=True)
    executor.backward(mx.nd.ones((1, 4)))
    assert executor.grad_dict["fc1_weight"].context == mx.cpu(6)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"one": mx.cpu(1), "two": mx.cpu(2)}, [(1, 2), (1, 2)]),
        ({"one": [mx.cpu(1), mx.cpu(3)], "two": (mx.cpu(2),)}, [(1, 2), (3, 2)]),
        ([MAP, {"one": mx.cpu(3), "two": mx.cpu(4)}], [(1, 2), (3, 4)]),
        ([None, MAP], [(0, 0), (1, 2)]),
        (None, [(0, 0), (5, 5)]),
    ],
)
def test_modules(given, expected):
    module = mx.mod.Module(network(), label_names=None, context=[mx.cpu(0), mx.cpu(5)], group2ctxs=given)
    module.bind([("data", (4, 3))])
    module.init_params()
    module.forward(mx.io.DataBatch([mx.nd.ones((4, 3))]), is_train=True)
    module.backward([mx.nd.ones((4, 4))])
    for executor, (first, second) in zip(module._exec_group.execs, expected):
        arguments = [first] * 5 + [second] * 2
        assert numbers(executor.arg_arrays) == arguments and numbers(executor.outputs) == [second]
        assert numbers(each for each in executor.grad_arrays if each is not None) == arguments[1:]


@pytest.mark.parametrize("given", [{"one": [mx.cpu()] * 3}, {"one": []}, [MAP], "x"])
def test_modules_refuse_other_numbers_of_devices(given):
    module = mx.mod.Module(network(), label_names=None, context=[mx.cpu(0), mx.cpu(1)], group2ctxs=given)
    with pytest.raises(AssertionError, match="group2ctxs: "):
        module.bind([("data", (4, 3))])


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
@pytest.mark.parametrize("of_head", ["float16", "float32", "float64", "uint8", "int8", "int32", "int64", "bool"])
def test_head_gradients_are_cast(dtype, of_head):
    arrays = [mx.nd.ones((2, 3), dtype=dtype), mx.nd.zeros((2, 3), dtype=dtype)]
    executor = (mx.sym.var("x") + 1).bind(mx.cpu(), *([each] for each in arrays))
    head = mx.nd.array([[0, 1, 2], [3, 4, 5]], dtype=of_head, ctx=mx.cpu(1))
    executor.forward(is_train=True)
    executor.backward(head)
    assert arrays[1].dtype == np.dtype(dtype) and head.dtype == np.dtype(of_head)
    assert arrays[1].asnumpy().tolist() == head.asnumpy().astype(dtype).tolist()


@pytest.mark.parametrize("shape", [(3, 2), (6,), (1, 3), (1,), (2, 3, 1), (4, 3)])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_head_gradients_have_the_shape_of_the_output(shape, dtype):
    executor = (mx.sym.var("x") * 3).bind(mx.cpu(), [mx.nd.ones((2, 3))], [mx.nd.zeros((2, 3))])
    executor.forward(is_train=True)
    with pytest.raises(mx.MXNetError, match=r"head gradient 0 has shape \(.*\), output 0 has \(2,3\)"):
        executor.backward(mx.nd.ones(shape, dtype=dtype))
    assert executor.grad_arrays[0].asnumpy().max() == 0
