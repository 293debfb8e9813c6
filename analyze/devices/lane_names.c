/* SPDX-License-Identifier: MIT */
#include "analyze/devices/lane_names.h"

#include "analyze/devices/device_lanes.h"
#include "base/byte_buffer.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "format/trace_spec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char divider[] = " / ";

int lane_names_init(struct lane_names *l, const struct trace_dictionary *dictionary)
{
        uint32_t n = trace_dictionary_count(dictionary, TRACE_TABLE_TRACKS);

        *l = (struct lane_names){ .dictionary = dictionary };
        intern_init(&l->keys, sizeof(struct device_lane_key), 0);
        for (uint32_t id = 1; id <= n; id++) {
                const struct trace_track *row = trace_dictionary_row(dictionary, TRACE_TABLE_TRACKS, id);
                const struct device_lane_key key = { .device = row->device, .lane = row->number };
                uint32_t lane;
                int r = intern_add_row(&l->keys, &key, &l->tracks, &l->capacity, sizeof(*l->tracks), &lane);

                if (r < 0)
                        return -ENOMEM;
                if (r == 1)
                        l->tracks[lane - 1] = id;
        }
        return 0;
}

void lane_names_deinit(struct lane_names *l)
{
        intern_deinit(&l->keys);
        free(l->tracks);
        *l = (struct lane_names){ .tracks = NULL };
}

uint32_t lane_names_track(const struct lane_names *l, uint32_t device, uint32_t lane)
{
        const struct device_lane_key key = { .device = device, .lane = lane };
        uint32_t id = l->tracks ? intern_find(&l->keys, &key, sizeof(key)) : 0;

        return id != 0 ? l->tracks[id - 1] : 0;
}

static const struct trace_track *row_of(const struct lane_names *l, uint32_t track)
{
        return trace_dictionary_row(l->dictionary, TRACE_TABLE_TRACKS, track);
}

static void put_words(struct byte_buffer *b, const char *words)
{
        byte_buffer_add(b, words, strlen(words));
}

/* Does not cut within a UTF-8 character. */
static void put_text(struct byte_buffer *b, struct text_view text)
{
        size_t n = text.n_bytes;

        if (n > LANE_NAMES_PART_MAX) {
                n = LANE_NAMES_PART_MAX;
                while (n > 0 && ((unsigned char)text.bytes[n] & 0xc0) == 0x80)
                        n--;
        }
        byte_buffer_add(b, text.bytes, n);
}

static void put_number(struct byte_buffer *b, uint32_t lane)
{
        char words[24];

        (void)snprintf(words, sizeof(words), "lane %" PRIu32, lane);
        put_words(b, words);
}

static void put_track(const struct lane_names *l, struct byte_buffer *b, uint32_t track)
{
        const struct trace_track *row = row_of(l, track);
        struct text_view name = trace_dictionary_text(l->dictionary, row->name);

        if (name.n_bytes != 0)
                put_text(b, name);
        else
                put_number(b, row->number);
}

static void put_sublane(struct byte_buffer *b, uint32_t sublane)
{
        char words[24];

        if (sublane == 0)
                return;
        (void)snprintf(words, sizeof(words), " (%" PRIu32 ")", sublane + 1);
        put_words(b, words);
}

void lane_names_put_own(const struct lane_names *l, struct byte_buffer *b, uint32_t device, uint32_t lane,
                        uint32_t sublane)
{
        uint32_t track = lane_names_track(l, device, lane);

        if (track != 0)
                put_track(l, b, track);
        else
                put_number(b, lane);
        put_sublane(b, sublane);
}

/* The rows down to a track.  A parent is an earlier row, so that each way up ends. */
static size_t find_path(const struct lane_names *l, uint32_t track, uint32_t *path)
{
        uint32_t up[LANE_NAMES_DEPTH_MAX];
        size_t n = 0;

        for (; track != 0 && n < LANE_NAMES_DEPTH_MAX; track = row_of(l, track)->parent)
                up[n++] = track;
        for (size_t i = 0; i < n; i++)
                path[i] = up[n - 1 - i];
        return n;
}

void lane_names_put_path(const struct lane_names *l, struct byte_buffer *b, uint32_t device, uint32_t lane)
{
        uint32_t path[LANE_NAMES_DEPTH_MAX];
        size_t n = find_path(l, lane_names_track(l, device, lane), path);

        if (n == 0)
                put_number(b, lane);
        for (size_t i = 0; i < n; i++) {
                if (i != 0)
                        put_words(b, divider);
                put_track(l, b, path[i]);
        }
}

static void put_device(const struct lane_names *l, struct byte_buffer *b, uint32_t device)
{
        const struct trace_device *row = trace_dictionary_row(l->dictionary, TRACE_TABLE_DEVICES, device);
        struct text_view name = trace_dictionary_text(l->dictionary, row->name);

        if (name.n_bytes != 0)
                put_text(b, name);
        else
                put_words(b, "device");
}

void lane_names_put_whole(const struct lane_names *l, struct byte_buffer *b, uint32_t device, uint32_t lane,
                          uint32_t sublane)
{
        put_device(l, b, device);
        put_words(b, lane_names_track(l, device, lane) != 0 ? divider : " ");
        lane_names_put_path(l, b, device, lane);
        put_sublane(b, sublane);
}

bool lane_names_put_part(const struct lane_names *l, struct byte_buffer *b, uint32_t device, uint32_t lane,
                         size_t index)
{
        uint32_t path[LANE_NAMES_DEPTH_MAX];
        size_t n = find_path(l, lane_names_track(l, device, lane), path);

        if (index == 0)
                put_device(l, b, device);
        else if (index <= n)
                put_track(l, b, path[index - 1]);
        else if (n == 0 && index == 1)
                put_number(b, lane);
        else
                return false;
        return true;
}
