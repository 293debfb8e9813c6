/* SPDX-License-Identifier: MIT */
#include "view/answers/why_words.h"

#include "analyze/walk/loaded_trace.h"
#include "base/byte_buffer.h"
#include "format/trace_dictionary.h"
#include "view/text/text_number.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Less extra time than this share of the typical duration needs no cause. */
#define EXTRA_MIN 0.02
/* A smaller part of the extra time is not mentioned beside a cause. */
#define MACHINE_MIN 0.2
#define HALF        0.5
/* A counter that rose less explains nothing by itself. */
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
        [WHY_CAUSE_DISPLACED] = { "displaced", "preempted, then moved" },
        [WHY_CAUSE_PREEMPTED] = { "preempted", "preempted" },
        [WHY_CAUSE_DELAY] = { "delay", "ready, not on a CPU yet" },
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

const char *why_words_by(enum why_by by)
{
        static const char *const words[] = {
                [WHY_BY_WALL] = "wall time",       [WHY_BY_OWN] = "time on a CPU and own waits",
                [WHY_BY_ON_CPU] = "time on a CPU", [WHY_BY_WAITING] = "own waits",
                [WHY_BY_AUTOMATIC] = "",
        };

        return words[by];
}

static struct text_view why_words_words_of(const char *words)
{
        return (struct text_view){ .bytes = words, .n_bytes = strlen(words) };
}

struct text_view why_words_function(const struct why *w, uint32_t label)
{
        const struct function *f;

        if (label == 0)
                return why_words_words_of("");
        f = function_table_get(&w->places.functions, label);
        switch ((enum function_kind)f->kind) {
        case FUNCTION_NO_SYMBOL:
                return why_words_words_of("[no symbol]");
        case FUNCTION_STALE_FILE:
                return why_words_words_of("[file changed]");
        case FUNCTION_NO_MODULE:
                return why_words_words_of("[unknown memory]");
        case FUNCTION_NO_CALLSTACK:
                return why_words_words_of("[no call stack]");
        case FUNCTION_NAMED:
        case FUNCTION_MARK:
        case FUNCTION_UNNAMED:
        case FUNCTION_KIND_COUNT:
                break;
        }
        return trace_dictionary_text(w->dictionary, f->name);
}

/* The label of the function of the program; else of the innermost that is known; 0 = none is. */
static uint32_t label_of_place(const struct wait_places *places, const struct wait_place *place)
{
        uint32_t own = wait_places_find_own(places, place);

        if (own < place->n_labels)
                return place->labels[own];
        return place->n_labels != 0 ? place->labels[0] : 0;
}

static struct text_view place_name(const struct why *w, uint32_t id)
{
        struct wait_place place;
        uint32_t label;

        wait_places_get(&w->places, id, &place);
        label = label_of_place(&w->places, &place);
        if (label != 0)
                return why_words_function(w, label);
        return place.has_stack ? why_words_words_of("[kernel]") : why_words_words_of("[no call stack]");
}

struct text_view why_words_kernel(const struct why *w, uint32_t id)
{
        struct wait_place place;

        wait_places_get(&w->places, id, &place);
        return why_words_function(w, place.kernel_label);
}

static struct text_view why_words_lock_name(const struct why *w, uint32_t id)
{
        const struct trace_lock *lock = trace_dictionary_row(w->dictionary, TRACE_TABLE_LOCKS, id);
        const struct trace_location *location = trace_dictionary_row(w->dictionary, TRACE_TABLE_LOCATIONS,
                                                                     lock->location);
        uint32_t name = w->survey.lock_names[id - 1];

        if (name == 0)
                name = location->name != 0 ? location->name : location->function;
        return name != 0 ? trace_dictionary_text(w->dictionary, name) : why_words_words_of("[no name]");
}

static struct text_view zone_name(const struct why *w, uint32_t id)
{
        const struct trace_location *location = trace_dictionary_row(w->dictionary, TRACE_TABLE_LOCATIONS,
                                                                     id);

        return trace_dictionary_text(w->dictionary,
                                     location->name != 0 ? location->name : location->function);
}

struct text_view why_words_name(const struct why *w, enum why_cause_kind kind, uint32_t id)
{
        if (id == 0)
                return why_words_words_of("");
        if (kind == WHY_CAUSE_LOCK)
                return why_words_lock_name(w, id);
        if (kind == WHY_CAUSE_WAIT)
                return place_name(w, id);
        if (kind == WHY_CAUSE_ZONE)
                return zone_name(w, id);
        return why_words_function(w, id);
}

/* ------------------------------------------------------------------ sentences */

static void why_words_add_string(struct byte_buffer *out, struct text_view s)
{
        if (s.n_bytes != 0)
                byte_buffer_add(out, s.bytes, s.n_bytes);
}

