/* SPDX-License-Identifier: MIT */
#include "export/firefox/firefox_profile.h"

#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_filter.h"
#include "base/error.h"
#include "export/shared/export_format.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define WEIGHT_DIGITS 4
#define WEIGHT_ONE    10000 /* 10^WEIGHT_DIGITS */
#define DIGITS_OF_US  3

/*
 * Zones shorter than the limit are left out; at the limit, only n_at_limit zones are kept, the same in each
 * column.
 */
struct marker_quota {
        uint64_t limit_ns;
        uint64_t n_at_limit;
        uint64_t n_left_out[FIREFOX_MARKER_COUNT];
};

typedef int marker_writer(struct firefox_profile *p, const struct firefox_marker *marker,
                          struct spool_cursor *words, struct error *err);

/* ------------------------------------------------------------------ which and in what order */

static bool is_written(const struct firefox_profile *p, uint32_t thread)
{
        if (event_spool_bytes(&p->spool, firefox_samples_chain(thread)) > 0 ||
            event_spool_bytes(&p->spool, firefox_markers_chain(thread)) > 0)
                return true;
        return p->names.has_events[thread - 1] && process_names_is_main(&p->names, thread);
}

static int compare(const void *a, const void *b, void *context)
{
        const struct process_names *names = context;
        uint32_t thread_a = *(const uint32_t *)a, thread_b = *(const uint32_t *)b;
        uint32_t process_a = process_names_process_of(names, thread_a);
        uint32_t process_b = process_names_process_of(names, thread_b);
        bool main_a = process_names_is_main(names, thread_a), main_b = process_names_is_main(names, thread_b);

        if (process_a != process_b)
                return process_a < process_b ? -1 : 1;
        if (main_a != main_b)
                return main_a ? -1 : 1;
        return thread_a < thread_b ? -1 : thread_a > thread_b;
}

int firefox_threads_init(struct firefox_threads *t, const struct firefox_profile *p)
{
        struct process_names names = p->names;

        *t = (struct firefox_threads){
                .order = calloc((size_t)names.n_threads + 1, sizeof(*t->order)),
                .process_index = calloc((size_t)names.n_processes + 1, sizeof(*t->process_index)),
        };
        if (!t->order || !t->process_index)
                return -ENOMEM;
        for (uint32_t i = 1; i <= names.n_threads; i++)
                if (is_written(p, i))
                        t->order[t->n++] = i;
        qsort_r(t->order, t->n, sizeof(*t->order), compare, &names);
        for (uint32_t i = t->n; i > 0; i--)
                t->process_index[process_names_process_of(&names, t->order[i - 1]) - 1] = i - 1;
        return 0;
}

void firefox_threads_deinit(struct firefox_threads *t)
{
        free(t->order);
        free(t->process_index);
        *t = (struct firefox_threads){ .n = 0 };
}

uint32_t firefox_threads_busiest(const struct firefox_threads *t, const struct firefox_profile *p)
{
        uint32_t best = 0;

        for (uint32_t i = 1; i < t->n; i++)
                if (p->threads[t->order[i] - 1].weight > p->threads[t->order[best] - 1].weight)
                        best = i;
        return best;
}

static void open_column(struct firefox_profile *p, const char *key)
{
        json_out_key(&p->json, key);
        json_out_open(&p->json, '[');
}

static void close_column(struct firefox_profile *p)
{
        json_out_close(&p->json, ']');
        json_out_line(&p->json);
}

/* ------------------------------------------------------------------ samples */

enum sample_column { SAMPLE_STACK, SAMPLE_TIME, SAMPLE_WEIGHT, SAMPLE_CPU };

static void write_weight(struct firefox_profile *p, const struct firefox_sample *sample)
{
        double one = sample->is_wait ? (double)p->wait_weight_ns : p->sample_weight;
        double share = (double)sample->weight / one;

        if (share < 1e12)
                json_out_decimal(&p->json, (uint64_t)(share * WEIGHT_ONE + 0.5), WEIGHT_DIGITS);
        else
                json_out_real(&p->json, share);
}

static void write_sample(struct firefox_profile *p, const struct firefox_sample *sample,
                         enum sample_column column)
{
        switch (column) {
        case SAMPLE_STACK:
                json_out_number(&p->json, sample->stack - 1);
                break;
        case SAMPLE_TIME:
                firefox_profile_put_ms(p, sample->time_ns);
                break;
        case SAMPLE_WEIGHT:
                write_weight(p, sample);
                break;
        case SAMPLE_CPU:
                json_out_decimal(&p->json, sample->cpu_ns, DIGITS_OF_US);
                break;
        }
}

