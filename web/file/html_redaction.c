/* SPDX-License-Identifier: MIT */
#include "web/file/html_parts.h"

#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/trace_dictionary.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define LEFT_OUT         "(left out)"
#define FOLDER_BYTES_MAX 4096 /* of a path, as the kernel has it */

/* Keys whose values are left out as a whole, and keys whose values are names and stay unchanged. */
static const char *const secret_keys[] = { "command", "hostname", "host", "source", "source_text" };
static const char *const plain_keys[] = { "schema", "handle", "unit" };

static bool is_among(const char *key, const char *const *keys, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (strcmp(key, keys[i]) == 0)
                        return true;
        return false;
}

static bool is_between_words(char c)
{
        return c == ' ' || c == '\'' || c == '"' || c == '(' || c == ')' || c == '=' || c == ',' ||
               c == ':' || c == '\t' || c == '\n' || c == '<' || c == '>';
}

/* Drops everything in a word up to its last '/'. */
static void put_word(const char *word, size_t n, struct byte_buffer *out)
{
        const char *slash = n > 1 ? memrchr(word, '/', n - 1) : NULL;
        size_t n_away = slash ? (size_t)(slash + 1 - word) : 0;

        byte_buffer_add(out, word + n_away, n - n_away);
}

/* ---- folders ------------------------------------------------------------------------------------------- */

int html_redaction_learn_path(struct html_redaction *redaction, struct text_view path)
{
        for (size_t i = 1; i < path.n_bytes && i < FOLDER_BYTES_MAX; i++) {
                uint32_t id;
                int r = 0;

                if (redaction->folders.n_items_max == 0)
                        intern_init(&redaction->folders, 0, 0);
                if (path.bytes[i] == '/' && path.bytes[i - 1] != '/')
                        r = intern_add(&redaction->folders, path.bytes, i, &id);
                if (r < 0 && r != -EOVERFLOW)
                        return r;
        }
        return 0;
}

/* Paths of the table, in the field at @offset of its rows. */
static int learn_field(struct html_redaction *redaction, const struct trace_dictionary *d,
                       enum trace_table table, size_t offset)
{
        int r = 0;

        for (uint32_t id = 1; r == 0 && id <= trace_dictionary_count(d, table); id++) {
                uint32_t string;

                memcpy(&string, (const char *)trace_dictionary_row(d, table, id) + offset, sizeof(string));
                r = html_redaction_learn_path(redaction, trace_dictionary_text(d, string));
        }
        return r;
}

int html_redaction_learn(struct html_redaction *redaction, const struct trace_dictionary *dictionary)
{
        static const struct {
                enum trace_table table;
                size_t offset;
        } fields[] = {
                { TRACE_TABLE_MODULES, offsetof(struct trace_module, path) },
                { TRACE_TABLE_SYMBOLS, offsetof(struct trace_symbol, file) },
                { TRACE_TABLE_SYMBOLS, offsetof(struct trace_symbol, declared_file) },
                { TRACE_TABLE_LOCATIONS, offsetof(struct trace_location, file) },
                { TRACE_TABLE_CODE_LINES, offsetof(struct trace_code_line, file) },
        };
        int r = 0;

        for (size_t i = 0; r == 0 && i < sizeof(fields) / sizeof(fields[0]); i++)
                r = learn_field(redaction, dictionary, fields[i].table, fields[i].offset);
        for (uint32_t id = 1; r == 0 && id <= trace_dictionary_count(dictionary, TRACE_TABLE_STRINGS); id++) {
                struct text_view text = trace_dictionary_text(dictionary, id);

                if (text.n_bytes > 0 && text.bytes[0] == '/')
                        r = html_redaction_learn_path(redaction, text);
        }
        return r;
}

void html_redaction_deinit(struct html_redaction *redaction)
{
        intern_deinit(&redaction->folders);
}

/* The length of the longest known folder at the beginning of @text, with the '/' behind it; 0 = none. */
static size_t find_folder(const struct html_redaction *redaction, const char *text, size_t n)
{
        size_t longest = 0;

        for (size_t i = 1; i <= n && i < FOLDER_BYTES_MAX && redaction->folders.n_items > 0; i++) {
                /* A word alone is a folder only with its '/': "src" may be a name as well. */
                bool ends = text[0] == '/' && (i == n || is_between_words(text[i]));

                if ((ends || (i < n && text[i] == '/')) && intern_find(&redaction->folders, text, i) != 0)
                        longest = i < n && text[i] == '/' ? i + 1 : i;
        }
        return longest;
}

/* ---- texts --------------------------------------------------------------------------------------------- */

static size_t find_secret(const struct html_redaction *redaction, const char *at, size_t n)
{
        const struct text_view *secrets[] = { &redaction->command, &redaction->host };

        for (size_t i = 0; i < 2; i++)
                if (secrets[i]->n_bytes > 1 && n >= secrets[i]->n_bytes &&
                    memcmp(at, secrets[i]->bytes, secrets[i]->n_bytes) == 0)
                        return secrets[i]->n_bytes;
        return 0;
}

void html_redaction_put(const struct html_redaction *redaction, struct text_view text,
                        struct byte_buffer *out)
{
        size_t at = 0;

