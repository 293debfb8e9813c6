/* SPDX-License-Identifier: MIT */
#include "sampler/recording/job_control.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "sampler/pace/pace.h"
#include "sampler/recording/command.h"

#include <stddef.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int numbers[] = { SIGCHLD, SIGTSTP, SIGTTIN, SIGTTOU, SIGUSR1, SIGUSR2, SIGWINCH };

/* The terminal sends SIGWINCH to the command as well. */
static bool is_handed_on(uint32_t number)
{
        return number == SIGUSR1 || number == SIGUSR2 || number == SIGWINCH;
}

static bool is_ignored(int number)
{
        struct sigaction action;

        return sigaction(number, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) &&
               action.sa_handler == SIG_IGN;
}

int job_control_open(struct job_control *j, bool without_usr2, struct error *err)
{
        sigset_t signals, before;

        *j = (struct job_control){ .fd = -1 };
        if (is_ignored(SIGCHLD))
                return 0;
        (void)sigemptyset(&signals);
        for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
                if (!is_ignored(numbers[i]) && !(without_usr2 && numbers[i] == SIGUSR2))
                        (void)sigaddset(&signals, numbers[i]);
        j->fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
        if (j->fd < 0)
                return error_errno(err, "signalfd");
        (void)pthread_sigmask(SIG_BLOCK, &signals, &before); /* cannot fail for these arguments */
        (void)sigemptyset(&j->blocked);
        for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
                if (sigismember(&signals, numbers[i]) == 1 && sigismember(&before, numbers[i]) == 0)
                        (void)sigaddset(&j->blocked, numbers[i]);
        return 0;
}

void job_control_close(struct job_control *j)
{
        if (j->fd < 0)
                return;
        io_close(&j->fd);
        (void)pthread_sigmask(SIG_UNBLOCK, &j->blocked, NULL);
}

int job_control_next(struct job_control *j, struct command *command)
{
        struct signalfd_siginfo info;
        bool stopped = false;
        int number;

        while (read(j->fd, &info, sizeof(info)) == sizeof(info)) {
                if (info.ssi_signo == SIGCHLD) {
                        stopped |= command_has_stopped(command);
                } else if (is_handed_on(info.ssi_signo)) {
                        if (info.ssi_code == SI_USER && command->pid > 0)
                                (void)kill(command->pid, (int)info.ssi_signo);
                } else {
                        j->wanted = (int)info.ssi_signo;
                        j->until_ns = clock_raw_ns() + PACE_STOP_TIDY_UP_NS;
                        /* The command may have stopped before, also for another reason. */
                        stopped |= command_has_stopped(command);
                }
        }
        if (!stopped || j->wanted == 0)
                return 0;
        number = clock_raw_ns() <= j->until_ns ? j->wanted : 0;
        j->wanted = 0;
        return number;
}

void job_control_stop(struct job_control *j, int number)
{
        sigset_t one;

        (void)j;
        (void)sigemptyset(&one);
        (void)sigaddset(&one, number);
        (void)kill(getpid(), number);
        (void)pthread_sigmask(SIG_UNBLOCK, &one, NULL); /* stopped here until a SIGCONT comes */
        (void)pthread_sigmask(SIG_BLOCK, &one, NULL);
}
