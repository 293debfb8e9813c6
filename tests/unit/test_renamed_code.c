/* SPDX-License-Identifier: MIT */
/*
 * sampler/jit/renamed_code.c: code that a perf map names anew is replaced at the recorded moment, or
 * has no name in between
 */
#include "sampler/jit/renamed_code.h"

#include "sampler/kernel/perf_record.h"
#include "sampler/pace/pace.h"
#include "tests/unit/unit_test.h"

#define CODE_AVMA  UINT64_C(0x10000)
#define CODE_BYTES 16
#define TICK_NS    4

static struct renamed_code renamed;

static void teardown(void)
{
        renamed_code_deinit(&renamed);
}

/* The kernel reports memory that is made executable. */
static void make_executable(uint64_t time_ns, bool writable)
{
        const struct perf_mmap mmap = {
                .start_avma = CODE_AVMA, .length_bytes = 4096, .executable = true, .writable = writable
        };

        renamed_code_note(&renamed, &mmap, time_ns);
        renamed_code_note(&renamed, &mmap, time_ns); /* ahead of its turn, and in it */
}

static void add_line(uint32_t name)
{
        const struct trace_code_region row = {
                .start_avma = CODE_AVMA, .length_bytes = CODE_BYTES, .time_ns = 90, .process = 1, .name = name
        };

        ck_assert_int_eq(renamed_code_add(&renamed, &row), 0);
        ck_assert(renamed_code_waits(&renamed, &row));
}

static void add_fresh(uint64_t start_avma, uint64_t length_bytes, uint32_t name)
{
        const struct trace_code_region row = {
                .start_avma = start_avma, .length_bytes = length_bytes, .process = 1, .name = name
        };

        ck_assert_int_eq(renamed_code_add_fresh(&renamed, &row), 0);
}

static void end_reading(uint64_t now_ns, uint64_t changed_ns, size_t n_lines)
{
        const struct renamed_reading reading = { .empty_ns = now_ns,
                                                 .now_ns = now_ns,
                                                 .changed_ns = changed_ns,
                                                 .changed_until_ns = changed_ns > 0 ? changed_ns + TICK_NS
                                                                                    : 0,
                                                 .lag_ns = 2,
                                                 .n_lines = n_lines };

        ck_assert_int_eq(renamed_code_end_reading(&renamed, &reading), 0);
}

/* The next change; name 0: unknown. */
static void expect(uint64_t time_ns, uint32_t name)
{
        struct trace_code_region row;

        ck_assert_uint_eq(renamed_code_next_ns(&renamed), time_ns);
        ck_assert(!renamed_code_next(&renamed, time_ns - 1, &row));
        ck_assert(renamed_code_next(&renamed, time_ns, &row));
        ck_assert_uint_eq(row.gone, name == 0);
        if (name != 0)
                ck_assert_uint_eq(row.name, name);
}

static void expect_nothing(void)
{
        struct trace_code_region row;

        ck_assert_uint_eq(renamed_code_next_ns(&renamed), UINT64_MAX);
        ck_assert(!renamed_code_next(&renamed, UINT64_MAX, &row));
}

START_TEST(a_record_is_the_moment)
{
        end_reading(100, 0, 1);
        make_executable(150, false);
        add_line(7);
        end_reading(200, 190, 1);
        expect(150, 7);
        expect_nothing();
}
END_TEST

START_TEST(as_many_records_as_lines_are_their_moments)
{
        end_reading(100, 0, 1);
        make_executable(160, false); /* of another ring, out of order */
        make_executable(150, false);
        add_line(7);
        add_line(8);
        end_reading(200, 190, 2);
        expect(150, 7);
        expect(160, 8);
        expect_nothing();
}
END_TEST

START_TEST(without_a_record_nobody_knows_until_it_was_read)
{
        end_reading(100, 0, 1);
        add_line(7);
        end_reading(200, 0, 1);
        expect(100, 0);
        expect(200, 7);
        expect_nothing();
}
END_TEST

START_TEST(the_time_of_the_file_narrows_the_window)
{
        end_reading(100, 0, 1);
        add_line(7);
        end_reading(200, 150, 1);
        expect(150, 0);
        expect(154, 7);
        add_line(8);
        end_reading(300, 250, 2); /* the other line may have been later */
        expect(200, 0);
        expect(254, 8);
        expect_nothing();
}
END_TEST

/*
 * Another number of records than of lines: which belongs to which is not known.  So it is
 * where code can be written.
 */
START_TEST(records_that_do_not_fit_are_no_moments)
{
        end_reading(100, 0, 1);
        make_executable(130, false);
        make_executable(140, false);
        make_executable(150, false);
        add_line(7);
        end_reading(200, 0, 1);
        expect(100, 0);
        expect(200, 7);
        make_executable(250, true);
        add_line(8);
        end_reading(300, 0, 1);
        expect(200, 0);
        expect(300, 8);
        expect_nothing();
}
END_TEST

/*
 * A program that is preempted between the record and the line: each line still has its
 * own record, and only one.
 */
