"""mx.metric: what all metrics have in common, how they are made, and those of functions."""

from __future__ import annotations

import inspect
import json
import pickle

import numpy as np
from _case import case

from gluon_cases.training._metric_parts import ALL, CLASSES, batch, counts, made, probabilities, state


@case(name=ALL + ["create", "np", "check_label_shapes"])
def signature(mx, name):
    parameters = inspect.signature(getattr(mx.metric, name)).parameters.values()
    return [[each.name, str(each.default) if each.default is not each.empty else "-"] for each in parameters]


@case
def names_of_the_module(mx):
    return [
        name for name in [*ALL, "alias", "check_label_shapes", "create", "np", "register"] if hasattr(mx.metric, name)
    ]


@case(name=ALL)
def parents(mx, name):
    return [each.__name__ for each in getattr(mx.metric, name).__mro__ if each.__name__[0] != "_"]


@case
def registered(mx):
    known = mx.registry.get_registry(mx.metric.EvalMetric)
    return sorted([name, known[name].__name__] for name in known if known[name].__module__.split(".")[1] == "metric")


@case(name=list(CLASSES))
def new(mx, name):
    metric = made(mx, name)
    return [state(metric), counts(metric), metric.get_config(), metric.name, metric.output_names, metric.label_names]


@case(name=list(CLASSES))
def new_with_names(mx, name):
    metric = made(mx, name, name="mine", output_names=["out"], label_names=["truth"])
    return metric.get(), metric.get_config(), str(metric)


@case(name=list(CLASSES))
def updates(mx, name):
    metric = made(mx, name)
    found = []
    for seed in range(3):
        label, pred = batch(mx, name, seed, 9 - seed)
        metric.update([label], [pred])
        found.append([metric.get(), metric.get_global(), counts(metric)])
    return found


@case(name=list(CLASSES))
def local_and_global(mx, name):
    metric = made(mx, name)
    found = []
    for seed in range(4):
        label, pred = batch(mx, name, seed, 7)
        metric.update([label], [pred])
        found.append(state(metric))
        if seed == 1:
            metric.reset_local()
            found.append(state(metric))
        if seed == 2:
            metric.reset()
            found.append([state(metric), counts(metric)])
    return found


@case(name=list(CLASSES))
def several_outputs(mx, name):
    metric = made(mx, name)
    pairs = [batch(mx, name, seed, 5 + seed) for seed in range(3)]
    metric.update([label for label, _ in pairs], [pred for _, pred in pairs])
    return metric.get(), counts(metric)


@case(name=list(CLASSES))
def arrays_without_a_list(mx, name):
    metric = made(mx, name)
    metric.update(*batch(mx, name, 3, 6))
    return metric.get(), counts(metric)


@case(name=list(CLASSES))
def more_labels_than_outputs(mx, name):
    metric = made(mx, name)
    label, pred = batch(mx, name, 3, 6)
    metric.update([label, label], [pred])
    return metric.get()


@case(name=[name for name in CLASSES if name != "PCC"])
def shorter_labels(mx, name):
    metric = made(mx, name)
    label, pred = batch(mx, name, 3, 6)
    metric.update([label[:2]], [pred])
    return metric.get()


@case(name=list(CLASSES))
def nothing(mx, name):
    metric = made(mx, name)
    metric.update([], [])
    return metric.get()


@case(name=list(CLASSES))
def numpy_arrays(mx, name):
    metric = made(mx, name)
    label, pred = batch(mx, name, 3, 6)
    metric.update([label.asnumpy()], [pred.asnumpy()])
    return metric.get()


@case(name=list(CLASSES))
def pickled(mx, name):
    metric = made(mx, name, name="mine")
    label, pred = batch(mx, name, 3, 6)
    metric.update([label], [pred])
    again = pickle.loads(pickle.dumps(metric))
    before = again.get()
    again.update([label], [pred])
    return before, again.get(), type(again).__name__, again.get_config()


