/* SPDX-License-Identifier: MIT */
/*
 * analyze/why/why_judge.h - how certain it is that something is a cause
 *
 * Way of the data:  why_causes -> [why_judge] -> why
 *
 * This header has all thresholds of `why` that decide what is called a cause; docs/use/why.md
 * lists them.  Thread-safe.
 */
#ifndef ANALYZE_WHY_WHY_JUDGE_H
#define ANALYZE_WHY_WHY_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#define WHY_SLOW_MIN    8  /* with fewer instances in a group, nothing is concluded */
#define WHY_SAMPLES_MIN 20 /* with fewer samples in a group, functions are not judged */
#define WHY_WITH_MIN    4  /* slow instances that have the cause */
#define WHY_TIMES_MIN   10 /* samples of the cause in slow instances */

#define WHY_P_HIGH       0.001
#define WHY_P_MEDIUM     0.01
#define WHY_LOW_HIGH     0.2  /* own_low of at least this */
#define WHY_SHARE_HIGH   0.05 /* of the extra time */
#define WHY_SHARE_MEDIUM 0.25

/*
 * The parts of zones of devices are measured one by one: the slow ones must be so many spreads of the others
 * above them.  The slowest 1 % of a normal distribution are 2.7 apart, of an exponential one 5.
 */
#define WHY_APART_MIN 6

enum why_confidence {
        WHY_CONFIDENCE_NONE, /* not a cause of the program: measured, not judged */
        WHY_CONFIDENCE_TOO_FEW,
        WHY_CONFIDENCE_LOW,
        WHY_CONFIDENCE_MEDIUM,
        WHY_CONFIDENCE_HIGH,
};

struct why_evidence {
        uint64_t n_slow, n_typical; /* instances */
        uint64_t n_slow_with;       /* slow ones that have it */
        uint64_t n_times;           /* how often in slow ones: waits, samples */
        uint64_t n_tests;           /* candidates that were looked at */
        double p;                   /* of this one alone */
        double share;               /* of the extra time */
        /* share of the extra time without the machine's part: lower end of the 95 % interval */
        double own_low;
        bool is_sampled; /* known by samples, of which both groups have WHY_SAMPLES_MIN; else measured */
};

enum why_confidence why_judge(const struct why_evidence *e);

/* p, corrected for the number of candidates (Bonferroni). */
double why_judge_p(const struct why_evidence *e);

#endif /* ANALYZE_WHY_WHY_JUDGE_H */
