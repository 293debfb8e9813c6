/* SPDX-License-Identifier: MIT */
/*
 * The last frame of a walk that was cut is identified by its return address and by the place of that
 * address, which is the CFA of the frame before it.  Its own CFA is mostly known as well, because it needs
 * only a register and a number.  A kept frame that agrees in all of these is the same call.
 *
 * A joined walk shares its outer part with the kept stack, so keeping it means copying only the frames
 * further in.
 */
#include "unwind/stack_stitch.h"

#include "unwind/stack_walk.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES_AT_FIRST 64

void stack_stitch_deinit(struct stack_stitch *s)
{
        free(s->frames);
        *s = (struct stack_stitch){ .frames = NULL };
}

void stack_stitch_clear(struct stack_stitch *s)
{
        s->n_frames = 0;
}

size_t stack_stitch_count_bytes(const struct stack_stitch *s)
{
        return s->capacity * sizeof(*s->frames);
}

static uint32_t capacity_for(const struct stack_stitch *s, const struct stack_walk *walk)
{
        uint32_t capacity = s->capacity > 0 ? s->capacity : FRAMES_AT_FIRST;

        while (capacity < walk->n_frames)
                capacity *= 2;
        return capacity;
}

size_t stack_stitch_count_bytes_for(const struct stack_stitch *s, const struct stack_walk *walk)
{
        return capacity_for(s, walk) * sizeof(*s->frames);
}

static bool reserve(struct stack_stitch *s, const struct stack_walk *walk)
{
        uint32_t capacity = capacity_for(s, walk);
        struct stack_walk_frame *frames;

        if (capacity == s->capacity)
                return true;
        frames = realloc(s->frames, capacity * sizeof(*frames));
        if (!frames)
                return false;
        s->frames = frames;
        s->capacity = capacity;
        return true;
}

static bool is_same(const struct stack_walk_frame *a, const struct stack_walk_frame *b)
{
        return a->pc_avma == b->pc_avma && a->cfa_avma == b->cfa_avma && a->is_exact == b->is_exact;
}

/* Counts the outermost frames that are the same already. */
static uint32_t count_same(const struct stack_stitch *s, const struct stack_walk *walk)
{
        uint32_t n = 0;

        while (n < s->n_frames && n < walk->n_frames &&
               is_same(&s->frames[n], &walk->frames[walk->n_frames - 1 - n]))
                n++;
        return n;
}

void stack_stitch_keep(struct stack_stitch *s, const struct stack_walk *walk, uint64_t generation,
                       bool is_approximate)
{
        if (!reserve(s, walk)) {
                stack_stitch_clear(s);
                return;
        }
        for (s->n_frames = count_same(s, walk); s->n_frames < walk->n_frames; s->n_frames++)
                s->frames[s->n_frames] = walk->frames[walk->n_frames - 1 - s->n_frames];
        s->generation = generation;
        s->is_approximate = is_approximate;
}

/* Returns the kept frame that is the same call as the walk's last frame; n_frames if there is none. */
static uint32_t find_last(const struct stack_stitch *s, const struct stack_walk *walk)
{
        const struct stack_walk_frame *last = &walk->frames[walk->n_frames - 1];

        for (uint32_t i = s->n_frames; i-- > 0;) {
                const struct stack_walk_frame *kept = &s->frames[i];

                if (kept->pc_avma != last->pc_avma || kept->is_exact != last->is_exact)
                        continue;
                if (last->cfa_avma != 0 ? kept->cfa_avma == last->cfa_avma
                                        : i + 1 < s->n_frames && kept[1].cfa_avma == walk->sp_avma)
                        return i;
        }
        return s->n_frames;
}

bool stack_stitch_join(const struct stack_stitch *s, struct stack_walk *walk, uint64_t generation)
{
        uint32_t at;

        if (s->n_frames == 0 || s->generation != generation || walk->n_frames == 0)
                return false;
        at = find_last(s, walk);
        if (at == s->n_frames)
                return false;
        walk->frames[walk->n_frames - 1] = s->frames[at];
        while (at > 0 && walk->n_frames < STACK_WALK_FRAMES_MAX)
                walk->frames[walk->n_frames++] = s->frames[--at];
        walk->end = at > 0 ? STACK_WALK_END_TOO_DEEP : STACK_WALK_END_ROOT;
        return true;
}
