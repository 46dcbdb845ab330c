# Beside others: MXNet 1.9.1, PyTorch and JAX, clients' own tests, other languages. None of it is
# part of `make test`. Included by the Makefile.
.PHONY: oracle test-peers test-torch test-dropin test-clients test-clients-c clients-oracle test-bindings \
    test-notebooks

#: make oracle   make the answers of the real MXNet 1.9.1 again (tests/reference); ORACLE_ARGS=--new: to new rows
#: make test-peers  arrays shared with PyTorch and JAX, files and pickles exchanged with the real MXNet 1.9.1
#: make test-torch  mxlite.torch beside PyTorch 2.13.0, in one process: calls of backward, graphs, 2,000 programs,
#:                  transforms of torch.func of random calls, pairs of features under checkpoints and saved_tensors_hooks, layers, optimizers and schedules,
#:                  wrong arguments and layouts, and
#:                  100,000 calls of all functions
#:                  (CALLS_ARGS='--first 7000000 --count 1000 --name clamp')
#: make test-dropin  Apache's package mxnet 1.9.1 on this library, beside itself (DROPIN_ARGS='--name kvstore'), and
#:                  random programs of sparse arrays on both, and on mxlite (SPARSE_CALLS=20000)
#: make test-clients  the tests of TensorLy, einops, GluonTS and MXFusion, with mxlite as mxnet (tests/clients/README.md);
#:                  CLIENTS_PYTHON=3.12 or 3.13: on that Python, with NumPy 2 and packages of today
#: make test-clients-c  programs in C that call the library as clients in R, Perl, Go and C++ do (tests/clients/c); seconds
#: make clients-oracle  their outcomes, and what tests/clients/programs find, on the real MXNet 1.9.1 again
#: make test-bindings  programs in other languages (bindings/), LANGUAGES="cpp lua" or all; root: installs what is missing
#: make test-notebooks  run examples/notebooks, and look at what they show (with Chromium, where it is); build/notebooks

# ---- peers: the real MXNet 1.9.1 (the specification), PyTorch, JAX ---------------------------------
PEERS := .venvs/peers
ORACLE := .venvs/mxnet
# Clients and packages on another Python, if it is given.
CLIENTS_PYTHON ?=
CLIENTS_NEWER := .venvs/clients-newer-$(CLIENTS_PYTHON)

$(PEERS)/peers.stamp:
	@sh tools/make_venv.sh "$(PYTHON)" $(PEERS)
	@sh tools/install_torch.sh $(PEERS)
	@touch $@

$(PEERS)/jax.stamp: $(PEERS)/peers.stamp
	@$(PEERS)/bin/python -m pip install -q --disable-pip-version-check 'jax==0.10.2'
	@touch $@

$(ORACLE)/mxnet.stamp:
	@sh tools/make_venv.sh "$$(sh tools/find_python.sh 3.9 3.10 3.11)" $(ORACLE)
	@$(ORACLE)/bin/python -m pip install -q --disable-pip-version-check mxnet==1.9.1 numpy==1.23.5
	@touch $@

oracle: $(ORACLE)/mxnet.stamp
	@$(ORACLE)/bin/python tests/reference/make_reference.py $(ORACLE_ARGS)

#: make oracle-gluon  the same for tests/python/gluon/gluon_cases; ORACLE_ARGS='--new layers losses': new cases of two modules
.PHONY: oracle-gluon
oracle-gluon: $(ORACLE)/mxnet.stamp
	@$(ORACLE)/bin/python tests/reference/make_gluon.py $(ORACLE_ARGS)

#: make oracle-symbols  the same for tests/python/symbols
.PHONY: oracle-symbols
oracle-symbols: $(ORACLE)/mxnet.stamp
	@$(ORACLE)/bin/python -W ignore tests/reference/make_symbols.py
	@$(ORACLE)/bin/python -W ignore tests/reference/make_inference.py

#: make test-scripts  training scripts for MXNet (tests/scripts) run here and on the real 1.9.1: losses and time
.PHONY: test-scripts
test-scripts: venv $(ORACLE)/mxnet.stamp
	@$(LIBRARY_ENV) $(VPY) tests/scripts/run.py --mxnet $(ORACLE)/bin/python $(SCRIPTS_ARGS)

