/* SPDX-License-Identifier: MIT */
/*
 * sampler/python/python_interpreters.c: an interpreter that is announced ahead of its turn is in the table at
 * once, and is known in its turn, whatever the process did before and has done since
 */
#include "sampler/python/python_interpreters.h"

#include "format/trace_dictionary.h"
#include "tests/unit/unit_test.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define VERSION  UINT64_C(0x030b02f0)
#define MODULE   7
#define EXEC_NS  100
#define MAP_NS   200
#define LATER_NS 300

static const uint64_t version = VERSION;
static const uint8_t runtime[PYTHON_LAYOUT_HEAD_BYTES];

static struct trace_dictionary dictionary;
static struct python_processes *table;
static struct python_interpreters interpreters;
static pid_t child; /* it has the same memory */

static void setup(void)
{
        trace_dictionary_init(&dictionary, 0);
        table = calloc(1, sizeof(*table));
        ck_assert_ptr_nonnull(table);
        interpreters = (struct python_interpreters){ .dictionary = &dictionary, .table = table };
        child = fork();
        ck_assert_int_ge(child, 0);
        if (child == 0)
                for (;;)
                        (void)pause();
}

static void end_child(void)
{
        if (child > 0) {
                ck_assert_int_eq(kill(child, SIGKILL), 0);
                ck_assert_int_eq(waitpid(child, NULL, 0), child);
        }
        child = 0;
}

static void teardown(void)
{
        end_child();
        python_interpreters_deinit(&interpreters);
        trace_dictionary_deinit(&dictionary);
        free(table);
}

static struct python_landmarks landmarks_at(uint64_t mapped_ns)
{
        return (struct python_landmarks){ .runtime_avma = (uintptr_t)runtime,
                                          .version_avma = (uintptr_t)&version,
                                          .eval = { { 0x1000, 0x2000 } },
                                          .mapped_ns = mapped_ns,
                                          .module = MODULE };
}

static void announce(uint32_t pid, uint64_t mapped_ns)
{
        const struct python_landmarks landmarks = landmarks_at(mapped_ns);

        ck_assert_int_eq(python_interpreters_announce(&interpreters, pid, &landmarks), 0);
}

static void add(uint32_t pid, uint64_t mapped_ns)
{
        const struct python_landmarks landmarks = landmarks_at(mapped_ns);

        ck_assert_int_eq(python_interpreters_add(&interpreters, pid, &landmarks), 0);
}

/* Its slot, all 0 if it has none. */
static struct python_process entered(uint32_t pid)
{
        for (size_t i = 0; i < PYTHON_SLOTS; i++)
                if (table->slots[i].pid == pid)
                        return table->slots[i];
        return (struct python_process){ .pid = 0 };
}

static bool is_known(uint32_t pid)
{
        const struct python_interpreter *found = python_interpreters_find(&interpreters, pid);

        ck_assert(!found || (found->pid == pid && found->module == MODULE));
        return found != NULL;
}

/* The lock, its holder and the interpreters lie where the version has them in its runtime. */
START_TEST(test_places_in_the_runtime)
{
        const uint32_t pid = (uint32_t)child;
        struct python_layout layout;
        struct python_process process;

        ck_assert_int_eq(python_layout_find(VERSION, runtime, &layout), 0);
        ck_assert(layout.interpreters != 0 && layout.current != 0 && layout.gil != 0);
        add(pid, MAP_NS);
        process = entered(pid);
        ck_assert_uint_eq(process.interpreters_avma, (uintptr_t)runtime + layout.interpreters);
        ck_assert_uint_eq(process.current_avma, (uintptr_t)runtime + layout.current);
        ck_assert_uint_eq(process.gil_avma, (uintptr_t)runtime + layout.gil);
}
END_TEST

/* A version without such a place has none, wherever its runtime is. */
START_TEST(test_places_that_the_runtime_has_not)
{
        static const uint64_t newer_version = UINT64_C(0x030c01f0);
        const uint32_t pid = (uint32_t)child;
        struct python_landmarks landmarks = landmarks_at(MAP_NS);

        landmarks.version_avma = (uintptr_t)&newer_version;
        ck_assert_int_eq(python_interpreters_add(&interpreters, pid, &landmarks), 0);
        ck_assert_uint_eq(entered(pid).pid, pid);
        ck_assert_uint_eq(entered(pid).current_avma, 0);
        ck_assert_uint_eq(entered(pid).gil_avma, 0);
}
END_TEST

/* Its program begins before its mapping, and both have their turns after the announcement. */
START_TEST(test_announced_interpreter_is_known_in_its_turn)
{
        const uint32_t pid = (uint32_t)child;
        uint64_t serial;

        announce(pid, MAP_NS);
        ck_assert_uint_eq(entered(pid).pid, pid);
        ck_assert(!is_known(pid));
        serial = entered(pid).serial;

        python_interpreters_forget(&interpreters, pid, EXEC_NS);
        ck_assert_uint_eq(entered(pid).pid, pid);
        add(pid, MAP_NS);
        ck_assert(is_known(pid));
        ck_assert_uint_eq(entered(pid).serial, serial);

        python_interpreters_forget(&interpreters, pid, LATER_NS);
        ck_assert_uint_eq(entered(pid).pid, 0);
        ck_assert(!is_known(pid));
        ck_assert_uint_eq(interpreters.n_items, 0);
}
END_TEST

