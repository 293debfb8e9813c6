/* SPDX-License-Identifier: MIT */
/*
 * What static libraries of Debian 13 need and Debian 12's cross compilers do not bring; all weak.
 *
 * libelf.a lacks the objects of eu_*(), which elfutils keeps in an archive that is not packaged.  They are
 * tsearch(3) with a tree whose root is the first member of theirs; a handle of libelf is used in one thread
 * only, so they need no lock.
 * __isoc23_*() are the functions of C23 in glibc 2.38, which differ in binary numbers (0b1) alone.  With
 * headers of that glibc a call of strtol() is one of __isoc23_strtol(), so the older functions are called by
 * their symbols: by their names, the functions below would call themselves for ever.
 */
#include <search.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

struct eu_search_tree {
        void *root;
};

typedef int eu_compare(const void *a, const void *b);

__attribute__((format(scanf, 2, 3))) int __isoc23_fscanf(FILE *file, const char *format, ...);
__attribute__((format(scanf, 2, 3))) int __isoc23_sscanf(const char *text, const char *format, ...);
long __isoc23_strtol(const char *text, char **end, int base);
long long __isoc23_strtoll(const char *text, char **end, int base);
unsigned long __isoc23_strtoul(const char *text, char **end, int base);
unsigned long long __isoc23_strtoull(const char *text, char **end, int base);

__attribute__((format(scanf, 2, 0))) int older_vfscanf(FILE *file, const char *format,
                                                       va_list values) __asm__("vfscanf");
__attribute__((format(scanf, 2, 0))) int older_vsscanf(const char *text, const char *format,
                                                       va_list values) __asm__("vsscanf");
long older_strtol(const char *text, char **end, int base) __asm__("strtol");
long long older_strtoll(const char *text, char **end, int base) __asm__("strtoll");
unsigned long older_strtoul(const char *text, char **end, int base) __asm__("strtoul");
unsigned long long older_strtoull(const char *text, char **end, int base) __asm__("strtoull");

void eu_search_tree_init(struct eu_search_tree *tree);
void eu_search_tree_fini(struct eu_search_tree *tree, void (*free_node)(void *));
void *eu_tsearch(const void *key, struct eu_search_tree *tree, eu_compare *compare);
void *eu_tfind(const void *key, struct eu_search_tree *tree, eu_compare *compare);
void *eu_tdelete(const void *key, struct eu_search_tree *tree, eu_compare *compare);

__attribute__((weak)) void eu_search_tree_init(struct eu_search_tree *tree)
{
        tree->root = NULL;
}

__attribute__((weak)) void eu_search_tree_fini(struct eu_search_tree *tree, void (*free_node)(void *))
{
        tdestroy(tree->root, free_node);
}

__attribute__((weak)) void *eu_tsearch(const void *key, struct eu_search_tree *tree, eu_compare *compare)
{
        return tsearch(key, &tree->root, compare);
}

__attribute__((weak)) void *eu_tfind(const void *key, struct eu_search_tree *tree, eu_compare *compare)
{
        return tfind(key, &tree->root, compare);
}

__attribute__((weak)) void *eu_tdelete(const void *key, struct eu_search_tree *tree, eu_compare *compare)
{
        return tdelete(key, &tree->root, compare);
}

__attribute__((weak)) int __isoc23_fscanf(FILE *file, const char *format, ...)
{
        va_list values;
        int n;

        va_start(values, format);
        n = older_vfscanf(file, format, values); /* NOLINT: the caller's own format */
        va_end(values);
        return n;
}

__attribute__((weak)) int __isoc23_sscanf(const char *text, const char *format, ...)
{
        va_list values;
        int n;

        va_start(values, format);
        n = older_vsscanf(text, format, values); /* NOLINT: the caller's own format */
        va_end(values);
        return n;
}

__attribute__((weak)) long __isoc23_strtol(const char *text, char **end, int base)
{
        return older_strtol(text, end, base);
}

__attribute__((weak)) long long __isoc23_strtoll(const char *text, char **end, int base)
{
        return older_strtoll(text, end, base);
}

__attribute__((weak)) unsigned long __isoc23_strtoul(const char *text, char **end, int base)
{
        return older_strtoul(text, end, base);
}

__attribute__((weak)) unsigned long long __isoc23_strtoull(const char *text, char **end, int base)
{
        return older_strtoull(text, end, base);
}
