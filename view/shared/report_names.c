/* SPDX-License-Identifier: MIT */
#include "view/shared/report_names.h"

#include <string.h>

struct text_view report_names_words(const char *words)
{
        return (struct text_view){ .bytes = words, .n_bytes = strlen(words) };
}

struct text_view report_names_function(struct text_view name, enum function_kind kind)
{
        switch (kind) {
        case FUNCTION_NAMED:
        case FUNCTION_MARK:
        case FUNCTION_UNNAMED:
        case FUNCTION_KIND_COUNT:
                break;
        case FUNCTION_NO_SYMBOL:
                return report_names_words("[no symbol]");
        case FUNCTION_STALE_FILE:
                return report_names_words("[build-id differs]");
        case FUNCTION_NO_MODULE:
                return report_names_words("[outside of every module]");
        case FUNCTION_NO_CALLSTACK:
                return report_names_words("[no call stack]");
        }
        return name;
}

struct text_view report_names_file(struct text_view path)
{
        const char *slash = path.n_bytes != 0 ? memrchr(path.bytes, '/', path.n_bytes) : NULL;
        size_t skip = slash ? (size_t)(slash - path.bytes) + 1 : 0;

        if (path.n_bytes == 0)
                return report_names_words("-");
        if (skip == path.n_bytes)
                skip = 0;
        return (struct text_view){ .bytes = path.bytes + skip, .n_bytes = path.n_bytes - skip };
}

const char *report_names_kind(enum function_kind kind)
{
        switch (kind) {
        case FUNCTION_NAMED:
                break;
        case FUNCTION_NO_SYMBOL:
                return "no_symbol";
        case FUNCTION_STALE_FILE:
                return "stale_file";
        case FUNCTION_NO_MODULE:
                return "no_module";
        case FUNCTION_NO_CALLSTACK:
                return "no_callstack";
        case FUNCTION_MARK:
                return "mark";
        case FUNCTION_UNNAMED:
                return "unnamed";
        case FUNCTION_KIND_COUNT:
                break;
        }
        return "named";
}

bool report_names_is_time(struct text_view unit)
{
        return text_view_is(unit, "ns");
}
