/* SPDX-License-Identifier: MIT */
#include "cli/on_host/host_transport.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_BYTES_MAX 65536
#define KIND_WORDS_MAX   20

/* In the words of a kind. */
#define NAME   "%h" /* the host */
#define SOCKET "%f" /* "ControlPath=..." */

struct host_kind {
        const char *prefix; /* of names; "" = all others */
        const char *program;
        const char *environment;            /* the variable with another program and its options */
        bool may_be_unnamed;                /* then the words from `name_at` on, two of them, are left out */
        const char *words[KIND_WORDS_MAX];  /* after the program */
        const char *ending[KIND_WORDS_MAX]; /* ends the shared connection; empty = there is none */
};

static const struct host_kind kinds[] = {
        { "adb:", "adb", "HYPROF_ADB", true, { "-s", NAME, "shell", "-T" }, { NULL } },
        /* One connection for all commands, so that a password is asked for once. */
        { "",
          "ssh",
          "HYPROF_SSH",
          false,
          { "-T", "-o", "ControlMaster=auto", "-o", SOCKET, "-o", "ControlPersist=60", "-o",
            "ServerAliveInterval=5", "-o", "ServerAliveCountMax=3", "--", NAME },
          { "-o", SOCKET, "-O", "exit", "--", NAME } },
};

/* Adds a heap word, or fails; @word is given away. */
static int add_word(char **words, size_t *n_words, char *word)
{
        if (!word || *n_words == HOST_WORDS_MAX - 2) { /* the command and NULL follow */
                free(word);
                return word ? -E2BIG : -ENOMEM;
        }
        words[(*n_words)++] = word;
        return 0;
}

static char *fill_in(const struct host *h, const char *word)
{
        char *path = NULL;

        if (strcmp(word, NAME) == 0)
                return strdup(h->name + strlen(h->kind->prefix));
        if (strcmp(word, SOCKET) == 0)
                return asprintf(&path, "ControlPath=%s/c", h->folder) < 0 ? NULL : path;
        return strdup(word);
}

/* The program and its options, with blanks between them. */
static int add_program(const struct host *h, char **words, size_t *n_words)
{
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        const char *own = getenv(h->kind->environment);
        const char *at = own && own[strspn(own, " ")] != '\0' ? own : h->kind->program;
        int r = 0;

        for (at += strspn(at, " "); r == 0 && *at != '\0'; at += strspn(at, " ")) {
                size_t n = strcspn(at, " ");

                r = add_word(words, n_words, strndup(at, n));
                at += n;
        }
        return r;
}

static int make_words(const struct host *h, const char *const *kind_words, char **words, size_t *n_words)
{
        bool is_unnamed = h->name[strlen(h->kind->prefix)] == '\0';
        int r = add_program(h, words, n_words);

        for (size_t i = is_unnamed ? 2 : 0; r == 0 && i < KIND_WORDS_MAX && kind_words[i]; i++)
                r = add_word(words, n_words, fill_in(h, kind_words[i]));
        return r;
}

int host_init(struct host *h, const char *name, const char *folder, struct error *err)
{
        const char *rest;

        *h = (struct host){ .name = name, .kind = kinds, .folder = strdup(folder) };
        while (strncmp(name, h->kind->prefix, strlen(h->kind->prefix)) != 0)
                h->kind++;
        rest = name + strlen(h->kind->prefix);
        if (rest[0] == '-' || (rest[0] == '\0' && !h->kind->may_be_unnamed))
                return error_set(err, -EINVAL, "'%s' is not the name of a host", name);
        if (!h->folder || make_words(h, h->kind->words, h->words, &h->n_words) < 0)
                return error_set(err, -ENOMEM, "no memory for the command line of %s", h->kind->program);
        return 0;
}

static void free_words(char **words, size_t n_words)
{
        for (size_t i = 0; i < n_words; i++)
                free(words[i]);
}

const char *host_command_words(const struct host *h)
{
        return h->kind->program;
}

void host_quote(struct byte_buffer *script, const char *word)
{
        byte_buffer_add_u8(script, '\'');
        for (; *word != '\0'; word++)
                if (*word == '\'')
                        byte_buffer_add(script, "'\\''", 4);
                else
                        byte_buffer_add_u8(script, (uint8_t)*word);
        byte_buffer_add_u8(script, '\'');
}

