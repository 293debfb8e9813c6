/* SPDX-License-Identifier: MIT */
#include "view/document/answer_schema.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#define FLAT_FLAGS   (JSON_PRESERVE_ORDER | JSON_ENCODE_ANY)
#define LINE_COLUMNS 118
#define INDENT       2
#define DRAFT        "https://json-schema.org/draft/2020-12/schema"

/* A type of the schema, once for all columns that have it. */
struct definition {
        const char *name, *json;
};

/* By enum view_type: of columns that are never null, and of the others. */
static const struct definition definitions[][2] = {
        [VIEW_STRING] = { { "text_or_null", "{\"type\": [\"string\", \"null\"]}" } },
        [VIEW_HANDLE] = { { "handle_or_null",
                            "{\"description\": \"of the next command: z7 a zone, t3 a thread, f12 a function; the "
                            "same for one trace file\", \"type\": [\"string\", \"null\"], \"pattern\": "
                            "\"^[a-z][0-9]+$\"}" } },
        [VIEW_COUNT] = { { "count", "{\"type\": \"integer\", \"minimum\": 0}" },
                         { "count_or_null", "{\"type\": [\"integer\", \"null\"], \"minimum\": 0}" } },
        [VIEW_ID] = { { "id",
                        "{\"description\": \"a number that is a name, such as a PID\", \"type\": \"integer\"}" },
                      { "id_or_null",
                        "{\"description\": \"a number that is a name, such as a PID\", \"type\": "
                        "[\"integer\", \"null\"]}" } },
        [VIEW_DURATION] = { { "ns_or_null",
                              "{\"description\": \"nanoseconds\", \"type\": [\"integer\", \"null\"], "
                              "\"minimum\": 0}" } },
        [VIEW_TIME] = { { "time_ns_or_null",
                          "{\"description\": \"nanoseconds since the start of the recording\", \"type\": "
                          "[\"integer\", \"null\"], \"minimum\": 0}" } },
        [VIEW_BYTES] = { { "bytes_or_null",
                           "{\"description\": \"bytes\", \"type\": [\"integer\", \"null\"], \"minimum\": 0}" } },
        [VIEW_SHARE] = { { "share_or_null",
                           "{\"description\": \"0 to 1\", \"type\": [\"number\", \"null\"]}" } },
        [VIEW_CHANGE] = { { "change_or_null", "{\"description\": \"0.05 is five percent more\", \"type\": "
                                              "[\"number\", \"null\"]}" } },
        [VIEW_DELTA] = { { "delta_ns_or_null",
                           "{\"description\": \"nanoseconds, with a sign\", \"type\": [\"integer\", \"null\"]}" } },
        [VIEW_REAL] = { { "real_or_null", "{\"type\": [\"number\", \"null\"]}" } },
        [VIEW_BAR] = { { "bar", "{\"description\": \"of the longest bar, 0 to 1\", \"type\": \"number\", "
                                "\"minimum\": 0, \"maximum\": 1}" } },
        [VIEW_PLACE] = { { "place_or_null",
                           "{\"description\": \"a file and a line: src/main.c:12\", \"type\": "
                           "[\"string\", \"null\"]}" } },
        [VIEW_BOOL] = { { "bool", "{\"type\": \"boolean\"}" },
                        { "bool_or_null", "{\"type\": [\"boolean\", \"null\"]}" } },
        [VIEW_STACK] = { { "stack_or_null",
                           "{\"description\": \"functions, the innermost first; the last is \\\"…\\\" if there are "
                           "more\", \"type\": [\"array\", \"null\"], \"items\": {\"type\": \"string\"}}" } },
};

static const struct definition text_definition = { "text", "{\"type\": \"string\"}" };
static const struct definition lines_definition = {
        "lines", "{\"description\": \"for people\", \"type\": \"array\", \"items\": {\"type\": \"string\"}}"
};

static const struct definition *definition_of(const struct view_column *c)
{
        const struct definition *d = definitions[c->type];

        return c->may_be_null && d[1].name ? &d[1] : &d[0];
}

/*
 * Functions of jansson take NULL for a value that there was no memory for, and fail; so what is made here
 * needs no checks in between: it is complete, or printing it fails.
 */
struct printing {
        json_t *definitions;
        bool failed;
};

static void set(struct printing *p, json_t *object, const char *key, json_t *value)
{
        p->failed |= json_object_set_new(object, key, value) < 0;
}

static void append(struct printing *p, json_t *array, json_t *value)
{
        p->failed |= json_array_append_new(array, value) < 0;
}

/* Returns a description with a reference to the definition, and notes that the definition is used. */
static json_t *refer(struct printing *p, const struct definition *d, const char *words)
{
        json_t *made = json_object();

        if (words)
                set(p, made, "description", json_string(words));
        set(p, made, "$ref", json_sprintf("#/$defs/%s", d->name));
        if (!json_object_get(p->definitions, d->name))
                set(p, p->definitions, d->name, json_loads(d->json, 0, NULL));
        return made;
}

