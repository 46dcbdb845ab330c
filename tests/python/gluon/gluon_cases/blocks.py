"""mx.gluon.Block and HybridBlock: names, children, parameters, hooks, files, calls, unknown shapes."""

from __future__ import annotations

import json
import os

import numpy as np
from _case import case

from gluon_cases._parts import all_of, array, fill, net_of, shared_net, signature, warned


@case(name=["Block", "HybridBlock", "SymbolBlock"])
def signature_of_class(mx, name):
    return signature(getattr(mx.gluon, name))


BLOCK = """
    __call__ apply cast collect_params forward hybridize initialize load load_parameters load_params name_scope
    register_child register_forward_hook register_forward_pre_hook register_op_hook save save_parameters save_params
    summary
""".split()
HYBRID = "cast export forward hybrid_forward hybridize infer_shape infer_type optimize_for register_child".split()


@case(name=BLOCK)
def signature_of_block_method(mx, name):
    return signature(getattr(mx.gluon.Block, name))


@case(name=HYBRID)
def signature_of_hybrid_method(mx, name):
    return signature(getattr(mx.gluon.HybridBlock, name))


@case
def signature_of_imports(mx):
    return signature(mx.gluon.SymbolBlock.imports)


@case(name=["Block", "HybridBlock"])
def public_methods(mx, name):
    return [each for each in dir(getattr(mx.gluon, name)) if each[0] != "_" and each != "reset_ctx"]


# ---- names ----


@case
def block_names_are_counted(mx):
    nn, gluon = mx.gluon.nn, mx.gluon
    made = [nn.Dense(2), nn.Dense(2), nn.Sequential(), gluon.HybridBlock(), gluon.Block(), nn.Activation("relu")]
    made += [nn.Conv2D(1, 1), nn.Conv2DTranspose(1, 1), nn.Lambda("relu"), nn.PReLU(), nn.GELU(), nn.MaxPool2D()]
    return [[each.name, each.prefix] for each in made]


@case(prefix=["x_", "x", "", None, "a_b_"])
def block_prefix(mx, prefix):
    block = mx.gluon.nn.Dense(2, in_units=1, prefix=prefix)
    return block.name, block.prefix, all_of(block.params)


@case
def block_prefix_of_no_text(mx):
    mx.gluon.nn.Dense(2, prefix=3)


@case
def block_names_in_scopes(mx):
    nn = mx.gluon.nn
    outer = nn.HybridSequential()
    with outer.name_scope():
        first, inner = nn.Dense(2), nn.HybridSequential()
        with inner.name_scope():
            own, second = nn.Dense(2, prefix="own_"), nn.Dense(2)
        third = nn.Dense(2)
    with outer.name_scope():
        fourth = nn.Dense(2)
    fifth = nn.Dense(2)
    return [each.prefix for each in (outer, first, inner, own, second, third, fourth, fifth)]


@case
def block_names_in_scope_without_prefix(mx):
    nn = mx.gluon.nn
    outer = nn.HybridSequential(prefix="")
    with outer.name_scope():
        made = [nn.Dense(2), nn.Dense(2), nn.Sequential(prefix="q_"), nn.Sequential(prefix="")]
    return [each.prefix for each in [*made, nn.Dense(2)]]


@case
def block_names_after_an_error_in_a_scope(mx):
    outer = mx.gluon.nn.HybridSequential()
    try:
        with outer.name_scope():
            raise KeyError
    except KeyError:
        pass
    return mx.gluon.nn.Dense(2).prefix


@case
def block_names_with_a_manager(mx):
    nn = mx.gluon.nn
    with mx.name.Prefix("p_"):
        first = nn.Dense(2)
    with mx.name.NameManager():
        second = nn.Dense(2)
    return first.prefix, second.prefix, nn.Dense(2).prefix


