/* SPDX-License-Identifier: MIT */
/*
 * cli/options/rate_limit.h - the rate that is asked for beside the one that the kernel allows
 *
 * Way of the data:  record_options -> [rate_limit] -> recorder; after the recording -> people
 */
#ifndef CLI_OPTIONS_RATE_LIMIT_H
#define CLI_OPTIONS_RATE_LIMIT_H

struct record_options;

/*
 * rate_limit_apply() - fills in -F max, and lowers a rate that is over the limit, which is said
 * Returns an exit status: with --strict-freq such a rate is refused.
 */
int rate_limit_apply(struct record_options *options);

/* Says so if the kernel lowered its limit meanwhile; @before_hz: what it was, LONG_MIN = unknown. */
void rate_limit_check(const struct record_options *options, long before_hz);

#endif /* CLI_OPTIONS_RATE_LIMIT_H */
