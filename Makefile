# mxlite: `make help` lists what there is. `make lib` needs a C17 compiler and make, nothing else.
#
# Settings: CC, BUILD (where things are built), CFLAGS_EXTRA, LDFLAGS_EXTRA, WERROR=1 (warnings are
# errors; so they are in CI), PYTHON (the interpreter of .venv), JOBS, V=1 (show the commands).

BUILD ?= build
PYTHON ?= python3
JOBS ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
V ?= 0
WERROR ?= $(if $(filter true,$(CI)),1,0)
export BUILD WERROR

ifeq ($(MAKELEVEL)$(filter -j%,$(MAKEFLAGS)),0)
MAKEFLAGS += -j$(JOBS)
endif
MAKEFLAGS += --no-print-directory
Q := $(if $(filter 1,$(V)),,@)
comma := ,

# ---- the library ---------------------------------------------------------------------------------
# The layers in their order; tools/check_includes.py holds the same list.
LAYERS := base backend kernel array op engine ops symbol kvstore data api
SOURCES := $(foreach layer,$(LAYERS),$(sort $(wildcard capi/$(layer)/*.c capi/$(layer)/*/*.c)))
include mk/parts.mk
HEADERS := $(sort $(wildcard include/*/*.h include/*/*.hpp))
OBJECTS := $(SOURCES:%.c=$(BUILD)/obj/%.o) $(ABSENT_OBJECT)

WARNINGS := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes \
    -Wmissing-prototypes -Wvla $(if $(filter 1,$(WERROR)),-Werror)
# Loops over data want -O3; for everything else it costs time per call: it vectorises loops over axes.
# A short loop that crosses a line of the instruction cache takes up to twice its time: they begin
# where one of 32 bytes cannot.
OPTIMIZE := -O2
# Functions begin with a line of the instruction cache. Without that the linker's placement of them costs a call of
# 70 ns up to 25 %, from one commit to the next, with the same instructions (benchmarks/c/c_before.c).
OPTIMIZE_CALLS := -falign-functions=64
# Loops are as small as they are fast: no copy of a loop for each value of a condition in it (kernels have the copies
# that they need), and no tables for unwinding the stack out of them, since they call nothing of a user's.
SMALL_LOOPS := $(shell echo 'int mxl;' | $(CC) -Werror -fno-unswitch-loops -x c -c -o /dev/null - 2>/dev/null \
    && echo -fno-unswitch-loops) -fno-asynchronous-unwind-tables
ALIGN_LOOPS := -falign-loops=32 -falign-functions=32
OPTIMIZE_LOOPS := -O3 $(ALIGN_LOOPS) $(SMALL_LOOPS)
# Loops that -O3 makes larger and not faster: many simple ones, or decoders, whose steps wait for each other.
VECTORISE := -O2 -ftree-vectorize $(shell echo 'int mxl;' | $(CC) -Werror -fvect-cost-model=dynamic -x c -c \
    -o /dev/null - 2>/dev/null && echo -fvect-cost-model=dynamic) $(ALIGN_LOOPS) $(SMALL_LOOPS)
PLAIN_LOOPS := kernel/codec/%.o kernel/copy/cast.o kernel/index/scatter.o kernel/linalg/lapack.o kernel/math/bessel.o \
    kernel/math/incomplete.o kernel/random/%.o kernel/spatial/psroi.o kernel/spatial/roi_align.o \
    $(patsubst %,ops/elementwise/%.o,bits compare division functions maximum round) \
    $(patsubst %,ops/%/%.o,batch conv create index linalg loss nn numpy optimizer quantized random reduce shape \
    sparse vision)
# A call goes through a dozen small files: the linker inlines between them, where the compiler can (LTO= leaves it
# out). The objects hold machine code too, for tests, which are linked with the archive and without that (-fno-lto).
LTO := $(shell echo 'int mxl;' | $(CC) -flto=auto -ffat-lto-objects -x c -c -o /dev/null - 2>/dev/null \
    && echo -flto=auto -ffat-lto-objects)
NO_LTO := $(if $(LTO),-fno-lto)
# What no call of an operator runs is small rather than fast: files, profiles, texts of errors. APART is what makes and
# changes symbols before they run, casts dtypes without loops, and answers questions; the linker leaves it out, as what
# it inlines elsewhere would depend on that.
SMALL := -Os
RARE := api/profile/%.o api/api_info.o api/api_process.o api/api_shared.o array/file.o array/file_read.o \
    array/shared.o backend/%.o base/content.o base/profile/sums.o base/profile/trace.o \
    base/system/posix_replace.o base/text/%.o engine/run/amp.o engine/run/carry.o op/text.o op/signature.o
