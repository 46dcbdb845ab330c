#!/usr/bin/env python3
"""Uses the files of a release that are no wheels as those who get them will: the sdist, the crate, the npm package.

Usage: try_release.py FOLDER (called by ``make release`` before the wheels are tried)

Each is unpacked or installed into an empty folder. pip compiles the sdist with this machine's C compiler; the crate and
the npm package then use the library that it installed. Also checks SHA256SUMS and the bill of materials.
"""

from __future__ import annotations

import os
import shutil
import sys
import tarfile
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
from try_wheels import SMOKE, run  # noqa: E402

WEB_PROGRAM = """
import {load} from 'mxlite-web';
const mx = await load();
const x = mx.array([[1, 2]]).attachGrad();
mx.record(() => mx.nd.sum(mx.nd.square(x))).backward();
if (x.grad.toArray()[0][1] !== 4) throw new Error('the gradient of 2 squared is not 4');
console.log('npm package: WebAssembly differentiates');
"""
NODE_PROGRAM = """
import mx from 'mxlite';
const [x, y] = [1, 2].map((value) => mx.array(new Float32Array(16).fill(value), {shape: [4, 4]}));
const sum = x.add(y);
if (sum.toArray()[3][3] !== 3) throw new Error('1 + 2 is not 3');
console.log('npm package: node', process.version, 'adds');
"""


def check_sums(folder: Path) -> None:
    """Every file but the sums themselves is listed, and as it is."""
    run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=folder)
    listed = {line.split("  ")[1] for line in (folder / "SHA256SUMS").read_text(encoding="utf-8").splitlines()}
    missing = {path.name for path in folder.iterdir()} - listed - {"SHA256SUMS"}
    if missing:
        raise SystemExit(f"try_release: SHA256SUMS lacks {sorted(missing)}")


def check_bill(folder: Path) -> None:
    """The bill of materials is one that CycloneDX's schema accepts."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    (bill,) = folder.glob("*.cdx.json")
    wrong = JsonStrictValidator(SchemaVersion.V1_6).validate_str(bill.read_text(encoding="utf-8"))
    if wrong:
        raise SystemExit(f"try_release: {bill.name}: {wrong}")


def use_sdist(sdist: Path, work: Path) -> Path:
    """Compiles and installs the sources; returns the library."""
    run([sys.executable, "-m", "venv", str(work / "venv")])
    python = str(work / "venv" / "bin" / "python")
    run([python, "-m", "pip", "install", "-q", "--disable-pip-version-check", str(sdist)], cwd=work)
    (work / "smoke.py").write_text(SMOKE, encoding="utf-8")
    binding = run([python, "-c", "import mxlite; print(mxlite._lib.BINDING)"], cwd=work).strip()
    print("try_release: sdist:", run([python, "smoke.py", binding], cwd=work).strip(), flush=True)
    return Path(run([python, "-c", "import mxlite; print(mxlite.get_library())"], cwd=work).strip())


def use_crate(crate: Path, work: Path, library: Path) -> None:
    """Builds the crate from its file and runs its example of additions, which says what one takes."""
    with tarfile.open(crate) as archive:
        archive.extractall(work, filter="data")
    folder = work / crate.name.removesuffix(".crate")
    env = dict(os.environ, MXLITE_LIBRARY=str(library), LD_LIBRARY_PATH=str(library.parent))
    told = run(["cargo", "run", "-q", "--offline", "--example", "cost"], cwd=folder, env=env, input="100\n").split()
    print(f"try_release: {crate.name}: an addition takes {float(told[1]):.0f} ns", flush=True)


def use_npm(package: Path, work: Path, program: str, library: Path) -> None:
    """Installs an npm package, and koffi from the registry if it wants that, and runs a program with it."""
    work.mkdir()
    run(["npm", "install", "--silent", "--no-audit", "--no-fund", str(package)], cwd=work)
    (work / "program.mjs").write_text(program, encoding="utf-8")
    env = dict(os.environ, MXLITE_LIBRARY=str(library))
    print("try_release:", run(["node", "program.mjs"], cwd=work, env=env).strip(), flush=True)


def main(folder: Path) -> int:
    check_sums(folder)
    check_bill(folder)
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        (sdist,) = (path for path in folder.glob("*.tar.gz"))
        library = use_sdist(sdist, work)
        for crate in folder.glob("*.crate"):
            use_crate(crate, work, library)
        if shutil.which("node"):
            for package in folder.glob("mxlite-*.tgz"):
                web = package.name.startswith("mxlite-web-")
                use_npm(package, work / f"npm-{package.stem}", WEB_PROGRAM if web else NODE_PROGRAM, library)
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    sys.exit(main(Path(sys.argv[1]).resolve()))