@case
def names_within_a_scope_are_those_of_its_block(mx):
    block = mx.gluon.nn.Sequential(prefix="s_")
    with block.name_scope():
        inner = mx.name.NameManager.current.get(None, "hint")
    return inner, mx.name.NameManager.current.get(None, "hint")


@case
def blocks_share_parameters(mx):
    nn = mx.gluon.nn
    first = nn.Dense(2, in_units=1)
    second = nn.Dense(2, in_units=1, params=first.params)
    third = nn.Dense(2, in_units=1, prefix="t_", params=first.collect_params())
    return [
        [each.prefix, each.params.prefix, all_of(each.params), each.weight is first.weight]
        for each in (first, second, third)
    ]


@case
def networks_share_parameters(mx):
    nn = mx.gluon.nn

    def make(**kwargs):
        net = nn.HybridSequential(**kwargs)
        with net.name_scope():
            net.add(nn.Dense(2, in_units=1), nn.Dense(2, in_units=2))
        return net

    first = make(prefix="n_")
    second = make(prefix="m_", params=first.collect_params())
    third = make(params=first.params)
    same = [[mine.weight is theirs.weight for mine, theirs in zip(each, first)] for each in (second, third)]
    return same, [list(each.collect_params()) for each in (first, second, third)], third.prefix


@case
def shared_parameters_of_other_shape(mx):
    first = mx.gluon.nn.Dense(2, in_units=1)
    mx.gluon.nn.Dense(3, in_units=1, params=first.params)


# ---- attributes and children ----


@case
def block_prints(mx):
    nn = mx.gluon.nn
    net = nn.HybridSequential()
    net.add(nn.HybridSequential(), nn.HybridSequential())
    net[0].add(nn.PReLU(), nn.Dense(2))
    return repr(net_of(mx)), repr(mx.gluon.Block()), repr(net), repr(mx.gluon.HybridBlock())


@case
def block_attributes(mx):
    net = net_of(mx)
    return list(net._children), list(net._reg_params), net.name, net.prefix, net._alias(), list(net.params)


@case(
    name=["a", "w", "new"],
    value=["number", "none", "block", "parameter", "same", "dict"],
)
def attribute_is_set(mx, name, value):
    net = net_of(mx)
    values = {
        "number": 3,
        "none": None,
        "block": mx.gluon.nn.Dense(7),
        "parameter": mx.gluon.Parameter("q", shape=(2,)),
        "same": getattr(net, name, None),
        "dict": mx.gluon.ParameterDict(),
    }
    setattr(net, name, values[value])
    return list(net._children), list(net._reg_params), getattr(net, name) is values[value]


@case(kind=["Block", "Sequential", "Lambda", "int"])
def hybrid_child_must_be_hybrid(mx, kind):
    nn = mx.gluon.nn
    child = {"Block": mx.gluon.Block, "Sequential": nn.Sequential, "Lambda": lambda: nn.Lambda("relu"), "int": int}
    nn.HybridSequential().register_child(child[kind]())


@case
def hybrid_attribute_must_be_hybrid(mx):
    mx.gluon.HybridBlock().child = mx.gluon.Block()


@case
def children_are_registered(mx):
    block = mx.gluon.Block()
    for name in (None, "own", None):
        block.register_child(mx.gluon.nn.Dense(2, in_units=1), name)
    return list(block._children), list(block.collect_params()), repr(block)


@case(kind=["list", "tuple", "dict", "nested", "registered", "parameters", "empty"])
def containers_with_blocks_warn(mx, kind):
    dense, block = mx.gluon.nn.Dense(2, in_units=1), mx.gluon.Block()
    kinds = {
        "list": [dense],
        "tuple": (dense,),
        "dict": {"a": dense},
        "nested": [{"a": (dense,)}],
        "registered": [dense],
        "parameters": [dense.params],
        "empty": [],
    }
    block.own = kinds[kind]
    if kind == "registered":
        block.register_child(dense)
    return [each[0] for each in warned(block.collect_params)], list(block.collect_params())


