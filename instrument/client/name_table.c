/* SPDX-License-Identifier: MIT */
/*
 * A trie over the bits of a hash: 65,536 roots, then nodes of four children each.  A thread fills a node in
 * first and then attaches it where its search ended, with one compare and exchange; a node never moves and
 * never goes away.  So a search needs no lock, two threads that add one key at once agree on one node, and
 * memory grows with the names: nodes lie side by side, in blocks that are mapped when they are reached, 96
 * bytes each with their entry.  (An open table for four million names would touch a page for nearly each of
 * the first thousands.)  With a million names each root has about 16 of them, so that a search goes about
 * two steps down.
 *
 * The strings themselves are kept in the region alone, where a recorder may write.  Comparisons use private
 * data: two hashes of 64 bits over all of the key, its lengths included.  The probability that two of four
 * million names share both hashes is 1 to 10^25.
 */
#include "instrument/client/name_table.h"

#include "instrument/client/location_table.h"
#include "instrument/client/thread_ring.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>

#define ROOT_BITS     16
#define CHILD_BITS    2
#define BLOCK_NODES   65536
#define N_BLOCKS      64
#define NODES_MAX     (N_BLOCKS * BLOCK_NODES)
#define FIRST_BITS(h) ((h) >> (64 - ROOT_BITS))

/* Any odd numbers with many zeros and many ones would do; these are from the fraction of pi. */
#define MIX_A UINT64_C(0x243f6a8885a308d3)
#define MIX_B UINT64_C(0x13198a2e03707345)
#define MIX_C UINT64_C(0xa4093822299f31d1)
#define MIX_D UINT64_C(0x082efa98ec4e6c89)

__extension__ typedef unsigned __int128 wide;

/* The part that a search reads, two to a cache line. */
struct name_node {
        uint64_t hash, check;
        uint32_t children[1 << CHILD_BITS]; /* numbers of nodes, 0 = none */
};

struct name_block {
        struct name_node nodes[BLOCK_NODES];
        struct name_entry entries[BLOCK_NODES]; /* each belongs to the node of its index */
};

/* Nodes are numbered from 1. */
static struct name_table {
        struct name_block *blocks[N_BLOCKS]; /* NULL = not mapped yet */
        uint32_t n_nodes;
        uint32_t roots[1 << ROOT_BITS];
} table;

/*
 * Entries that were found lately, by a cheap hash.  One that is asked for again is compared with its strings
 * in the region, which costs less than a hash of all of them.
 */
#define RECENT_BITS 8
static struct name_entry *recent[1 << RECENT_BITS]; /* atomic */

static struct name_entry too_many = { .location = HYPROF_NAME("(too many locations)") };

struct hash {
        uint64_t a, b;
};

/*
 * The mixing step of wyhash (Wang Yi, in the public domain): every bit of a product depends on all bits of
 * its factors.
 */
