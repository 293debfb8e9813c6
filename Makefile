# SPDX-License-Identifier: MIT
#
# hyprof: one Makefile for the whole tree.  `make help` lists the targets.
#
# Everything built lies in build/<variant>/; nothing is written elsewhere.
# Sources are found by wildcard: a new file in a folder below is built, a new
# tests/unit/test_x.c is a test, a new tests/workloads/w_x.c is a workload.

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

# ---------------------------------------------------------------- compilers

ifneq ($(filter clang fuzz,$(VARIANT)),)
CC  := clang
CXX := clang++
else
ifeq ($(origin CC),default)
CC := $(CROSS_COMPILE)gcc
endif
ifeq ($(origin CXX),default)
CXX := $(CROSS_COMPILE)g++
endif
endif
ifeq ($(origin AR),default)
AR := $(CROSS_COMPILE)ar
endif
OBJCOPY  ?= $(CROSS_COMPILE)objcopy
COMMA     := ,
IS_STATIC := $(filter board,$(VARIANT))
IS_CLANG := $(findstring clang,$(CC))
# The target's, whatever this machine is: x86_64, aarch64, riscv64.
MACHINE  := $(firstword $(subst -, ,$(shell $(CC) -dumpmachine 2>/dev/null || echo $(or $(CROSS_COMPILE),$$(uname -m)))))
TRIPLET  := $(shell $(CC) -print-multiarch 2>/dev/null || $(CC) -dumpmachine 2>/dev/null)
B        := build/$(if $(CROSS_COMPILE),$(MACHINE)-)$(VARIANT)

# Packages of the target are looked for in SYSROOT alone.  Debian's cross compilers prefer the libc that came with them: its
# headers go with a newer libc in SYSROOT, but its libraries do not go with libraries that were built with that one.
SYSROOT_FLAGS := $(if $(SYSROOT),--sysroot=$(abspath $(SYSROOT)))
SYSROOT_LINK  := $(if $(SYSROOT),-B$(abspath $(SYSROOT))/usr/lib/$(TRIPLET) -L$(abspath $(SYSROOT))/usr/lib/$(TRIPLET))
PACKAGES_OF    = $(if $(SYSROOT),PKG_CONFIG_SYSROOT_DIR='$(abspath $(SYSROOT))' \
                 PKG_CONFIG_LIBDIR='$(abspath $(SYSROOT))/usr/lib/$(TRIPLET)/pkgconfig:$(abspath $(SYSROOT))/usr/share/pkgconfig')
ifeq ($(origin PKG_CONFIG),undefined)
PKG_CONFIG := $(firstword $(shell command -v $(CROSS_COMPILE)pkg-config) pkg-config)
endif

WARN_BOTH   := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-qual -Wpointer-arith \
               -Wundef -Wvla -Walloca -Wformat=2 -Wswitch-enum -Wnull-dereference -Wwrite-strings \
               -Wdouble-promotion -Wunused-macros
WARN_C_BOTH := -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition
# Without optimisation, what is only copied to its place lies on the stack as well.
WARN_GCC    := -Wcast-align=strict -Wformat-signedness -Wimplicit-fallthrough=5 -Wduplicated-cond \
               -Wduplicated-branches -Wlogical-op $(if $(filter debug,$(VARIANT)),,-Wstack-usage=16384)
WARN_C_GCC  := -Wjump-misses-init
WARN_CLANG  := -Wcast-align -Wimplicit-fallthrough -Wthread-safety

# gcc takes the conversions in the checks that the sanitizers insert for ours.
WARN_NOT := $(if $(IS_CLANG),,$(if $(filter asan tsan,$(VARIANT)),-Wconversion -Wsign-conversion -Wnull-dereference))

WARN    := $(filter-out $(WARN_NOT),$(WARN_BOTH)) $(if $(IS_CLANG),$(WARN_CLANG),$(WARN_GCC)) $(if $(filter 1,$(WERROR)),-Werror)
WARN_C  := $(WARN) $(WARN_C_BOTH) $(if $(IS_CLANG),,$(WARN_C_GCC))
WARN_CXX := $(filter-out -Wundef,$(WARN))

CFPROT  := $(if $(filter x86_64,$(MACHINE)),-fcf-protection)$(if $(filter aarch64,$(MACHINE)),-mbranch-protection=standard)
FORTIFY := $(if $(findstring _FORTIFY_SOURCE,$(CPPFLAGS) $(CFLAGS) $(CXXFLAGS)),,-D_FORTIFY_SOURCE=3) # unless the caller chose
HARD    := $(FORTIFY) -fstack-protector-strong -fstack-clash-protection $(CFPROT) -fvisibility=hidden
ASAN    := -fsanitize=address,undefined -fno-sanitize-recover=all
# gcc's manual: with a sanitizer, it warns of uninitialized variables that are none.
NOT_CERTAIN := $(if $(IS_CLANG),,-Wno-maybe-uninitialized)

MODE_release := -O2 $(HARD)
MODE_clang   := -O2 $(HARD)
MODE_board   := -O2 $(HARD)
MODE_debug   := -O0 -fvisibility=hidden
MODE_asan    := -O1 -fvisibility=hidden $(ASAN) $(NOT_CERTAIN)
# It knows no fences, and gcc says so at each.
MODE_tsan    := -O1 -fvisibility=hidden -fsanitize=thread $(if $(IS_CLANG),,-Wno-tsan) $(NOT_CERTAIN)
MODE_fuzz    := -O1 -fvisibility=hidden -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all

LINK_release := -Wl,-z,relro,-z,now
LINK_clang   := $(LINK_release)
LINK_board   := $(LINK_release)
LINK_asan    := $(ASAN)
LINK_tsan    := -fsanitize=thread
LINK_fuzz    := -fsanitize=address,undefined

ifndef MODE_$(VARIANT)
$(error VARIANT=$(VARIANT) is not one of release, debug, asan, tsan, clang, fuzz, board)
endif

