/* SPDX-License-Identifier: MIT */
#include "analyze/walk/missing_images.h"

#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* By module: the state of its latest row; 0 = it has none, or one that is not known. */
static void fill_states(const struct trace_dictionary *d, struct missing_image *images)
{
        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_MODULE_IMAGES); i++) {
                const struct trace_module_image *row = trace_dictionary_row(d, TRACE_TABLE_MODULE_IMAGES, i);
                bool is_missing = row->attachment == 0 && row->state < TRACE_IMAGE_STATE_COUNT;

                images[row->module].module = row->module;
                images[row->module].state = is_missing ? (enum trace_image_state)row->state : 0;
        }
}

static void missing_images_add_samples(const struct trace_dictionary *d, const struct sample_stats *stats,
                                       uint32_t event, struct missing_image *images)
{
        for (uint32_t i = 0; i < sample_stats_count(stats); i++) {
                const struct sample_key *key = sample_stats_key(stats, i);
                const struct trace_stack *stack;
                const struct trace_frame *frame;

                if (key->event != event || key->stack == 0)
                        continue;
                stack = trace_dictionary_row(d, TRACE_TABLE_STACKS, key->stack);
                frame = trace_dictionary_row(d, TRACE_TABLE_FRAMES, stack->frame);
                sample_sum_add(&images[frame->module].sum, &stats->sums[i]);
        }
}

int missing_images_find(const struct trace_dictionary *dictionary, const struct sample_stats *stats,
                        uint32_t event, struct missing_image **ret_images, size_t *ret_n_images)
{
        size_t n_modules = trace_dictionary_count(dictionary, TRACE_TABLE_MODULES), n = 0;
        struct missing_image *images = calloc(n_modules + 1, sizeof(*images)); /* 0 is no module */

        if (!images)
                return -ENOMEM;
        fill_states(dictionary, images);
        missing_images_add_samples(dictionary, stats, event, images);
        for (size_t i = 1; i <= n_modules; i++)
                if (images[i].state != 0 && images[i].state != TRACE_IMAGE_KEPT &&
                    images[i].sum.n_samples > 0)
                        images[n++] = images[i];
        *ret_images = images;
        *ret_n_images = n;
        return 0;
}
