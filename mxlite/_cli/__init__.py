"""The command ``mxlite``, also as ``python -m mxlite``.

Without a subcommand it prints what this installation is made of (`information`); the others are in `GROUPS`.
"""

from __future__ import annotations

import importlib
import os
import sys

#: Subcommands by what they are for, each with what `mxlite --help` says of it: the modules here with their `main`.
GROUPS = {
    "Your programs": {
        "run": "runs a script for MXNet or PyTorch, unedited",
        "names": "says which names of MXNet or PyTorch a script uses, and what they are here",
    },
    "Saved models": {
        "predict": "runs a saved model on arrays or images",
        "show": "prints a saved model's graph as a table, or draws it",
        "convert": "writes a model of ONNX as a saved model, or a saved model as one of ONNX",
    },
    "Questions": {
        "help": "prints a page of the documentation, or what it says of a word",
        "op": "prints the page of an operator: its inputs, parameters, differences",
    },
}
COMMANDS = {name: text for group in GROUPS.values() for name, text in group.items()}


def run_command(name: str, arguments: list[str]) -> int:
    """Runs a subcommand; returns the code to exit with.

    Where who reads what it prints has enough (`mxlite names code/ | head`), it ends. What a script of `mxlite run`
    prints is the script's: it sees the error, as in python.
    """
    command = importlib.import_module(f"mxlite._cli.{name}")
    code = 0
    try:
        try:
            code = command.main(arguments)
        finally:
            print(end="", flush=True)
    except BrokenPipeError:
        if name == "run":
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # python flushes it once more at exit
    return code


def main(arguments: list[str] | None = None) -> int:
    """Runs a subcommand, or prints information.

    Returns the code to exit with: 0, or what the subcommand's `main` says; 2 after a line on stderr where there is no
    such command, or after wrong options.
    """
    given = sys.argv[1:] if arguments is None else arguments
    if not given or given[0].startswith("-"):
        return run_command("information", given)
    if given[0] in COMMANDS:
        return run_command(given[0], given[1:])
    from mxlite._public.near import did_you_mean

    hint = did_you_mean(given[0], COMMANDS) or "; `mxlite --help` lists all"
    print(f"mxlite: there is no command {given[0]!r}{hint}", file=sys.stderr)
    return 2
