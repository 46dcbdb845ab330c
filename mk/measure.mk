# What is measured: speed, accuracy, and whether the tests notice a broken line. Included by the Makefile.
.PHONY: bench bench-bindings accuracy accuracy-full mutate ways

#: make bench    mxlite beside NumPy, PyTorch and the real MXNet 1.9.1, small arrays, large ones, layers and networks
#: make bench-bindings  what x + y costs from each language of bindings/, into the table of bindings/README.md
#: make accuracy  docs/accuracy.md: errors of functions in units of the last place, beside NumPy's and PyTorch's
#: make accuracy-full  the same, after all 2^32 floats through every function that has changed; some 40 minutes for all
#: make ways     trace what runs for four values, from Python to the loop; fails if a way has become longer
#: make mutate   break MUTANTS (40) lines of rules and kernels, one at a time, in a copy: tests must fail

# ---- speed --------------------------------------------------------------------------------------
# BENCH_ARGS: see the programs' --help.
bench-bindings: venv
	@$(BENCH_ENV) $(VPY) benchmarks/bindings.py --build '$(BUILD)' --page bindings/README.md $(BENCH_ARGS)

# BENCH_LARGE_ARGS is large.py's, BENCH_LAYERS_ARGS layers.py's, BENCH_CHAINS_ARGS chains.py's.
BENCH_ENV = $(LIBRARY_ENV) CC='$(CC)'
BENCH_PEERS = --torch $(PEERS)/bin/python --mxnet $(ORACLE)/bin/python
bench: venv $(PEERS)/jax.stamp $(ORACLE)/mxnet.stamp $(ARRAY_API)/array-api.stamp
	@$(BENCH_ENV) $(VPY) benchmarks/run.py $(BENCH_PEERS) $(BENCH_ARGS)
	@$(BENCH_ENV) $(VPY) benchmarks/usual.py $(BENCH_PEERS)
	@$(BENCH_ENV) $(VPY) benchmarks/usual_numpy.py $(BENCH_PEERS)
	@$(BENCH_ENV) $(VPY) benchmarks/fourier.py $(BENCH_PEERS) --scipy $(ARRAY_API)/bin/python
	@$(BENCH_ENV) $(VPY) benchmarks/step.py $(BENCH_PEERS)
	@$(BENCH_ENV) $(VPY) benchmarks/sparse.py $(BENCH_PEERS) --scipy $(ARRAY_API)/bin/python
	@$(BENCH_ENV) $(VPY) benchmarks/sparse_step.py $(BENCH_PEERS)
	@$(BENCH_ENV) $(VPY) benchmarks/large.py $(BENCH_PEERS) $(BENCH_LARGE_ARGS)
	@$(BENCH_ENV) $(VPY) benchmarks/layers.py $(BENCH_PEERS) $(BENCH_LAYERS_ARGS)
	@$(BENCH_ENV) $(VPY) benchmarks/chains.py $(BENCH_PEERS) $(BENCH_CHAINS_ARGS)

# ---- accuracy --------------------------------------------------------------------------------------
# docs/accuracy.md, beside NumPy and PyTorch; ACCURACY_ARGS names functions, where not all are meant. What both measure
# stands in tests/accuracy/results.json.
ACCURACY := $(BUILD)/accuracy
$(PEERS)/mpmath.stamp: $(PEERS)/peers.stamp
	@$(PEERS)/bin/python -m pip install -q --disable-pip-version-check 'mpmath>=1.3'
	@touch $@

$(ACCURACY)/exact.so: tests/accuracy/exact.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu17 -O3 -march=native -ffp-contract=off -fno-math-errno -fno-trapping-math -fPIC -shared -o $@ $< -lm

accuracy: lib $(PEERS)/mpmath.stamp $(ACCURACY)/exact.so
	@$(PEER_PY) tests/accuracy/make_page.py $(ACCURACY)/exact.so $(ACCURACY) $(ACCURACY_ARGS)

accuracy-full: lib $(PEERS)/mpmath.stamp $(ACCURACY)/exact.so
	@$(PEER_PY) tests/accuracy/exhaustive.py $(ACCURACY)/exact.so tests/accuracy/results.json $(ACCURACY_ARGS)
	@$(MAKE) accuracy

# ---- mutation check --------------------------------------------------------------------------------
# Not part of `make test`: a second or two for each mutant. MUTATE_ARGS: see tools/mutate.py --help.
MUTANTS ?= 40
mutate: venv
	@nice $(VPY) tools/mutate.py --sample $(MUTANTS) --jobs $(JOBS) $(MUTATE_ARGS)

# ---- the ways of values --------------------------------------------------------------------------------
# A library of its own, in which every function says that it runs.
WAYS := $(BUILD)/ways
$(WAYS)/trace.o: tools/ways/trace.c
	@mkdir -p $(@D)
	$(Q)$(CC) -std=gnu17 -O1 $(WARNINGS) -fPIC -c -o $@ $<

ways: venv $(WAYS)/trace.o
	@$(MAKE) lib BUILD=$(WAYS) LTO= WERROR= OPTIMIZE='-O0 -g1' OPTIMIZE_LOOPS= VECTORISE= OPTIMIZE_CALLS= \
	    CFLAGS_EXTRA=-finstrument-functions LDFLAGS_EXTRA='$(abspath $(WAYS)/trace.o)'
	@MXLITE_LIBRARY='$(abspath $(WAYS)/libmxlite.so)' $(VPY) tools/ways/show_ways.py '$(WAYS)/libmxlite.so' $(WAYS_ARGS)
