/* SPDX-License-Identifier: MIT */
/*
 * unwind/stack_walk.c: calls on other stacks and trampolines of programs have callers, and a zero
 * is no root
 */
#include "tests/unit/stack_scene.h"
#include "tests/unit/unit_test.h"
#include "unwind/unwind_table.h"

static struct stack_scene s;

static void setup(void)
{
        stack_scene_begin_x86_64(&s);
}

static void teardown(void)
{
        stack_scene_end(&s);
}

/* loop test: a function called its callee on another stack, which is read later and may be lower */
START_LOOP_TEST(test_switched_stack, 0, 3)
{
        const uint64_t others[] = { UINT64_C(0x7f5500000000), STACK + (1U << 24), STACK - 4096 };
        const uint64_t other = others[_i];
        uint64_t words[] = { other + 512, BIAS + PLAIN + 7, 0, BIAS + ROOT + 7 };

        s.words[1] = BIAS + FRAMED + 4;
        s.input.registers.values[6] = other;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_OTHER_STACK,
                           PCS(BIAS + PLAIN, BIAS + FRAMED + 4));
        ck_assert_uint_eq(s.walk.unread_avma, other + 8);
        ck_assert_uint_eq(s.walk.frames[1].cfa_avma, other + 16);
        s.input.pieces[1] = (struct stack_walk_piece){ .bytes = (const uint8_t *)words,
                                                       .start_avma = other,
                                                       .n_bytes = sizeof(words) };
        s.input.n_pieces = 2;
        stack_walk_resume(s.walker, &s.space, &s.input, &s.walk);
        ck_assert_int_eq(s.walk.end, STACK_WALK_END_ROOT);
        ck_assert_uint_eq(s.walk.n_frames, 4);
        ck_assert_uint_eq(s.walk.frames[2].pc_avma, BIAS + PLAIN + 7);
        ck_assert_uint_eq(s.walk.frames[3].pc_avma, BIAS + ROOT + 7);
}
END_TEST

/* Two stacks that lead to each other for ever, and a number that lies on no stack. */
START_TEST(test_switches_that_end)
{
        s.input.registers.values[6] = STACK + 64;
        s.words[8] = STACK + 8;
        s.words[9] = BIAS + FRAMED + 4;
        s.words[1] = STACK + 64;
        s.words[2] = BIAS + FRAMED + 4;
        stack_scene_run(&s, BIAS + FRAMED + 4);
        ck_assert_int_eq(s.walk.end, STACK_WALK_END_BROKEN);
        ck_assert_uint_lt(s.walk.n_frames, 200);
        s.input.registers.values[3] = UINT64_C(0x7f5500000000);
        s.space.generation++;
        stack_scene_expect(&s, BIAS + BY_RBX, STACK_WALK_END_OTHER_STACK, PCS(BIAS + BY_RBX));
}
END_TEST

/* Where the frame pointer is 0, only code that never returns is the first function of its thread. */
START_TEST(test_first_function_without_a_table)
{
        static const uint8_t exits[] = { 0x90, 0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05 };
        static const uint8_t returns[] = { 0x90, 0x48, 0x8b, 0x54, 0x24, 0x08, 0xc3 };
        unsigned n_reads = 0;

        s.n_reads = &n_reads;
        s.space.read_code = stack_scene_read_jit_code;
        s.jit_code = exits;
        s.jit_code_bytes = sizeof(exits);
        s.input.registers.values[6] = 0;
        s.words[1] = JIT + 1;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_ROOT, PCS(BIAS + PLAIN, JIT + 1));
        s.jit_code = returns;
        s.jit_code_bytes = sizeof(returns);
        s.space.generation++;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_NO_TABLE, PCS(BIAS + PLAIN, JIT + 1));
}
END_TEST

