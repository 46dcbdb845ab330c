#!/bin/sh
# test_bindings.sh [LANGUAGE ...]: runs the tests and the example of bindings in other languages, all of them unless
# some are named. What Debian has and this machine lacks is installed, as root; otherwise it is named, and that language
# fails. Called by `make test-bindings`, which has built the library in $BUILD.
#
# A language is a function below, run in a shell of its own that ends at the first failure. It finds the library by
# MXLITE_LIBRARY and MXLITE_INCLUDE, or by pkg-config, and builds in $work.
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$root" && cd "${BUILD:-build}" && pwd) || exit 1
languages="cpp rust node java perl lua"

export MXLITE_LIBRARY="$build/libmxlite.so" MXLITE_INCLUDE="$root/include"
export PKG_CONFIG_PATH="$build/share/pkgconfig"
cases=$root/bindings/cases.json
digits=$root/examples/data/digits.u8

# need COMMAND PACKAGE ...: installs the packages unless the command succeeds; fails where it then does not either.
need() {
    command=$1
    shift
    sh -c "$command" >/dev/null 2>&1 && return
    if [ "$(id -u)" -eq 0 ] && command -v apt-get >/dev/null; then
        echo "installing $*"
        { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@"; } \
            >"$work/apt.log" 2>&1 || tail -n 5 "$work/apt.log"
    fi
    sh -c "$command" >/dev/null 2>&1 || {
        echo "could not be had: \`$command\` fails; Debian's packages for it: $*"
        return 1
    }
}

# From an installed wheel, which is what a user has: by pkg-config with g++ and clang++, and by CMake.
cpp() {
    need "g++ --version" g++
    need "clang++ --version" clang
    need "cmake --version" cmake
    need "pkg-config --version" pkg-config
    need "python3 -c 'import venv, ensurepip'" python3-venv
    python3 -m venv "$work/venv"
    mkdir "$work/source"
    cp -R "$root/capi" "$root/include" "$root/mxlite" "$root/tools" "$work/source"
    for file in Makefile setup.py pyproject.toml MANIFEST.in LICENSE NOTICE README.md; do
        cp "$root/$file" "$work/source"
    done
    find "$work/source" \( -name '*.so' -o -name '*.pyi' \) -delete
    env -u MAKEFLAGS "$work/venv/bin/pip" install "$work/source" >"$work/pip.log" 2>&1 || {
        tail -n 40 "$work/pip.log"
        return 1
    }
    unset MXLITE_LIBRARY MXLITE_INCLUDE
    cd "$root/bindings/cpp"
    PKG_CONFIG_PATH=$("$work/venv/bin/python" -m mxlite --pkgconfigdir)
    for compiler in g++ clang++; do
        echo "-- $compiler, pkg-config"
        make -s test CXX=$compiler BUILD="$work/$compiler"
    done
    echo "-- CMake"
    cmake -S . -B "$work/cmake" -Dmxlite_DIR="$("$work/venv/bin/python" -m mxlite --cmakedir)" >"$work/cmake.log"
    cmake --build "$work/cmake" >>"$work/cmake.log" || { tail -n 20 "$work/cmake.log"; return 1; }
    ctest --test-dir "$work/cmake" --output-on-failure | tail -n 4
}

lua() {
    need "luajit -v" luajit
    need "pkg-config --version" pkg-config
    cd "$root/bindings/lua"
    luajit tests.lua "$cases"
    unset MXLITE_LIBRARY MXLITE_INCLUDE
    luajit examples/digits.lua "$digits"
}

rust() {
    need "cargo --version && rustc --version" cargo rustc
    export LD_LIBRARY_PATH="$build" CARGO_TARGET_DIR="$work"
    cd "$root/bindings/rust"
    cargo test --quiet --offline
    cargo run --quiet --offline --release --example digits "$digits"
}

# Copied, as npm installs beside the package.
node() {
    need "node --version" nodejs
    need "npm --version" npm
    cp -R "$root/bindings/node" "$work/node"
    cp "$cases" "$work"
    cd "$work/node"
    npm install --silent --no-audit --no-fund || { echo "could not be had: koffi, from npm"; return 1; }
    npm test --silent >"$work/tests.log" 2>&1 || { grep -A 20 '^not ok' "$work/tests.log"; return 1; }
    grep -E '^# (pass|fail|skipped)' "$work/tests.log"
    command node examples/digits.js "$digits"
}

java() {
    need "javac -version" default-jdk-headless
    need "test -f /usr/share/java/jna.jar" libjna-java
    cd "$root/bindings/java"
    make -s test digits BUILD="$work" LIBRARY="$MXLITE_LIBRARY"
}

perl() {
    need "perl -MFFI::Platypus -e 1" libffi-platypus-perl
    cd "$root/bindings/perl"
    prove -l t
    command perl examples/digits.pl "$digits"
}

passed=0 failed=0 names=""
for language in ${*:-$languages}; do
    case " $languages " in
    *" $language "*) ;;
    *)
        echo "test_bindings: there is no $language; there are: $languages" >&2
        exit 2
        ;;
    esac
    echo "== bindings/$language"
    work=$build/bindings/$language
    rm -rf "$work" && mkdir -p "$work"
    (
        set -e
        $language
    )
    if [ $? -eq 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1)) names="$names $language"
    fi
done
[ -z "$names" ] || echo "failed:$names"
echo "bindings: $passed passed, $failed failed"
[ $failed -eq 0 ]
