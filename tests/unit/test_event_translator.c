/* SPDX-License-Identifier: MIT */
/*
 * sampler/zones/event_translator.c: every event of a program becomes what the trace has for it; nothing
 * that it says breaks it
 */
#include "instrument/client_abi.h"
#include "sampler/tracks/loss_counter.h"
#include "tests/unit/merged_program.h"
#include "tests/unit/unit_test.h"

#include <string.h>

static struct merged_program f;

/* ---- families ------------------------------------------------------------------------------------------ */

START_TEST(test_moments)
{
        uint32_t plot, frames;

        plot = fake_program_name(&f.program, "plot");
        frames = fake_program_name(&f.program, "frames");
        merged_program_put_text(&f, 1, CLIENT_ABI_EVENT_MESSAGE, 0xff8800 | UINT64_C(3) << 32, "a message");
        merged_program_put(&f, 2, CLIENT_ABI_EVENT_PLOT_I64, plot, (uint64_t)-7, 0);
        merged_program_put(&f, 3, CLIENT_ABI_EVENT_PLOT_F64, plot, UINT64_C(0x3fd0000000000000), 0);
        merged_program_put(&f, 4, CLIENT_ABI_EVENT_FRAME_MARK, 0, 0, 0);
        merged_program_put(&f, 5, CLIENT_ABI_EVENT_FRAME_BEGIN, frames, 0, 0);
        merged_program_put(&f, 6, CLIENT_ABI_EVENT_FRAME_END, frames, 0, 0);
        merged_program_put_text(&f, 7, CLIENT_ABI_EVENT_THREAD_NAME, 0, "worker");
        merged_program_put(&f, 8, CLIENT_ABI_EVENT_THREAD_GROUP, 0, (uint64_t)-2, 0);
        merged_program_put(&f, 9, CLIENT_ABI_EVENT_MESSAGE_NAMED, frames, 0x8800 | UINT64_C(5) << 32, 0);
        merged_program_put(&f, 10, CLIENT_ABI_EVENT_MESSAGE_NAMED, 0, UINT64_C(2) << 32, 0);
        merged_program_finish(&f);

        ck_assert_uint_eq(merged_program_get(&f, 1, 0, TRACE_OP_MESSAGE_TEXT)->time_ns, f.start_ns + 1);
        ck_assert_str_eq(merged_program_get(&f, 1, 0, TRACE_OP_MESSAGE_TEXT)->text, "a message");
        ck_assert_uint_eq(merged_program_get(&f, 1, 0, TRACE_OP_MESSAGE_TEXT)->message_text.text_bytes, 9);
        ck_assert_uint_eq(merged_program_get(&f, 1, 0, TRACE_OP_MESSAGE_TEXT)->message_text.severity, 3);
        ck_assert_uint_eq(merged_program_get(&f, 1, 0, TRACE_OP_MESSAGE_TEXT)->message_text.color, 0xff8800);
        merged_program_expect_string(&f, merged_program_get(&f, 1, 1, TRACE_OP_PLOT_I64)->plot_i64.name,
                                     "plot");
        ck_assert_int_eq(merged_program_get(&f, 1, 1, TRACE_OP_PLOT_I64)->plot_i64.value, -7);
        ck_assert_uint_eq(merged_program_get(&f, 1, 2, TRACE_OP_PLOT_F64)->plot_f64.bits,
                          UINT64_C(0x3fd0000000000000));
        ck_assert_uint_eq(merged_program_get(&f, 1, 3, TRACE_OP_FRAME_MARK)->frame_mark.name, 0);
        merged_program_expect_string(&f, merged_program_get(&f, 1, 4, TRACE_OP_FRAME_BEGIN)->frame_begin.name,
                                     "frames");
        merged_program_expect_string(&f, merged_program_get(&f, 1, 5, TRACE_OP_FRAME_END)->frame_end.name,
                                     "frames");
        merged_program_expect_string(&f, merged_program_get(&f, 1, 6, TRACE_OP_THREAD_NAME)->thread_name.name,
                                     "worker");
        ck_assert_int_eq(merged_program_get(&f, 1, 7, TRACE_OP_THREAD_GROUP)->thread_group.group, -2);
        merged_program_expect_string(&f, merged_program_get(&f, 1, 8, TRACE_OP_MESSAGE)->message.text,
                                     "frames");
        ck_assert_uint_eq(merged_program_get(&f, 1, 8, TRACE_OP_MESSAGE)->message.severity, 5);
        ck_assert_uint_eq(merged_program_get(&f, 1, 8, TRACE_OP_MESSAGE)->message.color, 0x8800);
        ck_assert_uint_eq(merged_program_get(&f, 1, 9, TRACE_OP_MESSAGE)->message.text, 0);
        merged_program_expect_no_more(&f, 1, 10);
        merged_program_expect_no_loss(&f);
}
END_TEST

