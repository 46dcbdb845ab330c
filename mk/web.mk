# mxlite in WebAssembly: the module, the package of bindings/web, and their tests in Node.js. zig from PyPI compiles it, as
# it does for other systems (mk/platforms.mk). Included by the Makefile.
.PHONY: wasm wasm-package test-wasm test-wasm-bits
#: make wasm     build/wasm/package: mxlite.wasm and its package for browsers and Node.js; zig from PyPI compiles it

# The module uses vectors of 128 bits, which all browsers have had since 2023, has one thread, and loads no other library.
# No other module links with it, so its code need not be position-independent.
WASM_CC = $(ZIG_CC) -target wasm32-wasi -msimd128
WASM_PARTS := $(filter-out library wide,$(ALL_PARTS))
WASM_CODEGEN := -fvisibility=hidden -fwrapv -fno-math-errno -fno-trapping-math
IN_WASM = +@$(MAKE) BUILD=$(BUILD)/wasm LTO= CC='$(WASM_CC)' AR='$(ZIG_AR)' PARTS='core $(WASM_PARTS)' \
    CODEGEN='$(WASM_CODEGEN)' TEST_LABEL=wasm RUN_WITH='node --single-threaded --no-warnings $(CURDIR)/tools/testing/run_wasm.mjs' \
    LDFLAGS_EXTRA=-Wl,--strip-all TEST_SKIP='$(WASM_SKIP)'
wasm: $(ZIG)/zig.stamp
	$(IN_WASM) wasm-package

# The linker keeps the exported functions and what they call. The stack grows down from 1 MB to address 0, so that an
# overflow is a trap.
WASM_LINK := -mexec-model=reactor -Wl,--export-dynamic -Wl,--export=malloc -Wl,--export=free \
    -Wl,-z,stack-size=1048576 -Wl,--strip-all
$(BUILD)/mxlite.wasm: $(OBJECTS) $(BUILD)/sources mk/web.mk
	@echo "LINK $@"
	$(Q)$(CC) -O2 $(WASM_LINK) -o $@ $(OBJECTS) -lm

# The files that Node's package has too are modules here.
WEB := bindings/web
WEB_FILES := index.js library.js wasi.js index.d.ts README.md package.json
WEB_SHARED := error.js front.js graphs.js prototypes.js
WEB_PACKAGE := $(WEB_FILES) $(WEB_SHARED) front.d.ts operators.d.ts mxlite.wasm
wasm-package: $(WEB_PACKAGE:%=$(BUILD)/package/%)
	@bytes=$$(cat $^ | gzip -9 | wc -c); echo "make wasm: $(BUILD)/package, $$bytes bytes compressed"

$(WEB_SHARED:%=$(BUILD)/package/%): $(BUILD)/package/%: bindings/node/%
	@mkdir -p $(@D)
	@sed -e "/^'use strict';$$/d" -e 's/^module.exports = /export default /' $< > $@

# All other files are copied.
$(WEB_FILES:%=$(BUILD)/package/%): $(BUILD)/package/%: $(WEB)/%
$(BUILD)/package/front.d.ts: bindings/node/index.d.ts
$(BUILD)/package/operators.d.ts: bindings/node/operators.d.ts
$(BUILD)/package/mxlite.wasm: $(BUILD)/mxlite.wasm
$(WEB_FILES:%=$(BUILD)/package/%) $(addprefix $(BUILD)/package/,front.d.ts operators.d.ts mxlite.wasm):
	@mkdir -p $(@D)
	@cp $< $@

# Left out: threads; what forks, sets limits of a process or duplicates descriptors; the heap's address
# space; locales; mathematical functions, whose references are musl's here, which are wrong for some numbers. Single
# tests are left out by NOT_WASM (tests/c/kits/harness.h).
WASM_SKIP := test_api_exchange test_api_memory test_api_profile test_api_replace test_api_save test_base_fork \
    test_base_heap test_base_reserve test_kernel_math test_kernel_math_f64 test_op_locale public_fork thread_%
#: make test-wasm  the C tests of its parts in Node.js as WebAssembly, the package's tests, every case of bindings/cases.json
test-platforms: test-wasm
test-wasm: wasm
	$(call NEED,node,nodejs)
	$(IN_WASM) test-c-run
	@MXLITE_WEB='$(abspath $(BUILD))/wasm/package' node --expose-gc --test bindings/web/test

#: make test-wasm-bits  results in WebAssembly have the bits of this processor's baseline level; koffi from npm
test-wasm-bits: wasm lib
	$(call NEED,npm,npm)
	@npm install --silent --no-audit --no-fund --prefix $(BUILD)/wasm/npm koffi
	@MXLITE_WEB='$(abspath $(BUILD))/wasm/package' NODE_PATH='$(abspath $(BUILD))/wasm/npm/node_modules' $(LIBRARY_ENV) \
	    MXLITE_VECTOR_LEVEL=baseline MXLITE_BACKENDS=none node $(WEB)/bits.mjs