@case(name=list(CLASSES))
def made_of_its_configuration(mx, name):
    metric = made(mx, name, label_names=["truth"])
    config = json.dumps(metric.get_config())
    again = mx.metric.create(config)
    return type(again).__name__, again.get_config(), again.get()


@case(rtol=2e-3, name=list(CLASSES), label_dtype=["int32", "float64"], dtype=["float16", "float64"])
def dtypes(mx, name, label_dtype, dtype):
    metric = made(mx, name)
    label, pred = batch(mx, name, 8, 6)
    metric.update([label.astype(label_dtype)], [pred.astype(dtype)])
    return metric.get()


@case(name=list(CLASSES))
def dictionaries(mx, name):
    metric = made(mx, name)
    label, pred = batch(mx, name, 3, 6)
    metric.update_dict({"truth": label}, {"out": pred})
    return metric.get()


@case(
    output_names=[None, ["b"], ["b", "a"], ["missing"], []],
    label_names=[None, ["y"], ["y", "x"], ["missing"]],
)
def dictionaries_with_names(mx, output_names, label_names):
    metric = mx.metric.MSE(output_names=output_names, label_names=label_names)
    arrays = {name: mx.nd.array(probabilities(seed, (3, 2))) for seed, name in enumerate(["a", "b", "x", "y"])}
    metric.update_dict({name: arrays[name] for name in "yx"}, {name: arrays[name] for name in "ab"})
    return metric.get(), counts(metric)


# Loss, CustomMetric, np


@case(preds=["list", "one", "two", "integers", "no axes", "tuple", "nested"], labels=[None, 0])
def loss(mx, preds, labels):
    first, second = mx.nd.array(probabilities(1, (2, 3))), mx.nd.array([5, 6])
    given = {
        "list": [first],
        "one": first,
        "two": [first, second],
        "integers": second.astype("int32"),
        "no axes": second.sum(),
        "tuple": (first,),
        "nested": [[first]],
    }[preds]
    metric = mx.metric.Loss()
    metric.update(labels, given)
    return metric.get(), counts(metric)


def difference(label, pred):
    return float(np.abs(label - pred).sum())


def difference_and_count(label, pred):
    return float(np.abs(label - pred).sum()), label.size


@case(feval=["number", "pair", "unnamed"], name=[None, "mine"], how=["CustomMetric", "np", "create"])
def custom(mx, feval, name, how):
    function = {"number": difference, "pair": difference_and_count, "unnamed": lambda label, pred: 2.0}[feval]
    metric = getattr(mx.metric, how)(function, name=name)
    found = [metric.get()]
    for seed in range(2):
        label, pred = batch(mx, "MSE", seed)
        metric.update([label], [pred])
        found.append([metric.get(), metric.get_global()])
    metric.reset_local()
    return found, type(metric).__name__, str(metric), counts(metric)


@case(allow_extra_outputs=[False, True], how=["CustomMetric", "np"])
def extra_outputs(mx, allow_extra_outputs, how):
    metric = getattr(mx.metric, how)(difference, allow_extra_outputs=allow_extra_outputs)
    label, pred = batch(mx, "MSE", 0)
    metric.update([label], [pred, pred + 1])
    return metric.get()


@case(name=["output_names", "label_names"])
def custom_with_names(mx, name):
    metric = mx.metric.CustomMetric(difference, name="mine", **{name: ["b"]})
    label, pred = batch(mx, "MSE", 0)
    metric.update_dict({"b": label, "a": pred}, {"b": pred, "a": label})
    return metric.get(), metric.name


@case
def custom_with_all_names(mx):
    metric = mx.metric.CustomMetric(difference, output_names=["b"], label_names=["a"])
    label, pred = batch(mx, "MSE", 0)
    metric.update_dict({"b": label, "a": pred}, {"b": pred, "a": label})
    return metric.get(), metric.name


@case
def custom_returns_a_text(mx):
    metric = mx.metric.CustomMetric(lambda label, pred: "much")
    metric.update([mx.nd.array([1])], [mx.nd.array([1])])
    return metric.get()


