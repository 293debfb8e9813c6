/* SPDX-License-Identifier: MIT */
/*
 * instrument/client: texts of any length arrive whole, in the ring or as a blob; what does not is
 * counted where it belongs
 */
#include "tests/unit/ring_words.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_FILL       100000
#define SMALL_RING   4096
#define ALL_FAMILIES CLIENT_ABI_FAMILIES

START_TEST(test_messages)
{
        static char text[CLIENT_ABI_TEXT_BYTES_MAX + 1];
        const size_t inline_max = 16384 - 8;
        uint64_t n_refused = ring_words_header()->n_refused_blobs;
        const uint64_t *words;

        for (size_t i = 0; i < sizeof(text); i++)
                text[i] = (char)('a' + i % 23);
        ring_words_record(CLIENT_ABI_FAMILY_MESSAGES);
        hyprof_message("hello", 5, HYPROF_SEVERITY_ERROR, 0xff8000);
        hyprof_message(NULL, 0, HYPROF_SEVERITY_TRACE, 0);
        hyprof_message(NULL, 7, HYPROF_SEVERITY_TRACE, 0);
        hyprof_message(text, inline_max, HYPROF_SEVERITY_INFO, 0);
        ring_words_drain();
        words = RING_WORDS_EXPECT(CLIENT_ABI_EVENT_MESSAGE, 5,
                                  (uint64_t)HYPROF_SEVERITY_ERROR << 32 | 0xff8000);
        ck_assert_mem_eq(&words[1], "hello\0\0\0", 8);
        (void)ring_words_expect(CLIENT_ABI_EVENT_MESSAGE, 0);
        (void)ring_words_expect(CLIENT_ABI_EVENT_MESSAGE, 0);
        words = ring_words_expect(CLIENT_ABI_EVENT_MESSAGE, (uint32_t)inline_max);
        ck_assert_mem_eq(&words[1], text, inline_max);
        ring_words_expect_nothing();

        hyprof_message(text, inline_max + 1, HYPROF_SEVERITY_WARNING, 1);
        hyprof_message(text, sizeof(text), HYPROF_SEVERITY_WARNING, 2);
        ring_words_drain();
        ck_assert_mem_eq(ring_words_expect_blob(inline_max + 1), text, inline_max + 1);
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_MESSAGE, 0, (uint64_t)HYPROF_SEVERITY_WARNING << 32 | 1);
        ck_assert_mem_eq(ring_words_expect_blob(sizeof(text)), text, sizeof(text));
        (void)RING_WORDS_EXPECT(CLIENT_ABI_EVENT_MESSAGE, 0, (uint64_t)HYPROF_SEVERITY_WARNING << 32 | 2);
        ck_assert_uint_eq(ring_words_header()->n_refused_blobs, n_refused);

        hyprof_message(text, CLIENT_ABI_BLOB_BYTES_MAX + 1, HYPROF_SEVERITY_INFO, 0);
        hyprof_message(text, SIZE_MAX, HYPROF_SEVERITY_INFO, 0);
        ring_words_expect_nothing();
        ck_assert_uint_eq(ring_words_header()->n_refused_blobs, n_refused + 2);
}
END_TEST

/* Name and content lie side by side, at every alignment, and what fills the last word is zero. */
START_TEST(test_joints)
{
        char text[64], expected[64];

        for (size_t i = 0; i < sizeof(text); i++)
                text[i] = (char)('A' + i);
        ring_words_record(CLIENT_ABI_FAMILY_ALWAYS);
        for (size_t n_name = 0; n_name < 20; n_name++)
                for (size_t n_text = 0; n_text < 20; n_text++) {
                        const uint64_t *words;

                        hyprof_source_text(text, n_name, text + 30, n_text);
                        ring_words_drain();
                        words = RING_WORDS_EXPECT(CLIENT_ABI_EVENT_SOURCE_TEXT,
                                                  (uint32_t)(8 + n_name + n_text), n_name);
                        memset(expected, 0, sizeof(expected));
                        memcpy(expected, text, n_name);
                        memcpy(expected + n_name, text + 30, n_text);
                        ck_assert_mem_eq(&words[1], expected, (n_name + n_text + 7) / 8 * 8);
                        ring_words_expect_nothing();
                }
}
END_TEST

