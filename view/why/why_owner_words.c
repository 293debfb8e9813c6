/* SPDX-License-Identifier: MIT */
#include "view/why/why_owner_words.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/why/why.h"
#include "base/byte_buffer.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/waits/owners_view.h"
#include "view/why/why_words.h"

#include <math.h>
#include <string.h>

/* An owner of a smaller part of the extra time is not named beside others. */
#define NAMED_MIN 0.05
/* A thread with at least this share of a kind's time stands for the whole kind. */
#define MOST_MIN 0.9
#define HALF     0.5

static void add_owner_name(struct byte_buffer *out, struct text_view name)
{
        if (name.n_bytes == 0)
                return;
        byte_buffer_add_format(out, " ");
        why_words_add_quoted(out, name);
}

static void add_own(const struct loaded_trace *trace, const struct why_owner *owner, struct byte_buffer *out)
{
        bool is_one = owner->most >= MOST_MIN;

        if (!is_one)
                byte_buffer_add_format(out, "%u of its own threads, above all ", owner->n);
        byte_buffer_add_format(out, "thread t%u", owner->thread);
        add_owner_name(out, loaded_trace_thread_name(trace, owner->thread));
        byte_buffer_add_format(out, is_one ? " had the CPU" : ", had the CPU");
}

/* A process takes the name of its thread. */
static void add_program(const struct loaded_trace *trace, const struct why_owner *owner,
                        struct byte_buffer *out)
{
        bool is_one = owner->most >= MOST_MIN;

        if (is_one)
                byte_buffer_add_format(out, "the program");
        else
                byte_buffer_add_format(out, "%u other programs, above all", owner->n);
        add_owner_name(out, loaded_trace_thread_name(trace, owner->thread));
        byte_buffer_add_format(out, " (pid %u)%s had the CPU", loaded_trace_thread_pid(trace, owner->thread),
                               is_one ? "" : ",");
}

void why_owner_words_add_subject(const struct loaded_trace *trace, const struct why_owner *owner,
                                 struct byte_buffer *out)
{
        switch (owner->kind) {
        case READY_OWNER_OWN:
                add_own(trace, owner, out);
                return;
        case READY_OWNER_PROGRAM:
                add_program(trace, owner, out);
                return;
        case READY_OWNER_QUOTA:
                byte_buffer_add_format(out, "it was throttled by the CPU quota");
                return;
        case READY_OWNER_STOPPED:
                byte_buffer_add_format(out, "it was stopped (SIGSTOP or a debugger)");
                return;
        case READY_OWNER_OTHERS:
        case READY_OWNER_KINDS:
                break;
        }
        byte_buffer_add_format(out, "others had the CPU");
}

static void add_owner_part(struct byte_buffer *out, double share, const char *of)
{
        byte_buffer_add_format(out, " for ");
        why_words_add_share(out, share);
        byte_buffer_add(out, of, strlen(of));
}

void why_owner_words_add(const struct why *w, const struct loaded_trace *trace, double share, const char *of,
                         struct byte_buffer *out)
{
        static const struct why_owner others = { .kind = READY_OWNER_OTHERS, .part = 1 };
        const struct why_cpu_owners *o = &w->collector.owners;

        if (o->n_rows == 0) {
                why_owner_words_add_subject(trace, &others, out);
                add_owner_part(out, share, of);
        }
        for (size_t i = 0; i < o->n_rows; i++) {
                double part = o->rows[i].part * share;

                if (i != 0 && part < NAMED_MIN)
                        continue;
                if (i != 0)
                        byte_buffer_add_format(out, "; ");
                why_owner_words_add_subject(trace, &o->rows[i], out);
                add_owner_part(out, part, i == 0 ? of : "");
        }
}

const struct why_owner *why_owner_words_find_lead(const struct why *w)
{
        bool is_ranked_without = w->by == WHY_BY_OWN && w->request.by == WHY_BY_AUTOMATIC;

        if (!why_owner_words_dominate(w) || (!is_ranked_without && why_find_answer(w)))
                return NULL;
        return why_cpu_owners_find_known(&w->collector.owners);
}

bool why_owner_words_dominate(const struct why *w)
{
        const struct why_cpu_owners *o = &w->collector.owners;

        return o->n[WHY_SLOW] >= WHY_SLOW_MIN && o->n[WHY_TYPICAL] >= WHY_SLOW_MIN &&
               w->machine_share >= HALF;
}

static uint64_t owner_mean_ns(double ns)
{
        return ns > 0 ? (uint64_t)llround(ns) : 0;
}

/* clang-format off */
#define OWNER_COLUMNS(COLUMN)                                                                                 \
        COLUMN(STRING, "owner", "kind", view_words(owners_view_key(row->kind)), "others: not known",          \
               .one_of = "own-thread|program|cpu-quota|stopped|others")                                       \
        COLUMN(STRING, "words", "what",                                                                       \
               view_text((struct text_view){ (const char *)words.data, words.used_bytes }), NULL)             \
        COLUMN(HANDLE, "thread", "", view_handle('t', is_thread ? row->thread : 0),                           \
               "that had the most of it")                                                                     \
        COLUMN(COUNT, "n", "how many", view_known(row->n, is_thread), "threads, or programs",                 \
               .may_be_null = true)                                                                           \
        COLUMN(SHARE, "share", "%", view_real(row->part), "of the time of all rows")                          \
        COLUMN(DURATION, "slow_ns", "slow", view_number(owner_mean_ns(row->ns[WHY_SLOW])),                    \
               "mean of an instance")                                                                         \
        COLUMN(DURATION, "typical_ns", "others", view_number(owner_mean_ns(row->ns[WHY_TYPICAL])), "likewise")
/* clang-format on */

static const struct view_column columns[] = { OWNER_COLUMNS(VIEW_COLUMN) };
const struct answer_part why_owner_words_part = ANSWER_TABLE(
        "owners", columns,
        "what kept slow instances from running: who had the CPU while the slowest by wall time were ready to run",
        .may_be_absent = true);

static void put_owner(struct view_document *d, struct view_table *t, const struct loaded_trace *trace,
                      const struct why_owner *row)
{
        bool is_thread = row->kind == READY_OWNER_OWN || row->kind == READY_OWNER_PROGRAM;
        struct byte_buffer words = { .data = NULL };

        why_owner_words_add_subject(trace, row, &words);
        OWNER_COLUMNS(VIEW_CELL)
        d->failed = d->failed || words.failed;
        byte_buffer_deinit(&words);
}

void why_owner_words_add_table(const struct why *w, const struct loaded_trace *trace, struct view_document *d)
{
        const struct why_cpu_owners *o = &w->collector.owners;
        struct view_table *t;

        if (o->n_rows == 0)
                return;
        t = view_document_add_part(d, &why_owner_words_part, "What kept slow instances from running");
        view_table_set_about(d, t,
                             "of the slowest by wall time, while they were ready to run, or stopped; times "
                             "are means of an instance; %% of what slow ones have more of it");
        for (size_t i = 0; i < o->n_rows; i++)
                put_owner(d, t, trace, &o->rows[i]);
}
