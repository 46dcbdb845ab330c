"""The bill of materials of a release: CycloneDX 1.6 as JSON, from what pyproject.toml and the files say."""

from __future__ import annotations

import hashlib
import json
import re
import time
import uuid
from pathlib import Path
from typing import Any

import pack

ROOT = Path(__file__).resolve().parents[2]
#: What the files hold that is not of this project: zig links these of LLVM and musl into libraries that it builds.
LINKED = (
    ("compiler-rt", "Apache-2.0 WITH LLVM-exception", "arithmetic that the compiler has no instructions for"),
    ("libunwind", "Apache-2.0 WITH LLVM-exception", "what unwinds the stack after a C++ exception"),
    ("mingw-w64", "ZPL-2.1", "how a DLL begins, in wheels for Windows"),
)


def requirements() -> list[str]:
    """What the package needs at run time, as pyproject.toml has it."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    return re.findall(r'"([^"]+)"', re.search(r"^dependencies = \[(.*?)\]", text, re.M | re.S)[1])


def bill(version: str, zig: str, files: list[Path]) -> dict[str, Any]:
    """The bill: the package, the files of the release with their sums, what it needs and what is linked into it."""
    sums = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}
    root = {
        "type": "library",
        "bom-ref": "mxlite",
        "name": "mxlite",
        "version": version,
        "licenses": [{"license": {"id": "Apache-2.0"}}],
        "purl": f"pkg:pypi/mxlite@{version}",
    }
    parts: list[dict[str, Any]] = [
        {"type": "file", "bom-ref": name, "name": name, "hashes": [{"alg": "SHA-256", "content": digest}]}
        for name, digest in sorted(sums.items())
    ]
    needs = []
    for line in requirements():
        name = re.match(r"[\w-]+", line)[0]
        needs.append(name)
        entry = {"type": "library", "bom-ref": name, "name": name, "purl": f"pkg:pypi/{name}"}
        parts.append({**entry, "properties": [{"name": "mxlite:requirement", "value": line}]})
    for name, licence, purpose in LINKED:
        entry = {"type": "library", "bom-ref": name, "name": name, "version": f"of zig {zig}", "description": purpose}
        parts.append({**entry, "licenses": [{"expression": licence}]})
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(pack.source_date()))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": uuid.uuid5(uuid.NAMESPACE_URL, json.dumps(sums, sort_keys=True)).urn,
        "version": 1,
        "metadata": {
            "timestamp": moment,
            "component": root,
            "tools": {"components": [{"type": "application", "name": "zig", "version": zig}]},
        },
        "components": parts,
        "dependencies": [{"ref": "mxlite", "dependsOn": [*needs, *(name for name, _, _ in LINKED)]}],
    }
