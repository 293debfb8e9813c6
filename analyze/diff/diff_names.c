/* SPDX-License-Identifier: MIT */
#include "analyze/diff/diff_names.h"
#include "format/trace_dictionary.h"

#include "analyze/samples/function_table.h"
#include "analyze/trace/function_name.h"
#include "base/byte_buffer.h"
#include "base/mapped_path.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL        "[kernel]"
#define ADDRESS_BYTES 24

void diff_names_init(struct diff_names *n)
{
        *n = (struct diff_names){ .shown = NULL };
        intern_init(&n->strings, 0, 0);
        n->strings.items_bytes_max = DIFF_NAMES_BYTES_MAX;
        intern_init(&n->keys, sizeof(struct diff_key), DIFF_NAMES_KEYS_MAX);
}

void diff_names_deinit(struct diff_names *n)
{
        intern_deinit(&n->strings);
        intern_deinit(&n->keys);
        free(n->shown);
        n->shown = NULL;
}

static struct text_view last_part(struct text_view path)
{
        const char *slash = path.n_bytes ? memrchr(path.bytes, '/', path.n_bytes) : NULL;

        /* "//anon" has no folders. */
        if (!slash || slash == path.bytes + path.n_bytes - 1 || text_view_is(path, "//anon"))
                return path;
        path.n_bytes -= (size_t)(slash + 1 - path.bytes);
        path.bytes = slash + 1;
        return path;
}

struct text_view diff_names_plain_module(struct text_view path)
{
        static const char version[] = ".so.";
        struct text_view plain;
        const char *found;

        if (text_view_begins_with(path, "[image "))
                return (struct text_view){ .bytes = "[image]", .n_bytes = 7 };
        path.n_bytes = mapped_path_count(path.bytes, path.n_bytes);
        plain = last_part(path);
        found = plain.n_bytes ? memmem(plain.bytes, plain.n_bytes, version, sizeof(version) - 1) : NULL;
        if (found && found != plain.bytes)
                plain.n_bytes = (size_t)(found - plain.bytes) + 3;
        return plain;
}

static int add_string(struct diff_names *n, struct text_view s, uint32_t *ret_id)
{
        int r;

        *ret_id = 0;
        if (s.n_bytes == 0)
                return 0;
        r = intern_add(&n->strings, s.bytes, s.n_bytes, ret_id);
        return r < 0 ? r : 0;
}

static int add_key(struct diff_names *n, const struct diff_key *key, uint32_t *ret_key)
{
        int r = intern_add(&n->keys, key, sizeof(*key), ret_key);

        return r < 0 ? r : 0;
}

/* The displayed text for a function without a name; brackets distinguish it from a name. */
static struct text_view function_words(const struct trace_dictionary *d, const struct function *function,
                                       const struct trace_symbol *symbol)
{
        const char *words = "[unknown]";

        switch ((enum function_kind)function->kind) {
        case FUNCTION_NAMED:
        case FUNCTION_MARK:
        case FUNCTION_UNNAMED:
        case FUNCTION_KIND_COUNT:
                return plain_name_of_function(trace_dictionary_text(
                        d, symbol && symbol->plain_name != 0 && symbol->function == function->name
                                   ? symbol->plain_name
                                   : function->name));
        case FUNCTION_NO_SYMBOL:
        case FUNCTION_STALE_FILE:
                words = "[no symbol]";
                break;
        case FUNCTION_NO_MODULE:
                words = "[no module]";
                break;
        case FUNCTION_NO_CALLSTACK:
                words = "[no call stack]";
                break;
        }
        return (struct text_view){ .bytes = words, .n_bytes = strlen(words) };
}

/*
 * A start address is only of use where the name alone is ambiguous: copies of a function have other
 * addresses.
 */
static int add_place(struct diff_names *n, const struct trace_dictionary *d,
                     const struct trace_symbol *symbol, struct diff_key *key)
{
        char address[ADDRESS_BYTES];

        if (symbol->declared_line != 0) {
                key->line = symbol->declared_line;
                key->instance = symbol->instance;
                return add_string(n, last_part(trace_dictionary_text(d, symbol->declared_file)), &key->file);
        }
        if (symbol->plain_name == 0 || symbol->start_svma == 0)
                return 0;
        (void)snprintf(address, sizeof(address), "0x%" PRIx64, symbol->start_svma);
        return add_string(n, (struct text_view){ address, strlen(address) }, &key->file);
}

int diff_names_add_name(struct diff_names *n, const struct trace_dictionary *d,
                        const struct function *function, const struct trace_symbol *symbol, uint32_t *ret_id)
{
        return add_string(n, function_words(d, function, symbol), ret_id);
}

