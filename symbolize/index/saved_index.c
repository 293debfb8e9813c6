/* SPDX-License-Identifier: MIT */
#include "symbolize/index/saved_index.h"

#include "base/byte_buffer.h"
#include "base/bytes.h"
#include "base/content_hash.h"
#include "base/error.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/index/code_index.h"
#include "symbolize/index/symbol_table.h"

#include <errno.h>
#include <string.h>

#define MAGIC        "hyprofSI"
#define MAGIC_BYTES  8
#define VERSION      6 /* goes up when the saved contents change, or how names are chosen and demangled */
#define HEADER_BYTES 96
#define HASHED_BYTES (HEADER_BYTES - 8) /* of the header; the hash follows */

/* Bytes of one item of each part. */
static const uint8_t item_bytes[SAVED_PART_COUNT] = { 36, 8, 8, 28, 4, 4, 16, 4, 4, 4 };

static uint64_t hash_image(const struct elf_image *image)
{
        struct byte_buffer b = { .data = NULL };
        uint64_t hash;

        byte_buffer_add(&b, image->build_id, image->build_id_bytes);
        for (size_t i = 0; i < image->n_segments; i++) {
                byte_buffer_add_u64(&b, image->segments[i].svma);
                byte_buffer_add_u64(&b, image->segments[i].memory_bytes);
                byte_buffer_add_u64(&b, image->segments[i].file_off);
                byte_buffer_add_u64(&b, image->segments[i].file_bytes);
        }
        hash = b.failed ? 0 : content_hash(b.data, b.used_bytes);
        byte_buffer_deinit(&b);
        return hash;
}

/* ---------------------------------------------------------------- writing */

static uint32_t count_buckets(const struct address_map *map)
{
        return map->n_buckets > 0 ? map->n_buckets + 1 : 0;
}

static void count_items(const struct saved_content *content, uint32_t n_items[SAVED_PART_COUNT])
{
        memset(n_items, 0, SAVED_PART_COUNT * sizeof(*n_items));
        n_items[SAVED_PART_FUNCTIONS] = (uint32_t)content->functions->n_entries;
        n_items[SAVED_PART_FUNCTION_STARTS] = (uint32_t)content->functions->ranges.n_segments;
        n_items[SAVED_PART_FUNCTION_NUMBERS] = n_items[SAVED_PART_FUNCTION_STARTS];
        n_items[SAVED_PART_FUNCTION_BUCKETS] = count_buckets(&content->functions->ranges);
        if (!content->code)
                return;
        n_items[SAVED_PART_DIRECTORY_BUCKETS] = count_buckets(code_index_directory(content->code));
        n_items[SAVED_PART_UNITS] = code_index_count(content->code);
        n_items[SAVED_PART_DIRECTORY_STARTS] = (uint32_t)code_index_directory(content->code)->n_segments;
        n_items[SAVED_PART_DIRECTORY_UNITS] = n_items[SAVED_PART_DIRECTORY_STARTS];
        if (code_index_names(content->code)->n_names > 0)
                n_items[SAVED_PART_NAMES] = (uint32_t)code_index_names(content->code)->n_names - 1;
        n_items[SAVED_PART_PATHS] = code_index_names(content->code)->paths.n_items;
}

/*
 * Texts are gathered in a buffer of their own: they come last in the file, and their places are known as
 * they are added.
 * Returns the place of @text.
 */
static uint32_t add_text(struct byte_buffer *texts, const char *text)
{
        size_t place = texts->used_bytes;

        if (!text || !*text)
                return 0; /* the first text is an empty one */
        byte_buffer_add(texts, text, strlen(text) + 1);
        if (texts->used_bytes > SAVED_INDEX_BYTES_MAX)
                texts->failed = true;
        return (uint32_t)place;
}

static void write_units(const struct saved_content *content, struct byte_buffer *out)
{
        uint64_t place = 0;

        for (uint32_t i = 0; content->code && i < code_index_count(content->code); i++) {
                const struct code_unit *unit = code_index_unit(content->code, i);

                byte_buffer_add_u64(out, unit->base_svma);
                byte_buffer_add_u64(out, place);
                byte_buffer_add_u32(out, unit->bytes ? unit->n_nodes : 0);
                byte_buffer_add_u32(out, unit->bytes ? unit->n_segments : 0);
                byte_buffer_add_u32(out, unit->bytes ? unit->n_rows : 0);
                byte_buffer_add_u32(out, unit->bytes ? unit->n_files : 0);
                byte_buffer_add_u32(out, unit->bucket_shift);
                place += unit->bytes ? code_unit_bytes(unit) : 0;
        }
}