START_TEST(test_memory)
{
        uint32_t pool;

        pool = fake_program_name(&f.program, "pool");
        merged_program_put(&f, 1, CLIENT_ABI_EVENT_MEMORY_ALLOC, 0, 0x7000, 64);
        merged_program_put(&f, 2, CLIENT_ABI_EVENT_MEMORY_ALLOC, pool, 0x8000, UINT64_C(1) << 40);
        merged_program_put(&f, 3, CLIENT_ABI_EVENT_MEMORY_FREE, 0, 0x7000, 0);
        merged_program_put(&f, 4, CLIENT_ABI_EVENT_MEMORY_DISCARD, pool, 0, 0);
        merged_program_finish(&f);

        ck_assert_uint_eq(merged_program_get(&f, 1, 0, TRACE_OP_MEMORY_ALLOC)->memory_alloc.pool, 0);
        ck_assert_uint_eq(merged_program_get(&f, 1, 0, TRACE_OP_MEMORY_ALLOC)->memory_alloc.address, 0x7000);
        ck_assert_uint_eq(merged_program_get(&f, 1, 0, TRACE_OP_MEMORY_ALLOC)->memory_alloc.size_bytes, 64);
        merged_program_expect_string(
                &f, merged_program_get(&f, 1, 1, TRACE_OP_MEMORY_ALLOC)->memory_alloc.pool, "pool");
        ck_assert_uint_eq(merged_program_get(&f, 1, 1, TRACE_OP_MEMORY_ALLOC)->memory_alloc.size_bytes,
                          UINT64_C(1) << 40);
        ck_assert_uint_eq(merged_program_get(&f, 1, 2, TRACE_OP_MEMORY_FREE)->memory_free.address, 0x7000);
        merged_program_expect_string(
                &f, merged_program_get(&f, 1, 3, TRACE_OP_MEMORY_DISCARD)->memory_discard.pool, "pool");
        merged_program_expect_no_loss(&f);
}
END_TEST

START_TEST(test_locks)
{
        static const uint32_t kinds[] = {
                CLIENT_ABI_EVENT_LOCK_WAIT,    CLIENT_ABI_EVENT_LOCK_WAIT_SHARED,
                CLIENT_ABI_EVENT_LOCK_OBTAIN,  CLIENT_ABI_EVENT_LOCK_OBTAIN_SHARED,
                CLIENT_ABI_EVENT_LOCK_RELEASE, CLIENT_ABI_EVENT_LOCK_RELEASE_SHARED,
        };
        static const uint32_t ops[] = { TRACE_OP_LOCK_WAIT, TRACE_OP_LOCK_OBTAIN, TRACE_OP_LOCK_RELEASE };
        const struct trace_lock *lock;
        uint32_t id, other, place;

        id = fake_program_name(&f.program, "lock");
        other = fake_program_name(&f.program, "lock"); /* the same place in the source: another lock */
        place = fake_program_name(&f.program, "holder");
        for (uint32_t i = 0; i < 6; i++)
                merged_program_put(&f, i + 1, kinds[i], id, 0, 0);
        merged_program_put(&f, 10, CLIENT_ABI_EVENT_LOCK_MARK, id, place, 0);
        merged_program_put_text(&f, 11, CLIENT_ABI_EVENT_LOCK_NAME, id, "its name");
        merged_program_put(&f, 12, CLIENT_ABI_EVENT_LOCK_GONE, id, 0, 0);
        merged_program_put(&f, 13, CLIENT_ABI_EVENT_LOCK_WAIT, other, 0, 0);
        merged_program_put(&f, 14, CLIENT_ABI_EVENT_LOCK_WAIT, 99, 0, 0); /* there is no such location */
        merged_program_finish(&f);

        for (size_t i = 0; i < 6; i++) {
                ck_assert_uint_eq(merged_program_get(&f, 1, i, ops[i / 2])->lock_wait.lock, 1);
                ck_assert_uint_eq(merged_program_get(&f, 1, i, ops[i / 2])->lock_wait.shared, i % 2);
        }
        ck_assert_uint_eq(merged_program_get(&f, 1, 6, TRACE_OP_LOCK_MARK)->lock_mark.lock, 1);
        merged_program_expect_name(&f, merged_program_get(&f, 1, 6, TRACE_OP_LOCK_MARK)->lock_mark.location,
                                   "holder");
        ck_assert_uint_eq(merged_program_get(&f, 1, 7, TRACE_OP_LOCK_NAME)->lock_name.lock, 1);
        merged_program_expect_string(&f, merged_program_get(&f, 1, 7, TRACE_OP_LOCK_NAME)->lock_name.name,
                                     "its name");
        ck_assert_uint_eq(merged_program_get(&f, 1, 8, TRACE_OP_LOCK_GONE)->lock_gone.lock, 1);
        ck_assert_uint_eq(merged_program_get(&f, 1, 9, TRACE_OP_LOCK_WAIT)->lock_wait.lock, 2);
        merged_program_expect_no_more(&f, 1, 10);
        lock = merged_program_row(&f, TRACE_TABLE_LOCKS, 1);
        ck_assert_uint_eq(lock->process, 1);
        ck_assert_uint_eq(lock->number, id);
        merged_program_expect_name(&f, lock->location, "lock");
        lock = merged_program_row(&f, TRACE_TABLE_LOCKS, 2);
        ck_assert_uint_eq(lock->number, other);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_LOCKS), 2);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLIENT_GARBAGE], sizeof(uint64_t));
}
END_TEST

