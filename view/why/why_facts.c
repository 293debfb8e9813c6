/* SPDX-License-Identifier: MIT */
#include "view/why/why_facts.h"

#include "analyze/why/why.h"
#include "base/byte_buffer.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/report_heading.h"
#include "view/text/text_number.h"
#include "view/waits/owners_view.h"
#include "view/why/why_common_words.h"
#include "view/why/why_owner_words.h"
#include "view/why/why_rank_words.h"
#include "view/why/why_span_words.h"
#include "view/why/why_words.h"

#include <math.h>
#include <string.h>

#define COMMON_MAX 2 /* in the line of the summary; the table has all */
/* The bound of instances with a sample is mentioned if it is at least this many times the bound of all. */
#define SAYS_SAMPLED_FROM 1.01

static int64_t whole(double ns)
{
        return llrint(fmin(fmax(ns, -9e18), 9e18));
}

static uint64_t whole_positive(double ns)
{
        return ns > 0 ? (uint64_t)whole(ns) : 0;
}

struct view_value why_facts_duration(double ns)
{
        return view_number(whole_positive(ns));
}

struct view_value why_facts_delta(double ns)
{
        return view_delta(whole(ns));
}

/* The mean of the instances of a group. */
static struct view_value mean_of(const struct why_group_sum *group)
{
        return group->n != 0 ? why_facts_duration(group->duration / (double)group->n) : view_unknown();
}

/* A part of what a sample costs. */
static struct view_value cost_of(const struct why *w, double ns)
{
        return w->cost.is_known ? why_facts_duration(ns) : view_unknown();
}

static struct text_view text_of(const struct byte_buffer *words)
{
        return (struct text_view){ .bytes = (const char *)words->data, .n_bytes = words->used_bytes };
}

/* "76% of the samples of slow instances, 28% of the others'": how common the cause is that is named. */
static void say_seen_in(const struct why *w, struct byte_buffer *words)
{
        const struct why_cause *answer = why_find_answer(w);
        const struct why_group_sum *groups = w->groups;
        const double *ran_ns = w->on_cpu_ns;

        /* Each has a time on the device, and nearly each a host that is busy for a moment. */
        if (w->are_spans)
                return;
        if (answer && answer->is_sampled)
                byte_buffer_add_format(words,
                                       "%.0f%% of the samples of slow instances, %.0f%% of the others'",
                                       100 * answer->share.slow_ns / fmax(ran_ns[WHY_SLOW], 1),
                                       100 * answer->share.typical_ns / fmax(ran_ns[WHY_TYPICAL], 1));
        else if (answer)
                byte_buffer_add_format(words, "%.0f%% of the slow instances, %.0f%% of the others",
                                       100 * (double)answer->n_slow / fmax((double)groups[WHY_SLOW].n, 1),
                                       100 * (double)answer->n_typical /
                                               fmax((double)groups[WHY_TYPICAL].n, 1));
}

static void add_duration(struct byte_buffer *out, const char *before, double ns)
{
        struct text_number number = text_number_duration(whole_positive(ns));

        byte_buffer_add(out, before, strlen(before));
        byte_buffer_add(out, number.text, strlen(number.text));
}

static void add_count(struct byte_buffer *out, uint64_t n)
{
        struct text_number number = text_number_count(n);

        byte_buffer_add(out, number.text, strlen(number.text));
}

static void add_counted(struct byte_buffer *out, uint64_t n, const char *words)
{
        struct text_counted counted = text_number_counted(n, words);

        byte_buffer_add(out, counted.text, strlen(counted.text));
}

/*
 * "4 from 2.10 ms, mean 2.20 ms, 40 samples".  Where a sample makes an instance doubtful: "4 from 2.10 us,
 * with a sample from 9.32 us, mean ..."
 */
static void say_group(const struct why *w, int group, struct byte_buffer *words)
{
        const struct why_group_sum *g = &w->groups[group];

        add_count(words, group == WHY_SLOW ? w->collector.n_slow : w->collector.n_typical);
        if (group == WHY_SLOW)
                add_duration(words, " from ", w->rank.slow_ns);
        if (group == WHY_SLOW && w->rank.slow_sampled_ns >= SAYS_SAMPLED_FROM * w->rank.slow_ns)
                add_duration(words, ", with a sample from ", w->rank.slow_sampled_ns);
        if (g->n != 0)
                add_duration(words, ", mean ", g->duration / (double)g->n);
        if (w->are_spans)
                return;
        byte_buffer_add(words, ", ", 2);
        add_counted(words, w->n_samples[group], "samples");
}

static void say_ranked_by(const struct why *w, struct byte_buffer *words)
{
        if (w->are_spans) {
                why_span_words_measured(w, words);
                return;
        }
        byte_buffer_add(words, why_words_by(w->by), strlen(why_words_by(w->by)));
        if (w->cost.is_known && w->by != WHY_BY_WAITING) {
                add_duration(words, " without what samples cost, ", w->cost.cost_ns);
                byte_buffer_add(words, " each", 5);
        }
}

