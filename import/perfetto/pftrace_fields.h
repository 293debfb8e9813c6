/* SPDX-License-Identifier: MIT */
/*
 * import/perfetto/pftrace_fields.h - the numbers of Perfetto's trace format that are read
 *
 * Way of the data:  [pftrace_fields] is understood by import_pftrace and its parts
 *
 * As protos/perfetto/trace/ of Perfetto has them; export/perfetto/perfetto_fields.h has those that hyprof
 * writes.
 */
#ifndef IMPORT_PFTRACE_FIELDS_H
#define IMPORT_PFTRACE_FIELDS_H

enum pftrace_packet_field {
        PFTRACE_CLOCK_SNAPSHOT = 6,
        PFTRACE_TIMESTAMP = 8,
        PFTRACE_SEQUENCE = 10,
        PFTRACE_TRACK_EVENT = 11,
        PFTRACE_INTERNED = 12,
        PFTRACE_FLAGS = 13,
        PFTRACE_DROPPED = 42,
        PFTRACE_THREAD = 44, /* of the sequence; before 2020 */
        PFTRACE_COMPRESSED = 50,
        PFTRACE_CLOCK = 58,
        PFTRACE_DEFAULTS = 59,
        PFTRACE_TRACK = 60,
        PFTRACE_FIRST = 87, /* of a sequence */
};
enum pftrace_flags { PFTRACE_STATE_CLEARED = 1, PFTRACE_NEEDS_STATE = 2 };

enum pftrace_snapshot_field { PFTRACE_SNAPSHOT_CLOCK = 1, PFTRACE_SNAPSHOT_PRIMARY = 2 };
enum pftrace_reading_field {
        PFTRACE_READING_ID = 1,
        PFTRACE_READING_TIME = 2,
        PFTRACE_READING_INCREMENTAL = 3,
        PFTRACE_READING_UNIT = 4,
};

enum pftrace_defaults_field { PFTRACE_DEFAULTS_EVENT = 11, PFTRACE_DEFAULTS_CLOCK = 58 };
enum pftrace_event_defaults_field { PFTRACE_EVENT_DEFAULTS_TRACK = 11 };

enum pftrace_track_field {
        PFTRACE_TRACK_UUID = 1,
        PFTRACE_TRACK_NAME = 2,
        PFTRACE_TRACK_PROCESS = 3,
        PFTRACE_TRACK_THREAD = 4,
        PFTRACE_TRACK_PARENT = 5,
        PFTRACE_TRACK_COUNTER = 8,
        PFTRACE_TRACK_STATIC_NAME = 10,
        PFTRACE_TRACK_ATRACE_NAME = 13,
        PFTRACE_TRACK_DESCRIPTION = 14,
};
enum pftrace_process_field { PFTRACE_PROCESS_PID = 1, PFTRACE_PROCESS_NAME = 6 };
enum pftrace_thread_field {
        PFTRACE_THREAD_PID = 1,
        PFTRACE_THREAD_TID = 2,
        PFTRACE_THREAD_NAME = 5,
        PFTRACE_THREAD_REFERENCE_US = 6,
};
enum pftrace_counter_field {
        PFTRACE_COUNTER_UNIT = 3,
        PFTRACE_COUNTER_MULTIPLIER = 4,
        PFTRACE_COUNTER_INCREMENTAL = 5,
        PFTRACE_COUNTER_UNIT_NAME = 6,
};
enum pftrace_unit { PFTRACE_UNIT_NS = 1, PFTRACE_UNIT_COUNT = 2, PFTRACE_UNIT_BYTES = 3 };

