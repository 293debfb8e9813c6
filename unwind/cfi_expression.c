/* SPDX-License-Identifier: MIT */
#include "unwind/cfi_expression.h"

#include "base/bytes.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>

struct machine {
        const uint8_t *bytes;
        size_t n_bytes;
        struct byte_reader in;
        const struct cfi_expression_view *view;
        uint64_t stack[CFI_EXPRESSION_STACK_MAX];
        size_t n;
        int failure; /* 0 or the first -errno; sticky */
};

static void fail(struct machine *m, int code)
{
        if (m->failure == 0)
                m->failure = code;
}

static void push(struct machine *m, uint64_t value)
{
        if (m->n < CFI_EXPRESSION_STACK_MAX)
                m->stack[m->n++] = value;
        else
                fail(m, -EBADMSG);
}

static uint64_t pop(struct machine *m)
{
        if (m->n > 0)
                return m->stack[--m->n];
        fail(m, -EBADMSG);
        return 0;
}

/* The entry @depth below the top. */
static uint64_t peek(struct machine *m, uint64_t depth)
{
        if (depth < m->n)
                return m->stack[m->n - 1 - (size_t)depth];
        fail(m, -EBADMSG);
        return 0;
}

static void push_register(struct machine *m, uint64_t number, uint64_t offset)
{
        uint64_t value = 0;

        fail(m, m->view->read_register(m->view->context, number, &value));
        push(m, value + offset);
}

static void dereference(struct machine *m, uint64_t n_bytes)
{
        uint64_t avma = pop(m);
        uint64_t value = 0;

        if (n_bytes != 1 && n_bytes != 2 && n_bytes != 4 && n_bytes != 8)
                fail(m, -EBADMSG);
        if (m->failure == 0)
                fail(m, m->view->read_memory(m->view->context, avma, (size_t)n_bytes, &value));
        push(m, value);
}

static bool run_constant(struct machine *m, uint8_t op)
{
        struct byte_reader *in = &m->in;

        if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
                push(m, (uint64_t)op - DW_OP_lit0);
                return true;
        }
        switch (op) {
        case DW_OP_const1u:
                push(m, bytes_u8(in));
                return true;
        case DW_OP_const1s:
                push(m, (uint64_t)(int64_t)(int8_t)bytes_u8(in));
                return true;
        case DW_OP_const2u:
                push(m, bytes_u16(in));
                return true;
        case DW_OP_const2s:
                push(m, (uint64_t)(int64_t)(int16_t)bytes_u16(in));
                return true;
        case DW_OP_const4u:
                push(m, bytes_u32(in));
                return true;
        case DW_OP_const4s:
                push(m, (uint64_t)(int64_t)(int32_t)bytes_u32(in));
                return true;
        case DW_OP_const8u:
        case DW_OP_const8s:
                push(m, bytes_u64(in));
                return true;
        case DW_OP_constu:
                push(m, bytes_varint(in));
                return true;
        case DW_OP_consts:
                push(m, (uint64_t)bytes_sleb128(in));
                return true;
        default:
                return false;
        }
}

static bool run_look(struct machine *m, uint8_t op)
{
        uint64_t number;

        if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
                push_register(m, (uint64_t)op - DW_OP_breg0, (uint64_t)bytes_sleb128(&m->in));
                return true;
        }
        switch (op) {
        case DW_OP_bregx:
                number = bytes_varint(&m->in);
                push_register(m, number, (uint64_t)bytes_sleb128(&m->in));
                return true;
        case DW_OP_deref:
                dereference(m, sizeof(uint64_t));
                return true;
        case DW_OP_deref_size:
                dereference(m, bytes_u8(&m->in));
                return true;
        default:
                return false;
        }
}

static bool run_stack(struct machine *m, uint8_t op)
{
        uint64_t a, b, c;

        switch (op) {
        case DW_OP_dup:
                push(m, peek(m, 0));
                return true;
        case DW_OP_drop:
                (void)pop(m);
                return true;
        case DW_OP_over:
                push(m, peek(m, 1));
                return true;
        case DW_OP_pick:
                push(m, peek(m, bytes_u8(&m->in)));
                return true;
        case DW_OP_swap:
                a = pop(m);
                b = pop(m);
                push(m, a);
                push(m, b);
                return true;
        case DW_OP_rot:
                a = pop(m);
                b = pop(m);
                c = pop(m);
                push(m, a);
                push(m, c);
                push(m, b);
                return true;
        default:
                return false;
        }
}

static bool run_one_operand(struct machine *m, uint8_t op)
{
        uint64_t a;

        switch (op) {
        case DW_OP_abs:
                a = pop(m);
                push(m, a >> 63 ? 0 - a : a);
                return true;
        case DW_OP_neg:
                push(m, 0 - pop(m));
                return true;
        case DW_OP_not:
                push(m, ~pop(m));
                return true;
        case DW_OP_plus_uconst:
                a = pop(m);
                push(m, a + bytes_varint(&m->in));
                return true;
        default:
                return false;
        }
}

