/* SPDX-License-Identifier: MIT */
/*
 * From a frame to its caller.
 *
 * Three registers of each frame are kept: program counter, stack pointer, frame pointer.  Nearly every rule
 * needs no more.  For the rare rule that does, the walk searches the frames further in, from the next one
 * inwards, for one that has saved the register, and then the registers of the sample.
 *
 * The address where the thread stood, or was interrupted by a signal, is exact.  All other addresses are
 * return addresses.  The call lies before its return address and may be the last instruction of its
 * function, so the walk looks up the address less one byte.
 *
 * gcc's rules do not state when an epilogue has restored a register.  The slot that the rule names is then
 * below the stack pointer, and the register has its old value again: this can only happen where the address
 * is exact.
 */
#include "unwind/stack_walk.h"

#include "base/bytes.h"
#include "unwind/cfi_expression.h"
#include "unwind/code_paths.h"
#include "unwind/unwind_table.h"
#include "unwind/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PREFETCH_BYTES 1024 /* of the stack: some frames */
#define SEARCH_MAX     64   /* frames that are searched for one saved register */

#define SIGNAL_BYTES_MAX (1U << 16) /* the largest signal frame, with the widest registers */

/* A frame that would reach further than this, the usual limit of a stack, continues on another stack. */
#define FRAME_BYTES_MAX (UINT64_C(1) << 23)
#define STACKS_BEGIN    UINT64_C(0x10000) /* kernels map nothing below that */
#define SWITCHES_MAX    64                /* to lower stacks: two stacks could lead to each other for ever */

/* ------------------------------------------------------------------- memory */

bool walk_read_u64(const struct walk *w, uint64_t avma, uint64_t *ret_value)
{
        for (size_t i = 0; i < w->input->n_pieces; i++) {
                const struct stack_walk_piece *p = &w->input->pieces[i];
                struct byte_reader in;

                if (p->n_bytes < sizeof(uint64_t) || avma - p->start_avma > p->n_bytes - sizeof(uint64_t))
                        continue;
                in = byte_reader_of(p->bytes + (avma - p->start_avma), sizeof(uint64_t));
                *ret_value = bytes_u64(&in);
                return true;
        }
        w->out->unread_avma = avma;
        return false;
}

static bool is_copied(const struct walk *w, uint64_t avma)
{
        for (size_t i = 0; i < w->input->n_pieces; i++)
                if (avma - w->input->pieces[i].start_avma < w->input->pieces[i].n_bytes)
                        return true;
        return false;
}

/*
 * Prefetches the copy of the stack, which has just come from the kernel: each frame is in another cache
 * line that is not loaded yet.  The next addresses to be read are some frames further up.
 */
static void prefetch(const struct walk *w, uint64_t from_avma, uint64_t to_avma)
{
        const struct stack_walk_piece *p = &w->input->pieces[0];
        uint64_t from = from_avma - p->start_avma;

        if (to_avma - from_avma > PREFETCH_BYTES)
                return; /* the stack is left, or shrinks */
        for (uint64_t at = from; at < p->n_bytes && at - from < to_avma - from_avma; at += CACHE_LINE_BYTES)
                __builtin_prefetch(p->bytes + at);
}

void stack_walk_expect(const struct stack_walk_input *input, const struct stack_walk *before)
{
        const struct stack_walk_piece *p = &input->pieces[0];

        for (uint32_t i = 0; i < before->n_frames; i++) {
                uint64_t at = before->frames[i].cfa_avma - p->start_avma - 1; /* in the return address */

                if (at < p->n_bytes)
                        __builtin_prefetch(p->bytes + at);
        }
}

/* True if @avma is too far away to be in the same frame. */
static bool is_out_of_frame(const struct walk *w, uint64_t avma)
{
        return avma < w->sp || avma - w->sp >= FRAME_BYTES_MAX;
}

/* Why an address could not be read. */
enum stack_walk_end walk_why_unread(const struct walk *w, uint64_t avma)
{
        if (w->is_on_other_stack)
                return STACK_WALK_END_OTHER_STACK;
        return avma >= w->sp && avma - w->sp < STACK_BYTES_MAX ? STACK_WALK_END_CUT : STACK_WALK_END_BROKEN;
}

/* -------------------------------------------------------------------- rules */

/* The entry of an address in a table of 2^@bits entries. */
struct cache_entry *walk_cache_entry(struct cache_entry *entries, unsigned bits, uint64_t avma)
{
        return &entries[(avma * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - bits)];
}

