/* SPDX-License-Identifier: MIT */
/*
 * sampler/proc/process_environment.c: variables of the list alone, values only if they are short words, and
 * bounded printable text whatever the environment holds
 */
#include "sampler/proc/process_environment.h"

#include "base/byte_buffer.h"
#include "tests/unit/unit_test.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void expect(const struct byte_buffer *text, const char *wanted)
{
        ck_assert(!text->failed);
        ck_assert_msg(text->used_bytes == strlen(wanted) && memcmp(text->data, wanted, strlen(wanted)) == 0,
                      "%.*s", (int)text->used_bytes, (const char *)text->data);
}

static void expect_of(const char *block, size_t n, const char *wanted)
{
        struct byte_buffer text = { .data = NULL };

        process_environment_add(block, n, &text);
        expect(&text, wanted);
        byte_buffer_deinit(&text);
}

#define EXPECT(block, wanted) expect_of(block, sizeof(block) - 1, wanted)

START_TEST(test_which_variables)
{
        EXPECT("HOME=/root\0GOGC=2\0LC_ALL=en_US.UTF-8\0PATH=/bin\0", "GOGC=2 LC_ALL=en_US.UTF-8");
        EXPECT("OMP_NUM_THREADS=4\0MALLOC_ARENA_MAX=1\0PYTHONHASHSEED=0\0GOMAXPROCS=2",
               "GOMAXPROCS=2 MALLOC_ARENA_MAX=1 OMP_NUM_THREADS=4 PYTHONHASHSEED=0");
        EXPECT("GOGC=\0", "GOGC=");
        EXPECT("GODEBUG=gctrace=1,madvdontneed=1\0", "GODEBUG=gctrace=1,madvdontneed=1");
        /* The first of several with one name is what getenv() returns. */
        EXPECT("GOGC=3\0GOGC=4\0", "GOGC=3");
        /* Names that are nearly in the list. */
        EXPECT("", "none");
        EXPECT("\0\0", "none");
        EXPECT("GOGCX=1\0GOG=1\0XOMP_A=1\0OMP=1\0OMP_=1\0gogc=1\0GOGC\0=GOGC=1\0HOME=1\0LANGX=1\0", "none");
}
END_TEST

START_TEST(test_values_that_are_left_out)
{
        EXPECT("PYTHONPATH=/home/jo/secret\0", "PYTHONPATH=(15_bytes)");
        EXPECT("OMP_SCHEDULE=dynamic, 4\0", "OMP_SCHEDULE=(10_bytes)");
        EXPECT("LC_ALL=a\nb\0LC_CTYPE=\x1b[31m\0LC_TIME=\xff\0",
               "LC_ALL=(3_bytes) LC_CTYPE=(5_bytes) LC_TIME=(1_bytes)");
        EXPECT("LC_ALL=0123456789012345678901234567890123456789012345678901234567890123\0",
               "LC_ALL=0123456789012345678901234567890123456789012345678901234567890123");
        EXPECT("LC_ALL=01234567890123456789012345678901234567890123456789012345678901234\0",
               "LC_ALL=(65_bytes)");
        /* Perhaps secret, though a word. */
        EXPECT("PYTHON_API_TOKEN=hunter2\0PYTHON_KEYRING=x\0JAVA_TOOL_OPTIONS=-Dpassword=x\0",
               "JAVA_TOOL_OPTIONS=(12_bytes) PYTHON_API_TOKEN=(7_bytes) PYTHON_KEYRING=(1_bytes)");
        EXPECT("OMP_AUTH=a\0OMP_CREDENTIAL=a\0OMP_PASS=a\0OMP_SECRET=a\0OMP_SECRE=a\0",
               "OMP_AUTH=(1_bytes) OMP_CREDENTIAL=(1_bytes) OMP_PASS=(1_bytes) OMP_SECRE=a OMP_SECRET=(1_bytes)");
        /* Libraries have names, but no folders. */
        EXPECT("LD_PRELOAD=/home/jo/lib/libjemalloc.so.2:libm.so  /x/a;b\0",
               "LD_PRELOAD=libjemalloc.so.2:libm.so:(3_bytes)");
        EXPECT("LD_PRELOAD=/home/jo/\0", "LD_PRELOAD=");
        EXPECT("LD_AUDIT=/home/jo/audit.so\0", "LD_AUDIT=audit.so");
        EXPECT("LD_LIBRARY_PATH=/home/jo/lib\0", "LD_LIBRARY_PATH=(12_bytes)");
}
END_TEST

