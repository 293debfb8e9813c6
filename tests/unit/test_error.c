/* SPDX-License-Identifier: MIT */
/* base/error.c: codes pass through unchanged, words are never cut in silence */
#include "base/error.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <string.h>

START_TEST(test_set_returns_code_and_words)
{
        struct error err = ERROR_NONE;

        ck_assert_int_eq(error_set(&err, -EBADMSG, "chunk %d", 7), -EBADMSG);
        ck_assert_int_eq(err.code, -EBADMSG);
        ck_assert_str_eq(err.text, "chunk 7");
}
END_TEST

START_TEST(test_nobody_needs_to_listen)
{
        errno = ENOSPC;
        ck_assert_int_eq(error_set(NULL, -EBADMSG, "nobody"), -EBADMSG);
        ck_assert_int_eq(error_errno(NULL, "nobody"), -ENOSPC);
        ck_assert_int_eq(error_prefix(NULL, -EPERM, "nobody"), -EPERM);
}
END_TEST

START_TEST(test_errno_is_described)
{
        struct error err = ERROR_NONE;

        errno = ENOENT;
        ck_assert_int_eq(error_errno(&err, "open %s", "/x"), -ENOENT);
        ck_assert_int_eq(err.code, -ENOENT);
        ck_assert_str_eq(err.text, "open /x: No such file or directory");

        errno = 9999;
        ck_assert_int_eq(error_errno(&err, "odd"), -9999);
        ck_assert_str_eq(err.text, "odd: unknown error");
}
END_TEST

START_TEST(test_errno_that_was_never_set_is_a_failure_still)
{
        struct error err = ERROR_NONE;

        errno = 0;
        ck_assert_int_eq(error_errno(&err, "read"), -EIO);
        ck_assert_int_eq(err.code, -EIO);
}
END_TEST

START_TEST(test_prefix_keeps_the_cause)
{
        struct error err = ERROR_NONE;
        int r = error_set(&err, -EBADMSG, "bad magic");

        ck_assert_int_eq(error_prefix(&err, r, "reading %s", "a.trace"), -EBADMSG);
        ck_assert_int_eq(err.code, -EBADMSG);
        ck_assert_str_eq(err.text, "reading a.trace: bad magic");
}
END_TEST

/* Either all of @wanted, or its beginning and "...". */
static void expect_whole_or_marked(const struct error *err, const char *wanted)
{
        size_t n = strlen(err->text);

        ck_assert_uint_lt(n, ERROR_TEXT_BYTES);
        if (strlen(wanted) < ERROR_TEXT_BYTES) {
                ck_assert_str_eq(err->text, wanted);
        } else {
                ck_assert_uint_eq(n, ERROR_TEXT_BYTES - 1);
                ck_assert_str_eq(err->text + n - 3, "...");
                ck_assert_int_eq(strncmp(err->text, wanted, n - 3), 0);
        }
}

/* loop test: words of every length around that of the text, alone, before and after others */
START_LOOP_TEST(test_long_words_are_marked, ERROR_TEXT_BYTES - 40, ERROR_TEXT_BYTES + 8)
{
        struct error err = ERROR_NONE;
        char words[ERROR_TEXT_BYTES + 8];
        char wanted[2 * sizeof(words)] = "";
        size_t n = (size_t)_i;

        memset(words, 'w', n);
        words[n] = '\0';
        ck_assert_int_eq(error_set(&err, -EIO, "%s", words), -EIO);
        expect_whole_or_marked(&err, words);

        ck_assert_int_eq(error_set(&err, -EIO, "%s", words + 2), -EIO);
        ck_assert_int_eq(error_prefix(&err, -EIO, "more"), -EIO);
        (void)strcat(strcpy(wanted, "more: "), words + 2);
        expect_whole_or_marked(&err, wanted);

        ck_assert_int_eq(error_set(&err, -EIO, "cause"), -EIO);
        ck_assert_int_eq(error_prefix(&err, -EIO, "%s", words), -EIO);
        (void)strcat(strcpy(wanted, words), ": cause");
        expect_whole_or_marked(&err, wanted);

        errno = EPERM;
        ck_assert_int_eq(error_errno(&err, "%s", words), -EPERM);
        (void)strcat(strcpy(wanted, words), ": Operation not permitted");
        expect_whole_or_marked(&err, wanted);
}
END_TEST

/* A text that names the thing already is left as it is; one that only begins alike is not. */
START_TEST(test_prefix_once)
{
        struct error err = ERROR_NONE;

        (void)error_set(&err, -EIO, "no memory");
        ck_assert_int_eq(error_prefix_once(&err, -ENOMEM, "a.hyp"), -ENOMEM);
        ck_assert_str_eq(err.text, "a.hyp: no memory");
        ck_assert_int_eq(error_prefix_once(&err, -EIO, "a.hyp"), -EIO);
        ck_assert_str_eq(err.text, "a.hyp: no memory");
        ck_assert_int_eq(err.code, -EIO);
        ck_assert_int_eq(error_prefix_once(&err, -EIO, "a"), -EIO);
        ck_assert_str_eq(err.text, "a: a.hyp: no memory");
        ck_assert_int_eq(error_prefix_once(NULL, -EIO, "a"), -EIO);
}
END_TEST
