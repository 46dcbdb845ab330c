#!/usr/bin/env python3
"""Checks which layer's objects call which: ``check_links.py build/obj/capi``.

``check_includes.py`` reads what a file includes; this reads what the linker sees (``nm``), so that a function or a
variable which is declared below and defined above is found too. An object may name what its own layer defines, or a
layer below. Run by ``make checks`` and ``make lint``; prints one line per name that leads upward and exits with 1 if
there is any, with 2 if it cannot look.
"""

import shutil
import subprocess
import sys
from pathlib import Path

from check_includes import LAYERS

CAPI = Path(__file__).resolve().parent.parent / "capi"
#: Types that nm gives to names which are defined, for all or weakly.
DEFINED = set("TDBRVWC")


def names_of(objects: list[Path]) -> dict[Path, list[tuple[str, str]]]:
    """(type, name) of the external names of each object."""
    nm = shutil.which("nm")
    if nm is None:
        sys.exit("check_links: there is no nm (package binutils)")
    run = subprocess.run([nm, "-g", "-A", *map(str, objects)], capture_output=True, text=True, check=False)
    found: dict[Path, list[tuple[str, str]]] = {path: [] for path in objects}
    for line in run.stdout.splitlines():
        path, _, rest = line.partition(":")
        *_, kind, name = rest.split()
        found[Path(path)].append((kind, name))
    return found


def upward(folder: Path) -> list[str]:
    """One line for each name that an object takes from a layer above its own."""
    # An object may have outlived its source.
    sources = sorted(path.relative_to(CAPI) for path in CAPI.rglob("*.c"))
    objects = [path for path in (folder / source.with_suffix(".o") for source in sources) if path.exists()]
    names = names_of(objects)
    layer = {path: LAYERS.index(path.relative_to(folder).parts[0]) for path in objects}
    home = {name: path for path, found in names.items() for kind, name in found if kind in DEFINED}
    return [
        f"{path.relative_to(folder)}: names {name} of {home[name].relative_to(folder)}, a layer above"
        for path, found in names.items()
        for _, name in found
        if name in home and layer[home[name]] > layer[path]
    ]


def main() -> int:
    """Prints the findings; 1 if there is any."""
    folder = Path(sys.argv[1])
    if not any(folder.rglob("*.o")):
        print(f"check_links: {folder}: no objects; make lib builds them", file=sys.stderr)
        return 2
    findings = upward(folder)
    print(*findings, sep="\n", end="\n" if findings else "")
    print(f"check_links: {len(findings)} names lead upward")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
