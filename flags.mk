# SPDX-License-Identifier: MIT
#
# Compilers, their flags for each variant, and the libraries.

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
# Without optimisation, what is only copied to its place lies on the stack as well; sanitizers put room between things.
WARN_GCC    := -Wcast-align=strict -Wformat-signedness -Wimplicit-fallthrough=5 -Wduplicated-cond \
               -Wduplicated-branches -Wlogical-op $(if $(filter debug asan tsan,$(VARIANT)),,-Wstack-usage=20480)
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

OPTIMIZE     := -O2
MODE_release  = $(OPTIMIZE) $(HARD)
MODE_clang    = $(OPTIMIZE) $(HARD)
MODE_board    = $(OPTIMIZE) $(HARD)
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
# They become a part of hyprof: the folder in which it is built is not in them.
BPF_FLAGS   := -target bpf -mcpu=v3 -O2 -g -ffile-prefix-map=$(CURDIR)=. -Wall -Wextra $(if $(filter 1,$(WERROR)),-Werror) -DSWITCH_MACHINE_$(MACHINE) -I. \
               $(if $(SYSROOT),--sysroot=$(abspath $(SYSROOT))) -idirafter $(if $(SYSROOT),$(abspath $(SYSROOT)))/usr/include/$(TRIPLET) \
               $(if $(CROSS_COMPILE),-idirafter /usr/$(TRIPLET)/include)

# The screen of `hyprof top` is drawn by ncurses.  With HYPROF_NO_NCURSES=1, and on boards, it prints plain tables on a
# terminal too.
HYPROF_NO_NCURSES ?= 0
NCURSES     := $(if $(filter 1,$(HYPROF_NO_NCURSES))$(IS_STATIC)$(CROSS_COMPILE),,1)

# What can be left out besides: HYPROF_NO_SQLITE=1 `export sqlite`, HYPROF_NO_MICROHTTPD=1 the viewer (as on boards), and
# HYPROF_NO_PFM=1 the events that processors' manuals name.  `hyprof --version` says what is there.
HYPROF_NO_SQLITE     ?= 0
HYPROF_NO_MICROHTTPD ?= 0
HYPROF_NO_PFM        ?= 0
SQLITE      := $(if $(filter 1,$(HYPROF_NO_SQLITE)),,1)
MICROHTTPD  := $(if $(filter 1,$(HYPROF_NO_MICROHTTPD))$(IS_STATIC),,1)
PFM         := $(if $(filter 1,$(HYPROF_NO_PFM)),,1)
LEFT_OUT    := $(if $(BPF_CLANG),,BPF) $(if $(NCURSES),,ncurses) $(if $(SQLITE),,SQLite) $(if $(MICROHTTPD),,viewer) $(if $(PFM),,libpfm4)

# Flags that the sources need in any mode.  CPPFLAGS, CFLAGS, CXXFLAGS and LDFLAGS belong to the caller.
DEBUG_FLAGS := -g
# Without it gcc makes no unwind tables for C on RISC-V that stay in a stripped file.
ifeq ($(MACHINE),riscv64)
DEBUG_FLAGS += -fasynchronous-unwind-tables
endif
DEFINES    := -D_GNU_SOURCE -I. -DHYPROF_VERSION='"$(VERSION)"'
C_FLAGS     = -std=c11 $(SYSROOT_FLAGS) $(DEFINES) $(WARN_C) $(DEBUG_FLAGS) -fno-omit-frame-pointer -pthread $(MODE_$(VARIANT)) $(CPPFLAGS) $(CFLAGS)
CXX_FLAGS   = -std=c++11 $(SYSROOT_FLAGS) $(DEFINES) $(WARN_CXX) $(DEBUG_FLAGS) -fno-omit-frame-pointer -pthread $(MODE_$(VARIANT)) $(CPPFLAGS) $(CXXFLAGS)
LINK_FLAGS  = $(SYSROOT_FLAGS) $(SYSROOT_LINK) -pthread $(LINK_$(VARIANT)) -Wl,--as-needed $(LDFLAGS)
LIBS       := -lelf $(if $(PFM),-lpfm) -lzstd -lz -llzma $(if $(SQLITE),-lsqlite3) -ljansson -liberty -lcap -lseccomp \
              $(if $(MICROHTTPD),-lmicrohttpd) $(if $(BPF_CLANG),-lbpf) $(if $(NCURSES),-lncursesw -ltinfo) -lm
# Static programs take the compiler's own libc.  On RISC-V gcc 12 makes none for random addresses.
STATIC_LINK := $(if $(filter riscv64,$(MACHINE)),-static,-static-pie)
HYPROF_LIBS := $(if $(IS_STATIC),$(STATIC_LINK) -Wl$(COMMA)--start-group $(LIBS) -Wl$(COMMA)--end-group,$(LIBS))
CHECK_LIBS  = $(shell $(PACKAGES_OF) $(PKG_CONFIG) --libs check)
CLIENT_INC := -Iinstrument/client/include
