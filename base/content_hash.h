/* SPDX-License-Identifier: MIT */
/*
 * base/content_hash.h - a number that identifies bytes: equal bytes have equal numbers, other bytes hardly
 * ever
 *
 * Way of the data:  sampler -> [content_hash] -> trace_dictionary
 *
 * XXH3, 64 bits, seed 0, as docs/understand/trace-format.md has it.  No protection against an attacker who
 * wants a collision.
 */
#ifndef BASE_CONTENT_HASH_H
#define BASE_CONTENT_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Several gigabytes a second.  @bytes may be NULL if there are none. */
uint64_t content_hash(const void *bytes, size_t n_bytes);

/* The same for bytes that come in pieces. */
struct content_hasher;

/* NULL = no memory. */
struct content_hasher *content_hasher_new(void);
void content_hasher_free(struct content_hasher *h);
void content_hasher_add(struct content_hasher *h, const void *bytes, size_t n_bytes);

/* As content_hash() of all that was added. */
uint64_t content_hasher_number(const struct content_hasher *h);

/* Random bytes that only this process knows. */
struct content_key {
        uint8_t bytes[192];
};

struct content_number {
        uint64_t low, high;
};

/* XXH3, 128 bits, with a secret: without @key, no attacker can make bytes that have the number of others. */
struct content_number content_hash_keyed(const struct content_key *key, const void *bytes, size_t n_bytes);

#endif /* BASE_CONTENT_HASH_H */
