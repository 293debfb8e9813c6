/* SPDX-License-Identifier: MIT */
/*
 * analyze/walk/missing_images.h - modules with samples whose code should be in the trace, and is not
 *
 * Way of the data:  trace_dictionary (MODULE_IMAGES), sample_stats -> [missing_images] -> report_gaps
 */
#ifndef ANALYZE_WALK_MISSING_IMAGES_H
#define ANALYZE_WALK_MISSING_IMAGES_H

#include "analyze/trace/sample_stats.h"
#include "format/trace_spec.h"

#include <stddef.h>
#include <stdint.h>

struct trace_dictionary;

struct missing_image {
        uint32_t module;              /* id in MODULES */
        enum trace_image_state state; /* why */
        struct sample_sum sum;        /* samples in the module itself, not below it */
};

/*
 * missing_images_find() - those of @event with samples
 * @ret_images:  heap, the caller's; by module
 * Returns 0 or -ENOMEM.
 */
int missing_images_find(const struct trace_dictionary *dictionary, const struct sample_stats *stats,
                        uint32_t event, struct missing_image **ret_images, size_t *ret_n_images);

#endif /* ANALYZE_WALK_MISSING_IMAGES_H */