APART := api/api_backend.o api/custom/describe.o api/custom/register.o api/library/%.o api/legacy/%.o api/packed/%.o \
    api/autograd/api_graph.o kernel/copy/cast_carried.o op/shapes/parse.o symbol/passes/%.o symbol/control/check.o \
    symbol/control/infer.o ops/refused.o $(patsubst %,api/symbol/%.o,executor_bind executor_make executor_simple infer \
    list lists make nnvm quantize reduce text) $(patsubst %,symbol/%.o,attrs compose grad_watch indexed infer json \
    json_read json_write names node rewrite stypes symbol walk)
# The objects of such a list; LOOPS and CALLS are the others.
OF = $(filter $(1:%=$(BUILD)/obj/capi/%),$(OBJECTS))
LOOPS = $(filter-out $(call OF,$(PLAIN_LOOPS) $(APART)),$(call OF,kernel/%.o ops/%.o))
CALLS = $(filter-out $(call OF,kernel/%.o ops/%.o $(RARE) $(APART)),$(OBJECTS))
SANITIZE :=
include mk/system.mk
# -ffp-contract=off: a product and a sum are rounded by themselves unless the source says mxl_fma. (gcc does so for
# -std=c17 by itself; clang would fuse them on aarch64, where the baseline has the bits of x86-64's.)
CODEGEN := -fPIC -fvisibility=hidden -fwrapv -fno-math-errno -fno-trapping-math -ffp-contract=off $(TLS_MODEL) -pthread \
    $(if $(WINDOWS),-DMXL_EXPORTS)
MXL_CFLAGS = -std=c17 $(WARNINGS) $(OPTIMIZE) $(CODEGEN) $(SANITIZE) -Icapi -Iinclude \
    $(PARTS_FLAGS) $(CFLAGS_EXTRA)
MXL_LDFLAGS = $(SANITIZE) -pthread $(LDFLAGS_EXTRA)

.PHONY: help lib native debug venv demo examples test test-build test-runs test-all test-all-build test-all-runs test-c test-c-run test-programs test-headers test-py test-op \
    py-table py-rest py-again test-levels level-baseline level-avx2 level-none asan asan-build asan-c asan-table tsan \
    tsan-build fuzz fuzz-programs fuzz-run checks wheel check-wheel test-pythons fmt lint docs clean FORCE
.DEFAULT_GOAL := help

help:
	@sed -n 's/^#: //p' $(filter Makefile mk/%,$(MAKEFILE_LIST))

#: make lib      build/libmxlite.so, and libmxnet.so for programs that link that name; needs the C compiler alone
#: make debug    the same without optimisation, with debug information, in build/debug
#: make venv     .venv/ with mxlite installed from this tree, and the tools for its tests
#: make demo     train a network on real handwritten digits, from Python and from C, and print a graph
#: make examples the larger programs of examples/: convolutions, an LSTM, a gradient penalty, mx.np, Gluon; a minute
#: make test     in 10 minutes of processor time: the C tests, checks, and the Python tests that are not marked whole
#: make test-all these too, and everything below up to test-levels: first all is built, then all is run, JOBS at a time
#: make test-op OP=take  what tests one operator, by 1.9.1's name: its rows of the case table, the C programs that name it
#: make test-c   C tests: units, public API, threads, headers alone
#: make asan     the C tests and the case table under AddressSanitizer and UndefinedBehaviorSanitizer
#: make tsan     the threaded C tests under ThreadSanitizer
#: make fuzz     FUZZ_SECONDS (5) each of random calls of the API, of graphs with callbacks, of inference, and of damaged files, images and samples (ASan)
#: make checks   exported names, include directions, versions, types
#: make check-wheel  a wheel, built from a copy of the tree, works outside it, from Python and from C
#: make test-py  Python tests, over the cffi binding (where it is built) and over ctypes
#: make test-levels  the case table at each vector level below this processor's widest, and without back ends
#: make stubs    type stubs of the functions that the library's operators give (make venv calls it)
#: make test-pythons  the Python tests from a wheel, on each of PYTHONS (3.9 ... 3.13)
#: make docs     build/docs/operators/: a page for every operator, and an index by family
#: make wheel    dist/: a wheel with library, headers and binding
#: make fmt      format C and Python
#: make lint     formatting, warnings as errors, ruff, include directions, exported names
#: make clean    remove what was built (.venv and .venvs stay)

lib: $(LIBRARY) $(MXNET_LIBRARY) share

debug:
	@$(MAKE) lib BUILD=$(BUILD)/debug OPTIMIZE='-O0 -g3'

