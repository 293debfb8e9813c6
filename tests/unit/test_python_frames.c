/* SPDX-License-Identifier: MIT */
/*
 * sampler/python/python_frames.c: what was read at a sample is merged when its native stack is there, also of
 * a process that has ended by then; the next program of a process has functions of its own
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

#include <string.h>
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

/* Stands for the program of BPF: the one frame that it reads at each sample. */
struct python_source {
        struct python_processes table;
        struct python_raw_frame frame;
        uint32_t n_frames; /* all the same; 0 stands for 1 */
        uint32_t n_left_out;
};

static struct python_source source;

struct python_processes *python_source_processes(struct python_source *s)
{
        return s ? &s->table : NULL;
}

void python_source_look(struct python_source *s)
{
        (void)s;
}

int python_source_find(struct python_source *s, const struct python_sample_key *key, uint32_t flag,
                       const struct python_copies_sink *sink, struct python_sample *ret_sample)
{
        (void)key;
        (void)flag;
        (void)sink;
        ret_sample->n_frames = s->n_frames != 0 ? s->n_frames : 1;
        ret_sample->flags = ret_sample->n_left_out_entries = 0;
        ret_sample->n_left_out = s->n_left_out;
        for (uint32_t i = 0; i < ret_sample->n_frames; i++)
                ret_sample->frames[i] = s->frame;
        return 1;
}

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

static void note_interpreter(uint64_t time_ns)
{
        const struct python_mapping mapping = { .pid = (uint32_t)getpid(), .module = 1, .time_ns = time_ns };
        const struct module_landmarks found = { .python_runtime_svma = (uintptr_t)runtime,
                                                .python_version_svma = (uintptr_t)&version,
                                                .python_eval_svma = EVAL_AVMA,
                                                .python_eval_bytes = EVAL_BYTES };

        ck_assert_int_eq(python_frames_note(frames, &mapping, &found), 0);
}

START_TEST(test_process_ends_while_its_native_stack_waits)
{
        const uint32_t pid = (uint32_t)getpid();
        const struct python_sample_key key = { .pid = pid, .tid = pid, .time_ns = SAMPLE_NS };
        uint64_t n_samples, n_bare;
        struct address_space space;

        address_space_init(&space);
        note_interpreter(START_NS);
        ck_assert_int_eq(python_frames_take(frames, &key, 0, NULL), 0);
        python_frames_keep(frames, &key);
        python_frames_forget(frames, key.pid, END_NS);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_PYTHON_LATE], 0);

        python_frames_recall(frames, key.tid, key.time_ns);
        python_frames_merge(frames, &space, &chain);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_PYTHON_LATE], 1);
        python_frames_count(frames, &n_samples, &n_bare);
        ck_assert_uint_eq(n_samples, 1);
        ck_assert_uint_eq(n_bare, 1);

        note_interpreter(START_NS);
        ck_assert_int_eq(python_frames_take(frames, &key, PYTHON_FLAG_SWITCH, NULL), 0);
        python_frames_merge(frames, &space, &chain); /* of a wait: it is counted as lost, and is no sample */
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_PYTHON_LATE], 2);
        python_frames_count(frames, &n_samples, &n_bare);
        ck_assert_uint_eq(n_samples, 1);
        ck_assert_uint_eq(n_bare, 1);
        address_space_deinit(&space);
}
END_TEST

/* A str of CPython 3.11. */
static void set_text(uint64_t text[16], const struct python_objects *objects, const char *words)
{
        text[objects->text_length / 8] = strlen(words);
        text[objects->text_state / 8] = 1 << 2 | 1 << 5 | 1 << 6;
        memcpy((char *)text + objects->text_ascii, words, strlen(words));
}

/* Where nothing tells code objects apart, one is looked at now and then; in another program at once. */
START_TEST(test_the_next_program_has_its_own_functions)
{
        static uint64_t code[64], first[16], second[16], file[16], lines[8];
        const uint32_t pid = (uint32_t)getpid();
        const struct python_sample_key key = { .pid = pid, .tid = pid, .time_ns = SAMPLE_NS };
        const char *const names[] = { "first", "second" };
        struct python_layout layout;

        ck_assert_int_eq(python_layout_find(version, runtime, &layout), 0);
        set_text(first, &layout.objects, names[0]);
        set_text(second, &layout.objects, names[1]);
        set_text(file, &layout.objects, "/srv/net.py");
        code[layout.objects.code_file / 8] = (uintptr_t)file;
        code[layout.objects.code_lines / 8] = (uintptr_t)lines;
        source.frame.code = (uintptr_t)code;
        recording.python_source = &source;
        python_frames_free(frames);
        ck_assert_int_eq(python_frames_new(&recording, false, &frames), 0);
        for (uint32_t i = 0; i < 2; i++) {
                const struct trace_symbol *row;

                code[layout.objects.code_name / 8] = (uintptr_t)(i == 0 ? first : second);
                note_interpreter(START_NS);
                ck_assert_int_eq(python_frames_take(frames, &key, 0, NULL), 0);
                ck_assert_uint_eq(trace_dictionary_count(&dictionary, TRACE_TABLE_SYMBOLS), i + 1);
                row = trace_dictionary_row(&dictionary, TRACE_TABLE_SYMBOLS, i + 1);
                ck_assert(text_view_is(trace_dictionary_text(&dictionary, row->function), names[i]));
                python_frames_forget(frames, pid, END_NS);
        }
}
END_TEST

/* A deep recursion: the frames that were left out in the middle are said to be missing, once a sample. */
START_TEST(test_frames_that_were_left_out)
{
        const uint32_t pid = (uint32_t)getpid();
        const struct python_sample_key key = { .pid = pid, .tid = pid, .time_ns = SAMPLE_NS };

        recording.python_source = &source;
        source.n_frames = PYTHON_FRAMES_MAX;
        python_frames_free(frames);
        ck_assert_int_eq(python_frames_new(&recording, false, &frames), 0);
        note_interpreter(START_NS);
        ck_assert_int_eq(python_frames_take(frames, &key, 0, NULL), 0);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_PYTHON_MIDDLE], 0);
        source.n_left_out = 7;
        ck_assert_int_eq(python_frames_take(frames, &key, 0, NULL), 0);
        ck_assert_uint_eq(losses.totals[TRACE_LOSS_PYTHON_MIDDLE], 1);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
