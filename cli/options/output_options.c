/* SPDX-License-Identifier: MIT */
#include "cli/options/output_options.h"

#include "base/error.h"
#include "cli/exit_status.h"
#include "cli/options/common_options.h"
#include "cli/options/option_table.h"
#include "cli/terminal/complaint.h"
#include "cli/terminal/standard_output.h"
#include "view/document/view_document.h"
#include "view/text/text_width.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void output_options_init(struct output_options *o)
{
        *o = (struct output_options){ .color = TEXT_COLOR_AUTO, .limit = OUTPUT_LIMIT_UNSET };
        o->document.separator = ',';
}

/* One answer has one format. */
static int set_format(struct output_options *o, enum document_format format)
{
        if (o->has_format && o->document.format != format) {
                complain("error: two formats are asked for; use only one of --json, --csv and --format");
                return -EINVAL;
        }
        o->has_format = true;
        o->document.format = format;
        return 1;
}

static int take_format(struct output_options *o, const char *value)
{
        static const struct {
                const char *name;
                enum document_format format;
        } formats[] = {
                { "text", DOCUMENT_TEXT }, { "md", DOCUMENT_MARKDOWN }, { "markdown", DOCUMENT_MARKDOWN },
                { "json", DOCUMENT_JSON }, { "csv", DOCUMENT_CSV },
        };

        for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
                if (strcmp(formats[i].name, value) == 0)
                        return set_format(o, formats[i].format);
        complain("error: --format %s: not one of text, md, json, csv", value);
        return -EINVAL;
}

static int take_rows(const char *option, const char *value, uint32_t *ret)
{
        uint64_t n;

        if (option_parse_number(value, 0, OUTPUT_LIMIT_UNSET - 1, &n) < 0) {
                complain("error: --%s %s: not a number of rows", option, value);
                return -EINVAL;
        }
        *ret = (uint32_t)n;
        return 1;
}

int output_options_take(struct output_options *o, int letter, const char *value)
{
        switch (letter) {
        case OUTPUT_OPTION_JSON:
                return set_format(o, DOCUMENT_JSON);
        case OUTPUT_OPTION_CSV:
                return set_format(o, DOCUMENT_CSV);
        case OUTPUT_OPTION_CSV_SAFE:
                o->document.csv_is_safe = true;
                return set_format(o, DOCUMENT_CSV);
        case OUTPUT_OPTION_FORMAT:
                return take_format(o, value);
        case OUTPUT_OPTION_SECTION:
                o->document.section = value;
                return 1;
        case OUTPUT_OPTION_FULL_NAMES:
                o->document.full_names = true;
                return 1;
        case OUTPUT_OPTION_LIMIT:
                return take_rows("limit", value, &o->limit);
        case OUTPUT_OPTION_WHOLE:
                o->is_whole = true;
                return 1;
        case OUTPUT_OPTION_SKIP:
                return take_rows("skip", value, &o->document.n_skipped);
        case OUTPUT_OPTION_COLOR:
                o->color = text_color_find(value);
                return 1;
        default:
                return 0;
        }
}

int output_options_adopt(struct output_options *o, const struct common_options *common)
{
        if (common->limit != COMMON_LIMIT_UNSET)
                o->limit = common->limit;
        if (common->color != TEXT_COLOR_AUTO)
                o->color = common->color;
        if (o->document.format == DOCUMENT_CSV || o->document.format == DOCUMENT_JSON)
                return 0;
        if (o->document.section) {
                complain("error: --section %s: chooses a table of CSV or JSON, and neither was asked for",
                         o->document.section);
                complain_try("--json --section %s", o->document.section);
                return -EINVAL;
        }
        if (o->document.n_skipped == 0)
                return 0;
        complain("error: --skip %" PRIu32 ": leaves out rows of CSV or JSON, and neither was asked for",
                 o->document.n_skipped);
        complain_try("--json --skip %" PRIu32, o->document.n_skipped);
        return -EINVAL;
}

void output_options_complete(struct output_options *o)
{
        o->document.n_columns = text_width_of(stdout);
        o->document.is_terminal = text_width_of_terminal(STDOUT_FILENO) != 0;
        o->document.color = o->document.format == DOCUMENT_TEXT &&
                            text_color_is_wanted(o->color, STDOUT_FILENO);
}

bool output_options_is_bounded(const struct output_options *o)
{
        return o->document.format == DOCUMENT_JSON && o->limit == OUTPUT_LIMIT_UNSET && !o->is_whole;
}

uint32_t output_options_limit(const struct output_options *o, uint32_t n_text_rows)
{
        if (o->limit != OUTPUT_LIMIT_UNSET)
                return o->document.n_skipped == 0 ? o->limit : 0;
        return o->document.format == DOCUMENT_TEXT || o->document.format == DOCUMENT_MARKDOWN ? n_text_rows
                                                                                              : 0;
}

int output_options_say_none(struct text_view filter, struct error *err)
{
        return error_set(err, -ENOENT, "nothing that this view shows passes the filters: %.*s",
                         (int)filter.n_bytes, filter.bytes);
}

int output_options_check(const struct view_document *document, struct text_view filter, struct error *err)
{
        uint64_t n_rows = 0;

        for (size_t i = 0; i < document->n_tables; i++)
                if (view_table_is_answer(document->tables[i]))
                        n_rows += view_table_count(document->tables[i]) + document->tables[i]->n_left_out;
        if (n_rows != 0 || filter.n_bytes == 0 || document->n_tables == 0 || document->failed)
                return 0;
        return output_options_say_none(filter, err);
}

int output_options_print(const struct output_options *o, const struct view_document *document)
{
        struct document_options how = o->document;
        struct error err = ERROR_NONE;
        int r;

        how.n_rows_max = o->document.n_skipped != 0 && o->limit != OUTPUT_LIMIT_UNSET ? o->limit : 0;
        how.n_bytes_max = output_options_is_bounded(o) ? OUTPUT_JSON_BYTES_MAX : 0;
        r = document_print(document, &how, stdout, &err);

        if (r == -ENOENT) {
                complain("error: --section: %s", err.text);
                return EXIT_STATUS_USAGE;
        }
        if (r < 0) {
                complain("error: writing the answer: %s", err.text);
                return EXIT_STATUS_FAILED;
        }
        return standard_output_finish(EXIT_STATUS_OK, "the answer");
}
