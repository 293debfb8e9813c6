/* SPDX-License-Identifier: MIT */
/*
 * sampler/stacks/stack_builder.c: frames name the byte of the file; equal callers are stored once; a
 * full table cuts and counts
 */
#include "format/trace_dictionary.h"
#include "sampler/kernel/call_chain.h"
#include "sampler/stacks/stack_builder.h"
#include "sampler/tracks/address_space.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <string.h>

#define CODE_AVMA    0x400000 /* the file's byte 0x1000 */
#define CODE_OFFSET  0x1000
#define ANON_AVMA    0x700000
#define NOWHERE_AVMA 0x900000

struct fixture {
        struct trace_dictionary dictionary;
        struct address_space space;
        struct stack_builder builder;
        struct call_chain chain;
        uint32_t code, vdso, anonymous; /* modules */
};

static struct fixture f;

static uint32_t add_module(enum trace_module_kind kind, uint64_t start_avma, uint64_t file_off)
{
        struct trace_module row = { .kind = kind };
        struct address_range range = { .start_avma = start_avma,
                                       .end_avma = start_avma + 0x10000,
                                       .file_offset_bytes = file_off };

        ck_assert_int_eq(trace_dictionary_add(&f.dictionary, TRACE_TABLE_MODULES, &row, &range.module), 0);
        ck_assert_int_eq(address_space_add(&f.space, &range), 0);
        return range.module;
}

static void set_up(uint32_t n_rows_max)
{
        memset(&f, 0, sizeof(f));
        trace_dictionary_init(&f.dictionary, n_rows_max);
        address_space_init(&f.space);
        f.builder.dictionary = &f.dictionary;
        f.code = add_module(TRACE_MODULE_FILE, CODE_AVMA, CODE_OFFSET);
        f.anonymous = add_module(TRACE_MODULE_ANONYMOUS, ANON_AVMA, 0x5000);
        f.vdso = add_module(TRACE_MODULE_VDSO, 0x800000, 0);
}

static void teardown(void)
{
        stack_builder_deinit(&f.builder);
        address_space_deinit(&f.space);
        trace_dictionary_deinit(&f.dictionary);
}

/* Adds a frame, innermost first, at the end of the chain. */
static void add_frame(uint64_t avma, bool in_kernel)
{
        f.chain.frames[f.chain.n_frames] = (struct call_frame){ .avma = avma,
                                                                .in_kernel = in_kernel,
                                                                .return_address = f.chain.n_frames > 0 };
        f.chain.n_frames++;
}

static uint32_t build(void)
{
        uint32_t stack = UINT32_MAX;

        ck_assert_int_eq(stack_builder_add(&f.builder, &f.space, &f.chain, &stack), 0);
        f.chain.n_frames = 0;
        return stack;
}

static struct trace_stack stack_row(uint32_t id)
{
        const struct trace_stack *row = trace_dictionary_row(&f.dictionary, TRACE_TABLE_STACKS, id);

        return *row;
}

static struct trace_frame frame_of(uint32_t stack)
{
        const struct trace_frame *row = trace_dictionary_row(&f.dictionary, TRACE_TABLE_FRAMES,
                                                             stack_row(stack).frame);

        return *row;
}

START_TEST(test_each_kind_of_frame)
{
        static const char kernel[] = "[kernel]";
        const struct trace_module *module;
        uint32_t stack;
        size_t n_bytes;

        set_up(0);
        add_frame(UINT64_C(0xffffffff81000010), true);
        add_frame(CODE_AVMA + 0x123, false);
        add_frame(ANON_AVMA + 0x45, false);
        add_frame(0x800000 + 0x67, false);
        add_frame(NOWHERE_AVMA, false);
        stack = build();

        /* innermost: the kernel, at its address */
        module = trace_dictionary_row(&f.dictionary, TRACE_TABLE_MODULES, frame_of(stack).module);
        ck_assert_uint_eq(module->kind, TRACE_MODULE_KERNEL);
        ck_assert_mem_eq(trace_dictionary_string(&f.dictionary, module->path, &n_bytes), kernel,
                         sizeof(kernel) - 1);
        ck_assert_uint_eq(n_bytes, sizeof(kernel) - 1);
        ck_assert_uint_eq(frame_of(stack).offset, UINT64_C(0xffffffff81000010));
        ck_assert_uint_eq(frame_of(stack).flags, 0);

        stack = stack_row(stack).parent; /* a file: which byte of it, wherever it was mapped */
        ck_assert_uint_eq(frame_of(stack).module, f.code);
        ck_assert_uint_eq(frame_of(stack).offset, CODE_OFFSET + 0x123);
        ck_assert_uint_eq(frame_of(stack).flags, TRACE_FRAME_RETURN_ADDRESS);

        stack = stack_row(stack).parent; /* no file's: there is nothing but the address */
        ck_assert_uint_eq(frame_of(stack).module, f.anonymous);
        ck_assert_uint_eq(frame_of(stack).offset, ANON_AVMA + 0x45);

        stack = stack_row(stack).parent;
        ck_assert_uint_eq(frame_of(stack).module, f.vdso);
        ck_assert_uint_eq(frame_of(stack).offset, 0x67);

        stack = stack_row(stack).parent; /* outside of every mapping */
        ck_assert_uint_eq(frame_of(stack).module, 0);
        ck_assert_uint_eq(frame_of(stack).offset, NOWHERE_AVMA);
        ck_assert_uint_eq(stack_row(stack).parent, 0);
        ck_assert_uint_eq(f.builder.n_cut, 0);
}
END_TEST

