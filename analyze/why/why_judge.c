/* SPDX-License-Identifier: MIT */
#include "analyze/why/why_judge.h"

#include <math.h>

double why_judge_p(const struct why_evidence *e)
{
        return fmin(e->p * (double)e->n_tests, 1);
}

static bool is_too_little(const struct why_evidence *e)
{
        if (e->n_slow < WHY_SLOW_MIN || e->n_typical < WHY_SLOW_MIN || e->n_slow_with < WHY_WITH_MIN)
                return true;
        return e->is_sampled && e->n_times < WHY_TIMES_MIN;
}

enum why_confidence why_judge(const struct why_evidence *e)
{
        double p = why_judge_p(e);

        if (is_too_little(e))
                return WHY_CONFIDENCE_TOO_FEW;
        if (p < WHY_P_HIGH && e->own_low >= WHY_LOW_HIGH && e->share >= WHY_SHARE_HIGH)
                return WHY_CONFIDENCE_HIGH;
        if (p < WHY_P_MEDIUM && e->own_low > 0 && e->share >= WHY_SHARE_MEDIUM)
                return WHY_CONFIDENCE_MEDIUM;
        return WHY_CONFIDENCE_LOW;
}
