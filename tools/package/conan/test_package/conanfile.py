"""Builds and runs a program with the package."""

import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout


class MxliteTest(ConanFile):
    """The program of test_package.c."""

    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "CMakeToolchain"

    def requirements(self) -> None:
        """The package that was made."""
        self.requires(self.tested_reference_str)

    def layout(self) -> None:
        """As CMake's projects."""
        cmake_layout(self)

    def build(self) -> None:
        """The program."""
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def test(self) -> None:
        """Runs it, where this machine can."""
        if can_run(self):
            self.run(os.path.join(self.cpp.build.bindir, "test_package"), env="conanrun")
