/* SPDX-License-Identifier: MIT */
#include "analyze/samples/unsampled_time.h"

#include "analyze/trace/meta_value.h"
#include "analyze/trace/sample_stats.h"
#include "analyze/walk/trace_filter.h"
#include "analyze/walk/trace_walk.h"
#include "base/clock.h"
#include "base/saturating.h"
#include "base/text_view.h"
#include "format/trace_dictionary.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* With a known reason, a small share is worth a line; without one, it must exceed what chance explains. */
#define SHARE_MIN         0.01
#define SHARE_MIN_UNKNOWN 0.05
#define DEVIATIONS_MIN    4.0
#define SHARE_MIN_PYTHON  0.05               /* a program's first milliseconds never have any */
#define NS_WITHOUT_ANY    UINT64_C(50000000) /* with no sample at all */

uint64_t unsampled_time_lost_records(const struct trace_dictionary *d)
{
        static const enum trace_loss_reason reasons[] = {
                TRACE_LOSS_KERNEL_RING_FULL, TRACE_LOSS_RECORD_GARBAGE, TRACE_LOSS_SAMPLES_LOST,
                TRACE_LOSS_NOT_TAKEN,        TRACE_LOSS_THREAD_UNKNOWN,
        };
        uint64_t n = 0;

        for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
                n = saturating_add(n, trace_dictionary_loss_count(d, reasons[i]));
        return n;
}

/* A sample of an unwanted module does not pass, but the time that it stands for is not known. */
static bool is_time_comparable(const struct trace_walk *walk)
{
        return walk->n_switches != 0 && !(walk->filter && walk->filter->stacks);
}

void unsampled_time_take(struct unsampled_time *ret, const struct trace_walk *walk, uint64_t now_ns)
{
        const struct trace_dictionary *d = walk->dictionary;

        *ret = (struct unsampled_time){
                .n_lost = unsampled_time_lost_records(d),
                .is_whole = !walk->filter || walk->filter->is_empty,
                .is_kernel_refused = trace_dictionary_has_notice(d, TRACE_NOTICE_NO_KERNEL_STACKS),
                .was_paused = trace_dictionary_has_notice(d, TRACE_NOTICE_PAUSED),
                .command_user_ns = meta_value_number(d, "command_user_ns"),
                .command_kernel_ns = meta_value_number(d, "command_kernel_ns"),
                .n_samples = walk->n_samples,
                .n_truncated = walk->n_truncated,
                .n_kept_copies = walk->n_kept_copies,
                .n_python = meta_value_number(d, "python_samples"),
                .n_python_bare = meta_value_number(d, "python_samples_bare"),
                .is_python_late = trace_dictionary_has_notice(d, TRACE_NOTICE_PYTHON_APPROXIMATE),
        };
        bare_stacks_name(&walk->bare_stacks, d, ret->n_truncated, ret->bare_name, sizeof(ret->bare_name));
        if (!is_time_comparable(walk))
                return;
        for (uint32_t i = 0; i < walk->n_threads; i++) {
                const struct walked_thread *thread = &walk->threads[i];
                uint64_t ran_ns;

                if (thread->timeline.is_fiber || !thread->timeline.started ||
                    (walk->filter && !trace_filter_wants_thread(walk->filter, i + 1)))
                        continue;
                ran_ns = now_ns != 0 ? thread_timeline_ran_so_far(&thread->timeline, now_ns)
                                     : trace_walk_ran_ns(walk, thread);
                ret->on_cpu_ns = saturating_add(ret->on_cpu_ns, ran_ns);
                if (thread->n_samples == 0)
                        ret->unseen_ns = saturating_add(ret->unseen_ns, ran_ns);
        }
}

/* The text after the last colon, if it consists of modifiers; "sched:sched_switch" has none. */
static struct text_view find_modifiers(struct text_view name)
{
        static const char letters[] = { 'u', 'k', 'h', 'p', 'P', 'D', 'S', 'W', 'G', 'H', 'I' };
        size_t n = 0;

