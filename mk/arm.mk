# The library on aarch64, on a machine that has none: compiled by a cross compiler, run by an emulator, both of the
# distribution. Included by the Makefile.
.PHONY: test-arm arm-build test-arm-c test-arm-bits test-arm-python
#: make test-arm  aarch64, emulated: all C tests, the case table in Python, and the bits of x86-64's baseline
test-arm: test-arm-c test-arm-bits test-arm-python

CROSS ?= aarch64-linux-gnu
CROSS_EMULATOR ?= qemu-aarch64
CROSS_RUN ?= $(CROSS_EMULATOR) -L /usr/$(CROSS)
CROSS_BUILD = $(BUILD)/$(CROSS)
CROSS_CC = $(filter ccache,$(CC)) $(CROSS)-gcc
# MXL_SANITIZER: an emulator, too, has memory and time of its own, so tests do fewer rounds, and set no limits on the
# process.
CROSS_ENV := MXLITE_NUM_THREADS=2
ON_ARM = +@$(CROSS_ENV) $(MAKE) BUILD=$(CROSS_BUILD) CC='$(strip $(CROSS_CC))' CXX='$(CROSS)-g++' AR=$(CROSS)-ar \
    LTO= WERROR=1 TEST_CFLAGS=-DMXL_SANITIZER

arm-build:
	$(call NEED,$(CROSS)-gcc,gcc-$(CROSS))
	$(call NEED,$(CROSS_EMULATOR),qemu-user)
	$(ON_ARM) lib

# Left out: a forked child of a process with threads ends the emulator, which says "assertion failed" of itself
# (test_base_fork, public_fork).
ARM_SKIP := test_base_fork public_fork
test-arm-c: arm-build
	$(ON_ARM) test-c-run RUN_WITH='$(CROSS_RUN)' TEST_LABEL=arm TEST_TIMEOUT=1800 TEST_SKIP='$(ARM_SKIP)'

# A Python of aarch64, with NumPy and pytest, in a folder of its own.
ARM_PYTHON := .venvs/arm
$(ARM_PYTHON)/arm.stamp: tools/testing/make_arm_python.sh
	$(call NEED,$(CROSS_EMULATOR),qemu-user)
	@sh tools/testing/make_arm_python.sh '$(abspath $(ARM_PYTHON))' "$(PYTHON)" $(CROSS_EMULATOR)
	@touch $@

ON_ARM_PYTHON = $(CROSS_ENV) OPENBLAS_NUM_THREADS=1 MXLITE_BINDING=ctypes MXLITE_BACKENDS=none \
    PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX='$(abspath $(CROSS_BUILD))/pycache' \
    MXLITE_LIBRARY='$(abspath $(CROSS_BUILD))/libmxlite.so'

# Rows of the case table, in brief as `make test` takes them, in pieces that take minutes each.
ARM_TESTS := $(patsubst %,tests/python/table/test_cases_%.py,forward gradient layouts)
ARM_PIECES ?= 8
ARM_ROWS ?= 12000
test-arm-python: arm-build $(ARM_PYTHON)/arm.stamp
	@echo "TEST the case table on aarch64"
	@MXLITE_TEST_BRIEF=1 PYTHONPATH=tools/testing $(ON_ARM_PYTHON) sh tools/testing/run_pieces.sh arm-python \
	    $(ARM_PIECES) $(JOBS) $(ARM_ROWS) '$(CROSS_BUILD)/tests' $(ARM_PYTHON)/python -m pytest -q \
	    -p no:cacheprovider -p pieces -m 'not whole' $(ARM_TESTS) $(PYTEST_ARGS)

# All rows of the table on both processors, at the level whose bits are the same: operators that differ are in
# tests/arm/differences.txt, with the reason.
BITS := tests/arm/bits.py
BITS_LEVEL := MXLITE_VECTOR_LEVEL=baseline MXLITE_BACKENDS=none
test-arm-bits: arm-build venv $(ARM_PYTHON)/arm.stamp
	@echo "TEST bits of aarch64 and of this processor"
	@mkdir -p '$(CROSS_BUILD)/bits'
	@$(BITS_LEVEL) MXLITE_BINDING=ctypes $(LIBRARY_ENV) $(VPY) -W ignore $(BITS) run '$(CROSS_BUILD)/bits/here'
	@seq 0 3 | $(BITS_LEVEL) $(ON_ARM_PYTHON) xargs -P $(JOBS) -I{} $(ARM_PYTHON)/python -W ignore $(BITS) \
	    run '$(CROSS_BUILD)/bits/arm{}' {}/4
	@$(VPY) $(BITS) compare tests/arm/differences.txt '$(CROSS_BUILD)/bits/here' $(patsubst %,'$(CROSS_BUILD)/bits/arm%',0 1 2 3)
