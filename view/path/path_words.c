/* SPDX-License-Identifier: MIT */
#include "view/path/path_words.h"

#include "analyze/trace/zone_pattern.h"
#include "analyze/walk/loaded_trace.h"
#include "base/byte_buffer.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "view/shared/answer_words.h"
#include "view/shared/asked_zone.h"
#include "view/shared/report_names.h"
#include "view/text/text_number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows after the first that the sentence has. */
#define OTHERS_MAX 3
/* The part of the time from which on a program itself is what it waits for. */
#define ITSELF_MIN 0.9
/* Where no function has this share, programs are named instead. */
#define FUNCTION_MIN 0.1
/* The same of what other threads did, where other programs had the CPUs for most of the time. */
#define OTHER_THREADS_MIN 0.1
/* Names between the first thread and the last one of a chain. */
#define THROUGH_MAX 3

static const char *const row_words[] = {
        [PATH_ROW_RUN] = "run",
        [PATH_ROW_SPIN] = "spin",
        [PATH_ROW_WAIT] = "unknown",
        [PATH_ROW_LOCK] = "lock",
        [PATH_ROW_OWN] = "preempted",
        [PATH_ROW_PROGRAM] = "other-process",
        [PATH_ROW_THROTTLED] = "throttled",
        [PATH_ROW_OTHERS] = "others",
        [PATH_ROW_UNBORN] = "unborn",
        [PATH_ROW_CUT] = "cut",
        [PATH_ROW_DEVICE] = "device",
        [PATH_ROW_LAUNCH] = "launch",
        [PATH_ROW_OPEN] = "not-ended",
};

const char *path_words_kind(const struct path_row_key *key)
{
        return key->kind == PATH_ROW_WAIT ? wait_end_word(key->end) : row_words[key->kind];
}

const char *path_words_doing(const struct path_row_key *key)
{
        static const char *const rows[] = {
                [PATH_ROW_RUN] = "ran",
                [PATH_ROW_SPIN] = "spun",
                [PATH_ROW_WAIT] = "waited",
                [PATH_ROW_LOCK] = "waited for a lock",
                [PATH_ROW_OWN] = "no CPU: own threads",
                [PATH_ROW_PROGRAM] = "no CPU: programs",
                [PATH_ROW_THROTTLED] = "throttled",
                [PATH_ROW_OTHERS] = "no CPU: others",
                [PATH_ROW_UNBORN] = "not there yet",
                [PATH_ROW_CUT] = "left out",
                [PATH_ROW_DEVICE] = "ran on a device",
                [PATH_ROW_LAUNCH] = "not begun by a device",
                [PATH_ROW_OPEN] = "waited, not ended",
        };
        static const char *const ends[] = {
                [WAIT_END_UNKNOWN] = "waited",
                [WAIT_END_THREAD] = "waited for a thread",
                [WAIT_END_PROGRAM] = "waited for a program",
                [WAIT_END_TIMER] = "slept",
                [WAIT_END_DISK] = "waited for the disk",
                [WAIT_END_NETWORK] = "waited for the network",
                [WAIT_END_INTERRUPT] = "waited for an interrupt",
        };

        return key->kind == PATH_ROW_WAIT ? ends[key->end] : rows[key->kind];
}

const char *path_words_confidence(enum path_confidence confidence)
{
        static const char *const words[] = { [PATH_CONFIDENCE_LOW] = "low",
                                             [PATH_CONFIDENCE_MEDIUM] = "medium",
                                             [PATH_CONFIDENCE_HIGH] = "high" };

        return words[confidence];
}

struct text_view path_words_group_name(const struct path_names *names, uint32_t group)
{
        struct text_view name = trace_dictionary_text(names->trace->dictionary,
                                                      names->groups[group - 1].name);

        return name.n_bytes != 0 ? name : report_names_words("[no name]");
}

struct text_view path_words_function_name(const struct path_names *names, uint32_t label)
{
        enum function_kind kind;
        struct text_view name = path_names_function(names, label, &kind);

