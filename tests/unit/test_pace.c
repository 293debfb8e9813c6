/* SPDX-License-Identifier: MIT */
/* sampler/pace/pace.h: no time or burst of the recorder defeats another one that it meets in the code */
#include "sampler/pace/pace.h"
#include "sampler/stacks/waiting_stacks.h"
#include "tests/unit/unit_test.h"

/*
 * The longest that kernel records, zones, and waits for tables and room take in one cycle.  The ends of
 * processes with a JIT, and searches in images, may come on top.
 */
static uint64_t longest_cycle_ns(void)
{
        return PACE_MERGE_KERNEL_NS + PACE_ZONES_CYCLE_NS + PACE_TABLES_WAIT_MAX_NS + PACE_KEEP_IN_WINDOW_NS;
}

START_TEST(test_pauses)
{
        /* The quiet pause is the default: a reason to come sooner must come sooner. */
        ck_assert_int_lt(PACE_LOOP_OPEN_MS, PACE_LOOP_QUIET_MS);
        ck_assert_int_lt(PACE_LOOP_CUT_MS, PACE_LOOP_QUIET_MS);
        ck_assert_int_lt(PACE_IMAGES_PAUSE_MS, PACE_LOOP_QUIET_MS);
        ck_assert_int_lt(PACE_LANDMARKS_PAUSE_MS, PACE_LOOP_QUIET_MS);
        ck_assert_int_lt(PACE_PYTHON_PAUSE_MS, PACE_LOOP_QUIET_MS);
        /* A ring that is new, and may be small, is looked at before the longest rest is over. */
        ck_assert_uint_lt(PACE_DRAIN_FIRST_NS, PACE_DRAIN_REST_MAX_NS);
        /* A list that is read each millisecond at first is read at the longer pause for a while then. */
        ck_assert_uint_lt(PACE_IMAGES_SOON_NS, PACE_IMAGES_EXPECTING_NS);
}
END_TEST

START_TEST(test_bells)
{
        /* The end of a window is seen at a look into the rings: there are several in each window. */
        ck_assert_uint_lt(PACE_BELLS_POLL_MS * NS_PER_MS, PACE_BELLS_WINDOW_NS);
        /* After urgent code the looks are more frequent. */
        ck_assert_int_lt(PACE_BELLS_URGENT_POLL_MS, PACE_BELLS_POLL_MS);
        /* A pool shows when it maps urgent code after a window: so long these looks have to go on. */
        ck_assert_uint_gt(PACE_BELLS_URGENT_NS, PACE_BELLS_WINDOW_NS);
        /* The opener's pause after a look does not make it miss the next poll. */
        ck_assert_uint_le(PACE_OPENER_PAUSE_MAX_NS, PACE_BELLS_URGENT_POLL_MS * NS_PER_MS);
        /* An opened file waits until the collector was told, woke up and came to its record. */
        ck_assert_uint_lt(PACE_OPENER_REPORT_NS + PACE_LOOP_QUIET_MS * NS_PER_MS + PACE_MERGE_KERNEL_NS +
                                  PACE_ZONES_CYCLE_NS,
                          PACE_OPENED_FILES_AGE_NS);
}
END_TEST

START_TEST(test_cycle)
{
        /* No program has all of a cycle's time for zones. */
        ck_assert_uint_lt(PACE_ZONES_REGION_NS, PACE_ZONES_CYCLE_NS);
        /* One cycle that uses up its time is not yet a program that delays the merge. */
        ck_assert_uint_lt(PACE_MERGE_KERNEL_NS + PACE_ZONES_CYCLE_NS, PACE_MERGE_BEHIND_NS);
        /* Nor is it, with the pause before it, a standstill of the recorder. */
        ck_assert_uint_lt(longest_cycle_ns() + PACE_LOOP_QUIET_MS * NS_PER_MS, PACE_ZONES_STANDSTILL_NS);
        /* A region that was handed in sees another cycle, in which its process may have become known. */
        ck_assert_uint_lt(longest_cycle_ns() + PACE_LOOP_QUIET_MS * NS_PER_MS, PACE_REGIONS_WAITING_NS);
        /* Events that are younger than the watermark are in no chunk: the first one must not be empty. */
        ck_assert_uint_lt(PACE_MERGE_LAG_NS, PACE_CHUNK_AGE_FIRST_NS);
        /* Ages of chunks are doubled from the first to the last. */
        ck_assert_uint_le(PACE_CHUNK_AGE_FIRST_NS, PACE_CHUNK_AGE_NS);
        /* A stack that was read at a switch's end finds the switch, which the watermark still holds back. */
        ck_assert_uint_lt(PACE_WAITS_LATE_NS, PACE_MERGE_LAG_NS);
        /* The last run may read what a cycle would leave. */
        ck_assert_uint_gt(PACE_ZONES_RING_LAST_BYTES, PACE_ZONES_RING_BYTES);
}
END_TEST

START_TEST(test_guard)
{
        /* Two looks show starvation: the guard raises the collector before that gives its priority up. */
        ck_assert_uint_lt(2 * PACE_GUARD_LATE_LOOK_NS, PACE_MERGE_BEHIND_NS);
        /* The share of a raised collector is judged at a look: at one of each window at least. */
        ck_assert_uint_lt(PACE_GUARD_RAISED_LOOK_NS, PACE_GUARD_WINDOW_NS);
        /* A look during the rest must not end it: other threads have their turn. */
        ck_assert_uint_gt(PACE_GUARD_REST_NS, PACE_GUARD_LATE_LOOK_NS);
        /* A probe must spin until a counter is late, or has stopped. */
        ck_assert_uint_lt(PACE_PROBE_LATE_NS, PACE_PROBE_SPIN_NS);
        ck_assert_uint_lt(PACE_PROBE_STOPPED_NS, PACE_PROBE_SPIN_NS);
}
END_TEST

