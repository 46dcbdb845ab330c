"""What programs take from `pkg_resources`, which Python 3.11 and before installed with setuptools, and setuptools 82
has no longer: files of packages, versions, entry points."""

from __future__ import annotations

import importlib
import io
import os
import re
from collections.abc import Iterator
from importlib import metadata
from typing import Any, BinaryIO

__all__ = [
    "Distribution",
    "DistributionNotFound",
    "ResolutionError",
    "VersionConflict",
    "declare_namespace",
    "get_distribution",
    "iter_entry_points",
    "parse_version",
    "require",
    "resource_exists",
    "resource_filename",
    "resource_isdir",
    "resource_listdir",
    "resource_stream",
    "resource_string",
    "working_set",
]


class ResolutionError(Exception):
    """A package is not there, or of another version."""


class DistributionNotFound(ResolutionError):
    """A package is not installed."""


class VersionConflict(ResolutionError):
    """A package is installed in a version that was not asked for."""


# ---- packages ----


class Distribution:
    """An installed package."""

    def __init__(self, found: Any) -> None:
        self._found = found
        self.project_name: str = found.metadata["Name"]
        self.key = self.project_name.lower()
        self.version: str = found.version
        self.parsed_version = parse_version(self.version)
        self.location = str(found.locate_file(""))

    def __str__(self) -> str:
        return f"{self.project_name} {self.version}"

    def requires(self, extras: Any = ()) -> list[str]:
        """What it says that it needs."""
        return list(self._found.requires or ())

    def has_metadata(self, name: str) -> bool:
        """Whether it came with a file of that name."""
        return self._found.read_text(name) is not None

    def get_metadata(self, name: str) -> str:
        """The text of a file that it came with."""
        return str(self._found.read_text(name) or "")


def get_distribution(dist: Any) -> Distribution:
    """The package of a name, or of a requirement such as "numpy>=1.16".

    Raises: DistributionNotFound: it is not installed. VersionConflict: another version is.
    """
    if isinstance(dist, Distribution):
        return dist
    wanted = _packaging("requirements").Requirement(str(dist))
    try:
        found = Distribution(metadata.distribution(wanted.name))
    except metadata.PackageNotFoundError:
        raise DistributionNotFound(f"the package {dist!r} is not installed") from None
    if not wanted.specifier.contains(found.version, prereleases=True):
        raise VersionConflict(f"{found} is installed, and {dist} is asked for")
    return found


def require(*requirements: Any) -> list[Distribution]:
    """The packages of these names or requirements. Raises: as `get_distribution`."""
    listed = [each for given in requirements for each in ([given] if isinstance(given, str) else given)]
    return [get_distribution(each) for each in listed]


class _WorkingSet:
    """All installed packages."""

    def __iter__(self) -> Iterator[Distribution]:
        return (Distribution(each) for each in metadata.distributions())

    by_key = property(lambda self: {each.key: each for each in self})


working_set = _WorkingSet()


def parse_version(v: str) -> Any:
    """A version that can be compared with others."""
    return _packaging("version").Version(v)


def _packaging(part: str) -> Any:
    """A module of `packaging`, which pip has too."""
    try:
        return importlib.import_module(f"packaging.{part}")
    except ImportError:
        return importlib.import_module(f"pip._vendor.packaging.{part}")


class _EntryPoint:
    """A name that a package offers to others."""

    def __init__(self, found: Any) -> None:
        self.name, self._found = found.name, found
        self.module_name, _, attributes = re.sub(r"\s*\[.*", "", found.value).partition(":")
        self.attrs = tuple(filter(None, attributes.split(".")))

    def load(self, *_: Any, **__: Any) -> Any:
        """The object."""
        return self._found.load()

    resolve = load

    def __str__(self) -> str:
        return f"{self.name} = {self._found.value}"


def iter_entry_points(group: str, name: str | None = None) -> Iterator[_EntryPoint]:
    """What installed packages offer to a group; of one name only, if it is given."""
    for dist in metadata.distributions():
        for each in dist.entry_points:
            if each.group == group and name in (None, each.name):
                yield _EntryPoint(each)


# ---- files of packages ----


def resource_filename(package_or_requirement: Any, resource_name: str) -> str:
    """The path of a file, or a folder, that is beside a package's own files."""
    module = importlib.import_module(package_or_requirement)
    paths = list(getattr(module, "__path__", ())) or [os.path.dirname(str(module.__file__))]
    files = [os.path.join(path, *resource_name.split("/")) if resource_name else path for path in paths]
    return next((each for each in files if os.path.exists(each)), files[0])


def resource_string(package_or_requirement: Any, resource_name: str) -> bytes:
    """The bytes of such a file."""
    with open(resource_filename(package_or_requirement, resource_name), "rb") as file:
        return file.read()


def resource_stream(package_or_requirement: Any, resource_name: str) -> BinaryIO:
    """The bytes of such a file, as a file."""
    return io.BytesIO(resource_string(package_or_requirement, resource_name))


def resource_exists(package_or_requirement: Any, resource_name: str) -> bool:
    """Whether there is such a file or folder."""
    return os.path.exists(resource_filename(package_or_requirement, resource_name))


def resource_isdir(package_or_requirement: Any, resource_name: str) -> bool:
    """Whether there is such a folder."""
    return os.path.isdir(resource_filename(package_or_requirement, resource_name))


def resource_listdir(package_or_requirement: Any, resource_name: str) -> list[str]:
    """What is in such a folder."""
    return os.listdir(resource_filename(package_or_requirement, resource_name))


def declare_namespace(packageName: str) -> None:  # noqa: N803 - setuptools' name
    """Has a package's parts looked for in folders of its name on all of sys.path."""
    import pkgutil
    import sys

    module = sys.modules[packageName]
    module.__path__ = list(pkgutil.extend_path(list(module.__path__), packageName))
