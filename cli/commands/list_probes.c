/* SPDX-License-Identifier: MIT */
#include "cli/commands/list_probes.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "cli/exit_status.h"
#include "cli/manual/commands.h"
#include "cli/options/output_options.h"
#include "cli/terminal/complaint.h"
#include "sampler/bpf/probe_layout.h"
#include "sampler/probes/probe_plan.h"
#include "sampler/recording/command.h"
#include "sampler/rights/privileges.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/text/shell_word.h"
#include "view/text/text_number.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/* A function or static probe, with its places in the code: those of one follow each other. */
struct found {
        const struct probe_function *function;
        const struct probe_spec *spec; /* of its first place; NULL = of a function */
        uint32_t n_places;
        bool has_semaphore;
};

/* clang-format off */
#define PROBES_FACTS(FACT)                                                                                    \
        FACT(STRING, "module", "file", view_words(plan->files[0].path), "that the words mean")                  \
        FACT(STRING, "kind", NULL, view_words(is_static ? "static" : "function"), NULL,                       \
             .one_of = "function|static")
#define FUNCTION_COLUMNS(COLUMN)                                                                              \
        COLUMN(STRING, "name", "function", view_words(f->function->name), NULL)                               \
        COLUMN(COUNT, "n_places", "probes", view_number(f->n_places),                                         \
               "instructions that stop: its first one, its returns, its jumps to other functions")            \
        COLUMN(STRING, "parameters", "parameters", view_words(f->function->parameters),                       \
               "by the debug information; null = none, or no such information", .may_go = true)               \
        COLUMN(STRING, "source", "declared in", view_words(f->function->source), NULL, .may_go = true)        \
        COLUMN(COUNT, "line", "line", view_known(f->function->line, f->function->source != NULL), NULL,       \
               .may_be_null = true)
#define STATIC_COLUMNS(COLUMN)                                                                                \
        COLUMN(STRING, "name", "probe", view_words(f->function->name), "provider:name")                       \
        COLUMN(COUNT, "n_places", "places", view_number(f->n_places), "in the code")                          \
        COLUMN(COUNT, "n_arguments", "arguments", view_number(count_arguments(f->spec, false)),               \
               "at its first place; at most 4 are recorded")                                                  \
        COLUMN(COUNT, "n_unknown", "not readable", view_number(count_arguments(f->spec, true)),               \
               "of these, in a form that hyprof shows as ?")                                                  \
        COLUMN(BOOL, "has_semaphore", "semaphore", view_number(f->has_semaphore),                             \
               "set while the probe is recorded, so that the program knows")
/* clang-format on */

static uint32_t count_arguments(const struct probe_spec *spec, bool unknown_only)
{
        uint32_t n = 0;

        for (size_t i = 0; spec && i < PROBE_ARGS_MAX; i++)
                n += unknown_only ? spec->args[i].kind == PROBE_ARG_UNKNOWN
                                  : spec->args[i].kind != PROBE_ARG_NONE;
        return n;
}

static const struct view_column fact_columns[] = { PROBES_FACTS(VIEW_MEMBER) };
static const struct view_column function_columns[] = { FUNCTION_COLUMNS(VIEW_COLUMN) };
static const struct view_column static_columns[] = { STATIC_COLUMNS(VIEW_COLUMN) };
static const struct answer_part facts_part = ANSWER_FACTS(fact_columns);
static const struct answer_part functions_part = ANSWER_TABLE(
        "functions", function_columns, "a function whose calls can be zones", .may_be_absent = true);
static const struct answer_part static_part = ANSWER_TABLE("static_probes", static_columns, "a static probe",
                                                           .may_be_absent = true);
const struct answer_schema probes_schema = {
        .name = "hyprof.probes/1",
        .command = "hyprof list --functions PATTERN|--usdt MODULE --json",
        .parts = (const struct answer_part *const[]){ &facts_part, &functions_part, &static_part, NULL },
};

static struct found found_at(const struct probe_plan *plan, uint32_t function, size_t *next_point)
{
        struct found f = { .function = &plan->functions[function] };