static void write_starts(const struct address_map *map, struct byte_buffer *out)
{
        for (size_t i = 0; map && i < map->n_segments; i++)
                byte_buffer_add_u64(out, map->segments[i].start);
}

static void write_values(const struct address_map *map, struct byte_buffer *out)
{
        for (size_t i = 0; map && i < map->n_segments; i++)
                byte_buffer_add_u32(out, map->segments[i].value);
}

static void write_bounds(const struct address_map *map, struct byte_buffer *out)
{
        for (uint32_t i = 0; map && i < count_buckets(map); i++)
                byte_buffer_add_u32(out, map->buckets[i]);
}

static int write_functions(const struct saved_content *content, struct byte_buffer *texts,
                           struct byte_buffer *out)
{
        const struct symbol_table *table = content->functions;
        struct byte_buffer aliases = { .data = NULL };

        for (size_t i = 0; i < table->n_entries; i++) {
                const struct symbol_table_entry *e = &table->entries[i];
                uint32_t id;

                if (code_names_add(content->symbol_names, e->name, &id) < 0)
                        goto fail;
                symbol_table_find_aliases(table, e, content->symbol_names, &aliases);
                if (aliases.used_bytes > 0)
                        byte_buffer_add_u8(&aliases, '\0');
                if (aliases.failed)
                        goto fail;
                byte_buffer_add_u64(out, e->svma);
                byte_buffer_add_u64(out, e->end_svma);
                byte_buffer_add_u32(out, add_text(texts, code_names_show(content->symbol_names, id)));
                byte_buffer_add_u32(out, e->size_bytes == 0);
                byte_buffer_add_u32(out,
                                    aliases.used_bytes > 0 ? add_text(texts, (const char *)aliases.data) : 0);
        }
        byte_buffer_deinit(&aliases);
        return 0;

fail:
        byte_buffer_deinit(&aliases);
        return -ENOMEM;
}

static void write_names(const struct saved_content *content, const uint32_t n_items[SAVED_PART_COUNT],
                        struct byte_buffer *texts, struct byte_buffer *out)
{
        struct code_names *names = content->code ? code_index_names(content->code) : NULL;

        for (uint32_t i = 1; i <= n_items[SAVED_PART_NAMES]; i++) {
                struct code_declaration declaration = code_names_declaration(names, i);

                byte_buffer_add_u32(out, add_text(texts, code_names_show(names, i)));
                byte_buffer_add_u32(out, declaration.path);
                byte_buffer_add_u32(out, declaration.line);
                byte_buffer_add_u32(out, declaration.instance);
        }
        for (uint32_t i = 1; i <= n_items[SAVED_PART_PATHS]; i++)
                byte_buffer_add_u32(out, add_text(texts, code_names_path(names, i)));
}

static uint64_t write_blocks(const struct saved_content *content, struct byte_buffer *out)
{
        size_t start = out->used_bytes;

        for (uint32_t i = 0; content->code && i < code_index_count(content->code); i++) {
                const struct code_unit *unit = code_index_unit(content->code, i);

                if (unit->bytes)
                        byte_buffer_add(out, unit->bytes, code_unit_bytes(unit));
                if (out->used_bytes - start > SAVED_INDEX_BYTES_MAX)
                        out->failed = true;
        }
        return out->used_bytes - start;
}

