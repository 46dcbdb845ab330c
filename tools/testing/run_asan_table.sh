#!/bin/sh
# run_asan_table.sh CC PYTHON FOLDER TEST...: runs Python tests over the library in FOLDER, which was built with
# AddressSanitizer and UndefinedBehaviorSanitizer. Python is not, so the sanitizer's own library is loaded before it,
# and leaks, which Python has itself, are left to the C tests. The first error ends the process: the log then holds the
# test's name and the report, which is shown. Called by the Makefile.
cc=$1 python=$2 folder=$3
shift 3
log=$folder/table.log

runtime=$($cc -print-file-name=libasan.so)
[ -e "$runtime" ] || runtime=$($cc -print-file-name=libclang_rt.asan-$(uname -m).so)
[ -e "$runtime" ] || {
    echo "error: $cc has no shared library of AddressSanitizer here" >&2
    exit 1
}

echo "TEST the case table under AddressSanitizer and UndefinedBehaviorSanitizer"
if ! LD_PRELOAD=$runtime ASAN_OPTIONS=detect_leaks=0:detect_stack_use_after_return=1 \
    UBSAN_OPTIONS=print_stacktrace=1 MXLITE_BINDING=ctypes MXLITE_LIBRARY=$folder/libmxlite.so \
    "$python" -m pytest -v -x --capture=sys -p no:cacheprovider "$@" >"$log" 2>&1; then
    report=$(grep -n -m 1 -E 'runtime error:|ERROR: AddressSanitizer' "$log" | cut -d: -f1)
    if [ -n "$report" ]; then
        sed -n "$((report > 2 ? report - 2 : 1)),$((report + 40))p" "$log"
    else
        tail -n 60 "$log"
    fi
    echo "error: the case table fails under the sanitizers; the whole output is in $log" >&2
    exit 1
fi
tail -n 1 "$log"
