/* SPDX-License-Identifier: MIT */
/*
 * import/tt/import_tt_sync.h - readings of the clocks of tt-metal's chips: sync_device_info.csv
 *
 * Way of the data:  sync_device_info.csv -> [import_tt_sync] -> import_tt_device -> import_rows
 *
 * The host wrote its time stamp counter (TSC) into a register of the chip, which noted its own counter when
 * it saw the write: the chip's counter was read between the write's begin and its end.  Chips without
 * readings may have a row RATIO, SHIFT instead: counter of another chip, the root = RATIO * counter + SHIFT.
 * How exact these two are, the file does not say.
 *
 * Not thread-safe.  Memory: 32 bytes a reading, of which there are about 250 a chip and synchronization.
 */
#ifndef IMPORT_IMPORT_TT_SYNC_H
#define IMPORT_IMPORT_TT_SYNC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct import_rows;
struct import_source;

#define IMPORT_TT_SYNC_POINTS_MAX (UINT32_C(1) << 20)
#define IMPORT_TT_SYNC_SHIFTS_MAX (UINT32_C(1) << 12)

struct import_tt_sync {
        struct import_tt_point {
                uint64_t chip;
                uint64_t ticks;                /* of the chip */
                uint64_t host_begin, host_end; /* TSC */
                uint32_t order;                /* as in the file */
        } * points;                            /* heap; by chip, then by order */
        struct import_tt_shift {
                uint64_t chip, root;
                double ratio;
                int64_t shift;
                bool has_root;
        } * shifts; /* heap; of several of one chip the last counts */
        size_t n_points, n_shifts, points_capacity, shifts_capacity;
        double tsc_period_ns; /* 0 = unknown */
        uint64_t base_tsc;    /* begin of the host's recording: times of its operations count from it */
};

enum import_tt_placed {
        IMPORT_TT_NOT_PLACED, /* nothing is known about the chip's clock */
        IMPORT_TT_OWN,        /* by its own readings */
        IMPORT_TT_THROUGH,    /* by those of another chip, and RATIO and SHIFT */
};

/* Zero is valid. */
void import_tt_sync_deinit(struct import_tt_sync *sync);

/* Reads all of @source; malformed rows are counted in @rows.  Returns 0, or -errno with words. */
int import_tt_sync_read(struct import_tt_sync *sync, struct import_source *source, struct import_rows *rows,
                        struct error *err);

/* How a chip's clock can be placed.  @ret_root: the other chip, for IMPORT_TT_THROUGH. */
enum import_tt_placed import_tt_sync_find(const struct import_tt_sync *sync, uint64_t chip,
                                          uint64_t *ret_root);

/* Hands the readings of @chip over as those of @clock.  Returns 0, or -errno with words. */
int import_tt_sync_give(const struct import_tt_sync *sync, uint64_t chip, uint32_t clock,
                        struct import_rows *rows, struct error *err);

#endif /* IMPORT_IMPORT_TT_SYNC_H */
