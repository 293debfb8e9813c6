/* SPDX-License-Identifier: MIT */
/*
 * web/model/view_search.h - all that has a text in its name: how much that is, and one hit after the other
 *
 * Way of the data:  view_model (names), timeline_index (texts) -> [view_search] -> http_server
 *
 * A name has the text if it holds the text's bytes, whatever the case of A to Z; one with a '.' or a '/' is
 * looked for in the files of zones and the modules of functions as well; "12" and "frame 12" are the 12th
 * frame.  The pages have the same rule for files without a server: web/pages/name_matches.js.
 *
 * The names with the last text are kept until there is another text.  Memory: a bit and a number for each
 * name.
 */
#ifndef WEB_MODEL_VIEW_SEARCH_H
#define WEB_MODEL_VIEW_SEARCH_H

#include "base/byte_buffer.h"

#include <stdbool.h>
#include <stdint.h>

struct error;
struct view_content;
struct web_request;

#define VIEW_SEARCH_NAMES_MAX 100 /* in a reply */

enum search_kind { SEARCH_ZONES, SEARCH_GHOSTS, SEARCH_MESSAGES, SEARCH_FRAMES, SEARCH_TEXTS, SEARCH_KINDS };

/* Which names of a kind have the text. */
struct search_names {
        uint64_t *bits, *counts; /* heap; by number less `first` */
        uint32_t first, n;
        uint64_t ref_bits;
};

struct view_search {
        struct byte_buffer text; /* with a NUL */
        struct search_names names[SEARCH_KINDS];
};

void view_search_deinit(struct view_search *s);

/*
 * view_search_put() - the reply to a search
 *      {"found": {"lane", "begin_ns", "end_ns", "what", "rank"} or null}, and if the request wants counts,
 *      "n_hits" in all, "n_before" of them that begin before the found one, or before "at", and "names":
 *      [{"kind", "what", "count"}], the most frequent first, of "n_names"; "is_least" if there are lanes or
 *      texts of zones that the index has no room for
 * Returns 0, -EINVAL (no index yet), -ENOMEM, -EBADMSG, -errno.
 */
int view_search_put(struct view_content *c, const struct web_request *request, struct byte_buffer *out,
                    struct error *err);

#endif /* WEB_MODEL_VIEW_SEARCH_H */
