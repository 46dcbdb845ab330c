"""Runs scripts as `mxlite run` does, one after another in this process: ``outcomes.py HOW SCRIPT...``.

HOW is "mxnet", "torch", or with the option --cpu "cpu", "torch-cpu".

Prints a JSON object: for each script null, or the line at which it stopped, the kind of the error and its text.
"""

import contextlib
import io
import json
import runpy
import sys
import traceback
import warnings

from mxlite._cli.run import begin


def outcome(path):
    """None, or where and why a script stops."""
    try:
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            runpy.run_path(path, run_name="__main__")
    except (Exception, SystemExit) as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
        return [lines[-1] if lines else 0, type(error).__name__, str(error)]
    return None


def main():
    how = sys.argv[1]
    name = "torch" if how.startswith("torch") else "mxnet"
    begin(name, strict=False, gpus=0 if how.endswith("cpu") else None, quiet=True)
    print(json.dumps({path: outcome(path) for path in sys.argv[2:]}))


if __name__ == "__main__":
    main()
