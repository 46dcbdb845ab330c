#!/bin/sh
# Runs the C test programs one after another: run_c_tests.sh LABEL SECONDS FOLDER PROGRAM...
# A program fails by its exit code or by its time; how many tests it holds is read from its last line,
# "NAME: N passed, M failed". The tail of a failed one's output is shown, all of it is kept in
# FOLDER/tests/. Ends with one line, which .ci/run adds up. RUN_WITH in the environment stands before
# every program (an emulator). Called by the Makefile.
label=$1 seconds=$2 folder=$3
shift 3

if [ $# -eq 0 ]; then
    echo "$label: there is no test program to run" >&2
    exit 1
fi

# ThreadSanitizer of older compilers cannot place its shadow under a strongly randomised layout.
run=$RUN_WITH
case $label in
tsan) if setarch "$(uname -m)" -R true 2>/dev/null; then run="setarch $(uname -m) -R $RUN_WITH"; fi ;;
esac
if command -v timeout >/dev/null 2>&1; then run="timeout -k 10 $seconds $run"; fi

passed=0 failed=0
for program in "$@"; do
    name=$(basename "$program")
    log=$folder/tests/$name.$label.log
    start=$(date +%s)
    $run "$program" >"$log" 2>&1
    code=$?
    took=$(($(date +%s) - start))
    last=$(tail -n 1 "$log" | tr -d '\r')
    counts=$(printf '%s\n' "$last" | sed -n 's/^.*: \([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p')
    ok=${counts% *} bad=${counts#* }
    if [ $code -eq 0 ] && [ "${ok:-0}" -gt 0 ] && [ "$bad" -eq 0 ]; then
        printf '  ok    %-28s %4d s  %s passed\n' "$name" "$took" "$ok"
    else
        why="exit code $code"
        [ $code -eq 124 ] && why="not done after $seconds s"
        [ $code -eq 0 ] && why="its last line counts no passed test, or a failed one"
        printf '  FAIL  %-28s %4d s  %s; the end of %s:\n' "$name" "$took" "$why" "$log"
        tail -n 60 "$log" | sed 's/^/        /'
        [ "${bad:-0}" -gt 0 ] || bad=1
    fi
    passed=$((passed + ${ok:-0})) failed=$((failed + bad))
done

echo "$label: $passed passed, $failed failed in $# programs"
[ $failed -eq 0 ]