int diff_names_add_function(struct diff_names *n, const struct trace_dictionary *d,
                            const struct function *function, const struct trace_symbol *symbol,
                            uint32_t *ret_key)
{
        struct diff_key key = { .kind = DIFF_FUNCTION };
        int r = add_string(n, function_words(d, function, symbol), &key.name);

        if (r == 0 && symbol && function->name != 0)
                r = add_place(n, d, symbol, &key);
        if (r == 0)
                r = add_string(n, diff_names_plain_module(trace_dictionary_text(d, function->module)),
                               &key.module);
        return r < 0 ? r : add_key(n, &key, ret_key);
}

int diff_names_add_zone(struct diff_names *n, const struct trace_dictionary *d,
                        const struct trace_location *location, uint32_t *ret_key)
{
        struct diff_key key = { .kind = DIFF_ZONE };
        int r = add_string(n, trace_dictionary_text(d, location->name), &key.name);

        if (r == 0)
                r = add_string(n, plain_name_of_function(trace_dictionary_text(d, location->function)),
                               &key.function);
        if (r == 0)
                r = add_string(n, last_part(trace_dictionary_text(d, location->file)), &key.file);
        if (r == 0 && key.name == 0) /* zones may go by their function alone */
                key.name = key.function;
        return r < 0 ? r : add_key(n, &key, ret_key);
}

int diff_names_add_kernel(struct diff_names *n, const struct trace_dictionary *d,
                          const struct trace_location *location, const struct trace_device *device,
                          uint32_t *ret_key)
{
        struct diff_key key = { .kind = DIFF_KERNEL };
        uint32_t name = location->name != 0 ? location->name : location->function;
        int r = add_string(n, trace_dictionary_text(d, name), &key.name);

        if (r == 0)
                r = add_string(n, trace_dictionary_text(d, device->name), &key.module);
        return r < 0 ? r : add_key(n, &key, ret_key);
}

/* A caller without a symbol is named by its file, because addresses differ between builds. */
static int add_caller_name(struct diff_names *n, const struct trace_dictionary *d,
                           const struct diff_caller *caller, struct diff_key *key, uint32_t *ret_name)
{
        struct text_view module = diff_names_plain_module(trace_dictionary_text(d, caller->function->module));
        int r = add_string(n, module, &key->module);

        *ret_name = key->module;
        if (r < 0 || caller->function->kind != FUNCTION_NAMED)
                return r;
        return diff_names_add_name(n, d, caller->function, caller->symbol, ret_name);
}

int diff_names_add_call(struct diff_names *n, const struct trace_dictionary *d, enum diff_kind kind,
                        struct text_view call, const struct diff_caller *caller, uint32_t *ret_key)
{
        struct diff_key key = { .kind = kind };
        struct byte_buffer words = { .data = NULL };
        uint32_t name = 0;
        int r = add_string(n, call, &key.function);

        if (r == 0 && caller->function)
                r = add_caller_name(n, d, caller, &key, &name);
        if (r < 0)
                return r;
        byte_buffer_add(&words, call.bytes, call.n_bytes);
        if (name != 0) {
                struct text_view from = diff_names_string(n, name);

                byte_buffer_add_format(&words, " from ");
                byte_buffer_add(&words, from.bytes, from.n_bytes);
        }
        if (words.failed)
                r = -ENOMEM;
        else
                r = add_string(n, (struct text_view){ (const char *)words.data, words.used_bytes },
                               &key.name);
        byte_buffer_deinit(&words);
        return r < 0 ? r : add_key(n, &key, ret_key);
}

const struct diff_key *diff_names_key(const struct diff_names *n, uint32_t key)
{
        return intern_get(&n->keys, key, NULL);
}

struct text_view diff_names_shown(const struct diff_names *n, uint32_t key)
{
        uint32_t shown = n->shown && key <= n->n_shown ? n->shown[key] : 0;

        return diff_names_string(n, shown != 0 ? shown : diff_names_key(n, key)->name);
}

struct text_view diff_names_string(const struct diff_names *n, uint32_t id)
{
        struct text_view s = { .n_bytes = 0 };

        if (id != 0)
                s.bytes = intern_get(&n->strings, id, &s.n_bytes);
        return s;
}

bool diff_names_fits_glob(struct text_view name, const char *glob)
{
        char *text = strndup(name.n_bytes > 0 ? name.bytes : "", name.n_bytes);
        bool fits = text && (strcmp(glob, text) == 0 || fnmatch(glob, text, 0) == 0);

        free(text);
        return fits;
}

bool diff_names_is_kernel(const struct diff_names *n, const struct diff_key *key)
{
        if (key->kind == DIFF_WAIT)
                return text_view_is(diff_names_string(n, key->function), DIFF_NAMES_PAGE_FAULTS);
        return key->kind == DIFF_FUNCTION && text_view_is(diff_names_string(n, key->module), KERNEL);
}
