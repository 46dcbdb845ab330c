"""Lists the functions of PyTorch that mxlite.torch lacks, in docs/from-pytorch.md, by an environment as of test-torch:
`PYTHONPATH=. python tests/torch/modules/show_missing.py --write`; without --write it prints the list.

Left out are names of devices, compilers, complex numbers, sparse layouts, quantized numbers and what is no function.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from typing import Any

import torch as real

import mxlite.torch as ours

PAGE, BEGIN, END = "docs/from-pytorch.md", "<!-- missing -->\n", "<!-- end of missing -->\n"
_APART = re.compile(
    "complex|sparse|quant|q_|cuda|cudnn|miopen|mkl|xpu|mps|mtia|ipu|maia|vulkan"
    "|fbgemm|autocast|script|compile|fork|wait"
    "|export|import_|parse|merge_type|storage|distributed|fake_|float8|sym_|int_repr|indices|coo|csr|csc|bsr|bsc|^bits"
    "|^u?int\\d|named|rename|refine|align|names?$|jit|vmap|while_loop|view_as_real|polar|conj|chalf|cfloat|cdouble"
    "|file_path|classproperty|is_hip|annotations|deterministic|typename|graph|module_load|record_stream|volatile"
)


def missing(theirs: Any, mine: Any) -> list[str]:
    """The functions of a module or class that ours lacks."""
    found = []
    for name in dir(theirs):
        value = getattr(theirs, name, None)
        is_one = callable(value) and not inspect.isclass(value)
        if is_one and not name.startswith("_") and not hasattr(mine, name) and not _APART.search(name):
            found.append(name)
    return found


def text() -> str:
    """The list as Markdown."""
    places = {
        "torch": (real, ours),
        "torch.Tensor": (real.Tensor, ours.Tensor),
        "torch.linalg": (real.linalg, ours.linalg),
        "torch.special": (real.special, ours.special),
    }
    lines = []
    for place, modules in places.items():
        names = missing(*modules)
        listed = " ".join(f"`{name}`" for name in names) or "nothing"
        lines.append(textwrap.fill(f"`{place}`: {listed}.", 118, break_on_hyphens=False, break_long_words=False))
    return "\n\n".join(lines) + "\n"


def main() -> None:
    """Prints the list, or writes it to the page."""
    if "--write" not in sys.argv:
        print(text(), end="")
        return
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    head, rest = page.split(BEGIN)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(head + BEGIN + "\n" + text() + "\n" + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
