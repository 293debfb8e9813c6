/* SPDX-License-Identifier: MIT */
/*
 * cli/views/report_object.h - JSON objects, member by member
 *
 * Way of the data:  report -> [report_object] -> report_json, waits_json, counters_json
 *
 * Values are made where they are put in; NULL stands for "out of memory".  What
 * takes a value also takes it over, and hands the NULL on: only the last one looks.
 */
#ifndef CLI_VIEWS_REPORT_OBJECT_H
#define CLI_VIEWS_REPORT_OBJECT_H

#include "analyze/trace/report_string.h"
#include "analyze/walk/function_table.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct report;

struct report_object {
        json_t *json;
        bool failed; /* sticky */
};

struct report_object report_object_begin(void);
void report_object_put(struct report_object *object, const char *key, json_t *value);
/* The finished object, or NULL. */
json_t *report_object_take(struct report_object *object);

/* Values.  What is no UTF-8 in a string becomes U+FFFD; an empty string is what the recorder did not know. */
json_t *report_object_string(struct report_string string);
json_t *report_object_string_or_null(struct report_string string);
/* JSON numbers end where the readers' do, at 2^63 - 1. */
json_t *report_object_number(uint64_t number);
json_t *report_object_number_or_null(uint64_t number, bool known);
json_t *report_object_share(uint64_t part, uint64_t whole);
/* A list and how many rows it lacks.  Takes over @rows. */
json_t *report_object_list(json_t *rows, uint64_t n_left_out);
/* The same of at most @limit of @n_all rows (0 = all), each made by @pack from its index; NULL without memory. */
json_t *report_object_pack_list(const struct report *report, uint32_t n_all, uint32_t limit,
                                json_t *(*pack)(const struct report *report, uint32_t index));

/* The name of a kind of function. */
json_t *report_object_kind(enum function_kind kind);

#endif /* CLI_VIEWS_REPORT_OBJECT_H */
