/* SPDX-License-Identifier: MIT */
#include "view/why_words.h"

#include "analyze/loaded_trace.h"
#include "base/byte_buffer.h"
#include "format/trace_dictionary.h"
#include "view/text_number.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Less extra time than this share of the typical duration needs no cause. */
#define EXTRA_MIN 0.02
/* A smaller part of the extra time is not mentioned beside a cause. */
#define MACHINE_MIN 0.2

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
        [WHY_CAUSE_SAME] = { "same", "running as typical ones" },
        [WHY_CAUSE_UNEXPLAINED] = { "unexplained", "unexplained" },
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

static struct report_string words_of(const char *words)
{
        return (struct report_string){ .bytes = words, .n_bytes = strlen(words) };
}

struct report_string why_words_function(const struct why *w, uint32_t label)
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
                return words_of("[no callstack]");
        case FUNCTION_NAMED:
        case FUNCTION_MARK:
        case FUNCTION_UNNAMED:
        case FUNCTION_KIND_COUNT:
                break;
        }
        return report_string_of(w->dictionary, f->name);
}

/* The label of the function of the program; else of the innermost that is known; 0 = none is. */
static uint32_t label_of_place(const struct wait_places *places, const struct wait_place *place)
{
        uint32_t own = wait_places_find_own(places, place);

        if (own < place->n_labels)
                return place->labels[own];
        return place->n_labels != 0 ? place->labels[0] : 0;
}

static struct report_string place_name(const struct why *w, uint32_t id)
{
        struct wait_place place;
        uint32_t label;

        wait_places_get(&w->places, id, &place);
        label = label_of_place(&w->places, &place);
        if (label != 0)
                return why_words_function(w, label);
        return place.has_stack ? words_of("[kernel]") : words_of("[no callstack]");
}

struct report_string why_words_kernel(const struct why *w, uint32_t id)
{
        struct wait_place place;

        wait_places_get(&w->places, id, &place);
        return why_words_function(w, place.kernel_label);
}

static struct report_string lock_name(const struct why *w, uint32_t id)
{
        const struct trace_lock *lock = trace_dictionary_row(w->dictionary, TRACE_TABLE_LOCKS, id);
        const struct trace_location *location = trace_dictionary_row(w->dictionary, TRACE_TABLE_LOCATIONS,
                                                                     lock->location);
        uint32_t name = w->survey.lock_names[id - 1];

        if (name == 0)
                name = location->name != 0 ? location->name : location->function;
        return name != 0 ? report_string_of(w->dictionary, name) : words_of("[no name]");
}

static struct report_string zone_name(const struct why *w, uint32_t id)
{
        const struct trace_location *location = trace_dictionary_row(w->dictionary, TRACE_TABLE_LOCATIONS,
                                                                     id);

        return report_string_of(w->dictionary, location->name != 0 ? location->name : location->function);
}

struct report_string why_words_name(const struct why *w, enum why_cause_kind kind, uint32_t id)
{
        if (id == 0)
                return words_of("");
        if (kind == WHY_CAUSE_LOCK)
                return lock_name(w, id);
        if (kind == WHY_CAUSE_WAIT)
                return place_name(w, id);
        if (kind == WHY_CAUSE_ZONE)
                return zone_name(w, id);
        return why_words_function(w, id);
}

/* ------------------------------------------------------------------ sentences */

