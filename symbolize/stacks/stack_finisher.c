/* SPDX-License-Identifier: MIT */
#include "symbolize/stacks/stack_finisher.h"

#include "base/bytes.h"
#include "format/trace_dictionary.h"
#include "format/trace_event.h"
#include "symbolize/stacks/module_tables.h"
#include "unwind/unwind_machine.h"

#include <errno.h>
#include <stdlib.h>

#define PARENTS_MAX 64 /* processes that a process came from, each by fork */

/* ---- life ---------------------------------------------------------------------------------------------- */

static const struct trace_mapping *mapping_of(const struct stack_finisher *f, uint32_t row)
{
        return trace_dictionary_row(f->dictionary, TRACE_TABLE_MAPPINGS, row);
}

/* Sorts the rows of MAPPINGS by process; those of a process stay in their order, which is that of time. */
static int sort_mappings(struct stack_finisher *f)
{
        uint32_t n_processes = trace_dictionary_count(f->dictionary, TRACE_TABLE_PROCESSES);

        f->n_mappings = trace_dictionary_count(f->dictionary, TRACE_TABLE_MAPPINGS);
        f->first = calloc((size_t)n_processes + 2, sizeof(*f->first));
        f->rows = calloc((size_t)f->n_mappings + 1, sizeof(*f->rows));
        if (!f->first || !f->rows)
                return -ENOMEM;
        for (uint32_t i = 1; i <= f->n_mappings; i++)
                f->first[mapping_of(f, i)->process]++;
        for (uint32_t p = 1; p <= n_processes + 1; p++)
                f->first[p] += f->first[p - 1];
        for (uint32_t i = f->n_mappings; i > 0; i--)
                f->rows[--f->first[mapping_of(f, i)->process]] = i;
        return 0;
}

struct stack_finisher *stack_finisher_new(struct trace_dictionary *dictionary, struct module_tables *tables)
{
        struct stack_finisher *f = calloc(1, sizeof(*f));

        if (!f)
                return NULL;
        f->dictionary = dictionary;
        f->tables = tables;
        f->n_modules = trace_dictionary_count(dictionary, TRACE_TABLE_MODULES);
        f->n_left = calloc((size_t)f->n_modules + 1, sizeof(*f->n_left));
        address_space_init(&f->space);
        if (f->n_left && sort_mappings(f) == 0)
                return f;
        stack_finisher_free(f);
        return NULL;
}

void stack_finisher_free(struct stack_finisher *f)
{
        if (!f)
                return;
        address_space_deinit(&f->space);
        stack_walker_free(f->walker);
        free(f->first);
        free(f->rows);
        free(f->n_left);
        free(f);
}

/* ---- mappings ------------------------------------------------------------------------------------------ */

