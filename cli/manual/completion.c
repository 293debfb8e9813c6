/* SPDX-License-Identifier: MIT */
#include "cli/manual/commands.h"

#include "cli/exit_status.h"
#include "cli/manual/command_table.h"
#include "cli/manual/manual_prose.h"
#include "cli/options/argument_words.h"
#include "cli/options/option_table.h"
#include "cli/terminal/standard_output.h"
#include "format/event_decoder.h"
#include "format/trace_dictionary.h"
#include "format/trace_reader.h"
#include "sampler/events/event_catalog.h"
#include "view/text/utf8.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------ names in a trace */

/*
 * The names of one kind that a trace has: of its zones, threads, functions.
 */

/* Only the beginning of a large trace is read: people wait for it with their hands on the keys. */
#define TRACE_NAMES_FILE_BYTES_MAX (UINT64_C(64) << 20)

/* @name is hostile, and not terminated. */
typedef void trace_name_taker(void *context, const char *name, size_t n_bytes);

/* One trace being looked through. */
struct search {
        const struct trace_dictionary *dictionary;
        enum argument_kind kind;
        bool *is_known; /* heap; by string: it was handed over */
        size_t n_known;
        trace_name_taker *take;
        void *context;
};

static void take_string(struct search *s, uint32_t string)
{
        size_t n_bytes;
        const char *text;

        if (string == 0 || string >= s->n_known || s->is_known[string])
                return;
        s->is_known[string] = true;
        text = trace_dictionary_string(s->dictionary, string, &n_bytes);
        s->take(s->context, text, n_bytes);
}

/* More strings may have come. */
static bool make_room(struct search *s)
{
        size_t n = (size_t)trace_dictionary_count(s->dictionary, TRACE_TABLE_STRINGS) + 1;
        bool *bigger;

        if (n <= s->n_known)
                return true;
        n += n / 2;
        bigger = realloc(s->is_known, n);
        if (!bigger)
                return false;
        for (size_t i = s->n_known; i < n; i++)
                bigger[i] = false;
        s->is_known = bigger;
        s->n_known = n;
        return true;
}

/* Threads have names in the stream only. */
static void take_thread_names(struct search *s, const struct trace_item *item)
{
        struct event_decoder decoder;
        struct trace_event event;
        struct event_run run;

        if (event_decoder_init(&decoder, s->dictionary, item->body, item->body_bytes, NULL) < 0)
                return;
        while (event_decoder_next_run(&decoder, &run, NULL) == 1)
                while (event_decoder_next(&decoder, &event, NULL) == 1)
                        if (event.op == TRACE_OP_THREAD_NAME)
                                take_string(s, (uint32_t)event.thread_name.name);
}

/* Where a row has its name; 0 = it has none, or the kind is in no table. */
static uint32_t name_of(enum argument_kind kind, const void *row)
{
        if (kind == ARGUMENT_ZONE)
                return ((const struct trace_location *)row)->name;
        if (kind == ARGUMENT_FUNCTION)
                return ((const struct trace_symbol *)row)->function;
        if (kind == ARGUMENT_MODULE)
                return ((const struct trace_module *)row)->path;
        return ((const struct trace_sample_event *)row)->name;
}

static enum trace_table table_of(enum argument_kind kind)
{
        if (kind == ARGUMENT_ZONE)
                return TRACE_TABLE_LOCATIONS;
        if (kind == ARGUMENT_FUNCTION)
                return TRACE_TABLE_SYMBOLS;
        if (kind == ARGUMENT_MODULE)
                return TRACE_TABLE_MODULES;
        return TRACE_TABLE_SAMPLE_EVENTS;
}

static void take_rows(struct search *s)
{
        enum trace_table table = table_of(s->kind);
        uint32_t n_rows = trace_dictionary_count(s->dictionary, table);

        for (uint32_t i = 1; i <= n_rows; i++)
                take_string(s, name_of(s->kind, trace_dictionary_row(s->dictionary, table, i)));
}

static void read_all(struct search *s, struct trace_reader *reader)
{
        struct trace_item item;

        while (trace_reader_next(reader, &item, NULL) == 1 && make_room(s) &&
               item.file_offset_bytes < TRACE_NAMES_FILE_BYTES_MAX)
                if (s->kind == ARGUMENT_THREAD && item.header.kind == TRACE_CHUNK_EVENTS)
                        take_thread_names(s, &item);
        if (s->kind != ARGUMENT_THREAD && make_room(s))
                take_rows(s);
}

/*
 * read_names() - hands over each name once
 * @kind:  a kind that traces have names of; any other kind has none
 * An unreadable trace has no names.
 */
