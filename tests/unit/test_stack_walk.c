/* SPDX-License-Identifier: MIT */
/*
 * unwind/stack_walk.c: every kind of frame leads to its caller; what cannot be known ends a walk and says why
 */
#include "tests/unit/fixed_random.h"
#include "tests/unit/stack_scene.h"
#include "tests/unit/unit_test.h"
#include "unwind/stack_walk.h"

static struct stack_scene s;

static void setup(void)
{
        stack_scene_begin_x86_64(&s);
}

static void teardown(void)
{
        stack_scene_end(&s);
}

/* In place of the table with all rules, none so far. */
static void begin_anew(const struct unwind_machine *machine)
{
        stack_scene_end(&s);
        stack_scene_begin(&s, machine);
}

START_TEST(test_plain_calls)
{
        s.words[1] = BIAS + PLAIN + 5;
        s.words[3] = BIAS + ROOT + 9;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_ROOT,
                           PCS(BIAS + PLAIN, BIAS + PLAIN + 5, BIAS + ROOT + 9));
        ck_assert(s.walk.frames[0].is_exact && !s.walk.frames[1].is_exact);
        ck_assert_uint_eq(s.walk.frames[0].cfa_avma, STACK + 16);
        ck_assert_uint_eq(s.walk.frames[1].cfa_avma, STACK + 32);
        ck_assert_uint_eq(s.walk.frames[1].way, STACK_WALK_WAY_TABLE);
}
END_TEST

START_TEST(test_tables_only)
{
        s.words[4] = 0;
        s.words[5] = BIAS + ROOT + 9;
        s.words[1] = JIT + 5;
        s.input.registers.values[unwind_machine_x86_64.fp] = STACK + 32;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_ROOT,
                           PCS(BIAS + PLAIN, JIT + 5, BIAS + ROOT + 9));
        s.input.tables_only = true;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_NO_TABLE, PCS(BIAS + PLAIN, JIT + 5));
}
END_TEST

/* A call as a function's last instruction: the return address belongs to what comes after it. */
START_TEST(test_call_at_the_end_of_a_function)
{
        s.words[1] = BIAS + PLAIN + 0x40;
        s.words[3] = BIAS + ROOT + 9;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_ROOT,
                           PCS(BIAS + PLAIN, BIAS + PLAIN + 0x40, BIAS + ROOT + 9));
}
END_TEST

#define FILE_END 0x100000 /* no code is there */

/* How the last function of a file, which saves rbx at CFA - 16, says what does not fit into a rule. */
static const struct {
        uint8_t bytes[12];
        size_t n_bytes;
} last_functions[] = {
        { { 0x0e, 24, 0x83, 2 }, 4 },                                     /* but for rbx, it does */
        { { 0x0f, 4, 0x77, 0, 0x23, 24, 0x83, 2 }, 8 },                   /* CFA by an expression */
        { { 0x0e, 24, 0x83, 2, 0x10, 16, 4, 0x77, 0, 0x23, 16 }, 11 },    /* where the return address is */
        { { 0x0e, 24, 0x83, 2, 0x16, 16, 5, 0x77, 0, 0x23, 16, 6 }, 12 }, /* the return address itself */
};

/* The same where nothing comes after it: what the table says of the call counts. */
START_LOOP_TEST(test_call_at_the_end_of_a_file, 0, sizeof(last_functions) / sizeof(last_functions[0]))
{
        const struct unwind_machine *m = &unwind_machine_x86_64;
        static const struct cfi_builder_cie cie = { .version = 1 };

        begin_anew(m);
        cfi_builder_add_cie(&s.builder, &cie, CFI_BYTES(0x0c, 7, 8, 0x90, 1));
        stack_scene_add(&s, PLAIN, CFI_BYTES(0x0e, 16));
        stack_scene_add(&s, ROOT, CFI_BYTES(0x07, 16));
        stack_scene_add(&s, BY_RBX, CFI_BYTES(0x0c, 3, 8));
        stack_scene_add(&s, FILE_END - 0x40, last_functions[_i].bytes, last_functions[_i].n_bytes);
        s.table = cfi_builder_table(&s.builder, m);
        s.words[1] = BIAS + FILE_END;
        s.words[3] = STACK + 20 * 8; /* rbx */
        s.words[4] = BIAS + BY_RBX + 1;
        s.words[20] = BIAS + ROOT + 1;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_ROOT,
                           PCS(BIAS + PLAIN, BIAS + FILE_END, BIAS + BY_RBX + 1, BIAS + ROOT + 1));
}
END_TEST