/* Writes the header into the room for it at @at. */
static void put_header(uint8_t *at, const struct elf_image *image, const uint32_t n_items[SAVED_PART_COUNT],
                       uint64_t blocks_bytes, uint64_t texts_bytes)
{
        struct byte_buffer header = { .data = at, .capacity_bytes = HEADER_BYTES };

        byte_buffer_add(&header, MAGIC, MAGIC_BYTES);
        byte_buffer_add_u32(&header, VERSION);
        byte_buffer_add_u32(&header, HEADER_BYTES);
        byte_buffer_add_u64(&header, hash_image(image));
        byte_buffer_add_u64(&header, blocks_bytes);
        byte_buffer_add_u64(&header, texts_bytes);
        for (size_t i = 0; i < SAVED_PART_COUNT; i++)
                byte_buffer_add_u32(&header, n_items[i]);
        while (header.used_bytes < HASHED_BYTES)
                byte_buffer_add_u8(&header, 0);
        byte_buffer_add_u64(&header, content_hash(at, HASHED_BYTES));
}

int saved_index_write(const struct saved_content *content, struct byte_buffer *out, struct error *err)
{
        const struct address_map *directory = content->code ? code_index_directory(content->code) : NULL;
        const struct address_map *ranges = &content->functions->ranges;
        struct byte_buffer texts = { .data = NULL };
        uint32_t n_items[SAVED_PART_COUNT];
        size_t start = out->used_bytes;
        uint64_t blocks_bytes;
        int r;

        count_items(content, n_items);
        byte_buffer_add_u8(&texts, 0);
        if (byte_buffer_reserve(out, HEADER_BYTES))
                out->used_bytes += HEADER_BYTES;
        write_units(content, out);
        write_starts(directory, out);
        write_starts(ranges, out);
        r = write_functions(content, &texts, out);
        write_values(directory, out);
        write_values(ranges, out);
        write_names(content, n_items, &texts, out);
        write_bounds(directory, out);
        write_bounds(ranges, out);
        blocks_bytes = write_blocks(content, out);
        byte_buffer_add(out, texts.data, texts.used_bytes);
        if (out->used_bytes - start > SAVED_INDEX_BYTES_MAX || blocks_bytes > SAVED_INDEX_BYTES_MAX ||
            texts.used_bytes > SAVED_INDEX_BYTES_MAX)
                r = error_set(err, -EOVERFLOW, "index of a module: over %llu bytes",
                              (unsigned long long)SAVED_INDEX_BYTES_MAX);
        else if (r < 0 || texts.failed || out->failed)
                r = error_set(err, -ENOMEM, "no memory to save the index of a module");
        else
                put_header(out->data + start, content->image, n_items, blocks_bytes, texts.used_bytes);
        byte_buffer_deinit(&texts);
        return r;
}

/* ---------------------------------------------------------------- reading */

/* Places the parts in order.  False if they do not fill the bytes exactly. */
static bool set_parts(struct saved_index *index, struct byte_reader r, uint64_t blocks_bytes,
                      uint64_t texts_bytes)
{
        for (size_t i = 0; i < SAVED_PART_COUNT; i++) {
                uint64_t n_bytes = (uint64_t)index->n_items[i] * item_bytes[i];

                if (n_bytes > r.left)
                        return false;
                index->parts[i] = bytes_take(&r, (size_t)n_bytes);
        }
        if (blocks_bytes > r.left)
                return false;
        index->blocks_bytes = (size_t)blocks_bytes;
        index->blocks = bytes_take(&r, index->blocks_bytes);
        if (texts_bytes == 0 || texts_bytes != r.left)
                return false;
        index->texts_bytes = r.left;
        index->texts = (const char *)bytes_take(&r, r.left);
        return index->texts[0] == '\0' && index->texts[index->texts_bytes - 1] == '\0' &&
               index->n_items[SAVED_PART_DIRECTORY_STARTS] == index->n_items[SAVED_PART_DIRECTORY_UNITS] &&
               index->n_items[SAVED_PART_FUNCTION_STARTS] == index->n_items[SAVED_PART_FUNCTION_NUMBERS];
}

static inline struct byte_reader item_at(const struct saved_index *index, enum saved_part part, uint32_t i)
{
        return byte_reader_of(index->parts[part] + (size_t)i * item_bytes[part], item_bytes[part]);
}

static inline uint64_t start_at(const struct saved_index *index, enum saved_part part, uint32_t i)
{
        struct byte_reader r = item_at(index, part, i);

        return bytes_u64(&r);
}

static uint32_t number_at(const struct saved_index *index, enum saved_part part, uint32_t i)
{
        struct byte_reader r = item_at(index, part, i);

        return bytes_u32(&r);
}

