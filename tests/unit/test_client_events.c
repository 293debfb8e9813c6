/* SPDX-License-Identifier: MIT */
/* instrument/client: each call of each family puts exactly the words into the ring that the ABI tells */
#include "instrument/client/ticks.h"
#include "tests/unit/ring_words.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define ALL_FAMILIES CLIENT_ABI_FAMILIES

static const struct client_abi_location *entry(uint32_t id)
{
        ck_assert_uint_ge(id, 1);
        ck_assert_uint_le(id, ring_words_header()->n_locations);
        return &client_self.region.locations[id - 1];
}

static bool is_string(uint64_t packed, const char *string)
{
        uint64_t at = packed & ((UINT64_C(1) << CLIENT_ABI_STRING_OFFSET_BITS) - 1);
        size_t n = strlen(string);

        return packed >> CLIENT_ABI_STRING_OFFSET_BITS == n &&
               memcmp(client_self.region.strings + at, string, n) == 0;
}

static bool is_named(uint32_t id, const char *name)
{
        return is_string(entry(id)->name, name);
}

/*
 * The next event is a prefix with a callstack; returns its words: the innermost address
 * comes first in both kinds.  The rest of the stack may come as a second prefix.
 */
static const uint64_t *expect_callstack(void)
{
        const uint64_t *words = ring_words_next();

        ck_assert(ring_words_event(*words) == CLIENT_ABI_EVENT_CALLSTACK ||
                  ring_words_event(*words) == CLIENT_ABI_EVENT_STACK_COPY);
        if (ring_words_event(*words) == CLIENT_ABI_EVENT_CALLSTACK && ring_words.at < ring_words.n &&
            ring_words_event(ring_words.words[ring_words.at]) == CLIENT_ABI_EVENT_STACK_COPY)
                (void)ring_words_next();
        return words + 1;
}

START_TEST(test_frames)
{
        ring_words_record(CLIENT_ABI_FAMILY_FRAMES);
        HYPROF_FRAME();
        HYPROF_FRAME_NAMED("audio");
        HYPROF_FRAME_BEGIN("physics");
        HYPROF_FRAME_END("physics");
        hyprof_frame_begin(NULL);
        hyprof_frame_end(NULL);
        ring_words_drain();
        (void)ring_words_expect(CLIENT_ABI_EVENT_FRAME_MARK, 0);
        ck_assert(is_named(ring_words_argument(*ring_words_next()), "audio"));
        ck_assert(is_named(ring_words_argument(*ring_words_next()), "physics"));
        ck_assert(is_named(ring_words_argument(*ring_words_next()), "physics"));
        ring_words_expect_nothing();

        ring_words_record(CLIENT_ABI_FAMILY_FRAMES);
        HYPROF_FRAME_BEGIN("physics");
        HYPROF_FRAME_END("physics");
        ring_words_drain();
        ck_assert_uint_eq(ring_words_event(*ring_words_next()), CLIENT_ABI_EVENT_FRAME_BEGIN);
        ck_assert_uint_eq(ring_words_event(*ring_words_next()), CLIENT_ABI_EVENT_FRAME_END);
}
END_TEST

START_TEST(test_plots)
{
        const double half = 0.5, quarter = 0.25;

        ring_words_record(CLIENT_ABI_FAMILY_PLOTS);
        HYPROF_PLOT_INT("int", -7);
        HYPROF_PLOT_FLOAT("float", 0.25f);
        HYPROF_PLOT_DOUBLE("double", 0.5);
        hyprof_plot_int(NULL, 1);
        hyprof_plot_double(NULL, 1);
        ring_words_drain();
        for (int i = 0; i < 3; i++) {
                static const char *const names[] = { "int", "float", "double" };
                static const int64_t minus_seven = -7;
                const void *const values[] = { &minus_seven, &quarter, &half };
                const uint64_t *words = ring_words_next();

                ck_assert_uint_eq(ring_words_event(*words),
                                  i == 0 ? CLIENT_ABI_EVENT_PLOT_I64 : CLIENT_ABI_EVENT_PLOT_F64);
                ck_assert(is_named(ring_words_argument(*words), names[i]));
                ck_assert_mem_eq(&words[1], values[i], 8);
        }
        ring_words_expect_nothing();
}
END_TEST

