/* SPDX-License-Identifier: MIT */
/*
 * export/perf_data/perf_data_parts.h - the parts of a file of `perf record`: its numbers, the sections around
 * the records, the records, and the addresses in them
 *
 * Way of the data:  export_perf_data -> [perf_data_parts] -> export_stream -> file
 */
#ifndef EXPORT_PERF_DATA_PERF_DATA_PARTS_H
#define EXPORT_PERF_DATA_PERF_DATA_PARTS_H

#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_buffer;
struct loaded_trace;
struct trace_dictionary;

/* The numbers of the files of `perf record`. */

#define PERF_DATA_MAGIC        UINT64_C(0x32454c4946524550) /* "PERFILE2" */
#define PERF_DATA_HEADER_BYTES 104
#define PERF_DATA_ATTR_BYTES   112 /* of an event's description, as Linux 4.8 has it */
#define PERF_DATA_RECORD_MAX   65528
#define PERF_DATA_ROUND_BYTES  8

enum perf_data_feature {
        PERF_DATA_HOSTNAME = 3,
        PERF_DATA_OS_RELEASE = 4,
        PERF_DATA_VERSION = 5,
        PERF_DATA_ARCH = 6,
        PERF_DATA_CPUS = 7,
        PERF_DATA_COMMAND = 11,
        PERF_DATA_EVENTS = 12,
};

enum perf_data_record {
        PERF_DATA_COMM = 3,
        PERF_DATA_EXIT = 4,
        PERF_DATA_FORK = 7,
        PERF_DATA_SAMPLE = 9,
        PERF_DATA_MMAP2 = 10,
        PERF_DATA_SWITCH = 14,
        PERF_DATA_FINISHED_ROUND = 68, /* perf may sort what came before the last one */
};

/* The second member of a record's header. */
#define PERF_DATA_MISC_KERNEL     UINT16_C(1)
#define PERF_DATA_MISC_USER       UINT16_C(2)
#define PERF_DATA_MISC_SWITCH_OUT (UINT16_C(1) << 13)
#define PERF_DATA_MISC_PREEMPTED  (UINT16_C(1) << 14)
#define PERF_DATA_MISC_BUILD_ID   (UINT16_C(1) << 14) /* of a mapping */

/*
 * IP, TID, TIME, CALLCHAIN, CPU, PERIOD, IDENTIFIER: the contents of each sample; TID, TIME, CPU, IDENTIFIER
 * in all records.
 */
#define PERF_DATA_SAMPLE_TYPE                                                                      \
        (UINT64_C(1) | UINT64_C(1) << 1 | UINT64_C(1) << 2 | UINT64_C(1) << 5 | UINT64_C(1) << 7 | \
         UINT64_C(1) << 8 | UINT64_C(1) << 16)

/* Flags of an event's description. */
#define PERF_DATA_FLAG_MMAP           (UINT64_C(1) << 8)
#define PERF_DATA_FLAG_COMM           (UINT64_C(1) << 9)
#define PERF_DATA_FLAG_FREQUENCY      (UINT64_C(1) << 10)
#define PERF_DATA_FLAG_TASK           (UINT64_C(1) << 13)
#define PERF_DATA_FLAG_SAMPLE_ID_ALL  (UINT64_C(1) << 18)
#define PERF_DATA_FLAG_EXCLUDE_GUEST  (UINT64_C(1) << 20)
#define PERF_DATA_FLAG_MMAP2          (UINT64_C(1) << 23)
#define PERF_DATA_FLAG_USE_CLOCK      (UINT64_C(1) << 25)
#define PERF_DATA_FLAG_CONTEXT_SWITCH (UINT64_C(1) << 26)

#define PERF_DATA_CLOCK_MONOTONIC_RAW 4

/* An event that never happens, so that a file without samples has one. */
#define PERF_DATA_TYPE_SOFTWARE 1
#define PERF_DATA_CONFIG_DUMMY  9

