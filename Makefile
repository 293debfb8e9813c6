# SPDX-License-Identifier: MIT
#
# hyprof: one Makefile for the whole tree.  `make help` lists the targets.
#
# Everything built lies in build/<variant>/; nothing is written elsewhere.
# Its parts, by subject: flags.mk, and in the folders instrument, python, tests, boards and packaging.
# Sources are found by wildcard: a new file in a folder below is built, a new
# tests/unit/test_x.c is a test, a new tests/workloads/w_x.c is a workload.

PARTS := flags.mk instrument/client.mk python/python.mk tests/tests.mk boards/boards.mk packaging/packaging.mk
.DEFAULT_GOAL := all

# The only place of the version and of its date: manuals, packages and the files of pkg-config and CMake take both from
# here, and tests/lint/version.sh compares CHANGELOG.md and debian/changelog with it.
VERSION  := 0.1.0
RELEASED := 2026-11-21

# The libraries' binary interface.  Functions are only added; one that changes or goes needs another number.
SOVERSION := 1

# Where `make install` puts things.  Distributions set LIBDIR: /usr/lib/x86_64-linux-gnu, /usr/lib64.
PREFIX  ?= /usr/local
LIBDIR  ?= $(PREFIX)/lib
DESTDIR ?=

# Who may use the capabilities that `make install-capabilities` gives to hyprof.
GROUP ?= root

# release | debug | asan | tsan | clang | fuzz | board: as release, but hyprof is static and has no viewer
VARIANT ?= release

# For another machine: CROSS_COMPILE=riscv64-linux-gnu- puts the prefix before each tool, SYSROOT=DIR is where the target's
# headers and libraries are (docs/use/boards.md; `make board` fetches them).  Nothing of the target runs while it is built.
CROSS_COMPILE ?=
SYSROOT       ?=

# V=1 shows the commands, WERROR=1 makes a warning an error.
V      ?= 0
WERROR ?= 0

include flags.mk

# ------------------------------------------------------------------ sources