/* Samples that weigh nothing, at the beginning, or the end, of all markers. */
struct sample_edges {
        bool begins, ends;
        uint32_t stack; /* row, counted from 1, of the category for no work; 0 = none: waits are not wanted */
};

static void write_empty_sample(struct firefox_profile *p, const struct sample_edges *edges, uint64_t time_ns,
                               enum sample_column column)
{
        if (column == SAMPLE_STACK && edges->stack == 0)
                json_out_null(&p->json);
        else if (column == SAMPLE_STACK)
                json_out_number(&p->json, edges->stack - 1);
        else if (column == SAMPLE_TIME)
                firefox_profile_put_ms(p, time_ns);
        else
                json_out_number(&p->json, 0);
}

/*
 * The Firefox profiler shows the time from the first sample of all threads to the last one, and no marker
 * that lies outside (getTimeRangeForThread() of its profile-data.ts): so the first thread has a sample there.
 */
static int find_edges(struct firefox_profile *p, bool is_first, struct sample_edges *ret)
{
        bool wanted = is_first && p->samples.first_ns != UINT64_MAX && p->markers.first_ns != UINT64_MAX;

        *ret = (struct sample_edges){ .begins = wanted && p->markers.first_ns < p->samples.first_ns,
                                      .ends = wanted && p->markers.last_ns > p->samples.last_ns };
        if ((!ret->begins && !ret->ends) || p->options->no_waits)
                return 0;
        return firefox_tables_stack(&p->tables, &p->walk.paths, 0, 0, TRACE_WAIT_PREEMPTED + 1, &ret->stack);
}

static int write_sample_column(struct firefox_profile *p, uint32_t thread, const struct sample_edges *edges,
                               const char *key, enum sample_column column, struct error *err)
{
        struct spool_cursor cursor;
        const void *at;
        int r;

        spool_cursor_init(&cursor, &p->spool, firefox_samples_chain(thread));
        open_column(p, key);
        if (edges->begins)
                write_empty_sample(p, edges, p->markers.first_ns, column);
        while ((r = spool_cursor_next(&cursor, sizeof(struct firefox_sample), &at, err)) == 1)
                write_sample(p, at, column);
        if (edges->ends)
                write_empty_sample(p, edges, p->markers.last_ns, column);
        close_column(p);
        spool_cursor_deinit(&cursor);
        return r;
}

static int write_samples(struct firefox_profile *p, uint32_t thread, bool is_first, struct error *err)
{
        uint64_t n_bytes = event_spool_bytes(&p->spool, firefox_samples_chain(thread));
        struct sample_edges edges;
        int r = find_edges(p, is_first, &edges);

        if (r < 0)
                return error_set(err, r, "out of memory");
        json_out_key(&p->json, "samples");
        json_out_open(&p->json, '{');
        json_out_pair_number(&p->json, "length",
                             n_bytes / sizeof(struct firefox_sample) + edges.begins + edges.ends);
        json_out_pair_words(&p->json, "weightType", "samples");
        r = write_sample_column(p, thread, &edges, "stack", SAMPLE_STACK, err);
        if (r != 0)
                goto done;
        r = write_sample_column(p, thread, &edges, "time", SAMPLE_TIME, err);
        if (r != 0)
                goto done;
        r = write_sample_column(p, thread, &edges, "weight", SAMPLE_WEIGHT, err);
        if (r != 0)
                goto done;
        if (p->walk.n_switches > 0)
                r = write_sample_column(p, thread, &edges, "threadCPUDelta", SAMPLE_CPU, err);

done:
        json_out_close(&p->json, '}');
        return r;
}

/* ------------------------------------------------------------------ markers */

static int write_name(struct firefox_profile *p, const struct firefox_marker *marker,
                      struct spool_cursor *words, struct error *err)
{
        (void)words;
        (void)err;
        json_out_number(&p->json, marker->name);
        return 0;
}

static int write_start(struct firefox_profile *p, const struct firefox_marker *marker,
                       struct spool_cursor *words, struct error *err)
{
        (void)words;
        (void)err;
        firefox_profile_put_ms(p, marker->begin_ns);
        return 0;
}

