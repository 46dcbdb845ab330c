# The library on other systems: built by compilers that this machine has from PyPI and the distribution, and run where it
# can be run. Each system is built in a folder of its own. Included by the Makefile.
.PHONY: test-platforms test-musl test-windows
#: make test-platforms  the C tests with musl, and on Windows by wine; zig from PyPI compiles them
test-platforms: test-musl test-windows

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

# Link-time optimisation is for what is measured; these builds are for what is tested.
ON = +@$(MAKE) BUILD=$(BUILD)/$(1) LTO= CC='$(2)' AR='$(3)' TEST_LABEL=$(1)

# A static program of musl opens no libraries (lapack), and has one strtod (locale). musl's acosh and gamma, which
# the tests of mathematical functions compare with, are wrong for negative numbers. An open fault: a child that is
# forked while other threads allocate hangs now and then (fork).
test-musl: $(ZIG)/zig.stamp
	$(call ON,musl,$(ZIG_CC) -target x86_64-linux-musl,$(ZIG_AR)) test-c-run \
	    TEST_SKIP='test_op_locale test_kernel_lapack test_kernel_math test_kernel_math_f64 test_base_fork'

# wine runs the programs. Left out: what forks or looks at the process by Linux's means (/proc, mmap, sockets, libm.so.6);
# shared memory, which mxlite has not there; folders opened as files, of which Windows says "Permission denied"; and
# functions in float64, whose references here are those of the compiler's C library, with errors of their own.
WINDOWS_SKIP := test_api_exchange test_api_profile test_api_replace test_api_save test_base_fork test_base_heap \
    test_base_mem public_fork thread_base test_api_memory test_kernel_lapack test_api_iterators test_api_records \
    test_kernel_math_f64
test-windows: $(ZIG)/zig.stamp
	$(call NEED,wine,wine)
	$(call ON,windows,$(ZIG_CC) -target x86_64-windows-gnu,$(ZIG_AR)) test-c-run \
	    RUN_WITH='env WINEDEBUG=-all wine' TEST_SKIP='$(WINDOWS_SKIP)'

NEED = @command -v $(1) >/dev/null || { echo "make $@: $(1) is missing: apt install $(2)" >&2; exit 1; }
