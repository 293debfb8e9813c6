/* SPDX-License-Identifier: MIT */
/*
 * sampler/recording/command.h - the program to be recorded: started, held, released, reaped
 *
 * Way of the data:  command line -> [command] -> event_set
 *
 * It is forked first and waits before execve(2), so that events can be opened
 * on it and not one instruction of the program is missed.
 */
#ifndef SAMPLER_RECORDING_COMMAND_H
#define SAMPLER_RECORDING_COMMAND_H

#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct error;
struct signalfd_siginfo;

struct command {
        pid_t pid;      /* 0 = none */
        int pid_fd;     /* readable when it has ended */
        int go_fd;      /* closing it lets the child go on */
        int exec_fd;    /* tells how execve(2) went */
        bool in_cgroup; /* the child was born in the cgroup of the options */
        bool reaped;
        int wait_status; /* as of waitpid(2), once reaped */
        /*
         * Processor time of the command and of the children that it waited for, and the part in the kernel;
         * known once it is reaped.
         */
        uint64_t cpu_ns, kernel_ns;
};

/*
 * command_find() - look a program up as the shell does
 * Returns 0, -ENOENT (exit status 127), or -EACCES (126) if it is there but cannot be executed.
 */
int command_find(const char *name, struct error *err);
/* The same, with the path of the file. */
int command_find_file(const char *name, char ret_path[PATH_MAX], struct error *err);

/*
 * Variables for clients in the command; see docs/understand/client-abi.md, "Recording from the first
 * instruction".
 */
struct command_environment {
        /* NULL-terminated pairs of a name and its value; most of these strings are below */
        const char *pairs[25];
        size_t n;
        char families[16], ring_bytes[24], spare_bytes[24];
};

/* Adds how much room clients get in rings and spare memory; @wanted_bytes as in spare_memory.h. */
void command_environment_add_rings(struct command_environment *e, uint64_t wanted_bytes);

/* Lets clients record from the first instruction.  @recorder: where regions are handed in; borrowed. */
void command_environment_add_recording(struct command_environment *e, uint32_t families,
                                       const char *recorder);

/* Adds pairs of the caller's, NULL-terminated, which are borrowed; those that find no room are left out. */
void command_environment_add_pairs(struct command_environment *e, const char *const *pairs);

struct command_options {
        char **argv; /* NULL-terminated; borrowed until command_go() */
        const char *const
                *environment;    /* NULL-terminated pairs of a name and its value, set for the command */
        const sigset_t *signals; /* mask for the child */
        bool as_root;            /* it becomes root again; see privileges_become_user() */
        int cgroup_fd;           /* of a cgroup's folder, to be born in if possible; borrowed; 0 = none */
};

/* command_start() - fork a child that waits.  Returns 0 or -errno. */
int command_start(struct command *c, const struct command_options *options, struct error *err);

/* Lets the child call execve(2).  Returns 0, or the -errno of a failed execve (then the child has ended). */
int command_go(struct command *c, struct error *err);

/* Reaps the command if it has ended; @block: waits for that.  Returns 1 if it has ended, else 0. */
int command_reap(struct command *c, bool block);

/*
 * The signals that end the recording, whatever the command does: SIGTERM, or the second signal that is sent
 * to us alone.  All zero at first.
 */
struct command_urge {
        unsigned n_signals;
        int signal;        /* 0 = none does */
        uint64_t since_ns; /* CLOCK_MONOTONIC_RAW */
};

/*
 * Signals that are sent to us alone, not by a terminal, are passed on to the command, if @pid is
 * not 0, and counted.
 */
void command_hand_on(pid_t pid, const struct signalfd_siginfo *info, struct command_urge *urge);

/* True if the command has a handler for @signal now: then it decides itself when it ends. */
bool command_catches(const struct command *c, int signal);

/*
 * command_wait() - waits until a running child has ended
 * @signal_fd:  a signalfd, for command_hand_on()
 * @urge:       PACE_END_URGED_NS after it became urgent, the child is waited for no more, and runs on
 * Returns its status as of waitpid(2); for a child that runs on, the status of a process that ended by the
 * signal.
 */
int command_wait(pid_t pid, int signal_fd, struct command_urge *urge);

/* True if a signal has stopped the command, and nothing has let it go on since. */
bool command_has_stopped(struct command *c);

/* Kills and reaps a child that was never released, and closes the rest.  A running program is left alone. */
void command_deinit(struct command *c);

#endif /* SAMPLER_RECORDING_COMMAND_H */
