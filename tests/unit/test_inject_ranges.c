/* SPDX-License-Identifier: MIT */
/* The ranges of a thread, the map of a bridge, and names of libomp, without a program or a recorder. */
#include "tests/unit/unit_test.h"

#include "instrument/compat/inject/omp_region.h"
#include "instrument/compat/inject/range_stack.h"
#include "instrument/compat/inject/word_map.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define N_KEYS 1000

enum { A = 16, B = 32 };

/* A zone of no recording: its end does nothing. */
#define SOME_ZONE ((hyprof_zone)1)

/* Not inline: in a loop, gcc's sanitizer takes the address of a thread's variable for NULL. */
static __attribute__((noinline)) int32_t push(uintptr_t tag)
{
        return range_stack_push(tag, SOME_ZONE);
}

static __attribute__((noinline)) int32_t skip(void)
{
        return range_stack_skip();
}

static __attribute__((noinline)) int32_t end(uintptr_t tag)
{
        return range_stack_end(tag);
}

START_TEST(test_levels_are_of_the_domain)
{
        ck_assert_int_eq(push(A), 0);
        ck_assert_int_eq(push(B), 0);
        ck_assert_int_eq(push(B), 1);
        ck_assert_int_eq(push(A), 1);
        ck_assert_int_eq(end(A), 1);
        ck_assert_int_eq(end(B), 1);
        ck_assert_int_eq(end(B), 0);
        ck_assert_int_lt(end(B), 0); /* there is none; A is untouched */
        ck_assert_uint_eq(range_stack_top(A), SOME_ZONE);
        ck_assert_int_eq(end(A), 0);
        ck_assert_int_lt(end(A), 0);
        ck_assert_uint_eq(range_stack_self.n, 0);
}
END_TEST

/* Domains that cross: each end finds its own. */
START_TEST(test_crossing_domains)
{
        (void)push(A);
        (void)push(B);
        (void)push(A);
        ck_assert_int_eq(end(B), 0);
        ck_assert_int_eq(end(A), 1);
        ck_assert_int_eq(end(A), 0);
        ck_assert_uint_eq(range_stack_self.n, 0);
}
END_TEST

/* Ends of ranges that are not recorded do not end those around them, also where others lie between. */
START_TEST(test_unrecorded_ranges_are_counted)
{
        (void)push(A);
        for (int i = 0; i < 3; i++)
                ck_assert_int_eq(skip(), RANGE_STACK_UNRECORDED);
        ck_assert_int_eq(push(A), 1);
        ck_assert_int_eq(skip(), RANGE_STACK_UNRECORDED);
        ck_assert_uint_eq(range_stack_top(A), 0);
        ck_assert_int_eq(end(A), RANGE_STACK_UNRECORDED);
        ck_assert_int_eq(end(A), 1);
        for (int i = 0; i < 3; i++)
                ck_assert_int_eq(end(A), RANGE_STACK_UNRECORDED);
        ck_assert_int_eq(end(A), 0);
        ck_assert_uint_eq(range_stack_self.n, 0);
}
END_TEST

/* Deeper ones than there is room for are not recorded, and their ends find the right ones. */
START_TEST(test_deep_ranges)
{
        int32_t n = 0;

        while (push(A) >= 0)
                n++;
        ck_assert_int_eq(n, 4096);
        for (int i = 0; i < 9; i++)
                ck_assert_int_eq(push(A), RANGE_STACK_UNRECORDED);
        for (int i = 0; i < 10; i++)
                ck_assert_int_eq(end(A), RANGE_STACK_UNRECORDED);
        while (n > 0)
                ck_assert_int_eq(end(A), --n);
        ck_assert_uint_eq(range_stack_self.n, 0);
}
END_TEST

static void *use_ranges(void *arg)
{
        (void)arg;
        for (int i = 0; i < 100; i++)
                (void)push(A); /* never ended */
        return NULL;
}

START_TEST(test_threads_have_their_own)
{
        pthread_t thread;

        (void)push(A);
        ck_assert_int_eq(pthread_create(&thread, NULL, use_ranges, NULL), 0);
        ck_assert_int_eq(pthread_join(thread, NULL), 0);
        ck_assert_uint_eq(range_stack_self.n, 1);
        ck_assert_int_eq(end(A), 0);
}
END_TEST

static struct word_key key_of(unsigned i)
{
        return (struct word_key){ .a = i % 7, .b = i };
}

