/* SPDX-License-Identifier: MIT */
#include "cli/options/host_options.h"

#include "cli/options/option_table.h"
#include "cli/terminal/complaint.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* One of a list that may be given again. */
static int add(const char *option, const char **list, size_t *n, size_t max, const char *value)
{
        if (*n == max) {
                complain("error: --%s: more than %zu", option, max);
                return -EINVAL;
        }
        list[(*n)++] = value;
        return 1;
}

int host_options_take(struct host_options *h, int letter, const char *value)
{
        switch (letter) {
        case HOST_OPTION_ON:
                h->on = value;
                return 1;
        case HOST_OPTION_DEPLOY:
                return add("deploy", h->deploy, &h->n_deploy, HOST_OPTIONS_DEPLOY_MAX, value);
        case HOST_OPTION_SUDO:
                h->uses_sudo = true;
                return 1;
        case SEARCH_OPTION_DEBUG_DIR:
                return add("debug-dir", h->debug_dirs, &h->n_debug_dirs, HOST_OPTIONS_DIRS_MAX, value);
        case SEARCH_OPTION_SYSROOT:
                h->sysroot = value;
                return 1;
        default:
                return 0;
        }
}

int host_options_forward(struct host_options *h, const struct option_row *row, const char *value)
{
        char *word = NULL;

        if (h->n_forwarded == HOST_OPTIONS_FORWARDED_MAX) {
                complain("error: more than %d options", HOST_OPTIONS_FORWARDED_MAX);
                return -EINVAL;
        }
        if (asprintf(&word, "--%s%s%s", row->name, value ? "=" : "", value ? value : "") < 0) {
                complain("error: no memory for the options");
                return -EINVAL;
        }
        h->forwarded[h->n_forwarded++] = word;
        return 0;
}

const char *host_options_find_stray(const struct host_options *h)
{
        bool has_any = h->n_deploy > 0 || h->uses_sudo || h->n_debug_dirs > 0 || h->sysroot;

        return !h->on && has_any ? "--deploy, --sudo, --debug-dir and --sysroot are about --on" : NULL;
}

void host_options_deinit(struct host_options *h)
{
        for (size_t i = 0; i < h->n_forwarded; i++)
                free(h->forwarded[i]);
}
