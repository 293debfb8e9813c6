/* SPDX-License-Identifier: MIT */
#include "analyze/walk/loaded_trace.h"

#include "analyze/walk/trace_filter.h"
#include "analyze/walk/trace_walk.h"
#include "format/read_ahead.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <inttypes.h>

static bool is_done(const struct read_ahead *ahead, const struct trace_walk *walk,
                    const struct trace_reader_range *range)
{
        bool is_asked = !walk->filter && walk->sink.stop_at_ns != 0;

        return range && read_ahead_position(ahead) >= range->end_bytes &&
               read_ahead_position(ahead) > range->states_at_bytes && (is_asked || trace_walk_is_done(walk));
}

/* Events of the chunk that cannot be decoded end the trace, as a bad checksum would. */
static int walk_items(struct loaded_trace *t, struct read_ahead *ahead, struct trace_walk *walk,
                      const struct trace_reader_range *range, struct error *err)
{
        struct read_ahead_item next;
        int r = 0;

        while (!is_done(ahead, walk, range) && (r = read_ahead_next(ahead, &next, err)) == 1) {
                bool is_begin = range && next.item.header.kind == TRACE_CHUNK_STATES &&
                                next.item.file_offset_bytes == range->states_at_bytes;

                if (next.item.header.kind != TRACE_CHUNK_EVENTS && !is_begin)
                        continue;
                t->damage = ERROR_NONE;
                r = trace_walk_batch(walk, next.events, &t->damage);
                if (r == -EBADMSG)
                        return error_prefix(&t->damage, r, "damaged in the chunk at byte %" PRIu64,
                                            next.item.file_offset_bytes);
                if (r < 0)
                        return error_set(err, r, "%s", t->damage.text);
        }
        return r;
}

static int take_walk_name(void *context, uint32_t thread, uint32_t name)
{
        return trace_walk_name(context, thread, name);
}

/* Seeks to where the range begins.  The names from before it come from all chunks that are left out. */
static int seek_range(struct loaded_trace *t, struct trace_walk *walk, struct trace_reader_range *range,
                      struct error *err)
{
        int r = trace_reader_seek_range(t->reader, range, err);

        if (r < 0 || range->states_at_bytes == 0)
                return r;
        r = loaded_trace_each_name(t, range->states_at_bytes, take_walk_name, walk, err);
        return r < 0 ? r : trace_reader_seek(t->reader, range->states_at_bytes, err);
}

static int walk_all(struct loaded_trace *t, struct trace_walk *walk, const struct trace_reader_range *range,
                    struct error *err)
{
        struct read_ahead_options options = { .n_helpers = read_ahead_count_helpers(),

                                              .until_bytes = range ? range->end_bytes : 0 };
        struct read_ahead *ahead;
        int r = read_ahead_open(t->reader, &options, &ahead, err), closed;

        if (r < 0)
                return r;
        r = walk_items(t, ahead, walk, range, err);
        closed = read_ahead_close(ahead, r < 0 ? NULL : err);
        if (t->damage.code == -EBADMSG && r == -EBADMSG)
                return 0;
        if (r < 0 || closed < 0)
                return r < 0 ? r : closed;
        return trace_reader_skip_rest(t->reader, err);
}

/* The range of time that is read; returns whether it is less than all. */
static bool find_range(const struct trace_walk *walk, struct trace_reader_range *range)
{
        const struct trace_filter *f = walk->filter;

        range->from_ns = f ? 0 : walk->sink.skip_to_ns;
        range->to_ns = f || walk->sink.stop_at_ns == 0 ? UINT64_MAX : walk->sink.stop_at_ns;
        if (f && walk->sink.may_skip) {
                range->from_ns = f->from_ns;
                range->to_ns = f->to_ns;
        }
        return range->from_ns > 0 || range->to_ns < UINT64_MAX;
}

/* Whether zones of devices may pass; where the filter is about samples, they have none. */
static bool may_be_on_devices(const struct trace_walk *walk)
{
        return walk->sink.devices_follow && walk->filter && !walk->filter->stacks &&
               walk->filter->event == 0 && trace_dictionary_count(walk->dictionary, TRACE_TABLE_DEVICES) != 0;
}

int loaded_trace_walk(struct loaded_trace *t, struct trace_walk *walk, struct error *err)
{
        struct trace_reader_range range = { .from_ns = 0 };
        bool is_part = find_range(walk, &range);
        uint64_t end_ns = loaded_trace_meta_number(t, "end_raw_ns");
        int r;

        t->damage = ERROR_NONE;
        if (is_part) {
                end_ns = t->end_ns; /* the last events may not be read, so use the known end */
                r = seek_range(t, walk, &range, err);
        } else {
                r = trace_reader_rewind(t->reader, err);
        }
        if (r == 0)
                r = walk_all(t, walk, is_part ? &range : NULL, err);
        if (r < 0)
                return r;
        t->n_unknown_events = walk->n_unknown_ops;
        t->ending = trace_reader_ending(t->reader, &t->ending_words, NULL);
        if (t->damage.code != 0) {
                t->ending = TRACE_ENDING_DAMAGED;
                t->ending_words = t->damage.text;
        }
        r = trace_walk_finish(walk, end_ns, err);
        return r == 0 && !may_be_on_devices(walk) ? loaded_trace_check_found(t, walk, err) : r;
}

int loaded_trace_check_found(struct loaded_trace *t, const struct trace_walk *walk, struct error *err)
{
        return trace_walk_found(walk) ? 0 : filter_miss_explain(t, walk->filter, err);
}
