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
