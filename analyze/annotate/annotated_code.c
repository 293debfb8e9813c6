/* SPDX-License-Identifier: MIT */
#include "analyze/annotate/annotation.h"

#include "analyze/samples/sampled_trace.h"
#include "base/array.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/images/image_spool.h"
#include "symbolize/listing/listing_process.h"
#include "symbolize/listing/listing_reader.h"
#include "symbolize/listing/module_listing.h"
#include "symbolize/symbols/region_symbols.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* NULL without memory. */
static char *copy_string(struct text_view string)
{
        char *copy = calloc(string.n_bytes + 1, 1);

        if (copy && string.n_bytes > 0)
                memcpy(copy, string.bytes, string.n_bytes);
        return copy;
}

static bool take(struct annotation *a, int r)
{
        a->has_code = r == 0;
        if (r < 0) {
                code_listing_deinit(&a->listing);
                if (a->no_code.code == 0)
                        (void)error_set(&a->no_code, r, "no memory for the code");
        }
        return r == 0;
}

/* ---- modules with an image ----------------------------------------------------------------------------- */

static void list_module(struct annotation *a, const struct listing_request *common)
{
        const struct module_listing code = { .dictionary = a->trace->dictionary,
                                             .spool = &a->trace->images,
                                             .module = a->function.module };

        (void)take(a, module_listing_run(&code, common, listing_reader_run, &a->listing, &a->is_kept,
                                         &a->no_code));
}

/* ---- code that the program made ------------------------------------------------------------------------ */

/* Adds the source lines that a JIT compiler reported: no file of the module has them. */
static int add_lines(struct annotation *a, const struct region_symbols *regions)
{
        const struct trace_dictionary *d = a->trace->dictionary;
        struct code_listing *l = &a->listing;
        int r = array_reserve(&l->symbols, &l->symbols_capacity, l->n_instructions + 1, sizeof(*l->symbols));

        for (size_t i = 0; i < l->n_instructions && r == 0; i++) {
                struct listing_symbol symbol = { .function = l->parts[0].name };
                struct region_symbol found;
                struct text_view file;

                if (!region_symbols_find(regions, a->function.module, l->instructions[i].svma, &found))
                        continue;
                file = trace_dictionary_text(d, found.file);
                if (file.n_bytes > 0)
                        r = intern_add(&l->strings, file.bytes, file.n_bytes, &symbol.file);
                symbol.line = found.line;
                if (r < 0)
                        return r;
                r = 0;
                l->instructions[i].first_symbol = (uint32_t)l->n_symbols;
                l->instructions[i].n_symbols = 1;
                l->symbols[l->n_symbols++] = symbol;
        }
        return r;
}

static int list_region(struct annotation *a, struct listing_request *request,
                       const struct region_symbols *regions, uint32_t region)
{
        const struct trace_dictionary *d = a->trace->dictionary;
        const struct trace_code_region *row = trace_dictionary_row(d, TRACE_TABLE_CODE_REGIONS, region);
        const struct trace_attachment *attachment =
                row->attachment ? trace_dictionary_row(d, TRACE_TABLE_ATTACHMENTS, row->attachment) : NULL;
        struct spooled_image code = { .bytes = NULL };
        char *name = copy_string(trace_dictionary_text(d, row->name));
        char *machine = copy_string(sampled_trace_meta(a->trace, "machine"));
        int r = 0;

        if (!name || !machine)
                r = -ENOMEM;
        else if (!attachment || image_spool_map(&a->trace->images, d, row->attachment, &code, NULL) != 1)
                (void)error_set(&a->no_code, -ENOENT,
                                "the program announced the name of this code, but not its bytes");
        if (code.bytes && attachment->kind == TRACE_ATTACHMENT_CODE_IMAGE) {
                request->image = code.bytes;
                request->image_bytes = code.n_bytes;
                request->region_avma = row->start_avma;
                request->region_bytes = row->length_bytes;
                a->is_kept = true;
                (void)take(a, listing_process_run(request, &a->listing, &a->no_code));
        } else if (code.bytes) {
                request->code = code.bytes;
                request->code_bytes = code.n_bytes;
                request->code_avma = row->start_avma;
                request->name = name;
                request->machine = machine;
                a->is_kept = true;
                if (take(a, listing_process_run(request, &a->listing, &a->no_code)))
                        r = add_lines(a, regions);
        }
        image_spool_unmap(&code);
        free(name);
        free(machine);
        return r;
}

static int list_memory(struct annotation *a, struct listing_request *request)
{
        struct region_symbols *regions;
        struct region_symbol found;
        int r = region_symbols_new(a->trace->dictionary, &regions, NULL);

        if (r < 0)
                return r;
        if (region_symbols_find(regions, a->function.module, request->offsets[0], &found) == 1)
                r = list_region(a, request, regions, found.region);
        else
                (void)error_set(&a->no_code, -ENOENT, "the code in this memory is unknown");
        region_symbols_free(regions);
        return r;
}

int annotated_code_list(struct annotation *a, const struct annotation_options *options,
                        const uint64_t *offsets, size_t n_offsets)
{
        const struct trace_module *row;
        struct listing_request request = {
                .search = options->search,
                .offsets = offsets,
                .n_offsets = n_offsets,
                .intel_syntax = options->intel_syntax,
        };

        if (a->function.module == 0) {
                (void)error_set(&a->no_code, -ENOENT, "the code is outside of every module");
                return 0;
        }
        row = trace_dictionary_row(a->trace->dictionary, TRACE_TABLE_MODULES, a->function.module);
        switch (row->kind) {
        case TRACE_MODULE_FILE:
        case TRACE_MODULE_VDSO:
        case TRACE_MODULE_IMAGE:
                list_module(a, &request);
                return 0;
        case TRACE_MODULE_ANONYMOUS:
                return list_memory(a, &request);
        case TRACE_MODULE_PYTHON:
                (void)error_set(&a->no_code, -ENOTSUP, "Python's code has lines and no machine instructions");
                return 0;
        case TRACE_MODULE_KERNEL:
                (void)error_set(&a->no_code, -ENOTSUP, "the kernel's code is in no trace and in no file");
                return 0;
        default:
                (void)error_set(&a->no_code, -ENOTSUP, "this module has no code");
                return 0;
        }
}
