/* SPDX-License-Identifier: MIT */
/*
 * cli/files/trace_code.h - a trace read to its end, with the code that it keeps
 *
 * Way of the data:  trace_reader -> [trace_code] (dictionary, image_spool) -> `hyprof
 *                   symbolize`, `modules`, `extract`
 */
#ifndef CLI_FILES_TRACE_CODE_H
#define CLI_FILES_TRACE_CODE_H

#include "symbolize/images/image_spool.h"
#include "symbolize/images/module_images.h"

#include <stdbool.h>
#include <stdint.h>

struct error;
struct trace_dictionary;
struct trace_reader;
struct trace_writer;

struct trace_code {
        struct trace_reader *reader;
        const struct trace_dictionary *dictionary; /* the reader's */
        struct image_spool spool;
        struct module_images images;
        bool has_kept_stacks; /* the trace has copies of stacks, so its chunks were not copied */
        uint64_t *n_samples;  /* heap; by module: the samples in it; NULL unless they were counted */
};

struct trace_code_options {
        bool counts_samples;
        /*
         * gets every chunk but the index, unless the trace has copies of stacks: those chunks are left to
         * kept_stacks_finish(), for which all tables are read first; NULL = none
         */
        struct trace_writer *copy;
};

/*
 * trace_code_read() - read @path, "-" for standard input, to its end
 * Returns 0, or -errno; then nothing is left.  The reader tells how the trace ends.
 */
int trace_code_read(struct trace_code *t, const char *path, const struct trace_code_options *options,
                    struct error *err);
void trace_code_deinit(struct trace_code *t);

#endif /* CLI_FILES_TRACE_CODE_H */
