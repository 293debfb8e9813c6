/* SPDX-License-Identifier: MIT */
/*
 * sampler/python/python_merge.c: Python frames stand where the interpreter evaluated them; what is folded,
 * and what is not
 */
#include "format/trace_dictionary.h"
#include "sampler/kernel/call_chain.h"
#include "sampler/python/python_merge.h"
#include "sampler/tracks/address_space.h"
#include "tests/unit/unit_test.h"

#include <stdio.h>
#include <string.h>

#define INTERPRETER_AVMA 0x1000
#define EVAL_AVMA        0x1100
#define EVAL_END         0x1200
#define REST_AVMA        0x1600 /* another part of the same function */
#define REST_END         0x1700
#define OTHER_AVMA       0x8000 /* an extension, or the C library */
#define TRAMPOLINE_AVMA  0xa000 /* made at run time */
#define INTERPRETER      1      /* rows of MODULES */
#define OTHER            2
#define MADE             3

static void add_modules(struct trace_dictionary *dictionary)
{
        const enum trace_module_kind kinds[] = { TRACE_MODULE_FILE, TRACE_MODULE_FILE,
                                                 TRACE_MODULE_ANONYMOUS };

        trace_dictionary_init(dictionary, 0);
        for (uint32_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
                const struct trace_module module = { .kind = kinds[i], .path = i + 1 };
                uint32_t id;

                ck_assert_int_eq(trace_dictionary_add(dictionary, TRACE_TABLE_MODULES, &module, &id), 0);
                ck_assert_uint_eq(id, i + 1);
        }
}

/*
 * @native: innermost first: E = an evaluation, R = the same in its other part, I = another function of the
 * interpreter, o = code of another module, T = code made at run time, k = the kernel.  @python: a letter a
 * frame, in capitals one that C called; a digit: those that are left out, of which so many were called by C.
 * Returns the merged stack, Python frames as they are.
 */
static const char *merge(const char *native, const char *python, bool has_root, bool keep_c)
{
        static struct call_chain chain, merged;
        static char text[64];
        struct address_space space;
        struct trace_dictionary dictionary;
        struct python_stack stack = { .n_frames = (uint32_t)strlen(python) };
        struct python_merge m = { .space = &space,
                                  .dictionary = &dictionary,
                                  .module = INTERPRETER,
                                  .eval = { { EVAL_AVMA, EVAL_END }, { REST_AVMA, REST_END } },
                                  .keep_c = keep_c };
        const struct address_range ranges[] = {
                { .start_avma = INTERPRETER_AVMA, .end_avma = 0x2000, .module = INTERPRETER },
                { .start_avma = OTHER_AVMA, .end_avma = 0x9000, .module = OTHER },
                { .start_avma = TRAMPOLINE_AVMA, .end_avma = 0xb000, .module = MADE },
        };
        size_t n = 0;

        add_modules(&dictionary);
        address_space_init(&space);
        ck_assert_int_eq(address_space_add(&space, &ranges[0]), 0);
        ck_assert_int_eq(address_space_add(&space, &ranges[1]), 0);
        ck_assert_int_eq(address_space_add(&space, &ranges[2]), 0);
        chain.n_frames = 0;
        chain.state = has_root ? TRACE_STACK_COMPLETE : TRACE_STACK_TRUNCATED;
        for (const char *at = native; *at; at++)
                chain.frames[chain.n_frames++] = (struct call_frame){
                        /* A return address may be the first byte after its function. */
                        .avma = *at == 'E'   ? EVAL_END
                                : *at == 'R' ? REST_AVMA + 8
                                : *at == 'I' ? INTERPRETER_AVMA + 8
                                : *at == 'T' ? TRAMPOLINE_AVMA + 8
                                             : OTHER_AVMA + 8,
                        .in_kernel = *at == 'k',
                        .return_address = true,
                };
        for (uint32_t i = 0; i < stack.n_frames; i++) {
                stack.frames[i] = (uint32_t)python[i];
                stack.is_entry[i] = python[i] >= 'A' && python[i] <= 'Z';
                if (python[i] >= '0' && python[i] <= '9') {
                        stack.gap_at = i;
                        stack.n_gap_entries = (uint32_t)(python[i] - '0');
                        stack.is_entry[i] = python[i] > '0';
                }
        }
        python_merge_run(&m, &stack, &chain, &merged);
        for (uint32_t i = 0; i < merged.n_frames; i++) {
                const struct call_frame *frame = &merged.frames[i];

                text[n++] = frame->is_row                   ? (char)frame->avma
                            : frame->in_kernel              ? '^'
                            : frame->avma == EVAL_END       ? '*'
                            : frame->avma < OTHER_AVMA      ? '+'
                            : frame->avma > TRAMPOLINE_AVMA ? '~'
                                                            : '-';
        }
        text[n] = '\0';
        address_space_deinit(&space);
        trace_dictionary_deinit(&dictionary);
        return text;
}

