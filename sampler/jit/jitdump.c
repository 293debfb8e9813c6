/* SPDX-License-Identifier: MIT */
#include "sampler/jit/jitdump.h"

#include "base/error.h"
#include "base/io.h"

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

/*
 * Takes a text with its terminating zero.  If there is no zero, returns NULL, and the reader stays in its
 * error state.
 */
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
        /* the number of one of several pieces of code of the line, or the column */
        (void)bytes_u32(&info->lines);
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

/* ------------------------------------------------------------------ the file as it grows */

#define READ_BYTES (UINT32_C(1) << 18)
/* first bytes of a record that is too large, which have its name */
#define LARGE_HEAD_BYTES  (UINT32_C(1) << 16)
#define BUFFER_KEPT_BYTES (UINT32_C(1) << 20)

void jitdump_file_deinit(struct jitdump_file *f)
{
        io_close(&f->fd);
        byte_buffer_deinit(&f->buffer);
}

static int give_up(struct jitdump_file *f)
{
        f->is_broken = true;
        f->n_garbage++;
        byte_buffer_deinit(&f->buffer);
        f->at_bytes = 0;
        return 0;
}

static size_t count_left(const struct jitdump_file *f)
{
        return f->buffer.used_bytes - f->at_bytes;
}

/* Makes the buffer hold @wanted bytes.  Returns 1, 0 if the file does not have them yet, -ENOMEM. */
static int fill(struct jitdump_file *f, size_t wanted)
{
        size_t left = count_left(f), n_bytes = 0;
        size_t room = wanted > left + READ_BYTES ? wanted - left : READ_BYTES;
        uint8_t *to;

        if (left >= wanted)
                return 1;
        if (f->is_dry)
                return 0;
        if (f->offset_bytes >= JITDUMP_FILE_BYTES_MAX)
                return give_up(f);
        if (f->at_bytes > 0)
                memmove(f->buffer.data, f->buffer.data + f->at_bytes, left);
        f->buffer.used_bytes = left;
        f->at_bytes = 0;
        to = byte_buffer_reserve(&f->buffer, room);
        if (!to)
                return -ENOMEM;
        if (io_pread_full(f->fd, to, room, f->offset_bytes, &n_bytes, NULL) < 0)
                return give_up(f);
        f->buffer.used_bytes += n_bytes;
        f->offset_bytes += n_bytes;
        f->is_dry = n_bytes < room;
        return count_left(f) >= wanted;
}

static const uint8_t *bytes_at(const struct jitdump_file *f)
{
        return f->buffer.data + f->at_bytes;
}

static int read_header(struct jitdump_file *f)
{
        int r = fill(f, JITDUMP_HEADER_BYTES);

        if (r <= 0)
                return r;
        if (jitdump_decode_header(bytes_at(f), count_left(f), &f->header, NULL) < 0)
                return give_up(f);
        r = fill(f, f->header.header_bytes);
        if (r <= 0)
                return r;
        f->at_bytes += f->header.header_bytes;
        f->has_header = true;
        return 1;
}

int jitdump_file_peek(struct jitdump_file *f, struct jitdump_item *ret_item)
{
        struct jitdump_item item = { .body = NULL };
        size_t wanted;
        int r = 1;

        if (f->fd < 0 || f->is_broken)
                return 0;
        if (!f->has_header)
                r = read_header(f);
        if (r == 1)
                r = fill(f, JITDUMP_PREFIX_BYTES);
        if (r <= 0)
                return r;
        if (jitdump_decode_prefix(bytes_at(f), count_left(f), &item.prefix, NULL) < 0)
                return give_up(f);
        wanted = item.prefix.record_bytes <= JITDUMP_RECORD_BYTES_MAX ? item.prefix.record_bytes
                                                                      : LARGE_HEAD_BYTES;
        r = fill(f, wanted);
        if (r <= 0)
                return r;
        item.body = bytes_at(f) + JITDUMP_PREFIX_BYTES;
        item.body_bytes = wanted - JITDUMP_PREFIX_BYTES;
        *ret_item = item;
        return 1;
}

int jitdump_file_last(struct jitdump_file *f, struct jitdump_item *ret_item)
{
        size_t left = count_left(f);
        struct jitdump_item item = { .body = NULL };

        if (f->fd < 0 || f->is_broken || left == 0)
                return 0;
        f->is_broken = true; /* nothing comes after it */
        if (!f->has_header || jitdump_decode_prefix(bytes_at(f), left, &item.prefix, NULL) < 0) {
                f->n_garbage++;
                return 0;
        }
        item.body = bytes_at(f) + JITDUMP_PREFIX_BYTES;
        item.body_bytes = left - JITDUMP_PREFIX_BYTES;
        *ret_item = item;
        return 1;
}

void jitdump_file_consume(struct jitdump_file *f, const struct jitdump_item *item)
{
        size_t left = count_left(f), record_bytes = item->prefix.record_bytes;

        if (record_bytes <= left) {
                f->at_bytes += record_bytes;
                return;
        }
        f->offset_bytes += record_bytes - left;
        f->at_bytes = 0;
        if (f->buffer.capacity_bytes > BUFFER_KEPT_BYTES)
                byte_buffer_deinit(&f->buffer);
        byte_buffer_clear(&f->buffer);
}
