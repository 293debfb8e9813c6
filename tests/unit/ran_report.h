/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/ran_report.h - `hyprof report` run within a test, and what it printed
 *
 * Way of the data:  trace_builder -> [ran_report] -> cmd_report() -> unit test
 */
#ifndef TESTS_UNIT_RAN_REPORT_H
#define TESTS_UNIT_RAN_REPORT_H

#include <jansson.h>
#include <stddef.h>

struct ran_report {
        int status;
        char *out, *err; /* heap, owned by the test; ran_report_run() leaves stderr alone, and NULL here */
};

/* `hyprof report` and its words, with its stdout in @out_fd, which is closed, and its stderr caught. */
struct ran_report ran_report_run_into(int out_fd, int argc, const char *const *argv);

/* `hyprof report` with these words, up to NULL, and the trace. */
struct ran_report ran_report_run(const char *path, const char *const *words);
#define RUN_REPORT(path, ...) ran_report_run(path, (const char *const[]){ __VA_ARGS__, NULL })

/* The same, which succeeds, as JSON; the test's to free. */
json_t *ran_report_load(const char *path, const char *const *words);
#define LOAD_REPORT(path, ...) ran_report_load(path, (const char *const[]){ __VA_ARGS__, "--json", NULL })

/* A row of a table, borrowed, and an integer of an object: both are there. */
json_t *ran_report_row(json_t *root, const char *table, size_t row);
long long ran_report_number(json_t *object, const char *key);

/* No line is longer than 120 columns, and no character is one that a terminal obeys. */
void ran_report_check_text(const char *text);

#endif /* TESTS_UNIT_RAN_REPORT_H */