START_TEST(test_frames_take_the_place_of_their_evaluation)
{
        ck_assert_str_eq(merge("EIIo", "aB", true, false), "aB-");
        /* An extension called Python again: its own functions stay between. */
        ck_assert_str_eq(merge("EIoIEIIo", "aBcD", true, false), "aB-cD-");
}
END_TEST

START_TEST(test_the_other_part_of_a_split_function_is_an_evaluation)
{
        ck_assert_str_eq(merge("RIIo", "aB", true, false), "aB-");
        ck_assert_str_eq(merge("RIoIEIIo", "aBcD", true, false), "aB-cD-");
        ck_assert_str_eq(merge("IIRIo", "A", true, false), "++A-");
}
END_TEST

/* The callers beyond a gap take their own evaluations, however many are folded into the gap. */
START_TEST(test_frames_that_are_left_out)
{
        ck_assert_str_eq(merge("EIIo", "ab0cD", true, false), "ab0cD-");
        ck_assert_str_eq(merge("EIoEo", "ab1cD", true, false), "ab1-cD-");
        ck_assert_str_eq(merge("EIoEIEIEo", "aB2cD", true, false), "aB-2cD-");
        ck_assert_str_eq(merge("EEIoEIEIEo", "aB2cD", true, false), "aB-2cD-");
        ck_assert_str_eq(merge("EIoE", "aB3cD", false, false), "aB-3cD");
        ck_assert_str_eq(merge("EIIo", "ab0", true, false), "ab0-");
}
END_TEST

/* Of `-X perf`; a compiler's code between Python functions, and another hook for calls, stay. */
START_TEST(test_trampolines_are_folded)
{
        ck_assert_str_eq(merge("ETIETIIo", "AB", true, false), "AB-");
        ck_assert_str_eq(merge("ETIETIIo", "AB", true, true), "A*~+B*~++-");
        ck_assert_str_eq(merge("EITIEIo", "AB", true, false), "A~B-");
        ck_assert_str_eq(merge("EToEIo", "AB", true, false), "A~-B-");
        ck_assert_str_eq(merge("EoIEIo", "AB", true, false), "A-B-");
        ck_assert_str_eq(merge("TIEIo", "A", true, false), "~+A-");
}
END_TEST

START_TEST(test_what_the_innermost_function_called_stays)
{
        ck_assert_str_eq(merge("koIIEIo", "A", true, false), "^-++A-");
}
END_TEST

START_TEST(test_nothing_is_folded_when_all_is_kept)
{
        ck_assert_str_eq(merge("IEIo", "aB", true, true), "+aB*+-");
}
END_TEST

START_TEST(test_an_evaluation_that_has_just_begun_has_no_frame)
{
        ck_assert_str_eq(merge("EIoEo", "A", true, false), "-A-");
}
END_TEST

START_TEST(test_an_evaluation_that_was_not_recognized)
{
        ck_assert_str_eq(merge("oEo", "AB", true, false), "-AB-");
        ck_assert_str_eq(merge("oo", "AB", true, false), "--AB");
}
END_TEST

