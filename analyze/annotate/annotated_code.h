/* SPDX-License-Identifier: MIT */
/*
 * analyze/annotate/annotated_code.h - finds the code of a function that was sampled, in the
 * trace or outside of it
 *
 * Way of the data:  trace_dictionary, image_spool, region_symbols -> [annotated_code] ->
 *                   listing_process -> annotation
 */
#ifndef ANALYZE_ANNOTATE_ANNOTATED_CODE_H
#define ANALYZE_ANNOTATE_ANNOTATED_CODE_H

#include <stddef.h>
#include <stdint.h>

struct annotation;
struct annotation_options;

/*
 * annotated_code_list() - fill the listing of an annotation
 * @offsets:  sampled places of the function, ascending, each once
 * Without code `has_code` stays false and `no_code` says why.  Returns 0 or -ENOMEM.
 */
int annotated_code_list(struct annotation *a, const struct annotation_options *options,
                        const uint64_t *offsets, size_t n_offsets);

#endif /* ANALYZE_ANNOTATE_ANNOTATED_CODE_H */
