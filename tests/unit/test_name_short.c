/* SPDX-License-Identifier: MIT */
/*
 * view/text/name_short.c: what the standard says anyway is left out of a name, and nothing else is; what is
 * too long is folded
 */
#include "view/text/name_short.h"

#include "base/byte_buffer.h"
#include "tests/unit/unit_test.h"

#include <stdio.h>
#include <string.h>

#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"

static const struct {
        const char *name, *brief;
} names[] = {
        { "", "" },
        { "main", "main" },
        { "process(" STRING " const&)", "process(std::string const&)" },
        { STRING "::append(char const*)", "std::string::append(char const*)" },
        { "f(std::basic_string_view<char, std::char_traits<char> >)", "f(std::string_view)" },
        { "f(std::vector<" STRING ", std::allocator<" STRING " > >&)", "f(std::vector<std::string>&)" },
        { "f(std::__1::vector<int, std::__1::allocator<int> >)", "f(std::vector<int>)" },
        /* An allocator of one's own, one that is no argument, and names that only look like those. */
        { "f(std::vector<int, my::allocator<int> >)", "f(std::vector<int, my::allocator<int> >)" },
        { "f(std::allocator<int>)", "f(std::allocator<int>)" },
        { "my__1::f()", "my__1::f()" },
        { "f(a, std::allocator<", "f(a, std::allocator<" },
        { "operator<(a, b)", "operator<(a, b)" },
        { "std::less<int>::operator()(int const&, int const&) const",
          "std::less<int>::operator()(int const&, int const&) const" },
};

START_LOOP_TEST(test_names, 0, sizeof(names) / sizeof(names[0]))
{
        struct byte_buffer out = { .data = NULL };

        name_short(&out, names[_i].name, strlen(names[_i].name), 80);
        byte_buffer_add_u8(&out, '\0');
        ck_assert(!out.failed);
        ck_assert_str_eq((const char *)out.data, names[_i].brief);
        byte_buffer_deinit(&out);
}
END_TEST

/* How much of a name is looked through for the end of an argument is bounded. */
START_TEST(test_a_long_argument_stays)
{
        char name[2000];

        for (int n = 900; n < 1300; n += 300) {
                struct byte_buffer out = { .data = NULL };

                (void)snprintf(name, sizeof(name), "f(v<int, std::allocator<%0*d> >)", n, 0);
                name_short(&out, name, strlen(name), 2000);
                byte_buffer_add_u8(&out, '\0');
                ck_assert_str_eq((const char *)out.data, n == 900 ? "f(v<int>)" : name);
                byte_buffer_deinit(&out);
        }
}
END_TEST

START_TEST(test_long_names_are_folded)
{
        static const char name[] = "app::f(" STRING ", " STRING ")";
        struct byte_buffer out = { .data = NULL };

        name_short(&out, name, strlen(name), 20);
        byte_buffer_add_u8(&out, '\0');
        ck_assert_str_eq((const char *)out.data, "app::f(…)");
        byte_buffer_deinit(&out);
}
END_TEST
