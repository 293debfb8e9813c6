/* SPDX-License-Identifier: MIT */
#include "analyze/trace/handle_word.h"

#include "base/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_PREFIX "name:"
#define NO_NAME     "[no name]"
#define SHOWN_MAX   60 /* bytes of a name */

/* "z7" -> 7; 0 if it is no handle. */
static uint32_t parse_id(const char *word, char letter)
{
        uint64_t id = 0;

        if (word[0] != letter || word[1] < '1' || word[1] > '9')
                return 0;
        for (const char *at = word + 1; *at; at++) {
                if (*at < '0' || *at > '9')
                        return 0;
                id = id * 10 + (uint64_t)(*at - '0');
                if (id > UINT32_MAX)
                        return 0;
        }
        return (uint32_t)id;
}

struct handle_word handle_word_parse(const char *word, char letter)
{
        size_t n_handle = strlen(HANDLE_PREFIX), n_name = strlen(NAME_PREFIX);
        uint32_t id;

        if (strncmp(word, NAME_PREFIX, n_name) == 0 && parse_id(word + n_name, letter) != 0)
                return (struct handle_word){ .bare = word + n_name, .is_certain = true };
        if (strncmp(word, HANDLE_PREFIX, n_handle) == 0) {
                id = parse_id(word + n_handle, letter);
                if (id != 0)
                        return (struct handle_word){ .bare = word + n_handle, .id = id, .is_certain = true };
        }
        id = parse_id(word, letter);
        return (struct handle_word){ .bare = word, .id = id, .is_certain = id == 0 };
}

int handle_word_refuse(const struct handle_word *word, const char *kind, struct text_view holder,
                       struct error *err)
{
        int n = holder.n_bytes < SHOWN_MAX ? (int)holder.n_bytes : SHOWN_MAX;

        return error_set(err, -EINVAL,
                         "'%s' is the handle of the %s '%.*s' and the name of another; write " HANDLE_PREFIX
                         "%s or " NAME_PREFIX "%s",
                         word->bare, kind, n > 0 ? n : (int)strlen(NO_NAME), n > 0 ? holder.bytes : NO_NAME,
                         word->bare, word->bare);
}

bool handle_word_is_name(char letter, uint32_t id, struct text_view name)
{
        return text_view_is(name, handle_word_spell(letter, id, false).text);
}

struct handle_text handle_word_spell(char letter, uint32_t id, bool is_name_of_another)
{
        struct handle_text handle;

        (void)snprintf(handle.text, sizeof(handle.text), "%s%c%" PRIu32,
                       is_name_of_another ? HANDLE_PREFIX : "", letter, id);
        return handle;
}