/* In callchains, before the addresses of either. */
#define PERF_DATA_CONTEXT_KERNEL ((uint64_t)-128)
#define PERF_DATA_CONTEXT_USER   ((uint64_t)-512)

/* For the kernel's own mappings. */
#define PERF_DATA_PID_KERNEL UINT32_MAX

#define PERF_DATA_PROT_READ_EXEC UINT32_C(5)
#define PERF_DATA_MAP_PRIVATE    UINT32_C(2)

/*
 * perf_data_head.c - the parts of perf's files around the records: header, events, facts about the machine
 *
 * Way of the data:  loaded_trace (META, SAMPLE_EVENTS) -> [perf_data_head] -> export_perf_data
 */

/*
 * Puts the header, and the numbers and descriptions of the events; @data_bytes: of the records that follow.
 */
void perf_data_head_put(struct byte_buffer *b, const struct loaded_trace *trace, uint64_t data_bytes);

/* Puts the sections after the records; @offset: where they begin in the file. */
void perf_data_head_put_features(struct byte_buffer *b, const struct loaded_trace *trace, uint64_t offset);

/* How many bytes perf_data_head_put() takes. */
uint64_t perf_data_head_bytes(const struct loaded_trace *trace);

/*
 * perf_data_records.c - the records of perf's files: little endian, multiples of eight bytes
 *
 * Way of the data:  export_perf_data -> [perf_data_records] -> export_stream -> file
 *
 * Each record ends with its owner; in samples it comes first.
 */

struct perf_data_who {
        uint64_t time_ns;
        uint64_t event; /* its number in the file */
        uint32_t pid, tid;
        uint32_t cpu;
};

struct perf_data_sample {
        uint64_t period;
        const uint64_t
                *callchain; /* innermost first, with the marks of kernel and user; the address is [1] */
        size_t n_callchain;
        uint16_t mode; /* PERF_DATA_MISC_KERNEL or _USER */
};

struct perf_data_mapping {
        uint64_t start_avma, length_bytes, file_offset_bytes;
        const char *path, *build_id;
        size_t path_bytes, build_id_bytes;
        bool is_kernel;
};

void perf_data_records_put_sample(struct byte_buffer *b, const struct perf_data_who *who,
                                  const struct perf_data_sample *sample);
void perf_data_records_put_mapping(struct byte_buffer *b, const struct perf_data_who *who,
                                   const struct perf_data_mapping *mapping);
void perf_data_records_put_comm(struct byte_buffer *b, const struct perf_data_who *who, const char *name,
                                size_t n_bytes);
/* @type: PERF_DATA_FORK, with the parent's numbers, or PERF_DATA_EXIT. */
void perf_data_records_put_task(struct byte_buffer *b, uint32_t type, const struct perf_data_who *who,
                                uint32_t parent_pid, uint32_t parent_tid);
/* @misc: PERF_DATA_MISC_SWITCH_OUT and _PREEMPTED; 0 = in */
void perf_data_records_put_switch(struct byte_buffer *b, const struct perf_data_who *who, uint16_t misc);

/* PERF_DATA_ROUND_BYTES. */
void perf_data_records_put_round(struct byte_buffer *b);

/*
 * perf_data_rounds.c - after which chunks of the trace a mark of perf's, FINISHED_ROUND, may stand
 *
 * Way of the data:  times of records -> [perf_data_rounds] -> export_perf_data
 *
 * At a mark, readers of perf's files take all records as sorted that are no newer than the newest one before
 * the mark before, and need not keep them any longer.  So a mark may stand where no older record follows.
 * Threads of a trace are out of order within a chunk, and chunks follow each other as a rule: the times say
 * whether they do.  Memory: 24 bytes a chunk.  Not thread-safe.
 */

struct perf_data_round {
        uint64_t oldest, newest; /* of the chunk's records; newest: 0 = there are none */
        bool has_mark;
};

