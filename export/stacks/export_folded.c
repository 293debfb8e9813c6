/* SPDX-License-Identifier: MIT */
/*
 * Folded call stacks: "thread;main;update;dot_[i] 12", a line for each, outermost first.
 *
 * The number counts samples; for an event that was read with the samples of another (cache-misses beside
 * cpu-clock) it is the event's count.  With waits it is nanoseconds: the samples' weights, scaled to the time
 * on a CPU if the event does not measure time, and the waits, each with a frame "[waiting]" or the like below
 * its call stack.  Each line occurs once: call stacks that differ only in addresses are merged.  Memory: the
 * different call stacks of each thread.
 */
#include "analyze/walk/loaded_trace.h"
#include "analyze/walk/trace_walk.h"
#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/content_hash.h"
#include "base/error.h"
#include "base/intern.h"
#include "base/saturating.h"
#include "export/shared/export_event.h"
#include "export/shared/export_format.h"
#include "export/shared/export_frames.h"
#include "export/shared/process_names.h"
#include "export/shared/waiting_words.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* No padding: compared as bytes. */
struct folded_key {
        uint32_t thread; /* while walking the thread; then the string that it is called */
        uint32_t path;
        uint32_t stack;
        uint32_t wait; /* enum trace_wait_state + 1; 0 = a sample */
};

struct folded_stacks {
        struct intern keys; /* struct folded_key */
        uint64_t *sums;     /* heap; by id - 1 */
        size_t capacity;
};

/* The key of a line. */
struct line_key {
        uint64_t hash, n_bytes;
};

struct folded_export {
        struct loaded_trace *trace;
        const struct export_options *options;
        struct export_totals *totals;
        struct folded_stacks stacks;
        bool by_weight;
};

static int add(struct folded_stacks *s, const struct folded_key *key, uint64_t count)
{
        uint32_t id;
        int r = intern_add(&s->keys, key, sizeof(*key), &id);

        if (r < 0)
                return r;
        if (array_reserve(&s->sums, &s->capacity, id, sizeof(*s->sums)) < 0)
                return -ENOMEM;
        if (r == 1)
                s->sums[id - 1] = 0;
        s->sums[id - 1] += count;
        return 0;
}

static void deinit_stacks(struct folded_stacks *s)
{
        intern_deinit(&s->keys);
        free(s->sums);
}

static int take_sample(void *context, struct walked_thread *thread, const struct trace_event *event,
                       struct error *err)
{
        struct folded_export *x = context;
        struct folded_key key = { .thread = thread->id, .stack = (uint32_t)event->sample.stack };
        uint64_t weight;

        if (event->sample.event != x->options->event) {
                x->totals->left_out[EXPORT_LEFT_OUT_OTHER_EVENTS]++;
                return 0;
        }
        weight = export_event_weight(x->trace->dictionary, x->options->event, event->sample.weight);
        x->totals->n_samples++;
        x->totals->weight = saturating_add(x->totals->weight, weight);
        if (x->options->zones_as_frames)
                key.path = (uint32_t)event->sample.path;
        if (add(&x->stacks, &key, x->by_weight ? weight : 1) < 0)
                return error_set(err, -ENOMEM, "no memory for the call stacks");
        return 0;
}

static int take_wait(void *context, struct walked_thread *thread, const struct thread_wait *wait,
                     struct error *err)
{
        struct folded_export *x = context;
        struct folded_key key = { .thread = thread->id,
                                  .stack = wait->stack,
                                  .wait = (wait->preempted ? TRACE_WAIT_PREEMPTED : wait->state) + 1 };

        if (wait->in_ns <= wait->out_ns)
                return 0;
        if (x->options->zones_as_frames)
                key.path = wait->path;
        x->totals->n_waits++;
        x->totals->n_waits_without_stack += wait->stack == 0;
        if (add(&x->stacks, &key, wait->in_ns - wait->out_ns) < 0)
                return error_set(err, -ENOMEM, "no memory for the call stacks");
        return 0;
}

