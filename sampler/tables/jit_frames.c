/* SPDX-License-Identifier: MIT */
#include "sampler/tables/jit_frames.h"

#include "base/array.h"
#include "base/bytes.h"
#include "base/io.h"
#include "sampler/tables/table_process.h"
#include "symbolize/elf/cfi_section.h"
#include "unwind/unwind_machine.h"
#include "unwind/unwind_module.h"
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

/* The bytes of a file, and the sections that they are parsed into. */
struct frames_source {
        uint8_t *bytes; /* heap */
        size_t n_bytes;
        struct cfi_section *sections; /* heap; newest first: the first section for an address counts */
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

/* Reads the next entry.  Returns false at the end. */
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

/* ------------------------------------------------------------------ tables, by process */

static void drop_modules(struct jit_tables *t, struct jit_process_tables *p)
{
        for (size_t i = 0; i < p->n_modules; i++) {
                t->n_bytes -= p->modules[i]->n_bytes;
                unwind_module_free(p->modules[i]);
        }
        p->n_modules = 0;
}

void jit_tables_deinit(struct jit_tables *t)
{
        for (size_t i = 0; i < t->n_processes; i++)
                drop_modules(t, &t->processes[i]);
        free(t->processes);
        *t = (struct jit_tables){ .n_bytes = 0 };
}

static struct jit_process_tables *find_process(const struct jit_tables *t, uint32_t process)
{
        for (size_t i = 0; i < t->n_processes; i++)
                if (t->processes[i].process == process)
                        return &t->processes[i];
        return NULL;
}

static int add_process(struct jit_tables *t, uint32_t process, struct jit_process_tables **ret_process)
{
        int r = array_reserve(&t->processes, &t->capacity, t->n_processes + 1, sizeof(*t->processes));

        if (r < 0)
                return r;
        *ret_process = &t->processes[t->n_processes++];
        **ret_process = (struct jit_process_tables){ .process = process };
        return 0;
}

static uint32_t next_request(struct jit_tables *t)
{
        t->last_request = (t->last_request + 1) & ~JIT_TABLES_REQUEST;
        return t->last_request | JIT_TABLES_REQUEST;
}

int jit_tables_ask(struct jit_tables *t, struct table_process *to, uint32_t process,
                   const struct jit_frames *frames)
{
        struct jit_process_tables *p = find_process(t, process);
        struct table_request request = { .build_id_bytes = 0 };
        int fd, r;

        if (frames->bytes.used_bytes == (p ? p->asked_bytes : 0) || (p && p->request != 0) ||
            t->n_bytes >= JIT_TABLES_BYTES_MAX || to->n_waiting == TABLE_PROCESS_WAITING_MAX)
                return 0;
        r = p ? 0 : add_process(t, process, &p);
        if (r < 0)
                return r;
        p->asks_all = p->n_modules == JIT_TABLES_MAX;
        fd = jit_frames_file(frames, p->asks_all ? 0 : p->asked_bytes);
        if (fd < 0)
                return fd == -ENOMEM ? fd : 0; /* no descriptor: another time */
        request.id = next_request(t);
        r = table_process_ask(to, &request, fd);
        io_close(&fd);
        if (r < 0)
                return r == -EPIPE ? r : 0;
        p->request = request.id;
        p->asked_bytes = frames->bytes.used_bytes;
        return 0;
}

int jit_tables_take(struct jit_tables *t, const struct table_answer *answer)
{
        struct jit_process_tables *p = NULL;
        struct unwind_module *module = NULL;
        int r;

        for (size_t i = 0; i < t->n_processes; i++)
                if (t->processes[i].request == answer->id)
                        p = &t->processes[i];
        if (!p)
                return 0;
        p->request = 0;
        if (answer->status == TABLE_STATUS_NOTHING)
                return 0;
        if (answer->status != TABLE_STATUS_BUILT)
                return -ENODATA;
        r = unwind_module_decode(answer->bytes, answer->n_bytes, &module, NULL);
        if (r < 0)
                return r == -ENOMEM ? r : -ENODATA;
        if (p->asks_all)
                drop_modules(t, p);
        if (!module->table || p->n_modules == JIT_TABLES_MAX) {
                unwind_module_free(module);
                return -ENODATA;
        }
        p->modules[p->n_modules++] = module;
        t->n_bytes += module->n_bytes;
        return 1;
}

const struct unwind_table *jit_tables_find(const struct jit_tables *t, uint32_t process, uint64_t avma)
{
        const struct jit_process_tables *p = find_process(t, process);

        for (size_t i = p ? p->n_modules : 0; i-- > 0;)
                if (unwind_table_find(p->modules[i]->table, avma))
                        return p->modules[i]->table;
        return NULL;
}

bool jit_tables_forget(struct jit_tables *t, uint32_t process)
{
        struct jit_process_tables *p = find_process(t, process);
        bool had_some = p && p->n_modules > 0;

        if (!p)
                return false;
        drop_modules(t, p);
        *p = t->processes[--t->n_processes];
        return had_some;
}
