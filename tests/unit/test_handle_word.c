/* SPDX-License-Identifier: MIT */
/* analyze/trace/handle_word.c, name_list.c: a word means a handle, a name, or either, and both can be said */
#include "analyze/trace/handle_word.h"
#include "analyze/trace/name_list.h"
#include "base/error.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <string.h>

static struct text_view view(const char *text)
{
        return (struct text_view){ text, strlen(text) };
}

static const struct {
        const char *word, *bare;
        uint32_t id;
        bool is_certain;
} words[] = {
        { "t2", "t2", 2, false },
        { "handle:t2", "t2", 2, true },
        { "name:t2", "t2", 0, true },
        { "z2", "z2", 0, true },
        { "name:z2", "name:z2", 0, true }, /* another kind: nothing special */
        { "handle:worker", "handle:worker", 0, true },
        { "name:", "name:", 0, true },
        { "", "", 0, true },
        { "t", "t", 0, true },
        { "t0", "t0", 0, true },
        { "t02", "t02", 0, true },
        { "t2x", "t2x", 0, true },
        { "t4294967295", "t4294967295", UINT32_MAX, false },
        { "t4294967296", "t4294967296", 0, true },
};

START_LOOP_TEST(test_words, 0, sizeof(words) / sizeof(words[0]))
{
        struct handle_word word = handle_word_parse(words[_i].word, 't');

        ck_assert_str_eq(word.bare, words[_i].bare);
        ck_assert_uint_eq(word.id, words[_i].id);
        ck_assert(word.is_certain == words[_i].is_certain);
}
END_TEST

START_TEST(test_refusal_has_both_spellings)
{
        struct handle_word word = handle_word_parse("t2", 't');
        struct error err = ERROR_NONE;

        ck_assert_int_eq(handle_word_refuse(&word, "thread", view("worker"), &err), -EINVAL);
        ck_assert_str_eq(err.text, "'t2' is the handle of the thread 'worker' and the name of another; "
                                   "write handle:t2 or name:t2");
        ck_assert(handle_word_is_name('t', 2, view("t2")));
        ck_assert(!handle_word_is_name('t', 2, view("t20")));
        ck_assert(!handle_word_is_name('t', 20, view("t2")));
        ck_assert_str_eq(handle_word_spell('t', 2, false).text, "t2");
        ck_assert_str_eq(handle_word_spell('t', UINT32_MAX, true).text, "handle:t4294967295");
}
END_TEST

START_TEST(test_items_of_a_list)
{
        struct name_list list;

        ck_assert_int_eq(name_list_init(&list, "name:t1,handle:t2,t3", NULL), 0);
        ck_assert_int_eq(name_list_read_handles(&list, 't'), 0);
        ck_assert(name_list_fits(&list, view("t1")) && !name_list_has_handle(&list, 't', 1));
        ck_assert(!name_list_fits(&list, view("t2")) && name_list_has_handle(&list, 't', 2));
        ck_assert(name_list_fits(&list, view("t3")) && name_list_has_handle(&list, 't', 3));
        ck_assert(!name_list_fits(&list, view("name:t1")));
        ck_assert(name_list_has_names(&list));
        name_list_deinit(&list);
}
END_TEST
