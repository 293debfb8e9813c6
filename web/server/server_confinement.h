/* SPDX-License-Identifier: MIT */
/*
 * web/server/server_confinement.h - what the process that speaks HTTP may not do any more
 *
 * Way of the data:  view_server, relay, capture -> [server_confinement] -> confinement, landlock, call_filter
 */
#ifndef WEB_SERVER_SERVER_CONFINEMENT_H
#define WEB_SERVER_SERVER_CONFINEMENT_H

#include <stddef.h>
#include <stdint.h>

struct error;

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
