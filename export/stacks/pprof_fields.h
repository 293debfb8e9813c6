/* SPDX-License-Identifier: MIT */
/*
 * export/stacks/pprof_fields.h - the numbers of pprof's profile.proto
 *
 * Way of the data:  [pprof_fields] is spoken in export_pprof and pprof_places
 */
#ifndef EXPORT_STACKS_PPROF_FIELDS_H
#define EXPORT_STACKS_PPROF_FIELDS_H

enum pprof_profile_field {
        PPROF_PROFILE_SAMPLE_TYPE = 1,
        PPROF_PROFILE_SAMPLE = 2,
        PPROF_PROFILE_MAPPING = 3,
        PPROF_PROFILE_LOCATION = 4,
        PPROF_PROFILE_FUNCTION = 5,
        PPROF_PROFILE_STRING = 6,
        PPROF_PROFILE_TIME_NANOS = 9,
        PPROF_PROFILE_DURATION_NANOS = 10,
        PPROF_PROFILE_PERIOD_TYPE = 11,
        PPROF_PROFILE_PERIOD = 12,
        PPROF_PROFILE_COMMENT = 13,
        PPROF_PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};

enum pprof_value_type_field { PPROF_VALUE_TYPE_TYPE = 1, PPROF_VALUE_TYPE_UNIT = 2 };

enum pprof_sample_field { PPROF_SAMPLE_LOCATION = 1, PPROF_SAMPLE_VALUE = 2, PPROF_SAMPLE_LABEL = 3 };

enum pprof_label_field { PPROF_LABEL_KEY = 1, PPROF_LABEL_STRING = 2, PPROF_LABEL_NUMBER = 3 };

enum pprof_mapping_field {
        PPROF_MAPPING_ID = 1,
        PPROF_MAPPING_START = 2,
        PPROF_MAPPING_LIMIT = 3,
        PPROF_MAPPING_OFFSET = 4,
        PPROF_MAPPING_FILENAME = 5,
        PPROF_MAPPING_BUILD_ID = 6,
        PPROF_MAPPING_HAS_FUNCTIONS = 7,
        PPROF_MAPPING_HAS_FILENAMES = 8,
        PPROF_MAPPING_HAS_LINES = 9,
        PPROF_MAPPING_HAS_INLINED = 10,
};

enum pprof_location_field {
        PPROF_LOCATION_ID = 1,
        PPROF_LOCATION_MAPPING = 2,
        PPROF_LOCATION_ADDRESS = 3,
        PPROF_LOCATION_LINE = 4, /* the innermost inlined function first */
};

enum pprof_line_field { PPROF_LINE_FUNCTION = 1, PPROF_LINE_LINE = 2 };

enum pprof_function_field {
        PPROF_FUNCTION_ID = 1,
        PPROF_FUNCTION_NAME = 2,
        PPROF_FUNCTION_SYSTEM_NAME = 3,
        PPROF_FUNCTION_FILENAME = 4,
        PPROF_FUNCTION_START_LINE = 5,
};

#endif /* EXPORT_STACKS_PPROF_FIELDS_H */
