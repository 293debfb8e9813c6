/* SPDX-License-Identifier: MIT */
/* why_spans_collect(): what each instance on a device waited for */
#include "analyze/why/why_spans.h"

#include "analyze/devices/device_works.h"
#include "analyze/devices/host_times.h"
#include "analyze/trace/zone_words.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_walk.h"
#include "analyze/why/why_collector.h"
#include "base/array.h"
#include "base/error.h"
#include "base/order.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>

/* A time in which one zone of a lane lasted, and the innermost one at that. */
struct piece {
        uint64_t from_ns, to_ns;
        size_t work; /* index */
};

/* A part of the time in which the lane of an instance was idle, in one zone of the thread. */
struct host_part {
        uint32_t instance, location;
        uint64_t ns;
};

struct collecting {
        const struct why_spans *spans;
        struct why_collector *collector;
        struct why_draft draft;
        struct zone_words words;
        struct piece *pieces; /* heap; of one lane, in the order of time */
        size_t n_pieces, pieces_capacity;
        size_t *stack; /* heap; zones that are open at the moment */
        size_t n_stack, stack_capacity;
        struct host_times idles;
        uint64_t *idle_ns; /* heap; by instance: the part that no zone of a thread explains */
        size_t idle_ns_capacity;
        struct host_part *parts; /* heap */
        size_t n_parts, parts_capacity;
};

static int no_memory(struct error *err)
{
        return error_set(err, -ENOMEM, "comparing the zones of devices: out of memory");
}

/* ------------------------------------------------------------------ a lane: what lasted when */

static int add_piece(struct collecting *c, size_t work, uint64_t from_ns, uint64_t to_ns)
{
        if (from_ns >= to_ns)
                return 0;
        if (array_reserve(&c->pieces, &c->pieces_capacity, c->n_pieces + 1, sizeof(*c->pieces)) < 0)
                return -ENOMEM;
        c->pieces[c->n_pieces++] = (struct piece){ .from_ns = from_ns, .to_ns = to_ns, .work = work };
        return 0;
}

/* Ends the zones that end before @time_ns; returns from when on nothing is said yet, or -ENOMEM. */
static int end_until(struct collecting *c, uint64_t time_ns, uint64_t *said_ns)
{
        while (c->n_stack != 0) {
                size_t top = c->stack[c->n_stack - 1];
                uint64_t end_ns = c->spans->works.works[top].end_ns;

                if (add_piece(c, top, *said_ns, end_ns < time_ns ? end_ns : time_ns) < 0)
                        return -ENOMEM;
                if (end_ns > time_ns)
                        break;
                if (end_ns > *said_ns)
                        *said_ns = end_ns;
                c->n_stack--;
        }
        if (time_ns > *said_ns)
                *said_ns = time_ns;
        return 0;
}

static int divide_lane(struct collecting *c, size_t from, size_t to)
{
        uint64_t said_ns = 0;

        c->n_pieces = 0;
        c->n_stack = 0;
        for (size_t i = from; i < to; i++) {
                if (end_until(c, c->spans->works.works[i].begin_ns, &said_ns) < 0 ||
                    array_reserve(&c->stack, &c->stack_capacity, c->n_stack + 1, sizeof(*c->stack)) < 0)
                        return -ENOMEM;
                c->stack[c->n_stack++] = i;
        }
        return end_until(c, UINT64_MAX, &said_ns);
}

