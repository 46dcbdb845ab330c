#!/bin/sh
# make_arm_python.sh FOLDER PYTHON RUN: a Python of aarch64 with NumPy and pytest in FOLDER, which RUN, an emulator,
# runs; nothing is installed outside of it. FOLDER/python starts it. Debian's packages come by apt-get, in folders of their
# own beside it; the wheels by PYTHON's pip. Called by mk/arm.mk.
set -e
folder=$1 python=$2 run=$3
version=3.11
root=$folder/root
apt="apt-get -q -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root \
    -o Debug::NoLocking=1 -o Dir::State::lists=$folder/apt/lists -o Dir::Cache=$folder/apt/cache \
    -o Dir::State::status=$folder/apt/status"

for tool in apt-get dpkg; do
    command -v $tool >/dev/null && continue
    echo "make test-arm: $tool is missing: the Python of aarch64 is Debian's" >&2
    exit 1
done
rm -rf "$folder"
mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial" "$root"
: >"$folder/apt/status"
echo "VENV $folder: Debian's Python of aarch64, and NumPy"
# In the background, since `set -e` has no effect left of `||`.
{
    $apt update
    $apt -y --no-install-recommends --download-only install python$version libgcc-s1 libstdc++6
    for package in "$folder"/apt/cache/archives/*.deb; do dpkg -x "$package" "$root"; done
    "$python" -m pip install -q --disable-pip-version-check --target "$folder/site" --only-binary :all: \
        --python-version $version --platform manylinux2014_aarch64 --platform manylinux_2_28_aarch64 \
        'numpy>=2' 'pytest>=8' 'hypothesis>=6.100'
} >"$folder/log" 2>&1 &
wait $! || { tail -n 20 "$folder/log" >&2; exit 1; }
rm -rf "$folder/apt"
cat >"$folder/python" <<END
#!/bin/sh
PYTHONPATH='$folder/site'\${PYTHONPATH:+:\$PYTHONPATH} exec $run -L '$root' '$root/usr/bin/python$version' "\$@"
END
chmod +x "$folder/python"
"$folder/python" -c 'import platform, numpy; assert platform.machine() == "aarch64", platform.machine()'
