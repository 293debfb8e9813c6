/* SPDX-License-Identifier: MIT */
/*
 * cli/options/argument_words.h - what an option or an operand takes, by the words that its help calls it
 *
 * Way of the data:  option_table ("EVENT", "att|intel") -> [argument_words] ->
 *                   option_table_parse(), completion
 *
 * Capitals are a kind, the same word for the same kind in every command; small letters are choices.
 */
#ifndef CLI_OPTIONS_ARGUMENT_WORDS_H
#define CLI_OPTIONS_ARGUMENT_WORDS_H

#include <stdbool.h>
#include <stddef.h>

enum argument_kind {
        ARGUMENT_TEXT, /* a number, a time, a size, a pattern: nothing that could be listed */
        ARGUMENT_FILE,
        ARGUMENT_FOLDER,
        ARGUMENT_TRACE,
        ARGUMENT_PROGRAM,
        ARGUMENT_TOPIC, /* a command of hyprof; a schema after --schema */
        ARGUMENT_SCHEMA,
        ARGUMENT_EVENT,  /* of a trace */
        ARGUMENT_EVENTS, /* of this machine, a list */
        ARGUMENT_ZONE,
        ARGUMENT_THREAD,
        ARGUMENT_FUNCTION,
        ARGUMENT_MODULE,
};

/* One word of an argument such as "[=N|all]". */
struct argument_word {
        const char *text; /* borrowed */
        size_t n_bytes;
};

/*
 * argument_word_next() - the words of an argument, one after the other
 * @word:  of the last call; at first the whole argument, with n_bytes 0
 * Returns 1, 0 after the last.
 */
int argument_word_next(struct argument_word *word);

bool argument_word_is_choice(const struct argument_word *word);

/* ARGUMENT_TEXT for an unknown word. */
enum argument_kind argument_word_kind(const struct argument_word *word);

/* Whether @argument is choices and nothing else. */
bool argument_words_are_choices(const char *argument);

/* The place of @wanted among choices such as "auto|always|never", from 0; -EINVAL = it is not a choice. */
int argument_words_find(const char *choices, const char *wanted);

/*
 * argument_words_complain() - says that @wanted is not a choice, which choices there are, and
 * which may be meant
 * @what:  "--color", or whatever the word was given to
 */
void argument_words_complain(const char *what, const char *choices, const char *wanted);

#endif /* CLI_OPTIONS_ARGUMENT_WORDS_H */