START_TEST(test_callers_are_shared)
{
        uint32_t first, second, again;

        set_up(0);
        for (uint64_t leaf = 0; leaf < 2; leaf++) {
                add_frame(CODE_AVMA + 8 * leaf, false);
                add_frame(CODE_AVMA + 0x100, false);
                add_frame(CODE_AVMA + 0x200, false);
                *(leaf == 0 ? &first : &second) = build();
        }
        ck_assert_uint_ne(first, second);
        ck_assert_uint_eq(stack_row(first).parent, stack_row(second).parent);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_STACKS), 4);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_FRAMES), 4);

        add_frame(CODE_AVMA, false);
        add_frame(CODE_AVMA + 0x100, false);
        add_frame(CODE_AVMA + 0x200, false);
        again = build();
        ck_assert_uint_eq(again, first);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_STACKS), 4);

        /* The same address as where it stood and as where it will return to: two frames. */
        add_frame(CODE_AVMA + 0x200, false);
        (void)build();
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_FRAMES), 5);
}
END_TEST

/* The kernel is one module, however many stacks begin in it. */
START_TEST(test_one_kernel)
{
        uint32_t n_modules;

        set_up(0);
        n_modules = trace_dictionary_count(&f.dictionary, TRACE_TABLE_MODULES);
        for (uint64_t i = 0; i < 10; i++) {
                add_frame(UINT64_C(0xffffffff81000000) + i, true);
                (void)build();
        }
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_MODULES), n_modules + 1);
}
END_TEST

/* The rest of a stack is its root: it still says whose work it was. */
START_TEST(test_full_table)
{
        uint32_t stack;

        set_up(4);
        for (uint64_t i = 0; i < 6; i++)
                add_frame(CODE_AVMA + i, false);
        stack = build();
        ck_assert_uint_eq(f.builder.n_cut, 1);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_STACKS), 4);
        for (uint64_t i = 2; i < 6; i++) {
                ck_assert_uint_eq(frame_of(stack).offset, CODE_OFFSET + i);
                stack = stack_row(stack).parent;
        }
        ck_assert_uint_eq(stack, 0);

        add_frame(CODE_AVMA + 7, false); /* not even one */
        ck_assert_uint_eq(build(), 0);
        ck_assert_uint_eq(f.builder.n_cut, 2);
}
END_TEST

/* A recursion has few frames, and as many stacks as it is deep. */
START_TEST(test_full_table_of_stacks)
{
        uint32_t stack;

        set_up(4);
        for (uint64_t i = 0; i < 6; i++)
                add_frame(CODE_AVMA + i % 2, false);
        stack = build();
        ck_assert_uint_eq(f.builder.n_cut, 1);
        ck_assert_uint_lt(trace_dictionary_count(&f.dictionary, TRACE_TABLE_FRAMES), 4);
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_STACKS), 4);
        for (uint64_t i = 2; i < 6; i++) {
                ck_assert_uint_eq(frame_of(stack).offset, CODE_OFFSET + i % 2);
                stack = stack_row(stack).parent;
        }
        ck_assert_uint_eq(stack, 0);
}
END_TEST

