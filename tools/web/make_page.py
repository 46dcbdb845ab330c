#!/usr/bin/env python3
"""Assembles the page of examples/web: make_page.py FOLDER PACKAGE. See `make web`.

FOLDER becomes the page, which any file server can serve: the files of examples/web, the package for browsers (PACKAGE,
of `make wasm`) with its module compressed, the digits, a model to try, and a service worker that knows them all.
"""

import gzip
import hashlib
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIMIT = 2_000_000  # bytes of all files, each compressed with gzip


def files(package: Path) -> dict[str, bytes]:
    """All files of the page but the service worker, by name."""
    web, made = ROOT / "examples/web", {}
    for path in sorted(web.glob("*")):
        if path.suffix in (".html", ".css", ".js", ".svg") and path.name != "sw.js":
            made[path.name] = path.read_bytes()
    for path in sorted(package.glob("*.js")):
        made[f"mxlite/{path.name}"] = path.read_bytes()
    made["mxlite/mxlite.wasm.gz"] = gzip.compress((package / "mxlite.wasm").read_bytes(), 9, mtime=0)
    made["digits.u8"] = (ROOT / "examples/data/digits.u8").read_bytes()
    for name in ("digits-symbol.json", "digits-0000.params"):
        made[f"example/{name}"] = (ROOT / "bindings/predict" / name).read_bytes()
    return made


def service_worker(made: dict[str, bytes]) -> bytes:
    """sw.js with the files' names and a version that follows from their content."""
    text = (ROOT / "examples/web/sw.js").read_text()
    digest = hashlib.sha256(text.encode())
    for name, content in made.items():
        digest.update(f"{name} {len(content)}\n".encode() + content)
    names = ["./", *made]
    return text.replace("@VERSION@", digest.hexdigest()[:16]).replace("'@FILES@'", ", ".join(map(repr, names))).encode()


def main() -> int:
    folder, package = Path(sys.argv[1]), Path(sys.argv[2])
    made = files(package)
    made["sw.js"] = service_worker(made)
    if folder.exists():
        shutil.rmtree(folder)
    for name, content in made.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    size = sum(len(gzip.compress(content, 9)) for content in made.values())
    print(f"make web: {folder}, {len(made)} files, {size:,} bytes compressed (at most {LIMIT:,})")
    return 0 if size <= LIMIT else 1


if __name__ == "__main__":
    sys.exit(main())