        while (n < name.n_bytes && memchr(letters, name.bytes[name.n_bytes - n - 1], sizeof(letters)))
                n++;
        if (n == name.n_bytes || name.bytes[name.n_bytes - n - 1] != ':')
                n = 0;
        return (struct text_view){ .bytes = name.bytes + name.n_bytes - n, .n_bytes = n };
}

static void find_left_out(struct unsampled_time *u, struct text_view name)
{
        struct text_view modifiers = { .n_bytes = 0 };
        bool user, kernel;

        if (name.n_bytes != 0)
                modifiers = find_modifiers(name);
        user = modifiers.n_bytes != 0 && memchr(modifiers.bytes, 'u', modifiers.n_bytes);
        kernel = modifiers.n_bytes != 0 && memchr(modifiers.bytes, 'k', modifiers.n_bytes);
        u->is_user_left_out = kernel && !user;
        u->is_kernel_left_out = (user && !kernel) || (u->is_kernel_refused && !u->is_user_left_out);
}

static void set(struct unsampled_time *u, enum unsampled_of of, uint64_t missing, uint64_t whole)
{
        double share = whole != 0 ? (double)missing / (double)whole : 0;

        if (share < SHARE_MIN)
                return;
        u->of = of;
        u->missing = missing;
        u->whole = whole;
        u->share = share;
}

/*
 * In a part of the time, the number of samples varies by chance: some may be missing without a reason.
 */
static bool is_beyond_chance(const struct unsampled_time *u, uint64_t missing, double mean_weight)
{
        double expected = mean_weight > 0 ? (double)u->on_cpu_ns / mean_weight : 0;

        if (!(mean_weight > 0))
                return missing >= NS_WITHOUT_ANY;
        return (double)missing >= SHARE_MIN_UNKNOWN * (double)u->on_cpu_ns &&
               (double)missing / mean_weight > DEVIATIONS_MIN * sqrt(expected);
}

static void judge_time(struct unsampled_time *u, const struct sample_sum *sum, double mean_weight)
{
        uint64_t missing = u->on_cpu_ns > sum->weight ? u->on_cpu_ns - sum->weight : 0;
        bool is_left_out = u->is_kernel_left_out || u->is_user_left_out;
        bool lost_enough = u->n_lost != 0 && (!(mean_weight > 0) || (double)u->n_lost * mean_weight >=
                                                                            SHARE_MIN * (double)u->on_cpu_ns);
        bool has_reason = lost_enough || is_left_out || u->was_paused;

        if (has_reason ? (double)missing < SHARE_MIN * (double)u->on_cpu_ns
                       : !is_beyond_chance(u, missing, mean_weight))
                return;
        set(u, UNSAMPLED_ON_CPU, missing, u->on_cpu_ns);
        u->whole_weight = fmax(u->whole_weight, (double)missing);
        if (!is_left_out)
                u->lost_weight = fmax(u->lost_weight, (double)missing);
        else if (u->unseen_ns != 0)
                u->lost_weight += fmin((double)u->unseen_ns, (double)missing);
}

/* The last row of an event counts. */
static uint64_t counted_of(const struct trace_dictionary *d, uint32_t event)
{
        double counted = 0;

        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_COUNTERS); i++) {
                const struct trace_counter *row = trace_dictionary_row(d, TRACE_TABLE_COUNTERS, i);

                if (row->event == event)
                        counted = row->running_ns != 0 ? (double)row->value * ((double)row->enabled_ns /
                                                                               (double)row->running_ns)
                                                       : 0;
        }
        return counted < (double)UINT64_MAX ? (uint64_t)counted : UINT64_MAX;
}

