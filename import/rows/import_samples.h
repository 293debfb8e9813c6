/* SPDX-License-Identifier: MIT */
/*
 * import/rows/import_samples.h - samples of a foreign profiler in hyprof's terms: events, code, stacks
 *
 * Way of the data:  import_perf_data -> [import_samples] -> import_sort -> import_trace -> trace file
 *
 * As import_rows.h, to which this adds: ids begin at 1 and 0 = none, times are ticks of the track's clock, in
 * any order, faults of the file are counted and never errors.  Stacks are rows of the trace at once, so that
 * equal ones are kept once; nothing else of a sample stays in memory.  Functions get their names afterwards,
 * by `hyprof symbolize`.
 *
 * The calls return 0, or -errno after error_set(), which ends the import.  Not thread-safe.
 */
#ifndef IMPORT_IMPORT_SAMPLES_H
#define IMPORT_IMPORT_SAMPLES_H

#include "base/text_view.h"

#include <stdbool.h>
#include <stdint.h>

struct error;
struct import_rows;

#define IMPORT_ANCESTORS_MAX 64 /* further generations of forks are not in the trace */
#define IMPORT_MAPPINGS_MAX \
        (UINT32_C(1) << 20) /* further ones are counted; their frames are right all the same */

struct import_sample_event {
        struct text_view name; /* "cycles:u" */
        uint32_t type;         /* perf_event_attr.type */
        uint64_t config;
        uint64_t rate; /* Hz, or events a sample */
        bool is_frequency;
};

enum import_module_kind { IMPORT_MODULE_FILE, IMPORT_MODULE_VDSO, IMPORT_MODULE_KERNEL };

struct import_module {
        enum import_module_kind kind;
        struct text_view path;     /* when it was mapped */
        struct text_view build_id; /* bytes; empty = unknown */
        uint64_t device, inode;    /* of a FILE without build-id; 0 = unknown */
        uint32_t generation;       /* of the inode */
};

struct import_mapping {
        uint32_t track; /* of a PROCESS of the host */
        uint32_t module;
        uint64_t start_avma, length_bytes, file_offset_bytes;
        uint64_t time; /* from here on; 0 = before all else */
};

struct import_sample {
        uint32_t track; /* of a THREAD of the host, as in the rest */
        uint32_t event;
        uint32_t stack; /* 0 = there is none */
        uint32_t state; /* of the stack: enum trace_stack_state */
        uint32_t cpu;
        uint64_t weight; /* how much it stands for */
        uint64_t time;
};

struct import_switch {
        uint32_t track;
        uint32_t cpu;
        bool is_in;        /* it got a CPU, else it left it */
        bool is_preempted; /* it could have run on */
        uint64_t time;
};

/* An empty file for a reader that has to seek in what is packed, borrowed; -1 = it makes one itself. */
int import_rows_spool(struct import_rows *rows);

int import_rows_sample_event(struct import_rows *rows, const struct import_sample_event *event,
                             uint32_t *ret_id, struct error *err);
int import_rows_module(struct import_rows *rows, const struct import_module *module, uint32_t *ret_id,
                       struct error *err);
/* Gives back a module; its texts are borrowed until another is added. */
void import_rows_find_module(const struct import_rows *rows, uint32_t id, struct import_module *ret_module);

int import_rows_mapping(struct import_rows *rows, const struct import_mapping *mapping, struct error *err);

/* @offset: a byte of the file; of the KERNEL, or without a module, an address.  @is_return: after a call. */
int import_rows_frame(struct import_rows *rows, uint32_t module, uint64_t offset, bool is_return,
                      uint32_t *ret_id, struct error *err);

/* The mark that stands for missing callers, as the outermost frame. */
int import_rows_cut_frame(struct import_rows *rows, uint32_t *ret_id, struct error *err);

/* One frame below its callers @parent. */
int import_rows_stack(struct import_rows *rows, uint32_t parent, uint32_t frame, uint32_t *ret_id,
                      struct error *err);

int import_rows_sample(struct import_rows *rows, const struct import_sample *sample, struct error *err);
int import_rows_switch(struct import_rows *rows, const struct import_switch *event, struct error *err);

/* A process was forked from another and has its mappings: tracks of a PROCESS.  The first one counts. */
void import_rows_fork(struct import_rows *rows, uint32_t track, uint32_t parent);

/* A thread is called otherwise from @time on (@name: string), or ends then. */
int import_rows_rename(struct import_rows *rows, uint32_t track, uint64_t time, uint32_t name,
                       struct error *err);
int import_rows_exit(struct import_rows *rows, uint32_t track, uint64_t time, struct error *err);

#endif /* IMPORT_IMPORT_SAMPLES_H */
