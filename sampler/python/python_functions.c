/* SPDX-License-Identifier: MIT */
#include "sampler/python/python_functions.h"

#include "base/array.h"
#include "base/intern.h"
#include "format/trace_dictionary.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/python/python_objects.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CACHE_BITS  13
#define NUMBERS_MAX (UINT32_C(1) << 20)
#define READ_BYTES  8192 /* work counted per code object read, beside its line table */

static const char gap_name[] = "[calls left out]";

/* The place of a code object.  Without padding, since it is compared as bytes. */
struct code_key {
        uint64_t avma;
        uint32_t pid, reserved;
};

struct code_entry {
        struct python_code code; /* as it was read last */
        uint64_t checked_ns;
        uint8_t *lines; /* heap, owned */
        size_t lines_bytes;
        uint32_t module, function; /* rows and number; 0 = there is none */
        int why;                   /* there is none: as python_functions_find() */
        uint32_t name, file;       /* strings */
        uint32_t version;          /* how often another was there */
        bool lines_are_cut;
};

/* A function of all processes.  No padding. */
struct function_key {
        uint32_t module, name, first_line;
};

/* The frame that a place became. */
struct cached_place {
        uint64_t code_avma, instruction_avma, identity;
        uint32_t pid, version, entry, frame; /* frame 0 = empty */
};

struct python_functions {
        struct trace_dictionary *dictionary; /* borrowed */
        struct intern keys;                  /* of `entries` */
        struct code_entry *entries;          /* heap, owned; by the key's id - 1 */
        size_t capacity;
        size_t lines_bytes; /* of all entries */
        struct intern numbers;
        struct recorder_pace *pace; /* borrowed */
        struct cached_place cache[1U << CACHE_BITS];
};

int python_functions_new(struct trace_dictionary *dictionary, struct recorder_pace *pace,
                         struct python_functions **ret_functions)
{
        struct python_functions *f = calloc(1, sizeof(*f));

        if (!f)
                return -ENOMEM;
        f->dictionary = dictionary;
        f->pace = pace;
        intern_init(&f->keys, sizeof(struct code_key), PYTHON_FUNCTIONS_MAX);
        intern_init(&f->numbers, sizeof(struct function_key), NUMBERS_MAX);
        *ret_functions = f;
        return 0;
}

static void forget_all(struct python_functions *f)
{
        for (uint32_t i = 0; i < f->keys.n_items; i++)
                free(f->entries[i].lines);
        intern_deinit(&f->keys);
        intern_init(&f->keys, sizeof(struct code_key), PYTHON_FUNCTIONS_MAX);
        memset(f->cache, 0, sizeof(f->cache));
        f->lines_bytes = 0;
}

void python_functions_free(struct python_functions *f)
{
        if (!f)
                return;
        forget_all(f);
        intern_deinit(&f->keys);
        intern_deinit(&f->numbers);
        free(f->entries);
        free(f);
}

void python_functions_forget(struct python_functions *f, uint32_t pid)
{
        for (uint32_t i = 0; i < f->keys.n_items; i++) {
                const struct code_key *key = intern_get(&f->keys, i + 1, NULL);

                if (key->pid == pid)
                        f->entries[i].checked_ns = 0;
        }
        for (size_t i = 0; i < sizeof(f->cache) / sizeof(f->cache[0]); i++)
                if (f->cache[i].pid == pid)
                        f->cache[i].frame = 0;
}

static bool may_work(struct python_functions *f, uint64_t now_ns)
{
        return recorder_pace_left(f->pace, PACED_PYTHON, now_ns) > 0;
}

/* ---- reading ------------------------------------------------------------------------------------------- */

static int add_text(struct python_functions *f, const struct python_reader *reader,
                    const struct python_objects *objects, uint64_t avma, uint32_t *ret_string)
{
        char text[PYTHON_TEXT_MAX * 4];
        int n_bytes = python_text_read(reader, objects, avma, text);

        return n_bytes < 0 ? n_bytes
                           : trace_dictionary_add_program_string(f->dictionary, text, (size_t)n_bytes,
                                                                 ret_string);
}

static int add_module(struct python_functions *f, uint32_t file, uint32_t *ret_module)
{
        const struct trace_module row = { .kind = TRACE_MODULE_PYTHON, .path = file };

        return trace_dictionary_add(f->dictionary, TRACE_TABLE_MODULES, &row, ret_module);
}

/* Counts work, but none for copies: they cost no reads, and the rings bound how many there are. */
static void add_work(struct python_functions *f, const struct python_reader *reader, size_t n_bytes)
{
        if (!reader->pieces)
                recorder_pace_spend(f->pace, PACED_PYTHON, n_bytes);
}

/*
 * Reads the file, the name and the line table that `code` refers to.  Returns 0, or -errno: then `function`
 * is 0.
 */
