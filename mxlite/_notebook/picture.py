"""Picture: what functions that draw return, for a notebook to show and a program to save."""

from __future__ import annotations

import os
import re

from mxlite import _replace


class Picture:
    """A picture as SVG. A notebook shows it; `save("net.svg")` writes it.

    Args:
        svg: The text of an SVG file.
        about: What is in it, for the terminal: "7 nodes".
    """

    def __init__(self, svg: str, about: str) -> None:
        # In a page there is no room for what comes before the root element of a file.
        self.svg = re.sub(r"\A.*?(?=<svg\b)", "", svg, flags=re.DOTALL)
        self.about = about

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f'<Picture: {self.about}; a notebook shows it, save("picture.svg") writes it>'

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes an SVG file. Raises: ValueError: the suffix says another kind."""
        path = os.fspath(path)
        if not path.lower().endswith(".svg"):
            raise ValueError(f"Picture.save: the picture is SVG, so the file is to end in .svg; got {path!r}")
        _replace.write(path, self.svg)
