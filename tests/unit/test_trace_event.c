/* SPDX-License-Identifier: MIT */
/* format/trace_event.c: every op of the specification has its operands, under the same names as the struct */
#include "format/trace_event.h"

#include "format/trace_schema.h"

#include <check.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

START_TEST(test_names_are_those_of_the_specification)
{
#define X(id, ID, text) ck_assert_str_eq(trace_op_schema_find(id)->name, text);
        TRACE_OPS(X)
#undef X
}
END_TEST

START_TEST(test_unknown_ops)
{
        ck_assert_ptr_null(trace_op_schema_find(0));
        ck_assert_ptr_null(trace_op_schema_find(TRACE_OP_COUNT));
        ck_assert_ptr_null(trace_op_schema_find(UINT64_MAX));
}
END_TEST

START_TEST(test_operands_are_described)
{
        for (uint64_t op = 1; op < TRACE_OP_COUNT; op++) {
                const struct trace_op_schema *schema = trace_op_schema_find(op);

                ck_assert_uint_le(schema->n_operands, TRACE_OPERANDS_MAX);
                for (uint32_t i = 0; i < TRACE_OPERANDS_MAX; i++) {
                        const struct trace_operand *operand = &schema->operands[i];
                        bool refers = operand->reference != TRACE_REFERENCE_NONE;

                        ck_assert_int_eq(operand->name != NULL, i < schema->n_operands);
                        ck_assert_int_eq(refers, trace_schema_find(operand->table) != NULL);
                        ck_assert_uint_ne(operand->reference, TRACE_REFERENCE_EARLIER);
                }
        }
}
END_TEST

/* An operand's number is its place in the struct, so the names must stand in that order. */
#define PLACE(op, member)                                                                                  \
        {                                                                                                  \
                TRACE_OP_##op, #member,                                                                    \
                        (offsetof(struct trace_event, member) - offsetof(struct trace_event, operand)) / 8 \
        }

START_TEST(test_operands_by_name_are_those_by_number)
{
        static const struct {
                uint64_t op;
                const char *member;
                size_t place;
        } places[] = {
                PLACE(ZONE_BEGIN, zone_begin.location),
                PLACE(SAMPLE, sample.event),
                PLACE(SAMPLE, sample.cpu),
                PLACE(SAMPLE, sample.stack),
                PLACE(SAMPLE, sample.path),
                PLACE(SAMPLE, sample.weight),
                PLACE(SWITCH_OUT, switch_out.cpu),
                PLACE(SWITCH_OUT, switch_out.preempted),
                PLACE(SWITCH_IN, switch_in.cpu),
                PLACE(MESSAGE, message.text),
                PLACE(MESSAGE, message.severity),
                PLACE(MESSAGE, message.color),
                PLACE(PLOT_I64, plot_i64.name),
                PLACE(PLOT_I64, plot_i64.value),
                PLACE(PLOT_F64, plot_f64.name),
                PLACE(PLOT_F64, plot_f64.bits),
                PLACE(FRAME_MARK, frame_mark.name),
                PLACE(THREAD_NAME, thread_name.name),
        };
        size_t n_operands = 0;

        for (uint64_t op = 1; op < TRACE_OP_COUNT; op++)
                n_operands += trace_op_schema_find(op)->n_operands;
        ck_assert_uint_eq(n_operands, sizeof(places) / sizeof(places[0]));
        for (size_t i = 0; i < n_operands; i++) {
                const struct trace_op_schema *schema = trace_op_schema_find(places[i].op);

                ck_assert_str_eq(strchr(places[i].member, '.') + 1, schema->operands[places[i].place].name);
        }
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("format/trace_event");
        TCase *tc = tcase_create("trace_event");
        SRunner *runner;
        int n_failed;

        tcase_add_test(tc, test_names_are_those_of_the_specification);
        tcase_add_test(tc, test_unknown_ops);
        tcase_add_test(tc, test_operands_are_described);
        tcase_add_test(tc, test_operands_by_name_are_those_by_number);
        suite_add_tcase(suite, tc);
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        n_failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