static int read_references(struct python_functions *f, const struct python_reader *reader,
                           const struct python_objects *objects, struct code_entry *entry)
{
        struct function_key key = { .first_line = entry->code.first_line };
        int r = add_text(f, reader, objects, entry->code.file_avma, &entry->file);

        if (r == 0)
                r = add_text(f, reader, objects, entry->code.name_avma, &entry->name);
        if (r == 0)
                r = python_bytes_read(reader, objects, entry->code.lines_avma, &entry->lines,
                                      &entry->lines_bytes);
        entry->lines_are_cut = r == 1;
        if (r >= 0)
                r = add_module(f, entry->file, &entry->module);
        f->lines_bytes += entry->lines_bytes;
        add_work(f, reader, entry->lines_bytes);
        if (r < 0)
                return r;
        key.module = entry->module;
        key.name = entry->name;
        r = intern_add(&f->numbers, &key, sizeof(key), &entry->function);
        return r < 0 ? r : 0;
}

/*
 * Reads a code object, or checks that it is still the same.  The entry of an object that is gone stays as
 * it was: the object ran a moment ago.
 */
static int refresh(struct python_functions *f, const struct python_place *place,
                   const struct python_reader *reader, struct code_entry *entry, uint64_t now_ns)
{
        bool was_read = entry->checked_ns != 0 || entry->function != 0;
        struct python_code code;
        int r = python_code_read(reader, place->objects, place->code_avma, &code);

        add_work(f, reader, READ_BYTES);
        entry->checked_ns = now_ns;
        if (r < 0 || (place->identity != 0 && code.identity != place->identity) ||
            (was_read && entry->function != 0 && code.identity == entry->code.identity))
                return 0;
        f->lines_bytes -= entry->lines_bytes;
        free(entry->lines);
        *entry = (struct code_entry){ .code = code, .checked_ns = now_ns, .version = entry->version + 1 };
        r = read_references(f, reader, place->objects, entry);
        if (r < 0) {
                entry->function = 0;
                entry->why = r == -EFAULT ? -ENOENT : r;
        }
        return r == -ENOMEM ? r : 0;
}

/*
 * A copy only has the beginning of a long line table; while the object is still there, the whole table can
 * be read.
 */
static int complete_lines(struct python_functions *f, const struct python_place *place,
                          struct code_entry *entry)
{
        const struct python_reader reader = python_reader_of(place->pid);
        struct python_code code;
        uint8_t *lines;
        size_t n_bytes;
        int r = python_code_read(&reader, place->objects, place->code_avma, &code);

        recorder_pace_spend(f->pace, PACED_PYTHON, READ_BYTES);
        if (r < 0 || code.identity != entry->code.identity)
                return 0;
        r = python_bytes_read(&reader, place->objects, code.lines_avma, &lines, &n_bytes);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        recorder_pace_spend(f->pace, PACED_PYTHON, n_bytes);
        if (r == 1 && n_bytes <= entry->lines_bytes) {
                free(lines);
                return 0;
        }
        f->lines_bytes += n_bytes - entry->lines_bytes;
        free(entry->lines);
        entry->lines = lines;
        entry->lines_bytes = n_bytes;
        entry->lines_are_cut = r == 1;
        return 0;
}

/* Is it to be read again? */
static bool is_stale(const struct code_entry *entry, const struct python_place *place, uint64_t now_ns)
{
        if (entry->checked_ns == 0)
                return true;
        return place->identity != 0 ? entry->code.identity != place->identity
                                    : now_ns - entry->checked_ns > PACE_PYTHON_FRESH_NS;
}

/* Returns 0, -EOVERFLOW or -ENOMEM. */
static int get_entry(struct python_functions *f, const struct python_place *place, uint32_t *ret_entry)
{
        const struct code_key key = { .avma = place->code_avma, .pid = place->pid };
        uint32_t id;
        int r;

        if (f->keys.n_items == PYTHON_FUNCTIONS_MAX || f->lines_bytes > PYTHON_FUNCTIONS_BYTES_MAX)
                forget_all(f);
        r = intern_add(&f->keys, &key, sizeof(key), &id);
        if (r < 0)
                return r;
        if (r == 1) {
                if (array_reserve(&f->entries, &f->capacity, id, sizeof(*f->entries)) < 0)
                        return -ENOMEM;
                f->entries[id - 1] = (struct code_entry){ .why = -ENOENT };
        }
        *ret_entry = id - 1;
        return 0;
}

/* Finds the entry of a code object, which is read where needed.  Returns as python_functions_find(). */
static int find_code(struct python_functions *f, const struct python_place *place, uint64_t now_ns,
                     uint32_t *ret_entry)
{
        const struct python_reader reader = python_reader_of(place->pid);
        struct code_entry *entry;
        int r = get_entry(f, place, ret_entry);

        if (r < 0)
                return r;
        entry = &f->entries[*ret_entry];
        if (is_stale(entry, place, now_ns)) {
                if (!may_work(f, now_ns))
                        return -EAGAIN;
                r = refresh(f, place, &reader, entry, now_ns);
        }
        if (r < 0)
                return r;
        if (place->identity != 0 && entry->code.identity != place->identity)
                return -ENOENT;
        return entry->function != 0 ? 0 : entry->why;
}