        return label != 0 ? report_names_function(name, kind) : name;
}

struct text_view path_words_group(const struct path *p, uint32_t group)
{
        return path_words_group_name(&p->names, group);
}

struct text_view path_words_function(const struct path *p, uint32_t label)
{
        return path_words_function_name(&p->names, label);
}

struct text_view path_words_call(const struct path *p, uint32_t label)
{
        struct text_view name = path_words_function(p, label);

        while (name.n_bytes > 1 && name.bytes[0] == '_') {
                name.bytes++;
                name.n_bytes--;
        }
        return name;
}

/* ------------------------------------------------------------------ devices */

bool path_words_is_device(const struct path_row_key *key)
{
        return key->kind == PATH_ROW_DEVICE || key->kind == PATH_ROW_LAUNCH;
}

struct text_view path_words_work(const struct path *p, uint32_t work)
{
        const struct device_work_name *name = intern_get(&p->works.names, work, NULL);

        return zone_pattern_name_of(p->trace->dictionary, name->location);
}

void path_words_put_device(const struct path *p, uint32_t work, uint32_t lane, struct byte_buffer *b)
{
        const struct device_work_name *name = intern_get(&p->works.names, work, NULL);
        const struct trace_device *device = trace_dictionary_row(p->trace->dictionary, TRACE_TABLE_DEVICES,
                                                                 name->device);
        struct text_view text = trace_dictionary_text(p->trace->dictionary, device->name);
        bool is_named = lane != PATH_WORDS_NO_LANE && lane_names_track(&p->lanes, name->device, lane) != 0;

        if (is_named || (lane != PATH_WORDS_NO_LANE && lane != 0))
                lane_names_put_whole(&p->lanes, b, name->device, lane, 0);
        else
                byte_buffer_add(b, text.n_bytes != 0 ? text.bytes : "device",
                                text.n_bytes != 0 ? text.n_bytes : strlen("device"));
}

uint32_t path_words_lane(const struct path *p, uint32_t row)
{
        struct path_top top = path_sums_top(&p->sums, row, PATH_DETAIL_LANE);

        return top.key && top.share >= 0.5 ? top.key->a : PATH_WORDS_NO_LANE;
}

/* "matmul on tt:0 / core 3", "the launch of matmul on tt:0 / core 3" */
static void add_device(struct answer_words *out, const struct path *p, uint32_t row)
{
        const struct path_row_key *key = path_sums_key(&p->sums, row);
        struct byte_buffer device = { .data = NULL };

        answer_words_add(out, key->kind == PATH_ROW_LAUNCH ? "the launch of " : "");
        answer_words_add_name(out, path_words_work(p, key->work));
        path_words_put_device(p, key->work, path_words_lane(p, row), &device);
        answer_words_add(out, " on ");
        answer_words_add_name(out, (struct text_view){ (const char *)device.data, device.used_bytes });
        byte_buffer_deinit(&device);
}

/* ------------------------------------------------------------------ parts of the sentence */

static void add_share(struct answer_words *out, double share)
{
        answer_words_add(out, "%.0f%%", fmin(fmax(share, 0), 1) * 100);
}

static void add_quoted(struct answer_words *out, struct text_view name)
{
        answer_words_add(out, "'");
        answer_words_add_name(out, name);
        answer_words_add(out, "'");
}

static bool is_first_program(const struct path *p, uint32_t group)
{
        uint32_t first = p->shown.thread != 0 ? path_names_group(&p->names, p->shown.thread) : group;

        return p->names.groups[first - 1].program == p->names.groups[group - 1].program;
}

/* A process of the same program, which the first one has started perhaps. */
static bool is_other_process(const struct path *p, uint32_t row)
{
        uint32_t process = p->sums.rows[row - 1].process;

        return p->shown.thread != 0 && process != 0 && process != past_of(&p->past, p->shown.thread)->process;
}

