/* SPDX-License-Identifier: MIT */
/*
 * Fuzz target: symbolize/stacks/stack_finisher.c: whatever copy, mappings and old call stack a trace has, the
 * new call stack is one of the trace, or the old one stays.
 *
 * The first 48 bytes are two mappings, the next 4 the old call stack; the rest is the copy.
 */
#include "base/bytes.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"
#include "symbolize/images/image_finder.h"
#include "symbolize/images/module_images.h"
#include "symbolize/stacks/module_tables.h"
#include "symbolize/stacks/stack_finisher.h"

#include <stdint.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes);

static void require(int holds)
{
        if (!holds)
                abort();
}

static uint32_t add(struct trace_dictionary *d, enum trace_table table, const void *row)
{
        uint32_t id = 0;

        require(trace_dictionary_add(d, table, row, &id) == 0);
        return id;
}

/* A thread, code of a file and of a JIT, and the mark. */
static void add_rows(struct trace_dictionary *d, struct byte_reader *in)
{
        const struct trace_process process = { .pid = 1 };
        const struct trace_thread thread = { .process = 1, .tid = 1 };
        const struct trace_module modules[] = { { .kind = TRACE_MODULE_MARK },
                                                { .kind = TRACE_MODULE_FILE },
                                                { .kind = TRACE_MODULE_ANONYMOUS, .process = 1 } };
        uint32_t stack = 0;

        (void)add(d, TRACE_TABLE_PROCESSES, &process);
        (void)add(d, TRACE_TABLE_THREADS, &thread);
        for (size_t i = 0; i < 3; i++)
                (void)add(d, TRACE_TABLE_MODULES, &modules[i]);
        for (uint32_t i = 0; i < 2; i++) {
                struct trace_mapping mapping = { .process = 1, .module = 2 + i };

                mapping.start_avma = bytes_u64(in);
                mapping.length_bytes = bytes_u64(in);
                mapping.file_offset_bytes = bytes_u64(in);
                (void)add(d, TRACE_TABLE_MAPPINGS, &mapping);
        }
        for (uint32_t i = 0; i < 4; i++) {
                const struct trace_frame frame = { .offset = bytes_u8(in), .module = i == 0 ? 1 : i % 3 + 1 };
                struct trace_stack row = { .parent = stack };

                row.frame = add(d, TRACE_TABLE_FRAMES, &frame);
                stack = add(d, TRACE_TABLE_STACKS, &row);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n_bytes)
{
        struct byte_reader in = byte_reader_of(data, n_bytes);
        struct trace_event sample = { .op = TRACE_OP_SAMPLE, .time_ns = 1 };
        struct trace_dictionary d;
        struct module_images images;
        struct module_tables tables;
        struct image_finder finder = { .dictionary = &d, .images = &images };
        struct stack_finisher *finisher;
        uint64_t stack;
        int r;

        trace_dictionary_init(&d, 0);
        add_rows(&d, &in);
        require(module_images_init(&images, &d, NULL) == 0);
        require(module_tables_init(&tables, &finder, (struct confinement_user){ 0, 0 }) == 0);
        for (uint32_t i = 0; i < tables.n_items; i++)
                tables.items[i].is_known = true; /* there are no files, and no children */
        finisher = stack_finisher_new(&d, &tables);
        require(finisher != NULL);
        stack = sample.sample.stack = trace_dictionary_count(&d, TRACE_TABLE_STACKS);
        sample.sample.state = TRACE_STACK_NO_TABLE;
        r = stack_finisher_run(finisher, 1, in.at, in.left, &sample);
        require(r == 0 || r == 1);
        require(r == 1 || (sample.sample.stack == stack && sample.sample.state == TRACE_STACK_NO_TABLE));
        require(sample.sample.stack >= 1 &&
                sample.sample.stack <= trace_dictionary_count(&d, TRACE_TABLE_STACKS));
        stack_finisher_free(finisher);
        module_tables_deinit(&tables);
        module_images_deinit(&images);
        trace_dictionary_deinit(&d);
        return 0;
}
