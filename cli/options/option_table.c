/* SPDX-License-Identifier: MIT */
#include "cli/options/option_table.h"

#include "base/clock.h"
#include "base/name_guess.h"
#include "cli/options/argument_words.h"
#include "cli/terminal/complaint.h"
#include "view/text/text_table.h"
#include "view/text/text_width.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HELP_INDENT      26  /* of an option's description */
#define HELP_COLUMNS_MAX 100 /* wider lines are hard to read */

/* The input of getopt_long(3), made from the rows. */
struct getopt_form {
        struct option longs[OPTION_ROWS_MAX + 1];
        char shorts[2 * OPTION_ROWS_MAX + 3];
};

static bool is_optional(const char *argument)
{
        return argument && argument[0] == '[';
}

static int getopt_kind(const char *argument)
{
        if (!argument)
                return no_argument;
        return is_optional(argument) ? optional_argument : required_argument;
}

static void make_form(const struct option_table *table, struct getopt_form *form)
{
        size_t used = 0;

        assert(table->n_rows <= OPTION_ROWS_MAX);
        memset(form, 0, sizeof(*form));
        if (table->ends_at_operand)
                form->shorts[used++] = '+';
        form->shorts[used++] = ':'; /* getopt then reports a missing value apart from an unknown option */
        for (size_t i = 0; i < table->n_rows; i++) {
                const struct option_row *row = &table->rows[i];

                form->longs[i].name = row->name;
                form->longs[i].has_arg = getopt_kind(row->argument);
                form->longs[i].val = row->letter;
                if (row->letter >= OPTION_LONG_ONLY)
                        continue;
                form->shorts[used++] = (char)row->letter;
                if (getopt_kind(row->argument) == required_argument)
                        form->shorts[used++] = ':';
        }
}

const struct option_row *option_table_find_letter(const struct option_table *table, int letter)
{
        for (size_t i = 0; i < table->n_rows; i++)
                if (table->rows[i].letter == letter)
                        return &table->rows[i];
        return NULL;
}

const struct option_row *option_table_find_name(const struct option_table *table, const char *name,
                                                size_t n_bytes)
{
        for (size_t i = 0; i < table->n_rows; i++)
                if (strlen(table->rows[i].name) == n_bytes && memcmp(table->rows[i].name, name, n_bytes) == 0)
                        return &table->rows[i];
        return NULL;
}

bool option_row_is_alias(const struct option_row *row)
{
        return row->help && row->help[0] == '=';
}

static int next_in_order(const struct option_table *table, struct option_cursor *cursor)
{
        while (cursor->n_done < table->n_rows) {
                cursor->row = &table->rows[cursor->n_done++];
                if (cursor->row->help && !option_row_is_alias(cursor->row))
                        return 1;
        }
        return 0;
}

int option_table_next(const struct option_table *table, struct option_cursor *cursor)
{
        if (!table->groups)
                return next_in_order(table, cursor);
        while (cursor->n_done < table->n_groups) {
                const struct option_group *group = &table->groups[cursor->n_done];
                const char *names = cursor->is_rare ? group->rare : group->names;

                if (!cursor->word.text)
                        cursor->word.text = names ? names : "";
                if (argument_word_next(&cursor->word) == 1) {
                        cursor->begins_group = cursor->group != group;
                        cursor->group = group;
                        cursor->row = option_table_find_name(table, cursor->word.text, cursor->word.n_bytes);
                        assert(cursor->row);
                        return 1;
                }
                cursor->word = (struct argument_word){ .text = NULL };
                cursor->n_done += cursor->is_rare;
                cursor->is_rare = !cursor->is_rare;
        }
        return 0;
}

/* Counts the names that begin with these bytes; @first: the first two of them. */
static size_t count_beginning(const struct option_table *table, const char *bytes, size_t n_bytes,
                              const char *first[2])
{
        size_t n = 0;

        for (size_t i = 0; i < table->n_rows; i++)
                if (strncmp(table->rows[i].name, bytes, n_bytes) == 0) {
                        if (n < 2)
                                first[n] = table->rows[i].name;
                        n++;
                }
        return n;
}

