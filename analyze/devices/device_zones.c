/* SPDX-License-Identifier: MIT */
#include "analyze/devices/device_zones.h"

#include "analyze/walk/event_walk.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "base/array.h"
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>

#define QUERIES_MAX (UINT32_C(1) << 20) /* different ones: programs use theirs again */
#define QUEUES_MAX  (UINT32_C(1) << 16)

/* Compared as bytes. */
struct query_key {
        uint64_t query, device;
};

struct queue_key {
        uint32_t device, thread;
};

int device_zones_init(struct device_zones *z, const struct trace_dictionary *dictionary,
                      device_zones_take_zone *take, void *context)
{
        *z = (struct device_zones){ .take = take, .context = context };
        intern_init(&z->queues, sizeof(struct queue_key), QUEUES_MAX);
        intern_init(&z->queries, sizeof(struct query_key), QUERIES_MAX);
        return device_clocks_init(&z->clocks, dictionary);
}

void device_zones_deinit(struct device_zones *z)
{
        device_clocks_deinit(&z->clocks);
        intern_deinit(&z->queues);
        intern_deinit(&z->queries);
        free(z->open);
        free(z->innermost);
        free(z->waiting);
        z->open = NULL;
        z->innermost = NULL;
        z->waiting = NULL;
}

/* ------------------------------------------------------------------ places for open zones */

/* Returns its index + 1, 0 if there is no room, or -ENOMEM. */
static int64_t take_slot(struct device_zones *z)
{
        uint32_t slot = z->first_free;

        if (slot != 0) {
                z->first_free = z->open[slot - 1].next_free;
                return slot;
        }
        if (z->n_open_slots == DEVICE_ZONES_OPEN_MAX)
                return 0;
        if (array_reserve(&z->open, &z->open_capacity, z->n_open_slots + 1, sizeof(*z->open)) < 0)
                return -ENOMEM;
        return ++z->n_open_slots;
}

static void forget_query(struct device_zones *z, uint32_t query, uint32_t slot)
{
        if (query != 0 && z->waiting[query - 1].zone == slot)
                z->waiting[query - 1].zone = 0;
}

static void give_slot(struct device_zones *z, uint32_t slot)
{
        struct open_device_zone *open = &z->open[slot - 1];

        forget_query(z, open->begin_query, slot);
        forget_query(z, open->end_query, slot);
        *open = (struct open_device_zone){ .next_free = z->first_free };
        z->first_free = slot;
}

/* ------------------------------------------------------------------ when all of it is known */

/* @known_ns: when the program had the ticks, or CLOCK_FIT_NO_HINT. */
static int tell(struct device_zones *z, struct device_zone *zone, uint64_t begin_ticks, uint64_t end_ticks,
                uint64_t known_ns, struct error *err)
{
        const struct device_clock *clock = &z->clocks.clocks[zone->device - 1];

        if (end_ticks < begin_ticks) {
                z->n_backwards++;
                return 0;
        }
        zone->begin_ns = device_clock_time_ns(clock, begin_ticks, known_ns);
        if (__builtin_add_overflow(zone->begin_ns, device_clock_duration_ns(clock, end_ticks - begin_ticks),
                                   &zone->end_ns))
                zone->end_ns = UINT64_MAX;
        zone->last_ns = device_clock_time_ns(clock, end_ticks, known_ns);
        /* Where the clock wanders, they are further apart, and the end is what is shown. */
        if (zone->last_ns - zone->end_ns + 1 > 2)
                zone->last_ns = zone->end_ns;
        return z->take(z->context, zone, err);
}

/* Reports a complete zone and forgets it.  A lost zone is forgotten once it has ended. */
static int settle(struct device_zones *z, uint32_t slot, struct error *err)
{
        struct open_device_zone *open = &z->open[slot - 1];
        int r = 0;

        if (!open->has_end)
                return 0;
        if (!open->is_lost) {
                if (!open->has_begin_time || !open->has_end_time)
                        return 0;
                z->n_zones++;
                /* It was said before the work began: that is no hint. */
                r = tell(z, &open->zone, open->begin_ticks, open->end_ticks, CLOCK_FIT_NO_HINT, err);
        }
        give_slot(z, slot);
        return r;
}

/* ------------------------------------------------------------------ events */

