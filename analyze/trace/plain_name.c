/* SPDX-License-Identifier: MIT */
#include "analyze/trace/plain_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

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
