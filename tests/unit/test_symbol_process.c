/* SPDX-License-Identifier: MIT */
/*
 * symbolize/process/symbol_process.c: symbols come through the pipes in the same order; a child that dies,
 * lies or hangs does no harm
 */
#include "base/error.h"
#include "base/landlock.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/images/image_finder.h"
#include "symbolize/process/symbol_findings.h"
#include "symbolize/process/symbol_process.h"
#include "symbolize/symbols/symbolizer.h"
#include "tests/unit/own_code.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define OTHER_UID 65534
#define N_MODULES 3

static const struct symbol_process_options no_options = { .stop_fd = -1 };

static struct trace_dictionary dictionary;

/* Three modules with one frame each: module i has frame i. */
static void setup(void)
{
        char *path = own_code_path();

        trace_dictionary_init(&dictionary, 0);
        for (uint32_t i = 1; i <= N_MODULES; i++) {
                struct trace_module module = { .kind = TRACE_MODULE_FILE, .inode = i };
                uint32_t id;

                ck_assert_int_eq(trace_dictionary_add_string(&dictionary, path, strlen(path), &module.path),
                                 0);
                ck_assert_int_eq(trace_dictionary_add(&dictionary, TRACE_TABLE_MODULES, &module, &id), 0);
                ck_assert_uint_eq(id, i);
                ck_assert_uint_eq(own_code_add_frame(&dictionary, id, i, 0), i);
        }
        free(path);
}

static void teardown(void)
{
        trace_dictionary_deinit(&dictionary);
}

static uint32_t count_symbols(void)
{
        return trace_dictionary_count(&dictionary, TRACE_TABLE_SYMBOLS);
}

static const struct trace_symbol *symbol_row(uint32_t id)
{
        ck_assert_uint_le(id, count_symbols());
        return trace_dictionary_row(&dictionary, TRACE_TABLE_SYMBOLS, id);
}

static void check_string(uint32_t id, const char *wanted)
{
        size_t n_bytes;
        const char *text = trace_dictionary_string(&dictionary, id, &n_bytes);

        ck_assert_uint_eq(n_bytes, strlen(wanted));
        ck_assert_mem_eq(text, wanted, n_bytes);
}

static int say(const struct symbolizer_sink *sink, uint32_t frame, const char *text)
{
        const struct symbol symbol = { .function = text, .file = "/f.c", .line = frame };

        return sink->add_symbols(sink->context, frame, &symbol, 1, NULL);
}

static __attribute__((noinline)) int resolved_function(volatile int *x)
{
        *x += 1;
        return *x;
}

START_TEST(test_own_function_through_the_pipe)
{
        char *path = own_code_path();
        uint32_t module = own_code_add_module(&dictionary, path, OWN_CODE_BUILD_ID);
        uint32_t frame = own_code_add_frame(&dictionary, module,
                                            own_code_file_offset((uint64_t)resolved_function), 0);
        struct symbol_process_options options = no_options;
        struct error err = ERROR_NONE;
        int n_fds = dup(0);

        (void)close(n_fds);
        options.first_frame = frame;
        ck_assert_msg(symbol_process_run(&dictionary, &options, &err) == 0, "%s", err.text);
        ck_assert_uint_eq(count_symbols(), 1);
        ck_assert_uint_eq(symbol_row(1)->frame, frame);
        check_string(symbol_row(1)->function, "resolved_function");
        ck_assert_uint_gt(symbol_row(1)->line, 0);
        ck_assert_int_eq(dup(0), n_fds); /* no descriptor was left open */
        ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
        ck_assert_int_eq(errno, ECHILD); /* and no child */
        free(path);
}
END_TEST

START_TEST(test_other_file_is_stale)
{
        ck_assert_int_eq(symbol_process_run(&dictionary, &no_options, NULL), 0);
        ck_assert_uint_eq(count_symbols(), N_MODULES);
        for (uint32_t i = 1; i <= N_MODULES; i++) {
                ck_assert_uint_eq(symbol_row(i)->frame, i);
                ck_assert_uint_eq(symbol_row(i)->flags, TRACE_SYMBOL_STALE_FILE);
                ck_assert_uint_eq(symbol_row(i)->function, 0);
        }
}
END_TEST

/* Names frame i for module i, and is killed at module 2. */
static int die_at_two(struct symbolizer *symbolizer, uint32_t task, const struct symbolizer_sink *sink,
                      struct error *err)
{
        uint32_t module = symbolizer_find_module(symbolizer, task);

