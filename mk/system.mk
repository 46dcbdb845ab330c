# What CC builds for, what its libraries are called there, and how they are linked. Included by the Makefile.
TARGET := $(shell $(CC) -dumpmachine 2>/dev/null)
WINDOWS := $(findstring windows,$(TARGET))$(findstring mingw,$(TARGET))
MACOS := $(findstring darwin,$(TARGET))$(findstring macos,$(TARGET))
EXE := $(if $(WINDOWS),.exe)

# The names of the libraries; mxlite/_lib, setup.py and the bindings know them too. Windows links programs with an
# import library, under the names that gcc and Microsoft's linker look for.
SHARED_NAME := $(if $(WINDOWS),mxlite.dll,libmxlite.$(if $(MACOS),dylib,so))
MXNET_NAME := libmxnet.$(if $(WINDOWS),dll,$(if $(MACOS),dylib,so))
IMPORT_NAMES := $(if $(WINDOWS),libmxlite.dll.a mxlite.lib libmxnet.dll.a libmxnet.lib)
LIBRARY := $(BUILD)/$(SHARED_NAME)
MXNET_LIBRARY := $(BUILD)/$(MXNET_NAME)
IMPORTS := $(addprefix $(BUILD)/,$(IMPORT_NAMES))
# What the programs in a folder beside it are linked with; on Windows PATH must name the library's folder. WebAssembly
# has no shared libraries.
WASM := $(findstring wasm,$(TARGET))
LINK_LIBRARY := $(if $(WINDOWS),$(BUILD)/libmxlite.dll.a,$(if $(WASM),$(BUILD)/libmxlite.a,$(LIBRARY)))
LINK_WITH = $(if $(WINDOWS)$(WASM),$(if $(WASM),$(WITH_OPERATORS)) $(LINK_LIBRARY),-L$(BUILD) -lmxlite -Wl$(comma)-rpath$(comma)'$(if \
    $(MACOS),@loader_path,$$ORIGIN)/..')

# Only Linux with glibc keeps room for such thread-local variables of libraries that a program opens.
TLS_MODEL := $(shell printf '#include <stdint.h>\n#ifndef __GLIBC__\n#error\n#endif\n' | $(CC) -x c -E - >/dev/null 2>&1 \
    && echo -ftls-model=initial-exec)
# zig cc has what unwinds the stack in a library of its own.
LIBS := -lm $(if $(findstring linux,$(TARGET)),-ldl $(if $(findstring zig,$(CC)),-lunwind))
LINKER_TAKES = $(shell echo 'int mxl;' | $(CC) -shared $(1) -x c -o /dev/null - >/dev/null 2>&1 && echo "$(1)")
LINK = $(CC) $(SHARED) $(MXL_LDFLAGS) $(OWN_LDFLAGS) -o $@ $(OBJECTS) $(LIBS)
# Outside Linux the linker leaves out what a debugger would read: strip does not know these files.
BARE = $(if $(SANITIZE),,-s)

# The second name, libmxnet, is the same library: a process has one.
ifneq ($(WINDOWS),)
# A library whose functions are those of mxlite.dll: each export says so.
SHARED = -shared $(BARE) -Wl,--out-implib,$(BUILD)/libmxlite.dll.a
LINK_MXNET = $(CC) -shared $(BARE) -Wl,--out-implib,$(BUILD)/libmxnet.dll.a -o $@ $(BUILD)/obj/forward.o \
    $(BUILD)/libmxnet.def

$(IMPORTS): $(LIBRARY) $(MXNET_LIBRARY)
$(BUILD)/mxlite.lib: $(BUILD)/libmxlite.dll.a
	$(Q)cp $< $@
$(BUILD)/libmxnet.lib: $(BUILD)/libmxnet.dll.a
	$(Q)cp $< $@

$(MXNET_LIBRARY): $(BUILD)/libmxnet.def $(BUILD)/obj/forward.o
$(BUILD)/obj/forward.o: $(BUILD)/flags
	@mkdir -p $(@D)
	$(Q)echo 'extern int mxl_forward; int mxl_forward;' | $(CC) -O2 -x c -c -o $@ -
$(BUILD)/libmxnet.def: $(HEADERS)
	@{ echo 'LIBRARY $(MXNET_NAME)'; echo EXPORTS; for header in $(filter %.h,$(HEADERS)); do \
	    $(CC) -E -P -DMXL_API=mxl_exported -Iinclude $$header; done | tr '\n' ' ' | sed 's/mxl_exported/\n&/g' | \
	    sed -n 's/^mxl_exported[^(;]*[ *]\([A-Za-z0-9_]*\)(.*/\1 = mxlite.\1/p' | sort -u; } > $@
else ifneq ($(MACOS),)
# A link, which dyld follows.
SHARED = -dynamiclib $(BARE) -Wl,-install_name,@rpath/$(@F)
LINK_MXNET = ln -s $(SHARED_NAME) $@
else
# Complete by itself. Where the loader finds a libmxlite.so too (beside it, or loaded already), it takes all functions
# from that one (DT_AUXILIARY). A loader without that, and sanitizers, which would see every variable twice, get a
# link. -static-libgcc: what catches exceptions (Makefile) names a function of libgcc that never runs.
# (The linker is asked about these two only where something is linked.)
SYMBOLIC = $(call LINKER_TAKES,-Wl$(comma)-Bsymbolic-functions)
# Without page boundaries between code and constants: 12 KB less.
JOINED = $(call LINKER_TAKES,-Wl$(comma)-z$(comma)noseparate-code)
SHARED = -shared -static-libgcc -Wl,-soname,$(@F) $(SYMBOLIC) $(JOINED) -Wl,-z,nodelete $(if $(SANITIZE),,-Wl,-z,defs)
ALIAS := $(if $(call LINKER_TAKES,-Wl$(comma)--auxiliary=libmxlite.so),-Wl$(comma)--auxiliary=libmxlite.so \
    -Wl$(comma)-rpath$(comma)'$$ORIGIN')
TWICE = $(if $(SANITIZE),,$(ALIAS))
LINK_MXNET = $(if $(TWICE),$(LINK) $(TWICE),ln -s $(SHARED_NAME) $@)
endif

$(LIBRARY): $(OBJECTS) $(BUILD)/sources
	@echo "LINK $@"
	$(if $(OBJECTS),,$(error there are no C sources under capi/))
	$(Q)$(LINK)

$(MXNET_LIBRARY): $(OBJECTS) $(BUILD)/sources
	@echo "LINK $@"
	@rm -f $@
	$(Q)$(LINK_MXNET)

# What a wheel, which has no links, holds of them: stripped on Linux.
STRIP ?= strip --strip-unneeded
NATIVE := $(addprefix $(BUILD)/native/,$(SHARED_NAME) $(if $(MACOS),,$(MXNET_NAME)) $(IMPORT_NAMES))
$(NATIVE): $(BUILD)/native/%: $(BUILD)/% $(LIBRARY)
	@mkdir -p $(@D)
	$(Q)cp $< $@
	$(if $(WINDOWS)$(MACOS),,$(Q)$(STRIP) $@)
