/* SPDX-License-Identifier: MIT */
/* sampler/keep/kernel_code.c: an address is the code that was there at that time, or has no name */
#include "format/trace_dictionary.h"
#include "sampler/keep/kernel_code.h"
#include "sampler/kernel/call_chain.h"
#include "sampler/kernel/perf_record.h"
#include "sampler/stacks/stack_builder.h"
#include "sampler/tracks/address_space.h"
#include "tests/unit/unit_test.h"

#include <string.h>

#define A UINT64_C(0xffffffffc0001000)

static struct trace_dictionary dictionary;
static struct kernel_code code;

static void set_up(void)
{
        trace_dictionary_init(&dictionary, 0);
        code = (struct kernel_code){ .epoch = 0 };
}

static void tear_down(void)
{
        kernel_code_deinit(&code);
        trace_dictionary_deinit(&dictionary);
}

static void note(uint64_t start_avma, uint32_t n_bytes, const char *name, bool is_removed)
{
        const struct perf_kernel_code record = { .start_avma = start_avma,
                                                 .n_bytes = n_bytes,
                                                 .is_bpf = true,
                                                 .is_removed = is_removed,
                                                 .name = name,
                                                 .name_bytes = strlen(name) };

        ck_assert_int_eq(kernel_code_note(&code, &dictionary, &record), 0);
}

static void expect_text(uint32_t string, const char *wanted)
{
        struct text_view text = trace_dictionary_text(&dictionary, string);

        ck_assert_uint_eq(text.n_bytes, strlen(wanted));
        ck_assert_mem_eq(text.bytes, wanted, text.n_bytes);
}

static void expect(uint64_t avma, uint32_t wanted_generation, const char *wanted_name)
{
        uint32_t generation, name;

        kernel_code_find(&code, avma, &generation, &name);
        ck_assert_uint_eq(generation, wanted_generation);
        if (wanted_name)
                expect_text(name, wanted_name);
        else
                ck_assert_uint_eq(name, 0);
}

START_TEST(test_one_after_the_other)
{
        set_up();
        expect(A, 0, NULL);
        note(A, 0x100, "a", false);
        expect(A - 1, 0, NULL);
        expect(A, 1, "a [bpf]");
        expect(A + 0xff, 1, "a [bpf]");
        expect(A + 0x100, 0, NULL);
        note(A, 0x100, "a", true);
        expect(A, TRACE_MODULE_KERNEL_GONE, NULL);
        note(A + 0x80, 0x100, "b", false); /* over a part of it */
        expect(A + 0x7f, TRACE_MODULE_KERNEL_GONE, NULL);
        expect(A + 0x80, 2, "b [bpf]");
        expect(A + 0x17f, 2, "b [bpf]");
        note(A, 0x100, "c", false); /* the end of b was lost */
        expect(A + 0xff, 3, "c [bpf]");
        expect(A + 0x100, 2, "b [bpf]");
        tear_down();
}
END_TEST

/* One that is reported twice is one; the end of one of which nothing was known makes its memory unknown. */
START_TEST(test_records_that_say_little)
{
        uint64_t epoch;

        set_up();
        note(A, 0x100, "a", false);
        epoch = code.epoch;
        note(A, 0x100, "a", false);
        ck_assert_uint_eq(code.epoch, epoch);
        note(A, 0, "nothing", false);
        note(UINT64_MAX - 4, 0x100, "beyond the end", false);
        ck_assert_uint_eq(code.epoch, epoch);
        note(A + 0x1000, 0x100, "before", true);
        expect(A + 0x1000, TRACE_MODULE_KERNEL_GONE, NULL);
        tear_down();
}
END_TEST

static uint32_t frame_of(struct stack_builder *builder, const struct address_space *space, uint64_t avma)
{
        static struct call_chain chain;
        uint32_t stack = 0;

        chain.n_frames = 1;
        chain.frames[0] = (struct call_frame){ .avma = avma, .in_kernel = true };
        ck_assert_int_eq(stack_builder_add(builder, space, &chain, &stack), 0);
        return ((const struct trace_stack *)trace_dictionary_row(&dictionary, TRACE_TABLE_STACKS, stack))
                ->frame;
}

/* Frames have the name of what was there; that of a program from before the recording comes with its end. */
START_TEST(test_frames)
{
        static const char *const wanted[] = { "b [bpf]", "before [bpf]" };
        struct stack_builder builder = { .dictionary = &dictionary, .kernel_code = &code };
        struct address_space space;
        uint32_t own, before, after, frames[2];

        set_up();
        address_space_init(&space);
        ck_assert_int_eq(kernel_code_add(&code, A, 0x100), 0);
        own = frame_of(&builder, &space, A - 0x1000);
        before = frame_of(&builder, &space, A + 8);
        ck_assert_uint_eq(trace_dictionary_count(&dictionary, TRACE_TABLE_SYMBOLS), 0);
        ck_assert_uint_eq(frame_of(&builder, &space, A + 8), before);
        note(A + 0x1000, 0x100, "b", false);
        frames[0] = frame_of(&builder, &space, A + 0x1008);
        note(A, 0x100, "before", true);
        frames[1] = before;
        ck_assert_uint_eq(trace_dictionary_count(&dictionary, TRACE_TABLE_SYMBOLS), 2);
        for (uint32_t i = 0; i < 2; i++) {
                const struct trace_symbol *row = trace_dictionary_row(&dictionary, TRACE_TABLE_SYMBOLS,
                                                                      i + 1);

                ck_assert_uint_eq(row->frame, frames[i]);
                expect_text(row->function, wanted[i]);
        }
        after = frame_of(&builder, &space, A + 8);
        ck_assert_uint_ne(after, before);
        note(A, 0x80, "c", false);
        ck_assert_uint_ne(frame_of(&builder, &space, A + 8), after);
        ck_assert_uint_ne(frame_of(&builder, &space, A + 8), before);
        ck_assert_uint_eq(frame_of(&builder, &space, A - 0x1000), own);
        ck_assert_uint_eq(trace_dictionary_count(&dictionary, TRACE_TABLE_SYMBOLS), 3);
        stack_builder_deinit(&builder);
        address_space_deinit(&space);
        tear_down();
}
END_TEST

/* When there is no room for more, nothing there has a name. */
START_TEST(test_too_many)
{
        set_up();
        for (uint64_t i = 0; i < KERNEL_CODE_PIECES_MAX; i++)
                note(A + 0x100 * i, 0x80, "a", false);
        expect(A, 1, "a [bpf]");
        note(A - 0x1000, 0x80, "b", false);
        expect(A, TRACE_MODULE_KERNEL_GONE, NULL);
        expect(A - 0x1000, TRACE_MODULE_KERNEL_GONE, NULL);
        expect(A - 0x1001, 0, NULL);
        tear_down();
}
END_TEST
