/* SPDX-License-Identifier: MIT */
#include "view/why/why_words.h"

#include "analyze/trace/zone_pattern.h"
#include "analyze/walk/loaded_trace.h"
#include "base/byte_buffer.h"
#include "format/trace_dictionary.h"
#include "view/shared/asked_zone.h"
#include "view/text/name_short.h"
#include "view/text/shell_word.h"
#include "view/text/text_number.h"
#include "view/why/why_common_words.h"
#include "view/why/why_owner_words.h"
#include "view/why/why_span_words.h"
#include "view/why/why_wait_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Less extra time than this share of the typical duration needs no cause. */
#define EXTRA_MIN 0.02
/* A smaller part of the extra time is not mentioned beside a cause. */
#define MACHINE_MIN 0.2
#define HALF        0.5
/* Names in the sentence are not longer: JSON has them whole. */
#define NAME_COLUMNS_MAX 80
/* The part of a cause that may lie outside of the zone that the sentence names. */
#define OUTSIDE_MAX 0.1
/* Other causes, beside one of less than half the extra time. */
#define OTHERS_MAX      3
#define OTHER_SHARE_MIN 0.05
/* A smaller rise of a counter explains nothing by itself. */
#define COUNTER_RISE_MIN 1.5

static const struct {
        const char *key, *words;
} kinds[] = {
        [WHY_CAUSE_FUNCTION] = { "function", "running" },
        [WHY_CAUSE_LOCK] = { "lock", "waiting for the lock" },
        [WHY_CAUSE_WAIT] = { "wait", "waiting" },
        [WHY_CAUSE_FAULTS] = { "page-faults", "page faults" },
        [WHY_CAUSE_MOVED] = { "migration", "moved to another CPU" },
        [WHY_CAUSE_SUSPENDED] = { "suspended", "suspended" },
        [WHY_CAUSE_ZONE] = { "zone", "in the zone" },
        [WHY_CAUSE_DEVICE] = { "device", "longer on the device" },
        [WHY_CAUSE_BEHIND] = { "queue", "behind earlier work" },
        [WHY_CAUSE_HOST_LATE] = { "host", "idle lane, host late" },
        [WHY_CAUSE_HANDED_OVER] = { "launch", "idle lane, handed over" },
        [WHY_CAUSE_DISPLACED] = { "displaced", "preempted, then moved" },
        [WHY_CAUSE_PREEMPTED] = { "preempted", "preempted" },
        [WHY_CAUSE_DELAY] = { "delay", "ready, not on a CPU yet" },
        [WHY_CAUSE_STOPPED] = { "stopped", "stopped by a signal" },
        [WHY_CAUSE_INTERRUPTS] = { "interrupts", "interrupts" },
        [WHY_CAUSE_SAME] = { "same", "the same functions, longer" },
        [WHY_CAUSE_UNEXPLAINED] = { "unexplained", "not sampled, not waiting" },
};

const char *why_words_key(enum why_cause_kind kind)
{
        return kinds[kind].key;
}

const char *why_words_kind(enum why_cause_kind kind)
{
        return kinds[kind].words;
}

const char *why_words_confidence(enum why_confidence confidence)
{
        static const char *const words[] = {
                [WHY_CONFIDENCE_NONE] = "-",    [WHY_CONFIDENCE_TOO_FEW] = "too few",
                [WHY_CONFIDENCE_LOW] = "low",   [WHY_CONFIDENCE_MEDIUM] = "medium",
                [WHY_CONFIDENCE_HIGH] = "high",
        };

        return words[confidence];
}

const char *why_words_doing(enum why_doing doing)
{
        static const char *const words[] = {
                [WHY_DOING_UNKNOWN] = "",    [WHY_DOING_RUN] = "ran",
                [WHY_DOING_WAIT] = "waited", [WHY_DOING_PREEMPTED] = "was ready to run without a CPU",
                [WHY_DOING_DEVICE] = "",     [WHY_DOING_EARLIER] = "",
                [WHY_DOING_LAUNCH] = "",
        };

        return words[doing];
}

const char *why_words_by(enum why_by by)
{
        static const char *const words[] = {
                [WHY_BY_WALL] = "wall time",       [WHY_BY_OWN] = "time on a CPU and own waits",
                [WHY_BY_ON_CPU] = "time on a CPU", [WHY_BY_WAITING] = "own waits",
                [WHY_BY_AUTOMATIC] = "",
        };

        return words[by];
}

