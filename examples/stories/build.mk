# SPDX-License-Identifier: MIT
# A build of a few files of C, for a story of docs/use/path.md; from the root of the repository.  X: flags for the compiler.
folder := $(or $(TMPDIR),/tmp)/hyprof-story
objects := $(patsubst base/%.c,$(folder)/%.o,$(wildcard base/*.c))

all: $(objects)

$(folder)/%.o: base/%.c FORCE
	@mkdir -p $(@D)
	cc -O1 -D_GNU_SOURCE -I. $(X) -c -o $@ $<

.PHONY: all FORCE
