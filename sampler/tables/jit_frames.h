/* SPDX-License-Identifier: MIT */
/*
 * sampler/tables/jit_frames.h - unwind information that a JIT writes into its jitdump,
 * collected for one process
 *
 * Way of the data:  jitdump -> jit_files -> [jit_frames] -> table_process (in its child:
 *                   [jit_frames]) -> jit_tables
 *
 * Each function has an .eh_frame of its own, of some ten bytes, whose pointers are relative to its intended
 * place: after the code, at the next multiple of 8.  The recorder only copies them; they are parsed in a
 * child without rights.
 */
#ifndef SAMPLER_TABLES_JIT_FRAMES_H
#define SAMPLER_TABLES_JIT_FRAMES_H

#include "base/byte_buffer.h"
#include "sampler/tables/table_process.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define JIT_FRAMES_ENTRY_MAX (UINT32_C(1) << 16) /* bytes of one function */
#define JIT_FRAMES_BYTES_MAX (UINT32_C(1) << 24) /* of a process */

/* All zero is empty. */
struct jit_frames {
        struct byte_buffer bytes; /* entries, oldest first */
        bool is_full;
};

/* The code of one function, and its .eh_frame; both are foreign. */
struct jit_frames_entry {
        uint64_t start_avma, length_bytes;
        const uint8_t *eh_frame; /* borrowed during the call */
        size_t n_bytes;
};

void jit_frames_deinit(struct jit_frames *f);

/* Returns 1; 0 if it is too large, or there are too many, and `is_full`; -ENOMEM. */
int jit_frames_add(struct jit_frames *f, const struct jit_frames_entry *entry);

/*
 * jit_frames_file() - the entries from byte @from on as a file for the child
 * @from:  0, or what `bytes.used_bytes` was before
 * Returns a descriptor, the caller's, or -errno.
 */
int jit_frames_file(const struct jit_frames *f, size_t from);

/* Was the file made by jit_frames_file()?  In the child. */
bool jit_frames_is_file(int fd);

/*
 * In the child: makes a table with addresses of the process, as the bytes of an
 * unwind_module without segments.
 */
enum table_status jit_frames_build(int fd, struct byte_buffer *out);

#endif /* SAMPLER_TABLES_JIT_FRAMES_H */