#: make oracle-packages  writes what the programs of tests/scripts/packages find on the real 1.9.1
.PHONY: oracle-packages
oracle-packages: $(ORACLE)/mxnet.stamp
	@$(ORACLE)/bin/python -W ignore tests/clients/run_programs.py tests/scripts/packages tests/scripts/packages/expected.json

#: make test-models  networks of the model zoo exported by the real 1.9.1 run here, and the other way round (tests/models)
.PHONY: test-models
test-models: venv $(ORACLE)/mxnet.stamp
	@$(LIBRARY_ENV) $(VPY) tests/models/run.py --mxnet $(ORACLE)/bin/python $(MODELS_ARGS)

SPARSE_CALLS ?= 300
SPARSE_PROGRAMS = $(ORACLE)/bin/python -W ignore tests/dropin/sparse/compare.py '$(abspath $(BUILD))' \
    --calls $(SPARSE_CALLS) $(SPARSE_ARGS)

# Apache's Python package, unmodified, on this library and on its own: the same answers.
test-dropin: lib $(ORACLE)/mxnet.stamp
	@$(ORACLE)/bin/python -W ignore tests/dropin/run.py '$(abspath $(BUILD))/libmxnet.so' $(DROPIN_ARGS)
	@$(SPARSE_PROGRAMS)

#: make test-sparse-programs  these programs alone (SPARSE_CALLS; SPARSE_ARGS='--first 5000 --all')
.PHONY: test-sparse-programs
test-sparse-programs: lib $(ORACLE)/mxnet.stamp
	@$(SPARSE_PROGRAMS)

# Arrays shared with PyTorch and JAX; files and pickles, each way between mxlite and the real MXNet 1.9.1.
PEER_PY = $(LIBRARY_ENV) MXLITE_BINDING=ctypes PYTHONPATH=. $(PEERS)/bin/python
test-peers: venv $(PEERS)/jax.stamp $(ORACLE)/mxnet.stamp
	@$(PEER_PY) tests/clients/check_torch.py
	@$(PEER_PY) tests/clients/check_jax.py
	@rm -rf $(BUILD)/files && $(LIBRARY_ENV) $(VPY) tests/reference/write_files.py $(BUILD)/files
	@$(ORACLE)/bin/python tests/reference/make_files.py --read $(BUILD)/files
	@rm -rf $(BUILD)/peers
	@$(ORACLE)/bin/python -W ignore tests/clients/check_files.py write $(BUILD)/peers/mxnet
	@$(PEER_PY) tests/clients/check_files.py write $(BUILD)/peers/mxlite
	@$(ORACLE)/bin/python -W ignore tests/clients/check_files.py read $(BUILD)/peers/mxlite $(BUILD)/peers/mxnet
	@$(PEER_PY) tests/clients/check_files.py read $(BUILD)/peers/mxnet $(BUILD)/peers/mxlite

#: make test-packages  GluonCV, GluonNLP, Keras and Sockeye on mxlite beside the real MXNet 1.9.1; CLIENTS_PYTHON=3.12
#:                  has mxlite run them on that Python, with NumPy 2
PACKAGES := .venvs/packages
.PHONY: test-packages
$(PACKAGES)/packages.stamp: tests/clients/packages/requirements.txt $(ORACLE)/mxnet.stamp
	@$(ORACLE)/bin/python -m pip install -q --no-deps --upgrade --target $(PACKAGES) -r $<
	@touch $@

test-packages: lib $(PACKAGES)/packages.stamp $(if $(CLIENTS_PYTHON),$(CLIENTS_NEWER)/clients.stamp)
	@$(LIBRARY_ENV) $(ORACLE)/bin/python tests/clients/packages/run_packages.py --site $(PACKAGES) \
	    $(if $(CLIENTS_PYTHON),--python $(CLIENTS_NEWER)/bin/python) $(PACKAGES_ARGS)