START_TEST(test_frame_pointer_by_rule)
{
        s.input.registers.values[6] = STACK + 64;
        s.words[8] = STACK + 128; /* the caller's */
        s.words[9] = BIAS + FRAMED + 3;
        s.words[16] = 77;
        s.words[17] = BIAS + ROOT + 1;
        stack_scene_expect(&s, BIAS + FRAMED, STACK_WALK_END_ROOT,
                           PCS(BIAS + FRAMED, BIAS + FRAMED + 3, BIAS + ROOT + 1));
}
END_TEST

/* The slot is below the stack pointer: the register has been restored already. */
START_TEST(test_epilogue)
{
        s.input.registers.values[6] = STACK + 64;
        s.words[0] = BIAS + FRAMED + 3;
        s.words[9] = BIAS + ROOT + 1;
        stack_scene_expect(&s, BIAS + EPILOGUE, STACK_WALK_END_ROOT,
                           PCS(BIAS + EPILOGUE, BIAS + FRAMED + 3, BIAS + ROOT + 1));
}
END_TEST

START_TEST(test_lost_frame_pointer)
{
        s.words[0] = BIAS + PLAIN + 1; /* which needs none */
        s.words[2] = BIAS + FRAMED + 1;
        stack_scene_expect(&s, BIAS + FP_LOST, STACK_WALK_END_NO_REGISTER,
                           PCS(BIAS + FP_LOST, BIAS + PLAIN + 1, BIAS + FRAMED + 1));
}
END_TEST

START_TEST(test_plt)
{
        s.words[0] = BIAS + ROOT + 1;
        stack_scene_expect(&s, BIAS + PLT + 0x16, STACK_WALK_END_ROOT,
                           PCS(BIAS + PLT + 0x16, BIAS + ROOT + 1));
        s.words[0] = 3;
        s.words[1] = BIAS + ROOT + 2;
        stack_scene_expect(&s, BIAS + PLT + 0x1b, STACK_WALK_END_ROOT,
                           PCS(BIAS + PLT + 0x1b, BIAS + ROOT + 2));
}
END_TEST

/*
 * The handler, the trampoline, and what was interrupted: at its very first byte, so nothing may be taken off.
 */
START_TEST(test_signal_frame)
{
        s.words[1] = BIAS + SIGNAL;
        s.words[2 + 160 / 8] = STACK + 100 * 8; /* rsp */
        s.words[2 + 168 / 8] = BIAS + PLAIN;    /* rip */
        s.words[2 + 120 / 8] = STACK + 110 * 8; /* rbp */
        s.words[2 + 128 / 8] = STACK + 112 * 8; /* rbx */
        s.words[101] = BIAS + BY_RBX + 4;
        s.words[112] = BIAS + FRAMED + 1;
        s.words[111] = 5;
        s.input.registers.values[3] = 0; /* rbx in the handler is of no interest */
        stack_scene_run(&s, BIAS + PLAIN + 1);
        ck_assert_uint_eq(s.walk.n_frames, 5);
        ck_assert_uint_eq(s.walk.frames[1].pc_avma, BIAS + SIGNAL);
        ck_assert(s.walk.frames[1].is_exact && s.walk.frames[2].is_exact && !s.walk.frames[3].is_exact);
        ck_assert_uint_eq(s.walk.frames[2].pc_avma, BIAS + PLAIN);
        ck_assert_uint_eq(s.walk.frames[3].pc_avma, BIAS + BY_RBX + 4);
        ck_assert_uint_eq(s.walk.frames[4].pc_avma, BIAS + FRAMED + 1);
}
END_TEST

