/* SPDX-License-Identifier: MIT */
#include "view/path/path_view.h"

#include "analyze/path/path.h"
#include "analyze/report/unnamed_modules.h"
#include "analyze/trace/zone_pattern.h"
#include "analyze/walk/loaded_trace.h"
#include "base/byte_buffer.h"
#include "base/clock.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/path/path_words.h"
#include "view/path/what_if_words.h"
#include "view/shared/answer_words.h"
#include "view/shared/asked_zone.h"
#include "view/shared/gap_advice.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"
#include "view/text/shell_word.h"
#include "view/text/text_number.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Rows of the table of chains, where the reader did not ask for all. */
#define CHAIN_ROWS 10
/* Smaller parts of the time are no row, unless all rows were asked for. */
#define SHARE_MIN 0.001

struct filling {
        struct view_document *document;
        const struct path *path;
        const struct path_view_options *options;
};

/* How many rows of @n a table shows; the others are counted. */
static size_t limit_to(const struct filling *f, struct view_table *t, size_t n, size_t n_default)
{
        size_t limit = f->options->limit;

        if (limit > n_default)
                limit = n_default;
        if (!t || limit == 0 || n <= limit)
                return n;
        t->n_left_out = n - limit;
        return limit;
}

/* ------------------------------------------------------------------ facts */

static struct view_value zone_of_request(const struct path *p)
{
        return p->request.zone ? view_words(p->request.zone) : view_unknown();
}

/* clang-format off */
#define PATH_FACTS(FACT)                                                                                      \
        FACT(STRING, "zone", "zone", zone_of_request(p), "the pattern; null = the whole recording")            \
        FACT(COUNT, "instances", "instances", view_number(p->n_instances),                                    \
             "that have an end and pass the filters; of the whole recording, its first processes")             \
        FACT(COUNT, "examined", "examined", view_number(p->n_examined), "of them, whose path this is")         \
        FACT(DURATION, "mean_ns", "mean", view_mean(p->total_ns, p->n_examined), "of the examined ones")       \
        FACT(DURATION, "total_ns", NULL, view_number(p->total_ns), "the same, added up")                       \
        FACT(DURATION, "segments_ns", NULL, view_number(p->segments_ns),                                      \
             "the sum of all segments of their paths: equal to total_ns, or something is wrong")              \
        FACT(COUNT, "segments", "segments", view_number(p->n_segments), NULL)                                 \
        FACT(DURATION, "shown_begin_ns", NULL,                                                                \
             p->shown.number != 0 ? view_number(p->shown.begin_ns - p->trace->start_ns) : view_unknown(),     \
             "since the start of the recording: when the instance of the table `slowest` begins")             \
        FACT(SHARE, "machine_share", "others had the CPU", view_real(p->machine_share),               \
             "of the time; the shares of `path` are of the rest")                                             \
        FACT(SHARE, "unsampled_share", NULL, view_real(p->unsampled_share),                                   \
             "of the time on CPUs on the paths: no sample of a clock stands for it")                          \
        FACT(STRING, "confidence", "confidence", view_words(path_words_confidence(p->confidence)),            \
             "of the answer", .one_of = "high|medium|low")                                                    \
        FACT(BOOL, "strict", NULL, view_number(p->request.is_strict),                                         \
             "--strict: what the zone's own thread did while it also waited is left out")
/* clang-format on */

/* clang-format off */
#define WHAT_IF_FACTS(FACT)                                                                                   \
        FACT(STRING, "what_if", NULL, view_words(w->request.text), "what was asked, with --what-if")          \
        FACT(STRING, "what_if_function", NULL, view_text(w->request.changes[0].function), "the first one")    \
        FACT(REAL, "what_if_factor", NULL, view_real(w->request.changes[0].factor),                           \
             "so much of its time would remain")                                                              \
        FACT(DURATION, "what_if_before_ns", "without others' time",                                           \
             view_number((uint64_t)what_if_words_before_ns(p)),                                               \
             "the mean without the time in which other programs had the CPUs")                                \
        FACT(DURATION, "what_if_mean_ns", "at least then", view_number((uint64_t)what_if_words_then_ns(p)),   \
             "the least that this mean could be then")                                                        \
        FACT(SHARE, "what_if_gain", "at most gained", view_real(what_if_words_gain(p)),                       \
             "the part of what_if_before_ns that would be gained at most")                                    \
        FACT(DURATION, "what_if_lost_ns", "not gained", view_number((uint64_t)what_if_words_lost_ns(p)),      \
             "of the mean: what the path would gain as well if nothing else were the last one then")         \
        FACT(STRING, "capped_by_thread", NULL, view_name(thread_of_cap(p)),                                   \
             "what has most of that time on the path then; null if it is little")                             \
        FACT(STRING, "capped_by_function", NULL, view_name(function_of_cap(p)), "the same")
