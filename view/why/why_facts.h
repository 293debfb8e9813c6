/* SPDX-License-Identifier: MIT */
/*
 * view/why/why_facts.h - the answer of `hyprof why` and its facts: numbers for programs, sentences for people
 *
 * Way of the data:  why -> [why_facts] -> why_view -> view_document
 */
#ifndef VIEW_WHY_WHY_FACTS_H
#define VIEW_WHY_WHY_FACTS_H

#include "base/text_view.h"
#include "view/document/view_column.h"

struct answer_part;
struct loaded_trace;
struct view_document;
struct why;

/* Parts of the schema, in the order of the document: after the instances stands how many zones were lost. */
extern const struct answer_part why_facts_answer_part, why_facts_python_part, why_facts_instances_part,
        why_facts_groups_part;

/* @trace: with threads' names.  @filter: the chosen part, in words; empty = everything */
void why_facts_add(struct view_document *d, const struct why *w, const struct loaded_trace *trace,
                   struct text_view filter);

/* Values of times that are means: whole ns; a duration is not below 0. */
struct view_value why_facts_duration(double ns);
struct view_value why_facts_delta(double ns);

#endif /* VIEW_WHY_WHY_FACTS_H */
