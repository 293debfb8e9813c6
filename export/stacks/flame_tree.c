/* SPDX-License-Identifier: MIT */
#include "export/stacks/flame_tree.h"

#include "base/array.h"
#include "export/shared/waiting_words.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 4096 /* deeper calls belong to the last box */

/* A line, without its number. */
struct flame_line {
        const char *text;
        size_t n_bytes;
        uint64_t count, waiting;
};

/* The same number, if the thread did not run. */
static uint64_t waiting_of(const struct flame_line *line)
{
        const char *last = memrchr(line->text, ';', line->n_bytes);
        const char *name = last ? last + 1 : line->text;
        struct text_view frame = { name, (size_t)(line->text + line->n_bytes - name) };

        return waiting_words_has(frame) ? line->count : 0;
}

/* Compares two stacks name by name, so that stacks with the same outer frames are neighbours. */
static int compare_lines(const void *a, const void *b)
{
        const struct flame_line *one = a, *other = b;
        size_t n = one->n_bytes < other->n_bytes ? one->n_bytes : other->n_bytes;

        for (size_t i = 0; i < n; i++) {
                int c = one->text[i] == ';' ? 0 : (unsigned char)one->text[i];
                int d = other->text[i] == ';' ? 0 : (unsigned char)other->text[i];

                if (c != d)
                        return c - d;
        }
        return one->n_bytes < other->n_bytes ? -1 : one->n_bytes > other->n_bytes;
}

static bool read_line(const char *text, size_t n, struct flame_line *ret)
{
        const char *space = memrchr(text, ' ', n);
        uint64_t count = 0;

        if (!space || space + 1 == text + n)
                return false;
        for (const char *at = space + 1; at < text + n; at++) {
                if (*at < '0' || *at > '9')
                        return false;
                count = count * 10 + (uint64_t)(*at - '0');
        }
        *ret = (struct flame_line){ .text = text, .n_bytes = (size_t)(space - text), .count = count };
        ret->waiting = waiting_of(ret);
        return count > 0;
}

static int read_lines(const char *text, size_t n_bytes, struct flame_line **ret_lines, size_t *ret_n)
{
        const char *at = text, *end = text + n_bytes;
        struct flame_line *lines = NULL;
        size_t n = 0, capacity = 0;

        while (at < end) {
                const char *next = memchr(at, '\n', (size_t)(end - at));
                struct flame_line line;

                if (!next)
                        next = end;
                if (read_line(at, (size_t)(next - at), &line)) {
                        if (array_reserve(&lines, &capacity, n + 1, sizeof(*lines)) < 0) {
                                free(lines);
                                return -ENOMEM;
                        }
                        lines[n++] = line;
                }
                at = next < end ? next + 1 : end;
        }
        if (n > 1)
                qsort(lines, n, sizeof(*lines), compare_lines);
        *ret_lines = lines;
        *ret_n = n;
        return 0;
}

static int add_node(struct flame_tree *t, const struct flame_node *node)
{
        if (array_reserve(&t->nodes, &t->capacity, t->n_nodes + 1, sizeof(*t->nodes)) < 0)
                return -ENOMEM;
        t->nodes[t->n_nodes++] = *node;
        if (node->depth > t->depth_max)
                t->depth_max = node->depth;
        return 0;
}

/* @open: the nodes on the way to the last stack, by depth. */
static int add_line(struct flame_tree *t, const struct flame_line *line, uint32_t *open, uint32_t *n_open)
{
        const char *at = line->text, *end = line->text + line->n_bytes;
        uint64_t begin = t->nodes[0].total;
        uint32_t depth = 1;

        t->nodes[0].total += line->count;
        t->nodes[0].waiting += line->waiting;
        while (at < end && depth < DEPTH_MAX) {
                const char *next = memchr(at, ';', (size_t)(end - at));
                size_t n = (size_t)((next ? next : end) - at);

                if (depth >= *n_open || t->nodes[open[depth]].n_name != n ||
                    memcmp(t->nodes[open[depth]].name, at, n) != 0) {
                        struct flame_node node = { .name = at, .n_name = n, .begin = begin, .depth = depth };

                        if (add_node(t, &node) < 0)
                                return -ENOMEM;
                        open[depth] = t->n_nodes - 1;
                        *n_open = depth + 1;
                }
                t->nodes[open[depth]].total += line->count;
                t->nodes[open[depth]].waiting += line->waiting;
                depth++;
                at = next ? next + 1 : end;
        }
        *n_open = depth;
        return 0;
}

int flame_tree_read(struct flame_tree *t, const char *text, size_t n_bytes)
{
        uint32_t *open = calloc(DEPTH_MAX + 1, sizeof(*open)), n_open = 1;
        struct flame_line *lines = NULL;
        size_t n = 0;
        int r;

        *t = (struct flame_tree){ .nodes = NULL };
        r = open ? add_node(t, &(struct flame_node){ .name = "all", .n_name = 3 }) : -ENOMEM;
        if (r == 0)
                r = read_lines(text, n_bytes, &lines, &n);
        for (size_t i = 0; r == 0 && i < n; i++)
                r = add_line(t, &lines[i], open, &n_open);
        free(lines);
        free(open);
        return r;
}

void flame_tree_deinit(struct flame_tree *t)
{
        free(t->nodes);
        *t = (struct flame_tree){ .nodes = NULL };
}
