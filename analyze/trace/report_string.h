/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/report_string.h - bytes of a trace that are to be shown to people
 *
 * Way of the data:  trace_dictionary -> [report_string] in report, report_gaps -> cli
 *
 * Hostile: of any length and encoding, with control characters, not ended by
 * NUL.  Only what knows how to escape it (cli/) writes it anywhere.
 */
#ifndef ANALYZE_TRACE_REPORT_STRING_H
#define ANALYZE_TRACE_REPORT_STRING_H

#include "format/trace_dictionary.h"

#include <stddef.h>
#include <stdint.h>

struct report_string {
        const char *bytes; /* borrowed from the trace; NULL only if n_bytes is 0 */
        size_t n_bytes;
};

/* The string with an id of the table STRINGS; 0 gives the empty one. */
static inline struct report_string report_string_of(const struct trace_dictionary *d, uint32_t id)
{
        struct report_string s;

        s.bytes = trace_dictionary_string(d, id, &s.n_bytes);
        return s;
}

#endif /* ANALYZE_TRACE_REPORT_STRING_H */
