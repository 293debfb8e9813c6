/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/zone_events.c: a handle is good for its own zone alone, and what is said
 * of a zone stays with it
 */
#include "tests/unit/own_recording.h"

#include "base/byte_buffer.h"
#include "instrument/client/thread_ring.h"
#include "instrument/client_abi.h"
#include "tests/unit/unit_test.h"

#include <hyprof/hyprof.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define N_BEGINS 5000

static struct hyprof_location here = HYPROF_NAME("here");

static void record(void)
{
        own_recording_open((uint32_t)getpid(), CLIENT_ABI_FAMILY_ZONES);
}

static size_t count_ends(void)
{
        own_recording_drain();
        return own_recording_count(CLIENT_ABI_EVENT_ZONE_END);
}

START_TEST(test_handles)
{
        for (uint32_t session = 0; session <= UINT16_MAX; session++) {
                uint32_t none = zone_handle_of_track(session, 0);

                ck_assert_uint_ne(none, 0);
                ck_assert(zone_handle_is_of_session(none + 1, session));
                ck_assert(!zone_handle_is_of_session(none + 1, session + 1));
        }
        for (uint32_t track = 0; track <= ZONE_HANDLE_TRACK_MAX; track++) {
                uint32_t top = zone_handle_of_track(7, track) + 3;

                ck_assert_uint_eq(zone_handle_find(top + 1, top), 0);
                ck_assert_uint_eq(zone_handle_find(top, top), 3);
                ck_assert_uint_eq(zone_handle_find(top - 2, top), 1);
                ck_assert_uint_eq(zone_handle_find(top - 3, top), 0);
                ck_assert_uint_eq(zone_handle_find(zone_handle_of_track(7, track + 1) + 3, top), 0);
                ck_assert_uint_eq(zone_handle_find(zone_handle_of_track(8, track) + 3, top), 0);
                ck_assert_uint_eq(zone_handle_find(0, top), 0);
        }
}
END_TEST

START_TEST(test_outer_ends_the_inner)
{
        hyprof_zone outer = hyprof_zone_begin(&here), middle = hyprof_zone_begin(&here),
                    inner = hyprof_zone_begin(&here);

        hyprof_zone_end(middle);
        ck_assert_uint_eq(count_ends(), 2);
        hyprof_zone_end(inner);
        hyprof_zone_end(middle);
        ck_assert_uint_eq(count_ends(), 2);
        hyprof_zone_end(outer);
        hyprof_zone_end(outer);
        ck_assert_uint_eq(count_ends(), 3);
        ck_assert_uint_eq(own_recording_check_nesting(), 0);
        ck_assert_uint_eq(own_recording_get(CLIENT_ABI_EVENT_ZONE_END, 0)->ticks,
                          own_recording_get(CLIENT_ABI_EVENT_ZONE_END, 1)->ticks);
}
END_TEST

START_TEST(test_nothing_is_no_zone)
{
        ck_assert_uint_eq(hyprof_zone_begin(NULL), 0);
        ck_assert_uint_eq(hyprof_zone_begin_callstack(NULL, 3), 0);
        hyprof_emit_zone_end(0);
        hyprof_emit_zone_text(0, "x", 1);
        hyprof_emit_zone_name(0, "x", 1);
        hyprof_emit_zone_value(0, 1);
        hyprof_emit_zone_color(0, 1);
        own_recording_drain();
        ck_assert_uint_eq(own_recording_check_nesting(), 0);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_BEGIN), 0);
        ck_assert_uint_eq(own_recording_drops().n_zones + own_recording_drops().n_other, 0);
}
END_TEST

/* The same depth, in the same session, and yet another zone. */
static void *use_of_another(void *of_another)
{
        hyprof_zone own = hyprof_zone_begin(&here);

        hyprof_zone_value(*(const hyprof_zone *)of_another, 1);
        hyprof_zone_end(*(const hyprof_zone *)of_another);
        hyprof_zone_value(own, 2);
        hyprof_zone_end(own);
        return NULL;
}

START_TEST(test_handle_of_another_thread)
{
        hyprof_zone zone;
        pthread_t thread;

        zone = hyprof_zone_begin(&here);
        ck_assert_int_eq(pthread_create(&thread, NULL, use_of_another, &zone), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        ck_assert_uint_eq(count_ends(), 1);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_VALUE), 1);
        ck_assert_uint_eq(own_recording_get(CLIENT_ABI_EVENT_ZONE_VALUE, 0)->value[0], 2);
        hyprof_zone_end(zone);
        ck_assert_uint_eq(count_ends(), 2);
        ck_assert_uint_eq(own_recording_check_nesting(), 0);
}
END_TEST

