/* SPDX-License-Identifier: MIT */
/*
 * web/request/web_question.h - the questions that a page may ask: a closed table, with the parameters of each
 *
 * Way of the data:  web_request -> [web_question] -> web_answers (cli) -> the command that answers it
 *
 * A question stands for a command of hyprof with --json, a parameter for one of its options.  No parameter is
 * a path.
 * Pure: no file, no clock.
 */
#ifndef WEB_REQUEST_WEB_QUESTION_H
#define WEB_REQUEST_WEB_QUESTION_H

#include "base/byte_buffer.h"

#include <stddef.h>
#include <stdint.h>

#define WEB_QUESTION_PARAMETERS_MAX 24
#define WEB_QUESTION_VALUE_MAX      8192 /* bytes of a value */

struct error;

/* A comparison has a trace from before a change and one from after it; a single trace is WEB_SIDE_AFTER. */
enum web_side { WEB_SIDE_AFTER, WEB_SIDE_BEFORE, N_WEB_SIDES };

enum web_question_name {
        WEB_QUESTION_OVERVIEW,
        WEB_QUESTION_FUNCTIONS,
        WEB_QUESTION_TOP_DOWN,
        WEB_QUESTION_BOTTOM_UP,
        WEB_QUESTION_ZONES,
        WEB_QUESTION_ZONE,
        WEB_QUESTION_THREADS,
        WEB_QUESTION_MODULES,
        WEB_QUESTION_OFF_CPU,
        WEB_QUESTION_CPUS,
        WEB_QUESTION_IDLE,
        WEB_QUESTION_HEAT,
        WEB_QUESTION_SYSCALLS,
        WEB_QUESTION_LOCKS,
        WEB_QUESTION_MEMORY,
        WEB_QUESTION_MESSAGES,
        WEB_QUESTION_FRAMES,
        WEB_QUESTION_PLOTS,
        WEB_QUESTION_DEVICES,
        WEB_QUESTION_ANNOTATE,
        WEB_QUESTION_WHY,
        WEB_QUESTION_PATH,
        WEB_QUESTION_DIFF,
        WEB_QUESTION_PAGE, /* the trace and the viewer as one file, HTML */
        WEB_QUESTION_COUNT
};

enum web_parameter {
        WEB_PARAMETER_FROM,
        WEB_PARAMETER_TO,
        WEB_PARAMETER_PROCESS,
        WEB_PARAMETER_THREAD,
        WEB_PARAMETER_CPU,
        WEB_PARAMETER_ZONE,
        WEB_PARAMETER_MODULE,
        WEB_PARAMETER_EVENT,
        WEB_PARAMETER_FUNCTION,
        WEB_PARAMETER_HISTOGRAM,
        WEB_PARAMETER_TOP,
        WEB_PARAMETER_DEPTH,
        WEB_PARAMETER_MIN_SHARE,
        WEB_PARAMETER_GROUP_BY,
        WEB_PARAMETER_SEVERITY,
        WEB_PARAMETER_SLOWEST,
        WEB_PARAMETER_SLOWER_THAN,
        WEB_PARAMETER_BY,
        WEB_PARAMETER_LONGER_THAN,
        WEB_PARAMETER_SHORTER_THAN,
        WEB_PARAMETER_ZONES_AS_FRAMES,
        WEB_PARAMETER_DISASSEMBLER_STYLE,
        WEB_PARAMETER_INLINED,
        WEB_PARAMETER_CONTEXT,
        WEB_PARAMETER_WHOLE_FILES,
        WEB_PARAMETER_THRESHOLD,
        WEB_PARAMETER_PER,
        WEB_PARAMETER_ONLY,
        WEB_PARAMETER_SIDE,
        WEB_PARAMETER_AT,
        WEB_PARAMETER_COUNT
};

struct web_question {
        enum web_question_name name;
        const char *values[WEB_PARAMETER_COUNT]; /* NULL = not given; borrowed from `texts` */
        uint64_t from_ns, to_ns;                 /* UINT64_MAX = not given */
        uint64_t job;                            /* chosen by the page; 0 = none */
        struct byte_buffer texts;                /* owned */
        /*
         * More questions without values about the same trace, borrowed, answered by the same reading of it:
         * each document, in this order, has a NUL after it, and one that there is not is empty.
         */
        const struct web_question *also;
};

/* Empty, valid. */
void web_question_init(struct web_question *q);
void web_question_deinit(struct web_question *q);

/*
 * web_question_parse() - read "question=zone&zone=Frame&from=0"
 * @query:  what follows '?' in an address, percent-encoded
 * Returns 0, or -EINVAL with words: an unknown question or parameter, one that is given twice, one that the
 * question
 * does not have or lacks, a value that is no number, empty, too long or not UTF-8, a range whose end is not
 * after its
 * beginning.  -ENOMEM.  @q is initialised; it is to be deinitialised in any case.
 */
int web_question_parse(struct web_question *q, const char *query, size_t n_bytes, struct error *err);

/*
 * "zone&zone=Frame": the question and its parameters in the order of their names, as the one-file page
 * keeps answers.
 */
void web_question_key(const struct web_question *q, struct byte_buffer *key);

const char *web_question_text(enum web_question_name name);
const char *web_parameter_text(enum web_parameter parameter);

#endif /* WEB_REQUEST_WEB_QUESTION_H */