static void put_span(uint64_t at_ns, uint64_t device, uint64_t location, uint64_t begin_ticks,
                     uint64_t end_ticks)
{
        fake_program_put(&f.program, 0,
                         &(struct fake_event){ .time_ns = f.start_ns + at_ns,
                                               .kind = CLIENT_ABI_EVENT_DEVICE_SPAN,
                                               .words = { device | location << 32, begin_ticks, end_ticks,
                                                          5 | UINT64_C(6) << 32 },
                                               .n_words = 4 });
}

START_TEST(test_devices)
{
        const struct trace_device_clock *clock;
        const struct trace_device *device;
        const struct trace_event *span;
        uint32_t id, kernel;

        id = fake_program_name(&f.program, "queue");
        fake_region_location(&f.program.region, id)->period = UINT64_C(0x3ff8000000000000);
        fake_region_location(&f.program.region, id)->format = 7;
        kernel = fake_program_name(&f.program, "kernel");
        merged_program_put(&f, 1, CLIENT_ABI_EVENT_DEVICE_CALIBRATION, id, 1000, 2000);
        merged_program_put(&f, 2, CLIENT_ABI_EVENT_DEVICE_ZONE_BEGIN, id, 11, kernel);
        merged_program_put(&f, 3, CLIENT_ABI_EVENT_DEVICE_ZONE_END, id, 12, 0);
        merged_program_put(&f, 4, CLIENT_ABI_EVENT_DEVICE_TIME, id, 11, 1100);
        put_span(5, id, kernel, 1200, 1250);
        put_span(6, id, kernel, 1200, 1199); /* it ends before it begins */
        put_span(7, 99, kernel, 1200, 1250); /* of a device that is none */
        merged_program_finish(&f);

        ck_assert_uint_eq(merged_program_get(&f, 1, 0, TRACE_OP_DEVICE_ZONE_BEGIN)->device_zone_begin.device,
                          1);
        ck_assert_uint_eq(merged_program_get(&f, 1, 0, TRACE_OP_DEVICE_ZONE_BEGIN)->device_zone_begin.query,
                          11);
        merged_program_expect_name(
                &f, merged_program_get(&f, 1, 0, TRACE_OP_DEVICE_ZONE_BEGIN)->device_zone_begin.location,
                "kernel");
        ck_assert_uint_eq(merged_program_get(&f, 1, 1, TRACE_OP_DEVICE_ZONE_END)->device_zone_end.query, 12);
        ck_assert_uint_eq(merged_program_get(&f, 1, 2, TRACE_OP_DEVICE_TIME)->device_time.ticks, 1100);
        span = merged_program_get(&f, 1, 3, TRACE_OP_DEVICE_SPAN);
        ck_assert_uint_eq(span->device_span.device, 1);
        merged_program_expect_name(&f, span->device_span.location, "kernel");
        ck_assert_uint_eq(span->device_span.begin_ticks, 1200);
        ck_assert_uint_eq(span->device_span.length_ticks, 50);
        ck_assert_uint_eq(span->device_span.lane, 5);
        ck_assert_uint_eq(span->device_span.key, 6);
        merged_program_expect_no_more(&f, 1, 4);
        device = merged_program_row(&f, TRACE_TABLE_DEVICES, 1);
        merged_program_expect_string(&f, device->name, "queue");
        ck_assert_uint_eq(device->process, 1);
        ck_assert_uint_eq(device->period_bits, UINT64_C(0x3ff8000000000000));
        ck_assert_uint_eq(device->kind, 7);
        ck_assert_uint_eq(device->number, id);
        clock = merged_program_row(&f, TRACE_TABLE_DEVICE_CLOCKS, 1);
        ck_assert_uint_eq(clock->device, 1);
        ck_assert_uint_eq(clock->ticks, 1000);
        ck_assert_uint_eq(clock->raw_ns, 2000);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLIENT_GARBAGE], 2 * (sizeof(uint64_t) + 32));
}
END_TEST