/* "high|medium|none" */
static json_t *make_choice(struct printing *p, const struct view_column *c)
{
        json_t *made = json_object(), *list = json_array();

        if (c->words)
                set(p, made, "description", json_string(c->words));
        for (const char *at = c->one_of; *at != '\0';) {
                size_t n = strcspn(at, "|");

                append(p, list, json_stringn(at, n));
                at += n + (at[n] == '|');
        }
        if (c->may_be_null)
                append(p, list, json_null());
        set(p, made, "enum", list);
        return made;
}

static json_t *make_object(struct printing *p, json_t *properties, json_t *required)
{
        json_t *made = json_object();

        set(p, made, "type", json_string("object"));
        set(p, made, "additionalProperties", json_false());
        set(p, made, "required", required);
        set(p, made, "properties", properties);
        return made;
}

static void add_columns(struct printing *p, const struct answer_part *part, json_t *properties,
                        json_t *required)
{
        for (uint32_t i = 0; i < part->n_columns; i++) {
                const struct view_column *c = &part->columns[i];

                if (!c->key)
                        continue;
                /* One fact may be said in different ways; a table has each column once. */
                p->failed |= part->key && json_object_get(properties, c->key);
                p->failed |= c->words && strpbrk(c->words, "|<\n"); /* of Markdown */
                if (json_object_get(properties, c->key))
                        continue;
                set(p, properties, c->key,
                    c->one_of ? make_choice(p, c) : refer(p, definition_of(c), c->words));
                if (!c->may_be_absent && !(part->may_be_absent && !part->key))
                        append(p, required, json_string(c->key));
        }
}

static json_t *make_table(struct printing *p, const struct answer_part *part)
{
        const struct definition *count = definitions[VIEW_COUNT];
        json_t *row_properties = json_object(), *row_required = json_array();
        json_t *properties = json_object(), *required, *rows = json_object(), *row, *made;

        if (part->is_tree) {
                set(p, row_properties, "depth", refer(p, &count[0], NULL));
                append(p, row_required, json_string("depth"));
        }
        add_columns(p, part, row_properties, row_required);
        row = make_object(p, row_properties, row_required);
        if (part->more_columns)
                set(p, row, "additionalProperties", refer(p, &count[0], part->more_columns));
        set(p, rows, "type", json_string("array"));
        set(p, rows, "items", row);
        set(p, properties, "about", refer(p, definitions[VIEW_STRING], NULL));
        set(p, properties, "rows", rows);
        set(p, properties, "n_rows", refer(p, &count[0], NULL));
        set(p, properties, "left_out", refer(p, &count[0], NULL));
        set(p, properties, "next", refer(p, &count[1], NULL));
        required = json_pack("[s, s, s, s, s]", "about", "rows", "n_rows", "left_out", "next");
        made = make_object(p, properties, required);
        if (part->words)
                set(p, made, "description", json_string(part->words));
        return made;
}

static void add_part(struct printing *p, const struct answer_part *part, json_t *properties, json_t *required)
{
        if (!part->key) {
                add_columns(p, part, properties, required);
                return;
        }
        set(p, properties, part->key, make_table(p, part));
        if (!part->may_be_absent)
                append(p, required, json_string(part->key));
}

static void print_json(struct printing *p, json_t *json, int n_before, int indent, FILE *out);

/* NOLINTNEXTLINE(misc-no-recursion): as deep as a schema, which our own lists make */
static void print_members(struct printing *p, json_t *object, int indent, FILE *out)
{
        const char *key, *separator = "";
        json_t *value;

        (void)fputc('{', out);
        json_object_foreach(object, key, value)
        {
                (void)fprintf(out, "%s\n%*s\"%s\": ", separator, indent + INDENT, "", key);
                separator = ",";
                print_json(p, value, indent + INDENT + (int)strlen(key) + 4, indent + INDENT, out);
        }
        (void)fprintf(out, "\n%*s}", indent, "");
}

/* Prints items one after the other, as many on a line as fit. */
static void print_items(struct printing *p, const json_t *array, int indent, FILE *out)
{
        int column = LINE_COLUMNS;
        json_t *item;
        size_t i;

        (void)fputc('[', out);
        json_array_foreach(array, i, item)
        {
                char *flat = json_dumps(item, FLAT_FLAGS);
                int n = flat ? (int)strlen(flat) : 0;

                p->failed |= !flat;
                (void)fputs(i != 0 ? "," : "", out);
                if (column + n + 2 > LINE_COLUMNS)
                        column = fprintf(out, "\n%*s", indent + INDENT, "") - 1;
                else
                        column += fprintf(out, " ");
                column += n + 1;
                (void)fputs(flat ? flat : "", out);
                free(flat);
        }
        (void)fprintf(out, "\n%*s]", indent, "");
}

