/* SPDX-License-Identifier: MIT */
/*
 * A walk needs the code at an address: a search in the process's mappings, and
 * its module's table.  The walker remembers what it found there for as long as
 * a number stays the same, the generation.  Numbers are given out here, to each
 * address space after each change, and to all of them when a table has come.
 *
 * Where the copy ends before the stack does, in this order:
 *   - the thread's stack before, if it has the call in which the walk ended;
 *   - the thread's memory now.  The call in which the walk ended must be going on
 *     still: its return address lies where it lay.
 * Either way the whole stack is kept for the next time.
 */
#include "sampler/stack_unwinder.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "sampler/address_space.h"
#include "sampler/call_chain.h"
#include "sampler/code_tables.h"
#include "sampler/late_stack.h"
#include "sampler/loss_counter.h"
#include "sampler/process_table.h"
#include "sampler/raw_stack.h"
#include "sampler/unwind_frame_pointer.h"
#include "unwind/stack_walk.h"
#include "unwind/unwind_module.h"

#include <assert.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>

#define TABLE_WAIT_NS     (20 * NS_PER_MS)
#define KEPT_BYTES_MAX    (UINT32_C(1) << 26) /* of all threads together */
#define LATE_PERIOD_NS    NS_PER_MS           /* between two late reads of a thread */
#define LATE_BYTES_FIRST  (UINT32_C(1) << 16)
#define WORD_BYTES        8

struct stack_unwinder {
        struct stack_unwinder_options options;
        struct code_tables *tables;           /* borrowed; NULL = there are none */
        struct loss_counter *losses;          /* borrowed */
        const struct unwind_machine *machine; /* NULL = by frame pointers only */
        struct stack_walker *walker;
        struct late_stack late;
        size_t kept_bytes;
        uint64_t last_generation;
        uint64_t epoch_generation; /* older ones are of the time before the last table came */
        uint32_t epoch;
        bool is_hurried;
        bool met_late_table; /* in this walk */
        struct stack_walk walk;
};

/* Where an address is looked up. */
struct lookup {
        struct stack_unwinder *unwinder;
        const struct address_space *space;
};

/* One stack while it is walked. */
struct task {
        struct thread_track *thread;
        struct stack_walk_input input;
        struct stack_walk_space space;
        uint64_t now_ns; /* of the sample */
        bool is_now;     /* nothing newer of the thread was seen yet */
};

/* ---- what the kernel is asked for ---------------------------------------------------------------------- */

struct stack_unwinder_options stack_unwinder_complete(const struct stack_unwinder_options *wanted,
                                                      bool has_copies)
{
        struct stack_unwinder_options options = *wanted;

        if (!has_copies || !unwind_machine_own())
                options.mode = STACK_UNWINDER_FP;
        if (options.mode == STACK_UNWINDER_FP)
                options.copy_bytes = 0;
        else if (options.copy_bytes == 0)
                options.copy_bytes = STACK_UNWINDER_COPY_DEFAULT;
        return options;
}

void stack_unwinder_fill_attr(const struct stack_unwinder_options *options, struct perf_event_attr *attr)
{
        struct stack_unwinder_options o = stack_unwinder_complete(options, true);

        attr->sample_type |= PERF_SAMPLE_CALLCHAIN;
        if (o.mode == STACK_UNWINDER_FP)
                return;
        /* To follow the user's frame pointers as well would cost more than the copy. */
        attr->exclude_callchain_user = 1;
        attr->sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
        attr->sample_regs_user = unwind_machine_own()->perf_registers;
        attr->sample_stack_user = o.copy_bytes;
}

/* ---- life ---------------------------------------------------------------------------------------------- */

int stack_unwinder_new(const struct stack_unwinder_options *options, struct code_tables *tables,
                       struct loss_counter *losses, struct stack_unwinder **ret_unwinder, struct error *err)
{
        struct stack_unwinder *u = calloc(1, sizeof(*u));

        if (!u)
                return error_set(err, -ENOMEM, "no memory for unwinding");
        u->options = stack_unwinder_complete(options, true);
        u->tables = tables;
        u->losses = losses;
        if (u->options.mode != STACK_UNWINDER_FP) {
                u->machine = unwind_machine_own();
                u->walker = stack_walker_new(u->machine);
                if (!u->walker || late_stack_init(&u->late) < 0) {
                        stack_unwinder_free(u);
                        return error_set(err, -ENOMEM, "no memory for unwinding");
                }
        }
        *ret_unwinder = u;
        return 0;
}

