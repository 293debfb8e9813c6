# SPDX-License-Identifier: MIT
#
# The tests: their programs, and the targets that run them.

.PHONY: check test check-asan check-bytes check-tsan check-clang nightly lint fuzz fuzz-view mutants soak-client soak-recorder bench bench-diff bench-fixes bench-memory bench-scale \
        bench-view bench-python bench-why check-kernels check-bare check-guest test-riscv64 test-aarch64 test-iree test-debian13 test-thorough check-left-out \
        test-programs fuzz-programs bench-programs

WORK_SRC    := $(wildcard tests/workloads/w_*.c)
WORK_CXX    := $(wildcard tests/workloads/w_*.cpp)
UNIT_SRC    := $(filter-out $(if $(BPF_CLANG),,tests/unit/test_kernel_types.c tests/unit/test_python_copies.c tests/unit/test_python_verified.c tests/unit/test_switch_source.c tests/unit/test_switch_types.c) $(if $(SQLITE),,tests/unit/test_sqlite_database.c), \
               $(wildcard tests/unit/test_*.c))
UNIT_AID    := $(filter-out tests/unit/test_%,$(wildcard tests/unit/*.c))
FUZZ_SRC    := $(wildcard tests/fuzz/fuzz_*.c)
BENCH_SRC   := $(wildcard tests/bench/bench_*.c)
TOOL_SRC    := $(wildcard tests/tools/*.c)
DELAY_SRC   := $(filter-out %/w_delays_omp.c,$(wildcard tests/workloads/delays/*.c))
DELAYS      := $(addprefix $(B)/workloads/,w_delays $(if $(CROSS_COMPILE),,w_delays_omp w_delays_tbb))
WORKLOADS   := $(WORK_SRC:tests/workloads/%.c=$(B)/workloads/%) $(WORK_CXX:tests/workloads/%.cpp=$(B)/workloads/%) $(DELAYS)
UNIT_AID_A  := $(B)/libtests_aid.a
UNIT_TESTS  := $(UNIT_SRC:tests/unit/%.c=$(B)/tests/%)
FUZZERS     := $(FUZZ_SRC:tests/fuzz/%.c=$(B)/fuzz/%)
BENCHES     := $(BENCH_SRC:tests/bench/%.c=$(B)/bench/%)
PRELOADS    := $(addprefix $(B)/tools/,fail_allocation.so many_cpus.so notify_calls.so poor_counters.so step_clock.so try_escape.so)
TOOLS       := $(TOOL_SRC:tests/tools/%.c=$(B)/tools/%) $(PRELOADS)

check: ## before each commit, in minutes: build, clang's warnings, unit tests, replay of the fuzz corpora, and lint without the analyzers
	$(Q)tests/install_packages.sh build test lint
	$(SUBMAKE) check-clang WERROR=1
	$(SUBMAKE) all $(UNIT_TESTS) $(FUZZERS)
	$(Q)tests/run_tests.sh $(B) $(UNIT_TESTS) $(FUZZERS)
	$(Q)tests/lint/run_lint.sh quick

test: ## install what is missing, build and run all tests
	$(Q)tests/install_packages.sh build test consumers
	$(SUBMAKE) all test-programs
	$(Q)tests/run_tests.sh $(B)

test-thorough: ## in full, what `make test` shortens
	$(Q)tests/install_packages.sh build test
	$(SUBMAKE) all test-programs
	$(Q)HYPROF_THOROUGH=1 HYPROF_LIMIT_S=900 tests/run_tests.sh $(B) $$(grep -l HYPROF_THOROUGH tests/*/*.sh)

check-asan: ## the tests that find errors of memory, with AddressSanitizer and UndefinedBehaviorSanitizer
	$(Q)tests/install_packages.sh build test consumers
	$(SUBMAKE) VARIANT=asan all test-programs
	$(Q)tests/run_tests.sh build/asan

check-bytes: ## of check-asan, the tests of what parses foreign bytes: tests/foreign_bytes.sh names them
	$(Q)tests/install_packages.sh build test
	$(SUBMAKE) VARIANT=asan $$(tests/foreign_bytes.sh build/asan programs) $(patsubst $(B)/%,build/asan/%,$(HYPROF) $(filter $(B)/%,$(shell tests/foreign_bytes.sh $(B))))
	$(Q)tests/run_tests.sh build/asan $$(tests/foreign_bytes.sh build/asan)

check-tsan: ## the unit tests that use threads, with ThreadSanitizer
	$(Q)tests/install_packages.sh build test
	$(SUBMAKE) VARIANT=tsan $(patsubst $(B)/%,build/tsan/%,$(UNIT_TESTS))
	$(Q)threaded=$$(tests/threaded_tests.sh $(patsubst $(B)/%,build/tsan/%,$(UNIT_TESTS))) && tests/run_tests.sh build/tsan $$threaded

check-clang: ## what clang warns of, in all sources; nothing is made of them
	$(Q)tests/install_packages.sh build test
	$(SUBMAKE) VARIANT=clang CFLAGS='$(CFLAGS) -fsyntax-only' CXXFLAGS='$(CXXFLAGS) -fsyntax-only' objects

nightly: ## what takes hours, as root: the other sanitizers, packages, emulated machines, Debian 13, fuzzing, random mutants, soaking
	$(Q)env -u MAKEFLAGS -u MAKELEVEL .ci/run nightly

lint: ## formatting, static analysis and the rules of the tree
	$(Q)tests/install_packages.sh build lint
	$(Q)tests/lint/run_lint.sh

FUZZ_S ?= 30
fuzz: ## fuzz every decoder for FUZZ_S seconds each (30), as many at a time as there are processors
	$(Q)tests/install_packages.sh build fuzz
	$(SUBMAKE) VARIANT=fuzz fuzz-programs
	$(Q)tests/fuzz/run_fuzz.sh build/fuzz $(FUZZ_S)

fuzz-view: ## change 1,000 models of the viewer at random, and 100,000 inputs of its decoders, HYPROF_MUTANTS=n SEED=n; 10 minutes
	$(Q)HYPROF_MUTANTS=$${HYPROF_MUTANTS:-100000} node --test tests/browser/decoder_fuzz.js
	$(Q)HYPROF_MUTANTS=$${HYPROF_MUTANTS:-1000} node --test tests/browser/timeline_mutants.js

mutants: ## break a line at a time: each of tests/mutants.table must fail its tests; MUTANTS=part of a row; RANDOM=40 SEED=n: drawn by chance
	$(Q)tests/install_packages.sh build test
	$(Q)tests/mutants.sh $(if $(RANDOM),--random '$(RANDOM)' '$(or $(SEED),$(shell date +%s))') '$(MUTANTS)'

SOAK_PROGRAMS ?= 200
soak-client: ## SOAK_PROGRAMS (200) and 1,000 races with all events and call stacks, also under ASan: none may differ; up to an hour
	$(SUBMAKE) $(B)/hyprof
	$(Q)tests/soak_client.sh $(B) $(SOAK_PROGRAMS)

soak-recorder: ## 5 million zones a second for SOAK_SECONDS (600), SOAK_RACES (1,000) of each kind, SOAK_MANY (1,000,000) processes, places, modules: all counted
	$(Q)tests/install_packages.sh build test bench
	$(SUBMAKE) all $(addprefix $(B)/workloads/,w_races w_short_lived w_two_zones)
	$(Q)tests/soak_recorder.sh $(B) $(or $(SOAK_SECONDS),600) $(or $(SOAK_RACES),1000) $(or $(SOAK_MANY),1000000)

bench: ## measure: what a zone costs, how fast records are merged and read
	$(Q)tests/install_packages.sh build bench
	$(SUBMAKE) all bench-programs
	$(Q)tests/bench/run_bench.sh $(B)

bench-diff: ## measure how often hyprof diff is wrong and what it finds: 30 minutes; see tests/bench/diff_rates.sh
	$(Q)tests/install_packages.sh build bench
	$(SUBMAKE) all $(WORKLOADS) $(B)/tools/diff_draws
	$(Q)tests/bench/diff_rates.sh $(B)

bench-fixes: ## measure what hyprof diff says of eleven real fixes, which are fetched and built: 10 minutes, needs a network
	$(Q)tests/install_packages.sh build bench
	$(SUBMAKE) all
	$(Q)tests/bench/diff_fixes.sh $(B)

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

# Nothing but the kernel is another one: the files are this machine's.
KERNELS ?= bookworm trixie
check-kernels: ## what was built here, on the kernels of Debian's releases, in emulated machines: KERNELS=bookworm for one
	$(Q)tests/install_packages.sh build test kernels
	$(SUBMAKE) all $(addprefix $(B)/workloads/,w_deep w_wakers) $(addprefix $(B)/tests/,test_switch_types test_python_verified)
	$(Q)for suite in $(KERNELS); do tests/guests/image.sh x86_64-$$suite || exit 1; done
	$(Q)HYPROF_KERNELS='$(KERNELS)' HYPROF_LIMIT_S=1500 tests/run_tests.sh $(B) tests/guests/other_kernels.sh

# A whole machine, emulated: its kernel, its disk, what hyprof is compiled with and its programs are Debian's packages.
GUESTS      := check-guest test-riscv64 test-aarch64
GUEST        = build/$(TARGET)-guest
GUEST_PARTS  = $(if $(TESTS),units,basic packed interrupts traces addresses units iree)
GUEST_LIMIT_S = 14400
GUEST_GOALS  = board-parts $(if $(TESTS),$(TESTS:%=$(GUEST)/tests/%),test-programs $(GUEST)/examples/hello_zones $(GUEST)/examples/kernel_pool)
check-guest: ## record in an emulated RISC-V machine and read the traces here: minutes
test-riscv64: ## the same with programs of all kinds, and the unit tests there: half an hour; TESTS=names: these unit tests alone
test-aarch64: ## the same for AArch64
check-guest: TARGET = riscv64
check-guest: GUEST_PARTS = basic packed
check-guest: GUEST_LIMIT_S = 900
check-guest: GUEST_GOALS = board-parts $(addprefix $(GUEST)/,workloads/w_loop workloads/w_truth workloads/w_unwind examples/hello_zones)
test-riscv64 test-aarch64: TARGET = $(@:test-%=%)
$(GUESTS):
	$(Q)tests/install_packages.sh build test guest-$(TARGET)
	$(SUBMAKE) $(HYPROF)
	$(Q)tests/guests/image.sh $(TARGET)
	+$(Q)[ -e build/guest/$(TARGET)/missing ] || { \
	        $(MAKE) --no-print-directory $(JOBS) B=$(GUEST) VARIANT=board CROSS_COMPILE=$(TARGET)-linux-gnu- \
	                SYSROOT=build/guest/$(TARGET)/root $(GUEST_GOALS) && \
	        boards/pack.sh $(GUEST) $(TARGET)-linux-gnu- $(VERSION) && \
	        tests/guests/image.sh $(TARGET) $(GUEST); }
	$(Q)[ -z '$(IREE_SOURCE)' ] || [ -z '$(filter iree,$(GUEST_PARTS))' ] || [ -e build/guest/$(TARGET)/missing ] || \
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

check-bare: ## what README and python.md tell newcomers, each line in a minimal Debian 12 of its own, as root: LINE="make deb" for one
	$(Q)tests/install_packages.sh bare
	$(Q)tests/guests/bare.sh '$(LINE)'

WITHOUT := VARIANT=debug $(addsuffix =1,$(addprefix HYPROF_NO_,BPF NCURSES PYTHON SQLITE MICROHTTPD PFM))
check-left-out: ## that hyprof builds, records and says what it lacks without the libraries that can be left out
	$(Q)tests/install_packages.sh build test
	$(SUBMAKE) $(WITHOUT) WERROR=1 all test-programs
	$(Q)tests/run_tests.sh build/debug tests/packages/left_out.sh

test-programs: $(UNIT_TESTS) $(FUZZERS) $(WORKLOADS) $(TOOLS) $(CLIENT_SO) $(TRACY_LIBS) $(INJECT_SO)
fuzz-programs: $(FUZZERS)

bench-programs: $(BENCHES) $(WORKLOADS) $(TOOLS)

# Programs see the client as its users do; the library folders do not see it at all.
$(B)/obj/examples/%.o $(B)/obj/tests/%.o: EXTRA_INC := $(CLIENT_INC)
$(B)/obj/tests/unit/%.o: EXTRA_INC := $(CLIENT_INC) $(if $(filter asan tsan board,$(VARIANT)),-include tests/unit/no_marks.h)
$(B)/obj/tests/workloads/w_tracy_%.o: EXTRA_INC := $(CLIENT_INC) -Iinstrument/client/include/hyprof/compat -DTRACY_ENABLE -DTRACY_FIBERS
$(B)/obj/tests/workloads/w_perfetto.o: EXTRA_INC := $(CLIENT_INC) -Iinstrument/client/include/hyprof/compat/perfetto
$(B)/obj/tests/workloads/w_perfetto.o: private CXX_FLAGS += -std=c++17

# Unit tests are as much code as the product, and run for a moment: optimising them takes more than it gains.  The product is
# optimised in them, and so are those that look at their own stacks.  With sanitizers they run longer than that saves.
UNIT_FLAGS  := $(if $(IS_CLANG),,$(if $(filter release,$(VARIANT)),-O0 -U_FORTIFY_SOURCE -Wno-stack-usage))
$(filter-out %/test_live_unwind.o %/live_stacks.o %/test_client_callstack.o,$(call objects,$(UNIT_SRC) $(UNIT_AID))): private C_FLAGS += $(UNIT_FLAGS)

# Code whose callers can only be found by tables.
$(B)/obj/tests/unit/deep_calls.o $(B)/obj/tests/workloads/w_unwind.o $(B)/obj/tests/workloads/w_other_stacks.o: private C_FLAGS += -O2 -fomit-frame-pointer -fno-builtin-labs
$(B)/obj/tests/workloads/w_deep.o: private CXX_FLAGS += -O2 -fomit-frame-pointer
# It looks for itself in .eh_frame, and RISC-V's gcc 12 describes code in .debug_frame alone unless it is asked.
$(B)/obj/tests/unit/test_unwind_module.o: private C_FLAGS += -fasynchronous-unwind-tables

$(B)/workloads/%: $(B)/obj/tests/workloads/%.o $(CLIENT_A)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(if $(wildcard tests/workloads/$*.cpp),$(CXX),$(CC)) $(LINK_FLAGS) $^ -lm -o $@

$(B)/workloads/w_tracy_c $(B)/workloads/w_tracy_foreign: $(B)/workloads/%: $(B)/obj/tests/workloads/%.o $(B)/libhyprof_tracy.a $(CLIENT_A)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LINK_FLAGS) $^ -o $@