/* clang-format on */

static const struct view_column fact_columns[] = { PATH_FACTS(VIEW_MEMBER) };
static const struct view_column what_if_fact_columns[] = { WHAT_IF_FACTS(VIEW_MEMBER) };
static const struct answer_part facts_part = ANSWER_FACTS(fact_columns);
static const struct answer_part what_if_facts_part = ANSWER_FACTS_ABSENT(what_if_fact_columns);

static struct text_view thread_of_cap(const struct path *p)
{
        const struct what_if *w = &p->what_if;

        return w->cap != 0 ? path_words_group(p, w->rows[w->cap - 1].key.group) : path_words_function(p, 0);
}

static struct text_view function_of_cap(const struct path *p)
{
        const struct what_if *w = &p->what_if;

        return path_words_function(p, w->cap != 0 ? w->rows[w->cap - 1].key.own : 0);
}

static void add_what_if_facts(const struct filling *f)
{
        const struct path *p = f->path;
        const struct what_if *w = &p->what_if;
        struct view_document *d = f->document;

        WHAT_IF_FACTS(VIEW_FACT)
}

static void add_facts(const struct filling *f)
{
        const struct path *p = f->path;
        struct view_document *d = f->document;
        struct answer_words answer = { .used_bytes = 0 };

        if (p->what_if.is_on)
                what_if_words_answer(p, &answer);
        else
                path_words_answer(p, &answer);
        answer_words_set(&answer, d);
        if (f->options->filter.n_bytes != 0)
                report_heading_add_filter(d, f->options->filter);
        PATH_FACTS(VIEW_FACT)
        if (p->what_if.is_on)
                add_what_if_facts(f);
}

/* ------------------------------------------------------------------ rows */

static uint32_t thread_of(const struct path *p, uint32_t row)
{
        uint32_t thread = p->sums.rows[row - 1].thread;

        return thread != 0 ? thread : p->names.groups[path_sums_key(&p->sums, row)->group - 1].first;
}

static struct view_value pid_of(const struct path *p, uint32_t row)
{
        const struct path_group *g = &p->names.groups[path_sums_key(&p->sums, row)->group - 1];

        return view_known(loaded_trace_thread_pid(p->trace, thread_of(p, row)), g->n_processes <= 1);
}

static struct view_value zone_of(const struct path *p, uint32_t row)
{
        struct path_top top = path_sums_top(&p->sums, row, PATH_DETAIL_ZONE);

        return top.key && top.share >= 0.5 ? view_name(zone_pattern_name_of(p->trace->dictionary, top.key->a))
                                           : view_unknown();
}

/* "index < main": who waited for the thread of the row. */
static struct view_value waited_by(const struct filling *f, uint32_t chain, uint32_t inner_group)
{
        uint32_t threads[PATH_WALK_DEPTH_MAX + 1], last = inner_group;
        uint32_t n = path_chains_threads(&f->path->walk, chain, threads);
        struct view_value stack = view_begin_stack(f->document);

        for (uint32_t i = 0; i < n; i++) {
                uint32_t group = path_names_group(&f->path->names, threads[i]);

                if (group != last || i == n - 1)
                        view_add_frame(f->document, &stack, path_words_group(f->path, group));
                last = group;
        }
        return n != 0 ? stack : view_unknown();
}