bool walk_find_rule(const struct walk *w, uint64_t avma, struct stack_walk_code *ret_code,
                    struct unwind_rule *ret_rule)
{
        const struct unwind_rule *rule;

        if (!w->space->find(w->space->context, avma, ret_code))
                return false;
        if (ret_code->table && ret_code->table->machine != w->machine)
                ret_code->table = NULL;
        rule = ret_code->table ? unwind_table_find(ret_code->table, avma - ret_code->bias) : NULL;
        *ret_rule = rule ? *rule : (struct unwind_rule){ .cfa = UNWIND_CFA_NONE };
        return true;
}

bool walk_is_entry(const struct walk *w, const struct cache_entry *entry, uint64_t avma)
{
        return entry->avma == avma && entry->generation == w->space->generation;
}

/*
 * Looks up the rule for a frame, mostly among the remembered rules: two entries share a cache line, and the
 * first of them was used last.  A search in the tables takes longer than many look-ups here.  Returns false
 * if no code is there.
 */
static bool look_up(struct walk *w, uint64_t avma, struct unwind_rule *ret_rule)
{
        size_t at = (size_t)(walk_cache_entry(w->walker->rules, CACHE_BITS, avma) - w->walker->rules);
        struct cache_entry *entry = &w->walker->rules[at & ~(size_t)1], used;
        struct stack_walk_code code;

        if (walk_is_entry(w, entry, avma)) {
                *ret_rule = entry->rule;
                return true;
        }
        if (walk_is_entry(w, entry + 1, avma)) {
                used = entry[1];
                entry[1] = entry[0];
                entry[0] = used;
                *ret_rule = used.rule;
                return true;
        }
        if (!walk_find_rule(w, avma, &code, ret_rule))
                return false;
        entry[1] = entry[0];
        entry[0] =
                (struct cache_entry){ .avma = avma, .generation = w->space->generation, .rule = *ret_rule };
        return true;
}

/* --------------------------------------------------------- registers further in */

/* The stack pointer of a frame that has been left or is being left. */
static uint64_t sp_of(const struct walk *w, uint32_t frame)
{
        return frame == 0 ? w->input->registers.values[w->machine->sp] : w->out->frames[frame - 1].cfa_avma;
}

/*
 * One step inwards in the search for a register's value: looks up where @frame has saved the register.
 * Returns 1 if the value was found, 0 if the search goes on further in, under @number, or a negative number.
 */
static int look_in_frame(const struct walk *w, uint32_t frame, uint8_t *number, uint64_t *ret_value)
{
        const struct stack_walk_frame *f = &w->out->frames[frame];
        const struct unwind_saved *saved;
        struct stack_walk_code code;
        struct unwind_rule rule;

        if (f->way == STACK_WALK_WAY_CODE && *number != w->machine->fp)
                return code_paths_know(w->machine) ? -ENOENT : 0; /* else such code restores no other */
        if (f->way == STACK_WALK_WAY_SIGNAL) {
                uint16_t offset = w->machine->signal_registers[*number];

                return offset != 0 && walk_read_u64(w, sp_of(w, frame) + offset, ret_value) ? 1 : -ENOENT;
        }
        if (f->way != STACK_WALK_WAY_TABLE || !walk_find_rule(w, f->pc_avma - !f->is_exact, &code, &rule))
                return -ENOENT;
        saved = code.table ? unwind_table_saved(code.table, &rule, *number) : NULL;
        if (!saved)
                return 0;
        switch ((enum unwind_saved_kind)saved->kind) {
        case UNWIND_SAVED_SAME:
                return 0;
        case UNWIND_SAVED_AT_CFA:
                if (f->is_exact &&
                    (int64_t)(f->cfa_avma + (uint64_t)(int64_t)saved->value - sp_of(w, frame)) < 0)
                        return 0; /* an epilogue has restored it */
                return walk_read_u64(w, f->cfa_avma + (uint64_t)(int64_t)saved->value, ret_value) ? 1
                                                                                                  : -ENOENT;
        case UNWIND_SAVED_CFA_PLUS:
                *ret_value = f->cfa_avma + (uint64_t)(int64_t)saved->value;
                return 1;
        case UNWIND_SAVED_IN_REGISTER:
                if (saved->value < 0 || saved->value >= UNWIND_REGISTERS_MAX)
                        return -ENOENT;
                *number = (uint8_t)saved->value;
                return 0;
        case UNWIND_SAVED_UNDEFINED:
        case UNWIND_SAVED_AT_EXPRESSION: /* an expression in an expression: no known file has one */
        case UNWIND_SAVED_BY_EXPRESSION:
        case UNWIND_SAVED_ELSEWHERE:
        default:
                return -ENOENT;
        }
}

