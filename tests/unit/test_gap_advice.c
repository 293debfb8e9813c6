/* SPDX-License-Identifier: MIT */
/*
 * view/shared/gap_advice.c: advice names the trace and the module as a shell takes them, and has no
 * advice where none is known
 */
#include "view/shared/gap_advice.h"

#include "tests/unit/unit_test.h"

#include <string.h>

static void expect(const char *path, const char *advice, const char *wanted)
{
        const struct text_view module = { .bytes = "/usr/bin/z std", .n_bytes = 14 };

        ck_assert_str_eq(gap_advice_make(path, module, advice).text, wanted);
}

START_TEST(the_words_are_replaced)
{
        expect("t.hyp", "try: hyprof symbolize TRACE", "try: hyprof symbolize t.hyp");
        expect("a b.hyp", "try: hyprof symbolize TRACE, and more",
               "try: hyprof symbolize 'a b.hyp', and more");
        expect("t.hyp", "dpkg -S MODULE TRACE", "dpkg -S '/usr/bin/z std' t.hyp");
        expect("t.hyp", "try: node --perf-basic-prof", "try: node --perf-basic-prof");
}
END_TEST

START_TEST(what_has_no_path_is_left_as_it_is)
{
        expect("-", "try: hyprof symbolize TRACE", "try: hyprof symbolize TRACE");
        expect(NULL, "try: hyprof symbolize TRACE", "try: hyprof symbolize TRACE");
        expect("t.hyp", NULL, "");
}
END_TEST

/* Longer than anything that is typed: cut, and within its bytes. */
START_TEST(a_long_path_is_cut)
{
        static char path[3 * GAP_ADVICE_BYTES], advice[1024];
        const struct text_view module = { .n_bytes = 0 };

        memset(path, 'x', sizeof(path) - 1);
        for (size_t i = 0; i + 7 < sizeof(advice); i += 6)
                memcpy(advice + i, "TRACE ", 6);
        ck_assert_uint_lt(strlen(gap_advice_make(path, module, advice).text), GAP_ADVICE_BYTES);
}
END_TEST
