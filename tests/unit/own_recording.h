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

/* The recording that the functions below are about; there is one at a time. */
extern struct own_recording recorded;

/* Finds the region of a process and starts to record it. */
void own_recording_open(uint32_t pid, uint32_t families);
/* Moves everything that the rings hold into `events`. */
void own_recording_drain(void);
/* Nothing if none is open. */
void own_recording_close(void);

/* How many events of a kind there are. */
size_t own_recording_count(uint32_t kind);
/* The n-th event of a kind, from 0. */
const struct client_event *own_recording_get(uint32_t kind, size_t n);
/* True if the name of a location is @name. */
int own_recording_is_named(uint32_t location, const char *name);
/* Zones of all slots that are still open at the end; fails on an end without a begin. */
size_t own_recording_check_nesting(void);
/* Drops of all slots together. */
struct client_drops own_recording_drops(void);

/* For a program that reads the size of its rings before main(): runs it again with that size, once. */
void own_recording_begin_with_ring(char **argv, const char *ring_bytes);

#endif /* TESTS_UNIT_OWN_RECORDING_H */
