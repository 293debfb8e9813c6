/* SPDX-License-Identifier: MIT */
/*
 * sampler/merge/process_work.c: the one word that says what a program of a build works on; other programs,
 * and command lines that end anywhere, have none
 */
#include "sampler/merge/process_work.h"

#include "base/io.h"
#include "format/trace_dictionary.h"
#include "tests/unit/unit_test.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* loop test */
static const struct {
        const char *program, *line, *work; /* the line's blanks stand for the NUL between words */
} cases[] = {
        { "cc1", "cc1 -quiet -I . -D A=b.c src/main.c -quiet -dumpbase main.c -o /tmp/cc.s", "src/main.c" },
        { "cc1plus", "cc1plus -quiet -D_GNU_SOURCE x.y/part.cpp -o /tmp/a.s", "x.y/part.cpp" },
        { "cc1", "cc1 -E -o out.i -", "out.i" },
        { "clang-14", "clang -cc1 -main-file-name a.c -o b.o -x c dir/a.c", "a.c" },
        { "clang", "clang -c dir/a.c -o b.o", "dir/a.c" },
        { "rustc", "rustc --crate-name serde --edition=2021 src/lib.rs", "serde" },
        { "compile", "compile -o x.a -trimpath w -p net/http -complete ./a.go", "net/http" },
        { "as", "as --64 -o main.o /tmp/cc.s", "main.o" },
        { "ld.lld", "ld.lld -o prog main.o", "prog" },
        { "lto1-wpa", "lto1 -quiet -o part.s", "part.s" },
        { "as", "as --64 -o", "" },
        { "as", "as", "" },
        { "cc1", "", "" },
        { "cc1", "cc1 -include all.h -MT a.c dir/.c - -x.c b.c", "b.c" },
        { "cc1", "cc1 .c - -x.c", "" },
        { "assembler", "assembler -o main.o", "" },
        { "bash", "bash -o posix script.c", "" },
};

START_LOOP_TEST(the_word_of_a_line, 0, sizeof(cases) / sizeof(cases[0]))
{
        const struct text_view program = { cases[_i].program, strlen(cases[_i].program) };
        char line[256];
        size_t n = (size_t)snprintf(line, sizeof(line), "%s", cases[_i].line);

        for (size_t i = 0; i < n; i++)
                line[i] = line[i] == ' ' ? '\0' : line[i];
        for (int ends = 0; ends < 2; ends++) { /* the last word may lack its NUL */
                struct text_view work = process_work_of(program, line, n + (size_t)ends);

                ck_assert_msg(text_view_is(work, cases[_i].work), "%s: '%.*s'", cases[_i].line,
                              (int)work.n_bytes, work.bytes);
        }
}
END_TEST

START_TEST(a_word_of_any_length)
{
        static char line[3 * PROCESS_WORK_BYTES] = "as\0-o";
        const struct text_view program = { "as", 2 };

        memset(line + 6, 'x', PROCESS_WORK_BYTES);
        ck_assert_uint_eq(process_work_of(program, line, 6 + PROCESS_WORK_BYTES).n_bytes, PROCESS_WORK_BYTES);
        line[6 + PROCESS_WORK_BYTES] = 'x';
        ck_assert_uint_eq(process_work_of(program, line, 7 + PROCESS_WORK_BYTES).n_bytes, 0);
}
END_TEST

/* A shell with the command line of an assembler, which waits for the end of its input; it runs already. */
static pid_t start_assembler(int *ret_input)
{
        int input[2], begun[2];
        pid_t pid;

        ck_assert_int_eq(pipe2(input, O_CLOEXEC), 0);
        ck_assert_int_eq(pipe2(begun, O_CLOEXEC), 0);
        pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                (void)dup2(input[0], STDIN_FILENO);
                (void)execl("/bin/sh", "sh", "-c", "read line", "as", "-o", "/tmp/ccX.o", (char *)NULL);
                _exit(127);
        }
        io_close(&begun[1]);
        ck_assert_int_eq(read(begun[0], &(char){ 0 }, 1), 0); /* its end was closed by execve(2) */
        io_close(&begun[0]);
        io_close(&input[0]);
        *ret_input = input[1];
        return pid;
}

/* Words leave half of the room to names of modules and threads. */
START_LOOP_TEST(words_leave_room, 0, 2)
{
        const struct text_view program = { "as", 2 };
        struct trace_dictionary d;
        char text[16];
        uint32_t id;
        int input;
        pid_t pid = start_assembler(&input);

        trace_dictionary_init(&d, 1000);
        for (int i = 0; i < (_i ? 500 : 400); i++) {
                int n = snprintf(text, sizeof(text), "%d", i);

                ck_assert_int_eq(trace_dictionary_add_string(&d, text, (size_t)n, &id), 0);
        }
        ck_assert_int_eq(process_work_note(&d, 1, (uint32_t)pid, program), 0);
        ck_assert_uint_eq(trace_dictionary_count(&d, TRACE_TABLE_PROGRAM_INFO), _i ? 0 : 1);
        ck_assert_int_eq(trace_dictionary_add_path(&d, "libc.so.6", 9, &id), 0);
        trace_dictionary_deinit(&d);
        io_close(&input);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST
