/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/weak_memory.c: the small programs that tell memory models apart have the outcomes that C11 gives
 * them, and no others
 */
#include "tests/unit/weak_memory.h"

#include "tests/unit/unit_test.h"

#include <stdint.h>

#include "tests/unit/weak_builtins.h"

static struct {
        uint64_t data, flag, plain;
} shared;
static uint64_t seen[2];
static int order; /* of the stores, and as it fits of the loads */
static bool was_seen;

static void begin(void)
{
        memset(&shared, 0, sizeof(shared));
        memset(seen, 0, sizeof(seen));
}

static int order_of_loads(void)
{
        return order == __ATOMIC_RELEASE ? __ATOMIC_ACQUIRE : order;
}

static struct weak_result run(void (*first)(void), void (*second)(void), const char *(*end)(void))
{
        struct weak_check check = { .begin = begin,
                                    .threads = { first, second },
                                    .end = end,
                                    .base = &shared,
                                    .n_bytes = sizeof(shared),
                                    .n_switches = 4,
                                    .n_old = 2 };

        was_seen = false;
        return weak_memory_check(&check, NULL);
}

static const char *note_both_old(void)
{
        was_seen |= seen[0] == 0 && seen[1] == 0;
        return NULL;
}

static const char *note_flag_alone(void)
{
        was_seen |= seen[0] == 1 && seen[1] == 0;
        return NULL;
}

/* Each stores one, and looks at the other's. */
static void store_data_read_flag(void)
{
        __atomic_store_n(&shared.data, 1, order);
        seen[0] = __atomic_load_n(&shared.flag, order_of_loads());
}

static void store_flag_read_data(void)
{
        __atomic_store_n(&shared.flag, 1, order);
        seen[1] = __atomic_load_n(&shared.data, order_of_loads());
}

START_TEST_IF(WEAK_MEMORY_RUNS, both_see_old_values_unless_all_is_ordered)
{
        order = __ATOMIC_RELEASE;
        ck_assert_ptr_null(run(store_data_read_flag, store_flag_read_data, note_both_old).wrong);
        ck_assert(was_seen);
        order = __ATOMIC_SEQ_CST;
        ck_assert_ptr_null(run(store_data_read_flag, store_flag_read_data, note_both_old).wrong);
        ck_assert(!was_seen);
}
END_TEST

static void store_data_then_flag(void)
{
        __atomic_store_n(&shared.data, 1, __ATOMIC_RELAXED);
        __atomic_store_n(&shared.flag, 1, order);
}

static void read_flag_then_data(void)
{
        seen[0] = __atomic_load_n(&shared.flag, order_of_loads());
        seen[1] = __atomic_load_n(&shared.data, __ATOMIC_RELAXED);
}

START_TEST_IF(WEAK_MEMORY_RUNS, a_release_brings_what_came_before)
{
        order = __ATOMIC_RELAXED;
        (void)run(store_data_then_flag, read_flag_then_data, note_flag_alone);
        ck_assert(was_seen);
        order = __ATOMIC_RELEASE;
        (void)run(store_data_then_flag, read_flag_then_data, note_flag_alone);
        ck_assert(!was_seen);
}
END_TEST

/* A read-modify-write without an order goes on a release. */
static void store_then_add(void)
{
        __atomic_store_n(&shared.data, 1, __ATOMIC_RELAXED);
        __atomic_store_n(&shared.flag, 2, __ATOMIC_RELEASE);
        (void)__atomic_fetch_and(&shared.flag, 0, __ATOMIC_RELAXED);
        (void)__atomic_fetch_or(&shared.flag, 1, __ATOMIC_RELAXED);
}

static void read_in_order(void)
{
        seen[0] = __atomic_load_n(&shared.flag, __ATOMIC_ACQUIRE);
        seen[1] = __atomic_load_n(&shared.data, __ATOMIC_RELAXED);
}

START_TEST_IF(WEAK_MEMORY_RUNS, a_change_goes_on_a_release)
{
        (void)run(store_then_add, read_in_order, note_flag_alone);
        ck_assert(!was_seen);
}
END_TEST

static void store_twice(void)
{
        __atomic_store_n(&shared.flag, 1, __ATOMIC_RELAXED);
        __atomic_store_n(&shared.flag, 2, __ATOMIC_RELAXED);
}

static void read_twice(void)
{
        uint64_t first = __atomic_load_n(&shared.flag, __ATOMIC_RELAXED);
        uint64_t second = __atomic_load_n(&shared.flag, __ATOMIC_RELAXED);

        if (second < first)
                weak_fail("one variable went back");
}

START_TEST_IF(WEAK_MEMORY_RUNS, one_variable_never_goes_back)
{
        ck_assert_ptr_null(run(store_twice, read_twice, note_both_old).wrong);
}
END_TEST

static void add_one(void)
{
        uint64_t value = 0;

        (void)__atomic_add_fetch(&shared.data, 1, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(&shared.flag, &value, value + 1, false, __ATOMIC_RELAXED,
                                            __ATOMIC_RELAXED))
                ;
}

static const char *adds_up(void)
{
        return shared.data == 2 && shared.flag == 2 ? NULL : "an addition was lost";
}

START_TEST_IF(WEAK_MEMORY_RUNS, changes_are_whole)
{
        struct weak_result r = run(add_one, add_one, adds_up);

        ck_assert_ptr_null(r.wrong);
        ck_assert_uint_gt(r.n_runs, 4);
}
END_TEST

static void write_plain(void)
{
        weak_write(&shared.plain, sizeof(shared.plain));
        shared.plain = 1;
        __atomic_store_n(&shared.flag, 1, order);
}

static void read_plain(void)
{
        if (__atomic_load_n(&shared.flag, order_of_loads()) == 1)
                weak_read(&shared.plain, sizeof(shared.plain));
}

START_TEST_IF(WEAK_MEMORY_RUNS, plain_memory_needs_an_order)
{
        order = __ATOMIC_RELEASE;
        ck_assert_ptr_null(run(write_plain, read_plain, note_both_old).wrong);
        order = __ATOMIC_RELAXED;
        ck_assert_str_eq(run(write_plain, read_plain, note_both_old).wrong,
                         "read without having seen the last write");
}
END_TEST

static void read_plain_then_flag(void)
{
        weak_read(&shared.plain, sizeof(shared.plain));
        __atomic_store_n(&shared.flag, 1, order);
}

static void overwrite(void)
{
        if (__atomic_load_n(&shared.flag, order_of_loads()) == 1)
                weak_write(&shared.plain, sizeof(shared.plain));
}

START_TEST_IF(WEAK_MEMORY_RUNS, a_reader_must_have_ended)
{
        order = __ATOMIC_RELEASE;
        ck_assert_ptr_null(run(read_plain_then_flag, overwrite, note_both_old).wrong);
        order = __ATOMIC_RELAXED;
        ck_assert_str_eq(run(read_plain_then_flag, overwrite, note_both_old).wrong,
                         "written while it may still be read");
}
END_TEST

static bool is_flagged(void)
{
        return shared.flag != 0;
}

static void wait_for_flag(void)
{
        weak_wait(is_flagged);
}

START_TEST_IF(WEAK_MEMORY_RUNS, who_waits_in_vain_is_found)
{
        order = __ATOMIC_RELEASE;
        ck_assert_ptr_null(run(wait_for_flag, store_data_then_flag, note_both_old).wrong);
        ck_assert_str_eq(run(wait_for_flag, wait_for_flag, note_both_old).wrong, "all threads wait");
}
END_TEST
