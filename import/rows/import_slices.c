/* SPDX-License-Identifier: MIT */
#include "import/rows/import_slices.h"

#include "base/array.h"
#include "base/error.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LANES_FORGOTTEN (UINT32_C(1) << 17) /* from so many on */

struct open_slice {
        struct import_span span;
        uint32_t below; /* the begin that is open around it; 0 = none.  If it is free: the next one */
};

struct slice_lane {
        uint64_t last; /* time that was added */
        uint32_t top;  /* the last open begin; 0 = none */
};

void import_slices_init(struct import_slices *s, struct import_rows *rows)
{
        *s = (struct import_slices){ .rows = rows };
        intern_init(&s->lanes, sizeof(uint64_t), IMPORT_SLICES_LANES_MAX);
}

void import_slices_deinit(struct import_slices *s)
{
        intern_deinit(&s->lanes);
        free(s->events);
        free(s->open);
        free(s->states);
}

static int no_memory(struct error *err)
{
        return error_set(err, -ENOMEM, "no memory for spans that are open");
}

static int put_instant(struct import_slices *s, const struct import_span *span, struct error *err)
{
        struct import_instant instant = { .track = span->track,
                                          .name = span->name,
                                          .text = span->text,
                                          .time = span->begin,
                                          .key = span->key };

        s->n_begins_alone++;
        return import_rows_instant(s->rows, &instant, err);
}

static int open_begin(struct import_slices *s, const struct slice_event *event, struct error *err)
{
        struct slice_lane *lane = &s->states[event->lane - 1];
        uint32_t id = s->first_free;

        if (id) {
                s->first_free = s->open[id - 1].below;
        } else if (s->n_open == IMPORT_SLICES_OPEN_MAX) {
                return put_instant(s, &event->span, err);
        } else {
                if (array_reserve(&s->open, &s->open_capacity, (size_t)s->n_open + 1, sizeof(*s->open)) < 0)
                        return no_memory(err);
                id = ++s->n_open;
        }
        s->open[id - 1] = (struct open_slice){ .span = event->span, .below = lane->top };
        lane->top = id;
        return 0;
}

static int close_begin(struct import_slices *s, const struct slice_event *event, struct error *err)
{
        struct slice_lane *lane = &s->states[event->lane - 1];
        const struct import_span *end = &event->span;
        struct import_span span;
        uint32_t id = lane->top;

        if (!id) {
                s->n_ends_alone++;
                return 0;
        }
        span = s->open[id - 1].span;
        lane->top = s->open[id - 1].below;
        s->open[id - 1].below = s->first_free;
        s->first_free = id;
        s->n_other_names += end->name != 0 && end->name != span.name;
        /* An event that came too late to be sorted ends at once. */
        span.end = end->begin > span.begin ? end->begin : span.begin;
        if (!span.text)
                span.text = end->text;
        return import_rows_span(s->rows, &span, err);
}

static int compare_events(const void *a, const void *b)
{
        const struct slice_event *x = a, *y = b;

        if (x->span.begin != y->span.begin)
                return x->span.begin < y->span.begin ? -1 : 1;
        return x->order < y->order ? -1 : x->order > y->order;
}

/* Moves the lane to a new table, unless it is there. */
static int keep_lane(struct import_slices *s, struct import_slices *kept, uint32_t *ids, uint32_t lane)
{
        if (ids[lane - 1] != 0)
                return 0;
        if (intern_add_row(&kept->lanes, intern_get(&s->lanes, lane, NULL), &kept->states,
                           &kept->states_capacity, sizeof(*kept->states), &ids[lane - 1]) < 0)
                return -ENOMEM;
        kept->states[ids[lane - 1] - 1] = s->states[lane - 1];
        return 0;
}