        (void)sink->begin_module(sink->context, module, err);
        if (module == 2)
                (void)raise(SIGSEGV);
        return say(sink, module, module == 1 ? "one" : "three");
}

START_TEST(test_module_that_kills_costs_its_own_names)
{
        struct error err = ERROR_NONE;

        ck_assert_int_eq(symbol_process_run_task(&dictionary, &no_options, die_at_two, &err), -EPROTO);
        ck_assert_ptr_nonnull(strstr(err.text, "signal 11"));
        ck_assert_ptr_nonnull(strstr(err.text, "module 2"));
        ck_assert_uint_eq(count_symbols(), 2);
        ck_assert_uint_eq(symbol_row(1)->frame, 1);
        check_string(symbol_row(1)->function, "one");
        ck_assert_uint_eq(symbol_row(2)->frame, 3);
        check_string(symbol_row(2)->function, "three");
}
END_TEST

static int die_at_once(struct symbolizer *symbolizer, uint32_t task, const struct symbolizer_sink *sink,
                       struct error *err)
{
        (void)symbolizer;
        (void)task;
        (void)sink;
        (void)err;
        _exit(3);
}

START_TEST(test_child_that_always_dies_is_given_up)
{
        struct error err = ERROR_NONE;

        ck_assert_int_eq(symbol_process_run_task(&dictionary, &no_options, die_at_once, &err), -EPROTO);
        ck_assert_ptr_nonnull(strstr(err.text, "status 3"));
        ck_assert_uint_eq(count_symbols(), 0);
}
END_TEST

static int hang(struct symbolizer *symbolizer, uint32_t task, const struct symbolizer_sink *sink,
                struct error *err)
{
        (void)symbolizer;
        (void)task;
        (void)sink;
        (void)err;
        while (pause() < 0)
                continue;
        return 0;
}

START_TEST(test_hanging_child_is_stopped)
{
        struct symbol_process_options options = no_options;
        uint64_t one = 0;

        options.stop_fd = eventfd(1, EFD_CLOEXEC);
        ck_assert_int_ge(options.stop_fd, 0);
        ck_assert_int_eq(symbol_process_run_task(&dictionary, &options, hang, NULL), -EINTR);
        ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1); /* the child is gone */
        ck_assert_int_eq(read(options.stop_fd, &one, sizeof(one)), (ssize_t)sizeof(one)); /* not read by it */
        (void)close(options.stop_fd);
}
END_TEST

static int run_out_of_memory(struct symbolizer *symbolizer, uint32_t task, const struct symbolizer_sink *sink,
                             struct error *err)
{
        uint32_t module = symbolizer_find_module(symbolizer, task);

        (void)sink->begin_module(sink->context, module, err);
        (void)say(sink, module, "one");
        return module == 2 ? error_set(err, -ENOMEM, "no \x1b[31m memory") : 0;
}

START_TEST(test_failure_is_handed_up_without_control_characters)
{
        struct error err = ERROR_NONE;

        ck_assert_int_eq(symbol_process_run_task(&dictionary, &no_options, run_out_of_memory, &err), -ENOMEM);
        ck_assert_ptr_nonnull(strstr(err.text, "no ?[31m memory"));
        ck_assert_uint_eq(count_symbols(), N_MODULES);
}
END_TEST

/* Messages that a child under an attacker's control could send: each is of module 2. */
static int lie_of_frame(const struct symbolizer_sink *sink, uint32_t frame, struct error *err)
{
        (void)sink->begin_module(sink->context, 2, err);
        (void)say(sink, 2, "truth");
        (void)say(sink, frame, "lie");
        return 0;
}

static int lie_of_frame_0(const struct symbolizer_sink *sink, struct error *err)
{
        return lie_of_frame(sink, 0, err);
}

static int lie_of_no_frame(const struct symbolizer_sink *sink, struct error *err)
{
        return lie_of_frame(sink, N_MODULES + 1, err);
}

static int lie_of_a_huge_frame(const struct symbolizer_sink *sink, struct error *err)
{
        return lie_of_frame(sink, UINT32_MAX, err);
}

static int lie_of_a_known_frame(const struct symbolizer_sink *sink, struct error *err)
{
        return lie_of_frame(sink, 2, err);
}

/* The frame exists, but it is not the child's. */
static int lie_of_another_module(const struct symbolizer_sink *sink, struct error *err)
{
        return lie_of_frame(sink, 3, err);
}