static void put_bytes(uint32_t kind, uint64_t at_ns, const struct fake_event *words)
{
        struct fake_event event = *words;

        event.time_ns = f.start_ns + at_ns;
        event.kind = kind;
        fake_program_put(&f.program, 0, &event);
}

#define PUT_BYTES(kind, at_ns, ...)                               \
        put_bytes(CLIENT_ABI_EVENT_##kind, (at_ns),               \
                  &(struct fake_event){ .words = { __VA_ARGS__ }, \
                                        .n_words = sizeof((uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t) })

/* Pictures that have fewer pixels than they say, or sides that none has; frame_pictures.sh has good ones. */
START_TEST(test_bad_pictures)
{
        const uint64_t pixels = UINT64_C(0xff0000ffff0000ff);

        PUT_BYTES(FRAME_PICTURE, 1, 4 | 4 << 16, pixels, pixels, pixels, pixels);
        PUT_BYTES(FRAME_PICTURE, 2, 2 | 4 << 16, pixels, pixels, pixels, pixels);
        PUT_BYTES(FRAME_PICTURE, 3, UINT64_C(0));
        PUT_BYTES(FRAME_PICTURE, 4, UINT64_C(4));
        PUT_BYTES(FRAME_PICTURE, 5, (uint64_t)UINT32_MAX, pixels);
        merged_program_finish(&f);

        merged_program_expect_no_more(&f, 1, 0);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLIENT_GARBAGE],
                          5 * sizeof(uint64_t) + 40 + 40 + 8 + 8 + 16);
}
END_TEST

