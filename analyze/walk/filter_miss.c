/* SPDX-License-Identifier: MIT */
#include "analyze/walk/trace_filter.h"

#include "analyze/trace/zone_pattern.h"
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_walk.h"
#include "base/clock.h"
#include "base/error.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The list has at most this many CPUs; machines have fewer. */
#define CPUS_SEEN_MAX 4096

#define PATHS_NAMED_MAX 3
#define WORDS_BYTES     192

/* The events that each condition passes by itself; an absent condition passes all. */
struct survey {
        const struct trace_filter *filter;
        bool in_time, of_thread, on_cpu, of_sample;
        bool any;
        uint64_t first_ns, last_ns;
        bool cpus[CPUS_SEEN_MAX];
};

static void look(struct survey *s, const struct walked_thread *thread, uint64_t time_ns)
{
        if (!s->any || time_ns < s->first_ns)
                s->first_ns = time_ns;
        if (time_ns > s->last_ns)
                s->last_ns = time_ns;
        s->any = true;
        s->in_time |= trace_filter_wants_time(s->filter, time_ns);
        s->of_thread |= trace_filter_wants_thread(s->filter, thread->id);
        s->on_cpu |= trace_filter_wants_cpu(s->filter, thread->cpu);
        if (thread->cpu < CPUS_SEEN_MAX)
                s->cpus[thread->cpu] = true;
}

static int on_event(void *context, struct walked_thread *thread, const struct trace_event *event,
                    struct error *err)
{
        (void)err;
        look(context, thread, event->time_ns);
        return 0;
}

static int on_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                     struct error *err)
{
        struct survey *s = context;

        s->of_sample |= (s->filter->event == 0 || s->filter->event == event->sample.event) &&
                        trace_filter_wants_stack(s->filter, event->sample.stack);
        return on_event(context, thread, event, err);
}

static int on_wait(void *context, struct walked_thread *thread, const struct thread_wait *wait,
                   struct error *err)
{
        struct survey *s = context;

        (void)thread;
        (void)err;
        s->of_sample |= s->filter->event == 0 && trace_filter_wants_stack(s->filter, wait->stack);
        return 0;
}

/* ------------------------------------------------------------------ words */

/* "0-3,7" */
static void list_cpus(const struct survey *s, char words[WORDS_BYTES])
{
        size_t n_bytes = 0;

        (void)snprintf(words, WORDS_BYTES, "none");
        for (uint32_t first = 0, end; first < CPUS_SEEN_MAX; first = end + 1) {
                char range[32];
                int n;

                for (end = first; end < CPUS_SEEN_MAX && s->cpus[end]; end++)
                        ;
                if (end == first)
                        continue;
                n = snprintf(range, sizeof(range), "%s%u", n_bytes != 0 ? "," : "", first);
                if (end - first > 1)
                        n += snprintf(range + n, sizeof(range) - (size_t)n, "-%u", end - 1);
                if (n_bytes + (size_t)n + sizeof("...") > WORDS_BYTES) {
                        (void)snprintf(words + n_bytes, WORDS_BYTES - n_bytes, "...");
                        return;
                }
                memcpy(words + n_bytes, range, (size_t)n + 1);
                n_bytes += (size_t)n;
        }
}

static double seconds_of(const struct loaded_trace *trace, uint64_t time_ns)
{
        return time_ns > trace->start_ns ? (double)(time_ns - trace->start_ns) / (double)NS_PER_S : 0;
}

static void add_words(char words[WORDS_BYTES], const char *between, struct text_view name)
{
        size_t used = strlen(words);

        (void)snprintf(words + used, WORDS_BYTES - used, "%s%.*s", used != 0 ? between : "",
                       (int)(name.n_bytes < WORDS_BYTES ? name.n_bytes : WORDS_BYTES),
                       name.n_bytes != 0 ? name.bytes : "");
}

/*
 * Writes "parse is in: dispatch, load/unpack": the zones directly around the one that the pattern ends
 * with.
 */
