/* SPDX-License-Identifier: MIT */
#include "sampler/merge/process_work.h"

#include "base/byte_buffer.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define PATH_BYTES        64
#define COMMAND_BYTES_MAX (UINT32_C(1) << 22) /* the kernel's own limit is below that */
#define COUNT_OF(a)       (sizeof(a) / sizeof((a)[0]))

/*
 * Programs of builds.  The word after @option is what one works on; without an option, or where it is not
 * given, the first word that ends like the name of a source file; then the word after "-o".
 */
static const struct program {
        const char *name;
        bool is_prefix; /* a version may follow */
        bool has_sources;
        const char *option;
} programs[] = {
        { .name = "cc1", .has_sources = true },
        { .name = "cc1plus", .has_sources = true },
        { .name = "cc1obj", .has_sources = true },
        { .name = "f951", .has_sources = true },
        { .name = "gnat1", .has_sources = true },
        { .name = "clang", .is_prefix = true, .has_sources = true, .option = "-main-file-name" },
        { .name = "cicc", .has_sources = true },
        { .name = "ptxas", .has_sources = true },
        { .name = "rustc", .has_sources = true, .option = "--crate-name" },
        { .name = "compile", .option = "-p" }, /* of Go */
        { .name = "lto1", .is_prefix = true },
        { .name = "as" },
        { .name = "ld" },
        { .name = "ld.", .is_prefix = true },
        { .name = "collect2" },
        { .name = "mold" },
};

static const char *const endings[] = { ".c",  ".cc", ".cpp", ".cxx", ".c++", ".C",    ".cu", ".m",  ".mm",
                                       ".i",  ".ii", ".f",   ".F",   ".f90", ".F90",  ".rs", ".S",  ".s",
                                       ".ll", ".bc", ".adb", ".ads", ".ptx", ".cppm", ".h",  ".hpp" };

static const struct program *find_program(struct text_view name)
{
        for (size_t i = 0; i < COUNT_OF(programs); i++)
                if (programs[i].is_prefix ? text_view_begins_with(name, programs[i].name)
                                          : text_view_is(name, programs[i].name))
                        return &programs[i];
        return NULL;
}

/* The words of a command line, one after the other. */
static bool next_word(const char **at, size_t *left, struct text_view *ret_word)
{
        const char *end;

        if (*left == 0)
                return false;
        end = memchr(*at, '\0', *left);
        *ret_word = (struct text_view){ .bytes = *at, .n_bytes = end ? (size_t)(end - *at) : *left };
        *left -= ret_word->n_bytes + (end ? 1 : 0);
        *at = end ? end + 1 : *at + ret_word->n_bytes;
        return true;
}

static struct text_view word_after(const char *option, const char *words, size_t n)
{
        struct text_view word;
        bool is_next = false;

        while (next_word(&words, &n, &word)) {
                if (is_next)
                        return word;
                is_next = text_view_is(word, option);
        }
        return (struct text_view){ .n_bytes = 0 };
}

static bool is_source(struct text_view word)
{
        const char *dot = word.n_bytes > 1 && word.bytes[0] != '-'
                                  ? memrchr(word.bytes + 1, '.', word.n_bytes - 1)
                                  : NULL;

        for (size_t i = 0; dot && dot[-1] != '/' && i < COUNT_OF(endings); i++)
                if ((size_t)(word.bytes + word.n_bytes - dot) == strlen(endings[i]) &&
                    memcmp(dot, endings[i], strlen(endings[i])) == 0)
                        return true;
        return false;
}

/* Options whose value is the next word, and may end like the name of a source file. */
static bool takes_word(struct text_view word)
{
        static const char *const options[] = { "-D",  "-U",  "-I",  "-include",  "-imacros",
                                               "-MF", "-MQ", "-MT", "-dumpbase", "-o" };

        for (size_t i = 0; i < COUNT_OF(options); i++)
                if (text_view_is(word, options[i]))
                        return true;
        return false;
}

static struct text_view first_source(const char *words, size_t n)
{
        struct text_view word;
        bool is_value = true; /* the first is the program */

        while (next_word(&words, &n, &word)) {
                if (!is_value && is_source(word))
                        return word;
                is_value = !is_value && takes_word(word);
        }
        return (struct text_view){ .n_bytes = 0 };
}

struct text_view process_work_of(struct text_view program, const char *words, size_t n)
{
        const struct program *p = find_program(program);
        struct text_view work = { .n_bytes = 0 };

        if (!p)
                return work;
        if (p->option)
                work = word_after(p->option, words, n);
        if (work.n_bytes == 0 && p->has_sources)
                work = first_source(words, n);
        if (work.n_bytes == 0)
                work = word_after("-o", words, n);
        return work.n_bytes <= PROCESS_WORK_BYTES ? work : (struct text_view){ .n_bytes = 0 };
}

int process_work_note(struct trace_dictionary *d, uint32_t process, uint32_t pid, struct text_view program)
{
        struct byte_buffer words = { .data = NULL };
        struct trace_program_info row = { .process = process };
        struct text_view work = { .n_bytes = 0 };
        char path[PATH_BYTES];
        uint32_t id;
        int r = 0;

        if (!find_program(program))
                return 0;
        (void)snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
        if (io_read_file(AT_FDCWD, path, COMMAND_BYTES_MAX, &words, NULL) == 0)
                work = process_work_of(program, (const char *)words.data, words.used_bytes);
        if (work.n_bytes > 0) {
                r = trace_dictionary_add_string(d, TRACE_INFO_WORKS_ON, strlen(TRACE_INFO_WORKS_ON),
                                                &row.key);
                if (r == 0)
                        r = trace_dictionary_add_program_string(d, work.bytes, work.n_bytes, &row.value);
                if (r == 0)
                        r = trace_dictionary_add(d, TRACE_TABLE_PROGRAM_INFO, &row, &id);
        }
        byte_buffer_deinit(&words);
        return r == -EOVERFLOW ? 0 : r;
}
