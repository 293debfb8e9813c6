/* SPDX-License-Identifier: MIT */
#include "base/name_guess.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define NAME_GUESS_PART_MIN 3 /* fewer letters are in every other name */

#define SHORT_BYTES 4 /* two other letters make such a word another one */

void name_guess_init(struct name_guess *g, const char *text, size_t n_bytes)
{
        if (n_bytes >= sizeof(g->wanted))
                n_bytes = sizeof(g->wanted) - 1;
        memcpy(g->wanted, text, n_bytes);
        g->wanted[n_bytes] = '\0';
        g->best[0] = '\0';
        g->distance = n_bytes / 2 + 2; /* farther away it is another word */
        g->n_offers = 0;
}

/* Levenshtein distance. */
static size_t distance(const char *a, const char *b)
{
        size_t row[NAME_GUESS_BYTES];
        size_t n = strlen(b);

        for (size_t j = 0; j <= n; j++)
                row[j] = j;
        for (size_t i = 1; a[i - 1] != '\0'; i++) {
                size_t diagonal = row[0];

                row[0] = i;
                for (size_t j = 1; j <= n; j++) {
                        size_t replaced = diagonal + (a[i - 1] != b[j - 1]);
                        size_t best = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;

                        diagonal = row[j];
                        row[j] = best < replaced ? best : replaced;
                }
        }
        return row[n];
}

static void take(struct name_guess *g, const char *name, size_t n_bytes, size_t found)
{
        if (found >= g->distance)
                return;
        g->distance = found;
        memcpy(g->best, name, n_bytes);
        g->best[n_bytes] = '\0';
}

/* Two letters that follow each other, of words that are the same otherwise. */
static bool are_swapped(const char *a, const char *b)
{
        size_t i = 0;

        while (a[i] != '\0' && a[i] == b[i])
                i++;
        return a[i] != '\0' && b[i] != '\0' && a[i] == b[i + 1] && a[i + 1] == b[i] &&
               strcmp(a + i + 2, b + i + 2) == 0;
}

/*
 * Accepts one slip or two swapped letters, and more in longer words; a name farther away is another word.
 */
void name_guess_offer(struct name_guess *g, const char *name)
{
        size_t n_bytes = strlen(name), n_wanted = strlen(g->wanted), found;

        if (n_bytes >= sizeof(g->best))
                return;
        found = distance(name, g->wanted);
        if (found <= n_wanted / 4 + 1 && found < n_wanted &&
            (n_wanted > SHORT_BYTES || found < 2 || are_swapped(g->wanted, name)))
                take(g, name, n_bytes, found);
}

/* A name that contains @part counts as if one letter were wrong, so that a closer name goes before. */
static size_t distance_of_part(const char *name, const char *part)
{
        if (strcasecmp(name, part) == 0)
                return 0;
        return strlen(part) >= NAME_GUESS_PART_MIN && strcasestr(name, part) ? 2 : SIZE_MAX;
}

void name_guess_offer_bytes(struct name_guess *g, const char *bytes, size_t n_bytes)
{
        char name[NAME_GUESS_BYTES];
        size_t n_wanted = strlen(g->wanted), n_apart, found;

        if (n_bytes == 0 || n_bytes >= sizeof(name) || memchr(bytes, '\0', n_bytes))
                return;
        memcpy(name, bytes, n_bytes);
        name[n_bytes] = '\0';
        found = distance_of_part(name, g->wanted);
        /* So many letters are wrong at least. */
        n_apart = n_bytes > n_wanted ? n_bytes - n_wanted : n_wanted - n_bytes;
        if (found == SIZE_MAX && n_apart < g->distance && g->n_offers < NAME_GUESS_OFFERS_MAX) {
                g->n_offers++;
                found = distance(name, g->wanted);
                /*
                 * A program has many names, some of them short: one letter in three may be wrong, and one
                 * more.
                 */
                if (found > n_wanted / 3 + 1 || found >= n_wanted)
                        return;
        }
        take(g, name, n_bytes, found);
}
