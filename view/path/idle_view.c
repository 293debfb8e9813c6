/* SPDX-License-Identifier: MIT */
#include "view/path/idle_view.h"

#include "analyze/cores/idle_cores.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "base/intern.h"
#include "format/trace_dictionary.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/path/path_words.h"
#include "view/shared/answer_words.h"
#include "view/shared/asked_zone.h"
#include "view/shared/event_names.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"
#include "view/text/shell_word.h"
#include "view/text/text_number.h"

#include <math.h>
#include <stdlib.h>

/* Causes in the sentence, and the smallest share of the cores' time of one after the first. */
#define SENTENCE_ROWS  3
#define SENTENCE_SHARE 0.05
/* A function with less of a cause is not all of it, and with less than this no word of it. */
#define FUNCTION_ALL  0.9
#define FUNCTION_MOST 0.5
/* Smaller shares are no row, unless all rows were asked for. */
#define SHARE_SHOWN_MIN 0.0005

/* ------------------------------------------------------------------ words */

static const char *const cause_words[] = {
        [IDLE_RUN] = "run",
        [IDLE_LOCK] = "lock",
        [IDLE_TIMER] = "timer",
        [IDLE_DISK] = "disk",
        [IDLE_NETWORK] = "network",
        [IDLE_INTERRUPT] = "interrupt",
        [IDLE_PROGRAM] = "unrecorded",
        [IDLE_TOO_FEW] = "too-few-threads",
        [IDLE_QUOTA] = "quota",
        [IDLE_OTHERS] = "others",
        [IDLE_READY] = "ready",
        [IDLE_OPEN] = "not-ended",
        [IDLE_UNKNOWN] = "unknown",
};
#define CAUSE_WORDS                                                                                \
        "run|lock|timer|disk|network|interrupt|unrecorded|too-few-threads|quota|ready|others|not-" \
        "ended|unknown"

/* ------------------------------------------------------------------ causes */

/* Rows that differ in nothing but the function. */
struct cause {
        uint32_t first; /* the largest of them */
        struct idle_row sum;
};

/* Compared as bytes. */
struct cause_key {
        uint32_t cause, group, by;
};

struct causes {
        struct cause *items; /* heap; the most cores first */
        uint32_t n;
};

static int compare_causes(const void *a, const void *b)
{
        const struct cause *left = a, *right = b;

        if (left->sum.cores != right->sum.cores)
                return left->sum.cores < right->sum.cores ? 1 : -1;
        return left->first < right->first ? -1 : 1;
}

static void add_to_cause(struct causes *causes, uint32_t id, uint32_t row_id, const struct idle_row *row)
{
        struct cause *cause = &causes->items[id - 1];

        if (id > causes->n) {
                causes->n = id;
                cause->first = row_id;
        }
        cause->sum.cores += row->cores;
        cause->sum.n_waiting += row->n_waiting;
        cause->sum.n_moments += row->n_moments;
        cause->sum.n_alone += row->n_alone;
}

/* Without memory there are none. */
static struct causes take_causes(const struct idle_cores *c)
{
        struct causes causes = { .items = calloc((size_t)c->n_rows + 1, sizeof(*causes.items)) };
        struct intern keys;
        uint32_t id;

        intern_init(&keys, sizeof(struct cause_key), IDLE_CORES_ROWS_MAX);
        for (uint32_t i = 0; i < c->n_rows && causes.items; i++) {
                const struct idle_key *key = idle_cores_key(c, c->order[i]);
                const struct cause_key of = { key->cause, key->group, key->by };

                if (intern_add(&keys, &of, sizeof(of), &id) >= 0)
                        add_to_cause(&causes, id, c->order[i], &c->rows[c->order[i] - 1]);
        }
        intern_deinit(&keys);
        if (causes.items)
                qsort(causes.items, causes.n, sizeof(*causes.items), compare_causes);
        return causes;
}

static double alone_of(const struct idle_row *row)
{
        return row->n_moments != 0 ? (double)row->n_alone / (double)row->n_moments : 0;
}

static double waiting_of(const struct idle_row *row)
{
        return row->n_moments != 0 ? row->n_waiting / (double)row->n_moments : 0;
}

/* The part of a cause that its largest function has. */
static double function_share(const struct idle_cores *c, const struct cause *cause)
{
        return c->rows[cause->first - 1].cores / cause->sum.cores;
}

