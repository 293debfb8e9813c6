/* SPDX-License-Identifier: MIT */
#include "export/shared/lock_waits.h"

#include "format/trace_dictionary.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdlib.h>

int lock_waits_init(struct lock_waits *w, const struct trace_dictionary *dictionary)
{
        *w = (struct lock_waits){
                .dictionary = dictionary,
                .open = calloc((size_t)trace_dictionary_count(dictionary, TRACE_TABLE_THREADS) + 1,
                               sizeof(*w->open)),
                .names = calloc((size_t)trace_dictionary_count(dictionary, TRACE_TABLE_LOCKS) + 1,
                                sizeof(*w->names)),
        };
        return w->open && w->names ? 0 : -ENOMEM;
}

void lock_waits_deinit(struct lock_waits *w)
{
        free(w->open);
        free(w->names);
        *w = (struct lock_waits){ .open = NULL };
}

bool lock_waits_take(struct lock_waits *w, uint32_t thread, const struct trace_event *event,
                     uint64_t *ret_begin_ns)
{
        struct open_lock_wait *wait = &w->open[thread - 1];

        switch (event->op) {
        case TRACE_OP_LOCK_NAME:
                w->names[event->lock_name.lock - 1] = (uint32_t)event->lock_name.name;
                return false;
        case TRACE_OP_LOCK_WAIT:
                *wait = (struct open_lock_wait){ event->time_ns, (uint32_t)event->lock_wait.lock };
                return false;
        case TRACE_OP_LOCK_OBTAIN:
                if (wait->lock != event->lock_obtain.lock)
                        return false;
                wait->lock = 0;
                *ret_begin_ns = wait->begin_ns;
                w->n_waits++;
                return true;
        default:
                return false;
        }
}

struct text_view lock_waits_name(const struct lock_waits *w, uint32_t lock)
{
        const struct trace_dictionary *d = w->dictionary;
        const struct trace_lock *row = trace_dictionary_row(d, TRACE_TABLE_LOCKS, lock);
        const struct trace_location *location = trace_dictionary_row(d, TRACE_TABLE_LOCATIONS, row->location);

        if (w->names[lock - 1] != 0)
                return trace_dictionary_text(d, w->names[lock - 1]);
        return trace_dictionary_text(d, location->name ? location->name : location->function);
}
