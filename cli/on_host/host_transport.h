/* SPDX-License-Identifier: MIT */
/*
 * cli/on_host/host_transport.h - runs a shell command on another machine: by ssh, or by adb
 *
 * Way of the data:  --on HOST -> [host_transport] -> fork -> ssh, adb -> a shell there
 *
 * Everything that is done there is such a command, with its three streams: files are sent to a `cat`, and a
 * connection is a command that copies both ways.  So no port is forwarded, and any ssh server will do.
 */
#ifndef CLI_ON_HOST_HOST_TRANSPORT_H
#define CLI_ON_HOST_HOST_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct byte_buffer;
struct error;
struct host_kind;

#define HOST_WORDS_MAX 48

struct host {
        const struct host_kind *kind;
        const char *name;            /* borrowed: as it was given */
        char *words[HOST_WORDS_MAX]; /* heap: the command line up to the shell's command */
        size_t n_words;
        char *folder; /* heap: for the socket of a connection that its commands share */
};

/*
 * host_init() - finds the way to a host
 * @name:    "board", "user@board", "ssh://user@board:2222"; "adb:" or "adb:SERIAL"
 * @folder:  of this user alone, here
 * $HYPROF_SSH and $HYPROF_ADB are other commands for ssh and adb, with options.  Starts nothing.
 * Returns 0; -EINVAL for a name that is none; -ENOMEM.
 */
int host_init(struct host *h, const char *name, const char *folder, struct error *err);

/* Ends what the commands shared, and frees. */
void host_deinit(struct host *h);

/* "ssh board": how a person would do it; for messages. */
const char *host_command_words(const struct host *h);

/* Adds @word as the shell there has to be given it: one word, whatever is in it. */
void host_quote(struct byte_buffer *script, const char *word);

/*
 * host_start() - starts a command there
 * @in_fd, @out_fd, @err_fd:  its streams; borrowed; -1 = /dev/null
 * @is_first:  it may ask for a password, and Ctrl-C ends it; others have a process group of their own
 * Returns the process here, or -errno.
 */
pid_t host_start(const struct host *h, const char *script, const int fds[3], bool is_first,
                 struct error *err);

/*
 * host_ask() - runs a command there to its end
 * @in_fd:   what it reads; -1 = nothing
 * @ret_answer:  what it printed, with a NUL that is not counted, at most 64 KiB; NULL = to standard error
 * Returns its exit status, or -errno.
 */
int host_ask(const struct host *h, const char *script, int in_fd, bool is_first,
             struct byte_buffer *ret_answer, struct error *err);

/* Waits for a process.  Returns its exit status as shells have it. */
int host_wait(pid_t pid);

#endif /* CLI_ON_HOST_HOST_TRANSPORT_H */
