/* SPDX-License-Identifier: MIT */
#include "cli/manual/man_page.h"

#include "cli/exit_status.h"
#include "cli/manual/command_table.h"
#include "cli/manual/manual_prose.h"
#include "cli/manual/manual_writer.h"
#include "cli/options/option_table.h"
#include "cli/terminal/complaint.h"
#include "cli/terminal/standard_output.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define TEXT_INDENT  7
#define NAME_BYTES   64
#define LINE_BYTES   256
#define STATUS_WORDS "exit status: "

static void put_heading(struct manual_writer *w, const char *words)
{
        manual_writer_heading(w, words, strlen(words));
}

static void put_title(const char *name, FILE *out)
{
        (void)fputs(".TH ", out);
        for (; *name != '\0'; name++)
                (void)fputc(toupper((unsigned char)*name), out);
        (void)fprintf(out, " 1 %s \"hyprof %s\" \"hyprof manual\"\n", HYPROF_DATE, HYPROF_VERSION);
}

static void put_name(struct manual_writer *w, const char *name, const char *help)
{
        char line[LINE_BYTES];

        (void)snprintf(line, sizeof(line), "%s - %s", name, help);
        put_heading(w, "NAME");
        manual_writer_paragraph(w, line, strlen(line));
}

static void put_synopsis(struct manual_writer *w, const struct option_table *table)
{
        const char *rest = table->operands;
        char lines[1024];
        int used = snprintf(lines, sizeof(lines), "%s [OPTIONS] ", table->command);

        put_heading(w, "SYNOPSIS");
        while (*rest != '\0' && used >= 0 && (size_t)used + 2 < sizeof(lines)) {
                lines[used++] = *rest;
                if (*rest++ == '\n')
                        rest += strspn(rest, " ");
        }
        manual_writer_lines(w, lines, (size_t)used);
}

/* Where the first heading of prose begins. */
static size_t find_heading(const char *text, size_t n_bytes)
{
        const char *heading;

        if (n_bytes > 0 && text[0] == '#')
                return 0;
        heading = memmem(text, n_bytes, "\n#", 2);
        return heading ? (size_t)(heading - text) + 1 : n_bytes;
}

/* Puts the prose of a page: the part above its first heading, or the rest. */
static void put_prose(struct manual_writer *w, const char *name, bool is_start)
{
        size_t n_bytes, n_start;
        const char *text = manual_prose_find(name, &n_bytes);

        if (!text)
                return;
        n_start = find_heading(text, n_bytes);
        if (is_start)
                manual_writer_prose(w, text, n_start);
        else
                manual_writer_prose(w, text + n_start, n_bytes - n_start);
}

/*
 * Puts the text that --help has below the options: the exit status gets a section of its own, the rest
 * stays with the options.
 */
static void put_closing(struct manual_writer *w, const char *closing)
{
        const char *status = strstr(closing, STATUS_WORDS);

        if (!status)
                status = closing + strlen(closing);
        if (status > closing)
                manual_writer_paragraph(w, closing, (size_t)(status - closing));
        if (*status == '\0')
                return;
        put_heading(w, "EXIT STATUS");
        manual_writer_paragraph(w, status + strlen(STATUS_WORDS), strlen(status + strlen(STATUS_WORDS)));
}

/* Lists the commands, and the aliases of @own's parts, whose options have pages of their own. */
static void put_related(struct manual_writer *w, const char *own)
{
        size_t n_rows, n_aliases;
        const struct command_row *rows = command_table_rows(&n_rows);
        char list[1024];
        int used = snprintf(list, sizeof(list), "%s", strcmp(own, MAN_PAGE_OWN) == 0 ? "" : "hyprof(1)");

        const struct command_alias *aliases = command_table_aliases(&n_aliases);

        put_heading(w, "SEE ALSO");
        for (size_t i = 0; i < n_rows && used >= 0 && (size_t)used + NAME_BYTES < sizeof(list); i++)
                if (strcmp(rows[i].name, own) != 0)
                        used += snprintf(list + used, sizeof(list) - (size_t)used, "%shyprof-%s(1)",
                                         used > 0 ? ", " : "", rows[i].name);
        for (size_t i = 0; i < n_aliases && used >= 0 && (size_t)used + NAME_BYTES < sizeof(list); i++)
                if (command_alias_is_of(&aliases[i], own))
                        used += snprintf(list + used, sizeof(list) - (size_t)used, ", hyprof-%s(1)",
                                         aliases[i].row.name);
        manual_writer_paragraph(w, list, strlen(list));
}