        for (; *next_point < plan->n_points && plan->points[*next_point].function == function;
             ++*next_point) {
                if (f.n_places == 0 && *next_point < plan->n_specs)
                        f.spec = &plan->specs[*next_point];
                f.n_places++;
                f.has_semaphore |= plan->points[*next_point].semaphore_off != 0;
        }
        return f;
}

static void add_rows(struct view_document *d, const struct probe_plan *plan, bool is_static, uint32_t limit)
{
        struct view_table *t = view_document_add_part(d, is_static ? &static_part : &functions_part,
                                                      is_static ? "Static probes" : "Functions");
        size_t point = 0;

        for (uint32_t i = 0; t && i < plan->n_functions; i++) {
                const struct found found = found_at(plan, i, &point), *f = &found;

                if (limit != 0 && i >= limit) {
                        t->n_left_out++;
                } else if (is_static) {
                        STATIC_COLUMNS(VIEW_CELL)
                } else {
                        FUNCTION_COLUMNS(VIEW_CELL)
                }
        }
}

/* Lines of the finder: the functions that have no zones, and why. */
static void add_notes(struct view_document *d, const struct probe_plan *plan)
{
        const char *at = (const char *)plan->notes.data;
        size_t left = plan->notes.used_bytes;

        while (left > 0) {
                const char *end = memchr(at, '\n', left);
                size_t n = end ? (size_t)(end - at) : left;

                view_document_warn(d, "%.*s", (int)n, at);
                at += n + (end ? 1 : 0);
                left -= n + (end ? 1 : 0);
        }
}

static void fill(struct view_document *d, const struct probe_plan *plan, const char *module, bool is_static,
                 const struct output_options *output)
{
        struct shell_word word = shell_word_of(module);
        char words[256];

        (void)snprintf(words, sizeof(words), "%s %s",
                       text_number_counted(plan->n_functions, is_static ? "static probes" : "functions").text,
                       is_static ? "can be zones or messages" : "can be zones");
        view_document_set_answer(d, (struct text_view){ words, strlen(words) });
        PROBES_FACTS(VIEW_FACT)
        add_notes(d, plan);
        add_rows(d, plan, is_static, output_options_limit(output, 0));
        if (is_static)
                view_document_hint(d, "hyprof record --zone-usdt %s'!BEGIN,END' --usdt %s'!PATTERN' COMMAND",
                                   word.text, word.text);
        else
                view_document_hint(d, "hyprof record --zone-function %s'!PATTERN' COMMAND", word.text);
}

static int print(const struct probe_plan *plan, const char *module, bool is_static,
                 const struct output_options *output)
{
        struct view_document d;
        int status;

        view_document_init(&d, probes_schema.name);
        fill(&d, plan, module, is_static, output);
        status = output_options_print(output, &d);
        view_document_deinit(&d);
        return status;
}

int list_probes_print(const char *module, const char *functions, const struct output_options *output)
{
        struct invoking_user user = invoking_user_read();
        struct byte_buffer words = { .data = NULL };
        struct probe_plan plan = { .n_files = 0 };
        struct error err = ERROR_NONE;
        char program[PATH_MAX];
        struct probe_plan_request request = {
                .kind = functions ? PROBE_WISH_FUNCTION : PROBE_WISH_MESSAGE,
                .program = command_find_file(module, program, NULL) == 0 ? program : NULL,
                .wants_parameters = functions != NULL,
        };
        int status = EXIT_STATUS_FAILED;

        if (user.known) {
                request.uid = user.uid;
                request.gid = user.gid;
        }
        byte_buffer_add_format(&words, "%s!%s", module, functions ? functions : "*");
        byte_buffer_add_u8(&words, '\0');
        request.words = (const char *)words.data;
        if (words.failed)
                complain("error: no memory");
        else if (probe_plan_add(&plan, &request, &err) < 0)
                complain("error: %s: %s", module, err.text);
        else
                status = print(&plan, module, !functions, output);
        probe_plan_deinit(&plan);
        byte_buffer_deinit(&words);
        return status;
}
