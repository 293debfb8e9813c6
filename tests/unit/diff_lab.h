/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/diff_lab.h - runs of a program whose functions are letters, for tests of comparisons
 */
#ifndef TESTS_UNIT_DIFF_LAB_H
#define TESTS_UNIT_DIFF_LAB_H

#include "analyze/diff/diff_comparison.h"
#include "analyze/diff/diff_run.h"
#include "tests/unit/trace_builder.h"

#include <stdint.h>

#define DIFF_LAB_FUNCTIONS   18
#define DIFF_LAB_RUNS        16
#define DIFF_LAB_HOT         0 /* this function has 43 % of the samples */
#define DIFF_LAB_HOT_SAMPLES 7500
#define DIFF_LAB_SAMPLES     500 /* of each of the others */

/* Runs of a program whose functions are letters. */
struct diff_lab {
        struct trace_builder *builder; /* heap; for its strings */
        struct diff_names names;
        struct diff_run runs[DIFF_LAB_RUNS];
        const struct diff_run *list[DIFF_LAB_RUNS];
        struct diff_comparison comparison;
        struct diff_options options;
        uint64_t random;
};

void diff_lab_init(struct diff_lab *l);
void diff_lab_deinit(struct diff_lab *l);
uint32_t diff_lab_function_key(struct diff_lab *l, const char *name, const char *module);
uint32_t diff_lab_letter_key(struct diff_lab *l, int index);
uint32_t diff_lab_zone_key(struct diff_lab *l, const char *name);

/* Adds 10 ns for each of @n samples, rounded, to a run. */
void diff_lab_add_samples(struct diff_lab *l, int run, uint32_t key, double n);
void diff_lab_add_zones(struct diff_lab *l, int run, uint32_t key, uint32_t n, double ns);

/* A normal number, nearly: mean 0, variance 1. */
double diff_lab_normal(struct diff_lab *l);

/* A run in which each function varies by @noise, and function @slower takes @factor times as long. */
void diff_lab_add_run(struct diff_lab *l, int run, double noise, int slower, double factor);
void diff_lab_forget_runs(struct diff_lab *l);

/* @n runs, then @n in which @slower takes @factor times as long; those from before are forgotten. */
void diff_lab_add_sets(struct diff_lab *l, int n, double noise, int slower, double factor);

/* Fills `comparison`. */
void diff_lab_compare(struct diff_lab *l, uint32_t n_before, uint32_t n_after);

/* The item of a key: aborts the test if there is none. */
const struct diff_item *diff_lab_find(const struct diff_lab *l, uint32_t key);

#endif /* TESTS_UNIT_DIFF_LAB_H */