/* The weights of a thread's samples become shares of its time on a CPU. */
static int scale_samples(struct folded_export *x, const struct trace_walk *walk)
{
        double *weights = calloc((size_t)walk->n_threads + 1, sizeof(*weights));

        if (!weights)
                return -ENOMEM;
        for (uint32_t i = 1; i <= x->stacks.keys.n_items; i++) {
                const struct folded_key *key = intern_get(&x->stacks.keys, i, NULL);

                weights[key->thread] += key->wait == 0 ? (double)x->stacks.sums[i - 1] : 0;
        }
        for (uint32_t i = 1; i <= x->stacks.keys.n_items; i++) {
                const struct folded_key *key = intern_get(&x->stacks.keys, i, NULL);
                uint64_t ran_ns = trace_walk_ran_ns(walk, &walk->threads[key->thread - 1]);

                if (key->wait == 0 && weights[key->thread] > 0)
                        x->stacks.sums[i - 1] = (uint64_t)((double)x->stacks.sums[i - 1] /
                                                           weights[key->thread] * (double)ran_ns);
        }
        free(weights);
        return 0;
}

/* Characters that would end a frame or a line are replaced. */
static void put_name(struct byte_buffer *line, const char *bytes, size_t n_bytes)
{
        uint8_t *at = byte_buffer_reserve(line, n_bytes);

        if (!at)
                return;
        for (size_t i = 0; i < n_bytes; i++)
                at[i] = (uint8_t)(bytes[i] == ';' ? ':' : (unsigned char)bytes[i] < ' ' ? ' ' : bytes[i]);
        line->used_bytes += n_bytes;
}

static int put_frames(struct export_frames *frames, struct byte_buffer *line)
{
        for (size_t i = 0; i < frames->n_items; i++) {
                const struct export_frame *frame = &frames->items[i];
                size_t n_bytes;
                const char *name = export_frames_name(frames, frame, &n_bytes);

                if (!name)
                        return -ENOMEM;
                byte_buffer_add(line, ";", 1);
                put_name(line, name, n_bytes);
                if (export_frames_is_kernel(frames, frame))
                        byte_buffer_add(line, "_[k]", 4);
                else if (frame->inline_depth > 0)
                        byte_buffer_add(line, "_[i]", 4);
        }
        return 0;
}

static int write_line(struct folded_export *x, struct export_frames *frames, const struct zone_paths *paths,
                      const struct folded_key *key, struct byte_buffer *line)
{
        struct text_view thread = trace_dictionary_text(x->trace->dictionary, key->thread);
        int r = export_frames_of(frames, paths, key->path, key->stack);

        byte_buffer_clear(line);
        if (thread.n_bytes > 0)
                put_name(line, thread.bytes, thread.n_bytes);
        else
                byte_buffer_add(line, "[unnamed]", 9);
        if (r == 0)
                r = put_frames(frames, line);
        if (key->wait != 0) {
                const char *words = waiting_words_of(key->wait - 1);

                byte_buffer_add(line, ";", 1);
                byte_buffer_add(line, words, strlen(words));
        }
        return r < 0 || line->failed ? -ENOMEM : 0;
}

static const struct folded_key *key_of(const struct folded_stacks *stacks, uint32_t id)
{
        return intern_get(&stacks->keys, id, NULL);
}

/* Adds up stacks that are written as the same line; the first of them gets the sum. */
static int join_lines(struct folded_export *x, struct export_frames *frames, const struct zone_paths *paths,
                      struct folded_stacks *stacks, struct byte_buffer *line)
{
        struct folded_stacks lines = { .sums = NULL };
        int r = 0;

        intern_init(&lines.keys, sizeof(struct line_key), 0);
        for (uint32_t i = 1; r == 0 && i <= stacks->keys.n_items; i++) {
                struct line_key key = { .hash = 0 };
                uint32_t id;

                r = write_line(x, frames, paths, key_of(stacks, i), line);
                if (r < 0)
                        break;
                key.hash = content_hash(line->data, line->used_bytes);
                key.n_bytes = line->used_bytes;
                r = intern_add(&lines.keys, &key, sizeof(key), &id);
                if (r >= 0 && array_reserve(&lines.sums, &lines.capacity, id, sizeof(*lines.sums)) < 0)
                        r = -ENOMEM;
                if (r == 1)
                        lines.sums[id - 1] = i; /* where they are added up */
                if (r == 0) {
                        stacks->sums[lines.sums[id - 1] - 1] += stacks->sums[i - 1];
                        stacks->sums[i - 1] = 0;
                }
                r = r < 0 ? r : 0;
        }
        deinit_stacks(&lines);
        return r;
}