static struct text_view words_of(const char *words)
{
        return (struct text_view){ .bytes = words, .n_bytes = strlen(words) };
}

struct text_view why_words_function(const struct why *w, uint32_t label)
{
        const struct function *f;

        if (label == 0)
                return words_of("");
        f = function_table_get(&w->places.functions, label);
        switch ((enum function_kind)f->kind) {
        case FUNCTION_NO_SYMBOL:
                return words_of("[no symbol]");
        case FUNCTION_STALE_FILE:
                return words_of("[file changed]");
        case FUNCTION_NO_MODULE:
                return words_of("[unknown memory]");
        case FUNCTION_NO_CALLSTACK:
                return words_of("[no call stack]");
        case FUNCTION_NAMED:
        case FUNCTION_MARK:
        case FUNCTION_UNNAMED:
        case FUNCTION_KIND_COUNT:
                break;
        }
        return trace_dictionary_text(w->dictionary, f->name);
}

static struct text_view place_name(const struct why *w, uint32_t id)
{
        struct wait_place place;
        uint32_t label = w->waits.names[id - 1].label;

        if (label != 0)
                return why_words_function(w, label);
        wait_places_get(&w->places, id, &place);
        return place.has_stack ? words_of("[kernel]") : words_of("[no call stack]");
}

struct text_view why_words_kernel(const struct why *w, uint32_t id)
{
        return why_words_function(w, w->waits.names[id - 1].kernel);
}

static struct text_view lock_name(const struct why *w, uint32_t id)
{
        const struct trace_lock *lock = trace_dictionary_row(w->dictionary, TRACE_TABLE_LOCKS, id);
        uint32_t given = w->survey.lock_names[id - 1];
        struct text_view name = given != 0 ? trace_dictionary_text(w->dictionary, given)
                                           : zone_pattern_name_of(w->dictionary, lock->location);

        return given != 0 || name.n_bytes != 0 ? name : words_of("[no name]");
}

struct text_view why_words_name(const struct why *w, enum why_cause_kind kind, uint32_t id)
{
        if (id == 0)
                return words_of("");
        if (kind == WHY_CAUSE_LOCK)
                return lock_name(w, id);
        if (kind == WHY_CAUSE_WAIT)
                return place_name(w, id);
        if (kind == WHY_CAUSE_ZONE || why_cause_is_of_device(kind))
                return zone_pattern_name_of(w->dictionary, id);
        return why_words_function(w, id);
}

/* ------------------------------------------------------------------ sentences */

static void add_string(struct byte_buffer *out, struct text_view s)
{
        if (s.n_bytes != 0)
                byte_buffer_add(out, s.bytes, s.n_bytes);
}

void why_words_add_function(struct byte_buffer *out, struct text_view name)
{
        name_short(out, name.bytes, name.n_bytes, NAME_COLUMNS_MAX);
        if (name.n_bytes != 0 && name.bytes[0] != '[' && !memchr(name.bytes, '(', name.n_bytes))
                byte_buffer_add_format(out, "()");
}

void why_words_add_quoted(struct byte_buffer *out, struct text_view name)
{
        byte_buffer_add_format(out, "'");
        add_string(out, name);
        byte_buffer_add_format(out, "'");
}

void why_words_add_share(struct byte_buffer *out, double share)
{
        byte_buffer_add_format(out, "%.0f%%", fmin(fmax(share, 0), 1) * 100);
}

/* " (32% of the extra time)" */
static void add_share_of(struct byte_buffer *out, double share, const char *of)
{
        byte_buffer_add_format(out, " (");
        why_words_add_share(out, share);
        byte_buffer_add_format(out, "%s)", of);
}

/* "slow instances"; "slow instances, in the zone 'inner'," where the cause lies in a zone inside. */
static void add_subject(const struct why *w, const struct why_cause *cause, const char *subject,
                        struct byte_buffer *out)
{
        byte_buffer_add_format(out, "%s", subject);
        if (w->links.zone == 0 || cause->kind == WHY_CAUSE_ZONE ||
            w->links.zone_share < 1 - OUTSIDE_MAX * cause->share.value)
                return;
        byte_buffer_add_format(out, ", in the zone ");
        why_words_add_quoted(out, why_words_name(w, WHY_CAUSE_ZONE, w->links.zone));
        byte_buffer_add_format(out, ",");
}

