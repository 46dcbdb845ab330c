"""`mx.npx`: what networks need beside NumPy, for arrays of `mx.np`; and the modes.

Its functions are operators of `mx.nd` under names of its own. They are made as they are asked for. `foreach`,
`while_loop` and `cond` are those of `mx.nd.contrib`, which take arrays of both classes; MXNet 2 has them here.
"""

from __future__ import annotations

# ruff: noqa: F401 - what is imported here is what the module offers
from mxlite.context import Context, cpu, cpu_pinned, current_context, gpu, gpu_memory_info, num_gpus
from mxlite.ndarray import waitall
from mxlite.ndarray.contrib import cond, foreach, while_loop
from mxlite.numpy_extension import image, random
from mxlite.numpy_extension._functions import show_functions as _show_functions
from mxlite.numpy_extension.utils import load, save
from mxlite.util import is_np_array, is_np_shape, reset_np, set_np

__all__ = """
    Context cond cpu cpu_pinned current_context foreach gpu gpu_memory_info image is_np_array is_np_shape load num_gpus
    random reset_np save set_np waitall while_loop
""".split()

_show_functions(globals(), "_npx_")