/* A short program has ended when its mapping has its turn. */
START_TEST(test_announced_interpreter_of_a_process_that_has_ended)
{
        const uint32_t pid = (uint32_t)child;

        announce(pid, MAP_NS);
        end_child();
        add(pid, MAP_NS);
        ck_assert(is_known(pid));
        python_interpreters_forget(&interpreters, pid, LATER_NS);
        add(pid, MAP_NS);
        ck_assert(!is_known(pid));
}
END_TEST

/* Before its program ran, its memory was not yet what it is. */
START_TEST(test_announced_interpreter_of_another_version)
{
        static const uint64_t unknown_version = UINT64_C(0x036300f0);
        const uint32_t pid = (uint32_t)child;
        struct python_landmarks landmarks = landmarks_at(MAP_NS);

        announce(pid, MAP_NS);
        landmarks.version_avma = (uintptr_t)&unknown_version;
        ck_assert_int_eq(python_interpreters_add(&interpreters, pid, &landmarks), 0);
        ck_assert(!is_known(pid));
        ck_assert_uint_eq(entered(pid).pid, 0);
        ck_assert_uint_eq(trace_dictionary_count(&dictionary, TRACE_TABLE_NOTICES), 1);
}
END_TEST

/*
 * ld.so maps all of a file first, and its data over that later: until then there are other bytes, or none.
 * The shared CPython 3.13 has its table of offsets there.
 */
START_TEST(test_data_is_mapped_after_the_code)
{
        static const uint64_t newer_version = UINT64_C(0x030d00f0), other_bytes = UINT64_C(0x00841f0f2e66);
        const uint32_t pid = (uint32_t)child;
        struct python_landmarks landmarks = landmarks_at(MAP_NS);

        landmarks.version_avma = (uintptr_t)&newer_version; /* `runtime` is not laid out as in 3.13 */
        ck_assert_int_eq(python_interpreters_announce(&interpreters, pid, &landmarks), 1);
        ck_assert_int_eq(python_interpreters_add(&interpreters, pid, &landmarks), 1);
        landmarks.version_avma = (uintptr_t)&other_bytes;
        ck_assert_int_eq(python_interpreters_announce(&interpreters, pid, &landmarks), 1);
        ck_assert_int_eq(python_interpreters_add(&interpreters, pid, &landmarks), 1);
        landmarks = landmarks_at(MAP_NS);
        landmarks.runtime_avma = 8;
        ck_assert_int_eq(python_interpreters_add(&interpreters, pid, &landmarks), 1);
        ck_assert(!is_known(pid));
        ck_assert_uint_eq(entered(pid).pid, 0);
        ck_assert_uint_eq(trace_dictionary_count(&dictionary, TRACE_TABLE_NOTICES), 0);

        add(pid, MAP_NS);
        announce(pid, MAP_NS); /* what was tried ahead of its turn comes too late */
        ck_assert(is_known(pid));
        ck_assert_uint_eq(entered(pid).serial, 1);
        ck_assert_uint_eq(interpreters.n_items, 1);

        landmarks.runtime_avma = 8;
        end_child();
        ck_assert_int_eq(python_interpreters_add(&interpreters, pid, &landmarks), 0);
}
END_TEST

/* The one before it is known until the announced one has its turn. */
START_TEST(test_next_program_of_a_process)
{
        const uint32_t pid = (uint32_t)child;

        add(pid, MAP_NS);
        announce(pid, LATER_NS);
        ck_assert(is_known(pid));
        ck_assert_uint_eq(entered(pid).since_ns, LATER_NS);
        add(pid, MAP_NS); /* another mapping of the first one */
        ck_assert_uint_eq(entered(pid).since_ns, LATER_NS);

        python_interpreters_forget(&interpreters, pid, MAP_NS + 1);
        ck_assert(!is_known(pid));
        add(pid, LATER_NS);
        ck_assert(is_known(pid));
        ck_assert_uint_eq(interpreters.n_items, 1);
}
END_TEST

/* The child's own program was announced before the fork had its turn. */
START_TEST(test_child_with_a_program_of_its_own)
{
        const uint32_t parent = (uint32_t)getpid(), pid = (uint32_t)child;

        add(parent, EXEC_NS);
        announce(pid, LATER_NS);
        ck_assert_int_eq(python_interpreters_fork(&interpreters, parent, pid, MAP_NS), 0);
        ck_assert(is_known(pid));
        ck_assert_uint_eq(entered(pid).since_ns, LATER_NS);
        python_interpreters_forget(&interpreters, pid, MAP_NS + 1);
        ck_assert(!is_known(pid));
        ck_assert_uint_eq(entered(pid).since_ns, LATER_NS);
        ck_assert(is_known(parent));
}
END_TEST

/* Where memory is read later there is nothing to be announced. */
START_TEST(test_without_a_table_nothing_is_announced)
{
        const uint32_t pid = (uint32_t)child;

        interpreters.table = NULL;
        announce(pid, MAP_NS);
        ck_assert_uint_eq(interpreters.n_items, 0);
        add(pid, MAP_NS);
        ck_assert(is_known(pid));
}
END_TEST

/* Processes that never have their turn fill no memory. */
START_TEST(test_announcements_are_bounded)
{
        for (uint64_t i = 1; i < 3 * PYTHON_SLOTS; i++)
                announce((uint32_t)child, MAP_NS + i);
        ck_assert_uint_le(interpreters.n_items, PYTHON_SLOTS);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