static void add_run(const struct why *w, const struct why_cause *cause, struct byte_buffer *out)
{
        byte_buffer_add_format(out, "run ");
        why_words_add_function(out, why_words_function(w, cause->id));
        if (cause->outer != 0) {
                byte_buffer_add_format(out, " from ");
                why_words_add_function(out, why_words_function(w, cause->outer));
        }
        if (cause->place != 0 && cause->place != cause->id) {
                byte_buffer_add_format(out, ", mostly in ");
                why_words_add_function(out, why_words_function(w, cause->place));
        }
}

/* What slow instances do, "run f() (98% of the extra time)", and then whom they waited for. */
static void add_cause(const struct why *w, const struct loaded_trace *trace, const struct why_cause *cause,
                      const char *of, struct byte_buffer *out)
{
        struct text_view name = why_words_name(w, cause->kind, cause->id);

        if (cause->kind == WHY_CAUSE_LOCK) {
                byte_buffer_add_format(out, "wait for the lock ");
                why_words_add_quoted(out, name);
        } else if (cause->kind == WHY_CAUSE_WAIT) {
                why_wait_words_add(w, cause->id, out);
        } else if (cause->kind == WHY_CAUSE_FUNCTION) {
                add_run(w, cause, out);
        } else if (cause->kind == WHY_CAUSE_FAULTS) {
                byte_buffer_add_format(out, "take page faults");
                if (name.n_bytes != 0) {
                        byte_buffer_add_format(out, " in ");
                        why_words_add_function(out, name);
                }
        } else if (cause->kind == WHY_CAUSE_MOVED) {
                byte_buffer_add_format(out, "move to another CPU, %.1f times each and the others %.1f times",
                                       w->n_moves[WHY_SLOW], w->n_moves[WHY_TYPICAL]);
        } else if (cause->kind == WHY_CAUSE_SUSPENDED) {
                byte_buffer_add_format(out, "are suspended, while other fibers or nothing ran");
        } else {
                byte_buffer_add_format(out, "are in the zone ");
                why_words_add_quoted(out, name);
        }
        add_share_of(out, cause->share.value, of);
        if (cause->kind == WHY_CAUSE_LOCK)
                why_wait_words_add_holder(w, trace, cause->id, out);
        else if (cause->kind == WHY_CAUSE_WAIT)
                why_wait_words_add_waker(w, trace, cause, out);
}

static bool ranks_without_others(const struct why *w)
{
        return w->by == WHY_BY_OWN && w->request.by == WHY_BY_AUTOMATIC;
}

/*
 * The share of time that others had the CPU: of the extra time or, if the ranking leaves that time out, of
 * the extra time of the slowest by wall time.
 */
static double machine_share(const struct why *w)
{
        double share = 0;

        if (w->by != WHY_BY_WALL)
                return w->request.by == WHY_BY_AUTOMATIC ? w->machine_share : 0;
        for (size_t i = 0; i < w->n_causes; i++)
                if (w->causes[i].kind >= WHY_CAUSE_DISPLACED && w->causes[i].kind < WHY_CAUSE_INTERRUPTS)
                        share += w->causes[i].share.value;
        return share;
}

static const struct why_cause *find_kind(const struct why *w, enum why_cause_kind kind)
{
        for (size_t i = 0; i < w->n_causes; i++)
                if (w->causes[i].kind == kind)
                        return &w->causes[i];
        return NULL;
}

/* Whether too few samples show where the running time goes. */
static bool lacks_samples(const struct why *w)
{
        const struct why_cause *rest = find_kind(w, WHY_CAUSE_UNEXPLAINED);

        return !why_compares_functions(w) && w->collector.event != 0 && rest && rest->share.value >= 0.25;
}

