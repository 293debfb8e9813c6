/* SPDX-License-Identifier: MIT */
#include "sampler/stacks/waiting_stacks.h"

#include "base/array.h"
#include "base/bytes.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/stacks/late_stack.h"
#include "sampler/tracks/process_table.h"

#include <stdlib.h>
#include <string.h>

/* ---- mappings ------------------------------------------------------------------------------------------ */

/*
 * The current mappings of a process: shared with earlier waiting stacks if equal, or copied.  NULL without
 * room or memory.
 */
static struct waiting_space *share_space(struct waiting_stacks *s, struct process_track *process)
{
        struct waiting_space *space = process->waiting_space;
        size_t n_bytes = sizeof(*space) + process->space.n_ranges * sizeof(struct address_range);

        if (space && address_space_is_same(&space->space, &process->space)) {
                space->n_stacks++;
                return space;
        }
        if (s->n_bytes + n_bytes > WAITING_STACKS_BYTES_MAX)
                return NULL;
        space = malloc(sizeof(*space));
        if (!space)
                return NULL;
        *space = (struct waiting_space){ .process = process, .n_bytes = n_bytes, .n_stacks = 1 };
        address_space_init(&space->space);
        if (address_space_copy(&space->space, &process->space) < 0) {
                free(space);
                return NULL;
        }
        s->n_bytes += n_bytes;
        process->waiting_space = space;
        return space;
}

static void free_space(struct waiting_stacks *s, struct waiting_space *space)
{
        s->n_bytes -= space->n_bytes;
        address_space_deinit(&space->space);
        free(space);
}

static void release_space(struct waiting_stacks *s, struct waiting_space *space)
{
        if (--space->n_stacks > 0)
                return;
        if (space->process->waiting_space == space)
                space->process->waiting_space = NULL;
        free_space(s, space);
}

/* ---- stacks -------------------------------------------------------------------------------------------- */

static size_t count_bytes(size_t n_kernel, size_t copy_bytes)
{
        return sizeof(struct waiting_stack) + n_kernel * sizeof(struct call_frame) + copy_bytes;
}

void waiting_stacks_deinit(struct waiting_stacks *s)
{
        for (size_t i = 0; i < s->n_items; i++) {
                if (!s->items[i])
                        continue;
                if (--s->items[i]->space->n_stacks == 0)
                        free_space(s, s->items[i]->space);
                late_window_drop(s->items[i]->window);
                free(s->items[i]);
        }
        free(s->items);
        *s = (struct waiting_stacks){ .items = NULL };
}

bool waiting_stacks_add(struct waiting_stacks *s, const struct waiting_stack *wanted,
                        const struct call_chain *kernel)
{
        size_t n_bytes = count_bytes(kernel->n_frames, wanted->copy_bytes);
        struct process_track *process = wanted->thread->process;
        struct waiting_stack *stack = NULL;
        uint8_t *copy;

        if (s->n_bytes + n_bytes > WAITING_STACKS_BYTES_MAX ||
            array_reserve(&s->items, &s->capacity, s->n_items + 1, sizeof(struct waiting_stack *)) < 0)
                return false;
        stack = malloc(n_bytes);
        if (!stack)
                return false;
        *stack = *wanted;
        stack->space = share_space(s, process);
        if (!stack->space) {
                free(stack);
                return false;
        }
        stack->n_kernel = kernel->n_frames;
        stack->kernel_state = kernel->state;
        memcpy(stack->kernel, kernel->frames, kernel->n_frames * sizeof(*stack->kernel));
        copy = (uint8_t *)(stack->kernel + kernel->n_frames);
        if (wanted->copy_bytes > 0)
                memcpy(copy, wanted->copy, wanted->copy_bytes);
        stack->copy = copy;
        s->n_bytes += n_bytes;
        s->items[s->n_items++] = stack;
        if (wanted->time_ns < process->held_ns)
                process->held_ns = wanted->time_ns;
        return true;
}

struct waiting_stack *waiting_stacks_take(struct waiting_stacks *s, size_t at)
{
        struct waiting_stack *stack = s->items[at];

