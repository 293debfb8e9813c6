/* SPDX-License-Identifier: MIT */
#include "cli/options/search_options.h"

#include "cli/terminal/complaint.h"
#include "symbolize/debug/symbol_search.h"
#include "symbolize/images/trace_origin.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

int search_options_take(struct symbol_search *search, int letter, const char *value)
{
        const char *name = letter == SEARCH_OPTION_SYSROOT ? "--sysroot" : "--debug-dir";
        struct stat status;

        if (stat(value, &status) < 0) {
                /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
                complain("error: %s %s: %s", name, value, strerror(errno));
                return -EINVAL;
        }
        if (!S_ISDIR(status.st_mode)) {
                complain("error: %s %s: not a folder", name, value);
                return -EINVAL;
        }
        if (letter == SEARCH_OPTION_SYSROOT) {
                search->sysroot = value;
                return 0;
        }
        if (search->n_debug_dirs == SYMBOL_SEARCH_FOLDERS_MAX) {
                complain("error: --debug-dir: more than %d folders", SYMBOL_SEARCH_FOLDERS_MAX);
                return -EINVAL;
        }
        search->debug_dirs[search->n_debug_dirs++] = value;
        return 0;
}

void search_options_complete(struct symbol_search *search, const struct trace_dictionary *dictionary)
{
        search->is_other_machine = trace_origin_of(dictionary) != TRACE_ORIGIN_HERE;
}
