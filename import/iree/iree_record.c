/* SPDX-License-Identifier: MIT */
#include "import/iree/iree_record.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

#define TEXT(word)                       \
        {                                \
                (word), sizeof(word) - 1 \
        }

#define U32(field, at, json)                         \
        {                                            \
                IREE_F_##field, at, 4, 1, TEXT(json) \
        }
#define U64(field, at, json)                         \
        {                                            \
                IREE_F_##field, at, 8, 1, TEXT(json) \
        }
#define VECTOR(field, at, json)                          \
        {                                                \
                IREE_F_##field##_X, at, 4, 3, TEXT(json) \
        }
#define FROM_CHUNK(field, json)                                \
        {                                                      \
                IREE_F_##field, IREE_NOWHERE, 4, 1, TEXT(json) \
        }
#define ONLY_JSON(field, json)                      \
        {                                           \
                IREE_F_##field, 0, 8, 1, TEXT(json) \
        }

static const struct iree_place device_places[] = {
        U32(DEVICE, 8, "physical_device_ordinal"),
};

static const struct iree_place function_places[] = {
        U64(EXECUTABLE, 8, "executable_id"),
        U32(FUNCTION, 16, "function_ordinal"),
};

static const struct iree_place command_operation_places[] = {
        U64(COMMAND_BUFFER, 16, "command_buffer_id"),
        U32(COMMAND_INDEX, 12, "command_index"),
        U64(EXECUTABLE, 32, "executable_id"),
        U32(FUNCTION, 40, "function_ordinal"),
};

static const struct iree_place clock_correlation_places[] = {
        U32(FLAGS, 4, "flags"),
        U32(DEVICE, 8, "physical_device_ordinal"),
        U64(TICK, 24, "device_tick"),
        U64(CPU_NS, 32, "host_cpu_timestamp_ns"),
        U64(BEGIN, 56, "host_time_begin_ns"),
        U64(END, 64, "host_time_end_ns"),
};

static const struct iree_place dispatch_event_places[] = {
        FROM_CHUNK(DEVICE, "physical_device_ordinal"),
        FROM_CHUNK(QUEUE, "queue_ordinal"),
        FROM_CHUNK(STREAM, "stream_id"),
        U64(EVENT, 8, "event_id"),
        U64(SUBMISSION, 16, "submission_id"),
        U64(COMMAND_BUFFER, 24, "command_buffer_id"),
        U32(COMMAND_INDEX, 40, "command_index"),
        U64(EXECUTABLE, 32, "executable_id"),
        U32(FUNCTION, 44, "function_ordinal"),
        VECTOR(COUNT, 48, "workgroup_count"),
        VECTOR(SIZE, 60, "workgroup_size"),
        U64(BEGIN, 72, "start_tick"),
        U64(END, 80, "end_tick"),
};

static const struct iree_place queue_event_places[] = {
        U32(TYPE, 4, "type_value"),
        U64(SUBMISSION, 32, "submission_id"),
        U32(DEVICE, 64, "physical_device_ordinal"),
        U32(QUEUE, 68, "queue_ordinal"),
        U64(STREAM, 56, "stream_id"),
        U64(BEGIN, 24, "host_time_ns"),
        U64(END, 96, "ready_host_time_ns"),
        U64(LENGTH, 88, "payload_length"),
};

static const struct iree_place queue_device_event_places[] = {
        U32(DEVICE, 64, "physical_device_ordinal"),
        U32(QUEUE, 68, "queue_ordinal"),
        U64(STREAM, 48, "stream_id"),
        U64(SUBMISSION, 24, "submission_id"),
        U32(TYPE, 4, "type_value"),
        U64(LENGTH, 56, "payload_length"),
        U64(BEGIN, 80, "start_tick"),
        U64(END, 88, "end_tick"),
};

static const struct iree_place host_execution_event_places[] = {
        U32(DEVICE, 64, "physical_device_ordinal"),
        U32(QUEUE, 68, "queue_ordinal"),
        U64(STREAM, 56, "stream_id"),
        U64(SUBMISSION, 24, "submission_id"),
        U64(COMMAND_BUFFER, 32, "command_buffer_id"),
        U32(COMMAND_INDEX, 72, "command_index"),
        U64(EXECUTABLE, 40, "executable_id"),
        U32(FUNCTION, 76, "function_ordinal"),
        U32(TYPE, 4, "type_value"),
        U32(STATUS, 12, "status_code"),
        VECTOR(COUNT, 80, "workgroup_count"),
        VECTOR(SIZE, 92, "workgroup_size"),
        U64(BEGIN, 104, "start_host_time_ns"),
        U64(END, 112, "end_host_time_ns"),
        U64(LENGTH, 120, "payload_length"),
        U64(TILES, 128, "tile_count"),
        U64(TILE_NS, 136, "tile_duration_sum_ns"),
};

