/* SPDX-License-Identifier: MIT */
#include "cli/option_table.h"

#include "cli/complaint.h"

#include <assert.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

/* What getopt_long(3) wants, made from the rows. */
struct getopt_form {
        struct option longs[OPTION_ROWS_MAX + 1];
        char shorts[2 * OPTION_ROWS_MAX + 3];
};

static void make_form(const struct option_table *table, struct getopt_form *form)
{
        size_t used = 0;

        assert(table->n_rows <= OPTION_ROWS_MAX);
        memset(form, 0, sizeof(*form));
        if (table->ends_at_operand)
                form->shorts[used++] = '+';
        form->shorts[used++] = ':'; /* a missing value is told from an unknown option */
        for (size_t i = 0; i < table->n_rows; i++) {
                const struct option_row *row = &table->rows[i];

                form->longs[i].name = row->name;
                form->longs[i].has_arg = row->argument ? required_argument : no_argument;
                form->longs[i].val = row->letter;
                if (row->letter >= OPTION_LONG_ONLY)
                        continue;
                form->shorts[used++] = (char)row->letter;
                if (row->argument)
                        form->shorts[used++] = ':';
        }
}

static bool is_known(const struct option_table *table, int letter)
{
        for (size_t i = 0; i < table->n_rows; i++)
                if (table->rows[i].letter == letter)
                        return true;
        return false;
}

/* @word is that of the option, unless getopt stopped at a letter in the middle of one, such as "-abc". */
static void complain_of_option(const struct option_table *table, int outcome, const char *word)
{
        if (outcome == ':' && strncmp(word, "--", 2) == 0)
                complain("error: option %s needs a value", word);
        else if (outcome == ':')
                complain("error: option -%c needs a value", optopt);
        else if (optopt == 0)
                complain("error: unknown option %s", word);
        else if (is_known(table, optopt))
                complain("error: option %s takes no value", word);
        else
                complain("error: unknown option -%c", optopt);
}

int option_table_parse(const struct option_table *table, int argc, char **argv, option_taker *take,
                       void *context, int *ret_operand)
{
        struct getopt_form form;
        int letter, r = 0;

        make_form(table, &form);
        opterr = 0;
        optind = 0; /* glibc: scan anew, whoever called getopt before */
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): the command line is read before there are threads */
        while (r == 0 && (letter = getopt_long(argc, argv, form.shorts, form.longs, NULL)) != -1) {
                if (letter == '?' || letter == ':') {
                        complain_of_option(table, letter, argv[optind - 1]);
                        r = -EINVAL;
                } else {
                        r = take(context, letter, optarg);
                }
        }
        if (r == 0 && !table->ends_at_operand && argc - optind > table->n_operands_max) {
                complain("error: %s is one operand too many", argv[optind + table->n_operands_max]);
                r = -EINVAL;
        }
        if (r < 0)
                complain_try("%s --help", table->command);
        *ret_operand = optind;
        return r;
}

void option_table_print(const struct option_table *table, FILE *out)
{
        (void)fprintf(out, "usage: %s [OPTIONS] %s\n\n%s\n", table->command, table->operands, table->about);
        for (size_t i = 0; i < table->n_rows; i++) {
                const struct option_row *row = &table->rows[i];
                char form[48];
                int used = 0;

                if (row->letter < OPTION_LONG_ONLY)
                        used = snprintf(form, sizeof(form), "-%c, ", row->letter);
                (void)snprintf(form + used, sizeof(form) - (size_t)used, "--%s%s%s", row->name,
                               row->argument ? " " : "", row->argument ? row->argument : "");
                (void)fprintf(out, "  %-22s %s\n", form, row->help);
        }
        (void)fprintf(out, "\n%s", table->closing);
}

int option_parse_number(const char *text, uint64_t min, uint64_t max, uint64_t *ret_value)
{
        unsigned long long value;
        char *end;

        errno = 0;
        value = strtoull(text, &end, 10);
        if (text[0] < '0' || text[0] > '9' || *end != '\0' || errno != 0 || value < min || value > max)
                return -EINVAL;
        *ret_value = value;
        return 0;
}