static void read_names(const char *path, enum argument_kind kind, trace_name_taker *take, void *context)
{
        struct search s = { .kind = kind, .take = take, .context = context };
        struct trace_reader *reader;
        struct stat status;

        /* A pipe would be waited for. */
        if (kind < ARGUMENT_EVENT || kind == ARGUMENT_EVENTS || stat(path, &status) < 0 ||
            !S_ISREG(status.st_mode) || trace_reader_open(path, &reader, NULL) < 0)
                return;
        s.dictionary = trace_reader_dictionary(reader);
        read_all(&s, reader);
        free(s.is_known);
        trace_reader_close(reader);
}

/* ------------------------------------------------------------------ completion */

#define CANDIDATES_MAX 2000 /* names of a trace that are offered to a shell */
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

static void offer(struct completion *c, const char *text, const char *help)
{
        offer_bytes(c, text, strlen(text), help);
}

/* ---- names in a trace, or on this machine -------------------------------------------------------------- */

/* The file is enough to name a module. */
static void take_module(void *context, const char *name, size_t n_bytes)
{
        const char *slash = n_bytes > 0 ? memrchr(name, '/', n_bytes) : NULL;
        size_t skip = slash ? (size_t)(slash - name) + 1 : 0;

        offer_bytes(context, name + skip, n_bytes - skip, "");
}

static void take_name(void *context, const char *name, size_t n_bytes)
{
        offer_bytes(context, name, n_bytes, "");
}

static bool is_file(const char *path)
{
        return path && access(path, R_OK) == 0;
}

/* Returns the trace that the command line names: that of -i, else the first operand that is a file. */
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
                        offer(c, catalog.rows[i].name, catalog.rows[i].group);
                if (catalog.rows[i].error == 0 && catalog.rows[i].alias)
                        offer(c, catalog.rows[i].alias, catalog.rows[i].name);
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

static void offer_commands(struct completion *c)
{
        size_t n_rows;
        const struct command_row *rows = command_table_rows(&n_rows);

        for (size_t i = 0; i < n_rows; i++)
                offer(c, rows[i].name, rows[i].help);
}

/* Manuals are those of the aliases, too. */
static void offer_topics(struct completion *c)
{
        size_t n_aliases;
        const struct command_alias *aliases = command_table_aliases(&n_aliases);

        offer_commands(c);
        for (size_t i = 0; i < n_aliases; i++)
                offer(c, aliases[i].row.name, aliases[i].row.help);
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
                read_names(find_trace(c), kind, take_module, c);
                break;
        case ARGUMENT_EVENT:
        case ARGUMENT_ZONE:
        case ARGUMENT_THREAD:
        case ARGUMENT_FUNCTION:
                read_names(find_trace(c), kind, take_name, c);
                break;
        case ARGUMENT_TEXT:
        default:
                break;
        }
}

/* ---- options and operands ------------------------------------------------------------------------------ */

/*
 * An argument may have a general name, such as GLOB for a zone pattern; then the option's name tells its
 * kind.
 */
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
        struct option_cursor cursor = { .row = NULL };

        while (option_table_next(c->table, &cursor) == 1) {
                char name[OPTION_FORM_BYTES];

                (void)snprintf(name, sizeof(name), "--%s", cursor.row->name);
                offer(c, name, cursor.row->help);
        }
}

/*
 * Offers candidates for the operand at @place, from 0, by words such as "[TRACE] FUNCTION -o FILE"; an
 * optional operand may be missing.
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
static void take_word(struct completion *c, const char *word, int place)
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
        } else {
                c->waiting = option_table_find_waiting(c->table, word);
                row = word[1] == '-' ? option_table_find_long(c->table, word) : NULL;
                c->has_schema |= row && strcmp(row->name, "schema") == 0;
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
        offer_commands(c);
        if (word[0] == '-') {
                offer(c, "--help", "the commands");
                offer(c, "--version", "the version, and the compiled-in features");
        }
}

int completion_run(int n_words, char **words)
{
        struct completion c = { .table = NULL };
        const struct command_row *row, *form;
        int place = 0;

        if (n_words <= 0)
                return EXIT_STATUS_OK;
        if (n_words == 1) {
                complete_command(&c, words[0]);
                return standard_output_finish(EXIT_STATUS_OK, "the words");
        }
        row = command_table_find(words[0]);
        if (!row)
                return EXIT_STATUS_OK;
        form = command_table_find_form(row, n_words - 1, words, &place);
        c.table = form ? form->options() : row->options();
        for (int i = 1; i < n_words - 1; i++) {
                if (i == place) /* the second word of the command's name */
                        continue;
                take_word(&c, words[i], i + 1);
                if (c.table->ends_at_operand && c.n_operands > 0)
                        break;
        }
        complete_word(&c, words[n_words - 1]);
        return standard_output_finish(EXIT_STATUS_OK, "the words");
}
