"""tools/bindings.sh, in a place with few commands: what it installs, what it names, when a language has passed."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.one_binding

SCRIPT = Path(__file__).resolve().parents[3] / "tools" / "bindings.sh"
TOOLS = ["sh", "awk", "cat", "dirname", "mkdir", "rm", "tail", "tee"]
GOOD = "echo lua: 30 passed, 0 failed; echo held-out accuracy 0.970"


class Place:
    """A folder of commands, which is all that PATH holds, and a build folder."""

    def __init__(self, folder: Path) -> None:
        self.commands, self.build = folder / "bin", folder / "build"
        self.commands.mkdir()
        self.build.mkdir()
        for tool in TOOLS:
            found = shutil.which(tool)
            assert found, tool
            (self.commands / tool).symlink_to(found)

    def command(self, name: str, body: str) -> None:
        file = self.commands / name
        file.write_text(f"#!/bin/sh\n{body}\n")
        file.chmod(0o755)

    def everything(self, luajit: str) -> None:
        """What the Lua binding needs; the body of luajit decides what its tests say."""
        self.command("luajit", luajit)
        self.command("pkg-config", "exit 0")
        self.command("cc", "exit 0")

    def run(self, *arguments: str) -> tuple[int, str]:
        env = {"PATH": str(self.commands), "BUILD": str(self.build)}
        done = subprocess.run(
            ["sh", str(SCRIPT), *arguments], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
        )
        return done.returncode, done.stdout.decode()


@pytest.fixture
def place(tmp_path: Path) -> Place:
    made = Place(tmp_path)
    made.command("id", "echo 1000")
    return made


def test_a_user_is_told_all_packages_at_once(place: Place) -> None:
    place.command("apt-get", "echo must not be called; exit 1")
    status, said = place.run("test", "lua")
    assert status == 1
    assert "lua: not all is here that it needs; as root: apt-get install luajit pkg-config gcc\n" in said
    assert "must not be called" not in said
    assert said.endswith("failed: lua\nbindings: 0 passed, 1 failed\n")


def test_root_installs_what_is_missing_and_goes_on(place: Place, tmp_path: Path) -> None:
    place.command("id", "echo 0")
    place.command("cc", "exit 0")
    asked = tmp_path / "asked"
    make = "; ".join(
        f"echo '#!/bin/sh\n{body}' >{place.commands}/{name}; {shutil.which('chmod')} 755 {place.commands}/{name}"
        for name, body in (("luajit", GOOD), ("pkg-config", "exit 0"))
    )
    place.command("apt-get", f'echo "$*" >>{asked}; case $1 in install) {make} ;; esac')
    status, said = place.run("test", "lua")
    assert status == 0, said
    assert asked.read_text().splitlines() == ["update -qq", "install -y -qq --no-install-recommends luajit pkg-config"]
    assert "lua: installing luajit pkg-config\n" in said and said.endswith("bindings: 1 passed, 0 failed\n")


def test_what_apt_does_not_give_fails(place: Place) -> None:
    place.command("id", "echo 0")
    place.command("apt-get", "echo E: no network; exit 100")
    status, said = place.run("test", "lua")
    assert status == 1
    assert "E: no network\n" in said  # the end of its log
    assert "lua: apt-get could not give what is in Debian's luajit pkg-config gcc\n" in said


@pytest.mark.parametrize(
    ("luajit", "passes"),
    [
        (GOOD, True),
        (GOOD + "; exit 1", False),
        ("echo lua: 29 passed, 0 failed; echo held-out accuracy 0.970", False),
        ("echo lua: 300 passed, 1 failed; echo held-out accuracy 0.970", False),
        ("echo lua: 300 passed, 0 failed; echo held-out accuracy 0.969", False),
        ("echo lua: 300 passed, 0 failed", False),
        ("echo perl: 300 passed, 0 failed; echo held-out accuracy 0.970", False),
    ],
)
def test_when_a_language_has_passed(place: Place, luajit: str, passes: bool) -> None:
    # `luajit -v` is how the script asks whether it is there.
    place.everything(f'[ "$1" = -v ] && exit 0\n{luajit}')
    status, said = place.run("test", "lua")
    assert (status == 0) == passes, said
    assert said.endswith("bindings: 1 passed, 0 failed\n" if passes else "bindings: 0 passed, 1 failed\n")


def test_an_unknown_language(place: Place) -> None:
    assert place.run("test", "cobol") == (
        2,
        "bindings.sh: there is no cobol; there are: cpp rust node java perl lua predict\n",
    )
