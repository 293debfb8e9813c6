/* SPDX-License-Identifier: MIT */
/*
 * sampler/recording/command.c: the program starts when it is told to, and how it began and
 * ended is known exactly
 */
#include "base/error.h"
#include "base/io.h"
#include "sampler/recording/command.h"
#include "tests/unit/unit_test.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* An empty folder, in which a test makes what it looks for. */
struct folder {
        char path[PATH_MAX / 2];
};

static void make_folder(struct folder *f)
{
        const char *parent = getenv("TMPDIR");

        (void)snprintf(f->path, sizeof(f->path), "%s/command.XXXXXX", parent ? parent : "/tmp");
        ck_assert_ptr_nonnull(mkdtemp(f->path));
}

static char *make_file(const struct folder *f, const char *name, const char *text, mode_t mode)
{
        char *path;
        int fd;

        ck_assert_int_gt(asprintf(&path, "%s/%s", f->path, name), 0);
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(io_write_all(fd, text, strlen(text), NULL), 0);
        ck_assert_int_eq(fchmod(fd, mode), 0);
        io_close(&fd);
        return path;
}

static void remove_file(char *path)
{
        (void)unlink(path);
        free(path);
}

static int find(const char *name)
{
        struct error err = ERROR_NONE;
        int r = command_find(name, &err);

        ck_assert_int_eq(err.code, r);
        ck_assert(r == 0 || strstr(err.text, name) != NULL);
        return r;
}

START_TEST(test_find_by_path)
{
        struct folder folder;
        char *runs, *text;

        make_folder(&folder);
        runs = make_file(&folder, "runs", "", 0755);
        text = make_file(&folder, "text", "", 0644);
        ck_assert_int_eq(find(runs), 0);
        ck_assert_int_eq(find(text), -EACCES);
        ck_assert_int_eq(find(folder.path), -EACCES); /* a folder has the bits, but is no program */
        ck_assert_int_eq(find("/no/such/program"), -ENOENT);
        ck_assert_int_eq(find("/dev/null/program"), -ENOENT);
        remove_file(runs);
        remove_file(text);
        (void)rmdir(folder.path);
}
END_TEST

START_TEST(test_find_in_path)
{
        struct folder first, second;
        char *runs, *text, *path;

        make_folder(&first);
        make_folder(&second);
        text = make_file(&first, "program", "", 0644);
        ck_assert_int_gt(asprintf(&path, "/no/such/folder:%s:%s", first.path, second.path), 0);
        ck_assert_int_eq(setenv("PATH", path, 1), 0);
        ck_assert_int_eq(find("program"), -EACCES);
        ck_assert_int_eq(find("another"), -ENOENT);
        ck_assert_int_eq(find(""), -ENOENT);

        /* A file that cannot be executed does not hide one that can. */
        runs = make_file(&second, "program", "", 0755);
        ck_assert_int_eq(find("program"), 0);

        ck_assert_int_eq(setenv("PATH", first.path, 1), 0);
        ck_assert_int_eq(find("program"), -EACCES);
        ck_assert_int_eq(setenv("PATH", "", 1), 0); /* the current folder */
        ck_assert_int_eq(chdir(second.path), 0);
        ck_assert_int_eq(find("program"), 0);
        ck_assert_int_eq(unsetenv("PATH"), 0);
        ck_assert_int_eq(find("sh"), 0);
        ck_assert_int_eq(find("program"), -ENOENT);

        ck_assert_int_eq(chdir("/"), 0);
        remove_file(text);
        remove_file(runs);
        free(path);
        (void)rmdir(first.path);
        (void)rmdir(second.path);
}
END_TEST

static struct command c;

static void tear_down(void)
{
        if (c.pid > 0)
                command_deinit(&c);
}

static const char *const no_environment[] = { NULL };

