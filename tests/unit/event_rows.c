/* SPDX-License-Identifier: MIT */
#include "tests/unit/event_rows.h"

#include "format/trace_dictionary.h"
#include "format/trace_event.h"
#include "format/trace_schema.h"
#include "tests/unit/fixed_random.h"

#include <check.h>

static void add(struct trace_dictionary *d, enum trace_table table, const void *row)
{
        uint32_t id;

        ck_assert_int_eq(trace_dictionary_add(d, table, row, &id), 0);
}

void event_rows_fill(struct trace_dictionary *d)
{
        trace_dictionary_init(d, 0);
        add(d, TRACE_TABLE_PROCESSES, &(struct trace_process){ .pid = 1 });
        for (uint32_t i = 1; i <= EVENT_ROWS_COUNT; i++) {
                uint32_t id;

                ck_assert_int_eq(trace_dictionary_add_string(d, "abc", i, &id), 0);
                add(d, TRACE_TABLE_THREADS, &(struct trace_thread){ .process = 1, .tid = i });
                add(d, TRACE_TABLE_LOCATIONS, &(struct trace_location){ .line = i });
                add(d, TRACE_TABLE_ZONE_PATHS, &(struct trace_zone_path){ i - 1, i });
                add(d, TRACE_TABLE_FRAMES, &(struct trace_frame){ .offset = i });
                add(d, TRACE_TABLE_STACKS, &(struct trace_stack){ i - 1, i });
                add(d, TRACE_TABLE_SAMPLE_EVENTS, &(struct trace_sample_event){ .rate = i });
                add(d, TRACE_TABLE_LOCKS, &(struct trace_lock){ 1, 1, i });
                add(d, TRACE_TABLE_DEVICES, &(struct trace_device){ .process = 1, .number = i });
                add(d, TRACE_TABLE_PLOTS, &(struct trace_plot){ .name = i });
                add(d, TRACE_TABLE_ATTACHMENTS, &(struct trace_attachment){ .hash = i });
        }
}

/* Long enough for a length of two bytes; what it begins with is also a number that goes on. */
static const char text[300] = "\x80\xff\n\"text";

struct trace_event event_rows_random_event(uint64_t op, uint64_t *now_ns, uint64_t *random_state)
{
        const struct trace_op_schema *schema = trace_op_schema_find(op);
        struct trace_event event = { .op = op, .time_ns = *now_ns, .text = text };

        for (uint32_t i = 0; i < schema->n_operands; i++) {
                uint64_t value = fixed_random_magnitude(random_state);

                if (schema->operands[i].encoding == TRACE_ENCODING_TEXT)
                        value %= sizeof(text);
                switch ((enum trace_reference)schema->operands[i].reference) {
                case TRACE_REFERENCE_REQUIRED:
                        value = 1 + value % EVENT_ROWS_COUNT;
                        break;
                case TRACE_REFERENCE_OPTIONAL:
                        value %= EVENT_ROWS_COUNT + 1;
                        break;
                case TRACE_REFERENCE_SUCCESSOR:
                        value %= TRACE_SUCCESSOR_OTHER + EVENT_ROWS_COUNT + 1;
                        break;
                case TRACE_REFERENCE_EARLIER:
                case TRACE_REFERENCE_NONE:
                        break;
                }
                event.operand[i] = value;
        }
        *now_ns += fixed_random_magnitude(random_state) >> 24;
        return event;
}