        while (at < text.n_bytes) {
                bool begins = at == 0 || text.bytes[at] == '/' || is_between_words(text.bytes[at - 1]);
                size_t n_folder = begins ? find_folder(redaction, text.bytes + at, text.n_bytes - at) : 0;
                size_t n_secret = find_secret(redaction, text.bytes + at, text.n_bytes - at);
                size_t end = at;

                if (n_folder > n_secret && text.bytes[at + n_folder - 1] == '/') {
                        at += n_folder;
                        continue;
                }
                if (n_folder > n_secret)
                        n_secret = n_folder;
                if (n_secret > 0) {
                        byte_buffer_add(out, LEFT_OUT, strlen(LEFT_OUT));
                        at += n_secret;
                        continue;
                }
                if (is_between_words(text.bytes[at])) {
                        byte_buffer_add_u8(out, (uint8_t)text.bytes[at++]);
                        continue;
                }
                while (end < text.n_bytes && !is_between_words(text.bytes[end]))
                        end++;
                put_word(text.bytes + at, end - at, out);
                at = end;
        }
}

static json_t *clean_string(const struct html_redaction *redaction, const json_t *value)
{
        struct byte_buffer text = { .data = NULL };
        json_t *cleaned;

        html_redaction_put(redaction,
                           (struct text_view){ json_string_value(value), json_string_length(value) }, &text);
        cleaned = text.failed
                          ? NULL
                          : json_stringn_nocheck(text.data ? (const char *)text.data : "", text.used_bytes);
        byte_buffer_deinit(&text);
        return cleaned;
}

/* Arrays and objects of a document that are still to be cleaned. */
struct redaction_walk {
        json_t **values; /* heap; borrowed from the document */
        size_t n, capacity;
};

/*
 * Replaces a text by the cleaned text; *@ret_instead is NULL for a value that stays.  An array or object is
 * remembered for later.
 */
static int clean_value(const struct html_redaction *redaction, struct redaction_walk *walk, json_t *value,
                       json_t **ret_instead)
{
        *ret_instead = NULL;
        if (json_is_string(value)) {
                *ret_instead = clean_string(redaction, value);
                return *ret_instead ? 0 : -ENOMEM;
        }
        if (!json_is_object(value) && !json_is_array(value))
                return 0;
        if (array_reserve(&walk->values, &walk->capacity, walk->n + 1, sizeof(json_t *)) < 0)
                return -ENOMEM;
        walk->values[walk->n++] = value;
        return 0;
}

static int clean_member(const struct html_redaction *redaction, struct redaction_walk *walk, json_t *object,
                        const char *key, json_t *value)
{
        json_t *instead;

        if (is_among(key, plain_keys, sizeof(plain_keys) / sizeof(plain_keys[0])))
                return 0;
        if (is_among(key, secret_keys, sizeof(secret_keys) / sizeof(secret_keys[0])) &&
            (json_is_string(value) || json_is_array(value)))
                return json_object_set_new_nocheck(object, key, json_null());
        if (clean_value(redaction, walk, value, &instead) < 0)
                return -ENOMEM;
        return instead ? json_object_set_new_nocheck(object, key, instead) : 0;
}

static int clean_object(const struct html_redaction *redaction, struct redaction_walk *walk, json_t *object)
{
        const char *key;
        json_t *member;
        void *next;

        json_object_foreach_safe(object, next, key, member)
        {
                if (clean_member(redaction, walk, object, key, member) < 0)
                        return -ENOMEM;
        }
        return 0;
}

static int clean_array(const struct html_redaction *redaction, struct redaction_walk *walk, json_t *array)
{
        json_t *member, *instead;
        size_t i;

        json_array_foreach(array, i, member)
        {
                if (clean_value(redaction, walk, member, &instead) < 0)
                        return -ENOMEM;
                if (instead && json_array_set_new(array, i, instead) < 0)
                        return -ENOMEM;
        }
        return 0;
}

int html_redaction_clean(const struct html_redaction *redaction, json_t *document)
{
        struct redaction_walk walk = { .values = NULL };
        json_t *instead;
        int r = json_is_string(document) ? 0 : clean_value(redaction, &walk, document, &instead);

        while (r == 0 && walk.n > 0) {
                json_t *value = walk.values[--walk.n];

                r = json_is_object(value) ? clean_object(redaction, &walk, value)
                                          : clean_array(redaction, &walk, value);
        }
        free(walk.values);
        return r;
}

int html_redaction_clean_text(const struct html_redaction *redaction, struct byte_buffer *text,
                              struct error *err)
{
        json_t *document = json_loadb((const char *)text->data, text->used_bytes, JSON_ALLOW_NUL, NULL);
        char *printed = NULL;
        int r = document ? html_redaction_clean(redaction, document) : -EBADMSG;

        if (r == 0)
                printed = json_dumps(document, JSON_COMPACT);
        json_decref(document);
        if (!printed)
                return error_set(err, r < 0 ? r : -ENOMEM, "an answer cannot be redacted");
        byte_buffer_clear(text);
        byte_buffer_add(text, printed, strlen(printed));
        free(printed);
        return 0;
}