/* Its session's number comes back after so many: then it must not be open any more either. */
START_TEST(test_handle_of_an_earlier_session)
{
        hyprof_zone old = hyprof_zone_begin(&here);

        own_recording_close();
        for (int i = 1; i < ZONE_HANDLE_SESSIONS; i++) {
                record();
                hyprof_zone_value(old, 1);
                hyprof_zone_end(old);
                own_recording_drain();
                ck_assert_uint_eq(recorded.n_events, 0);
                own_recording_close();
        }
        record();
        hyprof_zone_end(old);
        ck_assert_uint_eq(count_ends(), 0);
}
END_TEST

START_TEST(test_deepest)
{
        static hyprof_zone zones[N_BEGINS];

        for (int i = 0; i < N_BEGINS; i++)
                zones[i] = i % 2 ? hyprof_zone_begin(&here) : hyprof_zone_begin_callstack(&here, 2);
        ck_assert_uint_ne(zones[ZONE_HANDLE_DEPTH_MAX - 1], 0);
        ck_assert_uint_eq(zones[ZONE_HANDLE_DEPTH_MAX], 0);
        hyprof_zone_value(zones[0], 1);
        for (int i = N_BEGINS - 1; i > 0; i--)
                hyprof_zone_end(zones[i]);
        ck_assert_uint_ne(hyprof_zone_begin(&here), 0);
        hyprof_zone_end(zones[0]);
        own_recording_drain();
        ck_assert_uint_eq(own_recording_check_nesting(), 0);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_BEGIN), ZONE_HANDLE_DEPTH_MAX + 1);
        ck_assert_uint_eq(own_recording_drops().n_deep_zones, N_BEGINS - ZONE_HANDLE_DEPTH_MAX);
        ck_assert_uint_eq(own_recording_drops().n_zones, 0);
        ck_assert_uint_eq(own_recording_get(CLIENT_ABI_EVENT_ZONE_VALUE, 0)->prefix.zone_depth, 1);
}
END_TEST

START_TEST(test_details)
{
        const struct client_event *e;
        hyprof_zone outer = hyprof_zone_begin(&here), inner = hyprof_zone_begin(&here);

        hyprof_zone_text(inner, "of the inner", 12);
        hyprof_zone_text(outer, "of the outer!", 13);
        hyprof_zone_name(outer, "", 0);
        hyprof_zone_value(inner, -5);
        hyprof_zone_color(outer, 0xff123456);
        hyprof_zone_end(inner);
        hyprof_zone_value(inner, 6);
        hyprof_zone_color(outer, 7);
        hyprof_zone_end(outer);
        hyprof_zone_text(outer, "too late", 8);
        own_recording_drain();

        e = own_recording_get(CLIENT_ABI_EVENT_ZONE_TEXT, 0);
        ck_assert_str_eq(e->text, "of the inner");
        ck_assert_uint_eq(e->prefix.zone_depth, 0);
        e = own_recording_get(CLIENT_ABI_EVENT_ZONE_TEXT, 1);
        ck_assert_str_eq(e->text, "of the outer!");
        ck_assert_uint_eq(e->prefix.zone_depth, 1);
        e = own_recording_get(CLIENT_ABI_EVENT_ZONE_NAME, 0);
        ck_assert_uint_eq(e->text_bytes, 0);
        ck_assert_uint_eq(e->prefix.zone_depth, 1);
        e = own_recording_get(CLIENT_ABI_EVENT_ZONE_VALUE, 0);
        ck_assert_int_eq((int64_t)e->value[0], -5);
        ck_assert_uint_eq(e->prefix.zone_depth, 0);
        e = own_recording_get(CLIENT_ABI_EVENT_ZONE_COLOR, 0);
        ck_assert_uint_eq(e->argument, 0x123456);
        ck_assert_uint_eq(e->prefix.zone_depth, 1);
        e = own_recording_get(CLIENT_ABI_EVENT_ZONE_COLOR, 1);
        ck_assert_uint_eq(e->argument, 7);
        ck_assert_uint_eq(e->prefix.zone_depth, 0);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_VALUE), 1);
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_TEXT), 2);
}
END_TEST

