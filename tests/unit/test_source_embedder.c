/* SPDX-License-Identifier: MIT */
/*
 * symbolize/listing/source_embedder.c, analyze/trace/source_texts.c: sources get into a trace within limits,
 * and are found again by name
 */
#include "analyze/samples/sampled_trace.h"
#include "analyze/trace/source_texts.h"
#include "base/error.h"
#include "symbolize/listing/source_embedder.h"
#include "tests/unit/trace_builder.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/test_source_XXXXXX";
static struct trace_builder builder;
static struct sampled_trace trace;
static struct error err;

static void setup(void)
{
        (void)strcpy(strrchr(folder, '_'), "_XXXXXX");
        ck_assert_ptr_nonnull(mkdtemp(folder));
        trace_builder_init(&builder);
        trace = (struct sampled_trace){ .reader = NULL };
        trace.images.fd = -1;
}

static void put_file(const char *name, const char *bytes, size_t n_bytes, mode_t mode)
{
        char path[200];
        int fd;

        (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
        fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write(fd, bytes, n_bytes), (ssize_t)n_bytes);
        ck_assert_int_eq(fchmod(fd, mode), 0);
        (void)close(fd);
}

static const char *const names[] = { "a.c",    "b.c",       "null.c",    "secret.c", "fifo.c",
                                     "id_rsa", "given/a.c", "given/b.c", "given/c.c" };

static void teardown(void)
{
        char path[200];

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
                (void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
                (void)unlink(path);
        }
        (void)snprintf(path, sizeof(path), "%s/given", folder);
        (void)rmdir(path);
        ck_assert_int_eq(rmdir(folder), 0);
        sampled_trace_deinit(&trace);
        trace_builder_deinit(&builder);
}

static void add_line(const char *file, uint32_t line)
{
        static uint64_t offset;
        struct trace_symbol row = { .line = line };

        row.frame = trace_builder_frame(&builder, trace_builder_module(&builder, "/bin/program"), ++offset);
        row.file = trace_builder_string(&builder, file);
        row.function = trace_builder_string(&builder, "f");
        (void)trace_builder_row(&builder, TRACE_TABLE_SYMBOLS, &row);
}

