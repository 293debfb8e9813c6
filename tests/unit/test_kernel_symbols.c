/* SPDX-License-Identifier: MIT */
/* symbolize/kernel/kernel_symbols.c: every text gives the names it states and no others */
#include "base/error.h"
#include "symbolize/kernel/kernel_symbols.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static struct kernel_symbols kernel;

static const char good[] = "ffffffff81000000 T _text\n"
                           "ffffffff81000000 T startup_64\n"
                           "ffffffff81000100 t local_name\n"
                           "ffffffff81000100 T __global_name\n"
                           "ffffffff81000200 W weak_name\n"
                           "ffffffff81000300 D some_data\n"
                           "ffffffff81000400 w other_weak\n"
                           "ffffffffc0000000 t fuse_open\t[fuse]\n";

static const struct {
        uint64_t address;
        const char *name;
} wanted[] = {
        { 0xffffffff80ffffff, NULL },         { 0xffffffff81000000, "startup_64" },
        { 0xffffffff810000ff, "startup_64" }, { 0xffffffff81000100, "__global_name" },
        { 0xffffffff81000300, "weak_name" },  { 0xffffffff81000400, "other_weak" },
        { 0xffffffff81200400, NULL },         { 0xffffffffc0000010, "fuse_open [fuse]" },
        { 0xffffffffffffffff, NULL },
};

static const char made[] = "ffffffff81000000 T vfs_read\n"
                           "ffffffffc0000000 t fuse_open\t[fuse]\n"
                           "ffffffffc0000100 t fuse_read\t[fuse]\n"
                           "ffffffffc0001f00 t bpf_prog_1_a\t[bpf]\n"
                           "ffffffffc0003000 t ftrace_trampoline\t[__builtin__ftrace]\n"
                           "ffffffffc0004000 t xfs_open\t[xfs]\n"
                           "ffffffffc0005800 t xfs_read\t[xfs]\n";

/* Where the last function of a module ends is not known: other code may follow, but not in its page. */
static const struct {
        uint64_t address;
        const char *name, *of_made;
} near_made[] = {
        { 0xffffffffc0000fff, "fuse_read [fuse]", NULL }, /* the last one, in its page */
        { 0xffffffffc0001000, NULL, NULL },
        { 0xffffffffc0001f00, NULL, "bpf_prog_1_a [bpf]" },
        { 0xffffffffc0002fff, NULL, "bpf_prog_1_a [bpf]" },
        { 0xffffffffc0003001, NULL, "ftrace_trampoline [__builtin__ftrace]" },
        { 0xffffffffc0005700, "xfs_open [xfs]", NULL }, /* another one follows */
        { 0xffffffffc0005fff, "xfs_read [xfs]", NULL },
        { 0xffffffffc0006000, NULL, NULL },
        { 0xffffffff81002000, "vfs_read", NULL }, /* of the kernel itself */
};

START_TEST(test_what_the_kernel_made)
{
        ck_assert_int_eq(kernel_symbols_parse(&kernel, made, sizeof(made) - 1), 0);
        for (size_t i = 0; i < sizeof(near_made) / sizeof(near_made[0]); i++) {
                ck_assert_pstr_eq(kernel_symbols_find(&kernel, near_made[i].address), near_made[i].name);
                ck_assert_pstr_eq(kernel_symbols_find_made(&kernel, near_made[i].address),
                                  near_made[i].of_made);
        }
}
END_TEST

START_TEST(test_names_by_address)
{
        ck_assert_int_eq(kernel_symbols_parse(&kernel, good, sizeof(good) - 1), 0);
        ck_assert_uint_eq(kernel.n_symbols, 5);
        for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
                ck_assert_pstr_eq(kernel_symbols_find(&kernel, wanted[i].address), wanted[i].name);
}
END_TEST

/* loop test: the text is cut at each length; the whole lines before the cut count, the cut one does not */
START_LOOP_TEST(test_cut_anywhere, 0, sizeof(good))
{
        const char *end = memrchr(good, '\n', (size_t)_i);
        size_t whole_bytes = end ? (size_t)(end - good) + 1 : 0;
        char *cut = malloc((size_t)_i + 1); /* exactly as long, for the sanitizer */

        ck_assert_ptr_nonnull(cut);
        memcpy(cut, good, (size_t)_i);
        ck_assert_int_eq(kernel_symbols_parse(&kernel, cut, (size_t)_i), 0);
        ck_assert_pstr_eq(kernel_symbols_find(&kernel, 0xffffffff81000000), whole_bytes == 0 ? NULL
                                                                            : whole_bytes < 55
                                                                                    ? "_text"
                                                                                    : "startup_64");
        ck_assert_pstr_eq(kernel_symbols_find(&kernel, 0xffffffffc0000000),
                          whole_bytes == sizeof(good) - 1 ? "fuse_open [fuse]" : NULL);
        free(cut);
}
END_TEST

START_TEST(test_lines_that_are_none)
{
        static const char bad[] = "\n"
                                  "T name\n"
                                  " T name\n"
                                  "1234567890abcdef0 T too_many_digits\n"
                                  "1000 TT name\n"
                                  "1000  T name\n"
                                  "1000 T\n"
                                  "1000 T \n"
                                  "1000 T \t[module]\n"
                                  "1000 T na\0me\n"
                                  "FFFF T upper_case_digits\n"
                                  "2000 T good\n"
                                  "1000 T without newline";

        ck_assert_int_eq(kernel_symbols_parse(&kernel, bad, sizeof(bad) - 1), 0);
        ck_assert_uint_eq(kernel.n_symbols, 1);
        ck_assert_pstr_eq(kernel_symbols_find(&kernel, 0x2000), "good");
}
END_TEST

START_TEST(test_hidden_addresses_give_an_empty_table)
{
        static const char hidden[] = "0000000000000000 T _text\n0000000000000000 t other\t[module]\n";

        ck_assert_int_eq(kernel_symbols_parse(&kernel, hidden, sizeof(hidden) - 1), 0);
        ck_assert_uint_eq(kernel.n_symbols, 0);
        ck_assert_ptr_null(kernel_symbols_find(&kernel, 0));
}
END_TEST

START_TEST(test_file_is_read_from_its_beginning)
{
        int fd = memfd_create("kallsyms", MFD_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write(fd, good, sizeof(good) - 1), (ssize_t)sizeof(good) - 1);
        ck_assert_int_eq(kernel_symbols_load(&kernel, fd, NULL), 0);
        ck_assert_uint_eq(kernel.n_symbols, 5);
        (void)close(fd);
}
END_TEST

START_TEST(test_unreadable_file_is_an_error)
{
        struct error err = ERROR_NONE;

        ck_assert_int_eq(kernel_symbols_load(&kernel, -1, &err), -EBADF);
        ck_assert_int_eq(err.code, -EBADF);
}
END_TEST

static void tear_down(void)
{
        kernel_symbols_deinit(&kernel);
}

UNIT_TEST_PLAN(.teardown = tear_down);
