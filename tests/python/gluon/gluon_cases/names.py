"""mx.name, mx.attribute and mx.registry."""

from __future__ import annotations

import importlib
import json
import warnings

from _case import case


@case
def names_count_for_each_hint(mx):
    manager = mx.name.NameManager()
    return [manager.get(*each) for each in ((None, "dense"), (None, "dense"), ("own", "dense"), ("", "conv"))]


@case
def prefix_goes_before_given_names(mx):
    prefix = mx.name.Prefix("a_")
    return [prefix.get(None, "dense"), prefix.get("own", "dense"), prefix.get(None, "dense")]


@case
def current_manager_is_that_of_the_block(mx):
    with mx.name.Prefix("a_"):
        names = [mx.name.NameManager.current.get(None, "dense")]
        with mx.name.NameManager():
            names.append(mx.name.NameManager.current.get(None, "dense"))
        return [*names, mx.name.NameManager.current.get(None, "dense")]


@case
def current_attributes_are_those_of_the_block(mx):
    with mx.AttrScope(a="1"), mx.AttrScope(b="2"):
        got = mx.AttrScope.current.get(None)
    return got, mx.attribute.AttrScope.current.get(None)


@case
def attributes_of_nested_blocks(mx):
    with mx.AttrScope(a="1", b="2") as outer:
        with mx.AttrScope(b="3") as inner:
            got = inner.get({"c": "4", "a": "5"}), inner.get(None)
        return [*got, outer.get({})]


@case(value=[1, 2.5, None])
def attributes_are_texts(mx, value):
    return mx.AttrScope(a=value)


class _Thing:
    def __init__(self, a=1, b=2):
        self.a, self.b = a, b


class _Other(_Thing):
    pass


def _registry(mx):
    class Base(_Thing):
        pass

    class Kind(Base):
        pass

    mx.registry.get_register_func(Base, "thing")(Kind)
    mx.registry.get_alias_func(Base, "thing")("Short", "k")(Kind)
    return Base, Kind, mx.registry.get_create_func(Base, "thing")


_GIVEN = {
    "name": (["kind"], {}),
    "capitals": (["KIND", 5], {"b": 6}),
    "alias": (["short"], {}),
    "dict": ([{"thing": "k", "a": 3}], {}),
    "keyword": ([], {"thing": "k", "b": 7}),
    "json": ([json.dumps(["kind", {"a": 4}])], {}),
    "json dict": ([json.dumps({"thing": "kind", "b": 4})], {}),
    "unknown": (["none"], {}),
    "number": ([3], {}),
    "no name": ([{"a": 3}], {}),
    "json and more": ([json.dumps(["kind", {"a": 4}]), 5], {}),
    "nothing": ([], {}),
}


@case(given=list(_GIVEN))
def created(mx, given):
    _, _, create = _registry(mx)
    args, kwargs = _GIVEN[given]
    made = create(*args, **kwargs)
    return [type(made).__name__, made.a, made.b]


@case
def created_of_an_instance(mx):
    _, kind, create = _registry(mx)
    one = kind(3)
    return create(one) is one


@case
def instance_and_arguments(mx):
    _, kind, create = _registry(mx)
    return create(kind(3), 4)


@case
def registered(mx):
    base, kind, _ = _registry(mx)
    return sorted(mx.registry.get_registry(base)), mx.registry.get_registry(base)["k"] is kind


@case
def registered_of_another_kind(mx):
    base, _, _ = _registry(mx)
    return mx.registry.get_register_func(base, "thing")(_Other)


@case(name=["symbol.symbol.Symbol", "ndarray.ndarray.NDArray"])
def class_by_the_path_that_programs_import(mx, name):
    path, _, kind = name.rpartition(".")
    found = getattr(importlib.import_module(f"{mx.__name__}.{path}"), kind)
    return found.__name__, found.__module__.partition(".")[2], found in (mx.sym.Symbol, mx.nd.NDArray)


@case
def functions_of_the_arrays_module(mx):
    """Those in its `__all__` but `imdecode`, which needs OpenCV; `array` and `empty` are in it as well."""
    module = importlib.import_module(f"{mx.__name__}.ndarray.ndarray")
    names = [each for each in module.__all__ if each[0] != "_" and not each.startswith(("indexing_", "get_"))]
    names = sorted({*names, "array", "empty"} - {"imdecode"})
    return names, [callable(getattr(module, each)) for each in names]


@case(name=["maximum", "lesser_equal", "modulo"])
def function_of_the_arrays_module(mx, name):
    module = importlib.import_module(f"{mx.__name__}.ndarray.ndarray")
    return getattr(module, name)(module.array([1, 5]), module.ones((2,)))


@case
def default_context_by_its_old_name(mx):
    found = [mx.Context.default_ctx]
    with warnings.catch_warnings(record=True) as warned, mx.cpu(3):
        warnings.simplefilter("always")
        found.append(mx.Context.default_ctx)
        mx.Context.default_ctx = mx.cpu(4)
        found += [mx.current_context(), mx.nd.ones((1,)).context]
    found.append(mx.context.Context.default_ctx)
    return [str(each) for each in found], [each.category.__name__ for each in warned]