START_TEST(test_plot_config)
{
        static struct hyprof_location a = HYPROF_NAME("a"), b = HYPROF_NAME("b");

        ring_words_stop();
        hyprof_plot_config(NULL, HYPROF_PLOT_BYTES, 0, 0, NULL);
        hyprof_plot_config(&a, HYPROF_PLOT_WATTS, HYPROF_PLOT_FILL | UINT32_C(0x80), 0x112233, "mW");
        ck_assert_uint_eq(entry(a.id)->format, CLIENT_ABI_PLOT_WATTS);
        ck_assert_uint_eq(entry(a.id)->flags, CLIENT_ABI_PLOT_FILL | CLIENT_ABI_PLOT_SET);
        ck_assert_uint_eq(entry(a.id)->color, 0x112233);
        ck_assert(is_named(a.id, "a"));
        ck_assert(is_string(entry(a.id)->unit, "mW"));
        ring_words_expect_nothing();

        ring_words_record(CLIENT_ABI_FAMILY_PLOTS);
        hyprof_plot_config(&a, HYPROF_PLOT_PERCENT, HYPROF_PLOT_STEP, 0, NULL);
        hyprof_plot_config(&b, HYPROF_PLOT_NUMBER, 0, 0, "mW");
        ring_words_drain();
        (void)ring_words_expect(CLIENT_ABI_EVENT_PLOT_CONFIG, a.id);
        (void)ring_words_expect(CLIENT_ABI_EVENT_PLOT_CONFIG, b.id);
        ring_words_expect_nothing();
        ck_assert_uint_eq(entry(a.id)->format, CLIENT_ABI_PLOT_PERCENT);
        ck_assert_uint_eq(entry(a.id)->flags, CLIENT_ABI_PLOT_STEP | CLIENT_ABI_PLOT_SET);
        ck_assert_uint_eq(entry(a.id)->unit, 0);
        ck_assert(is_string(entry(b.id)->unit, "mW"));
}
END_TEST

/* A program may set how its plots are shown in each frame: that must not fill the strings. */
START_TEST(test_plot_units_are_shared)
{
        static struct hyprof_location plot = HYPROF_NAME("plot");
        uint64_t strings_bytes;

        hyprof_plot_config(&plot, HYPROF_PLOT_NUMBER, 0, 0, "tokens");
        strings_bytes = ring_words_header()->strings_used_bytes;
        for (int i = 0; i < 100; i++)
                hyprof_plot_config(&plot, HYPROF_PLOT_NUMBER, 0, (uint32_t)i, i % 2 ? "tokens" : NULL);
        ck_assert(is_string(entry(plot.id)->unit, "tokens"));
        ck_assert_uint_eq(entry(plot.id)->color, 99);
        ck_assert_uint_eq(ring_words_header()->strings_used_bytes, strings_bytes);
}
END_TEST

START_TEST(test_memory)
{
        static struct hyprof_location pool = HYPROF_NAME("pool");
        const void *address = (const void *)(uintptr_t)0xdeadbeef12345678;

        ring_words_record(CLIENT_ABI_FAMILY_MEMORY);
        HYPROF_ALLOC(address, 100);
        HYPROF_FREE(address);
        hyprof_memory_alloc(&pool, address, SIZE_MAX);
        hyprof_memory_free(&pool, NULL);
        hyprof_memory_discard(&pool);
        hyprof_memory_discard(NULL);
        ring_words_drain();
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_MEMORY_ALLOC, 0, 0xdeadbeef12345678, 100);
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_MEMORY_FREE, 0, 0xdeadbeef12345678);
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_MEMORY_ALLOC, pool.id, 0xdeadbeef12345678, SIZE_MAX);
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_MEMORY_FREE, pool.id, 0);
        (void)ring_words_expect(CLIENT_ABI_EVENT_MEMORY_DISCARD, pool.id);
        (void)ring_words_expect(CLIENT_ABI_EVENT_MEMORY_DISCARD, 0);
        ring_words_expect_nothing();
        ck_assert(is_named(pool.id, "pool"));
}
END_TEST