$(B)/workloads/w_delays: $(call objects,$(DELAY_SRC)) $(CLIENT_A)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LINK_FLAGS) $^ -lrt -o $@

# These two skip themselves where their libraries are not installed.
skip_without = printf '\043!/bin/sh\necho "skip: $(1) is not installed"\nexit 77\n' > $@ && chmod +x $@
$(B)/workloads/w_delays_omp: tests/workloads/delays/w_delays_omp.c $(B)/obj/tests/workloads/delays/plant.o $(CLIENT_A)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)if echo '#include <omp.h>' | $(CC) -fopenmp -E -x c - -o /dev/null 2>/dev/null; then \
	        $(CC) $(C_FLAGS) $(CLIENT_INC) -fopenmp $(LINK_FLAGS) $^ -o $@; else $(call skip_without,OpenMP); fi
$(B)/workloads/w_delays_tbb: tests/workloads/delays/w_delays_tbb.cpp $(CLIENT_A)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)if echo '#include <tbb/task_group.h>' | $(CXX) -std=c++11 -E -x c++ - -o /dev/null 2>/dev/null; then \
	        $(CXX) $(CXX_FLAGS) $(CLIENT_INC) $(LINK_FLAGS) $^ -ltbb -o $@; else $(call skip_without,libtbb-dev); fi

