/* SPDX-License-Identifier: MIT */
/*
 * web/html_lanes.h - the lanes of an index as columns that a page keeps, whole or with what is short merged
 *
 * Way of the data:  timeline_query -> [html_lanes] -> packed_text -> html_file
 *
 * docs/use/viewers.md has the format, "HYLN".
 */
#ifndef WEB_HTML_LANES_H
#define WEB_HTML_LANES_H

#include <stddef.h>
#include <stdint.h>

struct byte_buffer;
struct error;
struct timeline_index;

#define HTML_LANES_MAGIC   UINT32_C(0x4e4c5948) /* "HYLN" */
#define HTML_LANES_VERSION 1

/*
 * html_lanes_put() - all lanes
 * @merged_log2:  items shorter than 2^this ns are merged by the rule of a view; 0 = none
 * @n_items_max:  of all lanes together
 * Returns 0; -E2BIG if there are more items; -ENOMEM, -EBADMSG, -errno.
 */
int html_lanes_put(struct timeline_index *index, unsigned merged_log2, size_t n_items_max,
                   struct byte_buffer *out, struct error *err);

#endif /* WEB_HTML_LANES_H */
