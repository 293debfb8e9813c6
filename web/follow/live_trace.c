/* SPDX-License-Identifier: MIT */
#include "web/follow/live_trace.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "format/trace_reader.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STEP_NS (50 * NS_PER_MS)

/*
 * A chunk may begin a few milliseconds before the chunk before it ended.  Where none has come for this time,
 * the recorder has written all that it has.
 */
#define SHARED_LATE_NS (100 * NS_PER_MS)

int live_trace_open(struct live_trace *ret, int fd, int index_fd, int names_fd, const char *name,
                    struct error *err)
{
        const struct trace_follow_options options = { .path = name, .fd = fd };
        int r;

        *ret = (struct live_trace){ .index_fd = index_fd,
                                    .trace = { .ending_words = "" },
                                    .frames = { .names = { .child_fd = -1 }, .names_fd = -1 } };
        intern_init(&ret->trace.process_names, sizeof(struct process_name), 0);
        r = trace_follow_open(&options, &ret->follow, err);
        if (r < 0)
                return r;
        ret->trace.dictionary = trace_follow_dictionary(ret->follow);
        ret->trace.version = trace_follow_version(ret->follow);
        r = live_frames_init(&ret->frames, ret->trace.dictionary, names_fd);
        return r < 0 ? error_set(err, r, "no memory for the names of functions") : 0;
}

void live_trace_close(struct live_trace *l)
{
        if (l->has_begun) {
                timeline_builder_deinit(&l->builder);
                timeline_index_deinit(&l->index);
        }
        live_frames_deinit(&l->frames);
        io_close(&l->index_fd);
        free(l->titled);
        free(l->trace.thread_names);
        intern_deinit(&l->trace.process_names);
        trace_follow_close(l->follow);
        *l = (struct live_trace){ .index_fd = -1 };
}

/* ---- names --------------------------------------------------------------------------------------------- */

static int reserve(struct live_trace *l, uint32_t n_threads)
{
        uint32_t n_before = l->trace.n_threads;

        if (n_threads <= n_before)
                return 0;
        if (array_reserve(&l->trace.thread_names, &l->threads_capacity, n_threads, sizeof(uint32_t)) < 0 ||
            array_reserve(&l->titled, &l->titled_capacity, n_threads, sizeof(uint32_t)) < 0)
                return -ENOMEM;
        memset(l->trace.thread_names + n_before, 0, (n_threads - n_before) * sizeof(uint32_t));
        memset(l->titled + n_before, 0, (n_threads - n_before) * sizeof(uint32_t));
        l->trace.n_threads = n_threads;
        return 0;
}

/* A process is first named after its first thread that has a name. */
static int name_process(struct live_trace *l, uint32_t process, uint32_t name)
{
        const struct process_name item = { .process = process, .name = name };
        uint32_t id;
        int r = intern_add(&l->trace.process_names, &item, sizeof(item), &id);

        return r < 0 ? r : 0;
}

static int name_thread(struct live_trace *l, uint32_t thread, uint32_t name)
{
        const struct trace_dictionary *d = l->trace.dictionary;
        const struct trace_thread *row = trace_dictionary_row(d, TRACE_TABLE_THREADS, thread);
        uint32_t track = l->builder.threads[thread - 1].track;

        if (name == 0 || (name == l->titled[thread - 1] && name == l->trace.thread_names[thread - 1]))
                return 0;
        if (l->trace.thread_names[thread - 1] != name && name_process(l, row->process, name) < 0)
                return -ENOMEM;
        l->trace.thread_names[thread - 1] = name;
        if (track == 0)
                return 0;
        l->titled[thread - 1] = name;
        return timeline_index_set_title(&l->index, track - 1, trace_dictionary_text(d, name));
}

static int read_names(struct live_trace *l)
{
        const struct trace_walk *walk = &l->builder.walk;

        if (reserve(l, l->builder.n_threads) < 0)
                return -ENOMEM;
        for (uint32_t i = 0; i < walk->n_threads && i < l->trace.n_threads; i++) {
                const struct walked_thread *thread = &walk->threads[i];

                if (name_thread(l, thread->id, thread->timeline.name) < 0)
                        return -ENOMEM;
        }
        return 0;
}