/* "t1", "t3", "t2": the first thread of the path, and on to that of the row. */
static struct view_value chain_of(const struct filling *f, uint32_t chain, uint32_t thread)
{
        uint32_t threads[PATH_WALK_DEPTH_MAX + 1], n = path_chains_threads(&f->path->walk, chain, threads);
        struct view_value stack = view_begin_stack(f->document);
        char handle[16];

        for (uint32_t i = n + 1; i-- > 0;) {
                uint32_t id = i != 0 ? threads[i - 1] : thread;

                (void)snprintf(handle, sizeof(handle), "t%" PRIu32, id);
                view_add_frame(f->document, &stack, report_names_words(handle));
        }
        return stack;
}

static uint32_t top_chain(const struct path *p, uint32_t row)
{
        struct path_top top = path_sums_top(&p->sums, row, PATH_DETAIL_CHAIN);

        return top.key ? top.key->a : 0;
}

static struct view_value label_of(const struct path *p, uint32_t label, bool is_call)
{
        return view_name(is_call ? path_words_call(p, label) : path_words_function(p, label));
}

static struct view_value function_of(const struct path *p, uint32_t row)
{
        const struct path_row_key *key = path_sums_key(&p->sums, row);

        return key->work != 0 ? view_name(path_words_work(p, key->work)) : label_of(p, key->own, false);
}

/* @work: 0 = none */
static struct view_value device_of(struct view_document *d, const struct path *p, uint32_t work,
                                   uint32_t lane)
{
        struct byte_buffer name = { .data = NULL };
        struct view_value value;

        if (work == 0)
                return view_unknown();
        path_words_put_device(p, work, lane, &name);
        d->failed |= name.failed;
        value = view_format(d, "%.*s", (int)name.used_bytes, (const char *)name.data);
        byte_buffer_deinit(&name);
        return value;
}

static struct view_value bound_of(const struct path *p, uint32_t row, double sign)
{
        double doubt = path_row_doubt(p, row);

        return view_real_known(fmin(fmax(path_row_share(p, row) + sign * doubt, 0), 1), doubt > 0);
}

/* clang-format off */
#define PATH_COLUMNS(COLUMN)                                                                                  \
        COLUMN(SHARE, "share", "share", view_real(path_row_share(p, row)),                                    \
               "of the time without what other programs took")                     \
        COLUMN(SHARE, "low", "from", bound_of(p, row, -1), "of its 95 % interval; null for one instance")     \
        COLUMN(SHARE, "high", "to", bound_of(p, row, 1), NULL)                                                \
        COLUMN(DURATION, "mean_ns", "an instance",                                                            \
               view_number((uint64_t)(r->ns / fmax((double)p->n_examined, 1))), NULL)                         \
        COLUMN(SHARE, "of_instances", "instances",                                                            \
               view_real_known((double)r->n_instances / fmax((double)p->n_examined, 1), r->n_instances != 0), \
               "that have it on their path, as far as samples show")                                          \
        COLUMN(STRING, "kind", NULL, view_words(path_words_kind(key)), NULL, .one_of = PATH_WORDS_KINDS)      \
        COLUMN(BOOL, "own", NULL, view_number(key->is_first), "by the thread of the zone itself")             \
        COLUMN(HANDLE, "thread", "", view_handle('t', thread_of(p, row)), "one of those with this name")      \
        COLUMN(STRING, "thread_name", "thread", view_text(path_words_group(p, key->group)), NULL,             \
               .n_columns_max = 24)                                                                           \
        COLUMN(ID, "process", NULL, pid_of(p, row), "PID; null if there are several", .may_be_null = true)    \
        COLUMN(COUNT, "threads", NULL, view_number(p->names.groups[key->group - 1].n_threads),                \
               "of this name in programs of one name")                                                        \
        COLUMN(STRING, "words", "what", view_words(path_words_doing(key)), "the same as `kind`, for people",  \
               .n_columns_max = 32)                                                                           \
        COLUMN(STRING, "function", "in", function_of(p, row),                                                 \
               "of the program, which ran or waited; of a device, what it ran", .n_columns_max = 40)          \
        COLUMN(STRING, "device", "on", device_of(d, p, key->work, path_words_lane(p, row)),                   \
               "of `device` and `launch`: its name, and the lane that has half of the time or more",          \
               .n_columns_max = 24)                                                                           \
        COLUMN(STRING, "call", "call", label_of(p, key->call, true), "of the C library, in which it waited",  \
               .n_columns_max = 24)                                                                           \
        COLUMN(STRING, "zone", "in zone", zone_of(p, row),                                                    \
               "the innermost that was open in half of the samples or more", .n_columns_max = 24)             \
        COLUMN(STACK, "waited_for_by", "waited for by", waited_by(f, top_chain(p, row), key->group),          \
               "most often: the names of the threads, the nearest first", .n_columns_max = 40)                \
        COLUMN(STACK, "chain", NULL, chain_of(f, top_chain(p, row), thread_of(p, row)),                       \
               "the same as handles, from the zone's thread on")                                              \
        COLUMN(STRING, "meanwhile_thread", "meanwhile",                                                       \
               view_name(did.group != 0 ? path_words_group(p, did.group) : path_words_function(p, 0)),        \
               "of SPIN, TIMER and PREEMPTED: the thread of the process that ran most", .n_columns_max = 24)  \
        COLUMN(STRING, "meanwhile_function", "ran", label_of(p, did.label, false), NULL, .n_columns_max = 24) \
        COLUMN(SHARE, "meanwhile_share", "for", view_real_known(did.share, did.group != 0), "of that time")   \
        COLUMN(COUNT, "samples", "samples", view_known(r->n_samples, key->kind <= PATH_ROW_SPIN), NULL,       \
               .may_be_null = true)
