/* SPDX-License-Identifier: MIT */
#include "analyze/trace/function_labels.h"

#include "analyze/trace/function_name.h"
#include "base/array.h"
#include "base/byte_buffer.h"
#include "base/intern.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLOSURE_NAME     "operator()"
#define DESTRUCTOR_MARK  "::~" /* its variants are one function to people */
#define NUMBER_BYTES_MAX 32
/*
 * All rows together have at most this many bytes of text: a hostile trace has one text of 64 MiB for each
 * row.
 */
#define ROW_TEXTS_BYTES_MAX (UINT64_C(1) << 28)

/* A name in a module. */
struct name_key {
        uint32_t path; /* string: of the module */
        uint32_t name; /* string */
};

/* A function with a group's name.  Compared as bytes. */
struct place_key {
        uint64_t start_svma; /* 0 = it is known by its declaration */
        uint32_t group;
        uint32_t module; /* of `start_svma`; else 0 */
        uint32_t file;   /* in `files` */
        uint32_t line;
        uint32_t instance;
        uint32_t reserved;
};

struct group {
        uint32_t first_row; /* the first row with the function's place; 0 = none */
        uint32_t base;      /* for a part of a function, the group of the whole function; else its own */
        bool is_candidate;  /* rows say different places */
        bool is_ambiguous;  /* it has several functions */
        bool has_line;      /* lines are always shown */
        /*
         * The numbers of places known by a declaration and by a start address, and the last place of each
         * kind.
         */
        uint32_t n_declared, n_begun, declared, begun;
        bool has_both; /* a row says both of one function */
};

/* How much of a declaration is shown, the shortest first. */
enum detail {
        DETAIL_FILE,
        DETAIL_FOLDER,
        DETAIL_PATH,
        DETAIL_LINE,
        DETAIL_FOLDER_LINE,
        DETAIL_NUMBER, /* with the instance; for a lambda, with its column */
        DETAIL_FOLDER_NUMBER,
        DETAIL_ALL,
        DETAIL_COUNT
};

/* Keys, each with its first value. */
struct first_values {
        struct intern keys;
        uint32_t *values; /* heap; by id of the key */
        size_t capacity;
};

struct settling {
        struct trace_dictionary *d;
        uint32_t n_rows;
        uint32_t *group_of;   /* heap; by row; 0 = the row is ignored */
        struct intern names;  /* struct name_key; ids are groups */
        struct group *groups; /* heap; by id */
        size_t groups_capacity;
        struct intern files;       /* paths without "." and ".." */
        struct intern places;      /* struct place_key */
        struct byte_buffer *texts; /* heap; by place: the text that is shown of it */
        struct byte_buffer scratch;
};

static const struct trace_symbol *row_of(const struct settling *s, uint32_t id)
{
        return trace_dictionary_row(s->d, TRACE_TABLE_SYMBOLS, id);
}

static const struct trace_module *module_of(const struct settling *s, const struct trace_symbol *row,
                                            uint32_t *ret_id)
{
        const struct trace_frame *frame = trace_dictionary_row(s->d, TRACE_TABLE_FRAMES, row->frame);

        *ret_id = frame->module;
        return frame->module != 0 ? trace_dictionary_row(s->d, TRACE_TABLE_MODULES, frame->module) : NULL;
}

static struct text_view name_of_group(const struct settling *s, uint32_t group)
{
        const struct name_key *key = intern_get(&s->names, group, NULL);

        return trace_dictionary_text(s->d, key->name);
}

static bool has_mark(struct text_view text, const char *mark)
{
        return text.n_bytes > 0 && memmem(text.bytes, text.n_bytes, mark, strlen(mark));
}

static void first_values_deinit(struct first_values *f)
{
        intern_deinit(&f->keys);
        free(f->values);
}

/* Returns 1 if the first value of the key was another one, 0, -ENOMEM or -EOVERFLOW. */
static int note_value(struct first_values *f, const void *key, size_t n_bytes, uint32_t value,
                      uint32_t *ret_id)
{
        int r = intern_add(&f->keys, key, n_bytes, ret_id);

        if (r < 0)
                return r;
        if (array_reserve(&f->values, &f->capacity, (size_t)*ret_id + 1, sizeof(*f->values)) < 0)
                return -ENOMEM;
        if (r == 1)
                f->values[*ret_id] = value;
        return f->values[*ret_id] != value;
}

