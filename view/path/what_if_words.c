/* SPDX-License-Identifier: MIT */
#include "view/path/what_if_words.h"

#include "analyze/path/path.h"
#include "analyze/walk/loaded_trace.h"
#include "view/path/path_words.h"
#include "view/shared/answer_words.h"
#include "view/shared/asked_zone.h"
#include "view/shared/report_names.h"
#include "view/text/text_number.h"

#include <math.h>

/* A smaller share is nothing. */
#define GAIN_MIN 0.005
/* From here on the machine's part is mentioned, which the times do not have. */
#define OTHERS_MIN 0.05
/* So much of the path must end by what is kept as it was, to say that the bound is doubtful. */
#define KEPT_MIN 0.1
/* Less of the time than this is not on the path. */
#define ON_PATH_MIN 0.001

double what_if_words_before_ns(const struct path *p)
{
        return path_sums_rest_ns(&p->sums) / fmax((double)p->n_examined, 1);
}

/* In the replay other programs may have the CPUs for less, which does not make the bound more than now. */
double what_if_words_then_ns(const struct path *p)
{
        double rest_ns = fmin(path_sums_rest_ns(&p->what_if.then), path_sums_rest_ns(&p->sums));

        return rest_ns / fmax((double)p->n_examined, 1);
}

double what_if_words_gain(const struct path *p)
{
        return fmax(1 - path_sums_rest_ns(&p->what_if.then) / fmax(path_sums_rest_ns(&p->sums), 1), 0);
}

/* The share that the path itself would save, whatever comes instead. */
static double find_own(const struct path *p)
{
        return (double)p->what_if.own_ns / fmax(path_sums_rest_ns(&p->sums), 1);
}

double what_if_words_lost_ns(const struct path *p)
{
        return fmax((double)(p->what_if.own_ns - p->what_if.gain_ns), 0) / fmax((double)p->n_examined, 1);
}

/* "half the time", "20% of the time", "no time" */
static void add_factor(struct answer_words *out, double factor)
{
        if (factor == 0)
                answer_words_add(out, "no time");
        else if (factor == 0.5)
                answer_words_add(out, "half the time");
        else
                answer_words_add(out, "%.3g%% of the time", factor * 100);
}

static bool is_any_faster(const struct what_if_request *request)
{
        for (size_t i = 0; i < request->n; i++)
                if (request->changes[i].factor < 1)
                        return true;
        return false;
}

/* "serial() took half the time and bar() no time" */
static void add_changes(struct answer_words *out, const struct what_if_request *request)
{
        for (size_t i = 0; i < request->n; i++) {
                answer_words_add(out, i == 0 ? "" : i + 1 < request->n ? ", " : " and ");
                answer_words_add_function(out, request->changes[i].function);
                answer_words_add(out, i == 0 ? " took " : " ");
                add_factor(out, request->changes[i].factor);
        }
}

static void add_thread(struct answer_words *out, const struct path *p, const struct path_row_key *key)
{
        if (key->is_first && p->sums.are_several) {
                answer_words_add(out, "its thread");
                return;
        }
        answer_words_add(out, key->is_first ? "" : "'");
        answer_words_add_name(out, path_words_group(p, key->group));
        answer_words_add(out, key->is_first ? "" : "'");
}

/* "; beyond that 'w' in bar() is what it waits for" */
static void add_cap(struct answer_words *out, const struct path *p)
{
        const struct path_row_key *key = &p->what_if.rows[p->what_if.cap - 1].key;
        struct text_view name = path_words_function(p, key->own);

        answer_words_add(out, "; beyond that ");
        add_thread(out, p, key);
        if (key->kind > PATH_ROW_SPIN)
                answer_words_add(out, ", which %s", path_words_doing(key));
        if (name.n_bytes != 0 && name.bytes[0] != '[') {
                answer_words_add(out, " in ");
                answer_words_add_function(out, name);
        }
        answer_words_add(out, key->kind > PATH_ROW_SPIN ? "," : "");
        answer_words_add(out, key->is_first ? " is what takes the time" : " is what it waits for");
}

/* Whether the end of such a row may have to do with other threads, though no event says so. */
static bool is_kept(const struct path_row_key *key)
{
        return key->kind == PATH_ROW_SPIN ||
               (key->kind == PATH_ROW_WAIT && key->end != WAIT_END_DISK && key->end != WAIT_END_THREAD);
}

static double kept_share(const struct path *p)
{
        double share = 0;

        for (uint32_t i = 0; i < p->n_rows; i++)
                if (is_kept(path_sums_key(&p->sums, p->order[i])))
                        share += path_row_share(p, p->order[i]);
        return share;
}

void what_if_words_answer(const struct path *p, struct answer_words *out)
{
        double before_ns = what_if_words_before_ns(p), gain = what_if_words_gain(p);

        if (p->request.zone) {
                answer_words_add(out, "'");
                answer_words_add_name(out, asked_zone_name(p->trace->dictionary, p->request.zone));
                answer_words_add(out, "' would take ");
        } else {
                answer_words_add(out, p->n_examined > 1 ? "the runs would take " : "the run would take ");
        }
        if (gain < GAIN_MIN)
                answer_words_add(out, "no less (%s)", text_number_duration((uint64_t)before_ns).text);
        else
                answer_words_add(out, "at most %.0f%% less (%s -> %s)", gain * 100,
                                 text_number_duration((uint64_t)before_ns).text,
                                 text_number_duration((uint64_t)what_if_words_then_ns(p)).text);
        answer_words_add(out, p->has_wakeups ? " if " : ", as far as its own functions show, if ");
        add_changes(out, &p->what_if.request);
        if (p->what_if.cap != 0)
                add_cap(out, p);
        else if (gain < GAIN_MIN && p->has_wakeups && is_any_faster(&p->what_if.request))
                answer_words_add(out,
                                 find_own(p) < ON_PATH_MIN ? ": not on the path" : ": hardly on the path");
        if (!p->has_wakeups)
                answer_words_add(out,
                                 "; for whom threads waited is not recorded, and the gain may be far larger: "
                                 "record with --off-cpu");
        else if (kept_share(p) >= KEPT_MIN)
                answer_words_add(
                        out,
                        "; what ends %.0f%% of the path (timers, the network, spinning) is kept as it is: "
                        "the gain may be larger",
                        kept_share(p) * 100);
        if (p->machine_share >= OTHERS_MIN)
                answer_words_add(out, "; times are without those of other programs");
}