int python_functions_learn(struct python_functions *f, const struct python_place *place,
                           const struct python_copies *copies, uint64_t now_ns)
{
        const struct python_reader reader = { .pieces = copies->pieces, .n_bytes = copies->n_bytes };
        struct code_entry *entry;
        uint32_t id;
        int r;

        if (place->identity == 0)
                return 0;
        r = get_entry(f, place, &id);
        if (r < 0)
                return r == -ENOMEM ? r : 0;
        entry = &f->entries[id];
        r = refresh(f, place, &reader, entry, now_ns);
        if (r == 0 && entry->function == 0)
                entry->checked_ns = 0; /* the object may be read later, while it is still there */
        return r == 0 && entry->function != 0 && entry->lines_are_cut && may_work(f, now_ns)
                       ? complete_lines(f, place, entry)
                       : r;
}

/* ---- frames -------------------------------------------------------------------------------------------- */

static int add_python_frame(struct python_functions *f, const struct code_entry *entry, uint32_t line,
                            uint32_t *ret_frame)
{
        const struct trace_frame frame = { .offset = (uint64_t)entry->function << 32 | line,
                                           .module = entry->module };
        struct trace_symbol symbol = { .function = entry->name, .file = entry->file, .line = line };
        uint32_t n_before = trace_dictionary_count(f->dictionary, TRACE_TABLE_FRAMES), id;
        int r = trace_dictionary_add(f->dictionary, TRACE_TABLE_FRAMES, &frame, ret_frame);

        if (r < 0 || *ret_frame <= n_before)
                return r;
        symbol.frame = *ret_frame;
        return trace_dictionary_add(f->dictionary, TRACE_TABLE_SYMBOLS, &symbol, &id);
}

/* A frame that is before its first instruction is at its function's first line. */
static uint32_t line_of(const struct code_entry *entry, uint64_t instruction_avma)
{
        uint64_t code_off = instruction_avma - entry->code.instructions_avma;
        uint32_t line = instruction_avma < entry->code.instructions_avma
                                ? 0
                                : python_lines_find(entry->lines, entry->lines_bytes, entry->code.first_line,
                                                    code_off);

        return line != 0 ? line : entry->code.first_line;
}

static struct cached_place *cached_place_of(struct python_functions *f, const struct python_place *place)
{
        uint64_t mixed = (place->instruction_avma ^ (uint64_t)place->pid << 40) *
                                 UINT64_C(0x9e3779b97f4a7c15) +
                         place->code_avma * UINT64_C(0xd6e8feb86659fd93);

        return &f->cache[mixed >> (64 - CACHE_BITS)];
}

static bool is_cached(const struct python_functions *f, const struct cached_place *cached,
                      const struct python_place *place, uint64_t now_ns)
{
        return cached->frame != 0 && cached->code_avma == place->code_avma && cached->pid == place->pid &&
               cached->instruction_avma == place->instruction_avma && cached->identity == place->identity &&
               cached->entry < f->keys.n_items && f->entries[cached->entry].version == cached->version &&
               !is_stale(&f->entries[cached->entry], place, now_ns);
}

int python_functions_find(struct python_functions *f, const struct python_place *place, uint64_t now_ns,
                          uint32_t *ret_frame)
{
        struct cached_place *cached = cached_place_of(f, place);
        const struct code_entry *entry;
        uint32_t id;
        int r;

        *ret_frame = 0;
        if (is_cached(f, cached, place, now_ns)) {
                *ret_frame = cached->frame;
                return 0;
        }
        r = find_code(f, place, now_ns, &id);
        if (r < 0)
                return r;
        if (!may_work(f, now_ns))
                return -EAGAIN;
        entry = &f->entries[id];
        recorder_pace_spend(f->pace, PACED_PYTHON, entry->lines_bytes);
        r = add_python_frame(f, entry, line_of(entry, place->instruction_avma), ret_frame);
        if (r < 0) {
                *ret_frame = 0;
                return r;
        }
        *cached = (struct cached_place){ .code_avma = place->code_avma,
                                         .instruction_avma = place->instruction_avma,
                                         .identity = place->identity,
                                         .pid = place->pid,
                                         .version = entry->version,
                                         .entry = id,
                                         .frame = *ret_frame };
        return 0;
}

/* Frames that are left out look like a function without a file, in a module of its own. */
int python_functions_find_gap(struct python_functions *f, uint32_t *ret_frame)
{
        struct code_entry entry = { .function = 1 };
        int r = trace_dictionary_add_string(f->dictionary, gap_name, strlen(gap_name), &entry.name);

        *ret_frame = 0;
        if (r == 0)
                r = add_module(f, entry.name, &entry.module);
        return r == 0 ? add_python_frame(f, &entry, 0, ret_frame) : r;
}