/* "thread ", "another thread " than the first one, which has the same name, or "fiber ". */
static const char *who_it_is(const struct path *p, uint32_t row)
{
        uint32_t group = path_sums_key(&p->sums, row)->group, thread = p->sums.rows[row - 1].thread;
        const struct trace_thread *first = trace_dictionary_row(p->trace->dictionary, TRACE_TABLE_THREADS,
                                                                p->names.groups[group - 1].first);

        if (first->kind == TRACE_THREAD_FIBER)
                return "fiber ";
        return thread != 0 && p->shown.thread != 0 && thread != p->shown.thread &&
                               path_names_group(&p->names, p->shown.thread) == group
                       ? "another thread "
                       : "thread ";
}

/* "main", of the first thread; "thread 'flusher'"; "process 'server' (2811)". */
static void add_who(struct answer_words *out, const struct path *p, uint32_t row, bool is_long)
{
        const struct path_row_key *key = path_sums_key(&p->sums, row);
        const struct path_group *g = &p->names.groups[key->group - 1];
        const struct trace_process *process;

        if (key->is_first && p->sums.are_several) {
                answer_words_add(out, p->request.zone ? "its thread" : "the thread");
                return;
        }
        if (key->is_first) {
                answer_words_add_name(out, path_words_group(p, key->group));
                return;
        }
        if (is_first_program(p, key->group) && !is_other_process(p, row)) {
                answer_words_add(out, "%s", is_long ? who_it_is(p, row) : "");
                add_quoted(out, path_words_group(p, key->group));
                return;
        }
        answer_words_add(out, is_long ? "process " : "");
        add_quoted(out, path_words_group(p, key->group));
        if (g->n_processes != 1 || p->sums.rows[row - 1].process == 0)
                return;
        process = trace_dictionary_row(p->trace->dictionary, TRACE_TABLE_PROCESSES,
                                       p->sums.rows[row - 1].process);
        answer_words_add(out, " (%u)", process->pid);
}

/* "; meanwhile 'w' ran compute() for 70%" */
static void add_meanwhile(struct answer_words *out, const struct path *p, uint32_t row)
{
        const struct path_meanwhile did = path_row_meanwhile(p, row);

        if (did.group == 0 || did.share < PATH_WORDS_SHARE_MIN)
                return;
        answer_words_add(out, "; meanwhile ");
        add_quoted(out, path_words_group(p, did.group));
        answer_words_add(out, " ran ");
        answer_words_add_function(out, path_words_function(p, did.label));
        answer_words_add(out, " for ");
        add_share(out, did.share);
}

/* @before, and " in fdatasync()": what the program called, or else its own function; nothing if unknown. */
static void add_where(struct answer_words *out, const struct path *p, const struct path_row_key *key,
                      bool is_own, const char *before)
{
        struct text_view name = is_own || key->call == 0 ? path_words_function(p, key->own)
                                                         : path_words_call(p, key->call);

        if (name.n_bytes == 0 || name.bytes[0] == '[')
                return;
        answer_words_add(out, "%s in ", before);
        answer_words_add_function(out, name);
}

static void add_wait(struct answer_words *out, const struct path *p, uint32_t row)
{
        const struct path_row_key *key = path_sums_key(&p->sums, row);

        switch ((enum wait_end_kind)key->end) {
        case WAIT_END_TIMER:
                answer_words_add(out, "slept");
                add_where(out, p, key, true, "");
                answer_words_add(out, " until its own timer");
                add_meanwhile(out, p, row);
                return;
        case WAIT_END_DISK:
                answer_words_add(out, "waited for the disk");
                break;
        case WAIT_END_NETWORK:
                answer_words_add(out, "waited for the network");
                break;
        case WAIT_END_INTERRUPT:
                answer_words_add(out, "waited for an interrupt");
                break;
        case WAIT_END_PROGRAM:
                answer_words_add(out, "waited for ");
                add_quoted(out, trace_dictionary_text(p->trace->dictionary, key->by));
                answer_words_add(out, ", which was not recorded");
                add_where(out, p, key, false, ",");
                return;
        case WAIT_END_UNKNOWN:
        case WAIT_END_THREAD:
        case WAIT_END_KINDS:
                answer_words_add(out, p->has_wakeups ? "waited for something that is not known" : "waited");
                break;
        }
        add_where(out, p, key, false, "");
}

