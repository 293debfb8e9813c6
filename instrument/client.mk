# SPDX-License-Identifier: MIT
#
# The client's libraries, and those in the place of other profilers' clients.

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

# The library that programs load which mark their work for another tool; the client is in it.
$(INJECT_SO): $(CLIENT_OBJ) $(INJECT_OBJ) instrument/compat/inject/libhyprof_inject.map
	$(call say,LD,$@)
	# nodelete: threads end, and the program exits, by functions of the library
	$(Q)$(CC) -shared -Wl,--version-script=instrument/compat/inject/libhyprof_inject.map -Wl,-z,nodelete \
	        $(LINK_FLAGS) $(CLIENT_OBJ) $(INJECT_OBJ) -o $@

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
