/* SPDX-License-Identifier: MIT */
/* view/text/text_number.c: three digits and the unit that fits, also where rounding would make a fourth */
#include "format/trace_spec.h"
#include "tests/unit/unit_test.h"
#include "view/text/text_number.h"

#include <string.h>

static const struct {
        uint64_t value;
        const char *text;
} counts[] = {
        { 0, "0" },
        { 7, "7" },
        { 999, "999" },
        { 1000, "1,000" },
        { 12345, "12,345" },
        { 123456, "123,456" },
        { 1103220, "1,103,220" },
        { UINT64_MAX, "18,446,744,073,709,551,615" },
}, durations[] = {
        { 0, "0 ns" },
        { 1, "1 ns" },
        { 999, "999 ns" },
        { 1000, "1.00 us" },
        { 1234, "1.23 us" },
        { 9994, "9.99 us" },
        { 9996, "10.0 us" },
        { 12345, "12.3 us" },
        { 99940, "99.9 us" },
        { 99960, "100 us" },
        { 999400, "999 us" },
        { 999600, "1.00 ms" },
        { 12345678, "12.3 ms" },
        { UINT64_C(999600000), "1.00 s" },
        { UINT64_C(123000000000), "123 s" },
        { UINT64_C(4567000000000), "4567 s" },
        { UINT64_MAX, "18446744074 s" },
}, sizes[] = {
        { 0, "0 B" },
        { 31, "31 B" },
        { 999, "999 B" },
        { 4200, "4.20 KB" },
        { 31000000, "31.0 MB" },
        { UINT64_C(5000000000), "5.00 GB" },
        { UINT64_C(5000000000000), "5000 GB" },
};

#define COUNT(table) ((int)(sizeof(table) / sizeof((table)[0])))

/* loop test */
START_LOOP_TEST(test_count, 0, COUNT(counts))
{
        ck_assert_str_eq(text_number_count(counts[_i].value).text, counts[_i].text);
}
END_TEST

/* loop test */
START_LOOP_TEST(test_duration, 0, COUNT(durations))
{
        ck_assert_str_eq(text_number_duration(durations[_i].value).text, durations[_i].text);
}
END_TEST

/* loop test */
START_LOOP_TEST(test_bytes, 0, COUNT(sizes))
{
        ck_assert_str_eq(text_number_bytes(sizes[_i].value).text, sizes[_i].text);
}
END_TEST

START_TEST(test_short)
{
        ck_assert_str_eq(text_number_short(0).text, "0");
        ck_assert_str_eq(text_number_short(999).text, "999");
        ck_assert_str_eq(text_number_short(1000).text, "1.00 K");
        ck_assert_str_eq(text_number_short(31000000).text, "31.0 M");
        ck_assert_str_eq(text_number_short(UINT64_MAX).text, "18.4 E");
}
END_TEST

START_TEST(test_share)
{
        ck_assert_str_eq(text_number_share(0).text, "0.0%");
        ck_assert_str_eq(text_number_share(0.3124).text, "31.2%");
        ck_assert_str_eq(text_number_share(0.9996).text, "100.0%");
        ck_assert_str_eq(text_number_share(1).text, "100.0%");
        ck_assert_str_eq(text_number_share(12.5).text, "1250.0%");
}
END_TEST

/* The number goes first, and one is singular. */
START_TEST(test_counted)
{
        static const struct {
                uint64_t count;
                const char *words, *said;
        } cases[] = {
                { 1204, "zones never ended", "1,204 zones never ended" },
                { 1, "zones never ended", "1 zone never ended" },
                { 1, "context switches lost: the ring was full", "1 context switch lost: the ring was full" },
                { 1, "call stacks: cut", "1 call stack: cut" },
                { 1, "events", "1 event" },
                { 1, "nothing known, of all things", "1 nothing known, of all things" },
                { 2, "", "2 " },
                { 1, "", "1 " },
        };

        for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
                ck_assert_str_eq(text_number_counted(cases[i].count, cases[i].words).text, cases[i].said);
}
END_TEST

/* The words of a loss are right for one as well: no "they" goes back to it. */
START_TEST(test_one_loss)
{
        static const char *const reasons[] = {
#define X(id, name, words) words,
                TRACE_LOSS_REASONS(X)
#undef X
        };
        static const char *const plurals[] = { " they ", " them ", " their " };

        for (size_t i = 0; i < sizeof(reasons) / sizeof(reasons[0]); i++)
                for (size_t k = 0; k < sizeof(plurals) / sizeof(plurals[0]); k++)
                        ck_assert_msg(!strstr(reasons[i], plurals[k]), "%s", reasons[i]);
}
END_TEST