static unsigned n_cpus(const struct path *p)
{
        return (unsigned)loaded_trace_meta_number(p->trace, "cpus");
}

/* How many threads took the CPU from those of the row: they are the same ones if they are named alike. */
static uint32_t count_owners(const struct path *p, uint32_t row)
{
        uint32_t n = 0;

        for (uint32_t id = 1; id <= p->sums.detail_keys.n_items; id++) {
                const struct path_detail_key *key = intern_get(&p->sums.detail_keys, id, NULL);

                if (key->row == row && key->kind == PATH_DETAIL_OWNER && p->sums.details[id - 1] > 0)
                        n += p->names.groups[key->a - 1].n_threads;
        }
        return n;
}

/* The thread of the row ended waits for locks, on most of its chains. */
static bool held_lock(const struct path *p, uint32_t row)
{
        struct path_top top = path_sums_top(&p->sums, row, PATH_DETAIL_CHAIN);
        const struct path_link *link = top.key ? path_walk_link(&p->walk, top.key->a) : NULL;

        return link && link->how == PATH_HOW_LOCK;
}

/* " (10 of 40 ms)", if the quota is known. */
static void add_quota(struct answer_words *out, const struct path *p)
{
        struct text_view text = loaded_trace_meta(p->trace, "cpu_quota");
        char copy[64], *slash;
        uint64_t quota_us, period_us;

        (void)snprintf(copy, sizeof(copy), "%.*s", (int)(text.n_bytes < 63 ? text.n_bytes : 63),
                       text.bytes ? text.bytes : "");
        quota_us = strtoull(copy, &slash, 10);
        period_us = *slash == '/' ? strtoull(slash + 1, NULL, 10) : 0;
        if (period_us != 0)
                answer_words_add(out, " (%.3g of %.3g ms)", (double)quota_us / 1e3, (double)period_us / 1e3);
}

/*
 * Other programs had the CPUs for so long that who of the program's own threads was on which one, and who
 * came late where they meet, is their work.
 */
static bool is_overrun(const struct path *p)
{
        return path_kind_share(p, PATH_ROW_OTHERS) > PATH_OTHERS_MOST;
}

/* Threads of the program had the CPU. */
static void add_own(struct answer_words *out, const struct path *p, uint32_t row)
{
        struct path_top owner = path_sums_top(&p->sums, row, PATH_DETAIL_OWNER);
        const struct path_meanwhile did = path_row_meanwhile(p, row);

        answer_words_add(out, "%scould not run: ", held_lock(p, row) ? "held the lock and " : "");
        if (is_overrun(p)) {
                answer_words_add(out, "other programs and threads of this one had the CPUs");
                return;
        }
        if (!owner.key || owner.share < 0.5) {
                answer_words_add(out, "other threads of this program had its CPU");
                return;
        }
        answer_words_add(out,
                         owner.key->a == path_sums_key(&p->sums, row)->group ? "another thread " : "thread ");
        add_quoted(out, path_words_group(p, owner.key->a));
        answer_words_add(out, " had its CPU");
        if (did.group != owner.key->a)
                return;
        answer_words_add(out, ", in ");
        answer_words_add_function(out, path_words_function(p, did.label));
}

