#!/bin/sh
# bindings.sh test [LANGUAGE ...]   tests and example of these bindings in other languages, or of all (`make test-bindings`)
# bindings.sh cost LANGUAGE         becomes the language's examples/cost, which benchmarks/bindings.py asks
#
# The library is built, in $BUILD. What Debian has and this machine lacks is installed, as root; otherwise it is named,
# and that language fails. So does one without a line `LANGUAGE: N passed, 0 failed`, N being 30 or more, or whose
# example learns less than 0.97 of the digits.
#
# A language is three functions below: LANGUAGE gets what it needs, LANGUAGE_test and LANGUAGE_cost follow. They run in
# a shell of their own that ends at the first failure, find the library by MXLITE_LIBRARY and MXLITE_INCLUDE, or by
# pkg-config, and build in $work.
root=$(cd "$(dirname "$0")/.." && pwd)
build=$(cd "$root" && cd "${BUILD:-build}" && pwd) || exit 1
languages="cpp rust node java perl lua predict"

unset MAKEFLAGS MFLAGS MAKELEVEL # cargo, pip and make below are not jobs of the make that called this
export MXLITE_LIBRARY="$build/libmxlite.so" MXLITE_INCLUDE="$root/include"
export PKG_CONFIG_PATH="$build/share/pkgconfig"
cases=$root/bindings/cases.json
digits=$root/examples/data/digits.u8

# lacking COMMAND PACKAGES ...: the packages of those commands that fail.
lacking() {
    while [ $# -gt 0 ]; do
        sh -c "$1" >/dev/null 2>&1 || printf ' %s' "$2"
        shift 2
    done
}

# need COMMAND PACKAGES ...: installs what is lacking, as root; fails, and says what, where it then still is.
need() {
    missing=$(lacking "$@")
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" -ne 0 ] || ! command -v apt-get >/dev/null; then
        echo "$language: not all is here that it needs; as root: apt-get install$missing"
        return 1
    fi
    echo "$language: installing$missing"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing; } \
        >"$work/apt.log" 2>&1 || tail -n 5 "$work/apt.log"
    missing=$(lacking "$@")
    [ -z "$missing" ] || {
        echo "$language: apt-get could not give what is in Debian's$missing"
        return 1
    }
}

# counted AWK COMMAND ...: runs the tests of a tool that counts in its own way; AWK finds `passed` and `failed` in what
# it prints, which is shown where it fails.
counted() {
    program=$1 status=0
    shift
    "$@" >"$work/tests.log" 2>&1 || {
        status=1
        tail -n 60 "$work/tests.log"
    }
    awk "$program"' END { printf "%s: %d passed, %d failed\n", language, passed, failed }' language="$language" \
        "$work/tests.log"
    return $status
}

cpp() {
    need "g++ --version" g++ "clang++ --version" clang "cmake --version" cmake "pkg-config --version" pkg-config \
        "python3 -c 'import venv, ensurepip'" python3-venv
    cd "$root/bindings/cpp"
}
# From an installed wheel, which is what a user has: by pkg-config with g++ and clang++, and by CMake.
cpp_test() {
    python3 -m venv "$work/venv"
    mkdir "$work/source"
    cp -R "$root/capi" "$root/docs" "$root/include" "$root/mk" "$root/mxlite" "$root/tools" "$work/source"
    for file in Makefile setup.py pyproject.toml MANIFEST.in LICENSE NOTICE README.md; do
        cp "$root/$file" "$work/source"
    done
    find "$work/source" \( -name '*.so' -o -name '*.pyi' \) -delete
    "$work/venv/bin/pip" install "$work/source" >"$work/pip.log" 2>&1 || {
        tail -n 40 "$work/pip.log"
        return 1
    }
    unset MXLITE_LIBRARY MXLITE_INCLUDE
    PKG_CONFIG_PATH=$("$work/venv/bin/python" -m mxlite --pkgconfigdir)
    for compiler in g++ clang++; do
        echo "-- $compiler, pkg-config"
        make -s test CXX=$compiler BUILD="$work/$compiler"
    done
    echo "-- CMake"
    cmake -S . -B "$work/cmake" -Dmxlite_DIR="$("$work/venv/bin/python" -m mxlite --cmakedir)" >"$work/cmake.log"
    cmake --build "$work/cmake" >>"$work/cmake.log" || { tail -n 20 "$work/cmake.log"; return 1; }
    ctest --test-dir "$work/cmake" --output-on-failure | tail -n 4
    page_of_c
}
# The program of docs/from-c.md, by pkg-config and by CMake's find_package, prints what the page says.
page_of_c() {
    mkdir "$work/page"
    cd "$work/page"
    awk '/^```c$/ { on = 1; next } /^```/ { on = 0 } on' "$root/docs/from-c.md" >gradient.c
    awk '/^```text$/ { on = 1; next } /^```/ { on = 0 } on' "$root/docs/from-c.md" >wanted.txt
    cc -std=c99 -o by-pkg-config gradient.c $(pkg-config --cflags --libs mxlite)
    {
        echo 'cmake_minimum_required(VERSION 3.13)'
        echo 'project(gradient C)'
        echo 'find_package(mxlite CONFIG REQUIRED)'
        echo 'add_executable(by-cmake gradient.c)'
        echo 'target_link_libraries(by-cmake PRIVATE mxlite::mxlite)'
    } >CMakeLists.txt
    cmake -S . -B build -Dmxlite_DIR="$("$work/venv/bin/python" -m mxlite --cmakedir)" >cmake.log
    cmake --build build >>cmake.log || { tail -n 20 cmake.log; return 1; }
    for program in ./by-pkg-config build/by-cmake; do
        echo "-- the program of docs/from-c.md, $program"
        "$program" | diff wanted.txt -
    done
}
cpp_cost() {
    make -s "$work/cost" BUILD="$work" >&2
    exec "$work/cost"
}

