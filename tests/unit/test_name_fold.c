/* SPDX-License-Identifier: MIT */
/*
 * view/text/name_fold.c: what is too long keeps what tells it from others, and never takes more
 * columns than there are
 */
#include "view/text/name_fold.h"

#include "base/byte_buffer.h"
#include "tests/unit/unit_test.h"
#include "view/text/utf8.h"

#include <stdlib.h>
#include <string.h>

#define STRING "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
#define TREE   "std::_Rb_tree<" STRING ", std::pair<" STRING " const, int>, std::less<" STRING " > >"

static char *fold(const char *name, uint32_t n_columns)
{
        struct byte_buffer out = { .data = NULL };

        name_fold(&out, name, strlen(name), n_columns);
        byte_buffer_add_u8(&out, '\0');
        ck_assert(!out.failed);
        return (char *)out.data;
}

static void expect(const char *wanted, const char *name, uint32_t n_columns)
{
        char *found = fold(name, n_columns);

        ck_assert_str_eq(found, wanted);
        free(found);
}

START_TEST(test_what_fits_stays)
{
        expect("", "", 1);
        expect("main", "main", 4);
        expect(TREE "::find(int)", TREE "::find(int)", 1000);
        expect("operator<(a, b)", "operator<(a, b)", 15);
}
END_TEST

START_TEST(test_as_much_as_is_needed)
{
        expect("app::f<int>(…)", "app::f<int>(long, long, long)", 20);
        expect("std::_Rb_tree<…>::_M_insert_unique_(…)", TREE "::_M_insert_unique_(" STRING " const&)", 60);
        expect("std::_Rb_tree<…>::_M_insert_unique_", TREE "::_M_insert_unique_(" STRING " const&)", 36);
        expect("std::__cxx11::basic_string<…>::basic_string(…)", STRING "::basic_string(char const*, int)",
               50);
        expect("std::basic_string<…>::basic_string(…)", STRING "::basic_string(char const*, int)", 40);
        expect("  std::basic_string<…>::begin() const", "  " STRING "::begin() const", 40);
        /* The return type of a template's instance. */
        expect("std::__introsort_loop<…>", "void std::__introsort_loop<long*, long>(long*, long*, long)", 24);
        expect("std::basic_string<…>::size", STRING "::size() const", 26);
        expect("std::vector<…>", "std::vector<long, std::allocator<long> >", 14);
}
END_TEST

START_TEST(test_names_with_signs)
{
        expect("std::operator<< <…>(…)", "std::operator<< <char, std::char_traits<char> >(std::ostream&)",
               24);
        expect("bool std::operator< <…>(…)", "bool std::operator< <char, std::less<char> >(int, int)", 26);
        expect("A<…>::operator->(…)", "A<int, long, short>::operator->(int, int, int)", 20);
        expect("A<…>::operator()(…)", "A<int, long, short>::operator()(int, int, int)", 20);
        expect("(anonymous namespace)::f(…)", "(anonymous namespace)::f(long, long, long)", 30);
        expect("operator new(…)", "operator new(unsigned long)", 15);
        expect("operator new", "operator new(unsigned long)", 12);
        expect("a<…>::{lambda(…)#1}", "a<b, c, d, e>::{lambda(int)#1}", 25);
        expect("f<…", "f<a<b", 3); /* never closed */
}
END_TEST

/* Names that are not C++'s: a space before a parenthesis is not the end of a return type. */
static const char *const foreign_names[] = {
        "libvery-long-library-name-of-something-1.2.3.so (deleted)",
        "memfd:payload with space (deleted)",
        "some generated kernel name with spaces and (parenthesis at the end of it)",
        "Function:~render template (anonymous function inside of another function)",
        "my_function_with_long_name (.llvm.12345678901234567890)",
        "-[NSSomethingController doSomething:(long)x with:(long)y] (in SomeFramework)",
        "Lcom/example/foo/Bar;::methodWithLongName (Ljava/lang/String;I)V",
        "(unknown function of the library)",
        "(a) (b) (c) (d)",
        "a b (c) const",
        "<lambda> (long, long)",
};

