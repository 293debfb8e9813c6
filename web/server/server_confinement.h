/* SPDX-License-Identifier: MIT */
/*
 * web/server/server_confinement.h - what the processes of the viewer may not do any more
 *
 * Way of the data:  view_server, answer_process -> [server_confinement] -> confinement, landlock, seccomp(2)
 */
#ifndef WEB_SERVER_SERVER_CONFINEMENT_H
#define WEB_SERVER_SERVER_CONFINEMENT_H

#include <stddef.h>
#include <stdint.h>

struct error;

/*
 * System calls that the viewer's processes may not make any more: seccomp(2)
 *
 * A refused call fails with EPERM.  The filter holds for the process, its threads and what it starts later;
 * there is no way back.  Descriptors that are open go on to work.
 */
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

/* ---- the process that speaks HTTP ---- */

/*
 * server_confinement_enter() - right after fork(2): no capabilities, only @fds, no file is changed
 * by its name
 * @file_bytes_max: files that are open may grow to this
 * Ctrl-C at the terminal is left to the parent.  Returns 0 or -errno.
 */
int server_confinement_enter(int *fds, size_t n_fds, uint64_t file_bytes_max, struct error *err);

/*
 * server_confinement_close() - before the first request: no file is opened any more, no socket made or
 * connected, no process or program started, no other process touched
 * Returns 0; -errno if the kernel has no such filter: the rest holds without it.
 */
int server_confinement_close(struct error *err);

#endif /* WEB_SERVER_SERVER_CONFINEMENT_H */