#define WHAT_IF_COLUMNS(COLUMN)                                                                               \
        COLUMN(DURATION, "then_ns", "then", view_number((uint64_t)(w->then_ns / n_instances)),                \
               "of an instance, on the path as it would be")                                                  \
        COLUMN(DURATION, "before_ns", "now", view_number((uint64_t)(w->before_ns / n_instances)),             \
               "on the path as it is", .must_stay = true)                                                     \
        COLUMN(STRING, "thread_name", "thread", view_text(path_words_group(p, w->key.group)), NULL,           \
               .n_columns_max = 24)                                                                           \
        COLUMN(STRING, "kind", NULL, view_words(path_words_kind(&w->key)), NULL, .one_of = PATH_WORDS_KINDS)  \
        COLUMN(BOOL, "own", NULL, view_number(w->key.is_first), "by the thread of the zone itself")           \
        COLUMN(STRING, "words", "what", view_words(path_words_doing(&w->key)), "the same as `kind`, for people", \
               .n_columns_max = 32)                                                                           \
        COLUMN(STRING, "function", "in", label_of(p, w->key.own, false), "of the program, which ran or waited", \
               .n_columns_max = 40)
#define CHAIN_COLUMNS(COLUMN)                                                                                 \
        COLUMN(SHARE, "share", "share", view_real(chain->ns / all),                                           \
               "of the time without what other programs took")                                                \
        COLUMN(DURATION, "ns", "time", view_number((uint64_t)chain->ns), "that the thread at its end took")   \
        COLUMN(STACK, "threads", "waited", names_of_chain(f, chain), "by names; the last is the zone's own")  \
        COLUMN(COUNT, "n_threads", "threads", view_number(chain->key.n), "in the chain")
#define MACHINE_COLUMNS(COLUMN)                                                                               \
        COLUMN(STRING, "who", "had the CPU", view_words(who), NULL,                                           \
               .one_of = "own threads|other recorded programs|the CPU quota|programs that were not recorded") \
        COLUMN(SHARE, "share", "share", view_real(ns / fmax(p->sums.total_ns, 1)), "of all time")             \
        COLUMN(DURATION, "ns", "time", view_number((uint64_t)ns), NULL)
#define UNKNOWN_COLUMNS(COLUMN)                                                                               \
        COLUMN(STRING, "reason", "not known", view_words(reason), NULL)                                       \
        COLUMN(SHARE, "share", "share", view_real(share), "of the time without what other programs took")                                               \
        COLUMN(STRING, "advice", "what would tell", view_words(advice), NULL)