const struct option_row *option_table_find_long(const struct option_table *table, const char *word)
{
        const char *first[2], *name = word + 2;
        size_t n_bytes = strcspn(name, "=");
        const struct option_row *row = option_table_find_name(table, name, n_bytes);

        if (row || n_bytes == 0 || count_beginning(table, name, n_bytes, first) != 1)
                return row;
        return option_table_find_name(table, first[0], strlen(first[0]));
}

/* In a word such as "-qo", letters follow each other until one takes the rest as its value. */
static const struct option_row *find_waiting_letter(const struct option_table *table, const char *letters)
{
        for (; *letters != '\0'; letters++) {
                const struct option_row *row = option_table_find_letter(table, *letters);

                if (row && getopt_kind(row->argument) == required_argument)
                        return letters[1] == '\0' ? row : NULL;
        }
        return NULL;
}

const struct option_row *option_table_find_waiting(const struct option_table *table, const char *word)
{
        const struct option_row *row;

        if (word[0] != '-' || word[1] == '\0')
                return NULL;
        if (word[1] != '-')
                return find_waiting_letter(table, word + 1);
        row = option_table_find_long(table, word);
        return row && getopt_kind(row->argument) == required_argument && !strchr(word, '=') ? row : NULL;
}

/* @word: "--nmae", perhaps with "=VALUE". */
static void complain_of_name(const struct option_table *table, const char *word)
{
        struct name_guess guess;
        size_t n_bytes = strcspn(word, "=");
        const char *second[2];

        if (n_bytes <= 2) { /* nothing was named */
                complain("error: unknown option %s", word);
                return;
        }
        if (count_beginning(table, word + 2, n_bytes - 2, second) > 1) {
                complain("error: option %.*s is ambiguous: --%s or --%s", (int)n_bytes, word, second[0],
                         second[1]);
                return;
        }
        name_guess_init(&guess, word + 2, n_bytes - 2);
        for (size_t i = 0; i < table->n_rows; i++)
                if (table->rows[i].help)
                        name_guess_offer(&guess, table->rows[i].name);
        if (guess.best[0] != '\0')
                complain("error: unknown option %s; did you mean --%s?", word, guess.best);
        else
                complain("error: unknown option %s", word);
}

/* @word is the option's word, unless getopt stopped at a letter in the middle of a word such as "-abc". */
static void complain_of_option(const struct option_table *table, int outcome, const char *word)
{
        if (outcome == ':' && strncmp(word, "--", 2) == 0)
                complain("error: option %s needs a value", word);
        else if (outcome == ':')
                complain("error: option -%c needs a value", optopt);
        else if (optopt == 0)
                complain_of_name(table, word);
        else if (option_table_find_letter(table, optopt))
                complain("error: option %.*s takes no value", (int)strcspn(word, "="), word);
        else
                complain("error: unknown option -%c", optopt);
}

/* Hands an option on, unless its word is not a valid choice. */
static int take_checked(const struct option_table *table, int letter, const char *value, option_taker *take,
                        void *context)
{
        const struct option_row *row = option_table_find_letter(table, letter);
        char what[OPTION_FORM_BYTES];

        if (!value || !row || !row->argument || !argument_words_are_choices(row->argument) ||
            argument_words_find(row->argument, value) >= 0)
                return take(context, letter, value);
        (void)snprintf(what, sizeof(what), "--%s", row->name);
        argument_words_complain(what, row->argument, value);
        return -EINVAL;
}

/* The operand to blame if there are too many: where a trace is wanted, the first one that is not a file. */
static const char *find_stray(const struct option_table *table, int n_operands, char **operands)
{
        bool wants_trace = !table->choices && table->n_operands_max == 1 && strstr(table->operands, "TRACE");

        for (int i = 0; i < n_operands && wants_trace; i++)
                if (access(operands[i], F_OK) < 0)
                        return operands[i];
        return operands[table->n_operands_max];
}

