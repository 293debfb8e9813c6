/* SPDX-License-Identifier: MIT */
#include "analyze/trace/wrapper_names.h"

#include <stddef.h>

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
