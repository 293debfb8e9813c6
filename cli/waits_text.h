/* SPDX-License-Identifier: MIT */
/*
 * cli/waits_text.h - what threads waited for as text: `hyprof report --off-cpu`
 *
 * Way of the data:  report_waits -> [waits_text] -> terminal
 */
#ifndef CLI_WAITS_TEXT_H
#define CLI_WAITS_TEXT_H

#include <stdint.h>
#include <stdio.h>

struct report;

/* @limit: rows of each list, 0 = all.  Returns 0 or -ENOMEM; the caller looks at ferror(@out). */
int waits_text_print(const struct report *report, uint32_t limit, FILE *out);

#endif /* CLI_WAITS_TEXT_H */
