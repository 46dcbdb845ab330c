#!/bin/sh
# install_torch.sh FOLDER: PyTorch 2.13.0 and NumPy into a virtual environment. The CPU build where
# pip finds one (PIP_EXTRA_INDEX_URL or PIP_FIND_LINKS may name a place that has it), else the default
# build, which on x86-64 Linux brings gigabytes of CUDA along. Called by `make bench`.
pip="$1/bin/python -m pip install -q --disable-pip-version-check"
$pip numpy || exit 1
$pip 'torch==2.13.0+cpu' 2>/dev/null || $pip 'torch==2.13.0'