static void judge_count(struct unsampled_time *u, const struct trace_dictionary *d, uint32_t event,
                        const struct sample_sum *sum)
{
        const struct trace_sample_event *row = trace_dictionary_row(d, TRACE_TABLE_SAMPLE_EVENTS, event);
        struct text_view name = trace_dictionary_text(d, row->name);
        uint64_t counted = counted_of(d, event);
        uint64_t missing = counted > sum->weight ? counted - sum->weight : 0;
        double mean_weight = sum->n_samples != 0 ? (double)sum->weight / (double)sum->n_samples : 0;
        double period = row->mode == TRACE_SAMPLE_MODE_PERIOD ? (double)row->rate : mean_weight;
        uint32_t n_threads = trace_dictionary_count(d, TRACE_TABLE_THREADS);

        /* Counts since the last sample of each thread belong to samples that were still to come. */
        if ((double)missing < SHARE_MIN_UNKNOWN * (double)counted || missing == 0 ||
            (double)missing <= period * (1 + (double)n_threads))
                return;
        set(u, UNSAMPLED_COUNT, missing, counted);
        (void)snprintf(u->unit, sizeof(u->unit), "%.*s", (int)(name.n_bytes < 23 ? name.n_bytes : 23),
                       name.n_bytes != 0 ? name.bytes : "");
        u->whole_weight = fmax(u->whole_weight, (double)missing);
        u->lost_weight = fmax(u->lost_weight, (double)missing);
}

/* Work that moved into the kernel has no samples: it may weigh as much per nanosecond as the sampled work. */
static void judge_command(struct unsampled_time *u, const struct sample_sum *sum)
{
        set(u, UNSAMPLED_COMMAND, u->command_kernel_ns,
            saturating_add(u->command_user_ns, u->command_kernel_ns));
        if (u->command_user_ns != 0)
                u->whole_weight = fmax(u->whole_weight, (double)sum->weight * (double)u->command_kernel_ns /
                                                                (double)u->command_user_ns);
}

static bool is_weighed(const struct trace_sample_event *row, const struct sample_sum *sum)
{
        return row->mode != TRACE_SAMPLE_MODE_WITH_LEADER && row->mode != TRACE_SAMPLE_MODE_COUNTED &&
               (sum->weight > sum->n_samples || sum->n_samples == 0); /* a sample without weight weighs 1 */
}

/* The event that should have samples; 0 = nothing is sampled. */
static uint32_t first_sampled_event(const struct trace_dictionary *d)
{
        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_SAMPLE_EVENTS); i++) {
                const struct trace_sample_event *row = trace_dictionary_row(d, TRACE_TABLE_SAMPLE_EVENTS, i);

                if (row->mode != TRACE_SAMPLE_MODE_WITH_LEADER && row->mode != TRACE_SAMPLE_MODE_COUNTED)
                        return i;
        }
        return 0;
}

void unsampled_time_judge(struct unsampled_time *u, const struct trace_dictionary *d, uint32_t event,
                          const struct sample_sum *sum)
{
        const struct trace_sample_event *row;
        double mean_weight = sum->n_samples != 0 ? (double)sum->weight / (double)sum->n_samples : 0;
        bool is_time, is_pace;

        if (event == 0)
                event = first_sampled_event(d);
        if (event == 0)
                return;
        row = trace_dictionary_row(d, TRACE_TABLE_SAMPLE_EVENTS, event);
        is_time = text_view_is(trace_dictionary_text(d, row->unit), "ns");
        is_pace = is_time || text_view_is(trace_dictionary_text(d, row->unit), "cycles");
        if (is_pace)
                find_left_out(u, trace_dictionary_text(d, row->name));
        u->lost_weight = u->whole_weight = (double)u->n_lost * mean_weight;
        if (is_time && u->on_cpu_ns != 0 && is_weighed(row, sum))
                judge_time(u, sum, mean_weight);
        else if (is_pace && u->is_kernel_left_out && u->is_whole && u->command_kernel_ns != 0)
                judge_command(u, sum);
        else if (!is_time && u->is_whole && is_weighed(row, sum))
                judge_count(u, d, event, sum);
        if (u->of == UNSAMPLED_NONE && u->n_lost != 0 && !(is_time && u->on_cpu_ns != 0))
                set(u, UNSAMPLED_RECORDS, u->n_lost, saturating_add(u->n_lost, sum->n_samples));
}