# A changed compiler or flag rebuilds everything, a source that came or went links again: these files
# change only when what they hold does.
$(BUILD)/flags: TEXT = $(CC) $(MXL_CFLAGS) : $(OPTIMIZE_LOOPS) : $(VECTORISE) $(PLAIN_LOOPS) : $(OPTIMIZE_CALLS) $(LTO) : \
    $(SMALL) $(RARE) : $(APART) : $(MXL_LDFLAGS)
$(BUILD)/sources: TEXT = $(SOURCES) : $(TWICE)
# The first build says how long it will take; a file costs so many tenths of a second of one processor, links included.
TENTHS_A_FILE := 6
FIRST_BUILD = mxlite: compiles the C library, $(words $(SOURCES)) files, $(JOBS) at a time: \
    about $$(( $(words $(SOURCES)) * $(TENTHS_A_FILE) / 10 / $(JOBS) )) seconds
$(BUILD)/flags $(BUILD)/sources: FORCE
	@mkdir -p $(@D)
	@[ $(@F) != flags ] || [ -e $@ ] || echo "$(FIRST_BUILD)"
	@new=$@.$$$$; echo '$(subst ','\'',$(TEXT))' > $$new; \
	    if cmp -s $$new $@; then rm -f $$new; else mv $$new $@; fi

ifeq ($(OPTIMIZE),-O2)
# The tests of functions that loops inline are loops themselves.
$(LOOPS) $(BUILD)/obj/tests/c/kernel/test_kernel_math%.o: OWN_CFLAGS := $(OPTIMIZE_LOOPS)
$(call OF,$(PLAIN_LOOPS)): OWN_CFLAGS := $(VECTORISE)
$(call OF,$(RARE)): OWN_CFLAGS := $(SMALL) $(LTO)
$(call OF,$(APART)): OWN_CFLAGS := $(SMALL) $(NO_LTO)
$(CALLS): OWN_CFLAGS := $(OPTIMIZE_CALLS) $(LTO)
$(LIBRARY): OWN_LDFLAGS := -O2 $(LTO)
# Half a minute less; where it is alone, a small call takes 5 % longer.
$(MXNET_LIBRARY): OWN_LDFLAGS := -O2 $(NO_LTO)
endif

$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo "CC   $<"
	$(Q)$(CC) $(MXL_CFLAGS) $(OWN_CFLAGS) $(CATCHES) -MMD -MP -c -o $@ $<

# What calls loaded libraries catches their exceptions (exception.c), which the linker must not take apart.
# (Windows unwinds by tables of its own, which this does not know: an exception there ends the program.)
ifeq ($(WINDOWS),)
$(BUILD)/obj/capi/api/library/%.o: CATCHES := -fexceptions $(NO_LTO)
endif

# Where header and library are, for pkg-config and CMake: in a build folder this machine's paths, in a
# wheel (below) paths from the file itself.
SHARE := pkgconfig/mxlite.pc cmake/mxlite/mxliteConfig.cmake cmake/mxlite/mxliteConfigVersion.cmake
VERSION = $(shell awk '/^#define MXL_VERSION_(MAJOR|MINOR|PATCH) / { v = v d $$3; d = "." } END { print v }' \
    include/mxlite/mxlite.h)
FILL = sed -e 's|@VERSION@|$(VERSION)|' -e 's|@PREFIX@|$(AT)|' -e 's|@INCLUDEDIR@|$(INCLUDEDIR)|' \
    -e 's|@LIBDIR@|$(LIBDIR)|' -e 's|@LIBS@|$(LIBS) -pthread|' -e 's|@LIBRARY@|$(SHARED_NAME)|' -e 's|@RPATH@|$(if $(MACOS),@rpath/)|'
.PHONY: share
share: $(SHARE:%=$(BUILD)/share/%)

$(BUILD)/share/%: AT = $(abspath $(BUILD))
$(BUILD)/share/%: INCLUDEDIR = $(CURDIR)/include
$(BUILD)/share/%: LIBDIR = $(abspath $(BUILD))
$(BUILD)/share/%: tools/package/%.in include/mxlite/mxlite.h Makefile mk/system.mk
	@mkdir -p $(@D)
	$(Q)$(FILL) $< > $@

# What a wheel holds (setup.py asks for it): the stripped libraries, and the same files for the place that they have
# there.
native: $(NATIVE) $(SHARE:%=$(BUILD)/native/share/%)

$(BUILD)/native/share/pkgconfig/%: PACKAGE = $${prefix}
$(BUILD)/native/share/cmake/%: PACKAGE = $${CMAKE_CURRENT_LIST_DIR}/../../..
$(BUILD)/native/share/%: AT = $${pcfiledir}/../..
$(BUILD)/native/share/%: INCLUDEDIR = $(PACKAGE)/include
$(BUILD)/native/share/%: LIBDIR = $(PACKAGE)/_native
$(BUILD)/native/share/%: tools/package/%.in include/mxlite/mxlite.h Makefile mk/system.mk
	@mkdir -p $(@D)
	$(Q)$(FILL) $< > $@