static void start(char **argv, const char *const *environment)
{
        struct error err = ERROR_NONE;
        sigset_t none;
        const struct command_options options = { .argv = argv, .environment = environment, .signals = &none };

        (void)sigemptyset(&none);
        UNIT_TEST_SPOIL(c);
        ck_assert_msg(command_start(&c, &options, &err) == 0, "%s", err.text);
        ck_assert_int_gt(c.pid, 0);
        ck_assert_int_eq(fcntl(c.pid_fd, F_GETFD), FD_CLOEXEC);
        ck_assert_int_eq(fcntl(c.go_fd, F_GETFD), FD_CLOEXEC);
        ck_assert_int_eq(fcntl(c.exec_fd, F_GETFD), FD_CLOEXEC);
}

static void start_shell(const char *script)
{
        char shell[] = "sh", option[] = "-c", text[256];
        char *argv[] = { shell, option, text, NULL };

        (void)snprintf(text, sizeof(text), "%s", script);
        start(argv, no_environment);
}

static void go(void)
{
        struct error err = ERROR_NONE;

        ck_assert_msg(command_go(&c, &err) == 0, "%s", err.text);
        ck_assert_int_eq(c.go_fd, -1);
        ck_assert_int_eq(c.exec_fd, -1);
}

START_TEST(test_exit_status)
{
        start_shell("exit 42");
        go();
        ck_assert_int_eq(command_reap(&c, true), 1);
        ck_assert_int_eq(command_reap(&c, true), 1);
        ck_assert(c.reaped && WIFEXITED(c.wait_status));
        ck_assert_int_eq(WEXITSTATUS(c.wait_status), 42);
        command_deinit(&c);

        start_shell("kill -USR1 $$");
        go();
        ck_assert_int_eq(command_reap(&c, true), 1);
        ck_assert(WIFSIGNALED(c.wait_status));
        ck_assert_int_eq(WTERMSIG(c.wait_status), SIGUSR1);
}
END_TEST

