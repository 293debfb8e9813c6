/* SPDX-License-Identifier: MIT */
/*
 * w_life MODE [ARGUMENT]
 *
 * Truth: whatever a program does with itself, each of the following emits
 * N_ZONES zones of the names that are given, no more and no fewer, each name in
 * a process of its own.  The program has ended when all of them have.
 *
 *      plain NAME      NAME
 *      daemon          "main", and "daemon" in a process without a parent here
 *      closed          "main" after every descriptor was closed, and "child"
 *      setuid UID      "main"; as that user "child", its child "grandchild", and "program" after execve(2)
 *      chroot FOLDER   "main" inside of it, and "child"
 *      mount           "main" in a mount namespace of its own, and "child"
 *      pid             "main"; in a PID namespace of their own "child" and "grandchild"
 *      vfork           "main", and "program" in a process made by vfork(2) and execve(2)
 *      spawn           "main", and "program" in one made by posix_spawn(3)
 *
 *      serve           commands from standard input, a line each, answered by "ok":
 *              pid             no answer but the number of the process
 *              on PID          waits until the recorder with this number records, in a new session
 *              off             waits until no recorder is there
 *              emit            N_ZONES zones "emitted"
 *              flood           100 * N_ZONES zones "flood"
 *              open, close     begins a zone "open", ends it
 *              fork PID        a child that is recorded by this recorder, emits "child" and ends
 */
#include "tests/workloads/burn.h"

#include <hyprof/hyprof.h>

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#define N_ZONES 100

extern char **environ;

static struct hyprof_location locations[] = {
        HYPROF_NAME("main"),       HYPROF_NAME("daemon"),  HYPROF_NAME("child"),
        HYPROF_NAME("grandchild"), HYPROF_NAME("program"), HYPROF_NAME("flood"),
        HYPROF_NAME("open"),       HYPROF_NAME("emitted"), HYPROF_NAME("unnamed"),
};

static struct hyprof_location *location_of(const char *name)
{
        size_t i = 0;

        while (i + 1 < sizeof(locations) / sizeof(locations[0]) && strcmp(locations[i].name, name) != 0)
                i++;
        return &locations[i];
}

static void emit(const char *name)
{
        struct hyprof_location *location = location_of(name);

        for (int i = 0; i < N_ZONES; i++)
                hyprof_zone_end(hyprof_zone_begin(location));
}

