/* SPDX-License-Identifier: MIT */
/*
 * sampler/recording/recorder_control.h - what the user asks of a recording while it runs
 *
 * Way of the data:  control_socket -> [recorder_control] -> event_set, zone_source, collector,
 *                   flight_recorder
 *
 * Requests are words: `status`, `pause`, `resume`, `stop`, `dump`, `mark TEXT`.  An answer begins with `ok`
 * or `error:`, or is the status: lines of a key, a blank and a value.  Used by the collector's thread.
 */
#ifndef SAMPLER_RECORDING_RECORDER_CONTROL_H
#define SAMPLER_RECORDING_RECORDER_CONTROL_H

#include "sampler/recording/control_socket.h"

#include <stdbool.h>
#include <stdint.h>

struct recorder;

struct recorder_control {
        struct control_socket socket;
        bool is_paused, is_stopped;
        uint64_t paused_ns;     /* since when */
        uint64_t paused_sum_ns; /* all pauses that are over */
        uint32_t n_pauses, n_marks;
        int dump_connection; /* waits for its dump; -1 = there is none */
        uint32_t n_dumps_before, n_failed_before;
};

#define RECORDER_CONTROL_NONE                                        \
        {                                                            \
                .socket = CONTROL_SOCKET_NONE, .dump_connection = -1 \
        }

/*
 * Requests that have come.  A request that fails changes nothing, and its answer says why.  In the delay,
 * before anything is recorded, only the status and the end can be asked for.
 */
void recorder_control_cycle(struct recorder *r);

/* Before each cycle of the flight recorder: a dump that begins in it says how long the pauses were so far. */
void recorder_control_note_pauses(struct recorder *r, uint64_t now_ns);

/*
 * The recording is over: notes the pauses in the trace, answers a request that still waits, takes no more.
 */
void recorder_control_end(struct recorder *r, uint64_t now_ns);

#endif /* SAMPLER_RECORDING_RECORDER_CONTROL_H */
