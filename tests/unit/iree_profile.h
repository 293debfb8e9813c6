/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/iree_profile.h - profiles of IREE in its binary form, made record by record
 *
 * Way of the data:  [iree_profile] -> import_ireeprof
 */
#ifndef TESTS_UNIT_IREE_PROFILE_H
#define TESTS_UNIT_IREE_PROFILE_H

#include "base/byte_buffer.h"

#include <stddef.h>
#include <stdint.h>

struct error;
struct import_rows;

struct iree_profile {
        struct byte_buffer bytes;
        uint64_t stream;     /* of the chunks that are made from now on */
        size_t n_more_bytes; /* put after the fields of each row of a chunk that is made from now on */
};

struct iree_profile_dispatch {
        uint64_t event, submission, executable, begin, end;
        uint32_t function;
};

/* A header and the beginning of a session; the length of the file is 0, not known. */
void iree_profile_begin(struct iree_profile *p);
void iree_profile_end(struct iree_profile *p, uint32_t status);
void iree_profile_set_length(struct iree_profile *p, uint64_t n_bytes);
void iree_profile_deinit(struct iree_profile *p);

/* A record of the file: @type 1 begins a session, 2 is a chunk, 3 ends a session. */
void iree_profile_record(struct iree_profile *p, uint16_t type, const char *content, const void *payload,
                         size_t n_bytes);

/* Chunks of one row each. */
void iree_profile_dispatch(struct iree_profile *p, uint32_t device, uint32_t queue,
                           const struct iree_profile_dispatch *dispatch);
void iree_profile_function(struct iree_profile *p, uint64_t executable, uint32_t function, const char *name,
                           size_t name_bytes);
void iree_profile_clock(struct iree_profile *p, uint32_t device, uint32_t flags, uint64_t ticks, uint64_t cpu,
                        uint64_t begin, uint64_t end);
void iree_profile_memory(struct iree_profile *p, uint32_t type, uint64_t time, uint64_t id, uint64_t n_bytes);

/* An executable trace with so many bytes of the device; a truncated chunk that lost so many rows. */
void iree_profile_trace(struct iree_profile *p, size_t n_bytes);
void iree_profile_lossy(struct iree_profile *p, uint64_t n_dropped);

/* Returns as import_ireeprof_read() for a file, or one with these bytes; -EINVAL if it is not recognised. */
int iree_profile_read_path(const char *path, struct import_rows *rows, struct error *err);
int iree_profile_read_bytes(const void *bytes, size_t n_bytes, struct import_rows *rows, struct error *err);

/* All bytes of a file. */
struct byte_buffer iree_profile_load(const char *path);

#endif /* TESTS_UNIT_IREE_PROFILE_H */
