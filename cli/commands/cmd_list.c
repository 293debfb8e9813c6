/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"

#include "base/error.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/options/output_options.h"
#include "cli/terminal/complaint.h"
#include "sampler/events/event_catalog.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct arguments {
        const char *word; /* or NULL */
        struct output_options output;
};

static const struct option_row option_rows[] = {
        OUTPUT_OPTION_ROWS,
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

/* ---- the answer ---------------------------------------------------------------------------------------- */

static const char *const kind_words[] = {
        [EVENT_CATALOG_HARDWARE] = "hardware",   [EVENT_CATALOG_SOFTWARE] = "software",
        [EVENT_CATALOG_CACHE] = "cache",         [EVENT_CATALOG_PMU] = "pmu",
        [EVENT_CATALOG_PMU_EVENT] = "pmu_event", [EVENT_CATALOG_TRACEPOINT] = "tracepoint",
        [EVENT_CATALOG_LIBRARY] = "processor",
};

static const struct view_column columns[] = {
        { .key = "kind", .title = "kind", .type = VIEW_STRING, .n_columns_max = 10 },
        { .key = "name", .title = "event", .type = VIEW_STRING },
        { .key = "alias", .title = "alias", .type = VIEW_STRING, .may_go = true },
        { .key = "group", .title = "group", .type = VIEW_STRING, .may_go = true },
        { .key = "is_available", .title = "available", .type = VIEW_BOOL },
        { .key = "reason", .title = "reason", .type = VIEW_STRING },
};

static const struct view_column group_columns[] = {
        { .key = "kind", .title = "kind", .type = VIEW_STRING },
        { .key = "group", .title = "group", .type = VIEW_STRING },
        { .key = "n_events", .title = "events", .type = VIEW_COUNT },
};

#define COUNT_OF(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

static void put_words(struct view_document *d, struct view_table *t, const char *words)
{
        if (words && words[0] != '\0')
                view_table_put_words(d, t, words);
        else
                view_table_put_unknown(d, t);
}

/* Groups of thousands of events show only their number, unless they were asked for. */
static bool is_counted_only(const struct event_catalog_row *row, const struct arguments *args)
{
        return !args->word && args->output.limit == OUTPUT_LIMIT_UNSET &&
               (row->kind == EVENT_CATALOG_TRACEPOINT || row->kind == EVENT_CATALOG_LIBRARY);
}

static void add_events(struct view_document *d, const struct event_catalog *c, const struct arguments *args)
{
        struct view_table *t = view_document_add_table(d, "events", "Events", columns, COUNT_OF(columns));
        uint32_t limit = output_options_limit(&args->output, 0);
        uint32_t n = 0;

        view_table_set_about(
                d, t,
                "after a name, :u is user code, :k kernel code, :p to :ppp precise; rNNNN is a raw event, "
                "hexadecimal; of {A,B}:S, B is read with each sample of A");
        for (size_t i = 0; t && i < c->n_rows; i++) {
                const struct event_catalog_row *row = &c->rows[i];

                if (is_counted_only(row, args) || (limit != 0 && n == limit)) {
                        t->n_left_out++;
                        continue;
                }
                n++;
                put_words(d, t, kind_words[row->kind]);
                put_words(d, t, row->name);
                put_words(d, t, row->alias);
                put_words(d, t, row->group);
                view_table_put_bool(d, t, row->error == 0);
                put_words(d, t, row->error < 0 ? reason(row->error) : NULL);
        }
}

static void add_groups(struct view_document *d, const struct event_catalog *c, const struct arguments *args)
{
        struct view_table *t = view_document_add_table(d, "groups", "Groups of the others", group_columns,
                                                       COUNT_OF(group_columns));

        for (size_t i = 0, n; i < c->n_rows; i += n) {
                const struct event_catalog_row *row = &c->rows[i];

                n = 1;
                while (i + n < c->n_rows && c->rows[i + n].kind == row->kind &&
                       strcmp(c->rows[i + n].group, row->group) == 0)
                        n++;
                if (!is_counted_only(row, args))
                        continue;
                put_words(d, t, kind_words[row->kind]);
                put_words(d, t, row->group);
                view_table_put_number(d, t, n);
        }
}

static void fill(struct view_document *d, const struct event_catalog *c, const struct arguments *args)
{
        uint32_t n_available = 0;
        bool has_library = false;
        char words[128];

        for (size_t i = 0; i < c->n_rows; i++) {
                n_available += c->rows[i].error == 0;
                has_library |= c->rows[i].kind == EVENT_CATALOG_LIBRARY;
        }
        (void)snprintf(words, sizeof(words), "%" PRIu32 " of %zu events can be recorded here", n_available,
                       c->n_rows);
        view_document_set_answer(d, (struct text_view){ words, strlen(words) });
        view_document_add_number(d, "n_events", NULL, VIEW_COUNT, c->n_rows);
        view_document_add_number(d, "n_available", NULL, VIEW_COUNT, n_available);
        if (c->tracing.code < 0)
                view_document_warn(d, "no tracepoints: %s", c->tracing.text);
        if (!args->word && !has_library)
                view_document_warn(d, "libpfm4 knows no events of this processor");
        add_events(d, c, args);
        add_groups(d, c, args);
        if (args->word)
                return;
        view_document_hint(d, "hyprof list WORD");
        view_document_hint(d, "hyprof record -e rNNNN COMMAND");
        view_document_hint(d, "hyprof record -e '{A,B}:S' COMMAND");
}

const struct answer_schema events_schema = {
        .name = "hyprof.events/2",
        .command = "hyprof list --json",
        .parts = (const struct answer_part *const[]){ NULL },
};

/* Returns an exit status. */
static int print(const struct event_catalog *c, const struct arguments *args)
{
        struct view_document d;
        int status;

        view_document_init(&d, events_schema.name);
        fill(&d, c, args);
        status = output_options_print(&args->output, &d);
        view_document_deinit(&d);
        return status;
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
        int status;

        if (output_options_adopt(&args->output, common) < 0)
                return EXIT_STATUS_USAGE;
        output_options_complete(&args->output);
        args->word = common->n_operands > 0 ? common->operands[0] : NULL;
        if (event_catalog_read(&catalog, NULL, args->word, &err) < 0) {
                complain("error: %s", err.text);
                return EXIT_STATUS_FAILED;
        }
        status = print(&catalog, args);
        if (catalog.n_rows == 0) {
                complain_no_event(args->word ? args->word : "");
                status = EXIT_STATUS_FAILED;
        }
        event_catalog_deinit(&catalog);
        return status;
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
