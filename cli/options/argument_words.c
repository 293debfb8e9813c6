/* SPDX-License-Identifier: MIT */
#include "cli/options/argument_words.h"

#include "base/name_guess.h"
#include "cli/terminal/complaint.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LIST_BYTES 512

static const struct {
        const char *word;
        enum argument_kind kind;
} kinds[] = {
        { "FILE", ARGUMENT_FILE },
        { "DIR", ARGUMENT_FOLDER },
        { "PATH", ARGUMENT_FOLDER },
        { "TRACE", ARGUMENT_TRACE },
        { "COMMAND", ARGUMENT_PROGRAM },
        { "TOPIC", ARGUMENT_TOPIC },
        { "SCHEMA", ARGUMENT_SCHEMA },
        { "EVENT", ARGUMENT_EVENT },
        { "EVENTS", ARGUMENT_EVENTS },
        { "ZONE", ARGUMENT_ZONE },
        { "THREAD", ARGUMENT_THREAD },
        { "FUNCTION", ARGUMENT_FUNCTION },
        { "MODULE", ARGUMENT_MODULE },
        /* The traces of `hyprof diff`. */
        { "A", ARGUMENT_TRACE },
        { "B", ARGUMENT_TRACE },
        { "BEFORE", ARGUMENT_TRACE },
        { "AFTER", ARGUMENT_TRACE },
};

static bool is_part_of_word(char c)
{
        return isalnum((unsigned char)c) || c == '-' || c == '_';
}

int argument_word_next(struct argument_word *word)
{
        const char *text = word->text + word->n_bytes;

        while (*text != '\0' && !isalnum((unsigned char)*text))
                text++;
        word->text = text;
        word->n_bytes = 0;
        while (is_part_of_word(text[word->n_bytes]))
                word->n_bytes++;
        return word->n_bytes > 0;
}

bool argument_word_is_choice(const struct argument_word *word)
{
        return !isupper((unsigned char)word->text[0]);
}

enum argument_kind argument_word_kind(const struct argument_word *word)
{
        for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
                if (strlen(kinds[i].word) == word->n_bytes &&
                    memcmp(kinds[i].word, word->text, word->n_bytes) == 0)
                        return kinds[i].kind;
        return ARGUMENT_TEXT;
}

bool argument_words_are_choices(const char *argument)
{
        struct argument_word word = { .text = argument };

        while (argument_word_next(&word) == 1)
                if (!argument_word_is_choice(&word))
                        return false;
        return true;
}

int argument_words_find(const char *choices, const char *wanted)
{
        struct argument_word word = { .text = choices };

        for (int place = 0; argument_word_next(&word) == 1; place++)
                if (strlen(wanted) == word.n_bytes && memcmp(wanted, word.text, word.n_bytes) == 0)
                        return place;
        return -EINVAL;
}

void argument_words_complain(const char *what, const char *choices, const char *wanted)
{
        struct argument_word word = { .text = choices };
        struct name_guess guess;
        char list[LIST_BYTES] = "";
        size_t used = 0;

        name_guess_init(&guess, wanted, strlen(wanted));
        while (argument_word_next(&word) == 1 && used + word.n_bytes + sizeof(", ") <= sizeof(list)) {
                char name[NAME_GUESS_BYTES];

                (void)snprintf(name, sizeof(name), "%.*s", (int)word.n_bytes, word.text);
                name_guess_offer(&guess, name);
                used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s", used > 0 ? ", " : "",
                                         name);
        }
        if (guess.best[0] != '\0')
                complain("error: %s %s: expected one of %s; did you mean '%s'?", what, wanted, list,
                         guess.best);
        else
                complain("error: %s %s: expected one of %s", what, wanted, list);
}
