# SPDX-License-Identifier: MIT
#
# Installing, and packages: of sources, of Debian and of Python.

.PHONY: install install-capabilities uninstall dist release print-sources deb check-deb sbom wheel

# So that programs find libhyprof.so at once.  Only on the machine itself, and no harm if it cannot be done.
RUN_LDCONFIG := PATH="$$PATH:/sbin:/usr/sbin"; [ "$$(id -u)" != 0 ] || ! command -v ldconfig >/dev/null || ldconfig || true

# Where the shells look for them, and the names of ours.
COMPLETIONS := bash-completion/completions/hyprof.bash zsh/site-functions/_hyprof fish/vendor_completions.d/hyprof.fish
COMPLETION_FOLDERS := $(patsubst %/,%,$(dir $(COMPLETIONS)))
installed = $(1:.bash=)

# An installation is found again when its whole folder has moved: by paths from PREFIX and from where a file lies.
FROM_PREFIX    = $(patsubst $(PREFIX)/%,$${prefix}/%,$(LIBDIR))
INCLUDE_TO_LIB = $(shell realpath -ms --relative-to='$(LIBDIR)/cmake/hyprof' '$(PREFIX)/include')
FROM_TREE      = $(shell realpath -ms --relative-to='$(PREFIX)/share/hyprof/tracy' '$(1)')
FILLED_IN      = sed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@LIBDIR@|$(FROM_PREFIX)|' -e 's|@INCLUDE@|$(INCLUDE_TO_LIB)|' \
                 -e 's|@VERSION@|$(VERSION)|' -e 's|@SOVERSION@|$(SOVERSION)|' \
                 -e 's|@INCLUDE_FROM_TREE@|$(call FROM_TREE,$(PREFIX)/include)|' -e 's|@LIB_FROM_TREE@|$(call FROM_TREE,$(LIBDIR))|'
CMAKE_FILES   := hyprofConfig.cmake hyprofConfigVersion.cmake
SHARED_NAMES  := hyprof $(TRACY_NAMES)

# A folder that builds take for Tracy's: from our file, to its place there.  Two links in it lead to the headers.
TREE          := share/hyprof/tracy
TREE_SRC      := instrument/compat/tracy_tree
TREE_FILES    := CMakeLists.txt.in:CMakeLists.txt hyprof_tracy_paths.cmake.in:lib/cmake/hyprof_tracy_paths.cmake \
                 TracyConfig.cmake:lib/cmake/Tracy/TracyConfig.cmake tracy.pc.in:lib/pkgconfig/tracy.pc \
                 TracyConfigVersion.cmake:lib/cmake/Tracy/TracyConfigVersion.cmake \
                 tracy-config.cmake:lib/cmake/tracy/tracy-config.cmake \
                 tracy-config-version.cmake:lib/cmake/tracy/tracy-config-version.cmake
from = $(TREE_SRC)/$(word 1,$(subst :, ,$(1)))
to   = $(DESTDIR)$(PREFIX)/$(TREE)/$(word 2,$(subst :, ,$(1)))

