# Wheels for all platforms, and releases. Included by the Makefile; tools/release/README.md describes both.
.PHONY: wheels try-wheels test-wheels release
#: make wheels   dist/release/: a wheel for each platform, built by zig from PyPI and by gcc, and checked; WHEELS='linux-x86_64 ...'
#: make test-wheels  one wheel (WHEELS) built twice, in two folders: the same bytes; then tried in clean environments
#: make release  all files of a release in dist/release, tried; uploads nothing, and tags with RELEASE_TAG=1 alone

# The same versions give the same bytes.
RELEASE := .venvs/release
RELEASE_PY := $(RELEASE)/bin/python
$(RELEASE)/release.stamp: mk/release.mk
	@sh tools/make_venv.sh "$(PYTHON)" $(RELEASE)
	@$(RELEASE_PY) -m pip install -q --disable-pip-version-check ziglang==0.17.1 setuptools==84.2.1 cffi==2.1.1 \
	    'numpy>=1.23' build==1.6.1 abi3info==2026.9.25 pyelftools==0.33 lief==1.0.0 auditwheel==6.8.2 twine==7.0.0 \
	    'cyclonedx-python-lib[json-validation]==11.12.0' 'pytest>=8'
	@touch $@

RELEASE_OUT := dist/release
# Python's files are those of a wheel of this machine's library, which says what stubs its operators get.
wheels: $(RELEASE)/release.stamp native
	@rm -rf $(RELEASE_OUT)
	+@$(RELEASE_PY) tools/release/wheels.py $(RELEASE_OUT) $(BUILD)/wheels $(BUILD) $(if $(WHEELS),--only $(WHEELS))
	@$(RELEASE_PY) tools/release/check.py $(RELEASE_OUT)/*.whl

# Of other systems: folders with a Python, as debootstrap makes them (tools/release/README.md).
TRY_ROOTS ?=
try-wheels:
	@$(RELEASE_PY) tools/release/try_wheels.py $(RELEASE_OUT) $(if $(TRY_PYTHONS),--pythons $(TRY_PYTHONS)) \
	    $(if $(wildcard $(MUSL_PYTHON)/musl.stamp),--musl $(MUSL_PYTHON)/python) --roots $(TRY_ROOTS)
	@[ ! -e .venvs/windows/whole ] || [ ! -e $(RELEASE_OUT)/*win_amd64.whl ] || \
	    $(RELEASE_PY) tools/release/try_windows.py $(RELEASE_OUT)/*win_amd64.whl .venvs/windows

# The second time from a copy of the tree in another folder.
AGAIN := $(abspath $(BUILD))/wheels-again
test-wheels: WHEELS ?= linux-x86_64
test-wheels: wheels
	@rm -rf $(AGAIN) && mkdir -p $(AGAIN) && git ls-files -z | tar -c --null -T - | tar -x -C $(AGAIN)
	+@cd $(AGAIN) && SOURCE_DATE_EPOCH=$$(git -C $(CURDIR) log -1 --format=%ct) $(abspath $(RELEASE_PY)) \
	    tools/release/wheels.py out build $(abspath $(BUILD)) --only $(WHEELS)
	@for wheel in $(AGAIN)/out/*.whl; do cmp "$$wheel" "$(RELEASE_OUT)/$${wheel##*/}" || exit 1; done
	@echo "test-wheels: the same bytes twice: $(WHEELS)"
	@$(RELEASE_PY) -m pytest -q -p no:cacheprovider -p no:hypothesispytest tests/release
	@$(MAKE) try-wheels

release: $(RELEASE)/release.stamp
	@$(RELEASE_PY) tools/release/release.py check $(if $(RELEASE_TAG),--tag)
	@$(MAKE) lib
	@$(RELEASE_PY) tools/check_versions.py $(LIBRARY)
	@$(MAKE) wheels
	@$(MAKE) wasm
	@$(RELEASE_PY) tools/release/release.py build $(RELEASE_OUT) $(BUILD)/wasm/package
	@$(RELEASE_PY) tools/release/try_release.py $(RELEASE_OUT)
	@$(MAKE) try-wheels
	@$(if $(RELEASE_TAG),$(RELEASE_PY) tools/release/release.py tag,echo "release: no tag (RELEASE_TAG=1 makes it); nothing is uploaded")