/* The counter that rose the most, of those that count more in a millisecond on a CPU. */
static void add_counter(const struct why *w, struct byte_buffer *out)
{
        const struct why_part *best = NULL;
        double best_rise = COUNTER_RISE_MIN;
        const struct trace_sample_event *event;

        for (size_t i = 0; i < w->n_counters; i++) {
                const struct why_part *part = &w->counters[i];
                double slow = part->slow / fmax(w->on_cpu_ns[WHY_SLOW], 1);
                double other = part->typical / fmax(w->on_cpu_ns[WHY_TYPICAL], 1);

                if (part->n_slow < WHY_SLOW_MIN || !(other > 0) || slow / other < best_rise)
                        continue;
                best = part;
                best_rise = slow / other;
        }
        if (!best)
                return;
        event = trace_dictionary_row(w->dictionary, TRACE_TABLE_SAMPLE_EVENTS, best->id);
        byte_buffer_add_format(out, "; %.1f times as many ", best_rise);
        add_string(out, trace_dictionary_text(w->dictionary, event->name));
        byte_buffer_add_format(out, " in the same time on a CPU");
}

/* Adds where the same code took longer, and what accompanied it. */
static void add_links(const struct why *w, struct byte_buffer *out)
{
        const struct why_links *links = &w->links;

        if (links->zone != 0) {
                byte_buffer_add_format(out, "; ");
                why_words_add_share(out, links->zone_share);
                byte_buffer_add_format(out, " of the extra time is in the zone ");
                why_words_add_quoted(out, why_words_name(w, WHY_CAUSE_ZONE, links->zone));
        }
        if (links->is_moved)
                byte_buffer_add_format(
                        out,
                        "; %.0f%% of the slow instances continued on another CPU, %.0f%% of the others, more "
                        "than their length explains: after a move the caches are cold",
                        100 * (double)links->n_moved_slow / fmax((double)w->groups[WHY_SLOW].n, 1),
                        100 * (double)links->n_moved_typical / fmax((double)w->groups[WHY_TYPICAL].n, 1));
}

/* Says which side has too few samples, and what to do. */
static void add_lack(const struct why *w, struct byte_buffer *out)
{
        unsigned long long slow = w->n_samples[WHY_SLOW], other = w->n_samples[WHY_TYPICAL];
        bool lacks_slow = slow < WHY_SAMPLES_MIN;

        byte_buffer_add_format(out, "not enough samples: %llu in %llu ", lacks_slow ? slow : other,
                               (unsigned long long)w->groups[lacks_slow ? WHY_SLOW : WHY_TYPICAL].n);
        byte_buffer_add_format(out, lacks_slow ? "slow instances" : "instances that are not slow");
        if (lacks_slow && other < WHY_SAMPLES_MIN)
                byte_buffer_add_format(out, ", %llu in the others", other);
        byte_buffer_add_format(out, ", %d are needed; record at a higher rate (-F), or for longer",
                               WHY_SAMPLES_MIN);
}

/* ", +30 us beside a median of 180 us", which tells noise from a problem. */
static void add_extra(const struct why *w, struct byte_buffer *out)
{
        if (w->extra_ns > 0 && w->rank.median_ns > 0)
                byte_buffer_add_format(out, ", +%s beside a median of %s",
                                       text_number_duration((uint64_t)w->extra_ns).text,
                                       text_number_duration((uint64_t)w->rank.median_ns).text);
}

static void add_same(const struct why *w, const struct loaded_trace *trace, const struct why_cause *same,
                     struct byte_buffer *out)
{
        size_t n_before;

        byte_buffer_add_format(out, "the same code took longer, mostly in ");
        why_words_add_function(out, why_words_function(w, same->id));
        byte_buffer_add_format(out, " (");
        why_words_add_share(out, same->share.value);
        byte_buffer_add_format(out, " of the extra time");
        add_extra(w, out);
        byte_buffer_add_format(out, ")");
        n_before = out->used_bytes;
        add_counter(w, out);
        add_links(w, out);
        if (out->used_bytes == n_before && w->collector.common.n_rows != 0) {
                byte_buffer_add_format(out, "; ");
                why_common_words(&w->collector.common, trace, 1, out);
        } else if (out->used_bytes == n_before) {
                byte_buffer_add_format(out, "; hyprof cannot tell why");
        }
}

