/* SPDX-License-Identifier: MIT */
/*
 * sampler/jit/jitdump.h - bytes of a jitdump, jit-PID.dump -> typed, checked records, read as it grows
 *
 * Way of the data:  module_file -> [jitdump] -> jit_files -> code_regions
 * Specification:    tools/perf/Documentation/jitdump-specification.txt of Linux
 *
 * The program writes the file, and may write anything.  A record with an impossible length ends the file: the
 * beginning of the next one is unknown.
 * Only the byte order of this machine is read: the program runs on it.
 * Records come out of a jitdump_file one by one, like those of a ring: the oldest can be looked at before it
 * is its turn.
 */
#ifndef SAMPLER_JIT_JITDUMP_H
#define SAMPLER_JIT_JITDUMP_H

#include "base/byte_buffer.h"
#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;

#define JITDUMP_HEADER_BYTES     40
#define JITDUMP_HEADER_BYTES_MAX 65536 /* later versions may append */
#define JITDUMP_PREFIX_BYTES     16    /* of a record: kind, length, time */
#define JITDUMP_RECORD_BYTES_MAX (UINT32_C(1) << 24)
#define JITDUMP_FILE_BYTES_MAX   (UINT64_C(1) << 32)

struct jitdump_header {
        uint32_t header_bytes; /* records begin after them */
        uint32_t machine;      /* as in an ELF header */
        uint32_t pid;          /* as the program sees itself */
        bool has_arch_ticks;   /* times are of the processor's counter, else of CLOCK_MONOTONIC */
};

enum jitdump_kind {
        JITDUMP_LOAD = 0,
        JITDUMP_MOVE = 1,
        JITDUMP_DEBUG_INFO = 2,
        JITDUMP_CLOSE = 3,
        JITDUMP_UNWINDING_INFO = 4,
};

struct jitdump_prefix {
        uint32_t kind;         /* enum jitdump_kind, or one that is not known */
        uint32_t record_bytes; /* with the prefix */
        uint64_t ticks;
};

struct jitdump_load {
        uint32_t pid; /* of the process that has the code, in its own PID namespace */
        uint64_t start_avma, length_bytes;
        uint64_t index; /* of the code, for moves */
        const char *name;
        size_t name_bytes;
        const uint8_t *code; /* `length_bytes` of it; NULL = the record does not have all of it */
};

struct jitdump_move {
        uint32_t pid; /* likewise */
        uint64_t old_avma, new_avma, length_bytes;
};

/* The lines of the code that is loaded next at `start_avma`. */
struct jitdump_debug_info {
        uint64_t start_avma;
        uint64_t n_lines;
        struct byte_reader lines; /* for jitdump_next_line() */
};

/*
 * The unwind information of the code that is loaded next: its .eh_frame, which is read as if it lay after the
 * code, at the next multiple of 8.
 */
struct jitdump_unwinding {
        const uint8_t *eh_frame;
        size_t n_bytes;
};

struct jitdump_line {
        uint64_t avma; /* from here on */
        uint32_t line;
        const char *file;
        size_t file_bytes;
};

/* Returns 0; -EBADMSG; -ENOTSUP for another version or byte order; -ENODATA if there are too few bytes. */
int jitdump_decode_header(const uint8_t *bytes, size_t n_bytes, struct jitdump_header *ret_header,
                          struct error *err);

/* Returns 0; -EBADMSG for a length that cannot be; -ENODATA if there are too few bytes. */
int jitdump_decode_prefix(const uint8_t *bytes, size_t n_bytes, struct jitdump_prefix *ret_prefix,
                          struct error *err);

/*
 * The rest of a record, after its prefix.  For a LOAD larger than JITDUMP_RECORD_BYTES_MAX the beginning is
 * enough, with the whole name.  Results are borrowed from @bytes.  Each returns 0 or -EBADMSG.
 */
int jitdump_decode_load(const uint8_t *bytes, size_t n_bytes, struct jitdump_load *ret_load,
                        struct error *err);
int jitdump_decode_move(const uint8_t *bytes, size_t n_bytes, struct jitdump_move *ret_move,
                        struct error *err);
int jitdump_decode_debug_info(const uint8_t *bytes, size_t n_bytes, struct jitdump_debug_info *ret_info,
                              struct error *err);

int jitdump_decode_unwinding(const uint8_t *bytes, size_t n_bytes, struct jitdump_unwinding *ret_unwinding,
                             struct error *err);

/*
 * The next line of a record.  @line: the line before, whose file this one may have as well; all zero at
 * first.
 * Returns 1, 0 at the end, -EBADMSG.
 */
int jitdump_next_line(struct jitdump_debug_info *info, struct jitdump_line *line, struct error *err);

/* ------------------------------------------------------------------ the file as it grows */

/* All zero but for fd, -1, is empty. */
struct jitdump_file {
        int fd;                /* owned */
        uint64_t offset_bytes; /* read up to here */
        struct byte_buffer buffer;
        size_t at_bytes; /* in `buffer`: the oldest record */
        struct jitdump_header header;
        bool has_header;
        bool is_dry;    /* the file had no more at the last look */
        bool is_broken; /* nothing more is read */
        uint64_t n_garbage;
};

struct jitdump_item {
        struct jitdump_prefix prefix;
        const uint8_t *body; /* after the prefix; borrowed, valid until the next call */
        size_t body_bytes;   /* less than the record's length if that is over JITDUMP_RECORD_BYTES_MAX */
};

void jitdump_file_deinit(struct jitdump_file *f);

/* Returns 1 with the oldest record, again if it was not consumed; 0 if there is no whole record; -ENOMEM. */
int jitdump_file_peek(struct jitdump_file *f, struct jitdump_item *ret_item);

/*
 * The rest of a file that does not grow any more: a record that is cut in its body.  Returns 1 with what is
 * left of it, once; 0 if there is nothing.  Bytes that are no record are counted as garbage.
 */
int jitdump_file_last(struct jitdump_file *f, struct jitdump_item *ret_item);

/* Steps over the record that jitdump_file_peek() returned. */
void jitdump_file_consume(struct jitdump_file *f, const struct jitdump_item *item);

#endif /* SAMPLER_JIT_JITDUMP_H */