@case(what=["get_config", "pickle"])
def custom_is_not_written(mx, what):
    metric = mx.metric.CustomMetric(difference)
    return metric.get_config() if what == "get_config" else len(pickle.dumps(metric)) > 0


@case
def function_for_custom(mx):
    metric = mx.metric.np(difference)
    return metric.name, metric._feval.__name__ if hasattr(metric, "_feval") else None


# CompositeEvalMetric


@case(metrics=["texts", "instances", "mixed", "none", "function", "composite"])
def composite(mx, metrics):
    given = {
        "texts": ["acc", "ce"],
        "instances": [mx.metric.Accuracy(), mx.metric.Perplexity(0)],
        "mixed": ["acc", mx.metric.Accuracy(name="other"), "nll_loss"],
        "none": None,
        "function": [lambda label, pred: 1.5],
        "composite": [mx.metric.CompositeEvalMetric(["acc", "ce"]), "acc"],
    }[metrics]
    metric = mx.metric.CompositeEvalMetric(given)
    label, pred = batch(mx, "Accuracy", 0)
    metric.update([label], [pred])
    first = state(metric)
    metric.reset_local()
    second = state(metric)
    metric.reset()
    return first, second, state(metric), len(metric.metrics)


@case
def composite_grows(mx):
    metric = mx.metric.CompositeEvalMetric()
    metric.add(mx.metric.Accuracy())
    metric.add("mse")
    metric.add(mx.metric.CustomMetric(difference))
    return metric.get(), [type(metric.get_metric(index)).__name__ for index in (0, 1, 2, -1)]


def _metric_at(mx, index):
    metric = mx.metric.CompositeEvalMetric(["acc", "mse"])
    found = metric.get_metric(index)
    return type(found).__name__, str(found)


@case(index=[0, -1, "acc", None])
def composite_metric(mx, index):
    return _metric_at(mx, index)


@case(index=[3, -4], differs="returns the error")
def composite_without_a_metric(mx, index):
    return _metric_at(mx, index)


@case(what=[1, "none such", {"metric": "acc"}, ("acc", "mse")])
def composite_of_another(mx, what):
    metric = mx.metric.CompositeEvalMetric()
    metric.add(what)
    return metric.get()


@case
def composite_configuration(mx):
    metric = mx.metric.CompositeEvalMetric(["acc", mx.metric.TopKAccuracy(3), mx.metric.Perplexity(2)], name="all")
    config = metric.get_config()
    again = mx.metric.create(json.dumps(config))
    return config, again.get(), type(again).__name__


@case
def composite_pickled(mx):
    metric = mx.metric.CompositeEvalMetric(["acc", "ce"])
    label, pred = batch(mx, "Accuracy", 0)
    metric.update([label], [pred])
    return state(pickle.loads(pickle.dumps(metric)))


@case(output_names=[None, ["b"]], label_names=[None, ["y"]])
def composite_dictionaries(mx, output_names, label_names):
    metric = mx.metric.CompositeEvalMetric(["mse", "mae"], output_names=output_names, label_names=label_names)
    metric.add(mx.metric.RMSE(output_names=["a"], label_names=["x"]))
    arrays = {name: mx.nd.array(probabilities(seed, (3, 2))) for seed, name in enumerate(["a", "b", "x", "y"])}
    metric.update_dict({name: arrays[name] for name in "yx"}, {name: arrays[name] for name in "ab"})
    return metric.get()


# create, register, alias, check_label_shapes


@case(
    name=[
        "acc",
        "accuracy",
        "Accuracy",
        "ACC",
        "ce",
        "crossentropy",
        "cross-entropy",
        "nll_loss",
        "nll-loss",
        "pearsonr",
    ]
    + [
        "pcc",
        "top_k_acc",
        "topkaccuracy",
        "composite",
        "loss",
        "custommetric",
        "none such",
        "",
        "perplexity",
        "evalmetric",
    ]
)
def create(mx, name):
    metric = mx.metric.create(name)
    return type(metric).__name__, metric.name


