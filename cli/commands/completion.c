/* SPDX-License-Identifier: MIT */
#include "cli/commands/completion.h"

#include "cli/commands/command_table.h"
#include "cli/commands/manual_prose.h"
#include "cli/exit_status.h"
#include "cli/files/trace_names.h"
#include "cli/options/option_table.h"
#include "cli/terminal/standard_output.h"
#include "sampler/events/event_catalog.h"
#include "view/text/utf8.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CANDIDATES_MAX 2000 /* that a shell is given of names in a trace */
#define KIND_BYTES     32

/* The typed text so far. */
struct completion {
        const struct option_table *table;
        const struct option_row *waiting; /* the option whose value is the current word; NULL = none */
        bool only_operands;               /* after -- */
        bool has_schema;                  /* --schema was typed: a topic is a schema */
        int n_operands;                   /* before the current word */
        const char *operands[2];          /* the first of them */
        int first_operand;                /* place of the first, from 1 */
        const char *trace;                /* of -i; NULL = not named */
        const char *start;                /* what stays of the current word: "--color=", "cycles," */
        size_t n_start;
        const char *typed; /* the rest of it */
        size_t n_candidates;
};

/* Names of a trace are hostile, and stand on a command line soon. */
static bool can_be_shown(const char *text, size_t n_bytes)
{
        if (n_bytes == 0 || text[0] == ':')
                return false;
        for (size_t i = 0, n; i < n_bytes; i += n) {
                uint32_t character;

                n = utf8_decode(text + i, n_bytes - i, &character);
                if (n == 0 || !utf8_is_safe(character))
                        return false;
        }
        return true;
}

static void offer_bytes(struct completion *c, const char *text, size_t n_bytes, const char *help)
{
        size_t n_typed = strlen(c->typed);

        if (n_bytes < n_typed || memcmp(text, c->typed, n_typed) != 0 || !can_be_shown(text, n_bytes) ||
            c->n_candidates == CANDIDATES_MAX)
                return;
        c->n_candidates++;
        (void)printf("%.*s%.*s\t%s\n", (int)c->n_start, c->start, (int)n_bytes, text, help);
}

static void completion_offer(struct completion *c, const char *text, const char *help)
{
        offer_bytes(c, text, strlen(text), help);
}

/* ---- names in a trace, or on this machine -------------------------------------------------------------- */

/* The file is enough to name a module. */
static void completion_take_module(void *context, const char *name, size_t n_bytes)
{
        const char *slash = n_bytes > 0 ? memrchr(name, '/', n_bytes) : NULL;
        size_t skip = slash ? (size_t)(slash - name) + 1 : 0;

        offer_bytes(context, name + skip, n_bytes - skip, "");
}

static void completion_take_name(void *context, const char *name, size_t n_bytes)
{
        offer_bytes(context, name, n_bytes, "");
}

static bool is_file(const char *path)
{
        return path && access(path, R_OK) == 0;
}

/* Whichever is named on the line: an operand that is a file is a trace, for all commands that take one. */
static const char *find_trace(const struct completion *c)
{
        if (c->trace)
                return c->trace;
        for (int i = 0; i < 2 && i < c->n_operands; i++)
                if (is_file(c->operands[i]))
                        return c->operands[i];
        return OPTION_DEFAULT_TRACE;
}

static void offer_events(struct completion *c)
{
        struct event_catalog catalog;

        if (event_catalog_read(&catalog, NULL, NULL, NULL) < 0)
                return;
        for (size_t i = 0; i < catalog.n_rows; i++) {
                if (catalog.rows[i].error == 0)
                        completion_offer(c, catalog.rows[i].name, catalog.rows[i].group);
                if (catalog.rows[i].error == 0 && catalog.rows[i].alias)
                        completion_offer(c, catalog.rows[i].alias, catalog.rows[i].name);
        }
        event_catalog_deinit(&catalog);
}