        stack->thread->process->held_ns = UINT64_MAX; /* until waiting_stacks_tidy() knows of others */
        s->items[at] = NULL;
        return stack;
}

void waiting_stacks_tidy(struct waiting_stacks *s)
{
        size_t n_kept = 0;

        for (size_t i = 0; i < s->n_items; i++)
                if (s->items[i])
                        s->items[n_kept++] = s->items[i];
        s->n_items = n_kept;
        /* From the newest on, so that the oldest stack's time remains. */
        for (size_t i = n_kept; i-- > 0;)
                s->items[i]->thread->process->held_ns = s->items[i]->time_ns;
}

void waiting_stack_free(struct waiting_stacks *s, struct waiting_stack *stack)
{
        if (!stack)
                return;
        s->n_bytes -= count_bytes(stack->n_kernel, stack->copy_bytes);
        release_space(s, stack->space);
        late_window_drop(stack->window);
        free(stack);
}

bool waiting_stacks_are_overdue(const struct waiting_stacks *s, uint64_t now_ns)
{
        for (size_t i = 0; i < s->n_items; i++)
                if (s->items[i]) /* the oldest */
                        return recorder_pace_stack_is_late(s->items[i]->since_ns, s->n_bytes, now_ns);
        return false;
}

bool waiting_stacks_have_kernel_code(const struct waiting_stacks *s, uint64_t start_avma, uint64_t end_avma)
{
        for (size_t i = 0; i < s->n_items; i++) {
                const struct waiting_stack *stack = s->items[i];

                for (uint32_t k = 0; stack && k < stack->n_kernel; k++)
                        if (stack->kernel[k].avma >= start_avma && stack->kernel[k].avma < end_avma)
                                return true;
        }
        return false;
}

/* A return address may be that after the code. */
static bool may_be_in(uint64_t word, uint64_t start_avma, uint64_t end_avma)
{
        uint64_t avma = unwind_machine_address(unwind_machine_own(), word);

        return avma >= start_avma && avma <= end_avma;
}

static bool has_word(const uint8_t *bytes, size_t n_bytes, uint64_t start_avma, uint64_t end_avma)
{
        struct byte_reader words = byte_reader_of(bytes, n_bytes);

        while (words.left >= sizeof(uint64_t))
                if (may_be_in(bytes_u64(&words), start_avma, end_avma))
                        return true;
        return false;
}

static bool has_register(const struct unwind_registers *registers, uint64_t start_avma, uint64_t end_avma)
{
        for (size_t i = 0; i < UNWIND_REGISTERS_MAX; i++)
                if (may_be_in(registers->values[i], start_avma, end_avma))
                        return true;
        return may_be_in(registers->pc, start_avma, end_avma);
}

bool waiting_stacks_may_have_code(const struct waiting_stacks *s, const struct process_track *process,
                                  uint64_t start_avma, uint64_t end_avma)
{
        size_t n_bytes = 0;

        for (size_t i = 0; i < s->n_items; i++) {
                const struct waiting_stack *stack = s->items[i];

                if (!stack || stack->thread->process != process)
                        continue;
                n_bytes += stack->copy_bytes + (stack->window ? stack->window->n_bytes : 0);
                if (n_bytes > WAITING_STACKS_SEARCHED_MAX ||
                    has_register(&stack->registers, start_avma, end_avma) ||
                    has_word(stack->copy, stack->copy_bytes, start_avma, end_avma) ||
                    (stack->window &&
                     has_word(stack->window->bytes, stack->window->n_bytes, start_avma, end_avma)))
                        return true;
        }
        return false;
}

void waiting_stack_restore_kernel(const struct waiting_stack *stack, struct call_chain *ret_chain)
{
        memcpy(ret_chain->frames, stack->kernel, stack->n_kernel * sizeof(*stack->kernel));
        ret_chain->n_frames = stack->n_kernel;
        ret_chain->state = stack->kernel_state;
}

struct address_space *waiting_stack_space(const struct waiting_stack *stack)
{
        struct address_space *now = &stack->thread->process->space;

        return address_space_is_same(now, &stack->space->space) ? now : &stack->space->space;
}
