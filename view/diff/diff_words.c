/* SPDX-License-Identifier: MIT */
#include "view/diff/diff_words.h"

#include "analyze/diff/diff_comparison.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
#include "view/text/text_number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The number of names in the answer; the tables have all. */
#define N_NAMED_MAX 3
/* A smaller difference in length, in ns and as a share of the longer run, is not mentioned. */
#define LASTED_MIN_NS    1e8
#define LASTED_MIN_SHARE 0.2

/* A larger change is said as "so many times". */
#define DETECTABLE_PERCENT_MAX 200

static int rank(const struct diff_item *item)
{
        if (item->is_significant)
                return 0;
        if (item->doubt == DIFF_ONE_SIDED)
                return 1;
        return item->key_before != 0 && item->key_after != 0 && item->key_before != item->key_after ? 1 : 2;
}

/*
 * The part of the run by which the item changed or, if the change is not significant, the part that the
 * item takes.
 */
static double impact(const struct diff_item *item)
{
        double share = fmax(item->share_before, item->share_after);

        return item->is_significant ? item->moved_share : share;
}

int diff_words_compare(const void *a, const void *b)
{
        const struct diff_item *x = *(const struct diff_item *const *)a;
        const struct diff_item *y = *(const struct diff_item *const *)b;
        double far = impact(y) - impact(x);

        if (rank(x) != rank(y))
                return rank(x) - rank(y);
        if (far > 0 || far < 0)
                return far > 0 ? 1 : -1;
        return x < y ? -1 : x > y;
}

const char *diff_words_change(const struct diff_comparison *c, bool is_time, double change)
{
        if (is_time || c->weight_is_ns)
                return change > 0 ? "slower" : "faster";
        return change > 0 ? "more" : "less";
}

struct text_view diff_words_name(const struct diff_comparison *c, uint32_t key)
{
        return diff_names_shown(c->names, key);
}

uint64_t diff_words_whole(double value)
{
        return (uint64_t)fmin(value + 0.5, 9e18);
}

static void say_verdict(struct answer_words *a, const struct diff_verdict *v)
{
        double low, high;

        diff_comparison_interval(v, &low, &high);
        answer_words_add(a, " %+.1f%% (%+.1f to %+.1f)", 100 * expm1(v->change), 100 * low, 100 * high);
}

static void say_name(struct answer_words *a, const struct diff_comparison *c, const struct diff_item *item)
{
        static const char *const words[DIFF_KIND_COUNT] = { "", "zone ", "waiting in ", "", "kernel " };

        answer_words_add(a, "%s", words[item->kind]);
        answer_words_add_name(a, diff_words_name(c, diff_item_key(item)));
}

static struct text_number amount_words(const struct diff_comparison *c, const struct diff_item *item,
                                       double amount)
{
        uint64_t whole = diff_words_whole(fabs(amount));

        return diff_words_is_time(item) || c->weight_is_ns ? text_number_duration(whole)
                                                           : text_number_count(whole);
}

/* "-2.07 s of 2.10 s": of the run, or the unit of work, on the side that has the item. */
static void say_amount(struct answer_words *a, const struct diff_comparison *c, const struct diff_item *item)
{
        bool is_new = item->key_before == 0;
        double all = is_new ? c->weight_after : c->weight_before;
        double units = is_new ? c->units_after : c->units_before;

        if (diff_kind_is_zone(item->kind))
                all = is_new ? c->duration_ns_after : c->duration_ns_before;
        if (item->kind == DIFF_WAIT)
                all = is_new ? c->threads_ns_after : c->threads_ns_before;
        if (c->options.basis.per_unit && units > 0)
                all /= units;
        answer_words_add(a, "%c%s of %s", is_new ? '+' : '-', amount_words(c, item, diff_moved_ns(item)).text,
                         amount_words(c, item, all).text);
}

/* Groups of items, each listed after one word, "slower: ...". */
enum group { GROUP_NEW, GROUP_SLOWER, GROUP_GONE, GROUP_FASTER, GROUP_CALLS, GROUP_COUNT };

static enum group group_of(const struct diff_item *item)
{
        if (item->kind == DIFF_CALL)
                return GROUP_CALLS;
        if (item->key_before == 0)
                return GROUP_NEW;
        if (item->key_after == 0)
                return GROUP_GONE;
        return item->verdict.change > 0 ? GROUP_SLOWER : GROUP_FASTER;
}

static const char *group_words(const struct diff_comparison *c, enum group group)
{
        if (group == GROUP_CALLS)
                return "system calls";
        if (group == GROUP_NEW)
                return "new";
        if (group == GROUP_GONE)
                return "gone";
        return diff_words_change(c, c->n_judged[DIFF_FUNCTION] == 0, group == GROUP_SLOWER ? 1 : -1);
}