/* In a list, the part after the last comma is being typed. */
static void offer_event_list(struct completion *c)
{
        const char *last = strrchr(c->typed, ',');
        const char *group = strrchr(c->typed, '{');

        if (!last || (group && group > last))
                last = group;
        if (last) {
                if (c->n_start == 0)
                        c->start = c->typed;
                c->n_start += (size_t)(last + 1 - c->typed);
                c->typed = last + 1;
        }
        offer_events(c);
}

static void offer_topics(struct completion *c)
{
        size_t n_rows;
        const struct command_row *rows = command_table_rows(&n_rows);

        for (size_t i = 0; i < n_rows; i++)
                completion_offer(c, rows[i].name, rows[i].help);
}

static void offer_schemas(struct completion *c)
{
        struct manual_text text = { .text = NULL };

        while (manual_prose_next(&text) == 1)
                if (memchr(text.name, '/', text.n_name_bytes))
                        offer_bytes(c, text.name, text.n_name_bytes, "");
}

static void offer_kind(struct completion *c, enum argument_kind kind)
{
        if (kind == ARGUMENT_TRACE && c->trace)
                return; /* one at a time */
        switch (kind) {
        case ARGUMENT_FILE:
                (void)puts(":file");
                break;
        case ARGUMENT_FOLDER:
                (void)puts(":folder");
                break;
        case ARGUMENT_TRACE:
                (void)puts(":trace");
                break;
        case ARGUMENT_PROGRAM:
                (void)puts(":program");
                break;
        case ARGUMENT_TOPIC:
                if (c->has_schema)
                        offer_schemas(c);
                else
                        offer_topics(c);
                break;
        case ARGUMENT_SCHEMA:
                offer_schemas(c);
                break;
        case ARGUMENT_EVENTS:
                offer_event_list(c);
                break;
        case ARGUMENT_MODULE:
                trace_names_read(find_trace(c), kind, completion_take_module, c);
                break;
        case ARGUMENT_EVENT:
        case ARGUMENT_ZONE:
        case ARGUMENT_THREAD:
        case ARGUMENT_FUNCTION:
                trace_names_read(find_trace(c), kind, completion_take_name, c);
                break;
        case ARGUMENT_TEXT:
        default:
                break;
        }
}

/* ---- options and operands ------------------------------------------------------------------------------ */

/* A pattern for zones is called GLOB, say; then the option's name tells what it is for. */
static enum argument_kind kind_by_name(const struct option_row *row)
{
        char name[KIND_BYTES];
        struct argument_word word = { .text = name };

        (void)snprintf(name, sizeof(name), "%s", row->name);
        for (char *at = name; *at != '\0'; at++)
                *at = (char)toupper((unsigned char)*at);
        word.n_bytes = strlen(name);
        return argument_word_kind(&word);
}

static void offer_choices(struct completion *c, const char *choices)
{
        struct argument_word word = { .text = choices };

        while (argument_word_next(&word) == 1)
                offer_bytes(c, word.text, word.n_bytes, "");
}

static void offer_value(struct completion *c, const struct option_row *row)
{
        struct argument_word word = { .text = row->argument };
        enum argument_kind kind;

        while (argument_word_next(&word) == 1) {
                if (argument_word_is_choice(&word)) {
                        offer_bytes(c, word.text, word.n_bytes, "");
                        continue;
                }
                kind = argument_word_kind(&word);
                offer_kind(c, kind != ARGUMENT_TEXT ? kind : kind_by_name(row));
        }
}

static void offer_options(struct completion *c)
{
        for (size_t i = 0; i < c->table->n_rows; i++) {
                const struct option_row *row = &c->table->rows[i];
                char name[OPTION_FORM_BYTES];

                if (!row->help)
                        continue;
                (void)snprintf(name, sizeof(name), "--%s", row->name);
                completion_offer(c, name, row->help);
        }
}

/*
 * The kinds of the operand at @place, from 0, out of "[TRACE] FUNCTION -o FILE"; one that is
 * optional may be missing.
 */
