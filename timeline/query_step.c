/* SPDX-License-Identifier: MIT */
#include "timeline/query_step.h"

#include "base/error.h"
#include "timeline/timeline_index.h"
#include "timeline/timeline_lane.h"

#include <errno.h>

static int query_damaged(struct error *err)
{
        return error_set(err, -EBADMSG, "the index of the time line is damaged");
}

int query_step_open(struct query_step *step, struct timeline_index *t, const struct timeline_lane *lane,
                    const struct timeline_ref *ref, struct error *err)
{
        const uint8_t *page = NULL;
        size_t n = TIMELINE_NODE_HEAD_BYTES, n_summaries = 0;
        int r = timeline_pages_read(&t->pages, ref, &page, err);

        if (r < 0)
                return r;
        if (ref->n_bytes < n || page[0] > TIMELINE_FANOUT ||
            ref->n_bytes < n + (size_t)page[0] * TIMELINE_REF_BYTES)
                return query_damaged(err);
        step->refs = step->own;
        step->n_refs = page[0];
        step->i = 0;
        for (uint32_t i = 0; i < step->n_refs; i++, n += TIMELINE_REF_BYTES) {
                if (timeline_ref_get(page + n, &step->own[i]) < 0 || step->own[i].level + 1U != ref->level)
                        return query_damaged(err);
                n_summaries += step->own[i].n_summary;
        }
        if (ref->n_bytes != n + n_summaries * timeline_item_folded_bytes(lane->has_values))
                return query_damaged(err);
        step->summaries = page + n;
        return 0;
}