MAIN_SRC    := $(wildcard cli/main.c cli/version.c) $(if $(IS_STATIC),boards/static_gaps.c) # what no test is linked with
LIB_FOLDERS := base format instrument merge timeline unwind $(wildcard import/* symbolize/* sampler/* analyze/* view/* export/* web/* cli/*)
NO_BPF_SRC  := sampler/switches/switch_source_none.c sampler/python/python_source_none.c sampler/probes/probe_source_none.c
STATIC_SRC  := base/library_loader_none.c base/user_account_files.c
SHARED_SRC  := base/library_loader.c base/user_account.c
BPF_SRC     := sampler/kernel/bpf_programs.c sampler/kernel/kernel_types.c sampler/switches/switch_source.c \
               sampler/python/python_source.c sampler/probes/probe_source.c
# The one of each two that is not built.
NOT_BUILT   := cli/top/top_screen$(if $(NCURSES),_none).c export/tables/sqlite_writer$(if $(SQLITE),_none).c \
               web/server/http_server$(if $(MICROHTTPD),_none).c sampler/events/event_library$(if $(PFM),_none).c
LIB_SRC     := $(filter-out %.bpf.c $(NOT_BUILT) $(if $(IS_STATIC),$(SHARED_SRC),$(STATIC_SRC)) $(if $(BPF_CLANG),$(NO_BPF_SRC),$(BPF_SRC)),$(wildcard $(LIB_FOLDERS:%=%/*.c)))
CLIENT_SRC  := $(wildcard instrument/client/*.c)
CLIENT_HDR  := $(wildcard $(addprefix instrument/client/include/hyprof/,*.h* compat/*.* compat/*/*.h* compat/*/*.cc compat/*/*/*.h*))
TRACY_SRC   := $(wildcard instrument/compat/tracy/*.c)
IREE_SRC    := $(wildcard instrument/compat/iree/*.c)
INJECT_SRC  := $(wildcard instrument/compat/inject/*.c)
EXAMPLE_SRC := $(wildcard examples/*/*.c) # each folder is a program
PROSE_TXT   := $(wildcard docs/man/*.txt)
SCHEMAS     := $(wildcard docs/schemas/*.json)
PAGES       := $(wildcard web/pages/page.html web/pages/page.css)
PAGE_MODULES := $(wildcard web/pages/*.js)

# The client's symbols are reachable by tests/unit only through the archive, never through hyprof itself.
objects    = $(patsubst %,$(B)/obj/%.o,$(basename $(1)))
objects_in = $(call objects,$(filter $(1)/%,$(EXAMPLE_SRC)))

LIB_OBJ     := $(call objects,$(LIB_SRC))
CLIENT_OBJ  := $(call objects,$(CLIENT_SRC))
IREE_OBJ    := $(call objects,$(IREE_SRC))
INJECT_OBJ  := $(call objects,$(INJECT_SRC))

HYPROF      := $(if $(MAIN_SRC),$(B)/hyprof)
MANUALS     := $(if $(MAIN_SRC),$(B)/man/made)
INTERNAL    := $(B)/libhyprof_internal.a
CLIENT_A    := $(if $(CLIENT_SRC),$(B)/libhyprof.a)
CLIENT_SO   := $(if $(CLIENT_SRC),$(B)/libhyprof.so)
CLIENT_MAP  := instrument/client/libhyprof.map
TRACY_NAMES := hyprof_tracy hyprof_tracy_0.13 hyprof_tracy_ondemand
TRACY_LIBS  := $(foreach n,$(TRACY_NAMES),$(B)/lib$(n).a $(B)/lib$(n).so)
IREE_A      := $(B)/libhyprof_iree.a
INJECT_SO   := $(B)/libhyprof_inject.so
EXAMPLES    := $(patsubst %/,$(B)/%,$(sort $(dir $(EXAMPLE_SRC))))

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' '$(1)' '$(2)')
# Sub-makes (one a variant) use all processors unless the caller gave -j.
JOBS = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))
SUBMAKE = +$(Q)$(MAKE) --no-print-directory $(JOBS)

.SUFFIXES:
.DELETE_ON_ERROR:
.PHONY: all demo clean help packages screenshots objects FORCE

include instrument/client.mk python/python.mk

# ------------------------------------------------------------------ targets

all: $(HYPROF) $(MANUALS) $(CLIENT_A) $(CLIENT_SO) $(TRACY_LIBS) $(IREE_A) $(INJECT_SO) $(PYTHON_PACKAGE) $(PYTHON_MANUAL) $(EXAMPLES) ## build hyprof, libhyprof, the package of Python and the examples (the default)

demo: ## install what is missing, build, record real programs and print their reports
	$(Q)tests/install_packages.sh build
	$(SUBMAKE) all
	$(Q)examples/demo.sh $(B)

# What compilers are called with, for editors and analyzers.
compile_commands.json: Makefile $(PARTS) FORCE ## for editors: how each file is compiled
	$(Q)$(MAKE) --no-print-directory -nB V=1 objects | \
	        sed -nE 's/[\\"]/\\&/g; s|.* -c ([^ ]+) -o [^ ]+$$|{"directory": "$(CURDIR)", "file": "\1", "command": "&"}|p' | \
	        sed '1s/^/[/; $$!s/$$/,/; $$s/$$/]/' > $@

packages: ## install every Debian package that any target needs
	$(Q)tests/install_packages.sh build test consumers lint fuzz bench deb board

clean: ## remove build/
	rm -rf build

help: ## print this list
	@sed -nE 's/^([a-z._-]+):.*## (.*)/  \1\t\2/p' Makefile $(PARTS) | expand -t 14
	@printf '\nV=1 shows commands; WERROR=1 makes warnings errors; VARIANT=release|debug|asan|tsan|clang\n'

screenshots: demo ## docs/images/viewer-*.png and top.svg, of the traces of the demo
	$(Q)tests/install_packages.sh consumers
	$(Q)examples/screenshots.sh $(B)

# -------------------------------------------------------------------- rules

# Other flags or another compiler build everything anew.
FLAGS_NOW := $(CC) $(CXX) $(C_FLAGS) $(CXX_FLAGS) $(LINK_FLAGS) $(BPF_CLANG) $(strip $(LEFT_OUT))
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' > $@

# 64 bits are in every layout of the client ABI and of the trace.
CHECK_64_BITS = printf '\043if !defined(__LP64__)\n\043error\n\043endif\n' | $(CC) $(filter -m%,$(CPPFLAGS) $(CFLAGS)) -E -x c - -o /dev/null 2>/dev/null

# A missing header is reported once, with the command that installs it.
HEADERS := libelf.h dwarf.h $(if $(PFM),perfmon/pfmlib_perf_event.h) zstd.h zlib.h lzma.h xxhash.h $(if $(SQLITE),sqlite3.h) \
           jansson.h libiberty/demangle.h sys/capability.h seccomp.h $(if $(MICROHTTPD),microhttpd.h) $(if $(BPF_CLANG),bpf/libbpf.h) $(if $(NCURSES),curses.h)
$(B)/headers: $(B)/flags
	@command -v $(firstword $(CC)) >/dev/null || { echo "cannot build: there is no compiler $(firstword $(CC))" >&2; exit 1; }
	@$(CHECK_64_BITS) || { echo "cannot build: $(CC) compiles for a machine of 32 bits; hyprof and its client library need one of 64" >&2; exit 1; }
	@for header in $(HEADERS); do \
	        printf '#include <stddef.h>\n#include <stdio.h>\n#include <%s>\n' $$header | \
	                $(CC) $(SYSROOT_FLAGS) -E -x c - -o /dev/null 2>/dev/null || \
	        { echo "cannot build: the header <$$header> or the compiler $(CC) is missing;" \
	               "'make packages' installs what hyprof needs, and HYPROF_NO_BPF=1, _NCURSES, _SQLITE, _MICROHTTPD" \
	               "and _PFM leave out what needs these" >&2; exit 1; }; \
	done
	@touch $@

# Where nothing is made of a source, an empty object says that it was read.
MARK = $(if $(findstring -fsyntax-only,$(CFLAGS)), && touch $@)

$(B)/obj/instrument/client/%.o: instrument/client/%.c $(B)/flags | $(B)/headers
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(C_FLAGS) $(CLIENT_INC) -fPIC -MMD -MP -c $< -o $@$(MARK)

$(B)/obj/instrument/compat/%.o: instrument/compat/%.c $(B)/flags | $(B)/headers
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(C_FLAGS) $(CLIENT_INC) -fPIC -MMD -MP -c $< -o $@$(MARK)

# Reading a file of millions of rows byte by byte: a fifteenth less time.
$(B)/obj/import/%.o: private OPTIMIZE := -O3

$(B)/obj/%.o: %.c $(B)/flags | $(B)/headers
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(C_FLAGS) $(EXTRA_INC) -MMD -MP -c $< -o $@$(MARK)

$(B)/obj/%.o: %.cpp $(B)/flags | $(B)/headers
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) $(CXX_FLAGS) $(EXTRA_INC) -MMD -MP -c $< -o $@$(MARK)

$(BPF_PROGRAMS): $(B)/obj/%.o: %.c $(wildcard sampler/bpf/*.h) $(B)/flags | $(B)/headers
	$(call say,BPF,$<)
	@mkdir -p $(@D)
	$(Q)$(BPF_CLANG) $(BPF_FLAGS) -c $< -o $@

$(B)/obj/sampler/kernel/bpf_programs.o: $(BPF_PROGRAMS)
$(B)/obj/sampler/kernel/bpf_programs.o: private C_FLAGS += -DSWITCH_PROGRAM_FILE='"$(B)/obj/sampler/bpf/switch_events.bpf.o"' \
                                                           -DPYTHON_PROGRAM_FILE='"$(B)/obj/sampler/bpf/python_frames.bpf.o"' \
                                                           -DPROBE_PROGRAM_FILE='"$(B)/obj/sampler/bpf/function_probes.bpf.o"'

# Texts that are built in, one after the other in one file, each after its name: the prose of manuals ("report"), and
# the schemas of answers ("hyprof.zones/2" is hyprof.zones.2.json).
MANUAL_PROSE := $(B)/obj/cli/manual_prose.txt
$(MANUAL_PROSE): $(PROSE_TXT) $(SCHEMAS) docs/man docs/schemas $(B)/flags
	@mkdir -p $(@D)
	$(Q)for file in $(PROSE_TXT) $(SCHEMAS); do \
	        name=$${file##*/} && name=$${name%.*} && case $$file in *.json) name=$${name%.*}/$${name##*.} ;; esac && \
	        printf '\001%s\n' "$$name" && cat "$$file" || exit 1; \
	done > $@
# Likewise the pages of the viewer: its document, its style, and its script, which is joined from modules.
PAGE_SCRIPT := $(B)/obj/web/page.js
$(PAGE_SCRIPT): $(PAGE_MODULES) web/pages/join_pages.awk $(wildcard web/pages)
	@mkdir -p $(@D)
	$(Q)awk -f web/pages/join_pages.awk $(PAGE_MODULES) > $@
PAGE_FILES := $(B)/obj/web/model/page_files.txt
$(PAGE_FILES): $(PAGES) $(PAGE_SCRIPT) $(B)/flags
	@mkdir -p $(@D)
	$(Q)for file in $(PAGES) $(PAGE_SCRIPT); do printf '\001%s\n' "$${file##*/}" && cat "$$file" || exit 1; done > $@
$(B)/obj/web/model/page_files.o: $(PAGE_FILES)
$(B)/obj/web/model/page_files.o: private C_FLAGS += -DPAGE_FILES_FILE='"$(PAGE_FILES)"'

$(B)/obj/cli/manual/manual_prose.o: $(MANUAL_PROSE)
$(B)/obj/cli/manual/manual_prose.o: private C_FLAGS += -DMANUAL_PROSE_FILE='"$(MANUAL_PROSE)"'
$(B)/obj/cli/manual/man_page.o: private C_FLAGS += -DHYPROF_DATE='"$(RELEASED)"'

ifneq ($(CROSS_COMPILE),)
# Manuals are printed by hyprof itself: the one that was built for this machine.
$(B)/man/made: $(B)/hyprof
	$(SUBMAKE) CROSS_COMPILE= SYSROOT= VARIANT=release build/release/man/made
	@mkdir -p $(@D) && rm -f $(@D)/*.1 && cp build/release/man/*.1 $(@D)/ && touch $@
else
# Made by the program itself, so that they say what it does.
$(B)/man/made: $(B)/hyprof
	$(call say,MAN,$(@D))
	@mkdir -p $(@D) && rm -f $(@D)/*.1
	$(Q)for page in $$($< __man); do \
	        $< __man $$page > "$(@D)/$$([ $$page = hyprof ] || echo hyprof-)$$page.1" || exit 1; \
	done
	@touch $@
endif

# Another commit builds one file anew.
GIT_ID := $(if $(wildcard .git),$(shell git describe --always --dirty --exclude '*' 2>/dev/null))
$(B)/git_id: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(GIT_ID)' | cmp -s - $@ || printf '%s\n' '$(GIT_ID)' > $@
$(B)/obj/cli/version.o: $(B)/git_id
$(B)/obj/cli/version.o: private C_FLAGS += -DHYPROF_GIT_ID='"$(GIT_ID)"' -DHYPROF_MACHINE='"$(MACHINE)"' \
                                           -DHYPROF_VARIANT='"$(VARIANT)"' -DHYPROF_HAS_BPF=$(if $(BPF_CLANG),1,0) -DHYPROF_HAS_NCURSES=$(if $(NCURSES),1,0) -DHYPROF_HAS_SQLITE=$(if $(SQLITE),1,0) \
                                           -DHYPROF_HAS_VIEWER=$(if $(MICROHTTPD),1,0) -DHYPROF_HAS_PFM=$(if $(PFM),1,0) $(if $(IS_STATIC),-DHYPROF_IS_STATIC=1)

# Made anew each time: `ar` alone would keep the objects of deleted files.
$(INTERNAL): $(LIB_OBJ) $(B)/flags
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

$(B)/hyprof: $(call objects,$(MAIN_SRC)) $(INTERNAL)
	$(call say,LD,$@)
	$(Q)$(CC) $(if $(IS_STATIC),$(filter-out $(SYSROOT_LINK),$(LINK_FLAGS)),$(LINK_FLAGS)) $(filter %.o %.a,$^) $(HYPROF_LIBS) -o $@
	$(if $(strip $(LEFT_OUT)),@printf '  %-7s %s\n' 'WITHOUT' '$(strip $(LEFT_OUT))')

.SECONDEXPANSION:
$(EXAMPLES): $(B)/%: $$(call objects_in,$$*) $(CLIENT_A)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LINK_FLAGS) $^ -ldl -lm -o $@

include tests/tests.mk boards/boards.mk packaging/packaging.mk

ALL_SRC := $(LIB_SRC) $(MAIN_SRC) $(CLIENT_SRC) $(IREE_SRC) $(INJECT_SRC) $(EXAMPLE_SRC) $(WORK_SRC) $(WORK_CXX) $(DELAY_SRC) $(UNIT_SRC) $(UNIT_AID) \
           $(FUZZ_SRC) tests/fuzz/replay_main.c $(BENCH_SRC) $(TOOL_SRC)
objects: $(call objects,$(ALL_SRC) $(TRACY_SRC) $(if $(PYTHON_EXT),$(PYTHON_SRC)))
.SECONDARY: $(call objects,$(ALL_SRC))
-include $(patsubst %,$(B)/obj/%.d,$(basename $(ALL_SRC) $(PYTHON_SRC)))
