/* SPDX-License-Identifier: MIT */
/*
 * cli/views/waits_text.h - what threads waited for as text: `hyprof report --off-cpu`
 *
 * Way of the data:  report_waits -> [waits_text] -> terminal
 */
#ifndef CLI_VIEWS_WAITS_TEXT_H
#define CLI_VIEWS_WAITS_TEXT_H

#include <stdint.h>

struct report;
struct text_page;

/* @limit: rows of each list, 0 = all.  Returns 0 or -ENOMEM; the caller looks at ferror(page->out). */
int waits_text_print(const struct report *report, uint32_t limit, const struct text_page *page);

#endif /* CLI_VIEWS_WAITS_TEXT_H */
