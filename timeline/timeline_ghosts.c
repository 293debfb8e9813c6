/* SPDX-License-Identifier: MIT */
#include "timeline/timeline_ghosts.h"

#include "analyze/walk/trace_walk.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <stdlib.h>

#define FRAMES_MAX      8192             /* of a call stack, innermost ones; a hostile trace has more */
#define PERIODS_PER_GAP 3                /* samples that may be missing between two that belong together */
#define GAP_DEFAULT_NS  (10 * NS_PER_MS) /* of events that are not sampled by time */
#define GAP_MIN_NS      (100 * NS_PER_US)

/* Finds the first event that has samples of its own. */
static uint32_t find_event(const struct trace_dictionary *d, uint64_t *ret_gap_ns)
{
        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_SAMPLE_EVENTS); i++) {
                const struct trace_sample_event *row = trace_dictionary_row(d, TRACE_TABLE_SAMPLE_EVENTS, i);
                uint64_t gap_ns = GAP_DEFAULT_NS;

                if (row->mode == TRACE_SAMPLE_MODE_WITH_LEADER || row->mode == TRACE_SAMPLE_MODE_COUNTED)
                        continue;
                if (row->mode == TRACE_SAMPLE_MODE_FREQUENCY_HZ && row->rate != 0)
                        gap_ns = PERIODS_PER_GAP * NS_PER_S / row->rate;
                *ret_gap_ns = gap_ns > GAP_MIN_NS ? gap_ns : GAP_MIN_NS;
                return i;
        }
        return 0;
}

int timeline_ghosts_init(struct timeline_ghosts *g, struct timeline_index *index,
                         const struct trace_dictionary *dictionary)
{
        *g = (struct timeline_ghosts){ .index = index, .dictionary = dictionary };
        g->event = find_event(dictionary, &g->gap_ns);
        g->chain = calloc(TIMELINE_GHOST_DEPTH_MAX, sizeof(*g->chain));
        g->frames = calloc(FRAMES_MAX, sizeof(*g->frames));
        if (!g->chain || !g->frames)
                return -ENOMEM;
        return function_table_init(&g->functions, dictionary);
}

void timeline_ghosts_deinit(struct timeline_ghosts *g)
{
        for (uint32_t i = 0; i < g->n_threads; i++) {
                timeline_lane_list_deinit(&g->threads[i].lanes);
                free(g->threads[i].open);
        }
        free(g->threads);
        free(g->chain);
        free(g->frames);
        function_table_deinit(&g->functions);
        *g = (struct timeline_ghosts){ .threads = NULL };
}

int timeline_ghosts_reserve(struct timeline_ghosts *g, uint32_t n_threads)
{
        if (n_threads <= g->n_threads)
                return 0;
        if (array_extend(&g->threads, &g->threads_capacity, g->n_threads, n_threads, sizeof(*g->threads)) < 0)
                return -ENOMEM;
        g->n_threads = n_threads;
        return 0;
}

/* The functions of a frame, the outermost first, at @labels.  Returns how many, or -ENOMEM. */
static int find_labels(const struct timeline_ghosts *g, uint32_t frame, uint32_t *labels, uint32_t n_max)
{
        const struct label_groups *groups = &g->functions.frames;
        uint32_t n = 0;

        if (g->names.functions)
                return g->names.functions(g->names.context, frame, labels, n_max);
        for (uint32_t i = groups->first[frame + 1]; i > groups->first[frame] && n < n_max; i--)
                labels[n++] = groups->labels[i - 1];
        return (int)n;
}

