/* SPDX-License-Identifier: MIT */
/* unwind/stack_stitch.c: a walk that was cut goes on where it is the same call as before, and nowhere else */
#include "tests/unit/unit_test.h"
#include "unwind/stack_stitch.h"
#include "unwind/stack_walk.h"

#include <string.h>

#define GENERATION 3

/* Frame @n of a stack, counted from the root, is at PC(n), its caller's stack pointer is CFA(n). */
#define PC(n)  (UINT64_C(0x400000) + (uint64_t)(n)*16)
#define CFA(n) (UINT64_C(0x7fff0000) - (uint64_t)(n)*64)

static struct stack_walk walk, expected;

static void clear(struct stack_walk *w, enum stack_walk_end end)
{
        memset(w, 0xee, sizeof(*w));
        w->n_frames = 0;
        w->end = end;
}

static void add(struct stack_walk *w, uint64_t pc, uint64_t cfa)
{
        w->frames[w->n_frames] = (struct stack_walk_frame){
                .pc_avma = pc, .cfa_avma = cfa, .is_exact = w->n_frames == 0, .way = STACK_WALK_WAY_TABLE
        };
        w->n_frames++;
}

/* Frames from @inner inwards to @outer outwards, after what is there. */
static void add_frames(struct stack_walk *w, uint32_t inner, uint32_t outer)
{
        for (uint32_t n = inner + 1; n-- > outer;)
                add(w, PC(n), CFA(n));
}

static void keep(struct stack_stitch *s, uint32_t depth)
{
        clear(&walk, STACK_WALK_END_ROOT);
        add_frames(&walk, depth, 0);
        stack_stitch_keep(s, &walk, GENERATION, false);
}

static void expect_same(const struct stack_walk *a, const struct stack_walk *b)
{
        ck_assert_uint_eq(a->n_frames, b->n_frames);
        for (uint32_t i = 0; i < a->n_frames; i++) {
                ck_assert_uint_eq(a->frames[i].pc_avma, b->frames[i].pc_avma);
                ck_assert_uint_eq(a->frames[i].cfa_avma, b->frames[i].cfa_avma);
        }
}

/* loop test: cut at each frame of the kept stack but its innermost, which is no return address */
START_LOOP_TEST(test_join, 0, 99)
{
        struct stack_stitch s = { .frames = NULL };
        uint32_t at = (uint32_t)_i;

        keep(&s, 99);
        clear(&walk, STACK_WALK_END_CUT);
        add(&walk, 5, CFA(120)); /* calls that are new */
        add(&walk, 6, CFA(110));
        add_frames(&walk, at, at);
        ck_assert(stack_stitch_join(&s, &walk, GENERATION));
        ck_assert_int_eq(walk.end, STACK_WALK_END_ROOT);
        clear(&expected, STACK_WALK_END_ROOT);
        add(&expected, 5, CFA(120));
        add(&expected, 6, CFA(110));
        add_frames(&expected, at, 0);
        expect_same(&walk, &expected);

        /* And what was joined is kept in turn. */
        stack_stitch_keep(&s, &walk, GENERATION, true);
        ck_assert(s.is_approximate);
        clear(&walk, STACK_WALK_END_CUT);
        add(&walk, 4, CFA(130));
        add(&walk, 6, CFA(110));
        ck_assert(stack_stitch_join(&s, &walk, GENERATION));
        expected.frames[0] = walk.frames[0];
        expect_same(&walk, &expected);
        stack_stitch_deinit(&s);
}
END_TEST

/*
 * Where the CFA of the last frame is not known, that of the frame before it is where its return address lay.
 */
