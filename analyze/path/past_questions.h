/* SPDX-License-Identifier: MIT */
/*
 * analyze/path/past_questions.h - questions about times that are known before the trace is read
 *
 * Way of the data:  trace_walk -> past -> [past_questions] -> why_meanwhile, ready_owners
 *
 * One pass through the trace answers all of them: each as soon as the past is complete up to its end; then
 * the past before the earliest one that is left is dropped.  Where too much is kept, a question is asked in
 * parts.  Memory: that of the past, and 32 bytes a question.  Not thread-safe.
 */
#ifndef ANALYZE_PATH_PAST_QUESTIONS_H
#define ANALYZE_PATH_PAST_QUESTIONS_H

#include <stddef.h>
#include <stdint.h>

struct error;
struct loaded_trace;
struct past;

struct past_question {
        uint64_t begin_ns, end_ns;
        uint64_t needed_ns; /* private: no question from here on begins earlier */
        uint32_t id;        /* the asker's */
        uint32_t thread;    /* parts end where it ran; 0 = they end anywhere */
};

/* Zero-initialised but for `take` and `context` is a list without questions. */
struct past_questions {
        /*
         * Asks about the whole question, or a part of it; parts come in their order.  Returns 0 or -ENOMEM.
         */
        int (*take)(void *context, const struct past_question *part);
        void *context;
        struct past_question *items; /* heap */
        size_t n_items, capacity;
        size_t next; /* private */
};

/* Empty times are no questions.  Returns 0 or -ENOMEM. */
int past_questions_add(struct past_questions *q, const struct past_question *question);
void past_questions_deinit(struct past_questions *q);

/*
 * past_questions_answer() - go through the part of the trace that has the times, if there are questions
 * @past:   initialised
 * @lists:  @n of them
 * Returns as loaded_trace_walk().
 */
int past_questions_answer(struct past *past, struct loaded_trace *trace, struct past_questions *const *lists,
                          size_t n, struct error *err);

#endif /* ANALYZE_PATH_PAST_QUESTIONS_H */