START_TEST(test_foreign_names)
{
        expect("libve…g-1.2.3.so", foreign_names[0], 16);
        expect("libvery-long-library-name-of-something-1.2.3.so", foreign_names[0], 47);
        expect("memfd:payload with space", foreign_names[1], 24);
        expect("my_function_with_long_name", foreign_names[4], 28);
        expect("(unknown fu…", foreign_names[7], 12);
        expect("<lambda", "<lambda", 7);
        expect("<lam…", "<lambda>", 5);
}
END_TEST

/* Each begins as the name does, with a letter: no cell is empty, however narrow it is. */
START_LOOP_TEST(test_never_empty, 0, sizeof(foreign_names) / sizeof(foreign_names[0]))
{
        for (uint32_t n_columns = 4; n_columns < 90; n_columns++) {
                char *found = fold(foreign_names[_i], n_columns);

                ck_assert_msg(strpbrk(found, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"),
                              "'%s' in %u", found, n_columns);
                ck_assert_msg(strncmp(found, foreign_names[_i], 2) == 0, "'%s' in %u", found, n_columns);
                free(found);
        }
}
END_TEST

/* The end of a name, the begin of words. */
START_TEST(test_cut)
{
        expect("iree_task…compute_slow_path", "iree_task_worker_drain_compute_slow_path", 27);
        expect("the quick br…", "the quick brown fox jumps", 13);
        expect("…", "main", 1);
        expect("m…", "main", 2);
        expect("äx…xöüß", "äxxxxxöüß", 7);
}
END_TEST

START_TEST(test_never_more_columns)
{
        static const char *const names[] = { TREE "::_M_insert_unique_(" STRING " const&)",
                                             "void f<a<b>, (c)1>(d (*)(e)) [clone .part.0]",
                                             "))>>((<<",
                                             "operator",
                                             "a b",
                                             "-> <-",
                                             "ä<ö>(ü)",
                                             "operator<" };

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                for (uint32_t n_columns = 1; n_columns < 80; n_columns++) {
                        char *found = fold(names[i], n_columns);
                        uint32_t n = 0, character;

                        for (const char *at = found; *at; at += utf8_decode(at, strlen(at), &character))
                                n++;
                        ck_assert_msg(n <= n_columns, "%s in %u", found, n_columns);
                        free(found);
                }
}
END_TEST

/* In the locale "C": two dots, within the same columns. */
START_TEST(test_ascii)
{
        ck_assert_int_eq(setenv("LC_ALL", "C", 1), 0);
        expect("std::_Rb_tree<..>::_M_insert_unique_(..)", TREE "::_M_insert_unique_(" STRING " const&)", 60);
        expect("iree_task..ompute_slow_path", "iree_task_worker_drain_compute_slow_path", 27);
        expect(".", "main", 1);
        expect("..", "main", 2);
        for (uint32_t n_columns = 1; n_columns < 60; n_columns++) {
                char *found = fold(TREE "::_M_insert_unique_(" STRING " const&)", n_columns);

                ck_assert_uint_le(strlen(found), n_columns);
                free(found);
        }
}
END_TEST

static void expect_chain(const char *wanted, const char *chain, uint32_t n_same, uint32_t n_columns)
{
        struct byte_buffer out = { .data = NULL };

        name_fold_chain(&out, chain, strlen(chain), n_same, n_columns);
        byte_buffer_add_u8(&out, '\0');
        ck_assert_str_eq((const char *)out.data, wanted);
        byte_buffer_deinit(&out);
}

START_TEST(test_chains)
{
        static const char a[] = "alloc < ctl < issue < load_model < main",
                          b[] = "alloc < ctl < issue < run < main";

        ck_assert_uint_eq(name_fold_count_same(a, strlen(a), b, strlen(b)), 3);
        ck_assert_uint_eq(name_fold_count_same(a, strlen(a), "alloc", 5), 0);
        ck_assert_uint_eq(name_fold_count_same(a, strlen(a), a, strlen(a)), 5);
        expect_chain(a, a, 3, 60);
        expect_chain("alloc < … < load_model < main", a, 3, 30);
        expect_chain("alloc < … < run < …", b, 3, 19);
        expect_chain("alloc < ctl < …", a, 1, 15);
}
END_TEST

/* Tests may share a process, and must not depend on the caller's locale. */
static void set_up(void)
{
        ck_assert_int_eq(setenv("LC_ALL", "C.UTF-8", 1), 0);
}

UNIT_TEST_PLAN(.setup = set_up);
