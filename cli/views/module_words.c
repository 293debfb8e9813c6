/* SPDX-License-Identifier: MIT */
#include "cli/views/module_words.h"

#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/images/image_finder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ID_DIGITS_MIN 4 /* of a build-id, to name a module by */

static void write_hex(char *out, size_t out_bytes, const uint8_t *bytes, size_t n_bytes)
{
        out[0] = '\0';
        for (size_t i = 0; i < n_bytes && 2 * i + 3 <= out_bytes; i++)
                (void)snprintf(out + 2 * i, out_bytes - 2 * i, "%02x", bytes[i]);
}

struct module_words module_words_of(const struct trace_dictionary *d, uint32_t module)
{
        const struct trace_module *row = trace_dictionary_row(d, TRACE_TABLE_MODULES, module);
        struct module_words words;
        size_t path_bytes, id_bytes;
        const char *path = trace_dictionary_string(d, row->path, &path_bytes);
        const char *id = trace_dictionary_string(d, row->build_id, &id_bytes);
        const char *slash = path_bytes > 0 && path[0] == '/' ? memrchr(path, '/', path_bytes - 1) : NULL;

        if (slash) {
                path_bytes -= (size_t)(slash + 1 - path);
                path = slash + 1;
        }
        if (path_bytes >= sizeof(words.name))
                path_bytes = sizeof(words.name) - 1;
        memcpy(words.name, path, path_bytes);
        words.name[path_bytes] = '\0';
        write_hex(words.build_id, sizeof(words.build_id), (const uint8_t *)id, id_bytes);
        return words;
}

const char *module_words_kind(uint32_t kind)
{
        static const char *const names[] = {
                [TRACE_MODULE_FILE] = "file",     [TRACE_MODULE_VDSO] = "vdso",
                [TRACE_MODULE_KERNEL] = "kernel", [TRACE_MODULE_ANONYMOUS] = "anonymous",
                [TRACE_MODULE_MARK] = "mark",     [TRACE_MODULE_IMAGE] = "image",
                [TRACE_MODULE_PYTHON] = "python",
        };

        return kind < sizeof(names) / sizeof(names[0]) && names[kind] ? names[kind] : "unknown";
}

const char *module_words_source(uint32_t source)
{
        static const char *const names[] = {
                [IMAGE_SOURCE_NONE] = "missing",      [IMAGE_SOURCE_UNCHECKED] = "unchecked",
                [IMAGE_SOURCE_DIFFERS] = "differs",   [IMAGE_SOURCE_DEBUG] = "debug file",
                [IMAGE_SOURCE_PARTS] = "kept, parts", [IMAGE_SOURCE_FILE] = "found",
                [IMAGE_SOURCE_KEPT] = "kept",         [IMAGE_SOURCE_MACHINE] = "this machine",
                [IMAGE_SOURCE_TRACE] = "announced",
        };

        return source < sizeof(names) / sizeof(names[0]) ? names[source] : "unknown";
}

const char *module_words_state(const struct trace_module_image *row)
{
        if (!row)
                return NULL;
        switch (row->state) {
        case TRACE_IMAGE_KEPT:
                return "kept";
        case TRACE_IMAGE_TOO_LATE:
                return "too late";
        case TRACE_IMAGE_OVER_LIMIT:
                return "over the limit";
        case TRACE_IMAGE_FILE_LIMIT:
                return "over ulimit -f";
        case TRACE_IMAGE_UNREADABLE:
                return "unreadable";
        default:
                return "unknown";
        }
}

bool module_words_match(const struct trace_dictionary *d, uint32_t module, const char *wanted)
{
        const struct trace_module *row = trace_dictionary_row(d, TRACE_TABLE_MODULES, module);
        struct module_words words = module_words_of(d, module);
        size_t path_bytes, n = strlen(wanted);
        const char *path = trace_dictionary_string(d, row->path, &path_bytes);
        char number[16];

        (void)snprintf(number, sizeof(number), "%" PRIu32, module);
        return strcmp(number, wanted) == 0 || strcmp(words.name, wanted) == 0 ||
               (path_bytes == n && memcmp(path, wanted, n) == 0) ||
               (n >= ID_DIGITS_MIN && strncmp(words.build_id, wanted, n) == 0);
}