/* If an event is too long for the ring, its name stays there and the content goes into a blob. */
START_TEST(test_large_sources_and_images)
{
        static char data[100001];
        uint64_t n_refused = ring_words_header()->n_refused_blobs;
        const uint64_t *words;

        for (size_t i = 0; i < sizeof(data); i++)
                data[i] = (char)(i % 251);
        ring_words_record(CLIENT_ABI_FAMILY_ALWAYS);
        hyprof_source_text("file", 4, data, sizeof(data));
        hyprof_code_add((const void *)0x1000, 5, "jit", 3, data, sizeof(data));
        hyprof_program_info(data, sizeof(data));
        ring_words_drain();
        ck_assert_mem_eq(ring_words_expect_blob(sizeof(data)), data, sizeof(data));
        words = RING_WORDS_EXPECT(CLIENT_ABI_EVENT_SOURCE_TEXT, 8 + 4, 4);
        ck_assert_mem_eq(&words[1], "file\0\0\0\0", 8);
        ck_assert_mem_eq(ring_words_expect_blob(sizeof(data)), data, sizeof(data));
        words = ring_words_expect(CLIENT_ABI_EVENT_CODE, 24 + 3);
        ck_assert_uint_eq(words[2], 3);
        ck_assert_mem_eq(&words[3], "jit\0\0\0\0\0", 8);
        ck_assert_mem_eq(ring_words_expect_blob(sizeof(data)), data, sizeof(data));
        (void)ring_words_expect(CLIENT_ABI_EVENT_PROGRAM_INFO, 8);
        ring_words_expect_nothing();
        ck_assert_uint_eq(ring_words_header()->n_refused_blobs, n_refused);

        /* A name of that length makes no sense: refused, and not cut. */
        hyprof_source_text(data, sizeof(data), "text", 4);
        hyprof_source_text(data, SIZE_MAX, "text", 4);
        hyprof_source_text("file", 4, data, SIZE_MAX);
        ring_words_expect_nothing();
        ck_assert_uint_eq(ring_words_header()->n_refused_blobs, n_refused + 3);

        /* The recorder frees nothing. */
        ring_words_header()->blobs_used_bytes = CLIENT_ABI_BLOBS_UNREAD_BYTES_MAX;
        ring_words_header()->blobs_freed_bytes = 0;
        hyprof_source_text("file", 4, data, sizeof(data));
        ring_words_expect_nothing();
        ck_assert_uint_eq(ring_words_header()->n_refused_blobs, n_refused + 4);
        ring_words_header()->blobs_freed_bytes = ring_words_header()->blobs_used_bytes;
}
END_TEST

static void say_frame(void)
{
        hyprof_frame_begin(hyprof_name_of("frames"));
}

static void say_message(void)
{
        hyprof_message("message", 7, HYPROF_SEVERITY_INFO, 0);
}

static void say_plot(void)
{
        HYPROF_PLOT_INT("plot", 1);
}

static void say_memory(void)
{
        HYPROF_ALLOC(&ring_words, 1);
}

static void say_lock(void)
{
        static struct hyprof_lock lock = HYPROF_LOCK("lock");

        hyprof_lock_obtain(&lock);
}

static void say_device(void)
{
        static struct hyprof_device device = HYPROF_DEVICE("device", 0, 0);

        hyprof_device_time(&device, 1, 2);
}

static void say_program(void)
{
        hyprof_program_info("line", 4);
}

