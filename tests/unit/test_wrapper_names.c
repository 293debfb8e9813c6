/* SPDX-License-Identifier: MIT */
/*
 * analyze/trace/function_name.c: functions of the languages' libraries are told from the program's,
 * whatever stands around them
 */
#include "analyze/trace/function_name.h"
#include "tests/unit/unit_test.h"

#include <stdlib.h>
#include <string.h>

static const struct {
        const char *name;
        bool is_wrapper;
} cases[] = {
        { "std::mutex::lock()", true },
        { "std::mutex::lock", true },
        { "__gthread_mutex_lock", true },
        { "void std::this_thread::sleep_for<long, std::ratio<1l, 1000l> >(std::chrono::duration<long> const&)",
          true },
        { "decltype ((!(({parm#1}.try_lock)())),((void)())) hyprof::enabled::lockable<std::mutex>::lock_recorded"
          "<std::mutex>(std::mutex&, int)",
          true },
        { "std::sys::sync::mutex::futex::Mutex::lock_contended", true },
        { "app::queue::take(std::mutex&)", false },
        { "std::string app::make<int>(int)", false },
        { "app::list<std::string>::wait()", false },
        { "(anonymous namespace)::take(std::mutex&)", false },
        { "app::operator<(std::string, std::string)", false },
        { "app::operator>(std::string, std::string)", false },
        { "app::handle::operator->*(int, std::string)", false },
        { "app::box<int> std::move<app::box<int>&>(app::box<int>&)", true },
        { "main::{lambda(std::string)#1}::operator()(std::string) const", false },
        { "operator()", false },
        { "standard::wait()", false },
        { "std", false },
        { " ", false },
        { "", false },
};

START_LOOP_TEST(test_names, 0, sizeof(cases) / sizeof(cases[0]))
{
        struct text_view name = { .bytes = cases[_i].name, .n_bytes = strlen(cases[_i].name) };

        ck_assert_msg(wrapper_names_have(name) == cases[_i].is_wrapper, "%s", cases[_i].name);
}
END_TEST

static const struct {
        const char *name;
        bool is_client;
} client_cases[] = {
        { "hyprof_memory_alloc_callstack", true },
        { "hyprof_emit_memory_alloc", true },
        { "hyprof::enabled::memory_alloc(void const*, unsigned long)", true },
        { "___tracy_emit_memory_alloc", true },
        { "std::vector<int>::reserve(unsigned long)", false },
        { "my_hyprof_alloc", false },
        { "app::hyprof_alloc()", false },
        { "main", false },
        { "", false },
};

START_LOOP_TEST(test_names_of_the_client, 0, sizeof(client_cases) / sizeof(client_cases[0]))
{
        struct text_view name = { .bytes = client_cases[_i].name, .n_bytes = strlen(client_cases[_i].name) };

        ck_assert_msg(wrapper_names_have_client(name) == client_cases[_i].is_client, "%s",
                      client_cases[_i].name);
}
END_TEST

START_TEST(test_no_name)
{
        ck_assert(!wrapper_names_have_client((struct text_view){ .bytes = NULL }));
        ck_assert(!wrapper_names_have((struct text_view){ .bytes = NULL }));
}
END_TEST