# The notebooks, without a browser; Chromium, where there is one, draws what they show.
NOTEBOOKS := .venvs/notebooks
$(NOTEBOOKS)/notebooks.stamp:
	@sh tools/make_venv.sh "$(PYTHON)" $(NOTEBOOKS)
	@$(NOTEBOOKS)/bin/python -m pip install -q --disable-pip-version-check 'numpy>=1.23' 'matplotlib>=3.6' \
	    'nbclient>=0.8' 'nbconvert>=7' 'ipykernel>=6'
	@touch $@

test-notebooks: lib $(NOTEBOOKS)/notebooks.stamp
	@$(LIBRARY_ENV) MXLITE_BINDING=ctypes $(NOTEBOOKS)/bin/python tests/notebooks/run.py --out '$(BUILD)/notebooks' \
	    $(NOTEBOOKS_ARGS)

# mxlite.torch beside PyTorch itself.
TORCH := .venvs/torch

$(TORCH)/torch.stamp: tools/install_torch.sh
	@sh tools/make_venv.sh "$(PYTHON)" $(TORCH)
	@sh tools/install_torch.sh $(TORCH)
	@$(TORCH)/bin/python -m pip install -q --disable-pip-version-check 'pytest>=8'
	@touch $@

TORCH_PY = $(LIBRARY_ENV) MXLITE_BINDING=ctypes PYTHONPATH=. $(TORCH)/bin/python
test-torch: lib $(TORCH)/torch.stamp
	@$(TORCH_PY) -m pytest -q tests/python/pytorch/test_torch_style.py tests/python/pytorch/test_torch_style_graph.py \
	    $(PYTEST_ARGS)
	@$(TORCH_PY) tests/torch/check_programs.py
	@$(TORCH_PY) tests/torch/tutorials/check_tutorials.py
	@$(TORCH_PY) tests/torch/check_pairs.py
	@$(TORCH_PY) tests/torch/transforms/check_transforms.py
	@$(TORCH_PY) tests/torch/modules/check_layers.py
	@$(TORCH_PY) tests/torch/modules/check_values.py
	@$(TORCH_PY) tests/torch/modules/check_states.py
	@$(TORCH_PY) tests/torch/modules/missing_names.py --check
	@$(TORCH_PY) tests/torch/modules/check_refusals.py
	@$(TORCH_PY) tests/torch/check_calls.py $(CALLS_ARGS)

#: make test-array-api  mxlite.array_api beside array-api-strict, in each mode of shapes; array-api-compat, array-api-extra,
#:                  SciPy and scikit-learn on its arrays; and where ARRAY_API_TESTS names a folder with it, the
#:                  public test suite of the standard (ARRAY_API_ARGS='--max-examples 20 -k test_sum');
#:                  ARRAY_API_EXAMPLES=400: other examples, and more
ARRAY_API := .venvs/array-api
ARRAY_API_TESTS ?=
.PHONY: test-array-api
$(ARRAY_API)/array-api.stamp: tests/array_api/requirements.txt
	@sh tools/make_venv.sh "$$(sh tools/find_python.sh 3.11 3.12 3.13 3.14)" $(ARRAY_API)
	@$(ARRAY_API)/bin/python -m pip install -q --disable-pip-version-check -r $<
	@touch $@

ARRAY_API_PY = $(LIBRARY_ENV) MXLITE_BINDING=ctypes PYTHONPATH='$(abspath .):$(abspath tests/array_api)' \
    '$(abspath $(ARRAY_API))/bin/python' -m pytest -q -p no:cacheprovider
ARRAY_API_RUNS := $(sort $(wildcard tests/python/numpy/test_array_api_*.py)) tests/array_api
test-array-api: lib $(ARRAY_API)/array-api.stamp
	@$(ARRAY_API_PY) $(ARRAY_API_RUNS) $(PYTEST_ARGS)
	@$(ARRAY_API_PY) -p numpy_mode $(ARRAY_API_RUNS) $(PYTEST_ARGS)
	@if [ -n '$(ARRAY_API_TESTS)' ]; then \
	    $(ARRAY_API)/bin/python -m pip install -q --disable-pip-version-check -r '$(ARRAY_API_TESTS)/requirements.txt' && \
	    cd '$(ARRAY_API_TESTS)' && ARRAY_API_TESTS_MODULE=mxlite.array_api $(ARRAY_API_PY) -p numpy_mode \
	        array_api_tests $(ARRAY_API_ARGS); \
	else \
	    echo "test-array-api: the standard's public suite was not run: ARRAY_API_TESTS names no folder with it"; \
	fi

