"""The argument forms of every public function and method of mxlite.torch: what check_calls.py makes calls of.

form_rows.py has the rows. A name is called in all places that have it: torch.NAME(first, ...), first.NAME(...),
first.NAME_(...), and torch.nn.functional.NAME(first, ...). test_torch_calls.py fails for a public name that has no
row.
"""

from __future__ import annotations

import re
from pathlib import Path

from form_rows import ROWS, TEXTS

#: Functions that check_layers.py compares, with options that depend on each other.
_WINDOWS = " instance_norm " + " ".join(
    f"{name}{dims}d"
    for name in "conv conv_transpose max_pool avg_pool adaptive_avg_pool adaptive_max_pool dropout".split()
    for dims in (1, 2, 3)
)

#: Functions that check_values.py compares, by calls of its own.
_VALUES = """ affine_grid alpha_dropout celu_ channel_shuffle cosine_embedding_loss ctc_loss elu_ embedding_bag
    feature_alpha_dropout fold gaussian_nll_loss grid_sample gumbel_softmax hardtanh_ hinge_embedding_loss interpolate
    leaky_relu_ local_response_norm lp_pool1d lp_pool2d lp_pool3d margin_ranking_loss max_unpool1d max_unpool2d
    max_unpool3d multi_head_attention_forward multi_margin_loss multilabel_margin_loss multilabel_soft_margin_loss pdist
    pixel_shuffle pixel_unshuffle poisson_nll_loss rms_norm rrelu rrelu_ selu_ soft_margin_loss threshold_
    triplet_margin_loss triplet_margin_with_distance_loss unfold upsample upsample_bilinear upsample_nearest"""

#: What is no function of tensors, or not of single ones: tests of its own have it.
APART = {
    "torch": """Size Tensor device dtype enable_grad finfo get_default_dtype iinfo inference_mode initial_seed
        install Generator get_rng_state set_rng_state seed get_num_threads set_num_threads get_num_interop_threads
        set_num_interop_threads get_float32_matmul_precision set_float32_matmul_precision use_deterministic_algorithms
        are_deterministic_algorithms_enabled is_warn_always_enabled set_warn_always
        is_anomaly_check_nan_enabled is_anomaly_enabled is_grad_enabled is_inference_mode_enabled layout load from_file
        channel_shuffle manual_seed memory_format no_grad pixel_shuffle pixel_unshuffle save
        set_anomaly_enabled set_default_dtype set_grad_enabled
        set_printoptions vmap BFloat16Storage BoolStorage ByteStorage CharStorage DoubleStorage FloatStorage
        HalfStorage IntStorage LongStorage ShortStorage get_deterministic_debug_mode cond
        is_deterministic_algorithms_warn_only_enabled"""
    + _WINDOWS,
    "Tensor": """cuda data_ptr __annotations__ __array_priority__ __array_struct__ __copy__ __deepcopy__ __del__
        __dict__ __module__ __slots__ __weakref__""",
    "F": """adaptive_max_pool1d_with_indices adaptive_max_pool2d_with_indices adaptive_max_pool3d_with_indices
        max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices fractional_max_pool2d
        fractional_max_pool3d fractional_max_pool2d_with_indices fractional_max_pool3d_with_indices partial stack warn
        Any Tensor adopt as_like constant_pad formula from_values new prepare put_along run sum_to uniform_of
        unrecorded vector_norm"""
    + _WINDOWS
    + _VALUES,
    "linalg": "LinAlgError",
    "special": "",
    "fft": "",
    "windows": "",
}

_OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "eq": "==", "ne": "!=",
    "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
}  # fmt: skip

_PLACES = {"torch": "torch", "F": "torch.nn.functional", "windows": "torch.signal.windows"}


def _filled(name: str, form: str) -> str:
    """A form of a text, with the name it is for."""
    place, _, own = name.partition(".")
    word = own.strip("_")
    symbol = _OPERATORS.get(word) or _OPERATORS.get(word[1:], "")
    form = form.replace("OP", symbol).replace("CAST", word)
    if place == "Tensor":
        return re.sub(r"\.N\b", f".{own}", form)
    if form.startswith("F("):
        form = _PLACES.get(place, f"torch.{place}") + f".{own}" + form[1:]
    return form


def table() -> dict[str, list[str]]:
    """The forms by "torch.NAME", "Tensor.NAME", "F.NAME", "linalg.NAME"; also of names that a module has not got."""
    made: dict[str, list[str]] = {}

    def add(name: str, form: str) -> None:
        made.setdefault(name, []).append(form)

    for row in ROWS.strip().splitlines():
        names, first, rest = (part.strip() for part in row.split("|", 2))
        target = re.sub(r"\{[a-z]+", "{w" if first.startswith("{a") else "{wf", first, count=1)
        for name in names.split():
            for form in rest.split(";"):
                others = form.strip()
                every = f"{first}, {others}" if others else first
                add(f"torch.{name}", f"torch.{name}({every})")
                add(f"F.{name}", f"torch.nn.functional.{name}({every})")
                add(f"special.{name}", f"torch.special.{name}({every})")
                add(f"Tensor.{name}", f"{first}.{name}({others})")
                if not name.endswith("_"):
                    add(f"Tensor.{name}_", f"{target}.{name}_({others})")
                    add(f"torch.{name}_", f"torch.{name}_({', '.join(filter(None, (target, others)))})")
    for names, forms in TEXTS.items():
        for name in names.split():
            for form in forms:
                add(name, _filled(name, form))
    return made


def owners(torch: object) -> dict[str, object]:
    """What has the functions of a module like torch, as `table` names them."""
    return {"torch": torch, "Tensor": torch.Tensor, "F": torch.nn.functional, "linalg": torch.linalg,
            "special": torch.special, "fft": torch.fft, "windows": torch.signal.windows}  # fmt: skip


def _of_value_rows() -> set[str]:
    """The functions and methods that check_values.py compares by rows of _name_rows.py."""
    folder = Path(__file__).resolve().parents[1] / "python" / "pytorch" / "values"
    rows = (folder / "_name_rows.py").read_text(encoding="utf-8")
    places = (("torch", r"torch\.(\w+)\("), ("F", r"F\.(\w+)\("), ("Tensor", r"\)\.(\w+)"))
    return {f"{place}.{name}" for place, text in places for name in re.findall(text, rows)} - table().keys()


def public_names(torch: object) -> list[str]:
    """The public functions, methods and operators of a module like torch, as `table` names them."""
    names, elsewhere = [], _of_value_rows()
    for place, owner in owners(torch).items():
        for name in [each for each in dir(owner) if hasattr(owner, each)]:
            operator = place == "Tensor" and name.startswith("__") and name not in _OF_OBJECTS
            if (not name.startswith("_") or operator) and name not in APART[place].split():
                value = getattr(owner, name)
                if (place == "Tensor" or callable(value)) and f"{place}.{name}" not in elsewhere:
                    names.append(f"{place}.{name}")
    return names


#: What Python 3.13's compiler puts into a class.
_OF_CLASSES = {"__firstlineno__", "__static_attributes__"}
_COMPARISONS = {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"}
_OF_OBJECTS = (set(dir(object)) | _OF_CLASSES) - _COMPARISONS
