/* SPDX-License-Identifier: MIT */
/*
 * export/perfetto/perfetto_fields.h - the numbers of Perfetto's trace format
 *
 * Way of the data:  [perfetto_fields] is spoken in export_perfetto and its parts;
 *                   tests/consumers/perfetto_subset.proto says the same for protoc
 */
#ifndef EXPORT_PERFETTO_PERFETTO_FIELDS_H
#define EXPORT_PERFETTO_PERFETTO_FIELDS_H

#include <stdint.h>

/* Packets of one sequence share its interned entries. */
enum perfetto_sequence {
        PERFETTO_SEQUENCE_HEAD = 1,    /* clocks, processes, tracks */
        PERFETTO_SEQUENCE_SAMPLES = 2, /* with their callstacks */
        PERFETTO_SEQUENCE_TRACKS = 3,  /* plots, frames, waits for locks */
        PERFETTO_SEQUENCE_SWITCHES = 4,
        PERFETTO_SEQUENCE_THREADS = 16, /* plus the id of a thread: its zones and messages */
};

enum perfetto_clock {
        PERFETTO_CLOCK_REALTIME = 1,
        PERFETTO_CLOCK_MONOTONIC_RAW = 5, /* the clock of all times in a hyprof trace */
};

enum perfetto_trace_field { PERFETTO_TRACE_PACKET = 1 };

enum perfetto_packet_field {
        PERFETTO_PACKET_CLOCK_SNAPSHOT = 6,
        PERFETTO_PACKET_TIMESTAMP = 8,
        PERFETTO_PACKET_SEQUENCE = 10,
        PERFETTO_PACKET_TRACK_EVENT = 11,
        PERFETTO_PACKET_INTERNED = 12,
        PERFETTO_PACKET_FLAGS = 13,
        PERFETTO_PACKET_DEFAULTS = 59,
        PERFETTO_PACKET_TRACK = 60,
        PERFETTO_PACKET_PERF_SAMPLE = 66,
        PERFETTO_PACKET_TASK_STATE = 117,
        PERFETTO_PACKET_STACK_SAMPLE = 135,
};

enum perfetto_flags { PERFETTO_FLAGS_STATE_CLEARED = 1, PERFETTO_FLAGS_NEEDS_STATE = 2 };

enum perfetto_snapshot_field { PERFETTO_SNAPSHOT_CLOCK = 1, PERFETTO_SNAPSHOT_PRIMARY = 2 };
enum perfetto_clock_field { PERFETTO_CLOCK_ID = 1, PERFETTO_CLOCK_TIMESTAMP = 2 };

enum perfetto_defaults_field {
        PERFETTO_DEFAULTS_TRACK_EVENT = 11,
        PERFETTO_DEFAULTS_PERF_SAMPLE = 12,
        PERFETTO_DEFAULTS_CLOCK = 58,
        PERFETTO_DEFAULTS_STACK_SAMPLE = 100,
};
enum perfetto_event_defaults_field { PERFETTO_EVENT_DEFAULTS_TRACK = 11 };
enum perfetto_perf_defaults_field { PERFETTO_PERF_DEFAULTS_TIMEBASE = 1 };
enum perfetto_timebase_field {
        PERFETTO_TIMEBASE_PERIOD = 1,
        PERFETTO_TIMEBASE_FREQUENCY = 2,
        PERFETTO_TIMEBASE_NAME = 10,
};

enum perfetto_track_field {
        PERFETTO_TRACK_UUID = 1,
        PERFETTO_TRACK_NAME = 2,
        PERFETTO_TRACK_PROCESS = 3,
        PERFETTO_TRACK_THREAD = 4,
        PERFETTO_TRACK_PARENT = 5,
        PERFETTO_TRACK_COUNTER = 8,
        PERFETTO_TRACK_CHILD_ORDER = 11, /* of the tracks below */
        PERFETTO_TRACK_RANK = 12,        /* among those of the same parent, if its order is explicit */
        PERFETTO_TRACK_DESCRIPTION = 14, /* for people, and for hyprof import: see below */
};
enum perfetto_child_order { PERFETTO_ORDER_EXPLICIT = 3 };
enum perfetto_process_field { PERFETTO_PROCESS_PID = 1, PERFETTO_PROCESS_NAME = 6 };
enum perfetto_thread_field { PERFETTO_THREAD_PID = 1, PERFETTO_THREAD_TID = 2, PERFETTO_THREAD_NAME = 5 };
enum perfetto_counter_field { PERFETTO_COUNTER_UNIT = 3, PERFETTO_COUNTER_UNIT_NAME = 6 };
enum perfetto_counter_unit { PERFETTO_UNIT_BYTES = 3 };

enum perfetto_event_field {
        PERFETTO_EVENT_CATEGORY_IID = 3,
        PERFETTO_EVENT_ANNOTATION = 4,
        PERFETTO_EVENT_TYPE = 9,
        PERFETTO_EVENT_NAME_IID = 10,
        PERFETTO_EVENT_TRACK = 11,
        PERFETTO_EVENT_CATEGORY = 22,
        PERFETTO_EVENT_NAME = 23,
        PERFETTO_EVENT_COUNTER = 30,
        PERFETTO_EVENT_LOCATION = 33,
        PERFETTO_EVENT_LOCATION_IID = 34,
        PERFETTO_EVENT_COUNTER_DOUBLE = 44,
        PERFETTO_EVENT_FLOW = 47,             /* fixed64: an arrow from one event to the next with it */
        PERFETTO_EVENT_TERMINATING_FLOW = 48, /* the same, of the last one */
};
enum perfetto_event_type {
        PERFETTO_TYPE_BEGIN = 1,
        PERFETTO_TYPE_END = 2,
        PERFETTO_TYPE_INSTANT = 3,
        PERFETTO_TYPE_COUNTER = 4,
};
enum perfetto_annotation_field {
        PERFETTO_ANNOTATION_BOOL = 2,
        PERFETTO_ANNOTATION_INT = 4,
        PERFETTO_ANNOTATION_STRING = 6,
        PERFETTO_ANNOTATION_NAME = 10,
};

