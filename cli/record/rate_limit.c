/* SPDX-License-Identifier: MIT */
#include "cli/record/record_parts.h"

#include "cli/exit_status.h"
#include "cli/options/record_options.h"
#include "cli/terminal/complaint.h"
#include "sampler/rights/perf_access.h"

#include <inttypes.h>
#include <limits.h>

#define SETTING "kernel.perf_event_max_sample_rate"

int rate_limit_apply(struct record_options *options)
{
        struct event_request *events = &options->events;
        long limit_hz = perf_access_max_sample_hz();

        if (events->rate_hz == 0 || limit_hz <= 0)
                return EXIT_STATUS_OK;
        if (!options->wants_rate_max && events->rate_hz <= (uint64_t)limit_hz)
                return EXIT_STATUS_OK;
        if (options->wants_rate_max) {
                if (events->rate_hz > (uint64_t)limit_hz)
                        events->rate_hz = (uint64_t)limit_hz;
                return EXIT_STATUS_OK;
        }
        if (options->is_rate_strict) {
                complain("error: -F %" PRIu64 " is over the kernel's limit of %ld Hz (" SETTING ")",
                         events->rate_hz, limit_hz);
                complain_try("sudo sysctl " SETTING "=%" PRIu64 ", or without --strict-freq",
                             events->rate_hz);
                return EXIT_STATUS_RECORD_FAILED;
        }
        if (!options->quiet) {
                complain("note: %" PRIu64 " Hz is over the kernel's limit (" SETTING "); sampling at %ld Hz",
                         events->rate_hz, limit_hz);
                complain_try("sudo sysctl " SETTING "=%" PRIu64 "; --strict-freq refuses instead",
                             events->rate_hz);
        }
        events->rate_hz = (uint64_t)limit_hz;
        return EXIT_STATUS_OK;
}

void rate_limit_check(const struct record_options *options, long before_hz)
{
        long after_hz = perf_access_max_sample_hz();

        if (options->quiet || before_hz == LONG_MIN || after_hz == LONG_MIN || after_hz >= before_hz)
                return;
        complain("note: interrupts took so long that the kernel lowered " SETTING
                 " from %ld to %ld meanwhile: samples may be fewer than asked for",
                 before_hz, after_hz);
}
