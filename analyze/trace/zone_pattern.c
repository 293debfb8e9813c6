/* SPDX-License-Identifier: MIT */
#include "analyze/trace/zone_pattern.h"

#include "analyze/trace/handle_word.h"
#include "base/error.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* Names are compared up to this length; those of a trace have no NUL at their end. */
#define NAME_BYTES_MAX 1023

static size_t count_char(const char *text, char c)
{
        size_t n = 0;

        for (; *text; text++)
                n += *text == c;
        return n;
}

/*
 * Adds one step, @n_bytes at @text, for fnmatch(): keeps its backslashes, except those before a separator.
 */
static int add_step(struct zone_pattern_choice *choice, const char *text, size_t n_bytes, struct error *err)
{
        struct zone_pattern_step *step = &choice->steps[choice->n_steps];
        struct handle_word word;
        char *glob;

        if (n_bytes == 0)
                return error_set(err, -EINVAL, "the pattern contains an empty zone name");
        if (choice->n_steps == ZONE_PATTERN_STEPS_MAX)
                return error_set(err, -EINVAL, "a pattern with more than %d zones", ZONE_PATTERN_STEPS_MAX);
        *step = (struct zone_pattern_step){ .glob = NULL };
        choice->n_steps++;
        if (n_bytes == 2 && memcmp(text, "**", 2) == 0)
                return 0;
        glob = strndup(text, n_bytes);
        if (!glob)
                return error_set(err, -ENOMEM, "a pattern of zones: out of memory");
        step->glob = glob;
        word = handle_word_parse(glob, 'z');
        memmove(glob, word.bare, strlen(word.bare) + 1);
        step->location = word.id;
        step->is_certain = word.is_certain;
        return 0;
}

/* The end of the text up to one of @stops without a backslash before it. */
static const char *find_end(const char *at, const char *stops)
{
        for (; *at && !strchr(stops, *at); at++)
                if (*at == '\\' && at[1])
                        at++;
        return at;
}

static int parse_choice(struct zone_pattern_choice *choice, const char *at, const char *end,
                        struct error *err)
{
        choice->steps = calloc(ZONE_PATTERN_STEPS_MAX, sizeof(*choice->steps));
        if (!choice->steps)
                return error_set(err, -ENOMEM, "a pattern of zones: out of memory");
        if (at < end && *at == '/') {
                choice->anchored = true;
                at++;
        }
        for (;;) {
                const char *stop = find_end(at, "/,");
                int r = add_step(choice, at, (size_t)(stop - at), err);

                if (r < 0)
                        return r;
                if (stop >= end)
                        return 0;
                at = stop + 1;
        }
}

/*
 * Takes the whole text as the name of one zone, for text that is copied out of a report: "GET /index,html"
 * is such a name.
 */
static int add_literal(struct zone_pattern_choice *choice, const char *text, struct error *err)
{
        choice->steps = calloc(1, sizeof(*choice->steps));
        if (!choice->steps)
                return error_set(err, -ENOMEM, "a pattern of zones: out of memory");
        choice->steps[0] = (struct zone_pattern_step){ .glob = strdup(text), .is_literal = true };
        choice->n_steps = 1;
        return choice->steps[0].glob ? 0 : error_set(err, -ENOMEM, "a pattern of zones: out of memory");
}

int zone_pattern_init(struct zone_pattern *p, const char *text, struct error *err)
{
        size_t n_choices = count_char(text, ',') + 2;
        const char *at = text;
        int r;

        *p = (struct zone_pattern){ .n_choices = 0 };
        p->choices = calloc(n_choices, sizeof(*p->choices));
        if (!p->choices)
                return error_set(err, -ENOMEM, "a pattern of zones: out of memory");
        for (;;) {
                const char *end = find_end(at, ",");

                r = parse_choice(&p->choices[p->n_choices++], at, end, err);
                if (r < 0)
                        return error_prefix(err, r, "'%s'", text);
                if (!*end)
                        break;
                at = end + 1;
        }
        return strpbrk(text, "/,\\*?[") ? add_literal(&p->choices[p->n_choices++], text, err) : 0;
}

void zone_pattern_deinit(struct zone_pattern *p)
{
        for (uint32_t i = 0; i < p->n_choices; i++) {
                for (uint32_t k = 0; k < p->choices[i].n_steps; k++)
                        free(p->choices[i].steps[k].glob);
                free(p->choices[i].steps);
        }
        free(p->choices);
        *p = (struct zone_pattern){ .n_choices = 0 };
}

struct text_view zone_pattern_name_of(const struct trace_dictionary *dictionary, uint32_t location)
{
        const struct trace_location *row = trace_dictionary_row(dictionary, TRACE_TABLE_LOCATIONS, location);

        return trace_dictionary_text(dictionary, row->name != 0 ? row->name : row->function);
}

bool zone_pattern_step_fits(const struct zone_pattern_step *step, const struct trace_dictionary *dictionary,
                            uint32_t location)
{
        char name[NAME_BYTES_MAX + 1];
        struct text_view text;

        /* Where this is also the name of another zone, zone_pattern_check_handles() has refused it. */
        if (step->location != 0 &&
            (step->is_certain || step->location <= trace_dictionary_count(dictionary, TRACE_TABLE_LOCATIONS)))
                return step->location == location;
        text = zone_pattern_name_of(dictionary, location);
        if (text.n_bytes > NAME_BYTES_MAX)
                text.n_bytes = NAME_BYTES_MAX;
        if (text.n_bytes != 0)
                memcpy(name, text.bytes, text.n_bytes);
        name[text.n_bytes] = '\0';
        return step->is_literal ? strcmp(step->glob, name) == 0 : fnmatch(step->glob, name, 0) == 0;
}