/* Facts about a zone have no time of their own, but that of the event before them, on each of the paths. */
START_TEST(test_details_have_the_time_before)
{
        static char long_text[2000];
        hyprof_zone outer, inner;
        uint64_t begin, end;
        size_t n_details = 0;

        outer = hyprof_zone_begin(&here);
        inner = hyprof_zone_begin(&here);
        hyprof_zone_text(inner, "text", 4);
        hyprof_zone_text(outer, "text", 4);
        hyprof_zone_text(inner, long_text, sizeof(long_text));
        hyprof_zone_name(inner, "name", 4);
        hyprof_zone_value(inner, 1);
        hyprof_zone_value(outer, 1);
        hyprof_zone_color(inner, 1);
        hyprof_zone_end(inner);
        hyprof_zone_value(outer, 2);
        hyprof_zone_end(outer);
        own_recording_drain();

        begin = own_recording_get(CLIENT_ABI_EVENT_ZONE_BEGIN, 1)->ticks;
        end = own_recording_get(CLIENT_ABI_EVENT_ZONE_END, 0)->ticks;
        ck_assert_uint_gt(end, begin);
        for (size_t i = 0; i < recorded.n_events; i++) {
                const struct client_event *e = &recorded.events[i].event;
                bool is_last = e->kind == CLIENT_ABI_EVENT_ZONE_VALUE && e->value[0] == 2;

                if (e->kind != CLIENT_ABI_EVENT_ZONE_TEXT && e->kind != CLIENT_ABI_EVENT_ZONE_NAME &&
                    e->kind != CLIENT_ABI_EVENT_ZONE_VALUE && e->kind != CLIENT_ABI_EVENT_ZONE_COLOR)
                        continue;
                ck_assert_uint_eq(e->ticks, is_last ? end : begin);
                n_details++;
        }
        ck_assert_uint_eq(n_details, 8);
}
END_TEST

START_TEST(test_long_texts)
{
        static char text[100000];
        struct byte_buffer blob = { .data = NULL };
        const struct client_event *e;
        hyprof_zone outer, inner;

        for (size_t i = 0; i < sizeof(text); i++)
                text[i] = (char)('a' + i % 26);
        outer = hyprof_zone_begin(&here);
        inner = hyprof_zone_begin(&here);
        hyprof_zone_text(inner, text, 16384);
        hyprof_zone_text(inner, text, 16385);
        hyprof_zone_name(outer, text, sizeof(text));
        hyprof_zone_text(outer, text, SIZE_MAX);
        hyprof_zone_end(outer);
        own_recording_drain();

        e = own_recording_get(CLIENT_ABI_EVENT_ZONE_TEXT, 0);
        ck_assert_uint_eq(e->text_bytes, 16384);
        ck_assert_mem_eq(e->text, text, 16384);
        ck_assert_uint_eq(e->prefix.blob_bytes, 0);
        e = own_recording_get(CLIENT_ABI_EVENT_ZONE_TEXT, 1);
        ck_assert_uint_eq(e->text_bytes, 0);
        ck_assert_uint_eq(e->prefix.zone_depth, 0);
        ck_assert_uint_eq(e->prefix.blob_bytes, 16385);
        ck_assert_int_eq(client_region_read_blob(recorded.region, e->prefix.blob_at, 16385, &blob, NULL), 0);
        ck_assert_mem_eq(blob.data, text, 16385);
        byte_buffer_clear(&blob);
        e = own_recording_get(CLIENT_ABI_EVENT_ZONE_NAME, 0);
        ck_assert_uint_eq(e->prefix.zone_depth, 1);
        ck_assert_uint_eq(e->prefix.blob_bytes, sizeof(text));
        ck_assert_int_eq(
                client_region_read_blob(recorded.region, e->prefix.blob_at, sizeof(text), &blob, NULL), 0);
        ck_assert_mem_eq(blob.data, text, sizeof(text));
        ck_assert_uint_eq(own_recording_count(CLIENT_ABI_EVENT_ZONE_TEXT), 2);
        ck_assert_uint_eq(client_region_blobs_refused(recorded.region), 1);
        byte_buffer_deinit(&blob);
}
END_TEST

UNIT_TEST_PLAN(.setup = record, .teardown = own_recording_close);
