/* SPDX-License-Identifier: MIT */
/*
 * python/native/code_table.h - which code objects are recorded, and as which locations
 *
 * Way of the data:  call hooks -> [code_table] -> libhyprof
 *
 * The answer is found once for each code object: it lies in the code object itself (its "extra"), and is
 * freed with it.
 */
#ifndef PYTHON_NATIVE_CODE_TABLE_H
#define PYTHON_NATIVE_CODE_TABLE_H

#include "python_api.h"

#include <hyprof/hyprof.h>
#include <stdbool.h>
#include <stdint.h>

struct code_entry {
        struct hyprof_location *location; /* NULL = not made yet: no recorder was there */
        struct hyprof_location **lines;   /* owned; of each line from the first on; NULL = not made yet */
        uint32_t n_lines;
        uint32_t rule_number; /* the filter that decided */
        bool is_included;
};

/* To be called once, when the module is imported.  Returns 0, or -1 with an exception set. */
int code_table_init(void);

/*
 * code_table_set_filter() - who decides which code is recorded
 * @filter:  called with a code object and the dict of its globals (or None); a false value leaves the code
 *           out.  NULL = all is recorded.  The table keeps a reference
 * Earlier decisions are made again.
 */
void code_table_set_filter(PyObject *filter);

/* The slow halves of the functions below. */
struct code_entry *code_table_add(PyCodeObject *code, PyFrameObject *frame);
struct hyprof_location *code_table_make_location(struct code_entry *entry, PyCodeObject *code);

extern Py_ssize_t code_table_index;
extern uint32_t code_table_rule_number;

/*
 * code_table_find() - what is known of @code
 * @frame:  one that runs @code, for its globals; NULL = the frame that runs now
 * Returns NULL without memory: then @code is not recorded.  Keeps a pending exception; the first call for
 * @code may run the filter.
 */
static inline struct code_entry *code_table_find(PyCodeObject *code, PyFrameObject *frame)
{
        void *extra = NULL;
        struct code_entry *entry;

        (void)PYTHON_API_CODE_EXTRA((PyObject *)code, code_table_index, &extra);
        entry = extra;
        if (__builtin_expect(entry != NULL && entry->rule_number == code_table_rule_number, 1))
                return entry;
        return code_table_add(code, frame);
}

/* The location of a call; NULL while no recorder is there. */
static inline struct hyprof_location *code_table_location(struct code_entry *entry, PyCodeObject *code)
{
        return __builtin_expect(entry->location != NULL, 1) ? entry->location
                                                            : code_table_make_location(entry, code);
}

/*
 * The location of a line of the code; NULL while no recorder is there, and for lines that are not the
 * code's.
 */
struct hyprof_location *code_table_line(struct code_entry *entry, PyCodeObject *code, int line);

#endif /* PYTHON_NATIVE_CODE_TABLE_H */
