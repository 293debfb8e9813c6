/* SPDX-License-Identifier: MIT */
/*
 * format/read_ahead.h - the events of a trace in order, unpacked and decoded by several processors
 *
 * Way of the data:  trace_reader -> [read_ahead] -> event_batch -> loaded_trace
 *
 * Helper threads take chunks from the file, check and unpack them and decode their events, while the caller
 * works on earlier chunks.  A caller who has to wait takes a chunk itself.  The result is the same with any
 * number of helpers, including none: EVENTS and STATES chunks in order, and a damaged chunk of any kind, the
 * end of the file or a failed read only after everything before it.
 *
 * The helpers start once the trace turns out to be large; if they cannot start, the caller does all the work.
 * Memory: READ_AHEAD_HELPERS_MAX + 2 chunks at most, each with READ_AHEAD_EVENTS events; further events of a
 * chunk are decoded when the caller asks for them.
 *
 * One thread calls; from read_ahead_open() until read_ahead_close() it uses nothing of the reader but its
 * dictionary.
 */
#ifndef FORMAT_READ_AHEAD_H
#define FORMAT_READ_AHEAD_H

#include "format/event_batch.h"
#include "format/trace_reader.h"

#include <stdint.h>

struct error;
struct read_ahead;

#define READ_AHEAD_HELPERS_MAX 3
#define READ_AHEAD_EVENTS      (UINT32_C(1) << 19)
/* The helpers start after the caller has got so many bytes of events, unpacked. */
#define READ_AHEAD_ALONE_BYTES (UINT32_C(1) << 21)

struct read_ahead_options {
        unsigned n_helpers; /* at most */

        /*
         * chunks that begin there or later are read only when the caller asks for them; 0 = all are read
         * ahead
         */
        uint64_t until_bytes;
};

/* As many as there are other processors that this process may use, at most READ_AHEAD_HELPERS_MAX. */
unsigned read_ahead_count_helpers(void);

/*
 * read_ahead_open() - begin at the chunk that the reader would read next, after trace_reader_read_tables()
 * @options:  NULL = all helpers
 * Returns 0 or -ENOMEM.
 */
int read_ahead_open(struct trace_reader *reader, const struct read_ahead_options *options,
                    struct read_ahead **ret, struct error *err);

/* One chunk; all of it is borrowed until the next call. */
struct read_ahead_item {
        struct trace_item item;     /* `rows` is empty */
        struct event_batch *events; /* opened */
};

/* The next EVENTS or STATES chunk.  Returns as trace_reader_next(). */
int read_ahead_next(struct read_ahead *a, struct read_ahead_item *ret_item, struct error *err);

/* Where the chunk after the last one that was handed out begins. */
uint64_t read_ahead_position(const struct read_ahead *a);

/*
 * Ends the helpers.  The reader goes on where read_ahead_next() would have.  Returns 0 or -errno of lseek(2).
 */
int read_ahead_close(struct read_ahead *a, struct error *err);

#endif /* FORMAT_READ_AHEAD_H */