#: make test-onnx  mx.onnx beside ONNX Runtime: ONNX's own tests, models exported by PyTorch and scikit-learn, the zoo,
#:                  damaged files (ONNX_FUZZ_ARGS='--seconds 600 --seed 3': others, and for longer)
ONNX := .venvs/onnx
ONNX_FUZZ_ARGS ?= --count 1500
.PHONY: test-onnx
$(ONNX)/onnx.stamp:
	@sh tools/make_venv.sh "$(PYTHON)" $(ONNX)
	@$(ONNX)/bin/python -m pip install -q --disable-pip-version-check 'onnx>=1.16' onnxruntime skl2onnx 'pytest>=8' 'pillow>=9'
	@touch $@

$(PEERS)/onnx.stamp: $(PEERS)/peers.stamp
	@$(PEERS)/bin/python -m pip install -q --disable-pip-version-check 'onnx>=1.16' onnxscript
	@touch $@

ONNX_PY = $(LIBRARY_ENV) MXLITE_BINDING=ctypes PYTHONPATH=. $(ONNX)/bin/python -W ignore
test-onnx: lib $(ONNX)/onnx.stamp $(PEERS)/onnx.stamp
	@$(ONNX_PY) tests/onnx/show_operators.py --check docs/onnx.md
	@$(ONNX_PY) tests/onnx/backend.py
	@$(ONNX_PY) -m pytest -q -p no:cacheprovider tests/python/onnx_files $(PYTEST_ARGS)
	@$(ONNX_PY) tests/onnx/sklearn_models.py
	@$(PEERS)/bin/python -W ignore tests/onnx/torch_models.py '$(BUILD)/onnx' > /dev/null 2>&1
	@$(ONNX_PY) tests/onnx/check_models.py '$(BUILD)/onnx'
	@$(ONNX_PY) tests/onnx/fuzz.py --files '$(BUILD)/onnx' $(ONNX_FUZZ_ARGS)

# The clients' own tests: those that pass on the real MXNet 1.9.1 must pass here.
CLIENTS := .venvs/clients
CLIENTS_ORACLE := .venvs/clients-mxnet
CLIENTS_NEED := scipy 'pytest>=8' parameterized

$(CLIENTS)/clients.stamp: tests/clients/sources.txt
	@sh tools/make_venv.sh "$(PYTHON)" $(CLIENTS)
	@$(CLIENTS)/bin/python -m pip install -q --disable-pip-version-check 'numpy>=2' $(CLIENTS_NEED)
	@$(CLIENTS)/bin/python -m pip download -q --disable-pip-version-check --no-deps --no-binary tensorly,einops \
	    --require-hashes -r $< -d $(CLIENTS)/sources
	@touch $@

$(CLIENTS_ORACLE)/clients.stamp:
	@sh tools/make_venv.sh "$$(sh tools/find_python.sh 3.9)" $(CLIENTS_ORACLE)
	@$(CLIENTS_ORACLE)/bin/python -m pip install -q --disable-pip-version-check mxnet==1.9.1 numpy==1.23.5 \
	    scipy==1.10.1 $(CLIENTS_NEED)
	@touch $@

# Those that use Gluon want packages of their time, and so a Python that has these; one environment has mxlite in
# MXNet's place, the other MXNet.
GLUON_CLIENTS := tests/clients/gluon_clients
CLIENTS_GLUON := .venvs/clients-gluon
CLIENTS_GLUON_ORACLE := .venvs/clients-gluon-mxnet

$(CLIENTS_GLUON)/clients.stamp $(CLIENTS_GLUON_ORACLE)/clients.stamp: $(GLUON_CLIENTS)/requirements.txt
	@sh tools/make_venv.sh "$$(sh tools/find_python.sh 3.9)" $(@D)
	@$(@D)/bin/python -m pip install -q --disable-pip-version-check -r $< $(GLUON_CLIENTS_MXNET)
	@touch $@
