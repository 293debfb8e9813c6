/* SPDX-License-Identifier: MIT */
/*
 * python/native/fiber_name.c - names of fibers, used again
 *
 * A small table of bases, each with the list of its free names.  All bases that find no room in the table
 * share one entry: a program that gives each task a name of its own has too many to keep.
 */
#include "strand.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_BASES    1024
#define NAMES_MAX  65536
#define BASE_BYTES 100

struct base {
        char text[BASE_BYTES + 1]; /* empty = not used yet */
        struct fiber_name *free;
        uint32_t n_names;
};

struct fiber_name {
        struct base *base;
        struct fiber_name *next; /* in the list of free names */
        char text[BASE_BYTES + 16];
};

/* Guarded by the GIL. */
static struct base bases[N_BASES + 1];
static uint32_t n_bases;
static uint32_t n_names;

static struct base *find_base(const char *text)
{
        uint32_t hash = 5381;
        size_t n_bytes = strnlen(text, BASE_BYTES);
        struct base *other = &bases[N_BASES];

        for (size_t i = 0; i < n_bytes; i++)
                hash = hash * 33 ^ (uint8_t)text[i];
        for (uint32_t i = 0; i < 16; i++) {
                struct base *b = &bases[(hash + i) % N_BASES];

                if (b->text[0] == '\0') {
                        if (n_bases >= N_BASES / 2)
                                break;
                        n_bases++;
                        memcpy(b->text, text, n_bytes);
                        return b;
                }
                if (strncmp(b->text, text, n_bytes) == 0 && b->text[n_bytes] == '\0')
                        return b;
        }
        if (other->text[0] == '\0')
                memcpy(other->text, "other task", sizeof("other task"));
        return other;
}

static struct fiber_name *make_name(struct base *base)
{
        struct fiber_name *name;

        if (n_names == NAMES_MAX)
                return NULL;
        name = calloc(1, sizeof(*name));
        if (!name)
                return NULL;
        n_names++;
        base->n_names++;
        name->base = base;
        if (base->n_names == 1)
                memcpy(name->text, base->text, sizeof(base->text));
        else
                (void)snprintf(name->text, sizeof(name->text), "%s #%u", base->text, base->n_names);
        return name;
}

struct fiber_name *fiber_name_take(const char *base)
{
        struct base *b = find_base(base[0] ? base : "task");
        struct fiber_name *name = b->free;

        if (!name)
                return make_name(b);
        b->free = name->next;
        return name;
}

void fiber_name_give_back(struct fiber_name *name, bool is_clean)
{
        if (!is_clean)
                return;
        name->next = name->base->free;
        name->base->free = name;
}

const char *fiber_name_text(const struct fiber_name *name)
{
        return name->text;
}