static const struct iree_place command_region_event_places[] = {
        U32(DEVICE, 40, "physical_device_ordinal"),
        U32(QUEUE, 44, "queue_ordinal"),
        U64(STREAM, 32, "stream_id"),
        U64(SUBMISSION, 16, "submission_id"),
        U32(ITEM, 56, "region_index"),
        U64(BEGIN, 184, "start_host_time_ns"),
        U64(END, 192, "end_host_time_ns"),
        U32(DISPATCHES, 60, "region_dispatch_count"),
        U32(TILES, 64, "region_tile_count"),
        U32(WORKERS, 216, "worker_count"),
        U32(DRAINS, 76, "useful_drain_count"),
        U32(IDLE_DRAINS, 80, "no_work_drain_count"),
};

static const struct iree_place memory_event_places[] = {
        U32(TYPE, 4, "event_type_value"),
        U32(FLAGS, 8, "flags"),
        U64(BEGIN, 24, "host_time_ns"),
        U64(ALLOCATION, 32, "allocation_id"),
        U64(SUBMISSION, 56, "submission_id"),
        U32(DEVICE, 64, "physical_device_ordinal"),
        U64(LENGTH, 104, "length"),
        U64(POOL_RESERVED, 120, "pool_bytes_reserved"),
        U64(POOL_FREE, 128, "pool_bytes_free"),
        U64(POOL_COMMITTED, 136, "pool_bytes_committed"),
};

static const struct iree_place event_relationship_places[] = {
        U32(TYPE, 4, "kind_value"),
};

static const struct iree_place counter_set_places[] = {
        U64(SET, 8, "counter_set_id"),
};

static const struct iree_place counter_places[] = {
        U64(SET, 16, "counter_set_id"),
        U32(UNIT, 8, "unit"),
        U32(OFFSET, 28, "sample_value_offset"),
        U32(N_VALUES, 32, "sample_value_count"),
};

static const struct iree_place counter_sample_places[] = {
        U64(SET, 24, "counter_set_id"),
        U64(DISPATCH, 32, "dispatch_event_id"),
        U32(DEVICE, 96, "physical_device_ordinal"),
        U32(QUEUE, 100, "queue_ordinal"),
        U64(STREAM, 64, "stream_id"),
        U32(FLAGS, 4, "flags"),
        U64(BEGIN, 72, "start_tick"),
        U64(END, 80, "end_tick"),
};

static const struct iree_place metric_places[] = {
        U64(SET, 8, "source_id"),
        U64(ITEM, 16, "metric_id"),
        U32(UNIT, 24, "unit_value"),
        U32(VALUE_KIND, 28, "value_kind_value"),
};

static const struct iree_place metric_sample_places[] = {
        U64(SET, 16, "source_id"),
        U32(DEVICE, 56, "physical_device_ordinal"),
        U64(BEGIN, 24, "host_time_begin_ns"),
        U64(END, 32, "host_time_end_ns"),
};

/* Only in JSON: the container has them as headers of its records. */
static const struct iree_place session_places[] = {
        ONLY_JSON(ITEM, "session_id"),
        ONLY_JSON(STATUS, "session_status_code"),
};

static const struct iree_place diagnostic_places[] = {
        ONLY_JSON(N_VALUES, "dropped_records"),
};

static const struct iree_place schema_places[] = {
        ONLY_JSON(ITEM, "schema_version"),
        ONLY_JSON(TYPE, "source_version_major"),
        ONLY_JSON(SET, "source_version_minor"),
};

#define PLACES(array) (array), N(array)

