/* SPDX-License-Identifier: MIT */
/*
 * sampler/kernel/syscall_names.c: this machine's calls by number, also those of 32-bit programs; a number
 * that is no call has a name that says so
 */
#include "sampler/bpf/syscall_layout.h"
#include "sampler/kernel/syscall_names.h"
#include "tests/unit/unit_test.h"

#include <string.h>
#include <sys/syscall.h>

static bool is_named(uint32_t number, const char *wanted)
{
        struct syscall_name name = syscall_names_find(number);

        return strcmp(name.text, wanted) == 0;
}

START_TEST(test_calls_have_their_names)
{
        ck_assert(is_named(SYS_write, "write"));
        ck_assert(is_named(SYS_fdatasync, "fdatasync"));
        ck_assert(is_named(SYS_exit_group, "exit_group"));
}
END_TEST

START_TEST(test_numbers_of_no_call_have_one_too)
{
        ck_assert(is_named(500, "syscall_500"));
        ck_assert(is_named(SYSCALL_NUMBER_MAX, "no_syscall"));
        ck_assert(is_named(SYSCALL_NUMBER_MAX | SYSCALL_32_BIT, "no_syscall"));
}
END_TEST

START_TEST(test_32_bit_programs_have_other_numbers)
{
#if defined(__x86_64__) || defined(__aarch64__)
        ck_assert(is_named(4 | SYSCALL_32_BIT, "write"));
#else
        ck_assert(is_named(4 | SYSCALL_32_BIT, "syscall_4"));
#endif
}
END_TEST

START_TEST(test_which_calls_return_bytes)
{
        static const char *const transfers[] = { "read", "pwritev2", "sendto", "recvmsg", "copy_file_range" };
        static const char *const others[] = { "mmap", "lseek", "getppid", "sendmmsg", "readlinkat_not", "" };
        struct syscall_name name;

        for (size_t i = 0; i < sizeof(transfers) / sizeof(transfers[0]); i++) {
                strcpy(name.text, transfers[i]);
                ck_assert_msg(syscall_names_is_transfer(&name), "%s", transfers[i]);
        }
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
                strcpy(name.text, others[i]);
                ck_assert_msg(!syscall_names_is_transfer(&name), "%s", others[i]);
        }
}
END_TEST