/* " from dump_file 52,767 -> 2,640": the calls of a run, or of a unit of work. */
static void say_calls(struct answer_words *a, const struct diff_comparison *c, const struct diff_item *item)
{
        uint32_t caller = item->value_after > item->value_before ? item->caller_after : item->caller_before;

        if (caller != 0) {
                answer_words_add(a, " from ");
                answer_words_add_name(a, diff_names_string(c->names, caller));
        }
        if (c->options.basis.per_unit) {
                answer_words_add(a, " %.3g -> %.3g", item->value_before, item->value_after);
                return;
        }
        answer_words_add(a, " %s", text_number_count(diff_words_whole(item->value_before)).text);
        answer_words_add(a, " -> %s", text_number_count(diff_words_whole(item->value_after)).text);
}

/* The significant items of a group. */
static void say_group(struct answer_words *a, const struct diff_comparison *c,
                      const struct diff_item *const *items, size_t n_items, enum group group)
{
        bool is_up = c->whole.verdict.change > 0;
        bool is_whole = c->whole.is_significant && group == (is_up ? GROUP_SLOWER : GROUP_FASTER);
        size_t n = 0;

        for (size_t i = 0; i < n_items; i++) {
                if (group_of(items[i]) != group || n++ >= N_NAMED_MAX)
                        continue;
                if (n == 1)
                        answer_words_add(a, "%s%s: ", a->used_bytes > 0 ? "; " : "", group_words(c, group));
                else
                        answer_words_add(a, ", ");
                say_name(a, c, items[i]);
                if (group == GROUP_CALLS) {
                        say_calls(a, c, items[i]);
                } else if (diff_item_is_one_sided(items[i])) {
                        answer_words_add(a, ", ");
                        say_amount(a, c, items[i]);
                } else {
                        say_verdict(a, &items[i]->verdict);
                }
        }
        if (n > N_NAMED_MAX)
                answer_words_add(a, ", and %zu more", n - N_NAMED_MAX);
        if (!is_whole)
                return;
        if (n == 0)
                answer_words_add(a, "%s%s: the whole run", a->used_bytes > 0 ? "; " : "",
                                 group_words(c, group));
        else
                answer_words_add(a, ", the whole run");
        say_verdict(a, &c->whole.verdict);
}

/* The group whose item changed the most time comes first; @items are in that order. */
static void say_groups(struct answer_words *a, const struct diff_comparison *c,
                       const struct diff_item *const *items, size_t n_items)
{
        bool is_said[GROUP_COUNT] = { false };

        for (size_t i = 0; i < n_items; i++) {
                enum group group = group_of(items[i]);

                if (!is_said[group])
                        say_group(a, c, items, n_items, group);
                is_said[group] = true;
        }
        for (int group = 0; group < GROUP_COUNT; group++)
                if (!is_said[group])
                        say_group(a, c, items, n_items, (enum group)group);
}

static void say_percent(struct answer_words *a, double change)
{
        if (100 * change > DETECTABLE_PERCENT_MAX)
                answer_words_add(a, "%.0f times as much", change + 1);
        else
                answer_words_add(a, "%.*f%%", change < 0.1 ? 1 : 0, 100 * change);
}

static void say_counts(struct answer_words *a, const struct diff_comparison *c)
{
        static const char *const words[DIFF_KIND_COUNT] = { "functions", "zones", "waits", "system calls",
                                                            "kernels" };
        uint32_t n_left = 0, n_said = 0;

        for (int kind = 0; kind < DIFF_KIND_COUNT; kind++)
                n_left += c->n_judged[kind] != 0;
        for (int kind = 0; kind < DIFF_KIND_COUNT; kind++) {
                if (c->n_judged[kind] == 0)
                        continue;
                answer_words_add(a, "%s%s",
                                 n_said == 0  ? ""
                                 : n_left > 1 ? ", "
                                              : " and ",
                                 text_number_counted(c->n_judged[kind], words[kind]).text);
                n_said++;
                n_left--;
        }
        answer_words_add(a, " compared");
}

/* Says the change as it was recorded, since it is not significant. */
static void say_recorded(struct answer_words *a, const struct diff_comparison *c,
                         const struct diff_item *item)
{
        if (item->kind == DIFF_CALL) {
                say_calls(a, c, item);
                answer_words_add(a, " calls, %s",
                                 text_number_duration(diff_words_whole(item->total_before)).text);
                answer_words_add(a, " -> %s", text_number_duration(diff_words_whole(item->total_after)).text);
                return;
        }
        if (diff_item_is_one_sided(item)) {
                answer_words_add(a, " is %s, ", item->key_before == 0 ? "new" : "gone");
                say_amount(a, c, item);
                return;
        }
        answer_words_add(a, " %+.1f%%", 100 * expm1(item->verdict.change));
}

/* Used if the whole run is judged, but no function or zone. */
static void say_uncertain_whole(struct answer_words *a, const struct diff_comparison *c)
{
        if (diff_comparison_is_pair(c)) {
                answer_words_add(a, "the whole run %+.1f%%, not certain from one pair",
                                 100 * expm1(c->whole.verdict.change));
                return;
        }
        answer_words_add(a, "no significant change: the whole run");
        say_verdict(a, &c->whole.verdict);
}

