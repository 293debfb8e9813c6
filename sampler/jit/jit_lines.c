/* SPDX-License-Identifier: MIT */
#include "sampler/jit/jit_lines.h"

#include "base/array.h"
#include "format/trace_dictionary.h"
#include "sampler/jit/jitdump.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define V8_SHIFT_BYTES 64

static const char url[] = "file://";

void jit_lines_deinit(struct jit_lines *l)
{
        free(l->lines);
        *l = (struct jit_lines){ .lines = NULL };
}

/* Not called for a name that is the same as that of the line before: it already has its id. */
static int add_file(struct trace_dictionary *d, const struct jitdump_line *line, uint32_t *ret_file)
{
        const char *file = line->file;
        size_t n_bytes = line->file_bytes;
        int r;

        *ret_file = 0;
        if (n_bytes > sizeof(url) - 1 && memcmp(file, url, sizeof(url) - 1) == 0) {
                file += sizeof(url) - 1;
                n_bytes -= sizeof(url) - 1;
        }
        if (n_bytes == 0)
                return 0;
        r = trace_dictionary_add_program_string(d, file, n_bytes, ret_file);
        return r == -EOVERFLOW ? 0 : r;
}

int jit_lines_read(struct jit_lines *l, struct trace_dictionary *dictionary, struct jitdump_debug_info *info)
{
        struct jitdump_line line = { .file = NULL };
        const char *last_file = NULL;
        uint32_t file = 0;
        int r;

        l->start_avma = info->start_avma;
        l->n_lines = 0;
        while ((r = jitdump_next_line(info, &line, NULL)) == 1 && l->n_lines < JIT_LINES_MAX) {
                if (line.file != last_file) {
                        r = add_file(dictionary, &line, &file);
                        last_file = line.file;
                }
                if (r >= 0)
                        r = array_reserve(&l->lines, &l->capacity, l->n_lines + 1, sizeof(*l->lines));
                if (r < 0)
                        break;
                l->lines[l->n_lines] = (struct jit_line){
                        .avma = line.avma, .file = file, .line = line.line, .order = (uint32_t)l->n_lines
                };
                l->n_lines++;
        }
        return r < 0 ? r : 0;
}

static int compare_lines(const void *a, const void *b)
{
        const struct jit_line *x = a, *y = b;

        if (x->avma != y->avma)
                return x->avma < y->avma ? -1 : 1;
        return x->order < y->order ? -1 : x->order > y->order;
}

static bool has_prefix(const struct jitdump_load *load, const char *prefix)
{
        size_t n_bytes = strlen(prefix);

        return load->name_bytes >= n_bytes && memcmp(load->name, prefix, n_bytes) == 0;
}

/* Recognises V8 by the names that it gives to code with lines.  The lines are sorted. */
static uint64_t find_shift(const struct jit_lines *l, const struct jitdump_load *load)
{
        static const char *const prefixes[] = { "JS:",     "LazyCompile:", "Function:",
                                                "Script:", "Eval:",        "RegExp:" };

        if (l->lines[0].avma < load->start_avma || l->lines[0].avma - load->start_avma < V8_SHIFT_BYTES)
                return 0;
        for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
                if (has_prefix(load, prefixes[i]))
                        return V8_SHIFT_BYTES;
        return 0;
}

int jit_lines_add(struct jit_lines *l, struct trace_dictionary *dictionary, const struct jitdump_load *load,
                  uint32_t region)
{
        uint64_t shift;
        int r = 0;

        if (l->n_lines == 0 || l->start_avma != load->start_avma)
                return 0;
        qsort(l->lines, l->n_lines, sizeof(*l->lines), compare_lines);
        shift = find_shift(l, load);
        for (size_t i = 0; r == 0 && i < l->n_lines; i++) {
                uint64_t offset = l->lines[i].avma - shift - load->start_avma;
                struct trace_code_line row = { .region = region,
                                               .offset_bytes = (uint32_t)offset,
                                               .file = l->lines[i].file,
                                               .line = l->lines[i].line };
                uint32_t id;

                /* If several have one address, the last one counts. */
                if (offset >= load->length_bytes || offset > UINT32_MAX ||
                    (i + 1 < l->n_lines && l->lines[i + 1].avma == l->lines[i].avma))
                        continue;
                r = trace_dictionary_add(dictionary, TRACE_TABLE_CODE_LINES, &row, &id);
        }
        return r;
}

/* Rows are made region by region, so those of later ones follow those of earlier ones. */
static uint32_t find_first(const struct trace_dictionary *d, uint32_t region)
{
        uint32_t low = 1, high = trace_dictionary_count(d, TRACE_TABLE_CODE_LINES) + 1;

        while (low < high) {
                uint32_t middle = low + (high - low) / 2;
                const struct trace_code_line *row = trace_dictionary_row(d, TRACE_TABLE_CODE_LINES, middle);

                if (row->region < region)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

int jit_lines_copy(struct trace_dictionary *dictionary, uint32_t from_region, uint32_t to_region)
{
        uint32_t n_rows = trace_dictionary_count(dictionary, TRACE_TABLE_CODE_LINES);
        int r = 0;

        for (uint32_t id = find_first(dictionary, from_region); r == 0 && id <= n_rows; id++) {
                struct trace_code_line row = *(const struct trace_code_line *)trace_dictionary_row(
                        dictionary, TRACE_TABLE_CODE_LINES, id);
                uint32_t copy;

                if (row.region != from_region)
                        break;
                row.region = to_region;
                r = trace_dictionary_add(dictionary, TRACE_TABLE_CODE_LINES, &row, &copy);
        }
        return r;
}
