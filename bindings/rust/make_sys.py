#!/usr/bin/env python3
"""Writes src/sys.rs, the declarations of mxlite's public header, out of what `cc -E` makes of that header.

make_sys.py [--check] [--include FOLDER]      --check: fails when src/sys.rs is not what it would write
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
TARGET = HERE / "src" / "sys.rs"
PLAIN = {
    "void": "c_void", "char": "c_char", "_Bool": "bool", "float": "f32", "double": "f64", "int": "c_int",
    "unsigned int": "c_uint", "unsigned": "c_uint", "size_t": "usize", "uint64_t": "u64", "int64_t": "i64",
    "uint32_t": "u32", "int32_t": "i32", "uint16_t": "u16", "uint8_t": "u8",
}  # fmt: skip
KEYWORDS = set(re.findall(r'"(\w+)"', re.search(r"KEYWORDS.*?\];", (HERE / "build.rs").read_text("utf-8"), re.S)[0]))
FUNCTION_TYPE = r"typedef ([\w ]+?[ *]*)\(\*?(\w+)\)\(([^;]*)\);"


class Translator:
    """Knows the named types of the header; translates C types to Rust's."""

    def __init__(self, text: str) -> None:
        self.text = text
        aliases = re.findall(r"typedef ((?:const |unsigned )?\w+[ *]+)(\w+);", text)
        self.aliases = {name: c_type for c_type, name in aliases if name not in PLAIN}
        self.functions = {name: (result, args) for result, name, args in re.findall(FUNCTION_TYPE, text)}
        bodies = re.findall(r"\b(struct|union) (\w+) \{([^{}]*)\}", text)
        self.bodies = {name: (kind, body) for kind, name, body in bodies if "(" not in body}

    def type(self, text: str) -> str:
        """A C type without a name, such as `const char **`."""
        stars, base = text.count("*"), text.replace("*", " ").split()
        const = "const" in base
        name = " ".join(word for word in base if word not in ("const", "struct"))
        if name in self.functions:
            return name
        known = name in PLAIN or name in self.aliases or name in self.bodies
        rust = PLAIN.get(name, name) if known else "c_void"
        for level in range(stars):
            rust = f"*{'const' if const and level == 0 else 'mut'} {rust}"
        return rust

    def argument(self, text: str) -> str:
        pointer = re.fullmatch(r"(.*?)\(\*(\w+)\)\((.*)\)", text := text.strip())
        if pointer:
            return f"{pointer[2]}: {self.pointer(pointer[1], pointer[3])}"
        match = re.fullmatch(r"(.*?[ *])(\w+)(\[\w*\])?", text)
        if match is None or match[2] in PLAIN or match[1].strip() in ("const", "struct"):
            return self.type(text)  # of a function type, without a name
        name = f"r#{match[2]}" if match[2] in KEYWORDS else match[2]
        return f"{name}: {self.type(match[1] + ('*' if match[3] else ''))}"

    def member(self, text: str) -> str:
        """A member of a struct; unlike an argument, an array is one."""
        array = re.fullmatch(r"(.*?[ *])(\w+)\[(\d+)\]", text)
        return f"{array[2]}: [{self.type(array[1])}; {array[3]}]" if array else self.argument(text)

    def signature(self, result: str, arguments: str) -> str:
        given = "" if arguments == "void" else ", ".join(map(self.argument, re.split(r", (?![^(]*\))", arguments)))
        returned = self.type(result)
        return f"({given})" + ("" if returned == "c_void" else f" -> {returned}")

    def pointer(self, result: str, arguments: str) -> str:
        return f'Option<unsafe extern "C" fn{self.signature(result, arguments)}>'

    def write(self) -> str:
        lines = [
            "// Written by make_sys.py out of include/mxlite/mxlite.h; a test compares it with that header.",
            "//! The C API, declaration by declaration; contracts are in the header.",
            "#![allow(non_camel_case_types, non_snake_case, clippy::all)]",
            "use std::os::raw::{c_char, c_int, c_uint, c_void};",
            "",
        ]
        lines += [f"pub type {name} = {self.type(c)};" for name, c in sorted(self.aliases.items())]
        lines += [f"pub type {name} = {self.pointer(*what)};" for name, what in sorted(self.functions.items())]
        for name, (kind, body) in sorted(self.bodies.items()):
            fields = [field.strip() for field in body.split(";") if field.strip()]
            inside = ", ".join(f"pub {self.member(field)}" for field in fields)
            lines.append(f"#[repr(C)]\n#[derive(Clone, Copy)]\npub {kind} {name} {{ {inside} }}")
        lines += ["", 'extern "C" {']
        for result, name, arguments in sorted(
            re.findall(r"EXPORTED (.+?[ *])(\w+)\((.*?)\);", self.text), key=lambda f: f[1]
        ):
            lines.append(f"    pub fn {name}{self.signature(result, arguments)};")
        return "\n".join([*lines, "}", ""])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--include", default=os.environ.get("MXLITE_INCLUDE", HERE.parents[1] / "include"))
    options = parser.parse_args()
    compiler = os.environ.get("CC", "cc").split()
    command = [*compiler, "-E", "-P", "-DMXL_API=EXPORTED", f"-I{options.include}", "-x", "c", "-"]
    made = subprocess.run(command, input="#include <mxlite/mxlite.h>\n", capture_output=True, text=True, check=True)
    text = re.sub(r"\s+", " ", made.stdout).replace("; ", ";\n").replace("( ", "(")
    first = text.index("typedef uint32_t mx_uint")  # the text before it is the system's
    declarations = Translator(re.sub(r"\s*\n\s*(?=[^{}]*\})", " ", text[first:])).write()
    if not options.check:
        TARGET.write_text(declarations)
    elif TARGET.read_text() != declarations:
        sys.exit("bindings/rust/src/sys.rs is not what the header says; run bindings/rust/make_sys.py")
    return 0


if __name__ == "__main__":
    sys.exit(main())
