#!/bin/sh
# find_python.sh 3.9 3.10 ...: prints the first interpreter that is one of these versions. Asks `uv`
# for nothing and downloads nothing. Called by the Makefile.
for version in "$@"; do
    for name in "python$version" python3 "$HOME/.pyenv/versions/$version".*/bin/python3 \
        /opt/python/"$version"*/bin/python3 /usr/local/bin/"python$version"; do
        found=$("$name" -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null)
        if [ "$found" = "$version" ]; then
            echo "$name"
            exit 0
        fi
    done
done
echo "error: MXNet 1.9.1's wheel needs a Python of one of these versions, and none is here: $*" >&2
exit 1