/* A hostile environment: many variables, long names and values, many libraries. */
START_TEST(test_bounds)
{
        struct byte_buffer block = { .data = NULL }, text = { .data = NULL };
        const char *preload;

        for (int i = 0; i < 5000; i++)
                byte_buffer_add_format(&block, "OMP_%05d=%050d%c", i, i, '\0');
        byte_buffer_add_format(&block, "LC_%0900000d=1%cLD_PRELOAD=", 0, '\0');
        for (int i = 0; i < 90000; i++)
                byte_buffer_add_format(&block, "lib%d.so:", i);
        ck_assert(!block.failed);
        process_environment_add((const char *)block.data, block.used_bytes, &text);
        ck_assert_uint_lt(text.used_bytes, 16384);
        ck_assert_ptr_nonnull(memmem(text.data, text.used_bytes, "OMP_00063=", 10));
        ck_assert_ptr_null(memmem(text.data, text.used_bytes, "OMP_00064=", 10));
        ck_assert_mem_eq(text.data + text.used_bytes - 7, " (more)", 7);
        byte_buffer_clear(&text);
        preload = memmem(block.data, block.used_bytes, "LD_PRELOAD=", 11);
        process_environment_add(preload, block.used_bytes - (size_t)(preload - (const char *)block.data),
                                &text);
        ck_assert_uint_lt(text.used_bytes, 400);
        ck_assert_mem_eq(text.data, "LD_PRELOAD=lib0.so:lib1.so:", 27);
        ck_assert_mem_eq(text.data + text.used_bytes - 4, ":...", 4);
        byte_buffer_clear(&text);
        byte_buffer_clear(&block);
        byte_buffer_add_format(&block, "LC_%061d=1%cLC_%062d=1%c", 0, '\0', 0, '\0'); /* 64 bytes, and 65 */
        process_environment_add((const char *)block.data, block.used_bytes, &text);
        ck_assert_uint_eq(text.used_bytes, 66);
        byte_buffer_deinit(&block);
        byte_buffer_deinit(&text);
}
END_TEST

/* Every byte in every place: what comes out can be printed and has no other separators. */
START_LOOP_TEST(test_any_bytes, 0, 256)
{
        char block[] = "OMP_X=1\0LD_PRELOAD=/a/b:c\0";
        struct byte_buffer text = { .data = NULL };

        for (size_t at = 0; at < sizeof(block); at++) {
                char kept = block[at];

                block[at] = (char)_i;
                byte_buffer_clear(&text);
                process_environment_add(block, sizeof(block), &text);
                for (size_t i = 0; i < text.used_bytes; i++)
                        ck_assert(isprint(text.data[i]) && text.data[i] != ';');
                block[at] = kept;
        }
        byte_buffer_deinit(&text);
}
END_TEST

START_TEST(test_own)
{
        char home[] = "HOME=/root", gogc[] = "GOGC=7", *const variables[] = { home, gogc, NULL };
        struct byte_buffer text = { .data = NULL };

        process_environment_add_own(variables, &text);
        expect(&text, "GOGC=7");
        byte_buffer_deinit(&text);
}
END_TEST

/* A process that was started with another environment than this one. */
START_TEST(test_of_a_process)
{
        char threads[] = "OMP_NUM_THREADS=3", *const variables[] = { threads, NULL };
        char sh[] = "sh", c[] = "-c", script[] = "echo; read x", *const argv[] = { sh, c, script, NULL };
        struct byte_buffer text = { .data = NULL };
        int said[2], kept[2];
        pid_t pid;
        char byte;

        ck_assert_int_eq(pipe(said), 0);
        ck_assert_int_eq(pipe(kept), 0);
        pid = fork();
        if (pid == 0) {
                (void)dup2(said[1], STDOUT_FILENO);
                (void)dup2(kept[0], STDIN_FILENO);
                (void)close(kept[1]);
                (void)execve("/bin/sh", argv, variables);
                _exit(1);
        }
        (void)close(said[1]);
        ck_assert_int_eq(read(said[0], &byte, 1), 1);
        ck_assert_int_eq(process_environment_add_of((uint32_t)pid, &text), 0);
        expect(&text, "OMP_NUM_THREADS=3");
        (void)close(kept[1]);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        ck_assert_int_lt(process_environment_add_of((uint32_t)pid, &text), 0);
        expect(&text, "OMP_NUM_THREADS=3");
        byte_buffer_deinit(&text);
}
END_TEST