$(BUILD)/libmxlite.a: $(OBJECTS) $(BUILD)/sources
	@rm -f $@
	$(Q)$(AR) rcs $@ $(OBJECTS)

# ---- C tests -------------------------------------------------------------------------------------
# Every file is a program. test_*.c and thread_*.c are linked with the library's objects and may use
# its internal headers; public_*.c see include/ alone and are linked with the shared library.
TEST_INTERNAL := $(sort $(wildcard tests/c/*/test_*.c tests/c/*/thread_*.c))
TEST_PUBLIC := $(sort $(wildcard tests/c/public/public_*.c))
TEST_HELPERS := $(sort $(wildcard tests/c/kits/*.c))
TEST_HELPER_OBJECTS := $(TEST_HELPERS:%.c=$(BUILD)/obj/%.o)
TEST_PROGRAM = $(patsubst %.c,$(BUILD)/tests/%$(EXE),$(notdir $(1)))
TEST_PROGRAMS = $(filter-out $(TEST_SKIP:%=$(BUILD)/tests/%$(EXE)),$(filter $(BUILD)/tests/$(TEST_KIND)%,$(call \
    TEST_PROGRAM,$(TEST_INTERNAL) $(TEST_PUBLIC))))
TEST_KIND :=
TEST_SKIP :=
TEST_TIMEOUT ?= 600

$(BUILD)/obj/tests/c/%.o: tests/c/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo "CC   $<"
	$(Q)$(CC) $(MXL_CFLAGS) $(OWN_CFLAGS) $(TEST_CFLAGS) -Itests/c/kits -MMD -MP -c -o $@ $<

$(BUILD)/obj/tests/c/public/%.o: tests/c/public/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo "CC   $<"
	$(Q)$(CC) $(filter-out -Icapi,$(MXL_CFLAGS)) -Itests/c/kits -MMD -MP -c -o $@ $<

# A program is called as its file, whatever folder that is in.
$(foreach file,$(TEST_INTERNAL) $(TEST_PUBLIC),$(eval $(call TEST_PROGRAM,$(file)): $(file:%.c=$(BUILD)/obj/%.o)))

$(call TEST_PROGRAM,$(TEST_PUBLIC)): $(TEST_HELPER_OBJECTS) $(LINK_LIBRARY)
	@mkdir -p $(@D)
	$(Q)$(CC) $(MXL_LDFLAGS) -o $@ $(filter %.o,$^) $(LINK_WITH) $(LIBS)

# Nothing names the list of the operators, which gives itself to the registry: these programs do.
WITH_OPERATORS := -Wl,$(if $(WASM),--export=,-u$(comma))$(if $(MACOS),_)mxl_families
$(call TEST_PROGRAM,$(TEST_INTERNAL)): $(TEST_HELPER_OBJECTS) $(BUILD)/libmxlite.a
	@mkdir -p $(@D)
	$(Q)$(CC) $(MXL_LDFLAGS) $(WITH_OPERATORS) $(NO_LTO) -o $@ $(filter %.o,$^) $(BUILD)/libmxlite.a $(LIBS)

.SECONDARY:

test-c: lib test-headers
	@$(MAKE) test-c-run TEST_LABEL=test-c

test-programs: $(TEST_PROGRAMS)

test-c-run: $(TEST_PROGRAMS)
	@sh tools/testing/run_c_tests.sh $(or $(TEST_LABEL),test-c) $(TEST_TIMEOUT) $(BUILD) $(TEST_PROGRAMS)

# Each public header alone, as C99 and, where there is a C++ compiler, as C++; then the files of
# tests/c/headers, which use what the headers declare.
test-headers:
	@sh tools/testing/check_headers.sh "$(CC)" "$(CXX)" $(HEADERS) $(wildcard tests/c/headers/*)

# MXL_SANITIZER: the tests may do fewer rounds.
ASAN := -fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all -fno-omit-frame-pointer
TSAN := -fsanitize=thread -fno-omit-frame-pointer
ASAN_MAKE = $(MAKE) BUILD=$(BUILD)/asan OPTIMIZE='-O1 -g -DMXL_SANITIZER' SANITIZE='$(ASAN)'
TSAN_MAKE = $(MAKE) BUILD=$(BUILD)/tsan OPTIMIZE='-O1 -g -DMXL_SANITIZER' SANITIZE='$(TSAN)'

asan: asan-c asan-table

asan-build:
	@sh tools/testing/check_sanitizer.sh "$(CC)" "$(ASAN)"
	+@$(ASAN_MAKE) test-programs fuzz-programs lib

asan-c: asan-build
	+@ASAN_OPTIONS=detect_leaks=1:detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1 \
	    $(ASAN_MAKE) test-c-run TEST_LABEL=asan

# The case table's rows, forward and differentiated: no operator needs a C test for the sanitizers to see it.
# Calls of 16 elements and more are deferred, smaller ones run at once.
asan-table: asan-build venv
	@MXLITE_DEFER=16 sh tools/testing/run_asan_table.sh "$(CC)" $(VPY) $(BUILD)/asan $(PLAIN_TESTS) $(TABLE)/test_cases_internal.py

# Random calls against fixed seeds; the same file is a target for libFuzzer.
FUZZ_SECONDS ?= 5
fuzz: asan-build
	+@ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1 $(ASAN_MAKE) fuzz-run

FUZZ_PROGRAMS := $(BUILD)/fuzz_api $(BUILD)/fuzz_graph $(BUILD)/fuzz_params $(BUILD)/fuzz_images \
    $(BUILD)/fuzz_symbols $(BUILD)/fuzz_samples $(BUILD)/fuzz_infer
fuzz-programs: $(FUZZ_PROGRAMS)

fuzz-run: $(FUZZ_PROGRAMS)
	@$(BUILD)/fuzz_api $(FUZZ_SECONDS)
	@MXLITE_DEFER=1 $(BUILD)/fuzz_graph $(FUZZ_SECONDS)
	@$(BUILD)/fuzz_params $(FUZZ_SECONDS) 1 \
	    $(wildcard tests/fuzz/corpus/*/*.params tests/reference/files/*.params)
	@$(BUILD)/fuzz_images $(FUZZ_SECONDS) 1 $(wildcard tests/fuzz/corpus/images/*)
	@$(BUILD)/fuzz_infer $(FUZZ_SECONDS)
	@$(BUILD)/fuzz_symbols $(FUZZ_SECONDS) 1 $(wildcard tests/fuzz/corpus/symbols/*.json)
	@$(BUILD)/fuzz_samples $(FUZZ_SECONDS) 1 $(wildcard tests/fuzz/corpus/samples/*)

$(BUILD)/fuzz_%: tests/fuzz/fuzz_%.c $(BUILD)/libmxlite.a $(wildcard tests/fuzz/*.h)
	$(Q)$(CC) $(filter-out -Icapi,$(MXL_CFLAGS)) $(MXL_LDFLAGS) $(WITH_OPERATORS) $(NO_LTO) -o $@ $(filter-out %.h,$^) $(LIBS)

tsan-build:
	@sh tools/testing/check_sanitizer.sh "$(CC)" "$(TSAN)"
	+@$(TSAN_MAKE) test-programs TEST_KIND=thread_

tsan: tsan-build
	+@TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 $(TSAN_MAKE) test-c-run TEST_LABEL=tsan TEST_KIND=thread_

# ---- Python --------------------------------------------------------------------------------------
VENV := .venv
VPY := $(VENV)/bin/python
VENV_STAMP := $(VENV)/mxlite.stamp
DEMO_STAMP := $(VENV)/demo.stamp
VENV_SOURCES := pyproject.toml setup.py $(HEADERS) \
    $(wildcard mxlite/_lib/build_cffi.py mxlite/_lib/cffi/*.c mxlite/_lib/prototypes.py mxlite/_version.py)

venv: $(VENV_STAMP) lib stubs

$(VPY):
	@sh tools/make_venv.sh "$(PYTHON)" $(VENV)

# An editable install: what is imported is this tree, and the library in build/ as made last. The demo needs no more.
# The install needs no library, so pip waits for the network while the compiler works.
PIP = $(VPY) -m pip --disable-pip-version-check
$(DEMO_STAMP): $(VPY) $(VENV_SOURCES)
	@mkdir -p $(BUILD)
	@echo "VENV $(VENV): mxlite from this tree, and the packages of its 'demo' extra"
	$(Q)$(PIP) install -q 'setuptools>=77' 'cffi>=1.15' 'numpy>=1.23'
	@rm -rf build/temp.* mxlite/*.abi3.so
	$(Q)MXLITE_LIBRARY_IS_BUILT=1 $(PIP) install -v --no-build-isolation --config-settings editable_mode=compat \
	    -e '.[demo]' \
	    > $(BUILD)/pip-install.log 2>&1 || { tail -n 40 $(BUILD)/pip-install.log; exit 1; }
	@sed -n 's/^ *\(mxlite: .*\)/\1/p' $(BUILD)/pip-install.log | sort -u
	@touch $@

$(VENV_STAMP): $(DEMO_STAMP)
	@echo "VENV $(VENV): and the packages of its 'dev' extra"
	$(Q)$(PIP) install -q 'mxlite[dev]'
	$(Q)$(PIP) install -q --only-binary :all: 'mpi4py>=4.1' 'mpich>=5' 2> /dev/null \
	    || echo "VENV no wheels of an MPI for this machine: tests of several workers are skipped"
	@touch $@

# Type stubs beside the package's modules, made from the library as it is: git does not keep them. A wheel
# has its own (setup.py).
.PHONY: stubs
stubs: $(BUILD)/stubs.stamp
$(BUILD)/stubs.stamp: $(LIBRARY) $(VENV_STAMP) $(wildcard mxlite/*.py mxlite/*/*.py) \
        tools/make_pyi.py tools/pyi/numpy_stubs.py tools/describe.py
	@echo "STUBS mxlite/"
	@$(LIBRARY_ENV) PYTHONPATH=. MXLITE_BINDING=ctypes $(VPY) tools/make_pyi.py mxlite
	@touch $@

# Tests start hundreds of Pythons: their compiled modules are kept, beside what else is built, whatever the environment
# says of __pycache__.
PYCACHE = PYTHONDONTWRITEBYTECODE= PYTHONPYCACHEPREFIX='$(abspath $(BUILD))/pycache'
HAS_PYTHON_H = $(VPY) -c 'import os, sysconfig as s; \
    raise SystemExit(not os.path.exists(os.path.join(s.get_path("include"), "Python.h")))'
# The package looks into build/; built elsewhere, the library is named.
LIBRARY_ENV = $(if $(filter build,$(BUILD)),,MXLITE_LIBRARY='$(abspath $(LIBRARY))')
PYTEST = $(LIBRARY_ENV) $(PYCACHE) $(VPY) -m pytest -q -p no:cacheprovider $(CHOSEN)
# PYTEST_ARGS may choose tests that are not in every folder.
PYTEST_END = $(PYTEST_ARGS) $(if $(PYTEST_ARGS),|| [ $$? -eq 5 ])
TABLE := tests/python/table
REST := $(filter-out $(TABLE) tests/python/cases,$(patsubst %/,%,$(sort $(wildcard tests/python/*/))))
FIRST = MXLITE_BINDING=$$(if $(HAS_PYTHON_H); then echo cffi; else echo ctypes; fi)

test-py:
	@$(MAKE) $(TOGETHER) $(PY_RUNS)

# All tests over one binding: cffi, or ctypes where it is not built. Over the second one those that are not marked
# one_binding, because they ask nothing of the binding that others do not.
PY_RUNS := py-table py-rest py-again
py-table: venv
	@$(HAS_PYTHON_H) || echo "TEST no Python.h here: the cffi binding is not built, the tests run over ctypes"
	@echo "TEST $(TABLE)"
	@$(FIRST) $(PYTEST) $(TABLE) $(PYTEST_END)

py-rest: venv
	@echo "TEST $(REST)"
	@$(FIRST) $(PYTEST) $(REST) $(PYTEST_END)

OP_PROGRAMS = $(if $(OP),$(filter $(call TEST_PROGRAM,$(shell grep -rlF '"$(OP)"' tests/c)),$(TEST_PROGRAMS)))
test-op: venv
	@[ -n "$(OP)" ] || { echo "make test-op: which? OP=take"; exit 2; }
	@$(if $(OP_PROGRAMS),$(MAKE) $(OP_PROGRAMS) && sh tools/testing/run_c_tests.sh test-op $(TEST_TIMEOUT) $(BUILD) $(OP_PROGRAMS))
	@$(FIRST) $(PYTEST) $(TABLE) -k '[$(OP)/ or -$(OP)/ or [$(OP)]'

py-again: venv
	@if $(HAS_PYTHON_H); then \
	    echo "TEST tests/python over ctypes, all element-wise calls deferred" && \
	    MXLITE_BINDING=ctypes MXLITE_DEFER=1 $(PYTEST) tests/python -m 'not one_binding' $(PYTEST_END); \
	fi

# The case table, and the C tests of kernels, at each vector level below the widest of this processor, at which the
# other runs are; and the table without back ends. MXLITE_TEST_BRIEF: each row in one of two ways, and in a third of
# the layouts, rows in turn in each (_table.py); `make test` takes the table so too.
LEVEL_TESTS := $(filter-out %_coverage.py,$(sort $(wildcard $(TABLE)/test_cases_*.py)))
PLAIN_TESTS := $(TABLE)/test_cases_forward.py $(TABLE)/test_cases_gradient.py
LEVEL_RUNS := level-baseline level-avx2 level-none
test-levels: venv $(TEST_PROGRAMS)
	@$(MAKE) $(TOGETHER) $(LEVEL_RUNS)

WIDEST = $(LIBRARY_ENV) $(VPY) -m mxlite | awk '$$1 == "vector_level:" { print $$2 }'
level-baseline level-avx2: level-%: venv $(TEST_PROGRAMS)
	@widest=$$(unset MXLITE_VECTOR_LEVEL; $(WIDEST)); \
	case "$* $$widest" in \
	"$* ") exit 1 ;; \
	"$$widest $*" | "avx2 baseline") echo "TEST level $*: not below this processor's, $$widest"; exit 0 ;; \
	esac; \
	echo "TEST the case table at level $*" && export MXLITE_VECTOR_LEVEL=$* MXLITE_TEST_BRIEF=1 && \
	sh tools/testing/run_c_tests.sh $* $(TEST_TIMEOUT) $(BUILD) $(filter $(BUILD)/tests/test_kernel_%,$(TEST_PROGRAMS)) && \
	$(PYTEST) $(LEVEL_TESTS) $(PYTEST_END)

level-none: venv
	@echo "TEST the case table without back ends"
	@MXLITE_BACKENDS=none MXLITE_TEST_BRIEF=1 $(PYTEST) $(PLAIN_TESTS) $(PYTEST_END)

# First what is built, then what is run: the runs need nothing of each other, and share the processors. What each
# prints comes when it has ended; the longest begin first.
TOGETHER := $(if $(filter output-sync,$(.FEATURES)),--output-sync=target)
test:
	@$(MAKE) test-build
	@MXLITE_TEST_BRIEF=1 $(MAKE) $(TOGETHER) test-runs CHOSEN='-m "not whole"'
	@echo "make test: all passed"

# `make mutate MUTATE_ARGS=--brief` asks whether these tests notice a broken line. The others look for what depends on the
# processor, the binding, the order of threads, memory or an installation, or are more of the same: marked whole.
test-build: lib $(TEST_PROGRAMS) venv
test-runs: py-table py-rest test-c checks test-clients-c

test-all:
	@$(MAKE) test-all-build
	@$(MAKE) $(TOGETHER) test-all-runs
	@echo "make test-all: all passed"

test-all-build: test-build asan-build tsan-build
test-all-runs: asan-table py-table $(LEVEL_RUNS) py-rest asan-c checks check-wheel py-again tsan test-c test-clients-c fuzz

checks: venv
	@$(VPY) tools/check_exports.py $(LIBRARY) $(MXNET_LIBRARY)
	@$(VPY) tools/check_includes.py
	@$(VPY) tools/check_links.py $(BUILD)/obj/capi
	@$(VPY) tools/check_imports.py
	@$(VPY) tools/check_folders.py
	@$(VPY) tools/check_versions.py $(LIBRARY)
	@$(VPY) tools/check_types.py $(VPY) --examples

wheel: venv
	@mkdir -p dist && rm -rf build/lib build/lib.* build/temp.*
	$(Q)$(PIP) wheel -v --no-build-isolation --no-deps -w dist . \
	    > $(BUILD)/pip-wheel.log 2>&1 || { tail -n 40 $(BUILD)/pip-wheel.log; exit 1; }
	@sed -n 's/^ *\(mxlite: .*\)/\1/p' $(BUILD)/pip-wheel.log | sort -u
	@ls dist/*.whl

# The Python tests from a wheel, on other Pythons; not part of `make test`.
PYTHONS ?= 3.9 3.10 3.11 3.12 3.13
test-pythons: venv
	@rm -rf $(BUILD)/pythons && $(PIP) wheel -q --no-build-isolation --no-deps -w $(BUILD)/pythons .
	@PYTEST_ARGS='$(PYTEST_ARGS)' sh tools/testing/test_pythons.sh "$$(ls $(BUILD)/pythons/*.whl)" $(PYTHONS)

check-wheel: venv
	@CC='$(CC)' $(VPY) tools/check_wheel.py $(BUILD)/wheel

# What the pages say is computed: introspection, calls with each dtype, an example that is run.
docs: venv
	@$(LIBRARY_ENV) PYTHONPATH=. $(VPY) tools/make_docs.py $(BUILD)/docs/operators

# Where there is no library yet, the demo makes one of what it needs, in a tenth of the time: of the core, without vector
# instructions and without the linker's optimisation. Others do not use that one.
DEMO := $(if $(wildcard $(LIBRARY)),$(BUILD),$(BUILD)/demo)
.PHONY: demo-library
demo-library:
ifeq ($(DEMO),$(BUILD))
	@$(MAKE) lib
else
	@echo "demo: builds the parts of the library that it needs, in $(DEMO); make lib builds all, for speed"
	@$(MAKE) $(DEMO)/$(SHARED_NAME) BUILD=$(DEMO) PARTS='core optimizers' LTO= TENTHS_A_FILE=1
endif

demo: LIBRARY_ENV = $(if $(filter build,$(DEMO)),,MXLITE_LIBRARY='$(abspath $(DEMO))/$(SHARED_NAME)')
demo: $(DEMO_STAMP) demo-library
	@echo "== examples/digits.py"
	@$(LIBRARY_ENV) $(VPY) examples/digits.py
	@for name in digits graph_walk; do echo "== examples/$$name.c"; \
	    $(CC) -std=c99 -O2 -Wall -Wextra -Iinclude -o $(BUILD)/$$name examples/$$name.c -L$(DEMO) -lmxlite \
	    -Wl,-rpath,'$(abspath $(DEMO))' -lm && $(BUILD)/$$name || exit 1; done

examples: $(DEMO_STAMP) lib
	@for name in lenet_digits lstm_text spell_words gradient_penalty numpy_regression factorization_machine; do \
	    echo "== examples/$$name.py"; $(LIBRARY_ENV) $(VPY) examples/$$name.py || exit 1; done
	@echo "== examples/gluon_digits.py"
	@$(LIBRARY_ENV) $(VPY) -m mxlite run examples/gluon_digits.py
	@for name in torch_wave torch_pendulum torch_draw_digits; do echo "== examples/$$name.py"; \
	    $(LIBRARY_ENV) $(VPY) -m mxlite run --as torch examples/$$name.py || exit 1; done

# ---- form ----------------------------------------------------------------------------------------
C_FILES = $(sort $(wildcard capi/*/*.[ch] capi/*/*/*.[ch] include/mxlite/*.h include/mxlite/*.hpp tests/c/*/*.[ch] tests/c/headers/*.cpp \
    bindings/cpp/*.[ch]pp bindings/cpp/examples/*.cpp \
    tests/fuzz/*.[ch] tests/clients/c/*.[ch] tests/accuracy/*.c examples/*.[ch] benchmarks/c/*.[ch] mxlite/_lib/cffi/*.c))
PY_FILES := mxlite tests tools benchmarks examples setup.py

fmt: venv
	@$(VENV)/bin/clang-format -i $(C_FILES)
	@$(VENV)/bin/ruff check -q --fix $(wildcard $(PY_FILES))
	@$(VENV)/bin/ruff format -q $(wildcard $(PY_FILES))

lint: venv
	@$(VENV)/bin/clang-format --dry-run --Werror $(C_FILES)
	@$(VENV)/bin/ruff check $(wildcard $(PY_FILES))
	@$(VENV)/bin/ruff format --check $(wildcard $(PY_FILES))
	@$(MAKE) lint-c WERROR=1 BUILD=$(BUILD)/lint
	@$(VPY) tools/check_includes.py
	@$(VPY) tools/check_links.py $(BUILD)/obj/capi
	@$(VPY) tools/check_imports.py
	@$(VPY) tools/check_folders.py
	@$(VPY) tools/check_exports.py $(LIBRARY) $(MXNET_LIBRARY)
	@$(VPY) tools/check_op_names.py $(LIBRARY)
	@$(VPY) tools/mutate.py --judged --list > /dev/null
	@$(VPY) bindings/rust/make_sys.py --check
	@echo "make lint: clean"

LINT_FILES := $(SOURCES) $(TEST_INTERNAL) $(TEST_PUBLIC) $(TEST_HELPERS) \
    $(sort $(wildcard examples/*.c benchmarks/c/*.c tests/fuzz/*.c))
.PHONY: lint-c
lint-c: $(LINT_FILES:%=$(BUILD)/%.checked)

$(BUILD)/%.checked: % $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)$(CC) $(MXL_CFLAGS) -Itests/c/kits -MMD -MP -MF $@.d -MT $@ -fsyntax-only $<
	@touch $@

clean:
	rm -rf $(BUILD) dist mxlite.egg-info mxlite/*.so mxlite/*/*.pyi $(VENV_STAMP) $(DEMO_STAMP)

-include $(OBJECTS:.o=.d) $(patsubst %.c,$(BUILD)/obj/%.d,$(TEST_INTERNAL) $(TEST_PUBLIC) \
    $(TEST_HELPERS)) $(LINT_FILES:%=$(BUILD)/%.checked.d)

include mk/peers.mk mk/measure.mk mk/platforms.mk mk/site.mk mk/release.mk mk/web.mk mk/embed.mk mk/page.mk mk/arm.mk
