#!/bin/sh
# check_headers.sh CC CXX FILE...: compiles every public header alone, by its name under include/ and by
# that under its own folder (-I include/mxnet), and every file of tests/c/headers, as C99 and (where there
# is a C++ compiler) as C++11; *.hpp as C++17 alone. Called by the Makefile.
cc=$1 cxx=$2
shift 2
# The API passes callbacks of any type as int (*)(void), so a cast between them is no finding.
strict="-Wall -Wextra -Wno-cast-function-type -pedantic -Werror -fsyntax-only"

has_cxx=1
if ! echo 'int main() { return 0; }' | $cxx -x c++ -fsyntax-only - >/dev/null 2>&1; then
    has_cxx=0
    echo "test-headers: there is no C++ compiler ($cxx) here, the headers are checked as C99 alone"
fi

count=0 failed=0
check() {
    count=$((count + 1))
    if ! "$@"; then
        failed=$((failed + 1))
        echo "  FAIL  $file: $*"
    fi
}

# As programs include it from either folder, twice.
alone() {
    for folder in include "$(dirname "$file")"; do
        header=${file#"$folder"/}
        printf '#include <%s>\n#include <%s>\nextern int mxl_not_empty;\n' "$header" "$header" |
            "$@" -I"$folder" - || return 1
    done
}

for file in "$@"; do
    case $file in
    include/*.hpp)
        [ $has_cxx -eq 1 ] && check alone $cxx -x c++ -std=c++17 $strict -Wshadow -Wconversion
        ;;
    include/*)
        check alone $cc -x c -std=c99 $strict
        [ $has_cxx -eq 1 ] && check alone $cxx -x c++ -std=c++11 $strict
        ;;
    *.c) check $cc -std=c99 $strict -Iinclude "$file" ;;
    *.cpp | *.cc) [ $has_cxx -eq 1 ] && check $cxx -std=c++11 $strict -Iinclude "$file" ;;
    esac
done

if [ $count -eq 0 ]; then
    echo "test-headers: there is no public header to check" >&2
    exit 1
fi
echo "test-headers: $((count - failed)) passed, $failed failed"
[ $failed -eq 0 ]