$(CLIENTS_GLUON_ORACLE)/clients.stamp: GLUON_CLIENTS_MXNET := mxnet==1.9.1

$(CLIENTS_GLUON)/sources.stamp: $(GLUON_CLIENTS)/sources.txt $(CLIENTS_GLUON)/clients.stamp
	@PIP_CONSTRAINT='$(abspath $(GLUON_CLIENTS))/build.txt' $(@D)/bin/python -m pip download -q \
	    --disable-pip-version-check --no-deps --no-binary gluonts,mxfusion --require-hashes -r $< -d $(@D)/sources
	@touch $@

# On a Python of today, with NumPy 2, by `mxlite run`; GluonTS is one that knows today's pandas.
$(CLIENTS_NEWER)/clients.stamp: tests/clients/newer/requirements.txt tests/clients/newer/packages.txt
	@sh tools/make_venv.sh "$$(sh tools/find_python.sh $(CLIENTS_PYTHON))" $(@D)
	@$(@D)/bin/python -m pip install -q --disable-pip-version-check -r $<
	@$(@D)/bin/python -m pip install -q --disable-pip-version-check --no-deps -r $(word 2,$^)
	@touch $@

NEWER_SOURCES := .venvs/clients-newer-sources
$(NEWER_SOURCES)/sources.stamp: tests/clients/newer/sources.txt $(CLIENTS)/clients.stamp $(CLIENTS_GLUON)/sources.stamp
	@$(CLIENTS)/bin/python -m pip download -q --disable-pip-version-check --no-deps --no-binary gluonts --require-hashes \
	    -r $< -d $(@D)
	@cp $(CLIENTS)/sources/*.tar.gz $(CLIENTS_GLUON)/sources/*.tar.gz $(@D)
	@touch $@

ifeq ($(CLIENTS_PYTHON),)
test-clients: lib $(CLIENTS)/clients.stamp $(CLIENTS_GLUON)/sources.stamp
	@$(LIBRARY_ENV) MXLITE_BINDING=ctypes $(CLIENTS)/bin/python tests/clients/run_clients.py $(CLIENTS)/sources \
	    tensorly einops
	@$(LIBRARY_ENV) MXLITE_BINDING=ctypes $(CLIENTS_GLUON)/bin/python tests/clients/run_clients.py \
	    $(CLIENTS_GLUON)/sources gluonts mxfusion
else
test-clients: lib $(CLIENTS_NEWER)/clients.stamp $(NEWER_SOURCES)/sources.stamp
	@$(LIBRARY_ENV) MXLITE_BINDING=ctypes $(CLIENTS_NEWER)/bin/python tests/clients/run_clients.py $(NEWER_SOURCES) \
	    tensorly einops mxfusion gluonts-newer --run
endif

# Compiled with -lmxnet, and run where both libraries are and where libmxnet.so is alone.
test-clients-c: lib
	@sh tests/clients/c/run.sh '$(CC)' '$(abspath $(BUILD))'

clients-oracle: $(CLIENTS)/clients.stamp $(CLIENTS_ORACLE)/clients.stamp $(CLIENTS_GLUON)/sources.stamp \
        $(CLIENTS_GLUON_ORACLE)/clients.stamp $(NEWER_SOURCES)/sources.stamp
	@$(CLIENTS_ORACLE)/bin/python tests/clients/run_clients.py $(CLIENTS)/sources tensorly einops --record
	@$(CLIENTS_GLUON_ORACLE)/bin/python tests/clients/run_clients.py $(CLIENTS_GLUON)/sources gluonts mxfusion --record
	@$(CLIENTS_GLUON_ORACLE)/bin/python tests/clients/run_clients.py $(NEWER_SOURCES) gluonts-newer --record
	@$(CLIENTS_ORACLE)/bin/python -W ignore tests/clients/run_programs.py tests/clients/programs \
	    tests/clients/programs/expected.json

# ---- programs in other languages --------------------------------------------------------------------
LANGUAGES ?=
test-bindings: lib
	@BUILD='$(abspath $(BUILD))' sh tools/bindings.sh test $(LANGUAGES)