static int write_end(struct firefox_profile *p, const struct firefox_marker *marker,
                     struct spool_cursor *words, struct error *err)
{
        (void)words;
        (void)err;
        if (marker->is_instant)
                json_out_null(&p->json);
        else
                firefox_profile_put_ms(p, marker->end_ns);
        return 0;
}

static int write_phase(struct firefox_profile *p, const struct firefox_marker *marker,
                       struct spool_cursor *words, struct error *err)
{
        (void)words;
        (void)err;
        json_out_number(&p->json, marker->is_instant ? 0 : 1);
        return 0;
}

static int write_category(struct firefox_profile *p, const struct firefox_marker *marker,
                          struct spool_cursor *words, struct error *err)
{
        (void)words;
        (void)err;
        json_out_number(&p->json, marker->type == FIREFOX_MARKER_ZONE   ? FIREFOX_CATEGORY_ZONE
                                  : marker->type == FIREFOX_MARKER_LOCK ? FIREFOX_CATEGORY_OFF_CPU
                                                                        : FIREFOX_CATEGORY_OTHER);
        return 0;
}

static int write_words(struct firefox_profile *p, const struct firefox_marker *marker,
                       struct spool_cursor *words, struct error *err)
{
        size_t n_bytes = (size_t)marker->called_bytes + marker->text_bytes;
        const void *at;
        int r;

        if (n_bytes == 0)
                return 0;
        words->offset = marker->words_offset;
        r = spool_cursor_next(words, n_bytes, &at, err);
        if (r != 1)
                return r < 0 ? r : error_set(err, -EIO, "a temporary file became shorter");
        if (marker->called_bytes > 0)
                json_out_pair_string(&p->json, "called", at, marker->called_bytes);
        if (marker->text_bytes > 0)
                json_out_pair_string(&p->json, "text", (const char *)at + marker->called_bytes,
                                     marker->text_bytes);
        return 0;
}

static void write_zone_data(struct firefox_profile *p, const struct firefox_marker *marker)
{
        if (p->walk.n_switches > 0) {
                json_out_key(&p->json, "cpu");
                json_out_decimal(&p->json, marker->on_cpu_ns, FIREFOX_DIGITS_OF_MS);
        }
        if (marker->place != 0)
                json_out_pair_number(&p->json, "source", marker->place - 1);
        if (marker->has_value) {
                json_out_key(&p->json, "value");
                json_out_signed(&p->json, marker->value);
        }
        if (marker->is_unclosed)
                json_out_pair_words(&p->json, "end", "never ended");
}

static void write_device_data(struct firefox_profile *p, const struct firefox_marker *marker)
{
        json_out_pair_number(&p->json, "device", marker->device);
        json_out_pair_number(&p->json, "lane", marker->lane);
        if (marker->track != 0)
                json_out_pair_number(&p->json, "track", marker->track - 1);
        if (marker->has_key)
                json_out_pair_id(&p->json, "key", marker->key);
        if (marker->key_kind != 0)
                json_out_pair_number(&p->json, "key_kind", marker->key_kind - 1);
        if (marker->placed != 0)
                json_out_pair_number(&p->json, "placed", marker->placed - 1);
        if (marker->text != 0)
                json_out_pair_number(&p->json, "text", marker->text - 1);
        if (marker->place != 0)
                json_out_pair_number(&p->json, "source", marker->place - 1);
}

static const char *severity_words(uint32_t severity)
{
        static const char *const words[] = { "trace", "debug", "info", "warning", "error", "fatal" };

        return severity < sizeof(words) / sizeof(words[0]) ? words[severity] : "unknown";
}

static void write_cause(struct firefox_profile *p, const struct firefox_marker *marker)
{
        json_out_key(&p->json, "cause");
        json_out_open(&p->json, '{');
        json_out_key(&p->json, "time");
        firefox_profile_put_ms(p, marker->begin_ns);
        json_out_pair_number(&p->json, "stack", marker->stack - 1);
        json_out_close(&p->json, '}');
}

static int write_data(struct firefox_profile *p, const struct firefox_marker *marker,
                      struct spool_cursor *words, struct error *err)
{
        static const char *const types[] = {
#define X(name, type) [FIREFOX_MARKER_##name] = (type),
                FIREFOX_MARKERS(X)
#undef X
        };
        int r;