@case(
    what=[
        "arguments",
        "positional",
        "list",
        "instance",
        "instance and arguments",
        "dictionary",
        "dictionary json",
        "list json",
    ]
    + ["number", "none", "class", "empty list", "tuple"]
)
def create_otherwise(mx, what):
    create = mx.metric.create
    metric = {
        "arguments": lambda: create("top_k_acc", top_k=4, name="mine"),
        "positional": lambda: create("top_k_acc", 3),
        "list": lambda: create(["acc", "f1", difference]),
        "instance": lambda: create(mx.metric.F1()),
        "instance and arguments": lambda: create(mx.metric.F1(), name="mine"),
        "dictionary": lambda: create({"metric": "topkaccuracy", "top_k": 3}),
        "dictionary json": lambda: create('{"metric": "topkaccuracy", "top_k": 3}'),
        "list json": lambda: create('["topkaccuracy", {"top_k": 3}]'),
        "number": lambda: create(3),
        "none": lambda: create(None),
        "class": lambda: create(mx.metric.F1),
        "empty list": lambda: create([]),
        "tuple": lambda: create(("acc", "f1")),
    }[what]()
    return type(metric).__name__, metric.get()


@case
def create_with_the_keyword(mx):
    return type(mx.metric.create(metric="acc")).__name__


@case(with_global=[True, False, None])
def own_metric(mx, with_global):
    more = {} if with_global is None else {"has_global_stats": with_global}

    class Sum(mx.metric.EvalMetric):
        def __init__(self, name="sum", power=2):
            super().__init__(name, power=power, **more)
            self.power = power

        def update(self, labels, preds):
            for pred in preds:
                value = float((pred**self.power).sum().asscalar())
                self.sum_metric += value
                self.num_inst += pred.size
                self.global_sum_metric += value
                self.global_num_inst += 2 * pred.size

    metric = Sum(power=3)
    metric.update(None, [mx.nd.array([1, 2, 3])])
    first = [state(metric), metric.get_config()]
    metric.reset_local()
    second = [state(metric), counts(metric)]
    metric.update_dict({}, {"a": mx.nd.array([5])})
    third = [state(metric), counts(metric)]
    metric.reset()
    return first, second, third, state(metric), counts(metric)


@case
def registered_by_users(mx):
    @mx.metric.register
    @mx.metric.alias("mine", "AndMine")
    class OwnMetric(mx.metric.EvalMetric):
        def __init__(self, name="own", output_names=None, label_names=None):
            super().__init__(name, output_names, label_names)

    return [type(mx.metric.create(name)).__name__ for name in ("ownmetric", "mine", "andmine", "OwnMetric")]


@case
def register_what_is_no_metric(mx):
    mx.metric.register(dict)


@case
def base_has_no_update(mx):
    mx.metric.EvalMetric("base").update([], [])


@case
def base_arguments(mx):
    metric = mx.metric.EvalMetric("base", ["a"], ["b"], some=3, has_global_stats=True)
    return metric.get_config(), state(metric)


@case
def several_names(mx):
    metric = mx.metric.EvalMetric(["a", "b"])
    metric.sum_metric, metric.num_inst = 3, 2
    return metric.get(), metric.get_name_value()


@case
def no_name(mx):
    mx.metric.EvalMetric()


@case(wrap=[False, True], shape=[False, True], given=["arrays", "lists", "apart", "longer"])
def label_shapes(mx, wrap, shape, given):
    one, other = mx.nd.zeros((2, 3)), mx.nd.zeros((2, 4))
    labels, preds = {
        "arrays": (one, one),
        "lists": ([one], [one]),
        "apart": (one, other),
        "longer": ([one, one], [one]),
    }[given]
    labels, preds = mx.metric.check_label_shapes(labels, preds, wrap, shape)
    return type(labels).__name__ == "list", type(preds).__name__ == "list", len(labels)


@case
def label_shapes_without_options(mx):
    return mx.metric.check_label_shapes([1, 2], [3, 4])