static int check_operands(const struct option_table *table, int n_operands, char **operands)
{
        if (table->ends_at_operand)
                return 0;
        if (table->choices && n_operands > 0 && argument_words_find(table->choices, operands[0]) < 0) {
                argument_words_complain(table->command, table->choices, operands[0]);
                complain_try("%s %s", table->command, table->operands);
                return OPTION_ADVISED;
        }
        if (n_operands <= table->n_operands_max)
                return 0;
        complain("error: unexpected argument '%s'", find_stray(table, n_operands, operands));
        if (!table->stray_advice)
                return -EINVAL;
        complain_try("%s", table->stray_advice);
        return OPTION_ADVISED;
}

int option_table_parse(const struct option_table *table, int argc, char **argv, option_taker *take,
                       void *context, int *ret_operand)
{
        struct getopt_form form;
        int letter, r = 0;

        make_form(table, &form);
        opterr = 0;
        optind = 0; /* glibc: scan anew, even if getopt was called before */
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): the command line is read before there are threads */
        while (r == 0 && (letter = getopt_long(argc, argv, form.shorts, form.longs, NULL)) != -1) {
                if (letter == '?' || letter == ':') {
                        complain_of_option(table, letter, argv[optind - 1]);
                        r = -EINVAL;
                } else {
                        r = take_checked(table, letter, optarg, take, context);
                }
        }
        if (r == 0)
                r = check_operands(table, argc - optind, argv + optind);
        if (r < 0 && r != OPTION_ADVISED)
                complain_try("%s --help", table->command);
        *ret_operand = optind;
        return r < 0 ? -EINVAL : 0;
}

void option_row_name(const struct option_row *row, char form[OPTION_FORM_BYTES])
{
        int used = 0;

        if (row->letter < OPTION_LONG_ONLY)
                used = snprintf(form, OPTION_FORM_BYTES, "-%c, ", row->letter);
        (void)snprintf(form + used, OPTION_FORM_BYTES - (size_t)used, "--%s%s%s", row->name,
                       row->argument && !is_optional(row->argument) ? " " : "",
                       row->argument ? row->argument : "");
}

static void print_option_row(const struct option_row *row, uint32_t n_columns, FILE *out)
{
        char form[OPTION_FORM_BYTES];

        option_row_name(row, form);
        if (strlen(form) <= HELP_INDENT - 3)
                (void)fprintf(out, "  %-*s ", HELP_INDENT - 3, form);
        else
                (void)fprintf(out, "  %s\n%*s", form, HELP_INDENT, "");
        text_wrap_within(row->help, strlen(row->help), HELP_INDENT, n_columns, out);
}

void option_table_print(const struct option_table *table, FILE *out)
{
        struct option_cursor cursor = { .row = NULL };
        uint32_t n_columns = text_width_of(out);
        size_t n_rare = 0;

        if (n_columns > HELP_COLUMNS_MAX)
                n_columns = HELP_COLUMNS_MAX;
        (void)fprintf(out, "usage: %s [OPTIONS] %s\n\n%s\n", table->command, table->operands, table->about);
        while (option_table_next(table, &cursor) == 1) {
                n_rare += cursor.is_rare;
                if (cursor.is_rare)
                        continue;
                if (cursor.begins_group)
                        (void)fprintf(out, "%s%s:\n", cursor.group > table->groups ? "\n" : "",
                                      cursor.group->title);
                print_option_row(cursor.row, n_columns, out);
        }
        if (n_rare > 0)
                (void)fprintf(out, "\n%zu rare options are in the manual: hyprof help %s\n", n_rare,
                              table->command + strlen("hyprof "));
        (void)fprintf(out, "\n%s", table->closing);
}

/* A unit's name and how many things it stands for. */
struct unit {
        const char *name;
        uint64_t factor;
};

/* Digits, then one of @units, whose list ends with a name of NULL. */
static int parse_in_units(const char *text, const struct unit *units, uint64_t min, uint64_t max,
                          uint64_t *ret_value)
{
        unsigned long long number;
        uint64_t value;
        char *end;

        errno = 0;
        number = strtoull(text, &end, 10);
        if (text[0] < '0' || text[0] > '9' || errno != 0)
                return -EINVAL;
        while (units->name && strcmp(units->name, end) != 0)
                units++;
        if (!units->name || __builtin_mul_overflow(number, units->factor, &value) || value < min ||
            value > max)
                return -EINVAL;
        *ret_value = value;
        return 0;
}