@case
def apply_visits_children_first(mx):
    net, seen = net_of(mx), []
    same = net.apply(lambda block: seen.append(block.name)) is net
    return same, seen


@case(select=[None, ".*weight", "net0_dense0_weight", "dense0", ".*(w|c)$", "", ".*gamma|.*beta", "nothing"])
def collect_params(mx, select):
    params = net_of(mx).collect_params(select)
    return params.prefix, all_of(params), repr(params)


@case
def collect_params_of_no_pattern(mx):
    net_of(mx).collect_params(3)


@case
def params_are_those_of_the_block(mx):
    net = net_of(mx)
    return repr(net.params), net.params is net.params, list(net.collect_params()) == list(net.params)


@case
def params_by_attributes(mx):
    return [[name, each.name] for name, each in net_of(mx)._collect_params_with_prefix().items()]


# ---- initialize, cast ----


@case(init=["ones", "zeros"], force_reinit=[False, True])
def initialize(mx, init, force_reinit):
    net = net_of(mx)
    net.initialize(init)
    net.a.weight.set_data(mx.nd.ones((2, 3)) * 5)
    found = warned(lambda: net.initialize(init, force_reinit=force_reinit))
    return len(found), [each.data() for each in net.collect_params().values()]


@case(ctx=[[0], [1], [0, 1]])
def initialize_in_contexts(mx, ctx):
    net = net_of(mx)
    net.initialize("ones", ctx=[mx.cpu(each) for each in ctx])
    x = array(mx, (2, 3)).as_in_context(mx.cpu(ctx[-1]))
    out = net.a(x)
    return out, str(net.a.weight.list_ctx())


@case(place=["block", "operator"])
def context_of_the_input_decides(mx, place):
    net = mx.gluon.nn.Dense(2, in_units=3)
    net.initialize(ctx=mx.cpu(0))
    x = mx.nd.ones((1, 3), ctx=mx.cpu(1))
    return net(x) if place == "block" else str(net(x.as_in_context(mx.cpu(0))).context)


@case
def contexts_have_their_own_values(mx):
    net = mx.gluon.nn.Dense(2, in_units=3)
    net.initialize("ones", ctx=[mx.cpu(0), mx.cpu(1)])
    net.weight.data(mx.cpu(1))[:] = 2
    outs = [net(mx.nd.ones((1, 3), ctx=mx.cpu(each))) for each in (0, 1, 0)]
    with mx.autograd.record():
        loss = net(mx.nd.ones((1, 3), ctx=mx.cpu(1))).sum()
    loss.backward()
    return outs, net.weight.list_grad()