#define SEGMENT_COLUMNS(COLUMN)                                                                               \
        COLUMN(DURATION, "at_ns", "at", view_number(s->begin_ns - p->shown.begin_ns),                         \
               "since the beginning of the instance", .must_stay = true)                                      \
        COLUMN(DURATION, "ns", "for", view_number(s->end_ns - s->begin_ns), NULL, .must_stay = true)          \
        COLUMN(STRING, "thread_name", "thread",                                                               \
               view_text(path_words_group(p, path_names_group(&p->names, s->thread))), NULL)                  \
        COLUMN(HANDLE, "thread", "", view_handle('t', s->thread), NULL)                                       \
        COLUMN(STRING, "kind", "state", view_words(path_segment_word(s->kind, s->preempted, s->end)), NULL,  \
               .one_of = SEGMENT_KINDS)        \
        COLUMN(STRING, "function", "in", function_of_segment(p, s), "of the program; of a sample in the middle; of a device, what it ran") \
        COLUMN(STRING, "device", "on", device_of(d, p, s->work, s->lane), "of `device` and `launch`: its name and lane") \
        COLUMN(HANDLE, "woken_by", NULL, view_handle('t', s->by), "who ended the wait")
/* clang-format on */

#define SEGMENT_KINDS                                                                                             \
        "run|ready|preempted|late|thread|unrecorded|timer|disk|network|interrupt|unknown|lock|unborn|cut|device|" \
        "launch"

static const struct view_column path_columns[] = { PATH_COLUMNS(VIEW_COLUMN) };
static const struct view_column what_if_columns[] = { WHAT_IF_COLUMNS(VIEW_COLUMN) };
static const struct view_column chain_columns[] = { CHAIN_COLUMNS(VIEW_COLUMN) };
static const struct view_column machine_columns[] = { MACHINE_COLUMNS(VIEW_COLUMN) };
static const struct view_column unknown_columns[] = { UNKNOWN_COLUMNS(VIEW_COLUMN) };
static const struct view_column segment_columns[] = { SEGMENT_COLUMNS(VIEW_COLUMN) };
static const struct answer_part path_part = ANSWER_TABLE(
        "path", path_columns, "what the path of the instances consists of; rows do not overlap");
static const struct answer_part what_if_part = ANSWER_TABLE(
        "what_if_path", what_if_columns,
        "what the path would consist of with --what-if, and what it does now", .may_be_absent = true);
static const struct answer_part chains_part = ANSWER_TABLE(
        "chains", chain_columns, "threads that waited for one another, by the time that the last one took",
        .may_be_absent = true);
static const struct answer_part machine_part = ANSWER_TABLE(
        "machine", machine_columns, "who had the CPUs while threads of the path could run and did not",
        .may_be_absent = true);
static const struct answer_part unknown_part = ANSWER_TABLE(
        "unknown", unknown_columns, "time of the path of which the cause is not known",
        .may_be_absent = true);
static const struct answer_part segments_part = {
        .key = "slowest",
        .columns = segment_columns,
        .n_columns = VIEW_N_COLUMNS(segment_columns),
        .words = "the path of the slowest instance, of the one that was asked for, or of the run",
        .may_be_absent = true,
        .is_tree = true,
};

static void put_row(const struct filling *f, struct view_table *t, uint32_t row)
{
        const struct path *p = f->path;
        const struct path_row_key *key = path_sums_key(&p->sums, row);
        const struct path_row *r = &p->sums.rows[row - 1];
        const struct path_meanwhile did = path_row_meanwhile(p, row);
        struct view_document *d = f->document;

        PATH_COLUMNS(VIEW_CELL)
}

static void add_path(const struct filling *f)
{
        struct view_table *t = view_document_add_part(f->document, &path_part, "Where the time went");
        size_t n = 0;

        while (n < f->path->n_rows &&
               (f->options->limit == 0 || path_row_share(f->path, f->path->order[n]) >= SHARE_MIN))
                n++;
        if (t) {
                t->optional_from = 1;
                view_table_set_about(
                        f->document, t,
                        "each moment counts once: where the thread of the zone waited, for what the "
                        "thread did that ended the wait");
        }
        n = limit_to(f, t, n, SIZE_MAX);
        for (size_t i = 0; i < n; i++)
                put_row(f, t, f->path->order[i]);
}

