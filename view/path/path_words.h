/* SPDX-License-Identifier: MIT */
/*
 * view/path/path_words.h - what the rows of a path are called, and the answer as a sentence
 *
 * Way of the data:  path -> [path_words] -> path_view
 */
#ifndef VIEW_PATH_PATH_WORDS_H
#define VIEW_PATH_PATH_WORDS_H

#include "analyze/path/path.h"
#include "base/text_view.h"

struct answer_words;
struct byte_buffer;

/* A smaller share is not mentioned in the sentence. */
#define PATH_WORDS_SHARE_MIN 0.05

/* "run", as in JSON: by the row's kind and, of a wait, by what ended it; static. */
const char *path_words_kind(const struct path_row_key *key);
#define PATH_WORDS_KINDS                                                                            \
        "run|spin|thread|unrecorded|timer|disk|network|interrupt|unknown|lock|preempted|throttled|" \
        "unborn|cut|device|launch|not-ended"

/* The same for people: "slept"; static. */
const char *path_words_doing(const struct path_row_key *key);

/* "high"; static. */
const char *path_words_confidence(enum path_confidence confidence);

/* The name of a group of threads; in brackets if it has none. */
struct text_view path_words_group_name(const struct path_names *names, uint32_t group);
/* A function's name, or in brackets why it has none; empty for label 0. */
struct text_view path_words_function_name(const struct path_names *names, uint32_t label);

/* The same of a path: the name of a group of threads. */
struct text_view path_words_group(const struct path *p, uint32_t group);

struct text_view path_words_function(const struct path *p, uint32_t label);

/* The same without the '_' that the C library puts before its own. */
struct text_view path_words_call(const struct path *p, uint32_t label);

#define PATH_WORDS_NO_LANE UINT32_MAX

/* Whether the row is about a device. */
bool path_words_is_device(const struct path_row_key *key);

/* The name of what a device ran: "matmul".  @work: a name of `works` */
struct text_view path_words_work(const struct path *p, uint32_t work);

/* The lane that has half of the row or more; or PATH_WORDS_NO_LANE. */
uint32_t path_words_lane(const struct path *p, uint32_t row);

/* Adds where: "tt:0 / core 3"; "tt:0" for no lane, and for lane 0 if it has no name. */
void path_words_put_device(const struct path *p, uint32_t work, uint32_t lane, struct byte_buffer *b);

/* "ran flush_log()", what the thread of a row did. */
void path_words_add_doing(struct answer_words *out, const struct path *p, uint32_t row);

/* "main waited for it in pthread_mutex_lock(), through 'index'"; nothing for the first thread itself. */
void path_words_add_chain(struct answer_words *out, const struct path *p, uint32_t row);

/* The answer, a sentence without a line break. */
void path_words_answer(const struct path *p, struct answer_words *out);

#endif /* VIEW_PATH_PATH_WORDS_H */