START_TEST(test_locks)
{
        static struct hyprof_location here = HYPROF_LOCATION("holder", 0);
        static struct hyprof_lock lock = HYPROF_LOCK("queue"), never = HYPROF_LOCK("never");
        struct hyprof_lock other = { .location = { .id = 77 } };
        char name[2000];
        const uint64_t *words;

        ring_words_record(CLIENT_ABI_FAMILY_LOCKS);
        hyprof_lock_init(&other, &here);
        ck_assert_uint_eq(other.location.id, 0);
        hyprof_lock_wait(&lock);
        hyprof_lock_obtain(&lock);
        hyprof_lock_release(&lock);
        hyprof_lock_wait_shared(&lock);
        hyprof_lock_obtain_shared(&lock);
        hyprof_lock_release_shared(&lock);
        hyprof_lock_try(&lock, 0);
        hyprof_lock_try(&lock, 1);
        hyprof_lock_try_shared(&lock, 0);
        hyprof_lock_try_shared(&lock, 1);
        hyprof_lock_mark(&lock, &here);
        hyprof_lock_name(&lock, "seven b", 7);
        hyprof_lock_gone(&lock);
        ring_words_drain();
        (void)ring_words_expect(CLIENT_ABI_EVENT_LOCK_WAIT, lock.location.id);
        (void)ring_words_expect(CLIENT_ABI_EVENT_LOCK_OBTAIN, lock.location.id);
        (void)ring_words_expect(CLIENT_ABI_EVENT_LOCK_RELEASE, lock.location.id);
        (void)ring_words_expect(CLIENT_ABI_EVENT_LOCK_WAIT_SHARED, lock.location.id);
        (void)ring_words_expect(CLIENT_ABI_EVENT_LOCK_OBTAIN_SHARED, lock.location.id);
        (void)ring_words_expect(CLIENT_ABI_EVENT_LOCK_RELEASE_SHARED, lock.location.id);
        (void)ring_words_expect(CLIENT_ABI_EVENT_LOCK_OBTAIN, lock.location.id);
        (void)ring_words_expect(CLIENT_ABI_EVENT_LOCK_OBTAIN_SHARED, lock.location.id);
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_LOCK_MARK, lock.location.id, here.id);
        words = RING_WORDS_EXPECT(CLIENT_ABI_EVENT_LOCK_NAME, 8 + 7, lock.location.id);
        ck_assert_mem_eq(&words[1], "seven b", 8);
        (void)ring_words_expect(CLIENT_ABI_EVENT_LOCK_GONE, lock.location.id);
        ring_words_expect_nothing();
        ck_assert(is_named(lock.location.id, "queue"));
        ck_assert(is_string(entry(lock.location.id)->file, __FILE__));

        hyprof_lock_gone(&never);
        ck_assert_uint_eq(never.location.id, 0);
        hyprof_lock_wait(NULL);
        hyprof_lock_mark(NULL, &here);
        hyprof_lock_mark(&lock, NULL);
        hyprof_lock_name(NULL, "x", 1);
        ring_words_expect_nothing();
        memset(name, 'n', sizeof(name));
        hyprof_lock_name(&lock, name, sizeof(name));
        hyprof_lock_name(&lock, NULL, 3);
        ring_words_drain();
        words = ring_words_expect(CLIENT_ABI_EVENT_LOCK_NAME, 8 + sizeof(name));
        ck_assert_mem_eq(&words[1], name, sizeof(name));
        (void)ring_words_expect(CLIENT_ABI_EVENT_LOCK_NAME, 8);
}
END_TEST

START_TEST(test_devices)
{
        static struct hyprof_location here = HYPROF_LOCATION("kernel", 0);
        static struct hyprof_device device = HYPROF_DEVICE("queue 0", 1.5, 77);
        uint64_t before = ticks_kernel_ns();
        const double period = 1.5;
        const uint64_t *words;

        ring_words_record(CLIENT_ABI_FAMILY_DEVICES);
        hyprof_device_calibrate(&device, 1000, 0);
        hyprof_device_calibrate(&device, 2000, 5);
        hyprof_device_zone_begin(&device, &here, 1);
        hyprof_device_zone_end(&device, 2);
        hyprof_device_time(&device, 1, 1500);
        hyprof_device_span(&device, &here, UINT64_MAX, 17, 3, 4);
        ring_words_drain();
        words = RING_WORDS_EXPECT(CLIENT_ABI_EVENT_DEVICE_CALIBRATION, device.location.id, 1000);
        ck_assert_uint_ge(words[1], before);
        ck_assert_uint_le(words[1], ticks_kernel_ns());
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_DEVICE_CALIBRATION, device.location.id, 2000, 5);
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_DEVICE_ZONE_BEGIN, device.location.id, 1, here.id);
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_DEVICE_ZONE_END, device.location.id, 2);
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_DEVICE_TIME, device.location.id, 1, 1500);
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_DEVICE_SPAN, 32,
                                device.location.id | (uint64_t)here.id << 32, UINT64_MAX, 17,
                                UINT64_C(4) << 32 | 3);
        ring_words_expect_nothing();
        ck_assert(is_named(device.location.id, "queue 0"));
        ck_assert_uint_eq(entry(device.location.id)->format, 77);
        ck_assert_mem_eq(&entry(device.location.id)->period, &period, sizeof(period));

        hyprof_device_calibrate(NULL, 1, 1);
        hyprof_device_zone_begin(NULL, &here, 1);
        hyprof_device_zone_begin(&device, NULL, 1);
        hyprof_device_zone_end(NULL, 1);
        hyprof_device_time(NULL, 1, 1);
        hyprof_device_span(NULL, &here, 1, 2, 0, 0);
        hyprof_device_span(&device, NULL, 1, 2, 0, 0);
        ring_words_expect_nothing();
}
END_TEST

