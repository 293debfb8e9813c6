/* SPDX-License-Identifier: MIT */
/*
 * symbolize/process/symbol_stream.h - what the symbolizer finds, as bytes in a pipe
 *
 * Way of the data:  symbolizer (child) -> [symbol_stream] -> pipe -> [symbol_stream] -> symbol_process
 *
 * A record is its length in four bytes, then its fields as varints.  The child
 * that writes them has read hostile files: the reader takes nothing on trust.
 */
#ifndef SYMBOLIZE_PROCESS_SYMBOL_STREAM_H
#define SYMBOLIZE_PROCESS_SYMBOL_STREAM_H

#include "symbolize/symbols/symbolizer.h"

#include <stddef.h>
#include <stdint.h>

/* Bytes of a record at most: a whole chain of names of full length. */
#define SYMBOL_STREAM_RECORD_MAX (64 + SYMBOLIZER_CHAIN_MAX * 4 * (SYMBOLIZER_TEXT_MAX + 32))

#define SYMBOL_STREAM_PART_MAX SYMBOLIZER_TEXT_MAX /* bytes of an index in one record */

struct byte_buffer;
struct byte_reader;
struct error;

enum symbol_stream_kind {
        SYMBOL_STREAM_MODULE = 1,  /* the child turns to a module */
        SYMBOL_STREAM_SYMBOLS = 2, /* what a frame is */
        SYMBOL_STREAM_END = 3,     /* the child has come to the end, or failed */
        SYMBOL_STREAM_FINDING = 4, /* what there was for a module */
        SYMBOL_STREAM_INDEX = 5,   /* the next bytes of an entry of the cache */
};

struct symbol_stream_text {
        const char *bytes; /* borrowed from the stream; not NUL-terminated; NULL = unknown */
        uint32_t n_bytes;
};

struct symbol_stream_row {
        struct symbol_stream_text function;
        struct symbol_stream_text file;
        uint32_t line, column, flags;
        uint64_t start_svma;
        struct symbol_stream_text declared_file;
        uint32_t declared_line, instance;
        struct symbol_stream_text aliases;
};

struct symbol_stream_record {
        enum symbol_stream_kind kind;
        uint32_t id; /* MODULE, FINDING: the module.  SYMBOLS: the frame */
        int code;    /* END: 0 or -errno */
        /* END: of the failure.  FINDING: the path.  INDEX: the bytes. */
        struct symbol_stream_text words;
        struct module_finding finding; /* FINDING; its path is NULL */
        uint32_t n_rows;               /* SYMBOLS */
        struct symbol_stream_row rows[SYMBOLIZER_CHAIN_MAX];
};

/* The encoders append to @out; @out tells whether memory ran out.  Names over SYMBOLIZER_TEXT_MAX are cut. */
void symbol_stream_encode_module(struct byte_buffer *out, uint32_t module);
void symbol_stream_encode_symbols(struct byte_buffer *out, uint32_t frame, const struct symbol *symbols,
                                  uint32_t n_symbols);
void symbol_stream_encode_finding(struct byte_buffer *out, const struct module_finding *finding);
/* At most SYMBOL_STREAM_PART_MAX bytes. */
void symbol_stream_encode_index(struct byte_buffer *out, const void *bytes, size_t n_bytes);
void symbol_stream_encode_end(struct byte_buffer *out, int code, const char *words);

/*
 * symbol_stream_decode() - one record, stepped over
 * @ret_record:  filled on return 1; ids are not checked against any table
 * Returns 1; 0 if @in does not hold all of it yet, which is left where it is; -EBADMSG.
 */
int symbol_stream_decode(struct byte_reader *in, struct symbol_stream_record *ret_record, struct error *err);

#endif /* SYMBOLIZE_PROCESS_SYMBOL_STREAM_H */