void path_words_add_doing(struct answer_words *out, const struct path *p, uint32_t row)
{
        const struct path_row_key *key = path_sums_key(&p->sums, row);

        switch ((enum path_row_kind)key->kind) {
        case PATH_ROW_RUN:
        case PATH_ROW_SPIN:
                answer_words_add(out, key->kind == PATH_ROW_RUN ? "ran" : "spun");
                if (key->own != 0) {
                        answer_words_add(out, key->kind == PATH_ROW_RUN ? " " : " in ");
                        answer_words_add_function(out, path_words_function(p, key->own));
                }
                if (key->kind == PATH_ROW_SPIN)
                        add_meanwhile(out, p, row);
                return;
        case PATH_ROW_WAIT:
                add_wait(out, p, row);
                return;
        case PATH_ROW_LOCK:
                answer_words_add(out, "waited for a lock that no thread is known to have held");
                add_where(out, p, key, false, "");
                return;
        case PATH_ROW_OWN:
                add_own(out, p, row);
                return;
        case PATH_ROW_THROTTLED:
                answer_words_add(out, "was throttled by the CPU quota");
                add_quota(out, p);
                return;
        case PATH_ROW_PROGRAM:
        case PATH_ROW_OTHERS:
                answer_words_add(out, "could not run: other programs had its CPU");
                return;
        case PATH_ROW_UNBORN:
                answer_words_add(out, "was not there yet");
                return;
        case PATH_ROW_OPEN:
                answer_words_add(out, "waited");
                add_where(out, p, key, false, "");
                answer_words_add(out, " to the end of the recording");
                return;
        case PATH_ROW_DEVICE:
        case PATH_ROW_LAUNCH:
                add_device(out, p, row);
                return;
        case PATH_ROW_CUT:
        case PATH_ROW_KINDS:
                break;
        }
        answer_words_add(out, "[left out: too long ago, or too much]");
}

/* " in pthread_mutex_lock()": where the first thread waited, if that is known. */
static void add_first_wait(struct answer_words *out, const struct path *p, const struct path_link *first)
{
        uint32_t id = path_names_known(&p->names, first->stack);
        const struct path_place *place = id != 0 ? path_names_get(&p->names, id) : NULL;

        if (!place || (place->call == 0 && place->own == 0))
                return;
        answer_words_add(out, " in ");
        answer_words_add_function(out, place->call != 0 ? path_words_call(p, place->call)
                                                        : path_words_function(p, place->own));
}

void path_words_add_chain(struct answer_words *out, const struct path *p, uint32_t row)
{
        const struct path_link *links[PATH_WALK_DEPTH_MAX + 1], *first;
        const struct path_row_key *key = path_sums_key(&p->sums, row);
        struct path_top top = path_sums_top(&p->sums, row, PATH_DETAIL_CHAIN);
        uint32_t n = 0, n_through = 0, last = 0;

        for (uint32_t chain = top.key ? top.key->a : 0; chain != 0 && n <= PATH_WALK_DEPTH_MAX;
             chain = links[n - 1]->parent)
                links[n++] = path_walk_link(&p->walk, chain);
        if (n == 0)
                return;
        first = links[n - 1];
        answer_words_add(out, first->how == PATH_HOW_MADE ? ", made by " : "; ");
        answer_words_add_name(out, path_words_group(p, path_names_group(&p->names, first->thread)));
        if (first->how == PATH_HOW_MADE)
                return;
        answer_words_add(out, " waited for it");
        add_first_wait(out, p, first);
        answer_words_add(out, first->how == PATH_HOW_SENT   ? " (TCP on this machine)"
                              : first->how == PATH_HOW_FLOW ? " (a flow of the program)"
                                                            : "");
        for (uint32_t i = n - 1; i-- > 0;) {
                uint32_t group = path_names_group(&p->names, links[i]->thread);

                if (group == last || (group == key->group && !path_words_is_device(key)))
                        continue;
                if (n_through++ == THROUGH_MAX) {
                        answer_words_add(out, " ...");
                        return;
                }
                answer_words_add(out, n_through == 1 ? ", through " : ", ");
                add_quoted(out, path_words_group(p, group));
                last = group;
        }
}

/* ------------------------------------------------------------------ the sentence */

