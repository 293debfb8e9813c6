/* SPDX-License-Identifier: MIT */
/*
 * analyze/devices/device_ops.h - device columns of tt-metal's report of operations, from zones of its chips
 *
 * Way of the data:  device zones with keys of kind "tt run" -> [device_ops] -> reports of operations
 *
 * The zones of an operation, on all cores of a chip, have one key (format/tt_run_key.h): they are joined by
 * that, never by time.  Durations are cycles by the chip's nominal frequency, rounded as tt-metal's scripts
 * round (half to even), so that the columns equal theirs.
 *
 * Not thread-safe.  Memory: about 250 bytes an operation and 40 for each core of each.
 */
#ifndef ANALYZE_DEVICES_DEVICE_OPS_H
#define ANALYZE_DEVICES_DEVICE_OPS_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In the order of the report; the titles are tt-metal's, but for the last two: latencies in the order of
   time, whatever the order of the operations. */
#define DEVICE_OP_COLUMNS(C)                                        \
        C(FW_BEGIN, "DEVICE FW START CYCLE")                        \
        C(FW_END, "DEVICE FW END CYCLE")                            \
        C(LATENCY, "OP TO OP LATENCY [ns]")                         \
        C(LATENCY_DM, "OP TO OP LATENCY BR/NRISC START [ns]")       \
        C(FW, "DEVICE FW DURATION [ns]")                            \
        C(KERNEL, "DEVICE KERNEL DURATION [ns]")                    \
        C(KERNEL_DM, "DEVICE KERNEL DURATION DM START [ns]")        \
        C(CORE_MIN, "DEVICE KERNEL DURATION PER CORE MIN [ns]")     \
        C(CORE_MAX, "DEVICE KERNEL DURATION PER CORE MAX [ns]")     \
        C(CORE_AVERAGE, "DEVICE KERNEL DURATION PER CORE AVG [ns]") \
        C(FIRST_TO_LAST, "DEVICE KERNEL FIRST TO LAST START [ns]")  \
        C(BRISC, "DEVICE BRISC KERNEL DURATION [ns]")               \
        C(NCRISC, "DEVICE NCRISC KERNEL DURATION [ns]")             \
        C(TRISC_0, "DEVICE TRISC0 KERNEL DURATION [ns]")            \
        C(TRISC_1, "DEVICE TRISC1 KERNEL DURATION [ns]")            \
        C(TRISC_2, "DEVICE TRISC2 KERNEL DURATION [ns]")            \
        C(ERISC, "DEVICE ERISC KERNEL DURATION [ns]")               \
        C(WAIT_FRONT, "DEVICE COMPUTE CB WAIT FRONT [ns]")          \
        C(RESERVE_BACK, "DEVICE COMPUTE CB RESERVE BACK [ns]")      \
        C(TIME_LATENCY, "OP TO OP LATENCY IN TIME [ns]")            \
        C(TIME_LATENCY_DM, "OP TO OP LATENCY BR/NRISC START IN TIME [ns]")

enum device_op_column {
#define DEVICE_OP_ENUM(name, title) DEVICE_OP_##name,
        DEVICE_OP_COLUMNS(DEVICE_OP_ENUM)
#undef DEVICE_OP_ENUM
                DEVICE_OP_N_COLUMNS
};

/* Which operation is the one before, for the latency. */
enum device_ops_order {
        DEVICE_OPS_BY_NUMBER, /* by run host ID, trace id, replay: as in tt-metal's reports.  Latencies of
                                 traces that are replayed are then below zero or too large. */
        DEVICE_OPS_BY_TIME,   /* by the first row of a kernel */
};

struct device_op_window {
        uint64_t begin, end; /* ticks */
        bool is_known;
};

struct device_op {
        uint64_t chip, key; /* never 0 */
        struct device_op_window fw, kernel, processors[6];
        uint64_t last_begin; /* of a kernel */
        uint64_t dm_begin;   /* the first kernel of a processor that moves data */
        bool has_dm;
        uint32_t n_cores; /* that ran firmware for it: the column CORE COUNT */
        uint64_t sums[2]; /* waiting in front, reserving at the back */
        bool has_sums[2];

        /* By device_ops_finish(): cycles. */
        uint64_t core_min, core_max;
        double core_average;
        uint32_t n_kernel_cores;
        int64_t latency, latency_dm;           /* to the operation before; 0 for the first one of a chip */
        int64_t time_latency, time_latency_dm; /* to the one that the chip ran before */
};

struct device_ops;

/* Returns NULL if there is no memory. */
struct device_ops *device_ops_new(void);
void device_ops_free(struct device_ops *ops);

/* A zone of a processor. */
struct device_op_zone {
        uint64_t chip, key;
        uint64_t core;              /* any number that tells the cores of one chip apart */
        struct text_view processor; /* "TRISC_0" */
        struct text_view name;      /* "TRISC-KERNEL" */
        uint64_t begin, end;        /* ticks */
};

/*
 * Zones of other names than those of firmware and kernels, or without key, count nothing.
 * Returns 0 or -ENOMEM.
 */
int device_ops_add_zone(struct device_ops *ops, const struct device_op_zone *zone);

/* A sum in cycles that a processor made (ZONE_TOTAL).  Returns 0 or -ENOMEM. */
int device_ops_add_sum(struct device_ops *ops, uint64_t chip, uint64_t key, struct text_view processor,
                       struct text_view name, uint64_t cycles);

/* After the last zone, once: sorts by chip, then in that order. */
void device_ops_finish(struct device_ops *ops, enum device_ops_order order);

/* All of them; valid until the next addition. */
const struct device_op *device_ops_list(const struct device_ops *ops, size_t *ret_n);

const char *device_op_title(enum device_op_column column);

/* @mhz: nominal.  Returns false where the operation has no value: an empty cell. */
bool device_op_value(const struct device_op *op, enum device_op_column column, double mhz,
                     int64_t *ret_value);

#endif /* ANALYZE_DEVICES_DEVICE_OPS_H */
