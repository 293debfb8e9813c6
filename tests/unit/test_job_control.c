/* SPDX-License-Identifier: MIT */
/*
 * sampler/recording/job_control.c: the command has the signals that are sent to the recorder, which stops
 * when the command does; at its end it unblocks the signals that it blocked, and no other one: SIGUSR2 stays
 * blocked while a ring's last dump is being written
 */
#include "sampler/recording/job_control.h"

#include "base/error.h"
#include "sampler/recording/command.h"
#include "tests/unit/unit_test.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static bool is_blocked(int number)
{
        sigset_t mask;

        ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, NULL, &mask), 0);
        return sigismember(&mask, number) == 1;
}

static struct job_control j;

static void open_control(bool without_usr2)
{
        UNIT_TEST_SPOIL(j);
        ck_assert_int_eq(job_control_open(&j, without_usr2, NULL), 0);
}

static void tear_down(void)
{
        job_control_close(&j);
}

static void block(int number)
{
        sigset_t one;

        (void)sigemptyset(&one);
        (void)sigaddset(&one, number);
        ck_assert_int_eq(pthread_sigmask(SIG_BLOCK, &one, NULL), 0);
}

START_LOOP_TEST(test_close, 0, 2)
{
        bool without_usr2 = _i == 1;

        block(SIGWINCH); /* by others, before */
        open_control(without_usr2);
        ck_assert(is_blocked(SIGCHLD) && is_blocked(SIGUSR1) && is_blocked(SIGWINCH));
        ck_assert(is_blocked(SIGUSR2) == !without_usr2);
        if (without_usr2)
                block(SIGUSR2); /* by the ring, afterwards */
        job_control_close(&j);
        ck_assert(!is_blocked(SIGCHLD) && !is_blocked(SIGUSR1));
        ck_assert(is_blocked(SIGWINCH));
        ck_assert(is_blocked(SIGUSR2) == without_usr2);
        job_control_close(&j); /* once more does nothing */
        ck_assert(is_blocked(SIGWINCH));
}
END_TEST

/* A recorder that ignores SIGCHLD cannot watch its command: all signals stay as they are. */
START_TEST(test_without_children)
{
        ck_assert(signal(SIGCHLD, SIG_IGN) != SIG_ERR);
        open_control(false);
        ck_assert_int_eq(j.fd, -1);
        ck_assert(!is_blocked(SIGTSTP) && !is_blocked(SIGCHLD));
        block(SIGUSR1);
        job_control_close(&j);
        ck_assert(is_blocked(SIGUSR1));
}
END_TEST

static void on_information(int number, siginfo_t *info, void *context)
{
        (void)number;
        (void)info;
        (void)context;
}

/* A signal that the recorder ignores goes on being ignored; one with a handler is taken. */
START_TEST(test_ignored)
{
        struct sigaction action = { .sa_flags = SA_SIGINFO };

        action.sa_sigaction = on_information;
        ck_assert_int_eq(sigaction(SIGTTIN, &action, NULL), 0);
        ck_assert(signal(SIGTTOU, SIG_IGN) != SIG_ERR);
        open_control(false);
        ck_assert(is_blocked(SIGTTIN) && !is_blocked(SIGTTOU) && is_blocked(SIGTSTP));
}
END_TEST

/* ---- a command ----------------------------------------------------------------------------------------- */

#define LAST SIGRTMIN /* is taken after all others */

/* Exits with the number of the first signal that comes to it. */
static pid_t start_command(void)
{
        const int wanted[] = { SIGUSR1, SIGUSR2, SIGWINCH, LAST };
        sigset_t signals;
        int number = 0;
        pid_t pid;

        (void)sigemptyset(&signals);
        for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
                (void)sigaddset(&signals, wanted[i]);
        block(LAST);
        pid = fork();
        if (pid == 0) {
                (void)sigprocmask(SIG_BLOCK, &signals, NULL);
                while (sigwait(&signals, &number) != 0)
                        ;
                _exit(number);
        }
        ck_assert_int_gt(pid, 0);
        return pid;
}

/* Lets it end, and returns what it exited with. */
static int end_command(pid_t pid)
{
        int status = 0;

        ck_assert_int_eq(kill(pid, LAST), 0);
        ck_assert_int_eq(kill(pid, SIGCONT), 0);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert(WIFEXITED(status));
        return WEXITSTATUS(status);
}

