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
	@$(PYTHON) tools/embed/amalgamate.py --out $(AMALGAMATION) --cc '$(CC)' --without '$(strip $(ABSENT_PARTS))' \
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
	@cp $(BUILD)/native/libmxlite.so $(BUILD)/native/libmxnet.so $(BUILD)/libmxlite.a $(INSTALLED)/lib/
	@$(STRIP_ARCHIVE) $(INSTALLED)/lib/libmxlite.a
	@for file in $(SHARE); do cp $(BUILD)/installed/$$file $(INSTALLED)/lib/$$file || exit 1; done
	@echo "installed in $(INSTALLED): include, lib/libmxlite.so and .a, lib/pkgconfig, lib/cmake"

# pkg-config's file names PREFIX, CMake's says where it is itself.
$(BUILD)/installed/pkgconfig/%: ROOT = $${prefix}
$(BUILD)/installed/cmake/%: ROOT = $${CMAKE_CURRENT_LIST_DIR}/../../..
$(BUILD)/installed/%: AT = $(PREFIX)
$(BUILD)/installed/%: INCLUDEDIR = $(ROOT)/include
$(BUILD)/installed/%: LIBDIR = $(ROOT)/lib
$(BUILD)/installed/%: tools/package/%.in FORCE
	@mkdir -p $(@D)
	$(Q)$(FILL) $< > $@