/* The status of a child: EXIT_SUCCESS if it ended with that. */
static int await(pid_t pid)
{
        int status = 0;

        return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* A child that emits zones and ends. */
static int emit_in_child(const char *name)
{
        pid_t pid = fork();

        if (pid == 0) {
                emit(name);
                _exit(EXIT_SUCCESS);
        }
        return await(pid);
}

/* The program itself, and what it is to emit. */
static char own_path[] = "/proc/self/exe", plain[] = "plain", program[] = "program";
static char *const command[] = { own_path, plain, program, NULL };

/* The pipe closes when the last process that holds its end has ended. */
static int run_daemon(void)
{
        int ends[2];
        char byte;
        pid_t pid;

        if (pipe(ends) < 0)
                return EXIT_FAILURE;
        emit("main");
        pid = fork();
        if (pid == 0) {
                if (setsid() < 0 || fork() != 0)
                        _exit(EXIT_SUCCESS);
                (void)!chdir("/");
                (void)close(STDIN_FILENO);
                (void)close(STDOUT_FILENO);
                emit("daemon");
                _exit(EXIT_SUCCESS);
        }
        (void)close(ends[1]);
        if (await(pid) != EXIT_SUCCESS)
                return EXIT_FAILURE;
        return read(ends[0], &byte, 1) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int run_closed(void)
{
        if (close_range(0, ~0U, 0) < 0)
                return EXIT_FAILURE;
        emit("main");
        return emit_in_child("child");
}

static int run_setuid(const char *user)
{
        uid_t uid = (uid_t)strtoul(user, NULL, 10);
        pid_t pid;

        emit("main");
        pid = fork();
        if (pid == 0) {
                if (setgroups(0, NULL) < 0 || setgid((gid_t)uid) < 0 || setuid(uid) < 0)
                        _exit(EXIT_FAILURE);
                emit("child");
                if (emit_in_child("grandchild") != EXIT_SUCCESS)
                        _exit(EXIT_FAILURE);
                (void)execv(command[0], command);
                _exit(EXIT_FAILURE);
        }
        return await(pid);
}

static int run_chroot(const char *folder)
{
        if (chroot(folder) < 0 || chdir("/") < 0)
                return EXIT_FAILURE;
        emit("main");
        return emit_in_child("child");
}

static int run_mount(void)
{
        if (unshare(CLONE_NEWNS) < 0)
                return EXIT_FAILURE;
        (void)mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
        emit("main");
        return emit_in_child("child");
}

static int run_pid(void)
{
        pid_t pid;

        if (unshare(CLONE_NEWPID) < 0)
                return EXIT_FAILURE;
        emit("main");
        pid = fork();
        if (pid == 0) {
                emit("child");
                _exit(emit_in_child("grandchild"));
        }
        return await(pid);
}

static int run_vfork(void)
{
        pid_t pid;

        emit("main");
        pid = vfork(); /* NOLINT: it is what is tried */
        if (pid == 0) {
                (void)execv(command[0], command);
                _exit(EXIT_FAILURE);
        }
        return await(pid);
}

static int run_spawn(void)
{
        pid_t pid = 0;

        emit("main");
        return posix_spawn(&pid, command[0], NULL, NULL, command, environ) == 0 ? await(pid) : EXIT_FAILURE;
}

/* ---- serve --------------------------------------------------------------------------------------------- */

static void pause_1ms(void)
{
        const struct timespec t = { .tv_nsec = 1000000 };

        (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}

/* The control word and, after it, the recorder's PID; docs/understand/client-abi.md. */
static uint32_t control(unsigned at)
{
        return __atomic_load_n(&hyprof_control[HYPROF_CONTROL_AT_ + at], __ATOMIC_ACQUIRE);
}

static void await_recorder(uint32_t pid)
{
        static uint32_t seen_session;

        while (control(1) != pid || !hyprof_is_recording() || control(0) >> 16 == seen_session)
                pause_1ms();
        seen_session = control(0) >> 16;
}

static void emit_in_recorded_child(uint32_t recorder_pid)
{
        pid_t pid = fork();

        if (pid == 0) {
                while (control(1) != recorder_pid || !hyprof_is_recording())
                        pause_1ms();
                emit("child");
                _exit(EXIT_SUCCESS);
        }
        (void)await(pid);
}

static int obey(const char *word, uint32_t number)
{
        static hyprof_zone open_zone;

        if (strcmp(word, "pid") == 0)
                return printf("%d\n", getpid());
        if (strcmp(word, "on") == 0) {
                await_recorder(number);
        } else if (strcmp(word, "off") == 0) {
                while (hyprof_is_recording())
                        pause_1ms();
        } else if (strcmp(word, "emit") == 0) {
                emit("emitted");
        } else if (strcmp(word, "flood") == 0) {
                for (int i = 0; i < N_ZONES; i++)
                        emit("flood");
        } else if (strcmp(word, "open") == 0) {
                open_zone = hyprof_zone_begin(location_of("open"));
        } else if (strcmp(word, "close") == 0) {
                hyprof_zone_end(open_zone);
        } else if (strcmp(word, "fork") == 0) {
                emit_in_recorded_child(number);
        } else {
                return printf("?\n");
        }
        return printf("ok\n");
}

static int run_serve(void)
{
        char line[64];

        while (fgets(line, sizeof(line), stdin)) {
                char *behind = line + strcspn(line, " \n");
                uint32_t number = (uint32_t)strtoul(behind, NULL, 10);

                *behind = '\0';
                if (obey(line, number) < 0 || fflush(stdout) != 0)
                        return EXIT_FAILURE;
        }
        return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
        const char *mode = argc > 1 ? argv[1] : "";
        const char *argument = argc > 2 ? argv[2] : "";

        if (strcmp(mode, "serve") == 0)
                return run_serve();
        if (strcmp(mode, "daemon") == 0)
                return run_daemon();
        if (strcmp(mode, "closed") == 0)
                return run_closed();
        if (strcmp(mode, "setuid") == 0)
                return run_setuid(argument);
        if (strcmp(mode, "chroot") == 0)
                return run_chroot(argument);
        if (strcmp(mode, "mount") == 0)
                return run_mount();
        if (strcmp(mode, "pid") == 0)
                return run_pid();
        if (strcmp(mode, "vfork") == 0)
                return run_vfork();
        if (strcmp(mode, "spawn") == 0)
                return run_spawn();
        if (strcmp(mode, "plain") != 0)
                return EXIT_FAILURE;
        emit(argument);
        return EXIT_SUCCESS;
}
