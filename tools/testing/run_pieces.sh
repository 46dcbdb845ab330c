#!/bin/sh
# Runs a pytest command in pieces (pieces.py), JOBS of them at a time: run_pieces.sh LABEL PIECES JOBS LEAST FOLDER
# COMMAND... Each piece's output is kept in FOLDER; the end of a failed one's is shown. Fails too where fewer than LEAST
# tests passed. Called by mk/arm.mk.
label=$1 pieces=$2 jobs=$3 least=$4 folder=$5
shift 5
mkdir -p "$folder"
rm -f "$folder/$label".*.log
run='number=$1 log=$2/$3.$1.log
export MXLITE_TEST_PIECE=$1/$4
shift 4
"$@" >"$log" 2>&1 || {
    echo "  FAIL  piece $number; the end of $log:"
    grep -E "^(FAILED|ERROR|E  )" "$log" | head -n 40
    tail -n 5 "$log"
    exit 1
}
echo "  ok    piece $number: $(tail -n 1 "$log")"'
seq 0 $((pieces - 1)) | xargs -P "$jobs" -I{} sh -c "$run" sh {} "$folder" "$label" "$pieces" "$@"
code=$?
passed=$(cat "$folder/$label".*.log | grep -oE '[0-9]+ passed' | awk '{ n += $1 } END { print n + 0 }')
echo "$label: $passed passed in $pieces pieces"
[ $code -eq 0 ] && [ "$passed" -ge "$least" ]
