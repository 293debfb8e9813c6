/* SPDX-License-Identifier: MIT */
#include "sampler/tables/code_regions.h"

#include "format/trace_dictionary.h"
#include "sampler/kernel/call_chain.h"
#include "sampler/tracks/process_table.h"

#include <errno.h>
#include <stdlib.h>

#define FRAMES_MAX (CALL_CHAIN_FRAMES_MAX + 1) /* with the mark of a cut stack */

struct stack_mover {
        struct trace_dictionary *dictionary;
        uint32_t process, generation;
        uint32_t from, to; /* ids of stacks: the last one that was moved, since many are the same */
        uint32_t *frames;  /* heap, owned; of FRAMES_MAX: scratch */
};

/* Returns the same frame in the next generation; the frame itself if it is in other memory. */
static int move_frame(const struct stack_mover *m, uint32_t frame_id, uint32_t *ret_frame)
{
        struct trace_dictionary *d = m->dictionary;
        struct trace_frame frame = *(const struct trace_frame *)trace_dictionary_row(d, TRACE_TABLE_FRAMES,
                                                                                     frame_id);
        struct trace_module module = { .kind = 0 };
        int r;

        *ret_frame = frame_id;
        if (frame.module != 0)
                module = *(const struct trace_module *)trace_dictionary_row(d, TRACE_TABLE_MODULES,
                                                                            frame.module);
        if (module.kind != TRACE_MODULE_ANONYMOUS || module.process != m->process ||
            module.generation != m->generation)
                return 0;
        module.generation++;
        r = trace_dictionary_add(d, TRACE_TABLE_MODULES, &module, &frame.module);
        return r < 0 ? r : trace_dictionary_add(d, TRACE_TABLE_FRAMES, &frame, ret_frame);
}

/* Moves a stack from its root inwards, as call stacks are made.  Returns as trace_dictionary_add(). */
static int move_stack(struct stack_mover *m, uint32_t stack, uint32_t *ret_stack)
{
        uint32_t n_frames = 0, moved = 0;
        int r = 0;

        for (uint32_t id = stack; id != 0; n_frames++) {
                const struct trace_stack *row = trace_dictionary_row(m->dictionary, TRACE_TABLE_STACKS, id);

                if (n_frames == FRAMES_MAX)
                        return -EOVERFLOW;
                m->frames[n_frames] = row->frame;
                id = row->parent;
        }
        while (r == 0 && n_frames-- > 0) {
                struct trace_stack row = { .parent = moved };

                r = move_frame(m, m->frames[n_frames], &row.frame);
                if (r == 0)
                        r = trace_dictionary_add(m->dictionary, TRACE_TABLE_STACKS, &row, &moved);
        }
        if (r == 0)
                *ret_stack = moved;
        return r;
}

/* Moves a stack; if a table is full, the stack stays as it is. */
static int move(struct stack_mover *m, uint64_t *stack)
{
        int r = 0;

        if (*stack == 0)
                return 0;
        if (*stack != m->from) {
                m->from = (uint32_t)*stack;
                m->to = m->from;
                r = move_stack(m, m->from, &m->to);
        }
        *stack = m->to;
        return r == -EOVERFLOW ? 0 : r;
}

int stack_mover_run(const struct process_table *processes, struct trace_dictionary *dictionary,
                    const struct process_track *process, uint32_t generation, uint64_t since_ns)
{
        struct stack_mover m = { .dictionary = dictionary,
                                 .process = process->process,
                                 .generation = generation,
                                 .frames = malloc(FRAMES_MAX * sizeof(*m.frames)) };
        int r = m.frames ? 0 : -ENOMEM;

        for (size_t i = 0; r == 0 && i < processes->n_listed; i++) {
                struct thread_track *thread = processes->listed[i];

                if (thread->process != process)
                        continue;
                for (size_t k = thread->n_pending; r == 0 && k-- > 0;) {
                        struct trace_event *event = &thread->pending[k].event;

                        if (event->time_ns < since_ns)
                                break;
                        if (event->op == TRACE_OP_SAMPLE)
                                r = move(&m, &event->sample.stack);
                        else if (event->op == TRACE_OP_SWITCH_OUT)
                                r = move(&m, &event->switch_out.stack);
                        else if (event->op == TRACE_OP_SWITCH_IN)
                                r = move(&m, &event->switch_in.stack);
                }
        }
        free(m.frames);
        return r;
}
