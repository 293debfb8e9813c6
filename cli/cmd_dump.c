/* SPDX-License-Identifier: MIT */
#include "cli/cmd_dump.h"

#include "base/error.h"
#include "cli/complaint.h"
#include "cli/exit_status.h"
#include "cli/option_table.h"
#include "cli/standard_output.h"
#include "format/trace_dump.h"
#include "format/trace_reader.h"

#include <stdbool.h>
#include <stdio.h>

static const struct option_row option_rows[] = {
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
                "exit status: 0 = printed to its end; 1 = FILE cannot be read, is no trace, or is cut off or\n"
                "damaged (what stands before is printed); 2 = usage\n",
};

static int take_option(void *context, int letter, const char *value)
{
        bool *help = context;

        (void)letter;
        (void)value;
        *help = true;
        return 0;
}

static int dump(struct trace_reader *reader, const char *path)
{
        struct error err = ERROR_NONE;
        const char *words;
        int r = trace_dump_write(reader, stdout, &err);

        if (ferror(stdout)) /* then the rest was not read either */
                return standard_output_finish(EXIT_STATUS_OK, "the dump");
        if (r < 0) {
                complain("error: %s: %s", path, err.text);
                return EXIT_STATUS_FAILED;
        }
        if (trace_reader_ending(reader, &words, NULL) != TRACE_ENDING_WHOLE) {
                complain("warning: %s: %s", path, words);
                return EXIT_STATUS_FAILED;
        }
        return standard_output_finish(EXIT_STATUS_OK, "the dump");
}

int cmd_dump(int argc, char **argv)
{
        struct error err = ERROR_NONE;
        struct trace_reader *reader;
        const char *path;
        bool help = false;
        int first, status;

        if (option_table_parse(&table, argc, argv, take_option, &help, &first) < 0)
                return EXIT_STATUS_USAGE;
        if (help) {
                option_table_print(&table, stdout);
                return standard_output_finish(EXIT_STATUS_OK, "the help");
        }
        path = first < argc ? argv[first] : OPTION_DEFAULT_TRACE;
        if (trace_reader_open(path, &reader, &err) < 0) {
                complain("error: %s", err.text);
                return EXIT_STATUS_FAILED;
        }
        status = dump(reader, path);
        trace_reader_close(reader);
        return status;
}