static void add_largest(const struct why *w, const struct loaded_trace *trace, struct byte_buffer *out)
{
        const struct why_cause *same = find_kind(w, WHY_CAUSE_SAME);
        const struct why_cause *largest = why_find_largest(w);

        if (lacks_samples(w)) {
                add_lack(w, out);
        } else if (same && same->share.value >= HALF && same->id != 0) {
                add_same(w, trace, same, out);
        } else if (largest && largest->kind == WHY_CAUSE_INTERRUPTS && largest->share.value >= HALF) {
                byte_buffer_add_format(out, ranks_without_others(w)
                                                    ? "interrupts took "
                                                    : "no cause in the program: interrupts took ");
                why_words_add_share(out, largest->share.value);
                byte_buffer_add_format(out, " of the extra time");
        } else {
                byte_buffer_add_format(out, "no cause stands out");
                if (largest && largest->kind == WHY_CAUSE_UNEXPLAINED) {
                        byte_buffer_add_format(out, ": no sample and no wait explains ");
                        why_words_add_share(out, largest->share.value);
                        byte_buffer_add_format(out, " of the extra time");
                }
        }
}

/* Whether others had the CPU for almost all, @share, and slow instances do not have twice the own time. */
static bool has_no_own_part(const struct why *w, double share)
{
        bool is_twice = ranks_without_others(w) && w->extra_ns >= (double)w->rank.median_ns;

        return share > 1 - MACHINE_MIN && !is_twice && !why_find_answer(w);
}

/*
 * Names the owner of the CPU.  A thread of the program counts as a cause in the program; an unknown owner
 * does not.
 */
static void add_machine(const struct why *w, const struct loaded_trace *trace, double share, const char *of,
                        struct byte_buffer *out)
{
        const struct why_owner *known = why_cpu_owners_find_known(&w->collector.owners);

        if ((!known || known->kind != READY_OWNER_OWN) && has_no_own_part(w, share))
                byte_buffer_add_format(out, "no cause in the program: ");
        if (!known && w->by == WHY_BY_WALL)
                byte_buffer_add_format(out, "it was ready to run and ");
        why_owner_words_add(w, trace, share, of, out);
}

/* Where instances are alike, there is an answer all the same: where the time of all of them goes. */
static void add_path(const struct why *w, struct byte_buffer *out)
{
        byte_buffer_add_format(out, "hyprof path --zone %s says where their time goes",
                               asked_zone_option(w->dictionary, w->request.zone).text);
}

static void add_alike(const struct why *w, struct byte_buffer *out)
{
        byte_buffer_add_format(out, "the instances are alike (");
        if (w->groups[WHY_SLOW].n == 0)
                byte_buffer_add_format(out, "none takes longer than the others");
        else if (why_is_below_clock(w))
                byte_buffer_add_format(out,
                                       "the slow ones take longer by less than two steps of the clock, of "
                                       "%" PRIu64 " ns each",
                                       w->clock_step_ns);
        else
                byte_buffer_add_format(out, "the slow ones take as long as the others");
        byte_buffer_add_format(out, "): ");
        add_path(w, out);
}

/* No cause in the program is certain enough: names the largest part for what it is. */
static void add_no_cause(const struct why *w, const struct loaded_trace *trace, struct byte_buffer *out)
{
        double machine = machine_share(w);

        if (w->groups[WHY_SLOW].n < WHY_SLOW_MIN || w->groups[WHY_TYPICAL].n < WHY_SLOW_MIN) {
                byte_buffer_add_format(
                        out,
                        "not enough instances: %zu slow and %zu others, at least %d of each are needed; record for longer; ",
                        (size_t)w->groups[WHY_SLOW].n, (size_t)w->groups[WHY_TYPICAL].n, WHY_SLOW_MIN);
                add_path(w, out);
        } else if (w->by == WHY_BY_WALL && machine >= HALF) {
                add_machine(w, trace, machine, " of the extra time", out);
        } else if (ranks_without_others(w)) {
                add_machine(w, trace, machine, " of the extra time of the slowest instances", out);
                byte_buffer_add_format(out, "; ranked without that time: ");
                add_largest(w, trace, out);
        } else {
                add_largest(w, trace, out);
        }
}

/* The parts of a function's cost, each a cause of its own: running, page faults and waiting. */
static const struct {
        enum why_cause_kind kind;
        const char *words;
} parts[] = {
        { WHY_CAUSE_FUNCTION, "run" },
        { WHY_CAUSE_FAULTS, "take page faults" },
        { WHY_CAUSE_WAIT, "wait" },
};