__attribute__((format(printf, 2, 3))) static void add(struct byte_buffer *out, const char *format, ...)
{
        char text[512];
        va_list args;
        int n;

        va_start(args, format);
        n = vsnprintf(text, sizeof(text), format, args);
        va_end(args);
        if (n > 0)
                byte_buffer_add(out, text, (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1);
}

static void add_string(struct byte_buffer *out, struct report_string s)
{
        if (s.n_bytes != 0)
                byte_buffer_add(out, s.bytes, s.n_bytes);
}

/* "flush()", and as it is where it has parameters or is no name. */
static void add_function(struct byte_buffer *out, struct report_string name)
{
        add_string(out, name);
        if (name.n_bytes != 0 && name.bytes[0] != '[' && !memchr(name.bytes, '(', name.n_bytes))
                add(out, "()");
}

static void add_quoted(struct byte_buffer *out, struct report_string name)
{
        add(out, "'");
        add_string(out, name);
        add(out, "'");
}

static void add_thread(const struct loaded_trace *trace, struct byte_buffer *out, uint32_t thread)
{
        struct report_string name = loaded_trace_thread_name(trace, thread);

        add(out, "thread t%u", thread);
        if (name.n_bytes != 0) {
                add(out, " ");
                add_quoted(out, name);
        }
}

static void add_share(struct byte_buffer *out, double share)
{
        add(out, "%.0f%%", fmin(fmax(share, 0), 9.99) * 100);
}

static void add_lock(const struct why *w, const struct loaded_trace *trace, uint32_t lock,
                     struct byte_buffer *out)
{
        const struct why_holder *holder = why_find_holder(w, lock);

        add(out, "waiting for the lock ");
        add_quoted(out, lock_name(w, lock));
        if (!holder)
                return;
        add(out, " held by ");
        add_thread(trace, out, holder->thread);
        if (holder->label == 0)
                return;
        add(out, holder->is_waiting ? ", which waits in " : " in ");
        add_function(out, why_words_function(w, holder->label));
}

static void add_wait(const struct why *w, const struct loaded_trace *trace, uint32_t place,
                     struct byte_buffer *out)
{
        const struct why_waker *waker = why_find_waker(w, WHY_CAUSE_WAIT, place);
        struct report_string kernel = why_words_kernel(w, place);
        struct report_string name = place_name(w, place);

        add(out, "waiting");
        if (name.n_bytes != 0 && name.bytes[0] != '[') {
                add(out, " in ");
                add_function(out, name);
        }
        if (kernel.n_bytes != 0) {
                add(out, " (");
                add_string(out, kernel);
                add(out, ")");
        }
        if (!waker || waker->thread == 0)
                return;
        add(out, ", ended by ");
        add_thread(trace, out, waker->thread);
        if (waker->label != 0) {
                add(out, " in ");
                add_function(out, why_words_function(w, waker->label));
        }
}

static void add_cause(const struct why *w, const struct loaded_trace *trace, const struct why_cause *cause,
                      struct byte_buffer *out)
{
        struct report_string name = why_words_name(w, cause->kind, cause->id);

        if (cause->kind == WHY_CAUSE_LOCK) {
                add_lock(w, trace, cause->id, out);
        } else if (cause->kind == WHY_CAUSE_WAIT) {
                add_wait(w, trace, cause->id, out);
        } else if (cause->kind == WHY_CAUSE_FUNCTION) {
                add(out, "running ");
                add_function(out, name);
                if (cause->place != 0 && cause->place != cause->id) {
                        add(out, ", mostly in ");
                        add_function(out, why_words_function(w, cause->place));
                }
        } else if (cause->kind == WHY_CAUSE_FAULTS) {
                add(out, "page faults");
                if (name.n_bytes != 0) {
                        add(out, " in ");
                        add_function(out, name);
                }
        } else if (cause->kind == WHY_CAUSE_MOVED) {
                add(out, "moving to another CPU (%.1f moves an instance, %.1f in typical ones)",
                    w->n_moves[WHY_SLOW], w->n_moves[WHY_TYPICAL]);
        } else if (cause->kind == WHY_CAUSE_SUSPENDED) {
                add(out, "suspended, while other fibers or nothing ran");
        } else if (cause->kind == WHY_CAUSE_ZONE) {
                add(out, "the zone ");
                add_quoted(out, name);
        } else {
                add(out, "%s", why_words_kind(cause->kind));
        }
        add(out, " (in %.0f%% of the slow instances, %.0f%% of the typical ones)",
            100 * (double)cause->n_slow / fmax((double)w->groups[WHY_SLOW].n, 1),
            100 * (double)cause->n_typical / fmax((double)w->groups[WHY_TYPICAL].n, 1));
}

static double machine_share(const struct why *w)
{
        double share = 0;

        for (size_t i = 0; i < w->n_causes; i++)
                if (w->causes[i].kind >= WHY_CAUSE_DISPLACED && w->causes[i].kind <= WHY_CAUSE_INTERRUPTS)
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

/* Running, of which too few samples say where. */
static bool lacks_samples(const struct why *w, double machine)
{
        double extra_on_cpu = w->on_cpu_ns[WHY_SLOW] - w->on_cpu_ns[WHY_TYPICAL];

        return w->n_samples[WHY_SLOW] < WHY_SAMPLES_MIN && machine < 0.5 &&
               extra_on_cpu > 0.5 * w->extra_ns && w->collector.event != 0;
}

/* The same code takes longer: where, and what goes with it. */
static void add_links(const struct why *w, struct byte_buffer *out)
{
        const struct why_links *links = &w->links;

        if (links->zone != 0) {
                add(out, "; ");
                add_share(out, links->zone_share);
                add(out, " of the extra time is in the zone ");
                add_quoted(out, why_words_name(w, WHY_CAUSE_ZONE, links->zone));
        }
        if (links->is_moved)
                add(out,
                    "; %.0f%% of the slow instances went on on another CPU, %.0f%% of the typical ones, more "
                    "than their length explains: after a move the caches are cold",
                    100 * (double)links->n_moved_slow / fmax((double)w->groups[WHY_SLOW].n, 1),
                    100 * (double)links->n_moved_typical / fmax((double)w->groups[WHY_TYPICAL].n, 1));
}

/* Nothing of the program is certain enough: what is largest, as what it is. */
static void add_no_cause(const struct why *w, struct byte_buffer *out)
{
        double machine = machine_share(w);
        const struct why_cause *same = find_kind(w, WHY_CAUSE_SAME);
        const struct why_cause *largest = why_find_largest(w);

        if (w->groups[WHY_SLOW].n < WHY_SLOW_MIN || w->groups[WHY_TYPICAL].n < WHY_SLOW_MIN) {
                add(out,
                    "not enough instances: %zu slow and %zu typical ones, at least %d of each are needed",
                    (size_t)w->groups[WHY_SLOW].n, (size_t)w->groups[WHY_TYPICAL].n, WHY_SLOW_MIN);
        } else if (lacks_samples(w, machine)) {
                add(out, "not enough samples: %llu in %llu slow instances; record at a higher rate (-F)",
                    (unsigned long long)w->n_samples[WHY_SLOW], (unsigned long long)w->groups[WHY_SLOW].n);
        } else if (machine >= 0.5) {
                add(out, "no cause in the program: for ");
                add_share(out, machine);
                add(out, " of the extra time it was ready to run and others had the CPU");
        } else {
                add(out, "no cause stands out");
                if (same && same->share.value >= 0.5 && same->id != 0) {
                        add(out, ": ");
                        add_share(out, same->share.value);
                        add(out, " of the extra time is spent in the same functions as in typical instances, "
                                 "mostly in ");
                        add_function(out, why_words_function(w, same->id));
                        add_links(w, out);
                } else if (largest && largest->kind == WHY_CAUSE_UNEXPLAINED) {
                        add(out, ": no sample and no wait explains ");
                        add_share(out, largest->share.value);
                        add(out, " of the extra time");
                }
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

/* Of the function that the answer says to run, what is waited there, and the other way round. */
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

/* A function that writes to a disk runs and waits: neither half alone is what it costs. */
static void add_answer(const struct why *w, const struct loaded_trace *trace, const struct why_cause *answer,
                       struct byte_buffer *out)
{
        double other = other_share(w, answer);

        add_share(out, answer->share.value + other);
        add(out, " of the extra time: ");
        if (answer->confidence != WHY_CONFIDENCE_HIGH)
                add(out, "probably ");
        add_cause(w, trace, answer, out);
        if (other > 0) {
                add(out, ", ");
                add_share(out, answer->share.value);
                add(out, ", and %s there, ", answer->kind == WHY_CAUSE_WAIT ? "running" : "waiting");
                add_share(out, other);
        }
        if (machine_share(w) >= MACHINE_MIN) {
                add(out, "; for ");
                add_share(out, machine_share(w));
                add(out, " others had the CPU");
        }
}

void why_words_answer(const struct why *w, const struct loaded_trace *trace, struct byte_buffer *out)
{
        const struct why_cause *answer = why_find_answer(w);
        const struct why_group_sum *typical = &w->groups[WHY_TYPICAL];

        if (w->survey.durations.all.n_values == 0) {
                add(out, "no zone that is called ");
                add_string(out, words_of(w->request.zone));
                add(out, " is over");
        } else if (w->groups[WHY_SLOW].n == 0 && w->request.slower_than_ns == 0 &&
                   typical->n >= WHY_SLOW_MIN) {
                add(out, "there is nothing to explain: no instance takes longer than the typical ones");
        } else if (typical->n != 0 && w->groups[WHY_SLOW].n >= WHY_SLOW_MIN &&
                   w->extra_ns < EXTRA_MIN * typical->duration / (double)typical->n) {
                add(out, "there is nothing to explain: the slow instances take as long as the typical ones");
        } else if (!answer) {
                add_no_cause(w, out);
        } else {
                add_answer(w, trace, answer, out);
        }
}