@case
def context_within_a_block(mx):
    class Net(mx.gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return F.zeros((2,))

    return [str(Net()(mx.nd.ones(1, ctx=mx.cpu(each))).context) for each in (0, 1, 2)]


@case(dtype=["float16", "float64"])
def cast(mx, dtype):
    net = net_of(mx)
    net.initialize("ones")
    net.cast(dtype)
    return [[name, np.dtype(each.data().dtype).name] for name, each in net.collect_params().items()]


@case(name=["initialize", "cast", "hybridize"])
def methods_return_nothing(mx, name):
    block = mx.gluon.Block()
    return [getattr(block, name)(*{"cast": ("float16",)}.get(name, ()))]


# ---- hooks ----


@case(kind=["forward", "forward_pre"])
def hooks_are_called(mx, kind):
    block, seen = mx.gluon.nn.Dense(2, in_units=2), []
    block.initialize("ones")
    add = getattr(block, f"register_{kind}_hook")

    def hook(*args):
        seen.append([args[0] is block, *(type(each).__name__ for each in args[1:]), len(args[1])])
        return 5

    handle = add(hook)
    out = block(mx.nd.ones((1, 2)))
    handle.detach()
    handle.detach()
    block(mx.nd.ones((1, 2)))
    with add(hook):
        block(mx.nd.ones((1, 2)))
    block(mx.nd.ones((1, 2)))
    return out, seen


@case
def hooks_are_called_in_order(mx):
    block, seen = mx.gluon.nn.Activation("relu"), []
    for number in range(3):
        block.register_forward_hook(lambda *_, number=number: seen.append(number))
        block.register_forward_pre_hook(lambda *_, number=number: seen.append(-number))
    block(mx.nd.ones(1))
    return seen


@case
def hook_that_is_no_function(mx):
    block = mx.gluon.nn.Activation("relu")
    block.register_forward_hook(5)
    block(mx.nd.ones(1))


# ---- files ----


@case(deduplicate=[False, True], shared=[False, True])
def save_parameters(mx, folder, deduplicate, shared):
    net = shared_net(mx) if shared else net_of(mx)
    net.initialize("ones")
    fill(mx, net)
    net.save_parameters(folder + "/a", deduplicate=deduplicate)
    with open(folder + "/a", "rb") as file:
        return list(mx.nd.load(folder + "/a")), file.read()


@case(shared=[False, True])
def save_params(mx, folder, shared):
    net = shared_net(mx) if shared else mx.gluon.nn.Dense(2, in_units=2)
    net.initialize("ones")
    found = warned(lambda: net.save_params(folder + "/a"))
    return len(found), mx.nd.load(folder + "/a")


@case
def save_params_of_other_prefix(mx, folder):
    net = net_of(mx)
    net.initialize()
    net.save_params(folder + "/a")
    return list(mx.nd.load(folder + "/a"))


@case
def save_parameters_without_values(mx, folder):
    mx.gluon.nn.Dense(2).save_parameters(folder + "/a")


@case(kind=["save_parameters", "deduplicate", "save_params", "collect_params"], shared=[False, True])
def load_what_was_saved(mx, folder, kind, shared):
    first, second = (shared_net(mx) if shared else mx.gluon.nn.Dense(3, in_units=3) for _ in range(2))
    first.initialize()
    fill(mx, first)
    if kind == "save_parameters":
        first.save_parameters(folder + "/a")
    elif kind == "deduplicate":
        first.save_parameters(folder + "/a", deduplicate=True)
    elif kind == "save_params":
        first.save_params(folder + "/a")
    else:
        first.collect_params().save(folder + "/a", strip_prefix=first.prefix)
    second.load_parameters(folder + "/a")
    x = array(mx, (2, 3))
    return first(x), second(x)


def _saved(mx, folder, *units):
    nn = mx.gluon.nn
    net = nn.Sequential()
    for each in units:
        net.add(nn.Dense(each, in_units=3))
    net.initialize()
    fill(mx, net).save_parameters(folder + "/a")


@case(
    saved=[(2,), (2, 4), (3,), (2, 4, 5)],
    allow_missing=[False, True],
    ignore_extra=[False, True],
    in_units=[3, 0],
)
def load_parameters(mx, folder, saved, allow_missing, ignore_extra, in_units):
    nn = mx.gluon.nn
    _saved(mx, folder, *saved)
    net = nn.Sequential()
    net.add(nn.Dense(2, in_units=in_units), nn.Dense(4, in_units=in_units))
    net.load_parameters(folder + "/a", allow_missing=allow_missing, ignore_extra=ignore_extra)
    return all_of(net.collect_params()), net[0].weight.data(), str(net[0].bias.list_ctx())


@case(ctx=[None, [1], [0, 1]], initialized=[None, [0], [0, 1]])
def load_parameters_in_contexts(mx, folder, ctx, initialized):
    nn = mx.gluon.nn
    _saved(mx, folder, 2)
    net = nn.Sequential()
    net.add(nn.Dense(2, in_units=3))
    if initialized:
        net.initialize(ctx=[mx.cpu(each) for each in initialized])
    net.load_parameters(folder + "/a", ctx=ctx and [mx.cpu(each) for each in ctx])
    return str(net[0].weight.list_ctx()), net[0].weight.list_data()


@case(cast_dtype=[False, True], dtype_source=["current", "saved", "bogus"])
def load_parameters_of_other_dtype(mx, folder, cast_dtype, dtype_source):
    nn = mx.gluon.nn
    _saved(mx, folder, 2)
    net = nn.Sequential()
    net.add(nn.Dense(2, in_units=3))
    net.cast("float16")
    net.load_parameters(folder + "/a", cast_dtype=cast_dtype, dtype_source=dtype_source)
    return net[0].weight.data()


@case
def load_parameters_of_no_file(mx, folder):
    mx.gluon.nn.Dense(2).load_parameters(folder + "/nope")


@case
def save_and_load_nothing(mx, folder):
    net = mx.gluon.nn.Sequential()
    return net.save_parameters(folder + "/a"), net.load_parameters(folder + "/a"), len(mx.nd.load(folder + "/a"))


@case
def load_params_warns(mx, folder):
    net = mx.gluon.nn.Dense(2, in_units=1)
    net.initialize()
    net.save_parameters(folder + "/a")
    return [kind for kind, _ in warned(lambda: net.load_params(folder + "/a"))]


@case
def load_a_parameter_that_was_used(mx, folder):
    net = mx.gluon.nn.Dense(2, in_units=3)
    x = array(mx, (1, 3))
    net.initialize("ones")
    before = net(x).asnumpy()
    net.save_parameters(folder + "/a")
    net.weight.set_data(mx.nd.zeros((2, 3)))
    middle = net(x).asnumpy()
    net.load_parameters(folder + "/a")
    return before, middle, net(x)


@case(kind=["Net", "Dense", "HybridSequential"])
def save_structure(mx, folder, kind):
    nn = mx.gluon.nn
    made = {
        "Net": net_of,
        "Dense": lambda _: nn.Dense(2, in_units=1, activation="relu"),
        "HybridSequential": shared_net,
    }
    net = made[kind](mx)
    net.initialize("ones")
    net.save(folder + "/m")
    with open(folder + "/m-model.json") as file:
        tree = json.load(file)
    return (
        sorted(os.listdir(folder)),
        json.dumps(tree),
        net.load(folder + "/m"),
        list(mx.nd.load(folder + "/m-model.params")),
    )


@case(kind=["other name", "no file"])
def load_structure_of_another(mx, folder, kind):
    nn = mx.gluon.nn
    first, second = nn.Sequential(prefix="a_"), nn.Sequential(prefix="b_")
    for net in (first, second):
        net.add(nn.Dense(2, in_units=1))
    first.initialize()
    first.save(folder + "/m")
    second.load(folder + ("/m" if kind == "other name" else "/n"))
    return [bool((first[0].weight.data() == second[0].weight.data()).asnumpy().all())]


# ---- what other programs import of gluon.block ----


def _nested(mx, kind):
    x, y, z = array(mx, (1,)), array(mx, (2,)), array(mx, (3,))
    return {
        "array": x,
        "list": [x, y],
        "tuple": (x, y),
        "deep": [x, (y, [z])],
        "none": [x, None, y],
        "only none": None,
        "empty": [],
        "empty within": [[], x],
        "number": 3,
        "number within": [x, 3],
        "dict": {"x": x},
    }[kind]


NESTED = ["array", "list", "tuple", "deep", "none", "only none", "empty", "empty within"]


@case(kind=[*NESTED, "number", "number within", "dict"])
def flatten_nested(mx, kind):
    return mx.gluon.block._flatten(_nested(mx, kind), "input")


@case(kind=[each for each in NESTED if each not in ("array", "only none")])
def flatten_and_regroup(mx, kind):
    return mx.gluon.block._regroup(*mx.gluon.block._flatten(_nested(mx, kind), "input"))


@case(fmt=[0, [0, [0]], [2, 0], 2, [], -1, [0, 0, 0, 0]])
def regroup_numbers(mx, fmt):
    return mx.gluon.block._regroup([1, 2, 3], fmt)
