# SPDX-License-Identifier: MIT
#
# The package of Python, for this CPython of 3.11 to 3.14 with its headers.  Without them, with HYPROF_NO_PYTHON=1 and with
# sanitizers (the interpreter has none), or for another machine, it is left out.
PYTHON           ?= $(or $(wildcard /usr/bin/python3),python3)
HYPROF_NO_PYTHON ?= 0
PYTHON_FACTS := $(if $(filter 1,$(HYPROF_NO_PYTHON))$(CROSS_COMPILE)$(filter asan tsan fuzz,$(VARIANT)),,$(shell $(PYTHON) python/facts.py 2>/dev/null))
PYTHON_INC   := $(word 1,$(PYTHON_FACTS))
PYTHON_EXT   := $(word 2,$(PYTHON_FACTS))
PYTHON_DIR   ?= $(PREFIX)/lib/$(word 3,$(PYTHON_FACTS))

PYTHON_SRC  := $(wildcard python/native/*.c)
PYTHON_PY   := $(wildcard python/src/hyprof/*.py python/src/hyprof/*.pyi python/src/hyprof/py.typed python/src/hyprof/compat/*/*.py)
# As it is installed, and as PYTHONPATH=build/release/python finds it.
PYTHON_FILES := $(PYTHON_PY:python/src/%=$(B)/python/%)
PYTHON_EXTENSION := $(if $(PYTHON_EXT),$(B)/python/hyprof/_native$(PYTHON_EXT))
PYTHON_PACKAGE   := $(if $(PYTHON_EXT),$(PYTHON_FILES) $(PYTHON_EXTENSION))
PYTHON_MANUAL    := $(if $(PYTHON_EXT),$(B)/man/python/hyprof-python.1)

# One copy of libhyprof inside, whose names are its own: it joins another one in the process by itself.
$(B)/obj/python/%.o: python/%.c $(B)/flags $(B)/python_facts | $(B)/headers
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(C_FLAGS) $(CLIENT_INC) -isystem $(PYTHON_INC) -fPIC -MMD -MP -c $< -o $@

$(PYTHON_EXTENSION): $(call objects,$(PYTHON_SRC)) $(CLIENT_A) python/native/exports.map
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,--version-script=python/native/exports.map -Wl,-z,nodelete $(LINK_FLAGS) $(filter %.o %.a,$^) -o $@

$(B)/python/%: python/src/%
	@mkdir -p $(@D) && cp $< $@

# Made by the command's own table of options, as the other manuals are.
$(B)/man/python/hyprof-python.1: python/manual.py $(PYTHON_PACKAGE)
	$(call say,MAN,$@)
	@mkdir -p $(@D)
	$(Q)PYTHONPATH=$(B)/python PYTHONDONTWRITEBYTECODE=1 $(PYTHON) $< $(VERSION) $(RELEASED) > $@.new && mv $@.new $@

# Another CPython builds the extension anew.
$(B)/python_facts: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(PYTHON_FACTS)' | cmp -s - $@ || printf '%s\n' '$(PYTHON_FACTS)' > $@