/* As an array would do, with any order of putting and taking. */
START_TEST(test_map)
{
        static int values[N_KEYS], others[N_KEYS];
        static void *model[N_KEYS];
        struct word_map map = { .n_used = 0 };
        unsigned seed = 1, n = 0;
        size_t place = 0;

        for (int step = 0; step < 200000; step++) {
                unsigned i = (seed = seed * 1103515245 + 12345) >> 8, what = i >> 16 & 3;

                i %= N_KEYS;
                if (what == 0) {
                        ck_assert(word_map_put(&map, key_of(i), &values[i]));
                        model[i] = &values[i];
                } else if (what == 1) {
                        void *kept = word_map_keep(&map, key_of(i), &others[i]);

                        model[i] = model[i] ? model[i] : &others[i];
                        ck_assert_ptr_eq(kept, model[i]);
                } else if (what == 2) {
                        ck_assert_ptr_eq(word_map_take(&map, key_of(i)), model[i]);
                        model[i] = NULL;
                }
                ck_assert_ptr_eq(word_map_find(&map, key_of(i)), model[i]);
        }
        for (unsigned i = 0; i < N_KEYS; i++) {
                ck_assert_ptr_eq(word_map_find(&map, key_of(i)), model[i]);
                n += model[i] != NULL;
        }
        ck_assert_uint_eq(map.n_used, n);
        ck_assert_ptr_null(word_map_keep(&map, key_of(0), NULL));
        for (; n > 0; n--)
                ck_assert_ptr_nonnull(word_map_take_next(&map, &place));
        ck_assert_ptr_null(word_map_take_next(&map, &place));
        free(map.places);
}
END_TEST

START_TEST(test_lock_of_this_thread_is_refused)
{
        struct inject_lock lock = { .holder = 0 };

        ck_assert(inject_lock(&lock));
        ck_assert(!inject_lock(&lock)); /* a signal handler in the middle */
        inject_unlock(&lock);
        lock.holder = UINT64_C(0x1234) << 48 | 8; /* left behind by a fork */
        ck_assert(inject_lock(&lock));
        inject_unlock(&lock);
}
END_TEST

START_TEST(test_memory_that_is_not_there)
{
        char from[] = "word", to[sizeof(from)] = "";
        const char *volatile nowhere = (const char *)16;

        ck_assert(inject_read(to, from, sizeof(from)));
        ck_assert_str_eq(to, "word");
        ck_assert(!inject_read(to, nowhere, sizeof(to)));
        ck_assert(!inject_write((void *)(uintptr_t)nowhere, from, sizeof(from)));
        ck_assert(!inject_write((void *)(uintptr_t)&key_of, from, sizeof(from)));
}
END_TEST

static bool is(struct inject_text text, const char *wanted)
{
        return text.n_bytes == strlen(wanted) && memcmp(text.at, wanted, text.n_bytes) == 0;
}

START_TEST(test_names_of_libomp)
{
        static const char *const others[] = {
                "", "main", "main$omp$parallel", "main$omp$parallel:2", "a@b.c:1", "main$omp$x@file", NULL
        };
        struct omp_region_name name = { .line = 7 };

        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
                ck_assert(!omp_region_parse(others[i], &name));
        ck_assert_uint_eq(name.line, 7);
        ck_assert(omp_region_parse("main$omp$parallel:2@dir/omp.c:4:1", &name));
        ck_assert(is(name.function, "main"));
        ck_assert(is(name.what, "parallel"));
        ck_assert(is(name.file, "dir/omp.c"));
        ck_assert_uint_eq(name.line, 4);
        ck_assert(omp_region_parse("unknown$omp$parallel:2@unknown:0:0", &name));
        ck_assert_uint_eq(name.line, 0);
        ck_assert_ptr_null(omp_region_location("parallel", &name));
}
END_TEST

START_TEST(test_wide_characters)
{
        char room[INJECT_WIDE_BYTES];
        wchar_t text[INJECT_WIDE_BYTES + 1];

        ck_assert(is(inject_text_of_wide(L"a\u00e4\u20ac\U0001f600", room),
                     "a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80"));
        ck_assert_uint_eq(inject_text_of_wide(NULL, room).n_bytes, 0);
        for (size_t i = 0; i < INJECT_WIDE_BYTES; i++)
                text[i] = L'\u20ac';
        text[INJECT_WIDE_BYTES] = 0;
        ck_assert_uint_eq(inject_text_of_wide(text, room).n_bytes % 3, 0);
        ck_assert_uint_gt(inject_text_of_wide(text, room).n_bytes, INJECT_WIDE_BYTES - 7);
}
END_TEST
