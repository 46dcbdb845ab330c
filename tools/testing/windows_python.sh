#!/bin/sh
# windows_python.sh PYTHON CC FOLDER BUILD ARGUMENT...: runs Python for Windows, by wine, with mxlite of this tree over
# ctypes and BUILD/mxlite.dll. The script makes a Python for Windows in FOLDER, of parts that PyPI has: CPython's DLL and
# extension modules come from panda3d's wheel, which packs scripts with them; the standard library is that of PYTHON, which
# must be a 3.11; CC compiles python.exe from the six lines below. Called by the Makefile.
python=$1 cc=$2 folder=$3 build=$4
shift 4
set -e

stdlib=$("$python" -c 'import sys, sysconfig as s; print(s.get_path("stdlib") * (sys.version_info[:2] == (3, 11)))')
if [ -z "$stdlib" ]; then
    echo "windows_python: PYTHON=$python is no Python 3.11, whose modules it needs" >&2
    exit 1
fi

if [ ! -e "$folder/whole" ]; then
    echo "VENV $folder: a Python of Windows"
    rm -rf "$folder"
    mkdir -p "$folder/DLLs" "$folder/Lib/site-packages" "$folder/wheels"
    # NumPy 1.24: later ones call functions of complex numbers that wine 8 lacks.
    "$python" -m pip download -q --disable-pip-version-check --only-binary :all: --platform win_amd64 \
        --python-version 3.11 --implementation cp -d "$folder/wheels" --no-deps \
        panda3d==1.10.16 numpy==1.24.4 pytest pluggy iniconfig packaging colorama pygments
    (cd "$stdlib" && tar cf - --exclude=site-packages --exclude=lib-dynload --exclude=test --exclude='config-*' \
        --exclude=__pycache__ .) | (cd "$folder/Lib" && tar xf -)
    for wheel in "$folder"/wheels/*.whl; do
        case $wheel in
        */panda3d-*) unzip -qo -j "$wheel" 'deploy_libs/python311.dll' 'deploy_libs/*.pyd' 'deploy_libs/lib[cfs]*' \
            'deploy_libs/VCRUNTIME*' -d "$folder" ;;
        *) unzip -qo "$wheel" -d "$folder/Lib/site-packages" ;;
        esac
    done
    mv "$folder"/*.pyd "$folder/DLLs"
    cat >"$folder/python.c" <<'END'
#include <windows.h>
int wmain(int argc, wchar_t **argv)
{
    HMODULE python = LoadLibraryW(L"python311.dll");
    FARPROC run = python == NULL ? NULL : GetProcAddress(python, "Py_Main");

    return run == NULL ? 111 : ((int (*)(int, wchar_t **))(void *)run)(argc, argv);
}
END
    $cc -target x86_64-windows-gnu -municode -O2 -s "$folder/python.c" -o "$folder/python.exe"
    touch "$folder/whole"
fi

# wine's paths; the streams are pipes, since Python refuses what wine makes of /dev/null.
there() {
    printf 'Z:%s' "$1" | tr / '\\'
}
echo | {
    code=0
    env WINEDEBUG=-all PYTHONUTF8=1 PYTHONDONTWRITEBYTECODE=1 MXLITE_TEST_BRIEF=1 MXLITE_BINDING=ctypes \
        PYTHONPATH="$(there "$PWD")" MXLITE_LIBRARY="$(there "$build/mxlite.dll")" \
        wine "$folder/python.exe" "$@" 2>&1 || code=$?
    echo $code >"$folder/code"
} | cat
exit "$(cat "$folder/code")"