/* The buckets of an address_map with these starts. */
static struct saved_buckets find_buckets(const struct saved_index *index, enum saved_part starts,
                                         uint32_t n_bounds)
{
        struct saved_buckets buckets = { .n_buckets = 0 };
        uint64_t span;

        if (index->n_items[starts] == 0 || n_bounds < 2)
                return buckets;
        buckets.first_svma = start_at(index, starts, 0);
        buckets.n_buckets = n_bounds - 1;
        span = start_at(index, starts, index->n_items[starts] - 1) - buckets.first_svma;
        while (buckets.shift < 63 && span >> buckets.shift >= buckets.n_buckets)
                buckets.shift++;
        return buckets;
}

bool saved_index_open(struct saved_index *index, const struct elf_image *image, const uint8_t *bytes,
                      size_t n_bytes)
{
        struct byte_reader r = byte_reader_of(bytes, n_bytes), hash;
        struct saved_index opened = { .texts = NULL };
        uint64_t blocks_bytes, texts_bytes;
        const uint8_t *magic = bytes_take(&r, MAGIC_BYTES);

        if (!magic || memcmp(magic, MAGIC, MAGIC_BYTES) != 0 || n_bytes < HEADER_BYTES)
                return false;
        hash = byte_reader_of(bytes + HASHED_BYTES, 8);
        if (bytes_u32(&r) != VERSION || bytes_u32(&r) != HEADER_BYTES ||
            content_hash(bytes, HASHED_BYTES) != bytes_u64(&hash) || bytes_u64(&r) != hash_image(image))
                return false;
        blocks_bytes = bytes_u64(&r);
        texts_bytes = bytes_u64(&r);
        for (size_t i = 0; i < SAVED_PART_COUNT; i++)
                opened.n_items[i] = bytes_u32(&r);
        r = byte_reader_of(bytes + HEADER_BYTES, n_bytes - HEADER_BYTES);
        if (!set_parts(&opened, r, blocks_bytes, texts_bytes))
                return false;
        opened.directory = find_buckets(&opened, SAVED_PART_DIRECTORY_STARTS,
                                        opened.n_items[SAVED_PART_DIRECTORY_BUCKETS]);
        opened.functions = find_buckets(&opened, SAVED_PART_FUNCTION_STARTS,
                                        opened.n_items[SAVED_PART_FUNCTION_BUCKETS]);
        *index = opened;
        return true;
}

bool saved_index_has_units(const struct saved_index *index)
{
        return index->n_items[SAVED_PART_UNITS] > 0;
}

/* How many of @n ascending starts are not above @svma; no branch depends on the result. */
static uint32_t count_not_above(const struct saved_index *index, enum saved_part starts, uint32_t first,
                                uint32_t n, uint64_t svma)
{
        uint32_t low = first;

        while (n > 0) {
                uint32_t half = (n + 1) / 2;

                low += half & (0U - (uint32_t)(start_at(index, starts, low + half - 1) <= svma));
                n -= half;
        }
        return low;
}

/* The parts of one of the two maps of an index. */
struct map_parts {
        enum saved_part starts, numbers, bounds;
};

/*
 * Finds the last of the ascending starts that is not above @svma, and returns its number; UINT32_MAX if all
 * are above.
 */
static uint32_t find_number(const struct saved_index *index, const struct map_parts *parts,
                            const struct saved_buckets *buckets, uint64_t svma)
{
        uint32_t first = 0, end = index->n_items[parts->starts], bucket, n;

        if (buckets->n_buckets > 0 && svma >= buckets->first_svma) {
                uint64_t place = (svma - buckets->first_svma) >> buckets->shift;

                bucket = place < buckets->n_buckets ? (uint32_t)place : buckets->n_buckets - 1;
                first = number_at(index, parts->bounds, bucket);
                n = number_at(index, parts->bounds, bucket + 1);
                if (first > n || n > end)
                        return UINT32_MAX; /* the index is damaged */
                end = n;
        }
        n = count_not_above(index, parts->starts, first, end - first, svma);
        return n > 0 ? number_at(index, parts->numbers, n - 1) : UINT32_MAX;
}

