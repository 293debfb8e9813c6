/* SPDX-License-Identifier: MIT */
/*
 * analyze/stats/message_list.h - the newest messages of a trace
 *
 * Way of the data:  trace_walk -> [message_list] -> messages_view
 *
 * Keeps at most MESSAGE_LIST_MAX messages and MESSAGE_LIST_BYTES_MAX bytes of text;
 * older ones make room, and are counted.  Texts are cut at MESSAGE_LIST_TEXT_MAX.
 */
#ifndef ANALYZE_STATS_MESSAGE_LIST_H
#define ANALYZE_STATS_MESSAGE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct trace_filter;
struct trace_walk;

#define MESSAGE_LIST_MAX       (UINT32_C(1) << 18)
#define MESSAGE_LIST_BYTES_MAX (UINT32_C(1) << 26)
#define MESSAGE_LIST_TEXT_MAX  (UINT32_C(1) << 16)

#define MESSAGE_LIST_SEVERITIES 7 /* from 0, trace, to 5, fatal; all others are the last */

struct message {
        uint64_t time_ns, sequence;
        char *text; /* heap */
        uint32_t n_bytes;
        uint32_t thread, path;
        uint32_t severity;
        uint32_t color; /* 0xRRGGBB; 0 = none */
        bool is_cut;
};

struct message_list {
        struct message *messages; /* heap; from `first` on, by time */
        size_t n_messages, capacity;
        size_t first; /* those before are gone */
        uint32_t n_max;
        uint64_t n_bytes;
        uint32_t severity_min;
        uint64_t n_all; /* also those below severity_min */
        uint64_t n_fit; /* of severity_min at least */
        uint64_t n_severities[MESSAGE_LIST_SEVERITIES];
        uint64_t n_cut; /* texts */
};

/* "trace", "debug" ...; static. */
const char *message_list_severity(uint32_t severity);
/* Returns the number of a name, or -EINVAL. */
int message_list_parse_severity(const char *name);

/* @n_max: 0 = MESSAGE_LIST_MAX. */
void message_list_init(struct message_list *l, uint32_t severity_min, uint32_t n_max);
void message_list_deinit(struct message_list *l);

/*
 * message_list_take() - reads a whole trace; call it once
 * @walk:   not initialised; keeps the paths, to be deinitialised in any case
 * Returns 0, -ENOMEM, what loaded_trace_walk() returns.
 */
int message_list_take(struct message_list *l, struct loaded_trace *trace, const struct trace_filter *filter,
                      struct trace_walk *walk, struct error *err);

#endif /* ANALYZE_STATS_MESSAGE_LIST_H */