/* Where callers are missing, the mark stands for them, as the root; else there is none. */
START_TEST(test_mark)
{
        uint32_t stack, whole;
        const struct trace_module *mark;

        set_up(0);
        f.chain.state = TRACE_STACK_APPROXIMATE;
        add_frame(CODE_AVMA + 1, false);
        whole = build();
        ck_assert_uint_eq(stack_row(whole).parent, 0);

        f.chain.state = TRACE_STACK_LEFT_CODE;
        add_frame(CODE_AVMA + 1, false);
        stack = build();
        ck_assert_uint_ne(stack, whole);
        ck_assert_uint_eq(frame_of(stack).offset, CODE_OFFSET + 1);
        stack = stack_row(stack).parent;
        ck_assert_uint_ne(stack, 0);
        ck_assert_uint_eq(stack_row(stack).parent, 0);
        ck_assert_uint_eq(frame_of(stack).offset, 0);
        mark = trace_dictionary_row(&f.dictionary, TRACE_TABLE_MODULES, frame_of(stack).module);
        ck_assert_uint_eq(mark->kind, TRACE_MODULE_MARK);

        f.chain.state = TRACE_STACK_TRUNCATED; /* even of nothing */
        ck_assert_uint_eq(build(), stack);
}
END_TEST

/* A kernel's frame is remembered beyond the address space, but below its own callers alone. */
START_TEST(test_kernel_in_every_space)
{
        uint32_t first, other;

        set_up(0);
        f.space.generation = 1;
        add_frame(UINT64_C(0xffffffff81000010), true);
        add_frame(CODE_AVMA + 1, false);
        first = build();
        f.space.generation = 2; /* as of another process with the same mappings */
        add_frame(UINT64_C(0xffffffff81000010), true);
        add_frame(CODE_AVMA + 1, false);
        ck_assert_uint_eq(build(), first);

        (void)add_module(TRACE_MODULE_FILE, CODE_AVMA, CODE_OFFSET + 0x100);
        f.space.generation = 3;
        add_frame(UINT64_C(0xffffffff81000010), true);
        add_frame(CODE_AVMA + 1, false);
        other = build();
        ck_assert_uint_ne(other, first);
        ck_assert_uint_eq(stack_row(other).frame, stack_row(first).frame);
        ck_assert_uint_eq(frame_of(stack_row(other).parent).offset, CODE_OFFSET + 0x101);
}
END_TEST

/* Remembered frames are forgotten with the generation: the same address may be of another file. */
START_TEST(test_memory)
{
        uint32_t first, other;

        set_up(0);
        f.space.generation = 1;
        add_frame(CODE_AVMA + 1, false);
        add_frame(CODE_AVMA + 2, false);
        first = build();
        add_frame(CODE_AVMA + 1, false);
        add_frame(CODE_AVMA + 2, false);
        ck_assert_uint_eq(build(), first);
        add_frame(CODE_AVMA + 1, true); /* the same numbers, in the kernel */
        add_frame(CODE_AVMA + 2, false);
        ck_assert_uint_ne(build(), first);

        (void)add_module(TRACE_MODULE_FILE, CODE_AVMA, CODE_OFFSET + 0x100);
        ck_assert_uint_eq(f.space.generation, 0);
        for (f.space.generation = 0; f.space.generation < 3; f.space.generation += 2) {
                add_frame(CODE_AVMA + 1, false);
                add_frame(CODE_AVMA + 2, false);
                other = build();
                ck_assert_uint_eq(frame_of(other).offset, CODE_OFFSET + 0x101);
        }
}
END_TEST

#define N_MANY 60000

/*
 * The frames of stack @n, innermost first: more callees of one frame, and more callers of another one, than
 * are remembered.
 */
static void many_frames(uint32_t n, uint64_t *ret_avma)
{
        ret_avma[0] = CODE_AVMA + n % 2;
        ret_avma[1] = CODE_AVMA + 0x100 + n / 2;
        ret_avma[2] = CODE_AVMA + 0x10;
}

/* More rows than are remembered: each stack has its own frames all the same, and one row. */
START_TEST(test_many_stacks)
{
        static uint32_t first[N_MANY];
        uint64_t avma[3];

        set_up(0);
        f.space.generation = 1;
        for (uint32_t n = 0; n < 2 * N_MANY; n++) {
                uint32_t which = (uint32_t)((uint64_t)n * 40507 % N_MANY), stack, at;

                many_frames(which, avma);
                for (int i = 0; i < 3; i++)
                        add_frame(avma[i], false);
                at = stack = build();
                for (int i = 0; i < 3; i++) {
                        ck_assert_uint_eq(frame_of(at).offset, avma[i] - CODE_AVMA + CODE_OFFSET);
                        at = stack_row(at).parent;
                }
                ck_assert_uint_eq(at, 0);
                if (n < N_MANY)
                        first[which] = stack;
                ck_assert_uint_eq(first[which], stack);
        }
        ck_assert_uint_eq(trace_dictionary_count(&f.dictionary, TRACE_TABLE_STACKS), N_MANY + N_MANY / 2 + 1);
}
END_TEST

UNIT_TEST_PLAN(.teardown = teardown);