install: all ## install hyprof and libhyprof under DESTDIR, PREFIX (/usr/local) and LIBDIR (PREFIX/lib)
	install -d '$(DESTDIR)$(PREFIX)/bin' '$(DESTDIR)$(LIBDIR)/pkgconfig' '$(DESTDIR)$(LIBDIR)/cmake/hyprof'
	install -m 755 $(B)/hyprof '$(DESTDIR)$(PREFIX)/bin/hyprof'
	install -m 644 $(IREE_A) '$(DESTDIR)$(LIBDIR)/libhyprof_iree.a'
	install -D -m 755 $(INJECT_SO) '$(DESTDIR)$(PREFIX)/lib/hyprof/libhyprof_inject.so'
	$(foreach f,$(wildcard build/boards/hyprof-*),install -D -m 755 $(f) '$(f:build/%=$(DESTDIR)$(PREFIX)/lib/hyprof/%)' &&) true
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
	$(foreach f,$(TREE_FILES),install -d "$$(dirname '$(call to,$(f))')" && $(FILLED_IN) $(call from,$(f)) > '$(call to,$(f))' &&) true
	install -d '$(DESTDIR)$(PREFIX)/$(TREE)/include'
	ln -sfn ../../../include/hyprof/compat '$(DESTDIR)$(PREFIX)/$(TREE)/public'
	ln -sfn ../public '$(DESTDIR)$(PREFIX)/$(TREE)/include/tracy'
	install -d '$(DESTDIR)$(PREFIX)/share/hyprof/perfetto'
	ln -sfn ../../../include/hyprof/compat/perfetto '$(DESTDIR)$(PREFIX)/share/hyprof/perfetto/sdk'
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
	        $(CLIENT_HDR:instrument/client/include/%='$(DESTDIR)$(PREFIX)/include/%') \
	        $(foreach f,$(TREE_FILES),'$(call to,$(f))') '$(DESTDIR)$(PREFIX)/$(TREE)/public' '$(DESTDIR)$(PREFIX)/$(TREE)/include/tracy' \
	        '$(DESTDIR)$(PREFIX)/share/hyprof/perfetto/sdk'
	rm -f '$(DESTDIR)$(PREFIX)/lib/hyprof/boards'/hyprof-* '$(DESTDIR)$(PREFIX)/lib/hyprof/libhyprof_inject.so'
	-rmdir '$(DESTDIR)$(PREFIX)/lib/hyprof/boards' '$(DESTDIR)$(PREFIX)/lib/hyprof' 2>/dev/null
	rm -f '$(DESTDIR)$(PREFIX)/share/man/man1/hyprof.1' '$(DESTDIR)$(PREFIX)/share/man/man1'/hyprof-*.1
	rm -f $(SCHEMAS:%='$(DESTDIR)$(PREFIX)/share/doc/hyprof/%')
	rm -f '$(DESTDIR)$(PREFIX)/bin/hyprof-python' $(PYTHON_FILES:$(B)/python/%='$(DESTDIR)$(PYTHON_DIR)/%') \
	        '$(DESTDIR)$(PYTHON_DIR)/hyprof'/_native.*.so
	-find '$(DESTDIR)$(PYTHON_DIR)/hyprof' -depth \( -name '*.pyc' -o -type d -empty \) -delete
	-rmdir '$(DESTDIR)$(LIBDIR)/cmake/hyprof'
	-find '$(DESTDIR)$(PREFIX)/share/hyprof' '$(DESTDIR)$(PREFIX)/include/hyprof' '$(DESTDIR)$(PREFIX)/share/doc/hyprof' -depth -type d -empty -delete

# The files of the last commit, in an order and with times that do not depend on the machine.
DIST := hyprof-$(VERSION)
dist: ## build/hyprof-VERSION.tar.gz: the sources of the last commit, the same bytes on each machine
	@[ -z "$$(git status --porcelain)" ] || echo "dist: what is not committed is left out" >&2
	@mkdir -p build
	$(Q)git -c tar.umask=0022 -c core.autocrlf=false archive --format=tar --prefix=$(DIST)/ HEAD | gzip -9n > build/$(DIST).tar.gz
	@echo build/$(DIST).tar.gz

release: ## NEXT=0.2.0: writes version and date where they stand, commits that, and tags it
	$(Q)packaging/make_release.sh '$(NEXT)'

# In a copy of the sources, since dpkg-buildpackage writes beside them.
SOURCE_LIST = $(if $(wildcard .git),git ls-files -co --exclude-standard -z,find . -name build -prune -o -type f -print0)
print-sources:
	@$(SOURCE_LIST)
deb: ## build/deb/*.deb: the Debian packages hyprof, libhyprof1, libhyprof-dev, python3-hyprof and python3-hyprof-tracy
	$(Q)tests/install_packages.sh build deb
	@rm -rf build/deb && mkdir -p build/deb/$(DIST)
	$(Q)$(SOURCE_LIST) | tar -c --null --files-from=- --ignore-failed-read | tar -x -C build/deb/$(DIST)
	$(Q)cd build/deb/$(DIST) && env -u MAKEFLAGS -u MAKELEVEL -u CFLAGS -u CPPFLAGS -u CXXFLAGS -u LDFLAGS dpkg-buildpackage -b -us -uc
	@rm -rf build/deb/$(DIST) && ls build/deb/*.deb

sbom: $(B)/hyprof ## build/release/hyprof.spdx.json: what hyprof is built with and loads, with versions, as an SPDX document
	$(Q)packaging/make_sbom.py $< $(VERSION) $(RELEASED) $$(tests/install_packages.sh --list build) > $<.spdx.json
	@echo $<.spdx.json

check-deb: ## make deb, then the packages' tests: lintian, install, use, purge; built again elsewhere they are the same bytes
	$(Q)tests/install_packages.sh build test deb
	$(SUBMAKE) all test-programs
	$(Q)! command -v dpkg-buildpackage dh >/dev/null || $(MAKE) --no-print-directory deb
	$(Q)HYPROF_LIMIT_S=3600 tests/run_tests.sh $(B) tests/packages/deb.sh tests/packages/reproducible.sh

wheel: ## build/wheel/hyprof-*.whl and hyprof_tracy-*.whl, which pip installs into any environment of this machine's PYTHON
	$(Q)tests/install_packages.sh build wheel
	$(Q)rm -rf build/wheel
	$(Q)$(PYTHON) -m pip wheel -q --disable-pip-version-check --no-index --no-deps --no-build-isolation -w build/wheel ./python ./python/tracy && ls build/wheel/*.whl
