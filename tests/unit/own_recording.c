/* SPDX-License-Identifier: MIT */
#include "tests/unit/own_recording.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/error.h"
#include "instrument/client_abi.h"
#include "instrument/region_finder.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct own_recording recorded;

void own_recording_open(uint32_t pid, uint32_t families)
{
        struct error err = ERROR_NONE;
        int fd = -1;

        recorded = (struct own_recording){ .region = NULL };
        ck_assert_msg(region_finder_open(pid, &fd, &err) == 0, "%s", err.text);
        ck_assert_msg(client_region_open(fd, &recorded.region, &err) == 0, "%s", err.text);
        ck_assert_msg(client_region_enable(recorded.region, families, &err) == 0, "%s", err.text);
}

/* A copy of the bytes that an event borrows from the stream; NULL stays NULL. */
static void *copy_of(const void *data, size_t n)
{
        void *copy = data ? calloc(1, n + 1) : NULL;

        if (!data)
                return NULL;
        if (!copy)
                ck_abort_msg("no memory");
        memcpy(copy, data, n);
        return copy;
}

/* No assertion of each event, which is a write to a pipe: minutes on an emulated machine. */

static void add_event(uint32_t slot, const struct client_event *event)
{
        struct own_event *e;

        if (array_reserve(&recorded.events, &recorded.events_capacity, recorded.n_events + 1,
                          sizeof(*recorded.events)) != 0)
                ck_abort_msg("no memory");
        e = &recorded.events[recorded.n_events++];
        *e = (struct own_event){ .event = *event, .slot = slot };
        e->event.text = copy_of(event->text, event->text_bytes);
        e->event.prefix.frames = copy_of(event->prefix.frames, event->prefix.n_frames * sizeof(uint64_t));
        e->event.prefix.stack = copy_of(event->prefix.stack, event->prefix.stack_bytes);
}

void own_recording_drain(void)
{
        uint32_t n_slots = client_region_count_slots(recorded.region);
        struct byte_buffer spare = { .data = NULL };
        struct error err = ERROR_NONE;

        client_region_beat(recorded.region,
                           clock_raw_ns() + NS_PER_S); /* what is free already gives its memory back */
        if (n_slots > recorded.n_streams) {
                recorded.streams = realloc(recorded.streams, n_slots * sizeof(*recorded.streams));
                ck_assert_ptr_nonnull(recorded.streams);
                for (; recorded.n_streams < n_slots; recorded.n_streams++)
                        client_stream_init(&recorded.streams[recorded.n_streams]);
        }
        for (uint32_t i = 0; i < n_slots; i++) {
                struct client_stream *s = &recorded.streams[i];
                struct client_event event;

                ck_assert_int_eq(client_stream_move(s, &spare), 0);
                ck_assert_msg(client_region_drain(recorded.region, i, SIZE_MAX, &s->pending, &err) >= 0, "%s",
                              err.text);
                while (client_stream_peek(s, &event) == 1) {
                        add_event(i, &event);
                        client_stream_consume(s);
                }
                ck_assert_uint_eq(s->n_garbage_bytes, 0);
        }
        byte_buffer_deinit(&spare);
}

void own_recording_close(void)
{
        for (size_t i = 0; i < recorded.n_events; i++) {
                free((void *)(uintptr_t)recorded.events[i].event.text);
                free((void *)(uintptr_t)recorded.events[i].event.prefix.frames);
                free((void *)(uintptr_t)recorded.events[i].event.prefix.stack);
        }
        for (uint32_t i = 0; i < recorded.n_streams; i++)
                client_stream_deinit(&recorded.streams[i]);
        free(recorded.events);
        free(recorded.streams);
        client_region_close(recorded.region);
        recorded = (struct own_recording){ .region = NULL };
}

size_t own_recording_count(uint32_t kind)
{
        size_t n = 0;

        for (size_t i = 0; i < recorded.n_events; i++)
                n += recorded.events[i].event.kind == kind;
        return n;
}

const struct client_event *own_recording_get(uint32_t kind, size_t n)
{
        for (size_t i = 0; i < recorded.n_events; i++)
                if (recorded.events[i].event.kind == kind && n-- == 0)
                        return &recorded.events[i].event;
        ck_abort_msg("there is no such event of kind %u", kind);
        return NULL;
}

int own_recording_is_named(uint32_t location, const char *name)
{
        struct client_location l;
        struct error err = ERROR_NONE;

        ck_assert_msg(client_region_location(recorded.region, location, &l, &err) == 0, "%s", err.text);
        return l.name_bytes == strlen(name) && memcmp(l.name, name, l.name_bytes) == 0;
}

size_t own_recording_check_nesting(void)
{
        size_t *depth = calloc(recorded.n_streams ? recorded.n_streams : 1, sizeof(*depth));
        size_t open = 0;

        ck_assert_ptr_nonnull(depth);
        for (size_t i = 0; i < recorded.n_events; i++) {
                size_t *d = &depth[recorded.events[i].slot];

                switch (recorded.events[i].event.kind) {
                case CLIENT_ABI_EVENT_THREAD:
                        *d = 0;
                        break;
                case CLIENT_ABI_EVENT_ZONE_BEGIN:
                        (*d)++;
                        break;
                case CLIENT_ABI_EVENT_ZONE_END:
                        ck_assert_uint_gt(*d, 0);
                        (*d)--;
                        break;
                default:
                        break;
                }
        }
        for (uint32_t i = 0; i < recorded.n_streams; i++)
                open += depth[i];
        free(depth);
        return open;
}

struct client_drops own_recording_drops(void)
{
        struct client_drops all = { .n_zones = 0 };

        for (uint32_t i = 0; i < client_region_count_slots(recorded.region); i++) {
                struct client_drops d = client_region_drops(recorded.region, i);

                all.n_zones += d.n_zones;
                all.n_deep_zones += d.n_deep_zones;
                all.n_messages += d.n_messages;
                all.n_plots += d.n_plots;
                all.n_frames += d.n_frames;
                all.n_memory += d.n_memory;
                all.n_locks += d.n_locks;
                all.n_devices += d.n_devices;
                all.n_other += d.n_other;
        }
        return all;
}

void own_recording_begin_with_ring(char **argv, const char *ring_bytes)
{
        if (getenv("HYPROF_RING"))
                return;
        (void)setenv("HYPROF_RING", ring_bytes, 1);
        (void)execv("/proc/self/exe", argv);
        exit(EXIT_FAILURE);
}
