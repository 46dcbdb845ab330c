# The library on other systems: built by compilers that this machine has from PyPI and the distribution, and run where it
# can be run. Each system is built in a folder of its own. Included by the Makefile.
.PHONY: test-platforms test-musl test-musl-python test-windows test-windows-python test-windows-bits test-macos \
    test-unsupported foreign
#: make test-platforms  the C tests with musl, on Windows by wine, and as WebAssembly; builds for macOS; zig from PyPI compiles them
#: make test-musl-python  some of the Python tests with musl, on a CPython that it builds from Debian's source
#: make test-windows-python  some of the Python tests on Windows by wine; Python and NumPy come from PyPI
#: make test-windows-bits  the case table gives the same bits on Windows and here, but for listed operators
test-platforms: test-unsupported test-musl test-windows test-macos

# zig cc: a C compiler for many systems, from PyPI.
ZIG := .venvs/zig
ZIG_CC = $(CURDIR)/$(ZIG)/zig-cc
ZIG_AR = $(CURDIR)/$(ZIG)/zig-ar
# (.venvs may be a link, and may move: the commands find their interpreter beside themselves.)
$(ZIG)/zig.stamp:
	@sh tools/make_venv.sh "$(PYTHON)" $(ZIG)
	@$(ZIG)/bin/python -m pip install -q --disable-pip-version-check 'ziglang>=0.13'
	@for tool in cc ar; do \
	    printf '#!/bin/sh\nexec "$$(dirname "$$(readlink -f "$$0")")/bin/python" -m ziglang %s "$$@"\n' $$tool \
	        > $(ZIG)/zig-$$tool; chmod +x $(ZIG)/zig-$$tool; done
	@touch $@

# Link-time optimisation is for what is measured; these builds are for what is tested. $(1): the folder, $(2): zig's
# name of the system, $(3): targets and settings.
ON = +@$(MAKE) BUILD=$(BUILD)/$(1) LTO= CC='$(ZIG_CC) -target $(2)' AR='$(ZIG_AR)' TEST_LABEL=$(1) $(3)
NEED = @command -v $(1) >/dev/null || { echo "make $@: $(1) is missing: apt install $(2)" >&2; exit 1; }
CHECK_EXPORTS = @$(PYTHON) tools/check_exports.py

# What is built for a system stops elsewhere, by one error that says what is needed.
test-unsupported:
	@sh tools/testing/check_unsupported.sh "$(CC)"

# A program that knows nothing of the library opens it while it runs. Called by the targets below, in their builds.
foreign: $(BUILD)/tests/foreign$(EXE) lib
	@$(RUN_WITH) $(BUILD)/tests/foreign$(EXE) $(LIBRARY)
	@$(RUN_WITH) $(BUILD)/tests/foreign$(EXE) $(LIBRARY) large
	@$(RUN_WITH) $(BUILD)/tests/foreign$(EXE) $(MXNET_LIBRARY)
$(BUILD)/tests/foreign$(EXE): tests/platforms/foreign.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) -std=c17 -D_GNU_SOURCE -O1 -o $@ $< $(LDFLAGS_EXTRA) $(if $(WINDOWS),,-ldl -lpthread)

# Programs are linked dynamically, as those of Alpine; the package musl has the loader. (In static ones zig 0.17 takes
# the place of musl's malloc by one that knows nothing of forks: a child of a process whose threads allocate may wait
# for ever.) musl's acosh and gamma, which the tests of mathematical functions compare with, are wrong for negative
# numbers, and its powl is off for some.
MUSL_SKIP := test_kernel_math test_kernel_math_f64 test_kernel_math_pow
test-musl: $(ZIG)/zig.stamp
	@[ -e /lib/ld-musl-x86_64.so.1 ] || { echo "make $@: /lib/ld-musl-x86_64.so.1 is missing: apt install musl" >&2; exit 1; }
	$(call ON,musl,x86_64-linux-musl,lib test-c-run foreign LDFLAGS_EXTRA=-dynamic TEST_SKIP='$(MUSL_SKIP)')
	$(CHECK_EXPORTS) $(BUILD)/musl/libmxlite.so $(BUILD)/musl/libmxnet.so