static void add_line_of(const char *name, uint32_t line)
{
        char path[200];

        (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
        add_line(path, line);
}

static struct source_embedder_result embed(const struct source_embedder_options *options)
{
        struct source_embedder_result result;

        trace_builder_flush(&builder);
        ck_assert_msg(source_embedder_run(options, &builder.dictionary, builder.writer, &result, &err) == 0,
                      "%s", err.text);
        trace_builder_finish(&builder);
        ck_assert_msg(sampled_trace_load(&trace, builder.path, NULL, &err) == 0, "%s", err.text);
        byte_buffer_deinit(&result.names);
        return result;
}

static const struct source_text *find(const char *name)
{
        const struct source_text *text = source_texts_find(
                &trace.sources, (struct text_view){ .bytes = name, .n_bytes = strlen(name) });

        ck_assert_ptr_nonnull(text);
        return text;
}

static void check_line(const struct source_text *text, uint32_t line, const char *wanted)
{
        struct text_view found = source_text_line(text, line);

        ck_assert_uint_eq(found.n_bytes, strlen(wanted));
        ck_assert(found.n_bytes == 0 || memcmp(found.bytes, wanted, found.n_bytes) == 0);
}

START_TEST(test_kept_and_found_without_the_file)
{
        struct source_embedder_result result;
        char path[200];

        put_file("a.c", "one\r\ntwo\n\nlast", 14, 0644);
        add_line_of("a.c", 2);
        add_line_of("a.c", 3); /* the same file once */
        add_line_of("absent.c", 1);
        add_line("relative.c", 1);
        result = embed(&(struct source_embedder_options){ .sysroot = NULL });
        ck_assert_uint_eq(result.n_kept, 1);
        ck_assert_uint_eq(result.n_missing, 2);
        ck_assert_uint_eq(result.n_bytes, 14);
        (void)snprintf(path, sizeof(path), "%s/a.c", folder);
        ck_assert_int_eq(unlink(path), 0);
        ck_assert_int_eq(find(path)->origin, SOURCE_OF_TRACE);
        ck_assert_uint_eq(find(path)->n_lines, 4);
        check_line(find(path), 1, "one");
        check_line(find(path), 3, "");
        check_line(find(path), 4, "last");
        check_line(find(path), 5, "");
        check_line(find(path), 0, "");
}
END_TEST

START_TEST(test_what_is_no_source)
{
        struct source_embedder_result result;
        char path[200];

        put_file("null.c", "te\0xt", 5, 0644);
        put_file("secret.c", "secret", 6, 0600);
        put_file("b.c", "", 0, 0644);
        (void)snprintf(path, sizeof(path), "%s/fifo.c", folder);
        ck_assert_int_eq(mkfifo(path, 0644), 0);
        add_line_of("null.c", 1);
        add_line_of("b.c", 1);
        add_line_of("fifo.c", 1);
        add_line_of("secret.c", 1);
        add_line("/dev/zero", 1);
        add_line_of("never.c", 0); /* without a line nothing was sampled there */
        result = embed(&(struct source_embedder_options){ .sysroot = NULL });
        ck_assert_uint_eq(result.n_kept, 0);
        ck_assert_uint_eq(result.n_no_text, 4);
        ck_assert_uint_eq(result.n_missing, 0);
        ck_assert_uint_eq(result.n_withheld, 1);
}
END_TEST

/* Which files a stranger's trace may take along: see source_rule.h. */
START_LOOP_TEST(test_rule, 0, 18)
{
        static const struct {
                const char *path;
                bool is_allowed;
                mode_t mode;
                const char *given;
        } cases[] = {
                { "/usr/src/a.c", true, 0644, NULL },
                { "/usr/src/a.c", false, 0640, NULL },
                { "/usr/src/a.c", false, 0600, NULL },
                { "/usr/src/a.c", true, 0600, "/usr" },
                { "/usr/src/a.c", true, 0600, "/" },
                { "/usrx/src/a.c", false, 0600, "/usr" },
                { "/home/ann/.ssh/id_rsa", false, 0644, NULL },
                { "/home/ann/.ssh/config.c", false, 0644, NULL },
                { "/home/ann/.profile.c", false, 0644, NULL },
                { "/usr/.hidden/a.c", false, 0644, "/usr" },
                { "/home/ann/id_rsa", false, 0644, NULL },
                { "/etc/passwd", false, 0644, NULL },
                { "/etc/hosts.conf", false, 0644, "/etc" },
                { "/home/ann/letter.txt", false, 0644, NULL },
                { "/home/ann/x.c/secret", false, 0644, NULL },
                { "/usr/include/c++/12/vector", true, 0644, NULL },
                { "/src/MAIN.F90", true, 0644, NULL },
                { "/src/Main.C", true, 0444, NULL },
        };
        struct source_folders given = { .n_paths = cases[_i].given ? 1 : 0, .paths = { cases[_i].given } };
        struct stat status = { .st_mode = S_IFREG | cases[_i].mode };

        ck_assert_int_eq(source_rule_allows(cases[_i].path, &status, &given), cases[_i].is_allowed);
}
END_TEST

/* The working directory may count, but not the home, nor a hidden folder. */
START_TEST(test_rule_of_the_working_directory)
{
        struct source_folders given = { .has_current = true };
        struct stat status = { .st_mode = S_IFREG | 0600 };
        char path[200], former[200];

        ck_assert_ptr_nonnull(getcwd(former, sizeof(former)));
        ck_assert_int_eq(chdir(folder), 0);
        ck_assert_int_eq(setenv("HOME", "/", 1), 0);
        (void)snprintf(path, sizeof(path), "%s/a.c", folder);
        ck_assert(source_rule_allows(path, &status, &given));
        ck_assert(!source_rule_allows("/tmp/a.c", &status, &given));
        given.has_current = false;
        ck_assert(!source_rule_allows(path, &status, &given));
        given.has_current = true;
        (void)snprintf(path, sizeof(path), "%s/.x/a.c", folder);
        ck_assert(!source_rule_allows(path, &status, &given));
        (void)snprintf(path, sizeof(path), "%s/a.c", folder);
        ck_assert_int_eq(setenv("HOME", folder, 1), 0);
        ck_assert(!source_rule_allows(path, &status, &given));
        ck_assert_int_eq(chdir("/"), 0);
        ck_assert_int_eq(setenv("HOME", "/nowhere", 1), 0);
        ck_assert(!source_rule_allows(path, &status, &given));
        ck_assert_int_eq(chdir(former), 0);
}
END_TEST

static void put_link(const char *name, const char *target)
{
        char path[200];

        (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
        ck_assert_int_eq(symlink(target, path), 0);
        add_line_of(name, 1);
}

/*
 * A link is judged by the file that it leads to, in a folder that was given as well: there one leads out to
 * a private file, and one to a file that all may read and that is not named like a source.  One that leads to
 * a source is fine.
 */
START_TEST(test_links_lead_nowhere)
{
        struct source_embedder_result result;
        struct source_folders given = { .n_paths = 1 };
        char path[200];

        (void)snprintf(path, sizeof(path), "%s/given", folder);
        ck_assert_int_eq(mkdir(path, 0755), 0);
        given.paths[0] = path;
        put_file("secret.c", "secret", 6, 0600);
        put_file("id_rsa", "secret", 6, 0644);
        put_file("b.c", "text", 4, 0644);
        put_link("given/a.c", "../secret.c");
        put_link("given/b.c", "../id_rsa");
        put_link("given/c.c", "../b.c");
        result = embed(&(struct source_embedder_options){ .given = &given });
        ck_assert_uint_eq(result.n_withheld, 2);
        ck_assert_uint_eq(result.n_kept, 1);
}
END_TEST

START_TEST(test_limit_of_all)
{
        struct source_embedder_result result;
        const struct trace_loss *loss;

        put_file("a.c", "0123456789", 10, 0644);
        put_file("b.c", "0123456789\n", 11, 0644);
        add_line_of("a.c", 1);
        add_line_of("b.c", 1);
        result = embed(&(struct source_embedder_options){ .bytes_max = 20 });
        ck_assert_uint_eq(result.n_kept, 1);
        ck_assert_uint_eq(result.n_over_limit, 1);
        ck_assert_uint_eq(trace_dictionary_count(trace.dictionary, TRACE_TABLE_LOSSES), 1);
        loss = trace_dictionary_row(trace.dictionary, TRACE_TABLE_LOSSES, 1);
        ck_assert_uint_eq(loss->reason, TRACE_LOSS_ATTACHMENTS_FULL);
        ck_assert_uint_eq(loss->count, 1);
}
END_TEST

START_TEST(test_sysroot)
{
        struct source_embedder_result result;

        put_file("a.c", "below\n", 6, 0644);
        add_line("/a.c", 1);
        result = embed(&(struct source_embedder_options){ .sysroot = folder });
        ck_assert_uint_eq(result.n_kept, 1);
        check_line(find("/a.c"), 1, "below");
}
END_TEST

/* The source that the program handed over counts, whatever lies on the disk. */
START_TEST(test_programs_own_text_comes_first)
{
        struct source_embedder_result result;
        char path[200];
        uint32_t id;

        (void)snprintf(path, sizeof(path), "%s/a.c", folder);
        put_file("a.c", "disk", 4, 0644);
        id = trace_builder_attachment(&builder, path, 4);
        trace_builder_attachment_part(&builder, id, 0, "pro", 3);
        trace_builder_attachment_part(&builder, id, 3, "g", 1);
        add_line_of("a.c", 1);
        result = embed(&(struct source_embedder_options){ .sysroot = NULL });
        ck_assert_uint_eq(result.n_kept, 0);
        ck_assert_uint_eq(result.n_known, 1);
        check_line(find(path), 1, "prog");
}
END_TEST

START_TEST(test_by_the_end_of_the_path)
{
        uint32_t id = trace_builder_attachment(&builder, "src/kernel.mlir", 6);

        trace_builder_attachment_part(&builder, id, 0, "kernel", 6);
        trace_builder_finish(&builder);
        ck_assert_int_eq(sampled_trace_load(&trace, builder.path, NULL, &err), 0);
        ck_assert_int_eq(find("/build/src/kernel.mlir")->origin, SOURCE_OF_TRACE);
        ck_assert_int_eq(find("kernel.mlir")->origin, SOURCE_OF_TRACE);
        ck_assert_int_eq(find("/build/other_src/kernel.mlir")->origin, SOURCE_NOT_FOUND);
        ck_assert_int_eq(find("/build/mysrc/kernel.mlir")->origin, SOURCE_NOT_FOUND);
        ck_assert_int_eq(find("")->origin, SOURCE_NOT_FOUND);
        ck_assert_int_eq(find("mlir")->origin, SOURCE_NOT_FOUND);
}
END_TEST

START_TEST(test_newer_file)
{
        char path[200];

        put_file("a.c", "text\n", 5, 0644);
        (void)snprintf(path, sizeof(path), "%s/a.c", folder);
        trace_builder_finish(&builder);
        ck_assert_int_eq(sampled_trace_load(&trace, builder.path, NULL, &err), 0);
        trace.sources.recorded_ns = 1; /* 1970 */
        ck_assert_int_eq(find(path)->origin, SOURCE_OF_NEWER_FILE);
        source_texts_deinit(&trace.sources);
        trace.sources.recorded_ns = UINT64_MAX;
        ck_assert_int_eq(find(path)->origin, SOURCE_OF_FILE);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