START_TEST(test_without_a_root_they_match_from_the_leaf)
{
        ck_assert_str_eq(merge("EoEo", "AbCD", false, false), "A-bC-D");
}
END_TEST

/* Frames that were read later. */
START_TEST(test_as_many_groups_as_evaluations_fit)
{
        static struct call_chain chain;
        const struct python_merge m = { .eval = { { EVAL_AVMA, EVAL_END } } };
        const struct python_stack two = { .n_frames = 3, .is_entry = { true, false, true } };
        const struct python_stack one = { .n_frames = 2, .is_entry = { false, true } };
        const struct python_stack three = { .n_frames = 3, .is_entry = { true, true, true } };

        chain.n_frames = 2;
        chain.frames[0] = chain.frames[1] = (struct call_frame){ .avma = EVAL_AVMA };
        chain.state = TRACE_STACK_COMPLETE;
        ck_assert(python_merge_fits(&m, &two, &chain));
        ck_assert(!python_merge_fits(&m, &one, &chain));
        ck_assert(!python_merge_fits(&m, &three, &chain));
        chain.state = TRACE_STACK_TRUNCATED; /* outer evaluations are missing */
        ck_assert(python_merge_fits(&m, &three, &chain));
        ck_assert(!python_merge_fits(&m, &one, &chain));
}
END_TEST

START_TEST(test_frames_that_could_not_be_read_are_left_out)
{
        static struct call_chain chain, merged;
        struct address_space space;
        struct python_merge m = { .space = &space, .eval = { { EVAL_AVMA, EVAL_END } } };
        struct python_stack stack = { .n_frames = 3,
                                      .frames = { 7, 0, 9 },
                                      .is_entry = { false, false, true } };

        address_space_init(&space);
        chain.n_frames = 1;
        chain.state = TRACE_STACK_COMPLETE;
        chain.frames[0] = (struct call_frame){ .avma = EVAL_AVMA };
        python_merge_run(&m, &stack, &chain, &merged);
        ck_assert_uint_eq(merged.n_frames, 2);
        ck_assert_uint_eq(merged.frames[0].avma, 7);
        ck_assert_uint_eq(merged.frames[1].avma, 9);
        address_space_deinit(&space);
}
END_TEST

START_TEST(test_an_evaluation_of_unreadable_frames_stays)
{
        static struct call_chain chain, merged;
        struct address_space space;
        struct python_merge m = { .space = &space, .eval = { { EVAL_AVMA, EVAL_END } } };
        struct python_stack stack = { .n_frames = 2, .is_entry = { false, true } };

        address_space_init(&space);
        chain.n_frames = 1;
        chain.state = TRACE_STACK_COMPLETE;
        chain.frames[0] = (struct call_frame){ .avma = EVAL_AVMA };
        python_merge_run(&m, &stack, &chain, &merged);
        ck_assert_uint_eq(merged.n_frames, 1);
        ck_assert_uint_eq(merged.frames[0].avma, EVAL_AVMA);
        ck_assert(!merged.frames[0].is_row);
        address_space_deinit(&space);
}
END_TEST

/* More frames than a chain can have: none is written past its end. */
START_TEST(test_a_full_chain_is_cut)
{
        static struct call_chain chain, merged;
        struct address_space space;
        struct python_merge m = { .space = &space, .eval = { { EVAL_AVMA, EVAL_END } } };
        struct python_stack stack = { .n_frames = PYTHON_FRAMES_MAX };

        address_space_init(&space);
        chain.n_frames = CALL_CHAIN_FRAMES_MAX;
        chain.state = TRACE_STACK_COMPLETE;
        memset(chain.frames, 0, sizeof(chain.frames));
        for (uint32_t i = 0; i < PYTHON_FRAMES_MAX; i++)
                stack.frames[i] = i + 1;
        python_merge_run(&m, &stack, &chain, &merged);
        ck_assert_uint_eq(merged.n_frames, CALL_CHAIN_FRAMES_MAX);
        address_space_deinit(&space);
}
END_TEST
