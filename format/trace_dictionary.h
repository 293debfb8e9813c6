/* SPDX-License-Identifier: MIT */
/*
 * format/trace_dictionary.h - all tables of one trace
 *
 * Way of the data:  sampler -> [trace_dictionary] -> table chunks -> file
 *                   file -> table chunks -> [trace_dictionary] -> symbolize, analyze
 *
 * Writing: rows go in through the _add functions; equal rows get equal ids.  From time to time
 * trace_dictionary_encode() turns new rows into chunk bodies, so that every chunk refers only to earlier
 * rows.  Reading: trace_dictionary_decode() reads those bodies and checks every id in
 *        them, so that users of a
 * dictionary may follow its ids unchecked.
 *
 * Owns everything in it.  Not thread-safe.
 */
#ifndef FORMAT_TRACE_DICTIONARY_H
#define FORMAT_TRACE_DICTIONARY_H

#include "base/intern.h"
#include "base/text_view.h"
#include "format/trace_rows.h"
#include "format/trace_spec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_buffer;
struct error;

/* Rows of one table that follow each other. */
struct trace_row_range {
        uint32_t first_id;
        uint32_t n_rows;
};

struct trace_dictionary {
        struct intern tables[TRACE_TABLE_COUNT]; /* by table id - TRACE_TABLE_FIRST */
        uint32_t n_encoded[TRACE_TABLE_COUNT];   /* rows that were written already */
        uint32_t n_forgotten[TRACE_TABLE_COUNT]; /* the first rows, which are in no memory any more */
        uint32_t n_dropped[TRACE_TABLE_COUNT];   /* likewise; rows anywhere, whose ids are not in use */
        struct trace_row_range *passing;         /* heap: of strings that are to be forgotten */
        size_t n_passing, passing_capacity;
};

/*
 * @n_rows_max: the limit for each table, since a recorder's memory is bounded; all strings together may have
 *              16 times as many bytes.  0 = no limit but INTERN_ITEMS_MAX.
 */
void trace_dictionary_init(struct trace_dictionary *d, uint32_t n_rows_max);
void trace_dictionary_deinit(struct trace_dictionary *d);

/*
 * trace_dictionary_add() - the id of a row, new or known
 * @row:  the table's struct from format/trace_rows.h, copied
 * Tables of occurrences (META, SYMBOLS, LOSSES, NOTICES, CLOCKS) take equal rows again.
 * Returns 0, -ENOMEM, or -EOVERFLOW when the table is full.
 */
int trace_dictionary_add(struct trace_dictionary *d, enum trace_table table, const void *row,
                         uint32_t *ret_id);

/*
 * The same for a row that the caller knows to be new, for instance because it refers to a new row.
 */
int trace_dictionary_add_new(struct trace_dictionary *d, enum trace_table table, const void *row,
                             uint32_t *ret_id);

/* The same where rows are seldom looked for: its hash waits until the next trace_dictionary_add(). */
int trace_dictionary_append_new(struct trace_dictionary *d, enum trace_table table, const void *row,
                                uint32_t *ret_id);

/* The same for the table STRINGS. */
int trace_dictionary_add_string(struct trace_dictionary *d, const void *text, size_t text_bytes,
                                uint32_t *ret_id);

/*
 * trace_dictionary_pass_string() - the id of a string that is not looked up; not empty
 * A new one is kept until trace_dictionary_forget_passed() after it was encoded, and takes 8 bytes from then
 * on; whether it comes again is not known then.  Returns as the above.
 */
int trace_dictionary_pass_string(struct trace_dictionary *d, const void *text, size_t text_bytes,
                                 uint32_t *ret_id);
void trace_dictionary_forget_passed(struct trace_dictionary *d);

/*
 * The same for texts of which a program can make any number: they leave half of the room for other
 * strings.
 */
int trace_dictionary_add_program_string(struct trace_dictionary *d, const void *text, size_t text_bytes,
                                        uint32_t *ret_id);

/*
 * The same for paths of files that programs map: they leave a quarter of the room for the recorder's own
 * strings.
 */
int trace_dictionary_add_path(struct trace_dictionary *d, const void *path, size_t path_bytes,
                              uint32_t *ret_id);

/*
 * Call this when programs add no more rows: from then on only INTERN_ITEMS_MAX limits each table, for
 * symbols.
 */
void trace_dictionary_lift_limits(struct trace_dictionary *d);

/* How many rows the table has; ids are 1 .. this. */
uint32_t trace_dictionary_count(const struct trace_dictionary *d, enum trace_table table);

/* How many more rows the table may have. */
uint32_t trace_dictionary_count_left(const struct trace_dictionary *d, enum trace_table table);

/* Row @id of a table, 1 .. count; borrowed, valid until something is added to that table. */
const void *trace_dictionary_row(const struct trace_dictionary *d, enum trace_table table, uint32_t id);

/*
 * From now on, row @id of SYMBOLS is shown with the string @name.  Its `plain_name` gets the name in the
 * file; it is 0 while the row is shown with that.
 */
