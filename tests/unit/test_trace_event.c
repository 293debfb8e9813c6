/* SPDX-License-Identifier: MIT */
/* format/trace_event.c: every op of the specification has its operands, under the same names as the struct */
#include "format/trace_event.h"

#include "format/trace_schema.h"
#include "tests/unit/unit_test.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
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
                        /* Absent operands are 0, which must be good then; and later additions come last. */
                        if (operand->appended)
                                ck_assert(operand->reference != TRACE_REFERENCE_REQUIRED &&
                                          operand->encoding != TRACE_ENCODING_TEXT);
                        else if (i > 0 && i < schema->n_operands)
                                ck_assert(!schema->operands[i - 1].appended);
                        /* There is one pointer for a text, and its length is the first number. */
                        if (operand->encoding == TRACE_ENCODING_TEXT)
                                ck_assert(i == 0 && !refers);
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
                PLACE(SAMPLE, sample.state),
                PLACE(SWITCH_OUT, switch_out.cpu),
                PLACE(SWITCH_OUT, switch_out.preempted),
                PLACE(SWITCH_OUT, switch_out.wait),
                PLACE(SWITCH_OUT, switch_out.stack),
                PLACE(SWITCH_OUT, switch_out.stack_state),
                PLACE(SWITCH_OUT, switch_out.successor),
                PLACE(SWITCH_IN, switch_in.cpu),
                PLACE(SWITCH_IN, switch_in.stack),
                PLACE(SWITCH_IN, switch_in.stack_state),
                PLACE(SWITCH_IN, switch_in.idle_ns),
                PLACE(MESSAGE, message.text),
                PLACE(MESSAGE, message.severity),
                PLACE(MESSAGE, message.color),
                PLACE(PLOT_I64, plot_i64.name),
                PLACE(PLOT_I64, plot_i64.value),
                PLACE(PLOT_F64, plot_f64.name),
                PLACE(PLOT_F64, plot_f64.bits),
                PLACE(FRAME_MARK, frame_mark.name),
                PLACE(THREAD_NAME, thread_name.name),
                PLACE(ZONE_TEXT, zone_text.text_bytes),
                PLACE(ZONE_TEXT, zone_text.level),
                PLACE(ZONE_NAME, zone_name.name_bytes),
                PLACE(ZONE_NAME, zone_name.level),
                PLACE(ZONE_VALUE, zone_value.value),
                PLACE(ZONE_VALUE, zone_value.level),
                PLACE(ZONE_COLOR, zone_color.color),
                PLACE(ZONE_COLOR, zone_color.level),
                PLACE(CALLSTACK, callstack.stack),
                PLACE(MESSAGE_TEXT, message_text.text_bytes),
                PLACE(MESSAGE_TEXT, message_text.severity),
                PLACE(MESSAGE_TEXT, message_text.color),
                PLACE(FRAME_BEGIN, frame_begin.name),
                PLACE(FRAME_END, frame_end.name),
                PLACE(MEMORY_ALLOC, memory_alloc.pool),
                PLACE(MEMORY_ALLOC, memory_alloc.address),
                PLACE(MEMORY_ALLOC, memory_alloc.size_bytes),
                PLACE(MEMORY_FREE, memory_free.pool),
                PLACE(MEMORY_FREE, memory_free.address),
                PLACE(MEMORY_DISCARD, memory_discard.pool),
                PLACE(LOCK_WAIT, lock_wait.lock),
                PLACE(LOCK_WAIT, lock_wait.shared),
                PLACE(LOCK_OBTAIN, lock_obtain.lock),
                PLACE(LOCK_OBTAIN, lock_obtain.shared),
                PLACE(LOCK_RELEASE, lock_release.lock),
                PLACE(LOCK_RELEASE, lock_release.shared),
                PLACE(LOCK_MARK, lock_mark.lock),
                PLACE(LOCK_MARK, lock_mark.location),
                PLACE(LOCK_GONE, lock_gone.lock),
                PLACE(LOCK_NAME, lock_name.lock),
                PLACE(LOCK_NAME, lock_name.name),
                PLACE(FIBER_ENTER, fiber_enter.fiber),
                PLACE(THREAD_GROUP, thread_group.group),
                PLACE(DEVICE_ZONE_BEGIN, device_zone_begin.device),
                PLACE(DEVICE_ZONE_BEGIN, device_zone_begin.query),
                PLACE(DEVICE_ZONE_BEGIN, device_zone_begin.location),
                PLACE(DEVICE_ZONE_END, device_zone_end.device),
                PLACE(DEVICE_ZONE_END, device_zone_end.query),
                PLACE(DEVICE_TIME, device_time.device),
                PLACE(DEVICE_TIME, device_time.query),
                PLACE(DEVICE_TIME, device_time.ticks),
                PLACE(DEVICE_SPAN, device_span.device),
                PLACE(DEVICE_SPAN, device_span.location),
                PLACE(DEVICE_SPAN, device_span.begin_ticks),
                PLACE(DEVICE_SPAN, device_span.length_ticks),
                PLACE(DEVICE_SPAN, device_span.lane),
                PLACE(DEVICE_SPAN, device_span.key),
                PLACE(DEVICE_SPAN, device_span.space),
                PLACE(DEVICE_SPAN, device_span.text),
                PLACE(WAKEUP, wakeup.cpu),
                PLACE(WAKEUP, wakeup.waker),
                PLACE(WAKEUP, wakeup.name),
                PLACE(WAKEUP, wakeup.stack),
                PLACE(WAKEUP, wakeup.stack_state),
                PLACE(WAKEUP, wakeup.below),
                PLACE(STACK_COPY, stack_copy.copy_bytes),
                PLACE(ZONE_KEY, zone_key.space),
                PLACE(ZONE_KEY, zone_key.key),
                PLACE(ZONE_KEY, zone_key.level),
                PLACE(DEVICE_VALUE, device_value.device),
                PLACE(DEVICE_VALUE, device_value.plot),
                PLACE(DEVICE_VALUE, device_value.ticks),
                PLACE(DEVICE_VALUE, device_value.lane),
                PLACE(DEVICE_VALUE, device_value.kind),
                PLACE(DEVICE_VALUE, device_value.bits),
                PLACE(DEVICE_INSTANT, device_instant.device),
                PLACE(DEVICE_INSTANT, device_instant.location),
                PLACE(DEVICE_INSTANT, device_instant.ticks),
                PLACE(DEVICE_INSTANT, device_instant.lane),
                PLACE(DEVICE_INSTANT, device_instant.key),
                PLACE(DEVICE_INSTANT, device_instant.space),
                PLACE(DEVICE_INSTANT, device_instant.text),
                PLACE(FLOW, flow.space),
                PLACE(FLOW, flow.id),
                PLACE(FLOW, flow.phase),
                PLACE(FRAME_PICTURE, frame_picture.attachment),
                PLACE(FRAME_PICTURE, frame_picture.frames_back),
        };
        size_t n_operands = 0;

        for (uint64_t op = 1; op < TRACE_OP_COUNT; op++)
                n_operands += trace_op_schema_find(op)->n_operands;
        ck_assert_uint_eq(n_operands, sizeof(places) / sizeof(places[0]));
        ck_assert_uint_eq(n_operands, TRACE_OPERANDS_TOTAL);
        for (size_t i = 0; i < n_operands; i++) {
                const struct trace_op_schema *schema = trace_op_schema_find(places[i].op);
                const struct trace_operand *operand = &schema->operands[places[i].place];
                const char *name = strchr(places[i].member, '.') + 1;
                char text_bytes[40];

                /* The number beside a text is its length. */
                (void)snprintf(text_bytes, sizeof(text_bytes), "%s_bytes", operand->name);
                ck_assert_str_eq(name, operand->encoding == TRACE_ENCODING_TEXT ? text_bytes : operand->name);
        }
}
END_TEST
