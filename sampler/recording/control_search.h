/* SPDX-License-Identifier: MIT */
/*
 * sampler/recording/control_search.h - finds the recorders that run, and asks each of them for its status
 *
 * Way of the data:  control_socket -> [control_search] -> hyprof ctl
 *
 * All are asked at once, so that a recorder that does not answer, because it is stopped for example, does not
 * delay the others.
 */
#ifndef SAMPLER_RECORDING_CONTROL_SEARCH_H
#define SAMPLER_RECORDING_CONTROL_SEARCH_H

#include "sampler/recording/control_socket.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CONTROL_SEARCH_MAX   64   /* recorders; a user has few at a time */
#define CONTROL_STATUS_VALUE 3072 /* bytes of a value, with its NUL */

struct control_recorder {
        char path[CONTROL_SOCKET_PATH];
        uint64_t pid;                      /* as its socket is named */
        uint32_t uid;                      /* its user */
        int fd;                            /* of the open connection to the recorder; -1 = none */
        char status[CONTROL_SOCKET_BYTES]; /* "" = it has not answered */
};

struct control_search {
        struct control_recorder recorders[CONTROL_SEARCH_MAX];
        size_t n_recorders;
};

/*
 * control_search_run() - ask all recorders of this user for their status
 * @pid:  a recorder, or a process that is recorded: the search ends when its recorder has answered; 0 = any
 * With a PID, root asks the recorders of that process's user as well.
 * Blocks for PACE_CONTROL_WAIT_MS at most.  Sockets of killed recorders are removed.
 */
void control_search_run(struct control_search *s, uint64_t pid);

/* Does the recorder's status say that it records process @pid, or that it is that process itself? */
bool control_recorder_is(const struct control_recorder *recorder, uint64_t pid);

/* Finds the value of a key in the recorder's status; empty if there is none. */
void control_recorder_find(const struct control_recorder *recorder, const char *key,
                           char ret_value[CONTROL_STATUS_VALUE]);

#endif /* SAMPLER_RECORDING_CONTROL_SEARCH_H */