rust() {
    need "cargo --version && rustc --version" "cargo rustc" "cc --version" gcc "python3 --version" python3
    export LD_LIBRARY_PATH="$build" CARGO_TARGET_DIR="$work"
    cd "$root/bindings/rust"
}
rust_test() {
    counted '/^test result/ { passed += $4; failed += $6 }' cargo test --offline --no-fail-fast
    cargo run --quiet --offline --release --example digits "$digits"
}
rust_cost() {
    cargo build --quiet --offline --release --example cost >&2
    exec "$work/release/examples/cost"
}

# Copied, as npm installs beside the package.
node() {
    need "node --version" nodejs "npm --version" npm
    cp -R "$root/bindings/node" "$work"
    cd "$work/node"
    npm install --silent --no-audit --no-fund >&2 || {
        echo "node: could not be had: koffi, from npm"
        return 1
    }
}
node_test() {
    cp "$cases" "$work"
    counted '/^# pass/ { passed += $3 } /^# (fail|cancelled|skipped|todo)/ { failed += $3 }' \
        npm test --silent -- --test-reporter=tap
    command node examples/digits.js "$digits"
}
node_cost() {
    exec node examples/cost.js
}

java() {
    need "javac -version" default-jdk-headless "test -f /usr/share/java/jna.jar" libjna-java
    cd "$root/bindings/java"
}
java_test() {
    make -s test digits BUILD="$work" LIBRARY="$MXLITE_LIBRARY"
    make -s predict BUILD="$work" LIBRARY="$MXLITE_LIBRARY" >"$work/predicted"
    predicted="$root/bindings/predict/predicted.txt"
    diff "$predicted" "$work/predicted" && tail -n 1 "$work/predicted"
}
java_cost() {
    exec make -s cost BUILD="$work" LIBRARY="$MXLITE_LIBRARY"
}

perl() {
    need "perl -MFFI::Platypus -e 1" libffi-platypus-perl "perl -MTest::More -MJSON::PP -MTime::HiRes -e 1" perl
    cd "$root/bindings/perl"
}
perl_test() {
    counted '/^ok / { passed++ } /^not ok / { failed++ }' prove -lv t
    command perl examples/digits.pl "$digits"
}
perl_cost() {
    exec perl examples/cost.pl
}

lua() {
    need "luajit -v" luajit "pkg-config --version" pkg-config "cc --version" gcc
    cd "$root/bindings/lua"
}
lua_test() {
    luajit tests.lua "$cases"
    unset MXLITE_LIBRARY MXLITE_INCLUDE
    luajit examples/digits.lua "$digits"
}
lua_cost() {
    exec luajit examples/cost.lua
}

# Programs of the Predict API, in C and Go: what each sees in ten images is a test.
predict() {
    need "cc --version" gcc "pkg-config --version" pkg-config "go version" golang-go
    cd "$root/bindings/predict"
}
predict_test() {
    make -s predicted BUILD="$work" LIBRARY="$build"
    for program in c go; do
        echo "-- $program"
        tail -n 1 "$work/$program.txt"
        paste -d '|' predicted.txt "$work/$program.txt"
    done >"$work/both.txt"
    awk -F '|' '/^--|^held-out/ && NF < 2 { print; next } { if ($1 == $2) passed++; else failed++ }
        END { printf "predict: %d passed, %d failed\n", passed, failed }' "$work/both.txt"
}

# Whether a language's output has all that it must: counts, and an example that learns.
complete() {
    awk -v language="$language" '
        $1 == language ":" && $3 == "passed," { counts++; bad += $2 < 30 || $4 > 0 }
        /^held-out accuracy/ { examples++; bad += $3 < 0.97 }
        END { exit bad || !counts || !examples }' "$1" || {
        echo "$language: there is no line of 30 tests that all pass, or of an accuracy of 0.97, or a worse one"
        return 1
    }
}

known() {
    case " $languages " in
    *" $1 "*) ;;
    *)
        echo "bindings.sh: there is no $1; there are: $languages" >&2
        exit 2
        ;;
    esac
}

task=$1
case $task in
test)
    shift
    for language in "$@"; do known "$language"; done
    passed=0 failed=0 names=""
    for language in ${*:-$languages}; do
        echo "== bindings/$language"
        work=$build/bindings/$language
        rm -rf "$work" && mkdir -p "$work"
        (
            set -e
            $language
            "${language}_test"
            : >"$work/ended"
        ) 2>&1 | tee "$work/all.log"
        if [ -f "$work/ended" ] && complete "$work/all.log"; then
            passed=$((passed + 1))
        else
            failed=$((failed + 1)) names="$names $language"
        fi
    done
    [ -z "$names" ] || echo "failed:$names"
    echo "bindings: $passed passed, $failed failed"
    [ $failed -eq 0 ]
    ;;
cost)
    known "$2"
    language=$2
    work=$build/bindings/cost/$language
    mkdir -p "$work"
    set -e
    $language >&2
    "${language}_cost"
    ;;
*)
    echo "usage: bindings.sh test [LANGUAGE ...] | cost LANGUAGE" >&2
    exit 2
    ;;
esac
