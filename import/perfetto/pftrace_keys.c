/* SPDX-License-Identifier: MIT */
#include "import/perfetto/pftrace_keys.h"

#include "base/error.h"
#include "import/file/json_pull.h"
#include "import/rows/import_rows.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

/* The export writes unsigned numbers as signed ones. */
static bool read_key(struct json_value value, uint64_t *ret)
{
        int64_t number;

        if (value.kind != JSON_NUMBER)
                return false;
        if (json_pull_unsigned(value.text, ret))
                return true;
        if (!json_pull_decimal(value.text, 0, &number))
                return false;
        memcpy(ret, &number, sizeof(number));
        return true;
}

static int add_text(struct pftrace_keys *k, struct json_value value, uint32_t *ret, struct error *err)
{
        struct text_view text;

        if (value.kind != JSON_STRING)
                return 0;
        if (json_pull_string(value.text, &k->room, &text) < 0)
                return error_set(err, -ENOMEM, "no memory for a text");
        return import_rows_string(k->rows, text, ret, err);
}

/* A number begins a key, text after it says of which kind it is. */
static int take_part(struct pftrace_keys *k, bool is_kind, struct json_value value, struct import_key *key,
                     struct error *err)
{
        static const struct text_view no_kind = { "key", 3 };

        if (is_kind)
                return key->kind != 0 ? add_text(k, value, &key->kind, err) : 0;
        return read_key(value, &key->value) ? import_rows_string(k->rows, no_kind, &key->kind, err) : 0;
}

int pftrace_keys_read(struct pftrace_keys *k, struct text_view args, bool is_of_device,
                      struct import_span *span, struct error *err)
{
        const char *word = is_of_device ? "key" : "hyprof_key";
        const char *kind_word = is_of_device ? "key_kind" : "hyprof_key_kind";
        struct json_pull p = json_pull_text(args);
        struct import_key key = { .kind = 0 };
        struct json_value value;
        struct text_view name;
        int n = 0, r = 0;

        if (args.n_bytes == 0 || (!is_of_device && !memmem(args.bytes, args.n_bytes, word, strlen(word))) ||
            json_pull_next(&p, &value) != 1)
                return 0;
        p = json_pull_inside(value);
        while (r == 0 && n < INT_MAX && json_pull_member(&p, &name, &value) == 1) {
                bool is_key = text_view_is(name, word);

                if (is_key) {
                        r = import_rows_add_key(k->rows, &span->key, key, err);
                        key.kind = 0;
                        n++;
                }
                if (r == 0 && is_of_device && text_view_is(name, "text"))
                        r = add_text(k, value, &span->text, err);
                else if (r == 0 && (is_key || text_view_is(name, kind_word)))
                        r = take_part(k, !is_key, value, &key, err);
        }
        if (n > 0 && !is_of_device)
                span->text = 0;
        if (r == 0)
                r = import_rows_add_key(k->rows, &span->key, key, err);
        return r < 0 ? r : n;
}
