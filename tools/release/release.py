#!/usr/bin/env python3
"""Makes a release in a folder: sdist, wheels, crate, npm package, notes, bill of materials and sums. Uploads nothing.

Usage: release.py check            may this tree be released? (also with --tag, what a tag asks for)
       release.py build OUT WEB    all files but the wheels, which are in OUT already, into OUT; WEB: of `make wasm`
       release.py tag              makes the tag vX.Y.Z
Called by ``make release``.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]
import pack  # noqa: E402
import sbom  # noqa: E402
from check_versions import python_version  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]


def run(*command: object, cwd: Path = ROOT, **env: str) -> str:
    """What a command prints; ends with 1 where it fails."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=cwd, env=dict(os.environ, **env), capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"release: `{' '.join(words)}` failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def section(changelog: str, name: str) -> str | None:
    """The text of a section `## [name] ...` of a changelog, without its heading; None if there is none."""
    found = re.search(rf"^## \[{re.escape(name)}\][^\n]*\n(.*?)(?=^## \[|\Z)", changelog, re.M | re.S)
    return found[1].strip() if found else None


def refusals(root: Path, tag: bool) -> list[str]:
    """Why a tree may not be released.

    Args:
        tag: whether a tag is to be made: then nothing may be unreleased, and there may be no tag of that name.
    """
    version = python_version(root)
    changelog = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    wrong = []
    changed = run("git", "status", "--porcelain", cwd=root).splitlines()
    if changed:
        wrong.append(f"{len(changed)} files are not committed ({changed[0].strip()}, ...)")
    if not section(changelog, version):
        wrong.append(f"CHANGELOG.md has no section [{version}] with a text")
    if tag and section(changelog, "Unreleased"):
        wrong.append(f"CHANGELOG.md has changes under [Unreleased]: they belong to a section [{version}]")
    if tag and run("git", "tag", "--list", f"v{version}", cwd=root).strip():
        wrong.append(f"there is a tag v{version}")
    return wrong


def write_tar(out: Path, files: dict[str, tuple[bytes, int]]) -> None:
    """Writes a .tar.gz whose bytes follow from its files alone: sorted, with one time and no owners."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name in sorted(files):
            data, mode = files[name]
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = len(data), 0o755 if mode & 0o100 else 0o644, pack.source_date()
            archive.addfile(entry, io.BytesIO(data))
    with out.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, pack.source_date()) as packed:
        packed.write(plain.getvalue())


def make_sdist(out: Path, work: Path) -> Path:
    """The sources that pip compiles: setuptools collects them, the archive is written again with fixed times."""
    shutil.rmtree(work, ignore_errors=True)
    run(sys.executable, "-m", "build", "--sdist", "--no-isolation", "--outdir", work, ROOT)
    (made,) = work.glob("*.tar.gz")
    files = {}
    with tarfile.open(made) as archive:
        for entry in archive.getmembers():
            if entry.isfile():
                files[entry.name] = (archive.extractfile(entry).read(), entry.mode)
    write_tar(out / made.name, files)
    return out / made.name


def make_crate(out: Path) -> Path | None:
    """The crate of bindings/rust, if cargo is here. It is built and tried later, since it needs the library."""
    if not shutil.which("cargo"):
        print("release: no cargo here, so there is no crate")
        return None
    target = ROOT / "build" / "crate"
    run("cargo", "package", "--quiet", "--no-verify", "--target-dir", target, cwd=ROOT / "bindings" / "rust")
    made = target / "package" / f"mxlite-{python_version()}.crate"
    return Path(shutil.copy2(made, out / made.name))


def make_npm(out: Path, folder: Path) -> Path | None:
    """The npm package in a folder, if npm is here."""
    if not shutil.which("npm"):
        print(f"release: no npm here, so there is no package of {folder.name}")
        return None
    told = json.loads(run("npm", "pack", "--json", "--pack-destination", out, cwd=folder))
    return out / told[0]["filename"]


def build(out: Path, web: Path) -> int:
    version, zig = python_version(), run(sys.executable, "-m", "ziglang", "version").strip()
    make_sdist(out, ROOT / "build" / "sdist")
    make_crate(out)
    make_npm(out, ROOT / "bindings" / "node")
    make_npm(out, web)
    notes = section((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    (out / f"mxlite-{version}.md").write_text(f"# mxlite {version}\n\n{notes}\n", encoding="utf-8")
    files = sorted(path for path in out.iterdir() if path.name != "SHA256SUMS" and path.suffix != ".json")
    bill = out / f"mxlite-{version}.cdx.json"
    bill.write_text(json.dumps(sbom.bill(version, zig, files), indent=2) + "\n", encoding="utf-8")
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in sorted([*files, bill])]
    (out / "SHA256SUMS").write_text("".join(lines), encoding="utf-8")
    for path in sorted(out.iterdir()):
        print(f"release: {path.stat().st_size:9d} {path.name}")
    return 0


def main(words: list[str]) -> int:
    if words[:1] == ["check"] and words[1:] in ([], ["--tag"]):
        wrong = refusals(ROOT, bool(words[1:]))
        for reason in wrong:
            print(f"release: refused: {reason}")
        return 1 if wrong else 0
    if words[:1] == ["build"] and len(words) == 3:
        return build(Path(words[1]).resolve(), Path(words[2]).resolve())
    if words == ["tag"]:
        version = python_version()
        run("git", "tag", "-a", f"v{version}", "-m", f"mxlite {version}")
        print(f"release: tagged v{version}; nothing is pushed")
        return 0
    raise SystemExit(__doc__)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