static const struct map_parts function_parts = { SAVED_PART_FUNCTION_STARTS, SAVED_PART_FUNCTION_NUMBERS,
                                                 SAVED_PART_FUNCTION_BUCKETS };
static const struct map_parts directory_parts = { SAVED_PART_DIRECTORY_STARTS, SAVED_PART_DIRECTORY_UNITS,
                                                  SAVED_PART_DIRECTORY_BUCKETS };

static const char *text_at(const struct saved_index *index, uint32_t place)
{
        return place > 0 && place < index->texts_bytes ? index->texts + place : NULL;
}

bool saved_index_find_function(const struct saved_index *index, uint64_t svma,
                               struct saved_function *ret_function)
{
        uint32_t number = find_number(index, &function_parts, &index->functions, svma);
        struct byte_reader r;

        if (number >= index->n_items[SAVED_PART_FUNCTIONS])
                return false;
        r = item_at(index, SAVED_PART_FUNCTIONS, number);
        ret_function->start_svma = bytes_u64(&r);
        ret_function->end_svma = bytes_u64(&r);
        ret_function->name = text_at(index, bytes_u32(&r));
        ret_function->has_no_size = bytes_u32(&r) != 0;
        ret_function->aliases = text_at(index, bytes_u32(&r));
        return !ret_function->has_no_size || svma < ret_function->end_svma;
}

/* The unit that covers @svma.  False if none does, or the index is damaged. */
static bool find_unit(const struct saved_index *index, uint64_t svma, struct code_unit *ret_unit)
{
        uint32_t number = find_number(index, &directory_parts, &index->directory, svma);
        struct code_unit unit = { .bytes = NULL };
        struct byte_reader r;
        uint64_t place, n_bytes;

        if (number >= index->n_items[SAVED_PART_UNITS])
                return false;
        r = item_at(index, SAVED_PART_UNITS, number);
        unit.base_svma = bytes_u64(&r);
        place = bytes_u64(&r);
        unit.n_nodes = bytes_u32(&r);
        unit.n_segments = bytes_u32(&r);
        unit.n_rows = bytes_u32(&r);
        unit.n_files = bytes_u32(&r);
        unit.bucket_shift = (uint8_t)bytes_u32(&r);
        n_bytes = code_unit_bytes(&unit);
        if (n_bytes == 0 || place > index->blocks_bytes || n_bytes > index->blocks_bytes - place)
                return false;
        unit.bytes = index->blocks + place;
        *ret_unit = unit;
        return true;
}

uint32_t saved_index_find(const struct saved_index *index, uint64_t svma, struct code_place *ret_places,
                          uint32_t n_max)
{
        struct code_unit unit;

        return find_unit(index, svma, &unit) ? code_unit_find(&unit, svma, ret_places, n_max) : 0;
}

bool saved_index_find_extent(const struct saved_index *index, uint64_t svma, uint64_t *ret_start_svma,
                             uint64_t *ret_end_svma)
{
        struct code_unit unit;

        return find_unit(index, svma, &unit) &&
               code_unit_find_extent(&unit, svma, ret_start_svma, ret_end_svma);
}

const char *saved_index_name(const struct saved_index *index, uint32_t id)
{
        struct byte_reader r;

        if (id == 0 || id > index->n_items[SAVED_PART_NAMES])
                return NULL;
        r = item_at(index, SAVED_PART_NAMES, id - 1);
        return text_at(index, bytes_u32(&r));
}

struct code_declaration saved_index_declaration(const struct saved_index *index, uint32_t id)
{
        struct code_declaration declaration = { .path = 0 };
        struct byte_reader r;

        if (id == 0 || id > index->n_items[SAVED_PART_NAMES])
                return declaration;
        r = item_at(index, SAVED_PART_NAMES, id - 1);
        (void)bytes_u32(&r);
        declaration.path = bytes_u32(&r);
        declaration.line = bytes_u32(&r);
        declaration.instance = bytes_u32(&r);
        return declaration;
}

const char *saved_index_path(const struct saved_index *index, uint32_t id)
{
        if (id == 0 || id > index->n_items[SAVED_PART_PATHS])
                return NULL;
        return text_at(index, number_at(index, SAVED_PART_PATHS, id - 1));
}
