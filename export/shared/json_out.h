/* SPDX-License-Identifier: MIT */
/*
 * export/shared/json_out.h - JSON, written as it comes: no document in memory
 *
 * Way of the data:  trace -> export_* -> [json_out] -> file, pipe
 *
 * Commas come by themselves.  Values in arrays follow each other; in objects each follows its json_out_key().
 * Strings may hold anything: invalid UTF-8 becomes U+FFFD, a byte each.  Sticky: `code` keeps the first
 * failure, and nothing is written after it.  Memory is one buffer.  Not thread-safe.
 */
#ifndef EXPORT_SHARED_JSON_OUT_H
#define EXPORT_SHARED_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_OUT_BUFFER_BYTES (1 << 16)

struct json_out {
        FILE *out;    /* borrowed */
        char *buffer; /* heap */
        size_t used_bytes;
        bool needs_comma; /* before the next value or key */
        int code;         /* 0 or -errno */
};

/* Returns 0 or -ENOMEM; to be deinitialised in any case. */
int json_out_init(struct json_out *j, FILE *out);
void json_out_deinit(struct json_out *j);

/* @bracket: '{' or '[', and '}' or ']' */
void json_out_open(struct json_out *j, char bracket);
void json_out_close(struct json_out *j, char bracket);
/* @key is of this program: nothing in it is escaped. */
void json_out_key(struct json_out *j, const char *key);
/* A key that may hold anything. */
void json_out_key_string(struct json_out *j, const char *bytes, size_t n_bytes);

void json_out_string(struct json_out *j, const char *bytes, size_t n_bytes);
/* @words are of this program: nothing in them is escaped. */
void json_out_words(struct json_out *j, const char *words);
void json_out_number(struct json_out *j, uint64_t number);
void json_out_signed(struct json_out *j, int64_t number);
/* Finite numbers; null for others, which JSON does not know. */
void json_out_real(struct json_out *j, double real);
/* @value / 10^@n_digits, exactly: nanoseconds as milliseconds are 6 digits. */
void json_out_decimal(struct json_out *j, uint64_t value, unsigned n_digits);
void json_out_bool(struct json_out *j, bool value);
void json_out_null(struct json_out *j);

/* Puts a line end between values.  The caller decides where, so that a person finds things in the file. */
void json_out_line(struct json_out *j);

/* Pairs of key and value. */
void json_out_pair_words(struct json_out *j, const char *key, const char *words);
void json_out_pair_string(struct json_out *j, const char *key, const char *bytes, size_t n_bytes);
void json_out_pair_number(struct json_out *j, const char *key, uint64_t number);
/* A number that is compared and not counted with: as text beyond 2^53, where JavaScript would round it. */
void json_out_pair_id(struct json_out *j, const char *key, uint64_t id);

/* Writes the rest.  Returns 0, -ENOMEM or -errno of the first write that failed. */
int json_out_finish(struct json_out *j);

#endif /* EXPORT_SHARED_JSON_OUT_H */
