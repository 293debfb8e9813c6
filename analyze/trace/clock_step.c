/* SPDX-License-Identifier: MIT */
#include "analyze/trace/clock_step.h"

#include "format/trace_dictionary.h"

#include <inttypes.h>
#include <stdio.h>

#define N_KINDS     (TRACE_CLOCK_RDTIME + 1) /* those that programs may stamp their events with */
#define STEP_NS_MIN 2.0
#define STEP_NS_MAX 1e9

/* The slope from a clock's first reading to its last. */
static double step_of(const struct trace_clock *first, const struct trace_clock *last)
{
        if (!first || last->ticks <= first->ticks || last->raw_ns <= first->raw_ns)
                return 0;
        return (double)(last->raw_ns - first->raw_ns) / (double)(last->ticks - first->ticks);
}

uint64_t clock_step_ns(const struct trace_dictionary *d)
{
        const struct trace_clock *first[N_KINDS] = { NULL }, *last[N_KINDS] = { NULL };
        double largest = 0;

        if (trace_dictionary_count(d, TRACE_TABLE_RECORDINGS) != 0)
                return 0;
        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_CLOCKS); i++) {
                const struct trace_clock *row = trace_dictionary_row(d, TRACE_TABLE_CLOCKS, i);

                if (row->kind >= N_KINDS)
                        continue;
                if (!first[row->kind])
                        first[row->kind] = row;
                last[row->kind] = row;
        }
        for (uint32_t kind = 0; kind < N_KINDS; kind++) {
                double step = step_of(first[kind], last[kind]);

                if (step > largest && step <= STEP_NS_MAX)
                        largest = step;
        }
        return largest >= STEP_NS_MIN ? (uint64_t)(largest + 0.5) : 0;
}

void clock_step_words(uint64_t step_ns, char words[CLOCK_STEP_WORDS_BYTES])
{
        words[0] = '\0';
        if (step_ns != 0)
                (void)snprintf(words, CLOCK_STEP_WORDS_BYTES, "times are in steps of %" PRIu64 " ns",
                               step_ns);
}