/* The value of a register in the last frame.  Returns 0 or -ENOENT. */
int walk_read_register(const struct walk *w, uint64_t number, uint64_t *ret_value)
{
        uint32_t frame = w->out->n_frames - 1; /* the one being left */
        uint8_t n = (uint8_t)number;

        if (number >= UNWIND_REGISTERS_MAX)
                return -ENOENT;
        if (n == w->machine->sp) {
                *ret_value = w->sp;
                return 0;
        }
        if (n == w->machine->ra && w->machine->is_return_address_saved) {
                *ret_value = w->pc;
                return 0;
        }
        if (n == w->machine->fp && w->is_fp_known) {
                *ret_value = w->fp;
                return 0;
        }
        for (unsigned i = 0; frame > 0 && i < SEARCH_MAX; i++) {
                int r = look_in_frame(w, --frame, &n, ret_value);

                if (r != 0)
                        return r > 0 ? 0 : -ENOENT;
        }
        if (frame > 0 || !(w->input->registers.known >> n & 1))
                return -ENOENT;
        *ret_value = w->input->registers.values[n];
        return 0;
}

static int view_register(void *context, uint64_t number, uint64_t *ret_value)
{
        return walk_read_register(context, number, ret_value);
}

static int view_memory(void *context, uint64_t avma, size_t n_bytes, uint64_t *ret_value)
{
        const struct walk *w = context;
        uint64_t value = 0;

        /* Eight bytes can be read wherever fewer can, except at the very end. */
        if (!walk_read_u64(w, avma, &value))
                return -EFAULT;
        *ret_value = n_bytes >= sizeof(value) ? value : value & ((UINT64_C(1) << 8 * n_bytes) - 1);
        return 0;
}

static enum stack_walk_end end_of(const struct walk *w, int code)
{
        switch (code) {
        case -ENOENT:
                return STACK_WALK_END_NO_REGISTER;
        case -EFAULT:
                return w->is_on_other_stack || is_out_of_frame(w, w->out->unread_avma)
                               ? STACK_WALK_END_OTHER_STACK
                               : STACK_WALK_END_CUT;
        default:
                return STACK_WALK_END_BROKEN;
        }
}

/* Evaluates the expression at @place in the table of the last frame's rule.  Returns 0 or -errno. */
static int evaluate(struct walk *w, int32_t place, const uint64_t *initial, uint64_t *ret_value)
{
        const struct cfi_expression_view view = { .read_register = view_register,
                                                  .read_memory = view_memory,
                                                  .context = w };
        struct stack_walk_code code;
        struct unwind_rule rule;
        const uint8_t *bytes;
        size_t n_bytes;

        if (!walk_find_rule(w, w->pc - !w->is_exact, &code, &rule) || !code.table)
                return -EBADMSG;
        bytes = unwind_table_expression(code.table, place, &n_bytes);
        return bytes ? cfi_expression_evaluate(bytes, n_bytes, &view, initial, ret_value) : -EBADMSG;
}

/* -------------------------------------------------------------------- a step */

/* All steps return true with the caller's registers in @w, or false with the reason in `end`. */
bool walk_stop(struct walk *w, enum stack_walk_end end)
{
        w->out->end = end;
        return false;
}

static bool find_cfa(struct walk *w, const struct unwind_rule *rule, uint64_t *ret_cfa)
{
        uint64_t offset = (uint64_t)(int64_t)rule->cfa_offset;
        uint64_t value = 0;
        int r = 0;

        switch ((enum unwind_cfa)rule->cfa) {
        case UNWIND_CFA_SP:
                *ret_cfa = w->sp + offset;
                return true;
        case UNWIND_CFA_FP:
                *ret_cfa = w->fp + offset;
                return w->is_fp_known || walk_stop(w, STACK_WALK_END_NO_REGISTER);
        case UNWIND_CFA_PLT:
                *ret_cfa = w->sp + offset + ((w->pc & 15) >= rule->cfa_register ? 8 : 0);
                return true;
        case UNWIND_CFA_REGISTER:
        case UNWIND_CFA_DEREF:
                r = walk_read_register(w, rule->cfa_register, &value);
                value += offset;
                if (r == 0 && rule->cfa == UNWIND_CFA_DEREF && !walk_read_u64(w, value, &value))
                        r = -EFAULT;
                break;
        case UNWIND_CFA_EXPRESSION:
                r = evaluate(w, rule->cfa_offset, NULL, &value);
                break;
        case UNWIND_CFA_NONE:
        case UNWIND_CFA_SIGNAL:
        case UNWIND_CFA_GO_SYSTEM:
        case UNWIND_CFA_GO_C:
        case UNWIND_CFA_GO_ROOT:
        default:
                r = -EBADMSG;
        }
        if (r < 0)
                return walk_stop(w, end_of(w, r));
        *ret_cfa = value;
        return true;
}

