/* SPDX-License-Identifier: MIT */
/*
 * A walk needs the code at an address: it searches the process's mappings, and then the module's table.
 * The walker remembers the results for as long as a number stays the same, the generation.  This file gives
 * out the numbers: to each address space after each change, and to all of them when a table has come.
 *
 * If the copy ends before the stack does, the rest is taken, in this order, from
 *   - the thread's previous stack, if it has the call in which the walk ended;
 *   - one of the thread's later stacks, likewise, out of what the rings hold now;
 *   - the thread's memory now, if that call is still active: its return address is where it was.
 * Each complete stack is kept for the next one, even a short one: its callees may be deep.
 */
#include "sampler/stacks/stack_unwinder.h"

#include "base/bytes.h"
#include "base/clock.h"
#include "base/error.h"
#include "sampler/kernel/call_chain.h"
#include "sampler/kernel/raw_stack.h"
#include "sampler/kernel/unwind_request.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/stacks/late_stack.h"
#include "sampler/stacks/stack_end.h"
#include "sampler/stacks/waiting_stacks.h"
#include "sampler/tables/code_tables.h"
#include "sampler/tracks/address_space.h"
#include "sampler/tracks/cut_stacks.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "unwind/stack_walk.h"
#include "unwind/unwind_module.h"

#include <assert.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#define KEPT_BYTES_MAX   (UINT32_C(1) << 26) /* of all threads together */
#define CUT_BYTES_MAX    (UINT32_C(1) << 24) /* of waiting stacks, of all threads together */
#define LATE_BYTES_FIRST (UINT32_C(1) << 16)
#define LATE_BYTES_BELOW 1024 /* also read: registers saved below the return address */
#define LATE_WINDOWS_MAX 32   /* each of LATE_STACK_BYTES_MAX at most */
#define WORD_BYTES       8
#define LATE_PAGE_BYTES  UINT64_C(4096)
#define LATE_SIDE_BYTES  256 /* of a window, which stay when the next one is read */

struct stack_unwinder {
        struct unwind_request options;
        struct code_tables *tables;           /* borrowed; NULL = there are none */
        const struct recorder_pace *pace;     /* borrowed */
        struct loss_counter *losses;          /* borrowed */
        const struct unwind_machine *machine; /* NULL = by frame pointers only */
        struct stack_walker *walker;
        struct late_stack late;
        uint64_t lacked_avma;               /* the address for which the window of `late` was read */
        uint8_t late_side[LATE_SIDE_BYTES]; /* what lay around the one before it */
        struct late_windows windows;
        struct stack_stitch after; /* the last stack that a later one completed */
        size_t kept_bytes, cut_bytes;
        uint32_t last_ticket;
        uint64_t last_generation;
        uint64_t epoch_generation; /* lower generations predate the last table */
        uint32_t epoch;
        uint64_t table_wait_ns; /* in this walk, for a table that is coming */
        bool met_late_table;    /* in this walk, */
        uint32_t late_module;   /* of this module */
        struct waiting_stacks waiting;
        size_t waiting_at;             /* up to there they were looked at */
        struct waiting_stack *resumed; /* owned: the stack that was handed out last; or NULL */
        struct stack_walk walk;
};

/* Where an address is looked up. */
struct lookup {
        struct stack_unwinder *unwinder;
        const struct process_track *process;
        const struct address_space *space; /* the process's mappings, at the time of the sample */
};

/* One stack while it is walked. */
struct task {
        struct thread_track *thread;
        struct stack_walk_input input;
        struct stack_walk_space space;
        struct call_chain *chain;          /* borrowed: the kernel's part, while the user's is walked */
        uint64_t now_ns;                   /* of the sample */
        bool is_now;                       /* nothing newer of the thread was seen yet */
        bool may_wait;                     /* it may be put aside, */
        uint32_t ticket;                   /* and was; 0 = it was not */
        bool is_full;                      /* the stack goes on beyond the copy */
        const struct waiting_stack *again; /* the stack, if it waited for a table; else NULL */
};