/* ------------------------------------------------------------------ the sentence */

/* The first thread of a program by its name; others in quotation marks. */
static void add_who(struct answer_words *out, const struct idle_cores *c, const struct idle_key *key)
{
        const struct path_group *g = &c->sweep.names.groups[key->group - 1];
        const char *quote = g->name == g->program ? "" : "'";

        answer_words_add(out, "%s", quote);
        answer_words_add_name(out, path_words_group_name(&c->sweep.names, key->group));
        answer_words_add(out, "%s", quote);
}

/* " ran serial()", " in serial()", ", mostly in serial()"; nothing where many functions share the cause. */
static void add_function(struct answer_words *out, const struct idle_cores *c, const struct cause *cause,
                         const char *before)
{
        struct text_view name = path_words_function_name(&c->sweep.names,
                                                         idle_cores_key(c, cause->first)->own);
        double share = function_share(c, cause);

        if (name.n_bytes == 0 || share < FUNCTION_MOST)
                return;
        answer_words_add(out, "%s%s", share < FUNCTION_ALL ? ", mostly" : "", before);
        answer_words_add_function(out, name);
}

static void add_waiting(struct answer_words *out, const struct idle_row *row, uint64_t n_min,
                        const char *words)
{
        uint64_t n = (uint64_t)llround(waiting_of(row));

        n = n == 0 ? 1 : n;
        if (n >= n_min)
                answer_words_add(out, ", %s %s", text_number_counted(n, "threads").text, words);
}

/* A thread runs, and others wait for it, or none does. */
static void add_runner(struct answer_words *out, const struct idle_cores *c, const struct cause *cause)
{
        const struct idle_key *key = idle_cores_key(c, cause->first);
        bool is_lock = key->cause == IDLE_LOCK;

        add_who(out, c, key);
        answer_words_add(out, "%s%s", alone_of(&cause->sum) > 0.5 ? " alone" : "",
                         is_lock ? " held the lock" : " ran");
        add_function(out, c, cause, is_lock || function_share(c, cause) < FUNCTION_ALL ? " in " : " ");
}

static void add_too_few(struct answer_words *out, const struct idle_cores *c, const struct cause *cause)
{
        answer_words_add(out, "too few threads");
        if (idle_cores_key(c, cause->first)->group == 0)
                return;
        answer_words_add(out, ": ");
        add_runner(out, c, cause);
        answer_words_add(out, ", no thread waited for it");
}

static void add_cause(struct answer_words *out, const struct idle_cores *c, const struct cause *cause)
{
        static const char *const waits[] = {
                [IDLE_TIMER] = " waited for a timer",
                [IDLE_DISK] = " waited for the disk",
                [IDLE_NETWORK] = " waited for the network",
                [IDLE_INTERRUPT] = " waited for an interrupt",
                [IDLE_OPEN] = " waited to the end of the recording",
                [IDLE_UNKNOWN] = " waited for something that is not known",
        };
        const struct idle_key *key = idle_cores_key(c, cause->first);

        if (key->cause == IDLE_QUOTA || key->cause == IDLE_READY) {
                answer_words_add(out, "%s",
                                 key->cause == IDLE_QUOTA ? "the CPU quota was used up"
                                 : idle_gaps_are_known(&c->gaps)
                                         ? "threads could run, and the kernel had not put them on a CPU"
                                         : "threads could run; whether a CPU was free for them is not known");
                return;
        }
        if (key->cause == IDLE_TOO_FEW) {
                add_too_few(out, c, cause);
                return;
        }
        if (key->group == 0) {
                answer_words_add(out, "%s", cause_words[key->cause]);
                return;
        }
        if (key->cause == IDLE_RUN || key->cause == IDLE_LOCK) {
                add_runner(out, c, cause);
                add_waiting(out, &cause->sum, 1, "waited for it");
                return;
        }
        add_who(out, c, key);
        if (key->cause == IDLE_PROGRAM) {
                answer_words_add(out, " waited for '");
                answer_words_add_name(out, trace_dictionary_text(c->sweep.names.trace->dictionary, key->by));
                answer_words_add(out, "', which was not recorded");
        } else {
                answer_words_add(out, "%s", waits[key->cause]);
        }
        add_function(out, c, cause, " in ");
        add_waiting(out, &cause->sum, 2, "waited in all");
}