static void list_paths(const struct zone_paths *paths, const struct trace_filter *f, char words[WORDS_BYTES])
{
        uint32_t n_named = 0;

        words[0] = '\0';
        for (uint32_t i = 1; i <= zone_paths_count(paths) && n_named <= PATHS_NAMED_MAX; i++) {
                uint32_t location = zone_paths_location(paths, i), parent = zone_paths_parent(paths, i);
                char path[WORDS_BYTES] = "";

                if (!zone_pattern_names(&f->zone, paths->dictionary, location))
                        continue;
                if (n_named++ == PATHS_NAMED_MAX) {
                        add_words(words, ", ", (struct text_view){ .bytes = "...", .n_bytes = 3 });
                        return;
                }
                if (parent != 0)
                        add_words(
                                path, "",
                                zone_pattern_name_of(paths->dictionary, zone_paths_location(paths, parent)));
                add_words(path, "/", zone_pattern_name_of(paths->dictionary, location));
                add_words(words, ", ", (struct text_view){ .bytes = path, .n_bytes = strlen(path) });
        }
}

static bool has_path(const struct zone_paths *paths)
{
        for (uint32_t i = 1; i <= zone_paths_count(paths); i++)
                if (zone_paths_wanted(paths, i))
                        return true;
        return false;
}

static int say_zone(const struct zone_paths *paths, const struct trace_filter *f, struct error *err)
{
        char words[WORDS_BYTES];

        list_paths(paths, f, words);
        if (words[0] == '\0') {
                (void)error_set(err, -ENOENT, "no zone '%s' in this trace ever began", f->request.zone);
                trace_filter_add_who_has_zones(paths->dictionary, err);
                return -ENOENT;
        }
        return error_set(err, -ENOENT, "no zone '%s' in this trace is nested this way; it occurs as %s",
                         f->request.zone, words);
}

static int say_time(const struct survey *s, const struct loaded_trace *trace, struct error *err)
{
        return error_set(
                err, -ENOENT,
                "nothing in this trace happened in that range of time; events are from %.9f s to %.9f s",
                seconds_of(trace, s->first_ns), seconds_of(trace, s->last_ns));
}

static int say_sample(const struct trace_filter *f, struct error *err)
{
        if (f->event != 0 && f->stacks)
                return error_set(err, -ENOENT,
                                 "no samples of '%s' in this trace have their innermost function in '%s'",
                                 f->request.event, f->request.module);
        if (f->event != 0)
                return error_set(err, -ENOENT, "no samples of '%s' in this trace", f->request.event);
        return error_set(err, -ENOENT, "no samples in this trace have their innermost function in '%s'",
                         f->request.module);
}

/* Reports a condition that no event passes, whatever the other conditions are. */
static int say(const struct survey *s, const struct zone_paths *paths, const struct loaded_trace *trace,
               struct error *err)
{
        const struct trace_filter *f = s->filter;
        char words[WORDS_BYTES];

        if (!s->any)
                return error_set(err, -ENOENT, "there are no events in this trace");
        if (!s->on_cpu) {
                list_cpus(s, words);
                return error_set(err, -ENOENT, "nothing in this trace was on CPU %s; there are: %s",
                                 f->request.cpu, words);
        }
        if (!s->in_time)
                return say_time(s, trace, err);
        if (f->has_zone && !has_path(paths))
                return say_zone(paths, f, err);
        if (!s->of_thread)
                return error_set(err, -ENOENT, "nothing was recorded of the chosen threads");
        if ((f->stacks || f->event != 0) && !s->of_sample)
                return say_sample(f, err);
        return error_set(err, -ENOENT, "nothing in this trace passes all filters at once");
}

int filter_miss_explain(struct loaded_trace *trace, const struct trace_filter *filter, struct error *err)
{
        struct trace_filter only_zone = { .to_ns = UINT64_MAX, .is_empty = true };
        struct survey *s = calloc(1, sizeof(*s));
        struct trace_sink sink = { .context = s,
                                   .begin_zone = on_event,
                                   .sample = on_sample,
                                   .wait = on_wait,
                                   .event = on_event,
                                   .wants_zone_paths = true };
        struct trace_walk walk = { .n_threads = 0 };
        int r;

        if (!s)
                return error_set(err, -ENOMEM, "finding out why nothing passed the filters: out of memory");
        s->filter = filter;
        r = trace_walk_init(&walk, trace, &only_zone, &sink);
        if (r == 0 && filter->has_zone) {
                /* Here the zone pattern only judges paths, not events. */
                zone_paths_deinit(&walk.paths);
                r = zone_paths_init(&walk.paths, trace->dictionary, &filter->zone);
        }
        r = r < 0 ? error_set(err, r, "finding out why nothing passed the filters: out of memory")
                  : loaded_trace_walk(trace, &walk, err);
        if (r == 0)
                r = say(s, &walk.paths, trace, err);
        trace_walk_deinit(&walk);
        free(s);
        return r;
}