/* ---- life ---------------------------------------------------------------------------------------------- */

int stack_unwinder_new(const struct unwind_request *options, struct code_tables *tables,
                       struct recorder_pace *pace, struct loss_counter *losses,
                       struct stack_unwinder **ret_unwinder, struct error *err)
{
        struct stack_unwinder *u = calloc(1, sizeof(*u));

        if (!u)
                return error_set(err, -ENOMEM, "no memory for unwinding");
        u->options = unwind_request_complete(options, true);
        u->tables = tables;
        u->pace = pace;
        u->losses = losses;
        if (u->options.mode != UNWIND_FP) {
                u->machine = unwind_machine_own();
                u->walker = stack_walker_new(u->machine);
                if (!u->walker || late_stack_init(&u->late, pace) < 0) {
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
        waiting_stack_free(&u->waiting, u->resumed);
        waiting_stacks_deinit(&u->waiting);
        stack_stitch_deinit(&u->after);
        late_windows_deinit(&u->windows);
        late_stack_deinit(&u->late);
        stack_walker_free(u->walker);
        free(u);
}

void stack_unwinder_forget(struct stack_unwinder *u, struct thread_track *thread)
{
        u->kept_bytes -= stack_stitch_count_bytes(&thread->stitch);
        stack_stitch_deinit(&thread->stitch);
        for (size_t i = 0; i < thread->cuts.n_items; i++)
                u->cut_bytes -= cut_stack_count_bytes(thread->cuts.items[i]->n_kernel,
                                                      thread->cuts.items[i]->n_user);
        cut_stacks_deinit(&thread->cuts);
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
        if (u->met_late_table) /* waiting once in a walk is enough: later frames are doubtful anyway */
                return answer;
        if (!u->pace->is_hurried && code_tables_wait(u->tables, module, u->table_wait_ns))
                return code_tables_find(u->tables, module, ret_module);
        u->met_late_table = true;
        u->late_module = module;
        return answer;
}

static bool find_code(const void *context, uint64_t avma, struct stack_walk_code *ret_code)
{
        const struct lookup *lookup = context;
        const struct address_range *range = address_space_find(lookup->space, avma);
        struct stack_unwinder *u = lookup->unwinder;
        const struct unwind_module *module;
        enum code_tables_answer answer;

        *ret_code = (struct stack_walk_code){ .table = NULL };
        if (!range)
                return false;
        answer = find_module(u, range->module, &module);
        if (answer == CODE_TABLES_READY && module->table &&
            unwind_module_find_bias(module, range->start_avma, range->file_offset_bytes,
                                    range->end_avma - range->start_avma, &ret_code->bias))
                ret_code->table = module->table;
        else if (answer == CODE_TABLES_NONE && u->tables)
                ret_code->table = code_tables_find_of_jit(u->tables, lookup->process->process, avma);
        return true;
}

/* Reads the bytes of code without a table, as they are now; the walker remembers the result. */
static size_t read_code(const void *context, uint64_t avma, uint8_t *bytes, size_t n_bytes)
{
        const struct lookup *lookup = context;
        struct stack_unwinder *u = lookup->unwinder;

        if (n_bytes > 0 && stack_end_read_probe(lookup->process, avma, bytes))
                return 1;
        if (lookup->space != &lookup->process->space) /* other code may be there by now */
                return 0;
        return u->pace->is_hurried
                       ? 0
                       : late_stack_read_code(&u->late, lookup->process->pid, avma, bytes, n_bytes);
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

/* True if the call in which the walk ended is still active. */
static bool is_still_there(const struct stack_unwinder *u, uint32_t tid)
{
        uint32_t last = u->walk.n_frames - 1;
        uint64_t now;

        /*
         * The place of the return address is unknown in the first frame, or if the machine saves none;
         * interrupted code waits for the handler.
         */
        if (last == 0 || u->walk.frames[last].is_exact || !u->machine->is_return_address_saved)
                return true;
        return late_stack_look(tid, u->walk.frames[last - 1].cfa_avma - WORD_BYTES, &now) &&
               now == u->walk.frames[last].pc_avma;
}

/*
 * The address from which memory is read: that of the last frame, or the end of the copy.  If the address that
 * the walk needs next is far above, or on another stack, reading begins just below that address.
 */
static uint64_t late_start(const struct stack_unwinder *u, uint64_t copy_end_avma)
{
        uint64_t from_avma = u->walk.sp_avma;

        if (u->walk.end == STACK_WALK_END_CUT && from_avma < copy_end_avma)
                from_avma = copy_end_avma;
        if (u->walk.unread_avma > from_avma + LATE_BYTES_BELOW ||
            (u->walk.end == STACK_WALK_END_OTHER_STACK && u->walk.unread_avma < from_avma))
                from_avma = (u->walk.unread_avma - LATE_BYTES_BELOW) & ~(uint64_t)(WORD_BYTES - 1);
        return from_avma;
}

/* Keeps a part of the window: an unwind rule may need a number in it, and then another stack. */
static void keep_side(struct stack_unwinder *u, struct task *task)
{
        const struct late_stack *late = &u->late;
        uint64_t offset = u->lacked_avma - late->start_avma;
        size_t n_bytes;

        if (offset >= late->n_bytes)
                return;
        offset -= offset < LATE_SIDE_BYTES / 2 ? offset : LATE_SIDE_BYTES / 2;
        n_bytes = late->n_bytes - offset < LATE_SIDE_BYTES ? late->n_bytes - offset : LATE_SIDE_BYTES;
        memcpy(u->late_side, late->bytes + offset, n_bytes);
        task->input.pieces[2] = (struct stack_walk_piece){ .bytes = u->late_side,
                                                           .start_avma = late->start_avma + offset,
                                                           .n_bytes = n_bytes };
        task->input.n_pieces = 3;
}

/* Reads what the walk lacks: more of the window, or a window further out.  False if there is no more. */
static bool read_window(struct stack_unwinder *u, struct task *task, uint64_t copy_end_avma, size_t n_bytes,
                        unsigned *n_windows)
{
        const struct late_stack *late = &u->late;
        uint64_t lacks_avma = u->walk.unread_avma;

        if (lacks_avma - late->start_avma >= LATE_STACK_BYTES_MAX - WORD_BYTES) {
                if ((lacks_avma < late->start_avma && u->walk.end != STACK_WALK_END_OTHER_STACK) ||
                    (*n_windows)++ == LATE_WINDOWS_MAX)
                        return false; /* it was passed over */
                keep_side(u, task);
                late_stack_move(&u->late, late_start(u, copy_end_avma));
        }
        u->lacked_avma = lacks_avma;
        if (late_stack_read(&u->late, task->thread->tid, n_bytes))
                return true;
        if (late->n_bytes > 0 || late->start_avma >= (lacks_avma & ~(LATE_PAGE_BYTES - 1)))
                return false;
        late_stack_move(&u->late, lacks_avma & ~(LATE_PAGE_BYTES - 1)); /* the page before it is unmapped */
        return late_stack_read(&u->late, task->thread->tid, n_bytes);
}

/* Goes on with a walk in memory that is read now; true if it came to the root. */
static bool walk_late(struct stack_unwinder *u, struct task *task, uint64_t copy_end_avma)
{
        uint32_t tid = task->thread->tid;
        size_t n_bytes = LATE_BYTES_FIRST;
        unsigned n_windows = 1;

        if (!late_stack_begin(&u->late, late_start(u, copy_end_avma), clock_raw_ns()))
                return false;
        task->input.n_pieces = 1; /* pieces read for another stack do not belong to this one */
        while (is_short(u) && is_still_there(u, tid) &&
               read_window(u, task, copy_end_avma, n_bytes, &n_windows)) {
                task->input.pieces[1] = (struct stack_walk_piece){ .bytes = u->late.bytes,
                                                                   .start_avma = u->late.start_avma,
                                                                   .n_bytes = u->late.n_bytes };
                if (task->input.n_pieces < 2)
                        task->input.n_pieces = 2;
                stack_walk_resume(u->walker, &task->space, &task->input, &u->walk);
                n_bytes = LATE_STACK_BYTES_MAX;
        }
        late_stack_end(&u->late, clock_raw_ns());
        return u->walk.end == STACK_WALK_END_ROOT;
}

/* Completes the walk from a stack that is kept; false if it does not fit. */
static bool join(struct stack_unwinder *u, const struct stack_stitch *stitch, uint64_t generation,
                 enum trace_stack_state *ret_state)
{
        if (!stack_stitch_join(stitch, &u->walk, generation))
                return false;
        if (u->walk.end == STACK_WALK_END_TOO_DEEP)
                *ret_state = TRACE_STACK_TOO_DEEP;
        else
                *ret_state = stitch->is_approximate ? TRACE_STACK_APPROXIMATE : TRACE_STACK_STITCHED;
        return true;
}

static uint32_t next_ticket(struct stack_unwinder *u)
{
        if (++u->last_ticket == 0)
                u->last_ticket = 1;
        return u->last_ticket;
}

/* Puts a walk aside; if memory is short, or other walks use it up, the walk stays as it is. */
static void put_aside(struct stack_unwinder *u, struct task *task)
{
        const struct stack_walk_piece *copy = &task->input.pieces[0];
        size_t n_bytes = cut_stack_count_bytes(task->chain->n_frames, u->walk.n_frames);
        struct cut_stack *cut = NULL;

        if (u->cut_bytes + n_bytes <= CUT_BYTES_MAX)
                cut = cut_stacks_add(&task->thread->cuts, &u->walk, task->chain);
        if (!cut)
                return;
        u->cut_bytes += n_bytes;
        cut->ticket = task->again ? task->again->ticket : next_ticket(u);
        cut->copy_end_avma = copy->start_avma + copy->n_bytes;
        cut->generation = task->space.generation;
        cut->registers = task->input.registers;
        task->ticket = cut->ticket;
}

/* Goes on with a walk in memory that was read when its sample arrived; true if it came to the root. */
static bool walk_window(struct stack_unwinder *u, struct task *task, const struct late_window *window,
                        uint64_t copy_end_avma)
{
        uint64_t skipped = copy_end_avma - window->start_avma;
        uint32_t n_certain = u->walk.n_frames;

        if (skipped >= window->n_bytes ||
            (u->machine->is_return_address_saved && !late_window_has_call(window, &u->walk, &task->space)))
                return false;
        task->input.pieces[1] = (struct stack_walk_piece){ .bytes = window->bytes + skipped,
                                                           .start_avma = window->start_avma + skipped,
                                                           .n_bytes = window->n_bytes - skipped };
        task->input.n_pieces = 2;
        stack_walk_resume(u->walker, &task->space, &task->input, &u->walk);
        if (u->walk.end == STACK_WALK_END_ROOT)
                return true;
        u->walk.n_frames = n_certain; /* frames that do not lead to the root are not trusted */
        return false;
}

/* The walk ended for want of memory. */
static enum trace_stack_state complete(struct stack_unwinder *u, struct task *task)
{
        struct thread_track *thread = task->thread;
        const struct stack_walk_piece *copy = &task->input.pieces[0];
        enum trace_stack_state state = stack_end_state_of(u->walk.end);
        uint32_t n_certain = u->walk.n_frames;

        if (join(u, &thread->stitch, task->space.generation, &state)) {
                if (task->is_now && state != TRACE_STACK_TOO_DEEP)
                        keep(u, task, thread->stitch.is_approximate);
        } else if (copy->n_bytes == 0) {
                /* The program ends, or is replaced by another: its later memory is not this stack. */
                state = TRACE_STACK_NO_COPY;
        } else if (task->may_wait) {
                put_aside(u, task);
        } else if (task->again && task->again->window &&
                   walk_window(u, task, task->again->window, copy->start_avma + copy->n_bytes)) {
                if (task->is_now)
                        keep(u, task, true);
                return TRACE_STACK_APPROXIMATE;
        } else if (task->is_now && !u->pace->is_hurried &&
                   task->now_ns - thread->late_read_ns >= PACE_LATE_PERIOD_NS) {
                thread->late_read_ns = task->now_ns;
                if (walk_late(u, task, copy->start_avma + copy->n_bytes)) {
                        keep(u, task, true);
                        return TRACE_STACK_APPROXIMATE;
                }
                u->walk.n_frames = n_certain; /* frames that do not lead to the root are not trusted */
        }
        return state;
}

/* ---- one stack ----------------------------------------------------------------------------------------- */

/*
 * Cuts the walk at code whose table is still missing: a caller found there by frame pointer is not trusted.
 */
static void cut_late(struct stack_unwinder *u, struct address_space *space)
{
        const struct unwind_module *module;

        for (uint32_t i = 0; i < u->walk.n_frames; i++) {
                const struct stack_walk_frame *frame = &u->walk.frames[i];
                const struct address_range *range = address_space_find(space,
                                                                       frame->pc_avma - !frame->is_exact);

                if (frame->way != STACK_WALK_WAY_TABLE && range &&
                    code_tables_find(u->tables, range->module, &module) == CODE_TABLES_COMING)
                        u->walk.n_frames = i + 1;
        }
        space->generation = 0; /* the walker must forget that there was no table */
}

/*
 * Prepares a task, except for its input.
 * @space:  the mappings of the thread's process at the time of the sample
 */
static struct task make_task(struct stack_unwinder *u, struct thread_track *thread,
                             struct address_space *space, struct lookup *lookup)
{
        struct task task = { .thread = thread };

        *lookup = (struct lookup){ .unwinder = u, .process = thread->process, .space = space };
        task.space = (struct stack_walk_space){ .find = find_code,
                                                .read_code = read_code,
                                                .context = lookup,
                                                .generation = generation_of(u, space) };
        task.input.n_pieces = 1;
        task.input.tables_only = u->options.mode == UNWIND_DWARF;
        return task;
}

/*
 * Keeps the data needed to walk a stack once the missing table has come; without room the stack stays as it
 * is.
 */
static void wait_for_table(struct stack_unwinder *u, struct task *task)
{
        const struct stack_walk_piece *copy = &task->input.pieces[0];
        struct waiting_stack wanted = { .thread = task->thread,
                                        .time_ns = task->now_ns,
                                        .since_ns = clock_raw_ns(),
                                        .ticket = next_ticket(u),
                                        .module = u->late_module,
                                        .registers = task->input.registers,
                                        .copy_start_avma = copy->start_avma,
                                        .copy = copy->bytes,
                                        .copy_bytes = copy->n_bytes };

        if (task->is_full && !u->pace->is_hurried)
                wanted.window = late_windows_take(&u->windows, &u->late, task->thread->tid, copy->start_avma);
        if (waiting_stacks_add(&u->waiting, &wanted, task->chain))
                task->ticket = wanted.ticket;
        else
                late_window_drop(wanted.window);
}

/* A thread whose end is known has no later samples, and its last ones may not be written. */
static bool may_wait_for_table(const struct task *task)
{
        return task->may_wait && !task->again && !task->thread->exits && task->now_ns > 0;
}

/* Walks, and completes the stack if possible; the frames are in `walk`. */
static enum trace_stack_state walk_and_complete(struct stack_unwinder *u, struct task *task,
                                                struct address_space *space)
{
        bool may_wait = may_wait_for_table(task);
        enum trace_stack_state state;

        u->met_late_table = false;
        u->table_wait_ns = may_wait || task->again ? 0 : PACE_TABLES_WAIT_NS;
        stack_walk_expect(&task->input, &u->walk); /* the last one: mostly of this thread */
        stack_walk_run(u->walker, &task->space, &task->input, &u->walk);
        state = stack_end_state_of(u->walk.end);
        if (u->met_late_table) {
                if (may_wait)
                        wait_for_table(u, task);
                cut_late(u, space);
                return TRACE_STACK_TABLE_LATE;
        }
        if (state == TRACE_STACK_COMPLETE && task->is_now)
                keep(u, task, false);
        else if (is_short(u))
                state = complete(u, task);
        else if (stack_end_is_return_probe(&u->walk, task->thread->process))
                state = TRACE_STACK_RETURN_PROBE;
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
                chain->frames[chain->n_frames++] = (struct call_frame){
                        .avma = walk->frames[i].pc_avma, .return_address = !walk->frames[i].is_exact
                };
}

/*
 * During execve(2) the new program is being mapped: it has no stack yet, and the registers still are those
 * of the old program, whose memory is gone.  All frames of the thread are in the kernel.
 */
static bool is_between_programs(const struct raw_stack *raw, const struct task *task)
{
        return raw->in_kernel && raw->copy_bytes == 0 && task->chain->n_frames > 0 &&
               !address_space_find(&task->thread->process->space, task->input.registers.pc);
}

static void walk_user(struct stack_unwinder *u, const struct raw_stack *raw, struct task *task)
{
        struct unwind_registers *registers = &task->input.registers;
        struct call_chain *chain = task->chain;

        if (!unwind_registers_decode(u->machine, u->machine->perf_registers, raw->registers,
                                     raw->registers_bytes, registers)) {
                chain->state = TRACE_STACK_NO_REGISTER;
                return;
        }
        if (is_between_programs(raw, task)) {
                if (chain->state == TRACE_STACK_FRAME_POINTERS)
                        chain->state = TRACE_STACK_COMPLETE;
                return;
        }
        if (raw->is_32_bit) {
                u->walk.frames[0] = (struct stack_walk_frame){ .pc_avma = registers->pc, .is_exact = true };
                u->walk.n_frames = 1;
                take_frames(&u->walk, TRACE_STACK_NO_TABLE, chain);
                return;
        }
        task->input.pieces[0] = (struct stack_walk_piece){ .bytes = raw->copy,
                                                           .start_avma = registers->values[u->machine->sp],
                                                           .n_bytes = raw->copy_bytes };
        task->is_full = raw->copy_is_full;
        take_frames(&u->walk, walk_and_complete(u, task, &task->thread->process->space), chain);
}

/* Returns the ticket of a stack that was put aside, or 0. */
static uint32_t run_one(struct stack_unwinder *u, const struct raw_stack *raw, struct thread_track *thread,
                        uint64_t now_ns, bool may_wait, struct call_chain *chain)
{
        struct lookup lookup;
        struct task task;

        if (!raw->registers || !u->walker) {
                (void)generation_of(u, &thread->process->space); /* others remember by it as well */
                unwind_frame_pointer_run(raw, &thread->process->space, chain);
                /* A kernel thread has no other part. */
                if (u->walker && raw->in_kernel && chain->state == TRACE_STACK_FRAME_POINTERS &&
                    chain->frames[chain->n_frames - 1].in_kernel)
                        chain->state = TRACE_STACK_COMPLETE;
                stack_end_count(u->losses, chain->state);
                return 0;
        }
        unwind_frame_pointer_run_kernel(raw, chain);
        task = make_task(u, thread, &thread->process->space, &lookup);
        task.now_ns = now_ns;
        task.is_now = true;
        task.may_wait = may_wait;
        task.chain = chain;
        walk_user(u, raw, &task);
        if (raw->is_32_bit && chain->state == TRACE_STACK_NO_TABLE) /* another count, which says what helps */
                loss_counter_add(u->losses, TRACE_LOSS_STACK_32_BIT, 1);
        else if (task.ticket == 0)
                stack_end_count(u->losses, chain->state);
        return task.ticket;
}

void stack_unwinder_run(struct stack_unwinder *u, const struct raw_stack *raw, struct thread_track *thread,
                        uint64_t now_ns, struct call_chain *chain)
{
        (void)run_one(u, raw, thread, now_ns, false, chain);
}

uint32_t stack_unwinder_run_waiting(struct stack_unwinder *u, const struct raw_stack *raw,
                                    struct thread_track *thread, uint64_t now_ns, struct call_chain *chain)
{
        stack_stitch_clear(&u->after);
        return run_one(u, raw, thread, now_ns, true, chain);
}

void stack_unwinder_read_late(struct stack_unwinder *u, struct thread_track *thread)
{
        struct cut_stacks *cuts = &thread->cuts;
        struct lookup lookup;
        struct task task;

        if (u->pace->is_hurried || cuts->n_items == 0)
                return;
        task = make_task(u, thread, &thread->process->space, &lookup);
        for (size_t i = cuts->n_items; i-- > 0 && i + PACE_LATE_STACKS >= cuts->n_items;) {
                if (cuts->items[i]->generation != task.space.generation)
                        return;
                cut_stack_restore(cuts->items[i], &u->walk);
                task.input.registers = cuts->items[i]->registers;
                if (walk_late(u, &task, cuts->items[i]->copy_end_avma)) {
                        keep(u, &task, true);
                        return;
                }
        }
}

/*
 * Reads the missing rest for this stack alone: its code is about to change, or the thread's memory has
 * completed no other stack.
 */
static bool complete_closed(struct stack_unwinder *u, struct thread_track *thread,
                            const struct cut_stack *cut)
{
        struct lookup lookup;
        struct task task = make_task(u, thread, &thread->process->space, &lookup);
        struct late_window *window;
        bool is_complete;

        if (u->pace->is_hurried || thread->exits || cut->generation != task.space.generation)
                return false;
        task.input.registers = cut->registers;
        window = late_windows_take(&u->windows, &u->late, thread->tid, cut->registers.values[u->machine->sp]);
        is_complete = window && walk_window(u, &task, window, cut->copy_end_avma);
        late_window_drop(window);
        return is_complete;
}

uint32_t stack_unwinder_close(struct stack_unwinder *u, struct thread_track *thread, struct call_chain *chain)
{
        struct cut_stack *cut = cut_stacks_take(&thread->cuts);
        enum trace_stack_state state;
        uint32_t ticket;

        if (!cut)
                return 0;
        ticket = cut->ticket;
        u->cut_bytes -= cut_stack_count_bytes(cut->n_kernel, cut->n_user);
        cut_stack_restore_kernel(cut, chain);
        cut_stack_restore(cut, &u->walk);
        state = stack_end_state_of(cut->end);
        /* A completed stack has calls that had returned by the time of the stack that completed it. */
        if (join(u, &thread->stitch, cut->generation, &state) || join(u, &u->after, cut->generation, &state))
                stack_stitch_keep(&u->after, &u->walk, cut->generation, state == TRACE_STACK_APPROXIMATE);
        else if (complete_closed(u, thread, cut)) {
                state = TRACE_STACK_APPROXIMATE;
                stack_stitch_keep(&u->after, &u->walk, cut->generation, true);
        }
        take_frames(&u->walk, state, chain);
        stack_end_count(u->losses, chain->state);
        free(cut);
        return ticket;
}

/* ---- stacks that waited for a table -------------------------------------------------------------------- */

/* Walks one waiting stack again; false if it has to wait for another table. */
static bool walk_again(struct stack_unwinder *u, struct waiting_stack *stack, bool gives_up,
                       struct stack_unwinder_resumed *ret, struct call_chain *chain)
{
        struct thread_track *thread = stack->thread;
        struct address_space *space = waiting_stack_space(stack);
        struct lookup lookup;
        struct task task = make_task(u, thread, space, &lookup);
        enum trace_stack_state state;

        task.again = stack;
        task.now_ns = stack->time_ns;
        task.chain = chain;
        /* Only under these conditions can it complete other stacks of its thread, or be completed by them. */
        task.is_now = task.may_wait = !gives_up && space == &thread->process->space && !thread->exits;
        task.input.registers = stack->registers;
        task.input.pieces[0] = (struct stack_walk_piece){ .bytes = stack->copy,
                                                          .start_avma = stack->copy_start_avma,
                                                          .n_bytes = stack->copy_bytes };
        waiting_stack_restore_kernel(stack, chain);
        state = walk_and_complete(u, &task, space);
        if (state == TRACE_STACK_TABLE_LATE && !gives_up) {
                stack->module = u->late_module;
                return false;
        }
        take_frames(&u->walk, state, chain);
        *ret = (struct stack_unwinder_resumed){ .thread = thread,
                                                .space = space,
                                                .time_ns = stack->time_ns,
                                                .ticket = stack->ticket,
                                                .is_cut = task.ticket != 0 };
        if (!ret->is_cut)
                stack_end_count(u->losses, chain->state);
        return true;
}

bool stack_unwinder_resume(struct stack_unwinder *u, const struct process_track *process, uint64_t now_ns,
                           struct stack_unwinder_resumed *ret_resumed, struct call_chain *chain)
{
        struct waiting_stacks *waiting = &u->waiting;
        const struct unwind_module *module;

        waiting_stack_free(waiting, u->resumed);
        u->resumed = NULL;
        while (u->waiting_at < waiting->n_items) {
                size_t at = u->waiting_at++;
                struct waiting_stack *stack = waiting->items[at];
                bool gives_up = recorder_pace_stack_is_lost(stack->since_ns, now_ns);

                if ((process && stack->thread->process != process) ||
                    (!gives_up &&
                     code_tables_find(u->tables, stack->module, &module) == CODE_TABLES_COMING) ||
                    !walk_again(u, stack, gives_up, ret_resumed, chain))
                        continue;
                u->resumed = waiting_stacks_take(waiting, at);
                return true;
        }
        if (u->waiting_at > 0)
                waiting_stacks_tidy(waiting);
        u->waiting_at = 0;
        return false;
}

bool stack_unwinder_has_waiting_in_kernel(const struct stack_unwinder *u, uint64_t start_avma,
                                          uint64_t end_avma)
{
        return waiting_stacks_have_kernel_code(&u->waiting, start_avma, end_avma);
}

bool stack_unwinder_may_wait_in(const struct stack_unwinder *u, const struct process_track *process,
                                uint64_t start_avma, uint64_t end_avma)
{
        return waiting_stacks_may_have_code(&u->waiting, process, start_avma, end_avma);
}

bool stack_unwinder_has_waiting(const struct stack_unwinder *u)
{
        return u->waiting.n_items > 0;
}

bool stack_unwinder_is_overdue(const struct stack_unwinder *u, uint64_t now_ns)
{
        return waiting_stacks_are_overdue(&u->waiting, now_ns);
}

bool stack_unwinder_run_copy(struct stack_unwinder *u, const struct stack_unwinder_copy *copy,
                             struct thread_track *thread, struct call_chain *chain)
{
        struct lookup lookup;
        struct task task;
        struct unwind_registers *registers = &task.input.registers;

        if (!u->walker)
                return false;
        task = make_task(u, thread, copy->space, &lookup);
        registers->pc = copy->pc_avma;
        registers->values[u->machine->sp] = copy->sp_avma;
        registers->values[u->machine->fp] = copy->fp_avma;
        registers->known = UINT64_C(1) << u->machine->sp | UINT64_C(1) << u->machine->fp;
        task.input.pieces[0] = (struct stack_walk_piece){ .bytes = copy->bytes,
                                                          .start_avma = copy->sp_avma,
                                                          .n_bytes = copy->n_bytes };
        chain->n_frames = 0;
        take_frames(&u->walk, walk_and_complete(u, &task, copy->space), chain);
        return true;
}
