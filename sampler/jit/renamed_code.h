/* SPDX-License-Identifier: MIT */
/*
 * sampler/jit/renamed_code.h - when code took the place of other code of a perf map
 *
 * Way of the data:  perf_map, perf_record (MMAP2) -> jit_files -> [renamed_code] -> jit_files -> code_regions
 *
 * A line of a perf map has no time.  One that names memory which has another name was written since the map
 * was read before, and in that time the code was replaced.  If the process cannot write its code without
 * making it executable again, the lines belong to the moments at which it did so, in their order.  As long
 * as each moment got its line within PACE_JIT_SETTLED_NS, the last moment's line may still be unwritten.
 * After a moment that got its line later, or got none, lines and moments belong together only if there are
 * as many of both, and if the file was changed after all of these moments.  If the numbers differ, and from
 * then on until the process has made nothing executable for PACE_JIT_SETTLED_NS, there is a window in which
 * the memory has no name, narrowed by the time at which the file was changed last.
 *
 * Used by the collector's thread.
 */
#ifndef SAMPLER_JIT_RENAMED_CODE_H
#define SAMPLER_JIT_RENAMED_CODE_H

#include "format/trace_rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RENAMED_CODE_MADE_MAX 256 /* the latest times that memory was made executable */
/* lines of a reading whose moments are searched for; if there are more, they get a window */
#define RENAMED_CODE_LINES_MAX 512

struct perf_mmap;

/* From `row.time_ns` on the memory is this, or, with `row.gone`, unknown. */
struct renamed_change {
        struct trace_code_region row;
        size_t number; /* of the line in its reading */
};

/* Memory that was made executable. */
struct made_executable {
        uint64_t start_avma, end_avma;
        uint64_t time_ns;
        bool is_used;  /* a line of this reading is about it */
        bool is_taken; /* a line of an earlier reading is about it: no other line will be */
};

/* The state of one process.  All zero is empty. */
struct renamed_code {
        struct made_executable made[RENAMED_CODE_MADE_MAX];
        size_t n_made;
        bool is_unsure;    /* which of them a line is about */
        bool has_lineless; /* one of these moments got no line: the new code kept the name */
        /* the process can write some of its code: no record tells when it does */
        bool writes_code;
        uint64_t read_ns;             /* when the map was read last, and its names were right; 0 = never */
        struct renamed_change *lines; /* heap: of this reading, in their order */
        size_t n_lines, lines_capacity;
        struct renamed_change *fresh; /* heap: lines of this reading about memory that had no name */
        size_t n_fresh, fresh_capacity;
        size_t n_numbers;               /* lines of this reading, of both kinds */
        struct renamed_change *changes; /* heap: changes that wait for their time, from `first` on, by time */
        size_t first, n_changes, changes_capacity;
};

void renamed_code_deinit(struct renamed_code *r);

/* Executable memory of no file was mapped, or became executable.  The same record may be reported twice. */
void renamed_code_note(struct renamed_code *r, const struct perf_mmap *mmap, uint64_t time_ns);

/* Does this memory change at a time to come? */
bool renamed_code_waits(const struct renamed_code *r, const struct trace_code_region *row);

/* A line of this reading that gives memory another name.  Returns 0 or -ENOMEM. */
int renamed_code_add(struct renamed_code *r, const struct trace_code_region *row);

/* A line of this reading about memory that had no name so far.  Returns 0 or -ENOMEM. */
int renamed_code_add_fresh(struct renamed_code *r, const struct trace_code_region *row);

/*
 * renamed_code_sort() - all lines of a reading are there
 * `fresh` then has only lines that share their memory with no other line: their code has been there since
 * it was seen first.  Where several lines name the same memory, it was replaced before the map was read,
 * and they are renamings.  Returns 0 or -ENOMEM.
 */
int renamed_code_sort(struct renamed_code *r);

/* The facts about a reading; CLOCK_MONOTONIC_RAW. */
struct renamed_reading {
        uint64_t empty_ns;         /* there was nothing more to read then */
        uint64_t now_ns;           /* and no line is newer than this */
        uint64_t changed_ns;       /* when the file was changed last, at the earliest; 0 = not known */
        uint64_t changed_until_ns; /* at the latest */
        uint64_t lag_ns;           /* samples of so long ago wait still */
        size_t n_lines;            /* number of new lines, those about memory that had no name included */
};

/* Ends a reading: its lines become changes.  Returns 0 or -ENOMEM. */
int renamed_code_end_reading(struct renamed_code *r, const struct renamed_reading *reading);

/* When the next change is due; UINT64_MAX = none waits. */
uint64_t renamed_code_next_ns(const struct renamed_code *r);

/* Takes out the next change up to @until_ns.  Returns false if no row is left. */
bool renamed_code_next(struct renamed_code *r, uint64_t until_ns, struct trace_code_region *ret_row);

#endif /* SAMPLER_JIT_RENAMED_CODE_H */