/* Readings with a bound, named lanes, keys with a space, values, and what of them makes no sense. */
START_TEST(test_tracks_keys_and_values_of_devices)
{
        const uint64_t no_lane = CLIENT_ABI_NO_LANE, key = UINT64_C(0xfedcba9876543210);
        const struct trace_device_clock *clock;
        const struct trace_track *track;
        const struct trace_event *event;
        uint64_t device = fake_program_name(&f.program, "chip");
        uint64_t kernel = (uint64_t)fake_program_name(&f.program, "kernel") << 32;
        uint64_t space = (uint64_t)fake_program_name(&f.program, "submission") << 32;
        uint64_t power = (uint64_t)fake_program_name(&f.program, "power") << 32;

        PUT_BYTES(DEVICE_BRACKET, 1, device, 1000, 2000, 2011);
        PUT_BYTES(DEVICE_BRACKET, 2, device, 1000, 2000, 1999); /* it ends before it begins */
        PUT_BYTES(DEVICE_TRACK, 3, device | UINT64_C(4) << 32, no_lane | UINT64_C(1) << 32,
                  UINT64_C(0x3065726f63));
        PUT_BYTES(DEVICE_TRACK, 4, device | UINT64_C(5) << 32, 4 | UINT64_C(2) << 32);
        PUT_BYTES(DEVICE_TRACK, 5, device | UINT64_C(4) << 32, 5); /* the first one counts */
        PUT_BYTES(DEVICE_TRACK, 6, device | UINT64_C(6) << 32, 9); /* its parent was not named */
        PUT_BYTES(DEVICE_KEYED_SPAN, 7, device | kernel, 1200, 1250, 5 | space, key);
        PUT_BYTES(DEVICE_KEYED_SPAN, 8, device | kernel, 1200, 1199, 5 | space, key);
        PUT_BYTES(DEVICE_INSTANT, 9, device | kernel, 1210, 4, key); /* of no space */
        PUT_BYTES(DEVICE_VALUE, 10, device | power, 1220, 4 | UINT64_C(1) << 32, 7);
        PUT_BYTES(DEVICE_VALUE, 11, device | power, 1221, 4, 8);
        PUT_BYTES(DEVICE_VALUE, 12, device | UINT64_C(99) << 32, 1221, 4, 8); /* of a plot that is none */
        merged_program_put(&f, 13, CLIENT_ABI_EVENT_ZONE_BEGIN, (uint32_t)(kernel >> 32), 0, 0);
        merged_program_put(&f, 14, CLIENT_ABI_EVENT_ZONE_KEY, (uint32_t)(space >> 32), key, 0);
        merged_program_put(&f, 15, CLIENT_ABI_EVENT_FLOW_STEP, (uint32_t)(space >> 32), key, 0);
        merged_program_put(&f, 16, CLIENT_ABI_EVENT_FLOW_END, 0, 3, 0);
        merged_program_finish(&f);

        event = merged_program_get(&f, 1, 0, TRACE_OP_DEVICE_SPAN);
        ck_assert_uint_eq(event->device_span.device, 1);
        merged_program_expect_name(&f, event->device_span.location, "kernel");
        ck_assert_uint_eq(event->device_span.begin_ticks, 1200);
        ck_assert_uint_eq(event->device_span.length_ticks, 50);
        ck_assert_uint_eq(event->device_span.lane, 5);
        ck_assert_uint_eq(event->device_span.key, key);
        ck_assert_uint_eq(event->device_span.text, 0);
        merged_program_expect_string(&f, (uint32_t)event->device_span.space, "submission");
        event = merged_program_get(&f, 1, 1, TRACE_OP_DEVICE_INSTANT);
        ck_assert_uint_eq(event->device_instant.ticks, 1210);
        ck_assert_uint_eq(event->device_instant.lane, 4);
        ck_assert_uint_eq(event->device_instant.key, key);
        ck_assert_uint_eq(event->device_instant.space, 0);
        event = merged_program_get(&f, 1, 2, TRACE_OP_DEVICE_VALUE);
        ck_assert_uint_eq(event->device_value.plot, 1);
        ck_assert_uint_eq(event->device_value.ticks, 1220);
        ck_assert_uint_eq(event->device_value.kind, TRACE_VALUE_SIGNED);
        ck_assert_uint_eq(event->device_value.bits, 7);
        ck_assert_uint_eq(merged_program_get(&f, 1, 3, TRACE_OP_DEVICE_VALUE)->device_value.plot, 1);
        (void)merged_program_get(&f, 1, 4, TRACE_OP_ZONE_BEGIN);
        event = merged_program_get(&f, 1, 5, TRACE_OP_ZONE_KEY);
        merged_program_expect_string(&f, (uint32_t)event->zone_key.space, "submission");
        ck_assert_uint_eq(event->zone_key.key, key);
        ck_assert_uint_eq(event->zone_key.level, 0);
        event = merged_program_get(&f, 1, 6, TRACE_OP_FLOW);
        merged_program_expect_string(&f, (uint32_t)event->flow.space, "submission");
        ck_assert_uint_eq(event->flow.id, key);
        ck_assert_uint_eq(event->flow.phase, TRACE_FLOW_STEP);
        ck_assert_uint_eq(event->time_ns, f.start_ns + 15);
        event = merged_program_get(&f, 1, 7, TRACE_OP_FLOW);
        ck_assert_uint_eq(event->flow.space, 0);
        ck_assert_uint_eq(event->flow.id, 3);
        ck_assert_uint_eq(event->flow.phase, TRACE_FLOW_END);

        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_DEVICE_CLOCKS), 1);
        clock = merged_program_row(&f, TRACE_TABLE_DEVICE_CLOCKS, 1);
        ck_assert_uint_eq(clock->raw_ns, 2005);
        ck_assert_uint_eq(clock->error_ns, 6);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_TRACKS), 3);
        track = merged_program_row(&f, TRACE_TABLE_TRACKS, 1);
        ck_assert_uint_eq(track->device, 1);
        ck_assert_uint_eq(track->number, 4);
        ck_assert_uint_eq(track->parent, 0);
        ck_assert_uint_eq(track->kind, TRACE_TRACK_CORE);
        track = merged_program_row(&f, TRACE_TABLE_TRACKS, 2);
        ck_assert_uint_eq(track->parent, 1);
        ck_assert_uint_eq(track->name, 0);
        track = merged_program_row(&f, TRACE_TABLE_TRACKS, 3);
        ck_assert_uint_eq(track->parent, 0);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLIENT_GARBAGE], 3 * sizeof(uint64_t) + 32 + 40 + 32);
}
END_TEST

static void put_code(uint64_t at_ns, const char *name_and_image, uint64_t name_bytes)
{
        fake_program_put(&f.program, 0,
                         &(struct fake_event){ .time_ns = f.start_ns + at_ns,
                                               .kind = CLIENT_ABI_EVENT_CODE,
                                               .words = { 0x10000, 0x200, name_bytes },
                                               .n_words = 3,
                                               .text = name_and_image,
                                               .text_bytes = strlen(name_and_image) });
}

