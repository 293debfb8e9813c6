/* SPDX-License-Identifier: MIT */
#include "sampler/tables/jit_frames.h"

#include "base/bytes.h"
#include "base/io.h"
#include "symbolize/elf/cfi_section.h"
#include "unwind/unwind_machine.h"
#include "unwind/unwind_module.h"
#include "unwind/unwind_module_bytes.h"
#include "unwind/unwind_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_HEADER_BYTES 4
#define ENTRY_BYTES       (8 + 8 + 4)         /* before the bytes of its .eh_frame */
#define CODE_SPAN_MAX     (UINT64_C(1) << 31) /* a table's rows have 32 bits */
#define CODE_BYTES_MAX    (UINT64_C(1) << 28) /* of one function */
#define ADDRESS_MAX       (UINT64_C(1) << 62) /* so that sums do not overflow */
#define FRAME_ALIGN       8

static const uint8_t magic[FILE_HEADER_BYTES] = { 'J', 'I', 'T', 'F' };

void jit_frames_deinit(struct jit_frames *f)
{
        byte_buffer_deinit(&f->bytes);
        f->is_full = false;
}

int jit_frames_add(struct jit_frames *f, const struct jit_frames_entry *entry)
{
        size_t n_bytes = ENTRY_BYTES + entry->n_bytes;

        if (entry->n_bytes > JIT_FRAMES_ENTRY_MAX || n_bytes > JIT_FRAMES_BYTES_MAX - f->bytes.used_bytes) {
                f->is_full = true;
                return 0;
        }
        /* All of it or nothing. */
        if (!byte_buffer_reserve(&f->bytes, n_bytes))
                return -ENOMEM;
        byte_buffer_add_u64(&f->bytes, entry->start_avma);
        byte_buffer_add_u64(&f->bytes, entry->length_bytes);
        byte_buffer_add_u32(&f->bytes, (uint32_t)entry->n_bytes);
        byte_buffer_add(&f->bytes, entry->eh_frame, entry->n_bytes);
        return 1;
}

int jit_frames_file(const struct jit_frames *f, size_t from)
{
        int fd = memfd_create("unwinding", MFD_CLOEXEC);
        int r;

        if (fd < 0)
                return -errno;
        r = io_write_all(fd, magic, sizeof(magic), NULL);
        if (r == 0)
                r = io_write_all(fd, f->bytes.data + from, f->bytes.used_bytes - from, NULL);
        if (r < 0)
                io_close(&fd);
        return r < 0 ? r : fd;
}

/* ---- in the child -------------------------------------------------------------------------------------- */

bool jit_frames_is_file(int fd)
{
        uint8_t bytes[FILE_HEADER_BYTES] = { 0 };

        return pread(fd, bytes, sizeof(bytes), 0) == sizeof(bytes) &&
               memcmp(bytes, magic, sizeof(magic)) == 0;
}

/* The bytes of a file, which are then taken apart. */
struct frames_source {
        uint8_t *bytes; /* heap */
        size_t n_bytes;
        struct cfi_section *sections; /* heap; newest first: the first one for an address counts */
        size_t n_sections;
        struct unwind_code_range code;
};

static int read_bytes(int fd, struct frames_source *s)
{
        struct stat status;
        size_t n_read = 0;
        int r;

        if (fstat(fd, &status) < 0 || status.st_size <= FILE_HEADER_BYTES ||
            status.st_size > FILE_HEADER_BYTES + (off_t)JIT_FRAMES_BYTES_MAX)
                return -EBADMSG;
        s->n_bytes = (size_t)status.st_size - FILE_HEADER_BYTES;
        s->bytes = malloc(s->n_bytes);
        if (!s->bytes)
                return -ENOMEM;
        r = io_pread_full(fd, s->bytes, s->n_bytes, FILE_HEADER_BYTES, &n_read, NULL);
        return r == 0 && n_read < s->n_bytes ? -ENODATA : r;
}

/* The next entry.  Returns false at the end. */
static bool next_entry(struct byte_reader *in, struct jit_frames_entry *ret_entry)
{
        ret_entry->start_avma = bytes_u64(in);
        ret_entry->length_bytes = bytes_u64(in);
        ret_entry->n_bytes = bytes_u32(in);
        ret_entry->eh_frame = bytes_take(in, ret_entry->n_bytes);
        return !in->short_read;
}

static bool is_sound(const struct jit_frames_entry *entry)
{
        return entry->length_bytes > 0 && entry->length_bytes <= CODE_BYTES_MAX && entry->n_bytes > 0 &&
               entry->start_avma <= ADDRESS_MAX;
}

/* Code too far from the newest code to fit into the same table gets no table. */
static bool take_range(struct unwind_code_range *code, const struct jit_frames_entry *entry)
{
        struct unwind_code_range both = { .start_svma = entry->start_avma,
                                          .end_svma = entry->start_avma + entry->length_bytes };

        if (code->end_svma > 0 && code->start_svma < both.start_svma)
                both.start_svma = code->start_svma;
        if (code->end_svma > both.end_svma)
                both.end_svma = code->end_svma;
        if (both.end_svma - both.start_svma > CODE_SPAN_MAX)
                return false;
        *code = both;
        return true;
}

static int take_sections(struct frames_source *s)
{
        struct byte_reader in = byte_reader_of(s->bytes, s->n_bytes);
        struct jit_frames_entry *entries, entry;
        size_t n = 0;

        entries = calloc(s->n_bytes / ENTRY_BYTES + 1, sizeof(*entries));
        s->sections = calloc(s->n_bytes / ENTRY_BYTES + 1, sizeof(*s->sections));
        if (!entries || !s->sections) {
                free(entries);
                return -ENOMEM;
        }
        while (in.left > 0 && next_entry(&in, &entry))
                if (is_sound(&entry))
                        entries[n++] = entry;
        while (n-- > 0)
                if (take_range(&s->code, &entries[n]))
                        s->sections[s->n_sections++] = (struct cfi_section){
                                .bytes = entries[n].eh_frame,
                                .n_bytes = entries[n].n_bytes,
                                .svma = entries[n].start_avma + (entries[n].length_bytes + FRAME_ALIGN - 1) /
                                                                        FRAME_ALIGN * FRAME_ALIGN,
                                .ends_at_zero = true
                        };
        free(entries);
        return s->n_sections > 0 ? 0 : -ENODATA;
}

enum table_status jit_frames_build(int fd, struct byte_buffer *out)
{
        struct frames_source source = { .bytes = NULL };
        struct unwind_module module = { .table = NULL };
        int r = read_bytes(fd, &source);

        if (r == 0)
                r = take_sections(&source);
        if (r == 0) {
                const struct unwind_table_source table = { .machine = unwind_machine_own(),
                                                           .sections = source.sections,
                                                           .n_sections = source.n_sections,
                                                           .code = &source.code,
                                                           .n_code = 1 };

                r = table.machine ? unwind_table_build(&table, &module.table, NULL) : -ENODATA;
        }
        if (r == 0)
                unwind_module_encode(&module, out);
        unwind_table_free(module.table);
        free(source.sections);
        free(source.bytes);
        return r == 0 ? TABLE_STATUS_BUILT : r == -ENODATA ? TABLE_STATUS_NOTHING : TABLE_STATUS_FAILED;
}