bool zone_pattern_is_shadowed(const struct trace_dictionary *dictionary, uint32_t location)
{
        uint32_t n = trace_dictionary_count(dictionary, TRACE_TABLE_LOCATIONS);

        for (uint32_t i = 1; i <= n; i++)
                if (i != location && handle_word_is_name('z', location, zone_pattern_name_of(dictionary, i)))
                        return true;
        return false;
}

int zone_pattern_take_names(struct zone_pattern *p, struct error *err)
{
        for (uint32_t i = 0; i < p->n_choices; i++)
                for (uint32_t j = 0; j < p->choices[i].n_steps; j++) {
                        struct zone_pattern_step *step = &p->choices[i].steps[j];

                        if (step->location != 0 && step->is_certain)
                                return error_set(err, -EINVAL, "zones have handles only in a trace");
                        step->location = 0;
                }
        return 0;
}

int zone_pattern_check_handles(const struct zone_pattern *p, const struct trace_dictionary *dictionary,
                               struct error *err)
{
        uint32_t n = trace_dictionary_count(dictionary, TRACE_TABLE_LOCATIONS);

        for (uint32_t i = 0; i < p->n_choices; i++)
                for (uint32_t k = 0; k < p->choices[i].n_steps; k++) {
                        const struct zone_pattern_step *step = &p->choices[i].steps[k];
                        const struct handle_word word = { .bare = step->glob, .id = step->location };

                        if (step->location != 0 && step->location <= n && !step->is_certain &&
                            zone_pattern_is_shadowed(dictionary, step->location))
                                return handle_word_refuse(
                                        &word, "zone", zone_pattern_name_of(dictionary, step->location), err);
                }
        return 0;
}

/*
 * Fits all steps to all zones at @locations.  As with globs of text, only the last "**" is tried again with
 * more zones, so the work is at most the product of both lengths.
 */
static bool steps_fit(const struct zone_pattern_choice *choice, const struct trace_dictionary *dictionary,
                      const uint32_t *locations, uint32_t n)
{
        bool has_star = !choice->anchored;
        uint32_t star_step = 0, star_zone = 0;
        uint32_t step = 0, zone = 0;

        while (zone < n) {
                if (step < choice->n_steps && !choice->steps[step].glob) {
                        has_star = true;
                        star_step = ++step;
                        star_zone = zone;
                } else if (step < choice->n_steps &&
                           zone_pattern_step_fits(&choice->steps[step], dictionary, locations[zone])) {
                        step++;
                        zone++;
                } else if (has_star) {
                        step = star_step;
                        zone = ++star_zone;
                } else {
                        return false;
                }
        }
        while (step < choice->n_steps && !choice->steps[step].glob)
                step++;
        return step == choice->n_steps;
}

/* A last "**" has to stand for at least one zone: a zone is not inside of itself. */
static bool choice_fits(const struct zone_pattern_choice *choice, const struct trace_dictionary *dictionary,
                        const uint32_t *locations, uint32_t n)
{
        if (!choice->steps[choice->n_steps - 1].glob)
                return n > 1 ? steps_fit(choice, dictionary, locations, n - 1)
                             : choice->n_steps == 1; /* "**" alone is everything */
        return steps_fit(choice, dictionary, locations, n);
}

bool zone_pattern_fits(const struct zone_pattern *p, const struct trace_dictionary *dictionary,
                       const uint32_t *locations, uint32_t n)
{
        for (uint32_t i = 0; i < p->n_choices; i++)
                if (choice_fits(&p->choices[i], dictionary, locations, n))
                        return true;
        return false;
}

bool zone_pattern_names(const struct zone_pattern *p, const struct trace_dictionary *dictionary,
                        uint32_t location)
{
        for (uint32_t i = 0; i < p->n_choices; i++) {
                const struct zone_pattern_choice *choice = &p->choices[i];
                const struct zone_pattern_step *last = &choice->steps[choice->n_steps - 1];

                if (!last->glob || zone_pattern_step_fits(last, dictionary, location))
                        return true;
        }
        return false;
}

static bool is_known(const struct zone_pattern_step *step, const struct trace_dictionary *dictionary)
{
        uint32_t n = trace_dictionary_count(dictionary, TRACE_TABLE_LOCATIONS);

        for (uint32_t i = 1; i <= n; i++)
                if (!step->glob || zone_pattern_step_fits(step, dictionary, i))
                        return true;
        return false;
}

/* The first unknown step of one choice.  A "**" is unknown only in a trace without zones. */
static const struct zone_pattern_step *find_unknown(const struct zone_pattern_choice *choice,
                                                    const struct trace_dictionary *dictionary)
{
        for (uint32_t i = 0; i < choice->n_steps; i++)
                if (!is_known(&choice->steps[i], dictionary))
                        return &choice->steps[i];
        return NULL;
}

const struct zone_pattern_step *zone_pattern_find_unknown(const struct zone_pattern *p,
                                                          const struct trace_dictionary *dictionary)
{
        const struct zone_pattern_step *first = NULL;

        for (uint32_t i = 0; i < p->n_choices; i++) {
                const struct zone_pattern_step *unknown = find_unknown(&p->choices[i], dictionary);

                if (!unknown)
                        return NULL;
                if (!first)
                        first = unknown;
        }
        return first;
}
