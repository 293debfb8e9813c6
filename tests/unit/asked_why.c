/* SPDX-License-Identifier: MIT */
#include "tests/unit/asked_why.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "tests/unit/unit_test.h"
#include "view/why/why_words.h"

#include <string.h>

void asked_why_ask(struct asked_why *a, const char *path, const struct why_request *request)
{
        struct byte_buffer words = { .data = NULL };
        struct error err = ERROR_NONE;

        ck_assert_msg(loaded_trace_open(&a->trace, path, &err) == 0, "%s", err.text);
        ck_assert_int_eq(loaded_trace_read_names(&a->trace, &err), 0);
        ck_assert_msg(why_init(&a->why, &a->trace, NULL, request, &err) == 0, "%s", err.text);
        why_words_answer(&a->why, &a->trace, &words);
        ck_assert_uint_lt(words.used_bytes, sizeof(a->answer));
        memcpy(a->answer, words.data, words.used_bytes);
        a->answer[words.used_bytes] = '\0';
        byte_buffer_deinit(&words);
}

void asked_why_deinit(struct asked_why *a)
{
        why_deinit(&a->why);
        loaded_trace_close(&a->trace);
        memset(a, 0, sizeof(*a));
}