START_TEST(a_line_may_come_long_after_its_record)
{
        end_reading(100, 0, 1);
        make_executable(110, false);
        make_executable(120, false);
        add_line(7);
        end_reading(200, 0, 1);
        expect(110, 7);
        make_executable(220, false);
        make_executable(230, false);
        add_line(8);
        add_line(9);
        end_reading(300, 0, 2);
        expect(201, 8); /* since 120, but samples until the last reading are taken */
        expect(220, 9);
        expect_nothing();
        add_line(10);
        make_executable(320, false);
        end_reading(400, 0, 1);
        expect(301, 10);
        expect_nothing();
}
END_TEST

/* The code of a line about memory without a name was made executable, too. */
START_TEST(fresh_memory_has_its_record)
{
        make_executable(50, false);
        add_fresh(CODE_AVMA, CODE_BYTES, 1);
        ck_assert_int_eq(renamed_code_sort(&renamed), 0);
        end_reading(100, 0, 1);
        renamed.n_fresh = 0;
        make_executable(150, false);
        add_line(7);
        end_reading(200, 0, 1);
        expect(150, 7);
        expect_nothing();
}
END_TEST

/*
 * A program that changes code without a new name makes memory executable without a line: a
 * record more may be either.
 */
START_TEST(after_a_record_without_a_line_none_waits)
{
        const uint64_t late_ns = 2 * PACE_JIT_SETTLED_NS;

        end_reading(100, 0, 1);
        make_executable(110, false);
        end_reading(late_ns, 0, 0);
        make_executable(late_ns + 10, false);
        add_line(7);
        end_reading(late_ns + 100, late_ns + 20, 1);
        expect(late_ns + 10, 7);
        make_executable(late_ns + 110, false);
        make_executable(late_ns + 120, false);
        add_line(8);
        end_reading(late_ns + 200, 0, 1);
        expect(late_ns + 100, 0);
        expect(late_ns + 200, 8);
        make_executable(late_ns + 210, false);
        add_line(9);
        end_reading(late_ns + 300, 0, 1); /* which records have a line is not known */
        expect(late_ns + 200, 0);
        expect(late_ns + 300, 9);
        end_reading(3 * late_ns, 0, 0); /* after a while without records it is */
        make_executable(3 * late_ns + 10, false);
        add_line(10);
        end_reading(3 * late_ns + 100, 3 * late_ns + 20, 1);
        expect(3 * late_ns + 10, 10);
        make_executable(3 * late_ns + 150, false);
        end_reading(3 * late_ns + 200, 0, 0);
        add_line(11);
        end_reading(3 * late_ns + 300, 0, 1); /* one of before the reading may have no line */
        expect(3 * late_ns + 200, 0);
        expect(3 * late_ns + 300, 11);
        expect_nothing();
}
END_TEST

/* More records than are kept: which belongs to which is not known. */
START_TEST(too_many_records)
{
        end_reading(100, 0, 1);
        for (uint64_t i = 0; i <= RENAMED_CODE_MADE_MAX; i++) {
                make_executable(110 + i, false);
                if (i > 0)
                        add_line((uint32_t)i);
        }
        end_reading(1000, 0, RENAMED_CODE_MADE_MAX);
        expect(100, 0);
}
END_TEST

/*
 * The record is there, and its line is written after the map was read: samples since
 * the record wait for both.
 */
START_TEST(a_line_may_come_after_its_record)
{
        end_reading(100, 0, 1);
        make_executable(199, false);
        end_reading(200, 0, 0);
        add_line(7);
        end_reading(300, 0, 1);
        expect(199, 7);
        expect_nothing();
}
END_TEST

/* An old map: no samples were taken while it was written. */
START_TEST(of_an_old_map_the_last_line_counts)
{
        add_line(7);
        add_line(8);
        end_reading(UINT64_C(5000000000), 100, 2);
        expect(90, 7);
        expect(90, 8);
        expect_nothing();
}
END_TEST

/* ---- memory that had no name --------------------------------------------------------------------------- */

/* Lines that name memory alone stay, in their order; those that share some are renamings, in theirs. */
START_TEST(several_names_for_fresh_memory)
{
        add_fresh(0x500, 16, 1);
        add_fresh(0x100, 16, 2);
        add_fresh(0x100, 16, 3);
        add_fresh(0x400, 16, 4);
        add_fresh(0x10f, 1, 5); /* the last byte of 2 and 3 */
        add_fresh(0x110, 16, 6);
        ck_assert_int_eq(renamed_code_sort(&renamed), 0);
        ck_assert_uint_eq(renamed.n_fresh, 3);
        ck_assert_uint_eq(renamed.fresh[0].row.name, 1);
        ck_assert_uint_eq(renamed.fresh[1].row.name, 4);
        ck_assert_uint_eq(renamed.fresh[2].row.name, 6);
        ck_assert_uint_eq(renamed.n_lines, 3);
        ck_assert_uint_eq(renamed.lines[0].row.name, 2);
        ck_assert_uint_eq(renamed.lines[1].row.name, 3);
        ck_assert_uint_eq(renamed.lines[2].row.name, 5);
}
END_TEST