static int lie_of_the_same_module(const struct symbolizer_sink *sink, struct error *err)
{
        (void)sink->begin_module(sink->context, 2, err);
        (void)say(sink, 2, "truth");
        return sink->begin_module(sink->context, 2, err);
}

static int lie_of_module_3(const struct symbolizer_sink *sink, struct error *err)
{
        (void)sink->begin_module(sink->context, 2, err);
        (void)say(sink, 2, "truth");
        return sink->begin_module(sink->context, 3, err);
}

static int lie_of_a_finding(const struct symbolizer_sink *sink, struct error *err)
{
        const struct module_finding finding = { .module = 3 };

        (void)sink->begin_module(sink->context, 2, err);
        (void)say(sink, 2, "truth");
        return sink->end_module(sink->context, &finding, err);
}

static int (*const lies[])(const struct symbolizer_sink *sink, struct error *err) = {
        lie_of_frame_0,        lie_of_no_frame,        lie_of_a_huge_frame, lie_of_a_known_frame,
        lie_of_another_module, lie_of_the_same_module, lie_of_module_3,     lie_of_a_finding,
};

static size_t lie_number; /* the child has it from the fork */

static int lie_at_two(struct symbolizer *symbolizer, uint32_t task, const struct symbolizer_sink *sink,
                      struct error *err)
{
        uint32_t module = symbolizer_find_module(symbolizer, task);

        if (module == 2)
                return lies[lie_number](sink, err);
        (void)sink->begin_module(sink->context, module, err);
        return say(sink, module, "truth");
}

/* A liar is believed until its first lie, and the others are. */
START_LOOP_TEST(test_lies_are_refused, 0, sizeof(lies) / sizeof(lies[0]))
{
        struct symbol_process_options options = no_options;
        struct symbol_findings findings;
        struct error err = ERROR_NONE;

        lie_number = (size_t)_i;
        ck_assert_int_eq(symbol_findings_init(&findings, N_MODULES, NULL), 0);
        options.findings = &findings;
        ck_assert_int_eq(symbol_process_run_task(&dictionary, &options, lie_at_two, &err), -EBADMSG);
        ck_assert_ptr_nonnull(strstr(err.text, "module 2"));
        ck_assert_uint_eq(count_symbols(), N_MODULES);
        for (uint32_t i = 1; i <= N_MODULES; i++) {
                ck_assert_uint_eq(symbol_row(i)->frame, i);
                check_string(symbol_row(i)->function, "truth");
        }
        symbol_findings_deinit(&findings);
}
END_TEST

static char own_file[] = "/tmp/confined-XXXXXX"; /* that its user could write to, and remove */

/* Says what a process can do with files that it may only read, or NULL. */
static const char *find_change(void)
{
        char other[sizeof(own_file) + 1];

        (void)snprintf(other, sizeof(other), "%s2", own_file);
        if (open("/dev/null", O_WRONLY) >= 0 || errno != EACCES)
                return "opening for writing";
        if (open("/proc/self/mem", O_RDWR) >= 0)
                return "its own memory";
        if (open(own_file, O_WRONLY) >= 0 || (landlock_version() >= 3 && truncate(own_file, 0) == 0))
                return "opening its file for writing";
        if (rename(own_file, other) == 0 || unlink(own_file) == 0)
                return "removing its file";
        if (mkdir(other, 0700) == 0 || open(other, O_WRONLY | O_CREAT, 0600) >= 0)
                return "making a file";
        if (open(own_file, O_RDONLY) < 0)
                return "no reading";
        return NULL;
}

static bool has_filters(void)
{
        return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0;
}

/* Says which system call works that a parser does not need, or NULL. */
static const char *find_call(void)
{
        char *const words[] = { NULL };

        if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != SECCOMP_MODE_FILTER)
                return "no filter";
        if (socket(AF_UNIX, SOCK_DGRAM, 0) >= 0 || errno != EPERM)
                return "a socket";
        if (execve("/bin/true", words, words) < 0 && errno != EPERM)
                return "a program";
        if (unshare(CLONE_NEWUSER) == 0 || errno != EPERM)
                return "a namespace";
        return NULL;
}