void stack_unwinder_free(struct stack_unwinder *u)
{
        if (!u)
                return;
        late_stack_deinit(&u->late);
        stack_walker_free(u->walker);
        free(u);
}

void stack_unwinder_set_hurried(struct stack_unwinder *u, bool is_hurried)
{
        u->is_hurried = is_hurried;
}

void stack_unwinder_forget(struct stack_unwinder *u, struct thread_track *thread)
{
        u->kept_bytes -= stack_stitch_count_bytes(&thread->stitch);
        stack_stitch_deinit(&thread->stitch);
}

/* ---- the code at an address ---------------------------------------------------------------------------- */

static enum code_tables_answer find_module(struct stack_unwinder *u, uint32_t module,
                                           const struct unwind_module **ret_module)
{
        enum code_tables_answer answer;

        if (!u->tables)
                return CODE_TABLES_NONE;
        answer = code_tables_find(u->tables, module, ret_module);
        if (answer != CODE_TABLES_COMING)
                return answer;
        if (!u->is_hurried && code_tables_wait(u->tables, module, TABLE_WAIT_NS))
                return code_tables_find(u->tables, module, ret_module);
        u->met_late_table = true;
        return answer;
}

static bool find_code(const void *context, uint64_t avma, struct stack_walk_code *ret_code)
{
        const struct lookup *lookup = context;
        const struct address_range *range = address_space_find(lookup->space, avma);
        const struct unwind_module *module;

        *ret_code = (struct stack_walk_code){ .table = NULL };
        if (!range)
                return false;
        if (find_module(lookup->unwinder, range->module, &module) == CODE_TABLES_READY && module->table &&
            unwind_module_find_bias(module, range->start_avma, range->file_offset_bytes,
                                    range->end_avma - range->start_avma, &ret_code->bias))
                ret_code->table = module->table;
        return true;
}

static uint64_t generation_of(struct stack_unwinder *u, struct address_space *space)
{
        uint32_t epoch = u->tables ? code_tables_epoch(u->tables) : 0;

        if (epoch != u->epoch) {
                u->epoch = epoch;
                u->epoch_generation = u->last_generation;
        }
        if (space->generation <= u->epoch_generation)
                space->generation = ++u->last_generation;
        return space->generation;
}

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
                return TRACE_STACK_NO_TABLE;
        case STACK_WALK_END_NO_REGISTER:
                return TRACE_STACK_NO_REGISTER;
        case STACK_WALK_END_NOT_CODE:
        case STACK_WALK_END_BROKEN:
        case STACK_WALK_N_ENDS:
        default:
                return TRACE_STACK_BAD_MEMORY;
        }
}

/* ---- stacks that are longer than their copy ------------------------------------------------------------ */

static bool is_short(const struct stack_unwinder *u)
{
        return u->walk.end == STACK_WALK_END_CUT || u->walk.end == STACK_WALK_END_OTHER_STACK;
}

static void keep(struct stack_unwinder *u, const struct task *task, bool is_approximate)
{
        struct stack_stitch *stitch = &task->thread->stitch;
        size_t others_bytes = u->kept_bytes - stack_stitch_count_bytes(stitch);

        if (others_bytes + stack_stitch_count_bytes_for(stitch, &u->walk) > KEPT_BYTES_MAX)
                stack_stitch_clear(stitch);
        else
                stack_stitch_keep(stitch, &u->walk, task->space.generation, is_approximate);
        u->kept_bytes = others_bytes + stack_stitch_count_bytes(stitch);
}

/* True if the call in which the walk ended goes on still. */
static bool is_still_there(const struct stack_unwinder *u, uint32_t tid)
{
        uint32_t last = u->walk.n_frames - 1;
        uint64_t now;

        /* Elsewhere it is not known where the return address lies; and what was interrupted waits for its handler. */
        if (last == 0 || u->walk.frames[last].is_exact || !u->machine->is_return_address_saved)
                return true;
        return late_stack_look(tid, u->walk.frames[last - 1].cfa_avma - WORD_BYTES, &now) &&
               now == u->walk.frames[last].pc_avma;
}

