/* SPDX-License-Identifier: MIT */
#include "analyze/path/past_questions.h"

#include "analyze/path/past.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/walk/trace_walk.h"
#include "base/array.h"
#include "base/error.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

/* How often it is looked which questions can be answered. */
#define LOOK_EVERY_NS (PAST_LATE_NS / 16)

struct questions_pass {
        struct past *past;
        struct past_questions *const *lists;
        size_t n;
        uint64_t looked_ns;
};

int past_questions_add(struct past_questions *q, const struct past_question *question)
{
        if (question->end_ns <= question->begin_ns)
                return 0;
        if (array_reserve(&q->items, &q->capacity, q->n_items + 1, sizeof(*q->items)) < 0)
                return -ENOMEM;
        q->items[q->n_items++] = *question;
        return 0;
}

void past_questions_deinit(struct past_questions *q)
{
        free(q->items);
        *q = (struct past_questions){ .items = NULL };
}

/* ------------------------------------------------------------------ the order of questions */

static int compare_ends(const void *a, const void *b)
{
        const struct past_question *left = a, *right = b;

        if (left->end_ns != right->end_ns)
                return left->end_ns < right->end_ns ? -1 : 1;
        return (left->begin_ns > right->begin_ns) - (left->begin_ns < right->begin_ns);
}

static void find_needed(struct past_questions *q)
{
        uint64_t needed_ns = UINT64_MAX;

        for (size_t i = q->n_items; i > q->next; i--) {
                if (q->items[i - 1].begin_ns < needed_ns)
                        needed_ns = q->items[i - 1].begin_ns;
                q->items[i - 1].needed_ns = needed_ns;
        }
}

static void sort(struct past_questions *q)
{
        if (q->n_items > 1)
                qsort(q->items, q->n_items, sizeof(*q->items), compare_ends);
        q->next = 0;
        find_needed(q);
}

/* ------------------------------------------------------------------ answers */

static int answer_ended(struct past_questions *q, uint64_t until_ns)
{
        int r = 0;

        for (; q->next < q->n_items && q->items[q->next].end_ns <= until_ns && r == 0; q->next++)
                r = q->take(q->context, &q->items[q->next]);
        return r;
}

/* Questions that began before @until_ns are answered up to there, or where their thread ran last. */
static int answer_parts(const struct past *past, struct past_questions *q, uint64_t until_ns)
{
        int r = 0;

        for (size_t i = q->next; i < q->n_items && r == 0; i++) {
                struct past_question *question = &q->items[i], part = *question;
                const struct past_wait *wait = NULL;

                if (question->begin_ns >= until_ns)
                        continue;
                if (question->thread != 0 && question->thread <= past->n_threads)
                        wait = past_wait_at(past, question->thread, until_ns);
                part.end_ns = wait ? wait->out_ns : until_ns;
                if (part.end_ns <= part.begin_ns)
                        continue;
                r = q->take(q->context, &part);
                question->begin_ns = part.end_ns;
        }
        find_needed(q);
        return r;
}

static uint64_t find_horizon(const struct questions_pass *p, uint64_t until_ns)
{
        uint64_t horizon_ns = until_ns;

        for (size_t i = 0; i < p->n; i++) {
                const struct past_questions *q = p->lists[i];

                if (q->next < q->n_items && q->items[q->next].needed_ns < horizon_ns)
                        horizon_ns = q->items[q->next].needed_ns;
        }
        return horizon_ns;
}

static int look(struct questions_pass *p, uint64_t until_ns)
{
        int r = 0;

        for (size_t i = 0; i < p->n && r == 0; i++)
                r = answer_ended(p->lists[i], until_ns);
        past_forget(p->past, find_horizon(p, until_ns));
        if (r < 0 || !past_is_crowded(p->past))
                return r;
        for (size_t i = 0; i < p->n && r == 0; i++)
                r = answer_parts(p->past, p->lists[i], until_ns);
        past_forget(p->past, find_horizon(p, until_ns));
        if (past_is_crowded(p->past))
                past_forget_oldest(p->past);
        return r;
}

static int look_sometimes(struct questions_pass *p)
{
        const struct past *past = p->past;

        if (past->latest_ns < p->looked_ns + LOOK_EVERY_NS &&
            !(past_is_crowded(past) && past_has_grown(past)))
                return 0;
        p->looked_ns = past->latest_ns;
        return look(p, past->latest_ns > PAST_LATE_NS ? past->latest_ns - PAST_LATE_NS : 0);
}

/* ------------------------------------------------------------------ the pass */

static int no_memory(struct error *err)
{
        return error_set(err, -ENOMEM, "finding out what threads waited for: out of memory");
}

static int take_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                       struct error *err)
{
        struct questions_pass *p = context;

        return past_sample(p->past, thread, event) < 0 ? no_memory(err) : 0;
}

static int take_wait(void *context, struct walked_thread *thread, const struct thread_wait *wait,
                     struct error *err)
{
        struct questions_pass *p = context;

        return past_wait_over(p->past, thread, wait) < 0 ? no_memory(err) : 0;
}

static int take_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                      struct error *err)
{
        struct questions_pass *p = context;

        return past_event(p->past, thread, event) < 0 || look_sometimes(p) < 0 ? no_memory(err) : 0;
}

/* The time from the first question to the last; false = there is none. */
static bool find_times(struct questions_pass *p, struct trace_filter *ret)
{
        ret->from_ns = UINT64_MAX;
        for (size_t i = 0; i < p->n; i++) {
                struct past_questions *q = p->lists[i];

                sort(q);
                if (q->n_items == 0)
                        continue;
                if (q->items[0].needed_ns < ret->from_ns)
                        ret->from_ns = q->items[0].needed_ns;
                if (q->items[q->n_items - 1].end_ns > ret->to_ns)
                        ret->to_ns = q->items[q->n_items - 1].end_ns;
        }
        return ret->to_ns != 0;
}

int past_questions_answer(struct past *past, struct loaded_trace *trace, struct past_questions *const *lists,
                          size_t n, struct error *err)
{
        struct questions_pass pass = { .past = past, .lists = lists, .n = n };
        struct trace_sink sink = { .context = &pass,
                                   .sample = take_sample,
                                   .wait = take_wait,
                                   .event = take_event,
                                   .may_skip = true };
        struct trace_filter times = { .to_ns = 0 }, range;
        struct trace_walk walk;
        int r;

        if (!find_times(&pass, &times))
                return 0;
        r = past_make_range(&range, &times, trace, err);
        if (r < 0)
                return r;
        r = trace_walk_init(&walk, trace, &range, &sink);
        r = r == 0 ? loaded_trace_walk(trace, &walk, err) : no_memory(err);
        trace_walk_deinit(&walk);
        trace_filter_deinit(&range);
        return r == 0 && look(&pass, UINT64_MAX) < 0 ? no_memory(err) : r;
}