$(B)/workloads/w_iree: $(B)/obj/tests/workloads/w_iree.o $(IREE_A)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LINK_FLAGS) $^ -o $@

# unit_test.c tells Check of fewer assertions that held.
CHECKED = -Wl,--wrap=_mark_point $(CHECK_LIBS)

# These make the allocator fail, call by call, set the clock, and refuse events.
$(B)/tests/test_event_refusals: private LINK_FLAGS += -Wl,--wrap=syscall
$(B)/tests/test_timed_wait: private LINK_FLAGS += -Wl,--wrap=clock_gettime
$(B)/tests/test_no_memory: private LINK_FLAGS += -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup,--wrap=free

$(B)/tests/test_iree_%: $(B)/obj/tests/unit/test_iree_%.o $(B)/obj/tests/unit/unit_test.o $(IREE_A)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LINK_FLAGS) $^ $(CHECKED) -o $@

# An archive, so that a test holds only what it uses: tests/threaded_tests.sh looks for threads in it.
$(UNIT_AID_A): $(call objects,$(UNIT_AID)) $(B)/flags
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)

# The bridges' own parts, with the client that they call.
$(B)/tests/test_inject_%: $(B)/obj/tests/unit/test_inject_%.o $(B)/obj/tests/unit/unit_test.o $(INJECT_OBJ) $(B)/libhyprof_open.a
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LINK_FLAGS) $^ $(CHECKED) -o $@