/* Finds a saved register whose description does not fit into the rule. */
static int find_saved(struct walk *w, const struct unwind_rule *rule, uint8_t number, uint64_t cfa,
                      uint64_t *ret_value)
{
        const struct unwind_saved *saved;
        struct stack_walk_code code;
        struct unwind_rule same;
        uint64_t at = 0;
        int r;

        if (!walk_find_rule(w, w->pc - !w->is_exact, &code, &same) || !code.table)
                return -EBADMSG;
        saved = unwind_table_saved(code.table, rule, number);
        if (!saved)
                return -EBADMSG;
        switch ((enum unwind_saved_kind)saved->kind) {
        case UNWIND_SAVED_AT_CFA:
                at = cfa + (uint64_t)(int64_t)saved->value;
                if (at < w->sp && !w->is_on_other_stack)
                        return -EBADMSG;
                return walk_read_u64(w, at, ret_value) ? 0 : -EFAULT;
        case UNWIND_SAVED_CFA_PLUS:
                *ret_value = cfa + (uint64_t)(int64_t)saved->value;
                return 0;
        case UNWIND_SAVED_IN_REGISTER:
                return saved->value < 0 ? -EBADMSG : walk_read_register(w, (uint64_t)saved->value, ret_value);
        case UNWIND_SAVED_AT_EXPRESSION:
                r = evaluate(w, saved->value, &cfa, &at);
                return r < 0 ? r : walk_read_u64(w, at, ret_value) ? 0 : -EFAULT;
        case UNWIND_SAVED_BY_EXPRESSION:
                return evaluate(w, saved->value, &cfa, ret_value);
        case UNWIND_SAVED_SAME:
        case UNWIND_SAVED_UNDEFINED:
        case UNWIND_SAVED_ELSEWHERE:
        default:
                return -ENOENT;
        }
}

static bool find_return_address(struct walk *w, const struct unwind_rule *rule, uint64_t cfa,
                                uint64_t *ret_ra)
{
        uint64_t at = cfa + (uint64_t)(int64_t)rule->ra_value;
        int r;

        switch ((enum unwind_saved_kind)rule->ra) {
        case UNWIND_SAVED_AT_CFA:
                return walk_read_u64(w, at, ret_ra) || walk_stop(w, walk_why_unread(w, at));
        case UNWIND_SAVED_IN_REGISTER:
                /*
                 * A function that has called another one has overwritten its own return address in that
                 * register.
                 */
                if (!w->is_exact && rule->ra_value == w->machine->ra)
                        return walk_stop(w, STACK_WALK_END_BROKEN);
                r = rule->ra_value < 0 ? -EBADMSG : walk_read_register(w, (uint64_t)rule->ra_value, ret_ra);
                break;
        case UNWIND_SAVED_SAME:
        case UNWIND_SAVED_UNDEFINED:
        case UNWIND_SAVED_CFA_PLUS:
        case UNWIND_SAVED_AT_EXPRESSION:
        case UNWIND_SAVED_BY_EXPRESSION:
        case UNWIND_SAVED_ELSEWHERE:
        default:
                r = find_saved(w, rule, w->machine->ra, cfa, ret_ra);
        }
        return r == 0 || walk_stop(w, end_of(w, r));
}