/* From now on a time with this query belongs to the zone in @slot.  Returns 0, -ENOMEM, -EOVERFLOW. */
static int wait_for(struct device_zones *z, const struct ordered_event *event, uint32_t slot,
                    uint32_t *ret_query)
{
        struct query_key key = { .query = event->value[0], .device = event->subject };
        uint32_t id, before;
        int r = intern_add(&z->queries, &key, sizeof(key), &id);

        if (r < 0)
                return r;
        if (r == 1) {
                if (array_reserve(&z->waiting, &z->waiting_capacity, id, sizeof(*z->waiting)) < 0)
                        return -ENOMEM;
                z->waiting[id - 1] = (struct device_query){ .zone = 0 };
        }
        before = z->waiting[id - 1].zone;
        if (before != 0 && before != slot && !z->open[before - 1].is_lost) {
                z->open[before - 1].is_lost = true;
                z->n_untimed++;
        }
        z->waiting[id - 1].zone = slot;
        z->waiting[id - 1].is_end = event->op == TRACE_OP_DEVICE_ZONE_END;
        *ret_query = id;
        if (before != 0 && before != slot)
                return settle(z, before, NULL);
        return 0;
}

/* Returns 0, -ENOMEM, -EOVERFLOW. */
static int find_queue(struct device_zones *z, const struct ordered_event *event, uint32_t *ret_id)
{
        struct queue_key key = { .device = event->subject, .thread = event->thread };
        int r = intern_add(&z->queues, &key, sizeof(key), ret_id);

        if (r != 1)
                return r;
        if (array_reserve(&z->innermost, &z->innermost_capacity, *ret_id, sizeof(*z->innermost)) < 0)
                return -ENOMEM;
        z->innermost[*ret_id - 1] = 0;
        return 0;
}

static int begin(struct device_zones *z, const struct ordered_event *event)
{
        struct open_device_zone *open;
        uint32_t queue = 0, query = 0, around;
        int r = find_queue(z, event, &queue);
        int64_t slot = r == 0 ? take_slot(z) : r;

        if (slot <= 0)
                return slot == 0 ? -EOVERFLOW : (int)slot;
        open = &z->open[slot - 1];
        around = z->innermost[queue - 1];
        *open = (struct open_device_zone){ .around = around };
        open->zone = (struct device_zone){ .said_ns = event->time_ns,
                                           .device = event->subject,
                                           .location = (uint32_t)event->value[1],
                                           .thread = event->thread,
                                           .path = event->path };
        if (around != 0)
                open->zone.depth = z->open[around - 1].zone.depth + 1;
        r = wait_for(z, event, (uint32_t)slot, &query);
        open = &z->open[slot - 1];
        if (r < 0) {
                give_slot(z, (uint32_t)slot);
                return r;
        }
        open->begin_query = query;
        z->innermost[queue - 1] = (uint32_t)slot;
        return 0;
}

static int end(struct device_zones *z, const struct ordered_event *event, struct error *err)
{
        struct open_device_zone *open;
        uint32_t queue, query = 0, slot;
        int r = find_queue(z, event, &queue);

        if (r < 0)
                return r;
        slot = z->innermost[queue - 1];
        if (slot == 0) {
                z->n_alone++;
                return 0;
        }
        open = &z->open[slot - 1];
        z->innermost[queue - 1] = open->around;
        open->has_end = true;
        r = open->is_lost ? 0 : wait_for(z, event, slot, &query);
        open->end_query = query;
        if (r < 0)
                open->is_lost = true;
        if (settle(z, slot, err) < 0)
                return -ENOMEM;
        return r;
}

static int give_time(struct device_zones *z, const struct ordered_event *event, struct error *err)
{
        struct query_key key = { .query = event->value[0], .device = event->subject };
        uint32_t id = intern_find(&z->queries, &key, sizeof(key));
        uint32_t slot = id != 0 ? z->waiting[id - 1].zone : 0;
        struct open_device_zone *open;

        if (slot == 0) {
                /* A time of 0 means that the zone never happened; both halves of such a zone have it. */
                z->n_alone += event->value[1] != 0;
                return 0;
        }
        open = &z->open[slot - 1];
        if (z->waiting[id - 1].is_end) {
                open->end_ticks = event->value[1];
                open->has_end_time = true;
        } else {
                open->begin_ticks = event->value[1];
                open->has_begin_time = true;
        }
        if (event->value[1] == 0 && !open->is_lost) {
                z->n_never++;
                open->is_lost = true;
        }
        z->waiting[id - 1].zone = 0;
        return settle(z, slot, err);
}

