/* SPDX-License-Identifier: MIT */
#include "sampler/relay/relay_server.h"

#include "base/array.h"
#include "base/io.h"
#include "format/trace_spec.h"
#include "sampler/pace/pace.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void relay_shelf_init(struct relay_shelf *s, int file_fd, uint64_t bytes_max, bool drops_newest)
{
        *s = (struct relay_shelf){ .file_fd = file_fd, .bytes_max = bytes_max, .drops_newest = drops_newest };
}

void relay_shelf_deinit(struct relay_shelf *s)
{
        for (size_t i = 0; i < s->n_chunks; i++)
                free(s->chunks[i].bytes);
        free(s->chunks);
        *s = (struct relay_shelf){ .file_fd = -1 };
}

static bool is_bounded(const struct shelf_chunk *c)
{
        return c->kind == TRACE_CHUNK_EVENTS || c->kind == TRACE_CHUNK_STATES;
}

static void shelf_free_chunk(struct relay_shelf *s, struct shelf_chunk *c, enum shelf_state state)
{
        if (c->bytes)
                s->used_bytes -= c->n_bytes;
        free(c->bytes);
        c->bytes = NULL;
        if (state == SHELF_DROPPED && c->state == SHELF_WAITS) {
                s->n_dropped += c->n_items;
                c->state = SHELF_DROPPED;
        }
}

/* Frees chunks that a taker has already: they were kept only for a taker that begins anew. */
static void free_taken(struct relay_shelf *s)
{
        for (size_t i = 0; i < s->n_chunks && s->used_bytes > s->bytes_max; i++)
                if (is_bounded(&s->chunks[i]) && s->chunks[i].bytes && s->chunks[i].state == SHELF_TAKEN)
                        shelf_free_chunk(s, &s->chunks[i], SHELF_TAKEN);
}

/*
 * Drops the oldest stretch of events that is not being sent, up to the next STATES chunk.  Returns false if
 * there is none.
 */
static bool drop_stretch(struct relay_shelf *s, uint64_t pinned)
{
        bool some = false;

        for (size_t i = 0; i < s->n_chunks; i++) {
                struct shelf_chunk *c = &s->chunks[i];

                if (!is_bounded(c) || !c->bytes || c->at < pinned)
                        continue;
                if (some && c->kind == TRACE_CHUNK_STATES)
                        return true;
                some = some || c->kind == TRACE_CHUNK_EVENTS;
                shelf_free_chunk(s, c, SHELF_DROPPED);
        }
        s->skips = s->skips || some; /* no STATES chunk came yet: the next events are dropped */
        return some;
}

static void make_room(struct relay_shelf *s, uint64_t pinned)
{
        if (s->used_bytes > s->bytes_max)
                free_taken(s);
        while (s->used_bytes > s->bytes_max && drop_stretch(s, pinned))
                ;
}

/* Two chunks may become one only if no taker, connected or resuming, can tell them apart. */
static bool may_merge(const struct relay_shelf *s, const struct shelf_chunk *a, const struct shelf_chunk *b)
{
        bool is_before = b->at < s->told_from;

        return a->state == b->state && b->n_items < UINT32_MAX - a->n_items &&
               (is_before || a->at >= s->told_to);
}

/* Merges neighbouring chunks of which only the number of events is left. */
static void merge(struct relay_shelf *s)
{
        size_t n = 0, last = SIZE_MAX;

        for (size_t i = 0; i < s->n_chunks; i++) {
                struct shelf_chunk *c = &s->chunks[i];
                bool is_gone = is_bounded(c) && !shelf_chunk_is_there(c);

                if (is_gone && last != SIZE_MAX && may_merge(s, &s->chunks[last], c)) {
                        s->chunks[last].n_items += c->n_items;
                        s->chunks[last].last_ns = c->last_ns;
                        continue;
                }
                if (is_bounded(c))
                        last = is_gone ? n : SIZE_MAX;
                s->chunks[n++] = *c;
        }
        s->n_chunks = n;
}