static void offer_operand(struct completion *c, int place)
{
        const char *text = c->table->operands;
        size_t n_line = strcspn(text, "\n");

        if (place == 0 && c->table->choices) {
                offer_choices(c, c->table->choices);
                return;
        }
        for (size_t i = 0, n; i < n_line; i += n + 1) {
                struct argument_word word = { .text = text + i };
                bool is_optional = text[i] == '[';

                n = strcspn(text + i, " \n");
                if (text[i] == '-') /* an option, and its value */
                        i += n + 1, n = strcspn(text + i, " \n");
                else if (memchr(text + i, '-', n) == text + i + 1) /* "[--]" */
                        continue;
                else if (place-- <= 0 && argument_word_next(&word) == 1) {
                        offer_kind(c, argument_word_kind(&word));
                        if (!is_optional)
                                return;
                }
        }
}

/* ---- the line ------------------------------------------------------------------------------------------ */

/* Takes a word that has been typed to its end. */
static void completion_take_word(struct completion *c, const char *word, int place)
{
        const struct option_row *row = NULL;

        if (c->waiting) {
                if (strcmp(c->waiting->name, "input") == 0)
                        c->trace = word;
                c->waiting = NULL;
        } else if (c->only_operands || word[0] != '-' || word[1] == '\0') {
                if (c->n_operands == 0)
                        c->first_operand = place;
                if (c->n_operands < 2)
                        c->operands[c->n_operands] = word;
                c->n_operands++;
        } else if (strcmp(word, "--") == 0) {
                c->only_operands = true;
        } else if (word[1] == '-') {
                row = option_table_find_name(c->table, word + 2, strcspn(word + 2, "="));
                if (row && option_row_needs_argument(row) && !strchr(word, '='))
                        c->waiting = row;
                c->has_schema |= row && strcmp(row->name, "schema") == 0;
        } else {
                for (const char *letter = word + 1; *letter != '\0'; letter++) {
                        row = option_table_find_letter(c->table, *letter);
                        if (!row || !option_row_needs_argument(row))
                                continue;
                        if (letter[1] == '\0')
                                c->waiting = row;
                        break;
                }
        }
}

static void complete_word(struct completion *c, const char *word)
{
        const char *value = strchr(word, '=');
        const struct option_row *row;

        c->start = c->typed = word;
        if (c->waiting) {
                offer_value(c, c->waiting);
        } else if (c->table->ends_at_operand && c->n_operands > 0) {
                (void)printf(":rest %d\n", c->first_operand);
        } else if (c->only_operands || word[0] != '-') {
                offer_operand(c, c->n_operands);
        } else if (value && strncmp(word, "--", 2) == 0) {
                row = option_table_find_name(c->table, word + 2, (size_t)(value - word) - 2);
                c->n_start = (size_t)(value + 1 - word);
                c->typed = value + 1;
                if (row && row->argument)
                        offer_value(c, row);
        } else {
                offer_options(c);
        }
}

static void complete_command(struct completion *c, const char *word)
{
        c->start = c->typed = word;
        offer_topics(c);
        if (word[0] == '-') {
                completion_offer(c, "--help", "the commands");
                completion_offer(c, "--version", "the version, and the compiled-in features");
        }
}

int completion_run(int n_words, char **words)
{
        struct completion c = { .table = NULL };
        const struct command_row *row;

        if (n_words <= 0)
                return EXIT_STATUS_OK;
        if (n_words == 1) {
                complete_command(&c, words[0]);
                return standard_output_finish(EXIT_STATUS_OK, "the words");
        }
        row = command_table_find(words[0]);
        if (!row)
                return EXIT_STATUS_OK;
        c.table = row->options();
        for (int i = 1; i < n_words - 1; i++) {
                completion_take_word(&c, words[i], i + 1);
                if (c.table->ends_at_operand && c.n_operands > 0)
                        break;
        }
        complete_word(&c, words[n_words - 1]);
        return standard_output_finish(EXIT_STATUS_OK, "the words");
}