/* The function in which such a part occurs; 0 = in none. */
static uint32_t label_of_cause(const struct why *w, const struct why_cause *cause)
{
        if (cause->kind == WHY_CAUSE_FUNCTION || cause->kind == WHY_CAUSE_FAULTS)
                return cause->id;
        return cause->kind == WHY_CAUSE_WAIT && cause->id != 0 ? w->waits.names[cause->id - 1].label : 0;
}

/* Whether a cause is another part of what the answer's function costs. */
static bool is_other_part(const struct why *w, const struct why_cause *answer, const struct why_cause *cause)
{
        uint32_t label = label_of_cause(w, answer);

        return label != 0 && cause->kind != answer->kind && cause->confidence >= WHY_CONFIDENCE_MEDIUM &&
               label_of_cause(w, cause) == label;
}

static double share_of_part(const struct why *w, const struct why_cause *answer, enum why_cause_kind part)
{
        double share = 0;

        for (size_t i = 0; i < w->n_causes; i++) {
                const struct why_cause *cause = &w->causes[i];

                if (cause->kind == part && cause->share.value > 0 && is_other_part(w, answer, cause))
                        share += cause->share.value;
        }
        return share;
}

/* " and take page faults there (48%)"; returns their shares together. */
static double add_parts(const struct why *w, const struct why_cause *answer, struct byte_buffer *out)
{
        double sum = 0;

        for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
                double share = share_of_part(w, answer, parts[i].kind);

                if (share <= 0)
                        continue;
                /* After a wait, "there" would be in the function that was waited for. */
                if (answer->kind == WHY_CAUSE_WAIT) {
                        byte_buffer_add_format(out, "; they %s in ", parts[i].words);
                        why_words_add_function(out, why_words_function(w, label_of_cause(w, answer)));
                } else {
                        byte_buffer_add_format(out, " and %s there", parts[i].words);
                }
                add_share_of(out, share, "");
                sum += share;
        }
        return sum;
}

static void add_unplaced(const struct why *w, struct byte_buffer *out)
{
        double share = 0;

        for (size_t i = 0; i < w->n_causes; i++)
                if (w->causes[i].is_unplaced)
                        share += w->causes[i].share.value;
        if (share < MACHINE_MIN)
                return;
        byte_buffer_add_format(out, "; ");
        why_words_add_share(out, share);
        byte_buffer_add_format(out, " is waits without a call stack");
}

/* A part of the extra time beside the one that is named first. */
static void add_other(const struct why *w, const struct loaded_trace *trace, const struct why_cause *cause,
                      struct byte_buffer *out)
{
        byte_buffer_add_format(out, "; ");
        if (cause->kind == WHY_CAUSE_SAME) {
                byte_buffer_add_format(out, "the same code took longer");
                if (cause->id != 0) {
                        byte_buffer_add_format(out, ", mostly in ");
                        why_words_add_function(out, why_words_function(w, cause->id));
                }
        } else if (why_cause_is_own(cause->kind)) {
                if (cause->confidence < WHY_CONFIDENCE_MEDIUM)
                        byte_buffer_add_format(out, "not certain: ");
                add_subject(w, cause, "they", out);
                byte_buffer_add_format(out, cause->confidence == WHY_CONFIDENCE_MEDIUM ? " probably " : " ");
                add_cause(w, trace, cause, "", out);
                return;
        } else {
                byte_buffer_add_format(out, cause->kind < WHY_CAUSE_INTERRUPTS ? "they are %s" : "%s",
                                       why_words_kind(cause->kind));
        }
        add_share_of(out, cause->share.value, "");
}

/*
 * Whether the sentence has the cause: as the answer, as another part of its function, or as the time that
 * others had the CPU.
 */
static bool is_said(const struct why *w, const struct why_cause *answer, const struct why_cause *cause)
{
        if (cause == answer || cause->share.value < OTHER_SHARE_MIN)
                return true;
        if (cause->kind >= WHY_CAUSE_DISPLACED && cause->kind < WHY_CAUSE_INTERRUPTS)
                return w->by == WHY_BY_WALL && machine_share(w) >= MACHINE_MIN;
        return is_other_part(w, answer, cause);
}

/*
 * After an answer of less than half of the extra time, adds the largest other causes until half of it is
 * named.
 */
