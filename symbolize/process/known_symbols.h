/* SPDX-License-Identifier: MIT */
/*
 * symbolize/process/known_symbols.h - what a trace says of its frames already, so that only news is added
 *
 * Way of the data:  trace_dictionary (SYMBOLS) -> [known_symbols] -> symbol_intake
 *
 * A later group of rows replaces an earlier one, so a group that says less than the one before must not be
 * written: a name alone does not replace a line, the remark that a file differs does not replace a name, and
 * the address of a function does not replace its symbol.  Made before rows are added.
 */
#ifndef SYMBOLIZE_PROCESS_KNOWN_SYMBOLS_H
#define SYMBOLIZE_PROCESS_KNOWN_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct error;
struct symbol_stream_record;
struct trace_dictionary;

struct known_symbols {
        const struct trace_dictionary *dictionary; /* borrowed */
        uint32_t *first_rows;                      /* heap; by frame: of the last group; 0 = there is none */
        uint32_t n_frames;
};

/* Returns 0 or -ENOMEM. */
int known_symbols_init(struct known_symbols *k, const struct trace_dictionary *dictionary, struct error *err);
void known_symbols_deinit(struct known_symbols *k);

/* Whether the symbols of a frame (a record of that kind) say more than the known ones, or something else. */
bool known_symbols_is_news(const struct known_symbols *k, const struct symbol_stream_record *record);

struct known_symbols_totals {
        uint64_t n_frames; /* that could have a name: all but marks, and addresses outside of everything */
        uint64_t n_named, n_lines;
        uint64_t n_unnamed; /* that have no symbol, but are told apart by where their function begins */
};

/*
 * known_symbols_count() - count frames of the whole trace, with all rows that it has now
 * @by_module:  room for one more than there are modules, all zero: the counts of each; NULL = not wanted
 */
int known_symbols_count(const struct trace_dictionary *dictionary, struct known_symbols_totals *by_module,
                        struct known_symbols_totals *ret_totals, struct error *err);

#endif /* SYMBOLIZE_PROCESS_KNOWN_SYMBOLS_H */