/* Flows come where zones are recorded, each with a time of its own, also outside of zones. */
START_TEST(test_flows)
{
        static struct hyprof_location space = HYPROF_NAME("request");

        ring_words_record(CLIENT_ABI_FAMILY_ZONES);
        HYPROF_FLOW_BEGIN(UINT64_MAX);
        hyprof_flow_step(&space, 7);
        HYPROF_FLOW_END(0);
        HYPROF_FLOW_STEP_OF("request", 7);
        HYPROF_FLOW_END_OF("request", 8);
        hyprof_emit_flow(NULL, 1, HYPROF_FLOW_PHASE_END_ + 1); /* no phase */
        ring_words_drain();
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_FLOW_BEGIN, 0, UINT64_MAX);
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_FLOW_STEP, space.id, 7);
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_FLOW_END, 0, 0);
        for (unsigned i = 0; i < 2; i++) {
                const uint64_t *words = ring_words_next();

                ck_assert_uint_eq(ring_words_event(words[0]), CLIENT_ABI_EVENT_FLOW_STEP + i);
                ck_assert(is_named(ring_words_argument(words[0]), "request"));
                ck_assert_uint_eq(words[1], 7 + i);
        }
        ring_words_expect_nothing();

        ring_words_record(CLIENT_ABI_FAMILIES & ~CLIENT_ABI_FAMILY_ZONES);
        HYPROF_FLOW_BEGIN(1);
        ring_words_expect_nothing();
}
END_TEST

/* The next event is a message with this text. */
static void expect_message(const char *text)
{
        const uint64_t *words = ring_words_expect(CLIENT_ABI_EVENT_MESSAGE, (uint32_t)strlen(text));

        ck_assert_mem_eq(words + 1, text, strlen(text));
}

/*
 * A literal is written once; from then on its number stands for it.  Where the CPU's counter is not to be
 * trusted, its text stands there each time.
 */
START_TEST_IF(ticks_are_counted(ticks_choose_kind()), test_literals)
{
        static struct hyprof_location several = HYPROF_NAME(NULL), large = HYPROF_NAME(NULL);
        static const char first[] = "first", second[] = "second";
        static char long_text[CLIENT_ABI_STRING_BYTES_MAX + 2];
        const uint64_t *words;
        uint32_t id;

        ring_words_record(CLIENT_ABI_FAMILY_MESSAGES);
        for (int i = 0; i < 3; i++)
                HYPROF_MESSAGE_COLOR("a literal", HYPROF_SEVERITY_ERROR, 0xff8000);
        ring_words_drain();
        expect_message("a literal");
        words = ring_words_next();
        ck_assert_uint_eq(ring_words_event(words[0]), CLIENT_ABI_EVENT_MESSAGE_NAMED);
        id = ring_words_argument(words[0]);
        ck_assert(is_named(id, "a literal"));
        ck_assert_uint_eq(words[1], (uint64_t)HYPROF_SEVERITY_ERROR << 32 | 0xff8000);
        (void)ring_words_expect(CLIENT_ABI_EVENT_MESSAGE_NAMED, id);
        ring_words_expect_nothing();

        /* In the next recording, too. */
        ring_words_record(CLIENT_ABI_FAMILY_MESSAGES);
        for (int i = 0; i < 2; i++) {
                hyprof_message_literal(&several, first, HYPROF_SEVERITY_INFO, 0);
                hyprof_message_literal(&several, second, HYPROF_SEVERITY_INFO, 0);
        }
        hyprof_emit_message_literal(&several, first, HYPROF_SEVERITY_INFO, 0, 8);
        hyprof_message_literal(NULL, first, HYPROF_SEVERITY_INFO, 0);
        hyprof_message_literal(&several, NULL, HYPROF_SEVERITY_INFO, 0);
        memset(long_text, 'x', sizeof(long_text) - 1);
        for (int i = 0; i < 2; i++)
                hyprof_message_literal(&large, long_text, HYPROF_SEVERITY_INFO, 0);
        ring_words_drain();
        expect_message(first);
        expect_message(second);
        (void)ring_words_expect(CLIENT_ABI_EVENT_MESSAGE_NAMED, several.id);
        ck_assert(is_named(several.id, first));
        expect_message(second);
        (void)expect_callstack();
        expect_message(first);
        expect_message(first);
        expect_message("");
        for (int i = 0; i < 2; i++) { /* whole, and not cut as a name is */
                words = ring_words_expect(CLIENT_ABI_EVENT_BLOB, 0);
                ck_assert_uint_eq(words[1], sizeof(long_text) - 1);
                (void)ring_words_expect(CLIENT_ABI_EVENT_MESSAGE, 0);
        }
        ck_assert_uint_eq(large.id, 0);
        ring_words_expect_nothing();
}
END_TEST

