/* SPDX-License-Identifier: MIT */
/*
 * symbolize/elf/split_function.c: the part that jumps into the middle of a function is its other part; one
 * that jumps to its beginning, or rarely, is not
 */
#include "symbolize/elf/elf_image.h"
#include "symbolize/elf/split_function.h"
#include "tests/unit/unit_test.h"

#include <fcntl.h>
#include <unistd.h>

#if defined(__x86_64__) || defined(__aarch64__)

#ifdef __x86_64__
#define JUMP "jmp "
#else
#define JUMP "b "
#endif

/* A function of each kind; the other section makes the jumps long, as compilers do it. */
__asm__(".text\n"
        "split_hot: .cfi_startproc\n"
        "nop\n" JUMP "split_cold\n"
        "split_back: nop\n"
        "split_again: ret\n"
        ".cfi_endproc\n"
        "split_hot_end:\n"
        "split_whole: .cfi_startproc\n"
        "nop\n"
        "split_inside: ret\n"
        ".cfi_endproc\n"
        "split_whole_end:\n"
        ".section .text.unlikely, \"ax\"\n"
        "split_callers: .cfi_startproc\n" /* tail calls */
        JUMP "split_hot\n" JUMP "split_hot\n" JUMP "split_hot\n" JUMP "split_hot\n" JUMP "split_hot\n" JUMP
        "split_whole\n" JUMP "split_whole\n" JUMP "split_whole\n" JUMP "split_whole\n" JUMP
        "split_inside\n" JUMP "split_inside\n" JUMP "split_inside\n"
        ".cfi_endproc\n"
        "split_cold: .cfi_startproc\n"
        "nop\n" JUMP "split_back\n" JUMP "split_again\n" JUMP "split_back\n" JUMP "split_again\n"
        ".cfi_endproc\n"
        "split_cold_end:\n"
        "nop\n"
        ".text\n");

/* On AArch64 the assembler gives all local symbols of a section one entry in the table of addresses. */
#pragma GCC visibility push(hidden)
extern const char split_hot[], split_hot_end[], split_whole[], split_whole_end[], split_cold[],
        split_cold_end[], __executable_start[];
#pragma GCC visibility pop

static uint64_t svma_of(const char *at)
{
        return (uint64_t)(at - __executable_start);
}

static bool find_other(const char *start, const char *end, struct function_bound *ret_other)
{
        const struct function_bound part = { svma_of(start), svma_of(end) };
        int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        struct elf_image *image;
        bool found;

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(elf_image_open(fd, &image, NULL), 0);
        found = split_function_find(image, &part, ret_other);
        elf_image_close(image);
        (void)close(fd);
        return found;
}

START_TEST(test_a_part_that_jumps_back_is_the_other_one)
{
        struct function_bound other = { 0, 0 };

        ck_assert(find_other(split_hot, split_hot_end, &other));
        ck_assert_uint_eq(other.start_svma, svma_of(split_cold));
        ck_assert_uint_eq(other.end_svma, svma_of(split_cold_end));
}
END_TEST

START_TEST(test_callers_are_no_part)
{
        struct function_bound other;

        ck_assert(!find_other(split_whole, split_whole_end, &other));
}
END_TEST

#else

START_TEST(test_other_machines_have_none)
{
        const struct function_bound part = { 0, UINT64_MAX };
        struct function_bound other;
        int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
        struct elf_image *image;

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(elf_image_open(fd, &image, NULL), 0);
        ck_assert(!split_function_find(image, &part, &other));
        elf_image_close(image);
        (void)close(fd);
}
END_TEST

#endif
