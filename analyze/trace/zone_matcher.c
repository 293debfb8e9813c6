/* SPDX-License-Identifier: MIT */
/*
 * A state has two words for each choice of the pattern, and then a word of flags.  The first word of a
 * choice is the set of steps that the zones so far may have reached, the second says whether they fit the
 * whole choice.  Bit i of a set: the zones fit the steps before step i.  A "**" keeps its bit whatever zone
 * comes, and sets the bit of the next step without any zone.
 */
#include "analyze/trace/zone_matcher.h"

#include "analyze/trace/zone_pattern.h"
#include "base/array.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The words of a choice in a state. */
enum { STEPS, COMPLETE, CHOICE_WORDS };

/* Flags of a state beside those of enum zone_matcher_flag. */
#define IS_OUTSIDE UINT64_C(0x100)

static size_t state_words(const struct zone_pattern *pattern)
{
        return (size_t)pattern->n_choices * CHOICE_WORDS + 1;
}

static uint64_t bit_of(uint32_t step)
{
        return step < ZONE_PATTERN_STEPS_MAX ? UINT64_C(1) << step : 0;
}

/* Lets "**" stand for no zone. */
static void close_over(const struct zone_pattern_choice *choice, uint64_t words[CHOICE_WORDS])
{
        for (uint32_t i = 0; i < choice->n_steps; i++) {
                if (choice->steps[i].glob || !(words[STEPS] & bit_of(i)))
                        continue;
                words[STEPS] |= bit_of(i + 1);
                words[COMPLETE] |= i + 1 == choice->n_steps;
        }
}

static void start(const struct zone_pattern_choice *choice, uint64_t words[CHOICE_WORDS])
{
        words[STEPS] = 1;
        words[COMPLETE] = 0;
        close_over(choice, words);
}

/* Advances a choice by a zone that fits the steps in @class. */
static void advance(const struct zone_pattern_choice *choice, uint64_t class,
                    const uint64_t before[CHOICE_WORDS], uint64_t after[CHOICE_WORDS])
{
        after[STEPS] = choice->anchored ? 0 : 1;
        after[COMPLETE] = 0;
        for (uint32_t i = 0; i < choice->n_steps; i++) {
                if (!(before[STEPS] & bit_of(i)))
                        continue;
                if (!choice->steps[i].glob) {
                        after[STEPS] |= bit_of(i);
                } else if (class & bit_of(i)) {
                        after[STEPS] |= bit_of(i + 1);
                        after[COMPLETE] |= i + 1 == choice->n_steps;
                }
        }
        close_over(choice, after);
}

/* A last "**" has to stand for at least one zone, unless it is the whole pattern. */
static bool is_named(const struct zone_pattern_choice *choice, bool was_outside,
                     const uint64_t before[CHOICE_WORDS], const uint64_t after[CHOICE_WORDS])
{
        if (choice->steps[choice->n_steps - 1].glob)
                return after[COMPLETE];
        return was_outside ? choice->n_steps == 1 : before[COMPLETE];
}

static int add_state(struct zone_matcher *m, const uint64_t *words, uint32_t *ret_state)
{
        size_t n_words = state_words(m->pattern);
        int r = intern_add(&m->states, words, n_words * sizeof(*words), ret_state);

        if (r <= 0)
                return r;
        r = array_reserve(&m->flags, &m->flags_capacity, *ret_state, sizeof(*m->flags));
        if (r < 0)
                return r;
        m->flags[*ret_state - 1] = (uint8_t)words[n_words - 1];
        return 0;
}

/* Widens the table of steps, so that it has a row for each state and an item for each class. */
static int make_room(struct zone_matcher *m, uint32_t n_states, uint32_t n_classes)
{
        uint32_t n_rows = m->n_rows != 0 ? m->n_rows : 8, row_length = m->row_length != 0 ? m->row_length : 4;
        uint32_t *next;
        size_t n_items;

        if (n_states <= m->n_rows && n_classes < m->row_length)
                return 0;
        while (n_rows < n_states)
                n_rows *= 2;
        while (row_length <= n_classes)
                row_length *= 2;
        if (__builtin_mul_overflow((size_t)n_rows, (size_t)row_length, &n_items))
                return -EOVERFLOW;
        next = calloc(n_items, sizeof(*next));
        if (!next)
                return -ENOMEM;
        for (uint32_t i = 0; i < m->n_rows; i++)
                memcpy(next + (size_t)i * row_length, m->next + (size_t)i * m->row_length,
                       m->row_length * sizeof(*next));
        free(m->next);
        m->next = next;
        m->n_rows = n_rows;
        m->row_length = row_length;
        return 0;
}

