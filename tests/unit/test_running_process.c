/* SPDX-License-Identifier: MIT */
/*
 * sampler/proc/running_process.c: what /proc says becomes the process, its threads, names and mappings; no
 * other process is taken
 */
#include "sampler/kernel/unwind_request.h"
#include "sampler/pace/recorder_pace.h"
#include "sampler/proc/running_process.h"

#include "base/error.h"
#include "format/trace_dictionary.h"
#include "sampler/merge/kernel_side.h"
#include "sampler/stacks/stack_unwinder.h"
#include "sampler/tracks/loss_counter.h"
#include "sampler/tracks/process_table.h"
#include "sampler/tracks/recording.h"
#include "tests/unit/fake_events.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

START_TEST(test_parse)
{
        static const struct {
                const char *text;
                struct running_process process;
        } good[] = {
                { "42 (server) S 7 42 42 0 -1 4194304 1 2 3\n", { 42, 7, false, true, "server", 0 } },
                { "42 (server) R 0 42 42 0 -1 4194304 1 2 3\n", { 42, 0, false, false, "server", 0 } },
                { "2 (kthreadd) S 0 0 0 0 -1 2129984 0\n", { 2, 0, true, true, "kthreadd", 0 } },
                { "42 (a) S 1 (b) R 7 42 42 0 -1 0 1\n", { 42, 7, false, false, "a) S 1 (b", 0 } },
                { "42 () Z 7 42 42 0 -1 4194304 1\n", { 42, 7, false, true, "", 0 } },
                { "42 (server) S 7 42 42 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 900 10 11 12 13 14 15 16 17 0 0 0 0 0 0 0 17 5 0 0\n",
                  { 42, 7, false, true, "server", 5 } },
        };
        static const char *const bad[] = { "",
                                           "42",
                                           "42 (server",
                                           "42 server)",
                                           ")(",
                                           "42 (server)",
                                           "42 (server) S",
                                           "42 (server) S 7 42 42 0 -1",
                                           "42 (server) S x" };
        struct running_process p;

        for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
                const struct running_process *wanted = &good[i].process;

                ck_assert_int_eq(running_process_parse(good[i].text, &p), 0);
                ck_assert_uint_eq(p.pid, wanted->pid);
                ck_assert_uint_eq(p.parent_pid, wanted->parent_pid);
                ck_assert_int_eq(p.is_kernel_thread, wanted->is_kernel_thread);
                ck_assert_int_eq(p.is_waiting, wanted->is_waiting);
                ck_assert_str_eq(p.name, wanted->name);
                ck_assert_uint_eq(p.cpu, wanted->cpu);
        }
        for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
                ck_assert_msg(running_process_parse(bad[i], &p) == -EBADMSG, "%s", bad[i]);
}
END_TEST

START_TEST(test_long_name)
{
        char text[256], name[101];
        struct running_process p;

        memset(name, 'x', sizeof(name) - 1);
        name[sizeof(name) - 1] = '\0';
        (void)snprintf(text, sizeof(text), "42 (%s) S 7 42 42 0 -1 0 1", name);
        ck_assert_int_eq(running_process_parse(text, &p), 0);
        ck_assert_uint_eq(strlen(p.name), RUNNING_PROCESS_NAME_BYTES - 1);
}
END_TEST

/* /proc/PID/stat escapes some of it. */
static const char child_name[] = "a\\b) S\nc";

/* A child that waits until it is told to end; returns its PID. */
static pid_t start_child(int *ret_go)
{
        int ends[2], named[2];
        char byte;
        pid_t pid;

        ck_assert_int_eq(pipe(ends), 0);
        ck_assert_int_eq(pipe(named), 0);
        pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                (void)prctl(PR_SET_NAME, child_name, 0, 0, 0);
                (void)!write(named[1], "", 1);
                (void)close(ends[1]);
                _exit(read(ends[0], &byte, 1) == 0 ? 0 : 1);
        }
        ck_assert_int_eq(read(named[0], &byte, 1), 1);
        (void)close(named[0]);
        (void)close(named[1]);
        (void)close(ends[0]);
        *ret_go = ends[1];
        return pid;
}

static void end_child(pid_t pid, int go)
{
        int status;

        (void)close(go);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_int_eq(status, 0);
}

START_TEST(test_check)
{
        struct error err = ERROR_NONE;
        int go;
        pid_t pid = start_child(&go);
        char words[64];

        ck_assert_int_eq(running_process_check((uint32_t)getpid(), &err), -EINVAL);
        ck_assert_ptr_nonnull(strstr(err.text, "is hyprof itself"));
        ck_assert_uint_eq(running_process_parent((uint32_t)pid), (uint32_t)getpid());
        end_child(pid, go);
        ck_assert_int_eq(running_process_check((uint32_t)pid, &err), -ESRCH);
        ck_assert_uint_eq(running_process_parent((uint32_t)pid), 0);
        (void)snprintf(words, sizeof(words), "no process %d", pid);
        ck_assert_str_eq(err.text, words);
        ck_assert_int_eq(running_process_check(INT32_MAX, &err), -ESRCH);
}
END_TEST