static void add_what_if(const struct filling *f)
{
        const struct path *p = f->path;
        double n_instances = fmax((double)p->n_examined, 1), least_ns = SHARE_MIN * p->sums.total_ns;
        struct view_document *d = f->document;
        struct view_table *t;

        if (!p->what_if.is_on)
                return;
        t = view_document_add_part(d, &what_if_part, "What the path would be");
        for (size_t i = 0; i < limit_to(f, t, p->what_if.n_rows, SIZE_MAX) && t; i++) {
                const struct what_if_row *w = &p->what_if.rows[i];

                if (w->then_ns < least_ns && w->before_ns < least_ns)
                        continue;
                WHAT_IF_COLUMNS(VIEW_CELL)
        }
}

/* ------------------------------------------------------------------ chains */

static struct view_value names_of_chain(const struct filling *f, const struct path_chain *chain)
{
        struct view_value stack = view_begin_stack(f->document);

        for (uint32_t i = 0; i < chain->key.n; i++)
                view_add_frame(f->document, &stack, path_words_group(f->path, chain->key.groups[i]));
        return stack;
}

static void add_chains(const struct filling *f)
{
        const struct path_chains *chains = &f->path->chains;
        double all = fmax(path_sums_rest_ns(&f->path->sums), 1);
        struct view_document *d = f->document;
        struct view_table *t;
        size_t n;

        if (chains->n == 0)
                return;
        t = view_document_add_part(d, &chains_part, "Who waited for whom");
        n = limit_to(f, t, chains->n, CHAIN_ROWS);
        for (size_t i = 0; i < n; i++) {
                const struct path_chain *chain = &chains->items[i];

                CHAIN_COLUMNS(VIEW_CELL)
        }
}

/* ------------------------------------------------------------------ the machine, and what is not known */

static void add_machine(const struct filling *f)
{
        static const struct {
                enum path_row_kind kind;
                const char *words;
        } rows[] = { { PATH_ROW_OWN, "own threads" },
                     { PATH_ROW_PROGRAM, "other recorded programs" },
                     { PATH_ROW_THROTTLED, "the CPU quota" },
                     { PATH_ROW_OTHERS, "programs that were not recorded" } };
        const struct path *p = f->path;
        struct view_document *d = f->document;
        struct view_table *t = view_document_add_part(d, &machine_part,
                                                      "Who had the CPU while the path could go on");

        if (t)
                t->is_hidden_if_empty = true;
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && t; i++) {
                const char *who = rows[i].words;
                double ns = path_kind_share(p, rows[i].kind) * p->sums.total_ns;

                if (ns >= 1) {
                        MACHINE_COLUMNS(VIEW_CELL)
                }
        }
}

static double share_of_end(const struct path *p, uint32_t end)
{
        double ns = 0;

        for (uint32_t i = 0; i < p->n_rows; i++) {
                const struct path_row_key *key = path_sums_key(&p->sums, p->order[i]);

                if (key->kind == PATH_ROW_WAIT && key->end == end)
                        ns += p->sums.rows[p->order[i] - 1].ns;
        }
        return ns / fmax(path_sums_rest_ns(&p->sums), 1);
}

static void put_unknown(const struct filling *f, struct view_table *t, double share, const char *reason,
                        const char *advice)
{
        struct view_document *d = f->document;

        if (share < SHARE_MIN || !t)
                return;
        UNKNOWN_COLUMNS(VIEW_CELL)
}

/* Code without names that ran on the path; what would name the code of the module with the longest row. */
static void add_nameless(const struct filling *f, struct view_table *t)
{
        const struct path *p = f->path;
        const struct trace_dictionary *dictionary = p->trace->dictionary;
        uint32_t module = 0;
        double ns = 0;

        for (uint32_t i = 0; i < p->n_rows; i++) {
                const struct path_row_key *key = path_sums_key(&p->sums, p->order[i]);
                const struct function *function = key->kind <= PATH_ROW_SPIN && key->own != 0
                                                          ? function_table_get(&p->names.places.functions,
                                                                               key->own)
                                                          : NULL;

                if (!function || (function->kind != FUNCTION_NO_SYMBOL && function->kind != FUNCTION_UNNAMED))
                        continue;
                module = module == 0 ? function->module : module; /* the longest come first */
                ns += p->sums.rows[p->order[i] - 1].ns;
        }
        put_unknown(f, t, ns / fmax(path_sums_rest_ns(&p->sums), 1), "names of code",
                    gap_advice_make(f->options->path, trace_dictionary_text(dictionary, module),
                                    unnamed_module_advice(dictionary, module))
                            .text);
}

