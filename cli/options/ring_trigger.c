/* SPDX-License-Identifier: MIT */
#include "cli/options/record_options.h"

#include "base/clock.h"
#include "base/error.h"
#include "cli/options/option_table.h"
#include "cli/terminal/complaint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PREFIX             "zone:"
#define LONGER_THAN_MAX_NS (UINT64_C(24) * 3600 * NS_PER_S)

static int complain_about(const char *words)
{
        complain("error: --trigger %s: not of the form 'zone:NAME>16ms', with a unit", words);
        return -EINVAL;
}

/* The name may itself contain a ">", so the last one is the separator. */
int ring_trigger_init(struct ring_trigger *t, const char *words)
{
        const char *name = words + strlen(PREFIX), *sign = strrchr(words, '>');
        struct error err = ERROR_NONE;
        char *text;
        int r;

        *t = (struct ring_trigger){ .words = words };
        if (strncmp(words, PREFIX, strlen(PREFIX)) != 0 || !sign || sign <= name ||
            (words[strlen(words) - 1] >= '0' && words[strlen(words) - 1] <= '9') || /* 5 of what? */
            option_parse_duration(sign + 1, 1, LONGER_THAN_MAX_NS, &t->longer_than_ns) < 0)
                return complain_about(words);
        text = strndup(name, (size_t)(sign - name));
        r = text ? zone_pattern_init(&t->pattern, text, &err) : error_set(&err, -ENOMEM, "no memory");
        free(text);
        if (r == 0)
                r = zone_pattern_take_names(&t->pattern, &err);
        if (r == 0)
                return 0;
        zone_pattern_deinit(&t->pattern);
        complain("error: --trigger %s: %s", words, err.text);
        return -EINVAL;
}

void ring_trigger_deinit(struct ring_trigger *t)
{
        zone_pattern_deinit(&t->pattern);
}

static bool is_named(const void *pattern, const struct trace_dictionary *dictionary, uint32_t location)
{
        return zone_pattern_names(pattern, dictionary, location);
}

static bool fits(const void *pattern, const struct trace_dictionary *dictionary, const uint32_t *locations,
                 uint32_t n)
{
        return zone_pattern_fits(pattern, dictionary, locations, n);
}

struct zone_trigger_rule ring_trigger_rule(const struct ring_trigger *t)
{
        return (struct zone_trigger_rule){ .longer_than_ns = t->longer_than_ns,
                                           .words = t->words,
                                           .pattern = &t->pattern,
                                           .names = is_named,
                                           .fits = fits };
}
