/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/asked_why.h - why some instances of a zone are slow, asked of a trace that a test built
 *
 * Way of the data:  trace_builder -> [asked_why] -> why -> unit test
 *
 * Whatever goes wrong while asking ends the test.
 */
#ifndef TESTS_UNIT_ASKED_WHY_H
#define TESTS_UNIT_ASKED_WHY_H

#include "analyze/walk/loaded_trace.h"
#include "analyze/why/why.h"

struct asked_why {
        struct loaded_trace trace;
        struct why why;
        char answer[1024]; /* the sentence */
};

void asked_why_ask(struct asked_why *a, const char *path, const struct why_request *request);
/* Also of one that was asked nothing. */
void asked_why_deinit(struct asked_why *a);

#endif /* TESTS_UNIT_ASKED_WHY_H */
