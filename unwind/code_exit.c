/* SPDX-License-Identifier: MIT */
#include "unwind/code_exit.h"

#include "unwind/unwind_machine.h"
#include "unwind/unwind_rule.h"

#include <string.h>

#define INSTRUCTIONS_MAX 16
#define DEPTH_MAX        4096 /* bytes of stack, either way */
#define WORD_BYTES       8

/* The stack pointer relative to its first value, and the state of the frame pointer. */
struct exit_state {
        int64_t depth;       /* bytes popped off the stack; negative: pushed onto it */
        int64_t pushed_at;   /* the depth after the code pushed the frame pointer; 1 = it did not */
        bool is_frame;       /* the code set the frame pointer to the stack pointer then */
        bool is_fp_restored; /* from the stack as it was at first, ... */
        int64_t fp_at;       /* ... at this place */
        /* the stack pointer comes from a frame pointer that was set before; depths count from it */
        bool by_fp;
};

struct instruction {
        uint8_t bytes[4], n_bytes; /* that it begins with */
        uint8_t n_operand_bytes;   /* and that follow */
        bool (*run)(struct exit_state *s, const uint8_t *operand);
};

static bool run_nothing(struct exit_state *s, const uint8_t *operand)
{
        (void)operand;
        return s->pushed_at == 1 || s->depth <= s->pushed_at;
}

static bool run_add_8(struct exit_state *s, const uint8_t *operand)
{
        s->depth += (int8_t)operand[0];
        return true;
}

static bool run_sub_8(struct exit_state *s, const uint8_t *operand)
{
        s->depth -= (int8_t)operand[0];
        return true;
}

static int64_t number_of(const uint8_t *operand)
{
        return (int32_t)((uint32_t)operand[0] | (uint32_t)operand[1] << 8 | (uint32_t)operand[2] << 16 |
                         (uint32_t)operand[3] << 24);
}

static bool run_add_32(struct exit_state *s, const uint8_t *operand)
{
        s->depth += number_of(operand);
        return true;
}

static bool run_sub_32(struct exit_state *s, const uint8_t *operand)
{
        s->depth -= number_of(operand);
        return true;
}

static bool run_push_fp(struct exit_state *s, const uint8_t *operand)
{
        (void)operand;
        s->depth -= WORD_BYTES;
        if (s->pushed_at != 1)
                return false;
        s->pushed_at = s->depth;
        return true;
}

static bool run_set_fp(struct exit_state *s, const uint8_t *operand)
{
        (void)operand;
        s->is_frame = s->depth == s->pushed_at; /* else the caller's value is lost */
        return s->is_frame;
}

static bool run_pop_fp(struct exit_state *s, const uint8_t *operand)
{
        bool is_own = s->pushed_at != 1 && s->depth == s->pushed_at;

        (void)operand;
        if (!is_own && (s->is_fp_restored || s->pushed_at != 1))
                return false;
        if (is_own) {
                s->pushed_at = 1;
                s->is_frame = false;
        } else {
                s->is_fp_restored = true;
                s->fp_at = s->depth;
        }
        s->depth += WORD_BYTES;
        return true;
}

static bool run_leave(struct exit_state *s, const uint8_t *operand)
{
        if (s->is_frame)
                s->depth = s->pushed_at;
        else if (s->pushed_at != 1 || s->is_fp_restored || s->by_fp)
                return false;
        else {
                s->by_fp = true;
                s->depth = 0;
        }
        return run_pop_fp(s, operand);
}

static const struct instruction instructions[] = {
        { { 0xf3, 0x0f, 0x1e, 0xfa }, 4, 0, run_nothing }, /* endbr64 */
        { { 0x90 }, 1, 0, run_nothing },                   /* nop */
        { { 0xe8 }, 1, 4, run_nothing },                   /* call, to a place, ... */
        { { 0xff, 0xd0 }, 2, 0, run_nothing },             /* ... to the address in rax, ... */
        { { 0xff, 0xd1 }, 2, 0, run_nothing },             /* rcx, ... */
        { { 0xff, 0xd2 }, 2, 0, run_nothing },             /* rdx */
        { { 0x41, 0xff, 0xd2 }, 3, 0, run_nothing },       /* r10 */
        { { 0x41, 0xff, 0xd3 }, 3, 0, run_nothing },       /* r11 */
        { { 0x48, 0x83, 0xc4 }, 3, 1, run_add_8 },         /* add rsp */
        { { 0x48, 0x83, 0xec }, 3, 1, run_sub_8 },         /* sub rsp */
        { { 0x48, 0x81, 0xc4 }, 3, 4, run_add_32 },
        { { 0x48, 0x81, 0xec }, 3, 4, run_sub_32 },
        { { 0x55 }, 1, 0, run_push_fp },
        { { 0x48, 0x89, 0xe5 }, 3, 0, run_set_fp }, /* mov rsp to rbp */
        { { 0x48, 0x8b, 0xec }, 3, 0, run_set_fp },
        { { 0x5d }, 1, 0, run_pop_fp },
        { { 0xc9 }, 1, 0, run_leave },
};

