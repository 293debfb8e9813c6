/* SPDX-License-Identifier: MIT */
/*
 * import/iree/iree_names.h - names of the ids in an IREE profile: functions, commands, counters, metrics
 *
 * Way of the data:  iree_model -> [iree_names] -> import_rows
 *
 * Tables of one session with limits; what is beyond them is -E2BIG without words, for the caller to count.
 * Not thread-safe.
 */
#ifndef IMPORT_IREE_NAMES_H
#define IMPORT_IREE_NAMES_H

#include "base/byte_buffer.h"
#include "base/intern.h"
#include "import/iree/iree_record.h"
#include "import/rows/import_rows.h"

#include <stddef.h>
#include <stdint.h>

#define IREE_FUNCTIONS_MAX (UINT32_C(1) << 20)
#define IREE_COMMANDS_MAX  (UINT32_C(1) << 20)
#define IREE_COUNTERS_MAX  (UINT32_C(1) << 12)
#define IREE_METRICS_MAX   (UINT32_C(1) << 16)
#define IREE_INSTANCES_MAX (UINT32_C(1) << 16) /* beyond it a counter's values share its name */
#define IREE_LABEL_BYTES   256                 /* of a counter's name: the rest is cut off */
#define IREE_TEXTS_MAX     (UINT32_C(1) << 16) /* of arguments: more of them are not kept */
#define IREE_WORDS_MAX     32

struct iree_command {
        uint64_t executable;
        uint32_t function;
};

struct iree_counter {
        uint64_t set;
        size_t label_at, label_bytes; /* its name, in `labels` */
        uint32_t name, unit;          /* strings */
        uint64_t offset, n_values;
};

struct iree_metric {
        uint32_t name, unit; /* strings; name 0: only the id is known */
        enum import_value_kind kind;
};

/* The parts of a record that become the text of a span; equal ones share it. */
enum iree_text {
        IREE_TEXT_DISPATCH,  /* workgroups */
        IREE_TEXT_EXECUTION, /* also tiles and the status */
        IREE_TEXT_OPERATION, /* length */
        IREE_TEXT_REGION,
};

struct iree_names {
        struct import_rows *rows; /* borrowed */
        struct intern function_ids, command_ids, metric_ids, instance_ids, text_ids;
        uint32_t *functions; /* heap, as all arrays here, in the order of their ids; strings */
        struct iree_command *commands;
        struct iree_metric *metrics;
        uint32_t *instances; /* strings: a counter's values, each */
        uint32_t *texts;     /* strings */
        struct iree_counter *counters;
        size_t functions_capacity, commands_capacity, metrics_capacity, instances_capacity, texts_capacity;
        size_t counters_capacity;
        size_t n_counters;
        struct byte_buffer labels;
        uint64_t n_texts_left_out;
        struct {
                const char *word;
                uint32_t id;
        } words[IREE_WORDS_MAX]; /* strings of our own */
        size_t n_words;
};

void iree_names_init(struct iree_names *names, struct import_rows *rows);
void iree_names_deinit(struct iree_names *names);

/* Forgets what belongs to a session; texts and words stay. */
void iree_names_begin_session(struct iree_names *names);

/* Takes a record of IREE_FUNCTION, _COMMAND_OPERATION, _COUNTER or _METRIC. */
int iree_names_add(struct iree_names *names, const struct iree_record *record, struct error *err);

/* The id of a string of ours, which lives as long as @names. */
int iree_names_word(struct iree_names *names, const char *word, uint32_t *ret_id, struct error *err);

/* Where a command of a buffer leads; NULL if that is not known.  The next is the name of a function, or 0. */
const struct iree_command *iree_names_command(const struct iree_names *names, uint64_t buffer,
                                              uint64_t index);
uint32_t iree_names_function(const struct iree_names *names, uint64_t executable, uint64_t function);

/* A name for a function of which the file has none: its numbers. */
int iree_names_number(struct iree_names *names, uint64_t executable, uint64_t function, uint32_t *ret_id,
                      struct error *err);

/* A metric that was not described is named by its number, and unsigned. */
int iree_names_metric(struct iree_names *names, uint64_t source, uint64_t metric,
                      struct iree_metric *ret_metric, struct error *err);

/* The name of one of a counter's values: of the only one that of the counter, else with its number in it. */
int iree_names_instance(struct iree_names *names, size_t counter, uint32_t which, uint32_t *ret_id,
                        struct error *err);

/* @ret_id: 0 if there is nothing to say, or no room for more texts. */
int iree_names_text(struct iree_names *names, enum iree_text kind, const struct iree_record *record,
                    uint32_t *ret_id, struct error *err);

#endif /* IMPORT_IREE_NAMES_H */