/* ---- chunks -------------------------------------------------------------------------------------------- */

/* Begins at the first events: the tables before them say what is sampled, and when the recording began. */
static int begin(struct live_trace *l, const struct trace_item *item, struct error *err)
{
        uint64_t start_ns = loaded_trace_meta_number(&l->trace, "start_raw_ns");
        int fd = l->index_fd;

        if (start_ns == 0 || item->header.first_ns < start_ns)
                start_ns = item->header.first_ns;
        l->trace.start_ns = l->trace.end_ns = start_ns;
        l->index_fd = -1;
        l->has_begun = true;
        if (timeline_index_init(&l->index, fd, start_ns, 0) < 0)
                return error_set(err, -ENOMEM, "no memory for the timeline");
        if (timeline_builder_init(&l->builder, &l->index, l->trace.dictionary, err) < 0)
                return -ENOMEM;
        l->builder.ghosts.names = live_frames_ghost_names(&l->frames);
        return 0;
}

static int take(struct live_trace *l, const struct trace_item *item, struct error *err)
{
        int r;

        if (item->header.kind != TRACE_CHUNK_EVENTS)
                return 0;
        r = l->has_begun ? 0 : begin(l, item, err);
        if (r == 0)
                r = timeline_builder_add(&l->builder, item, err);
        if (r < 0)
                return r;
        if (l->trace.end_ns < item->header.last_ns)
                l->trace.end_ns = item->header.last_ns;
        l->came_ns = clock_raw_ns();
        return 0;
}

static uint64_t later(uint64_t a, uint64_t b)
{
        return a > b ? a : b;
}

/* Takes what is known by now: by time, so that a quiet program is shown as soon as a busy one. */
static int grow(struct live_trace *l, struct error *err)
{
        uint64_t quiet_ns = clock_raw_ns() - l->came_ns, end_ns = l->trace.end_ns + quiet_ns;
        struct timeline_known known = l->builder.known;

        known.shared_ns = later(known.shared_ns, end_ns > SHARED_LATE_NS ? end_ns - SHARED_LATE_NS : 0);
        if (known.shared_ns > l->trace.end_ns + 1)
                known.shared_ns = l->trace.end_ns + 1;
        known.devices_ns = later(known.devices_ns,
                                 end_ns > TIMELINE_DEVICES_LATE_NS ? end_ns - TIMELINE_DEVICES_LATE_NS : 0);
        return timeline_builder_grow(&l->builder, &known, err);
}

static int judge(const struct live_trace *l, struct error *err)
{
        const char *words;

        switch (trace_follow_state(l->follow, &words)) {
        case TRACE_FOLLOW_PAUSED:
                return 1;
        case TRACE_FOLLOW_TRUNCATED:
        case TRACE_FOLLOW_REPLACED:
                return error_set(err, -ESTALE, "%s", words);
        case TRACE_FOLLOW_WHOLE:
        case TRACE_FOLLOW_CUT_OFF:
        case TRACE_FOLLOW_DAMAGED:
                break;
        }
        return 0;
}

int live_trace_step(struct live_trace *l, struct error *err)
{
        uint64_t until_ns = clock_raw_ns() + STEP_NS;
        struct trace_item item;
        int r;

        while ((r = trace_follow_next(l->follow, &item, err)) == 1) {
                r = take(l, &item, err);
                if (r == -EBADMSG)
                        return 0; /* undecodable events end the trace, as a bad checksum does */
                if (r < 0)
                        return r;
                if (clock_raw_ns() >= until_ns) {
                        r = 1;
                        break;
                }
        }
        if (r < 0)
                return r;
        l->is_behind = r == 1;
        if (live_frames_step(&l->frames) < 0)
                return error_set(err, -ENOMEM, "no memory for the names of functions");
        if (l->has_begun) {
                int failed = grow(l, err);

                if (failed == 0)
                        failed = timeline_builder_add_open_lanes(&l->builder, err);
                if (failed < 0)
                        return failed;
        }
        if (l->has_begun && read_names(l) < 0)
                return error_set(err, -ENOMEM, "no memory for the names of threads");
        return r == 1 ? 1 : judge(l, err);
}
