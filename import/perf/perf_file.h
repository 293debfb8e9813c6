/* SPDX-License-Identifier: MIT */
/*
 * import/perf/perf_file.h - a perf.data file: its header, its events, what its features say; its records
 *
 * Way of the data:  import_source -> [perf_file] -> perf_entry, perf_queue -> import_perf_data
 *
 * Events and features lie before and behind the records, so the file has to be seekable: one that is packed,
 * or comes through a pipe, is put into a file without a name first.  Little endian, 64 bit.
 * All of it is hostile: each offset and count is checked against the file, and limits are named here.  A file
 * that is cut off is read up to there.  Not thread-safe.
 */
#ifndef IMPORT_PERF_FILE_H
#define IMPORT_PERF_FILE_H

#include "base/byte_buffer.h"
#include "base/intern.h"
#include "base/text_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct import_source;

#define PERF_FILE_EVENTS_MAX   4096
#define PERF_FILE_IDS_MAX      (UINT32_C(1) << 20)
#define PERF_FILE_FEATURE_MAX  (UINT32_C(16) << 20) /* bytes of one that is looked at */
#define PERF_FILE_RECORD_MAX   65535                /* a length has 16 bits */
#define PERF_FILE_BUILD_ID_MAX 20

/* perf_event_attr.sample_type */
enum {
        PERF_HAS_IP = 1 << 0,
        PERF_HAS_TID = 1 << 1,
        PERF_HAS_TIME = 1 << 2,
        PERF_HAS_ADDR = 1 << 3,
        PERF_HAS_READ = 1 << 4,
        PERF_HAS_CALLCHAIN = 1 << 5,
        PERF_HAS_ID = 1 << 6,
        PERF_HAS_CPU = 1 << 7,
        PERF_HAS_PERIOD = 1 << 8,
        PERF_HAS_STREAM_ID = 1 << 9,
        PERF_HAS_RAW = 1 << 10,
        PERF_HAS_BRANCH_STACK = 1 << 11,
        PERF_HAS_REGS_USER = 1 << 12,
        PERF_HAS_STACK_USER = 1 << 13,
        PERF_HAS_IDENTIFIER = 1 << 16,
};

/* struct perf_event_attr, as far as it matters. */
struct perf_event {
        uint32_t type;
        uint64_t config;
        uint64_t period; /* or frequency */
        uint64_t sample_type, read_format, branch_type, regs_user;
        bool is_frequency, has_sample_ids; /* of all records: sample_id_all */
        bool has_clock;
        int32_t clock;              /* clockid_t */
        size_t name_at, name_bytes; /* in `names` */
        uint32_t event;             /* its row in the trace; for import_perf_data */
};

struct perf_build_id {
        uint32_t name; /* in `build_id_names` */
        bool in_kernel;
        uint8_t n_bytes;
        uint8_t bytes[PERF_FILE_BUILD_ID_MAX];
};

struct perf_file {
        int fd;
        bool is_own_fd;
        uint64_t n_bytes;           /* of the file */
        int64_t changed_s;          /* when it was written last, of CLOCK_REALTIME; 0 = unknown */
        uint64_t data_at, data_end; /* of the records */
        bool has_no_end;            /* perf was killed: the length of the records is not stated */

        struct perf_event *events; /* heap */
        uint32_t n_events;
        size_t events_capacity;
        struct intern ids;     /* of the kernel, uint64_t -> */
        uint32_t *event_of_id; /* heap: index of the event */
        size_t event_of_id_capacity;
        struct byte_buffer names;

        struct intern build_id_names;    /* path -> */
        struct perf_build_id *build_ids; /* heap; by id of the name - 1 */
        size_t build_ids_capacity;
        char version[64], machine[32]; /* "6.1.187", "x86_64"; "" = not stated */
        bool has_clock_pair;           /* the events' clock and CLOCK_REALTIME at the same instant */
        uint64_t clock_ns, realtime_ns;

        uint64_t at; /* of the next record */
        struct byte_buffer window;
        uint64_t window_at;
};

struct perf_raw_record {
        uint32_t type;
        uint16_t misc;
        const uint8_t *body; /* borrowed until the next record */
        size_t n_bytes;
        uint64_t at; /* byte in the file */
};

/*
 * perf_file_open() - up to the first record
 * @source:    at its beginning; borrowed during the call, its path longer
 * @spool_fd:  as import_rows_spool() has it; borrowed
 * Returns 0, -EBADMSG: it is no such file, -ENOTSUP: a pipe's, another byte order's, -ENOMEM, -errno.
 */
int perf_file_open(struct perf_file *file, struct import_source *source, int spool_fd, struct error *err);
void perf_file_close(struct perf_file *file);

/* Whether these first bytes are of a perf.data file of any kind. */
bool perf_file_recognise(struct text_view head);

/*
 * perf_file_next() - the next record
 * Returns 1, 0 at the end, -ENODATA: it is cut off, -EBADMSG: no record can begin there, both at `at` and for
 * good, or -errno.
 */
int perf_file_next(struct perf_file *file, struct perf_raw_record *ret_record, struct error *err);

/* The event of an id of the kernel; NULL = unknown. */
struct perf_event *perf_file_find_event(struct perf_file *file, uint64_t id);

/* The build-id of a mapped path; NULL = unknown. */
const struct perf_build_id *perf_file_find_build_id(const struct perf_file *file, struct text_view path);

/* ---- perf_features.c; private ---- */

/* Reads what lies behind the records; what is broken there is passed over.  Returns 0, -ENOMEM, -errno. */
int perf_file_read_features(struct perf_file *file, const uint64_t bits[4], struct error *err);

/* Reads exactly @n_bytes.  Returns 0, -ENODATA, -errno. */
int perf_file_read(const struct perf_file *file, uint64_t at, void *bytes, size_t n_bytes, struct error *err);

#endif /* IMPORT_PERF_FILE_H */