static void add_unknown(const struct filling *f)
{
        const struct path *p = f->path;
        struct view_table *t = view_document_add_part(f->document, &unknown_part, "What is not known");

        if (t)
                t->is_hidden_if_empty = true;
        put_unknown(f, t, share_of_end(p, WAIT_END_UNKNOWN), "who ended a wait",
                    p->has_wakeups ? NULL : "record with --off-cpu");
        put_unknown(f, t, share_of_end(p, WAIT_END_PROGRAM), "what a program did that was not recorded",
                    "record it too: -a, or -p with both");
        add_nameless(f, t);
        put_unknown(f, t, path_kind_rest_share(p, PATH_ROW_LOCK), "who held a lock", NULL);
        put_unknown(f, t, path_kind_rest_share(p, PATH_ROW_UNBORN), "who made a thread", NULL);
        put_unknown(f, t, path_kind_rest_share(p, PATH_ROW_CUT), "what was too long ago, or too much",
                    "a shorter range: --from, --to");
}

/* ------------------------------------------------------------------ one instance */

static struct view_value function_of_segment(const struct path *p, const struct path_shown *s)
{
        uint32_t id = s->stack != 0 ? path_names_known(&p->names, s->stack) : 0;

        if (s->work != 0)
                return view_name(path_words_work(p, s->work));
        return id != 0 ? label_of(p, path_names_get(&p->names, id)->own, false) : view_unknown();
}

/* If not all are shown, these are the longest. */
static uint64_t shortest_shown(const struct path *p, size_t limit)
{
        uint64_t low_ns = 0, high_ns = UINT64_MAX;

        if (limit == 0 || p->segments.n_items <= limit)
                return 0;
        while (low_ns < high_ns) {
                uint64_t middle_ns = low_ns + (high_ns - low_ns) / 2;
                size_t n = 0;

                for (size_t i = 0; i < p->segments.n_items; i++)
                        n += p->segments.items[i].end_ns - p->segments.items[i].begin_ns > middle_ns;
                if (n > limit)
                        low_ns = middle_ns + 1;
                else
                        high_ns = middle_ns;
        }
        return low_ns + 1;
}

/* An instance that was found by its time has no known number: the others were not read. */
static void set_about_instance(const struct filling *f, struct view_table *t)
{
        const struct path *p = f->path;

        if (!p->request.zone)
                view_table_set_about(f->document, t,
                                     "of thread t%" PRIu32 "; deeper threads are those it waited for",
                                     p->shown.thread);
        else if (p->request.has_at)
                view_table_set_about(f->document, t,
                                     "the instance that began at %.9f s, thread t%" PRIu32
                                     "; deeper threads are those it waited for",
                                     (double)(p->shown.begin_ns - p->trace->start_ns) / (double)NS_PER_S,
                                     p->shown.thread);
        else
                view_table_set_about(f->document, t,
                                     "instance %" PRIu64 ", thread t%" PRIu32
                                     "; deeper threads are those it waited for",
                                     p->shown.number, p->shown.thread);
}

static void add_segments(const struct filling *f)
{
        const struct path *p = f->path;
        struct view_document *d = f->document;
        uint64_t shortest_ns = shortest_shown(p, f->options->segments_limit);
        struct view_table *t;

        if (p->segments.n_items == 0)
                return;
        t = view_document_add_part(d, &segments_part,
                                   !p->request.zone    ? "The path of the run"
                                   : path_is_of_one(p) ? "The path of this instance"
                                                       : "The path of the slowest instance");
        if (!t)
                return;
        t->optional_from = 1;
        set_about_instance(f, t);
        t->n_left_out = p->segments.n_dropped;
        for (size_t i = 0; i < p->segments.n_items; i++) {
                const struct path_shown *s = &p->segments.items[i];

                if (s->end_ns - s->begin_ns < shortest_ns) {
                        t->n_left_out++;
                        continue;
                }
                view_table_begin_row(d, t, s->depth);
                SEGMENT_COLUMNS(VIEW_CELL)
        }
}