/* Says "confined" for frame 1 if all of it holds, else what does not. */
static const char *find_right(void)
{
        static char text[4096];
        FILE *status = fopen("/proc/self/status", "re");
        struct rlimit limit;
        size_t n;

        if (!status)
                return "no /proc";
        n = fread(text, 1, sizeof(text) - 1, status);
        (void)fclose(status);
        text[n] = '\0';
        if (!strstr(text, "CapEff:\t0000000000000000") || !strstr(text, "CapPrm:\t0000000000000000"))
                return "capabilities";
        if (!strstr(text, "NoNewPrivs:\t1"))
                return "new privileges";
        if (!strstr(text, "SigBlk:\t0000000000000000"))
                return "blocked signals";
        if (fcntl(3, F_GETFD) < 0 || fcntl(9, F_GETFD) >= 0)
                return "descriptors";
        if (getrlimit(RLIMIT_CORE, &limit) < 0 || limit.rlim_max != 0)
                return "cores";
        if (getrlimit(RLIMIT_DATA, &limit) < 0 || limit.rlim_max == RLIM_INFINITY)
                return "memory";
        if (write(memfd_create("file", 0), "x", 1) >= 0)
                return "writing";
        if (landlock_version() > 0 && find_change())
                return find_change();
        if (has_filters() && find_call())
                return find_call();
        return "confined";
}

static int look_around(struct symbolizer *symbolizer, uint32_t task, const struct symbolizer_sink *sink,
                       struct error *err)
{
        uint32_t module = symbolizer_find_module(symbolizer, task);
        char id[32];

        (void)sink->begin_module(sink->context, module, err);
        (void)snprintf(id, sizeof(id), "%u", getuid());
        return say(sink, module, module == 1 ? find_right() : id);
}

static void make_own_file(void)
{
        int fd;

        memcpy(own_file + sizeof(own_file) - sizeof("XXXXXX"), "XXXXXX", sizeof("XXXXXX"));
        fd = mkstemp(own_file);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(fchmod(fd, 0644), 0);
        (void)close(fd);
        if (landlock_version() == 0)
                printf("skipped: this kernel has no Landlock\n");
}

/* loop test: staying the same user, and becoming another one */
START_LOOP_TEST(test_child_is_confined, 0, 2)
{
        struct symbol_process_options options = no_options;
        char id[32];
        sigset_t blocked;
        int extra_fd = fcntl(0, F_DUPFD, 9);

        make_own_file();

        if (_i == 1)
                options.run_as_uid = options.run_as_gid = OTHER_UID;
        (void)sigemptyset(&blocked);
        (void)sigaddset(&blocked, SIGINT);
        (void)pthread_sigmask(SIG_BLOCK, &blocked, NULL);
        ck_assert_int_ge(extra_fd, 9);
        ck_assert_int_eq(symbol_process_run_task(&dictionary, &options, look_around, NULL), 0);
        check_string(symbol_row(1)->function, "confined");
        (void)snprintf(id, sizeof(id), "%u", _i == 1 && geteuid() == 0 ? OTHER_UID : getuid());
        check_string(symbol_row(2)->function, id);
        (void)close(extra_fd);
        (void)unlink(own_file);
}
END_TEST

#define N_FEW_FILES 40 /* more than a test has open, fewer than most programs may have */

/* As under `ulimit -n`; returns what the limit was. */
static rlim_t limit_files(rlim_t n_files)
{
        struct rlimit limit;
        rlim_t before;

        ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
        before = limit.rlim_cur;
        limit.rlim_cur = n_files;
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
        return before;
}

START_TEST(test_few_files_may_be_open)
{
        rlim_t before = limit_files(N_FEW_FILES);
        struct error err = ERROR_NONE;

        make_own_file();
        ck_assert_msg(symbol_process_run_task(&dictionary, &no_options, look_around, &err) == 0, "%s",
                      err.text);
        check_string(symbol_row(1)->function, "confined");
        (void)limit_files(before);
        (void)unlink(own_file);
}
END_TEST