enum pftrace_event_field {
        PFTRACE_EVENT_DELTA_US = 1,
        PFTRACE_EVENT_CATEGORY_IID = 3,
        PFTRACE_EVENT_ANNOTATION = 4,
        PFTRACE_EVENT_LEGACY = 6,
        PFTRACE_EVENT_TYPE = 9,
        PFTRACE_EVENT_NAME_IID = 10,
        PFTRACE_EVENT_TRACK = 11,
        PFTRACE_EVENT_EXTRA_VALUES = 12,
        PFTRACE_EVENT_ABSOLUTE_US = 16,
        PFTRACE_EVENT_CATEGORY = 22,
        PFTRACE_EVENT_NAME = 23,
        PFTRACE_EVENT_COUNTER = 30,
        PFTRACE_EVENT_EXTRA_TRACKS = 31,
        PFTRACE_EVENT_LOCATION = 33,
        PFTRACE_EVENT_LOCATION_IID = 34,
        PFTRACE_EVENT_FLOW_OLD = 36,
        PFTRACE_EVENT_TERMINATING_FLOW_OLD = 42,
        PFTRACE_EVENT_COUNTER_DOUBLE = 44,
        PFTRACE_EVENT_EXTRA_DOUBLE_TRACKS = 45,
        PFTRACE_EVENT_EXTRA_DOUBLES = 46,
        PFTRACE_EVENT_FLOW = 47,
        PFTRACE_EVENT_TERMINATING_FLOW = 48,
};
enum pftrace_type { PFTRACE_BEGIN = 1, PFTRACE_END = 2, PFTRACE_INSTANT = 3, PFTRACE_COUNTER = 4 };

enum pftrace_legacy_field {
        PFTRACE_LEGACY_NAME_IID = 1,
        PFTRACE_LEGACY_PHASE = 2,
        PFTRACE_LEGACY_DURATION_US = 3,
        PFTRACE_LEGACY_UNSCOPED_ID = 6,
        PFTRACE_LEGACY_SCOPE = 7,
        PFTRACE_LEGACY_LOCAL_ID = 10,
        PFTRACE_LEGACY_GLOBAL_ID = 11,
        PFTRACE_LEGACY_PID = 18,
        PFTRACE_LEGACY_TID = 19,
};

enum pftrace_annotation_field {
        PFTRACE_ANNOTATION_NAME_IID = 1,
        PFTRACE_ANNOTATION_BOOL = 2,
        PFTRACE_ANNOTATION_UINT = 3,
        PFTRACE_ANNOTATION_INT = 4,
        PFTRACE_ANNOTATION_DOUBLE = 5,
        PFTRACE_ANNOTATION_STRING = 6,
        PFTRACE_ANNOTATION_POINTER = 7,
        PFTRACE_ANNOTATION_JSON = 9,
        PFTRACE_ANNOTATION_NAME = 10,
        PFTRACE_ANNOTATION_DICT = 11,
        PFTRACE_ANNOTATION_ARRAY = 12,
        PFTRACE_ANNOTATION_STRING_IID = 17,
};

/* Kinds of interned things; each has its id first, and most of them then a text. */
enum pftrace_interned {
        PFTRACE_INTERNED_NAME = 2,
        PFTRACE_INTERNED_ANNOTATION_NAME = 3,
        PFTRACE_INTERNED_LOCATION = 4,
        PFTRACE_INTERNED_STRING = 29,
};
enum pftrace_interned_field {
        PFTRACE_INTERNED_IID = 1,
        PFTRACE_INTERNED_TEXT = 2, /* of a location: the file */
        PFTRACE_LOCATION_LINE = 4,
};

enum pftrace_clock_id {
        PFTRACE_REALTIME = 1,
        PFTRACE_REALTIME_COARSE = 2,
        PFTRACE_MONOTONIC = 3,
        PFTRACE_MONOTONIC_COARSE = 4,
        PFTRACE_MONOTONIC_RAW = 5,
        PFTRACE_BOOTTIME = 6,
        PFTRACE_TSC = 9,
        PFTRACE_BUILTIN_END = 64,  /* from here on clocks of a sequence */
        PFTRACE_SEQUENCE_END = 128 /* from here on any others */
};

/* How hyprof's export describes devices, and further tracks of one of their lanes. */
#define PFTRACE_DEVICE_WORDS  "hyprof device"
#define PFTRACE_BOUND_WORDS   "; bound " /* nanoseconds, " ns" */
#define PFTRACE_SUBLANE_WORDS "hyprof sub-lane"

#endif /* IMPORT_PFTRACE_FIELDS_H */
