/* SPDX-License-Identifier: MIT */
/*
 * export/perf_data/perf_data_fields.h - the numbers of the files of `perf record`
 *
 * Way of the data:  [perf_data_fields] is spoken in export_perf_data and its parts
 */
#ifndef EXPORT_PERF_DATA_PERF_DATA_FIELDS_H
#define EXPORT_PERF_DATA_PERF_DATA_FIELDS_H

#include <stdint.h>

#define PERF_DATA_MAGIC        UINT64_C(0x32454c4946524550) /* "PERFILE2" */
#define PERF_DATA_HEADER_BYTES 104
#define PERF_DATA_ATTR_BYTES   112 /* of an event's description, as Linux 4.8 has it */
#define PERF_DATA_RECORD_MAX   65528

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

#endif /* EXPORT_PERF_DATA_PERF_DATA_FIELDS_H */
