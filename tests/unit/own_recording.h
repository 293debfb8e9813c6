/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/own_recording.h - a recorder for the tests of the client, in one process or across two
 *
 * Way of the data:  client_region -> client_stream -> [own_recording] -> tests
 *
 * Every function fails the running test when something goes wrong.
 */
#ifndef TESTS_UNIT_OWN_RECORDING_H
#define TESTS_UNIT_OWN_RECORDING_H

#include "instrument/client_region.h"
#include "instrument/client_stream.h"

#include <stddef.h>
#include <stdint.h>

/* One decoded event; what it points to is a copy. */
struct own_event {
        struct client_event event;
        uint32_t slot;
};

struct own_recording {
        struct client_region *region;
        struct client_stream *streams; /* one a slot */
        uint32_t n_streams;
        struct own_event *events; /* everything drained so far, by drain and slot */
        size_t n_events, events_capacity;
};

/* Finds the region of a process and starts to record it. */
void own_recording_open(struct own_recording *r, uint32_t pid, uint32_t families);
/* Moves everything that the rings hold into `events`. */
void own_recording_drain(struct own_recording *r);
void own_recording_close(struct own_recording *r);

/* How many events of a kind there are. */
size_t own_recording_count(const struct own_recording *r, uint32_t kind);
/* The n-th event of a kind, from 0. */
const struct client_event *own_recording_get(const struct own_recording *r, uint32_t kind, size_t n);
/* True if the name of a location is @name. */
int own_recording_is_named(const struct own_recording *r, uint32_t location, const char *name);
/* Zones of all slots that are still open at the end; fails on an end without a begin. */
size_t own_recording_check_nesting(const struct own_recording *r);
/* Drops of all slots together. */
struct client_drops own_recording_drops(const struct own_recording *r);

#endif /* TESTS_UNIT_OWN_RECORDING_H */