static uint64_t divide(struct machine *m, uint64_t a, uint64_t b)
{
        if (b == 0) {
                fail(m, -EBADMSG);
                return 0;
        }
        if (b == UINT64_MAX) /* division by -1: the quotient of INT64_MIN would not fit */
                return 0 - a;
        return (uint64_t)((int64_t)a / (int64_t)b);
}

static uint64_t modulo(struct machine *m, uint64_t a, uint64_t b)
{
        if (b == 0) {
                fail(m, -EBADMSG);
                return 0;
        }
        return a % b;
}

static uint64_t shift_right_signed(uint64_t a, uint64_t n)
{
        uint64_t sign = a >> 63 ? UINT64_MAX : 0;

        if (n > 63)
                return sign;
        return n == 0 ? a : a >> n | sign << (64 - n);
}

static bool run_arithmetic(struct machine *m, uint8_t op, uint64_t a, uint64_t b)
{
        switch (op) {
        case DW_OP_and:
                push(m, a & b);
                return true;
        case DW_OP_or:
                push(m, a | b);
                return true;
        case DW_OP_xor:
                push(m, a ^ b);
                return true;
        case DW_OP_plus:
                push(m, a + b);
                return true;
        case DW_OP_minus:
                push(m, a - b);
                return true;
        case DW_OP_mul:
                push(m, a * b);
                return true;
        case DW_OP_div:
                push(m, divide(m, a, b));
                return true;
        case DW_OP_mod:
                push(m, modulo(m, a, b));
                return true;
        case DW_OP_shl:
                push(m, b > 63 ? 0 : a << b);
                return true;
        case DW_OP_shr:
                push(m, b > 63 ? 0 : a >> b);
                return true;
        case DW_OP_shra:
                push(m, shift_right_signed(a, b));
                return true;
        default:
                return false;
        }
}

static bool run_comparison(struct machine *m, uint8_t op, int64_t a, int64_t b)
{
        switch (op) {
        case DW_OP_eq:
                push(m, a == b);
                return true;
        case DW_OP_ne:
                push(m, a != b);
                return true;
        case DW_OP_lt:
                push(m, a < b);
                return true;
        case DW_OP_le:
                push(m, a <= b);
                return true;
        case DW_OP_gt:
                push(m, a > b);
                return true;
        case DW_OP_ge:
                push(m, a >= b);
                return true;
        default:
                return false;
        }
}

static bool takes_two(uint8_t op)
{
        return (op >= DW_OP_and && op <= DW_OP_xor && op != DW_OP_neg && op != DW_OP_not &&
                op != DW_OP_plus_uconst) ||
               (op >= DW_OP_eq && op <= DW_OP_ne);
}

static void jump(struct machine *m, bool is_taken)
{
        int16_t distance = (int16_t)bytes_u16(&m->in);
        int64_t to = (int64_t)(m->n_bytes - m->in.left) + distance;

        if (!is_taken)
                return;
        if (to < 0 || to > (int64_t)m->n_bytes)
                fail(m, -EBADMSG);
        else
                m->in = byte_reader_of(m->bytes + to, m->n_bytes - (size_t)to);
}

static void run_operation(struct machine *m)
{
        uint8_t op = bytes_u8(&m->in);

        if (op == DW_OP_nop || run_constant(m, op) || run_look(m, op) || run_stack(m, op))
                return;
        if (takes_two(op)) {
                uint64_t b = pop(m);
                uint64_t a = pop(m);

                if (!run_arithmetic(m, op, a, b) && !run_comparison(m, op, (int64_t)a, (int64_t)b))
                        fail(m, -ENOTSUP);
        } else if (op == DW_OP_skip) {
                jump(m, true);
        } else if (op == DW_OP_bra) {
                jump(m, pop(m) != 0);
        } else if (!run_one_operand(m, op)) {
                fail(m, -ENOTSUP);
        }
}

int cfi_expression_evaluate(const uint8_t *bytes, size_t n_bytes, const struct cfi_expression_view *view,
                            const uint64_t *initial, uint64_t *ret_value)
{
        struct machine m = { .bytes = bytes, .n_bytes = n_bytes, .view = view };

        m.in = byte_reader_of(bytes, n_bytes);
        if (initial)
                push(&m, *initial);
        for (unsigned n_steps = 0; m.in.left > 0; n_steps++) {
                if (n_steps == CFI_EXPRESSION_STEPS_MAX)
                        return -E2BIG;
                run_operation(&m);
                if (m.in.short_read)
                        fail(&m, -EBADMSG);
                if (m.failure < 0)
                        return m.failure;
        }
        if (m.n == 0)
                return -EBADMSG;
        *ret_value = m.stack[m.n - 1];
        return 0;
}
