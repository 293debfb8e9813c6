/* SPDX-License-Identifier: MIT */
#include "tests/unit/jitdump_builder.h"

#include "sampler/jit/jitdump.h"

#include <string.h>
#include <unistd.h>

void jitdump_builder_header(struct byte_buffer *b, uint32_t version, uint64_t flags)
{
        byte_buffer_add_u32(b, 0x4a695444);
        byte_buffer_add_u32(b, version);
        byte_buffer_add_u32(b, JITDUMP_HEADER_BYTES);
        byte_buffer_add_u32(b, 62);
        byte_buffer_add_u32(b, 0);
        byte_buffer_add_u32(b, (uint32_t)getpid());
        byte_buffer_add_u64(b, 0);
        byte_buffer_add_u64(b, flags);
}

static void add_prefix(struct byte_buffer *b, uint32_t kind, uint64_t ticks, size_t body_bytes)
{
        byte_buffer_add_u32(b, kind);
        byte_buffer_add_u32(b, (uint32_t)(JITDUMP_PREFIX_BYTES + body_bytes));
        byte_buffer_add_u64(b, ticks);
}

void jitdump_builder_load(struct byte_buffer *b, uint64_t ticks, uint64_t start_avma, uint32_t n_bytes,
                          const char *name)
{
        add_prefix(b, JITDUMP_LOAD, ticks, 40 + strlen(name) + 1 + n_bytes);
        byte_buffer_add_u32(b, (uint32_t)getpid());
        byte_buffer_add_u32(b, (uint32_t)getpid());
        byte_buffer_add_u64(b, start_avma);
        byte_buffer_add_u64(b, start_avma);
        byte_buffer_add_u64(b, n_bytes);
        byte_buffer_add_u64(b, 1);
        byte_buffer_add(b, name, strlen(name) + 1);
        for (uint32_t i = 0; i < n_bytes; i++)
                byte_buffer_add_u8(b, 0x90);
}

void jitdump_builder_move(struct byte_buffer *b, uint64_t ticks, uint64_t old_avma, uint64_t new_avma,
                          uint64_t n_bytes)
{
        add_prefix(b, JITDUMP_MOVE, ticks, 48);
        byte_buffer_add_u32(b, (uint32_t)getpid());
        byte_buffer_add_u32(b, (uint32_t)getpid());
        byte_buffer_add_u64(b, new_avma);
        byte_buffer_add_u64(b, old_avma);
        byte_buffer_add_u64(b, new_avma);
        byte_buffer_add_u64(b, n_bytes);
        byte_buffer_add_u64(b, 1);
}

void jitdump_builder_lines(struct byte_buffer *b, uint64_t ticks, uint64_t start_avma, uint64_t shift,
                           const char *file)
{
        add_prefix(b, JITDUMP_DEBUG_INFO, ticks, 16 + 16 + strlen(file) + 1 + 16 + 2);
        byte_buffer_add_u64(b, start_avma);
        byte_buffer_add_u64(b, 2);
        byte_buffer_add_u64(b, start_avma + shift);
        byte_buffer_add_u32(b, 10);
        byte_buffer_add_u32(b, 0);
        byte_buffer_add(b, file, strlen(file) + 1);
        byte_buffer_add_u64(b, start_avma + shift + 8);
        byte_buffer_add_u32(b, 11);
        byte_buffer_add_u32(b, 0);
        byte_buffer_add(b, "\xff", 2);
}

void jitdump_builder_unwinding(struct byte_buffer *b, uint64_t ticks, uint8_t cfa)
{
        const uint8_t eh_frame[] = { 0x14, 0,   0,  0, 0,    0,    0,    0,   1,    'z',  'R', 0,
                                     1,    120, 16, 1, 0x1b, 0x0c, 7,    8,   0x90, 1,    0,   0,
                                     0x14, 0,   0,  0, 0x1c, 0,    0,    0,   0xd0, 255,  255, 255,
                                     0x0b, 0,   0,  0, 0,    0x44, 0x0e, cfa, 0x46, 0x0e, 8,   0 };

        add_prefix(b, JITDUMP_UNWINDING_INFO, ticks, 24 + sizeof(eh_frame));
        byte_buffer_add_u64(b, sizeof(eh_frame));
        byte_buffer_add_u64(b, 0); /* no index */
        byte_buffer_add_u64(b, 0);
        byte_buffer_add(b, eh_frame, sizeof(eh_frame));
}

void jitdump_builder_other(struct byte_buffer *b, uint32_t kind, uint64_t ticks, uint32_t n_bytes)
{
        add_prefix(b, kind, ticks, n_bytes);
        for (uint32_t i = 0; i < n_bytes; i++)
                byte_buffer_add_u8(b, 0);
}
