/* SPDX-License-Identifier: MIT */
#include "analyze/trace/id_set.h"

#include "base/array.h"

#include <stdlib.h>

#define WORD_BITS 64

void id_set_deinit(struct id_set *s)
{
        free(s->words);
        *s = (struct id_set){ .words = NULL };
}

int id_set_add(struct id_set *s, uint32_t id)
{
        size_t word = id / WORD_BITS;
        uint64_t bit = UINT64_C(1) << (id % WORD_BITS);

        if (word >= s->n_words) {
                int r = array_extend(&s->words, &s->capacity, s->n_words, word + 1, sizeof(*s->words));

                if (r < 0)
                        return r;
                s->n_words = word + 1;
        }
        s->n_ids += !(s->words[word] & bit);
        s->words[word] |= bit;
        return 0;
}