static inline uint64_t mix(uint64_t x, uint64_t y)
{
        wide product = (wide)x * y;

        return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t load(const char *at, size_t n)
{
        uint64_t word = 0;

        memcpy(&word, at, n);
        return word;
}

static inline void hash_words(struct hash *h, uint64_t x, uint64_t y)
{
        h->a = mix(x ^ MIX_A, y ^ h->a);
        h->b = mix(x ^ h->b, y ^ MIX_B);
}

/* The last words may overlap the words before them; the length of the text went into the hash first. */
static void hash_text(struct hash *h, const char *text, size_t n)
{
        const char *end = text + n;

        for (; n > 16; n -= 16, text += 16)
                hash_words(h, load(text, 8), load(text + 8, 8));
        if (n >= 8)
                hash_words(h, load(text, 8), load(end - 8, 8));
        else if (n >= 4)
                hash_words(h, load(text, 4), load(end - 4, 4));
        else if (n > 0)
                hash_words(h, load(text, 1) << 8 | load(text + n / 2, 1), load(end - 1, 1));
}

static size_t cut(const char *text, size_t n)
{
        if (!text)
                return 0;
        return n < CLIENT_ABI_STRING_BYTES_MAX ? n : CLIENT_ABI_STRING_BYTES_MAX;
}

/* The lengths of a key's texts, after they were cut, in one number. */
static inline uint64_t join_lengths(size_t name_bytes, size_t function_bytes, size_t file_bytes)
{
        return name_bytes | (uint64_t)function_bytes << 16 | (uint64_t)file_bytes << 32;
}

static struct hash hash_key(const struct name_key *key)
{
        size_t name_bytes = cut(key->name, key->name_bytes);
        size_t function_bytes = cut(key->function, key->function_bytes);
        size_t file_bytes = cut(key->file, key->file_bytes);
        struct hash h = { .a = MIX_C, .b = MIX_D };

        hash_words(&h, join_lengths(name_bytes, function_bytes, file_bytes),
                   key->line | (uint64_t)key->color << 32);
        hash_words(&h, (uintptr_t)key->identity, MIX_C);
        hash_text(&h, key->name, name_bytes);
        hash_text(&h, key->function, function_bytes);
        hash_text(&h, key->file, file_bytes);
        return h;
}

/* Pairs with the release in map_block(). */
static inline struct name_block *block_of(uint32_t number)
{
        return __atomic_load_n(&table.blocks[(number - 1) / BLOCK_NODES], __ATOMIC_ACQUIRE);
}

static inline struct name_node *node_at(uint32_t number)
{
        return &block_of(number)->nodes[(number - 1) % BLOCK_NODES];
}

static inline struct name_entry *entry_at(uint32_t number)
{
        return &block_of(number)->entries[(number - 1) % BLOCK_NODES];
}

static bool map_block(struct name_block **block)
{
        struct name_block *none = NULL;
        struct name_block *fresh;

        if (__atomic_load_n(block, __ATOMIC_RELAXED))
                return true;
        fresh = mmap(NULL, sizeof(*fresh), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (fresh == MAP_FAILED)
                return false;
        if (block != table.blocks) /* so many names are worth 2 MiB at once: shorter searches */
                (void)madvise(fresh, sizeof(*fresh), MADV_HUGEPAGE);
        if (!__atomic_compare_exchange_n(block, &none, fresh, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
                (void)munmap(fresh, sizeof(*fresh));
        return true;
}

/* Returns the number of a node that is ours alone, or 0. */
static uint32_t take_node(void)
{
        uint32_t n = __atomic_load_n(&table.n_nodes, __ATOMIC_RELAXED);

        do {
                if (n >= NODES_MAX || !map_block(&table.blocks[n / BLOCK_NODES]))
                        return 0;
        } while (!__atomic_compare_exchange_n(&table.n_nodes, &n, n + 1, true, __ATOMIC_RELAXED,
                                              __ATOMIC_RELAXED));
        return n + 1;
}

/*
 * Remembers where the strings of a new entry are.  The region states it, and a recorder may have written
 * there: a string outside of the region is not remembered.
 */
static void remember_strings(struct name_entry *entry, const struct name_key *key, uint32_t id)
{
        const struct region_memory *region = &client_self.region;
        const struct client_abi_location *said = &region->locations[id - 1];
        size_t name_bytes = cut(key->name, key->name_bytes);
        size_t function_bytes = cut(key->function, key->function_bytes);
        size_t file_bytes = cut(key->file, key->file_bytes);
        uint64_t first = name_bytes > 0 ? said->name : function_bytes > 0 ? said->function : said->file;
        uint64_t at = first & ((UINT64_C(1) << CLIENT_ABI_STRING_OFFSET_BITS) - 1);

        entry->strings_at = at;
        entry->lengths = join_lengths(name_bytes, function_bytes, file_bytes);
        if (!region_area_is_open(&region->string_area, at + name_bytes + function_bytes + file_bytes))
                entry->lengths = NAME_TABLE_NO_STRINGS;
}

/* Returns the number of a node for @key that is in no trie yet, or 0. */
static uint32_t make_node(const struct name_key *key, struct hash h)
{
        struct location_content content = {
                .name = key->name_bytes ? key->name : NULL,
                .function = key->function,
                .file = key->file,
                .name_bytes = key->name_bytes,
                .function_bytes = key->function_bytes,
                .file_bytes = key->file_bytes,
                .line = key->line,
                .color = key->color,
        };
        struct name_node *node;
        uint32_t id, number;

        /* Makes the entry `too_many` while there is room: names share it when no room is left. */
        (void)location_table_id(&too_many.location);

        /*
         * Takes the node before the number: a node that stays unused costs nothing, but a wasted number is
         * missing to all.
         */
        number = take_node();
        if (number == 0)
                return 0;
        id = location_table_add_content(&content);
        if (id == 0)
                return 0;
        node = node_at(number);
        node->hash = h.a;
        node->check = h.b;
        entry_at(number)->location =
                (struct hyprof_location){ .line = key->line, .color = key->color, .id = id };
        remember_strings(entry_at(number), key, id);
        return number;
}

static struct name_entry *add_row(const struct name_key *key, struct hash h)
{
        uint32_t *link = &table.roots[FIRST_BITS(h.a)];
        uint64_t bits = h.a << ROOT_BITS;
        uint32_t ours = 0;

        for (;;) {
                /* Pairs with the release below: a node that is seen is complete. */
                uint32_t number = __atomic_load_n(link, __ATOMIC_ACQUIRE);
                struct name_node *node;

                if (number == 0) {
                        if (!location_table_is_open())
                                return NULL;
                        if (ours == 0)
                                ours = make_node(key, h);
                        if (ours == 0)
                                return &too_many;
                        if (__atomic_compare_exchange_n(link, &number, ours, false, __ATOMIC_RELEASE,
                                                        __ATOMIC_ACQUIRE))
                                return entry_at(ours);
                        /*
                         * Another thread was faster, perhaps with the same key: then our node and its number
                         * are wasted.
                         */
                }
                node = node_at(number);
                if (node->hash == h.a && node->check == h.b)
                        return entry_at(number);
                link = &node->children[bits >> (64 - CHILD_BITS)];
                bits <<= CHILD_BITS;
        }
}

struct name_entry *name_table_add(const struct name_key *key)
{
        int saved_errno = errno;
        struct name_entry *entry = add_row(key, hash_key(key));

        errno = saved_errno;
        return entry;
}

bool name_table_is_too_many(const struct name_entry *entry)
{
        return entry == &too_many;
}

/*
 * The place depends on the name's text, if that is long enough: names that are made at run time may all lie
 * at one address.
 */
THREAD_RING_INLINE struct name_entry **recent_place(const char *name, size_t name_bytes, uint32_t line)
{
        uint64_t x = (uintptr_t)name;

        if (CLIENT_LIKELY(name_bytes >= 8))
                x = load(name, 8) ^ load(name + name_bytes - 8, 8) << 1;
        return &recent[(x ^ line) * MIX_A >> (64 - RECENT_BITS)];
}

/* The difference between two texts of @n bytes: 0 = they are equal. */
THREAD_RING_INLINE uint64_t difference(const char *a, const char *b, size_t n)
{
        const char *a_end = a + n, *b_end = b + n;
        uint64_t d;

        if (CLIENT_UNLIKELY(n < 8)) {
                if (n >= 4)
                        return (load(a, 4) ^ load(b, 4)) | (load(a_end - 4, 4) ^ load(b_end - 4, 4));
                return n == 0 ? 0
                              : (load(a, 1) ^ load(b, 1)) | (load(a + n / 2, 1) ^ load(b + n / 2, 1)) |
                                        (load(a_end - 1, 1) ^ load(b_end - 1, 1));
        }
        d = (load(a, 8) ^ load(b, 8)) | (load(a_end - 8, 8) ^ load(b_end - 8, 8));
        /* The loop does not stop at the first difference: there is seldom one. */
        for (a += 8, b += 8; n > 16; n -= 8, a += 8, b += 8)
                d |= load(a, 8) ^ load(b, 8);
        return d;
}

/*
 * Returns the entry with this key, which has no identity, or NULL; the table may have the entry even then.
 */
THREAD_RING_INLINE struct name_entry *find_recent(const struct name_key *key)
{
        /* Pairs with the release in find_location(): the entry is complete. */
        struct name_entry *entry = __atomic_load_n(recent_place(key->name, key->name_bytes, key->line),
                                                   __ATOMIC_ACQUIRE);
        const char *strings = (const char *)client_self.region.strings;

        if (!entry || !strings ||
            (key->name_bytes | key->function_bytes | key->file_bytes) > CLIENT_ABI_STRING_BYTES_MAX ||
            entry->lengths != join_lengths(key->name_bytes, key->function_bytes, key->file_bytes) ||
            ((entry->location.line ^ key->line) | (entry->location.color ^ key->color)) != 0)
                return NULL;
        strings += entry->strings_at;
        if (difference(key->name, strings, key->name_bytes) != 0)
                return NULL;
        strings += key->name_bytes;
        if (difference(key->function, strings, key->function_bytes) != 0)
                return NULL;
        strings += key->function_bytes;
        return difference(key->file, strings, key->file_bytes) == 0 ? entry : NULL;
}

/* NOLINTNEXTLINE(readability-function-size): the public header's signature */
static __attribute__((noinline)) struct hyprof_location *find_location(const char *name, size_t name_bytes,
                                                                       const char *function,
                                                                       size_t function_bytes,
                                                                       const char *file, size_t file_bytes,
                                                                       uint32_t line, uint32_t color)
{
        const struct name_key key = {
                .name = name,
                .function = function,
                .file = file,
                .name_bytes = name_bytes,
                .function_bytes = function_bytes,
                .file_bytes = file_bytes,
                .line = line,
                .color = color,
        };
        struct name_entry *entry = name_table_add(&key);

        if (entry) {
                if (name && function && file && !name_table_is_too_many(entry))
                        __atomic_store_n(recent_place(name, name_bytes, line), entry, __ATOMIC_RELEASE);
                return &entry->location;
        }
        if (client_self.other)
                return client_self.other->location_of(name, name_bytes, function, function_bytes, file,
                                                      file_bytes, line, color);
        return NULL;
}

/* NOLINTNEXTLINE(readability-function-size): the public header's signature */
struct hyprof_location *hyprof_emit_location_of(const char *name, size_t name_bytes, const char *function,
                                                size_t function_bytes, const char *file, size_t file_bytes,
                                                uint32_t line, uint32_t color)
{
        const struct name_key key = {
                .name = name,
                .function = function,
                .file = file,
                .name_bytes = name_bytes,
                .function_bytes = function_bytes,
                .file_bytes = file_bytes,
                .line = line,
                .color = color,
        };

        /* Keys that lack one of the texts are looked up by their hash. */
        if (CLIENT_LIKELY(name && function && file)) {
                struct name_entry *entry = find_recent(&key);

                if (CLIENT_LIKELY(entry))
                        return &entry->location;
        }
        return find_location(name, name_bytes, function, function_bytes, file, file_bytes, line, color);
}
CLIENT_LINK_OWN(location_of);
