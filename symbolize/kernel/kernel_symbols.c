/* SPDX-License-Identifier: MIT */
#include "symbolize/kernel/kernel_symbols.h"

#include "base/array.h"
#include "base/error.h"
#include "base/io.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES_MAX  (256U << 20) /* of the file; 6 MiB is usual */
#define READ_STEP_BYTES (1U << 20)
#define NAME_BYTES_MAX  1024 /* the kernel's own limit is 512 */
#define HEX_DIGITS_MAX  16

/* The parts of one line; they are borrowed from the text. */
struct line {
        uint64_t address;
        char type;
        const char *name;
        size_t name_bytes;
        const char *module; /* with its brackets */
        size_t module_bytes;
};

void kernel_symbols_deinit(struct kernel_symbols *kernel)
{
        byte_buffer_deinit(&kernel->names);
        free(kernel->symbols);
        *kernel = (struct kernel_symbols){ .symbols = NULL };
}

static int hex_value(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        if (c >= 'a' && c <= 'f')
                return c - 'a' + 10;
        return -1;
}

/* "ffffffff81000000 T name\t[module]" without its newline.  Returns false for anything else. */
static bool parse_line(const char *at, const char *end, struct line *ret_line)
{
        struct line line = { .address = 0 };
        const char *tab;
        int n_digits = 0;

        for (; at < end && hex_value(*at) >= 0; at++, n_digits++)
                line.address = line.address << 4 | (uint64_t)hex_value(*at);
        if (n_digits == 0 || n_digits > HEX_DIGITS_MAX || end - at < 4 || at[0] != ' ' || at[2] != ' ')
                return false;
        line.type = at[1];
        line.name = at + 3;
        tab = memchr(line.name, '\t', (size_t)(end - line.name));
        line.name_bytes = (size_t)((tab ? tab : end) - line.name);
        if (tab) {
                line.module = tab + 1;
                line.module_bytes = (size_t)(end - line.module);
        }
        if (line.name_bytes == 0 || line.name_bytes > NAME_BYTES_MAX || line.module_bytes > NAME_BYTES_MAX ||
            memchr(line.name, '\0', (size_t)(end - line.name)))
                return false;
        *ret_line = line;
        return true;
}

/* Ranks global names before local ones, those before weak ones; then by leading underscores. */
static uint32_t rank_of(const struct line *line)
{
        uint32_t rank = line->type == 'T' ? 0 : line->type == 't' ? 1 : 2;
        uint32_t n_underscores = 0;

        while (n_underscores < line->name_bytes && line->name[n_underscores] == '_')
                n_underscores++;
        return rank << 16 | n_underscores;
}

static int add_line(struct kernel_symbols *kernel, const struct line *line)
{
        struct byte_buffer *names = &kernel->names;

        if (kernel->n_symbols >= UINT32_MAX ||
            array_reserve(&kernel->symbols, &kernel->symbols_capacity, kernel->n_symbols + 1,
                          sizeof(*kernel->symbols)) < 0)
                return -ENOMEM;
        kernel->symbols[kernel->n_symbols] = (struct kernel_symbol){
                .address = line->address,
                .name_at = names->used_bytes,
                .rank = rank_of(line),
                .order = (uint32_t)kernel->n_symbols,
        };
        kernel->n_symbols++;
        byte_buffer_add(names, line->name, line->name_bytes);
        if (line->module_bytes > 0) {
                byte_buffer_add_u8(names, ' ');
                byte_buffer_add(names, line->module, line->module_bytes);
        }
        byte_buffer_add_u8(names, '\0');
        return names->failed ? -ENOMEM : 0;
}

static int compare_symbols(const void *a, const void *b)
{
        const struct kernel_symbol *x = a, *y = b;

        if (x->address != y->address)
                return x->address < y->address ? -1 : 1;
        if (x->rank != y->rank)
                return x->rank < y->rank ? -1 : 1;
        return x->order < y->order ? -1 : x->order > y->order;
}