/* Facts in words; the first five are for people, and empty without an instance. */
struct sentences {
        struct byte_buffer instances, slow, others, common, ranked_by;
        struct byte_buffer seen_in, ranked_without, late;
};

static void make_sentences(struct sentences *s, const struct why *w, const struct loaded_trace *trace)
{
        *s = (struct sentences){ .instances = { .data = NULL } };
        say_seen_in(w, &s->seen_in);
        why_words_ranked_without(w, trace, &s->ranked_without);
        why_rank_words(w, trace, &s->late);
        if (w->survey.durations.n == 0)
                return;
        add_count(&s->instances, w->survey.durations.n);
        add_duration(&s->instances, ", median ", w->rank.median_ns);
        say_group(w, WHY_SLOW, &s->slow);
        say_group(w, WHY_TYPICAL, &s->others);
        why_common_words(&w->collector.common, trace, COMMON_MAX, &s->common);
        say_ranked_by(w, &s->ranked_by);
}

static void sentences_deinit(struct sentences *s, struct view_document *d)
{
        struct byte_buffer *const all[] = { &s->instances, &s->slow,    &s->others,         &s->common,
                                            &s->ranked_by, &s->seen_in, &s->ranked_without, &s->late };

        for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
                d->failed = d->failed || all[i]->failed;
                byte_buffer_deinit(all[i]);
        }
}

/* clang-format off */
#define CAUSE_FACTS(FACT)                                                                                     \
        FACT(STRING, "cause", NULL, view_words(key),                                                          \
             "the kind of cause that the answer names",                                                       \
             .one_of = "function|lock|wait|page-faults|migration|zone|device|queue|host|launch|own-thread|"   \
                       "program|cpu-quota|stopped|none")                                                      \
        FACT(STRING, "confidence", NULL, view_words(confidence),                                              \
             "in the cause; who had the CPU is measured, and so always high", .one_of = "high|medium|none")   \
        FACT(STRING, "filter", "only", view_name(filter),                                                     \
             "what was looked at, in words; null = everything")
#define PYTHON_FACTS(FACT)                                                                                    \
        FACT(STRING, "view", NULL, view_words("python"),                                                      \
             "only in the Python view: native code counts for the Python function that called it",            \
             .one_of = "python")                                                                              \
        FACT(STRING, NULL, "python", view_words("native code counts for the Python function that called it "  \
             "(--native: apart)"), NULL)
#define INSTANCES_FACTS(FACT)                                                                                 \
        FACT(COUNT, "instances", NULL, view_number(w->survey.durations.n), "closed ones, of all threads")     \
        FACT(STRING, NULL, "instances", view_text(text_of(&s.instances)), NULL)                                \
        FACT(STRING, "late", "waited for", view_text(text_of(&s.late)),                                        \
             "of several processes that wait for each other, the one that came last; null = none")
#define GROUPS_FACTS(FACT)                                                                                    \
        FACT(DURATION, "median_ns", NULL, why_facts_duration(w->rank.median_ns), "of these")                  \
        FACT(COUNT, "slow_instances", NULL, view_number(w->collector.n_slow), "how many are slow")            \
        FACT(DURATION, "slow_from_ns", NULL, why_facts_duration(w->rank.slow_ns),                             \
             "from which duration on")                                                                        \
        FACT(DURATION, "slow_sampled_from_ns", NULL, why_facts_duration(w->rank.slow_sampled_ns),             \
             "the same for instances that have a sample and wait for less than 5 times its cost")             \
        FACT(DURATION, "slow_mean_ns", NULL, mean_of(&w->groups[WHY_SLOW]), NULL)                             \
        FACT(STRING, NULL, "slow", view_text(text_of(&s.slow)), NULL)                                         \
        FACT(COUNT, "typical_instances", NULL, view_number(w->collector.n_typical), "how many are not slow")  \
        FACT(DURATION, "typical_mean_ns", NULL, mean_of(&w->groups[WHY_TYPICAL]), NULL)                       \
        FACT(STRING, NULL, "others", view_text(text_of(&s.others)), NULL)                                     \
        FACT(DELTA, "extra_ns", w->survey.durations.n != 0 ? "extra time" : NULL,                             \
             why_facts_delta(w->extra_ns), "the difference of the means: what shares are of")                 \
        FACT(STRING, "ranked_by", NULL, view_words(why_words_by(w->by)),                                      \
             "the time that durations here are of: wall time, time on a CPU and own waits, time on a CPU, "   \
             "own waits")                                                                                     \
        FACT(STRING, "seen_in", "seen in", view_text(text_of(&s.seen_in)),                                    \
             "how common the cause of the answer is, in words")                                               \
        FACT(STRING, NULL, "in common", view_text(text_of(&s.common)), NULL)                                  \
        FACT(STRING, NULL, "ranked by", view_text(text_of(&s.ranked_by)), NULL)                               \
        FACT(STRING, "ranked_without", "left out", view_text(text_of(&s.ranked_without)),                     \
             "what the ranking leaves out, in words")                                                         \
        FACT(SHARE, "machine_share", NULL, view_real(w->machine_share),                                       \
             "the part of the extra wall time in which a thread was ready to run or stopped; with "           \
             "a sign")                                                                                        \
        FACT(DURATION, "sample_cost_ns", NULL, cost_of(w, w->cost.cost_ns),                                   \
             "what a sample costs, which is taken off all durations; null = not known")                       \
        FACT(DURATION, "sample_cost_spread_ns", NULL,                                                         \
             cost_of(w, w->cost.spread_ns), "its spread")
