/* SPDX-License-Identifier: MIT */
#include "import/perf/perf_stacks.h"

#include "base/bytes.h"
#include "base/error.h"
#include "format/trace_spec.h"
#include "import/perf/perf_entry.h"
#include "import/perf/perf_tasks.h"
#include "import/rows/import_samples.h"

#include <stdlib.h>

/* Numbers of a call chain from here on say what follows: PERF_CONTEXT_* */
#define CONTEXT_MAX    ((uint64_t)-4095)
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER   ((uint64_t)-512)

/* kernel.perf_event_max_stack at its default: a stack as long as this was probably cut. */
#define KERNEL_FRAMES_MAX 127

struct perf_stacks *perf_stacks_new(struct perf_tasks *tasks)
{
        struct perf_stacks *s = calloc(1, sizeof(*s));

        if (s)
                s->tasks = tasks;
        return s;
}

void perf_stacks_free(struct perf_stacks *s)
{
        if (!s)
                return;
        perf_stacks_forget_code(s);
        free(s);
}

/* The first frame of a part is where the thread stood, not a return address. */
static void take_chain(struct perf_stacks *s, const struct perf_entry *entry)
{
        struct byte_reader in = byte_reader_of(entry->chain, entry->chain ? 8 * (size_t)entry->n_chain : 0);
        enum perf_mode mode = perf_entry_mode(entry);
        bool first = true;

        while (in.left > 0 && s->n_frames < PERF_STACKS_FRAMES_MAX) {
                uint64_t avma = bytes_u64(&in);

                if (avma >= CONTEXT_MAX) {
                        mode = avma == CONTEXT_KERNEL ? PERF_MODE_KERNEL
                               : avma == CONTEXT_USER ? PERF_MODE_USER
                                                      : PERF_MODE_OTHER;
                        first = true;
                        continue;
                }
                if (mode == PERF_MODE_OTHER)
                        continue;
                s->frames[s->n_frames++] = (struct perf_stack_frame){ avma, mode == PERF_MODE_KERNEL,
                                                                      !first };
                first = false;
        }
}

static bool has_user_frame(const struct perf_stacks *s)
{
        return s->n_frames > 0 && !s->frames[s->n_frames - 1].in_kernel;
}

static int add_frame(struct perf_stacks *s, const struct perf_process *process,
                     const struct perf_stack_frame *frame, uint32_t *ret_frame, struct error *err)
{
        const struct address_range *range;
        uint64_t offset = frame->avma;
        uint32_t module = 0;

        if (frame->in_kernel) {
                int r = perf_tasks_kernel(s->tasks, &module, err);

                if (r < 0)
                        return r;
        } else {
                range = address_space_find(&process->space, frame->avma);
                if (range && range->module != 0) {
                        module = range->module;
                        offset = frame->avma - range->start_avma + range->file_offset_bytes;
                }
        }
        return import_rows_frame(s->tasks->rows, module, offset, frame->is_return, ret_frame, err);
}

/* The row of a frame below @stack, which becomes it. */
static int add_step(struct perf_stacks *s, struct perf_process *process, const struct perf_stack_frame *frame,
                    uint32_t *stack, struct error *err)
{
        struct perf_stack_step wanted = { .avma = frame->avma,
                                          .parent = *stack,
                                          .in_kernel = frame->in_kernel,
                                          .is_return = frame->is_return };
        size_t slot = (frame->avma ^ (uint64_t)*stack << 32) * UINT64_C(0x9e3779b97f4a7c15) >> 52;
        struct perf_stack_step *known = &s->steps[slot % PERF_STACKS_STEPS];
        uint32_t row;
        int r;

        if (!frame->in_kernel && process->space.generation == 0)
                process->space.generation = ++s->tasks->generation;
        wanted.generation = frame->in_kernel ? 0 : process->space.generation;
        if (known->stack != 0 && known->avma == wanted.avma && known->generation == wanted.generation &&
            known->parent == wanted.parent && known->in_kernel == wanted.in_kernel &&
            known->is_return == wanted.is_return) {
                *stack = known->stack;
                return 0;
        }
        r = add_frame(s, process, frame, &row, err);
        if (r == 0)
                r = import_rows_stack(s->tasks->rows, *stack, row, stack, err);
        if (r < 0)
                return r;
        wanted.stack = *stack;
        *known = wanted;
        return 0;
}

/* From the root inwards, so that stacks with the same callers share them. */
static int add_rows(struct perf_stacks *s, struct perf_process *process, uint32_t *ret_stack,
                    struct error *err)
{
        struct import_rows *rows = s->tasks->rows;
        uint32_t stack = 0;
        int r = 0;

        if (s->state >= TRACE_STACK_TRUNCATED) {
                if (s->cut_frame == 0)
                        r = import_rows_cut_frame(rows, &s->cut_frame, err);
                if (r == 0)
                        r = import_rows_stack(rows, 0, s->cut_frame, &stack, err);
        }
        for (size_t i = s->n_frames; r == 0 && i-- > 0;)
                r = add_step(s, process, &s->frames[i], &stack, err);
        *ret_stack = stack;
        return r;
}

int perf_stacks_add(struct perf_stacks *s, const struct perf_entry *entry, struct perf_process *process,
                    uint32_t *ret_stack, uint32_t *ret_state, struct error *err)
{
        enum perf_mode mode = perf_entry_mode(entry);
        int r = 0;

        s->n_frames = 0;
        s->state = entry->has_chain ? TRACE_STACK_FRAME_POINTERS : TRACE_STACK_UNKNOWN;
        take_chain(s, entry);
        if (s->n_frames >= KERNEL_FRAMES_MAX)
                s->state = TRACE_STACK_TOO_DEEP;
        if (!has_user_frame(s) && entry->regs_abi != 0)
                r = perf_stacks_unwind(s, entry, process, err);
        if (s->n_frames == 0 && mode != PERF_MODE_OTHER && entry->event->sample_type & PERF_HAS_IP)
                s->frames[s->n_frames++] = (struct perf_stack_frame){ entry->ip, mode == PERF_MODE_KERNEL,
                                                                      false };
        if (r == 0 && s->n_frames > 0)
                r = add_rows(s, process, ret_stack, err);
        else
                *ret_stack = 0;
        *ret_state = s->state;
        return r;
}
