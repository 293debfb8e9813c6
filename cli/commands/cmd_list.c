/* SPDX-License-Identifier: MIT */
#include "cli/commands/commands.h"

#include "base/error.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/options/output_options.h"
#include "cli/terminal/complaint.h"
#include "cli/terminal/standard_output.h"
#include "sampler/events/event_catalog.h"
#include "view/document/view_document.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define SCHEMA "hyprof.events/1"

struct arguments {
        const char *word; /* or NULL */
        struct output_options output;
};

static const struct option_row option_rows[] = {
        OUTPUT_OPTION_ROWS_OF_FORMAT,
        COMMON_ROW_PAGER,
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof list",
        .operands = "[WORD]",
        .about = "Shows the events that hyprof record -e takes on this machine; with WORD only those whose\n"
                 "names contain it, or match it as a glob: 'page*'.\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing = "exit status: 0; 1 = no name contains or matches WORD; 2 = usage\n",
        .n_operands_max = 1,
};

static int take_option(void *context, int letter, const char *value)
{
        struct arguments *args = context;
        int r = output_options_take(&args->output, letter, value);

        return r < 0 ? r : 0;
}

static const char *reason(int code)
{
        switch (-code) {
        case EACCES:
        case EPERM:
                return "not permitted; see hyprof doctor";
        default:
                return "not on this machine";
        }
}

/* ---- text ---------------------------------------------------------------------------------------------- */

static const char *const titles[] = {
        [EVENT_CATALOG_HARDWARE] = "hardware events",
        [EVENT_CATALOG_SOFTWARE] = "software events",
        [EVENT_CATALOG_CACHE] = "cache events",
        [EVENT_CATALOG_PMU] = "PMUs, with terms of their own: PMU/TERM=N,.../",
        [EVENT_CATALOG_PMU_EVENT] = "events of PMUs",
        [EVENT_CATALOG_TRACEPOINT] = "tracepoints",
        [EVENT_CATALOG_LIBRARY] = "events of this processor, by libpfm4",
};

#define N_KINDS (sizeof(titles) / sizeof(titles[0]))

static void print_row(const struct event_catalog_row *row)
{
        char names[2 * EVENT_SPEC_NAME_BYTES];

        (void)snprintf(names, sizeof(names), "%s%s%s", row->name, row->alias ? " or " : "",
                       row->alias ? row->alias : "");
        if (row->error < 0)
                (void)printf("  %-47s  %s\n", names, reason(row->error));
        else
                (void)printf("  %s\n", names);
}

/* How many rows from @first on are of the same group. */
static size_t count_group(const struct event_catalog *c, size_t first, size_t end)
{
        size_t n = 1;

        while (first + n < end && strcmp(c->rows[first + n].group, c->rows[first].group) == 0)
                n++;
        return n;
}

/* Thousands of events: of each group how many there are. */
static void print_counts(const struct event_catalog *c, size_t first, size_t end, const char *separator)
{
        unsigned column = 0;

        for (size_t i = first; i < end;) {
                size_t n = count_group(c, i, end);

                column += (unsigned)printf("  %s%s %zu", c->rows[i].group, separator, n);
                if (column > 70) {
                        (void)putchar('\n');
                        column = 0;
                }
                i += n;
        }
        (void)printf("%s  hyprof list WORD  shows those that match\n", column > 0 ? "\n" : "");
}

static void print_kind(const struct event_catalog *c, enum event_catalog_kind kind,
                       const struct arguments *args)
{
        size_t first = 0, end;
        bool counts_only = !args->word && (kind == EVENT_CATALOG_TRACEPOINT || kind == EVENT_CATALOG_LIBRARY);

        while (first < c->n_rows && c->rows[first].kind != kind)
                first++;
        for (end = first; end < c->n_rows && c->rows[end].kind == kind;)
                end++;
        if (first == end)
                return;
        (void)printf("%s:\n", titles[kind]);
        if (counts_only)
                print_counts(c, first, end, kind == EVENT_CATALOG_TRACEPOINT ? ":" : "::");
        for (size_t i = first; !counts_only && i < end; i++)
                print_row(&c->rows[i]);
        (void)putchar('\n');
}

static void print_text(const struct event_catalog *c, const struct arguments *args)
{
        for (unsigned kind = 0; kind < N_KINDS; kind++)
                print_kind(c, (enum event_catalog_kind)kind, args);
        if (c->tracing.code < 0)
                (void)printf("no tracepoints: %s\n", c->tracing.text);
        if (!args->word && (c->n_rows == 0 || c->rows[c->n_rows - 1].kind != EVENT_CATALOG_LIBRARY))
                (void)printf("libpfm4 knows no events of this processor\n");
        if (!args->word)
                (void)printf(
                        "also: rNNNN (raw, hexadecimal); :u user code, :k kernel code, :p to :ppp precise;\n"
                        "      {A,B,...}:S  B and the others are read with each sample of A\n");
}

/* ---- JSON ---------------------------------------------------------------------------------------------- */

