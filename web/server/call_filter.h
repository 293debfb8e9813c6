/* SPDX-License-Identifier: MIT */
/*
 * web/server/call_filter.h - system calls that the viewer's processes may not make any more: seccomp(2)
 *
 * Way of the data:  server_confinement, answer_process -> [call_filter]
 *
 * A refused call fails with EPERM.  The filter holds for the process, its threads and what it starts later;
 * there is no way back.  Descriptors that are open go on to work.
 */
#ifndef WEB_SERVER_CALL_FILTER_H
#define WEB_SERVER_CALL_FILTER_H

struct error;

enum call_filter_ban {
        /*
         * no program is started, no socket made or connected, no file removed, renamed, linked or made but by
         * opening it, no memory of another process read, and none of bpf(2), perf_event_open(2), io_uring,
         * mounts
         */
        CALL_FILTER_BAN_CHANGES,
        CALL_FILTER_BAN_FILES, /* the same, and no file is opened, no process started, no signal sent */
};

/*
 * call_filter_enter() - before this, no_new_privs is to be set; allocates nothing
 * Returns 0, or -errno if the kernel has no such filter.
 */
int call_filter_enter(enum call_filter_ban ban, struct error *err);

#endif /* WEB_SERVER_CALL_FILTER_H */
