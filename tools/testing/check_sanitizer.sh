#!/bin/sh
# check_sanitizer.sh CC FLAGS: says in one line why this machine cannot run a sanitizer, and fails: a
# sanitizer run that was left out must not look like one that passed. Called by the Makefile.
cc=$1 flags=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
echo 'int main(void) { return 0; }' >"$folder/probe.c"

if ! $cc $flags -pthread -o "$folder/probe" "$folder/probe.c" 2>"$folder/log"; then
    echo "error: $cc cannot link with $flags (Debian has the runtime libraries in libgcc-N-dev," \
        "others in libasan, libubsan, libtsan): $(grep -m 1 . "$folder/log")" >&2
    exit 1
fi
if ! "$folder/probe" 2>"$folder/log" && ! setarch "$(uname -m)" -R "$folder/probe" 2>"$folder/log"; then
    echo "error: a program made with $flags does not start here: $(grep -m 1 . "$folder/log")" >&2
    exit 1
fi