/* The pipe and the kernel's symbols still fit, nothing that the child opens does. */
START_TEST(test_no_more_files_may_be_open)
{
        rlim_t before = limit_files(N_FEW_FILES);
        struct error err = ERROR_NONE;
        int fds[N_FEW_FILES];
        size_t n_fds = 0;

        while ((fds[n_fds] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
                n_fds++;
        ck_assert_uint_gt(n_fds, 3);
        for (int i = 0; i < 3; i++)
                (void)close(fds[--n_fds]);
        ck_assert_int_eq(symbol_process_run_task(&dictionary, &no_options, look_around, &err), -EMFILE);
        ck_assert_ptr_nonnull(strstr(err.text, strerror(EMFILE)));
        while (n_fds > 0)
                (void)close(fds[--n_fds]);
        (void)limit_files(before);
}
END_TEST

/* More than a pipe holds, in records that end anywhere in what is read at once. */
static int say_much(struct symbolizer *symbolizer, uint32_t task, const struct symbolizer_sink *sink,
                    struct error *err)
{
        uint32_t module = symbolizer_find_module(symbolizer, task);
        char text[1000];

        (void)sink->begin_module(sink->context, module, err);
        memset(text, 'x', sizeof(text));
        for (uint32_t i = 1; i <= trace_dictionary_count(&dictionary, TRACE_TABLE_FRAMES); i++) {
                if (symbolizer_find_task(symbolizer, i) != task)
                        continue;
                text[1 + i % (sizeof(text) - 1)] = '\0';
                if (say(sink, i, text) < 0)
                        return -EIO;
                text[1 + i % (sizeof(text) - 1)] = 'x';
        }
        return 0;
}

/* loop test: one child after the other, or all at once: the same rows in the same order */
START_LOOP_TEST(test_many_symbols_in_order, 0, 4)
{
        struct symbol_process_options options = no_options;
        uint32_t n_frames = 5000;
        uint32_t row = 1;

        options.n_workers = (uint32_t)_i;
        for (uint32_t i = N_MODULES + 1; i <= n_frames; i++)
                (void)own_code_add_frame(&dictionary, 1 + (i - 1) % N_MODULES, i, 0);
        ck_assert_int_eq(symbol_process_run_task(&dictionary, &options, say_much, NULL), 0);
        ck_assert_uint_eq(count_symbols(), n_frames);
        for (uint32_t module = 1; module <= N_MODULES; module++)
                for (uint32_t i = module; i <= n_frames; i += N_MODULES) {
                        size_t n_bytes;

                        (void)trace_dictionary_string(&dictionary, symbol_row(row)->function, &n_bytes);
                        ck_assert_uint_eq(symbol_row(row)->frame, i);
                        ck_assert_uint_eq(n_bytes, 1 + i % 999);
                        row++;
                }
}
END_TEST

static sem_t *gate; /* in shared memory: children have no descriptors of ours */

/* The first one waits until the last one has ended: no child reports before, and nothing is lost. */
static int first_waits_for_last(struct symbolizer *symbolizer, uint32_t task,
                                const struct symbolizer_sink *sink, struct error *err)
{
        uint32_t module = symbolizer_find_module(symbolizer, task);

        (void)sink->begin_module(sink->context, module, err);
        if (module == N_MODULES)
                (void)sem_post(gate);
        else if (module == 1 && sem_wait(gate) < 0)
                return -EIO;
        return say(sink, module, "here");
}

START_TEST(test_order_of_ends_does_not_matter)
{
        struct symbol_process_options options = no_options;
        void *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

        ck_assert(shared != MAP_FAILED);
        gate = shared;
        ck_assert_int_eq(sem_init(gate, 1, 0), 0);
        options.n_workers = N_MODULES;
        ck_assert_int_eq(symbol_process_run_task(&dictionary, &options, first_waits_for_last, NULL), 0);
        ck_assert_uint_eq(count_symbols(), N_MODULES);
        for (uint32_t i = 1; i <= N_MODULES; i++)
                ck_assert_uint_eq(symbol_row(i)->frame, i);
        (void)sem_destroy(gate);
        (void)munmap(shared, 4096);
}
END_TEST

static int hang_at_two(struct symbolizer *symbolizer, uint32_t task, const struct symbolizer_sink *sink,
                       struct error *err)
{
        uint32_t module = symbolizer_find_module(symbolizer, task);

        (void)sink->begin_module(sink->context, module, err);
        while (module == 2)
                (void)pause();
        return say(sink, module, "in time");
}

START_TEST(test_module_that_takes_too_long)
{
        struct symbol_process_options options = no_options;
        struct error err = ERROR_NONE;

        options.task_s = 1;
        ck_assert_int_eq(symbol_process_run_task(&dictionary, &options, hang_at_two, &err), -ETIME);
        ck_assert_ptr_nonnull(strstr(err.text, "module 2"));
        ck_assert_uint_eq(count_symbols(), 2);
        ck_assert_uint_eq(symbol_row(1)->frame, 1);
        ck_assert_uint_eq(symbol_row(2)->frame, 3);
}
END_TEST

/* Frame 1 has a line, 2 a name, 3 the word that its file differs. */
static void add_known(uint32_t frame, const char *function, uint32_t line, uint32_t flags)
{
        struct trace_symbol row = { .frame = frame, .line = line, .flags = flags };
        uint32_t id;

        if (function)
                ck_assert_int_eq(
                        trace_dictionary_add_string(&dictionary, function, strlen(function), &row.function),
                        0);
        if (line)
                ck_assert_int_eq(trace_dictionary_add_string(&dictionary, "/f.c", 4, &row.file), 0);
        ck_assert_int_eq(trace_dictionary_add(&dictionary, TRACE_TABLE_SYMBOLS, &row, &id), 0);
}

static struct symbol said; /* by the next child */

static int say_it(struct symbolizer *symbolizer, uint32_t task, const struct symbolizer_sink *sink,
                  struct error *err)
{
        uint32_t module = symbolizer_find_module(symbolizer, task);

        (void)sink->begin_module(sink->context, module, err);
        return sink->add_symbols(sink->context, module, &said, 1, err);
}

/* Runs again with the same answer for every frame; returns how many rows it added. */
static uint32_t add_again(const char *function, uint32_t line, uint32_t flags)
{
        struct symbol_process_options options = no_options;
        uint32_t n_before = count_symbols();
        uint64_t n_news = 0;

        said = (struct symbol){
                .function = function, .file = line ? "/f.c" : NULL, .line = line, .flags = flags
        };
        options.ret_n_news = &n_news;
        ck_assert_int_eq(symbol_process_run_task(&dictionary, &options, say_it, NULL), 0);
        ck_assert_uint_eq(n_news, count_symbols() - n_before);
        return count_symbols() - n_before;
}

START_TEST(test_only_news_are_added)
{
        add_known(1, "name", 7, 0);
        add_known(2, "name", 0, 0);
        add_known(3, NULL, 0, TRACE_SYMBOL_STALE_FILE);
        ck_assert_uint_eq(add_again(NULL, 0, TRACE_SYMBOL_STALE_FILE), 0);
        ck_assert_uint_eq(add_again("name", 0, 0), 1);
        ck_assert_uint_eq(symbol_row(4)->frame, 3);
        ck_assert_uint_eq(add_again("name", 7, 0), 2);
        ck_assert_uint_eq(add_again("name", 7, 0), 0);
        ck_assert_uint_eq(add_again("other", 7, 0), 3);
}
END_TEST

START_TEST(test_an_address_is_no_name)
{
        add_known(1, "name", 0, 0);
        add_known(2, "module+0x10", 0, TRACE_SYMBOL_UNNAMED);
        ck_assert_uint_eq(add_again("module+0x10", 0, TRACE_SYMBOL_UNNAMED), 1); /* of the third frame */
        ck_assert_uint_eq(symbol_row(3)->flags, TRACE_SYMBOL_UNNAMED);
        ck_assert_uint_eq(add_again(NULL, 0, TRACE_SYMBOL_STALE_FILE), 0);
        ck_assert_uint_eq(add_again("name", 0, 0), 2);
        ck_assert_uint_eq(add_again("module+0x10", 0, TRACE_SYMBOL_UNNAMED), 0);
}
END_TEST

START_TEST(test_looking_adds_nothing)
{
        struct symbol_process_options options = no_options;
        struct symbol_findings findings;

        options.only_look = true;
        options.findings = &findings;
        ck_assert_int_eq(symbol_findings_init(&findings, N_MODULES, NULL), 0);
        ck_assert_int_eq(symbol_process_run(&dictionary, &options, NULL), 0);
        ck_assert_uint_eq(count_symbols(), 0);
        for (uint32_t i = 1; i <= N_MODULES; i++) {
                ck_assert_uint_eq(findings.items[i].source, IMAGE_SOURCE_DIFFERS);
                ck_assert_uint_eq(findings.items[i].n_frames, 1);
                ck_assert_uint_eq(findings.items[i].n_named, 0);
                ck_assert_ptr_nonnull(findings.items[i].path);
        }
        symbol_findings_deinit(&findings);
}
END_TEST

static void begin(int argc, char **argv)
{
        volatile int x = 0;

        (void)argc, (void)argv;
        if (resolved_function(&x) != 1)
                exit(EXIT_FAILURE); /* it has to be in the program to be found there */
}

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown, .begin = begin);
