/* SPDX-License-Identifier: MIT */
/*
 * cli/views/cpus_text.h - what each CPU did as text: `hyprof report --cpus`
 *
 * Way of the data:  report_cpus -> [cpus_text] -> terminal
 */
#ifndef CLI_VIEWS_CPUS_TEXT_H
#define CLI_VIEWS_CPUS_TEXT_H

#include <stdint.h>

struct report;
struct text_page;

/* @limit: CPUs and threads of each, 0 = all.  Returns 0 or -ENOMEM; the caller looks at ferror(page->out). */
int cpus_text_print(const struct report *report, uint32_t limit, const struct text_page *page);

#endif /* CLI_VIEWS_CPUS_TEXT_H */