/* "flush()", and as it is where it has parameters or is no name. */
static void why_words_add_function(struct byte_buffer *out, struct text_view name)
{
        why_words_add_string(out, name);
        if (name.n_bytes != 0 && name.bytes[0] != '[' && !memchr(name.bytes, '(', name.n_bytes))
                byte_buffer_add_format(out, "()");
}

static void add_quoted(struct byte_buffer *out, struct text_view name)
{
        byte_buffer_add_format(out, "'");
        why_words_add_string(out, name);
        byte_buffer_add_format(out, "'");
}

static void why_words_add_thread(const struct loaded_trace *trace, struct byte_buffer *out, uint32_t thread)
{
        struct text_view name = loaded_trace_thread_name(trace, thread);

        byte_buffer_add_format(out, "thread t%u", thread);
        if (name.n_bytes != 0) {
                byte_buffer_add_format(out, " ");
                add_quoted(out, name);
        }
}

static void add_share(struct byte_buffer *out, double share)
{
        byte_buffer_add_format(out, "%.0f%%", fmin(fmax(share, 0), 1) * 100);
}

static void add_lock(const struct why *w, const struct loaded_trace *trace, uint32_t lock,
                     struct byte_buffer *out)
{
        const struct why_holder *holder = why_find_holder(w, lock);

        byte_buffer_add_format(out, "waiting for the lock ");
        add_quoted(out, why_words_lock_name(w, lock));
        if (!holder)
                return;
        byte_buffer_add_format(out, " held by ");
        why_words_add_thread(trace, out, holder->thread);
        if (holder->label == 0)
                return;
        byte_buffer_add_format(out, holder->is_waiting ? ", which waits in " : " in ");
        why_words_add_function(out, why_words_function(w, holder->label));
}

static void why_words_add_wait(const struct why *w, const struct loaded_trace *trace, uint32_t place,
                               struct byte_buffer *out)
{
        const struct why_waker *waker = why_find_waker(w, WHY_CAUSE_WAIT, place);
        struct text_view kernel = why_words_kernel(w, place);
        struct text_view name = place_name(w, place);

        byte_buffer_add_format(out, "waiting");
        if (name.n_bytes != 0 && name.bytes[0] != '[') {
                byte_buffer_add_format(out, " in ");
                why_words_add_function(out, name);
        }
        if (kernel.n_bytes != 0) {
                byte_buffer_add_format(out, " (");
                why_words_add_string(out, kernel);
                byte_buffer_add_format(out, ")");
        }
        if (!waker || waker->thread == 0)
                return;
        byte_buffer_add_format(out, ", ended by ");
        why_words_add_thread(trace, out, waker->thread);
        if (waker->label != 0) {
                byte_buffer_add_format(out, " in ");
                why_words_add_function(out, why_words_function(w, waker->label));
        }
}

static void add_cause(const struct why *w, const struct loaded_trace *trace, const struct why_cause *cause,
                      struct byte_buffer *out)
{
        struct text_view name = why_words_name(w, cause->kind, cause->id);

        if (cause->kind == WHY_CAUSE_LOCK) {
                add_lock(w, trace, cause->id, out);
        } else if (cause->kind == WHY_CAUSE_WAIT) {
                why_words_add_wait(w, trace, cause->id, out);
        } else if (cause->kind == WHY_CAUSE_FUNCTION) {
                byte_buffer_add_format(out, "running ");
                why_words_add_function(out, name);
                if (cause->place != 0 && cause->place != cause->id) {
                        byte_buffer_add_format(out, ", mostly in ");
                        why_words_add_function(out, why_words_function(w, cause->place));
                }
        } else if (cause->kind == WHY_CAUSE_FAULTS) {
                byte_buffer_add_format(out, "page faults");
                if (name.n_bytes != 0) {
                        byte_buffer_add_format(out, " in ");
                        why_words_add_function(out, name);
                }
        } else if (cause->kind == WHY_CAUSE_MOVED) {
                byte_buffer_add_format(out, "moving to another CPU (%.1f moves an instance, %.1f in others)",
                                       w->n_moves[WHY_SLOW], w->n_moves[WHY_TYPICAL]);
        } else if (cause->kind == WHY_CAUSE_SUSPENDED) {
                byte_buffer_add_format(out, "suspended, while other fibers or nothing ran");
        } else if (cause->kind == WHY_CAUSE_ZONE) {
                byte_buffer_add_format(out, "the zone ");
                add_quoted(out, name);
        } else {
                byte_buffer_add_format(out, "%s", why_words_kind(cause->kind));
        }
        if (cause->is_sampled)
                byte_buffer_add_format(out,
                                       " (in %.0f%% of the samples of slow instances, %.0f%% of the others')",
                                       100 * cause->share.slow_ns / fmax(w->on_cpu_ns[WHY_SLOW], 1),
                                       100 * cause->share.typical_ns / fmax(w->on_cpu_ns[WHY_TYPICAL], 1));
        else
                byte_buffer_add_format(out, " (in %.0f%% of the slow instances, %.0f%% of the others)",
                                       100 * (double)cause->n_slow / fmax((double)w->groups[WHY_SLOW].n, 1),
                                       100 * (double)cause->n_typical /
                                               fmax((double)w->groups[WHY_TYPICAL].n, 1));
}

