/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/client_settings.h - what the environment asks of the client
 *
 * Way of the data:  environment -> [client_settings] -> client
 */
#ifndef INSTRUMENT_CLIENT_CLIENT_SETTINGS_H
#define INSTRUMENT_CLIENT_CLIENT_SETTINGS_H

#include "instrument/client/announcement.h"

#include <stdbool.h>
#include <stdint.h>

struct client_settings {
        /*
         * HYPROF_RECORD: record from the first instruction, before any recorder has come.
         * "all", names separated by commas (zones, frames, messages, plots, memory, locks,
         * devices), each also as "name=callstacks", or a decimal number.  As in the low half of
         * the control word: CLIENT_ABI_FAMILY_* and their callstacks.  0 = wait for a recorder.
         */
        uint32_t wanted;
        /* HYPROF_RING: bytes of each thread's ring, a power of two; else the default. */
        uint64_t ring_bytes;
        /*
         * HYPROF_SPARE: bytes of chunks that all threads together may fill when their rings are full; 0 =
         * none.  Where it is set, rings are no larger than the default.
         */
        uint64_t spare_bytes;
        /* HYPROF_RECORDER: where the region is handed in; "" = nowhere. */
        char recorder[ANNOUNCEMENT_ADDRESS_BYTES];
        /* HYPROF_FULL=wait: wait for the recorder instead of dropping events. */
        bool wait_when_full;
};

/* Reads the environment, which a program with raised privileges does not trust; nonsense is passed over. */
struct client_settings client_settings_read(void);

/* The parts, for their tests: 0 for what makes no sense.  @text may be NULL. */
uint32_t client_settings_parse_wanted(const char *text);
uint64_t client_settings_parse_ring_bytes(const char *text);
uint64_t client_settings_parse_spare_bytes(const char *text);

#endif /* INSTRUMENT_CLIENT_CLIENT_SETTINGS_H */
