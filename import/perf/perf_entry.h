/* SPDX-License-Identifier: MIT */
/*
 * import/perf/perf_entry.h - one record of a perf.data file, taken apart
 *
 * Way of the data:  perf_file -> [perf_entry] -> perf_queue, perf_tasks, perf_stacks
 *
 * Everything in it is borrowed from the record.  The event of a record says what it has, and where.
 */
#ifndef IMPORT_PERF_ENTRY_H
#define IMPORT_PERF_ENTRY_H

#include "import/perf/perf_file.h"

/* Types of records: PERF_RECORD_* */
enum {
        PERF_ENTRY_MMAP = 1,
        PERF_ENTRY_LOST = 2,
        PERF_ENTRY_COMM = 3,
        PERF_ENTRY_EXIT = 4,
        PERF_ENTRY_FORK = 7,
        PERF_ENTRY_SAMPLE = 9,
        PERF_ENTRY_MMAP2 = 10,
        PERF_ENTRY_LOST_SAMPLES = 13,
        PERF_ENTRY_SWITCH = 14,
        PERF_ENTRY_SWITCH_CPU_WIDE = 15,
        PERF_ENTRY_USER = 64, /* from here on of perf itself, not of the kernel */
        PERF_ENTRY_FINISHED_ROUND = 68,
        PERF_ENTRY_COMPRESSED = 81,
        PERF_ENTRY_COMPRESSED2 = 83,
};

#define PERF_ENTRY_NO_PID UINT32_MAX

struct perf_entry {
        uint32_t type;
        uint16_t misc;
        uint64_t at;
        struct perf_event *event; /* NULL = no id says which */
        uint32_t pid, tid;        /* PERF_ENTRY_NO_PID = not stated, as of mappings of the kernel */
        uint32_t cpu;
        bool has_time;
        uint64_t time;

        /* SAMPLE */
        uint64_t ip, period;
        bool has_chain;
        const uint8_t *chain; /* numbers of 8 bytes */
        uint64_t n_chain;
        uint64_t regs_abi; /* 0 = no registers, 1 = of a 32-bit process, 2 = of a 64-bit one */
        const uint8_t *regs;
        size_t regs_bytes;
        const uint8_t *stack; /* from the stack pointer on */
        uint64_t stack_bytes;

        /* FORK, EXIT */
        uint32_t parent_pid, parent_tid;

        struct text_view name; /* COMM; path of MMAP and MMAP2 */

        /* MMAP, MMAP2 */
        uint64_t start_avma, length_bytes, file_offset_bytes;
        bool is_code;
        uint64_t device, inode;
        uint32_t generation;
        const uint8_t *build_id;
        size_t build_id_bytes;

        uint64_t n_lost; /* LOST, LOST_SAMPLES */
};

/* The code that was running: of the kernel, of a program, or of a guest and the like. */
enum perf_mode { PERF_MODE_OTHER, PERF_MODE_KERNEL, PERF_MODE_USER };

enum perf_mode perf_entry_mode(const struct perf_entry *entry);

/* Returns 0, or -EBADMSG: it is shorter than it says, or its event is unknown. */
int perf_entry_decode(struct perf_file *file, const struct perf_raw_record *record,
                      struct perf_entry *ret_entry);

#endif /* IMPORT_PERF_ENTRY_H */