/* A signal trampoline that no table has, as in code made at run time: by its instructions. */
START_TEST(test_trampoline_without_a_table)
{
        static const uint8_t code[] = { 0x90, 0xb8, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05 };
        const struct unwind_machine *m = &unwind_machine_x86_64;
        unsigned n_reads = 0;

        s.n_reads = &n_reads;
        s.space.read_code = stack_scene_read_jit_code;
        s.jit_code = code;
        s.jit_code_bytes = sizeof(code);
        s.words[1] = JIT + 1;
        s.words[2 + m->signal_pc / 8] = BIAS + PLAIN + 9;
        s.words[2 + m->signal_registers[7] / 8] = STACK + 80 * 8;
        s.words[2 + m->signal_registers[6] / 8] = STACK + 90 * 8;
        s.words[2 + m->signal_registers[3] / 8] = STACK + 100 * 8; /* rbx */
        s.words[81] = BIAS + BY_RBX + 4;
        s.words[100] = BIAS + ROOT + 1;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_ROOT,
                           PCS(BIAS + PLAIN, JIT + 1, BIAS + PLAIN + 9, BIAS + BY_RBX + 4, BIAS + ROOT + 1));
        ck_assert_uint_eq(s.walk.frames[1].way, STACK_WALK_WAY_SIGNAL);
}
END_TEST

/* Makes the rule of a function one of Go's runtime. */
static void make_go_code(uint64_t svma, enum unwind_cfa cfa)
{
        for (uint32_t i = 0; i < s.table->n_rules; i++)
                if (unwind_table_find(s.table, svma) == &s.table->rules[i])
                        s.table->rules[i].cfa = (uint8_t)cfa;
}

/* loop test: the callee is Go's, which saves the frame pointer without saying so, or C's */
START_LOOP_TEST(test_go_call, 0, 2)
{
        const uint64_t other = UINT64_C(
                0xc000100000); /* the goroutine's stack; its frame pointer is at + 64 */
        uint64_t words[32] = { 0 };

        make_go_code(FAR_RA, _i == 0 ? UNWIND_CFA_GO_SYSTEM : UNWIND_CFA_GO_C);
        s.input.registers.values[6] = _i == 0 ? STACK
                                              : other + 64; /* of the callee's own frame, or the caller's */
        s.words[0] = other + 64;
        s.words[1] = BIAS + FAR_RA + 4;
        s.words[2] = BIAS + PLAIN + 4; /* left over on the thread's stack */
        /* CFA of the caller is sp + 16 after the call, so the call is 8 bytes below the frame pointer. */
        words[5] = BIAS + SAVES + 4; /* of no such size */
        words[7] = BIAS + PLAIN + 9;
        words[8] = 0;
        words[9] = BIAS + ROOT + 7;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_OTHER_STACK,
                           PCS(BIAS + PLAIN, BIAS + FAR_RA + 4));
        ck_assert_uint_eq(s.walk.unread_avma, other + 64);
        ck_assert_uint_eq(s.walk.frames[1].cfa_avma, other + 64);
        s.input.pieces[1] = (struct stack_walk_piece){ .bytes = (const uint8_t *)words,
                                                       .start_avma = other,
                                                       .n_bytes = sizeof(words) };
        s.input.n_pieces = 2;
        stack_walk_resume(s.walker, &s.space, &s.input, &s.walk);
        ck_assert_int_eq(s.walk.end, STACK_WALK_END_ROOT);
        ck_assert_uint_eq(s.walk.n_frames, 4);
        ck_assert_uint_eq(s.walk.frames[2].pc_avma, BIAS + PLAIN + 9);
        ck_assert_uint_eq(s.walk.frames[3].pc_avma, BIAS + ROOT + 7);
        /* Nothing there returns into a frame of that size. */
        words[7] = BIAS + SAVES + 4;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_NO_TABLE, PCS(BIAS + PLAIN, BIAS + FAR_RA + 4));
}
END_TEST

/* A goroutine that gave its thread away: what runs then has no caller, whatever lies on the stack. */
START_TEST(test_go_root)
{
        make_go_code(FAR_RA, UNWIND_CFA_GO_ROOT);
        s.words[1] = BIAS + FAR_RA + 4;
        s.words[2] = BIAS + PLAIN + 4;
        stack_scene_expect(&s, BIAS + PLAIN, STACK_WALK_END_ROOT, PCS(BIAS + PLAIN, BIAS + FAR_RA + 4));
        stack_scene_expect(&s, BIAS + FAR_RA, STACK_WALK_END_NO_TABLE, PCS(BIAS + FAR_RA));
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
