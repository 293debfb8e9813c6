/* SPDX-License-Identifier: MIT */
#include "analyze/report/report.h"
#include "analyze/trace/function_name.h"
#include "analyze/trace/handle_word.h"
#include "base/error.h"
#include "base/name_guess.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"
#include "view/shared/answer_words.h"
#include "view/shared/python_columns.h"
#include "view/shared/report_heading.h"
#include "view/shared/report_names.h"
#include "view/shared/report_view.h"
#include "view/shared/tree_rows.h"
#include "view/text/text_number.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES_MAX 4096 /* of a name that a glob is held against */

/* ------------------------------------------------------------------ which functions */

/* A name copied from a report matches literally, even if it contains "[abi:cxx11]" or another glob. */
static bool text_fits(const char *glob, const char *text)
{
        return strcmp(glob, text) == 0 || fnmatch(glob, text, 0) == 0;
}

/* A glob has to fit the whole name; "name" fits "name(int)" and "name (a.c)" as well. */
static bool name_fits(const char *glob, struct text_view name)
{
        char text[NAME_BYTES_MAX];
        char *parenthesis;
        size_t label;

        if (name.n_bytes >= sizeof(text))
                name.n_bytes = sizeof(text) - 1;
        if (name.n_bytes != 0)
                memcpy(text, name.bytes, name.n_bytes);
        text[name.n_bytes] = '\0';
        if (text_fits(glob, text))
                return true;
        /* "step (a.c)": the text that tells functions of the same name apart may be left out. */
        label = plain_name_label_bytes(name);
        text[name.n_bytes - label] = '\0';
        if (label > 0 && text_fits(glob, text))
                return true;
        parenthesis = strchr(text, '(');
        if (!parenthesis || parenthesis == text)
                return false;
        *parenthesis = '\0';
        return text_fits(glob, text);
}

static bool part_fits(const char *part, struct text_view name)
{
        return part[0] != '\0' && name.n_bytes != 0 && memmem(name.bytes, name.n_bytes, part, strlen(part));
}

/* Marks the functions that fit.  Returns how many. */
static uint32_t mark(const struct report_samples *samples, const char *wanted,
                     bool (*fits)(const char *wanted, struct text_view name), bool *chosen)
{
        const struct function_table *functions = &samples->functions;
        uint32_t n = 0;

        for (uint32_t label = 1; label <= functions->functions.n_items; label++) {
                const struct function *function = function_table_get(functions, label);

                chosen[label] = fits(wanted, report_names_function(trace_dictionary_text(samples->dictionary,
                                                                                         function->name),
                                                                   (enum function_kind)function->kind));
                n += chosen[label];
        }
        return n;
}

/*
 * Takes @wanted as a handle, else as a name or a glob, else as a part of names, as `hyprof annotate` does.
 * @ret_chosen:  by label; to be freed
 * Returns 0, -EINVAL for a handle that is the name of another function, -ENOENT if no function is meant,
 * -ENOMEM.
 */
static int choose(const struct report_samples *samples, const char *wanted, bool **ret_chosen,
                  uint32_t *ret_n, struct error *err)
{
        const struct function_table *functions = &samples->functions;
        const char *name = handle_word_parse(wanted, 'f').bare;
        uint32_t label;
        int r = function_table_find_handle(functions, samples->dictionary, wanted, &label, err);
        bool *chosen;

        if (r < 0)
                return r;
        chosen = calloc((size_t)functions->functions.n_items + 1, sizeof(*chosen));
        if (!chosen)
                return error_set(err, -ENOMEM, "no memory to choose functions");
        if (r == 1) {
                chosen[label] = true;
                *ret_n = 1;
        } else {
                *ret_n = mark(samples, name, name_fits, chosen);
                if (*ret_n == 0)
                        *ret_n = mark(samples, name, part_fits, chosen);
        }
        *ret_chosen = chosen;
        return 0;
}

/*
 * Whether the function appears only in the native view; a function that no Python function called appears
 * in either view.
 */
bool functions_view_is_native(const struct report_samples *samples, const char *function)
{
        const struct label_groups *frames = &samples->functions.frames;
        const struct python_stacks *p = &samples->python;
        bool *chosen = NULL, is_hidden = false, is_shown = false;
        uint32_t n_chosen;

        if (choose(samples, function, &chosen, &n_chosen, NULL) < 0)
                return false;
        for (uint32_t stack = 1; stack <= p->n_stacks && !is_shown; stack++) {
                uint32_t group = samples->stacks.nodes[stack].group;
                bool is_on_it = false;

                for (uint32_t i = frames->first[group]; i < frames->first[group + 1]; i++)
                        is_on_it |= chosen[frames->labels[i]];
                is_shown = is_on_it && python_stacks_shown(p, stack) == stack;
                is_hidden |= is_on_it;
        }
        free(chosen);
        return is_hidden && !is_shown;
}