/* Says the recorded change of the item that weighs most, and what would make the change certain. */
static void say_uncertain(struct answer_words *a, const struct diff_comparison *c)
{
        const struct diff_item *item = diff_comparison_leading(c);

        if (!item && c->whole.is_judged) {
                say_uncertain_whole(a, c);
                return;
        }
        if (!item) {
                answer_words_add(
                        a, "nothing can be compared: %s",
                        c->has_kind[DIFF_FUNCTION] || c->has_kind[DIFF_ZONE] || c->has_kind[DIFF_WAIT] ||
                                        c->has_kind[DIFF_CALL] || c->has_kind[DIFF_KERNEL]
                                ? "no function or zone has enough samples or instances, before or after"
                                : "not all recordings have samples of the same event, or zones");
                return;
        }
        if (diff_comparison_is_pair(c)) {
                say_name(a, c, item);
                say_recorded(a, c, item);
                answer_words_add(a, ", not certain from one pair");
                if (diff_item_is_one_sided(item) || item->kind == DIFF_CALL || item->kind == DIFF_WAIT)
                        return;
                answer_words_add(a, "; five runs each would detect ");
                say_percent(a, diff_comparison_detectable(c, item, DIFF_RUNS_ADVISED, DIFF_RUNS_ADVISED));
                return;
        }
        answer_words_add(a, "no significant change (");
        say_counts(a, c);
        answer_words_add(a, "); largest: ");
        say_name(a, c, item);
        if (diff_item_is_one_sided(item) || item->kind == DIFF_CALL) {
                say_recorded(a, c, item);
                return;
        }
        say_verdict(a, &item->verdict);
        answer_words_add(a, ", where ");
        say_percent(a, diff_comparison_detectable(c, item, c->n_before, c->n_after));
        answer_words_add(a, " would have been detected");
}

/*
 * For programs that wait: a difference in length that time on CPUs cannot explain.  No verdict is given,
 * since the difference is not tested; with losses, the time on CPUs is unknown.
 */
static void say_lasted(struct answer_words *a, const struct diff_comparison *c)
{
        double longer = fmax(c->duration_ns_before, c->duration_ns_after);
        double difference = fabs(c->duration_ns_after - c->duration_ns_before);

        if (!c->weight_is_ns || c->unsampled_before.of != UNSAMPLED_NONE ||
            c->unsampled_after.of != UNSAMPLED_NONE || difference < LASTED_MIN_NS ||
            difference < LASTED_MIN_SHARE * longer ||
            difference < 2 * fabs(c->weight_after - c->weight_before))
                return;
        answer_words_add(a, "; lasted %s before", text_number_duration((uint64_t)c->duration_ns_before).text);
        answer_words_add(a, ", %s after, and most of the difference was on no CPU",
                         text_number_duration((uint64_t)c->duration_ns_after).text);
}

/* In a program that waits, the certain changes may be the smaller part of the time saved. */
static void say_larger(struct answer_words *a, const struct diff_comparison *c, const struct diff_item *first)
{
        const struct diff_item *item = diff_comparison_leading(c);

        if (!item || item->is_significant || (item->kind != DIFF_WAIT && item->kind != DIFF_CALL) ||
            (first && item->moved_share <= first->moved_share))
                return;
        answer_words_add(a, "; ");
        say_name(a, c, item);
        say_recorded(a, c, item);
        answer_words_add(a, ", not certain");
}

static void say_unsampled(struct answer_words *a, const struct unsampled_time *u, const char *side)
{
        char words[UNSAMPLED_TIME_WORDS_BYTES];

        unsampled_time_clause(u, side, words);
        answer_words_add(a, "%s", words);
}

const char *diff_words_verdict(const struct diff_comparison *c)
{
        if (c->n_significant > 0)
                return "changed";
        return diff_comparison_leading(c) || c->whole.is_judged ? "not certain" : "not compared";
}

void diff_words_set_answer(struct view_document *d, const struct diff_comparison *c)
{
        const struct diff_item **significant = calloc(c->n_items + 1, sizeof(void *));
        struct answer_words a = { .used_bytes = 0 };
        size_t n = 0;

        if (!significant) {
                d->failed = true;
                return;
        }
        for (size_t i = 0; i < c->n_items; i++)
                if (c->items[i].is_significant)
                        significant[n++] = &c->items[i];
        if (n > 1)
                qsort((void *)significant, n, sizeof(void *), diff_words_compare);
        say_groups(&a, c, significant, n);
        if (a.used_bytes == 0) {
                say_uncertain(&a, c);
                say_lasted(&a, c);
        } else {
                say_larger(&a, c, n > 0 ? significant[0] : NULL);
        }
        say_unsampled(&a, &c->unsampled_before, "before");
        say_unsampled(&a, &c->unsampled_after, "after");
        answer_words_set(&a, d);
        free((void *)significant);
}
