# For programs that have the library inside (docs/embedding.md): all of it as one C file, installed as an archive, and
# what other build systems take. Included by the Makefile.
.PHONY: amalgamation amalgamation-here

#: make amalgamation  build/amalgamation/mxlite.c and mxlite.h: the library as one file, of PARTS (core wide optimizers), with OPS (all)
AMALGAMATION := $(BUILD)/amalgamation
OPS ?=
amalgamation:
	@$(MAKE) amalgamation-here BUILD=$(AMALGAMATION)/parts AMALGAMATION=$(AMALGAMATION) \
	    PARTS='$(if $(filter file,$(origin PARTS)),core wide optimizers,$(PARTS))'

amalgamation-here: $(if $(ABSENT_SOURCES),$(BUILD)/absent.c)
	@$(PYTHON) tools/embed/amalgamate.py --out $(AMALGAMATION) --cc '$(CC)' $(PARTS_FLAGS) \
	    --parts '$(strip $(WITH))' $(if $(ABSENT_SOURCES),--absent $(BUILD)/absent.c) --ops '$(OPS)' $(SOURCES)

# ---- installed -----------------------------------------------------------------------------------
#: make install  the libraries (shared and archive), headers, and files for pkg-config and CMake, below DESTDIR and PREFIX
PREFIX ?= /usr/local
DESTDIR ?=
INSTALLED = $(DESTDIR)$(PREFIX)
# The archive has the machine code alone: what link-time optimisation reads is one compiler's.
STRIP_ARCHIVE ?= strip --strip-debug --remove-section='.gnu.lto_*' --remove-section='.gnu.debuglto_*'
.PHONY: install
install: native $(BUILD)/libmxlite.a $(SHARE:%=$(BUILD)/installed/%)
	@mkdir -p $(INSTALLED)/lib/pkgconfig $(INSTALLED)/lib/cmake/mxlite $(INSTALLED)/include
	@for folder in mxlite mxnet nnvm; do mkdir -p $(INSTALLED)/include/$$folder && \
	    cp include/$$folder/* $(INSTALLED)/include/$$folder/ || exit 1; done
	@cp $(NATIVE) $(BUILD)/libmxlite.a $(INSTALLED)/lib/
	@$(STRIP_ARCHIVE) $(INSTALLED)/lib/libmxlite.a
	@for file in $(SHARE); do cp $(BUILD)/installed/$$file $(INSTALLED)/lib/$$file || exit 1; done
	@echo "installed in $(INSTALLED): include, lib/$(SHARED_NAME) and libmxlite.a, lib/pkgconfig, lib/cmake"

# pkg-config's file names PREFIX, CMake's says where it is itself.
$(BUILD)/installed/pkgconfig/%: ROOT = $${prefix}
$(BUILD)/installed/cmake/%: ROOT = $${CMAKE_CURRENT_LIST_DIR}/../../..
$(BUILD)/installed/%: AT = $(PREFIX)
$(BUILD)/installed/%: INCLUDEDIR = $(ROOT)/include
$(BUILD)/installed/%: LIBDIR = $(ROOT)/lib
$(BUILD)/installed/%: tools/package/%.in FORCE
	@mkdir -p $(@D)
	$(Q)$(FILL) $< > $@

# ---- tested --------------------------------------------------------------------------------------
#: make test-embed  the one C file (warnings, its own test, parts left out), what is installed, CMake, docs/embedding.md
#: make test-embed-flags  the C tests of the core without threads and files
#: make test-conan  Conan's package, made and tried; conan comes from PyPI
#: make embedded-digits  examples/digits.c with the library and its data inside: bytes, memory, accuracy
.PHONY: test-embed test-embed-flags test-conan embedded-digits
DIGITS_OPS := FullyConnected relu log_softmax pick mean negative argmax sgd_mom_update _zeros take _random_normal \
    _random_uniform
EMBED := $(BUILD)/embed
test-embed:
	@$(MAKE) amalgamation AMALGAMATION=$(EMBED)
	@$(MAKE) amalgamation AMALGAMATION=$(EMBED)/small PARTS='core optimizers' OPS='$(DIGITS_OPS)'
	@sh tests/embed/check.sh '$(CC)' '$(CXX)' $(EMBED)
	@$(PYTHON) tests/embed/run_page.py
	@sh tests/embed/check_cmake.sh '$(CC)' $(EMBED) $(CURDIR)/build/stage/usr

$(EMBED)/digits.inc: examples/data/digits.u8
	@mkdir -p $(@D)
	@od -An -v -tu1 $< | sed 's/  *\([0-9]\)/,\1/g; s/^,//; s/$$/,/' > $@

# CC, CFLAGS_EXTRA and LDFLAGS_EXTRA choose the compiler and the C library: CC=musl-gcc LDFLAGS_EXTRA=-static
HOST_CC ?= cc
SMALLEST := -Os -ffunction-sections -fdata-sections -fno-asynchronous-unwind-tables
embedded-digits: $(EMBED)/digits.inc
	@$(MAKE) amalgamation AMALGAMATION=$(EMBED)/small PARTS='core optimizers' OPS='$(DIGITS_OPS)' CC='$(HOST_CC)'
	@$(CC) -std=c17 $(SMALLEST) -DMXL_NO_FILES -DMXL_NO_THREADS $(CFLAGS_EXTRA) -c $(EMBED)/small/mxlite.c \
	    -o $(EMBED)/small/mxlite.o
	@$(CC) -std=c99 $(SMALLEST) -DDIGITS_DATA='"$(abspath $(EMBED))/digits.inc"' -Iinclude $(CFLAGS_EXTRA) \
	    -o $(EMBED)/digits examples/digits.c $(EMBED)/small/mxlite.o -lm -Wl,--gc-sections -s $(LDFLAGS_EXTRA)
	@wc -c < $(EMBED)/digits
	@$(RUN_WITH) $(EMBED)/digits | tail -n 1

# Left out are tests of files; of several threads, and of their ends; and of more than 32 calls of backward inside of each
# other, the deeper ones of which need a thread's stack.
FLAGS_SKIP := test_api_io test_api_memory test_api_save test_api_replace test_api_profile test_api_sizes \
    test_autograd_backward test_autograd_record test_autograd_sizes test_base_files test_base_fork test_base_small thread_%
FLAGS_TESTS = $(filter-out $(FLAGS_SKIP:%=$(BUILD)/tests/%),$(CORE_TESTS))
test-embed-flags:
	@$(MAKE) test-embed-flags-here BUILD=$(BUILD)/flags-none PARTS='core optimizers' LTO= OPTIMIZE=-O1 \
	    CFLAGS_EXTRA='-DMXL_NO_THREADS -DMXL_NO_FILES'

test-embed-flags-here: lib
	@$(MAKE) $(FLAGS_TESTS)
	@sh tools/testing/run_c_tests.sh test-embed-flags $(TEST_TIMEOUT) $(BUILD) $(FLAGS_TESTS)

CONAN := .venvs/conan
test-conan:
	@[ -x $(CONAN)/bin/conan ] || { sh tools/make_venv.sh '$(PYTHON)' $(CONAN) && \
	    $(CONAN)/bin/python -m pip install -q --disable-pip-version-check 'conan>=2'; }
	@unset CC CXX; export CONAN_HOME=$(abspath $(BUILD))/conan-home && $(CONAN)/bin/conan profile detect --force > $(BUILD)/conan.log 2>&1 && \
	    $(CONAN)/bin/conan create tools/package/conan --no-remote -o 'mxlite/*:ops=$(DIGITS_OPS)' >> $(BUILD)/conan.log 2>&1 \
	    || { tail -n 30 $(BUILD)/conan.log; exit 1; }
	@rm -rf $(addprefix tools/package/conan/test_package/,build CMakeUserPresets.json)
	@grep '^mxlite: ' $(BUILD)/conan.log
