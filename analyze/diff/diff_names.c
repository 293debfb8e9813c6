/* SPDX-License-Identifier: MIT */
#include "analyze/diff/diff_names.h"
#include "format/trace_dictionary.h"

#include "analyze/walk/function_table.h"

#include <errno.h>
#include <string.h>

#define KERNEL "[kernel]"

void diff_names_init(struct diff_names *n)
{
        intern_init(&n->strings, 0, 0);
        n->strings.items_bytes_max = DIFF_NAMES_BYTES_MAX;
        intern_init(&n->keys, sizeof(struct diff_key), DIFF_NAMES_KEYS_MAX);
}

void diff_names_deinit(struct diff_names *n)
{
        intern_deinit(&n->strings);
        intern_deinit(&n->keys);
}

static bool diff_names_equals(struct text_view s, const char *text)
{
        return s.n_bytes == strlen(text) && memcmp(s.bytes, text, s.n_bytes) == 0;
}

/* Suffixes that compilers append after a dot where they copy, cut or rename a function. */
static bool is_of_compiler(struct text_view part)
{
        static const char *const words[] = { "isra", "constprop", "part",       "cold",
                                             "llvm", "lto_priv",  "localalias", "warm" };
        size_t n_digits = 0;

        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
                if (diff_names_equals(part, words[i]))
                        return true;
        while (n_digits < part.n_bytes && part.bytes[n_digits] >= '0' && part.bytes[n_digits] <= '9')
                n_digits++;
        return n_digits > 0 && n_digits == part.n_bytes;
}

struct text_view diff_names_plain_function(struct text_view name)
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

static struct text_view diff_names_last_part(struct text_view path)
{
        const char *slash = path.n_bytes ? memrchr(path.bytes, '/', path.n_bytes) : NULL;

        /* "//anon" has no folders. */
        if (!slash || slash == path.bytes + path.n_bytes - 1 || diff_names_equals(path, "//anon"))
                return path;
        path.n_bytes -= (size_t)(slash + 1 - path.bytes);
        path.bytes = slash + 1;
        return path;
}

struct text_view diff_names_plain_module(struct text_view path)
{
        static const char image[] = "[image ", version[] = ".so.", gone[] = " (deleted)";
        struct text_view plain;
        const char *found;

        if (path.n_bytes >= sizeof(image) - 1 && memcmp(path.bytes, image, sizeof(image) - 1) == 0)
                return (struct text_view){ .bytes = "[image]", .n_bytes = 7 };
        if (path.n_bytes > sizeof(gone) - 1 &&
            memcmp(path.bytes + path.n_bytes - (sizeof(gone) - 1), gone, sizeof(gone) - 1) == 0)
                path.n_bytes -= sizeof(gone) - 1;
        plain = diff_names_last_part(path);
        found = plain.n_bytes ? memmem(plain.bytes, plain.n_bytes, version, sizeof(version) - 1) : NULL;
        if (found && found != plain.bytes)
                plain.n_bytes = (size_t)(found - plain.bytes) + 3;
        return plain;
}

static int diff_names_add_string(struct diff_names *n, struct text_view s, uint32_t *ret_id)
{
        int r;

        *ret_id = 0;
        if (s.n_bytes == 0)
                return 0;
        r = intern_add(&n->strings, s.bytes, s.n_bytes, ret_id);
        return r < 0 ? r : 0;
}

static int diff_names_add_key(struct diff_names *n, const struct diff_key *key, uint32_t *ret_key)
{
        int r = intern_add(&n->keys, key, sizeof(*key), ret_key);

        return r < 0 ? r : 0;
}

/* The displayed text for a function without a name; brackets distinguish it from a name. */
static struct text_view function_words(const struct trace_dictionary *d, const struct function *function)
{
        const char *words = "[unknown]";

        switch ((enum function_kind)function->kind) {
        case FUNCTION_NAMED:
        case FUNCTION_MARK:
        case FUNCTION_UNNAMED:
        case FUNCTION_KIND_COUNT:
                return diff_names_plain_function(trace_dictionary_text(d, function->name));
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

int diff_names_add_function(struct diff_names *n, const struct trace_dictionary *d,
                            const struct function *function, uint32_t *ret_key)
{
        struct diff_key key = { .kind = DIFF_FUNCTION };
        int r = diff_names_add_string(n, function_words(d, function), &key.name);

        if (r == 0)
                r = diff_names_add_string(
                        n, diff_names_plain_module(trace_dictionary_text(d, function->module)), &key.module);
        return r < 0 ? r : diff_names_add_key(n, &key, ret_key);
}

int diff_names_add_zone(struct diff_names *n, const struct trace_dictionary *d,
                        const struct trace_location *location, uint32_t *ret_key)
{
        struct diff_key key = { .kind = DIFF_ZONE };
        int r = diff_names_add_string(n, trace_dictionary_text(d, location->name), &key.name);

        if (r == 0)
                r = diff_names_add_string(
                        n, diff_names_plain_function(trace_dictionary_text(d, location->function)),
                        &key.function);
        if (r == 0)
                r = diff_names_add_string(n, diff_names_last_part(trace_dictionary_text(d, location->file)),
                                          &key.file);
        if (r == 0 && key.name == 0) /* zones may go by their function alone */
                key.name = key.function;
        return r < 0 ? r : diff_names_add_key(n, &key, ret_key);
}

const struct diff_key *diff_names_key(const struct diff_names *n, uint32_t key)
{
        return intern_get(&n->keys, key, NULL);
}

struct text_view diff_names_string(const struct diff_names *n, uint32_t id)
{
        struct text_view s = { .n_bytes = 0 };

        if (id != 0)
                s.bytes = intern_get(&n->strings, id, &s.n_bytes);
        return s;
}

bool diff_names_is_kernel(const struct diff_names *n, const struct diff_key *key)
{
        return key->kind == DIFF_FUNCTION && diff_names_equals(diff_names_string(n, key->module), KERNEL);
}