/* The handler ran on a stack of its own: the interrupted stack is read later. */
START_TEST(test_alternate_stack)
{
        const uint64_t other = UINT64_C(0x7f5500000000);
        uint64_t words[4] = { 0, BIAS + ROOT + 7, 0, 0 };

        s.words[1] = BIAS + SIGNAL;
        s.words[2 + 160 / 8] = other;
        s.words[2 + 168 / 8] = BIAS + PLAIN;
        stack_scene_expect(&s, BIAS + PLAIN + 1, STACK_WALK_END_OTHER_STACK,
                           PCS(BIAS + PLAIN + 1, BIAS + SIGNAL, BIAS + PLAIN));
        ck_assert_uint_eq(s.walk.sp_avma, other);
        s.input.pieces[1] = (struct stack_walk_piece){ .bytes = (const uint8_t *)words,
                                                       .start_avma = other,
                                                       .n_bytes = sizeof(words) };
        s.input.n_pieces = 2;
        stack_walk_resume(s.walker, &s.space, &s.input, &s.walk);
        ck_assert_int_eq(s.walk.end, STACK_WALK_END_ROOT);
        ck_assert_uint_eq(s.walk.n_frames, 4);
        ck_assert_uint_eq(s.walk.frames[3].pc_avma, BIAS + ROOT + 7);
}
END_TEST

/* loop test: a stack whose copy ends at each byte; the rest is handed in later */
START_LOOP_TEST(test_cut_and_resumed, 0, 40)
{
        s.words[1] = BIAS + PLAIN + 5;
        s.words[3] = BIAS + ROOT + 9;
        s.input.pieces[0].n_bytes = (uint64_t)_i;
        stack_scene_run(&s, BIAS + PLAIN);
        if (_i >= 32) {
                ck_assert_int_eq(s.walk.end, STACK_WALK_END_ROOT);
        } else {
                ck_assert_int_eq(s.walk.end, STACK_WALK_END_CUT);
                ck_assert_uint_eq(s.walk.n_frames, _i < 16 ? 1 : 2);
                /* The mark by which a stack is recognised is known all the same. */
                ck_assert_uint_eq(s.walk.frames[s.walk.n_frames - 1].cfa_avma, STACK + (_i < 16 ? 16 : 32));
                s.input.pieces[1] = (struct stack_walk_piece){ .bytes = (const uint8_t *)s.words,
                                                               .start_avma = STACK,
                                                               .n_bytes = sizeof(s.words) };
                s.input.n_pieces = 2;
                stack_walk_resume(s.walker, &s.space, &s.input, &s.walk);
        }
        ck_assert_int_eq(s.walk.end, STACK_WALK_END_ROOT);
        ck_assert_uint_eq(s.walk.n_frames, 3);
        ck_assert(s.walk.frames[0].is_exact && !s.walk.frames[1].is_exact);
}
END_TEST

/* A register that was saved two frames further in, and one that was not touched. */
START_TEST(test_register_of_a_frame_further_in)
{
        s.words[1] = STACK + 20 * 8; /* rbx, saved by SAVES at CFA - 16 */
        s.words[2] = BIAS + PLAIN + 1;
        s.words[4] = BIAS + BY_RBX + 1;
        s.words[20] = BIAS + ROOT + 1;
        s.input.registers.values[3] = 12345;
        stack_scene_expect(&s, BIAS + SAVES, STACK_WALK_END_ROOT,
                           PCS(BIAS + SAVES, BIAS + PLAIN + 1, BIAS + BY_RBX + 1, BIAS + ROOT + 1));
        s.input.registers.values[3] = STACK + 20 * 8;
        s.words[1] = BIAS + BY_RBX + 1;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_ROOT,
                           PCS(BIAS + PLAIN, BIAS + BY_RBX + 1, BIAS + ROOT + 1));
        s.input.registers.known = UINT64_C(1) << 7;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_NO_REGISTER,
                           PCS(BIAS + PLAIN, BIAS + BY_RBX + 1));
}
END_TEST

START_TEST(test_return_address_in_a_register)
{
        s.input.registers.values[5] = BIAS + PLAIN + 1;
        s.words[1] = BIAS + ROOT + 1;
        stack_scene_expect(&s, BIAS + BY_RDI, STACK_WALK_END_ROOT,
                           PCS(BIAS + BY_RDI, BIAS + PLAIN + 1, BIAS + ROOT + 1));
}
END_TEST

