/* SPDX-License-Identifier: MIT */
#include "analyze/path/path_spins.h"

#include "analyze/walk/loaded_trace.h"
#include "base/error.h"
#include "format/attachment_chunk.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/images/image_spool.h"
#include "symbolize/images/module_images.h"
#include "symbolize/listing/code_listing.h"
#include "symbolize/listing/listing_reader.h"
#include "symbolize/listing/module_listing.h"
#include "symbolize/listing/pause_loops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PLACES_MAX     1024                 /* as PATH_SPINS_PLACE_MIN is a thousandth, there are no more */
#define KEPT_BYTES_MAX (UINT64_C(64) << 20) /* of code in the trace; of a larger file, the file is read */

struct place {
        uint64_t offset;
        uint32_t module, frame;
        double weight;
};

struct search {
        struct path_spins *spins;
        struct loaded_trace *trace;
        struct image_spool spool;        /* has the code of one module */
        struct place places[PLACES_MAX]; /* by module, then by offset */
        size_t n_places;
        bool found;
};

int path_spins_init(struct path_spins *s, const struct loaded_trace *trace)
{
        *s = (struct path_spins){ .trace = trace,
                                  .n_frames = trace_dictionary_count(trace->dictionary, TRACE_TABLE_FRAMES) };
        s->weights = calloc((size_t)s->n_frames + 1, sizeof(*s->weights));
        s->spins = calloc((size_t)s->n_frames + 1, sizeof(*s->spins));
        return s->weights && s->spins ? 0 : -ENOMEM;
}

void path_spins_deinit(struct path_spins *s)
{
        free(s->weights);
        free(s->spins);
        *s = (struct path_spins){ .weights = NULL };
}

static uint32_t innermost(const struct path_spins *s, uint32_t stack)
{
        const struct trace_stack *row = trace_dictionary_row(s->trace->dictionary, TRACE_TABLE_STACKS, stack);

        return row->frame <= s->n_frames ? row->frame : 0;
}

void path_spins_add(struct path_spins *s, uint32_t stack, double weight)
{
        s->weight += weight;
        if (stack != 0)
                s->weights[innermost(s, stack)] += weight;
}

bool path_spins_has(const struct path_spins *s, uint32_t stack)
{
        return stack != 0 && s->spins[innermost(s, stack)] != 0;
}

/* ------------------------------------------------------------------ what is looked at */

static bool has_image(const struct trace_module *module)
{
        return module->kind == TRACE_MODULE_FILE || module->kind == TRACE_MODULE_VDSO ||
               module->kind == TRACE_MODULE_IMAGE;
}

static int compare_places(const void *a, const void *b)
{
        const struct place *left = a, *right = b;

        if (left->module != right->module)
                return left->module < right->module ? -1 : 1;
        return left->offset < right->offset ? -1 : left->offset > right->offset;
}

static void choose_places(struct search *s)
{
        const struct trace_dictionary *d = s->trace->dictionary;

        for (uint32_t id = 1; id <= s->spins->n_frames && s->n_places < PLACES_MAX; id++) {
                const struct trace_frame *frame;
                double weight = s->spins->weights[id];

                if (weight <= 0 || weight < PATH_SPINS_PLACE_MIN * s->spins->weight)
                        continue;
                frame = trace_dictionary_row(d, TRACE_TABLE_FRAMES, id);
                if (frame->module == 0 ||
                    !has_image(trace_dictionary_row(d, TRACE_TABLE_MODULES, frame->module)))
                        continue;
                s->places[s->n_places++] = (struct place){
                        .offset = frame->offset, .module = frame->module, .frame = id, .weight = weight
                };
        }
        qsort(s->places, s->n_places, sizeof(*s->places), compare_places);
}

/* How many of the places, from the number @first on, are of its module; and their weight. */
static size_t count_places(const struct search *s, size_t first, double *ret_weight)
{
        size_t n = 0;

        *ret_weight = 0;
        for (; first + n < s->n_places && s->places[first + n].module == s->places[first].module; n++)
                *ret_weight += s->places[first + n].weight;
        return n;
}

/* ------------------------------------------------------------------ code that the trace keeps */

static bool is_attachment(const struct trace_chunk_header *header)
{
        return header->kind == TRACE_CHUNK_ATTACHMENT;
}

