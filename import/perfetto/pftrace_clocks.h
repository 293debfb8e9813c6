/* SPDX-License-Identifier: MIT */
/*
 * import/perfetto/pftrace_clocks.h - the clocks of a Perfetto trace
 *
 * Way of the data:  import_pftrace -> [pftrace_clocks] -> import_rows: clocks and their readings
 *
 * Times of packets are of clocks of the machine, or of clocks that a sequence has for itself, which count in
 * their own unit, or from one packet to the next.  A snapshot says what several clocks showed at one moment:
 * by it the clocks of a sequence become one of the machine, and clocks of the machine get readings against
 * each other.  Memory: bounded.  Not thread-safe.
 */
#ifndef IMPORT_PFTRACE_CLOCKS_H
#define IMPORT_PFTRACE_CLOCKS_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct import_rows;

#define PFTRACE_CLOCKS_MAX   96                  /* of the machine, or of no sequence */
#define PFTRACE_READINGS_MAX (UINT32_C(1) << 16) /* of all clocks; further ones are counted */

struct pftrace_clocks {
        struct import_rows *rows; /* borrowed */
        struct pftrace_clock {
                uint32_t id;       /* of the format */
                uint32_t clock;    /* of import_rows; 0 = nothing happened by it yet */
                uint64_t last;     /* what it showed in the last snapshot that had it */
                uint64_t snapshot; /* which one that was; 0 = none */
        } known[PFTRACE_CLOCKS_MAX];
        uint32_t n_known, primary; /* primary: id of the format; 0 = not said */
        uint64_t n_snapshots, n_readings, n_readings_left_out;
};

/* The clocks of one sequence; zero-initialised: none. */
struct pftrace_scope {
        struct scoped_clock {
                uint32_t id;
                uint32_t base;   /* index in `known` + 1; 0 = no snapshot relates it to another */
                uint64_t unit;   /* nanoseconds */
                uint64_t last;   /* ticks of the last packet */
                uint64_t offset; /* of the base, modulo 2^64: base = ticks * unit + offset */
                bool is_incremental;
        } * clocks; /* heap; at most 64 */
        size_t n_clocks, capacity;
};

void pftrace_clocks_init(struct pftrace_clocks *c, struct import_rows *rows);
void pftrace_scope_deinit(struct pftrace_scope *scope);

/*
 * A snapshot, and whose it is.  Returns 0, -EBADMSG without words: it is no snapshot, or as import_rows.
 */
int pftrace_clocks_snapshot(struct pftrace_clocks *c, struct pftrace_scope *scope, struct text_view message,
                            struct error *err);

/*
 * The time of a packet.
 * @id:         of the clock; 0 = not said
 * @ret_known:  index in `known` of the clock that the time is of
 * Returns 0, or -EBADMSG without words: nothing says what this clock is.
 */
int pftrace_clocks_time(struct pftrace_clocks *c, struct pftrace_scope *scope, uint32_t id, uint64_t ticks,
                        uint32_t *ret_known, uint64_t *ret_time);

/* The same moment by another clock, as the last snapshot of both says.  False: there is none. */
bool pftrace_clocks_convert(const struct pftrace_clocks *c, uint32_t from, uint32_t to, uint64_t *time);

/* The clock of import_rows; makes it.  Returns 0, or as import_rows. */
int pftrace_clocks_use(struct pftrace_clocks *c, uint32_t known, uint32_t *ret_clock, struct error *err);

#endif /* IMPORT_PFTRACE_CLOCKS_H */