        json_out_open(&p->json, '{');
        json_out_pair_words(&p->json, "type", types[marker->type]);
        if (marker->type == FIREFOX_MARKER_ZONE)
                write_zone_data(p, marker);
        if (marker->type == FIREFOX_MARKER_DEVICE)
                write_device_data(p, marker);
        if (marker->type == FIREFOX_MARKER_MESSAGE)
                json_out_pair_words(&p->json, "severity", severity_words(marker->severity));
        if (marker->stack != 0)
                write_cause(p, marker);
        r = write_words(p, marker, words, err);
        json_out_close(&p->json, '}');
        return r;
}

static int write_nothing(struct firefox_profile *p, const struct firefox_marker *marker,
                         struct spool_cursor *words, struct error *err)
{
        (void)p;
        (void)marker;
        (void)words;
        (void)err;
        return 0;
}

static bool is_left_out(const struct firefox_marker *marker, struct marker_quota *quota)
{
        uint64_t duration_ns = marker->end_ns - marker->begin_ns;

        if (!firefox_marker_is_limited(marker->type) || duration_ns > quota->limit_ns)
                return false;
        if (duration_ns < quota->limit_ns || quota->n_at_limit == 0) {
                quota->n_left_out[marker->type]++;
                return true;
        }
        quota->n_at_limit--;
        return false;
}

/*
 * Calls @write for each marker of the thread that is not left out; returns the number of these, or -errno.
 */
static int64_t for_markers(struct firefox_profile *p, uint32_t thread, struct marker_quota *quota,
                           marker_writer *write, struct error *err)
{
        struct spool_cursor cursor, words;
        int64_t n = 0;
        const void *at;
        int r;

        spool_cursor_init(&cursor, &p->spool, firefox_markers_chain(thread));
        spool_cursor_init(&words, &p->spool, firefox_words_chain(p));
        while ((r = spool_cursor_next(&cursor, sizeof(struct firefox_marker), &at, err)) == 1) {
                if (is_left_out(at, quota))
                        continue;
                n++;
                r = write(p, at, &words, err);
                if (r < 0)
                        break;
        }
        spool_cursor_deinit(&cursor);
        spool_cursor_deinit(&words);
        return r < 0 ? r : n;
}

static int write_marker_column(struct firefox_profile *p, uint32_t thread, const struct marker_quota *quota,
                               const char *key, marker_writer *write, struct error *err)
{
        struct marker_quota mine = *quota;
        int64_t r;

        open_column(p, key);
        r = for_markers(p, thread, &mine, write, err);
        close_column(p);
        return r < 0 ? (int)r : 0;
}

static int write_markers(struct firefox_profile *p, uint32_t thread, struct marker_quota *quota,
                         struct error *err)
{
        static const struct {
                const char *key;
                marker_writer *write;
        } columns[] = {
                { "data", write_data },   { "name", write_name },   { "startTime", write_start },
                { "endTime", write_end }, { "phase", write_phase }, { "category", write_category },
        };
        struct marker_quota after = *quota;
        int64_t n = for_markers(p, thread, &after, write_nothing, err);
        int r = n < 0 ? (int)n : 0;

        json_out_key(&p->json, "markers");
        json_out_open(&p->json, '{');
        json_out_pair_number(&p->json, "length", n < 0 ? 0 : (uint64_t)n);
        for (size_t i = 0; r == 0 && i < sizeof(columns) / sizeof(columns[0]); i++)
                r = write_marker_column(p, thread, quota, columns[i].key, columns[i].write, err);
        json_out_close(&p->json, '}');
        *quota = after;
        return r;
}

/* ------------------------------------------------------------------ threads */

static void write_thread_times(struct firefox_profile *p, uint32_t thread)
{
        static const struct thread_timeline unseen = { .exited = false };
        /* At a damaged chunk, the walk ends before it has seen all threads. */
        const struct thread_timeline *timeline = thread <= p->walk.n_threads
                                                         ? &p->walk.threads[thread - 1].timeline
                                                         : &unseen;
        const struct trace_filter *filter = p->walk.filter;
        uint64_t from_ns = filter ? filter->from_ns : 0;

        json_out_key(&p->json, "processStartupTime");
        firefox_profile_put_ms(p, p->trace->start_ns);
        json_out_key(&p->json, "processShutdownTime");
        json_out_null(&p->json);
        json_out_key(&p->json, "registerTime");
        firefox_profile_put_ms(p, timeline->first_ns > from_ns ? timeline->first_ns : from_ns);
        json_out_key(&p->json, "unregisterTime");
        if (timeline->exited && (!filter || timeline->last_ns < filter->to_ns))
                firefox_profile_put_ms(p, timeline->last_ns);
        else
                json_out_null(&p->json);
        json_out_key(&p->json, "pausedRanges");
        json_out_open(&p->json, '[');
        json_out_close(&p->json, ']');
}