/* @words: at least one */
static _Noreturn void run_program(char **words, const int fds[3], bool is_first)
{
        sigset_t none;

        if (!is_first)
                (void)setpgid(0, 0);
        for (int i = 0; i < 3; i++) {
                int fd = fds[i] >= 0 ? fds[i] : open("/dev/null", O_RDWR | O_CLOEXEC);

                /* A stream that is to stay where it is loses its flag, which dup2() does for others. */
                if (fd == i)
                        (void)fcntl(fd, F_SETFD, 0);
                else
                        (void)dup2(fd, i);
        }
        (void)sigemptyset(&none);
        (void)pthread_sigmask(SIG_SETMASK, &none, NULL);
        (void)signal(SIGINT, SIG_DFL);
        (void)signal(SIGPIPE, SIG_DFL);
        (void)execvp(words[0], words);
        (void)dprintf(STDERR_FILENO, "hyprof: %s: %s\n", words[0], strerrordesc_np(errno));
        _exit(127);
}

static pid_t start(char **words, const int fds[3], bool is_first, struct error *err)
{
        /* Numbers below 3 would be overwritten while the streams are put in their places. */
        int streams[3];
        pid_t pid;

        for (int i = 0; i < 3; i++)
                streams[i] = fds[i] >= 0 ? fcntl(fds[i], F_DUPFD_CLOEXEC, 3) : -1;
        pid = fork();
        if (pid == 0)
                run_program(words, streams, is_first);
        if (pid < 0)
                pid = error_errno(err, "fork");
        for (int i = 0; i < 3; i++)
                io_close(&streams[i]);
        return pid;
}

pid_t host_start(const struct host *h, const char *script, const int fds[3], bool is_first, struct error *err)
{
        char *words[HOST_WORDS_MAX], *copy = strdup(script);
        pid_t pid;

        if (!copy)
                return error_set(err, -ENOMEM, "no memory for a command");
        memcpy(words, h->words, sizeof(words));
        words[h->n_words] = copy;
        words[h->n_words + 1] = NULL;
        pid = start(words, fds, is_first, err);
        free(copy);
        return pid;
}

int host_wait(pid_t pid)
{
        int status;

        while (waitpid(pid, &status, 0) < 0)
                if (errno != EINTR)
                        return 127;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void read_answer(int fd, struct byte_buffer *answer)
{
        char bytes[4096];
        ssize_t n;

        while ((n = read(fd, bytes, sizeof(bytes))) > 0 || (n < 0 && errno == EINTR))
                if (n > 0 && answer->used_bytes < ANSWER_BYTES_MAX)
                        byte_buffer_add(answer, bytes, (size_t)n);
        byte_buffer_add_u8(answer, '\0');
        if (!answer->failed)
                answer->used_bytes--;
}

int host_ask(const struct host *h, const char *script, int in_fd, bool is_first,
             struct byte_buffer *ret_answer, struct error *err)
{
        int answer[2] = { -1, STDERR_FILENO };
        pid_t pid;

        if (ret_answer && pipe2(answer, O_CLOEXEC) < 0)
                return error_errno(err, "pipe");
        pid = host_start(h, script, (int[]){ in_fd, answer[1], STDERR_FILENO }, is_first, err);
        if (ret_answer) {
                io_close(&answer[1]);
                if (pid > 0)
                        read_answer(answer[0], ret_answer);
                io_close(&answer[0]);
                if (pid > 0 && ret_answer->failed)
                        return error_set(err, -ENOMEM, "no memory for an answer");
        }
        return pid < 0 ? pid : host_wait(pid);
}

/* Without a word, and whatever comes of it. */
static void end_shared(const struct host *h)
{
        char *words[HOST_WORDS_MAX] = { NULL };
        size_t n_words = 0;
        pid_t pid = -1;

        if (make_words(h, h->kind->ending, words, &n_words) == 0 && words[0])
                pid = start(words, (int[]){ -1, -1, -1 }, false, NULL);
        if (pid > 0)
                (void)host_wait(pid);
        free_words(words, n_words);
}

void host_deinit(struct host *h)
{
        if (h->n_words > 0 && h->kind->ending[0])
                end_shared(h);
        free_words(h->words, h->n_words);
        free(h->folder);
        *h = (struct host){ .kind = NULL };
}
