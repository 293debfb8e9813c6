/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"

#include "base/error.h"
#include "cli/commands/command_frame.h"
#include "cli/commands/list_probes.h"
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

enum {
        OPTION_FUNCTIONS = OPTION_LONG_ONLY,
        OPTION_USDT,
};

struct arguments {
        const char *word;      /* or NULL */
        const char *functions; /* a pattern, or NULL */
        bool lists_static_probes;
        struct output_options output;
};

static const struct option_row option_rows[] = {
        { OPTION_FUNCTIONS, "functions", "PATTERN",
          "instead of events: functions of a program or library, whose name is WORD, that can be zones by record "
          "--zone-function" },
        { OPTION_USDT, "usdt", NULL,
          "instead of events: static probes (SDT) of such a file, for record --usdt and --zone-usdt" },
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
        .closing =
                "exit status: 0; 1 = no name contains or matches WORD, or the file has no such function or probe; 2 =\n"
                "usage\n",
        .n_operands_max = 1,
};

static int take_option(void *context, int letter, const char *value)
{
        struct arguments *args = context;
        int r = output_options_take(&args->output, letter, value);

        if (letter == OPTION_FUNCTIONS)
                args->functions = value;
        args->lists_static_probes |= letter == OPTION_USDT;
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

/* clang-format off */
#define EVENTS_FACTS(FACT)                                                                                    \
        FACT(COUNT, "n_events", NULL, view_number(c->n_rows), NULL)                                           \
        FACT(COUNT, "n_available", NULL, view_number(n_available), "that can be recorded here")
#define EVENT_COLUMNS(COLUMN)                                                                                 \
        COLUMN(STRING, "kind", "kind", view_words(kind_words[row->kind]), NULL, .n_columns_max = 10)          \
        COLUMN(STRING, "name", "event", view_words(row->name), NULL)                                          \
        COLUMN(STRING, "alias", "alias", view_words(row->alias), NULL, .may_go = true)                        \
        COLUMN(STRING, "group", "group", view_words(row->group), NULL, .may_go = true)                        \
        COLUMN(BOOL, "is_available", "available", view_number(row->error == 0), NULL)                         \
        COLUMN(STRING, "reason", "reason", view_words(row->error < 0 ? reason(row->error) : NULL), "why not")
#define GROUP_COLUMNS(COLUMN)                                                                                 \
        COLUMN(STRING, "kind", "kind", view_words(kind_words[row->kind]), NULL)                               \
        COLUMN(STRING, "group", "group", view_words(row->group), NULL)                                        \
        COLUMN(COUNT, "n_events", "events", view_number(n), NULL)
/* clang-format on */

static const struct view_column fact_columns[] = { EVENTS_FACTS(VIEW_MEMBER) };
static const struct view_column columns[] = { EVENT_COLUMNS(VIEW_COLUMN) };
static const struct view_column group_columns[] = { GROUP_COLUMNS(VIEW_COLUMN) };
static const struct answer_part facts_part = ANSWER_FACTS(fact_columns);
static const struct answer_part events_part = ANSWER_TABLE("events", columns, "an event");
static const struct answer_part groups_part = ANSWER_TABLE(
        "groups", group_columns,
        "a group of tracepoints or of events of the processor, which are only counted "
        "without a WORD: --limit 0 lists all");
const struct answer_schema events_schema = {
        .name = "hyprof.events/2",
        .command = "hyprof list --json",
        .parts = (const struct answer_part *const[]){ &facts_part, &events_part, &groups_part, NULL },
};

/* Groups of thousands of events show only their number, unless they were asked for. */
static bool is_counted_only(const struct event_catalog_row *row, const struct arguments *args)
{
        return !args->word && args->output.limit == OUTPUT_LIMIT_UNSET &&
               (row->kind == EVENT_CATALOG_TRACEPOINT || row->kind == EVENT_CATALOG_LIBRARY);
}

static void add_events(struct view_document *d, const struct event_catalog *c, const struct arguments *args)
{
        struct view_table *t = view_document_add_part(d, &events_part, "Events");
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
                EVENT_COLUMNS(VIEW_CELL)
        }
}

static void add_groups(struct view_document *d, const struct event_catalog *c, const struct arguments *args)
{
        struct view_table *t = view_document_add_part(d, &groups_part, "Groups of the others");

        for (size_t i = 0, n; i < c->n_rows; i += n) {
                const struct event_catalog_row *row = &c->rows[i];

                n = 1;
                while (i + n < c->n_rows && c->rows[i + n].kind == row->kind &&
                       strcmp(c->rows[i + n].group, row->group) == 0)
                        n++;
                if (!is_counted_only(row, args))
                        continue;
                GROUP_COLUMNS(VIEW_CELL)
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
        EVENTS_FACTS(VIEW_FACT)
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

static int list_probes(const struct arguments *args)
{
        if (args->functions && args->lists_static_probes)
                complain("error: --functions and --usdt exclude each other");
        else if (!args->word)
                complain("error: expected a program or library");
        else
                return list_probes_print(args->word, args->functions, &args->output);
        complain_try("hyprof list --help");
        return EXIT_STATUS_USAGE;
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
        if (args->functions || args->lists_static_probes)
                return list_probes(args);
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
