/* SPDX-License-Identifier: MIT */
/* symbolize/demangle.c: names of C++, Rust and D become readable, anything else stays, hostile ones end soon */
#include "symbolize/demangle.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
        const char *mangled;
        const char *name; /* NULL: is shown as it is */
} names[] = {
        { "_ZN4llvm8Function5eraseEi", "llvm::Function::erase(int)" },
        { "_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector<int, std::allocator<int> >::push_back(int&&)" },
        { "_ZN1n4workEv.cold", "n::work() [clone .cold]" },
        { "_ZN4core3fmt9Formatter3pad17h0123456789abcdefE", "core::fmt::Formatter::pad" },
        { "_ZN60_$LT$alloc..string..String$u20$as$u20$core..fmt..Display$GT$3fmt17h0123456789abcdefE",
          "<alloc::string::String as core::fmt::Display>::fmt" },
        { "_RNvC6_123foo3bar", "123foo::bar" },
        { "_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar" },
        { "_D3foo3barFiZi", "foo.bar(int)" },
        { "_Dmain", "D main" },
        { "main", NULL },
        { "", NULL },
        { "_", NULL },
        { "_start", NULL },
        { "_Z", NULL },
        { "_ZN", NULL },
        { "_R", NULL },
        { "_Zgarbage", NULL },
        { "_ZN17h0123", NULL },
        { "qsort", NULL },
        { "\x01\x02\xff", NULL },
        { "_Z\xff\xfe", NULL },
};

START_TEST(test_each_language)
{
        char *name = demangle_name(names[_i].mangled);

        ck_assert_pstr_eq(name, names[_i].name);
        free(name);
}
END_TEST

/* loop test: a good name cut anywhere gives something or nothing, but ends */
START_TEST(test_cut_anywhere)
{
        char *cut = strndup(
                "_ZNSt6vectorIiSaIiEE17_M_realloc_insertIJiEEEvN9__gnu_cxx17__normal_iteratorIPiS1_EE"
                "DpOT_",
                (size_t)_i);

        ck_assert_ptr_nonnull(cut);
        free(demangle_name(cut));
        free(cut);
}
END_TEST

START_TEST(test_too_long_is_left_alone)
{
        size_t n_bytes = DEMANGLE_MANGLED_MAX + 16;
        char *mangled = malloc(n_bytes);

        ck_assert_ptr_nonnull(mangled);
        memset(mangled, 'P', n_bytes);
        memcpy(mangled, "_Z1f", 4);
        mangled[n_bytes - 2] = 'i';
        mangled[n_bytes - 1] = '\0';
        ck_assert_ptr_null(demangle_name(mangled));
        free(mangled);
}
END_TEST

/*
 * A function of @n_pairs arguments, each a pair of the one before: its text is twice as long.  "S_" is the
 * template of the pair, "S1_", "S2_" ... are the pairs.
 */
static char *demangle_pairs(unsigned n_pairs)
{
        static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        char mangled[1024] = "_Z1f1aI1bS0_E";
        size_t used = strlen(mangled);

        for (unsigned i = 1; i < n_pairs; i++)
                used += (size_t)snprintf(mangled + used, sizeof(mangled) - used, "S_IS%c_S%c_E", digits[i],
                                         digits[i]);
        return demangle_name(mangled);
}

START_TEST(test_explosion_is_stopped)
{
        char *two = demangle_pairs(2);

        ck_assert_str_eq(two, "f(a<b, b>, a<a<b, b>, a<b, b> >)");
        free(two);
        ck_assert_ptr_null(demangle_pairs(34));
}
END_TEST

int main(void)
{
        Suite *suite = suite_create("symbolize/demangle");
        TCase *tc = tcase_create("demangle");
        SRunner *runner;
        int n_failed;

        tcase_add_loop_test(tc, test_each_language, 0, (int)(sizeof(names) / sizeof(names[0])));
        tcase_add_loop_test(tc, test_cut_anywhere, 0, 90);
        tcase_add_test(tc, test_too_long_is_left_alone);
        tcase_add_test(tc, test_explosion_is_stopped);
        suite_add_tcase(suite, tc);
        runner = srunner_create(suite);
        srunner_run_all(runner, CK_NORMAL);
        n_failed = srunner_ntests_failed(runner);
        srunner_free(runner);
        return n_failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
