/* SPDX-License-Identifier: MIT */
/* import/file/csv_rows.c: fields in quotes and not, with separators, line ends and quotes in them */
#include "base/error.h"
#include "base/io.h"
#include "import/file/csv_rows.h"
#include "import/file/import_source.h"
#include "unit_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Each field of a row after the other with a | behind it, and / after a row; ? = it ends within quotes. */
static const struct {
        const char *file, *rows;
} cases[] = {
        { "a,b\n\n1,2\r\n", "a|b|/1|2|/" },
        { "\"a\",\"b\"\n", "a|b|/" },
        { "\"a\",b,\"c,d\",,\"\"\n", "a|b|c,d|||/" },
        { "a,\"b\",\n", "a|b||/" },
        { "\"\"\n", "|/" },
        { "\"a \"\"b\"\" c\",d\n", "a \"b\" c|d|/" },
        { "\"a\"b,c\n", "ab|c|/" },
        { "a\"b,c\"d,e\n", "ab,cd|e|/" },
        { "\"a\nb\",c\nd,\"e\"\n", "a\nb|c|/d|e|/" },
        { "\"a\",\"b\nc\",\"d\"\n", "a|b\nc|d|/" },
        { "a,\"b\nc", "?" },
        { "\"a\",\"void kernel<float, 4>(float*, int)\",\"a long field of many bytes, in quotes\",12,345,6\n",
          "a|void kernel<float, 4>(float*, int)|a long field of many bytes, in quotes|12|345|6|/" },
};

static void write_file(const char *path, const char *text)
{
        FILE *file = fopen(path, "we");

        ck_assert_ptr_nonnull(file);
        ck_assert_int_ge(fputs(text, file), 0);
        ck_assert_int_eq(fclose(file), 0);
}

START_LOOP_TEST(test_rows, 0, sizeof(cases) / sizeof(cases[0]))
{
        char path[] = "/tmp/test_csv_rows.XXXXXX";
        struct byte_buffer b = { .data = NULL };
        struct import_source *source;
        struct csv_rows rows;
        int fd = mkstemp(path), r;

        ck_assert_int_ge(fd, 0);
        io_close(&fd);
        write_file(path, cases[_i].file);
        ck_assert_int_eq(import_source_open(&source, path, NULL), 0);
        csv_rows_init(&rows, source, ',');
        while ((r = csv_rows_next(&rows, NULL)) == 1) {
                for (uint32_t i = 0; i < rows.n_fields; i++) {
                        byte_buffer_add(&b, rows.fields[i].bytes, rows.fields[i].n_bytes);
                        byte_buffer_add_u8(&b, '|');
                }
                byte_buffer_add_u8(&b, '/');
        }
        if (r == 2)
                byte_buffer_add_u8(&b, '?');
        byte_buffer_add_u8(&b, '\0');
        ck_assert_str_eq((const char *)b.data, cases[_i].rows);
        csv_rows_deinit(&rows);
        import_source_close(source);
        byte_buffer_deinit(&b);
        ck_assert_int_eq(unlink(path), 0);
}
END_TEST

/* Further fields than there is room for are not looked at, in quotes or not. */
START_LOOP_TEST(test_many_fields, 0, 2)
{
        char path[] = "/tmp/test_csv_rows.XXXXXX", text[4 * CSV_FIELDS_MAX + 32] = "";
        struct import_source *source;
        struct csv_rows rows;
        int fd = mkstemp(path);

        ck_assert_int_ge(fd, 0);
        io_close(&fd);
        for (size_t i = 0; i < CSV_FIELDS_MAX + 5; i++)
                (void)snprintf(text + 4 * i, 5, "%s", _i ? "\"a\"," : "aaa,");
        write_file(path, text);
        ck_assert_int_eq(import_source_open(&source, path, NULL), 0);
        csv_rows_init(&rows, source, ',');
        ck_assert_int_eq(csv_rows_next(&rows, NULL), 1);
        ck_assert_uint_eq(rows.n_fields, CSV_FIELDS_MAX);
        ck_assert_uint_eq(rows.fields[CSV_FIELDS_MAX - 1].n_bytes, _i ? 1 : 3);
        ck_assert_int_eq(csv_rows_next(&rows, NULL), 0);
        csv_rows_deinit(&rows);
        import_source_close(source);
        ck_assert_int_eq(unlink(path), 0);
}
END_TEST
