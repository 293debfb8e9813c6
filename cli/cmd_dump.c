/* SPDX-License-Identifier: MIT */
#include "cli/cmd_dump.h"

#include "base/error.h"
#include "cli/attachment_files.h"
#include "cli/complaint.h"
#include "cli/exit_status.h"
#include "cli/option_table.h"
#include "cli/standard_output.h"
#include "format/trace_dump.h"
#include "format/trace_reader.h"
#include "view/text_number.h"

#include <stdbool.h>
#include <stdio.h>

enum { LETTER_EXTRACT = OPTION_LONG_ONLY };

struct arguments {
        const char *extract_to; /* NULL = print the trace */
        bool help;
};

static const struct option_row option_rows[] = {
        { LETTER_EXTRACT, "extract", "DIR",
          "print nothing of it; write the source texts and images in it to files in DIR" },
        { 'h', "help", NULL, "print this help" },
};

static const struct option_table table = {
        .command = "hyprof dump",
        .operands = "[FILE]",
        .n_operands_max = 1,
        .about =
                "Prints everything that is in a trace as text, a line a record; docs/trace-format.md explains it.\n"
                "FILE is a trace, \"-\" standard input; default: " OPTION_DEFAULT_TRACE "\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing =
                "Files are called DIR/attachment-<id>-<name>; DIR is made if need be, and no file is overwritten.\n\n"
                "exit status: 0 = printed, or extracted, to its end; 1 = FILE cannot be read, is no trace, or is\n"
                "cut off or damaged (what stands before is printed or extracted), or a file cannot be written;\n"
                "2 = usage\n",
};

static int take_option(void *context, int letter, const char *value)
{
        struct arguments *args = context;

        if (letter == LETTER_EXTRACT)
                args->extract_to = value;
        else
                args->help = true;
        return 0;
}

/* What is wrong with the end of the trace, if anything is. */
static int finish(const struct trace_reader *reader, const char *path, int status, const char *what)
{
        const char *words;

        if (trace_reader_ending(reader, &words, NULL) != TRACE_ENDING_WHOLE) {
                complain("warning: %s: %s", path, words);
                return EXIT_STATUS_FAILED;
        }
        return standard_output_finish(status, what);
}

static int dump(struct trace_reader *reader, const char *path)
{
        struct error err = ERROR_NONE;
        int r = trace_dump_write(reader, stdout, &err);

        if (ferror(stdout)) /* then the rest was not read either */
                return standard_output_finish(EXIT_STATUS_OK, "the dump");
        if (r < 0) {
                complain("error: %s: %s", path, err.text);
                return EXIT_STATUS_FAILED;
        }
        return finish(reader, path, EXIT_STATUS_OK, "the dump");
}

static int extract(struct trace_reader *reader, const char *path, const char *folder)
{
        struct attachment_files_result result;
        struct error err = ERROR_NONE;
        int status = EXIT_STATUS_OK;

        if (attachment_files_extract(reader, folder, stdout, &result, &err) < 0) {
                complain("error: %s into %s: %s", path, folder, err.text);
                return EXIT_STATUS_FAILED;
        }
        if (result.n_incomplete + result.n_absent != 0) {
                complain("warning: %s: %s of %s attachments lack bytes", path,
                         text_number_count(result.n_incomplete + result.n_absent).text,
                         text_number_count(result.n_written + result.n_absent).text);
                status = EXIT_STATUS_FAILED;
        }
        if (result.n_written + result.n_absent == 0)
                (void)printf("there are none\n");
        return finish(reader, path, status, "the names of the files");
}

int cmd_dump(int argc, char **argv)
{
        struct arguments args = { .extract_to = NULL };
        struct error err = ERROR_NONE;
        struct trace_reader *reader;
        const char *path;
        int first, status;

        if (option_table_parse(&table, argc, argv, take_option, &args, &first) < 0)
                return EXIT_STATUS_USAGE;
        if (args.help) {
                option_table_print(&table, stdout);
                return standard_output_finish(EXIT_STATUS_OK, "the help");
        }
        path = first < argc ? argv[first] : OPTION_DEFAULT_TRACE;
        if (trace_reader_open(path, &reader, &err) < 0) {
                complain("error: %s", err.text);
                return EXIT_STATUS_FAILED;
        }
        status = args.extract_to ? extract(reader, path, args.extract_to) : dump(reader, path);
        trace_reader_close(reader);
        return status;
}