static void put_options(struct manual_writer *w, const struct option_table *table)
{
        struct option_cursor cursor = { .row = NULL };

        while (option_table_next(table, &cursor) == 1) {
                char form[OPTION_FORM_BYTES];

                if (cursor.begins_group)
                        manual_writer_paragraph(w, cursor.group->title, strlen(cursor.group->title));
                option_row_name(cursor.row, form);
                manual_writer_item(w, form, cursor.row->help);
        }
}

/* "Aliases: -i, --input TRACE = TRACE; --tid LIST = --thread." */
static void put_option_aliases(struct manual_writer *w, const struct option_table *table)
{
        char line[1024] = "Aliases: ";
        size_t n_aliases = 0, used = strlen(line);

        for (size_t i = 0; i < table->n_rows && used + LINE_BYTES < sizeof(line); i++) {
                const struct option_row *row = &table->rows[i];
                char form[OPTION_FORM_BYTES];

                if (!option_row_is_alias(row))
                        continue;
                option_row_name(row, form);
                used += (size_t)snprintf(line + used, LINE_BYTES, "%s%s = %s", n_aliases++ > 0 ? "; " : "",
                                         form, row->help + 1);
        }
        if (n_aliases == 0)
                return;
        (void)snprintf(line + used, sizeof(line) - used, ".");
        manual_writer_paragraph(w, line, strlen(line));
}

static void put_command(struct manual_writer *w, const struct command_row *row)
{
        const struct option_table *table = row->options();
        char name[NAME_BYTES];

        (void)snprintf(name, sizeof(name), "hyprof-%s", row->name);
        if (w->is_roff)
                put_title(name, w->out);
        put_name(w, name, row->help);
        put_synopsis(w, table);
        put_heading(w, "DESCRIPTION");
        manual_writer_paragraph(w, table->about, strlen(table->about));
        put_prose(w, row->name, true);
        put_heading(w, "OPTIONS");
        put_options(w, table);
        put_option_aliases(w, table);
        put_closing(w, table->closing);
        put_prose(w, row->name, false);
        put_related(w, row->name);
}

/* Their pages are called after them: hyprof-csv(1). */
static void put_aliases(struct manual_writer *w)
{
        char list[COMMAND_ALIASES_BYTES], line[COMMAND_ALIASES_BYTES + LINE_BYTES];

        command_table_list_aliases(list);
        (void)snprintf(line, sizeof(line), "Aliases, each with a manual of its own: %s.", list);
        manual_writer_paragraph(w, line, strlen(line));
}

static void put_own(struct manual_writer *w)
{
        static const char synopsis[] = "hyprof COMMAND [OPTIONS]\nhyprof --version [--json]\n";
        size_t n_rows;
        const struct command_row *rows = command_table_rows(&n_rows);

        if (w->is_roff)
                put_title(MAN_PAGE_OWN, w->out);
        put_name(w, MAN_PAGE_OWN, "a hybrid profiler: call stacks and zones in one trace");
        put_heading(w, "SYNOPSIS");
        manual_writer_lines(w, synopsis, strlen(synopsis));
        put_heading(w, "DESCRIPTION");
        put_prose(w, MAN_PAGE_OWN, true);
        put_heading(w, "COMMANDS");
        for (size_t i = 0; i < n_rows; i++)
                manual_writer_item(w, rows[i].name, rows[i].help);
        put_aliases(w);
        put_prose(w, MAN_PAGE_OWN, false);
        put_related(w, MAN_PAGE_OWN);
}

int man_page_print(const char *name, enum man_page_form form, FILE *out)
{
        const struct command_row *row = command_table_find(name);
        struct manual_writer w;

        manual_writer_init(&w, out, form == MAN_PAGE_ROFF, TEXT_INDENT);
        if (strcmp(name, MAN_PAGE_OWN) == 0)
                put_own(&w);
        else if (row)
                put_command(&w, row);
        else
                return -ENOENT;
        return 0;
}

void man_page_print_prose(const char *name, FILE *out)
{
        struct manual_writer w;

        manual_writer_init(&w, out, false, 0);
        put_prose(&w, name, true);
        put_prose(&w, name, false);
}

int man_page_run(int argc, char **argv)
{
        size_t n_rows, n_aliases;
        const struct command_row *rows = command_table_rows(&n_rows);
        const struct command_alias *aliases = command_table_aliases(&n_aliases);

        if (argc > 0 && man_page_print(argv[0], MAN_PAGE_ROFF, stdout) < 0) {
                command_table_complain(argv[0]);
                return EXIT_STATUS_USAGE;
        }
        if (argc == 0) {
                (void)puts(MAN_PAGE_OWN);
                for (size_t i = 0; i < n_rows; i++)
                        (void)puts(rows[i].name);
                for (size_t i = 0; i < n_aliases; i++)
                        (void)puts(aliases[i].row.name);
        }
        return standard_output_finish(EXIT_STATUS_OK, "the manual");
}