static bool is_return(const uint8_t *bytes, size_t n_bytes)
{
        return bytes[0] == 0xc3 || (n_bytes > 1 && bytes[0] == 0xf3 && bytes[1] == 0xc3);
}

/* Runs the next instruction.  Returns its length, or 0 if it is not one of `instructions`. */
static size_t run_next(struct exit_state *s, const uint8_t *bytes, size_t n_bytes)
{
        for (size_t i = 0; i < sizeof(instructions) / sizeof(instructions[0]); i++) {
                const struct instruction *in = &instructions[i];
                size_t n = (size_t)in->n_bytes + in->n_operand_bytes;

                if (n > n_bytes || memcmp(bytes, in->bytes, in->n_bytes) != 0)
                        continue;
                return in->run(s, bytes + in->n_bytes) && s->depth >= -DEPTH_MAX && s->depth <= DEPTH_MAX ? n
                                                                                                          : 0;
        }
        return 0;
}

static struct unwind_rule rule_of(const struct exit_state *s)
{
        int64_t cfa = s->depth + WORD_BYTES;
        struct unwind_rule rule = { .cfa = s->by_fp ? UNWIND_CFA_FP : UNWIND_CFA_SP,
                                    .ra = UNWIND_SAVED_AT_CFA,
                                    .cfa_offset = (int32_t)cfa,
                                    .ra_value = -WORD_BYTES };

        if (s->is_fp_restored) {
                rule.fp = UNWIND_SAVED_AT_CFA;
                rule.fp_value = (int16_t)(s->fp_at - cfa);
        }
        return rule;
}

bool code_exit_find(const struct unwind_machine *machine, const uint8_t *bytes, size_t n_bytes,
                    struct unwind_rule *ret_rule)
{
        struct exit_state s = { .pushed_at = 1 };

        if (machine != &unwind_machine_x86_64)
                return false;
        for (unsigned i = 0; i < INSTRUCTIONS_MAX && n_bytes > 0; i++) {
                size_t n;

                if (is_return(bytes, n_bytes)) {
                        *ret_rule = rule_of(&s);
                        return s.depth >= 0 && s.pushed_at == 1; /* the pushed registers have been popped */
                }
                n = run_next(&s, bytes, n_bytes);
                if (n == 0)
                        return false;
                bytes += n;
                n_bytes -= n;
        }
        return false;
}

static bool begins_with(const uint8_t *bytes, size_t n_bytes, const uint8_t *code, size_t n_code_bytes)
{
        return n_code_bytes > 0 && n_bytes >= n_code_bytes && memcmp(bytes, code, n_code_bytes) == 0;
}

bool code_exit_is_sigreturn(const struct unwind_machine *machine, const uint8_t *bytes, size_t n_bytes)
{
        return begins_with(bytes, n_bytes, machine->sigreturn_code, machine->n_sigreturn_code_bytes) ||
               begins_with(bytes, n_bytes, machine->short_sigreturn_code,
                           machine->n_short_sigreturn_code_bytes);
}

/* In the first function of a thread, hlt, ud2 or the system call exit follows the call. */
bool code_exit_is_never(const struct unwind_machine *machine, const uint8_t *bytes, size_t n_bytes)
{
        static const uint8_t hlt[] = { 0xf4 }, ud2[] = { 0x0f, 0x0b };
        static const uint8_t exit_call[] = { 0x89, 0xc7, 0x31, 0xc0, 0xb0, 0x3c, 0x0f, 0x05 }; /* musl */

        return machine == &unwind_machine_x86_64 &&
               (begins_with(bytes, n_bytes, hlt, sizeof(hlt)) ||
                begins_with(bytes, n_bytes, ud2, sizeof(ud2)) ||
                begins_with(bytes, n_bytes, exit_call, sizeof(exit_call)));
}
