/* SPDX-License-Identifier: MIT */
#include "analyze/path/shown_segments.h"

#include "analyze/devices/device_works.h"
#include "analyze/path/past.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

const char *path_segment_word(enum path_kind kind, bool preempted, enum wait_end_kind end)
{
        switch (kind) {
        case PATH_RUN:
                return "run";
        case PATH_MACHINE:
                return preempted ? "preempted" : "ready";
        case PATH_LATE:
                return "late";
        case PATH_WAIT:
                return wait_end_word(end);
        case PATH_LOCK:
                return "lock";
        case PATH_UNBORN:
                return "unborn";
        case PATH_DEVICE:
                return "device";
        case PATH_LAUNCH:
                return "launch";
        case PATH_CUT:
        case PATH_KINDS:
                break;
        }
        return "cut";
}

static uint64_t length_of(const struct path_shown *s)
{
        return s->end_ns - s->begin_ns;
}

static int compare_ns(const void *left, const void *right)
{
        const uint64_t *a = left, *b = right;

        return (*a > *b) - (*a < *b);
}

/* Half of them, of equally long ones the first.  Those that stay keep their order. */
static int drop_shorter(struct shown_segments *s)
{
        size_t n_dropped = s->n_items / 2, n_equal = n_dropped, n = 0, n_settled = 0;
        uint64_t *lengths_ns = malloc(s->n_items * sizeof(*lengths_ns)), limit_ns;

        if (!lengths_ns)
                return -ENOMEM;
        for (size_t i = 0; i < s->n_items; i++)
                lengths_ns[i] = length_of(&s->items[i]);
        qsort(lengths_ns, s->n_items, sizeof(*lengths_ns), compare_ns);
        limit_ns = lengths_ns[n_dropped];
        for (size_t i = 0; i < n_dropped && lengths_ns[i] < limit_ns; i++)
                n_equal--;
        free(lengths_ns);
        for (size_t i = 0; i < s->n_items; i++) {
                if (length_of(&s->items[i]) < limit_ns)
                        continue;
                if (length_of(&s->items[i]) == limit_ns && n_equal > 0) {
                        n_equal--;
                        continue;
                }
                n_settled += i < s->n_settled;
                s->items[n++] = s->items[i];
        }
        s->n_dropped += s->n_items - n;
        s->n_items = n;
        s->n_settled = n_settled;
        return 0;
}

int shown_segments_add(struct shown_segments *s, const struct path_segment *segment)
{
        const struct past_wait *wait = segment->wait;
        struct path_shown shown = { .begin_ns = segment->begin_ns,
                                    .end_ns = segment->end_ns,
                                    .thread = segment->thread,
                                    .on = segment->on,
                                    .depth = segment->depth,
                                    .kind = (uint8_t)segment->kind };

        if (wait) {
                shown.stack = wait->stack;
                shown.by = wait->by;
                shown.name = wait->name;
                shown.end = wait->end;
                shown.preempted = wait->preempted;
        }
        if (segment->work) {
                shown.work = segment->work->name;
                shown.lane = segment->work->lane;
        }
        if (s->n_items == SHOWN_SEGMENTS_MAX && drop_shorter(s) < 0)
                return -ENOMEM;
        if (array_reserve(&s->items, &s->capacity, s->n_items + 1, sizeof(*s->items)) < 0)
                return -ENOMEM;
        s->items[s->n_items++] = shown;
        return 0;
}

/* The call stack of a sample in the middle; 0 = there is none. */
static uint32_t find_stack(const struct past *past, const struct path_shown *s)
{
        const struct past_sample *samples;
        size_t n = past_samples(past_of(past, s->on), s->begin_ns, s->end_ns, &samples);

        return n != 0 ? samples[n / 2].stack : 0;
}

void shown_segments_settle(struct shown_segments *s, const struct past *past)
{
        for (; s->n_settled < s->n_items; s->n_settled++) {
                struct path_shown *shown = &s->items[s->n_settled];

                if (shown->kind == PATH_RUN || shown->kind == PATH_LATE)
                        shown->stack = find_stack(past, shown);
        }
}

void shown_segments_clear(struct shown_segments *s)
{
        s->n_items = s->n_settled = 0;
        s->n_dropped = 0;
}

void shown_segments_deinit(struct shown_segments *s)
{
        free(s->items);
        *s = (struct shown_segments){ .items = NULL };
}
