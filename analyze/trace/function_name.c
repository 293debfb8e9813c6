/* SPDX-License-Identifier: MIT */
#include "analyze/trace/function_name.h"

#include <string.h>

/* ------------------------------------------------------------------ plain names */

/* Suffixes that compilers append after a dot where they copy, cut or rename a function. */
static bool is_of_compiler(struct text_view part)
{
        static const char *const words[] = { "isra", "constprop", "part",       "cold",
                                             "llvm", "lto_priv",  "localalias", "warm" };
        size_t n_digits = 0;

        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
                if (text_view_is(part, words[i]))
                        return true;
        while (n_digits < part.n_bytes && part.bytes[n_digits] >= '0' && part.bytes[n_digits] <= '9')
                n_digits++;
        return n_digits > 0 && n_digits == part.n_bytes;
}

struct text_view plain_name_of_function(struct text_view name)
{
        static const char clone[] = " [clone ";
        const char *found = name.n_bytes ? memmem(name.bytes, name.n_bytes, clone, sizeof(clone) - 1) : NULL;

        if (found && found != name.bytes)
                name.n_bytes = (size_t)(found - name.bytes);
        while (name.n_bytes > 1) {
                const char *dot = memrchr(name.bytes + 1, '.', name.n_bytes - 1);
                struct text_view part;

                if (!dot)
                        break;
                part.bytes = dot + 1;
                part.n_bytes = name.n_bytes - (size_t)(part.bytes - name.bytes);
                if (!is_of_compiler(part))
                        break;
                name.n_bytes = (size_t)(dot - name.bytes);
        }
        return name;
}

size_t plain_name_label_bytes(struct text_view name)
{
        const char *open = name.n_bytes > 0 && name.bytes[name.n_bytes - 1] == ')'
                                   ? memrchr(name.bytes, '(', name.n_bytes)
                                   : NULL;

        return open && open > name.bytes + 1 && open[-1] == ' '
                       ? name.n_bytes - (size_t)(open - 1 - name.bytes)
                       : 0;
}

bool plain_name_is(struct text_view name, struct text_view wanted)
{
        size_t n = wanted.n_bytes;

        return n != 0 && name.n_bytes >= n && memcmp(name.bytes, wanted.bytes, n) == 0 &&
               (name.n_bytes == n || name.bytes[n] == '(' ||
                (name.n_bytes > n + 1 && name.bytes[n] == ' ' && name.bytes[n + 1] == '('));
}

/* ------------------------------------------------------------------ wrappers */

static bool opens(char c)
{
        return c == '<' || c == '(' || c == '[' || c == '{';
}

static bool closes(char c)
{
        return c == '>' || c == ')' || c == ']' || c == '}';
}

/*
 * The name from its qualified part on, after a return type: "void std::f<int>(int)" has a return type
 * because it is a template.  Only blanks outside of all brackets separate words, and the parameters are in
 * the first parenthesis that follows a name.
 */
static struct text_view qualified_name(struct text_view name)
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
        return name.n_bytes != 0 ? (struct text_view){ name.bytes + begin, name.n_bytes - begin } : name;
}

bool wrapper_names_have(struct text_view name)
{
        static const char *const prefixes[] = { "std::",    "__gthread_",    "__gnu_cxx::", "core::",
                                                "hyprof::", "parking_lot::", NULL };

        return text_view_begins_with_any(qualified_name(name), prefixes);
}

bool wrapper_names_have_client(struct text_view name)
{
        static const char *const prefixes[] = { "hyprof_", "hyprof::", "___tracy_", "tracy::", NULL };

        return text_view_begins_with_any(qualified_name(name), prefixes);
}
