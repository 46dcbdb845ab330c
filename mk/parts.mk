# Optional parts: `make lib PARTS="core"` builds a library without them, PARTS="core numpy" one with that part. A function
# of the C API whose part is left out answers -1 with an error that says so (absent.c, which is made here); an operator
# is not registered, and the error names the parts that there are not. docs/from-c.md says what each holds.

#: make test-parts  a library of the core alone: its size, its exports, and the tests of what it has
ALL_PARTS := optimizers batches linalg fourier quantized bfloat16 sequences sparse statistics torch symbols numpy vision images iterators \
    kvstore library old wide
PARTS ?= core $(ALL_PARTS)

FILES_optimizers := capi/kernel/optimizer/% capi/ops/optimizer/%
FILES_batches := capi/ops/batch/% $(patsubst %,capi/%.c,engine/batch/batch engine/batch/batch_rules api/autograd/api_batched)
FILES_linalg := $(filter-out %/blas_call.c,$(wildcard capi/kernel/linalg/*.c)) capi/ops/linalg/linalg_%
FILES_fourier := capi/kernel/fourier/% capi/ops/linalg/fourier.c
FILES_sequences := $(filter-out %/hawkes.c,$(wildcard capi/kernel/rnn/*.c)) capi/kernel/attention/% capi/ops/nn/rnn% \
    capi/ops/nn/attention.c capi/ops/nn/scaled_attention.c capi/ops/loss/ctc.c capi/symbol/passes/attention.c
FILES_sparse := $(patsubst %,capi/%.c,kernel/sparse/choose ops/sparse/dgl ops/sparse/dgl_sample)
FILES_statistics := $(patsubst %,capi/%.c,kernel/random/density ops/random/density ops/random/sample \
    ops/random/multinomial kernel/rnn/hawkes ops/nn/hawkes kernel/math/bessel kernel/math/incomplete \
    ops/elementwise/functions kernel/sort/ranks ops/index/ranks ops/index/scatter_reduce)
FILES_torch := capi/ops/elementwise/combined.c capi/ops/elementwise/soft.c capi/ops/loss/nll.c
FILES_library := capi/api/library/%
FILES_bfloat16 := capi/kernel/bfloat16/%
FILES_quantized := capi/kernel/quantized/% capi/ops/quantized/% capi/symbol/passes/quantiz% \
    capi/api/symbol/quantize.c
FILES_images := capi/kernel/codec/codec.c capi/kernel/codec/j% capi/kernel/codec/png.c capi/data/images/% \
    $(patsubst %,capi/kernel/vision/%.c,colour image_resize pixels warp) \
    $(patsubst %,capi/ops/vision/%.c,image image_random resize cv)
FILES_iterators := capi/data/% capi/api/data/iterators.c capi/api/data/records.c capi/kernel/codec/inflate.c
FILES_kvstore := capi/kvstore/% capi/api/kvstore/%
FILES_vision := capi/kernel/spatial/% capi/kernel/vision/boxes.c capi/ops/vision/% \
    $(patsubst %,capi/ops/nn/%.c,im2col resample sampler upsampling)
FILES_symbols := capi/symbol/% capi/api/symbol/% capi/engine/run/amp.c capi/ops/control.c capi/kernel/winograd/six% \
    $(patsubst %,capi/ops/%.c,conv/fused_convolution conv/fast_convolution elementwise/gelu linalg/fused_dense \
    nn/batch_norm_cut)
FILES_numpy := capi/ops/numpy/%
FILES_old := capi/api/legacy/% capi/api/packed/% capi/ops/refused.c

# What a part cannot be without.
NEEDS_images := iterators
NEEDS_numpy := linalg statistics
NEEDS_torch := numpy
NEEDS_library := symbols
NEEDS_old := images iterators symbols
NEEDS_quantized := symbols
WITH := $(PARTS) $(foreach part,$(PARTS),$(NEEDS_$(part)))
UNKNOWN_PARTS := $(filter-out core $(ALL_PARTS),$(PARTS))
$(if $(UNKNOWN_PARTS),$(error PARTS: there is no $(UNKNOWN_PARTS); there are core $(ALL_PARTS)))
ABSENT_PARTS := $(filter-out $(WITH),$(ALL_PARTS))

# What these parts list is theirs alone, also where a folder of another part has it.
OWN := images quantized
part_files = $(filter $(FILES_$(1)),$(filter-out $(foreach part,$(filter-out $(1),$(OWN)),$(FILES_$(part))),$(2)))
ABSENT_SOURCES := $(foreach part,$(ABSENT_PARTS),$(call part_files,$(part),$(SOURCES)))
SOURCES := $(filter-out $(ABSENT_SOURCES),$(SOURCES))
# What an unknown operator may be of: these parts have none.
ABSENT_OPERATORS := $(filter-out iterators kvstore library wide,$(ABSENT_PARTS))
PARTS_FLAGS := $(foreach part,$(ABSENT_PARTS),-DMXL_WITHOUT_$(shell echo $(part) | tr a-z A-Z)) \
    $(if $(ABSENT_OPERATORS),-DMXL_ABSENT='"$(strip $(ABSENT_OPERATORS))"')

# The functions that a file of capi/api defines: a definition, or a macro for one, begins a line.
DEFINED_IN = sed -nE 's/^(int |[A-Z_]+\()((MX|NN)[A-Za-z0-9_]+)[(,].*/\2/p' $(1)
ABSENT_OBJECT := $(if $(ABSENT_SOURCES),$(BUILD)/obj/absent.o)

$(BUILD)/absent.c: $(ABSENT_SOURCES) $(BUILD)/flags
	@{ echo '/* Functions of the parts that this build lacks. Made by mk/parts.mk. */'; echo '#include "api/refused.h"'; \
	$(foreach part,$(ABSENT_PARTS),for name in $$($(call DEFINED_IN,$(call part_files,$(part),$(filter capi/api/%,$(ABSENT_SOURCES))) /dev/null)); do \
	    echo "REFUSED($$name, \"this build has no $(part)\")"; done;) } > $@

$(BUILD)/obj/absent.o: $(BUILD)/absent.c
	@mkdir -p $(@D)
	$(Q)$(CC) $(MXL_CFLAGS) -c -o $@ $<

# ---- the core alone ----------------------------------------------------------------------------------
CORE_BYTES := 2500000
# C tests that ask for a part, by the part.
PARTS_TESTS := test_op_registry test_op_infer test_op_in_place test_engine_many test_engine_overlaps test_ops_limits \
    test_api_exchange test_api_info test_api_infer test_api_replace test_api_small test_api_symbol test_api_bad \
    test_api_boxes test_api_imdecode test_api_images test_api_iterators test_api_libsvm test_api_packed test_api_records \
    test_autograd_control test_kernel_bessel test_kernel_codec test_kernel_density test_kernel_fft test_kernel_lapack \
    test_kernel_quantized test_kernel_bytes test_kernel_bfloat16 \
    test_ops_ranks test_kvstore \
    test_sparse_graphs test_sparse_steps test_walk_calls test_walk_control test_walk_custom test_walk_iterators test_walk_records test_walk_stores test_walk_symbols thread_kvstore \
    thread_symbol
CORE_TESTS = $(filter-out $(PARTS_TESTS:%=$(BUILD)/tests/%),$(TEST_PROGRAMS))

.PHONY: test-parts test-core
test-parts: venv
	@$(MAKE) test-core PARTS=core BUILD=$(BUILD)/core

test-core: lib native
	@$(MAKE) $(CORE_TESTS)
	@bytes=$$(wc -c < $(BUILD)/native/$(SHARED_NAME)); echo "test-parts: the core is $$bytes bytes, stripped"; \
	    [ $$bytes -le $(CORE_BYTES) ] || { echo "test-parts: more than $(CORE_BYTES)"; exit 1; }
	@$(VPY) tools/check_exports.py $(LIBRARY) $(MXNET_LIBRARY)
	@sh tools/testing/run_c_tests.sh test-parts $(TEST_TIMEOUT) $(BUILD) $(CORE_TESTS)
	@MXLITE_TEST_PARTS=1 MXLITE_TEST_BRIEF=1 MXLITE_BINDING=ctypes $(LIBRARY_ENV) $(PYCACHE) $(VPY) -m pytest -q \
	    -p no:cacheprovider -m "not whole" $(PLAIN_TESTS)
