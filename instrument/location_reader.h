/* SPDX-License-Identifier: MIT */
/*
 * instrument/location_reader.h - what a program's events name by number, read out of its region
 *
 * Way of the data:  instrument/client -> memfd -> [location_reader] -> client_region
 * Specification:    docs/understand/client-abi.md, "Location"
 *
 * Reads some entries ahead, and some strings: a program that has a million locations mostly uses them one
 * after the other, and a system call for each would take longer than everything else about them.  Entries
 * that were read ahead are only good until more events come, see location_reader_forget().  Used by one
 * thread.
 */
#ifndef INSTRUMENT_LOCATION_READER_H
#define INSTRUMENT_LOCATION_READER_H

#include "base/byte_buffer.h"

#include <stdint.h>

#define LOCATION_READER_ENTRIES      64    /* read at once */
#define LOCATION_READER_WINDOW_BYTES 16384 /* of strings, read at once */

struct client_abi_header;
struct error;

/* The meaning of an id; each string is borrowed from the region object, see client_region_location(). */
struct client_location {
        const char *name, *function, *file, *unit; /* not NUL-terminated */
        uint32_t name_bytes, function_bytes, file_bytes, unit_bytes;
        uint32_t line, color;
        uint32_t format; /* of a plot: enum client_abi_plot_format, or anything; of a device: its kind */
        uint32_t flags;  /* of a plot: CLIENT_ABI_PLOT_* */
        uint64_t period; /* of a device: bits of a double, nanoseconds a tick; any bits */
};

struct location_reader {
        int fd;                                 /* of the region; the caller's */
        const struct client_abi_header *header; /* checked; borrowed for as long as the reader is used */

        uint8_t *entries;  /* heap, owned; room for LOCATION_READER_ENTRIES */
        uint32_t first_id; /* of those that were read */
        uint32_t n_entries;

        uint8_t *window; /* part of `entries`; strings that were read after the entries */
        uint64_t window_offset;
        uint32_t window_bytes;

        struct byte_buffer text; /* the strings that were handed out last */
};

/* Returns 0 or -ENOMEM. */
int location_reader_init(struct location_reader *r, int fd, const struct client_abi_header *header);
void location_reader_deinit(struct location_reader *r); /* also zeroed and never initialised ones */

/*
 * location_reader_forget() - discard what was read ahead
 * To be called whenever bytes were taken from a ring.  A caller that learns of an entry by an event reads it
 * after this call, hence after the program wrote it: never one that is half written, nor a plot as it was
 * before it changed.
 */
void location_reader_forget(struct location_reader *r);

/*
 * location_reader_find() - the location with a number
 * @n_locations:   numbers that were given out; may be anything
 * @ret_location:  its strings are valid until the next call for @r
 * Returns 0, -EBADMSG if there is no such location or its strings are out of bounds, -ENOMEM, -errno.
 */
int location_reader_find(struct location_reader *r, uint32_t id, uint32_t n_locations,
                         struct client_location *ret_location, struct error *err);

/*
 * location_reader_next_plot() - the next location with CLIENT_ABI_PLOT_SET
 * @inout_id: begin after this one; 0 = with the first
 * Skips incomplete and malformed ones.  Returns 1, 0 at the end, -ENOMEM, -errno.
 */
int location_reader_next_plot(struct location_reader *r, uint32_t *inout_id, uint32_t n_locations,
                              struct client_location *ret_location, struct error *err);

#endif /* INSTRUMENT_LOCATION_READER_H */
