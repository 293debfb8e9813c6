/* SPDX-License-Identifier: MIT */
/*
 * analyze/samples/unsampled_time.h - how much of the time to be sampled has no samples; shares of samples are
 * shares of the rest
 *
 * Way of the data:  trace_dictionary (losses, notices, counters), trace_walk -> [unsampled_time] ->
 *                   report_gaps, why, diff_run, sampled_trace
 *
 * The measure does not depend on the reason why samples are missing.  Context switches show how long threads
 * ran, and the samples of a clock show for how much of that time they stand.  Other events are measured by
 * their counter.
 */
#ifndef ANALYZE_SAMPLES_UNSAMPLED_TIME_H
#define ANALYZE_SAMPLES_UNSAMPLED_TIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNSAMPLED_TIME_WORDS_BYTES 480

struct sample_sum;
struct trace_dictionary;
struct trace_walk;

/* What `share` is a share of. */
enum unsampled_of {
        UNSAMPLED_NONE,    /* nothing is known to be missing */
        UNSAMPLED_ON_CPU,  /* the time of threads on CPUs */
        UNSAMPLED_COMMAND, /* the command's processor time, by the kernel's sum */
        UNSAMPLED_COUNT,   /* what the event's counter counted */
        UNSAMPLED_RECORDS, /* samples and lost kernel records together: an upper bound */
};

struct unsampled_time {
        /* unsampled_time_take() */
        uint64_t on_cpu_ns; /* of the threads that are looked at; 0 = unknown */
        uint64_t unseen_ns; /* of that, of threads without any sample */
        uint64_t n_lost;    /* lost kernel records in the whole recording, samples among them */
        bool is_whole;      /* no filter leaves anything out */
        bool is_kernel_refused, was_paused;
        uint64_t command_user_ns, command_kernel_ns; /* 0 = unknown */
        uint64_t n_samples, n_truncated;             /* of all events; those with a call stack that is cut */
        uint64_t n_kept_copies; /* of these, with a copy of their stack, which can still be walked */
        char bare_name[64];     /* of the file without unwind tables in which most of these end; "" = none */
        uint64_t n_python, n_python_bare; /* samples in Python code; those without Python functions */
        bool is_python_late;              /* Python functions were read after their sample */

        /* set by unsampled_time_judge(); `share` is 0 if too little is missing to report */
        enum unsampled_of of;
        uint64_t missing, whole;                   /* ns, or the event's unit; of RECORDS records */
        double share;                              /* missing of whole */
        bool is_kernel_left_out, is_user_left_out; /* by the event's name, or refused */
        double lost_weight;  /* the most that lost samples may weigh, in the event's unit, for any function */
        double whole_weight; /* the same with time that is not sampled at all, for the whole */
        char unit[24];       /* of COUNT: the event's name */
};

/*
 * unsampled_time_take() - take the numbers from the walk and the tables
 * @now_ns:  the current time, if the trace is still being written; 0 after trace_walk_finish()
 */
void unsampled_time_take(struct unsampled_time *ret, const struct trace_walk *walk, uint64_t now_ns);

/* Compares that with the samples of an event; @event 0 = no event has any. */
void unsampled_time_judge(struct unsampled_time *u, const struct trace_dictionary *d, uint32_t event,
                          const struct sample_sum *sum);

/* "520 ms of 1.02 s on CPUs (51.0%) have no samples: ..."; "" if too little is missing to report. */
void unsampled_time_words(const struct unsampled_time *u, char words[UNSAMPLED_TIME_WORDS_BYTES]);

/* "12.3% of the call stacks are truncated: ..., most in app, ..."; "" if hardly any is. */
void unsampled_time_truncated(const struct unsampled_time *u, char words[UNSAMPLED_TIME_WORDS_BYTES]);

/* "48.2% of the samples in Python code ... have no Python functions: ..."; "" if nearly all have them. */
void unsampled_time_python(const struct unsampled_time *u, char words[UNSAMPLED_TIME_WORDS_BYTES]);

/* The share in these words, of the whole recording; 0 if they are "". */
double unsampled_time_python_share(const struct unsampled_time *u);

/*
 * For the end of an answer's first line: "; before: 51.0% of the time has no samples", and likewise the
 * samples without Python functions; "" if both are small.
 * @side:  "before"; NULL = none
 */
void unsampled_time_clause(const struct unsampled_time *u, const char *side,
                           char words[UNSAMPLED_TIME_WORDS_BYTES]);

/* For the line with the number of samples: "51.0% lost"; "" likewise. */
void unsampled_time_brief(const struct unsampled_time *u, char words[UNSAMPLED_TIME_WORDS_BYTES]);

/* The number of lost kernel records, samples among them, by the rows of LOSSES so far. */
uint64_t unsampled_time_lost_records(const struct trace_dictionary *d);

#endif /* ANALYZE_SAMPLES_UNSAMPLED_TIME_H */