START_TEST(test_pause_leaves_events_out)
{
        static struct hyprof_location outer = { .name = "outer" }, inner = { .name = "inner" };
        hyprof_zone zone;
        uint32_t word;

        hyprof_resume(); /* nothing was paused, and no recorder is there */
        ring_words_record(CLIENT_ABI_FAMILY_ZONES | CLIENT_ABI_FAMILY_MESSAGES | CLIENT_ABI_FAMILY_ALWAYS);
        word = ring_words_header()->control_word;
        zone = hyprof_zone_begin(&outer);
        hyprof_mark("before");
        hyprof_pause();
        hyprof_pause(); /* is one pause */
        ck_assert_uint_eq(ring_words_header()->paused, 1);
        ck_assert_uint_eq(hyprof_zone_begin(&inner), 0);
        hyprof_mark("meanwhile");
        hyprof_zone_end(zone);
        hyprof_resume();
        ck_assert_uint_eq(ring_words_header()->control_word, word);
        hyprof_resume();
        hyprof_mark("after");
        hyprof_mark(NULL);
        ring_words_drain();
        ck_assert_uint_eq(ring_words_event(*ring_words_next()), CLIENT_ABI_EVENT_ZONE_BEGIN);
        expect_message("before");
        expect_message("events paused by the program");
        ck_assert_uint_eq(ring_words_event(*ring_words_next()), CLIENT_ABI_EVENT_ZONE_END);
        expect_message("events resumed by the program");
        expect_message("after");
        ring_words_expect_nothing();
}
END_TEST

START_TEST(test_a_recorder_has_the_last_word)
{
        struct client_abi_header *h;
        uint32_t paused, other;

        ring_words_record(CLIENT_ABI_FAMILY_ZONES | CLIENT_ABI_FAMILY_ALWAYS);
        h = ring_words_header();
        hyprof_pause();
        /* It pauses the recording as well: the program's resuming does not undo that. */
        paused = (h->control_word & ~CLIENT_ABI_FAMILIES) | CLIENT_ABI_FAMILY_ALWAYS;
        h->wanted_word = h->control_word = paused;
        hyprof_resume();
        ck_assert_uint_eq(h->control_word, paused);
        /* The recording ends during a pause, and stays ended. */
        hyprof_pause();
        h->wanted_word = 0;
        h->control_word &= ~CLIENT_ABI_FAMILIES;
        hyprof_resume();
        ck_assert_uint_eq(h->control_word & CLIENT_ABI_FAMILIES, 0);
        /* Another one began during a pause, of a version that does not know of pauses: its word stays. */
        hyprof_pause();
        other = (h->control_word >> CLIENT_ABI_SESSION_SHIFT ^ 1) << CLIENT_ABI_SESSION_SHIFT |
                CLIENT_ABI_FAMILY_PLOTS;
        h->control_word = other;
        hyprof_resume();
        ck_assert_uint_eq(h->control_word, other);
}
END_TEST

START_TEST(test_program)
{
        static const char image[] = "\177ELF and so on";
        static const struct hyprof_code_line lines[] = { { 0, 10 }, { 4, 12 } };
        static struct hyprof_location made = { "made", NULL, "made.src", 0, 0, 0, 0 };
        const uint64_t *words;
        uint64_t before, now;

        ck_assert_uint_eq(hyprof_now_ns(), 0);
        ring_words_record(CLIENT_ABI_FAMILY_ALWAYS);
        before = ticks_kernel_ns();
        now = hyprof_now_ns();
        ck_assert_uint_ge(now, before);
        ck_assert_uint_le(now, ticks_kernel_ns());

        hyprof_thread_name("name of it");
        hyprof_thread_name("");
        hyprof_thread_name(NULL);
        hyprof_thread_group(-2);
        hyprof_program_info("line", 4);
        hyprof_program_value("key", "value");
        hyprof_program_value(NULL, NULL);
        hyprof_source_text("a.py", 4, "print(1)", 8);
        hyprof_code_add((const void *)0x1000, 32, "jit", 3, image, sizeof(image));
        hyprof_code_add((const void *)0x2000, 16, NULL, 3, NULL, 3);
        hyprof_code_add_lines((const void *)0x3000, 16, &made, lines, 2);
        hyprof_code_add_lines((const void *)0x4000, 16, &made, NULL, 3);
        hyprof_code_add_lines((const void *)0x4000, 16, NULL, lines, 2);
        hyprof_code_remove((const void *)0x1000, 32);
        ring_words_drain();
        words = ring_words_expect(CLIENT_ABI_EVENT_THREAD_NAME, 10);
        ck_assert_mem_eq(words, "name of it", 10);
        words = ring_words_expect(CLIENT_ABI_EVENT_THREAD_GROUP, 0);
        ck_assert_int_eq((int64_t)words[0], -2);
        words = RING_WORDS_EXPECT(CLIENT_ABI_EVENT_PROGRAM_INFO, 8 + 4, 0);
        ck_assert_mem_eq(&words[1], "line", 5);
        words = RING_WORDS_EXPECT(CLIENT_ABI_EVENT_PROGRAM_INFO, 8 + 3 + 5, 3);
        ck_assert_mem_eq(&words[1], "keyvalue", 8);
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_PROGRAM_INFO, 8, 0);
        words = RING_WORDS_EXPECT(CLIENT_ABI_EVENT_SOURCE_TEXT, 8 + 4 + 8, 4);
        ck_assert_mem_eq(&words[1], "a.pyprint(1)", 13);
        words = RING_WORDS_EXPECT(CLIENT_ABI_EVENT_CODE, 24 + 3 + sizeof(image), 0x1000, 32, 3);
        ck_assert_mem_eq(&words[3], "jit", 3);
        ck_assert_mem_eq((const char *)&words[3] + 3, image, sizeof(image));
        words = RING_WORDS_EXPECT(CLIENT_ABI_EVENT_CODE, 24, 0x2000);
        ck_assert_uint_eq(words[2], 0);
        words = RING_WORDS_EXPECT(CLIENT_ABI_EVENT_CODE_LINES, 24 + sizeof(lines), 0x3000, 16, made.id);
        ck_assert_mem_eq(&words[3], lines, sizeof(lines));
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_CODE_LINES, 24, 0x4000, 16, made.id);
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_CODE_GONE, 0, 0x1000, 32);
        ring_words_expect_nothing();
}
END_TEST