/* ------------------------------------------------------------------ words */

struct unsampled_line {
        char *text;
        size_t used_bytes;
};

static void say(struct unsampled_line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void say(struct unsampled_line *l, const char *format, ...)
{
        size_t room = UNSAMPLED_TIME_WORDS_BYTES - l->used_bytes;
        va_list args;
        int n;

        va_start(args, format);
        n = vsnprintf(l->text + l->used_bytes, room, format, args);
        va_end(args);
        if (n > 0)
                l->used_bytes += (size_t)n < room ? (size_t)n : room - 1;
}

static void say_ns(struct unsampled_line *l, uint64_t ns)
{
        if (ns >= NS_PER_S)
                say(l, "%.2f s", (double)ns / 1e9);
        else if (ns >= 1000000)
                say(l, "%.1f ms", (double)ns / 1e6);
        else
                say(l, "%.1f us", (double)ns / 1e3);
}

/* Never 100%: there are samples; an unknown part may be small. */
static double percent_unsampled(const struct unsampled_time *u)
{
        double percent = 100 * u->share;

        return percent > 99.9 && u->missing < u->whole ? 99.9 : percent;
}

static void say_reasons(struct unsampled_line *l, const struct unsampled_time *u)
{
        const char *separator = ": ";

        if (u->is_kernel_left_out || u->is_user_left_out) {
                say(l, "%s%s", separator,
                    u->is_user_left_out    ? "that in user code, which the event leaves out"
                    : u->is_kernel_refused ? "that in the kernel, which this user may not sample"
                                           : "that in the kernel, which the event leaves out");
                separator = ", and ";
        }
        if (u->n_lost != 0) {
                say(l, "%s%" PRIu64 " lost kernel record%s", separator, u->n_lost, u->n_lost == 1 ? "" : "s");
                separator = ", and ";
        }
        if (u->of == UNSAMPLED_ON_CPU && u->unseen_ns > u->missing / 10) {
                say(l, "%sthreads that were too short to be sampled", separator);
                separator = ", and ";
        }
        if (u->was_paused) {
                say(l, "%sthe recording was paused", separator);
                separator = ", and ";
        }
        if (strcmp(separator, ": ") == 0)
                say(l, "%s",
                    u->of == UNSAMPLED_COUNT ? ": the counter's interrupts came late, or were throttled"
                                             : ": the timer came late; the machine was busy or virtual");
}

void unsampled_time_words(const struct unsampled_time *u, char words[UNSAMPLED_TIME_WORDS_BYTES])
{
        struct unsampled_line l = { .text = words };

        words[0] = '\0';
        if (u->of == UNSAMPLED_NONE)
                return;
        if (u->of == UNSAMPLED_RECORDS) {
                say(&l, "up to %.1f%% of the samples are missing", percent_unsampled(u));
        } else if (u->of == UNSAMPLED_COUNT) {
                say(&l, "%" PRIu64 " of %" PRIu64 " %s (%.1f%%) have no samples", u->missing, u->whole,
                    u->unit, percent_unsampled(u));
        } else {
                say_ns(&l, u->missing);
                say(&l, " of ");
                say_ns(&l, u->whole);
                say(&l, " %s (%.1f%%) have no samples",
                    u->of == UNSAMPLED_ON_CPU ? "on CPUs" : "of the command's processor time",
                    percent_unsampled(u));
        }
        say_reasons(&l, u);
        say(&l, "; shares are of the rest");
}

void unsampled_time_truncated(const struct unsampled_time *u, char words[UNSAMPLED_TIME_WORDS_BYTES])
{
        double share = u->n_samples != 0 ? (double)u->n_truncated / (double)u->n_samples : 0;
        struct unsampled_line l = { .text = words };

        words[0] = '\0';
        if (share < SHARE_MIN)
                return;
        say(&l,
            "%.1f%% of the call stacks are truncated: callers are missing there, and totals of functions lack these "
            "samples",
            100 * share);
        if (u->bare_name[0] != '\0')
                say(&l,
                    "; most end in %s, which has no unwind tables: compile it with -fasynchronous-unwind-tables%s",
                    u->bare_name,
                    u->n_kept_copies == 0 ? ", or keep its unstripped file and record with --keep-stacks=cut"
                                          : "");
        if (u->n_kept_copies != 0)
                say(&l,
                    "; copies of %" PRIu64
                    " of these stacks are kept: hyprof symbolize --debug-dir DIR finishes them "
                    "by the tables of unstripped files in DIR",
                    u->n_kept_copies);
}

double unsampled_time_python_share(const struct unsampled_time *u)
{
        /* The trace may state more bare samples than samples. */
        double share = u->n_python != 0 && u->n_python_bare <= u->n_python
                               ? (double)u->n_python_bare / (double)u->n_python
                               : 0;

        return share >= SHARE_MIN_PYTHON ? share : 0;
}

void unsampled_time_python(const struct unsampled_time *u, char words[UNSAMPLED_TIME_WORDS_BYTES])
{
        double share = unsampled_time_python_share(u);

        words[0] = '\0';
        if (share > 0)
                (void)snprintf(words, UNSAMPLED_TIME_WORDS_BYTES,
                               "%.1f%% of %s samples in Python code (%" PRIu64 " of %" PRIu64
                               ") have no Python functions%s; shares of Python functions are too small",
                               100 * share, u->is_whole ? "the" : "the recording's", u->n_python_bare,
                               u->n_python,
                               u->is_python_late
                                       ? ": without BPF they are read after the sample (at the sample: sudo "
                                         "hyprof record)"
                                       : "");
}

void unsampled_time_clause(const struct unsampled_time *u, const char *side,
                           char words[UNSAMPLED_TIME_WORDS_BYTES])
{
        struct unsampled_line l = { .text = words };
        double python_share = unsampled_time_python_share(u);

        words[0] = '\0';
        if (u->of != UNSAMPLED_NONE)
                say(&l, "; %s%s%s%.1f%% %s", side ? side : "", side ? ": " : "",
                    u->of == UNSAMPLED_RECORDS ? "up to " : "", percent_unsampled(u),
                    u->of == UNSAMPLED_RECORDS ? "of the samples are missing"
                    : u->of == UNSAMPLED_COUNT ? "of the count has no samples"
                                               : "of the time has no samples");
        if (python_share > 0 && u->is_whole)
                say(&l, "; %s%s%.1f%% of the samples in Python code have no Python functions",
                    side ? side : "", side ? ": " : "", 100 * python_share);
}

void unsampled_time_brief(const struct unsampled_time *u, char words[UNSAMPLED_TIME_WORDS_BYTES])
{
        bool is_lost = u->of == UNSAMPLED_RECORDS ||
                       (u->n_lost != 0 && !u->is_kernel_left_out && !u->is_user_left_out);

        words[0] = '\0';
        if (u->of == UNSAMPLED_NONE)
                return;
        if (is_lost)
                (void)snprintf(words, UNSAMPLED_TIME_WORDS_BYTES, "%s%.1f%% lost",
                               u->of == UNSAMPLED_RECORDS ? "up to " : "", percent_unsampled(u));
        else
                (void)snprintf(words, UNSAMPLED_TIME_WORDS_BYTES, "none for %.1f%% of the %s",
                               percent_unsampled(u), u->of == UNSAMPLED_COUNT ? "count" : "time");
}