/* Finds the caller's frame pointer.  A lost frame pointer matters only if a rule asks for it. */
void walk_find_frame_pointer(struct walk *w, const struct unwind_rule *rule, uint64_t cfa)
{
        uint64_t at = cfa + (uint64_t)(int64_t)rule->fp_value;

        switch ((enum unwind_saved_kind)rule->fp) {
        case UNWIND_SAVED_SAME:
                return;
        case UNWIND_SAVED_AT_CFA:
                if (w->is_exact && (int64_t)(at - w->sp) < 0)
                        return; /* an epilogue has restored it */
                w->is_fp_known = walk_read_u64(w, at, &w->fp);
                return;
        case UNWIND_SAVED_UNDEFINED:
                w->is_fp_known = false;
                return;
        case UNWIND_SAVED_IN_REGISTER:
                w->is_fp_known = rule->fp_value >= 0 &&
                                 walk_read_register(w, (uint64_t)rule->fp_value, &w->fp) == 0;
                return;
        case UNWIND_SAVED_CFA_PLUS:
        case UNWIND_SAVED_AT_EXPRESSION:
        case UNWIND_SAVED_BY_EXPRESSION:
        case UNWIND_SAVED_ELSEWHERE:
        default:
                w->is_fp_known = find_saved(w, rule, w->machine->fp, cfa, &w->fp) == 0;
        }
}

/* Steps out of a signal trampoline: the kernel has put all registers onto the stack, at a fixed place. */
bool walk_step_signal(struct walk *w, struct stack_walk_frame *frame)
{
        const struct unwind_machine *m = w->machine;
        uint64_t pc, sp, fp;

        /*
         * The trampoline is never called, so its address is exact, though it was found as a return address.
         */
        frame->is_exact = true;
        frame->way = STACK_WALK_WAY_SIGNAL;
        if (!walk_read_u64(w, w->sp + m->signal_pc, &pc) ||
            !walk_read_u64(w, w->sp + m->signal_registers[m->sp], &sp) ||
            !walk_read_u64(w, w->sp + m->signal_registers[m->fp], &fp))
                return walk_stop(w, walk_why_unread(w, w->sp + m->signal_pc));
        /* On the same stack, the frame of the interrupted function is right above. */
        w->is_on_other_stack = sp - w->sp >= SIGNAL_BYTES_MAX && !is_copied(w, sp);
        frame->cfa_avma = sp;
        w->pc = unwind_machine_address(m, pc);
        w->sp = sp;
        w->fp = fp;
        w->is_fp_known = true;
        w->is_exact = true;
        return true;
}

/*
 * Checks that the CFA lies where a caller's stack can be: above the stack pointer.  A CFA that does not
 * come from the stack pointer may be on another stack, where a function that switches stacks was called.
 */
static bool check_cfa(struct walk *w, const struct unwind_rule *rule, uint64_t cfa)
{
        bool may_switch = rule->cfa != UNWIND_CFA_SP && rule->cfa != UNWIND_CFA_PLT && !(cfa & 7) &&
                          cfa >= STACKS_BEGIN;

        /* A stack that does not get shorter would be walked for ever. */
        if (cfa == w->sp && !w->is_exact)
                return walk_stop(w, STACK_WALK_END_BROKEN);
        if (cfa < w->sp && (!may_switch || w->n_switches++ == SWITCHES_MAX))
                return walk_stop(w, STACK_WALK_END_BROKEN);
        if (may_switch && is_out_of_frame(w, cfa))
                w->is_on_other_stack = !is_copied(w, cfa - sizeof(uint64_t));
        return true;
}

static bool step_rule(struct walk *w, const struct unwind_rule *rule, struct stack_walk_frame *frame)
{
        uint64_t cfa, ra;

        if (!find_cfa(w, rule, &cfa))
                return false;
        if (rule->ra == UNWIND_SAVED_UNDEFINED) {
                frame->cfa_avma = cfa;
                return walk_stop(w, STACK_WALK_END_ROOT);
        }
        if (!check_cfa(w, rule, cfa))
                return false;
        frame->cfa_avma = cfa;
        if (!find_return_address(w, rule, cfa, &ra))
                return false;
        walk_find_frame_pointer(w, rule, cfa);
        frame->way = STACK_WALK_WAY_TABLE;
        w->pc = unwind_machine_address(w->machine, ra);
        w->sp = cfa;
        w->is_exact = false;
        return w->pc != 0 || walk_stop(w, STACK_WALK_END_ROOT);
}