static const struct {
        int number;
        bool is_sent; /* by kill(2); else as by the terminal, which sends it to the command as well */
} sent[] = {
        { SIGUSR1, true }, { SIGUSR2, true }, { SIGWINCH, true }, { SIGWINCH, false }, { SIGTSTP, true },
};

START_LOOP_TEST(test_handed_on, 0, sizeof(sent) / sizeof(sent[0]))
{
        int number = sent[_i].number;
        bool is_handed_on = sent[_i].is_sent && number != SIGTSTP;
        struct command command = { .pid = 0 };

        open_control(false);
        command.pid = start_command();
        if (sent[_i].is_sent)
                ck_assert_int_eq(kill(getpid(), number), 0);
        else
                ck_assert_int_eq(sigqueue(getpid(), number, (union sigval){ .sival_int = 0 }), 0);
        ck_assert_int_eq(job_control_next(&j, &command), 0);
        ck_assert_int_eq(end_command(command.pid), is_handed_on ? number : LAST);
}
END_TEST

/* Without a command signals go to no process, and not to the group of the recorder, which kill(0) means. */
START_TEST(test_no_command)
{
        struct command command = { .pid = 0 };

        (void)setpgid(0, 0);
        open_control(false);
        ck_assert_int_eq(kill(getpid(), SIGUSR1), 0);
        ck_assert_int_eq(job_control_next(&j, &command), 0);
}
END_TEST

/* Sends it to the command, and waits until the command has stopped or goes on. */
static void send_and_wait(const struct command *command, int number)
{
        struct pollfd one = { .fd = j.fd, .events = POLLIN };

        ck_assert_int_eq(kill(command->pid, number), 0);
        ck_assert_int_eq(poll(&one, 1, -1), 1);
}

START_LOOP_TEST(test_stops_with_its_command, 0, 3)
{
        static const int stops[] = { SIGTSTP, SIGTTIN, SIGTTOU };
        int number = stops[_i];
        struct command command = { .pid = 0 };

        open_control(false);
        command.pid = start_command();
        ck_assert_int_eq(kill(getpid(), number), 0);
        ck_assert_int_eq(job_control_next(&j, &command), 0); /* the command tidies up */
        send_and_wait(&command, SIGSTOP);
        ck_assert_int_eq(job_control_next(&j, &command), number);
        /* Another process stops it once more. */
        send_and_wait(&command, SIGCONT);
        ck_assert_int_eq(job_control_next(&j, &command), 0);
        send_and_wait(&command, SIGSTOP);
        ck_assert_int_eq(job_control_next(&j, &command), 0);
        /* It is stopped already when the signal comes: there is nothing to wait for. */
        ck_assert_int_eq(kill(getpid(), number), 0);
        ck_assert_int_eq(job_control_next(&j, &command), number);
        /* It stops long after the signal. */
        send_and_wait(&command, SIGCONT);
        ck_assert_int_eq(kill(getpid(), number), 0);
        ck_assert_int_eq(job_control_next(&j, &command), 0);
        j.until_ns = 0;
        send_and_wait(&command, SIGSTOP);
        ck_assert_int_eq(job_control_next(&j, &command), 0);
        ck_assert_int_eq(j.wanted, 0);
        ck_assert_int_eq(end_command(command.pid), LAST);
}
END_TEST

/* The process stops by the signal itself, and has it blocked again when it goes on. */
START_TEST(test_stop)
{
        int status = 0;
        pid_t pid = fork();

        if (pid == 0) {
                (void)setpgid(0, 0); /* a group whose parent is in another one can be stopped */
                if (job_control_open(&j, false, NULL) == 0)
                        job_control_stop(&j, SIGTSTP);
                _exit(is_blocked(SIGTSTP) ? EXIT_SUCCESS : EXIT_FAILURE);
        }
        ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
        ck_assert(WIFSTOPPED(status));
        ck_assert_int_eq(WSTOPSIG(status), SIGTSTP);
        ck_assert_int_eq(kill(pid, SIGCONT), 0);
        ck_assert_int_eq(waitpid(pid, &status, 0), pid);
        ck_assert_int_eq(status, EXIT_SUCCESS);
}
END_TEST

/* Signals that a test ignores, takes or blocks would be those of the next one. */
UNIT_TEST_PLAN(.teardown = tear_down, .always_forks = true);