/* Zero-initialised is empty and valid. */
struct perf_data_rounds {
        struct perf_data_round *chunks; /* heap */
        size_t n, capacity;
        struct perf_data_round now; /* the chunk that has not ended */
};

void perf_data_rounds_deinit(struct perf_data_rounds *r);

/* A record's time; 0 = it has none, and no place in the order. */
void perf_data_rounds_note(struct perf_data_rounds *r, uint64_t time_ns);

/* Returns 0 or -ENOMEM. */
int perf_data_rounds_end_chunk(struct perf_data_rounds *r);

/* After the last record: fills in `has_mark`, and returns how many chunks have a mark at their end. */
size_t perf_data_rounds_plan(struct perf_data_rounds *r);

/*
 * perf_data_kernel.c - where the kernel lies, and which one it is, so that perf finds the
 * names of its functions
 *
 * Way of the data:  /proc/kallsyms, /sys/kernel/notes -> [perf_data_kernel] -> export_perf_data
 *
 * A trace has the addresses of the kernel's functions, not where the kernel begins, nor its build-id.
 * Both are found on the machine that recorded, until it is booted again.  perf compares the build-id,
 * and takes a shift of the kernel into account: where there is another kernel, functions have
 * addresses and no wrong names.
 */

#define PERF_DATA_KERNEL_ID_MAX 20

struct perf_data_kernel {
        bool is_known;
        uint64_t text_avma, end_avma; /* its functions, without those of modules */
        uint8_t build_id[PERF_DATA_KERNEL_ID_MAX];
        size_t build_id_bytes;
};

/*
 * The facts about the kernel of a trace; `is_known` is false if it is that of another machine or boot, or
 * hidden from us.
 */
struct perf_data_kernel perf_data_kernel_find(const struct trace_dictionary *dictionary);

/* The build-id in ELF notes.  Returns its length, or 0; @ret_id: PERF_DATA_KERNEL_ID_MAX bytes. */
size_t perf_data_kernel_parse_notes(const uint8_t *notes, size_t n_bytes, uint8_t *ret_id);

/* The address of a symbol in the text of /proc/kallsyms; 0 = it is not there, or hidden. */
uint64_t perf_data_kernel_parse_symbol(const char *text, size_t n_bytes, const char *name);

/*
 * frame_addresses.c - where a frame's code was in the memory of a process
 *
 * Way of the data:  trace_dictionary (FRAMES, MAPPINGS) -> [frame_addresses] -> export_perf_data
 *
 * The trace names code by its offset in a file, and perf's format by its address.  The first mapping of the
 * code counts, in the process or in the one that it was forked from.  Each frame is looked up once a process.
 * Memory: a number for each mapping, and 24 bytes and a hash slot for each frame of each process.  Not
 * thread-safe.
 */

/* No padding: compared as bytes. */
struct frame_address_key {
        uint32_t process;
        uint32_t frame;
};

struct frame_addresses {
        const struct trace_dictionary *dictionary; /* borrowed */
        uint32_t *first;     /* heap; by module id: where its mappings begin in `mappings` */
        uint32_t *mappings;  /* heap; ids, by module, in the order of the trace */
        struct intern known; /* struct frame_address_key */
        uint64_t *addresses; /* heap; of the key with id i at i - 1 */
        size_t capacity;
};

/* Returns 0 or -ENOMEM; to be deinitialised in any case. */
int frame_addresses_init(struct frame_addresses *a, const struct trace_dictionary *dictionary);
void frame_addresses_deinit(struct frame_addresses *a);

/*
 * frame_addresses_find() - the address of a frame
 * @ret_avma:  of a caller, where it goes on after the call; without a mapping the frame's
 *             offset, which means nothing
 * Returns 0, -ENOMEM, -EOVERFLOW.
 */
int frame_addresses_find(struct frame_addresses *a, uint32_t process, uint32_t frame, uint64_t *ret_avma);

#endif /* EXPORT_PERF_DATA_PERF_DATA_PARTS_H */
