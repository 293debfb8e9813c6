/* SPDX-License-Identifier: MIT */
#include "symbolize/stacks/module_tables.h"

#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/child_answer.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "symbolize/debug/debug_file.h"
#include "symbolize/debug/debug_file_search.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/elf/image_code.h"
#include "symbolize/images/image_finder.h"
#include "unwind/stack_walk.h"
#include "unwind/unwind_module.h"
#include "unwind/unwind_rule.h"
#include "unwind/unwind_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHILD_S 120 /* the longest time that a child may take */

int module_tables_init(struct module_tables *t, const struct image_finder *finder,
                       struct confinement_user user)
{
        uint32_t n = trace_dictionary_count(finder->dictionary, TRACE_TABLE_MODULES);

        *t = (struct module_tables){ .finder = finder, .user = user, .n_items = n };
        t->items = calloc((size_t)n + 1, sizeof(*t->items));
        return t->items ? 0 : -ENOMEM;
}

void module_tables_deinit(struct module_tables *t)
{
        for (uint32_t i = 0; t->items && i < t->n_items; i++)
                for (size_t k = 0; k < MODULE_TABLES_FILES_MAX; k++)
                        unwind_module_free(t->items[i].files[k]);
        free(t->items);
        *t = (struct module_tables){ .items = NULL };
}

/* ---- the child ----------------------------------------------------------------------------------------- */

/* Appends the length of a file's module, and the module; nothing if it has no table. */
static void put_module(struct byte_buffer *out, const struct elf_image *image)
{
        struct byte_buffer bytes = { .data = NULL };
        struct unwind_module *module = NULL;

        if (unwind_module_build(image, &module, NULL) == 0 && module->table) {
                unwind_module_encode(module, &bytes);
                byte_buffer_add_u64(out, bytes.used_bytes);
                byte_buffer_add(out, bytes.data, bytes.used_bytes);
                out->failed |= bytes.failed;
        }
        byte_buffer_deinit(&bytes);
        unwind_module_free(module);
}

/* A file with debug information alone does not state where its code lies in the file that was mapped. */
static void place_debug_image(struct elf_image *debug, const struct elf_image *image)
{
        struct elf_image_segment *segments;

        if (image_code_is_there(debug))
                return;
        segments = calloc(image->n_segments + 1, sizeof(*segments));
        if (!segments)
                return;
        memcpy(segments, image->segments, image->n_segments * sizeof(*segments));
        free(debug->segments);
        debug->segments = segments;
        debug->n_segments = image->n_segments;
}

static void put_tables(const struct image_finder *finder, uint32_t module, struct byte_buffer *out)
{
        struct found_image found = { .fd = -1 };
        struct debug_file debug = { .elf = NULL };

        if (image_finder_find(finder, module, &found) < 0 || !found.image)
                return;
        put_module(out, found.image);
        if (debug_file_search_find_tables(found.image, found.path, finder->search, &debug) == 1) {
                place_debug_image(debug.image, found.image);
                put_module(out, debug.image);
                debug_file_close(&debug);
        }
        found_image_close(&found);
}

struct question {
        const struct module_tables *tables;
        uint32_t module;
};

/* Runs as the child. */
static int run_child(void *context, int pipe_fd)
{
        const struct question *q = context;
        const struct module_tables *t = q->tables;
        struct image_finder finder = *t->finder;
        struct image_spool spool = finder.spool ? *finder.spool : (struct image_spool){ .fd = -1 };
        struct byte_buffer out = { .data = NULL };
        int fds[2] = { pipe_fd, spool.fd };

        if (confinement_enter(t->user, fds, 2, NULL) < 0)
                return EXIT_FAILURE;
        (void)alarm(CHILD_S); /* a file system that does not answer takes no processor time */
        spool.fd = fds[1];
        finder.spool = finder.spool ? &spool : NULL;
        put_tables(&finder, q->module, &out);
        return !out.failed && io_write_all(fds[0], out.data, out.used_bytes, NULL) == 0 ? EXIT_SUCCESS
                                                                                        : EXIT_FAILURE;
}

/* ---- the parent ---------------------------------------------------------------------------------------- */

static void build(struct module_tables *t, uint32_t module, struct module_tables_item *item)
{
        struct question question = { .tables = t, .module = module };
        struct byte_buffer bytes = { .data = NULL };
        struct byte_reader in = { .left = 0 };

        if (child_answer_take("the reader of tables", run_child, &question, MODULE_TABLES_ANSWER_MAX, &bytes,
                              NULL) == 0)
                in = byte_reader_of(bytes.data, bytes.used_bytes);
        for (size_t i = 0; i < MODULE_TABLES_FILES_MAX && in.left > 0; i++) {
                uint64_t n_bytes = bytes_u64(&in);
                const uint8_t *at = n_bytes <= in.left ? bytes_take(&in, (size_t)n_bytes) : NULL;

                if (!at || unwind_module_decode(at, (size_t)n_bytes, &item->files[i], NULL) < 0)
                        break;
                t->n_bytes += item->files[i]->n_bytes;
        }
        byte_buffer_deinit(&bytes);
}

void module_tables_find(struct module_tables *t, const struct trace_mapping *mapping, uint64_t avma,
                        struct stack_walk_code *ret_code)
{
        struct module_tables_item *item;

        *ret_code = (struct stack_walk_code){ .table = NULL };
        if (mapping->module == 0 || mapping->module > t->n_items)
                return;
        item = &t->items[mapping->module - 1];
        if (!item->is_known && t->n_bytes < MODULE_TABLES_BYTES_MAX)
                build(t, mapping->module, item);
        item->is_known = true;
        for (size_t i = 0; i < MODULE_TABLES_FILES_MAX; i++) {
                const struct unwind_module *file = item->files[i];
                const struct unwind_rule *rule;
                uint64_t bias;

                if (!file || !file->table ||
                    !unwind_module_find_bias(file, mapping->start_avma, mapping->file_offset_bytes,
                                             mapping->length_bytes, &bias))
                        continue;
                rule = unwind_table_find(file->table, avma - bias);
                if (!ret_code->table || (rule && rule->cfa != UNWIND_CFA_NONE))
                        *ret_code = (struct stack_walk_code){ .table = file->table, .bias = bias };
                if (rule && rule->cfa != UNWIND_CFA_NONE)
                        return;
        }
}
