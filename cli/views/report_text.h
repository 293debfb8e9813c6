/* SPDX-License-Identifier: MIT */
/*
 * cli/views/report_text.h - a report as text, as wide as the terminal
 *
 * Way of the data:  report -> [report_text] -> terminal
 */
#ifndef CLI_VIEWS_REPORT_TEXT_H
#define CLI_VIEWS_REPORT_TEXT_H

#include <stdint.h>

struct report;
struct text_page;

/*
 * report_text_print() - write the report
 * @limit:  at most this many rows of each list; 0 = all.  What is left out is announced.
 * Returns 0 or -ENOMEM; the caller looks at ferror(page->out).
 */
int report_text_print(const struct report *report, uint32_t limit, const struct text_page *page);

/* Only its beginning: what was recorded, and what is missing.  Other views come below it. */
int report_text_print_header(const struct report *report, const struct text_page *page);

#endif /* CLI_VIEWS_REPORT_TEXT_H */