static const struct iree_layout layouts[IREE_N_KINDS] = {
        [IREE_DEVICE] = { "devices", "device", PLACES(device_places), IREE_TAIL_NONE, 32, 0 },
        [IREE_QUEUE] = { "queues", "queue", NULL, 0, IREE_TAIL_NONE, 24, 0 },
        [IREE_EXECUTABLE] = { "executables", "executable", NULL, 0, IREE_TAIL_NONE, 40, 0 },
        [IREE_FUNCTION] = { "executable-functions", "executable_function", PLACES(function_places),
                            IREE_TAIL_NAME, 64, 44 },
        [IREE_COMMAND_BUFFER] = { "command-buffers", "command_buffer", NULL, 0, IREE_TAIL_NONE, 48, 0 },
        [IREE_COMMAND_OPERATION] = { "command-operations", "command_operation",
                                     PLACES(command_operation_places), IREE_TAIL_NONE, 120, 0 },
        [IREE_CLOCK_CORRELATION] = { "clock-correlations", "clock_correlation",
                                     PLACES(clock_correlation_places), IREE_TAIL_NONE, 72, 0 },
        [IREE_DISPATCH_EVENT] = { "dispatch-events", "dispatch_event", PLACES(dispatch_event_places),
                                  IREE_TAIL_NONE, 88, 0 },
        [IREE_QUEUE_EVENT] = { "queue-events", "queue_event", PLACES(queue_event_places), IREE_TAIL_NONE, 104,
                               0 },
        [IREE_QUEUE_DEVICE_EVENT] = { "queue-device-events", "queue_device_event",
                                      PLACES(queue_device_event_places), IREE_TAIL_NONE, 96, 0 },
        [IREE_HOST_EXECUTION_EVENT] = { "host-execution-events", "host_execution_event",
                                        PLACES(host_execution_event_places), IREE_TAIL_NONE, 152, 0 },
        [IREE_COMMAND_REGION_EVENT] = { "command-region-events", "command_region_event",
                                        PLACES(command_region_event_places), IREE_TAIL_NONE, 248, 0 },
        [IREE_MEMORY_EVENT] = { "memory-events", "memory_event", PLACES(memory_event_places), IREE_TAIL_NONE,
                                160, 0 },
        [IREE_EVENT_RELATIONSHIP] = { "event-relationships", "event_relationship",
                                      PLACES(event_relationship_places), IREE_TAIL_NONE, 72, 0 },
        [IREE_COUNTER_SET] = { "counter-sets", "counter_set", PLACES(counter_set_places), IREE_TAIL_NAME, 32,
                               28 },
        [IREE_COUNTER] = { "counters", "counter", PLACES(counter_places), IREE_TAIL_NAMES, 48, 36 },
        [IREE_COUNTER_SAMPLE] = { "counter-samples", "counter_sample", PLACES(counter_sample_places),
                                  IREE_TAIL_VALUES, 112, 104 },
        [IREE_METRIC_SOURCE] = { "device-metric-sources", "device_metric_source", NULL, 0, IREE_TAIL_NAME, 40,
                                 36 },
        [IREE_METRIC] = { "device-metric-descriptors", "device_metric_descriptor", PLACES(metric_places),
                          IREE_TAIL_NAME, 48, 40 },
        [IREE_METRIC_SAMPLE] = { "device-metric-samples", "device_metric_sample",
                                 PLACES(metric_sample_places), IREE_TAIL_PAIRS, 64, 60 },
        [IREE_EXECUTABLE_TRACE] = { "executable-traces", "executable_trace", NULL, 0, IREE_TAIL_NONE, 88, 0 },
        [IREE_CODE_OBJECT] = { "executable-code-objects", "executable_code_object", NULL, 0, IREE_TAIL_NONE,
                               48, 0 },
        [IREE_CODE_OBJECT_LOAD] = { "executable-code-object-loads", "executable_code_object_load", NULL, 0,
                                    IREE_TAIL_NONE, 40, 0 },
        [IREE_SCHEMA] = { NULL, "schema", PLACES(schema_places), IREE_TAIL_NONE, 0, 0 },
        [IREE_SESSION] = { NULL, "session", PLACES(session_places), IREE_TAIL_NONE, 0, 0 },
        [IREE_DIAGNOSTIC] = { NULL, "diagnostic", PLACES(diagnostic_places), IREE_TAIL_NONE, 0, 0 },
};

const struct iree_layout *iree_layout_of(enum iree_kind kind)
{
        return &layouts[kind];
}

enum iree_kind iree_kind_of_content(struct text_view content)
{
        size_t n_prefix = sizeof(IREE_CONTENT_PREFIX) - 1;
        enum iree_kind kind = 0;

        if (!text_view_begins_with(content, IREE_CONTENT_PREFIX))
                return IREE_N_KINDS;
        content.bytes += n_prefix;
        content.n_bytes -= n_prefix;
        while (kind < IREE_N_CHUNK_KINDS && !text_view_is(content, layouts[kind].content))
                kind++;
        return kind < IREE_N_CHUNK_KINDS ? kind : IREE_N_KINDS;
}

enum iree_kind iree_kind_of_json(struct text_view record_type)
{
        enum iree_kind kind = 0;

        while (kind < IREE_N_KINDS && !text_view_is(record_type, layouts[kind].json))
                kind++;
        return kind;
}

void iree_record_clear(struct iree_record *record, enum iree_kind kind)
{
        *record = (struct iree_record){ .kind = kind };
        record->fields[IREE_F_DEVICE] = IREE_ABSENT;
        record->fields[IREE_F_QUEUE] = IREE_ABSENT;
        record->fields[IREE_F_FUNCTION] = IREE_ABSENT;
        record->fields[IREE_F_COMMAND_INDEX] = IREE_ABSENT;
        record->fields[IREE_F_STATUS] = IREE_ABSENT;
}