START_TEST(test_join_without_cfa)
{
        struct stack_stitch s = { .frames = NULL };

        keep(&s, 50);
        clear(&walk, STACK_WALK_END_CUT);
        add(&walk, 5, CFA(41));
        add(&walk, PC(40), 0);
        walk.sp_avma = CFA(41);
        ck_assert(stack_stitch_join(&s, &walk, GENERATION));
        ck_assert_uint_eq(walk.n_frames, 42);
        ck_assert_uint_eq(walk.frames[1].cfa_avma, CFA(40));

        clear(&walk, STACK_WALK_END_CUT);
        add(&walk, 5, CFA(41));
        add(&walk, PC(40), 0);
        walk.sp_avma = CFA(41) + 8;
        ck_assert(!stack_stitch_join(&s, &walk, GENERATION));
        stack_stitch_deinit(&s);
}
END_TEST

static const struct {
        uint64_t pc, cfa, generation;
} others[] = {
        { PC(40), CFA(40) + 8, GENERATION }, /* the same call, but elsewhere */
        { PC(40) + 1, CFA(40), GENERATION }, /* another call at the same place */
        { PC(40), CFA(41), GENERATION },     { PC(40), CFA(40), GENERATION + 1 },
        { PC(60), CFA(60), GENERATION },
};

/* loop test over frames that differ from the kept ones */
START_LOOP_TEST(test_no_join, 0, sizeof(others) / sizeof(others[0]))
{
        struct stack_stitch s = { .frames = NULL };

        keep(&s, 50);
        clear(&walk, STACK_WALK_END_CUT);
        add(&walk, 5, CFA(100));
        add(&walk, others[_i].pc, others[_i].cfa);
        ck_assert(!stack_stitch_join(&s, &walk, others[_i].generation));
        ck_assert_uint_eq(walk.n_frames, 2);
        ck_assert_int_eq(walk.end, STACK_WALK_END_CUT);

        stack_stitch_clear(&s);
        clear(&walk, STACK_WALK_END_CUT);
        add(&walk, 5, CFA(100));
        add_frames(&walk, 40, 40);
        ck_assert(!stack_stitch_join(&s, &walk, GENERATION));
        stack_stitch_deinit(&s);
        ck_assert(!stack_stitch_join(&s, &walk, GENERATION));
}
END_TEST

START_TEST(test_too_deep)
{
        struct stack_stitch s = { .frames = NULL };

        keep(&s, STACK_WALK_FRAMES_MAX - 1);
        clear(&walk, STACK_WALK_END_CUT);
        add(&walk, 5, CFA(2000));
        add(&walk, 6, CFA(1900));
        add_frames(&walk, STACK_WALK_FRAMES_MAX - 2, STACK_WALK_FRAMES_MAX - 2);
        ck_assert(stack_stitch_join(&s, &walk, GENERATION));
        ck_assert_int_eq(walk.end, STACK_WALK_END_TOO_DEEP);
        ck_assert_uint_eq(walk.n_frames, STACK_WALK_FRAMES_MAX);
        stack_stitch_deinit(&s);
}
END_TEST

/* Stacks of any depth after each other: what is kept is the last one, and its memory is what it says. */
START_TEST(test_keep)
{
        static const uint32_t depths[] = { 3, 80, 79, 2, 500, 0, 200, 510 };
        struct stack_stitch s = { .frames = NULL };

        for (size_t i = 0; i < sizeof(depths) / sizeof(depths[0]); i++) {
                clear(&walk, STACK_WALK_END_ROOT);
                add(&walk, 1000 + i, CFA(600));
                add_frames(&walk, depths[i], 0);
                ck_assert_uint_ge(stack_stitch_count_bytes_for(&s, &walk),
                                  walk.n_frames * sizeof(struct stack_walk_frame));
                stack_stitch_keep(&s, &walk, GENERATION, false);
                ck_assert_uint_eq(stack_stitch_count_bytes(&s), stack_stitch_count_bytes_for(&s, &walk));
                ck_assert_uint_eq(s.n_frames, walk.n_frames);
                for (uint32_t n = 0; n < walk.n_frames; n++)
                        ck_assert_uint_eq(s.frames[n].pc_avma, walk.frames[walk.n_frames - 1 - n].pc_avma);
        }
        stack_stitch_deinit(&s);
        ck_assert_uint_eq(stack_stitch_count_bytes(&s), 0);
}
END_TEST