int kernel_symbols_parse(struct kernel_symbols *kernel, const void *text, size_t text_bytes)
{
        const char *at = text, *end = at + text_bytes;
        size_t n_kept = 0;
        int r = 0;

        while (at < end && r == 0) {
                const char *newline = memchr(at, '\n', (size_t)(end - at));
                const char *line_end = newline ? newline : end;
                struct line line;

                if (newline && parse_line(at, line_end, &line) && line.address != 0 &&
                    strchr("tTwW", line.type))
                        r = add_line(kernel, &line);
                at = line_end + 1;
        }
        if (kernel->n_symbols > 0)
                qsort(kernel->symbols, kernel->n_symbols, sizeof(*kernel->symbols), compare_symbols);
        for (size_t i = 0; i < kernel->n_symbols; i++)
                if (n_kept == 0 || kernel->symbols[n_kept - 1].address != kernel->symbols[i].address)
                        kernel->symbols[n_kept++] = kernel->symbols[i];
        kernel->n_symbols = n_kept;
        return r;
}

int kernel_symbols_load(struct kernel_symbols *kernel, int fd, struct error *err)
{
        struct byte_buffer text = { .data = NULL };
        size_t got = 0;
        int r;

        do {
                uint8_t *at = byte_buffer_reserve(&text, READ_STEP_BYTES);

                if (!at) {
                        r = error_set(err, -ENOMEM, "no memory for the kernel's symbols");
                        break;
                }
                r = io_pread_full(fd, at, READ_STEP_BYTES, text.used_bytes, &got, err);
                if (r < 0)
                        break;
                text.used_bytes += got;
                if (text.used_bytes > TEXT_BYTES_MAX)
                        r = error_set(err, -EFBIG, "kernel symbols: more than %u bytes", TEXT_BYTES_MAX);
        } while (r == 0 && got > 0);
        if (r == 0 && kernel_symbols_parse(kernel, text.data, text.used_bytes) < 0)
                r = error_set(err, -ENOMEM, "no memory for the kernel's symbols");
        byte_buffer_deinit(&text);
        return r;
}

/* The last symbol at or before @address, plus one; 0 if there is none. */
static size_t count_symbols_to(const struct kernel_symbols *kernel, uint64_t address)
{
        return array_count_to(kernel->symbols, kernel->n_symbols, sizeof(*kernel->symbols),
                              offsetof(struct kernel_symbol, address), address);
}

static const char *name_of(const struct kernel_symbols *kernel, size_t i)
{
        return (const char *)kernel->names.data + kernel->symbols[i].name_at;
}

/* The owner, such as " [fuse]"; empty for the kernel itself, whose names have no blanks. */
static const char *owner_of(const struct kernel_symbols *kernel, size_t i)
{
        return strchrnul(name_of(kernel, i), ' ');
}

/* Code that the kernel made: BPF, and "[__builtin__ftrace]", "[__builtin__kprobes]". */
static bool is_made(const char *owner)
{
        return strcmp(owner, " [bpf]") == 0 || strncmp(owner, " [__builtin__", strlen(" [__builtin__")) == 0;
}

const char *kernel_symbols_find(const struct kernel_symbols *kernel, uint64_t address)
{
        size_t n = count_symbols_to(kernel, address);
        const char *owner = n > 0 ? owner_of(kernel, n - 1) : "";
        uint64_t start;
        bool is_last, is_in_its_page;

        if (n == 0 || is_made(owner))
                return NULL;
        start = kernel->symbols[n - 1].address;
        if (address - start >= KERNEL_SYMBOLS_FUNCTION_MAX)
                return NULL;
        is_in_its_page = address / KERNEL_SYMBOLS_PAGE_BYTES == start / KERNEL_SYMBOLS_PAGE_BYTES;
        is_last = n == kernel->n_symbols || strcmp(owner_of(kernel, n), owner) != 0;
        return *owner != '\0' && is_last && !is_in_its_page ? NULL : name_of(kernel, n - 1);
}

const char *kernel_symbols_find_made(const struct kernel_symbols *kernel, uint64_t address)
{
        size_t n = count_symbols_to(kernel, address);

        return n > 0 && is_made(owner_of(kernel, n - 1)) ? name_of(kernel, n - 1) : NULL;
}