int zone_matcher_init(struct zone_matcher *m, const struct trace_dictionary *dictionary,
                      const struct zone_pattern *pattern)
{
        size_t n_words = state_words(pattern);
        uint32_t state;
        int r;

        *m = (struct zone_matcher){ .dictionary = dictionary, .pattern = pattern };
        intern_init(&m->class_sets, pattern->n_choices * sizeof(uint64_t), 0);
        intern_init(&m->states, n_words * sizeof(uint64_t), 0);
        m->n_locations = trace_dictionary_count(dictionary, TRACE_TABLE_LOCATIONS);
        m->classes = calloc((size_t)m->n_locations + 1, sizeof(*m->classes));
        m->scratch = calloc(n_words + pattern->n_choices, sizeof(*m->scratch));
        if (!m->classes || !m->scratch)
                return -ENOMEM;
        for (uint32_t i = 0; i < pattern->n_choices; i++)
                start(&pattern->choices[i], m->scratch + (size_t)i * CHOICE_WORDS);
        m->scratch[n_words - 1] = IS_OUTSIDE;
        r = add_state(m, m->scratch, &state);
        return r < 0 ? r : make_room(m, state, 0);
}

void zone_matcher_deinit(struct zone_matcher *m)
{
        free(m->classes);
        intern_deinit(&m->class_sets);
        intern_deinit(&m->states);
        free(m->next);
        free(m->flags);
        free(m->scratch);
        *m = (struct zone_matcher){ .pattern = NULL };
}

/* Finds which steps a location fits; done once for each location. */
static int classify(struct zone_matcher *m, uint32_t location)
{
        const struct zone_pattern *pattern = m->pattern;
        uint64_t *sets = m->scratch;

        for (uint32_t i = 0; i < pattern->n_choices; i++) {
                const struct zone_pattern_choice *choice = &pattern->choices[i];

                sets[i] = 0;
                for (uint32_t k = 0; k < choice->n_steps; k++)
                        if (choice->steps[k].glob &&
                            zone_pattern_step_fits(&choice->steps[k], m->dictionary, location))
                                sets[i] |= bit_of(k);
        }
        return intern_add(&m->class_sets, sets, pattern->n_choices * sizeof(*sets),
                          &m->classes[location - 1]);
}

int zone_matcher_compute(struct zone_matcher *m, uint32_t state, uint32_t location, uint32_t *ret_state)
{
        const struct zone_pattern *pattern = m->pattern;
        size_t n_words = state_words(pattern);
        uint64_t *after = m->scratch;
        const uint64_t *before, *class;
        uint64_t flags;
        uint32_t next;
        int r = 0;

        if (m->classes[location - 1] == 0)
                r = classify(m, location);
        if (r < 0)
                return r;
        before = intern_get(&m->states, state, NULL);
        class = intern_get(&m->class_sets, m->classes[location - 1], NULL);
        flags = (before[n_words - 1] & (ZONE_MATCHER_NAMED | ZONE_MATCHER_INSIDE)) != 0 ? ZONE_MATCHER_INSIDE
                                                                                        : 0;
        for (uint32_t i = 0; i < pattern->n_choices; i++) {
                size_t at = (size_t)i * CHOICE_WORDS;

                advance(&pattern->choices[i], class[i], before + at, after + at);
                if (is_named(&pattern->choices[i], before[n_words - 1] & IS_OUTSIDE, before + at, after + at))
                        flags |= ZONE_MATCHER_NAMED;
        }
        after[n_words - 1] = flags;
        r = add_state(m, after, &next);
        if (r == 0)
                r = make_room(m, m->states.n_items, m->class_sets.n_items);
        if (r < 0)
                return r;
        m->next[(size_t)(state - 1) * m->row_length + m->classes[location - 1]] = next;
        *ret_state = next;
        return 0;
}
