/* SPDX-License-Identifier: MIT */
/*
 * view/shared/gap_advice.h - the command that would add what a trace lacks, as it has to be typed
 *
 * Way of the data:  report (gaps), unnamed_modules -> [gap_advice] -> report_heading, path_view
 */
#ifndef VIEW_SHARED_GAP_ADVICE_H
#define VIEW_SHARED_GAP_ADVICE_H

#include "base/text_view.h"

#define GAP_ADVICE_BYTES 6144

struct gap_advice {
        char text[GAP_ADVICE_BYTES]; /* "try: ..."; empty if nothing is known to help */
};

/*
 * gap_advice_make() - advice with the trace's own path and the module's for the words TRACE and MODULE
 * @path:    of the trace; NULL or "-" = it has none, and the word stays
 * @module:  path
 * @advice:  NULL = none
 */
struct gap_advice gap_advice_make(const char *path, struct text_view module, const char *advice);

#endif /* VIEW_SHARED_GAP_ADVICE_H */
