/* SPDX-License-Identifier: MIT */
#include "sampler/images/image_changes.h"

#include "base/array.h"
#include "sampler/images/memory_image.h"

#include <errno.h>
#include <stdlib.h>

void image_changes_deinit(struct image_changes *c)
{
        free(c->changes);
        *c = (struct image_changes){ .changes = NULL };
}

int image_changes_add(struct image_changes *c, const struct image_change *change)
{
        size_t at;

        if (c->first > 0 && c->first == c->n_changes) {
                c->first = 0;
                c->n_changes = 0;
        }
        if (c->n_changes - c->first == IMAGE_CHANGES_MAX)
                return 0;
        if (array_reserve(&c->changes, &c->capacity, c->n_changes + 1, sizeof(*c->changes)) < 0)
                return -ENOMEM;
        for (at = c->n_changes; at > c->first && c->changes[at - 1].time_ns > change->time_ns; at--)
                c->changes[at] = c->changes[at - 1];
        c->changes[at] = *change;
        c->n_changes++;
        return 0;
}

int image_changes_add_gone(struct image_changes *c, const struct memory_image *image, uint64_t time_ns)
{
        struct image_change change = { .time_ns = time_ns, .pid = image->memory.pid, .is_gone = true };
        int r = 0;

        for (size_t i = 0; i < image->n_parts && r == 0; i++) {
                change.range.start_avma = image->parts[i].start_avma;
                change.range.end_avma = image->parts[i].end_avma;
                r = image_changes_add(c, &change);
        }
        return r;
}

bool image_changes_next(struct image_changes *c, uint64_t until_ns, struct image_change *ret_change)
{
        if (c->first == c->n_changes || c->changes[c->first].time_ns > until_ns)
                return false;
        *ret_change = c->changes[c->first++];
        return true;
}
