"""Runs the notebooks of examples/notebooks without a browser, and looks at what their cells show (make test-notebooks).

    python tests/notebooks/run.py [--out build/notebooks] [--name first_hour]

A cell's metadata says what it must show: "shows": ["text/html", "text/plain"]. Pictures must not be blank: PNG, and
where there is Chromium every output as that draws it. The pages that a person would look at are left in the folder.
"""

from __future__ import annotations

import argparse
import base64
import io
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.etree import ElementTree

import nbclient
import nbconvert
import nbformat
import numpy as np
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "examples" / "notebooks"
TILE = (900, 420)  # the place of an output on the page that Chromium draws
#: In this order a front end chooses among the forms of one output.
FORMS = ("text/html", "image/svg+xml", "image/png")
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --hide-scrollbars"
)


class Wrong(Exception):
    """What is wrong with a notebook."""


def execute(path: Path) -> nbformat.NotebookNode:
    """The notebook with outputs. Raises: Wrong: it has outputs already, or a cell raises."""
    notebook = nbformat.read(path, as_version=4)
    if any(cell.get("outputs") for cell in notebook.cells):
        raise Wrong("it is stored with outputs; clear them (CONTRIBUTING.md)")
    client = nbclient.NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        resources={"metadata": {"path": str(path.parent)}},
        extra_arguments=["--IPKernelApp.log_level=40"],
    )
    try:
        client.execute()
    except nbclient.exceptions.CellExecutionError as error:
        raise Wrong(str(error)) from None
    return notebook


def forms_of(output: nbformat.NotebookNode) -> dict[str, str]:
    """What an output offers, by mime type."""
    if output.output_type == "stream":
        return {"text/plain": output.text} if output.name == "stdout" else {}
    return dict(output.get("data", {}))


def check(cell: nbformat.NotebookNode) -> list[dict[str, str]]:
    """The outputs of a cell. Raises: Wrong: one is missing, or a picture is blank."""
    outputs = [forms_of(each) for each in cell.get("outputs", [])]
    offered = {kind for forms in outputs for kind in forms}
    missing = [kind for kind in cell.metadata.get("shows", []) if kind not in offered]
    if missing:
        raise Wrong(f"cell {cell.id} shows {sorted(offered)} and no {missing}:\n{cell.source}")
    if offered and not cell.metadata.get("shows"):
        raise Wrong(f"cell {cell.id} shows {sorted(offered)}, of which its metadata say nothing:\n{cell.source}")
    errors = [each.text for each in cell.get("outputs", []) if each.get("name") == "stderr"]
    if errors:
        raise Wrong(f"cell {cell.id} writes to stderr: {''.join(errors)}")
    for forms in outputs:
        if "image/png" in forms:
            refuse_blank(Image.open(io.BytesIO(base64.b64decode(forms["image/png"]))), f"the PNG of cell {cell.id}")
        if "image/svg+xml" in forms:
            root = ElementTree.fromstring(forms["image/svg+xml"])
            drawn = [each for each in root.iter() if each.tag.rpartition("}")[2] in ("rect", "path", "text")]
            if len(drawn) < 4:
                raise Wrong(f"the SVG of cell {cell.id} has {len(drawn)} elements")
    return outputs


def refuse_blank(picture: Image.Image, what: str) -> None:
    """Raises: Wrong: nearly all of the picture has one colour."""
    pixels = np.asarray(picture.convert("L"))
    values, counts = np.unique(pixels, return_counts=True)
    share = 1 - counts.max() / pixels.size
    if len(values) < 4 or share < 0.001:
        raise Wrong(f"{what} is blank: {len(values)} shades, {share:.2%} of it is not background")


def photograph(browser: str, page: Path, picture: Path, width: int, height: int) -> Image.Image:
    """The page as the browser draws it."""
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, *FLAGS.split(), f"--user-data-dir={profile}", f"--window-size={width},{height}"]
        done = subprocess.run(
            [*command, f"--screenshot={picture}", page.as_uri()], capture_output=True, text=True, timeout=120
        )
    if done.returncode != 0 or not picture.exists():
        raise Wrong(f"{browser} drew no picture of {page.name}: {done.stderr[-500:]}")
    return Image.open(picture)


def look(browser: str, name: str, outputs: list[tuple[str, dict[str, str]]], folder: Path) -> int:
    """Has the browser draw the outputs, each in a place of its own; how many. Raises: Wrong: one is blank."""
    tiles = []
    for cell, forms in outputs:
        form = next((each for each in FORMS if each in forms), None)
        if form is not None:
            source = f'<img src="data:image/png;base64,{forms[form]}">' if form == "image/png" else forms[form]
            tiles.append((f"{form} of cell {cell}", source))
    width, height = TILE
    style = f"width:{width}px;height:{height}px;overflow:hidden"
    body = "".join(f'<div style="{style}">{source}</div>' for _, source in tiles)
    page = folder / f"{name}-outputs.html"
    page.write_text(f'<meta charset="utf-8"><body style="margin:0;background:#fff">{body}', encoding="utf-8")
    picture = photograph(browser, page, folder / f"{name}-outputs.png", width, height * len(tiles))
    for number, (what, _) in enumerate(tiles):
        refuse_blank(picture.crop((0, number * height, width, (number + 1) * height)), what)
    return len(tiles)


def run(path: Path, folder: Path, browser: str | None) -> str:
    """What there is to say of a notebook. Raises: Wrong."""
    begin = time.monotonic()
    notebook = execute(path)
    outputs = [(cell.id, forms) for cell in notebook.cells if cell.cell_type == "code" for forms in check(cell)]
    text, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    page = folder / f"{path.stem}.html"
    page.write_text(text, encoding="utf-8")
    said = f"{len(notebook.cells)} cells, {len(outputs)} outputs"
    if browser is not None:
        said += f", {look(browser, path.stem, outputs, folder)} of them looked at"
    return f"{said}, {time.monotonic() - begin:.0f} s"


def main() -> int:
    """Runs the notebooks; how many failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "notebooks")
    parser.add_argument("--name", help="one of them: first_hour")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    browser = next((found for found in map(shutil.which, BROWSERS) if found), None)
    if browser is None:
        print("notebooks: there is no Chromium here: nobody looks at tables and SVG as a browser draws them")
    paths = [each for each in sorted(NOTEBOOKS.glob("*.ipynb")) if options.name in (None, each.stem)]
    failed = 0
    for path in paths:
        try:
            print(f"notebooks: {path.stem}: {run(path, options.out.resolve(), browser)}", flush=True)
        except Wrong as error:
            failed += 1
            print(f"notebooks: {path.stem}: {error}", file=sys.stderr, flush=True)
    print(f"notebooks: {len(paths) - failed} passed, {failed} failed")
    return failed or not paths


if __name__ == "__main__":
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")  # a kernel's debugger warns on stderr
    sys.exit(bool(main()))