/* Returns -ENOENT, and suggests the nearest name, without its parameters. */
static int no_function(const struct report *report, const char *wanted, struct error *err)
{
        const struct function_table *functions = &report->samples.functions;
        struct name_guess guess;

        name_guess_init(&guess, wanted, strlen(wanted));
        for (uint32_t label = 1; label <= functions->functions.n_items; label++) {
                struct text_view name = trace_dictionary_text(report->samples.dictionary,
                                                              function_table_get(functions, label)->name);
                const char *end = name.n_bytes != 0 ? memchr(name.bytes, '(', name.n_bytes) : NULL;

                name_guess_offer_bytes(&guess, name.bytes, end ? (size_t)(end - name.bytes) : name.n_bytes);
        }
        if (guess.best[0] != '\0')
                return error_set(err, -ENOENT, "no function '%s' in this trace; did you mean '%s'?", wanted,
                                 guess.best);
        return error_set(err, -ENOENT, "no function '%s' in this trace", wanted);
}

/* ------------------------------------------------------------------ the list */

/* clang-format off */
#define SHARE_COLUMNS(COLUMN)                                                                                 \
        COLUMN(HANDLE, "handle", "", view_handle('f', function->label), NULL)                                 \
        COLUMN(SHARE, "self_share", "self", report_heading_share(function->self.weight, self_whole),          \
               "of all samples that passed the filter")                                                       \
        COLUMN(SHARE, "total_share", "total", report_heading_share(function->total.weight, whole),            \
               "the same with callees; recursion counts once")
#define NAME_COLUMNS(COLUMN)                                                                                  \
        COLUMN(STRING, "function", "function",                                                                \
               view_text(report_names_function(function->name, function->kind)),                              \
               "in brackets if it has no name: [no symbol]")                                                  \
        COLUMN(COUNT, "self_samples", "samples", view_number(function->self.n_samples), NULL)                 \
        COLUMN(PLACE, "module", "module", view_place(function->module, 0), "a path", .n_columns_max = 26)
#define OPTIONAL_COLUMNS(COLUMN)                                                                              \
        COLUMN(REAL, "ipc", "IPC", report_heading_ratio(ratios.instructions_per_cycle),                       \
               "of the function itself, as the other ratios")                                                 \
        COLUMN(REAL, "cache_misses_per_1000", "cache misses/1000",                                            \
               report_heading_ratio(ratios.cache_misses), NULL)                                               \
        COLUMN(REAL, "branch_misses_per_1000", "branch misses/1000",                                          \
               report_heading_ratio(ratios.branch_misses), NULL)                                              \
        COLUMN(COUNT, "total_samples", "total samples", view_number(function->total.n_samples), NULL)         \
        COLUMN(COUNT, "self_weight", "self weight", report_heading_weight(report, function->self.weight),     \
               "in the unit of the event")                                                                    \
        COLUMN(COUNT, "total_weight", "total weight", report_heading_weight(report, function->total.weight),  \
               NULL)                                                                                          \
        COLUMN(STRING, "kind", NULL, view_words(report_names_kind(function->kind)), REPORT_NAMES_KIND_WORDS)  \
        COLUMN(PLACE, "declared", NULL, declared_at(report, symbol),                                          \
               "where the function is declared; null without debug information")                              \
        COLUMN(STACK, "aliases", NULL, aliases_of(d, report, symbol),                                         \
               "other names of the function's address, at most 16; linkers also fold functions with equal "   \
               "code into one")
/* clang-format on */

#define WORDS "a function, the hottest first"

static const struct view_column native_columns[] = { SHARE_COLUMNS(VIEW_COLUMN) NAME_COLUMNS(VIEW_COLUMN)
                                                             OPTIONAL_COLUMNS(VIEW_COLUMN) };
static const struct view_column columns[] = { SHARE_COLUMNS(VIEW_COLUMN) PYTHON_COLUMNS(
        VIEW_COLUMN_ABSENT) NAME_COLUMNS(VIEW_COLUMN) OPTIONAL_COLUMNS(VIEW_COLUMN) };