/* ------------------------------------------------------------------ warnings, next commands */

static void warn_of(struct view_document *d, uint64_t count, const char *words)
{
        if (count != 0)
                view_document_warn(d, "%s", text_number_counted(count, words).text);
}

/* The bounds of the walk that were met. */
static void add_limits(const struct filling *f)
{
        const struct path_walk *w = &f->path->walk;

        warn_of(f->document, w->n_too_deep, "paths over 64 threads deep: cut there");
        warn_of(f->document, w->n_too_many, "paths with too many segments: cut there");
        warn_of(f->document, w->n_joins_cut, "joins of over 64 waits: those before count for themselves");
        warn_of(f->document, w->n_chains_cut, "chains without a name: who waited for them is not known");
        static_assert(PATH_WALK_DEPTH_MAX == 64 && PATH_WALK_JOIN_MAX == 64, "as the words say");
}

static void add_warnings(const struct filling *f)
{
        const struct path *p = f->path;
        struct view_document *d = f->document;

        report_heading_warn_recorded(d, p->trace->dictionary, NULL);
        if (!p->has_switches)
                view_document_warn(d, "no context switches: waiting and running cannot be told apart");
        else if (!p->has_wakeups)
                view_document_warn(d, "no wake-ups: who ended waits is recorded only with --off-cpu");
        if (p->past.event == 0)
                view_document_warn(d, "no samples: the functions that ran are unknown");
        if (p->request.zone && !path_is_of_one(p) && p->n_examined < PATH_INSTANCES_MIN)
                view_document_warn(d, "%s: fewer than %d may be alike by chance",
                                   text_number_counted(p->n_examined, "instances").text, PATH_INSTANCES_MIN);
        if (p->n_unclosed != 0)
                view_document_warn(d, "left out: %s without an end",
                                   text_number_counted(p->n_unclosed, "instances").text);
        if (p->past.n_forgotten != 0)
                view_document_warn(
                        d, "%" PRIu64 " waits were too long before the end of an instance and are left out",
                        p->past.n_forgotten);
        warn_of(d, p->works.n_vague,
                "works of devices whose clocks are not known well enough: waits for them are not found");
        warn_of(d, p->works.n_lost, "works of devices had no room: waits for them are not found");
        add_limits(f);
        if (f->options->chooses_samples)
                view_document_warn(d, "--cpu and --module choose samples: here they change nothing");
        if (p->sums.n_left_out != 0)
                view_document_warn(d, "%" PRIu64 " parts had no room in the tables", p->sums.n_left_out);
}

static void add_hints(const struct filling *f)
{
        const struct path *p = f->path;
        struct view_document *d = f->document;
        struct shell_word path = shell_word_of(f->options->path);

        if (p->request.zone)
                view_document_hint(d, "hyprof why --zone %s %s",
                                   asked_zone_option(p->trace->dictionary, p->request.zone).text, path.text);
        view_document_hint(d, "hyprof report --off-cpu %s", path.text);
        view_document_hint(d, "hyprof report --wall %s", path.text);
}

const struct answer_schema path_view_schema = {
        .name = "hyprof.path/1",
        .command = "hyprof path --json",
        .parts = (const struct answer_part *const[]){ &facts_part, &what_if_facts_part, &what_if_part,
                                                      &path_part, &chains_part, &machine_part, &unknown_part,
                                                      &segments_part, NULL },
};

void path_view_fill(struct view_document *d, const struct path *p, const struct path_view_options *options)
{
        struct filling f = { .document = d, .path = p, .options = options };

        add_facts(&f);
        add_what_if(&f);
        add_path(&f);
        add_chains(&f);
        add_machine(&f);
        add_unknown(&f);
        add_segments(&f);
        add_warnings(&f);
        add_hints(&f);
}