/* Prints on one line if the value fits there, after @n_before columns. */
/* NOLINTNEXTLINE(misc-no-recursion): see print_members() */
static void print_json(struct printing *p, json_t *json, int n_before, int indent, FILE *out)
{
        char *flat = json_dumps(json, FLAT_FLAGS);

        p->failed |= !flat;
        if (flat && n_before + (int)strlen(flat) < LINE_COLUMNS)
                (void)fputs(flat, out);
        else if (json_is_object(json))
                print_members(p, json, indent, out);
        else if (json_is_array(json))
                print_items(p, json, indent, out);
        else
                (void)fputs(flat ? flat : "", out);
        free(flat);
}

int answer_schema_print_json(const struct answer_schema *s, FILE *out)
{
        struct printing p = { .definitions = json_object() };
        json_t *properties = json_object(), *required = json_array(), *schema = json_object(), *top;

        set(&p, properties, "schema", json_pack("{s: s}", "const", s->name));
        append(&p, required, json_string("schema"));
        if (!s->lacks_answer) {
                set(&p, properties, "answer", refer(&p, &text_definition, "in one sentence"));
                append(&p, required, json_string("answer"));
        }
        for (uint32_t i = 0; s->parts[i]; i++)
                add_part(&p, s->parts[i], properties, required);
        set(&p, properties, "warnings", refer(&p, &lines_definition, NULL));
        set(&p, properties, "hints", refer(&p, &lines_definition, NULL));
        append(&p, required, json_string("warnings"));
        append(&p, required, json_string("hints"));
        set(&p, schema, "$schema", json_string(DRAFT));
        set(&p, schema, "title", json_string(s->command));
        top = make_object(&p, properties, required);
        p.failed |= json_object_update(schema, top) < 0;
        set(&p, schema, "$defs", p.definitions);
        json_decref(top);
        print_json(&p, schema, 0, 0, out);
        json_decref(schema);
        (void)fputc('\n', out);
        return p.failed ? -ENOMEM : 0;
}

/* ---- Markdown ------------------------------------------------------------------------------------------ */

/* In the words of docs/use/view-json.md. */
static const char *const type_words[] = {
        [VIEW_STRING] = "text", [VIEW_HANDLE] = "handle", [VIEW_COUNT] = "count",
        [VIEW_ID] = "number",   [VIEW_DURATION] = "ns",   [VIEW_TIME] = "ns since the start",
        [VIEW_BYTES] = "bytes", [VIEW_SHARE] = "share",   [VIEW_CHANGE] = "change",
        [VIEW_DELTA] = "ns, ±", [VIEW_REAL] = "number",   [VIEW_BAR] = "0 to 1",
        [VIEW_PLACE] = "place", [VIEW_BOOL] = "boolean",  [VIEW_STACK] = "call stack",
};

static void print_choice(const char *one_of, FILE *out)
{
        for (const char *at = one_of; *at != '\0';) {
                int n = (int)strcspn(at, "|");

                (void)fprintf(out, "%s`\"%.*s\"`", at != one_of ? ", " : "", n, at);
                at += n + (at[n] == '|');
        }
}

/* Whether two columns may stand in one line of the table: neither needs words. */
static bool is_alike(const struct view_column *a, const struct view_column *b)
{
        return a->type == b->type && a->may_be_absent == b->may_be_absent && !a->words && !b->words &&
               !a->one_of && !b->one_of;
}

static void print_columns(const struct answer_part *part, FILE *out)
{
        const struct view_column *first = NULL;

        for (uint32_t i = 0; i < part->n_columns; i++) {
                const struct view_column *c = &part->columns[i], *next = c + 1;

                if (!c->key)
                        continue;
                (void)fprintf(out, "%s`%s`", first ? ", " : "| ", c->key);
                first = c;
                if (i + 1 < part->n_columns && next->key && is_alike(c, next))
                        continue;
                first = NULL;
                (void)fprintf(out, " | %s%s |%s%s%s", type_words[c->type],
                              c->may_be_absent || (part->may_be_absent && !part->key) ? ", not always there"
                                                                                      : "",
                              c->words || c->one_of ? " " : "", c->words ? c->words : "",
                              c->words && c->one_of ? ": " : "");
                if (c->one_of)
                        print_choice(c->one_of, out);
                (void)fputs(" |\n", out);
        }
        if (part->more_columns)
                (void)fprintf(out, "| … | count | %s |\n", part->more_columns);
}

void answer_schema_print_markdown(const struct answer_schema *s, FILE *out)
{
        (void)fprintf(out, "### `%s`: `%s`\n\n| member | type | value |\n|---|---|---|\n", s->name,
                      s->command);
        for (uint32_t i = 0; s->parts[i]; i++) {
                const struct answer_part *part = s->parts[i];

                if (part->is_common)
                        continue;
                if (part->key)
                        (void)fprintf(out, "| **`%s`** | %s%s | %s |\n", part->key,
                                      part->is_tree ? "tree" : "table",
                                      part->may_be_absent ? ", not always there" : "",
                                      part->words ? part->words : "");
                print_columns(part, out);
        }
}