/*
 * "'frame' (150 instances, mean 8.10 ms)", "'frame' (8.10 ms)" of the one asked for, "the run (2.58 s)",
 * "the runs of 2 threads (mean 2.58 s)"
 */
static void add_subject(struct answer_words *out, const struct path *p)
{
        uint64_t mean_ns = p->n_examined != 0 ? p->total_ns / p->n_examined : 0;

        if (!p->request.zone && p->n_examined > 1) {
                answer_words_add(out, "the %s of %s (mean %s)", p->is_range ? "range" : "runs",
                                 text_number_counted(p->n_examined, "threads").text,
                                 text_number_duration(mean_ns).text);
                return;
        }
        if (!p->request.zone) {
                answer_words_add(out, p->is_range ? "the range (%s)" : "the run (%s)",
                                 text_number_duration(mean_ns).text);
                return;
        }
        add_quoted(out, asked_zone_name(p->trace->dictionary, p->request.zone));
        if (path_is_of_one(p))
                answer_words_add(out, " (%s)", text_number_duration(mean_ns).text);
        else
                answer_words_add(out, " (%s, mean %s)", text_number_counted(p->n_examined, "instances").text,
                                 text_number_duration(mean_ns).text);
}

static double others_share(const struct path *p)
{
        double share = 0;

        for (uint32_t i = 0; i < p->n_rows; i++) {
                const struct path_row_key *key = path_sums_key(&p->sums, p->order[i]);

                if (!(key->is_first && key->kind == PATH_ROW_RUN))
                        share += path_row_share(p, p->order[i]);
        }
        return share;
}

static double unknown_share(const struct path *p)
{
        double share = 0;

        for (uint32_t i = 0; i < p->n_rows; i++) {
                const struct path_row_key *key = path_sums_key(&p->sums, p->order[i]);

                if (key->kind == PATH_ROW_WAIT && key->end == WAIT_END_UNKNOWN)
                        share += path_row_share(p, p->order[i]);
        }
        return share;
}

/* It is certain which of the recorded programs had the CPU, but not what the others make late. */
static void add_others(struct answer_words *out, const struct path *p)
{
        double others = path_kind_share(p, PATH_ROW_OTHERS), recorded = path_kind_share(p, PATH_ROW_PROGRAM);

        if (p->machine_share <= PATH_OTHERS_MANY)
                return;
        answer_words_add(out, "; other %sprograms had the CPUs for ",
                         others < PATH_WORDS_SHARE_MIN ? "recorded " : "");
        add_share(out, p->machine_share);
        answer_words_add(out, " of the time%s, shares are of the rest%s",
                         recorded > others && others >= PATH_WORDS_SHARE_MIN ? ", most of it recorded ones"
                                                                             : "",
                         others > PATH_OTHERS_MANY ? ": less certain" : "");
}

static void add_tail(struct answer_words *out, const struct path *p)
{
        double left_out = path_kind_rest_share(p, PATH_ROW_CUT), unknown = path_unknown_share(p);
        bool is_less_certain = p->has_wakeups && unknown > PATH_UNKNOWN_MANY;

        if (!p->has_switches)
                answer_words_add(out,
                                 "; when it ran and when it waited is not recorded: no context switches");
        else if (!p->has_wakeups && unknown_share(p) >= PATH_WORDS_SHARE_MIN)
                answer_words_add(out, "; for whom it waited is not recorded: record with --off-cpu");
        if (left_out >= PATH_WORDS_SHARE_MIN) {
                answer_words_add(out, "; ");
                add_share(out, left_out);
                answer_words_add(out, " is left out: too long ago, or too much");
                unknown -= left_out;
        }
        if (is_less_certain && unknown >= PATH_WORDS_SHARE_MIN) {
                answer_words_add(out, "; ");
                add_share(out, unknown);
                answer_words_add(out, " is not known");
        }
        if (is_less_certain)
                answer_words_add(out, ": less certain");
        if (p->unsampled_share > PATH_UNSAMPLED_MANY) {
                answer_words_add(out, "; ");
                add_share(out, p->unsampled_share);
                answer_words_add(out, " of the time on CPUs has no samples: less certain");
        }
        if (p->lost_share > PATH_LOST_MANY) {
                answer_words_add(out, "; ");
                add_share(out, p->lost_share);
                answer_words_add(out, " of the context switches were lost: less certain");
        }
        add_others(out, p);
}

