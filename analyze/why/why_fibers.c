/* SPDX-License-Identifier: MIT */
#include "analyze/why/why_collector.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_walk.h"
#include "analyze/why/why_instances.h"
#include "base/array.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* A sample that fell into an instance. */
struct placed_sample {
        size_t item;
        uint64_t amount;
        uint32_t kind, id;
};

struct placing {
        struct why_instances *instances;
        const struct trace_dictionary *dictionary;
        uint32_t event;
        const struct why_instance **order; /* heap; of fibers, by thread and begin */
        size_t n_order;
        uint32_t *fibers;              /* heap; by thread id - 1: the fiber that it runs; 0 = none */
        struct placed_sample *samples; /* heap */
        size_t n_samples, capacity;
};

static int no_memory(struct error *err)
{
        return error_set(err, -ENOMEM, "looking for what ran in fibers: out of memory");
}

static bool is_fiber(const struct trace_dictionary *d, uint32_t thread)
{
        const struct trace_thread *row = trace_dictionary_row(d, TRACE_TABLE_THREADS, thread);

        return row->kind == TRACE_THREAD_FIBER;
}

static int compare_instances(const void *a, const void *b)
{
        const struct why_instance *x = *(const struct why_instance *const *)a;
        const struct why_instance *y = *(const struct why_instance *const *)b;

        if (x->thread != y->thread)
                return x->thread < y->thread ? -1 : 1;
        return (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

static int compare_samples(const void *a, const void *b)
{
        const struct placed_sample *x = a, *y = b;

        return (x->item > y->item) - (x->item < y->item);
}

/* The instance of the fiber at that time; instances of one thread do not overlap. */
static const struct why_instance *find_instance(const struct placing *p, uint32_t fiber, uint64_t time_ns)
{
        size_t begin = 0, end = p->n_order;
        const struct why_instance *found;

        while (begin < end) {
                size_t middle = begin + (end - begin) / 2;
                const struct why_instance *i = p->order[middle];

                if (i->thread < fiber || (i->thread == fiber && i->begin_ns <= time_ns))
                        begin = middle + 1;
                else
                        end = middle;
        }
        if (begin == 0)
                return NULL;
        found = p->order[begin - 1];
        return found->thread == fiber && time_ns - found->begin_ns <= found->duration_ns ? found : NULL;
}

static int take_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                       struct error *err)
{
        struct placing *p = context;
        uint32_t fiber = p->fibers[thread->id - 1], id = (uint32_t)event->sample.event;
        const struct why_instance *instance = fiber != 0 ? find_instance(p, fiber, event->time_ns) : NULL;
        const struct trace_sample_event *row;
        struct placed_sample sample = { .kind = WHY_COUNTER, .id = id, .amount = event->sample.weight };

        if (!instance)
                return 0;
        if (p->n_samples == WHY_FIBERS_SAMPLES_MAX) {
                p->instances->n_rows_left_out++;
                return 0;
        }
        row = trace_dictionary_row(p->dictionary, TRACE_TABLE_SAMPLE_EVENTS, id);
        if (sample.amount == 0 && row->mode != TRACE_SAMPLE_MODE_WITH_LEADER)
                sample.amount = 1;
        if (id == p->event) {
                sample.kind = WHY_SAMPLE;
                sample.id = (uint32_t)event->sample.stack;
        }
        sample.item = (size_t)(instance - p->instances->items);
        if (array_reserve(&p->samples, &p->capacity, p->n_samples + 1, sizeof(*p->samples)) < 0)
                return no_memory(err);
        p->samples[p->n_samples++] = sample;
        return 0;
}

static int take_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        struct placing *p = context;

        (void)err;
        if (event->op == TRACE_OP_FIBER_ENTER)
                p->fibers[thread->id - 1] = (uint32_t)event->fiber_enter.fiber;
        else if (event->op == TRACE_OP_FIBER_LEAVE)
                p->fibers[thread->id - 1] = 0;
        return 0;
}

static int prepare(struct placing *p)
{
        const struct why_instances *s = p->instances;

        p->fibers = calloc((size_t)trace_dictionary_count(p->dictionary, TRACE_TABLE_THREADS) + 1,
                           sizeof(*p->fibers));
        p->order = calloc(s->n_items + 1, sizeof(void *));
        if (!p->fibers || !p->order)
                return -ENOMEM;
        for (size_t i = 0; i < s->n_items; i++)
                if (is_fiber(p->dictionary, s->items[i].thread))
                        p->order[p->n_order++] = &s->items[i];
        if (p->n_order > 1)
                qsort((void *)p->order, p->n_order, sizeof(void *), compare_instances);
        return 0;
}

static int put_samples(struct placing *p)
{
        struct why_draft draft = { .n_rows = 0 };
        int r = 0;

        if (p->n_samples > 1)
                qsort(p->samples, p->n_samples, sizeof(*p->samples), compare_samples);
        for (size_t i = 0, end; i < p->n_samples && r == 0; i = end) {
                struct why_instance *item = &p->instances->items[p->samples[i].item];

                for (end = i; end < p->n_samples && p->samples[end].item == p->samples[i].item && r == 0;
                     end++) {
                        const struct placed_sample *sample = &p->samples[end];

                        r = why_draft_add(&draft, (enum why_kind)sample->kind, sample->id, sample->amount);
                        if (sample->kind != WHY_SAMPLE)
                                continue;
                        item->n_samples++;
                        item->weight += sample->amount;
                }
                if (r == 0)
                        r = why_instances_extend(p->instances, item, &draft);
        }
        why_draft_deinit(&draft);
        return r;
}

int why_fibers_take(struct why_instances *instances, struct loaded_trace *trace,
                    const struct trace_filter *filter, uint32_t event, struct error *err)
{
        struct placing p = { .instances = instances, .dictionary = trace->dictionary, .event = event };
        const struct trace_sink sink = { .context = &p, .sample = take_sample, .event = take_event };
        struct trace_walk walk = { .threads = NULL };
        int r = prepare(&p);

        if (r < 0)
                (void)no_memory(err);
        if (r < 0 || p.n_order == 0)
                goto done;
        r = trace_walk_init(&walk, trace, filter, &sink);
        r = r == 0 ? loaded_trace_walk(trace, &walk, err) : no_memory(err);
        if (r == 0 && put_samples(&p) < 0)
                r = no_memory(err);
        trace_walk_deinit(&walk);
done:
        free((void *)p.order);
        free(p.fibers);
        free(p.samples);
        return r;
}