/* Name and group are told again in each session, whenever they were said. */
START_TEST(test_sessions_repeat_name_and_group)
{
        uint32_t session;
        const uint64_t *words;

        ring_words_stop();
        hyprof_thread_name("said before");
        hyprof_thread_group(12);
        session = (ring_words_header()->control_word >> CLIENT_ABI_SESSION_SHIFT) + 1;
        ring_words_drain();
        ring_words_header()->control_word = session << CLIENT_ABI_SESSION_SHIFT | CLIENT_ABI_FAMILY_FRAMES;
        hyprof_frame_mark(NULL);
        ring_words_drain();
        (void)ring_words_expect(CLIENT_ABI_EVENT_THREAD, 0);
        words = ring_words_expect(CLIENT_ABI_EVENT_THREAD_NAME, 11);
        ck_assert_mem_eq(words, "said before", 11);
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_THREAD_GROUP, 0, 12);
        (void)ring_words_expect(CLIENT_ABI_EVENT_FRAME_MARK, 0);
        ring_words_expect_nothing();
}
END_TEST

/* Four events with callstacks, from this very function. */
static __attribute__((noinline)) void say_with_callstacks(struct hyprof_device *device,
                                                          struct hyprof_location *location, uint32_t depth)
{
        hyprof_emit_message("text", 4, HYPROF_SEVERITY_INFO, 0, depth);
        hyprof_emit_memory_alloc(NULL, location, 1, depth);
        hyprof_emit_memory_free(NULL, location, depth);
        hyprof_emit_device_zone_begin(device, location, 1, depth);
        __asm__ volatile(""); /* after the last call, so that it returns here */
}

/* The library's own functions are not in it. */
START_TEST(test_callstacks_begin_at_the_call)
{
        static struct hyprof_location here = HYPROF_LOCATION("kernel", 0);
        static struct hyprof_device device = HYPROF_DEVICE("queue 0", 0, 0);

        for (int i = 0; i < 2; i++) {
                ring_words_record(i == 0 ? ALL_FAMILIES : ALL_FAMILIES | CLIENT_ABI_CALLSTACKS);
                say_with_callstacks(&device, &here, i == 0 ? 1 : 0);
                ring_words_drain();
                for (int k = 0; k < 4; k++) {
                        ck_assert_uint_lt(*expect_callstack() - (uintptr_t)say_with_callstacks, 1000);
                        ck_assert_uint_ne(ring_words_event(*ring_words_next()), 0);
                }
                ring_words_expect_nothing();
        }
}
END_TEST