/* The functions of a call stack, the outermost first, into `chain`.  Returns how many, or -ENOMEM. */
static int find_chain(struct timeline_ghosts *g, uint32_t stack)
{
        uint32_t n_frames = 0, n = 0;

        for (; stack != 0 && n_frames < FRAMES_MAX; n_frames++) {
                const struct trace_stack *row = trace_dictionary_row(g->dictionary, TRACE_TABLE_STACKS,
                                                                     stack);

                g->frames[n_frames] = row->frame;
                stack = row->parent;
        }
        while (n_frames > 0 && n < TIMELINE_GHOST_DEPTH_MAX) {
                uint32_t frame = g->frames[--n_frames];
                int r;

                if (frame == 0 || (!g->names.functions && frame > g->functions.frames.n_groups))
                        break;
                r = find_labels(g, frame, g->chain + n, TIMELINE_GHOST_DEPTH_MAX - n);
                if (r < 0)
                        return r;
                n += (uint32_t)r;
        }
        return (int)n;
}

/* The functions from @depth on end. */
static int end_ghosts(struct timeline_ghosts *g, uint32_t track, uint32_t thread, uint32_t depth,
                      uint64_t end_ns, struct error *err)
{
        struct timeline_thread_ghosts *t = &g->threads[thread - 1];

        while (t->n_open > depth) {
                const struct timeline_ghost *ghost = &t->open[--t->n_open];
                const struct timeline_raw_span span = { ghost->begin_ns, end_ns, ghost->label - 1 };
                const struct timeline_lane_place place = { track, t->n_open, TIMELINE_LANE_GHOSTS };
                int r = timeline_lane_list_add(&t->lanes, g->index, place, &span, err);

                if (r < 0)
                        return r;
        }
        return 0;
}

/* From now on the thread has this call stack. */
static int set_stack(struct timeline_ghosts *g, uint32_t track, uint32_t thread, uint64_t time_ns,
                     uint32_t stack, struct error *err)
{
        struct timeline_thread_ghosts *t = &g->threads[thread - 1];
        int n_functions = find_chain(g, stack), r = 0;
        uint32_t n = (uint32_t)n_functions, n_common = 0;

        if (n_functions < 0)
                return error_set(err, -ENOMEM, "the index of the time line: out of memory");
        if (time_ns > t->until_ns + g->gap_ns)
                r = end_ghosts(g, track, thread, 0, t->until_ns, err);
        while (n_common < n && n_common < t->n_open && g->chain[n_common] == t->open[n_common].label)
                n_common++;
        if (r == 0)
                r = end_ghosts(g, track, thread, n_common, time_ns, err);
        if (r < 0)
                return r;
        if (array_reserve(&t->open, &t->capacity, n, sizeof(*t->open)) < 0)
                return error_set(err, -ENOMEM, "the index of the time line: out of memory");
        for (; t->n_open < n; t->n_open++)
                t->open[t->n_open] = (struct timeline_ghost){ .begin_ns = time_ns,
                                                              .label = g->chain[t->n_open] };
        t->until_ns = time_ns;
        return 0;
}

int timeline_ghosts_sample(struct timeline_ghosts *g, uint32_t track, uint32_t thread,
                           const struct trace_event *event, struct error *err)
{
        if (event->sample.event != g->event)
                return 0;
        return set_stack(g, track, thread, event->time_ns, (uint32_t)event->sample.stack, err);
}

int timeline_ghosts_wait(struct timeline_ghosts *g, uint32_t track, uint32_t thread,
                         const struct thread_wait *wait, struct error *err)
{
        struct timeline_thread_ghosts *t = &g->threads[thread - 1];
        int r;

        if (g->event == 0 || (wait->stack == 0 && t->n_open == 0))
                return 0;
        r = set_stack(g, track, thread, wait->out_ns, wait->stack, err);
        t->until_ns = wait->in_ns;
        return r;
}

int timeline_ghosts_finish(struct timeline_ghosts *g, uint32_t track, uint32_t thread, uint64_t end_ns,
                           struct error *err)
{
        uint64_t until_ns = g->threads[thread - 1].until_ns + g->gap_ns / PERIODS_PER_GAP;

        return end_ghosts(g, track, thread, 0, until_ns < end_ns ? until_ns : end_ns, err);
}
