"""What `mxlite run` puts back for programs that were written for an older NumPy and Python.

The tables (`numpy_tables`, `python_tables`) say what there was and where its replacement is; `_mechanism` puts it into
the modules when they are imported; `_said` keeps what the program used of it, for one line at its end; `_hints` has the
line about sources of Python 2.
"""

from __future__ import annotations

from mxlite._cli._old._mechanism import put_back
from mxlite._cli._old._said import names, say_at_end

__all__ = ["names", "put_back", "say_at_end"]