static void add_others(const struct why *w, const struct loaded_trace *trace, const struct why_cause *answer,
                       double said, struct byte_buffer *out)
{
        double before = (double)INFINITY;

        for (uint32_t n = 0; n < OTHERS_MAX && said < HALF; n++) {
                const struct why_cause *next = NULL;

                for (size_t i = 0; i < w->n_causes; i++)
                        if (!is_said(w, answer, &w->causes[i]) && w->causes[i].share.value < before &&
                            (!next || w->causes[i].share.value > next->share.value))
                                next = &w->causes[i];
                if (!next)
                        return;
                add_other(w, trace, next, out);
                before = next->share.value;
                said += before;
        }
}

static bool is_after_owners(const struct why *w)
{
        return ranks_without_others(w) && why_owner_words_find_lead(w);
}

/* A function that writes to a disk both runs and waits; only both parts together are its cost. */
static void add_answer(const struct why *w, const struct loaded_trace *trace, const struct why_cause *answer,
                       struct byte_buffer *out)
{
        double said = answer->share.value;

        if (is_after_owners(w)) {
                add_machine(w, trace, w->machine_share, " of the extra time of the slowest instances", out);
                byte_buffer_add_format(out, "; ranked without that time, ");
        }
        add_subject(w, answer, is_after_owners(w) ? "slow instances" : "Slow instances", out);
        byte_buffer_add_format(out, answer->confidence == WHY_CONFIDENCE_HIGH ? " " : " probably ");
        add_cause(w, trace, answer, " of the extra time", out);
        said += add_parts(w, answer, out);
        add_others(w, trace, answer, said, out);
        if (answer->kind == WHY_CAUSE_WAIT && !answer->is_unplaced)
                add_unplaced(w, out);
        if (w->by == WHY_BY_WALL && machine_share(w) >= MACHINE_MIN) {
                byte_buffer_add_format(out, "; ");
                why_owner_words_add(w, trace, machine_share(w), " of it", out);
        }
}

void why_words_ranked_without(const struct why *w, const struct loaded_trace *trace, struct byte_buffer *out)
{
        if (why_find_answer(w) && ranks_without_others(w) && !is_after_owners(w))
                why_owner_words_add(w, trace, w->machine_share, " of the extra time of the slowest instances",
                                    out);
}

/* Whether slow instances take so much longer that the extra time needs a cause. */
static bool has_extra(const struct why *w)
{
        const struct why_group_sum *typical = &w->groups[WHY_TYPICAL];

        return w->groups[WHY_SLOW].n >= WHY_SLOW_MIN && typical->n >= WHY_SLOW_MIN &&
               !why_is_below_clock(w) && w->extra_ns >= EXTRA_MIN * typical->duration / (double)typical->n;
}

bool why_words_are_alike(const struct why *w)
{
        const struct why_group_sum *typical = &w->groups[WHY_TYPICAL];

        if (why_find_answer(w) || typical->n == 0)
                return false;
        if (w->groups[WHY_SLOW].n == 0)
                return w->request.slower_than_ns == 0 && typical->n >= WHY_SLOW_MIN;
        return why_is_below_clock(w) || (w->groups[WHY_SLOW].n >= WHY_SLOW_MIN &&
                                         w->extra_ns < EXTRA_MIN * typical->duration / (double)typical->n);
}

void why_words_answer(const struct why *w, const struct loaded_trace *trace, struct byte_buffer *out)
{
        const struct why_cause *answer = why_find_answer(w);

        if (w->are_spans) {
                why_span_words_answer(w, trace, out);
        } else if (answer) {
                add_answer(w, trace, answer, out);
        } else if (w->survey.durations.n == 0) {
                byte_buffer_add_format(out, "no instance of a zone called ");
                add_string(out, asked_zone_name(w->dictionary, w->request.zone));
                byte_buffer_add_format(out, " ended");
        } else if (ranks_without_others(w) && why_owner_words_dominate(w) &&
                   (has_no_own_part(w, w->machine_share) || !has_extra(w))) {
                add_machine(w, trace, w->machine_share, " of the extra time of the slowest instances", out);
        } else if (why_words_are_alike(w)) {
                add_alike(w, out);
        } else {
                add_no_cause(w, trace, out);
        }
}