/* "main itself ran serial()", "matmul on tt:0"; @is_first_row: of the sentence */
static void add_who_does(struct answer_words *out, const struct path *p, uint32_t row, bool is_first_row)
{
        const struct path_row_key *key = path_sums_key(&p->sums, row);

        if (!path_words_is_device(key)) {
                add_who(out, p, row, is_first_row);
                answer_words_add(out, is_first_row && key->is_first && key->kind == PATH_ROW_RUN ? " itself "
                                                                                                 : " ");
        }
        path_words_add_doing(out, p, row);
}

/* Rows of what is left out are in the last words of the sentence. */
static bool is_told(const struct path *p, uint32_t row)
{
        return path_sums_key(&p->sums, row)->kind != PATH_ROW_CUT;
}

/* Below a tenth, such a machine may be all that made another thread late. */
static double mentioned_from(const struct path *p, const struct path_row_key *key)
{
        return is_overrun(p) && !key->is_first ? OTHER_THREADS_MIN : PATH_WORDS_SHARE_MIN;
}

static void add_more_rows(struct answer_words *out, const struct path *p, uint32_t first)
{
        int n = 0;

        for (uint32_t i = 0; i < p->n_rows && n < OTHERS_MAX; i++) {
                uint32_t row = p->order[i];
                double share = path_row_share(p, row);

                if (row == first || !is_told(p, row) ||
                    share < mentioned_from(p, path_sums_key(&p->sums, row)))
                        continue;
                n++;
                answer_words_add(out, "; ");
                add_share(out, share);
                answer_words_add(out, " ");
                add_who_does(out, p, row, false);
        }
}

static bool is_ready_first(const struct path_row_key *key)
{
        return key->is_first && key->kind == PATH_ROW_OWN;
}

static void add_first_row(struct answer_words *out, const struct path *p, uint32_t row)
{
        const struct path_row_key *key = path_sums_key(&p->sums, row);
        struct path_top owner = path_sums_top(&p->sums, row, PATH_DETAIL_OWNER);

        if (is_ready_first(key) && (!owner.key || owner.share < 0.5)) {
                answer_words_add(out, "ready, but threads of this program had the CPUs (%s for %u CPUs)",
                                 text_number_counted(count_owners(p, row), "threads").text, n_cpus(p));
                return;
        }
        if (key->kind == PATH_ROW_THROTTLED && key->is_first) {
                answer_words_add(out, "throttled by the CPU quota");
                add_quota(out, p);
                return;
        }
        add_who_does(out, p, row, true);
        if (!key->is_first)
                path_words_add_chain(out, p, row);
}

/* The time is the thread's in any case, but so few samples hardly tell one function from another. */
static void add_few_samples(struct answer_words *out, const struct path *p, uint32_t row)
{
        const struct path_row_key *key = path_sums_key(&p->sums, row);
        uint64_t n = p->sums.rows[row - 1].n_samples;

        if (key->kind <= PATH_ROW_SPIN && key->own != 0 && n != 0 && n < PATH_SAMPLES_FEWEST)
                answer_words_add(out, "; the function is by %s: less certain",
                                 text_number_counted(n, "samples").text);
}

/* By programs, where no function stands out: "74% of the run: cc1 (no function over 3%), as 8%". */
struct program_sum {
        uint32_t group;
        double share;
};

static int compare_sums(const void *a, const void *b)
{
        const struct program_sum *left = a, *right = b;

        return left->share < right->share ? 1 : left->share > right->share ? -1 : 0;
}