static int write_stacks(struct folded_export *x, struct folded_stacks *stacks, const struct zone_paths *paths,
                        FILE *out)
{
        struct byte_buffer line = { .data = NULL };
        struct export_frames frames;
        uint64_t n_cut;
        int r = export_frames_init(&frames, x->trace->dictionary);

        if (r == 0)
                r = join_lines(x, &frames, paths, stacks, &line);
        n_cut = frames.n_cut;
        for (uint32_t i = 1; r == 0 && i <= stacks->keys.n_items; i++) {
                if (stacks->sums[i - 1] == 0)
                        continue;
                r = write_line(x, &frames, paths, key_of(stacks, i), &line);
                if (r == 0 && (fwrite(line.data, 1, line.used_bytes, out) != line.used_bytes ||
                               fprintf(out, " %" PRIu64 "\n", stacks->sums[i - 1]) < 0))
                        r = -EIO;
        }
        x->totals->left_out[EXPORT_LEFT_OUT_LONG_STACKS] += n_cut;
        export_frames_deinit(&frames);
        byte_buffer_deinit(&line);
        return r;
}

/* Merges threads of the same name. */
static int join_threads(struct folded_export *x, const struct trace_walk *walk, struct folded_stacks *joined)
{
        struct process_names names;
        int r = process_names_init(&names, x->trace->dictionary);

        if (r == 0)
                process_names_learn(&names, walk);
        for (uint32_t i = 1; r == 0 && i <= x->stacks.keys.n_items; i++) {
                struct folded_key key = *(const struct folded_key *)intern_get(&x->stacks.keys, i, NULL);

                key.thread = process_names_thread_string(&names, key.thread);
                r = add(joined, &key, x->stacks.sums[i - 1]);
        }
        process_names_deinit(&names);
        return r;
}

static int finish(struct folded_export *x, const struct trace_walk *walk, FILE *out, struct error *err)
{
        struct folded_stacks joined = { .sums = NULL };
        int r;

        intern_init(&joined.keys, sizeof(struct folded_key), 0);
        r = x->options->waits && !export_event_is_time(x->trace->dictionary, x->options->event)
                    ? scale_samples(x, walk)
                    : 0;
        if (r == 0)
                r = join_threads(x, walk, &joined);
        if (r == 0)
                r = write_stacks(x, &joined, &walk->paths, out);
        if (r == 0 && fflush(out) != 0)
                r = -EIO;
        deinit_stacks(&joined);
        if (r < 0)
                return error_set(err, r, r == -EIO ? "writing failed" : "no memory for the call stacks");
        export_totals_leave_out(
                x->totals, walk, /* whatever is no sample */
                ~(1U << EXPORT_LEFT_OUT_SAMPLES | (unsigned)x->options->waits << EXPORT_LEFT_OUT_SWITCHES));
        return 0;
}

int export_folded(struct loaded_trace *trace, const struct export_options *options, FILE *out,
                  struct export_totals *ret_totals, struct error *err)
{
        struct folded_export x = { .trace = trace, .options = options, .totals = ret_totals };
        struct trace_sink sink = { .context = &x,
                                   .sample = take_sample,
                                   .wait = options->waits ? take_wait : NULL,
                                   .wants_paths = options->waits && options->zones_as_frames,
                                   .may_skip = !options->waits };
        struct trace_walk walk;
        int r = trace_walk_init(&walk, trace, options->filter, &sink);

        if (options->event != 0) {
                const struct trace_sample_event *row = trace_dictionary_row(
                        trace->dictionary, TRACE_TABLE_SAMPLE_EVENTS, options->event);

                x.by_weight = options->waits || row->mode == TRACE_SAMPLE_MODE_WITH_LEADER;
        }
        intern_init(&x.stacks.keys, sizeof(struct folded_key), 0);
        *ret_totals = (struct export_totals){ .n_samples = 0 };
        r = r < 0 ? error_set(err, r, "no memory to read the trace") : loaded_trace_walk(trace, &walk, err);
        if (r == 0 && options->waits && walk.n_switches == 0)
                r = error_set(err, -ENODATA, "waits: no context switches were recorded");
        if (r == 0)
                r = finish(&x, &walk, out, err);
        deinit_stacks(&x.stacks);
        trace_walk_deinit(&walk);
        return r;
}