START_TEST(test_expression)
{
        s.words[1] = STACK + 10 * 8;
        s.words[10] = BIAS + ROOT + 1; /* at CFA - 8 */
        stack_scene_expect(&s, BIAS + BY_MEMORY, STACK_WALK_END_ROOT, PCS(BIAS + BY_MEMORY, BIAS + ROOT + 1));
        s.input.pieces[0].n_bytes = 12; /* half of what it reads */
        stack_scene_expect(&s, BIAS + BY_MEMORY, STACK_WALK_END_CUT, PCS(BIAS + BY_MEMORY));
}
END_TEST

START_TEST(test_nonsense_ends)
{
        /* Once the stack pointer may stay, where the thread stood; not a second time. */
        s.words[1] = BIAS + ENDLESS + 1;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_BROKEN, PCS(BIAS + PLAIN, BIAS + ENDLESS + 1));
        s.words[1] = 0x1234;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_NOT_CODE, PCS(BIAS + PLAIN));
        s.words[1] = 0;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_ROOT, PCS(BIAS + PLAIN));
        s.words[1] = BIAS + FRAMED + 1;
        s.input.registers.values[6] = UINT64_MAX - 15;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_BROKEN, PCS(BIAS + PLAIN, BIAS + FRAMED + 1));
        s.input.registers.values[6] = STACK - 61;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_BROKEN, PCS(BIAS + PLAIN, BIAS + FRAMED + 1));
        /* The return address far below the stack pointer is not on the stack. */
        stack_scene_expect(&s, BIAS + FAR_RA, STACK_WALK_END_BROKEN, PCS(BIAS + FAR_RA));
}
END_TEST

START_TEST(test_too_deep)
{
        static uint64_t words[2 * STACK_WALK_FRAMES_MAX + 4];

        for (size_t i = 1; i < sizeof(words) / sizeof(words[0]); i += 2)
                words[i] = BIAS + PLAIN + 1;
        s.input.pieces[0].bytes = (const uint8_t *)words;
        s.input.pieces[0].n_bytes = sizeof(words);
        stack_scene_run(&s, BIAS + PLAIN);
        ck_assert_int_eq(s.walk.end, STACK_WALK_END_TOO_DEEP);
        ck_assert_uint_eq(s.walk.n_frames, STACK_WALK_FRAMES_MAX);
}
END_TEST

/* Code made at run time: by frame pointers, and back to tables. */
START_TEST(test_code_without_a_table)
{
        s.input.registers.values[6] = STACK + 4 * 8;
        s.words[4] = STACK + 20 * 8;
        s.words[5] = JIT + 0x200;
        s.words[20] = STACK + 40 * 8;
        s.words[21] = BIAS + FRAMED + 4;
        s.words[40] = 0;
        s.words[41] = BIAS + ROOT + 1;
        stack_scene_expect(&s, JIT + 0x100, STACK_WALK_END_ROOT,
                           PCS(JIT + 0x100, JIT + 0x200, BIAS + FRAMED + 4, BIAS + ROOT + 1));
        ck_assert_uint_eq(s.walk.frames[0].way, STACK_WALK_WAY_FRAME_POINTER);
        ck_assert_uint_eq(s.walk.frames[2].way, STACK_WALK_WAY_TABLE);
        /* The same in a gap of the table. */
        stack_scene_expect(&s, BIAS + GAP, STACK_WALK_END_ROOT,
                           PCS(BIAS + GAP, JIT + 0x200, BIAS + FRAMED + 4, BIAS + ROOT + 1));
        /* A frame pointer of 0 is the first function's, or that of any function that uses none. */
        s.words[20] = 0;
        s.words[21] = JIT + 0x300;
        stack_scene_expect(&s, JIT + 0x100, STACK_WALK_END_NO_TABLE,
                           PCS(JIT + 0x100, JIT + 0x200, JIT + 0x300));
        /* It points to no return address. */
        s.words[21] = 0x100;
        stack_scene_expect(&s, JIT + 0x100, STACK_WALK_END_NO_TABLE, PCS(JIT + 0x100, JIT + 0x200));
        s.input.registers.values[6] = 0;
        stack_scene_expect(&s, JIT + 0x100, STACK_WALK_END_NO_TABLE, PCS(JIT + 0x100));
        s.input.registers.values[6] = STACK + 4 * 8 + 1;
        stack_scene_expect(&s, JIT + 0x100, STACK_WALK_END_NO_TABLE, PCS(JIT + 0x100));
        s.input.registers.values[6] = STACK + WORDS * 8 + 64;
        stack_scene_expect(&s, JIT + 0x100, STACK_WALK_END_CUT, PCS(JIT + 0x100));
}
END_TEST