/* Goes on with the walk in memory that is read now; true if it came to the root. */
static bool walk_late(struct stack_unwinder *u, struct task *task)
{
        const struct stack_walk_piece *copy = &task->input.pieces[0];
        uint64_t copy_end_avma = copy->start_avma + copy->n_bytes;
        uint64_t from_avma = u->walk.sp_avma;
        uint32_t tid = task->thread->tid;
        size_t n_bytes = LATE_BYTES_FIRST;

        if (u->walk.end == STACK_WALK_END_CUT && from_avma < copy_end_avma)
                from_avma = copy_end_avma;
        if (!late_stack_begin(&u->late, from_avma, clock_raw_ns()))
                return false;
        while (is_still_there(u, tid) && is_short(u) && late_stack_read(&u->late, tid, n_bytes)) {
                task->input.pieces[1] = (struct stack_walk_piece){ .bytes = u->late.bytes,
                                                                   .start_avma = from_avma,
                                                                   .n_bytes = u->late.n_bytes };
                task->input.n_pieces = 2;
                stack_walk_resume(u->walker, &task->space, &task->input, &u->walk);
                n_bytes = LATE_STACK_BYTES_MAX;
        }
        late_stack_end(&u->late, clock_raw_ns());
        return u->walk.end == STACK_WALK_END_ROOT;
}

/* The walk ended for want of memory. */
static enum trace_stack_state complete(struct stack_unwinder *u, struct task *task)
{
        struct thread_track *thread = task->thread;
        enum trace_stack_state missing = state_of(u->walk.end);
        uint32_t n_certain = u->walk.n_frames;

        if (stack_stitch_join(&thread->stitch, &u->walk, task->space.generation)) {
                if (u->walk.end == STACK_WALK_END_TOO_DEEP)
                        return TRACE_STACK_TOO_DEEP;
                if (task->is_now)
                        keep(u, task, thread->stitch.is_approximate);
                return thread->stitch.is_approximate ? TRACE_STACK_APPROXIMATE : TRACE_STACK_STITCHED;
        }
        if (!task->is_now || u->is_hurried || task->now_ns - thread->late_read_ns < LATE_PERIOD_NS)
                return missing;
        thread->late_read_ns = task->now_ns;
        if (walk_late(u, task)) {
                keep(u, task, true);
                return TRACE_STACK_APPROXIMATE;
        }
        /* What does not lead to the root is not to be trusted. */
        u->walk.n_frames = n_certain;
        return missing;
}

/*
 * A stack that reaches far up its copy may reach out of it next time.  From one that
 * does not there is no way back to what was kept but through new calls.
 */
static void consider(struct stack_unwinder *u, const struct task *task)
{
        const struct stack_walk_piece *copy = &task->input.pieces[0];

        if (u->walk.sp_avma - copy->start_avma > copy->n_bytes / 2)
                keep(u, task, false);
        else
                stack_stitch_clear(&task->thread->stitch);
}

/* ---- one stack ----------------------------------------------------------------------------------------- */

/* Code whose table was not there was left by its frame pointer, or not at all: the first is not believed. */
static void cut_late(struct stack_unwinder *u, struct address_space *space)
{
        const struct unwind_module *module;

        for (uint32_t i = 0; i < u->walk.n_frames; i++) {
                const struct stack_walk_frame *frame = &u->walk.frames[i];
                const struct address_range *range =
                        address_space_find(space, frame->pc_avma - !frame->is_exact);

                if (frame->way != STACK_WALK_WAY_TABLE && range &&
                    code_tables_find(u->tables, range->module, &module) == CODE_TABLES_COMING)
                        u->walk.n_frames = i + 1;
        }
        space->generation = 0; /* what the walker remembers is that there is no table */
}

/* Walks, and completes what can be; the frames are in `walk`. */
static enum trace_stack_state walk(struct stack_unwinder *u, struct task *task)
{
        struct address_space *mapped = &task->thread->process->space;
        const struct lookup lookup = { .unwinder = u, .space = mapped };
        enum trace_stack_state state;

        task->space = (struct stack_walk_space){ .find = find_code,
                                                 .context = &lookup,
                                                 .generation = generation_of(u, mapped) };
        task->input.n_pieces = 1;
        task->input.tables_only = u->options.mode == STACK_UNWINDER_DWARF;
        u->met_late_table = false;
        stack_walk_run(u->walker, &task->space, &task->input, &u->walk);
        state = state_of(u->walk.end);
        if (u->met_late_table) {
                cut_late(u, mapped);
                state = TRACE_STACK_TABLE_LATE;
        } else if (state == TRACE_STACK_COMPLETE && task->is_now) {
                consider(u, task);
        } else if (is_short(u)) {
                state = complete(u, task);
        }
        task->space.context = NULL;
        return state;
}

