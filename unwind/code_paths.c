/* SPDX-License-Identifier: MIT */
#include "unwind/code_paths.h"

#include "unwind/code_effect.h"
#include "unwind/unwind_machine.h"
#include "unwind/unwind_rule.h"

#define DEPTH_MAX       (INT64_C(1) << 20) /* bytes of stack, either way */
#define SIDES_MAX       32                 /* branches whose other side is still to be followed */
#define INSTRUCTION_MIN 2                  /* bytes */

/* A place on the stack: bytes from the stack pointer at the first instruction, or from its frame pointer. */
struct place {
        int64_t at;
        bool by_fp;
};

enum value_kind {
        VALUE_FIRST = 0, /* as it was at the first instruction */
        VALUE_SAVED,     /* from a place on the stack where it was before */
        VALUE_STACK,     /* the address of a place on the stack */
        VALUE_OTHER,
};

struct value {
        enum value_kind kind;
        struct place place;
};

/* A path up to an instruction. */
struct path {
        size_t at; /* of the instruction */
        struct place sp;
        struct value registers[CODE_N_REGISTERS];
        /* what the path itself stored of each register, and where */
        bool has_stored[CODE_N_REGISTERS];
        struct place stored_at[CODE_N_REGISTERS];
        struct value stored[CODE_N_REGISTERS];
};

struct search {
        const struct unwind_machine *machine;
        const uint8_t *bytes;
        size_t n_bytes;
        uint8_t visited[CODE_PATHS_BYTES_MAX / INSTRUCTION_MIN / 8]; /* a bit an instruction */
        struct path sides[SIDES_MAX];
        unsigned n_sides;
};

static bool read_effect(const struct unwind_machine *machine, const uint8_t *bytes, size_t n_bytes,
                        struct code_effect *ret_effect)
{
        if (machine == &unwind_machine_riscv64)
                return code_effect_read_riscv64(bytes, n_bytes, ret_effect);
        return machine == &unwind_machine_aarch64 && code_effect_read_aarch64(bytes, n_bytes, ret_effect);
}

static bool is_same(struct place a, struct place b)
{
        return a.at == b.at && a.by_fp == b.by_fp;
}

static bool is_in_reach(struct place place)
{
        return place.at >= -DEPTH_MAX && place.at <= DEPTH_MAX;
}

static struct place above(struct place place, int64_t n_bytes)
{
        place.at += n_bytes;
        return place;
}

/* Loads or stores a register.  Returns false if that makes no sense. */
static bool run_move(struct path *p, const struct code_move *move)
{
        struct place place = above(p->sp, move->offset);
        unsigned n = move->number;

        if (move->kind == CODE_MOVE_STORE) {
                /* A function stores its own return address: this is the begin of another function. */
                if (n == CODE_REGISTER_RA && p->registers[n].kind == VALUE_OTHER)
                        return false;
                p->has_stored[n] = true;
                p->stored_at[n] = place;
                p->stored[n] = p->registers[n];
        } else if (move->kind == CODE_MOVE_LOAD) {
                p->registers[n] = p->has_stored[n] && is_same(p->stored_at[n], place)
                                          ? p->stored[n]
                                          : (struct value){ .kind = VALUE_SAVED, .place = place };
        }
        return true;
}

/* Sets the stack pointer from the frame pointer.  Returns false if that is not known. */
static bool take_fp(struct path *p)
{
        const struct value *fp = &p->registers[CODE_REGISTER_FP];

        if (fp->kind == VALUE_STACK)
                p->sp = fp->place;
        else if (fp->kind == VALUE_FIRST)
                p->sp = (struct place){ .by_fp = true };
        else
                return false;
        return true;
}

/* Runs an instruction, but for its jump.  Returns false if the path ends unfinished. */
static bool run_effect(struct path *p, const struct code_effect *e)
{
        p->sp = above(p->sp, e->sp_before);
        for (unsigned i = 0; i < sizeof(e->moves) / sizeof(e->moves[0]); i++)
                if (!run_move(p, &e->moves[i]))
                        return false;
        if (e->fp_is_sp)
                p->registers[CODE_REGISTER_FP] = (struct value){ .kind = VALUE_STACK,
                                                                 .place = above(p->sp, e->fp_offset) };
        if (e->sp_is_fp && !take_fp(p))
                return false;
        p->sp = above(p->sp, e->sp_after);
        for (unsigned i = 0; i < CODE_N_REGISTERS; i++)
                if (e->loses[i])
                        p->registers[i] = (struct value){ .kind = VALUE_OTHER };
        if (e->flow == CODE_FLOW_CALL)
                p->registers[CODE_REGISTER_RA] = (struct value){ .kind = VALUE_OTHER };
        return is_in_reach(p->sp);
}

