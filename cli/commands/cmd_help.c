/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"

#include "base/name_guess.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/manual/command_table.h"
#include "cli/manual/man_page.h"
#include "cli/manual/manual_prose.h"
#include "cli/terminal/complaint.h"
#include "cli/terminal/standard_output.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Shows the page with `man` and its pager; the page is that of this very program. */
#define SHOW_COMMAND "exec man -l - 2>/dev/null"

/* A schema may also be named without this prefix. */
#define SCHEMA_PREFIX "hyprof."
#define TITLE_KEY     "\n  \"title\": \""

enum { LETTER_SCHEMA = OPTION_LONG_ONLY };

struct arguments {
        bool wants_schema;
        const char *schema; /* NULL = the operand names it, or all schemas are listed */
};

static const struct option_row option_rows[] = {
        { LETTER_SCHEMA, "schema", "[=SCHEMA]",
          "print the JSON Schema of an answer, such as hyprof.zones/2, which is TOPIC as well; default: list them" },
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof help",
        .operands = "[TOPIC]",
        .n_operands_max = 1,
        .about =
                "Shows the manual of a command, as man(1) does, or as plain text where there is no terminal.\n"
                "TOPIC is a command; default: the list of them.  'hyprof help guide' shows on one page how to find\n"
                "out where time goes.  With --schema, the JSON Schema of what a command prints with --json.\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing = "exit status: 0 = shown; 2 = there is no such command or schema, or usage\n",
};

/* Whether people have seen it. */
static bool show_with_man(const char *name)
{
        FILE *man;

        if (isatty(STDOUT_FILENO) != 1)
                return false;
        man = popen(SHOW_COMMAND, "we"); /* NOLINT(cert-env33-c): words of ours alone */
        if (!man)
                return false;
        (void)man_page_print(name, MAN_PAGE_ROFF, man);
        return pclose(man) == 0;
}

static int take_option(void *context, int letter, const char *value)
{
        struct arguments *args = context;

        if (letter != LETTER_SCHEMA)
                return 0;
        args->wants_schema = true;
        args->schema = value;
        return 0;
}

/* ---- schemas ------------------------------------------------------------------------------------------- */

/* "hyprof.zones/2", "zones/2" and "zones" are the same one; of two versions the last is the newest. */
static bool help_is_schema(const struct manual_text *text, const char *wanted)
{
        const char *slash = memchr(text->name, '/', text->n_name_bytes);
        size_t n_prefix = sizeof(SCHEMA_PREFIX) - 1, n = strlen(wanted);
        const char *name = text->name;
        size_t n_name = text->n_name_bytes;

        if (!slash)
                return false;
        if (strncmp(wanted, SCHEMA_PREFIX, n_prefix) != 0) {
                name += n_prefix;
                n_name -= n_prefix;
        }
        return strncmp(name, wanted, n) == 0 && (n == n_name || name + n == slash);
}

static void help_list_schemas(void)
{
        struct manual_text text = { .text = NULL };

        while (manual_prose_next(&text) == 1) {
                const char *title = memmem(text.text, text.n_bytes, TITLE_KEY, sizeof(TITLE_KEY) - 1);

                if (!memchr(text.name, '/', text.n_name_bytes))
                        continue;
                title = title ? title + sizeof(TITLE_KEY) - 1 : "\"";
                (void)printf("%-24.*s  %.*s\n", (int)text.n_name_bytes, text.name,
                             (int)strcspn(title, "\"\n"), title);
        }
}

static void help_complain_of_schema(const char *wanted)
{
        struct manual_text text = { .text = NULL };
        size_t n_skip = strncmp(wanted, SCHEMA_PREFIX, sizeof(SCHEMA_PREFIX) - 1) != 0
                                ? sizeof(SCHEMA_PREFIX) - 1
                                : 0;
        struct name_guess guess;

        name_guess_init(&guess, wanted, strlen(wanted));
        while (manual_prose_next(&text) == 1)
                if (memchr(text.name, '/', text.n_name_bytes))
                        name_guess_offer_bytes(&guess, text.name + n_skip, text.n_name_bytes - n_skip);
        complain("error: unknown schema '%s'%s%s%s", wanted, guess.best[0] != '\0' ? "; did you mean '" : "",
                 guess.best, guess.best[0] != '\0' ? "'?" : "");
        complain_try("hyprof help --schema");
}

/* Returns an exit status. */
static int help_show_schema(const char *wanted)
{
        struct manual_text text = { .text = NULL }, found = { .text = NULL };

        while (manual_prose_next(&text) == 1)
                if (help_is_schema(&text, wanted))
                        found = text;
        if (!found.text) {
                help_complain_of_schema(wanted);
                return EXIT_STATUS_USAGE;
        }
        (void)fwrite(found.text, 1, found.n_bytes, stdout);
        return standard_output_finish(EXIT_STATUS_OK, "the schema");
}

static int run(void *context, struct common_options *common)
{
        const struct arguments *args = context;
        const char *name = common->operands[0];

        if (args->wants_schema && (args->schema || name))
                return help_show_schema(args->schema ? args->schema : name);
        if (args->wants_schema) {
                help_list_schemas();
                return standard_output_finish(EXIT_STATUS_OK, "the schemas");
        }
        if (!name) {
                command_table_print(stdout);
        } else if (!command_table_find(name) && strcmp(name, MAN_PAGE_OWN) != 0) {
                command_table_complain(name);
                return EXIT_STATUS_USAGE;
        } else if (!show_with_man(name)) {
                (void)man_page_print(name, MAN_PAGE_TEXT, stdout);
        }
        return standard_output_finish(EXIT_STATUS_OK, "the manual");
}

const struct option_table *cmd_help_options(void)
{
        return &table;
}

int cmd_help(int argc, char **argv)
{
        struct arguments args = { .wants_schema = false };
        const struct command_frame frame = {
                .table = &table, .take = take_option, .context = &args, .run = run
        };

        return command_frame_run(&frame, argc, argv);
}
