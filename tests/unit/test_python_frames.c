/* SPDX-License-Identifier: MIT */
/*
 * sampler/python/python_frames.c: what was read at a sample is merged when its native stack is there, also of
 * a process that has ended by then
 */
#include "sampler/pace/recorder_pace.h"
#include "sampler/python/python_frames.h"

#include "format/trace_dictionary.h"
#include "sampler/kernel/call_chain.h"
#include "sampler/python/python_layout.h"
#include "sampler/python/python_source.h"
#include "sampler/tracks/address_space.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/recording.h"
#include "symbolize/images/module_landmarks.h"
#include "tests/unit/unit_test.h"

#include <unistd.h>

#define EVAL_AVMA  0x1100
#define EVAL_BYTES 0x100
#define START_NS   1
#define SAMPLE_NS  2 /* long ago: memory is not read for it, which is counted */
#define END_NS     3

static const uint64_t version = UINT64_C(0x030b02f0);
static const uint8_t runtime[PYTHON_LAYOUT_HEAD_BYTES];

static struct trace_dictionary dictionary;
static struct loss_counter losses;
static struct recorder_pace pace;
static struct recording recording;
static struct python_frames *frames;
static struct call_chain chain;

static void setup(void)
{
        trace_dictionary_init(&dictionary, 0);
        recording = (struct recording){ .dictionary = &dictionary, .losses = &losses, .pace = &pace };
        recorder_pace_init(&pace, 0);
        ck_assert_int_eq(python_frames_new(&recording, false, &frames), 0);
        chain.frames[0] = (struct call_frame){ .avma = EVAL_AVMA + 8 };
        chain.n_frames = 1;
}

static void teardown(void)
{
        python_frames_free(frames);
        trace_dictionary_deinit(&dictionary);
}

START_TEST(test_process_ends_while_its_native_stack_waits)
{
        const struct python_mapping mapping = { .pid = (uint32_t)getpid(), .module = 1, .time_ns = START_NS };
        const struct module_landmarks found = { .python_runtime_svma = (uintptr_t)runtime,
                                                .python_version_svma = (uintptr_t)&version,
                                                .python_eval_svma = EVAL_AVMA,
                                                .python_eval_bytes = EVAL_BYTES };
        const struct python_sample_key key = { .pid = mapping.pid, .tid = mapping.pid, .time_ns = SAMPLE_NS };
        struct address_space space;

        address_space_init(&space);
        ck_assert_int_eq(python_frames_note(frames, &mapping, &found), 0);
        ck_assert_int_eq(python_frames_take(frames, &key, 0, NULL), 0);
        python_frames_keep(frames, &key);
        python_frames_forget(frames, key.pid, END_NS);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_PYTHON_LATE], 0);

        python_frames_recall(frames, key.tid, key.time_ns);
        python_frames_merge(frames, &space, &chain);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_PYTHON_LATE], 1);
        address_space_deinit(&space);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
