#!/bin/sh
# make_musl_python.sh FOLDER PYTHON CC AR: a Python 3.11 that is linked with musl, with NumPy and pytest, in FOLDER;
# FOLDER/python starts it. Debian has no such Python, so the script builds one: apt-get fetches the sources of CPython,
# libffi and zlib that Debian 12 has, CC and AR (zig's, for musl) compile them, PYTHON's pip fetches wheels for musl. It
# installs nothing outside of FOLDER. Called by mk/platforms.mk.
set -e
folder=$1 python=$2 CC="$3 -dynamic" AR=$4
version=3.11
suite=bookworm
keys=/usr/share/keyrings/debian-archive-keyring.gpg
made=$folder/made
apt="apt-get -q -o APT::Sandbox::User=root -o Debug::NoLocking=1 -o Dir::Etc::sourcelist=$folder/apt/sources.list \
    -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists=$folder/apt/lists -o Dir::Cache=$folder/apt/cache"

if ! command -v apt-get >/dev/null || [ ! -e $keys ]; then
    echo "make test-musl-python: apt-get or $keys is missing: CPython's source is Debian's" >&2
    exit 1
fi
rm -rf "$folder"
mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" "$folder/sources"
echo "deb-src [signed-by=$keys] http://deb.debian.org/debian $suite main" >"$folder/apt/sources.list"
echo "VENV $folder: a Python of musl, built from CPython's source in five minutes, and NumPy"

sources() {
    $apt update
    cd "$folder/sources"
    $apt source --download-only python$version libffi zlib
    for archive in *.orig.tar.*; do
        tar -xf "$archive"
    done
}

# zig's headers are of a later musl than Debian's loader, which lacks two of their functions.
build() {
    export CC AR RANLIB=true CFLAGS='-O1 -fPIC -Wno-date-time' ac_cv_func_preadv2=no ac_cv_func_pwritev2=no
    cd "$folder"/sources/libffi-*/
    ./configure --build=x86_64-linux-musl --prefix="$made" --disable-shared --disable-docs --disable-exec-static-tramp
    make -j2 install
    cd "$folder"/sources/zlib-*/
    ./configure --static --prefix="$made"
    make libz.a
    cp zlib.h zconf.h "$made/include"
    cp libz.a "$made/lib"
    cd "$folder"/sources/Python-*/
    ./configure --build=x86_64-linux-musl --prefix="$folder/root" --without-ensurepip --disable-test-modules \
        CPPFLAGS="-I$made/include" LDFLAGS="-L$made/lib"
    make -j2
    make install
}

# NumPy 2.0: the libraries in later wheels need a loader of musl 1.2.4.
wheels() {
    "$python" -m pip install -q --disable-pip-version-check --target "$folder/site" --only-binary :all: \
        --python-version $version --platform musllinux_1_1_x86_64 'numpy>=2,<2.1' 'pytest>=8' 'hypothesis>=6.100'
}

# In the background, since `set -e` has no effect left of `||`.
(sources; build; wheels) >"$folder/log" 2>&1 &
wait $! || { tail -n 20 "$folder/log" >&2; exit 1; }
rm -rf "$folder/apt" "$folder/sources" "$made"
cat >"$folder/python" <<END
#!/bin/sh
PYTHONPATH='$folder/site'\${PYTHONPATH:+:\$PYTHONPATH} exec '$folder/root/bin/python$version' "\$@"
END
chmod +x "$folder/python"
"$folder/python" -c 'import sysconfig, ctypes, numpy; assert "musl" in sysconfig.get_config_var("EXT_SUFFIX")'