/* A function's address says less than the program that it belongs to. */
static bool is_nameless(const struct path *p, uint32_t row)
{
        const struct path_row_key *key = path_sums_key(&p->sums, row);
        enum function_kind kind = FUNCTION_NAMED;

        if (key->kind != PATH_ROW_RUN || key->own == 0 || is_first_program(p, key->group))
                return false;
        (void)path_names_function(&p->names, key->own, &kind);
        return kind != FUNCTION_NAMED && kind != FUNCTION_MARK;
}

/* The largest function that ran; 0 = none did. */
static uint32_t find_function(const struct path *p)
{
        for (uint32_t i = 0; i < p->n_rows; i++)
                if (path_sums_key(&p->sums, p->order[i])->kind == PATH_ROW_RUN)
                        return p->order[i];
        return 0;
}

static void add_programs(struct answer_words *out, const struct path *p)
{
        uint32_t function = find_function(p);
        double largest = function != 0 ? path_row_share(p, function) : 0;
        uint32_t n = p->names.group_keys.n_items;
        struct program_sum *sums = calloc((size_t)n + 1, sizeof(*sums));

        for (uint32_t i = 0; i < n && sums; i++)
                sums[i].group = i + 1;
        for (uint32_t i = 0; i < p->n_rows && sums; i++)
                sums[path_sums_key(&p->sums, p->order[i])->group - 1].share += path_row_share(p, p->order[i]);
        if (!sums)
                return;
        qsort(sums, n, sizeof(*sums), compare_sums);
        add_share(out, sums[0].share);
        answer_words_add(out, " of ");
        add_subject(out, p);
        answer_words_add(out, ": ");
        answer_words_add_name(out, path_words_group(p, sums[0].group));
        if (largest < FUNCTION_MIN) {
                answer_words_add(out, " (no function over ");
                add_share(out, ceil(largest * 100) / 100);
                answer_words_add(out, ")");
        } else {
                answer_words_add(out, is_nameless(p, function) ? " (without symbols)" : "");
        }
        for (uint32_t i = 1; i <= OTHERS_MAX && i < n && sums[i].share >= PATH_WORDS_SHARE_MIN; i++) {
                answer_words_add(out, ", ");
                answer_words_add_name(out, path_words_group(p, sums[i].group));
                answer_words_add(out, " ");
                add_share(out, sums[i].share);
        }
        free(sums);
}

/* @row: the first one */
static bool are_programs_better(const struct path *p, uint32_t row)
{
        double share = path_row_share(p, row);

        if (p->request.zone)
                return share < FUNCTION_MIN;
        return share < FUNCTION_MIN || is_nameless(p, row) || share < path_kind_share(p, PATH_ROW_PROGRAM);
}

void path_words_answer(const struct path *p, struct answer_words *out)
{
        uint32_t row = 0;
        double share;

        for (uint32_t i = p->n_rows; i-- > 0;)
                if (is_told(p, p->order[i]))
                        row = p->order[i];

        if (row == 0) {
                answer_words_add(out, "nothing is known of the path of ");
                add_subject(out, p);
                return;
        }
        share = path_row_share(p, row);
        if (p->has_switches && others_share(p) < PATH_WORDS_SHARE_MIN && share >= ITSELF_MIN) {
                add_subject(out, p);
                answer_words_add(out, " delays itself: ");
                add_share(out, share);
                answer_words_add(out, " ");
                add_who(out, p, row, false);
                answer_words_add(out, " ");
                path_words_add_doing(out, p, row);
                answer_words_add(out, "; no thread, lock or device delayed it");
                add_few_samples(out, p, row);
        } else if (are_programs_better(p, row)) {
                add_programs(out, p);
        } else {
                add_share(out, share);
                answer_words_add(out, " of ");
                add_subject(out, p);
                answer_words_add(out, ": ");
                add_first_row(out, p, row);
                add_more_rows(out, p, row);
                add_few_samples(out, p, row);
        }
        add_tail(out, p);
}