int option_parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *ret_value)
{
        static const struct unit units[] = { { "", 1 }, { NULL, 0 } };

        return parse_in_units(text, units, min, max, ret_value);
}

int option_parse_bytes(const char *text, uint64_t min, uint64_t max, uint64_t *ret_bytes)
{
        static const struct unit units[] = { { "", 1 },        { "K", 1 << 10 }, { "k", 1 << 10 },
                                             { "M", 1 << 20 }, { "G", 1 << 30 }, { NULL, 0 } };

        return parse_in_units(text, units, min, max, ret_bytes);
}

int option_parse_mode(const char *text, unsigned *ret_mode)
{
        const char *digits = text[0] == '0' ? text + 1 : text;
        unsigned mode = 0;

        if (strlen(digits) != 3)
                return -EINVAL;
        for (size_t i = 0; i < 3; i++) {
                if (digits[i] < '0' || digits[i] > '7')
                        return -EINVAL;
                mode = mode << 3 | (unsigned)(digits[i] - '0');
        }
        /* Its owner reads and writes it while it is made; it is no program. */
        if ((mode & 0600) != 0600 || (mode & 0111) != 0)
                return -EINVAL;
        *ret_mode = mode;
        return 0;
}

static int find_unit(const char *word, uint64_t *ret_ns)
{
        static const struct {
                const char *name;
                uint64_t ns;
        } units[] = {
                { "", NS_PER_S },         { "ns", 1 },       { "us", NS_PER_US },
                { "ms", NS_PER_MS },      { "s", NS_PER_S }, { "m", 60 * NS_PER_S },
                { "h", 3600 * NS_PER_S },
        };

        for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
                if (strcmp(units[i].name, word) == 0) {
                        *ret_ns = units[i].ns;
                        return 0;
                }
        return -EINVAL;
}

/* Where the digits end that start at @text. */
static const char *skip_digits(const char *text)
{
        while (*text >= '0' && *text <= '9')
                text++;
        return text;
}

int option_parse_duration(const char *text, uint64_t min_ns, uint64_t max_ns, uint64_t *ret_ns)
{
        const char *point = skip_digits(text), *end = point, *word;
        uint64_t unit_ns, whole, ns, scale;

        if (point == text)
                return -EINVAL;
        if (*point == '.') {
                end = skip_digits(point + 1);
                if (end == point + 1)
                        return -EINVAL;
        }
        /* As the reports print it: "1.234567890 s". */
        word = *end == ' ' ? end + 1 : end;
        if (find_unit(word, &unit_ns) < 0)
                return -EINVAL;
        errno = 0;
        whole = strtoull(text, NULL, 10);
        if (errno != 0 || __builtin_mul_overflow(whole, unit_ns, &ns))
                return -EINVAL;
        /* Digit by digit, so that no nanosecond is rounded; smaller parts are dropped. */
        scale = unit_ns;
        for (const char *digit = point + 1; digit < end && scale > 0; digit++) {
                uint64_t part = scale % 10 == 0 ? scale / 10 * (uint64_t)(*digit - '0')
                                                : scale * (uint64_t)(*digit - '0') / 10;

                if (__builtin_add_overflow(ns, part, &ns))
                        return -EINVAL;
                scale /= 10;
        }
        if (ns < min_ns || ns > max_ns)
                return -EINVAL;
        *ret_ns = ns;
        return 0;
}

int option_parse_share(const char *text, double max, double *ret_share)
{
        char *end;
        double value;

        if (text[0] < '0' || text[0] > '9')
                return -EINVAL;
        value = strtod(text, &end);
        if (strcmp(end, "%") == 0)
                value /= 100;
        else if (*end != '\0')
                return -EINVAL;
        if (!(value > 0) || value > max)
                return -EINVAL;
        *ret_share = value;
        return 0;
}
