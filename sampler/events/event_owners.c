/* SPDX-License-Identifier: MIT */
#include "sampler/events/event_owners.h"

#include "base/array.h"

#include <stdlib.h>

void event_owners_init(struct event_owners *o)
{
        *o = (struct event_owners){ .owners = NULL };
        intern_init(&o->tids, sizeof(uint32_t), 0);
}

void event_owners_deinit(struct event_owners *o)
{
        intern_deinit(&o->tids);
        free(o->owners);
        o->owners = NULL;
        o->capacity = 0;
}

int event_owners_add(struct event_owners *o, uint32_t tid, uint32_t owner)
{
        uint32_t id = 0;
        int r = array_reserve(&o->owners, &o->capacity, (size_t)o->tids.n_items + 1, sizeof(*o->owners));

        if (r == 0)
                r = intern_add(&o->tids, &tid, sizeof(tid), &id);
        if (r < 0)
                return r;
        o->owners[id - 1] = owner;
        return 0;
}

uint32_t event_owners_find(const struct event_owners *o, uint32_t tid)
{
        uint32_t id = intern_find(&o->tids, &tid, sizeof(tid));

        return id ? o->owners[id - 1] : 0;
}
