/* SPDX-License-Identifier: MIT */
#include "base/name_guess.h"

#include <string.h>

void name_guess_init(struct name_guess *g, const char *text, size_t n_bytes)
{
        if (n_bytes >= sizeof(g->wanted))
                n_bytes = sizeof(g->wanted) - 1;
        memcpy(g->wanted, text, n_bytes);
        g->wanted[n_bytes] = '\0';
        g->best[0] = '\0';
        g->distance = n_bytes / 2 + 2; /* farther away it is another word */
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

void name_guess_offer(struct name_guess *g, const char *name)
{
        size_t n_bytes = strlen(name), found;

        if (n_bytes >= sizeof(g->best))
                return;
        found = distance(name, g->wanted);
        if (found >= g->distance)
                return;
        g->distance = found;
        memcpy(g->best, name, n_bytes + 1);
}