/* The rule of a path that has come to a return, if it makes sense. */
static bool take_rule(const struct search *s, const struct path *p, struct unwind_rule *ret_rule)
{
        const struct value *ra = &p->registers[CODE_REGISTER_RA], *fp = &p->registers[CODE_REGISTER_FP];
        struct unwind_rule rule = { .cfa = p->sp.by_fp ? UNWIND_CFA_FP : UNWIND_CFA_SP,
                                    .cfa_offset = (int32_t)p->sp.at,
                                    .fp = UNWIND_SAVED_UNDEFINED };

        if (!p->sp.by_fp && p->sp.at < 0)
                return false;
        if (ra->kind == VALUE_FIRST) {
                rule.ra = UNWIND_SAVED_IN_REGISTER;
                rule.ra_value = s->machine->ra;
        } else {
                if (ra->kind != VALUE_SAVED || ra->place.by_fp != p->sp.by_fp ||
                    (!p->sp.by_fp && ra->place.at < 0) || ra->place.at >= p->sp.at ||
                    ra->place.at - p->sp.at < INT16_MIN)
                        return false;
                rule.ra = UNWIND_SAVED_AT_CFA;
                rule.ra_value = (int16_t)(ra->place.at - p->sp.at);
        }
        if (fp->kind == VALUE_FIRST) {
                rule.fp = UNWIND_SAVED_SAME;
        } else if (fp->kind == VALUE_SAVED && fp->place.by_fp == p->sp.by_fp && fp->place.at < p->sp.at &&
                   fp->place.at - p->sp.at >= INT16_MIN) {
                rule.fp = UNWIND_SAVED_AT_CFA;
                rule.fp_value = (int16_t)(fp->place.at - p->sp.at);
        }
        *ret_rule = rule;
        return true;
}

/* Whether an instruction is among the bytes, and no path has been there. */
static bool is_ahead(const struct search *s, size_t at)
{
        return at < s->n_bytes && !(s->visited[at / INSTRUCTION_MIN / 8] >> at / INSTRUCTION_MIN % 8 & 1);
}

/* Marks an instruction.  Returns false if it is not ahead. */
static bool visit(struct search *s, size_t at)
{
        if (!is_ahead(s, at))
                return false;
        s->visited[at / INSTRUCTION_MIN / 8] |= (uint8_t)(1U << at / INSTRUCTION_MIN % 8);
        return true;
}

/* Goes to the target of a jump; one before the bytes is beyond all of them. */
static size_t jump_from(size_t at, int32_t target)
{
        return at + (size_t)(ptrdiff_t)target;
}

/* Keeps the other side of a branch; without room it is left out. */
static void keep_side(struct search *s, const struct path *p, int32_t target)
{
        if (s->n_sides == SIDES_MAX)
                return;
        s->sides[s->n_sides] = *p;
        s->sides[s->n_sides++].at = jump_from(p->at, target);
}

/*
 * Follows a path to its end.  A function that has loaded its return address and jumps to where the path
 * cannot go on has ended by calling another one.  Returns whether the path gave a rule.
 */
static bool follow(struct search *s, struct path *p, struct unwind_rule *ret_rule)
{
        struct code_effect e;

        while (visit(s, p->at) && read_effect(s->machine, s->bytes + p->at, s->n_bytes - p->at, &e) &&
               e.flow != CODE_FLOW_UNKNOWN && run_effect(p, &e)) {
                size_t next = e.flow == CODE_FLOW_JUMP ? jump_from(p->at, e.target) : p->at + e.n_bytes;

                if (e.flow == CODE_FLOW_RETURN)
                        return take_rule(s, p, ret_rule);
                if (e.flow == CODE_FLOW_AWAY || (e.flow == CODE_FLOW_JUMP && !is_ahead(s, next)))
                        return p->registers[CODE_REGISTER_RA].kind == VALUE_SAVED &&
                               take_rule(s, p, ret_rule);
                if (e.flow == CODE_FLOW_BRANCH)
                        keep_side(s, p, e.target);
                p->at = next;
        }
        return false;
}

bool code_paths_know(const struct unwind_machine *machine)
{
        return machine == &unwind_machine_riscv64 || machine == &unwind_machine_aarch64;
}

bool code_paths_find(const struct unwind_machine *machine, const uint8_t *bytes, size_t n_bytes, size_t at,
                     bool is_return, struct unwind_rule *ret_rule)
{
        struct search s = { .machine = machine,
                            .bytes = bytes,
                            .n_bytes = n_bytes < CODE_PATHS_BYTES_MAX ? n_bytes : CODE_PATHS_BYTES_MAX,
                            .n_sides = 1 };

        s.sides[0] = (struct path){ .at = at };
        if (is_return)
                s.sides[0].registers[CODE_REGISTER_RA].kind = VALUE_OTHER;
        while (s.n_sides > 0) {
                struct path path = s.sides[--s.n_sides];

                if (follow(&s, &path, ret_rule))
                        return true;
        }
        return false;
}

bool code_paths_is_after_call(const struct unwind_machine *machine, const uint8_t *bytes, size_t n_bytes)
{
        for (size_t n = INSTRUCTION_MIN; n <= CODE_PATHS_CALL_BYTES && n <= n_bytes; n += INSTRUCTION_MIN) {
                struct code_effect e;

                if (read_effect(machine, bytes + n_bytes - n, n, &e) && e.n_bytes == n &&
                    e.flow == CODE_FLOW_CALL)
                        return true;
        }
        return false;
}
