/* SPDX-License-Identifier: MIT */
/*
 * Runs a command again and again, and lets another allocation of it fail each time.
 *
 * usage: try_allocations LIBRARY STEP LIMIT_S COMMAND...
 *
 * LIBRARY is fail_allocation.so.  Every STEP-th allocation is tried, and of every eighth try all allocations
 * from that one on fail.  Prints a line for each try that ended by a signal, lasted longer than LIMIT_S,
 * failed without a word, called a trace that is intact damaged, or named a file twice; then how many tries
 * there were.  Exit status: 0 = no such line.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define WORDS_BYTES 4096
#define ALL_EVERY   8

struct outcome {
        int status; /* as of waitpid(2) */
        bool too_long;
        char words[WORDS_BYTES]; /* the begin of its standard error */
};

static long limit_ms;

static void fail(const char *what)
{
        (void)fprintf(stderr, "try_allocations: %s: %s\n", what, strerror(errno));
        exit(2);
}

static void start(const char *library, long at, bool all, char **command, int words_fd)
{
        int null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
        char number[24];

        (void)snprintf(number, sizeof(number), "%ld", at);
        if (null_fd < 0 || dup2(null_fd, STDIN_FILENO) < 0 || dup2(null_fd, STDOUT_FILENO) < 0 ||
            dup2(words_fd, STDERR_FILENO) < 0 || setenv("LD_PRELOAD", library, 1) < 0 ||
            setenv("FAIL_AT", number, 1) < 0 || (all && setenv("FAIL_ALL", "1", 1) < 0))
                _exit(126);
        (void)setpgid(0, 0);
        (void)execv(command[0], command);
        _exit(126);
}

static struct outcome run(const char *library, long at, bool all, char **command)
{
        struct outcome o = { .status = 0 };
        int words_fd = memfd_create("words", MFD_CLOEXEC);
        struct pollfd process;
        pid_t pid;

        if (words_fd < 0)
                fail("memfd_create");
        pid = fork();
        if (pid < 0)
                fail("fork");
        if (pid == 0)
                start(library, at, all, command, words_fd);
        process = (struct pollfd){ .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
        if (process.fd < 0)
                fail("pidfd_open");
        o.too_long = poll(&process, 1, (int)limit_ms) == 0;
        if (o.too_long)
                (void)kill(pid, SIGKILL);
        if (waitpid(pid, &o.status, 0) < 0)
                fail("waitpid");
        (void)kill(-pid, SIGKILL); /* children that it left behind */
        if (pread(words_fd, o.words, sizeof(o.words) - 1, 0) < 0)
                fail("read");
        (void)close(process.fd);
        (void)close(words_fd);
        return o;
}

/* "PATH: PATH: no memory" */
static bool names_twice(const char *words)
{
        for (const char *at = strchr(words, '/'); at; at = strchr(at + 1, '/')) {
                size_t n = strcspn(at, ": ");

                if (at[n] == ':' && at[n + 1] == ' ' && strncmp(at, at + n + 2, n + 2) == 0)
                        return true;
        }
        return false;
}

/* Its defect; NULL = none. */
static const char *judge(const struct outcome *o)
{
        if (o->too_long)
                return "did not end";
        if (WIFSIGNALED(o->status))
                return "ended by a signal";
        if (WEXITSTATUS(o->status) != 0 && o->words[0] == '\0')
                return "failed without a word";
        if (strstr(o->words, "damaged") || strstr(o->words, "cut off"))
                return "called an intact trace damaged";
        if (names_twice(o->words))
                return "named a file twice";
        return NULL;
}

static long count(const char *library, char **command)
{
        char path[] = "/tmp/allocations-XXXXXX";
        int fd = mkstemp(path);
        char text[24] = "";
        struct outcome o;

        if (fd < 0 || setenv("FAIL_COUNT", path, 1) < 0)
                fail("counting");
        o = run(library, 0, false, command);
        (void)unsetenv("FAIL_COUNT");
        (void)unlink(path);
        if (o.too_long || !WIFEXITED(o.status) || pread(fd, text, sizeof(text) - 1, 0) <= 0) {
                (void)fprintf(stderr, "the command fails by itself: status %d: %s\n", o.status, o.words);
                exit(2);
        }
        (void)close(fd);
        return strtol(text, NULL, 10);
}

int main(int argc, char **argv)
{
        long step, n, n_tries = 0, n_bad = 0;

        if (argc < 5) {
                (void)fprintf(stderr, "usage: try_allocations LIBRARY STEP LIMIT_S COMMAND...\n");
                return 2;
        }
        step = strtol(argv[2], NULL, 10);
        limit_ms = strtol(argv[3], NULL, 10) * 1000;
        n = count(argv[1], argv + 4);
        for (long at = 1; at <= n; at += step > 0 ? step : 1) {
                bool all = n_tries % ALL_EVERY == ALL_EVERY - 1;
                struct outcome o = run(argv[1], at, all, argv + 4);
                const char *wrong = judge(&o);

                n_tries++;
                n_bad += wrong != NULL;
                if (wrong)
                        (void)printf("allocation %ld%s of %ld: %s (status %d): %s\n", at,
                                     all ? " and all after it" : "", n, wrong, o.status, o.words);
        }
        (void)printf("%ld tries of %ld allocations, %ld wrong\n", n_tries, n, n_bad);
        return n_bad > 0 || n_tries == 0;
}
