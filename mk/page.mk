# The page of examples/web: a folder that any file server can serve, and its test in Chromium. Included by the Makefile.
.PHONY: web test-web
#: make web      build/web: a page that trains on digits, draws graphs and runs models; serve it with any file server

PAGE := $(BUILD)/web
web: wasm
	@$(PYTHON) tools/web/make_page.py '$(PAGE)' '$(BUILD)/wasm/package'

# Playwright drives the browser that is installed, axe-core looks for what keeps people out; both come from npm's registry.
PAGE_TOOLS := $(BUILD)/web-tools
$(PAGE_TOOLS)/stamp: tests/web/package.json
	$(call NEED,npm,npm)
	@mkdir -p $(@D)
	@cp $< $(@D)/package.json
	@npm install --prefix '$(@D)' --no-fund --no-audit --ignore-scripts --loglevel=error
	@touch $@

#: make test-web  the page in headless Chromium: trains, draws, walks, opens models, errors, keyboard, offline; screenshots
test-web: web $(PAGE_TOOLS)/stamp
	$(call NEED,chromium,chromium)
	$(call NEED,node,nodejs)
	@mkdir -p $(BUILD)/web-screenshots
	@MXLITE_PAGE='$(abspath $(PAGE))' MXLITE_PACKAGE='$(abspath $(BUILD))/wasm/package' MXLITE_MODULES='$(abspath $(PAGE_TOOLS))' \
	    MXLITE_SHOTS='$(abspath $(BUILD))/web-screenshots' node --test --test-concurrency=1 tests/web/*.test.mjs
	@echo "make test-web: passed; look at $(BUILD)/web-screenshots"
