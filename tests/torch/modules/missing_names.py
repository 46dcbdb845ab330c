"""Which public names of PyTorch's modules of layers and training mxlite.torch lacks.

missing_names.py prints them; --write puts them into docs/from-pytorch.md, --check fails where that has others.
"""

from __future__ import annotations

import importlib
import sys
import textwrap
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "from-pytorch.md"
START, END = "<!-- missing names: tests/torch/modules/missing_names.py --write -->\n", "<!-- end of missing names -->\n"
MODULES = (
    "optim optim.lr_scheduler optim.swa_utils nn nn.functional nn.init nn.utils nn.utils.rnn nn.utils.parametrize "
    "nn.utils.parametrizations nn.utils.prune utils.data testing"
).split()

#: Names that PyTorch's own modules use, or kept for its older versions.
INNER = set(
    "Tensor Module LRScheduler Parameter ModuleDict ModuleList NamedMemberAccessor OpaqueBase bind PackedSequence_ "
    "assert_int_or_pair boolean_dispatch handle_torch_function has_torch_function has_torch_function_unary "
    "has_torch_function_variadic native_channel_shuffle factory_kwargs copy_method_params is_opaque_reference_type "
    "get_swap_module_params_on_conversion is_traceable_wrapper_subclass clip_grad_norm NLLLoss2d Container Optional "
    "constant eye kaiming_normal kaiming_uniform normal orthogonal sparse uniform xavier_normal xavier_uniform".split()
)


def missing(name: str) -> list[str]:
    """The names of a module that ours lacks."""
    theirs = importlib.import_module(f"torch.{name}")
    try:
        ours = importlib.import_module(f"mxlite.torch.{name}")
    except ModuleNotFoundError:
        ours = None
    names = set(getattr(theirs, "__all__", ()))
    for each, value in vars(theirs).items():
        where = getattr(value, "__module__", None) or ""
        if not each.startswith("_") and callable(value) and where.startswith("torch"):
            names.add(each)
    left_out = INNER - ({"orthogonal"} if name == "nn.utils.parametrizations" else set())
    return sorted(each for each in names - left_out if not each.startswith("_") and not hasattr(ours, each))


def text() -> str:
    """The list as Markdown."""
    found = {name: missing(name) for name in MODULES}
    lines = (
        textwrap.fill(f"- `torch.{name}`: " + " ".join(f"`{each}`" for each in names), 120, subsequent_indent="  ")
        for name, names in found.items()
        if names
    )
    return "\n".join(lines) + "\n"


def main() -> int:
    """Does what the option says; 1 where the page has other names."""
    page = PAGE.read_text(encoding="utf-8")
    before, rest = page.split(START)
    old, after = rest.split(END)
    new = f"\n{text()}\n"
    if "--write" in sys.argv:
        PAGE.write_text(before + START + new + END + after, encoding="utf-8")
    elif "--check" in sys.argv:
        if new != old:
            print("docs/from-pytorch.md has other missing names: tests/torch/modules/missing_names.py --write")
        return int(new != old)
    else:
        print(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
