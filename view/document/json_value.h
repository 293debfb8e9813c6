/* SPDX-License-Identifier: MIT */
/*
 * view/document/json_value.h - values of JSON out of what a trace may hold
 *
 * Way of the data:  view_document -> [json_value] -> document_json
 */
#ifndef VIEW_DOCUMENT_JSON_VALUE_H
#define VIEW_DOCUMENT_JSON_VALUE_H

#include "base/text_view.h"

#include <jansson.h>
#include <stdint.h>

/* Invalid UTF-8 becomes U+FFFD.  NULL without memory. */
json_t *json_value_string(struct text_view string);

/* A number above 2^63 - 1 is written as that, since readers hold no larger one. */
json_t *json_value_number(uint64_t number);

#endif /* VIEW_DOCUMENT_JSON_VALUE_H */