/* The same for the key in `scratch`. */
static int note_scratch(const struct settling *s, struct first_values *f, uint32_t value, uint32_t *ret_id)
{
        return s->scratch.failed ? -ENOMEM
                                 : note_value(f, s->scratch.data, s->scratch.used_bytes, value, ret_id);
}

/* ---- groups -------------------------------------------------------------------------------------------- */

static bool is_declared(const struct trace_symbol *row)
{
        return row->declared_line != 0 && row->declared_file != 0;
}

static bool is_placed(const struct trace_symbol *row)
{
        return row->function != 0 && (is_declared(row) || row->start_svma != 0);
}

/*
 * Whether two rows obviously give the same place.  Most do, so a longer comparison of the others matters
 * little.
 */
static bool say_the_same(const struct trace_symbol *a, const struct trace_symbol *b)
{
        if (is_declared(a) || is_declared(b))
                return a->declared_file == b->declared_file && a->declared_line == b->declared_line &&
                       a->instance == b->instance;
        return a->start_svma == b->start_svma;
}

/* Lambdas of one file are told apart by their lines, so that they look alike in every report. */
static bool is_lambda(struct text_view name)
{
        return has_mark(name, CLOSURE_NAME) || has_mark(name, "lambda") || has_mark(name, "{closure");
}

static int take_row(struct settling *s, uint32_t id)
{
        const struct trace_symbol *row = row_of(s, id);
        const struct trace_module *module;
        struct name_key key = { .name = row->function };
        uint32_t module_id, group;
        struct group *g;
        int r;

        module = module_of(s, row, &module_id);
        key.path = module ? module->path : 0;
        r = intern_add(&s->names, &key, sizeof(key), &group);
        if (r < 0)
                return r;
        if (array_reserve(&s->groups, &s->groups_capacity, (size_t)group + 1, sizeof(*s->groups)) < 0)
                return -ENOMEM;
        s->group_of[id] = group;
        g = &s->groups[group];
        if (r == 1)
                *g = (struct group){ .base = group };
        if (!is_placed(row))
                return 0;
        if (g->first_row == 0)
                g->first_row = id;
        else if (!say_the_same(row_of(s, g->first_row), row))
                g->is_candidate = true;
        return 0;
}

/* A later group of rows of a frame replaces an earlier one; a group ends with a row that is not inlined. */
static int take_rows(struct settling *s)
{
        uint32_t *first_rows = trace_dictionary_find_symbols(s->d);
        uint32_t next = 0, first = 0;
        int r = first_rows ? 0 : -ENOMEM;

        for (uint32_t i = 1; i <= s->n_rows && r == 0; i++) {
                const struct trace_symbol *row = row_of(s, i);

                if (i != next)
                        first = i;
                next = trace_dictionary_next_symbol(s->d, i);
                if (first == first_rows[row->frame] && row->function != 0)
                        r = take_row(s, i);
        }
        free(first_rows);
        return r;
}

/* Compares a copy or a part of a function with the group of its plain name, or with another copy. */
static void join_group(struct settling *s, uint32_t group, uint32_t base)
{
        struct group *g = &s->groups[group], *b = &s->groups[base];

        g->base = base;
        if (g->first_row == 0 || b->first_row == 0)
                return;
        if (is_declared(row_of(s, g->first_row)) && is_declared(row_of(s, b->first_row)) &&
            !say_the_same(row_of(s, g->first_row), row_of(s, b->first_row)))
                b->is_candidate = true;
}

/*
 * Copies and parts that the compiler made of a function, such as "f.cold" or "f [clone .isra.0]", have the
 * same name in reports that compare, so they go with the group of "f".
 */
static int join_parts(struct settling *s)
{
        struct first_values plain = { .values = NULL };
        uint32_t id;
        int r = 0;

        intern_init(&plain.keys, 0, 0);
        for (uint32_t i = 1; i <= s->names.n_items && r >= 0; i++) {
                const struct name_key *key = intern_get(&s->names, i, NULL);
                struct text_view name = plain_name_of_function(name_of_group(s, i));

                byte_buffer_clear(&s->scratch);
                byte_buffer_add_u32(&s->scratch, key->path);
                byte_buffer_add(&s->scratch, name.bytes, name.n_bytes);
                r = note_scratch(s, &plain, i, &id);
                if (r == 1)
                        join_group(s, i, plain.values[id]);
        }
        for (uint32_t i = 1; i <= s->names.n_items && r >= 0; i++) {
                struct group *base = &s->groups[s->groups[i].base];

                base->is_candidate |= s->groups[i].is_candidate;
        }
        for (uint32_t i = 1; i <= s->names.n_items && r >= 0; i++)
                s->groups[i].is_candidate |= s->groups[s->groups[i].base].is_candidate;
        first_values_deinit(&plain);
        return r < 0 ? r : 0;
}