int device_zones_add_span(struct device_zones *z, const struct ordered_span *span, struct error *err)
{
        struct device_zone zone = { .said_ns = span->said_ns,
                                    .key = span->key,
                                    .space = span->space,
                                    .text = span->text,
                                    .device = span->device,
                                    .location = span->location,
                                    .lane = span->lane,
                                    .thread = span->thread,
                                    .path = span->path,
                                    .is_span = true };
        uint64_t end_ticks;

        if (__builtin_add_overflow(span->begin_ticks, span->length_ticks, &end_ticks)) {
                z->n_backwards++;
                return 0;
        }
        z->n_spans++;
        return tell(z, &zone, span->begin_ticks, end_ticks, span->said_ns, err);
}

int device_zones_add_mark(struct device_zones *z, const struct ordered_mark *mark, struct error *err)
{
        const struct device_clock *clock = &z->clocks.clocks[mark->device - 1];
        const struct device_mark placed = {
                .time_ns = device_clock_time_ns(clock, mark->ticks, mark->said_ns), .said = *mark
        };

        if (z->filter &&
            !trace_filter_wants_time(z->filter, clock->is_placed ? placed.time_ns : mark->said_ns))
                return 0;
        return z->take_mark(z->mark_context, &placed, err);
}

int device_zones_add(struct device_zones *z, const struct ordered_event *event, struct error *err)
{
        int r = 0;

        switch (event->op) {
        case TRACE_OP_DEVICE_ZONE_BEGIN:
                r = begin(z, event);
                break;
        case TRACE_OP_DEVICE_ZONE_END:
                r = end(z, event, err);
                break;
        case TRACE_OP_DEVICE_TIME:
                return give_time(z, event, err);
        default:
                return 0;
        }
        if (r == -EOVERFLOW) {
                z->n_lost++;
                return 0;
        }
        return r == -ENOMEM ? error_set(err, r, "following devices: out of memory") : r;
}

void device_zones_finish(struct device_zones *z)
{
        for (uint32_t i = 0; i < z->n_open_slots; i++)
                z->n_untimed += z->open[i].zone.device != 0 && !z->open[i].is_lost;
}

static int take_event(void *context, const struct ordered_event *event, struct error *err)
{
        return device_zones_add(context, event, err);
}

static int take_span(void *context, const struct ordered_span *span, struct error *err)
{
        return device_zones_add_span(context, span, err);
}

static int take_mark(void *context, const struct ordered_mark *mark, struct error *err)
{
        return device_zones_add_mark(context, mark, err);
}

static int take_in_range(void *context, const struct device_zone *zone, struct error *err)
{
        struct device_zones *z = context;
        bool is_placed = z->clocks.clocks[zone->device - 1].is_placed;

        if (!trace_filter_wants_time(z->filter, is_placed ? zone->begin_ns : zone->said_ns))
                return 0;
        return z->take_wanted(z->wanted_context, zone, err);
}

/* From here on, `take` gets only zones that begin in the filter's range of time. */
static void keep_range(struct device_zones *z, const struct trace_filter *filter)
{
        z->filter = filter;
        z->take_wanted = z->take;
        z->wanted_context = z->context;
        z->take = take_in_range;
        z->context = z;
}

int device_zones_take(struct device_zones *z, struct loaded_trace *trace, const struct trace_filter *filter,
                      struct error *err)
{
        struct event_walk_request request = {
                .ops = EVENT_WALK_OP(TRACE_OP_DEVICE_ZONE_BEGIN) | EVENT_WALK_OP(TRACE_OP_DEVICE_ZONE_END) |
                       EVENT_WALK_OP(TRACE_OP_DEVICE_TIME) | EVENT_WALK_OP(TRACE_OP_DEVICE_SPAN),
                .take = take_event,
                .take_span = take_span,
                .context = z,
                .wants_paths = true,
                .paths = z->paths,
        };
        struct event_walk walk;
        int r;

        if (z->take_mark) {
                request.ops |= EVENT_WALK_OP(TRACE_OP_DEVICE_VALUE) | EVENT_WALK_OP(TRACE_OP_DEVICE_INSTANT);
                request.take_mark = take_mark;
        }
        if (filter && !filter->is_empty) {
                request.untimed_ops = request.ops;
                keep_range(z, filter);
        }
        r = event_walk_take(&walk, trace, filter, &request, err);

        z->n_late = walk.events.order.n_late;
        event_walk_deinit(&walk);
        device_zones_finish(z);
        return r;
}
