/* SPDX-License-Identifier: MIT */
/*
 * sampler/recording/job_control.h - the recorder stops when its command does, and not before
 *
 * Way of the data:  terminal, signals -> [job_control] -> recorder, command
 *
 * Ctrl-Z goes to the recorder and to the command, which may take it, ignore it, or tidy up the screen first.
 * The shell waits for the recorder alone.  So the recorder keeps the signal back until the command has
 * stopped, reads what the command said until then, and stops with it.  A command that another process stops
 * does not stop the recorder: that process will only continue the command.
 *
 * SIGUSR1 and SIGUSR2 to the recorder are meant for the command, and are handed on; but SIGUSR2 is the
 * flight_recorder's, if there is one.
 */
#ifndef SAMPLER_RECORDING_JOB_CONTROL_H
#define SAMPLER_RECORDING_JOB_CONTROL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct command;
struct error;

struct job_control {
        int fd;            /* a signalfd, to poll; -1 = closed */
        int wanted;        /* SIGTSTP, SIGTTIN or SIGTTOU that was kept back; 0 = none */
        uint64_t until_ns; /* until when the command is expected to stop */
        sigset_t blocked;  /* by us */
};

/*
 * job_control_open() - for a recorder that has a command; to be called before threads are started
 * @without_usr2:  SIGUSR2 is not for the command
 * Returns 0 or -errno.  If the caller ignores SIGCHLD, nothing can be known of the command, and the signals
 * are left as they are: then 0, with fd -1.
 */
int job_control_open(struct job_control *j, bool without_usr2, struct error *err);

/* The signals do again what they did before, also those that came in the meantime. */
void job_control_close(struct job_control *j);

/* Reads the signals that came.  Returns the one to stop with, or 0. */
int job_control_next(struct job_control *j, struct command *command);

/* Stops the process, and returns when it goes on. */
void job_control_stop(struct job_control *j, int number);

#endif /* SAMPLER_RECORDING_JOB_CONTROL_H */
