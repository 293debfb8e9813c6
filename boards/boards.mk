# SPDX-License-Identifier: MIT
#
# hyprof for boards: built here, for another machine.

.PHONY: board board-parts check-board

# A board: nothing of it runs here.  TARGET's compiler is a package of this machine, its libraries are fetched into build/.
# For this machine's own kind, which other hosts may be of, there is nothing to fetch.  build/boards has what
# `hyprof record --on` sends.
BOARDS      := aarch64 riscv64
OWN_KIND    := $(shell uname -m)
BOARD_SUITE ?= trixie
DEBIAN_NAME  = $(patsubst aarch64,arm64,$(TARGET))
ifeq ($(TARGET),$(OWN_KIND))
board:
	$(Q)tests/install_packages.sh build
	$(SUBMAKE) VARIANT=board board-parts
	$(Q)boards/pack.sh build/board '' $(VERSION)
else
board: ## build/TARGET-board/hyprof-VERSION-TARGET.tar.gz for a board: TARGET=riscv64|aarch64, or this machine's kind
	@[ -n '$(filter $(BOARDS),$(TARGET))' ] || { echo "board: say TARGET=riscv64 or TARGET=aarch64 or TARGET=$(OWN_KIND), not '$(TARGET)'" >&2; exit 2; }
	$(Q)tests/install_packages.sh build board-$(TARGET)
	$(Q)boards/sysroot.sh $(DEBIAN_NAME) $(BOARD_SUITE) build/sysroot/$(TARGET) $$(tests/install_packages.sh --list build | tr ' ' '\n' | grep -- '-dev$$' | grep -v python)
	$(SUBMAKE) VARIANT=board CROSS_COMPILE=$(TARGET)-linux-gnu- SYSROOT=build/sysroot/$(TARGET) board-parts
	$(Q)boards/pack.sh build/$(TARGET)-board $(TARGET)-linux-gnu- $(VERSION)
endif

board-parts: $(HYPROF) $(CLIENT_A) $(CLIENT_SO) $(TRACY_LIBS) $(IREE_A)

check-board: ## make board for each TARGET, and the test of what they are: it runs them in qemu's user mode
	$(Q)tests/install_packages.sh build test board
	$(SUBMAKE) all
	$(Q)for target in $(BOARDS); do $(MAKE) --no-print-directory board TARGET=$$target || exit 1; done
	$(Q)tests/run_tests.sh $(B) tests/packages/board.sh
