"""What objects show in a notebook: tables, pictures, live lines; and bars. Of mxlite, errors and files are imported.

A class of the package has `_repr_html_` or `_repr_svg_`, which calls a function of a module here with plain data.
"""

from __future__ import annotations

import os
import sys
from typing import Any

from mxlite.error import MXNetError

#: 0: no bars and no live lines; 1: bars in any case; otherwise where a person looks (docs/settings.md).
SETTING = "MXLITE_PROGRESS"


def here() -> bool:
    """Whether this process is the kernel of a notebook."""
    shell = sys.modules.get("IPython")
    session = shell.get_ipython() if shell is not None and hasattr(shell, "get_ipython") else None
    return hasattr(session, "kernel")


def setting() -> str:
    """What the environment says of bars and live lines: "0", "1", or "" for neither. Raises: MXNetError: else."""
    text = os.environ.get(SETTING, "")
    if text not in ("", "0", "1"):
        raise MXNetError(f"{SETTING} must be 0 or 1, got {text!r}")
    return text


def display(thing: Any) -> Any:
    """Shows an object in the notebook; what is returned has `update(thing)`."""
    from IPython.display import display as show  # type: ignore[import-not-found]

    return show(thing, display_id=True)
