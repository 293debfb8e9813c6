/* SPDX-License-Identifier: MIT */
/*
 * export/perf_data/perf_data_records.h - the records of perf's files: little endian, multiples of eight bytes
 *
 * Way of the data:  export_perf_data -> [perf_data_records] -> export_stream -> file
 *
 * Each record ends with its owner; in samples it comes first.
 */
#ifndef EXPORT_PERF_DATA_PERF_DATA_RECORDS_H
#define EXPORT_PERF_DATA_PERF_DATA_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_buffer;

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

/* The last one: perf takes a file without any record for one that was not written to its end. */
void perf_data_records_put_round(struct byte_buffer *b);

#endif /* EXPORT_PERF_DATA_PERF_DATA_RECORDS_H */
