#!/bin/sh
# run.sh CC BUILD: compiles the programs of this folder as a user does, with -lmxnet of BUILD, and runs each twice: beside
# BUILD's libraries, and where a copy of libmxnet.so is the only one. `make test-clients-c` calls it.
cc=$1 build=$2
here=$(dirname "$0")
work=$build/clients
alone=$work/alone
failed=0 count=0

rm -rf "$work"
mkdir -p "$alone"
cp -L "$build/libmxnet.so" "$alone/"
for file in "$here"/*.c; do
    name=$(basename "$file" .c)
    folder=include
    [ "$name" = short_names ] && folder=include/mxnet
    both=
    [ "$name" = both_names ] && both=$build/libmxlite.so
    if ! $cc -std=c11 -Wall -Wextra -Werror -I$folder -o "$work/$name" "$file" -L"$build" -lmxnet -ldl; then
        echo "  FAIL  $name does not compile"
        failed=$((failed + 1))
        continue
    fi
    count=$((count + 1))
    if ! LD_LIBRARY_PATH=$build "$work/$name" $both; then
        echo "  FAIL  $name"
        failed=$((failed + 1))
    elif ! LD_LIBRARY_PATH=$alone "$work/$name"; then
        echo "  FAIL  $name, where libmxnet.so is alone"
        failed=$((failed + 1))
    fi
done
echo "test-clients-c: $((count - failed)) of $count programs passed"
[ $count -gt 0 ] && [ $failed -eq 0 ]
