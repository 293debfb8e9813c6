/* SPDX-License-Identifier: MIT */
#include "sampler/jit/jitdump.h"

#include "base/error.h"

#include <errno.h>
#include <string.h>

#define MAGIC          UINT32_C(0x4a695444) /* "JiTD" */
#define MAGIC_SWAPPED  UINT32_C(0x4454694a)
#define VERSION        1
#define FLAG_ARCH_TIME UINT64_C(1)

/* In place of a file's name: the same file as for the line before. */
static const char same_file[] = { '\xff', '\0' };

int jitdump_decode_header(const uint8_t *bytes, size_t n_bytes, struct jitdump_header *ret_header,
                          struct error *err)
{
        struct byte_reader in = byte_reader_of(bytes, n_bytes);
        struct jitdump_header h = { .pid = 0 };
        uint32_t magic = bytes_u32(&in), version = bytes_u32(&in);

        h.header_bytes = bytes_u32(&in);
        h.machine = bytes_u32(&in);
        (void)bytes_u32(&in);
        h.pid = bytes_u32(&in);
        (void)bytes_u64(&in); /* when it was made */
        h.has_arch_ticks = (bytes_u64(&in) & FLAG_ARCH_TIME) != 0;
        if (n_bytes >= sizeof(magic) && magic == MAGIC_SWAPPED)
                return error_set(err, -ENOTSUP, "jitdump: of a machine with another byte order");
        if (n_bytes >= sizeof(magic) && magic != MAGIC)
                return error_set(err, -EBADMSG, "jitdump: not a jitdump");
        if (in.short_read)
                return error_set(err, -ENODATA, "jitdump: header cut off at %zu bytes", n_bytes);
        if (version != VERSION)
                return error_set(err, -ENOTSUP, "jitdump: version %u", version);
        if (h.header_bytes < JITDUMP_HEADER_BYTES || h.header_bytes > JITDUMP_HEADER_BYTES_MAX)
                return error_set(err, -EBADMSG, "jitdump: header of %u bytes", h.header_bytes);
        *ret_header = h;
        return 0;
}

int jitdump_decode_prefix(const uint8_t *bytes, size_t n_bytes, struct jitdump_prefix *ret_prefix,
                          struct error *err)
{
        struct byte_reader in = byte_reader_of(bytes, n_bytes);
        struct jitdump_prefix p = { .kind = bytes_u32(&in) };

        p.record_bytes = bytes_u32(&in);
        p.ticks = bytes_u64(&in);
        if (in.short_read)
                return error_set(err, -ENODATA, "jitdump: record cut off at %zu bytes", n_bytes);
        if (p.record_bytes < JITDUMP_PREFIX_BYTES)
                return error_set(err, -EBADMSG, "jitdump: record of %u bytes", p.record_bytes);
        *ret_prefix = p;
        return 0;
}

/* Takes a text with its terminating zero.  Returns NULL, and the reader is sticky, if it has none. */
static const char *take_text(struct byte_reader *in, size_t *ret_bytes)
{
        const uint8_t *end = in->left > 0 && !in->short_read ? memchr(in->at, '\0', in->left) : NULL;

        *ret_bytes = end ? (size_t)(end - in->at) : 0;
        return (const char *)bytes_take(in, end ? *ret_bytes + 1 : in->left + 1);
}

int jitdump_decode_load(const uint8_t *bytes, size_t n_bytes, struct jitdump_load *ret_load,
                        struct error *err)
{
        struct byte_reader in = byte_reader_of(bytes, n_bytes);
        struct jitdump_load l = { .name = NULL };
        uint64_t behind;

        l.pid = bytes_u32(&in);
        (void)bytes_u32(&in); /* the thread, */
        (void)bytes_u64(&in); /* and where the code lies in a file, if it is in one */
        l.start_avma = bytes_u64(&in);
        l.length_bytes = bytes_u64(&in);
        l.index = bytes_u64(&in);
        l.name = take_text(&in, &l.name_bytes);
        if (in.short_read)
                return error_set(err, -EBADMSG, "jitdump: LOAD of %zu bytes", n_bytes);
        if (__builtin_add_overflow(l.start_avma, l.length_bytes, &behind))
                return error_set(err, -EBADMSG, "jitdump: code beyond the address space");
        l.code = l.length_bytes <= in.left ? in.at : NULL;
        *ret_load = l;
        return 0;
}

int jitdump_decode_move(const uint8_t *bytes, size_t n_bytes, struct jitdump_move *ret_move,
                        struct error *err)
{
        struct byte_reader in = byte_reader_of(bytes, n_bytes);
        struct jitdump_move m = { .old_avma = 0 };
        uint64_t behind;

        m.pid = bytes_u32(&in);
        (void)bytes_u32(&in);
        (void)bytes_u64(&in);
        m.old_avma = bytes_u64(&in);
        m.new_avma = bytes_u64(&in);
        m.length_bytes = bytes_u64(&in);
        (void)bytes_u64(&in);
        if (in.short_read || __builtin_add_overflow(m.new_avma, m.length_bytes, &behind))
                return error_set(err, -EBADMSG, "jitdump: MOVE of %zu bytes", n_bytes);
        *ret_move = m;
        return 0;
}

int jitdump_decode_debug_info(const uint8_t *bytes, size_t n_bytes, struct jitdump_debug_info *ret_info,
                              struct error *err)
{
        struct byte_reader in = byte_reader_of(bytes, n_bytes);
        struct jitdump_debug_info i = { .start_avma = bytes_u64(&in) };

        i.n_lines = bytes_u64(&in);
        if (in.short_read)
                return error_set(err, -EBADMSG, "jitdump: DEBUG_INFO of %zu bytes", n_bytes);
        i.lines = in;
        *ret_info = i;
        return 0;
}

/* Takes .eh_frame; the index of its entries, .eh_frame_hdr, follows it and is not needed. */
int jitdump_decode_unwinding(const uint8_t *bytes, size_t n_bytes, struct jitdump_unwinding *ret_unwinding,
                             struct error *err)
{
        struct byte_reader in = byte_reader_of(bytes, n_bytes);
        uint64_t unwinding_bytes = bytes_u64(&in), index_bytes = bytes_u64(&in);

        (void)bytes_u64(&in); /* how much of it is mapped */
        if (in.short_read || index_bytes > unwinding_bytes || unwinding_bytes > in.left)
                return error_set(err, -EBADMSG, "jitdump: UNWINDING_INFO of %zu bytes", n_bytes);
        ret_unwinding->eh_frame = in.at;
        ret_unwinding->n_bytes = (size_t)(unwinding_bytes - index_bytes);
        return 0;
}

int jitdump_next_line(struct jitdump_debug_info *info, struct jitdump_line *line, struct error *err)
{
        const char *file;
        size_t file_bytes;

        if (info->n_lines == 0)
                return 0;
        line->avma = bytes_u64(&info->lines);
        line->line = bytes_u32(&info->lines);
        (void)bytes_u32(&info->lines); /* which of several pieces of code of the line, or its column */
        file = take_text(&info->lines, &file_bytes);
        if (info->lines.short_read)
                return error_set(err, -EBADMSG, "jitdump: %llu lines are missing",
                                 (unsigned long long)info->n_lines);
        if (file_bytes != sizeof(same_file) - 1 || memcmp(file, same_file, file_bytes) != 0) {
                line->file = file;
                line->file_bytes = file_bytes;
        }
        info->n_lines--;
        return 1;
}