/* ---- places -------------------------------------------------------------------------------------------- */

/* Appends @part, which is a name, ".", ".." or empty. */
static void add_path_part(struct byte_buffer *out, const char *part, size_t n_bytes)
{
        if (n_bytes == 0 || (n_bytes == 1 && part[0] == '.'))
                return;
        if (n_bytes == 2 && part[0] == '.' && part[1] == '.') {
                const char *slash = out->used_bytes > 0 ? memrchr(out->data, '/', out->used_bytes) : NULL;

                if (slash && (out->used_bytes - (size_t)(slash - (const char *)out->data) != 3 ||
                              memcmp(slash, "/..", 3) != 0)) {
                        out->used_bytes = (size_t)(slash - (const char *)out->data);
                        return;
                }
        }
        byte_buffer_add_u8(out, '/');
        byte_buffer_add(out, part, n_bytes);
}

/* Compilation units in different folders refer to one header by different paths. */
static int add_file(struct settling *s, uint32_t string, uint32_t *ret_file)
{
        struct text_view path = trace_dictionary_text(s->d, string);
        size_t at = 0;
        int r;

        byte_buffer_clear(&s->scratch);
        while (at < path.n_bytes) {
                const char *slash = memchr(path.bytes + at, '/', path.n_bytes - at);
                size_t end = slash ? (size_t)(slash - path.bytes) : path.n_bytes;

                add_path_part(&s->scratch, path.bytes + at, end - at);
                at = end + 1;
        }
        if (s->scratch.failed)
                return -ENOMEM;
        r = intern_add(&s->files, s->scratch.data, s->scratch.used_bytes, ret_file);
        return r < 0 ? r : 0;
}

/*
 * The place that a row gives; 0 if it gives none.  @starts: places of functions by their start addresses.
 */
static int find_place(struct settling *s, uint32_t id, struct intern *starts, const uint32_t *place_of_start,
                      uint32_t *ret_place)
{
        const struct trace_symbol *row = row_of(s, id);
        struct place_key key = { .group = s->group_of[id] };
        uint32_t at;
        int r;

        *ret_place = 0;
        if (is_declared(row)) {
                key.group = s->groups[key.group].base; /* copies begin elsewhere, and are declared there */
                r = add_file(s, row->declared_file, &key.file);
                if (r < 0)
                        return r;
                key.line = row->declared_line;
                key.instance = row->instance;
        } else if (row->start_svma != 0) {
                (void)module_of(s, row, &key.module);
                key.start_svma = row->start_svma;
                at = intern_find(starts, &key, sizeof(key));
                if (at != 0 && place_of_start[at] != 0) {
                        *ret_place = place_of_start[at];
                        return 0;
                }
                if (has_mark(name_of_group(s, key.group), DESTRUCTOR_MARK))
                        return 0;
        } else {
                return 0;
        }
        r = intern_add(&s->places, &key, sizeof(key), ret_place);
        return r < 0 ? r : 0;
}

/*
 * If one row gives the start and the declaration of a function, another row with that start alone means the
 * same function.
 */
static int add_starts(struct settling *s, struct intern *starts, uint32_t *place_of_start)
{
        int r = 0;

        for (uint32_t i = 1; i <= s->n_rows && r >= 0; i++) {
                const struct trace_symbol *row = row_of(s, i);
                struct place_key key = { .start_svma = row->start_svma };
                uint32_t at;

                if (s->group_of[i] == 0 || !s->groups[s->group_of[i]].is_candidate || row->start_svma == 0 ||
                    !is_declared(row))
                        continue;
                key.group = s->group_of[i];
                s->groups[s->groups[key.group].base].has_both = true;
                (void)module_of(s, row, &key.module);
                r = intern_add(starts, &key, sizeof(key), &at);
                if (r == 1)
                        r = find_place(s, i, starts, place_of_start, &place_of_start[at]);
        }
        return r < 0 ? r : 0;
}