static bool step(struct walk *w, struct stack_walk_frame *frame)
{
        struct unwind_rule rule;

        if (!look_up(w, w->pc - !w->is_exact, &rule)) {
                if (w->is_exact)
                        return walk_step_from_nowhere(w, frame);
                w->out->n_frames--; /* no frame at all */
                w->out->unread_avma = w->pc;
                return walk_stop(w, STACK_WALK_END_NOT_CODE);
        }
        if (rule.cfa == UNWIND_CFA_NONE)
                return walk_step_without_rule(w, frame);
        if (rule.cfa == UNWIND_CFA_SIGNAL)
                return walk_step_signal(w, frame);
        if (rule.cfa == UNWIND_CFA_GO_SYSTEM || rule.cfa == UNWIND_CFA_GO_C)
                return walk_step_go_call(w, &rule, frame);
        if (rule.cfa == UNWIND_CFA_GO_ROOT)
                return walk_stop(w, w->is_exact ? STACK_WALK_END_NO_TABLE : STACK_WALK_END_ROOT);
        return step_rule(w, &rule, frame);
}

static void walk_frames(struct walk *w)
{
        struct stack_walk *out = w->out;

        for (;;) {
                struct stack_walk_frame *frame;
                uint64_t from_avma;

                out->sp_avma = w->sp;
                out->fp_avma = w->fp;
                out->is_fp_known = w->is_fp_known;
                if (out->n_frames == STACK_WALK_FRAMES_MAX) {
                        out->end = STACK_WALK_END_TOO_DEEP;
                        return;
                }
                frame = &out->frames[out->n_frames++];
                *frame = (struct stack_walk_frame){ .pc_avma = w->pc, .is_exact = w->is_exact };
                from_avma = w->sp;
                if (!step(w, frame))
                        return;
                from_avma += PREFETCH_BYTES; /* up to there it was done before */
                prefetch(w, w->sp > from_avma ? w->sp : from_avma, w->sp + PREFETCH_BYTES);
        }
}

void stack_walk_run(struct stack_walker *walker, const struct stack_walk_space *space,
                    const struct stack_walk_input *input, struct stack_walk *ret_walk)
{
        const struct unwind_machine *m = walker->machine;
        const struct unwind_registers *registers = &input->registers;
        struct walk w = { .walker = walker,
                          .machine = m,
                          .space = space,
                          .input = input,
                          .out = ret_walk,
                          .pc = registers->pc,
                          .sp = registers->values[m->sp],
                          .fp = registers->values[m->fp],
                          .is_exact = true,
                          .is_fp_known = registers->known >> m->fp & 1 };

        ret_walk->n_frames = 0;
        prefetch(&w, w.sp, w.sp + PREFETCH_BYTES);
        walk_frames(&w);
}

void stack_walk_resume(struct stack_walker *walker, const struct stack_walk_space *space,
                       const struct stack_walk_input *input, struct stack_walk *walk_of)
{
        struct walk w = { .walker = walker,
                          .machine = walker->machine,
                          .space = space,
                          .input = input,
                          .out = walk_of,
                          .sp = walk_of->sp_avma,
                          .fp = walk_of->fp_avma,
                          .is_fp_known = walk_of->is_fp_known };

        if (walk_of->n_frames == 0 || walk_of->n_frames == STACK_WALK_FRAMES_MAX)
                return;
        w.pc = walk_of->frames[walk_of->n_frames - 1].pc_avma;
        w.is_exact = walk_of->frames[walk_of->n_frames - 1].is_exact;
        walk_of->n_frames--;
        walk_frames(&w);
}

struct stack_walker *stack_walker_new(const struct unwind_machine *machine)
{
        struct stack_walker *walker = aligned_alloc(CACHE_LINE_BYTES, sizeof(*walker));

        if (!walker)
                return NULL;
        memset(walker, 0, sizeof(*walker));
        walker->machine = machine;
        return walker;
}

void stack_walker_free(struct stack_walker *walker)
{
        free(walker);
}

const char *stack_walk_end_text(enum stack_walk_end end)
{
        static const char *const texts[STACK_WALK_N_ENDS] = {
                [STACK_WALK_END_ROOT] = "complete",
                [STACK_WALK_END_TOO_DEEP] = "too deep",
                [STACK_WALK_END_CUT] = "the copy of the stack is too short",
                [STACK_WALK_END_OTHER_STACK] = "the caller is on another stack",
                [STACK_WALK_END_NO_TABLE] = "no unwind information",
                [STACK_WALK_END_NOT_CODE] = "a return address is not in code",
                [STACK_WALK_END_NO_REGISTER] = "a register is unknown",
                [STACK_WALK_END_BROKEN] = "the stack or a rule makes no sense",
        };

        return texts[end];
}