$(B)/tests/%: $(B)/obj/tests/unit/%.o $(UNIT_AID_A) $(INTERNAL) $(if $(CLIENT_SRC),$(B)/libhyprof_open.a)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LINK_FLAGS) $^ $(CHECKED) $(LIBS) -o $@

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
TOOL_AID = $(if $(filter print_schemas,$(1)),$(B)/obj/cli/version.o) \
           $(if $(filter edge_traces wait_trace,$(1)),$(B)/obj/tests/unit/trace_builder.o) \
           $(if $(filter large_trace,$(1)),$(B)/obj/tests/bench/zone_trace.o)
$(B)/tools/edge_traces $(B)/tools/wait_trace: private LIBS += $(CHECK_LIBS)

$(B)/tools/%: $(B)/obj/tests/tools/%.o $(B)/obj/tests/unit/live_stacks.o $$(call TOOL_AID,$$*) $(INTERNAL)
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(LINK_FLAGS) $^ $(LIBS) -o $@

# docs/schemas, and the end of docs/use/view-json.md, from the lists of columns; tests/integration/schemas.sh compares.
.PHONY: schemas
schemas: $(B)/tools/print_schemas
	$(Q)$< docs/schemas > $(B)/schemas.md
	$(Q)sed -i '/^<!-- printed by make schemas/q' docs/use/view-json.md && cat $(B)/schemas.md >> docs/use/view-json.md

# Preloaded into hyprof.
$(PRELOADS): $(B)/tools/%.so: tests/preload/%.c $(B)/flags
	$(call say,LD,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(C_FLAGS) -fvisibility=default -fPIC -shared $(LINK_FLAGS) $< -o $@