static uint32_t group_of_place(const struct settling *s, uint32_t place)
{
        const struct place_key *key = intern_get(&s->places, place, NULL);

        return key->group;
}

/* @first: the first place of each name in each module; a second place there makes the name ambiguous. */
static int count_place(struct settling *s, struct first_values *first, uint32_t row, uint32_t place)
{
        struct name_key key = { .name = group_of_place(s, place) };
        uint32_t id;
        int r;

        (void)module_of(s, row_of(s, row), &key.path); /* the module in place of its path */
        r = note_value(first, &key, sizeof(key), place, &id);
        if (r == 1)
                s->groups[key.name].is_ambiguous = true;
        return r < 0 ? r : 0;
}

/*
 * A unit without debug information may contain the code of a function that units with debug information
 * inlined.  If there is one place of each kind, and no row shows two functions, both are of one function.
 */
static void join_kinds(struct settling *s, uint32_t *places)
{
        for (uint32_t i = 1; i <= s->places.n_items; i++) {
                const struct place_key *key = intern_get(&s->places, i, NULL);
                struct group *g = &s->groups[key->group];

                if (key->start_svma != 0) {
                        g->n_begun++;
                        g->begun = i;
                } else {
                        g->n_declared++;
                        g->declared = i;
                }
        }
        for (uint32_t i = 1; i <= s->n_rows; i++) {
                const struct group *g = places[i] != 0 ? &s->groups[group_of_place(s, places[i])] : NULL;

                if (g && g->n_declared == 1 && g->n_begun == 1 && !g->has_both && places[i] == g->begun)
                        places[i] = g->declared;
        }
}

/* Finds the place of each row, in @ret_places; 0 = the row gives none. */
static int find_places(struct settling *s, uint32_t *ret_places)
{
        struct first_values first = { .values = NULL };
        struct intern starts;
        uint32_t *place_of_start = calloc((size_t)s->n_rows + 2, sizeof(*place_of_start));
        int r = place_of_start ? 0 : -ENOMEM;

        intern_init(&starts, sizeof(struct place_key), 0);
        intern_init(&first.keys, sizeof(struct name_key), 0);
        if (r == 0)
                r = add_starts(s, &starts, place_of_start);
        for (uint32_t i = 1; i <= s->n_rows && r == 0; i++)
                if (s->group_of[i] != 0 && s->groups[s->group_of[i]].is_candidate)
                        r = find_place(s, i, &starts, place_of_start, &ret_places[i]);
        if (r == 0)
                join_kinds(s, ret_places);
        for (uint32_t i = 1; i <= s->n_rows && r == 0; i++)
                if (ret_places[i] != 0)
                        r = count_place(s, &first, i, ret_places[i]);
        first_values_deinit(&first);
        intern_deinit(&starts);
        free(place_of_start);
        return r;
}

/* ---- what is shown of a place -------------------------------------------------------------------------- */

/* The last @n_parts parts of a path; 0 = all of it. */
static struct text_view end_of_path(struct text_view path, unsigned n_parts)
{
        const char *at = path.bytes + path.n_bytes;

        if (n_parts == 0)
                return path;
        while (at > path.bytes && (at[-1] != '/' || --n_parts > 0))
                at--;
        path.n_bytes -= (size_t)(at - path.bytes);
        path.bytes = at;
        return path;
}

void function_labels_put_place(struct byte_buffer *out, struct text_view name, uint32_t line,
                               uint32_t instance, bool with_instance)
{
        char number[NUMBER_BYTES_MAX];
        int n;

        if (!with_instance)
                n = snprintf(number, sizeof(number), ":%" PRIu32, line);
        else if (text_view_is(name, CLOSURE_NAME)) /* its instance is the column */
                n = snprintf(number, sizeof(number), ":%" PRIu32 ":%" PRIu32, line, instance);
        else
                n = snprintf(number, sizeof(number), ":%" PRIu32 " #%" PRIx32, line, instance + 1);
        byte_buffer_add(out, number, (size_t)n);
}

static void put_detail(const struct settling *s, const struct place_key *place, enum detail detail,
                       struct byte_buffer *out)
{
        static const unsigned n_parts[DETAIL_COUNT] = { 1, 2, 0, 1, 2, 1, 2, 0 };
        char number[NUMBER_BYTES_MAX];
        struct text_view path;