/* In a full ring each kind of event is dropped, and counted where it belongs. */
START_TEST(test_losses)
{
        static const struct {
                void (*say)(void);
                uint32_t event;
                size_t counter_at;
        } kinds[] = {
                { say_frame, CLIENT_ABI_EVENT_FRAME_BEGIN,
                  offsetof(struct client_abi_slot, n_dropped_frames) },
                { say_message, CLIENT_ABI_EVENT_MESSAGE,
                  offsetof(struct client_abi_slot, n_dropped_messages) },
                { say_plot, CLIENT_ABI_EVENT_PLOT_I64, offsetof(struct client_abi_slot, n_dropped_plots) },
                { say_memory, CLIENT_ABI_EVENT_MEMORY_ALLOC,
                  offsetof(struct client_abi_slot, n_dropped_memory) },
                { say_lock, CLIENT_ABI_EVENT_LOCK_OBTAIN, offsetof(struct client_abi_slot, n_dropped_locks) },
                { say_device, CLIENT_ABI_EVENT_DEVICE_TIME,
                  offsetof(struct client_abi_slot, n_dropped_devices) },
                { say_program, CLIENT_ABI_EVENT_PROGRAM_INFO,
                  offsetof(struct client_abi_slot, n_dropped_other) },
        };

        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                const uint64_t *counter;
                uint64_t n_before;
                size_t n_said = 0, n_found;

                ring_words_record(ALL_FAMILIES);
                counter = (const uint64_t *)(const void *)((const uint8_t *)thread_ring_self.slot +
                                                           kinds[i].counter_at);
                n_before = *counter;
                while (n_said < N_FILL || *counter == n_before) {
                        kinds[i].say();
                        n_said++;
                }
                ring_words_drain();
                n_found = ring_words_count(kinds[i].event);
                ck_assert_uint_gt(n_found, RING_WORDS_MAX / 8);
                ck_assert_uint_eq(n_found + *counter - n_before, n_said);
                /* And there is room again. */
                kinds[i].say();
                ring_words_drain();
                ck_assert_uint_eq(ring_words_count(kinds[i].event), 1);
        }
}
END_TEST

/* In a ring of 4 KiB a text may take a quarter: a longer one would hardly ever find room. */
static int use_small_ring(void)
{
        static char text[2 * SMALL_RING];
        const uint64_t *words;

        memset(text, 'x', sizeof(text));
        ring_words_record(ALL_FAMILIES);
        if (thread_ring_self.mask + 1 != SMALL_RING)
                return 1;
        hyprof_message(text, SMALL_RING / 4 - 8, HYPROF_SEVERITY_INFO, 0);
        hyprof_message(text, SMALL_RING / 4 - 7, HYPROF_SEVERITY_INFO, 0);
        hyprof_message(text, sizeof(text), HYPROF_SEVERITY_INFO, 0);
        ring_words_drain();
        words = ring_words_expect(CLIENT_ABI_EVENT_MESSAGE, SMALL_RING / 4 - 8);
        ck_assert_mem_eq(&words[1], text, SMALL_RING / 4 - 8);
        ck_assert_mem_eq(ring_words_expect_blob(SMALL_RING / 4 - 7), text, SMALL_RING / 4 - 7);
        (void)ring_words_expect(CLIENT_ABI_EVENT_MESSAGE, 0);
        ck_assert_mem_eq(ring_words_expect_blob(sizeof(text)), text, sizeof(text));
        (void)ring_words_expect(CLIENT_ABI_EVENT_MESSAGE, 0);
        ring_words_expect_nothing();

        /* A full ring: nothing is put into the blob area for an event that will not be written. */
        while (thread_ring_self.slot->n_dropped_frames == 0)
                HYPROF_FRAME();
        ring_words_header()->blobs_used_bytes = ring_words_header()->blobs_freed_bytes = 0;
        hyprof_message(text, sizeof(text), HYPROF_SEVERITY_INFO, 0);
        if (thread_ring_self.slot->n_dropped_messages != 1 || ring_words_header()->blobs_used_bytes != 0)
                return 2;
        return 0;
}

START_TEST(test_small_ring)
{
        uint64_t ring_bytes = client_self.settings.ring_bytes;
        int status;
        pid_t child;

        client_self.settings.ring_bytes = SMALL_RING; /* of the child's region */
        child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0)
                _exit(use_small_ring());
        client_self.settings.ring_bytes = ring_bytes;
        ck_assert_int_eq(waitpid(child, &status, 0), child);
        ck_assert_int_eq(status, 0);
}
END_TEST

UNIT_TEST_PLAN(.teardown = ring_words_stop);
