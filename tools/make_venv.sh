#!/bin/sh
# make_venv.sh PYTHON FOLDER: a virtual environment, or one line that says what is missing. Called by
# the Makefile.
python=$1 folder=$2
[ -n "$python" ] || exit 1

if ! "$python" -c 'import sys; raise SystemExit(sys.version_info < (3, 9))' 2>/dev/null; then
    echo "error: $python is not a Python of version 3.9 or later (set PYTHON=...)" >&2
    exit 1
fi
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    echo "error: $python has no venv module (Debian: apt-get install python3-venv)" >&2
    exit 1
fi
rm -rf "$folder"
"$python" -m venv "$folder" || exit 1
"$folder/bin/python" -m pip --version >/dev/null || exit 1