/* How many pieces begin before @time_ns. */
static size_t count_pieces(const struct collecting *c, uint64_t time_ns)
{
        size_t low = 0, high = c->n_pieces;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (c->pieces[middle].from_ns < time_ns)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* ------------------------------------------------------------------ an instance */

/* After the end of the zone of the thread, an idle lane is not the host's. */
static int add_idle(struct collecting *c, const struct device_work *work, uint64_t from_ns, uint64_t to_ns)
{
        uint32_t instance = (uint32_t)c->collector->instances.n_items;

        if (from_ns >= to_ns)
                return 0;
        c->idle_ns[instance] += to_ns - from_ns;
        if (!why_spans_has_host(work) || c->idles.n_items == WHY_SPANS_IDLE_MAX)
                return 0;
        return host_times_add(&c->idles,
                              &(struct host_time){
                                      .begin_ns = from_ns,
                                      .end_ns = to_ns < work->host_end_ns ? to_ns : work->host_end_ns,
                                      .thread = work->thread,
                                      .owner = instance,
                              });
}

/* From its begin back: earlier work, and between that the idle times of the lane. */
static int add_wait(struct collecting *c, const struct device_work *work)
{
        uint64_t since_ns = why_spans_from_ns(work), until_ns = work->begin_ns;
        size_t k = count_pieces(c, work->begin_ns);

        for (size_t n = 0; k > 0 && c->pieces[k - 1].to_ns > since_ns; k--, n++) {
                const struct piece *p = &c->pieces[k - 1];
                const struct device_work *earlier = &c->spans->works.works[p->work];
                uint64_t from_ns = p->from_ns > since_ns ? p->from_ns : since_ns;

                if (n == WHY_SPANS_BEHIND_MAX) /* the rest is unexplained */
                        return 0;
                if (earlier->end_ns > work->begin_ns)
                        continue;
                if (why_draft_add(&c->draft, WHY_BEHIND, earlier->location, p->to_ns - from_ns) < 0 ||
                    add_idle(c, work, p->to_ns, until_ns) < 0)
                        return -ENOMEM;
                until_ns = from_ns;
        }
        return add_idle(c, work, since_ns, until_ns);
}

static int add_common(struct collecting *c, const struct device_work *work, bool is_slow)
{
        struct why_common_instance instance = {
                .begin_ns = work->begin_ns,
                .thread = work->thread,
                .process = trace_dictionary_process_of(c->spans->dictionary, work->thread),
                .device = work->device,
                .lane = work->lane,
                .cpu = WHY_COMMON_NO_CPU,
        };
        struct text_view text = trace_dictionary_text(c->spans->dictionary, work->text);

        zone_words_clear(&c->words);
        if (work->text != 0 && text.n_bytes != 0) {
                byte_buffer_add(&c->words.text, text.bytes, text.n_bytes);
                instance.words = &c->words;
        }
        if (c->words.text.failed)
                return -ENOMEM;
        return why_common_add(&c->collector->common, is_slow ? WHY_SLOW : WHY_TYPICAL, &instance);
}

static int add_instance(struct collecting *c, size_t i)
{
        struct why_collector *to = c->collector;
        const struct device_work *work = &c->spans->works.works[i];
        struct why_spent spent = { .wall_ns = work->end_ns - why_spans_from_ns(work) };
        struct why_instance instance = { .begin_ns = why_spans_from_ns(work),
                                         .wall_ns = spent.wall_ns,
                                         .duration_ns = spent.wall_ns,
                                         .thread = work->thread,
                                         .span = (uint32_t)i + 1 };
        size_t n_idles = c->idles.n_items, n_items = to->instances.n_items;

        instance.is_slow = why_rank_is_slow(&to->bounds.rank, &spent, (double)spent.wall_ns);
        if (instance.is_slow)
                to->n_slow++;
        else
                to->n_typical++;
        if (add_common(c, work, instance.is_slow) < 0)
                return -ENOMEM;
        if (trace_walk_chance(work->thread, work->begin_ns) >=
            (instance.is_slow ? to->bounds.keep_slow : to->bounds.keep_typical))
                return 0;
        if (array_extend(&c->idle_ns, &c->idle_ns_capacity, n_items, n_items + 1, sizeof(*c->idle_ns)) < 0)
                return -ENOMEM;
        why_draft_clear(&c->draft);
        if (why_draft_add(&c->draft, WHY_ON_DEVICE, 0, work->end_ns - work->begin_ns) < 0 ||
            add_wait(c, work) < 0 || why_instances_add(&to->instances, &instance, &c->draft) < 0)
                return -ENOMEM;
        if (to->instances.n_items == n_items) /* no room */
                c->idles.n_items = n_idles;
        return 0;
}

/* The works @from to @to, of which the next instances may be some; moves @first beyond these. */
static int add_lane(struct collecting *c, size_t from, size_t to, size_t *first)
{
        const struct why_spans *s = c->spans;
        int r = 0;

        if (*first == s->n_instances || s->instances[*first] >= to)
                return 0;
        r = divide_lane(c, from, to);
        for (; *first < s->n_instances && s->instances[*first] < to && r == 0; ++*first)
                r = add_instance(c, s->instances[*first]);
        return r;
}

static int add_lanes(struct collecting *c)
{
        const struct device_works *w = &c->spans->works;
        size_t from = 0, first = 0;
        int r = 0;

        for (size_t i = 1; i <= w->n_works && r == 0; i++) {
                if (i < w->n_works && w->works[i].device == w->works[from].device &&
                    w->works[i].lane == w->works[from].lane)
                        continue;
                r = add_lane(c, from, i, &first);
                from = i;
        }
        return r;
}

/* ------------------------------------------------------------------ what the thread did meanwhile */

static int take_part(void *context, uint32_t instance, uint32_t location, uint64_t ns)
{
        struct collecting *c = context;

        if (location == 0)
                return 0;
        if (array_reserve(&c->parts, &c->parts_capacity, c->n_parts + 1, sizeof(*c->parts)) < 0)
                return -ENOMEM;
        c->parts[c->n_parts++] = (struct host_part){ .instance = instance, .location = location, .ns = ns };
        return 0;
}

/* ------------------------------------------------------------------ all together */

static int compare_parts(const void *left, const void *right)
{
        const struct host_part *a = left, *b = right;
        int r = order_numbers(a->instance, b->instance);

        return r != 0 ? r : order_numbers(a->location, b->location);
}

/* Adds what was found of the idle times to the instances. */
static int add_hosts(struct collecting *c)
{
        struct why_instances *instances = &c->collector->instances;
        size_t k = 0;
        int r = 0;

        if (c->n_parts != 0)
                qsort(c->parts, c->n_parts, sizeof(*c->parts), compare_parts);
        for (size_t i = 0; c->idle_ns && i < instances->n_items && r == 0; i++) {
                uint64_t left_ns = c->idle_ns[i];

                why_draft_clear(&c->draft);
                for (; k < c->n_parts && c->parts[k].instance == i && r == 0; k++) {
                        r = why_draft_add(&c->draft, WHY_HOST_LATE, c->parts[k].location, c->parts[k].ns);
                        left_ns -= c->parts[k].ns < left_ns ? c->parts[k].ns : left_ns;
                }
                if (r == 0 && left_ns != 0)
                        r = why_draft_add(&c->draft, WHY_HANDED_OVER, 0, left_ns);
                if (r == 0 && c->draft.n_rows != 0)
                        r = why_instances_extend(instances, &instances->items[i], &c->draft);
        }
        return r;
}

static void collecting_deinit(struct collecting *c)
{
        why_draft_deinit(&c->draft);
        zone_words_deinit(&c->words);
        free(c->pieces);
        free(c->stack);
        host_times_deinit(&c->idles);
        free(c->idle_ns);
        free(c->parts);
}

int why_spans_collect(const struct why_spans *s, struct loaded_trace *trace, struct why_collector *collector,
                      struct error *err)
{
        struct collecting c = { .spans = s, .collector = collector };
        int r;

        collector->dictionary = trace->dictionary;
        why_common_init(&collector->common, trace->start_ns, trace->end_ns);
        r = add_lanes(&c) < 0 ? no_memory(err) : host_times_take(&c.idles, trace, take_part, &c, err);
        if (r == 0 && add_hosts(&c) < 0)
                r = no_memory(err);
        collecting_deinit(&c);
        return r;
}