        byte_buffer_clear(out);
        if (place->start_svma != 0) {
                (void)snprintf(number, sizeof(number), "0x%" PRIx64, place->start_svma);
                byte_buffer_add(out, number, strlen(number));
                return;
        }
        path.bytes = intern_get(&s->files, place->file, &path.n_bytes);
        path = end_of_path(path, n_parts[detail]);
        byte_buffer_add(out, path.bytes, path.n_bytes);
        if (detail >= DETAIL_LINE)
                function_labels_put_place(out, name_of_group(s, place->group), place->line, place->instance,
                                          detail >= DETAIL_NUMBER);
}

/* Texts, each with the number of places in its group that have this text. */
struct shared_texts {
        struct intern texts;
        uint32_t *n_places; /* heap; by id */
};

/* Gives each place without a text one of this detail, if no other place has the same text. */
static int try_detail(struct settling *s, enum detail detail)
{
        struct shared_texts shared = { .n_places = calloc((size_t)s->places.n_items + 1, 4) };
        uint32_t *ids = calloc((size_t)s->places.n_items + 1, sizeof(*ids));
        int r = shared.n_places && ids ? 0 : -ENOMEM;

        intern_init(&shared.texts, 0, 0);
        for (uint32_t i = 1; i <= s->places.n_items && r >= 0; i++) {
                const struct place_key *place = intern_get(&s->places, i, NULL);

                put_detail(s, place, detail, &s->scratch);
                byte_buffer_add_u32(&s->scratch, place->group);
                r = s->scratch.failed
                            ? -ENOMEM
                            : intern_add(&shared.texts, s->scratch.data, s->scratch.used_bytes, &ids[i]);
                if (r >= 0)
                        shared.n_places[ids[i]]++;
        }
        for (uint32_t i = 1; i <= s->places.n_items && r >= 0; i++) {
                const struct place_key *place = intern_get(&s->places, i, NULL);
                bool is_early = detail < DETAIL_LINE && s->groups[place->group].has_line;

                if (s->texts[i].used_bytes > 0 || (is_early && place->start_svma == 0) ||
                    (shared.n_places[ids[i]] > 1 && detail != DETAIL_ALL && place->start_svma == 0))
                        continue;
                put_detail(s, place, detail, &s->texts[i]);
                if (s->texts[i].failed)
                        r = -ENOMEM;
        }
        intern_deinit(&shared.texts);
        free(shared.n_places);
        free(ids);
        return r < 0 ? r : 0;
}

static int make_texts(struct settling *s)
{
        int r = 0;

        s->texts = calloc((size_t)s->places.n_items + 1, sizeof(*s->texts));
        if (!s->texts)
                return -ENOMEM;
        for (uint32_t i = 1; i <= s->names.n_items; i++)
                s->groups[i].has_line = s->groups[i].is_ambiguous && is_lambda(name_of_group(s, i));
        for (unsigned detail = 0; detail < DETAIL_COUNT && r == 0; detail++)
                r = try_detail(s, (enum detail)detail);
        return r;
}

/* ---- new names ----------------------------------------------------------------------------------------- */

static int add(struct settling *s, struct text_view name, uint32_t place, uint32_t *ret_string)
{
        struct byte_buffer *out = &s->scratch;

        byte_buffer_clear(out);
        byte_buffer_add(out, name.bytes, name.n_bytes);
        byte_buffer_add(out, " (", 2);
        byte_buffer_add(out, s->texts[place].data, s->texts[place].used_bytes);
        byte_buffer_add_u8(out, ')');
        return out->failed ? -ENOMEM
                           : trace_dictionary_add_string(s->d, out->data, out->used_bytes, ret_string);
}

/* The new name of each row in @ret_names; 0 = it keeps its own. */
static int make_names(struct settling *s, const uint32_t *places, uint32_t *ret_names)
{
        struct intern made; /* struct name_key, with the place instead of the path */
        uint32_t *strings = calloc((size_t)s->n_rows + 2, sizeof(*strings)), id;
        int r = strings ? 0 : -ENOMEM;

        intern_init(&made, sizeof(struct name_key), 0);
        for (uint32_t i = 1; i <= s->n_rows && r >= 0; i++) {
                struct name_key key = { .path = places[i] };

                if (places[i] == 0 || !s->groups[group_of_place(s, places[i])].is_ambiguous)
                        continue;
                key.name = row_of(s, i)->function;
                r = intern_add(&made, &key, sizeof(key), &id);
                if (r == 1)
                        r = add(s, trace_dictionary_text(s->d, key.name), places[i], &strings[id]);
                if (r >= 0)
                        ret_names[i] = strings[id];
        }
        intern_deinit(&made);
        free(strings);
        return r < 0 ? r : 0;
}