enum perfetto_interned_field {
        PERFETTO_INTERNED_CATEGORY = 1,
        PERFETTO_INTERNED_EVENT_NAME = 2,
        PERFETTO_INTERNED_LOCATION = 4,
        PERFETTO_INTERNED_FUNCTION = 5,
        PERFETTO_INTERNED_FRAME = 6,
        PERFETTO_INTERNED_CALLSTACK = 7,
        PERFETTO_INTERNED_BUILD_ID = 16,
        PERFETTO_INTERNED_MAPPING_PATH = 17,
        PERFETTO_INTERNED_SOURCE_PATH = 18,
        PERFETTO_INTERNED_MAPPING = 19,
};
/* All interned things have their number first, and most of them only a text. */
enum perfetto_interned_text_field { PERFETTO_IID = 1, PERFETTO_INTERNED_TEXT = 2 };
enum perfetto_location_field {
        PERFETTO_LOCATION_FILE = 2,
        PERFETTO_LOCATION_FUNCTION = 3,
        PERFETTO_LOCATION_LINE = 4,
};
enum perfetto_frame_field {
        PERFETTO_FRAME_FUNCTION = 2,
        PERFETTO_FRAME_MAPPING = 3,
        PERFETTO_FRAME_ADDRESS = 4,
        PERFETTO_FRAME_SOURCE_PATH = 5,
        PERFETTO_FRAME_LINE = 6,
};
enum perfetto_callstack_field { PERFETTO_CALLSTACK_FRAME = 2 }; /* outermost first */
enum perfetto_mapping_field {
        PERFETTO_MAPPING_BUILD_ID = 2,
        PERFETTO_MAPPING_START = 4,
        PERFETTO_MAPPING_END = 5,
        PERFETTO_MAPPING_PATH = 7,
};

enum perfetto_perf_sample_field {
        PERFETTO_PERF_CPU = 1,
        PERFETTO_PERF_PID = 2,
        PERFETTO_PERF_TID = 3,
        PERFETTO_PERF_CALLSTACK = 4,
        PERFETTO_PERF_MODE = 5,
        PERFETTO_PERF_TIMEBASE_COUNT = 6, /* of the CPU, since the beginning */
};
enum perfetto_perf_mode { PERFETTO_PERF_KERNEL = 1, PERFETTO_PERF_USER = 2 };

/* Since Perfetto 58; older ones step over it. */
enum perfetto_stack_sample_field {
        PERFETTO_STACK_TASK = 1,
        PERFETTO_STACK_EXECUTION = 3,
        PERFETTO_STACK_CALLSTACK = 6,
        PERFETTO_STACK_DESCRIPTOR = 9,
        PERFETTO_STACK_WEIGHT = 11,
};
enum perfetto_task_field { PERFETTO_TASK_PID = 2, PERFETTO_TASK_TID = 3 };
enum perfetto_execution_field { PERFETTO_EXECUTION_CPU = 2 };
enum perfetto_descriptor_field {
        PERFETTO_DESCRIPTOR_NAME = 2,
        PERFETTO_DESCRIPTOR_UNIT = 3,
        PERFETTO_DESCRIPTOR_UNIT_NAME = 4,
};
enum perfetto_descriptor_unit { PERFETTO_DESCRIPTOR_NS = 1, PERFETTO_DESCRIPTOR_BYTES = 4 };
enum perfetto_stack_defaults_field { PERFETTO_STACK_DEFAULTS_SOURCE = 1 };

enum perfetto_state_field {
        PERFETTO_STATE_CPU = 1,
        PERFETTO_STATE_COMM = 2,
        PERFETTO_STATE_TID = 3,
        PERFETTO_STATE_STATE = 4,
        PERFETTO_STATE_PRIO = 5,
};
enum perfetto_task_state {
        PERFETTO_TASK_RUNNABLE = 2,
        PERFETTO_TASK_RUNNING = 3,
        PERFETTO_TASK_SLEEPING = 4,
        PERFETTO_TASK_UNINTERRUPTIBLE = 5,
        PERFETTO_TASK_STOPPED = 6,
        PERFETTO_TASK_DEAD = 7,
};
#define PERFETTO_PRIO_NORMAL UINT32_C(120) /* without it, threads are shown as "(RT)" */

/* How descriptions of devices, and of further tracks of a lane, begin; pftrace_fields.h has them as well. */
#define PERFETTO_DEVICE_WORDS  "hyprof device"
#define PERFETTO_BOUND_WORDS   "; bound " /* nanoseconds, " ns" */
#define PERFETTO_SUBLANE_WORDS "hyprof sub-lane: zones of a lane that cross"

#endif /* EXPORT_PERFETTO_PERFETTO_FIELDS_H */