static bool ranks_without_others(const struct why *w)
{
        return w->by == WHY_BY_OWN && w->request.by == WHY_BY_AUTOMATIC;
}

/*
 * Others had the CPU: of the extra time, or, where that is not ranked by, of what the slowest by
 * wall time take longer.
 */
static double why_words_machine_share(const struct why *w)
{
        double share = 0;

        if (w->by != WHY_BY_WALL)
                return w->request.by == WHY_BY_AUTOMATIC ? w->machine_share : 0;
        for (size_t i = 0; i < w->n_causes; i++)
                if (w->causes[i].kind >= WHY_CAUSE_DISPLACED && w->causes[i].kind < WHY_CAUSE_INTERRUPTS)
                        share += w->causes[i].share.value;
        return share;
}

static const struct why_cause *why_words_find_kind(const struct why *w, enum why_cause_kind kind)
{
        for (size_t i = 0; i < w->n_causes; i++)
                if (w->causes[i].kind == kind)
                        return &w->causes[i];
        return NULL;
}

/* Running, of which too few samples say where. */
static bool lacks_samples(const struct why *w)
{
        const struct why_cause *rest = why_words_find_kind(w, WHY_CAUSE_UNEXPLAINED);

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
        why_words_add_string(out, trace_dictionary_text(w->dictionary, event->name));
        byte_buffer_add_format(out, " in the same time on a CPU");
}

/* The same code takes longer: where, and what goes with it. */
static void add_links(const struct why *w, struct byte_buffer *out)
{
        const struct why_links *links = &w->links;

        if (links->zone != 0) {
                byte_buffer_add_format(out, "; ");
                add_share(out, links->zone_share);
                byte_buffer_add_format(out, " of the extra time is in the zone ");
                add_quoted(out, why_words_name(w, WHY_CAUSE_ZONE, links->zone));
        }
        if (links->is_moved)
                byte_buffer_add_format(
                        out,
                        "; %.0f%% of the slow instances continued on another CPU, %.0f%% of the others, more "
                        "than their length explains: after a move the caches are cold",
                        100 * (double)links->n_moved_slow / fmax((double)w->groups[WHY_SLOW].n, 1),
                        100 * (double)links->n_moved_typical / fmax((double)w->groups[WHY_TYPICAL].n, 1));
}

/* Which side has too few, and what to do. */
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

static void add_same(const struct why *w, const struct why_cause *same, struct byte_buffer *out)
{
        add_share(out, same->share.value);
        byte_buffer_add_format(out, " of the extra time: the same code took longer, mostly in ");
        why_words_add_function(out, why_words_function(w, same->id));
        byte_buffer_add_format(out, ": more work of the same kind, or slower memory");
        add_counter(w, out);
        add_links(w, out);
}

static void add_largest(const struct why *w, struct byte_buffer *out)
{
        const struct why_cause *same = why_words_find_kind(w, WHY_CAUSE_SAME);
        const struct why_cause *largest = why_find_largest(w);

        if (lacks_samples(w)) {
                add_lack(w, out);
        } else if (same && same->share.value >= HALF && same->id != 0) {
                add_same(w, same, out);
        } else if (largest && largest->kind == WHY_CAUSE_INTERRUPTS && largest->share.value >= HALF) {
                byte_buffer_add_format(out, ranks_without_others(w)
                                                    ? "interrupts took "
                                                    : "no cause in the program: interrupts took ");
                add_share(out, largest->share.value);
                byte_buffer_add_format(out, " of the extra time");
        } else {
                byte_buffer_add_format(out, "no cause stands out");
                if (largest && largest->kind == WHY_CAUSE_UNEXPLAINED) {
                        byte_buffer_add_format(out, ": no sample and no wait explains ");
                        add_share(out, largest->share.value);
                        byte_buffer_add_format(out, " of the extra time");
                }
        }
}