static const struct answer_part native_part = ANSWER_TABLE("functions", native_columns, WORDS);
static const struct answer_part list_part = ANSWER_TABLE(
        "functions", columns, WORDS "; not there if only a tree was asked for", .may_be_absent = true);
const struct answer_part functions_view_list_part = ANSWER_TABLE("functions", columns, WORDS);

static struct view_value declared_at(const struct report *report, const struct trace_symbol *symbol)
{
        return symbol ? view_place(trace_dictionary_text(report->samples.dictionary, symbol->declared_file),
                                   symbol->declared_line)
                      : view_unknown();
}

/* The other names of a function's address, which SYMBOLS lists one a line. */
static struct view_value aliases_of(struct view_document *d, const struct report *report,
                                    const struct trace_symbol *symbol)
{
        struct text_view aliases = trace_dictionary_text(report->samples.dictionary,
                                                         symbol ? symbol->aliases : 0);
        struct view_value stack = view_begin_stack(d);

        while (aliases.n_bytes > 0) {
                const char *end = memchr(aliases.bytes, '\n', aliases.n_bytes);
                size_t n_bytes = end ? (size_t)(end - aliases.bytes) : aliases.n_bytes;

                view_add_frame(d, &stack, (struct text_view){ aliases.bytes, n_bytes });
                n_bytes += end != NULL;
                aliases.bytes += n_bytes;
                aliases.n_bytes -= n_bytes;
        }
        return stack;
}

static void put_row(struct view_document *d, struct view_table *t, const struct report *report, uint32_t row)
{
        const struct report_function *function = &report->functions.rows[row];
        const struct python_parts *parts = &function->parts;
        const struct report_counters *c = &report->counters;
        const struct trace_symbol *symbol = function_table_symbol(
                &report->samples.functions, report->samples.dictionary, function->label);
        uint64_t whole = report->event ? report->event->sum.weight : 0;
        uint64_t self_whole = function->kind != FUNCTION_MARK ? whole : 0; /* marks have no time themselves */
        struct report_ratios ratios = { -1, -1, -1 };

        if (c->n_counters != 0)
                ratios = report_counters_ratios(c, &c->functions_self[(size_t)row * c->n_counters]);
        SHARE_COLUMNS(VIEW_CELL)
        if (report->samples.is_folded) {
                PYTHON_COLUMNS(VIEW_CELL)
        }
        NAME_COLUMNS(VIEW_CELL)
        OPTIONAL_COLUMNS(VIEW_CELL)
}

static void add_list(struct view_document *d, const struct report *report, const bool *chosen, uint32_t limit)
{
        const struct answer_part *part = report->samples.is_folded ? &functions_view_list_part : &native_part;
        struct view_table *t = view_document_add_part(d, part, "Functions by self time");
        uint32_t n_shown = 0, n_fitting = 0;

        if (report->event)
                view_table_set_about(d, t,
                                     "%% of the %s of %.*s (taken while on a CPU); total is with callees, "
                                     "recursion counts once%s",
                                     text_number_counted(report->event->sum.n_samples, "samples").text,
                                     (int)report->event->name.n_bytes, report->event->name.bytes,
                                     python_columns_about(report));
        for (uint32_t i = 0; i < report->functions.n_rows; i++) {
                if (chosen && !chosen[report->functions.rows[i].label])
                        continue;
                n_fitting++;
                if (limit != 0 && n_shown == limit)
                        continue;
                put_row(d, t, report, i);
                n_shown++;
        }
        if (!t)
                return;
        t->optional_from = t->n_columns - (0 OPTIONAL_COLUMNS(VIEW_PLUS_ONE));
        t->n_left_out = n_fitting - n_shown;
}

void functions_view_add_list(struct view_document *d, const struct report *report, uint32_t limit)
{
        add_list(d, report, NULL, limit);
}

/* ------------------------------------------------------------------ the trees */

static void add_calls(struct view_document *d, const struct report *report,
                      const struct report_view_options *options, const bool *chosen)
{
        struct tree_rows rows = { .part = &tree_rows_top_down_part, .wanted = chosen };

        if (options->zones_as_frames && !chosen) {
                tree_rows_add_zones(d, report, options);
                return;
        }
        rows.title = chosen ? "Callees" : "Calls, from the thread's outermost function inwards";
        tree_rows_add(d, report, options, &rows);
}