START_TEST(test_callstacks)
{
        static struct hyprof_location here = HYPROF_LOCATION("kernel", 0);
        static struct hyprof_device device = HYPROF_DEVICE("queue 0", 0, 0);

        ring_words_record(ALL_FAMILIES);
        hyprof_message_callstack("text", 4, HYPROF_SEVERITY_INFO, 0, 8);
        hyprof_memory_alloc_callstack(NULL, &here, 1, 8);
        hyprof_memory_free_callstack(NULL, &here, UINT32_MAX);
        hyprof_emit_device_zone_begin(&device, &here, 1, 8);
        hyprof_message_callstack("text", 4, HYPROF_SEVERITY_INFO, 0, 0);
        ring_words_drain();
        (void)expect_callstack();
        (void)ring_words_expect(CLIENT_ABI_EVENT_MESSAGE, 4);
        (void)expect_callstack();
        (void)ring_words_expect(CLIENT_ABI_EVENT_MEMORY_ALLOC, 0);
        (void)expect_callstack();
        (void)ring_words_expect(CLIENT_ABI_EVENT_MEMORY_FREE, 0);
        (void)expect_callstack();
        (void)ring_words_expect(CLIENT_ABI_EVENT_DEVICE_ZONE_BEGIN, device.location.id);
        (void)ring_words_expect(CLIENT_ABI_EVENT_MESSAGE, 4);
        ring_words_expect_nothing();

        /* The recorder wants them for two of the families. */
        ring_words_record(ALL_FAMILIES | (CLIENT_ABI_FAMILY_MESSAGES | CLIENT_ABI_FAMILY_DEVICES)
                                                 << CLIENT_ABI_CALLSTACK_SHIFT);
        hyprof_message("text", 4, HYPROF_SEVERITY_INFO, 0);
        hyprof_memory_alloc(NULL, &here, 1);
        hyprof_memory_free(NULL, &here);
        hyprof_device_zone_begin(&device, &here, 1);
        hyprof_device_zone_end(&device, 2);
        HYPROF_FRAME();
        ring_words_drain();
        (void)expect_callstack();
        (void)ring_words_expect(CLIENT_ABI_EVENT_MESSAGE, 4);
        (void)ring_words_expect(CLIENT_ABI_EVENT_MEMORY_ALLOC, 0);
        (void)ring_words_expect(CLIENT_ABI_EVENT_MEMORY_FREE, 0);
        (void)expect_callstack();
        (void)ring_words_expect(CLIENT_ABI_EVENT_DEVICE_ZONE_BEGIN, device.location.id);
        (void)ring_words_expect(CLIENT_ABI_EVENT_DEVICE_ZONE_END, device.location.id);
        (void)ring_words_expect(CLIENT_ABI_EVENT_FRAME_MARK, 0);
        ring_words_expect_nothing();

        ring_words_record(CLIENT_ABI_FAMILY_MEMORY | CLIENT_ABI_FAMILY_MEMORY << CLIENT_ABI_CALLSTACK_SHIFT);
        hyprof_memory_alloc(NULL, &here, 1);
        hyprof_memory_free(NULL, &here);
        hyprof_memory_discard(NULL);
        ring_words_drain();
        (void)expect_callstack();
        (void)ring_words_expect(CLIENT_ABI_EVENT_MEMORY_ALLOC, 0);
        (void)expect_callstack();
        (void)ring_words_expect(CLIENT_ABI_EVENT_MEMORY_FREE, 0);
        (void)ring_words_expect(CLIENT_ABI_EVENT_MEMORY_DISCARD, 0);
        ring_words_expect_nothing();
}
END_TEST

START_TEST(test_tracks_keys_and_values_of_devices)
{
        static struct hyprof_location here = HYPROF_LOCATION("kernel", 0), space = HYPROF_NAME("submission");
        static struct hyprof_location power = HYPROF_NAME("power");
        static struct hyprof_device device = HYPROF_DEVICE("queue 1", 0, 0);
        const uint64_t key = UINT64_C(0xfedcba9876543210);
        const uint64_t *words;

        ring_words_record(CLIENT_ABI_FAMILY_DEVICES);
        hyprof_device_calibrate_within(&device, 1000, 7, 9);
        hyprof_device_track(&device, 2, 1, "BRISC of 1", HYPROF_TRACK_PROCESSOR);
        hyprof_device_track(&device, 3, HYPROF_NO_LANE, NULL, HYPROF_TRACK_OTHER);
        hyprof_device_keyed_span(&device, &here, 5, 6, 2, &space, key);
        hyprof_device_keyed_span(&device, &here, 5, 6, 2, NULL, key);
        hyprof_device_instant(&device, &here, 8, 2, &space, key);
        hyprof_device_value(&device, &power, 9, 2, 0.5);
        hyprof_device_value_int(&device, &power, 10, 2, -2);
        ring_words_drain();
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_DEVICE_BRACKET, 32, device.location.id, 1000, 7, 9);
        words = RING_WORDS_EXPECT(CLIENT_ABI_EVENT_DEVICE_TRACK, 16 + 10,
                                  device.location.id | UINT64_C(2) << 32, 1 | UINT64_C(2) << 32);
        ck_assert_mem_eq(&words[2], "BRISC of 1", 10);
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_DEVICE_TRACK, 16, device.location.id | UINT64_C(3) << 32,
                                UINT32_MAX);
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_DEVICE_KEYED_SPAN, 40,
                                device.location.id | (uint64_t)here.id << 32, 5, 6,
                                2 | (uint64_t)space.id << 32, key);
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_DEVICE_KEYED_SPAN, 40,
                                device.location.id | (uint64_t)here.id << 32, 5, 6, 2, key);
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_DEVICE_INSTANT, 32,
                                device.location.id | (uint64_t)here.id << 32, 8, 2 | (uint64_t)space.id << 32,
                                key);
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_DEVICE_VALUE, 32,
                                device.location.id | (uint64_t)power.id << 32, 9, 2,
                                UINT64_C(0x3fe0000000000000));
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_DEVICE_VALUE, 32,
                                device.location.id | (uint64_t)power.id << 32, 10, 2 | UINT64_C(1) << 32,
                                (uint64_t)-2);
        ring_words_expect_nothing();
        ck_assert(is_named(space.id, "submission"));

        hyprof_device_calibrate_within(NULL, 1, 1, 2);
        hyprof_device_track(NULL, 1, 1, "x", HYPROF_TRACK_CORE);
        hyprof_device_keyed_span(NULL, &here, 1, 2, 0, &space, 0);
        hyprof_device_keyed_span(&device, NULL, 1, 2, 0, &space, 0);
        hyprof_device_instant(&device, NULL, 1, 0, NULL, 0);
        hyprof_device_value(&device, NULL, 1, 0, 1);
        hyprof_device_value_int(NULL, &power, 1, 0, 1);
        ring_words_expect_nothing();
}
END_TEST

