/* SPDX-License-Identifier: MIT */
#include "sampler/python/python_source.h"

#include "instrument/tick_clock.h"
#include "sampler/pace/pace.h"
#include "sampler/python/python_functions.h"
#include "sampler/switches/switch_ring.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* How many frames the record has. */
static uint32_t count_record_frames(const struct python_record *head, size_t n_bytes)
{
        size_t n_fit = (n_bytes - sizeof(*head)) / sizeof(struct python_raw_frame);
        uint32_t n_frames = head->n_frames < n_fit ? head->n_frames : (uint32_t)n_fit;

        return n_frames < PYTHON_FRAMES_MAX ? n_frames : PYTHON_FRAMES_MAX;
}

static void copy_sample(const struct python_record *head, const uint8_t *bytes, size_t n_bytes,
                        struct python_sample *ret_sample)
{
        uint32_t n_frames = count_record_frames(head, n_bytes);
        uint32_t n_left_out = n_frames == PYTHON_FRAMES_MAX ? head->n_left_out : 0;
        uint32_t n_in_order = n_left_out > 0 ? PYTHON_INNER_FRAMES : n_frames;

        bytes += sizeof(*head);
        ret_sample->flags = head->flags;
        ret_sample->n_frames = n_frames;
        ret_sample->n_left_out = n_left_out;
        ret_sample->n_left_out_entries = head->n_left_out_entries < n_left_out ? head->n_left_out_entries
                                                                               : n_left_out;
        memcpy(ret_sample->frames, bytes, n_in_order * sizeof(ret_sample->frames[0]));
        for (uint32_t i = n_in_order; i < n_frames; i++)
                memcpy(&ret_sample->frames[i],
                       bytes + python_frame_place(i + n_left_out) * sizeof(ret_sample->frames[0]),
                       sizeof(ret_sample->frames[0]));
}

static void hand_out_copies(const struct python_record *head, const uint8_t *bytes, size_t n_bytes,
                            const struct python_copies_sink *sink)
{
        struct python_copies copies = { .pid = head->pid, .n_frames = count_record_frames(head, n_bytes) };

        copies.frames = bytes + sizeof(*head);
        copies.pieces = copies.frames + copies.n_frames * sizeof(struct python_raw_frame);
        copies.n_bytes = (size_t)(bytes + n_bytes - copies.pieces);
        if (copies.n_bytes > 0)
                sink->take(sink->context, &copies);
}

static bool is_of_key(const struct python_record *head, const struct python_sample_key *key, uint32_t flag)
{
        return head->tid == key->tid && (head->flags & (PYTHON_FLAG_SWITCH | PYTHON_FLAG_CALL)) == flag;
}

int python_ring_find(struct switch_ring *ring, struct tick_clock *clock, const struct python_sample_key *key,
                     uint32_t flag, const struct python_copies_sink *sink, struct python_sample *ret_sample)
{
        uint64_t distance_ns = PACE_PYTHON_BEFORE_NS; /* of what was found */
        const uint8_t *bytes;
        size_t n_bytes;
        int r, found = 0;

        while ((r = switch_ring_peek(ring, &bytes, &n_bytes, NULL)) != 0) {
                struct python_record head;
                uint64_t at_ns;

                if (r < 0 || n_bytes < sizeof(head)) { /* no record in the ring can be found any more */
                        switch_ring_clear(ring);
                        return found ? found : -EBADMSG;
                }
                memcpy(&head, bytes, sizeof(head));
                at_ns = tick_clock_to_ns(clock, head.time_ns);
                if (at_ns > key->time_ns) {
                        if (!is_of_key(&head, key, flag) || at_ns - key->time_ns >= distance_ns ||
                            at_ns - key->time_ns > PACE_PYTHON_AFTER_NS)
                                break; /* of a later sample */
                        copy_sample(&head, bytes, n_bytes, ret_sample);
                        hand_out_copies(&head, bytes, n_bytes, sink);
                        switch_ring_consume(ring, n_bytes);
                        return 1;
                }
                if (is_of_key(&head, key, flag) && key->time_ns - at_ns < distance_ns) {
                        copy_sample(&head, bytes, n_bytes, ret_sample);
                        distance_ns = key->time_ns - at_ns;
                        found = 1;
                }
                hand_out_copies(&head, bytes, n_bytes, sink);
                switch_ring_consume(ring, n_bytes);
        }
        return found;
}