static void add_callers(struct view_document *d, const struct report *report,
                        const struct report_view_options *options, const bool *chosen)
{
        struct tree_rows rows = { .part = &tree_rows_bottom_up_part, .from_bottom = true, .wanted = chosen };

        rows.title = chosen ? "Callers" : "Functions by self time, and their callers";
        tree_rows_add(d, report, options, &rows);
}

/* The chosen functions, or the hottest. */
static void set_answer(struct view_document *d, const struct report *report, const char *pattern,
                       const bool *chosen)
{
        uint64_t all = report->event ? report->event->sum.weight : 0, self = 0, n_chosen = 0;
        const struct report_function *last = NULL;
        struct answer_words a = { .used_bytes = 0 };

        for (uint32_t i = 0; chosen && i < report->functions.n_rows; i++)
                if (chosen[report->functions.rows[i].label]) {
                        last = &report->functions.rows[i];
                        self += last->self.weight;
                        n_chosen++;
                }
        if (n_chosen == 1) {
                answer_words_add_name(&a, report_names_function(last->name, last->kind));
                answer_words_add(&a, ": %s of the samples itself, %s with callees",
                                 text_number_share(report_share(self, all)).text,
                                 text_number_share(report_share(last->total.weight, all)).text);
                if (report_function_has_parts(last)) {
                        answer_words_add(&a, " (itself: ");
                        python_columns_say(&a, report, &last->parts);
                        answer_words_add(&a, ")");
                }
                answer_words_add_missing(&a, report);
        } else if (chosen && n_chosen == 0) {
                answer_words_add(&a, "no samples in ");
                answer_words_add_name(&a, report_names_words(pattern));
        } else if (chosen) {
                answer_words_add(&a, "%s match ", text_number_counted(n_chosen, "functions").text);
                answer_words_add_name(&a, report_names_words(pattern));
                answer_words_add(&a, ": %s of the samples are in them",
                                 text_number_share(report_share(self, all)).text);
                answer_words_add_missing(&a, report);
        } else {
                answer_words_add_hottest(&a, report);
        }
        if (a.used_bytes == 0)
                answer_words_add(&a, "no samples");
        answer_words_set(&a, d);
}

static void add_hints(struct view_document *d, const struct report *report,
                      const struct report_view_options *options)
{
        const struct report_function *first = report->functions.n_rows != 0 ? &report->functions.rows[0]
                                                                            : NULL;

        if (!first) {
                report_heading_hint(d, options->path, "report");
                return;
        }
        if (!options->function)
                report_heading_hint(d, options->path, "report --function %s",
                                    report_heading_function(report, first->label).text);
        if (!options->top_down && !options->bottom_up && !options->function)
                report_heading_hint(d, options->path, "report --top-down");
        if (!options->bottom_up && !options->function)
                report_heading_hint(d, options->path, "report --bottom-up");
        if (options->top_down || options->bottom_up)
                report_heading_hint(d, options->path, "report --functions");
        if (report->samples.is_folded)
                report_heading_hint(d, options->path, "report --functions --native");
        if (report->n_zones != 0)
                report_heading_hint(d, options->path, "report --zones");
}

const struct answer_schema functions_view_schema = {
        .name = "hyprof.functions/2",
        .command = "hyprof report --functions, --top-down, --bottom-up, --function NAME --json",
        .parts = (const struct answer_part *const[]){ &report_heading_part, &python_columns_facts_part,
                                                      &report_heading_missing_part, &list_part,
                                                      &tree_rows_top_down_part, &tree_rows_bottom_up_part,
                                                      NULL },
};

int functions_view_fill(struct view_document *d, const struct report *report,
                        const struct report_view_options *options, struct error *err)
{
        bool *chosen = NULL;
        uint32_t n_chosen = 0;
        bool both = options->function && !options->top_down && !options->bottom_up;

        if (options->function) {
                int r = choose(&report->samples, options->function, &chosen, &n_chosen, err);

                if (r < 0)
                        return r;
                if (n_chosen == 0) {
                        free(chosen);
                        return no_function(report, options->function, err);
                }
        }
        set_answer(d, report, options->function, chosen);
        report_heading_add(d, report, options->filter);
        python_columns_add_facts(d, report);
        if (options->function || (!options->top_down && !options->bottom_up))
                add_list(d, report, chosen, options->limit);
        if (options->top_down || both)
                add_calls(d, report, options, chosen);
        if (options->bottom_up || both)
                add_callers(d, report, options, chosen);
        add_hints(d, report, options);
        free(chosen);
        return 0;
}
