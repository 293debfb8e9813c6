/* SPDX-License-Identifier: MIT */
/*
 * base/call_filter.h - system calls that a process may not make any more: seccomp(2)
 *
 * Way of the data:  confinement -> [call_filter]
 *
 * A refused call fails with EPERM.  The filter holds for the process, its threads and what it starts later;
 * there is no way back.  Descriptors that are open go on to work.
 */
#ifndef BASE_CALL_FILTER_H
#define BASE_CALL_FILTER_H

struct error;

/* Each bans what those before it do. */
enum call_filter_ban {
        /*
         * no program is started, no memory of another process read, no namespace made, nothing typed into a
         * terminal, no local socket made, none of bpf(2), perf_event_open(2), io_uring, keys, modules, mounts
         */
        CALL_FILTER_BAN_PROGRAMS,
        CALL_FILTER_BAN_NETWORK, /* no socket is made, bound or connected */
        CALL_FILTER_BAN_CHANGES, /* no file is removed, renamed, linked, or made but by opening it */
        CALL_FILTER_BAN_FILES,   /* no file is opened, no process started, no signal sent */
};

/*
 * call_filter_enter() - before this, no_new_privs is to be set; allocates nothing
 * Returns 0, or -errno if the kernel has no such filter.
 */
int call_filter_enter(enum call_filter_ban ban, struct error *err);

#endif /* BASE_CALL_FILTER_H */