/* A trampoline that keeps no frame pointer, as Python's: by its instructions, read once. */
START_TEST(test_code_that_is_read)
{
        static const uint8_t trampoline[] = {
                0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3
        };
        unsigned n_reads = 0;

        s.n_reads = &n_reads;
        s.space.read_code = stack_scene_read_jit_code;
        s.jit_code = trampoline;
        s.jit_code_bytes = sizeof(trampoline);
        s.input.registers.values[6] = STACK + 20 * 8; /* of the caller's caller, and kept all the way */
        s.words[1] = JIT + 6;
        s.words[3] = BIAS + FRAMED + 4;
        s.words[20] = 17;
        s.words[21] = BIAS + ROOT + 1;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_ROOT,
                           PCS(BIAS + PLAIN, JIT + 6, BIAS + FRAMED + 4, BIAS + ROOT + 1));
        ck_assert_uint_eq(s.walk.frames[1].way, STACK_WALK_WAY_CODE);
        ck_assert_uint_eq(n_reads, 1);
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_ROOT,
                           PCS(BIAS + PLAIN, JIT + 6, BIAS + FRAMED + 4, BIAS + ROOT + 1));
        ck_assert_uint_eq(n_reads, 1);
        /* Other mappings: it may be other code. */
        s.space.generation++;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_ROOT,
                           PCS(BIAS + PLAIN, JIT + 6, BIAS + FRAMED + 4, BIAS + ROOT + 1));
        ck_assert_uint_eq(n_reads, 2);
        /* It leads to no code: the frame pointer is followed, as if it had not been read. */
        s.words[3] = 17;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_ROOT,
                           PCS(BIAS + PLAIN, JIT + 6, BIAS + ROOT + 1));
        /* Only tables are wanted. */
        s.words[3] = BIAS + FRAMED + 4;
        s.input.tables_only = true;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_NO_TABLE, PCS(BIAS + PLAIN, JIT + 6));
}
END_TEST

/* A register that a frame further out needs is where the function called by the trampoline saved it. */
START_TEST(test_register_through_code_that_is_read)
{
        static const uint8_t trampoline[] = {
                0x48, 0x83, 0xec, 0x08, 0xff, 0xd1, 0x48, 0x83, 0xc4, 0x08, 0xc3
        };
        unsigned n_reads = 0;

        s.n_reads = &n_reads;
        s.space.read_code = stack_scene_read_jit_code;
        s.jit_code = trampoline;
        s.jit_code_bytes = sizeof(trampoline);
        s.words[1] = STACK + 9 * 8; /* rbx */
        s.words[2] = JIT + 6;
        s.words[4] = BIAS + BY_RBX + 4;
        s.words[9] = BIAS + ROOT + 1;
        stack_scene_expect(&s, BIAS + SAVES, STACK_WALK_END_ROOT,
                           PCS(BIAS + SAVES, JIT + 6, BIAS + BY_RBX + 4, BIAS + ROOT + 1));
}
END_TEST

START_TEST(test_entry_without_a_rule)
{
        s.words[1] = BIAS + ENTRY + 8;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_ROOT, PCS(BIAS + PLAIN, BIAS + ENTRY + 8));
}
END_TEST

START_TEST(test_call_into_nowhere)
{
        s.words[0] = BIAS + PLAIN + 1;
        s.words[2] = BIAS + ROOT + 1;
        stack_scene_run(&s, 0);
        ck_assert_int_eq(s.walk.end, STACK_WALK_END_ROOT);
        ck_assert_uint_eq(s.walk.n_frames, 3);
        ck_assert_uint_eq(s.walk.frames[0].way, STACK_WALK_WAY_GUESS);
        ck_assert_uint_eq(s.walk.frames[1].pc_avma, BIAS + PLAIN + 1);
        s.words[0] = 17;
        stack_scene_run(&s, 0);
        ck_assert_int_eq(s.walk.end, STACK_WALK_END_NOT_CODE);
        ck_assert_uint_eq(s.walk.n_frames, 1);
}
END_TEST