static int tell_apart(struct settling *s)
{
        uint32_t *places = calloc((size_t)s->n_rows + 1, sizeof(*places));
        uint32_t *names = calloc((size_t)s->n_rows + 1, sizeof(*names));
        int r = places && names ? find_places(s, places) : -ENOMEM;

        if (r == 0)
                r = make_texts(s);
        if (r == 0)
                r = make_names(s, places, names);
        for (uint32_t i = 1; i <= s->n_rows && r == 0; i++)
                if (names[i] != 0)
                        trace_dictionary_rename_symbol(s->d, i, names[i]);
        free(places);
        free(names);
        return r;
}

/* ---- modules of one file name -------------------------------------------------------------------------- */

/* The names of a library that was loaded from two folders: its functions share both name and file name. */
struct clashes {
        struct first_values names; /* by the module's file name and the function's name: the path */
        struct first_values tails; /* by id in `names` and the shown part of the path: the path */
        uint32_t *name_of;         /* heap; by group */
        bool *is_clash, *is_long;  /* heap; by id in `names` */
};

static void clashes_deinit(struct clashes *c)
{
        first_values_deinit(&c->names);
        first_values_deinit(&c->tails);
        free(c->name_of);
        free(c->is_clash);
        free(c->is_long);
}

static int clashes_init(struct clashes *c, uint32_t n_groups)
{
        size_t n = (size_t)n_groups + 2;

        *c = (struct clashes){ .name_of = calloc(n, sizeof(*c->name_of)),
                               .is_clash = calloc(n, sizeof(*c->is_clash)),
                               .is_long = calloc(n, sizeof(*c->is_long)) };
        intern_init(&c->names.keys, 0, 0);
        intern_init(&c->tails.keys, 0, 0);
        return c->name_of && c->is_clash && c->is_long ? 0 : -ENOMEM;
}

static struct text_view path_of_group(const struct settling *s, uint32_t group)
{
        const struct name_key *key = intern_get(&s->names, group, NULL);

        return trace_dictionary_text(s->d, key->path);
}

/* Notes one name of one module. */
static int add_clash(struct settling *s, struct clashes *c, uint32_t group)
{
        const struct name_key *key = intern_get(&s->names, group, NULL);
        struct text_view path = path_of_group(s, group), file = end_of_path(path, 1), tail;
        struct text_view name = name_of_group(s, group);
        uint32_t id, tail_id;
        int r;

        if (path.n_bytes == 0 || path.bytes[0] != '/' || file.n_bytes == 0 ||
            file.n_bytes == path.n_bytes - 1)
                return 0; /* "[kernel]", "//anon" */
        byte_buffer_clear(&s->scratch);
        byte_buffer_add(&s->scratch, file.bytes, file.n_bytes);
        byte_buffer_add_u8(&s->scratch, '/');
        byte_buffer_add(&s->scratch, name.bytes, name.n_bytes);
        r = note_scratch(s, &c->names, key->path, &id);
        if (r < 0)
                return r;
        c->is_clash[id] |= r == 1;
        c->name_of[group] = id;
        tail = end_of_path(path, 2);
        byte_buffer_clear(&s->scratch);
        byte_buffer_add_u32(&s->scratch, id);
        byte_buffer_add(&s->scratch, tail.bytes, tail.n_bytes);
        r = note_scratch(s, &c->tails, key->path, &tail_id);
        if (r < 0)
                return r;
        c->is_long[id] |= r == 1;
        return 0;
}