START_TEST(test_program)
{
        const struct trace_program_info *info;
        const struct trace_attachment *attachment;
        const struct trace_code_region *code;
        struct byte_buffer body = { .data = NULL };

        merged_program_put_text(&f, 1, CLIENT_ABI_EVENT_PROGRAM_INFO, 3, "keyvalue");
        merged_program_put_text(&f, 2, CLIENT_ABI_EVENT_PROGRAM_INFO, 0, "free text");
        merged_program_put_text(&f, 3, CLIENT_ABI_EVENT_PROGRAM_INFO, 10, "too short");
        merged_program_put_text(&f, 3, CLIENT_ABI_EVENT_PROGRAM_INFO, 3, "keyvalue");
        merged_program_put_text(&f, 3, CLIENT_ABI_EVENT_PROGRAM_INFO, 3, "keyother");
        merged_program_put_text(&f, 3, CLIENT_ABI_EVENT_PROGRAM_INFO, 0, "free text");
        merged_program_put_text(&f, 3, CLIENT_ABI_EVENT_PROGRAM_INFO, 3,
                                "keyvalue"); /* the last one counts */
        merged_program_put_text(&f, 4, CLIENT_ABI_EVENT_SOURCE_TEXT, 3, "a.cint main;");
        merged_program_put_text(&f, 5, CLIENT_ABI_EVENT_SOURCE_TEXT, 3, "a.cint main;"); /* once more */
        merged_program_put_text(&f, 6, CLIENT_ABI_EVENT_SOURCE_TEXT, 3, "b.cint main;"); /* another file */
        put_code(7, "jitELF", 3);
        put_code(8, "jit", 3);
        merged_program_put(&f, 9, CLIENT_ABI_EVENT_CODE_GONE, 0, 0x10000, 0x200);
        merged_program_finish(&f);

        merged_program_expect_no_more(&f, 1, 0);
        info = merged_program_row(&f, TRACE_TABLE_PROGRAM_INFO, 1);
        ck_assert_uint_eq(info->process, 1);
        merged_program_expect_string(&f, info->key, "key");
        merged_program_expect_string(&f, info->value, "value");
        info = merged_program_row(&f, TRACE_TABLE_PROGRAM_INFO, 2);
        ck_assert_uint_eq(info->key, 0);
        merged_program_expect_string(&f, info->value, "free text");
        info = merged_program_row(&f, TRACE_TABLE_PROGRAM_INFO, 3);
        merged_program_expect_string(&f, info->value, "other");
        info = merged_program_row(&f, TRACE_TABLE_PROGRAM_INFO, 4);
        merged_program_expect_string(&f, info->key, "key");
        merged_program_expect_string(&f, info->value, "value");
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_PROGRAM_INFO), 4);
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLIENT_GARBAGE], sizeof(uint64_t) + 8 + 9);

        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_ATTACHMENTS), 3);
        attachment = merged_program_row(&f, TRACE_TABLE_ATTACHMENTS, 1);
        ck_assert_uint_eq(attachment->kind, TRACE_ATTACHMENT_SOURCE_TEXT);
        merged_program_expect_string(&f, attachment->name, "a.c");
        ck_assert_uint_eq(attachment->size_bytes, 9);
        attachment = merged_program_row(&f, TRACE_TABLE_ATTACHMENTS, 3);
        ck_assert_uint_eq(attachment->kind, TRACE_ATTACHMENT_CODE_IMAGE);
        merged_program_expect_string(&f, attachment->name, "jit");
        ck_assert_uint_eq(attachment->size_bytes, 3);
        for (int i = 0; i < 3; i++)
                ck_assert_int_eq(attachment_store_next(&f.zones.translator.attachments, &body), 1);
        ck_assert_int_eq(attachment_store_next(&f.zones.translator.attachments, &body), 0);
        ck_assert_mem_eq(body.data + body.used_bytes - 3, "ELF", 3);
        byte_buffer_deinit(&body);

        code = merged_program_row(&f, TRACE_TABLE_CODE_REGIONS, 1);
        ck_assert_uint_eq(code->start_avma, 0x10000);
        ck_assert_uint_eq(code->length_bytes, 0x200);
        ck_assert_uint_eq(code->time_ns, f.start_ns + 7);
        ck_assert_uint_eq(code->process, 1);
        merged_program_expect_string(&f, code->name, "jit");
        ck_assert_uint_eq(code->attachment, 3);
        ck_assert_uint_eq(code->gone, 0);
        code = merged_program_row(&f, TRACE_TABLE_CODE_REGIONS, 2);
        ck_assert_uint_eq(code->attachment, 0);
        code = merged_program_row(&f, TRACE_TABLE_CODE_REGIONS, 3);
        ck_assert_uint_eq(code->gone, 1);
        ck_assert_uint_eq(code->time_ns, f.start_ns + 9);
}
END_TEST