/* It has ended, but its parent has not waited for it: its number is still there. */
START_TEST(test_check_ended)
{
        struct error err = ERROR_NONE;
        siginfo_t info;
        int go;
        pid_t pid = start_child(&go);

        (void)close(go);
        ck_assert_int_eq(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
        ck_assert_int_eq(running_process_check((uint32_t)pid, &err), -ESRCH);
        ck_assert_ptr_nonnull(strstr(err.text, "has ended"));
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}
END_TEST

#ifdef __SANITIZE_THREAD__
#define N_THREADS_MAX 2 /* the sanitizer has one of its own */
#else
#define N_THREADS_MAX 1
#endif

START_TEST(test_lists)
{
        struct running_numbers list = { .numbers = NULL };
        int go;
        pid_t pid = start_child(&go);
        bool found = false;

        ck_assert_int_eq(running_numbers_read(&list, (uint32_t)pid, NULL), 0);
        ck_assert_uint_ge(list.n_numbers, 1);
        ck_assert_uint_le(list.n_numbers, N_THREADS_MAX);
        ck_assert_uint_eq(list.numbers[0], (uint32_t)pid);
        ck_assert_int_eq(running_numbers_read(&list, 0, NULL), 0);
        for (size_t i = 0; i < list.n_numbers; i++)
                found = found || list.numbers[i] == (uint32_t)pid;
        ck_assert(found);
        end_child(pid, go);
        ck_assert_int_eq(running_numbers_read(&list, (uint32_t)pid, NULL), -ESRCH);
        running_numbers_deinit(&list);
}
END_TEST

START_TEST(test_command_line)
{
        struct byte_buffer text = { .data = NULL };
        int go;
        pid_t pid = start_child(&go);

        running_process_add_command_line((uint32_t)pid, &text);
        byte_buffer_add_u8(&text, '\0');
        ck_assert(!text.failed);
        ck_assert_ptr_nonnull(strstr((const char *)text.data, "test_running_process"));
        end_child(pid, go);
        byte_buffer_clear(&text);
        running_process_add_command_line((uint32_t)pid, &text);
        ck_assert_uint_eq(text.used_bytes, 0);
        byte_buffer_deinit(&text);
}
END_TEST

static bool has_text(const struct trace_dictionary *d, const char *text)
{
        for (uint32_t i = 1; i <= trace_dictionary_count(d, TRACE_TABLE_STRINGS); i++) {
                struct text_view found = trace_dictionary_text(d, i);

                if (found.n_bytes == strlen(text) && memcmp(found.bytes, text, found.n_bytes) == 0)
                        return true;
        }
        return false;
}

START_TEST(test_add)
{
        struct event_set events;
        struct trace_dictionary dictionary;
        static struct process_table processes;
        struct loss_counter losses = { .totals = { 0 } };
        static struct kernel_side source;
        const uint32_t sample_events[] = { 1, 2 };
        static struct recorder_pace pace;
        struct recording recording = { .events = &events,
                                       .pace = &pace,
                                       .processes = &processes,
                                       .dictionary = &dictionary,
                                       .losses = &losses,
                                       .sample_events = sample_events };
        struct running_process p;
        const struct process_track *process;
        struct thread_track *thread;
        bool has_region = true;
        int go;
        pid_t pid = start_child(&go);

        fake_events_open(&events, 0);
        trace_dictionary_init(&dictionary, 0);
        process_table_init(&processes, &dictionary);
        ck_assert_int_eq(stack_unwinder_new(&(struct unwind_request){ .mode = UNWIND_FP }, NULL, &pace,
                                            &losses, &recording.unwinder, NULL),
                         0);
        ck_assert_int_eq(kernel_side_init(&source, &recording), 0);

        ck_assert_int_eq(running_process_read((uint32_t)pid, &p, NULL), 0);
        ck_assert_uint_eq(p.parent_pid, (uint32_t)getpid());
        ck_assert_int_eq(process_table_add_thread(&processes, p.parent_pid, p.parent_pid, 0, 5, &thread), 0);
        ck_assert_int_eq(process_intake_add(&p, NULL, &source, 1000, &has_region), 0);
        ck_assert(!has_region);

        process = process_table_find_process(&processes, p.pid);
        ck_assert_ptr_nonnull(process);
        ck_assert_ptr_nonnull(process_table_find_thread(&processes, p.pid));
        ck_assert_uint_eq(((const struct trace_process *)trace_dictionary_row(
                                   &dictionary, TRACE_TABLE_PROCESSES, process->process))
                                  ->parent,
                          thread->process->process);
        ck_assert(has_text(&dictionary, child_name));
        /* The child's code lies where ours does. */
        ck_assert_ptr_nonnull(address_space_find(&process->space, (uint64_t)(uintptr_t)start_child));
        ck_assert_ptr_null(address_space_find(&process->space, (uint64_t)(uintptr_t)&has_region));

        end_child(pid, go);
        ck_assert_int_eq(process_intake_add(&p, NULL, &source, 1000, &has_region), 0); /* gone: no harm */
        kernel_side_deinit(&source);
        stack_unwinder_free(recording.unwinder);
        process_table_deinit(&processes);
        trace_dictionary_deinit(&dictionary);
        event_set_close(&events);
}
END_TEST
