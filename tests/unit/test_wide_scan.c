/* SPDX-License-Identifier: MIT */
/* import/file/wide_scan.h, with what the processor has: finds and counts as a loop does */
#include "tests/unit/wide_scan_cases.h"

/* Loop test: lengths in bytes. */
START_LOOP_TEST(test_any_length, 0, 200)
{
        for (uint64_t state = 1; state <= 40; state++)
                wide_scan_check((size_t)_i, state);
}
END_TEST
