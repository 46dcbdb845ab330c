"""The command ``mxlite``, also as ``python -m mxlite``.

Without a subcommand it prints what this installation is made of (`information`); ``mxlite run`` runs a script in
MXNet's or PyTorch's name (`run`), ``mxlite names`` reads one and says which of its names are here (`names`), ``mxlite
op`` prints an operator's page (`op`); ``mxlite predict`` runs a saved model (`predict`), ``mxlite show`` prints
or draws its graph (`show`).
"""

from __future__ import annotations

import importlib
import sys

#: Subcommands: the modules here with their `main`.
_COMMANDS = ("names", "op", "predict", "run", "show")


def main(arguments: list[str] | None = None) -> int:
    """Runs a subcommand, or prints information.

    Returns the code to exit with: 0, or what the subcommand's `main` says; ends with 2 after wrong options.
    """
    given = sys.argv[1:] if arguments is None else arguments
    name = given[0] if given and given[0] in _COMMANDS else "information"
    command = importlib.import_module(f"mxlite._cli.{name}")
    code: int = command.main(given if name == "information" else given[1:])
    return code