#define EVIDENCE_FACTS(FACT)                                                                                  \
        FACT(COUNT, "slow_compared", NULL, view_number(w->groups[WHY_SLOW].n),                                \
             "slow instances that were examined; means are taken over these")                                 \
        FACT(COUNT, "typical_compared", NULL, view_number(w->groups[WHY_TYPICAL].n), NULL)                    \
        FACT(COUNT, "slow_samples", NULL, view_number(w->n_samples[WHY_SLOW]), "in the slow instances")       \
        FACT(COUNT, "typical_samples", NULL, view_number(w->n_samples[WHY_TYPICAL]), NULL)                    \
        FACT(REAL, "slow_moves", NULL, view_real(w->n_moves[WHY_SLOW]),                                       \
             "times that an instance was seen on another CPU than before, mean")                              \
        FACT(REAL, "typical_moves", NULL, view_real(w->n_moves[WHY_TYPICAL]), NULL)                           \
        FACT(COUNT, "slow_moved", NULL, view_number(w->links.n_moved_slow), "slow instances that moved")      \
        FACT(COUNT, "typical_moved", NULL, view_number(w->links.n_moved_typical), NULL)                       \
        FACT(REAL, "moved_p", NULL, view_real(w->links.moved_p),                                              \
             "the probability of as many moves by chance, given how long the instances are")                  \
        FACT(COUNT, "candidates", NULL, view_number(w->n_tests),                                              \
             "things that were tested; what `p` is corrected for")                                            \
        FACT(SHARE, "unsampled_share", NULL, report_heading_unsampled(&w->survey.unsampled),                  \
             "of the time, or of the count: has no samples; null = less than 1 %, or nothing is known to be " \
             "missing")
/* clang-format on */

static const struct view_column answer_columns[] = { CAUSE_FACTS(VIEW_MEMBER) };
static const struct view_column python_columns[] = { PYTHON_FACTS(VIEW_MEMBER) };
static const struct view_column instances_columns[] = { INSTANCES_FACTS(VIEW_MEMBER) };
static const struct view_column group_columns[] = { GROUPS_FACTS(VIEW_MEMBER) EVIDENCE_FACTS(VIEW_MEMBER) };
const struct answer_part why_facts_answer_part = ANSWER_FACTS(answer_columns);
const struct answer_part why_facts_python_part = ANSWER_FACTS_ABSENT(python_columns);
const struct answer_part why_facts_instances_part = ANSWER_FACTS(instances_columns);
const struct answer_part why_facts_groups_part = ANSWER_FACTS(group_columns);

static void add_answer(struct view_document *d, const struct why *w, const struct loaded_trace *trace)
{
        struct byte_buffer words = { .data = NULL };
        char unsampled[UNSAMPLED_TIME_WORDS_BYTES];

        why_rank_words(w, trace, &words);
        if (words.used_bytes != 0)
                byte_buffer_add_format(&words, ", so the others waited; ");
        why_words_answer(w, trace, &words);
        unsampled_time_clause(&w->survey.unsampled, NULL, unsampled);
        byte_buffer_add(&words, unsampled, strlen(unsampled));
        view_document_set_answer(d, text_of(&words));
        d->failed = d->failed || words.failed;
        byte_buffer_deinit(&words);
}

static void add_cause(struct view_document *d, const struct why *w, struct text_view filter)
{
        const struct why_owner *lead = why_owner_words_find_lead(w);
        const struct why_cause *answer = why_find_answer(w);
        const char *key = answer ? why_words_key(answer->kind) : "none";
        const char *confidence = answer ? why_words_confidence(answer->confidence) : "none";

        if (lead) { /* measured, not judged */
                key = owners_view_key(lead->kind);
                confidence = why_words_confidence(WHY_CONFIDENCE_HIGH);
        }
        CAUSE_FACTS(VIEW_FACT)
}

void why_facts_add(struct view_document *d, const struct why *w, const struct loaded_trace *trace,
                   struct text_view filter)
{
        struct sentences s;

        add_answer(d, w, trace);
        add_cause(d, w, filter);
        if (w->places.folds) {
                PYTHON_FACTS(VIEW_FACT)
        }
        if (w->are_spans)
                why_span_words_add_facts(w, d);
        make_sentences(&s, w, trace);
        INSTANCES_FACTS(VIEW_FACT)
        report_heading_add_lost(d, &w->survey.lost);
        GROUPS_FACTS(VIEW_FACT)
        EVIDENCE_FACTS(VIEW_FACT)
        sentences_deinit(&s, d);
}
