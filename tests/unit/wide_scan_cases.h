/* SPDX-License-Identifier: MIT */
/*
 * tests/unit/wide_scan_cases.h - what import/file/wide_scan.h finds is what a loop finds
 *
 * Way of the data:  [wide_scan_cases] -> test_wide_scan.c, and without SSE2 test_wide_scan_portable.c
 */
#ifndef TESTS_UNIT_WIDE_SCAN_CASES_H
#define TESTS_UNIT_WIDE_SCAN_CASES_H

#include "import/file/wide_scan.h"
#include "tests/unit/fixed_random.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>
#include <string.h>

/* @n random bytes on the heap, so that a read beyond them is seen; few of them are among @some. */
static char *wide_scan_text(size_t n, const char *some, uint64_t *state)
{
        char *text = malloc(n + 1);

        ck_assert_ptr_nonnull(text);
        for (size_t i = 0; i < n; i++)
                text[i] = (char)(fixed_random_next(state) % 24
                                         ? fixed_random_next(state)
                                         : (unsigned char)some[fixed_random_next(state) % strlen(some)]);
        return text;
}

static void wide_scan_check(size_t n, uint64_t state)
{
        char *text = wide_scan_text(n, "\"\\\n", &state);
        const char *end = text + n, *either = text, *pair = NULL;
        size_t count = 0;

        while (either < end && *either != '"' && *either != '\\')
                either++;
        for (size_t i = 0; i < n; i++) {
                count += text[i] == '\n';
                if (!pair && i + 1 < n && text[i] == '"' && text[i + 1] == '\\')
                        pair = &text[i];
        }
        ck_assert_ptr_eq(wide_scan_find(text, end, '"', '\\'), either);
        ck_assert_ptr_eq(wide_scan_pair(text, end, '"', '\\'), pair);
        ck_assert_uint_eq(wide_scan_count(text, end, '\n'), count);
        free(text);
}

#endif /* TESTS_UNIT_WIDE_SCAN_CASES_H */