/* Puts the mappings of a process in place, from @at on up to a time.  Returns 0, -ENOMEM, -E2BIG. */
static int map_until(struct stack_finisher *f, uint32_t process, uint32_t *at, uint64_t time_ns)
{
        for (; *at < f->first[process + 1]; (*at)++) {
                const struct trace_mapping *row = mapping_of(f, f->rows[*at]);
                struct address_range range = { .start_avma = row->start_avma,
                                               .file_offset_bytes = row->file_offset_bytes,
                                               .module = f->rows[*at] };
                int r;

                if (row->time_ns > time_ns)
                        return 0;
                f->work += f->space.n_ranges + 1;
                if (f->work > STACK_FINISHER_WORK_MAX)
                        return -E2BIG;
                if (__builtin_add_overflow(row->start_avma, row->length_bytes, &range.end_avma))
                        continue;
                r = address_space_add(&f->space, &range);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* A process that was forked has what its parent had then. */
static int map_parents(struct stack_finisher *f, uint32_t process)
{
        uint32_t chain[PARENTS_MAX];
        size_t n = 0;
        int r = 0;

        while (process != 0 && n < PARENTS_MAX) {
                const struct trace_process *row = trace_dictionary_row(f->dictionary, TRACE_TABLE_PROCESSES,
                                                                       process);

                chain[n++] = process;
                process = row->parent;
        }
        while (r == 0 && n-- > 1) {
                const struct trace_process *child = trace_dictionary_row(f->dictionary, TRACE_TABLE_PROCESSES,
                                                                         chain[n - 1]);
                uint32_t at = f->first[chain[n]];

                r = map_until(f, chain[n], &at, child->start_ns);
        }
        return r;
}

/* Makes `space` that of a process at a time.  Returns 0, -ENOMEM, -E2BIG after too much work. */
static int enter_process(struct stack_finisher *f, uint32_t process, uint64_t time_ns)
{
        int r = 0;

        if (f->work > STACK_FINISHER_WORK_MAX)
                return -E2BIG;
        if (f->process != process || time_ns < f->space_ns) {
                address_space_clear(&f->space);
                f->process = 0; /* also after a failure */
                f->next_row = f->first[process];
                r = map_parents(f, process);
        }
        if (r == 0)
                r = map_until(f, process, &f->next_row, time_ns);
        if (r < 0)
                return r;
        if (f->space.generation == 0)
                f->space.generation = ++f->last_generation;
        f->process = process;
        f->space_ns = time_ns;
        return 0;
}

static bool find_code(const void *context, uint64_t avma, struct stack_walk_code *ret_code)
{
        /* The walk does not change what it walks on, but tables are read when they are first needed. */
        struct stack_finisher *f = *(struct stack_finisher *const *)context;
        const struct address_range *range = address_space_find(&f->space, avma);

        if (!range)
                return false;
        module_tables_find(f->tables, mapping_of(f, range->module), avma, ret_code);
        return true;
}

/* ---- the walk ------------------------------------------------------------------------------------------ */

/* Reads the head of a copy.  Returns 1, 0 if it makes no sense or is of an unknown machine, -ENOMEM. */
static int read_copy(struct stack_finisher *f, const void *copy, size_t n_bytes,
                     struct stack_walk_input *ret_input)
{
        struct byte_reader in = byte_reader_of(copy, n_bytes);
        uint64_t elf_machine = bytes_u64(&in), mask = bytes_u64(&in);
        const struct unwind_machine *machine = elf_machine <= UINT16_MAX
                                                       ? unwind_machine_find((uint16_t)elf_machine)
                                                       : NULL;
        size_t registers_bytes = sizeof(uint64_t) * (size_t)__builtin_popcountll(mask);
        const uint8_t *registers = bytes_take(&in, registers_bytes);

        *ret_input = (struct stack_walk_input){ .n_pieces = 1 };
        if (in.short_read || !machine ||
            !unwind_registers_decode(machine, mask, registers, registers_bytes, &ret_input->registers))
                return 0;
        if (machine != f->machine) {
                stack_walker_free(f->walker);
                f->walker = stack_walker_new(machine);
                f->machine = machine;
        }
        if (!f->walker)
                return -ENOMEM;
        ret_input->pieces[0] = (struct stack_walk_piece){
                .bytes = in.at, .start_avma = ret_input->registers.values[machine->sp], .n_bytes = in.left
        };
        return 1;
}

/* The state of a walk that led to the root, or as far as its memory; UNKNOWN for others. */
static enum trace_stack_state state_of(enum stack_walk_end end)
{
        switch (end) {
        case STACK_WALK_END_ROOT:
                return TRACE_STACK_COMPLETE;
        case STACK_WALK_END_TOO_DEEP:
                return TRACE_STACK_TOO_DEEP;
        case STACK_WALK_END_CUT:
                return TRACE_STACK_TRUNCATED;
        case STACK_WALK_END_OTHER_STACK:
                return TRACE_STACK_OTHER_STACK;
        case STACK_WALK_END_NO_TABLE:
        case STACK_WALK_END_NOT_CODE:
        case STACK_WALK_END_NO_REGISTER:
        case STACK_WALK_END_BROKEN:
        case STACK_WALK_N_ENDS:
        default:
                return TRACE_STACK_UNKNOWN;
        }
}

/* Counts the module in which a walk ended. */
static void note_left(struct stack_finisher *f)
{
        const struct stack_walk_frame *last = &f->walk.frames[f->walk.n_frames - 1];
        const struct address_range *range = address_space_find(&f->space, last->pc_avma - !last->is_exact);
        uint32_t module = range ? mapping_of(f, range->module)->module : 0;

        if (module != 0 && module <= f->n_modules)
                f->n_left[module - 1]++;
}

/* ---- rows ---------------------------------------------------------------------------------------------- */

static struct trace_frame frame_of(const struct stack_finisher *f, const struct stack_walk_frame *at)
{
        const struct address_range *range = address_space_find(&f->space, at->pc_avma);
        struct trace_frame frame = { .offset = at->pc_avma,
                                     .flags = at->is_exact ? 0 : TRACE_FRAME_RETURN_ADDRESS };
        const struct trace_module *module;

        if (!range)
                return frame;
        frame.module = mapping_of(f, range->module)->module;
        module = frame.module != 0 ? trace_dictionary_row(f->dictionary, TRACE_TABLE_MODULES, frame.module)
                                   : NULL;
        if (module && module->kind != TRACE_MODULE_ANONYMOUS)
                frame.offset = at->pc_avma - range->start_avma + range->file_offset_bytes;
        return frame;
}

static uint32_t module_kind_of(const struct trace_dictionary *d, uint32_t module)
{
        const struct trace_module *row = module != 0 ? trace_dictionary_row(d, TRACE_TABLE_MODULES, module)
                                                     : NULL;

        return row ? row->kind : 0;
}

/* An old call stack, apart from the frames of the program's code. */
struct old_stack {
        uint32_t inner[STACK_FINISHER_KERNEL_FRAMES_MAX]; /* frames further in, the innermost first */
        uint32_t n_inner;
        uint32_t n_user; /* frames that the walk replaces, without the mark */
        uint32_t mark;   /* the frame "[truncated]"; 0 = it has none */
};

/*
 * Takes an old call stack apart where the program's own code begins, at @first.  Returns false if that frame
 * is not in it, so that the copy is of something else, or if it has Python functions, which a walk does not
 * find.
 */
static bool take_apart(const struct trace_dictionary *d, uint32_t stack, const struct trace_frame *first,
                       struct old_stack *ret)
{
        *ret = (struct old_stack){ .n_inner = 0 };
        for (const struct trace_stack *row; stack != 0; stack = row->parent) {
                const struct trace_frame *frame;
                uint32_t kind;

                row = trace_dictionary_row(d, TRACE_TABLE_STACKS, stack);
                frame = trace_dictionary_row(d, TRACE_TABLE_FRAMES, row->frame);
                kind = module_kind_of(d, frame->module);
                if (kind == TRACE_MODULE_MARK)
                        ret->mark = row->frame;
                else if (ret->n_user > 0 || (frame->module == first->module &&
                                             frame->offset == first->offset && frame->flags == first->flags))
                        ret->n_user++;
                else if (ret->n_inner < STACK_FINISHER_KERNEL_FRAMES_MAX)
                        ret->inner[ret->n_inner++] = row->frame;
                else
                        return false;
                if (kind == TRACE_MODULE_PYTHON || ret->n_user > STACK_WALK_FRAMES_MAX)
                        return false;
        }
        return ret->n_user > 0;
}

static int push(struct trace_dictionary *d, uint32_t frame, uint32_t *stack)
{
        const struct trace_stack row = { .parent = *stack, .frame = frame };

        return trace_dictionary_add(d, TRACE_TABLE_STACKS, &row, stack);
}

/* Adds the new call stack, from its root inwards.  Returns 0, -ENOMEM, -EOVERFLOW. */
static int add_rows(struct stack_finisher *f, const struct old_stack *old, enum trace_stack_state state,
                    uint32_t *ret_stack)
{
        struct trace_dictionary *d = f->dictionary;
        uint32_t stack = 0, id;
        int r = state >= TRACE_STACK_TRUNCATED && old->mark != 0 ? push(d, old->mark, &stack) : 0;

        for (uint32_t i = f->walk.n_frames; r == 0 && i-- > 0;) {
                const struct trace_frame frame = frame_of(f, &f->walk.frames[i]);

                r = trace_dictionary_add(d, TRACE_TABLE_FRAMES, &frame, &id);
                if (r == 0)
                        r = push(d, id, &stack);
        }
        for (uint32_t i = old->n_inner; r == 0 && i-- > 0;)
                r = push(d, old->inner[i], &stack);
        *ret_stack = stack;
        return r;
}

/* ---- all of it ----------------------------------------------------------------------------------------- */

static int walk(struct stack_finisher *f, uint32_t thread, uint64_t time_ns,
                const struct stack_walk_input *input)
{
        struct stack_walk_space space = { .find = find_code, .context = &f };
        uint32_t process = trace_dictionary_process_of(f->dictionary, thread);
        int r = process != 0 ? enter_process(f, process, time_ns) : -E2BIG;

        if (r < 0)
                return r == -ENOMEM ? r : 0;
        space.generation = f->space.generation;
        stack_walk_run(f->walker, &space, input, &f->walk);
        return f->walk.n_frames > 0;
}

int stack_finisher_run(struct stack_finisher *f, uint32_t thread, const void *copy, size_t n_bytes,
                       struct trace_event *sample)
{
        enum trace_stack_state state;
        struct stack_walk_input input;
        struct trace_frame first;
        struct old_stack old;
        uint32_t stack;
        int r = read_copy(f, copy, n_bytes, &input);

        if (r == 1)
                r = walk(f, thread, sample->time_ns, &input);
        if (r <= 0)
                return r;
        state = state_of(f->walk.end);
        first = frame_of(f, &f->walk.frames[0]);
        if (!take_apart(f->dictionary, (uint32_t)sample->sample.stack, &first, &old))
                return 0;
        if (state == TRACE_STACK_UNKNOWN)
                note_left(f);
        if (state == TRACE_STACK_UNKNOWN || (state != TRACE_STACK_COMPLETE && f->walk.n_frames <= old.n_user))
                return 0;
        r = add_rows(f, &old, state, &stack);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        sample->sample.stack = stack;
        sample->sample.state = state;
        return 1;
}