static void take_frames(const struct stack_walk *walk, enum trace_stack_state state, struct call_chain *chain)
{
        uint32_t n = walk->n_frames;

        chain->state = state;
        if (n > CALL_CHAIN_FRAMES_MAX - chain->n_frames) {
                n = CALL_CHAIN_FRAMES_MAX - chain->n_frames;
                chain->state = TRACE_STACK_TOO_DEEP;
        }
        for (uint32_t i = 0; i < n; i++)
                chain->frames[chain->n_frames++] =
                        (struct call_frame){ .avma = walk->frames[i].pc_avma,
                                             .return_address = !walk->frames[i].is_exact };
}

static void walk_user(struct stack_unwinder *u, const struct raw_stack *raw, struct thread_track *thread,
                      uint64_t now_ns, struct call_chain *chain)
{
        struct task task = { .thread = thread, .now_ns = now_ns, .is_now = true };
        struct unwind_registers *registers = &task.input.registers;

        if (!unwind_registers_decode(u->machine, u->machine->perf_registers, raw->registers,
                                     raw->registers_bytes, registers)) {
                chain->state = TRACE_STACK_NO_REGISTER;
                return;
        }
        if (raw->is_32_bit) {
                u->walk.frames[0] = (struct stack_walk_frame){ .pc_avma = registers->pc, .is_exact = true };
                u->walk.n_frames = 1;
                take_frames(&u->walk, TRACE_STACK_NO_TABLE, chain);
                return;
        }
        task.input.pieces[0] = (struct stack_walk_piece){ .bytes = raw->copy,
                                                          .start_avma = registers->values[u->machine->sp],
                                                          .n_bytes = raw->copy_bytes };
        take_frames(&u->walk, walk(u, &task), chain);
}

void stack_unwinder_count(const struct stack_unwinder *u, enum trace_stack_state state)
{
        static const enum trace_loss_reason reasons[TRACE_STACK_STATE_COUNT] = {
                [TRACE_STACK_TRUNCATED] = TRACE_LOSS_STACK_TRUNCATED,
                [TRACE_STACK_TOO_DEEP] = TRACE_LOSS_STACK_TOO_DEEP,
                [TRACE_STACK_NO_TABLE] = TRACE_LOSS_STACK_NO_TABLE,
                [TRACE_STACK_BAD_MEMORY] = TRACE_LOSS_STACK_BAD_MEMORY,
                [TRACE_STACK_NO_REGISTER] = TRACE_LOSS_STACK_NO_REGISTER,
                [TRACE_STACK_OTHER_STACK] = TRACE_LOSS_STACK_OTHER,
                [TRACE_STACK_TABLE_LATE] = TRACE_LOSS_STACK_TABLE_LATE,
                [TRACE_STACK_LEFT_CODE] = TRACE_LOSS_STACK_LEFT_CODE,
        };

        if (reasons[state] != 0)
                loss_counter_add(u->losses, reasons[state], 1);
}

void stack_unwinder_run(struct stack_unwinder *u, const struct raw_stack *raw, struct thread_track *thread,
                        uint64_t now_ns, struct call_chain *chain)
{
        if (raw->registers && u->walker) {
                unwind_frame_pointer_run_kernel(raw, chain);
                walk_user(u, raw, thread, now_ns, chain);
        } else {
                unwind_frame_pointer_run(raw, &thread->process->space, chain);
                /* A kernel thread has no other part. */
                if (u->walker && raw->in_kernel && chain->state == TRACE_STACK_FRAME_POINTERS &&
                    chain->frames[chain->n_frames - 1].in_kernel)
                        chain->state = TRACE_STACK_COMPLETE;
        }
        stack_unwinder_count(u, chain->state);
}

bool stack_unwinder_run_copy(struct stack_unwinder *u, const struct stack_unwinder_copy *copy,
                             struct thread_track *thread, struct call_chain *chain)
{
        struct task task = { .thread = thread };
        struct unwind_registers *registers = &task.input.registers;

        if (!u->walker)
                return false;
        registers->pc = copy->pc_avma;
        registers->values[u->machine->sp] = copy->sp_avma;
        registers->values[u->machine->fp] = copy->fp_avma;
        registers->known = UINT64_C(1) << u->machine->sp | UINT64_C(1) << u->machine->fp;
        task.input.pieces[0] = (struct stack_walk_piece){ .bytes = copy->bytes,
                                                          .start_avma = copy->sp_avma,
                                                          .n_bytes = copy->n_bytes };
        chain->n_frames = 0;
        take_frames(&u->walk, walk(u, &task), chain);
        return true;
}