static struct text_counted points_of(const struct idle_cores *c, double cores)
{
        return text_number_counted((uint64_t)llround(idle_cores_share(c, cores) * 100), "points");
}

static void add_causes(struct answer_words *out, const struct idle_cores *c)
{
        struct causes causes = take_causes(c);
        unsigned n = 0;

        for (uint32_t i = 0; i < causes.n && n < SENTENCE_ROWS; i++) {
                const struct cause *cause = &causes.items[i];
                double share = idle_cores_share(c, cause->sum.cores);

                if (idle_cores_key(c, cause->first)->cause == IDLE_OTHERS)
                        continue;
                if (share < SENTENCE_SHARE && (n != 0 || share < 0.01))
                        break;
                n++;
                answer_words_add(out, "; %s: ", points_of(c, cause->sum.cores).text);
                add_cause(out, c, cause);
        }
        free(causes.items);
}

static struct answer_words make_answer(const struct idle_cores *c)
{
        struct answer_words a = { .used_bytes = 0 };
        double seconds = idle_cores_seconds(c, c->cores);

        if (!c->has_switches || c->n_cpus == 0) {
                answer_words_add(&a, "how many cores were idle is unknown: %s",
                                 c->n_cpus != 0 ? "no context switches were recorded"
                                                : "the trace does not say how many CPUs there were");
                return a;
        }
        if (c->n_moments == 0) {
                answer_words_add(&a, "no thread that passes the filters was recorded");
                return a;
        }
        answer_words_add(&a, "%.0f%% of %s were idle%s while ", idle_cores_share(c, c->cores) * 100,
                         text_number_counted(c->n_cpus, "cores").text,
                         idle_gaps_are_known(&c->gaps) ? "" : " or had other programs");
        if (c->request.filter->has_zone) {
                answer_words_add(&a, "'");
                answer_words_add_name(&a, asked_zone_name(c->sweep.names.trace->dictionary,
                                                          c->request.filter->request.zone));
                answer_words_add(&a, "' was open");
        } else {
                answer_words_add(&a, "the program ran");
        }
        answer_words_add(&a, " (%.*f core-seconds)", seconds >= 10 ? 0 : seconds >= 1 ? 1 : 2, seconds);
        add_causes(&a, c);
        if (idle_cores_share(c, c->others) >= SENTENCE_SHARE)
                answer_words_add(&a, "; %s more: %sother programs had the CPUs", points_of(c, c->others).text,
                                 idle_gaps_are_known(&c->gaps) ? "" : "threads could run, but ");
        return a;
}

static bool is_known(const struct idle_cores *c)
{
        return c->has_switches && c->n_cpus != 0 && c->n_moments != 0;
}

bool idle_view_say(const struct idle_cores *c, double share_min, struct answer_words *ret_words)
{
        struct causes causes = take_causes(c);
        bool is_said = false;

        for (uint32_t i = 0; i < causes.n && is_known(c) && !is_said; i++) {
                enum idle_cause cause = idle_cores_key(c, causes.items[i].first)->cause;

                if (cause == IDLE_OTHERS || (cause == IDLE_READY && !idle_gaps_are_known(&c->gaps)))
                        continue;
                if (idle_cores_share(c, causes.items[i].sum.cores) < share_min)
                        break;
                *ret_words = make_answer(c);
                is_said = true;
        }
        free(causes.items);
        return is_said;
}

/* ------------------------------------------------------------------ facts and rows */

/* clang-format off */
#define IDLE_FACTS(FACT)                                                                                      \
        FACT(SHARE, "idle_share", "idle", view_real_known(idle_cores_share(c, c->cores), is_known(c)),        \
             "of the cores' time: no recorded thread ran there, nor could have run")                          \
        FACT(REAL, "idle_core_seconds", "core-seconds",                                                       \
             view_real_known(idle_cores_seconds(c, c->cores), is_known(c)), "the same, added up over cores")  \
        FACT(SHARE, "others_share", "others had them",                                                        \
             view_real_known(idle_cores_share(c, c->others), is_known(c)),                                    \
             "of the cores' time, beside that: other programs had them; without record --idle only while "    \
             "threads of this one could run")                                                                 \
        FACT(COUNT, "cpus", "cores", view_known(c->n_cpus, c->n_cpus != 0), "that were online",               \
             .may_be_null = true)                                                                             \
        FACT(DURATION, "open_ns", "time", view_known(c->open_ns, is_known(c)),                                \
             "while a chosen thread lived; with a zone, while one was in an instance of it")                  \
        FACT(COUNT, "moments", "moments", view_number(c->n_moments), "of that time that were looked at")      \
        FACT(COUNT, "moments_cut", NULL, view_number(c->roots.n_early),                                       \
             "of them, those with a wait that had not ended, or not in time")