static void write_thread_names(struct firefox_profile *p, uint32_t thread)
{
        uint32_t process = process_names_process_of(&p->names, thread);
        struct text_view name = process_names_thread(&p->names, thread);
        struct text_view process_name = process_names_process(&p->names, process);
        char pid[PROCESS_NAMES_PID_BYTES];

        json_out_pair_string(&p->json, "name", name.bytes, name.n_bytes);
        json_out_pair_string(&p->json, "processName", process_name.bytes, process_name.n_bytes);
        json_out_key(&p->json, "isMainThread");
        json_out_bool(&p->json, process_names_is_main(&p->names, thread));
        json_out_pair_words(&p->json, "processType", "default");
        json_out_pair_words(&p->json, "pid", process_names_pid(&p->names, process, pid));
        json_out_pair_number(&p->json, "tid", process_names_tid(&p->names, thread));
        json_out_key(&p->json, "showMarkersInTimeline");
        json_out_bool(&p->json, event_spool_bytes(&p->spool, firefox_markers_chain(thread)) > 0);
}

static int write_thread(struct firefox_profile *p, uint32_t thread, bool is_first, struct marker_quota *quota,
                        struct error *err)
{
        int r;

        json_out_open(&p->json, '{');
        write_thread_names(p, thread);
        write_thread_times(p, thread);
        r = write_samples(p, thread, is_first, err);
        if (r == 0)
                r = write_markers(p, thread, quota, err);
        if (r == 0 && process_names_is_main(&p->names, thread))
                r = firefox_allocations_write(p, process_names_process_of(&p->names, thread), err);
        json_out_close(&p->json, '}');
        json_out_line(&p->json);
        return r;
}

/* Readers fail on a profile without any thread. */
static void write_no_thread(struct json_out *j)
{
        static const char *const columns[][7] = {
                { "samples", "stack", "time", "weight", NULL },
                { "markers", "data", "name", "startTime", "endTime", "phase", "category" },
        };

        json_out_open(j, '{');
        json_out_pair_words(j, "name", "nothing was recorded");
        json_out_pair_words(j, "processType", "default");
        json_out_key(j, "isMainThread");
        json_out_bool(j, true);
        json_out_pair_words(j, "pid", "0");
        json_out_pair_number(j, "tid", 0);
        json_out_pair_number(j, "processStartupTime", 0);
        json_out_pair_number(j, "registerTime", 0);
        json_out_key(j, "pausedRanges");
        json_out_open(j, '[');
        json_out_close(j, ']');
        for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
                json_out_key(j, columns[i][0]);
                json_out_open(j, '{');
                json_out_pair_number(j, "length", 0);
                json_out_pair_words(j, "weightType", "samples");
                for (size_t k = 1; k < 7 && columns[i][k]; k++) {
                        json_out_key(j, columns[i][k]);
                        json_out_open(j, '[');
                        json_out_close(j, ']');
                }
                json_out_close(j, '}');
        }
        json_out_close(j, '}');
}

int firefox_threads_write(const struct firefox_threads *t, struct firefox_profile *p, struct error *err)
{
        struct marker_quota quota = {
                .limit_ns = longest_zones_limit_ns(&p->longest),
                .n_at_limit = longest_zones_at_limit(&p->longest),
        };
        int r = 0;

        json_out_key(&p->json, "threads");
        json_out_open(&p->json, '[');
        for (uint32_t i = 0; r == 0 && i < t->n; i++)
                r = write_thread(p, t->order[i], i == 0, &quota, err);
        if (t->n == 0)
                write_no_thread(&p->json);
        json_out_close(&p->json, ']');
        for (uint32_t type = 0; type < FIREFOX_MARKER_COUNT; type++)
                p->n_short[type] += quota.n_left_out[type];
        return r;
}
