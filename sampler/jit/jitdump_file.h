/* SPDX-License-Identifier: MIT */
/*
 * sampler/jit/jitdump_file.h - the jitdump of one process, read as it grows
 *
 * Way of the data:  module_file -> [jitdump_file] -> jitdump -> jit_files
 *
 * Records come out one by one, like those of a ring: the oldest can be looked at
 * before it is its turn.
 */
#ifndef SAMPLER_JIT_JITDUMP_FILE_H
#define SAMPLER_JIT_JITDUMP_FILE_H

#include "base/byte_buffer.h"
#include "sampler/jit/jitdump.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All zero but for fd, -1, is empty. */
struct jitdump_file {
        int fd;                /* owned */
        uint64_t offset_bytes; /* read up to here */
        struct byte_buffer buffer;
        size_t at_bytes; /* in `buffer`: the oldest record */
        struct jitdump_header header;
        bool has_header;
        bool is_dry;    /* there was no more, when it was last looked at */
        bool is_broken; /* nothing more is read */
        uint64_t n_garbage;
};

struct jitdump_item {
        struct jitdump_prefix prefix;
        const uint8_t *body; /* after the prefix; borrowed, valid until the next call */
        size_t body_bytes;   /* less than the record says if that is over JITDUMP_RECORD_BYTES_MAX */
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

#endif /* SAMPLER_JIT_JITDUMP_FILE_H */