/* Facts about an address are forgotten when the mappings change. */
START_TEST(test_generation)
{
        struct unwind_table *table;

        s.words[1] = BIAS + ROOT + 1;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_ROOT, PCS(BIAS + PLAIN, BIAS + ROOT + 1));
        table = s.table;
        s.table = NULL;
        s.space.generation++;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_NO_TABLE, PCS(BIAS + PLAIN));
        s.table = table;
}
END_TEST

#define MANY     12000 /* addresses of each of two rules: together more than are remembered */
#define NARROW   0x10000
#define WIDE     0x20000
#define N_WALKS  200000
#define N_STRIDE 40507

/* Each address has its own rule, whatever was forgotten for another one meanwhile. */
START_TEST(test_more_rules_than_are_remembered)
{
        unwind_table_free(s.table);
        cfi_builder_add_fde(&s.builder, NARROW, MANY, CFI_BYTES(0x0c, 7, 16));
        cfi_builder_add_fde(&s.builder, WIDE, MANY, CFI_BYTES(0x0c, 7, 32));
        s.table = cfi_builder_table(&s.builder, &unwind_machine_x86_64);
        s.words[1] = s.words[3] = BIAS + ROOT + 9;
        for (uint64_t n = 0; n < N_WALKS; n++) {
                bool is_wide = n * 31 % 7 < 3;

                stack_scene_run(&s, BIAS + (is_wide ? WIDE : NARROW) + n * N_STRIDE % MANY);
                ck_assert_uint_ge(s.walk.n_frames, 1);
                ck_assert_uint_eq(s.walk.frames[0].cfa_avma, STACK + (is_wide ? 32 : 16));
        }
}
END_TEST

#define SIGNATURE (UINT64_C(0x5a) << 48) /* of a return address */

/* A leaf, a function with a frame record, and the thread's first function; return addresses are signed. */
START_TEST(test_aarch64)
{
        const struct unwind_machine *m = &unwind_machine_aarch64;
        static const struct cfi_builder_cie cie = { .ra = 30, .version = 3, .augmentation = "zRB" };

        begin_anew(m);
        cfi_builder_add_cie(&s.builder, &cie, CFI_BYTES(0x0c, 31, 0));
        stack_scene_add(&s, 0x2000, CFI_BYTES(0x2d)); /* a leaf: all is in registers */
        stack_scene_add(&s, 0x2100,
                        CFI_BYTES(0x50, 0x0c, 29, 32, 0x9e, 3, 0x9d, 4, 0x93, 2)); /* as compilers write it */
        stack_scene_add(&s, 0x2200, CFI_BYTES(0x07, 30));
        s.table = cfi_builder_table(&s.builder, m);
        s.input.registers.values[30] = SIGNATURE | (BIAS + 0x2120);
        s.input.registers.values[29] = STACK + 8 * 8;
        s.words[8] = STACK + 100 * 8;             /* x29 at CFA - 32 */
        s.words[9] = SIGNATURE | (BIAS + 0x2204); /* x30 at CFA - 24 */
        stack_scene_expect(&s, BIAS + 0x2004, STACK_WALK_END_ROOT,
                           PCS(BIAS + 0x2004, BIAS + 0x2120, BIAS + 0x2204));
        ck_assert_uint_eq(s.walk.frames[1].cfa_avma, STACK + 8 * 8 + 32);
        /* A leaf cannot have called anybody. */
        s.words[9] = BIAS + 0x2004;
        stack_scene_expect(&s, BIAS + 0x2004, STACK_WALK_END_BROKEN,
                           PCS(BIAS + 0x2004, BIAS + 0x2120, BIAS + 0x2004));
        /* By frame pointers. */
        s.words[9] = SIGNATURE | (BIAS + 0x2204);
        stack_scene_expect(&s, JIT + 4, STACK_WALK_END_ROOT, PCS(JIT + 4, BIAS + 0x2204));
}
END_TEST