START_TEST(test_tables)
{
        /* The collector's own wait for a table is shorter than that of stacks which are put aside. */
        ck_assert_uint_lt(PACE_TABLES_WAIT_NS, PACE_STACKS_WAIT_NS);
        /* The tables are patient until a stack is late, and are made then: before that stack is given up. */
        ck_assert_uint_lt(PACE_STACKS_LATE_NS, PACE_STACKS_WAIT_NS);
        /* As for the bytes: beyond the limit of memory a stack does not wait at all. */
        ck_assert_uint_lt(PACE_STACKS_LATE_BYTES, WAITING_STACKS_BYTES_MAX);
        /* One wait fits into the sum, and the sum leaves most of its window to the merge. */
        ck_assert_uint_le(PACE_TABLES_WAIT_NS, PACE_TABLES_WAIT_MAX_NS);
        ck_assert_uint_lt(PACE_TABLES_WAIT_MAX_NS, PACE_TABLES_WINDOW_NS);
        ck_assert_uint_le(PACE_KEEP_ROOM_NS, PACE_KEEP_IN_WINDOW_NS);
        ck_assert_uint_lt(PACE_KEEP_IN_WINDOW_NS, PACE_KEEP_WINDOW_NS);
        /* Both together, too: they are waits of the same thread. */
        ck_assert_uint_lt(PACE_TABLES_WAIT_MAX_NS + PACE_KEEP_IN_WINDOW_NS, PACE_TABLES_WINDOW_NS);
        /* The limit of processor time comes first for a file that keeps its parser busy. */
        ck_assert_int_lt(PACE_TABLES_CPU_S, PACE_TABLES_FILE_S);
}
END_TEST

START_TEST(test_images)
{
        /* A search begins when more than its time is saved up: that much can be saved. */
        ck_assert_uint_lt(PACE_IDENTITY_WRITABLE_NS, PACE_IMAGES_LEFT_NS);
        ck_assert_uint_lt(PACE_WATCHED_WHOLE_NS, PACE_IMAGES_LEFT_NS);
        /* Other searches begin while more than half is left: they do not use up that half. */
        ck_assert_uint_lt(PACE_IDENTITY_SEARCH_NS, PACE_IMAGES_LEFT_NS / 2);
        ck_assert_uint_lt(PACE_IMAGES_WHOLE_NS, PACE_IMAGES_LEFT_NS / 2);
        /* Searches for second wholes alone do not exceed the share, beyond which no image is watched. */
        ck_assert_uint_lt(PACE_WATCHED_SHARE * PACE_IDENTITY_SEARCH_NS, PACE_WATCHED_SEARCH_NS);
        /* Data is missing only after the looks in each cycle, and one at the longer pause, found none. */
        ck_assert_uint_gt(PACE_LANDMARKS_SAY_NS, PACE_LANDMARKS_READY_NS + PACE_LANDMARKS_AGAIN_NS);
}
END_TEST

START_TEST(test_python)
{
        /* A sample that waits for a pause and for the watermark is not too late for its frames. */
        ck_assert_uint_lt(PACE_PYTHON_PAUSE_MS * NS_PER_MS + PACE_MERGE_LAG_NS, PACE_PYTHON_LATE_NS);
        /* The record after a sample is in its ring before the sample's turn comes. */
        ck_assert_uint_lt(PACE_PYTHON_AFTER_NS, PACE_MERGE_LAG_NS);
        /* The nearest record counts, and the distance begins with the longer one. */
        ck_assert_uint_lt(PACE_PYTHON_AFTER_NS, PACE_PYTHON_BEFORE_NS);
}
END_TEST

START_TEST(test_control)
{
        /* A recorder in the middle of a cycle answers a request before its sender gives up. */
        ck_assert_uint_lt(longest_cycle_ns(), PACE_CONTROL_WAIT_MS * NS_PER_MS);
        /* So does one that waits for the end of a delay, and looks now and then. */
        ck_assert_uint_lt(PACE_DELAY_HELD_NS, PACE_CONTROL_WAIT_MS * NS_PER_MS);
        ck_assert_uint_lt(PACE_DELAY_HELD_NS, PACE_DELAY_LOOK_NS);
        /* A second recorder's answer comes within the time for all, and a request is repeated in it. */
        ck_assert_int_lt(PACE_CONTROL_OTHERS_MS, PACE_CONTROL_WAIT_MS);
        ck_assert_int_lt(PACE_CONTROL_RETRY_MS, PACE_CONTROL_WAIT_MS);
}
END_TEST

START_TEST(test_end)
{
        /* The last work after a signal ends before the command is given up: else that was not waited for. */
        ck_assert_uint_lt(PACE_END_GRACE_NS + PACE_ZONES_LAST_NS + PACE_END_STOPPED_NS, PACE_END_URGED_NS);
        /* A request to end shortens the last run, and the last wait for tables. */
        ck_assert_uint_lt(PACE_ZONES_LAST_NS, PACE_ZONES_FINAL_NS);
        ck_assert_uint_lt(PACE_END_STOPPED_NS, PACE_END_TABLES_NS);
        /* Waits for the writer notice a request to stop, and its deadline, at their looks. */
        ck_assert_uint_lt(PACE_WRITER_LOOK_NS, PACE_WRITER_STOPPED_CHUNK_NS);
        /* All chunks have no less time than one. */
        ck_assert_uint_le(PACE_WRITER_STOPPED_CHUNK_NS, PACE_WRITER_STOPPED_END_NS);
}
END_TEST
