/* SPDX-License-Identifier: MIT */
#include "cli/options/common_options.h"

#include "cli/terminal/complaint.h"

#include <errno.h>
#include <string.h>

void common_options_init(struct common_options *common)
{
        *common = (struct common_options){ .limit = COMMON_LIMIT_UNSET };
}

static int take_limit(struct common_options *common, const char *value)
{
        uint64_t limit;

        if (option_parse_number(value, 0, COMMON_LIMIT_UNSET - 1, &limit) < 0) {
                complain("error: --limit %s: not a number of rows", value);
                return -EINVAL;
        }
        common->limit = (uint32_t)limit;
        return 1;
}

int common_options_parse_mode(const char *value, unsigned *ret_mode)
{
        int r = option_parse_mode(value, ret_mode);

        if (r < 0)
                complain("error: --mode %s: expected three octal digits from 600 to 666, such as 640", value);
        return r;
}

/* Whether @name is one of our options without an argument. */
static bool switch_on(struct common_options *common, const char *name)
{
        if (strcmp(name, "help") == 0)
                common->help = true;
        else if (strcmp(name, "quiet") == 0)
                common->quiet = true;
        else if (strcmp(name, "pager") == 0)
                common->pager = true;
        else if (strcmp(name, "force") == 0)
                common->force = true;
        else
                return false;
        return true;
}

int common_options_take(struct common_options *common, const struct option_row *row, const char *value)
{
        if (!value)
                return switch_on(common, row->name);
        if (row->letter == 'i' && strcmp(row->name, "input") == 0) {
                common->trace = value;
                return 1;
        }
        if (row->letter == 'o' && strcmp(row->name, "output") == 0) {
                common->output = value;
                return 1;
        }
        if (row->letter == 'l' && strcmp(row->name, "limit") == 0)
                return take_limit(common, value);
        if (row->letter == COMMON_OPTION_MODE)
                return common_options_parse_mode(value, &common->mode) < 0 ? -EINVAL : 1;
        if (row->letter == COMMON_OPTION_COLOR) {
                common->color = text_color_find(value);
                return 1;
        }
        return 0;
}

int common_options_take_trace(struct common_options *common)
{
        if (common->n_operands > 0 && common->trace) {
                complain("error: -i and %s: one trace at a time", common->operands[0]);
                complain_try("%s --help", common->command);
                return -EINVAL;
        }
        if ((common->n_operands > 0 && common->operands[0][0] == '\0') ||
            (common->trace && common->trace[0] == '\0')) {
                complain("error: the name of the trace is empty");
                complain_try("%s --help", common->command);
                return -EINVAL;
        }
        if (common->n_operands > 0) {
                common->trace = *common->operands++;
                common->n_operands--;
        } else if (!common->trace) {
                common->trace = OPTION_DEFAULT_TRACE;
        }
        return 0;
}
