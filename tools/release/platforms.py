"""The platforms that `make wheels` builds for: zig's name of each, its wheel's tag, its files' names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Platform:
    """One platform. `target` is zig's name of it, with the oldest version of the system; `tag` is the wheel's."""

    name: str
    target: str
    tag: str
    #: The file of the cffi module in the package.
    module: str = "_mxlite_cffi.abi3.so"
    #: The gcc that compiles the library, whose code is faster than clang's; zig links it. Else zig compiles too.
    gcc: str = ""

    @property
    def library(self) -> str:
        """The file of the C library."""
        return {"windows": "mxlite.dll", "macos": "libmxlite.dylib"}.get(self.system, "libmxlite.so")

    @property
    def has_glibc(self) -> bool:
        return "-linux-gnu" in self.target

    @property
    def system(self) -> str:
        """linux, macos or windows."""
        return self.target.split("-")[1].split(".")[0]


_LIST = (
    Platform("linux-x86_64", "x86_64-linux-gnu.2.17", "manylinux2014_x86_64.manylinux_2_17_x86_64", gcc="gcc"),
    Platform(
        "linux-aarch64",
        "aarch64-linux-gnu.2.17",
        "manylinux2014_aarch64.manylinux_2_17_aarch64",
        gcc="aarch64-linux-gnu-gcc",
    ),
    Platform("musl-x86_64", "x86_64-linux-musl", "musllinux_1_2_x86_64"),
    Platform("musl-aarch64", "aarch64-linux-musl", "musllinux_1_2_aarch64"),
    Platform("macos-arm64", "aarch64-macos.11.0", "macosx_11_0_arm64"),
    Platform("macos-x86_64", "x86_64-macos.11.0", "macosx_11_0_x86_64"),
    Platform("windows-x86_64", "x86_64-windows-gnu", "win_amd64", "_mxlite_cffi.pyd"),
)
PLATFORMS = {each.name: each for each in _LIST}