START_TEST(test_aarch64_signal)
{
        const struct unwind_machine *m = &unwind_machine_aarch64;
        static const struct cfi_builder_cie plain = { .ra = 30 };
        static const struct cfi_builder_cie signal_frame = { .ra = 30, .augmentation = "zRS" };

        begin_anew(m);
        cfi_builder_add_cie(&s.builder, &plain, CFI_BYTES(0x0c, 31, 0));
        stack_scene_add(&s, 0x2000, CFI_BYTES(0));
        stack_scene_add(&s, 0x2200, CFI_BYTES(0x07, 30));
        cfi_builder_add_cie(&s.builder, &signal_frame, CFI_BYTES(0x0c, 29, 0, 0x9d, 0, 0x9e, 1));
        cfi_builder_add_fde(&s.builder, 0x2500 - 4, 16, CFI_BYTES(0));
        s.table = cfi_builder_table(&s.builder, m);
        s.input.registers.values[30] = BIAS + 0x2500; /* the handler is a leaf */
        s.words[568 / 8] = BIAS + 0x2000;             /* pc */
        s.words[560 / 8] = STACK + 100 * 8;           /* sp */
        s.words[552 / 8] = BIAS + 0x2204;             /* x30 */
        stack_scene_expect(&s, BIAS + 0x2008, STACK_WALK_END_ROOT,
                           PCS(BIAS + 0x2008, BIAS + 0x2500, BIAS + 0x2000, BIAS + 0x2204));
        ck_assert(s.walk.frames[1].is_exact && s.walk.frames[2].is_exact);
}
END_TEST

/*
 * Code without a table on a machine with a register for the return address: a leaf function has its caller
 * from the register, and that one from its place on the stack, if calls lead to both.
 */
START_TEST(test_leaf_without_a_table)
{
        static const uint32_t code[] = {
                0x7ff000ef, /* jal ra */
                0x00813083, /* ld ra, 8(sp) */
                0x01010113, /* addi sp, sp, 16 */
                0x00008067, /* ret */
                0x00b50533, /* add a0, a0, a1 */
                0x00008067, /* ret */
                0x7ff000ef, /* jal ra */
                0x00008067, /* ret */
        };
        const struct unwind_machine *m = &unwind_machine_riscv64;
        unsigned n_reads = 0, n_first;

        begin_anew(m);
        s.n_reads = &n_reads;
        s.space.read_code = stack_scene_read_jit_code;
        s.jit_code = (const uint8_t *)code;
        s.jit_code_bytes = sizeof(code);
        s.input.registers.known = UINT64_C(1) << m->sp | UINT64_C(1) << m->ra | UINT64_C(1) << m->fp;
        s.input.registers.values[m->sp] = STACK;
        s.input.registers.values[m->ra] = JIT + 4;
        s.words[1] = JIT + 28;
        stack_scene_expect(&s, JIT + 16, STACK_WALK_END_NO_TABLE, PCS(JIT + 16, JIT + 4, JIT + 28));
        ck_assert_uint_eq(s.walk.frames[0].way, STACK_WALK_WAY_CODE);
        ck_assert_uint_eq(s.walk.frames[1].way, STACK_WALK_WAY_CODE);
        n_first = n_reads;
        stack_scene_expect(&s, JIT + 16, STACK_WALK_END_NO_TABLE, PCS(JIT + 16, JIT + 4, JIT + 28));
        ck_assert_uint_eq(n_reads, n_first); /* all is remembered */
        /* No call leads to it. */
        s.words[1] = JIT + 12;
        stack_scene_expect(&s, JIT + 16, STACK_WALK_END_NO_TABLE, PCS(JIT + 16, JIT + 4));
        s.input.registers.values[m->ra] = JIT + 8;
        stack_scene_expect(&s, JIT + 16, STACK_WALK_END_NO_TABLE, PCS(JIT + 16));
        /* The copy ends first. */
        s.input.registers.values[m->ra] = JIT + 4;
        s.input.pieces[0].n_bytes = 8;
        stack_scene_expect(&s, JIT + 16, STACK_WALK_END_CUT, PCS(JIT + 16, JIT + 4));
        s.input.pieces[0].n_bytes = sizeof(s.words);
        /* Only tables are wanted. */
        s.input.tables_only = true;
        stack_scene_expect(&s, JIT + 16, STACK_WALK_END_NO_TABLE, PCS(JIT + 16));
}
END_TEST