#define IDLE_COLUMNS(COLUMN)                                                                                  \
        COLUMN(REAL, "core_seconds", "core-seconds", view_real(idle_cores_seconds(c, row->cores)), NULL)      \
        COLUMN(SHARE, "share", "of time", view_real(idle_cores_share(c, row->cores)), "of the cores' time")    \
        COLUMN(STRING, "cause", "cause", view_words(cause_words[key->cause]),                                 \
               "run, lock: others waited for a thread that ran, for its lock; interrupt: for one of no "      \
               "device that is known; unrecorded: for a program that was not recorded; ready: threads could " \
               "run, and a CPU was idle; others: not idle, other programs had the CPUs",                      \
               .one_of = CAUSE_WORDS)                                                                         \
        COLUMN(HANDLE, "thread", "", view_handle('t', row->thread),                                     \
               "one of those with this name: who ran, or waited")                                             \
        COLUMN(STRING, "thread_name", "thread", name_of(c, key), NULL, .n_columns_max = 24)                   \
        COLUMN(STRING, "function", "in", view_name(path_words_function_name(&c->sweep.names, key->own)),      \
               "of the program, which it ran, or in which it waited", .n_columns_max = 40)                    \
        COLUMN(REAL, "waiting", "waited", view_real_known(waiting_of(row), row->n_waiting > 0),               \
               "threads, on average; of ready and others, that could run")                                    \
        COLUMN(SHARE, "alone", "alone", view_real(alone_of(row)),                                             \
               "of these moments: one thread ran, of all that were recorded")                                 \
        COLUMN(STRING, "by", NULL, view_name(key->by != 0                                                     \
               ? trace_dictionary_text(c->sweep.names.trace->dictionary, key->by)                             \
               : path_words_function_name(&c->sweep.names, 0)), "of unrecorded: the program")
#define STEP_COLUMNS(COLUMN)                                                                                  \
        COLUMN(TIME, "at_ns", "at", view_number(event_names_since_start(n, at_ns)), NULL)                     \
        COLUMN(DURATION, "ns", "for", view_number(ns), NULL)                                                  \
        COLUMN(REAL, "running", "ran", view_real(step->running / (double)step->n_moments),                    \
               "cores that ran the program, on average")                                                      \
        COLUMN(STRING, "cause", "cause", cause < IDLE_CAUSES ? view_words(cause_words[cause]) : view_unknown(),\
               "as in `idle`; null: all cores ran the program, and the step has no other row",                \
               .one_of = CAUSE_WORDS, .may_be_null = true)                                                    \
        COLUMN(REAL, "cores", "cores", view_real(cores / (double)step->n_moments),                            \
               "that did not run the program for this cause, on average", .must_stay = true)
/* clang-format on */

static const struct view_column fact_columns[] = { IDLE_FACTS(VIEW_MEMBER) };
static const struct view_column idle_columns[] = { IDLE_COLUMNS(VIEW_COLUMN) };
static const struct answer_part facts_part = ANSWER_FACTS(fact_columns);
static const struct answer_part idle_part = ANSWER_TABLE(
        "idle", idle_columns, "a cause for which cores did not run the program, the largest first");
static const struct view_column step_columns[] = { STEP_COLUMNS(VIEW_COLUMN) };
static const struct answer_part steps_part = ANSWER_TABLE(
        "steps", step_columns,
        "with --histogram: a cause in one of the equal steps of the time; steps in which no chosen thread "
        "lived, or with a zone none was in it, are left out",
        .may_be_absent = true);
const struct answer_schema idle_view_schema = {
        .name = "hyprof.idle/1",
        .command = "hyprof report --idle --json",
        .parts = (const struct answer_part *const[]){ &report_heading_events_part, &facts_part, &idle_part,
                                                      &steps_part, NULL },
};

static struct view_value name_of(const struct idle_cores *c, const struct idle_key *key)
{
        return key->group != 0 ? view_text(path_words_group_name(&c->sweep.names, key->group))
                               : view_unknown();
}