/* "step (one/lib.so)", "step (a.c, one/lib.so)". */
static int add_module_label(struct settling *s, const struct clashes *c, uint32_t row)
{
        const struct trace_symbol *symbol = row_of(s, row);
        struct text_view name = trace_dictionary_text(s->d, symbol->function);
        uint32_t group = s->group_of[row], string;
        struct text_view path = end_of_path(path_of_group(s, group), c->is_long[c->name_of[group]] ? 0 : 2);
        bool has_label = symbol->plain_name != 0;
        int r;

        byte_buffer_clear(&s->scratch);
        byte_buffer_add(&s->scratch, name.bytes, has_label ? name.n_bytes - 1 : name.n_bytes);
        byte_buffer_add(&s->scratch, has_label ? ", " : " (", 2);
        byte_buffer_add(&s->scratch, path.bytes, path.n_bytes);
        byte_buffer_add_u8(&s->scratch, ')');
        r = s->scratch.failed
                    ? -ENOMEM
                    : trace_dictionary_add_string(s->d, s->scratch.data, s->scratch.used_bytes, &string);
        if (r == 0)
                trace_dictionary_rename_symbol(s->d, row, string);
        return r;
}

static int tell_modules_apart(struct settling *s)
{
        struct clashes c;
        int r = clashes_init(&c, s->names.n_items);

        for (uint32_t i = 1; i <= s->names.n_items && r == 0; i++)
                r = add_clash(s, &c, i);
        for (uint32_t i = 1; i <= s->n_rows && r == 0; i++)
                if (s->group_of[i] != 0 && c.is_clash[c.name_of[s->group_of[i]]])
                        r = add_module_label(s, &c, i);
        clashes_deinit(&c);
        return r;
}

/* Whether two modules have one file name, as few recordings have. */
static int have_one_name(struct settling *s, bool *ret_have)
{
        uint32_t n = trace_dictionary_count(s->d, TRACE_TABLE_MODULES), id;
        struct first_values files = { .values = NULL };
        int r = 0;

        *ret_have = false;
        intern_init(&files.keys, 0, 0);
        for (uint32_t i = 1; i <= n && r >= 0; i++) {
                const struct trace_module *row = trace_dictionary_row(s->d, TRACE_TABLE_MODULES, i);
                struct text_view file = end_of_path(trace_dictionary_text(s->d, row->path), 1);

                if (row->kind != TRACE_MODULE_FILE)
                        continue;
                r = note_value(&files, file.bytes, file.n_bytes, row->path, &id);
                *ret_have |= r == 1;
        }
        first_values_deinit(&files);
        return r < 0 ? r : 0;
}

static void settling_deinit(struct settling *s)
{
        for (uint32_t i = 1; s->texts && i <= s->places.n_items; i++)
                byte_buffer_deinit(&s->texts[i]);
        free(s->texts);
        free(s->group_of);
        free(s->groups);
        intern_deinit(&s->names);
        intern_deinit(&s->files);
        intern_deinit(&s->places);
        byte_buffer_deinit(&s->scratch);
}

static bool is_too_much(const struct settling *s)
{
        uint64_t n_bytes = 0;

        for (uint32_t i = 1; i <= s->n_rows; i++)
                n_bytes += trace_dictionary_text(s->d, row_of(s, i)->function).n_bytes +
                           trace_dictionary_text(s->d, row_of(s, i)->declared_file).n_bytes;
        return n_bytes > ROW_TEXTS_BYTES_MAX;
}

int function_labels_settle(struct trace_dictionary *d)
{
        struct settling s = { .d = d, .n_rows = trace_dictionary_count(d, TRACE_TABLE_SYMBOLS) };
        bool is_needed = false;
        int r = 0;

        for (uint32_t i = 1; i <= s.n_rows; i++) {
                const struct trace_symbol *row = row_of(&s, i);

                if (row->plain_name != 0)
                        trace_dictionary_rename_symbol(d, i, row->plain_name);
                is_needed = is_needed || is_placed(row);
        }
        if (!is_needed || is_too_much(&s))
                return is_needed ? -EOVERFLOW : 0;
        intern_init(&s.names, sizeof(struct name_key), 0);
        intern_init(&s.files, 0, 0);
        intern_init(&s.places, sizeof(struct place_key), 0);
        s.group_of = calloc((size_t)s.n_rows + 1, sizeof(*s.group_of));
        r = s.group_of ? take_rows(&s) : -ENOMEM;
        if (r == 0)
                r = join_parts(&s);
        is_needed = false;
        for (uint32_t i = 1; i <= s.names.n_items && r == 0 && !is_needed; i++)
                is_needed = s.groups[i].is_candidate;
        if (r == 0 && is_needed)
                r = tell_apart(&s);
        if (r == 0)
                r = have_one_name(&s, &is_needed);
        if (r == 0 && is_needed)
                r = tell_modules_apart(&s);
        settling_deinit(&s);
        return r;
}
