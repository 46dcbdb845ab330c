# The documentation as a site. Included by the Makefile.
.PHONY: site
#: make site     build/site/: guides, Python's modules, a page for each operator, with search; open index.html

# Sphinx reads build/site-pages, of which it makes what has changed since.
SITE := .venvs/site
$(SITE)/site.stamp: mk/site.mk
	@sh tools/make_venv.sh "$(PYTHON)" $(SITE)
	@$(SITE)/bin/python -m pip install -q --disable-pip-version-check 'numpy>=1.23' 'sphinx>=7' furo==2025.12.19 \
	    'myst-parser>=4' 'griffelib>=2'
	@touch $@

site: docs $(SITE)/site.stamp
	@$(LIBRARY_ENV) MXLITE_BINDING=ctypes PYTHONPATH=.:tools $(SITE)/bin/python tools/site/pages.py \
	    '$(BUILD)/docs/operators' '$(BUILD)/site-pages'
	@$(SITE)/bin/python -m sphinx -q -W --keep-going -j 2 -c tools/site -d '$(BUILD)/site-read' '$(BUILD)/site-pages' \
	    '$(BUILD)/site'
	@$(SITE)/bin/python tools/site/check.py '$(BUILD)/site' '$(BUILD)/docs/operators'