# Context switches come from a BPF program, which clang alone compiles.  Without clang, or with HYPROF_NO_BPF=1, by perf.
HYPROF_NO_BPF ?= 0
BPF_CLANG   := $(if $(filter 1,$(HYPROF_NO_BPF)),,$(if $(filter x86_64 aarch64 riscv64,$(MACHINE)),$(shell command -v clang)))
BPF_PROGRAMS := $(patsubst %.c,$(B)/obj/%.o,$(wildcard sampler/bpf/*.bpf.c))
BPF_FLAGS   := -target bpf -mcpu=v3 -O2 -g -Wall -Wextra $(if $(filter 1,$(WERROR)),-Werror) -DSWITCH_MACHINE_$(MACHINE) -I. \
               $(if $(SYSROOT),--sysroot=$(abspath $(SYSROOT))) -idirafter $(if $(SYSROOT),$(abspath $(SYSROOT)))/usr/include/$(TRIPLET) \
               $(if $(CROSS_COMPILE),-idirafter /usr/$(TRIPLET)/include)

# The screen of `hyprof top` is drawn by ncurses.  With HYPROF_NO_NCURSES=1, and on boards, it prints plain tables on a
# terminal too.
HYPROF_NO_NCURSES ?= 0
NCURSES     := $(if $(filter 1,$(HYPROF_NO_NCURSES))$(IS_STATIC)$(CROSS_COMPILE),,1)

# Flags that the sources need in any mode.  CPPFLAGS, CFLAGS, CXXFLAGS and LDFLAGS belong to the caller.
DEFINES    := -D_GNU_SOURCE -I. -DHYPROF_VERSION='"$(VERSION)"'
C_FLAGS     = -std=c11 $(SYSROOT_FLAGS) $(DEFINES) $(WARN_C) -g -fno-omit-frame-pointer -pthread $(MODE_$(VARIANT)) $(CPPFLAGS) $(CFLAGS)
CXX_FLAGS   = -std=c++11 $(SYSROOT_FLAGS) $(DEFINES) $(WARN_CXX) -g -fno-omit-frame-pointer -pthread $(MODE_$(VARIANT)) $(CPPFLAGS) $(CXXFLAGS)
LINK_FLAGS  = $(SYSROOT_FLAGS) $(SYSROOT_LINK) -pthread $(LINK_$(VARIANT)) -Wl,--as-needed $(LDFLAGS)
LIBS       := -lelf -lpfm -lzstd -lz -llzma -lsqlite3 -ljansson -liberty -lcap -lseccomp $(if $(IS_STATIC),,-lmicrohttpd) $(if $(BPF_CLANG),-lbpf) $(if $(NCURSES),-lncursesw -ltinfo) -lm
# Static programs take the compiler's own libc.  On RISC-V gcc 12 makes none for random addresses.
STATIC_LINK := $(if $(filter riscv64,$(MACHINE)),-static,-static-pie)
HYPROF_LIBS := $(if $(IS_STATIC),$(STATIC_LINK) -Wl$(COMMA)--start-group $(LIBS) -Wl$(COMMA)--end-group,$(LIBS))
CHECK_LIBS  = $(shell $(PACKAGES_OF) $(PKG_CONFIG) --libs check)
CLIENT_INC := -Iinstrument/client/include

# The package of Python, for this CPython of 3.11 to 3.14 with its headers.  Without them, with HYPROF_NO_PYTHON=1 and with
# sanitizers (the interpreter has none), or for another machine, it is left out.
PYTHON           ?= $(or $(wildcard /usr/bin/python3),python3)
HYPROF_NO_PYTHON ?= 0
PYTHON_FACTS := $(if $(filter 1,$(HYPROF_NO_PYTHON))$(CROSS_COMPILE)$(filter asan tsan fuzz,$(VARIANT)),,$(shell $(PYTHON) python/facts.py 2>/dev/null))
PYTHON_INC   := $(word 1,$(PYTHON_FACTS))
PYTHON_EXT   := $(word 2,$(PYTHON_FACTS))
PYTHON_DIR   ?= $(PREFIX)/lib/$(word 3,$(PYTHON_FACTS))

# ------------------------------------------------------------------ sources

MAIN_SRC    := $(wildcard cli/main.c cli/version.c) $(if $(IS_STATIC),boards/static_gaps.c) # what no test is linked with
LIB_FOLDERS := base format instrument merge timeline web $(wildcard symbolize/*) unwind $(wildcard sampler/* analyze/* view/* export/* cli/*)
NO_BPF_SRC  := sampler/kernel/switch_source_none.c sampler/python/python_source_none.c
STATIC_SRC  := base/library_loader_none.c base/user_account_files.c web/http_server_none.c
SHARED_SRC  := base/library_loader.c base/user_account.c web/http_server.c
BPF_SRC     := sampler/kernel/bpf_words.c sampler/kernel/kernel_types.c sampler/kernel/switch_source.c \
               sampler/kernel/switch_program.c sampler/python/python_source.c sampler/python/python_program.c
SCREEN_SRC  := cli/top/top_screen$(if $(NCURSES),_none).c # what is left out
LIB_SRC     := $(filter-out %.bpf.c $(SCREEN_SRC) $(if $(IS_STATIC),$(SHARED_SRC),$(STATIC_SRC)) $(if $(BPF_CLANG),$(NO_BPF_SRC),$(BPF_SRC)),$(wildcard $(LIB_FOLDERS:%=%/*.c)))
CLIENT_SRC  := $(wildcard instrument/client/*.c)
CLIENT_HDR  := $(wildcard $(addprefix instrument/client/include/hyprof/,*.h* compat/*/*.h* compat/*/*/*.h*))
TRACY_SRC   := $(wildcard instrument/compat/tracy/*.c)
IREE_SRC    := $(wildcard instrument/compat/iree/*.c)
PYTHON_SRC  := $(wildcard python/native/*.c)
PYTHON_PY   := $(wildcard python/src/hyprof/*.py python/src/hyprof/*.pyi python/src/hyprof/py.typed)
PYTHON_COMPAT := $(wildcard python/compat/*/*.py)
EXAMPLE_SRC := $(wildcard examples/*/*.c) # each folder is a program
WORK_SRC    := $(wildcard tests/workloads/w_*.c)
WORK_CXX    := $(wildcard tests/workloads/w_*.cpp)
UNIT_SRC    := $(filter-out $(if $(BPF_CLANG),,tests/unit/test_kernel_types.c tests/unit/test_python_copies.c tests/unit/test_python_verified.c tests/unit/test_switch_types.c),$(wildcard tests/unit/test_*.c))
UNIT_AID    := $(filter-out tests/unit/test_%,$(wildcard tests/unit/*.c))
FUZZ_SRC    := $(wildcard tests/fuzz/fuzz_*.c)
BENCH_SRC   := $(wildcard tests/bench/bench_*.c)
TOOL_SRC    := $(wildcard tests/tools/*.c)
PROSE_TXT   := $(wildcard docs/man/*.txt)
SCHEMAS     := $(wildcard docs/schemas/*.json)
PAGES       := $(wildcard web/pages/page.html web/pages/page.css) $(patsubst %,web/pages/%,$(shell cat web/pages/order 2>/dev/null))

# The client's symbols are reachable by tests/unit only through the archive, never through hyprof itself.
objects    = $(patsubst %,$(B)/obj/%.o,$(basename $(1)))
objects_in = $(call objects,$(filter $(1)/%,$(EXAMPLE_SRC)))

LIB_OBJ     := $(call objects,$(LIB_SRC))
CLIENT_OBJ  := $(call objects,$(CLIENT_SRC))
IREE_OBJ    := $(call objects,$(IREE_SRC))

HYPROF      := $(if $(MAIN_SRC),$(B)/hyprof)
MANUALS     := $(if $(MAIN_SRC),$(B)/man/made)
INTERNAL    := $(B)/libhyprof_internal.a
CLIENT_A    := $(if $(CLIENT_SRC),$(B)/libhyprof.a)
CLIENT_SO   := $(if $(CLIENT_SRC),$(B)/libhyprof.so)
CLIENT_MAP  := instrument/client/libhyprof.map
TRACY_NAMES := hyprof_tracy hyprof_tracy_0.13 hyprof_tracy_ondemand
TRACY_LIBS  := $(foreach n,$(TRACY_NAMES),$(B)/lib$(n).a $(B)/lib$(n).so)
IREE_A      := $(B)/libhyprof_iree.a
# As it is installed, and as PYTHONPATH=build/release/python finds it.
PYTHON_FILES := $(PYTHON_PY:python/src/%=$(B)/python/%) $(PYTHON_COMPAT:python/compat/%=$(B)/python/hyprof/compat/%)
PYTHON_EXTENSION := $(if $(PYTHON_EXT),$(B)/python/hyprof/_native$(PYTHON_EXT))
PYTHON_PACKAGE   := $(if $(PYTHON_EXT),$(PYTHON_FILES) $(PYTHON_EXTENSION))
PYTHON_MANUAL    := $(if $(PYTHON_EXT),$(B)/man/python/hyprof-python.1)
EXAMPLES    := $(patsubst %/,$(B)/%,$(sort $(dir $(EXAMPLE_SRC))))
WORKLOADS   := $(WORK_SRC:tests/workloads/%.c=$(B)/workloads/%) $(WORK_CXX:tests/workloads/%.cpp=$(B)/workloads/%)
UNIT_AID_A  := $(B)/libtests_aid.a
UNIT_TESTS  := $(UNIT_SRC:tests/unit/%.c=$(B)/tests/%)
FUZZERS     := $(FUZZ_SRC:tests/fuzz/%.c=$(B)/fuzz/%)
BENCHES     := $(BENCH_SRC:tests/bench/%.c=$(B)/bench/%)
TOOLS       := $(TOOL_SRC:tests/tools/%.c=$(B)/tools/%) $(B)/tools/fail_allocation.so $(B)/tools/poor_counters.so

Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' '$(1)' '$(2)')
# Sub-makes (one a variant) use all processors unless the caller gave -j.
JOBS = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))
SUBMAKE = +$(Q)$(MAKE) --no-print-directory $(JOBS)

.SUFFIXES:
.DELETE_ON_ERROR:
.PHONY: all demo test check-asan check-tsan check-clang lint fuzz mutants bench bench-diff bench-memory bench-scale bench-view bench-python bench-why install \
        install-capabilities screenshots \
        board board-parts check-board check-kernels check-guest test-riscv64 test-aarch64 test-iree test-debian13 uninstall dist deb check-deb clean help packages test-programs fuzz-programs bench-programs objects FORCE

# ------------------------------------------------------------------ targets

all: $(HYPROF) $(MANUALS) $(CLIENT_A) $(CLIENT_SO) $(TRACY_LIBS) $(IREE_A) $(PYTHON_PACKAGE) $(PYTHON_MANUAL) $(EXAMPLES) ## build hyprof, libhyprof, the package of Python and the examples (the default)

demo: ## install what is missing, build, record real programs and print their reports
	$(Q)tests/install_packages.sh build
	$(SUBMAKE) all
	$(Q)examples/demo.sh $(B)

test: ## install what is missing, build and run all tests
	$(Q)tests/install_packages.sh build test consumers
	$(SUBMAKE) all test-programs
	$(Q)tests/run_tests.sh $(B)

check-asan: ## the tests that find errors of memory, with AddressSanitizer and UndefinedBehaviorSanitizer
	$(Q)tests/install_packages.sh build test consumers
	$(SUBMAKE) VARIANT=asan all test-programs
	$(Q)tests/run_tests.sh build/asan

check-tsan: ## the unit tests that use threads, with ThreadSanitizer
	$(Q)tests/install_packages.sh build test
	$(SUBMAKE) VARIANT=tsan $(patsubst $(B)/%,build/tsan/%,$(UNIT_TESTS))
	$(Q)threaded=$$(tests/threaded_tests.sh $(patsubst $(B)/%,build/tsan/%,$(UNIT_TESTS))) && tests/run_tests.sh build/tsan $$threaded

check-clang: ## what clang warns of, in all sources; nothing is made of them
	$(Q)tests/install_packages.sh build test
	$(SUBMAKE) VARIANT=clang CFLAGS='$(CFLAGS) -fsyntax-only' CXXFLAGS='$(CXXFLAGS) -fsyntax-only' objects

lint: ## formatting, static analysis and the rules of the tree
	$(Q)tests/install_packages.sh build lint
	$(Q)tests/lint/run_lint.sh

FUZZ_SECONDS ?= 30
fuzz: ## fuzz every decoder for FUZZ_SECONDS each (30), from the corpora in tests/fuzz
	$(Q)tests/install_packages.sh build fuzz
	$(SUBMAKE) VARIANT=fuzz fuzz-programs
	$(Q)tests/fuzz/run_fuzz.sh build/fuzz $(FUZZ_SECONDS)

mutants: ## break a line of the judges at a time: each of tests/mutants.table must fail its tests; MUTANTS=part of a row
	$(Q)tests/install_packages.sh build test
	$(Q)tests/mutants.sh '$(MUTANTS)'

bench: ## measure: what a zone costs, how fast records are merged and read
	$(Q)tests/install_packages.sh build bench
	$(SUBMAKE) all bench-programs
	$(Q)tests/bench/run_bench.sh $(B)

bench-diff: ## measure how often hyprof diff is wrong and what it finds: 30 minutes; see tests/bench/diff_rates.sh
	$(Q)tests/install_packages.sh build bench
	$(SUBMAKE) all $(WORKLOADS) $(B)/tools/diff_draws
	$(Q)tests/bench/diff_rates.sh $(B)

bench-scale: ## measure what it costs to read a large trace: HYPROF_BENCH_ZONES=5000000, HYPROF_BASE=another hyprof
	$(Q)tests/install_packages.sh build bench
	$(SUBMAKE) all
	$(Q)HYPROF='$(abspath $(B)/hyprof)' BUILD='$(abspath $(B))' tests/bench/bench_scale.sh

bench-view: ## measure how soon the viewer answers and draws: HYPROF_BENCH_ZONES=5000000; beside its peers where they are
	$(Q)tests/install_packages.sh build bench consumers
	$(SUBMAKE) all $(B)/tools/large_trace
	$(Q)HYPROF='$(abspath $(B)/hyprof)' BUILD='$(abspath $(B))' tests/bench/bench_view.sh
	$(Q)HYPROF='$(abspath $(B)/hyprof)' BUILD='$(abspath $(B))' tests/bench/bench_view_peers.sh

bench-memory: ## measure the recorder's memory at 5 million zones a second, minute by minute: HYPROF_BENCH_MINUTES=10
	$(Q)tests/install_packages.sh build bench
	$(SUBMAKE) all
	$(Q)HYPROF='$(abspath $(B)/hyprof)' BUILD='$(abspath $(B))' tests/bench/recorder_memory.sh

bench-python: ## measure what a call of Python costs while it is recorded, and a zone while nothing is: PYTHON=python3.13
	$(Q)tests/install_packages.sh build bench
	$(SUBMAKE) all
	$(Q)PYTHON='$(PYTHON)' HYPROF='$(abspath $(B)/hyprof)' BUILD='$(abspath $(B))' tests/bench/bench_python.sh

bench-why: ## measure: how often `hyprof why` names a planted cause, and how often one where none is
	$(Q)tests/install_packages.sh build test
	$(SUBMAKE) all test-programs
	$(Q)tests/bench/bench_why.sh $(B)

packages: ## install every Debian package that any target needs
	$(Q)tests/install_packages.sh build test consumers lint fuzz bench deb board

# So that programs find libhyprof.so at once.  Only on the machine itself, and no harm if it cannot be done.
RUN_LDCONFIG := PATH="$$PATH:/sbin:/usr/sbin"; [ "$$(id -u)" != 0 ] || ! command -v ldconfig >/dev/null || ldconfig || true

# Where the shells look for them, and the names of ours.
COMPLETIONS := bash-completion/completions/hyprof.bash zsh/site-functions/_hyprof fish/vendor_completions.d/hyprof.fish
COMPLETION_FOLDERS := $(patsubst %/,%,$(dir $(COMPLETIONS)))
installed = $(1:.bash=)

# An installation is found again when its whole folder has moved: by paths from PREFIX and from where a file lies.
FROM_PREFIX    = $(patsubst $(PREFIX)/%,$${prefix}/%,$(LIBDIR))
INCLUDE_TO_LIB = $(shell realpath -ms --relative-to='$(LIBDIR)/cmake/hyprof' '$(PREFIX)/include')
FILLED_IN      = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(FROM_PREFIX)|' -e 's|@INCLUDE@|$(INCLUDE_TO_LIB)|' \
                 -e 's|@VERSION@|$(VERSION)|' -e 's|@SOVERSION@|$(SOVERSION)|'
CMAKE_FILES   := hyprofConfig.cmake hyprofConfigVersion.cmake
SHARED_NAMES  := hyprof $(TRACY_NAMES)

install: all ## install hyprof and libhyprof under DESTDIR, PREFIX (/usr/local) and LIBDIR (PREFIX/lib)
	install -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(LIBDIR)/pkgconfig' '$(DESTDIR)$(LIBDIR)/cmake/hyprof'
	install -m 755 $(B)/hyprof '$(DESTDIR)$(PREFIX)/bin/hyprof'
	install -m 644 $(IREE_A) '$(DESTDIR)$(LIBDIR)/libhyprof_iree.a'
	$(foreach n,$(SHARED_NAMES),install -m 644 $(B)/lib$(n).a '$(DESTDIR)$(LIBDIR)/' && \
	        install -m 755 $(B)/lib$(n).so '$(DESTDIR)$(LIBDIR)/lib$(n).so.$(SOVERSION)' && \
	        ln -sf lib$(n).so.$(SOVERSION) '$(DESTDIR)$(LIBDIR)/lib$(n).so' &&) true
	$(foreach h,$(CLIENT_HDR),install -D -m 644 $(h) '$(h:instrument/client/%=$(DESTDIR)$(PREFIX)/%)' &&) true
	install -d $(COMPLETION_FOLDERS:%='$(DESTDIR)$(PREFIX)/share/%') '$(DESTDIR)$(PREFIX)/share/man/man1'
	install -m 644 $(B)/man/*.1 '$(DESTDIR)$(PREFIX)/share/man/man1/'
	install -d '$(DESTDIR)$(PREFIX)/share/doc/hyprof/docs/schemas'
	install -m 644 $(SCHEMAS) '$(DESTDIR)$(PREFIX)/share/doc/hyprof/docs/schemas/'
	$(foreach c,$(COMPLETIONS),install -m 644 cli/completions/$(notdir $(c)) '$(DESTDIR)$(PREFIX)/share/$(call installed,$(c))' &&) true
	$(FILLED_IN) instrument/client/hyprof.pc.in > '$(DESTDIR)$(LIBDIR)/pkgconfig/hyprof.pc'
	$(foreach f,$(CMAKE_FILES),$(FILLED_IN) instrument/client/$(f).in > '$(DESTDIR)$(LIBDIR)/cmake/hyprof/$(f)' &&) true
	$(if $(PYTHON_PACKAGE),$(foreach f,$(PYTHON_PACKAGE),install -D -m 644 $(f) '$(f:$(B)/python/%=$(DESTDIR)$(PYTHON_DIR)/%)' &&) \
	        install -m 755 python/hyprof-python '$(DESTDIR)$(PREFIX)/bin/hyprof-python' && \
	        install -m 644 $(PYTHON_MANUAL) '$(DESTDIR)$(PREFIX)/share/man/man1/')
	$(if $(DESTDIR),,@$(RUN_LDCONFIG))

# docs/understand/privileges.md explains each.  The mode first: users outside of the group must never see the capabilities.
CAPABILITIES := cap_perfmon,cap_sys_ptrace,cap_checkpoint_restore+ep
install-capabilities: ## after install: members of GROUP (root) record without sudo
	chgrp '$(GROUP)' '$(DESTDIR)$(PREFIX)/bin/hyprof'
	chmod 750 '$(DESTDIR)$(PREFIX)/bin/hyprof'
	PATH="$$PATH:/sbin:/usr/sbin"; setcap '$(CAPABILITIES)' '$(DESTDIR)$(PREFIX)/bin/hyprof'

uninstall: ## remove what install put there
	rm -f '$(DESTDIR)$(PREFIX)/bin/hyprof' '$(DESTDIR)$(LIBDIR)/libhyprof_iree.a' '$(DESTDIR)$(LIBDIR)/pkgconfig/hyprof.pc' \
	        $(foreach f,$(CMAKE_FILES),'$(DESTDIR)$(LIBDIR)/cmake/hyprof/$(f)') \
	        $(foreach n,$(SHARED_NAMES),$(foreach e,.a .so .so.$(SOVERSION),'$(DESTDIR)$(LIBDIR)/lib$(n)$(e)')) \
	        $(foreach c,$(COMPLETIONS),'$(DESTDIR)$(PREFIX)/share/$(call installed,$(c))') \
	        $(CLIENT_HDR:instrument/client/include/%='$(DESTDIR)$(PREFIX)/include/%')
	rm -f '$(DESTDIR)$(PREFIX)/share/man/man1/hyprof.1' '$(DESTDIR)$(PREFIX)/share/man/man1'/hyprof-*.1
	rm -f $(SCHEMAS:%='$(DESTDIR)$(PREFIX)/share/doc/hyprof/%')
	rm -f '$(DESTDIR)$(PREFIX)/bin/hyprof-python' $(PYTHON_FILES:$(B)/python/%='$(DESTDIR)$(PYTHON_DIR)/%') \
	        '$(DESTDIR)$(PYTHON_DIR)/hyprof'/_native.*.so
	-find '$(DESTDIR)$(PYTHON_DIR)/hyprof' -depth \( -name '*.pyc' -o -type d -empty \) -delete
	-rmdir '$(DESTDIR)$(LIBDIR)/cmake/hyprof'
	-find '$(DESTDIR)$(PREFIX)/include/hyprof' '$(DESTDIR)$(PREFIX)/share/doc/hyprof' -depth -type d -empty -delete

# The files of the last commit, in an order and with times that do not depend on the machine.
DIST := hyprof-$(VERSION)
dist: ## build/hyprof-VERSION.tar.gz: the sources of the last commit, the same bytes on each machine
	@[ -z "$$(git status --porcelain)" ] || echo "dist: what is not committed is left out" >&2
	@mkdir -p build
	$(Q)git -c tar.umask=0022 -c core.autocrlf=false archive --format=tar --prefix=$(DIST)/ HEAD | gzip -9n > build/$(DIST).tar.gz
	@echo build/$(DIST).tar.gz

# In a copy of the sources, since dpkg-buildpackage writes beside them.
SOURCE_LIST = $(if $(wildcard .git),git ls-files -co --exclude-standard -z,find . -name build -prune -o -type f -print0)
deb: ## build/deb/*.deb: the Debian packages hyprof, libhyprof1, libhyprof-dev and python3-hyprof
	$(Q)tests/install_packages.sh build deb
	@rm -rf build/deb && mkdir -p build/deb/$(DIST)
	$(Q)$(SOURCE_LIST) | tar -c --null --files-from=- --ignore-failed-read | tar -x -C build/deb/$(DIST)
	$(Q)cd build/deb/$(DIST) && env -u MAKEFLAGS -u MAKELEVEL -u CFLAGS -u CPPFLAGS -u CXXFLAGS -u LDFLAGS dpkg-buildpackage -b -us -uc
	@rm -rf build/deb/$(DIST) && ls build/deb/*.deb

check-deb: ## make deb, then the packages' test: lintian, install, use, purge
	$(Q)tests/install_packages.sh build test deb
	$(SUBMAKE) all test-programs
	$(Q)! command -v dpkg-buildpackage dh >/dev/null || $(MAKE) --no-print-directory deb
	$(Q)tests/run_tests.sh $(B) tests/packages/deb.sh

# A board: nothing of it runs here.  TARGET's compiler is a package of this machine, its libraries are fetched into build/.
BOARDS      := aarch64 riscv64
BOARD_SUITE ?= trixie
DEBIAN_NAME  = $(patsubst aarch64,arm64,$(TARGET))
board: ## build/TARGET-board/hyprof-VERSION-TARGET.tar.gz for a board: TARGET=riscv64|aarch64
	@[ -n '$(filter $(BOARDS),$(TARGET))' ] || { echo "board: say TARGET=riscv64 or TARGET=aarch64, not '$(TARGET)'" >&2; exit 2; }
	$(Q)tests/install_packages.sh build board-$(TARGET)
	$(Q)boards/sysroot.sh $(DEBIAN_NAME) $(BOARD_SUITE) build/sysroot/$(TARGET) $$(tests/install_packages.sh --list build | tr ' ' '\n' | grep -- '-dev$$' | grep -v python)
	$(SUBMAKE) VARIANT=board CROSS_COMPILE=$(TARGET)-linux-gnu- SYSROOT=build/sysroot/$(TARGET) board-parts
	$(Q)boards/pack.sh build/$(TARGET)-board $(TARGET)-linux-gnu- $(VERSION)

board-parts: $(HYPROF) $(CLIENT_A) $(CLIENT_SO) $(TRACY_LIBS) $(IREE_A)

check-board: ## make board for each TARGET, and the test of what they are: it runs them in qemu's user mode
	$(Q)tests/install_packages.sh build test board
	$(SUBMAKE) all
	$(Q)for target in $(BOARDS); do $(MAKE) --no-print-directory board TARGET=$$target || exit 1; done
	$(Q)tests/run_tests.sh $(B) tests/packages/board.sh

# Nothing but the kernel is another one: the files are this machine's.
KERNELS ?= bookworm trixie
check-kernels: ## what was built here, on the kernels of Debian's releases, in emulated machines: KERNELS=bookworm for one
	$(Q)tests/install_packages.sh build test kernels
	$(SUBMAKE) all $(addprefix $(B)/tests/,test_switch_types test_python_verified)
	$(Q)for suite in $(KERNELS); do tests/guests/image.sh x86_64-$$suite || exit 1; done
	$(Q)HYPROF_KERNELS='$(KERNELS)' HYPROF_LIMIT_S=1500 tests/run_tests.sh $(B) tests/guests/other_kernels.sh

# A whole machine, emulated: its kernel, its disk, what hyprof is compiled with and its programs are Debian's packages.
GUESTS      := check-guest test-riscv64 test-aarch64
GUEST        = build/$(TARGET)-guest
GUEST_PARTS  = $(if $(TESTS),units,basic interrupts traces addresses units iree)
GUEST_LIMIT_S = 14400
GUEST_GOALS  = board-parts $(if $(TESTS),$(TESTS:%=$(GUEST)/tests/%),test-programs $(GUEST)/examples/hello_zones $(GUEST)/examples/kernel_pool)
check-guest: ## record in an emulated RISC-V machine and read the traces here: minutes
test-riscv64: ## the same with programs of all kinds, and the unit tests there: half an hour; TESTS=names: these unit tests alone
test-aarch64: ## the same for AArch64
check-guest: TARGET = riscv64
check-guest: GUEST_PARTS = basic
check-guest: GUEST_LIMIT_S = 900
check-guest: GUEST_GOALS = $(addprefix $(GUEST)/,hyprof libhyprof_iree.a workloads/w_loop workloads/w_truth workloads/w_unwind examples/hello_zones)
test-riscv64 test-aarch64: TARGET = $(@:test-%=%)
$(GUESTS):
	$(Q)tests/install_packages.sh build test guest-$(TARGET)
	$(SUBMAKE) $(HYPROF)
	$(Q)tests/guests/image.sh $(TARGET)
	+$(Q)[ -e build/guest/$(TARGET)/missing ] || { \
	        $(MAKE) --no-print-directory $(JOBS) B=$(GUEST) VARIANT=board CROSS_COMPILE=$(TARGET)-linux-gnu- \
	                SYSROOT=build/guest/$(TARGET)/root $(GUEST_GOALS) && \
	        { [ '$(GUEST_PARTS)' = basic ] || boards/pack.sh $(GUEST) $(TARGET)-linux-gnu- $(VERSION); } && \
	        tests/guests/image.sh $(TARGET) $(GUEST); }
	$(Q)[ -z '$(IREE_SOURCE)' ] || [ '$(GUEST_PARTS)' = basic ] || [ -e build/guest/$(TARGET)/missing ] || \
	        for mode in 1 2 3 4; do tests/iree/build.sh '$(IREE_SOURCE)' $$mode $(GUEST) $(TARGET) || exit 1; done
	$(Q)GUEST=$(TARGET) HYPROF_GUEST_PARTS='$(GUEST_PARTS)' HYPROF_GUEST_TESTS='$(TESTS)' HYPROF_TRIES=1 HYPROF_LIMIT_S=$(GUEST_LIMIT_S) \
	        tests/run_tests.sh $(B) tests/guests/machine.sh

test-iree: ## IREE's own runtime with hyprof as its tracing provider, in each mode: IREE_SOURCE=DIR, its tree
	$(Q)tests/install_packages.sh build test
	$(SUBMAKE) all
	$(Q)[ -z '$(IREE_SOURCE)' ] || for mode in 1 2 3 4 locks; do tests/iree/build.sh '$(IREE_SOURCE)' $$mode $(B) || exit 1; done
	$(Q)HYPROF_TRIES=1 tests/run_tests.sh $(B) tests/iree/runtime.sh

test-debian13: ## build the tree and run its tests in a chroot with Debian 13, as root; TESTS=scripts or binaries alone: half an hour
	$(Q)tests/install_packages.sh debian13
	$(Q)tests/guests/debian13.sh $(TESTS)

clean: ## remove build/
	rm -rf build

help: ## print this list
	@sed -nE 's/^([a-z-]+):.*## (.*)/  \1\t\2/p' Makefile | expand -t 14
	@printf '\nV=1 shows commands; WERROR=1 makes warnings errors; VARIANT=release|debug|asan|tsan|clang\n'

test-programs: $(UNIT_TESTS) $(FUZZERS) $(WORKLOADS) $(TOOLS) $(CLIENT_SO) $(TRACY_LIBS)
fuzz-programs: $(FUZZERS)
screenshots: demo ## docs/images/viewer-*.png, of the traces of the demo
	$(Q)tests/install_packages.sh consumers
	$(Q)examples/screenshots.sh $(B)

bench-programs: $(BENCHES) $(WORKLOADS) $(TOOLS)

# -------------------------------------------------------------------- rules

# Other flags or another compiler build everything anew.
FLAGS_NOW := $(CC) $(CXX) $(C_FLAGS) $(CXX_FLAGS) $(LINK_FLAGS) $(BPF_CLANG) $(NCURSES)
$(B)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' > $@

# 64 bits are in every layout of the client ABI and of the trace.
CHECK_64_BITS = printf '\043if !defined(__LP64__)\n\043error\n\043endif\n' | $(CC) $(filter -m%,$(CPPFLAGS) $(CFLAGS)) -E -x c - -o /dev/null 2>/dev/null

# A missing header is reported once, with the command that installs it.
HEADERS := libelf.h dwarf.h perfmon/pfmlib_perf_event.h zstd.h zlib.h lzma.h xxhash.h sqlite3.h jansson.h libiberty/demangle.h \
           sys/capability.h seccomp.h $(if $(IS_STATIC),,microhttpd.h) $(if $(BPF_CLANG),bpf/libbpf.h) $(if $(NCURSES),curses.h)
$(B)/headers: $(B)/flags
	@command -v $(firstword $(CC)) >/dev/null || { echo "cannot build: there is no compiler $(firstword $(CC))" >&2; exit 1; }
	@$(CHECK_64_BITS) || { echo "cannot build: $(CC) compiles for a machine of 32 bits; hyprof and its client library need one of 64" >&2; exit 1; }
	@for header in $(HEADERS); do \
	        printf '#include <stddef.h>\n#include <stdio.h>\n#include <%s>\n' $$header | \
	                $(CC) $(SYSROOT_FLAGS) -E -x c - -o /dev/null 2>/dev/null || \
	        { echo "cannot build: the header <$$header> or the compiler $(CC) is missing;" \
	               "'make packages' installs what hyprof needs" >&2; exit 1; }; \
	done
	@touch $@

$(B)/obj/instrument/client/%.o: instrument/client/%.c $(B)/flags | $(B)/headers
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(C_FLAGS) $(CLIENT_INC) -fPIC -MMD -MP -c $< -o $@

$(B)/obj/instrument/compat/%.o: instrument/compat/%.c $(B)/flags | $(B)/headers
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(C_FLAGS) $(CLIENT_INC) -fPIC -MMD -MP -c $< -o $@

$(B)/obj/%.o: %.c $(B)/flags | $(B)/headers
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(C_FLAGS) $(EXTRA_INC) -MMD -MP -c $< -o $@

$(B)/obj/%.o: %.cpp $(B)/flags | $(B)/headers
	$(call say,CXX,$<)
	@mkdir -p $(@D)
	$(Q)$(CXX) $(CXX_FLAGS) $(EXTRA_INC) -MMD -MP -c $< -o $@

$(BPF_PROGRAMS): $(B)/obj/%.o: %.c $(wildcard sampler/bpf/*.h) $(B)/flags | $(B)/headers
	$(call say,BPF,$<)
	@mkdir -p $(@D)
	$(Q)$(BPF_CLANG) $(BPF_FLAGS) -c $< -o $@

$(B)/obj/sampler/kernel/switch_program.o: $(B)/obj/sampler/bpf/switch_events.bpf.o
$(B)/obj/sampler/kernel/switch_program.o: private C_FLAGS += -DSWITCH_PROGRAM_FILE='"$(B)/obj/sampler/bpf/switch_events.bpf.o"'
$(B)/obj/sampler/python/python_program.o: $(B)/obj/sampler/bpf/python_frames.bpf.o
$(B)/obj/sampler/python/python_program.o: private C_FLAGS += -DPYTHON_PROGRAM_FILE='"$(B)/obj/sampler/bpf/python_frames.bpf.o"'

# Texts that are built in, one after the other in one file, each after its name: the prose of manuals ("report"), and
# the schemas of answers ("hyprof.zones/2" is hyprof.zones.2.json).
MANUAL_PROSE := $(B)/obj/cli/manual_prose.txt
$(MANUAL_PROSE): $(PROSE_TXT) $(SCHEMAS) docs/man docs/schemas $(B)/flags
	@mkdir -p $(@D)
	$(Q)for file in $(PROSE_TXT) $(SCHEMAS); do \
	        name=$${file##*/} && name=$${name%.*} && case $$file in *.json) name=$${name%.*}/$${name##*.} ;; esac && \
	        printf '\001%s\n' "$$name" && cat "$$file" || exit 1; \
	done > $@
# Likewise the pages of the viewer: its document, its style, and its scripts in the order of web/pages/order.
PAGE_FILES := $(B)/obj/web/page_files.txt
$(PAGE_FILES): $(PAGES) $(wildcard web/pages web/pages/order) $(B)/flags
	@mkdir -p $(@D)
	$(Q)for file in $(PAGES); do printf '\001%s\n' "$${file##*/}" && cat "$$file" || exit 1; done > $@
$(B)/obj/web/page_files.o: $(PAGE_FILES)
$(B)/obj/web/page_files.o: private C_FLAGS += -DPAGE_FILES_FILE='"$(PAGE_FILES)"'

$(B)/obj/cli/commands/manual_prose.o: $(MANUAL_PROSE)
$(B)/obj/cli/commands/manual_prose.o: private C_FLAGS += -DMANUAL_PROSE_FILE='"$(MANUAL_PROSE)"'
$(B)/obj/cli/commands/man_page.o: private C_FLAGS += -DHYPROF_DATE='"$(RELEASED)"'

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
                                           -DHYPROF_VARIANT='"$(VARIANT)"' -DHYPROF_HAS_BPF=$(if $(BPF_CLANG),1,0) $(if $(IS_STATIC),-DHYPROF_IS_STATIC=1)

# Programs see the client as its users do; the library folders do not see it at all.
$(B)/obj/examples/%.o $(B)/obj/tests/%.o: EXTRA_INC := $(CLIENT_INC)
$(B)/obj/tests/unit/%.o: EXTRA_INC := $(CLIENT_INC) $(if $(filter asan tsan board,$(VARIANT)),-include tests/unit/no_marks.h)
$(B)/obj/tests/workloads/w_tracy_%.o: EXTRA_INC := $(CLIENT_INC) -Iinstrument/client/include/hyprof/compat -DTRACY_ENABLE -DTRACY_FIBERS

# Code whose callers can only be found by tables.
$(B)/obj/tests/unit/deep_calls.o $(B)/obj/tests/workloads/w_unwind.o: private C_FLAGS += -O2 -fomit-frame-pointer -fno-builtin-labs
$(B)/obj/tests/workloads/w_deep.o: private CXX_FLAGS += -O2 -fomit-frame-pointer
# It looks for itself in .eh_frame, and RISC-V's gcc 12 describes code in .debug_frame alone unless it is asked.
$(B)/obj/tests/unit/test_unwind_module.o: private C_FLAGS += -fasynchronous-unwind-tables

# Made anew each time: `ar` alone would keep the objects of deleted files.
$(INTERNAL): $(LIB_OBJ) $(B)/flags
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

# One object whose internal names are local: they cannot clash with those of the program it is linked into.
$(B)/libhyprof.a: $(CLIENT_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(CC) -r -nostdlib $^ -o $(B)/libhyprof.o && $(OBJCOPY) --localize-hidden $(B)/libhyprof.o && \
	        $(AR) rcs $@ $(B)/libhyprof.o

# Whole: what IREE is configured with is one path.
$(B)/libhyprof_iree.a: $(IREE_OBJ) $(CLIENT_A)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(IREE_OBJ) $(B)/libhyprof.o

# The same with its internal names, for the client's unit tests.
$(B)/libhyprof_open.a: $(CLIENT_OBJ)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $^

$(B)/libhyprof.so: $(CLIENT_OBJ) $(CLIENT_MAP)
	$(call say,LD,$@)
	# nodelete: a thread's end calls into the library, whenever that is
	$(Q)$(CC) -shared -Wl,-soname,libhyprof.so.$(SOVERSION) -Wl,--version-script=$(CLIENT_MAP) -Wl,-z,nodelete \
	        $(LINK_FLAGS) $(CLIENT_OBJ) -o $@

# Tracy's C functions, once for each revision of them: see docs/use/tracy-compat.md.
$(B)/libhyprof_tracy_0.13.o:     TRACY_REVISION := -DTRACY_COMPAT_API=1103
$(B)/libhyprof_tracy_ondemand.o: TRACY_REVISION := -DHYPROF_TRACY_ON_DEMAND_ABI
$(TRACY_NAMES:%=$(B)/lib%.o): $(TRACY_SRC) $(wildcard instrument/compat/tracy/*.h) $(CLIENT_HDR) $(B)/flags
	$(call say,CC,$@)
	$(Q)$(CC) $(C_FLAGS) $(CLIENT_INC) $(TRACY_REVISION) -fPIC -r -nostdlib $(TRACY_SRC) -o $@ && \
	        $(OBJCOPY) --localize-hidden $@

$(TRACY_NAMES:%=$(B)/lib%.a): %.a: %.o
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $<

# They find libhyprof.so beside them, also when they are loaded by a path alone, as with LD_PRELOAD.  Packages need no
# such path, since their libraries lie where the loader looks: TRACY_RPATH= leaves it out.
TRACY_RPATH ?= -Wl,-rpath,'$$ORIGIN'
$(TRACY_NAMES:%=$(B)/lib%.so): %.so: %.o $(CLIENT_SO)
	$(call say,LD,$@)
	$(Q)$(CC) -shared -Wl,-soname,$(@F).$(SOVERSION) $(TRACY_RPATH) $(LINK_FLAGS) $^ -o $@

# One copy of libhyprof inside, whose names are its own: it joins another one in the process by itself.
$(B)/obj/python/%.o: python/%.c $(B)/flags $(B)/python_facts | $(B)/headers
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(CC) $(C_FLAGS) $(CLIENT_INC) -isystem $(PYTHON_INC) -fPIC -MMD -MP -c $< -o $@

$(PYTHON_EXTENSION): $(call objects,$(PYTHON_SRC)) $(CLIENT_A) python/native/exports.map
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -shared -Wl,--version-script=python/native/exports.map -Wl,-z,nodelete $(LINK_FLAGS) $(filter %.o %.a,$^) -o $@

$(B)/python/hyprof/compat/%: python/compat/%
	@mkdir -p $(@D) && cp $< $@
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

$(B)/hyprof: $(call objects,$(MAIN_SRC)) $(INTERNAL)
	$(call say,LD,$@)
	$(Q)$(CC) $(if $(IS_STATIC),$(filter-out $(SYSROOT_LINK),$(LINK_FLAGS)),$(LINK_FLAGS)) $(filter %.o %.a,$^) $(HYPROF_LIBS) -o $@

.SECONDEXPANSION:
$(EXAMPLES): $(B)/%: $$(call objects_in,$$*) $(CLIENT_A)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LINK_FLAGS) $^ -ldl -lm -o $@

$(B)/workloads/%: $(B)/obj/tests/workloads/%.o $(CLIENT_A)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(if $(wildcard tests/workloads/$*.cpp),$(CXX),$(CC)) $(LINK_FLAGS) $^ -lm -o $@

$(B)/workloads/w_tracy_c $(B)/workloads/w_tracy_foreign: $(B)/workloads/%: $(B)/obj/tests/workloads/%.o $(B)/libhyprof_tracy.a $(CLIENT_A)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LINK_FLAGS) $^ -o $@

$(B)/workloads/w_iree: $(B)/obj/tests/workloads/w_iree.o $(IREE_A)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LINK_FLAGS) $^ -o $@

# These make the allocator fail, call by call, set the clock, and refuse events.
$(B)/tests/test_event_refusals: private LINK_FLAGS += -Wl,--wrap=syscall
$(B)/tests/test_timed_wait: private LINK_FLAGS += -Wl,--wrap=clock_gettime
$(B)/tests/test_no_memory: private LINK_FLAGS += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup,--wrap=free

$(B)/tests/test_iree_%: $(B)/obj/tests/unit/test_iree_%.o $(B)/obj/tests/unit/unit_test.o $(IREE_A)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LINK_FLAGS) $^ $(CHECK_LIBS) -o $@

# An archive, so that a test holds only what it uses: tests/threaded_tests.sh looks for threads in it.
$(UNIT_AID_A): $(call objects,$(UNIT_AID)) $(B)/flags
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

$(B)/tests/%: $(B)/obj/tests/unit/%.o $(UNIT_AID_A) $(INTERNAL) $(if $(CLIENT_SRC),$(B)/libhyprof_open.a)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LINK_FLAGS) $^ $(CHECK_LIBS) $(LIBS) -o $@

# Fuzz targets: libFuzzer in the variant fuzz, elsewhere a program that replays the files it is given.
ifeq ($(VARIANT),fuzz)
$(B)/fuzz/%: $(B)/obj/tests/fuzz/%.o $(INTERNAL)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LINK_FLAGS) -fsanitize=fuzzer $^ $(LIBS) -o $@
else
$(B)/fuzz/%: $(B)/obj/tests/fuzz/%.o $(B)/obj/tests/fuzz/replay_main.o $(INTERNAL)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LINK_FLAGS) $^ $(LIBS) -o $@
endif

# Unwinding has the recorder of its test, and two peers, one where it is installed.
BENCH_AID = $(if $(filter bench_unwind,$(1)),$(B)/obj/tests/unit/live_stacks.o) \
            $(if $(filter bench_report bench_timeline,$(1)),$(B)/obj/tests/bench/zone_trace.o)
$(B)/bench/bench_unwind: private LIBS += -ldw $(shell $(PACKAGES_OF) $(PKG_CONFIG) --libs libunwind-generic 2>/dev/null)

$(B)/bench/%: $(B)/obj/tests/bench/%.o $$(call BENCH_AID,$$*) $(INTERNAL) $(CLIENT_A)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LINK_FLAGS) $^ $(LIBS) -o $@

# The inside that scripts of tests and benchmarks need: unwinding, above all.
# One builds its traces as unit tests do, one as benchmarks do.
TOOL_AID = $(if $(filter edge_traces,$(1)),$(B)/obj/tests/unit/trace_builder.o) \
           $(if $(filter large_trace,$(1)),$(B)/obj/tests/bench/zone_trace.o)
$(B)/tools/edge_traces: private LIBS += $(CHECK_LIBS)

$(B)/tools/%: $(B)/obj/tests/tools/%.o $(B)/obj/tests/unit/live_stacks.o $$(call TOOL_AID,$$*) $(INTERNAL)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LINK_FLAGS) $^ $(LIBS) -o $@

# Preloaded into hyprof.
$(B)/tools/fail_allocation.so $(B)/tools/poor_counters.so: $(B)/tools/%.so: tests/preload/%.c $(B)/flags
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(C_FLAGS) -fvisibility=default -fPIC -shared $(LINK_FLAGS) $< -o $@

ALL_SRC := $(LIB_SRC) $(MAIN_SRC) $(CLIENT_SRC) $(IREE_SRC) $(EXAMPLE_SRC) $(WORK_SRC) $(WORK_CXX) $(UNIT_SRC) $(UNIT_AID) \
           $(FUZZ_SRC) tests/fuzz/replay_main.c $(BENCH_SRC) $(TOOL_SRC)
objects: $(call objects,$(ALL_SRC) $(TRACY_SRC) $(if $(PYTHON_EXT),$(PYTHON_SRC)))
.SECONDARY: $(call objects,$(ALL_SRC))
-include $(patsubst %,$(B)/obj/%.d,$(basename $(ALL_SRC) $(PYTHON_SRC)))
