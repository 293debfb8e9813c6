/* SPDX-License-Identifier: MIT */
#include "analyze/trace/process_works.h"

#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <stdlib.h>

int process_works_read(const struct trace_dictionary *d, uint32_t **ret_works)
{
        uint32_t *works = calloc((size_t)trace_dictionary_count(d, TRACE_TABLE_PROCESSES) + 1,
                                 sizeof(*works));

        if (!works)
                return -ENOMEM;
        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_PROGRAM_INFO); i++) {
                const struct trace_program_info *row = trace_dictionary_row(d, TRACE_TABLE_PROGRAM_INFO, i);

                if (text_view_is(trace_dictionary_text(d, row->key), TRACE_INFO_WORKS_ON))
                        works[row->process] = row->value;
        }
        *ret_works = works;
        return 0;
}
