/* SPDX-License-Identifier: MIT */
/*
 * import/perf/perf_tasks.h - processes and threads as the records of perf.data make them, and their mappings
 *
 * Way of the data:  perf_entry (FORK, EXIT, COMM, MMAP2), by time -> [perf_tasks] -> perf_stacks, import_rows
 *
 * Not thread-safe.
 */
#ifndef IMPORT_PERF_TASKS_H
#define IMPORT_PERF_TASKS_H

#include "base/intern.h"
#include "sampler/tracks/address_space.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct import_rows;
struct perf_entry;
struct perf_file;

#define PERF_TASKS_RANGES_MAX (UINT32_C(1) << 22) /* mappings of all processes; further ones are counted */

struct perf_process {
        uint32_t track;
        struct address_space space;
};

struct perf_thread {
        uint32_t track;   /* 0 = not needed yet */
        uint32_t process; /* index */
        uint32_t name;    /* string; 0 = unknown */
};

struct perf_tasks {
        struct import_rows *rows; /* borrowed, as the next */
        struct perf_file *file;
        uint32_t clock;
        struct intern pids;
        struct perf_process *processes; /* heap; by id of the pid - 1 */
        size_t processes_capacity;
        struct intern tids;          /* pid and tid -> */
        struct perf_thread *threads; /* heap; by id - 1 */
        size_t threads_capacity;
        size_t n_ranges;     /* of all processes, about */
        uint64_t generation; /* given to address spaces */
        uint32_t kernel;     /* module */
};

void perf_tasks_init(struct perf_tasks *t, struct import_rows *rows, struct perf_file *file, uint32_t clock);
void perf_tasks_deinit(struct perf_tasks *t);

/* Applies a record that is no sample; others than those above are nothing to it.  Returns 0, -errno. */
int perf_tasks_apply(struct perf_tasks *t, const struct perf_entry *entry, struct error *err);

/*
 * The thread of a sample or switch, with its track, and its process; pointers until the next call.
 * Returns 0, -errno.
 */
int perf_tasks_find(struct perf_tasks *t, uint32_t pid, uint32_t tid, struct perf_thread **ret_thread,
                    struct perf_process **ret_process, struct error *err);

/* The module of the kernel.  Returns 0, -errno. */
int perf_tasks_kernel(struct perf_tasks *t, uint32_t *ret_module, struct error *err);

#endif /* IMPORT_PERF_TASKS_H */
