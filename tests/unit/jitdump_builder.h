/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/jitdump_builder.h - bytes of a jitdump as a compiler would write them
 *
 * Way of the data:  unit test -> [jitdump_builder] -> jitdump, jit_files
 */
#ifndef TESTS_UNIT_JITDUMP_BUILDER_H
#define TESTS_UNIT_JITDUMP_BUILDER_H

#include "base/byte_buffer.h"

#include <stdint.h>

/* @flags: 1 = times are of the processor's counter. */
void jitdump_builder_header(struct byte_buffer *b, uint32_t version, uint64_t flags);

/* @ticks: when.  The code is @n_bytes bytes of 0x90. */
void jitdump_builder_load(struct byte_buffer *b, uint64_t ticks, uint64_t start_avma, uint32_t n_bytes,
                          const char *name);
void jitdump_builder_move(struct byte_buffer *b, uint64_t ticks, uint64_t old_avma, uint64_t new_avma,
                          uint64_t n_bytes);

/* Two lines, 10 at the start and 11 eight bytes after it, of one file; both @shift bytes too high. */
void jitdump_builder_lines(struct byte_buffer *b, uint64_t ticks, uint64_t start_avma, uint64_t shift,
                           const char *file);

/* How to unwind the 11 bytes of x86-64 that are loaded next: CFA = sp + 8, but + @cfa from byte 4 to 9. */
void jitdump_builder_unwinding(struct byte_buffer *b, uint64_t ticks, uint8_t cfa);

/* A record of any kind with @n_bytes zeros. */
void jitdump_builder_other(struct byte_buffer *b, uint32_t kind, uint64_t ticks, uint32_t n_bytes);

#endif /* TESTS_UNIT_JITDUMP_BUILDER_H */