# Python's tests that run on other systems over ctypes: test-musl-python and test-windows-python.
PLATFORM_TESTS ?= tests/python/autograd tests/python/table
ON_PLATFORM = -m pytest -q -p no:cacheprovider -m 'not whole' $(PYTEST_ARGS) $(PLATFORM_TESTS)

MUSL_PYTHON := .venvs/musl
$(MUSL_PYTHON)/musl.stamp: tools/testing/make_musl_python.sh | $(ZIG)/zig.stamp
	@sh tools/testing/make_musl_python.sh '$(abspath $(MUSL_PYTHON))' "$(PYTHON)" \
	    '$(ZIG_CC) -target x86_64-linux-musl' '$(ZIG_AR)'
	@touch $@
# musl's acosh, which one test compares with, is wrong for negative numbers.
MUSL_LEFT_OUT := tests/python/table/test_accuracy.py::test_float32[arccosh]
test-musl-python: test-musl $(MUSL_PYTHON)/musl.stamp
	@PYTHONPATH='$(CURDIR)' MXLITE_TEST_BRIEF=1 MXLITE_BINDING=ctypes MXLITE_BACKENDS=none OPENBLAS_NUM_THREADS=1 \
	    PYTHONDONTWRITEBYTECODE=1 MXLITE_LIBRARY='$(abspath $(BUILD))/musl/libmxlite.so' $(MUSL_PYTHON)/python $(ON_PLATFORM) \
	    --deselect '$(MUSL_LEFT_OUT)'

# wine runs the programs. Left out: forks; files of POSIX (links, permissions, sockets, signals); and functions in
# float64, whose references here are those of mingw's C library, which are wrong for large numbers.
WINDOWS_SKIP := test_base_fork public_fork test_api_save test_kernel_math_f64
WINDOWS_PATH = Z:$(subst /,\\,$(abspath $(BUILD))/windows)
test-windows: $(ZIG)/zig.stamp
	$(call NEED,wine,wine)
	$(call NEED,llvm-readobj,llvm)
	$(call ON,windows,x86_64-windows-gnu,lib test-c-run foreign TEST_SKIP='$(WINDOWS_SKIP)' \
	    RUN_WITH='env WINEDEBUG=-all WINEPATH=$(WINDOWS_PATH) wine')
	$(CHECK_EXPORTS) $(BUILD)/windows/mxlite.dll $(BUILD)/windows/libmxnet.dll

WINDOWS_PYTHON = sh tools/testing/windows_python.sh '$(PYTHON)' '$(ZIG_CC)' .venvs/windows '$(abspath $(BUILD))/windows'

test-windows-python: test-windows
	@$(WINDOWS_PYTHON) $(ON_PLATFORM)

# All rows of the case table there and here, at the level whose bits are the same (mk/arm.mk).
test-windows-bits: test-windows venv
	@mkdir -p $(BUILD)/windows/bits
	@$(BITS_LEVEL) MXLITE_BINDING=ctypes $(LIBRARY_ENV) $(VPY) -W ignore $(BITS) run $(BUILD)/windows/bits/here
	@$(BITS_LEVEL) $(WINDOWS_PYTHON) -W ignore $(BITS) run $(BUILD)/windows/bits/there
	@$(VPY) $(BITS) compare tests/platforms/windows_differences.txt $(BUILD)/windows/bits/here $(BUILD)/windows/bits/there

# Nothing here can run these: they are compiled and linked, the tests too, and what they say of themselves is checked.
MACOS_OLDEST := 11.0
test-macos: test-macos-aarch64 test-macos-x86_64
test-macos-%: $(ZIG)/zig.stamp
	$(call NEED,llvm-objdump,llvm)
	$(call ON,macos-$*,$*-macos.$(MACOS_OLDEST),lib native test-programs)
	$(CHECK_EXPORTS) $(BUILD)/macos-$*/native/libmxlite.dylib
	@$(PYTHON) tools/testing/check_macos.py $(MACOS_OLDEST) $(BUILD)/macos-$*/native/libmxlite.dylib