/* Writes a chunk to the file.  Returns true if it is there. */
static bool write_to_file(struct relay_shelf *s, const uint8_t *bytes, uint32_t n_bytes)
{
        if (s->file_fd < 0 || s->file_error != 0)
                return false;
        s->file_error = io_write_all(s->file_fd, bytes, n_bytes, NULL);
        if (s->file_error == 0)
                return true;
        (void)!ftruncate(s->file_fd, (off_t)s->end);
        return false;
}

/* True if a new chunk is dropped at once: its events lack a STATES chunk, or there is no room. */
static bool is_unwanted(struct relay_shelf *s, const struct trace_chunk_header *header)
{
        bool fits = s->used_bytes <= s->bytes_max;

        if (!fits)
                free_taken(s);
        fits = s->used_bytes <= s->bytes_max;
        if (header->kind == TRACE_CHUNK_STATES) {
                s->skips = s->skips && s->drops_newest && !fits;
                return s->skips;
        }
        if (header->kind != TRACE_CHUNK_EVENTS)
                return false;
        s->skips = s->skips || (s->drops_newest && !fits);
        return s->skips;
}

int relay_shelf_add(struct relay_shelf *s, const struct trace_chunk_header *header, uint8_t *bytes,
                    uint32_t n_bytes, uint64_t pinned)
{
        struct shelf_chunk *c;

        if (s->n_chunks % PACE_RELAY_MERGE_CHUNKS == PACE_RELAY_MERGE_CHUNKS - 1)
                merge(s);
        if (array_reserve(&s->chunks, &s->capacity, s->n_chunks + 1, sizeof(*s->chunks)) < 0) {
                free(bytes);
                return -ENOMEM;
        }
        c = &s->chunks[s->n_chunks];
        *c = (struct shelf_chunk){ .at = s->end,
                                   .bytes = bytes,
                                   .n_bytes = n_bytes,
                                   .first_ns = header->first_ns,
                                   .last_ns = header->last_ns,
                                   .n_items = header->kind == TRACE_CHUNK_EVENTS ? header->n_items : 0,
                                   .kind = header->kind };
        s->is_complete = s->is_complete || header->kind == TRACE_CHUNK_INDEX;
        s->n_chunks++;
        c->is_in_file = write_to_file(s, bytes, n_bytes);
        if (c->is_in_file) {
                free(bytes);
                c->bytes = NULL;
        }
        s->end += n_bytes;
        if (!c->bytes || !is_bounded(c))
                return 0;
        s->used_bytes += n_bytes;
        if (is_unwanted(s, header))
                shelf_free_chunk(s, c, SHELF_DROPPED);
        else
                make_room(s, pinned);
        return 0;
}

void relay_shelf_take(struct relay_shelf *s, uint64_t position)
{
        size_t states = SIZE_MAX;

        for (size_t i = 0; i < s->n_chunks && s->chunks[i].at + s->chunks[i].n_bytes <= position; i++) {
                if (s->chunks[i].state == SHELF_WAITS)
                        s->chunks[i].state = SHELF_TAKEN;
                if (s->chunks[i].kind == TRACE_CHUNK_STATES && s->chunks[i].bytes)
                        states = i;
        }
        for (size_t i = 0; states != SIZE_MAX && i < states; i++)
                if (is_bounded(&s->chunks[i]) && s->chunks[i].bytes)
                        shelf_free_chunk(s, &s->chunks[i], SHELF_TAKEN);
}

size_t relay_shelf_find(const struct relay_shelf *s, uint64_t position)
{
        size_t low = 0, high = s->n_chunks;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (s->chunks[middle].at < position)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

uint64_t relay_shelf_count_waiting(const struct relay_shelf *s, uint64_t position)
{
        uint64_t n = 0;

        for (size_t i = 0; i < s->n_chunks; i++)
                if (s->chunks[i].at >= position && s->chunks[i].state == SHELF_WAITS)
                        n += s->chunks[i].n_items;
        return n;
}
