/* SPDX-License-Identifier: MIT */
/*
 * import/file/json_pull.h - JSON in memory, taken value by value
 *
 * Way of the data:  text of a line or a row -> [json_pull] -> import_trace_event, import_iree_jsonl ...
 *
 * Nothing is built and nothing recurses: a container is skipped at once and given as text, which can be
 * entered in turn.  Numbers stay text, so that no digit is lost.  Careless writers are tolerated: NaN and
 * other bare words are values of their own kind, a comma may follow the last value, UTF-8 is not checked.
 * Allocates only in json_pull_string().  Reads about 1 GB/s.
 */
#ifndef IMPORT_JSON_PULL_H
#define IMPORT_JSON_PULL_H

#include "base/byte_buffer.h"
#include "base/text_view.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum json_kind {
        JSON_OBJECT, /* text: with its brackets */
        JSON_ARRAY,
        JSON_STRING, /* without its quotes, escapes as written */
        JSON_NUMBER, /* begins like one; json_pull_decimal() judges */
        JSON_WORD,   /* true, false, null, NaN, Infinity, and anything else without quotes */
};

struct json_value {
        enum json_kind kind;
        struct text_view text; /* borrowed from what is read */
};

/* Where the reading is.  Zero-initialised: at the end. */
struct json_pull {
        const char *at, *end;
};

/* Reads @text, which holds values one after the other (mostly one). */
struct json_pull json_pull_text(struct text_view text);

/* Reads what is in an object or an array; an empty text for other kinds. */
struct json_pull json_pull_inside(struct json_value container);

/* Whether that is an object or an array with nothing in it. */
bool json_pull_is_empty(struct json_value container);

/*
 * Take the next value, element of an array, or member of an object; commas and white space before it are
 * skipped.  @ret_key: as a string's text.  Return 1, 0 at the end, or -EBADMSG for what is no JSON or is cut
 * off; then the reading is at the end.
 */
int json_pull_next(struct json_pull *p, struct json_value *ret_value);
int json_pull_member(struct json_pull *p, struct text_view *ret_key, struct json_value *ret_value);

/* As json_pull_member(), but stops before the value; where that begins, *p->at is its first byte. */
int json_pull_key(struct json_pull *p, struct text_view *ret_key);

/* How the members of an object begin, up to their values: those of the next one mostly begin alike. */
#define JSON_SHAPE_MEMBERS 24
#define JSON_SHAPE_BYTES   32
#define JSON_SHAPE_WIDTH   16 /* bytes that are compared at once */
#define JSON_SHAPE_NEVER   (UINT32_C(1) << JSON_SHAPE_WIDTH)

struct json_shape_member {
        char bytes[JSON_SHAPE_BYTES]; /* from the value before on: a comma, and the key with its colon */
        uint32_t mask;                /* a bit for each of the first of them; JSON_SHAPE_NEVER: too many */
        uint16_t n_bytes;             /* less than JSON_SHAPE_BYTES */
        uint16_t place;               /* of its value */
};

struct json_shape {
        struct json_shape_member members[JSON_SHAPE_MEMBERS];
        size_t n; /* that are known */
        size_t places_bytes;
};

/* Where a reader puts the value of a key, in its own terms; also of keys that are not needed. */
typedef uint16_t json_find_place(const void *context, struct text_view key);

/*
 * json_pull_open_object() - the members of an object whose end is not known, each to its place
 * @p:           behind the opening bracket; after success behind the closing one
 * @shape:       how the object before was written; zero-initialised before the first, but for `places_bytes`
 * @find_place:  at which byte of @places the value of a key goes
 * @places:      struct json_values of `places_bytes` in all, which are zero where there is no such key
 * Returns 0, or -EBADMSG for what is no JSON or is cut off.
 */
int json_pull_open_object(struct json_pull *p, struct json_shape *shape, json_find_place *find_place,
                          void *places);

/* Where a number goes: to numbers[@at], or @n of them from there on; each less than 128. */
#define JSON_PLACE_NUMBERS(at, n) ((uint16_t)((unsigned)(n) << 8 | (at)))
#define JSON_PLACE_AT(place)      ((place)&0xff)
#define JSON_PLACE_N(place)       ((place) >> 8)
/* From here on places are the reader's own; the value of a member that is not needed goes nowhere. */
#define JSON_PLACE_OWN  0x8000
#define JSON_PLACE_NONE UINT16_MAX

/* The members of an object, most of which are numbers or not needed. */
struct json_numbers {
        struct json_pull pull;    /* within the object */
        struct json_shape *shape; /* how the object before was written; its places are those of below */
        json_find_place *find_place;
        const void *context; /* of find_place() */
        uint64_t *numbers;   /* borrowed */
        size_t index;        /* of the next member */
        size_t n_wanted;     /* numbers that are not read yet; the rest of the object is not looked at */
};

/*
 * json_numbers_next() - the next member that the reader has to take
 * Numbers without sign, fraction and exponent go to their places, and arrays of as many as have one; other
 * values of these places are the reader's.  Returns 1, 0 at the end or if no number is wanted any more, or
 * -EBADMSG as json_pull_next().
 */
int json_numbers_next(struct json_numbers *n, uint16_t *ret_place, struct json_value *ret_value);

/* Finds a member; the last of several with that key counts.  Returns 1, 0 if there is none, or as above. */
int json_pull_find(struct json_value object, const char *key, struct json_value *ret_value);

/*
 * A string with its escapes undone.  @room: where it is put if it has any, over what was there.  Half a
 * surrogate becomes U+FFFD, an unknown escape stays.  Returns 0 or -ENOMEM.
 */
int json_pull_string(struct text_view text, struct byte_buffer *room, struct text_view *ret_text);

/*
 * A decimal number times 10^@shift, exactly, rounded to the nearest integer (halves away from 0).  Returns
 * false if it is not a number, or does not fit.
 */
bool json_pull_decimal(struct text_view number, int shift, int64_t *ret_value);

/* A number without sign, fraction and exponent, of 64 bits. */
bool json_pull_unsigned(struct text_view number, uint64_t *ret_value);

/* ------------------------------------------------------------------ where a value ends, in pieces */

/* The state within a string or a container; zero-initialised: before it. */
struct json_scan {
        uint64_t depth; /* of brackets of either kind */
        bool in_string, is_escaped;
};

/*
 * Goes on in the piece from @at to @end; the first piece begins with a quote or a bracket.  Returns where the
 * value ends, after its quote or bracket, or NULL: not in this piece.
 */
const char *json_scan_piece(struct json_scan *s, const char *at, const char *end);

#endif /* IMPORT_JSON_PULL_H */