/* Forgets lanes on which nothing is open or waits: ids of asynchronous work are used once. */
static int forget_lanes(struct import_slices *s, struct error *err)
{
        struct import_slices kept;
        uint32_t *ids;
        int r = 0;

        if (s->lanes.n_items < LANES_FORGOTTEN || s->lanes.n_items < 2 * s->n_lanes_kept)
                return 0;
        ids = calloc(s->lanes.n_items, sizeof(*ids));
        if (!ids)
                return no_memory(err);
        import_slices_init(&kept, s->rows);
        for (uint32_t lane = 1; r == 0 && lane <= s->lanes.n_items; lane++)
                r = s->states[lane - 1].top ? keep_lane(s, &kept, ids, lane) : 0;
        for (size_t i = 0; r == 0 && i < s->n_events; i++)
                r = keep_lane(s, &kept, ids, s->events[i].lane);
        if (r == 0) {
                for (size_t i = 0; i < s->n_events; i++)
                        s->events[i].lane = ids[s->events[i].lane - 1];
                intern_deinit(&s->lanes);
                free(s->states);
                s->lanes = kept.lanes;
                s->states = kept.states;
                s->states_capacity = kept.states_capacity;
                s->n_lanes_kept = s->lanes.n_items;
        } else {
                import_slices_deinit(&kept);
        }
        free(ids);
        return r < 0 ? no_memory(err) : 0;
}

/* Matches the @n oldest events and forgets them. */
static int match(struct import_slices *s, size_t n, struct error *err)
{
        if (s->is_unsorted)
                qsort(s->events, s->n_events, sizeof(*s->events), compare_events);
        s->is_unsorted = false;
        for (size_t i = 0; i < n; i++) {
                const struct slice_event *event = &s->events[i];
                int r = event->is_end ? close_begin(s, event, err) : open_begin(s, event, err);

                if (r < 0)
                        return r;
        }
        s->n_events -= n;
        if (s->n_events > 0)
                memmove(s->events, s->events + n, s->n_events * sizeof(*s->events));
        return forget_lanes(s, err);
}

static int add(struct import_slices *s, uint64_t lane, const struct import_span *span, bool is_end,
               struct error *err)
{
        struct slice_lane *state;
        uint32_t id;
        int r = s->n_events == IMPORT_SLICES_WINDOW ? match(s, IMPORT_SLICES_WINDOW / 2, err) : 0;

        if (r < 0)
                return r;
        r = intern_add_row(&s->lanes, &lane, &s->states, &s->states_capacity, sizeof(*s->states), &id);
        if (r == -EOVERFLOW) {
                s->n_beyond++;
                return 0;
        }
        if (r < 0)
                return no_memory(err);
        if (array_reserve(&s->events, &s->events_capacity, s->n_events + 1, sizeof(*s->events)) < 0)
                return no_memory(err);
        state = &s->states[id - 1];
        s->is_unsorted = s->is_unsorted || span->begin < state->last;
        if (span->begin > state->last)
                state->last = span->begin;
        s->events[s->n_events++] =
                (struct slice_event){ .span = *span, .order = s->n_added++, .lane = id, .is_end = is_end };
        return 0;
}

int import_slices_begin(struct import_slices *s, uint64_t lane, const struct import_span *span,
                        struct error *err)
{
        return add(s, lane, span, false, err);
}

int import_slices_end(struct import_slices *s, uint64_t lane, const struct import_span *span,
                      struct error *err)
{
        return add(s, lane, span, true, err);
}

static void count_left_out(struct import_slices *s)
{
        const struct {
                const char *kind;
                uint64_t n;
        } counts[] = {
                { "end without begin", s->n_ends_alone },
                { "begin without end", s->n_begins_alone },
                { "end with another name than its begin", s->n_other_names },
                { "begin or end of a lane beyond 4,194,304", s->n_beyond },
        };

        for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
                if (counts[i].n)
                        import_rows_left_out(s->rows, counts[i].kind, counts[i].n);
}

int import_slices_finish(struct import_slices *s, struct error *err)
{
        int r = match(s, s->n_events, err);

        for (uint32_t i = 0; r == 0 && i < s->lanes.n_items; i++)
                for (uint32_t id = s->states[i].top; r == 0 && id; id = s->open[id - 1].below)
                        r = put_instant(s, &s->open[id - 1].span, err);
        if (r == 0)
                count_left_out(s);
        return r;
}