/* The program waits for us, and we are told when it has ended. */
START_TEST(test_reap_without_waiting)
{
        struct pollfd ended = { .events = POLLIN };
        int fds[2];

        ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
        ck_assert_int_eq(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
        start_shell("read line; exit 3");
        go();
        ended.fd = c.pid_fd;
        ck_assert_int_eq(poll(&ended, 1, 0), 0);
        ck_assert_int_eq(command_reap(&c, false), 0);
        ck_assert(!c.reaped);
        io_close(&fds[1]);
        ck_assert_int_eq(poll(&ended, 1, -1), 1);
        ck_assert_int_eq(command_reap(&c, false), 1);
        ck_assert_int_eq(WEXITSTATUS(c.wait_status), 3);
        io_close(&fds[0]);
}
END_TEST

/* Not one instruction of it runs before it is told to go; then it has the environment that it was given. */
START_TEST(test_waits_and_passes_on)
{
        static const char *const environment[] = { "HYPROF_ONE", "a=b c", "HYPROF_TWO", "", NULL };
        struct folder folder;
        char *script, *mark, *text;
        struct stat st;
        char *argv[] = { NULL, NULL };

        make_folder(&folder);
        ck_assert_int_gt(asprintf(&mark, "%s/mark", folder.path), 0);
        ck_assert_int_gt(asprintf(&text,
                                  "#!/bin/sh\necho > %s\n[ \"$HYPROF_ONE\" = 'a=b c' ] || exit 1\n"
                                  "[ \"${HYPROF_TWO-x}\" = '' ] || exit 2\n[ \"$HYPROF_OLD\" = old ]\n",
                                  mark),
                         0);
        script = make_file(&folder, "script", text, 0755);
        argv[0] = script;

        ck_assert_int_eq(setenv("HYPROF_ONE", "replaced", 1), 0);
        ck_assert_int_eq(setenv("HYPROF_OLD", "old", 1), 0);
        start(argv, environment);
        ck_assert_int_eq(stat(mark, &st), -1);
        ck_assert_int_eq(command_reap(&c, false), 0);
        go();
        ck_assert_int_eq(command_reap(&c, true), 1);
        ck_assert_int_eq(c.wait_status, 0);
        ck_assert_int_eq(stat(mark, &st), 0);
        ck_assert_str_eq(getenv("HYPROF_ONE"), "replaced"); /* ours is as before */
        command_deinit(&c);
        remove_file(script);
        remove_file(mark);
        free(text);
        (void)rmdir(folder.path);
}
END_TEST

/* The recorder reads its signals from a descriptor; the program must not inherit that they are blocked. */
START_TEST(test_signal_mask)
{
        sigset_t blocked;

        (void)sigemptyset(&blocked);
        (void)sigaddset(&blocked, SIGTERM);
        ck_assert_int_eq(sigprocmask(SIG_BLOCK, &blocked, NULL), 0);
        start_shell("kill -TERM $$; exit 0");
        go();
        ck_assert_int_eq(command_reap(&c, true), 1);
        ck_assert(WIFSIGNALED(c.wait_status));
}
END_TEST

static const struct {
        const char *text;
        mode_t mode;
        int code;
} bad_programs[] = {
        { "", 0644, -EACCES },
        { "#!/no/such/interpreter\n", 0755, -ENOENT },
};

/* loop test: execve(2) refuses, and says why */
START_LOOP_TEST(test_exec_fails, 0, 2)
{
        struct error err = ERROR_NONE;
        struct folder folder;
        char *argv[] = { NULL, NULL };

        make_folder(&folder);
        argv[0] = make_file(&folder, "program", bad_programs[_i].text, bad_programs[_i].mode);
        start(argv, no_environment);
        ck_assert_int_eq(command_go(&c, &err), bad_programs[_i].code);
        ck_assert_int_eq(err.code, bad_programs[_i].code);
        ck_assert(c.reaped);
        remove_file(argv[0]);
        (void)rmdir(folder.path);
}
END_TEST

/* Text that does not say whose it is is the shell's, as it is when a shell starts it. */
START_TEST(test_script_without_interpreter)
{
        struct folder folder;
        char *argv[] = { NULL, NULL };

        make_folder(&folder);
        argv[0] = make_file(&folder, "program", "exit 5\n", 0755);
        start(argv, no_environment);
        go();
        ck_assert_int_eq(command_reap(&c, true), 1);
        ck_assert_int_eq(WEXITSTATUS(c.wait_status), 5);
        remove_file(argv[0]);
        (void)rmdir(folder.path);
}
END_TEST

/* It is killed from outside while it still waits: that is how it ended, and no hang. */
START_TEST(test_killed_before_go)
{
        struct pollfd ended = { .events = POLLIN };

        (void)signal(SIGPIPE, SIG_IGN); /* as the recorder does in its way */
        start_shell("exit 0");
        ended.fd = c.pid_fd;
        ck_assert_int_eq(kill(c.pid, SIGKILL), 0);
        ck_assert_int_eq(poll(&ended, 1, -1), 1);
        ck_assert_int_eq(command_go(&c, NULL), -EPIPE);
        ck_assert_int_eq(command_reap(&c, true), 1);
        ck_assert(WIFSIGNALED(c.wait_status));
        ck_assert_int_eq(WTERMSIG(c.wait_status), SIGKILL);
}
END_TEST

/* A command that was never started is not left behind; a running one is not killed. */
START_TEST(test_deinit)
{
        pid_t pid;
        int status;

        start_shell("exit 0");
        pid = c.pid;
        command_deinit(&c);
        ck_assert_int_eq(waitpid(pid, &status, 0), -1);
        ck_assert_int_eq(errno, ECHILD);
        ck_assert_int_eq(c.pid_fd, -1);

        start_shell("exit 7");
        pid = c.pid;
        go();
        command_deinit(&c);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_int_eq(WEXITSTATUS(status), 7);
}
END_TEST

/* The recorder is gone: its child does not start the program. */
START_TEST(test_parent_gone)
{
        start_shell("exit 0");
        io_close(&c.go_fd);
        ck_assert_int_eq(command_reap(&c, true), 1);
        ck_assert(WIFEXITED(c.wait_status));
        ck_assert_int_eq(WEXITSTATUS(c.wait_status), 127);
}
END_TEST

/* Some change the signal mask or PATH, which would stay so where all tests share one process. */
UNIT_TEST_PLAN(.teardown = tear_down, .always_forks = true);