/* No cause in the program is certain enough: names the largest part for what it is. */
static void add_no_cause(const struct why *w, struct byte_buffer *out)
{
        double machine = why_words_machine_share(w);

        if (w->groups[WHY_SLOW].n < WHY_SLOW_MIN || w->groups[WHY_TYPICAL].n < WHY_SLOW_MIN) {
                byte_buffer_add_format(
                        out,
                        "not enough instances: %zu slow and %zu others, at least %d of each are needed; record for longer",
                        (size_t)w->groups[WHY_SLOW].n, (size_t)w->groups[WHY_TYPICAL].n, WHY_SLOW_MIN);
        } else if (w->by == WHY_BY_WALL && machine >= HALF) {
                byte_buffer_add_format(
                        out, "no cause in the program: it was ready to run and others had the CPU for ");
                add_share(out, machine);
                byte_buffer_add_format(out, " of the extra time");
        } else if (ranks_without_others(w)) {
                byte_buffer_add_format(out, "no cause in the program: others had the CPU for ");
                add_share(out, machine);
                byte_buffer_add_format(
                        out, " of the extra time of the slowest instances; ranked without that time: ");
                add_largest(w, out);
        } else {
                add_largest(w, out);
        }
}

/* The function that a cause is in, running or waiting; 0 = in none. */
static uint32_t label_of_cause(const struct why *w, const struct why_cause *cause)
{
        struct wait_place place;

        if (cause->kind == WHY_CAUSE_FUNCTION)
                return cause->id;
        if (cause->kind != WHY_CAUSE_WAIT || cause->id == 0)
                return 0;
        wait_places_get(&w->places, cause->id, &place);
        return label_of_place(&w->places, &place);
}

/* For a function that the answer says runs, its waits, and the other way round. */
static double other_share(const struct why *w, const struct why_cause *answer)
{
        enum why_cause_kind other = answer->kind == WHY_CAUSE_WAIT ? WHY_CAUSE_FUNCTION : WHY_CAUSE_WAIT;
        uint32_t label = label_of_cause(w, answer);
        double share = 0;

        for (size_t i = 0; i < w->n_causes && label != 0; i++) {
                const struct why_cause *cause = &w->causes[i];

                if (cause->kind == other && cause->confidence >= WHY_CONFIDENCE_MEDIUM &&
                    cause->share.value > 0 && label_of_cause(w, cause) == label)
                        share += cause->share.value;
        }
        return share;
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
        add_share(out, share);
        byte_buffer_add_format(out, " is waits without a call stack");
}

/* A function that writes to a disk runs and waits: neither half alone is what it costs. */
static void why_words_add_answer(const struct why *w, const struct loaded_trace *trace,
                                 const struct why_cause *answer, struct byte_buffer *out)
{
        double other = other_share(w, answer);

        add_share(out, answer->share.value + other);
        byte_buffer_add_format(out, " of the extra time: ");
        if (answer->confidence != WHY_CONFIDENCE_HIGH)
                byte_buffer_add_format(out, "probably ");
        add_cause(w, trace, answer, out);
        if (other > 0) {
                byte_buffer_add_format(out, ", ");
                add_share(out, answer->share.value);
                byte_buffer_add_format(out, ", and %s there, ",
                                       answer->kind == WHY_CAUSE_WAIT ? "running" : "waiting");
                add_share(out, other);
        }
        if (answer->kind == WHY_CAUSE_WAIT && !answer->is_unplaced)
                add_unplaced(w, out);
        if (ranks_without_others(w)) {
                byte_buffer_add_format(out, "; ranked without the time that others had the CPU, ");
                add_share(out, w->machine_share);
                byte_buffer_add_format(out, " of the extra time of the slowest instances");
        } else if (w->by == WHY_BY_WALL && why_words_machine_share(w) >= MACHINE_MIN) {
                byte_buffer_add_format(out, "; others had the CPU for ");
                add_share(out, why_words_machine_share(w));
                byte_buffer_add_format(out, " of it");
        }
}

void why_words_answer(const struct why *w, const struct loaded_trace *trace, struct byte_buffer *out)
{
        const struct why_cause *answer = why_find_answer(w);
        const struct why_group_sum *typical = &w->groups[WHY_TYPICAL];

        if (answer) {
                why_words_add_answer(w, trace, answer, out);
        } else if (w->survey.durations.n == 0) {
                byte_buffer_add_format(out, "no instance of a zone called ");
                why_words_add_string(out, why_words_words_of(w->request.zone));
                byte_buffer_add_format(out, " ended");
        } else if (w->groups[WHY_SLOW].n == 0 && w->request.slower_than_ns == 0 &&
                   typical->n >= WHY_SLOW_MIN) {
                byte_buffer_add_format(
                        out, "there is nothing to explain: no instance takes longer than the others");
        } else if (typical->n != 0 && w->groups[WHY_SLOW].n >= WHY_SLOW_MIN &&
                   w->extra_ns < EXTRA_MIN * typical->duration / (double)typical->n) {
                byte_buffer_add_format(
                        out, "there is nothing to explain: the slow instances take as long as the others");
        } else {
                add_no_cause(w, out);
        }
}
