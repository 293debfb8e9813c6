/* SPDX-License-Identifier: MIT */
/* Arguments of static probes, as notes describe them: all forms of x86-64, and what makes no sense. */
#include "sampler/bpf/probe_layout.h"
#include "sampler/probes/static_probes.h"
#include "tests/unit/unit_test.h"

static const struct wanted {
        const char *text;
        struct probe_arg arg;
} forms[] = {
        { "8@%rbx", { .kind = PROBE_ARG_REGISTER, .reg = 3, .size = 8 } },
        { "-4@%eax", { .kind = PROBE_ARG_REGISTER, .reg = 0, .size = 4, .is_signed = 1 } },
        { "1@%dil", { .kind = PROBE_ARG_REGISTER, .reg = 7, .size = 1 } },
        { "1@%ch", { .kind = PROBE_ARG_REGISTER, .reg = 1, .size = 1, .offset = 8 } },
        { "2@%r13w", { .kind = PROBE_ARG_REGISTER, .reg = 13, .size = 2 } },
        { "-4@$-3", { .kind = PROBE_ARG_CONSTANT, .size = 4, .is_signed = 1, .offset = -3 } },
        { "8@$0x10", { .kind = PROBE_ARG_CONSTANT, .size = 8, .offset = 16 } },
        { "8@-144(%rbp)", { .kind = PROBE_ARG_MEMORY, .reg = 5, .size = 8, .offset = -144 } },
        { "8@(%rsp)", { .kind = PROBE_ARG_MEMORY, .reg = 4, .size = 8 } },
        { "4@8(%rax,%rcx,4)",
          { .kind = PROBE_ARG_MEMORY, .size = 4, .offset = 8, .index_reg = 1, .scale = 4 } },
        { "8@name(%rip)", { .kind = PROBE_ARG_UNKNOWN, .size = 8 } },
        { "8@%xmm0", { .kind = PROBE_ARG_UNKNOWN, .size = 8 } },
        { "8f@%xmm0", { .kind = PROBE_ARG_UNKNOWN } },
        { "3@%rax", { .kind = PROBE_ARG_UNKNOWN } },
        { "8@%r99", { .kind = PROBE_ARG_UNKNOWN, .size = 8 } },
        { "8@(%", { .kind = PROBE_ARG_UNKNOWN, .size = 8 } },
        { "8@(", { .kind = PROBE_ARG_UNKNOWN, .size = 8 } },
        { "8@", { .kind = PROBE_ARG_UNKNOWN, .size = 8 } },
        { "@", { .kind = PROBE_ARG_UNKNOWN } },
        { "nonsense", { .kind = PROBE_ARG_UNKNOWN } },
};

START_LOOP_TEST(test_each_form_is_parsed, 0, (int)(sizeof(forms) / sizeof(forms[0])))
{
        const struct wanted *w = &forms[_i];
        struct probe_spec spec;

        static_probes_parse(w->text, &spec);
        ck_assert_int_eq(spec.args[0].kind, w->arg.kind);
        ck_assert_int_eq(spec.args[1].kind, PROBE_ARG_NONE);
        if (w->arg.kind == PROBE_ARG_UNKNOWN)
                return;
        ck_assert_int_eq(spec.args[0].reg, w->arg.reg);
        ck_assert_int_eq(spec.args[0].size, w->arg.size);
        ck_assert_int_eq(spec.args[0].is_signed, w->arg.is_signed);
        ck_assert_int_eq(spec.args[0].offset, w->arg.offset);
        ck_assert_int_eq(spec.args[0].index_reg, w->arg.index_reg);
        ck_assert_int_eq(spec.args[0].scale, w->arg.scale);
}
END_TEST

START_TEST(test_further_arguments_are_left_out)
{
        struct probe_spec spec;

        static_probes_parse("8@%rax 8@%rcx  8@%rdx 8@%rbx 8@%rsi", &spec);
        ck_assert_int_eq(spec.args[0].reg, 0);
        ck_assert_int_eq(spec.args[1].reg, 1);
        ck_assert_int_eq(spec.args[2].kind, PROBE_ARG_UNKNOWN); /* the second blank */
        ck_assert_int_eq(spec.args[3].reg, 2);
        static_probes_parse("", &spec);
        ck_assert_int_eq(spec.args[0].kind, PROBE_ARG_NONE);
}
END_TEST