static const char *const kind_words[] = {
        [EVENT_CATALOG_HARDWARE] = "hardware",   [EVENT_CATALOG_SOFTWARE] = "software",
        [EVENT_CATALOG_CACHE] = "cache",         [EVENT_CATALOG_PMU] = "pmu",
        [EVENT_CATALOG_PMU_EVENT] = "pmu_event", [EVENT_CATALOG_TRACEPOINT] = "tracepoint",
        [EVENT_CATALOG_LIBRARY] = "processor",
};

static json_t *row_of(const struct event_catalog_row *row)
{
        return json_pack("{s:s, s:s, s:s?, s:s?, s:b, s:s?}", "kind", kind_words[row->kind], "name",
                         row->name, "alias", row->alias, "group", row->group[0] ? row->group : NULL,
                         "available", row->error == 0, "reason", row->error < 0 ? reason(row->error) : NULL);
}

static int print_json(const struct event_catalog *c)
{
        json_t *rows = json_array(), *root;
        int r = 0;

        for (size_t i = 0; rows && i < c->n_rows; i++)
                r |= json_array_append_new(rows, row_of(&c->rows[i]));
        root = json_pack("{s:s, s:o, s:s?}", "schema", SCHEMA, "events", rows, "no_tracepoints",
                         c->tracing.code < 0 ? c->tracing.text : NULL);
        if (!root || r < 0) {
                json_decref(root);
                return -ENOMEM;
        }
        (void)json_dumpf(root, stdout, JSON_INDENT(2));
        (void)putchar('\n');
        json_decref(root);
        return 0;
}

/* ---- Markdown and CSV ----------------------------------------------------------------------------------- */

static const struct view_column columns[] = {
        { .key = "kind", .title = "kind", .type = VIEW_STRING, .n_columns_max = 10 },
        { .key = "name", .title = "event", .type = VIEW_STRING },
        { .key = "alias", .title = "alias", .type = VIEW_STRING },
        { .key = "group", .title = "group", .type = VIEW_STRING },
        { .key = "available", .title = "available", .type = VIEW_STRING },
        { .key = "reason", .title = "reason", .type = VIEW_STRING },
};

static void put_words(struct view_document *d, struct view_table *t, const char *words)
{
        if (words && words[0] != '\0')
                view_table_put_words(d, t, words);
        else
                view_table_put_unknown(d, t);
}

static int print_document(const struct event_catalog *c, const struct arguments *args)
{
        struct view_document d;
        struct view_table *t;
        int status;

        view_document_init(&d, SCHEMA);
        view_document_set_title(&d, "Events that hyprof record -e takes here");
        if (c->tracing.code < 0)
                view_document_warn(&d, "no tracepoints: %s", c->tracing.text);
        t = view_document_add_table(&d, "events", "Events", columns, sizeof(columns) / sizeof(columns[0]));
        for (size_t i = 0; i < c->n_rows; i++) {
                const struct event_catalog_row *row = &c->rows[i];

                put_words(&d, t, kind_words[row->kind]);
                put_words(&d, t, row->name);
                put_words(&d, t, row->alias);
                put_words(&d, t, row->group);
                put_words(&d, t, row->error == 0 ? "yes" : "no");
                put_words(&d, t, row->error < 0 ? reason(row->error) : NULL);
        }
        status = output_options_print(&args->output, &d);
        view_document_deinit(&d);
        return status;
}

/* Returns an exit status, or -ENOMEM. */
static int print(const struct event_catalog *c, const struct arguments *args)
{
        switch (args->output.document.format) {
        case DOCUMENT_TEXT:
                print_text(c, args);
                return EXIT_STATUS_OK;
        case DOCUMENT_JSON:
                return print_json(c);
        case DOCUMENT_MARKDOWN:
        case DOCUMENT_CSV:
                break;
        }
        return print_document(c, args);
}

static void complain_no_event(const char *word)
{
        complain(strpbrk(word, "*?[") ? "error: no event matches '%s'"
                                      : "error: no event has '%s' in its name",
                 word);
        complain_try("hyprof list");
}

static int run(void *context, struct common_options *common)
{
        struct arguments *args = context;
        struct error err = ERROR_NONE;
        struct event_catalog catalog;
        bool is_empty;
        int r;

        args->word = common->n_operands > 0 ? common->operands[0] : NULL;
        r = event_catalog_read(&catalog, NULL, args->word, &err);
        if (r < 0) {
                complain("error: %s", err.text);
                return EXIT_STATUS_FAILED;
        }
        is_empty = catalog.n_rows == 0;
        r = print(&catalog, args);
        event_catalog_deinit(&catalog);
        if (r < 0)
                complain("error: no memory for the list of events");
        else if (is_empty)
                complain_no_event(args->word ? args->word : "");
        return standard_output_finish(r != 0 || is_empty ? EXIT_STATUS_FAILED : EXIT_STATUS_OK, "the list");
}

const struct option_table *cmd_list_options(void)
{
        return &table;
}

int cmd_list(int argc, char **argv)
{
        struct arguments args = { .word = NULL };
        const struct command_frame frame = {
                .table = &table, .take = take_option, .context = &args, .run = run
        };

        output_options_init(&args.output);
        return command_frame_run(&frame, argc, argv);
}
