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

/* There is one: the functions below are about it.  A test's plan makes it and takes it down. */
extern struct diff_lab lab;

void diff_lab_init(void);
void diff_lab_deinit(void);
uint32_t diff_lab_function_key(const char *name, const char *module);
uint32_t diff_lab_key(const char *name); /* of a function of the program */
uint32_t diff_lab_letter_key(int index);
uint32_t diff_lab_zone_key(const char *name);

/* Adds 10 ns for each of @n samples, rounded, to a run. */
void diff_lab_add_samples(int run, uint32_t key, double n);
void diff_lab_add_letters(int run, double n); /* to each of the letters */
void diff_lab_add_zones(int run, uint32_t key, uint32_t n, double ns);

/* A normal number, nearly: mean 0, variance 1. */
double diff_lab_normal(void);

/* A run in which each function varies by @noise, and function @slower takes @factor times as long. */
void diff_lab_add_run(int run, double noise, int slower, double factor);
void diff_lab_forget_runs(void);

/* @n runs, then @n in which @slower takes @factor times as long; those from before are forgotten. */
void diff_lab_add_sets(int n, double noise, int slower, double factor);

/* Fills `comparison`. */
void diff_lab_compare(uint32_t n_before, uint32_t n_after);

/* The item of a key: aborts the test if there is none. */
const struct diff_item *diff_lab_find(uint32_t key);
const struct diff_item *diff_lab_letter(int index);

#endif /* TESTS_UNIT_DIFF_LAB_H */
