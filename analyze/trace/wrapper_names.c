/* SPDX-License-Identifier: MIT */
#include "analyze/trace/wrapper_names.h"

#include <stddef.h>
#include <string.h>

static bool opens(char c)
{
        return c == '<' || c == '(' || c == '[' || c == '{';
}

static bool closes(char c)
{
        return c == '>' || c == ')' || c == ']' || c == '}';
}

/*
 * The beginning of the qualified name, after a return type: "void std::f<int>(int)" has one, since it is a
 * template.  Only blanks outside of all brackets part words, and the parameters are in the first parenthesis
 * that follows a name.
 */
static size_t find_begin(struct text_view name)
{
        size_t begin = 0, depth = 0;

        for (size_t i = 0; i < name.n_bytes; i++) {
                char c = name.bytes[i];

                if (c == '(' && depth == 0 && i > begin)
                        break;
                if (opens(c))
                        depth++;
                else if (closes(c) && depth > 0)
                        depth--;
                else if (c == ' ' && depth == 0)
                        begin = i + 1;
        }
        return begin;
}

static bool wrapper_names_begins_with_any(struct text_view name, const char *const *prefixes,
                                          size_t n_prefixes)
{
        size_t begin = find_begin(name);

        for (size_t i = 0; i < n_prefixes; i++) {
                size_t n = strlen(prefixes[i]);

                if (name.n_bytes - begin >= n && memcmp(name.bytes + begin, prefixes[i], n) == 0)
                        return true;
        }
        return false;
}

bool wrapper_names_have(struct text_view name)
{
        static const char *const prefixes[] = { "std::",  "__gthread_", "__gnu_cxx::",
                                                "core::", "hyprof::",   "parking_lot::" };

        return wrapper_names_begins_with_any(name, prefixes, sizeof(prefixes) / sizeof(prefixes[0]));
}

bool wrapper_names_have_client(struct text_view name)
{
        static const char *const prefixes[] = { "hyprof_", "hyprof::", "___tracy_", "tracy::" };

        return wrapper_names_begins_with_any(name, prefixes, sizeof(prefixes) / sizeof(prefixes[0]));
}
