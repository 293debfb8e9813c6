/* SPDX-License-Identifier: MIT */
/*
 * cli/views/counters_text.h - counters of functions, zones and the whole as text
 *
 * Way of the data:  report_counters -> [counters_text] -> report_text
 */
#ifndef CLI_VIEWS_COUNTERS_TEXT_H
#define CLI_VIEWS_COUNTERS_TEXT_H

#include <stdint.h>

struct report;
struct text_page;

/* Nothing if the trace has no counters.  @limit: rows of each list, 0 = all.  Returns 0 or -ENOMEM. */
int counters_text_print(const struct report *report, uint32_t limit, const struct text_page *page);

#endif /* CLI_VIEWS_COUNTERS_TEXT_H */