/* A part that is damaged is as if the trace did not have it. */
static int read_attachment(struct search *s, uint32_t attachment)
{
        struct attachment_chunk part;
        struct trace_item item;
        int r = trace_reader_rewind(s->trace->reader, NULL);

        while (r == 0 && trace_reader_next_wanted(s->trace->reader, is_attachment, &item, NULL) == 1)
                if (attachment_chunk_decode(s->trace->dictionary, item.body, item.body_bytes, &part, NULL) ==
                            0 &&
                    part.attachment == attachment)
                        r = image_spool_add_part(&s->spool, s->trace->dictionary, &part, NULL);
        return r == -ENOMEM ? r : 0;
}

static int read_kept_code(struct search *s, uint32_t module)
{
        const struct trace_dictionary *d = s->trace->dictionary;
        const struct trace_attachment *attachment = NULL;
        const struct trace_module_image *row;
        struct module_images images;

        if (module_images_init(&images, d, NULL) < 0)
                return -ENOMEM;
        row = module_images_find(&images, d, module);
        module_images_deinit(&images);
        if (row && row->attachment != 0)
                attachment = trace_dictionary_row(d, TRACE_TABLE_ATTACHMENTS, row->attachment);
        return attachment && attachment->size_bytes <= KEPT_BYTES_MAX ? read_attachment(s, row->attachment)
                                                                      : 0;
}

/* ------------------------------------------------------------------ loops */

static const struct place *find_place(const struct place *places, size_t n, uint64_t offset)
{
        const struct place key = { .offset = offset, .module = places->module };

        return bsearch(&key, places, n, sizeof(*places), compare_places);
}

/* Whether the loop with a pause is a good part of the path, and reaches the pause. */
static bool is_hot(const struct search *s, const struct place *places, size_t n,
                   const struct code_listing *found, uint64_t pause_svma)
{
        double all = 0, at_pause = 0;

        for (size_t i = 0; i < found->n_parts; i++) {
                const struct listing_part *part = &found->parts[i];
                const struct place *place = find_place(places, n, part->file_off);

                if (!place || part->svma != pause_svma)
                        continue;
                all += place->weight;
                at_pause += (part->flags & PAUSE_LOOPS_AT_PAUSE) != 0 ? place->weight : 0;
        }
        return all >= PATH_SPINS_SHARE_MIN * s->spins->weight && at_pause >= PATH_SPINS_PAUSE_MIN * all;
}

static int find_loops(struct search *s, const struct place *places, size_t n)
{
        const struct module_listing code = { .dictionary = s->trace->dictionary,
                                             .spool = &s->spool,
                                             .module = places->module };
        uint64_t offsets[PLACES_MAX];
        const struct listing_request request = { .offsets = offsets, .n_offsets = n };
        struct code_listing found;
        bool is_kept;
        int r;

        for (size_t i = 0; i < n; i++)
                offsets[i] = places[i].offset;
        code_listing_init(&found);
        image_spool_init(&s->spool);
        r = read_kept_code(s, places->module);
        if (r == 0)
                r = module_listing_run(&code, &request, pause_loops_list, &found, &is_kept, NULL);
        for (size_t i = 0; i < found.n_parts && r == 0; i++) {
                const struct place *place = find_place(places, n, found.parts[i].file_off);

                if (!place || !is_hot(s, places, n, &found, found.parts[i].svma))
                        continue;
                s->spins->spins[place->frame] = 1;
                s->found = true;
        }
        image_spool_deinit(&s->spool);
        code_listing_deinit(&found);
        return r == -ENOMEM ? r : 0;
}

static int search(struct search *s)
{
        int n_modules = 0, r = 0;
        size_t n;

        choose_places(s);
        for (size_t i = 0; i < s->n_places && n_modules < PATH_SPINS_MODULES_MAX && r == 0; i += n) {
                double weight;

                n = count_places(s, i, &weight);
                if (weight < PATH_SPINS_SHARE_MIN * s->spins->weight)
                        continue;
                n_modules++;
                r = find_loops(s, &s->places[i], n);
        }
        return r;
}

int path_spins_find(struct path_spins *s, struct loaded_trace *trace)
{
        struct search *found = calloc(1, sizeof(*found));
        int r;

        if (!found)
                return -ENOMEM;
        found->spins = s;
        found->trace = trace;
        r = search(found);
        r = r == 0 ? found->found : r;
        free(found);
        return r;
}