void trace_dictionary_rename_symbol(struct trace_dictionary *d, uint32_t id, uint32_t name);

/*
 * A frame has a group of rows in SYMBOLS.  The group ends with the row that is not inlined into the next one;
 * a later group of the frame replaces an earlier one.
 *
 * trace_dictionary_find_symbols() - an array: by frame id, the first row of the frame's last group; 0 = no
 * group
 * The caller frees the array; NULL if memory ran out.
 */
uint32_t *trace_dictionary_find_symbols(const struct trace_dictionary *d);
/* The row after @id in its group; 0 = @id is the last one. */
uint32_t trace_dictionary_next_symbol(const struct trace_dictionary *d, uint32_t id);

/* The string @id: its bytes are not NUL-terminated and may hold anything.  @id 0 is the empty string. */
const char *trace_dictionary_string(const struct trace_dictionary *d, uint32_t id, size_t *ret_bytes);

/*
 * trace_dictionary_encode() - encodes the rows of a table that were not encoded yet, as a chunk body
 * @body:        appended to
 * @ret_n_rows:  how many; with 0 nothing was appended
 * Returns 0 or -ENOMEM.  Appends at most about TRACE_CHUNK_RAW_MAX bytes: call it again until it encodes 0
 * rows.
 */
int trace_dictionary_encode(struct trace_dictionary *d, enum trace_table table, struct byte_buffer *body,
                            uint32_t *ret_n_rows);

/* How many rows of all tables are not encoded yet. */
uint64_t trace_dictionary_count_new(const struct trace_dictionary *d);

/* The name of a table that is full, or NULL. */
const char *trace_dictionary_find_full(const struct trace_dictionary *d);

/* Keeps only the last @n_rows rows of a table that was never encoded and whose ids are not in use. */
void trace_dictionary_keep_last(struct trace_dictionary *d, enum trace_table table, uint32_t n_rows);

/*
 * trace_dictionary_forget() - keep no row of a table that was encoded already
 * Ids go on, and those of forgotten rows must not be looked up.  For a writer that has added all rows by
 * trace_dictionary_append_new().
 */
void trace_dictionary_forget(struct trace_dictionary *d, enum trace_table table);

/*
 * trace_dictionary_drop() - keep only some of the rows of a table that were encoded already
 * @keeps:  whether a row is kept; asked once for each, in their order
 * As trace_dictionary_forget(), for a table whose ids nothing refers to: the rows that are left are numbered
 * anew.  Returns how many of the encoded rows are left.
 */
uint32_t trace_dictionary_drop(struct trace_dictionary *d, enum trace_table table,
                               bool (*keeps)(void *context, const void *row), void *context);

/*
 * trace_dictionary_lower_losses() - takes @count off the rows of LOSSES with this reason
 * For call stacks that are complete after all.  The whole table counts as not encoded then and is written
 * anew, so a copy of the trace leaves out its chunks of LOSSES.
 */
void trace_dictionary_lower_losses(struct trace_dictionary *d, enum trace_loss_reason reason, uint64_t count);

/* All present rows count as encoded: they came from the file that new ones are appended to. */
void trace_dictionary_mark_encoded(struct trace_dictionary *d);

/*
 * trace_dictionary_decode() - take in the body of a table chunk
 * @ret_rows:  the rows it brought
 * Returns 0, -EBADMSG (malformed, an id that does not exist, or rows out of order), -ENOMEM;
 * on failure the dictionary is as before.
 */
int trace_dictionary_decode(struct trace_dictionary *d, enum trace_table table, const uint8_t *body,
                            size_t body_bytes, struct trace_row_range *ret_rows, struct error *err);

/* Whether the table NOTICES has this one. */
bool trace_dictionary_has_notice(const struct trace_dictionary *d, enum trace_notice_id notice);
/* The sum of the rows of LOSSES with this reason, at most UINT64_MAX. */
uint64_t trace_dictionary_loss_count(const struct trace_dictionary *d, enum trace_loss_reason reason);

/* Whether a frame is code of the kernel. */
bool trace_dictionary_is_kernel_frame(const struct trace_dictionary *d, uint32_t frame);

/* The process of a thread; 0 for the thread 0, which stands for none. */
static inline uint32_t trace_dictionary_process_of(const struct trace_dictionary *d, uint32_t thread)
{
        const struct trace_thread *row = thread != 0 ? (const struct trace_thread *)trace_dictionary_row(
                                                               d, TRACE_TABLE_THREADS, thread)
                                                     : NULL;

        return row ? row->process : 0;
}

/* The string with an id of the table STRINGS, as a view; 0 gives the empty one. */
static inline struct text_view trace_dictionary_text(const struct trace_dictionary *d, uint32_t id)
{
        struct text_view s;

        s.bytes = trace_dictionary_string(d, id, &s.n_bytes);
        return s;
}

#endif /* FORMAT_TRACE_DICTIONARY_H */
