"""The pages of the documentation, which travel with the package as text, and how an error names one."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def see(page: str, section: str = "") -> str:
    """How a text names a page, or one of its sections: by the command that prints it.

    capi/base/error.h has the same for the library, MXL_HELP.
    """
    return f"`mxlite help {' '.join(filter(None, [page, section]))}`"


def pages() -> dict[str, Path]:
    """The files of the pages, by name: of an installed package its own, else those of the source tree."""
    from pathlib import Path  # not at import: it brings URLs and addresses of networks

    package = Path(__file__).resolve().parents[1]
    for folder in (package / "_pages", package.parent / "docs"):
        found = sorted(folder.glob("*.md"))
        if found:
            return {path.stem: path for path in found}
    return {}