static void say_everything(void)
{
        static struct hyprof_location here = HYPROF_LOCATION("here", 0);
        static struct hyprof_lock lock = HYPROF_LOCK("lock");
        static struct hyprof_device device = HYPROF_DEVICE("device", 0, 0);

        hyprof_emit_frame_mark(&here);
        hyprof_emit_frame_begin(&here);
        hyprof_emit_frame_end(&here);
        hyprof_emit_message("text", 4, HYPROF_SEVERITY_INFO, 0, 0);
        hyprof_emit_message("text", 4, HYPROF_SEVERITY_INFO, 0, 8);
        hyprof_emit_message_literal(&here, "text", HYPROF_SEVERITY_INFO, 0, 0);
        hyprof_emit_plot_int(&here, 1);
        hyprof_emit_plot_double(&here, 1);
        hyprof_emit_memory_alloc(&here, &here, 1, 0);
        hyprof_emit_memory_free(&here, &here, 8);
        hyprof_emit_memory_discard(&here);
        hyprof_emit_lock(&lock, HYPROF_LOCK_WAIT_);
        hyprof_emit_lock_mark(&lock, &here);
        hyprof_emit_lock_name(&lock, "name", 4);
        hyprof_emit_device_calibration(&device, 1, 0);
        hyprof_emit_device_zone_begin(&device, &here, 1, 0);
        hyprof_emit_device_zone_end(&device, 2);
        hyprof_emit_device_time(&device, 1, 2);
        hyprof_emit_device_span(&device, &here, 1, 2, 0, 0);
        hyprof_emit_device_bracket(&device, 1, 2, 3);
        hyprof_emit_device_track(&device, 1, HYPROF_NO_LANE, "core", HYPROF_TRACK_CORE);
        hyprof_emit_device_keyed_span(&device, &here, 1, 2, 0, &here, 0);
        hyprof_emit_device_value(&device, &here, 1, 2, 0, 0);
        hyprof_emit_device_instant(&device, &here, 1, 2, &here, 0);
        hyprof_emit_thread_name("name");
        hyprof_emit_thread_group(1);
        hyprof_emit_program_info("key", 3, "text", 4);
        hyprof_emit_source_text("file", 4, "text", 4);
        hyprof_emit_code_add(&here, 1, "name", 4, NULL, 0);
        hyprof_emit_code_add_lines(&here, 1, &here, NULL, 0);
        hyprof_emit_code_remove(&here, 1);
}

/* The recording may end between a call's question and its answer. */
START_TEST(test_nobody_records)
{
        ring_words_record(ALL_FAMILIES);
        ring_words_stop();
        say_everything();
        ring_words_expect_nothing();
}
END_TEST

START_TEST(test_errno_is_left_alone)
{
        ring_words_record(ALL_FAMILIES | CLIENT_ABI_CALLSTACKS);
        errno = E2BIG;
        say_everything();
        ck_assert_ptr_nonnull(hyprof_location_of("n", 1, NULL, 0, NULL, 0, 0, 0));
        hyprof_plot_config(hyprof_name_of("plot"), HYPROF_PLOT_NUMBER, 0, 0, "unit");
        ck_assert_int_eq(errno, E2BIG);
}
END_TEST

UNIT_TEST_PLAN(.teardown = ring_words_stop);