START_TEST(test_riscv64)
{
        const struct unwind_machine *m = &unwind_machine_riscv64;
        static const struct cfi_builder_cie cie = { .ra = 1, .version = 3 };

        begin_anew(m);
        cfi_builder_add_cie(&s.builder, &cie, CFI_BYTES(0x0c, 2, 0));
        stack_scene_add(&s, 0x2000, CFI_BYTES(0));
        stack_scene_add(&s, 0x2100,
                        CFI_BYTES(0x42, 0x0e, 64, 0x44, 0x81, 1, 0x88, 2)); /* as compilers write it */
        stack_scene_add(&s, 0x2200, CFI_BYTES(0x07, 1));
        s.table = cfi_builder_table(&s.builder, m);
        s.input.registers.values[1] = BIAS + 0x2120;
        s.words[7] = BIAS + 0x2204; /* ra at CFA - 8 */
        s.words[6] = STACK + 90 * 8;
        stack_scene_expect(&s, BIAS + 0x2004, STACK_WALK_END_ROOT,
                           PCS(BIAS + 0x2004, BIAS + 0x2120, BIAS + 0x2204));
        /* By frame pointers: the record lies below what it points to. */
        s.input.registers.values[8] = STACK + 8 * 8;
        stack_scene_expect(&s, JIT + 4, STACK_WALK_END_ROOT, PCS(JIT + 4, BIAS + 0x2204));
        ck_assert_uint_eq(s.walk.frames[0].cfa_avma, STACK + 8 * 8);
}
END_TEST

/* A table of another machine is no table. */
START_TEST(test_table_of_another_machine)
{
        s.table->machine = &unwind_machine_aarch64;
        s.words[1] = BIAS + ROOT + 1;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_NO_TABLE, PCS(BIAS + PLAIN));
}
END_TEST

/* Whatever is in the registers and on the stack, a walk ends, and every frame but the last goes up. */
START_TEST(test_random_stacks)
{
        uint64_t state = 99;

        for (int i = 0; i < 20000; i++) {
                for (size_t k = 0; k < WORDS; k++) {
                        uint64_t kind = fixed_random_next(&state) >> 62;
                        uint64_t low = fixed_random_next(&state) >> 32;

                        s.words[k] = kind == 0   ? fixed_random_magnitude(&state)
                                     : kind == 1 ? STACK + low % (WORDS * 9)
                                                 : BIAS + 0x2000 + low % 0x1000;
                }
                for (size_t k = 0; k < 17; k++)
                        if (k != 7)
                                s.input.registers.values[k] = s.words[k];
                s.input.registers.known = fixed_random_next(&state) | 1U << 7;
                s.input.pieces[0].n_bytes = (fixed_random_next(&state) >> 32) % sizeof(s.words);
                stack_scene_run(&s, s.words[20]);
                ck_assert_uint_ge(s.walk.n_frames, 1);
                ck_assert_int_lt(s.walk.end, STACK_WALK_N_ENDS);
        }
}
END_TEST

START_TEST(test_registers_of_a_sample)
{
        const struct unwind_machine *m = &unwind_machine_x86_64;
        uint64_t bytes[17];
        struct unwind_registers r;

        for (uint64_t i = 0; i < 17; i++)
                bytes[i] = i + 1;
        ck_assert(unwind_registers_decode(m, m->perf_registers, bytes, sizeof(bytes), &r));
        ck_assert_uint_eq(r.values[0], 1); /* ax */
        ck_assert_uint_eq(r.values[3], 2); /* bx */
        ck_assert_uint_eq(r.values[6], 7); /* bp */
        ck_assert_uint_eq(r.values[7], 8); /* sp */
        ck_assert_uint_eq(r.pc, 9);
        ck_assert_uint_eq(r.values[8], 10); /* r8 */
        ck_assert_uint_eq(r.values[15], 17);
        ck_assert_uint_eq(r.known, 0xffff);
        ck_assert(!unwind_registers_decode(m, m->perf_registers, bytes, sizeof(bytes) - 1, &r));
        ck_assert(!unwind_registers_decode(m, 0xff, bytes, sizeof(bytes), &r));             /* no pc */
        ck_assert(!unwind_registers_decode(m, UINT64_C(1) << 8, bytes, sizeof(bytes), &r)); /* no sp */
        for (uint64_t i = 0; i < 17; i++)
                bytes[i] = i;
        ck_assert(unwind_registers_decode(&unwind_machine_riscv64, 7, bytes, sizeof(bytes), &r));
        ck_assert_uint_eq(r.pc, 0);
        ck_assert_uint_eq(r.values[2], 2);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
