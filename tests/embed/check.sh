#!/bin/sh
# Checks the one C file of the library: check.sh CC CXX FOLDER ("make test-embed"). FOLDER has mxlite.c of the core and, in
# FOLDER/small, of a few operators.
set -e
cc=$1 cxx=$2 folder=$3

say() { echo "test-embed: $1"; }

for compiler in "$cc" clang; do
    command -v ${compiler%% *} > /dev/null || continue
    $compiler -std=c17 -Wall -Wextra -Werror -fsyntax-only "$folder/mxlite.c"
    say "$compiler accepts mxlite.c without a warning"
done
printf '#include "mxlite.h"\nint main(void) { int v; return MXLGetVersion(&v); }\n' > "$folder/header.c"
cp "$folder/header.c" "$folder/header.cpp"
$cc -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only "$folder/header.c"
if command -v $cxx > /dev/null; then $cxx -std=c++11 -Wall -Wextra -Werror -fsyntax-only "$folder/header.cpp"; fi
say "mxlite.h is C99 and C++"

$cc -std=c17 -O0 -DMXL_SELF_TEST "$folder/mxlite.c" -o "$folder/test" -lm -pthread -ldl
say "$("$folder/test")"
$cc -std=c17 -O1 -DMXL_NO_FILES -DMXL_NO_THREADS -DMXL_SELF_TEST "$folder/small/mxlite.c" -o "$folder/small/test" -lm
say "without files and threads: $("$folder/small/test")"
for name in fopen fdopen fread fwrite fclose fflush fseek fseeko open openat rename unlink dlopen pthread_create \
    pthread_mutex_lock; do
    if nm "$folder/small/test" | grep -q " U $name\(@.*\)\?$"; then
        [ $name = fflush ] || { echo "test-embed: $name is still in a program without files and threads" >&2; exit 1; }
    fi
done
say "no function of files or threads is in that program"

# What is missing is named.
if make amalgamation AMALGAMATION="$folder/none" OPS="no_such_operator" > "$folder/none.log" 2>&1; then
    echo "test-embed: an unknown operator was accepted" >&2
    exit 1
fi
grep -q "no operator no_such_operator" "$folder/none.log"
say "an unknown name in OPS is refused"
sh tools/testing/check_unsupported.sh "$cc"
