/* SPDX-License-Identifier: MIT */
/*
 * cli/views/annotate_json.h - a function's instructions and source lines for programs
 *
 * Way of the data:  annotation, source_texts -> [annotate_json] -> standard output
 * Specification:    docs/use/annotate.md
 */
#ifndef CLI_VIEWS_ANNOTATE_JSON_H
#define CLI_VIEWS_ANNOTATE_JSON_H

#include "analyze/trace/report_string.h"

#include <stdio.h>

#define ANNOTATE_JSON_SCHEMA "hyprof.annotation/1"

struct annotation;
struct source_texts;

/* Everything, whatever the text would leave out.  @filter_words: whose samples count; empty = all.  Returns 0 or -ENOMEM. */
int annotate_json_print(const struct annotation *a, struct source_texts *sources,
                        struct report_string filter_words, FILE *out);

#endif /* CLI_VIEWS_ANNOTATE_JSON_H */