static void put_row(struct view_document *d, struct view_table *t, const struct idle_cores *c, uint32_t id)
{
        const struct idle_key *key = idle_cores_key(c, id);
        const struct idle_row *row = &c->rows[id - 1];

        IDLE_COLUMNS(VIEW_CELL)
}

static void add_rows(struct event_names *n, const struct idle_cores *c)
{
        struct view_document *d = n->document;
        struct view_table *t = view_document_add_part(d, &idle_part, "Why cores were idle");
        size_t n_shown = is_known(c) ? event_names_limit(n, t, c->n_rows) : 0, i = 0;

        view_table_set_about(d, t, "%% of the cores' time; `others` had theirs, which were not idle");
        for (; i < n_shown; i++) {
                if (n->options->limit != 0 &&
                    idle_cores_share(c, c->rows[c->order[i] - 1].cores) < SHARE_SHOWN_MIN)
                        break;
                put_row(d, t, c, c->order[i]);
        }
        if (t)
                t->n_left_out += n_shown - i;
}

static void put_step(struct event_names *n, struct view_table *t, const struct idle_cores *c, uint32_t i,
                     uint32_t cause)
{
        const struct idle_steps *steps = &c->steps;
        const struct idle_step *step = &steps->steps[i];
        const double cores = cause < IDLE_CAUSES ? step->cores[cause] : 0;
        const uint64_t at_ns = steps->begin_ns + (uint64_t)(i * steps->step_ns);
        const uint64_t ns = steps->begin_ns + (uint64_t)((i + 1) * steps->step_ns) - at_ns;
        struct view_document *d = n->document;

        STEP_COLUMNS(VIEW_CELL)
}

/* Only what is more than nothing has a row, but each step has one. */
static void add_steps(struct event_names *n, const struct idle_cores *c)
{
        struct view_document *d = n->document;
        struct view_table *t;

        if (c->request.n_steps == 0)
                return;
        t = view_document_add_part(d, &steps_part, "Over time");
        view_table_set_about(d, t, "cores, on average over the step");
        for (uint32_t i = 0; i < c->steps.n_steps && is_known(c); i++) {
                bool any = c->steps.steps[i].n_moments == 0;

                for (uint32_t cause = 0; cause < IDLE_CAUSES; cause++) {
                        if (c->steps.steps[i].cores[cause] <= 0)
                                continue;
                        any = true;
                        put_step(n, t, c, i, cause);
                }
                if (!any)
                        put_step(n, t, c, i, IDLE_CAUSES);
        }
}

static void add_warnings(struct event_names *n, const struct idle_cores *c)
{
        struct view_document *d = n->document;

        if (!is_known(c))
                return;
        if (!idle_gaps_are_known(&c->gaps))
                view_document_warn(
                        d, "other programs' time on the cores is known only where a thread of this one "
                           "could have run there: the rest counts as idle; record --idle tells them "
                           "apart");
        if (c->request.filter->cpus || c->request.filter->stacks)
                view_document_warn(d, "--cpu and --module choose samples: here they change nothing");
        if (!c->sweep.has_wakeups)
                view_document_warn(d, "recorded without --off-cpu: what ended waits is known of few");
        if (c->sweep.past.event == 0)
                view_document_warn(d, "no samples: the functions that ran are unknown");
        event_names_warn(n, c->n_left_out, "causes beyond the limit, left out");
        event_names_warn(n, c->sweep.past.n_forgotten, "waits that were dropped for lack of room");
}

void idle_view_fill(struct view_document *d, const struct idle_cores *c, struct loaded_trace *trace,
                    const struct event_view_options *options)
{
        struct answer_words answer = make_answer(c);
        struct event_names n;

        event_names_init(&n, d, trace, NULL, options);
        event_names_heading(&n, &answer, 0, 0);
        report_heading_warn_recorded(d, trace->dictionary, NULL);
        IDLE_FACTS(VIEW_FACT)
        add_warnings(&n, c);
        add_rows(&n, c);
        add_steps(&n, c);
        report_heading_hint(d, options->path, "report --wall");
        if (c->request.filter->has_zone)
                report_heading_hint(
                        d, options->path, "path --zone %s",
                        asked_zone_option(trace->dictionary, c->request.filter->request.zone).text);
        report_heading_hint(d, options->path, "report --cpus");
        event_names_deinit(&n);
}
