/* SPDX-License-Identifier: MIT */
/*
 * sampler/events/event_totals.h - the total of each event, read from the kernel at the end
 *
 * Way of the data:  event_set (read(2)) -> [event_totals] -> the table COUNTERS
 *
 * An event has a descriptor for each CPU, and for each thread that it was opened on; the kernel adds what
 * children counted to the descriptors that they inherited from.  Their sum is the event's total, even where
 * it was sampled: the count, not the number of samples.
 */
#ifndef SAMPLER_EVENTS_EVENT_TOTALS_H
#define SAMPLER_EVENTS_EVENT_TOTALS_H

#include "sampler/events/event_request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct event_handle;
struct event_set;
struct trace_dictionary;

/* The values of one descriptor. */
struct event_count {
        uint64_t value;
        uint64_t enabled_ns, running_ns;
        uint64_t n_lost; /* records that found no room in the ring */
};

struct event_totals {
        struct event_count specs[EVENT_REQUEST_SPECS_MAX]; /* summed up */
        uint64_t watched_ns; /* time that recorded threads ran on recorded CPUs, from the dummy events */
        bool shared;         /* some events had to share counters: see event_totals_finish() */
};

/*
 * event_count_decode() - takes one event's values from the result of read(2)
 * @words:        as perf_event_attr.read_format lays them out
 * @id:           of the event, where they are a group's
 * Returns 0, or -EBADMSG if the words are too few or the event is not among them.
 */
int event_count_decode(const uint64_t *words, size_t n_words, uint64_t read_format, uint64_t id,
                       struct event_count *ret_count);

/* The count of a descriptor.  Returns 0, -EBADMSG, -errno. */
int event_totals_read(const struct event_set *set, const struct event_handle *handle,
                      struct event_count *ret_count);

/*
 * Records of all events that the kernel could not put into full rings so far; UINT64_MAX = the kernel
 * cannot say.
 */
uint64_t event_totals_count_lost(const struct event_set *set);

/* Adds a descriptor's count; @spec: UINT32_MAX = the dummy. */
void event_totals_add(struct event_totals *totals, uint32_t spec, const struct event_count *count);

/*
 * event_totals_finish() - makes `enabled_ns` the time that each event was wanted for
 * The kernel's own figure also counts, for some events of a thread, the time that it spent on other CPUs.
 * The dummy events, which need no counter, tell how long there was something to count.
 */
void event_totals_finish(struct event_totals *totals, const struct event_request *request);

/*
 * event_totals_write() - reads all descriptors, which are disabled by now, and adds the rows of COUNTERS
 * @sample_events:  by spec: its id in the table SAMPLE_EVENTS
 * @ret_shared:     some events had to share counters
 * Returns 0, -EBADMSG, -ENOMEM, -errno.
 */
int event_totals_write(const struct event_set *set, const uint32_t *sample_events,
                       struct trace_dictionary *dictionary, bool *ret_shared, struct error *err);

#endif /* SAMPLER_EVENTS_EVENT_TOTALS_H */