/* Code with its lines: upwards, inside of the code; what is not, is left out, as are those of no location. */
START_TEST(test_code_lines)
{
        static const uint32_t offsets[] = { 0, 4, 4, 2, 0x1ff, 0x200 };
        const uint64_t lines[] = { offsets[0] | UINT64_C(10) << 32, offsets[1] | UINT64_C(11) << 32,
                                   offsets[2] | UINT64_C(12) << 32, offsets[3] | UINT64_C(13) << 32,
                                   offsets[4] | UINT64_C(14) << 32, offsets[5] | UINT64_C(15) << 32 };
        static const uint32_t kept[] = { 0, 1, 4 };
        const struct trace_code_region *code;
        uint64_t name = fake_program_name(&f.program, "made");

        fake_program_put(&f.program, 0,
                         &(struct fake_event){ .time_ns = f.start_ns + 1,
                                               .kind = CLIENT_ABI_EVENT_CODE_LINES,
                                               .words = { 0x10000, 0x200, name },
                                               .n_words = 3,
                                               .text = lines,
                                               .text_bytes = sizeof(lines) });
        PUT_BYTES(CODE_LINES, 2, 0x20000, 0x200, 99); /* there is no such location */
        merged_program_finish(&f);

        merged_program_expect_no_more(&f, 1, 0);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_CODE_REGIONS), 1);
        code = merged_program_row(&f, TRACE_TABLE_CODE_REGIONS, 1);
        ck_assert_uint_eq(code->start_avma, 0x10000);
        merged_program_expect_string(&f, code->name, "made");
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_CODE_LINES), 3);
        for (uint32_t i = 0; i < 3; i++) {
                const struct trace_code_line *line = merged_program_row(&f, TRACE_TABLE_CODE_LINES, i + 1);

                ck_assert_uint_eq(line->region, 1);
                ck_assert_uint_eq(line->offset_bytes, offsets[kept[i]]);
                ck_assert_uint_eq(line->line, 10 + kept[i]);
        }
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_CLIENT_GARBAGE], sizeof(uint64_t) + 24);
}
END_TEST

static void set_up_plot(uint32_t id, uint32_t format)
{
        struct client_abi_location *location = fake_region_location(&f.program.region, id);

        location->format = format;
        location->flags = CLIENT_ABI_PLOT_SET | CLIENT_ABI_PLOT_FILL;
        location->color = 0x123456;
        location->unit = location->name;
}

START_TEST(test_plots)
{
        const struct trace_plot *plot;
        uint32_t id;

        id = fake_program_name(&f.program, "watts");
        set_up_plot(id, CLIENT_ABI_PLOT_WATTS);
        merged_program_put(&f, 1, CLIENT_ABI_EVENT_PLOT_CONFIG, id, 0, 0);
        merged_program_cycle(&f, UINT64_MAX, false);
        set_up_plot(id, CLIENT_ABI_PLOT_BYTES);
        merged_program_put(&f, 2, CLIENT_ABI_EVENT_PLOT_CONFIG, id, 0, 0);
        merged_program_put(&f, 3, CLIENT_ABI_EVENT_PLOT_CONFIG, id, 0, 0);
        merged_program_cycle(&f, UINT64_MAX, false);
        set_up_plot(id, CLIENT_ABI_PLOT_WATTS); /* as before: it counts all the same */
        merged_program_put(&f, 4, CLIENT_ABI_EVENT_PLOT_CONFIG, id, 0, 0);
        merged_program_finish(&f);
        merged_program_expect_no_more(&f, 1, 0);
        plot = merged_program_row(&f, TRACE_TABLE_PLOTS, 1);
        merged_program_expect_string(&f, plot->name, "watts");
        merged_program_expect_string(&f, plot->unit, "watts");
        ck_assert_uint_eq(plot->format, TRACE_PLOT_WATTS);
        ck_assert_uint_eq(plot->flags, TRACE_PLOT_FILL);
        ck_assert_uint_eq(plot->color, 0x123456);
        plot = merged_program_row(&f, TRACE_TABLE_PLOTS, 2);
        ck_assert_uint_eq(plot->format, TRACE_PLOT_BYTES);
        plot = merged_program_row(&f, TRACE_TABLE_PLOTS, 3);
        ck_assert_uint_eq(plot->format, TRACE_PLOT_WATTS);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_PLOTS), 3);
        merged_program_expect_no_loss(&f);
}
END_TEST

/* Locks and tracks that were set up before the recorder came, in a program that did not wait for one. */
START_TEST(test_attached)
{
        struct fake_program program;
        struct thread_track *thread;
        uint32_t id;

        fake_program_start(&program, MERGED_PROGRAM_PID + 100);
        program.region.header->control_word = 0;
        id = fake_program_name(&program, "bytes");
        fake_region_location(&program.region, id)->flags = CLIENT_ABI_PLOT_SET;
        ck_assert_int_eq(process_table_add_thread(&f.processes, MERGED_PROGRAM_PID + 100,
                                                  MERGED_PROGRAM_PID + 100, 0, 1, &thread),
                         0);
        ck_assert_int_eq(zone_source_receive(&f.zones, MERGED_PROGRAM_PID + 100, fake_program_fd(&program)),
                         0);
        merged_program_finish(&f);
        ck_assert_uint_eq(f.zones.n_regions, 2);
        ck_assert_uint_eq(f.zones.n_attached, 1);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_PLOTS), 1);
        fake_program_end(&program);
}
END_TEST

/* ---- blobs --------------------------------------------------------------------------------------------- */

