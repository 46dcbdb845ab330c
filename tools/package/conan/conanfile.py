"""mxlite for Conan 2: `conan create tools/package/conan`. The package is the library of the one C file."""

import os
import re

from conan import ConanFile
from conan.tools.cmake import CMake, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load


class Mxlite(ConanFile):
    """The library, its header, and what a program must link beside."""

    name = "mxlite"
    license = "Apache-2.0"
    description = "An imperative tensor and autograd engine with the C API of Apache MXNet 1.9.1"
    topics = ("tensor", "autograd", "neural-networks", "mxnet")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {
        "shared": [True, False],
        "parts": ["ANY"],
        "ops": ["ANY"],
        "threads": [True, False],
        "files": [True, False],
    }
    default_options = {"shared": False, "parts": "core wide optimizers", "ops": "", "threads": True, "files": True}

    def _root(self) -> str:
        return os.path.normpath(os.path.join(self.recipe_folder, "..", "..", ".."))

    def set_version(self) -> None:
        """The version of the tree that the recipe is in."""
        header = load(self, os.path.join(self._root(), "include", "mxlite", "mxlite.h"))
        self.version = ".".join(re.findall(r"define MXL_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", header))

    def export_sources(self) -> None:
        """What `make amalgamation` reads."""
        for pattern in ("Makefile", "LICENSE", "NOTICE", "mk/*", "capi/*", "include/*", "tools/*.sh", "tools/embed/*"):
            copy(self, pattern, self._root(), self.export_sources_folder)
        copy(self, "tools/package/source/*", self._root(), self.export_sources_folder)

    def configure(self) -> None:
        """C alone."""
        self.settings.rm_safe("compiler.cppstd")
        self.settings.rm_safe("compiler.libcxx")

    def layout(self) -> None:
        """The CMake project is not at the top."""
        cmake_layout(self, src_folder=".")

    def generate(self) -> None:
        """Options of the recipe as those of CMakeLists.txt."""
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["MXLITE_PARTS"] = str(self.options.parts)
        toolchain.cache_variables["MXLITE_OPS"] = str(self.options.ops)
        toolchain.cache_variables["MXLITE_THREADS"] = bool(self.options.threads)
        toolchain.cache_variables["MXLITE_FILES"] = bool(self.options.files)
        toolchain.generate()

    def build(self) -> None:
        """One C file, compiled."""
        cmake = CMake(self)
        cmake.configure(build_script_folder="tools/package/source")
        cmake.build()

    def package(self) -> None:
        """The library, mxlite.h and the licence."""
        CMake(self).install()
        for name in ("LICENSE", "NOTICE"):
            copy(self, name, self.source_folder, os.path.join(self.package_folder, "licenses"))

    def package_info(self) -> None:
        """What a program links."""
        self.cpp_info.libs = ["mxlite"]
        if self.settings.os in ("Linux", "FreeBSD"):
            self.cpp_info.system_libs = ["m", "dl", "pthread"]
