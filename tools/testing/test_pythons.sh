#!/bin/sh
# test_pythons.sh WHEEL 3.9 3.10 ...: runs tests/python on each of these Pythons, with the wheel
# installed into an environment of its own (.venvs/py3.9, ...), away from the package in the tree, over
# every binding that the wheel has. Fails for a version that is not here. Called by the Makefile.
wheel=$1
shift
root=$(pwd)
for version in "$@"; do
    python=$(sh tools/find_python.sh "$version" 2>/dev/null) || {
        echo "error: there is no Python $version here (set PYTHONS='3.11 ...')" >&2
        exit 1
    }
    venv=$root/.venvs/py$version
    [ -x "$venv/bin/pytest" ] || {
        sh tools/make_venv.sh "$python" "$venv" || exit 1
        "$venv/bin/python" -m pip install -q --disable-pip-version-check "$wheel[demo,dev]" || exit 1
        "$venv/bin/python" -m pip install -q --disable-pip-version-check --only-binary :all: 'mpi4py>=4.1' 'mpich>=5' \
            2> /dev/null || echo "TEST no wheels of an MPI for Python $version: tests of several workers are skipped"
    }
    "$venv/bin/python" -m pip install -q --disable-pip-version-check --force-reinstall --no-deps "$wheel" || exit 1
    case $wheel in *-abi3-*) bindings='cffi ctypes' ;; *) bindings=ctypes ;; esac
    for binding in $bindings; do
        echo "TEST tests/python on Python $version over $binding"
        (cd "$venv" && MXLITE_BINDING=$binding bin/python -m pytest -q -p no:cacheprovider \
            -c "$root/pyproject.toml" --rootdir "$root" $PYTEST_ARGS "$root/tests/python") || exit 1
    done
done
