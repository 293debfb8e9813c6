/* SPDX-License-Identifier: MIT */
/*
 * import/rows/import_slices.h - spans from events that say their begin and their end apart
 *
 * Way of the data:  import_trace_event, import_pftrace, import_ftrace -> [import_slices] -> import_rows
 *
 * An end belongs to the last open begin of its lane, in the order of time; at one time in that of the file.
 * A lane is a thread, a track, or one id of asynchronous work.  Files need not be in the order of time: up to
 * IMPORT_SLICES_WINDOW events wait, and are sorted if those of a lane are not in order, before the older half
 * of them is matched.  Memory: these (25 MB), what is open, and 131,072 lanes or twice those that have
 * something open.  Not thread-safe.
 */
#ifndef IMPORT_IMPORT_SLICES_H
#define IMPORT_IMPORT_SLICES_H

#include "base/intern.h"
#include "import/rows/import_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define IMPORT_SLICES_WINDOW    (UINT32_C(1) << 18)
#define IMPORT_SLICES_OPEN_MAX  (UINT32_C(1) << 22) /* further begins are instants at once */
#define IMPORT_SLICES_LANES_MAX (UINT32_C(1) << 22) /* events of further ones are counted */

struct slice_event {
        struct import_span span; /* begin: the time of the event; end: not used */
        uint64_t order;          /* of the file; set by import_slices_add() */
        uint32_t lane;           /* id in `lanes`; the same */
        bool is_end;
};

struct import_slices {
        struct import_rows *rows; /* borrowed */
        struct slice_event *events;
        struct open_slice *open;   /* begin n is open[n - 1] */
        struct intern lanes;       /* uint64_t */
        struct slice_lane *states; /* by id - 1 */
        size_t n_events, events_capacity, open_capacity, states_capacity;
        uint32_t n_open, first_free, n_lanes_kept;
        uint64_t n_added;
        bool is_unsorted;

        /* Ends without a begin, begins without an end, ends with another name than their begin. */
        uint64_t n_ends_alone, n_begins_alone, n_other_names, n_beyond;
};

/* The caller's storage. */
void import_slices_init(struct import_slices *s, struct import_rows *rows);
void import_slices_deinit(struct import_slices *s);

/*
 * import_slices_begin(), import_slices_end() - one end of a span
 * @lane:  any number
 * @span:  `begin` is the time.  The text of an end counts if the begin has none; its name is only compared,
 *         0 = it has none.
 * Return 0, -ENOMEM, or what import_rows returns, with words.
 */
int import_slices_begin(struct import_slices *s, uint64_t lane, const struct import_span *span,
                        struct error *err);
int import_slices_end(struct import_slices *s, uint64_t lane, const struct import_span *span,
                      struct error *err);

/* Matches the rest.  Begins without an end become instants.  Says what was left out, by kind. */
int import_slices_finish(struct import_slices *s, struct error *err);

#endif /* IMPORT_IMPORT_SLICES_H */