START_TEST(test_blobs)
{
        static const char rest[] = " of a long text";

        fake_program_blob(&f.program, 0, f.start_ns + 1, rest, strlen(rest));
        merged_program_put_text(&f, 1, CLIENT_ABI_EVENT_MESSAGE, 0, "the end");
        fake_program_blob(&f.program, 0, f.start_ns + 2, "no payload", 10);
        merged_program_put(&f, 2, CLIENT_ABI_EVENT_FRAME_MARK, 0, 0, 0);
        fake_program_blob(&f.program, 0, f.start_ns + 3, "key and value", 13);
        merged_program_put_text(&f, 3, CLIENT_ABI_EVENT_PROGRAM_INFO, 3, "");
        merged_program_finish(&f);
        ck_assert_str_eq(merged_program_get(&f, 1, 0, TRACE_OP_MESSAGE_TEXT)->text, "the end of a long text");
        (void)merged_program_get(&f, 1, 1, TRACE_OP_FRAME_MARK);
        merged_program_expect_no_more(&f, 1, 2);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_PROGRAM_INFO), 1);
        ck_assert_uint_eq(f.program.region.header->blobs_freed_bytes,
                          f.program.region.header->blobs_used_bytes);
        merged_program_expect_no_loss(&f);
}
END_TEST

START_TEST(test_lost_blobs)
{
        fake_program_blob(&f.program, 0, f.start_ns + 1, "overwritten", 11);
        *fake_region_blob_word(&f.program.region, 0) = 4711;
        merged_program_put_text(&f, 1, CLIENT_ABI_EVENT_MESSAGE, 0, "text");
        merged_program_put_text(&f, 2, CLIENT_ABI_EVENT_MESSAGE, 0, "next");
        f.program.region.header->n_refused_blobs = 3;
        merged_program_finish(&f);
        ck_assert_str_eq(merged_program_get(&f, 1, 0, TRACE_OP_MESSAGE_TEXT)->text, "next");
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_BLOB_DAMAGED], 1);
        zone_region_count_losses(&f.zones.regions[0], &f.losses);
        zone_region_count_losses(&f.zones.regions[0], &f.losses); /* once */
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_BLOB_REFUSED], 3);
}
END_TEST

/*
 * Names without end cost only names: the zones are there, equal names still have theirs, and
 * other strings have room.
 */
START_TEST(test_names_without_room)
{
        uint32_t id, first, last = 0;
        char name[8] = "zone a";

        f.dictionary.tables[TRACE_TABLE_STRINGS - TRACE_TABLE_FIRST].n_items_max =
                2 * trace_dictionary_count(&f.dictionary, TRACE_TABLE_STRINGS) + 6;
        first = fake_program_name(&f.program, name);
        for (name[5] = 'b'; name[5] < 'j'; name[5]++)
                last = fake_program_name(&f.program, name);
        for (id = first; id <= last; id++) {
                merged_program_put(&f, 2 * id, CLIENT_ABI_EVENT_ZONE_BEGIN, id, 0, 0);
                merged_program_put(&f, 2 * id + 1, CLIENT_ABI_EVENT_ZONE_END, 0, 0, 0);
        }
        merged_program_put(&f, 100, CLIENT_ABI_EVENT_ZONE_BEGIN, last, 0, 0); /* it is not asked for again */
        merged_program_put_text(&f, 101, CLIENT_ABI_EVENT_THREAD_NAME, 0, "worker");
        merged_program_put_text(&f, 102, CLIENT_ABI_EVENT_THREAD_NAME, 0, "zone a");
        merged_program_finish(&f);
        zone_region_count_losses(&f.zones.regions[0], &f.losses);

        merged_program_expect_name(&f, merged_program_get(&f, 1, 0, TRACE_OP_ZONE_BEGIN)->zone_begin.location,
                                   "zone a");
        id = (uint32_t)merged_program_get(&f, 1, 2 * (last - first), TRACE_OP_ZONE_BEGIN)
                     ->zone_begin.location;
        merged_program_expect_string(
                &f, ((const struct trace_location *)merged_program_row(&f, TRACE_TABLE_LOCATIONS, id))->name,
                "");
        ck_assert_uint_eq(f.losses.totals[TRACE_LOSS_NAMES_FULL], last - first + 1 - 3 + 1);
        ck_assert_uint_eq(loss_counter_total(&f.losses), 0); /* no event was */
        ck_assert_int_eq(trace_dictionary_add_path(&f.dictionary, "/bin/other", 10, &id), 0);
}
END_TEST

static void set_up(void)
{
        merged_program_set_up(&f);
}

static void tear_down(void)
{
        merged_program_tear_down(&f);
}

UNIT_TEST_PLAN(.setup = set_up, .teardown = tear_down);