/* Samples that were written before the first reading are of either: they have neither name. */
START_TEST(several_names_in_the_first_reading)
{
        make_executable(150, false);
        make_executable(160, false);
        add_fresh(CODE_AVMA, CODE_BYTES, 1);
        add_fresh(CODE_AVMA, CODE_BYTES, 2);
        ck_assert_int_eq(renamed_code_sort(&renamed), 0);
        end_reading(200, 190, 2);
        expect(149, 0);
        expect(150, 1);
        expect(160, 2);
        expect_nothing();
}
END_TEST

/* A short line within a long one, after another short one. */
START_TEST(names_within_a_name)
{
        add_fresh(0x100, 0x100, 1);
        add_fresh(0x120, 4, 2);
        add_fresh(0x180, 4, 3);
        ck_assert_int_eq(renamed_code_sort(&renamed), 0);
        ck_assert_uint_eq(renamed.n_fresh, 0);
        ck_assert_uint_eq(renamed.n_lines, 3);
}
END_TEST

/* The same line twice is one name; with another name for its memory it is none. */
START_TEST(a_line_that_is_repeated)
{
        add_fresh(0x100, 16, 1);
        add_fresh(0x200, 16, 2);
        add_fresh(0x100, 16, 1);
        ck_assert_int_eq(renamed_code_sort(&renamed), 0);
        ck_assert_uint_eq(renamed.n_fresh, 3);
        renamed.n_fresh = 0;
        add_fresh(0x100, 16, 1);
        add_fresh(0x100, 16, 1);
        add_fresh(0x108, 16, 3);
        ck_assert_int_eq(renamed_code_sort(&renamed), 0);
        ck_assert_uint_eq(renamed.n_fresh, 0);
        ck_assert_uint_eq(renamed.n_lines, 3);
}
END_TEST

/* It overlaps what is renamed in the same reading. */
START_TEST(fresh_memory_beside_renamed)
{
        add_line(1);
        add_fresh(CODE_AVMA + CODE_BYTES - 1, 16, 2);
        ck_assert_int_eq(renamed_code_sort(&renamed), 0);
        ck_assert_uint_eq(renamed.n_fresh, 0);
        ck_assert_uint_eq(renamed.n_lines, 2);
        ck_assert_uint_eq(renamed.lines[0].row.name, 1);
}
END_TEST

/*
 * Two readings before any of it takes effect: what the first one knew ends where the window of
 * the second one begins.
 */
START_TEST(windows_follow_each_other)
{
        struct renamed_reading reading = { .empty_ns = 95, .now_ns = 100, .n_lines = 1 };

        end_reading(50, 0, 0);
        add_line(1);
        ck_assert_int_eq(renamed_code_end_reading(&renamed, &reading), 0);
        add_line(2);
        reading = (struct renamed_reading){ .empty_ns = 195, .now_ns = 200, .n_lines = 1 };
        ck_assert_int_eq(renamed_code_end_reading(&renamed, &reading), 0);
        expect(50, 0);
        expect(95, 1);
        expect(95, 0);
        expect(195, 2);
        expect_nothing();
}
END_TEST

/* As many lines as moments: the first line is of a moment before them, and the last moment waits for its. */
START_TEST(a_line_that_is_too_late_is_not_of_the_next_moment)
{
        const uint64_t late_ns = 2 * PACE_JIT_SETTLED_NS;

        end_reading(100, 0, 1);
        make_executable(110, false);
        end_reading(late_ns, 0, 0); /* no line so far */
        add_line(7);
        make_executable(late_ns + 10, false);
        add_line(8);
        make_executable(late_ns + 20, false);
        end_reading(late_ns + 22, late_ns + 18, 2);
        expect(late_ns, 0);
        expect(late_ns, 0);
        expect(late_ns + 22, 8);
        expect_nothing();
}
END_TEST

/*
 * A line came so late that no moment is known to be its own.  The code that was made executable just before
 * that reading got its line after it: what lies between them has neither name.
 */
START_TEST(a_young_moment_ends_the_name_of_a_window)
{
        struct renamed_reading reading = {
                .empty_ns = 300000000, .now_ns = 300000000, .lag_ns = 20, .n_lines = 1
        };

        end_reading(100, 0, 0);
        make_executable(150, false);
        end_reading(200000000, 0, 0);
        end_reading(299999950, 0, 0); /* the moment got no line */
        make_executable(299999990, false);
        add_line(1);
        add_line(2); /* two at once, of one moment */
        ck_assert_int_eq(renamed_code_end_reading(&renamed, &reading), 0);
        make_executable(300000050, false);
        add_line(3);
        reading.empty_ns = reading.now_ns = 300000100;
        ck_assert_int_eq(renamed_code_end_reading(&renamed, &reading), 0);
        for (int line = 1; line <= 2; line++)
                expect(299999950, 0);
        for (int change = 0; change < 2;
             change++) /* the second name, in doubt now, and the window of the third */
                expect(299999989, 0);
        expect(300000100, 3);
        expect_nothing();
}
END_TEST

UNIT_TEST_PLAN(.teardown = teardown);
