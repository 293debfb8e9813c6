/* SPDX-License-Identifier: MIT */
#include "cli/record/record_parts.h"

#include "base/error.h"
#include "base/io.h"
#include "cli/exit_status.h"
#include "cli/options/record_options.h"
#include "cli/terminal/complaint.h"
#include "sampler/events/event_set.h"
#include "sampler/proc/cgroup_folder.h"
#include "sampler/proc/cpu_list.h"
#include "sampler/proc/running_process.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>

static int check_tasks(const struct event_scope_request *scope)
{
        struct error err = ERROR_NONE;

        for (uint32_t i = 0; i < scope->n_pids; i++) {
                if (running_process_check(scope->pids[i], &err) == 0)
                        continue;
                complain("error: %s", err.text);
                if (err.code == -EACCES)
                        complain_try("sudo hyprof record -p %" PRIu32, scope->pids[i]);
                else if (err.code == -ESRCH)
                        complain_try("ps -e, which lists the processes");
                return EXIT_STATUS_RECORD_FAILED;
        }
        for (uint32_t i = 0; i < scope->n_tids; i++) {
                if (running_process_check_thread(scope->tids[i], &err) == 0)
                        continue;
                complain("error: %s", err.text);
                if (err.code == -EACCES)
                        complain_try("sudo hyprof record -t %" PRIu32, scope->tids[i]);
                else if (err.code == -ESRCH)
                        complain_try("ps -eL, which lists the threads");
                return EXIT_STATUS_RECORD_FAILED;
        }
        return EXIT_STATUS_OK;
}

static int check_cgroup(const char *name)
{
        struct error err = ERROR_NONE;
        struct cgroup_mount mount;
        char path[PATH_MAX];
        int fd = cgroup_folder_open(name, path, &err);

        if (fd >= 0) {
                io_close(&fd);
                return EXIT_STATUS_OK;
        }
        complain("error: --cgroup: %s", err.text);
        if (cgroup_mount_read(&mount, NULL) < 0)
                complain_try("hyprof record -p PID, for a process of it");
        else
                complain_try("cat /proc/PID/cgroup, which names the cgroup of a process");
        return EXIT_STATUS_RECORD_FAILED;
}

static int check_cpus(const char *list)
{
        struct error err = ERROR_NONE;
        struct cpu_list cpus;

        if (cpu_list_choose(&cpus, list, &err) == 0) {
                cpu_list_deinit(&cpus);
                return EXIT_STATUS_OK;
        }
        complain("error: --cpu: %s", err.text);
        complain_try("cat /sys/devices/system/cpu/online");
        return err.code == -EBADMSG ? EXIT_STATUS_USAGE : EXIT_STATUS_RECORD_FAILED;
}

/* Where nothing less will do. */
static int check_right(const struct event_scope_request *scope)
{
        const char *what = NULL;
        int r;

        if (scope->whole_machine && scope->kind != EVENT_SCOPE_THREADS)
                what = "the whole machine";
        else if (scope->kind == EVENT_SCOPE_CPUS)
                what = "whole CPUs";
        else if (scope->kind == EVENT_SCOPE_CGROUP)
                what = "a cgroup";
        r = what ? event_set_try_cpus() : 0;
        if (r != -EACCES && r != -EPERM)
                return EXIT_STATUS_OK; /* any other error is reported better by the event set */
        complain("error: not permitted to record %s: CAP_PERFMON is missing", what);
        complain_try("sudo hyprof record%s ...", scope->whole_machine ? " -a" : "");
        return EXIT_STATUS_RECORD_FAILED;
}

int scope_check(const struct record_options *options)
{
        const struct event_scope_request *scope = &options->scope;
        int status;

        if (scope->kind == EVENT_SCOPE_CGROUP && record_options_is_attaching(options) && !scope->cgroup) {
                complain("error: --scope=cgroup is for a command, or for --cgroup");
                return EXIT_STATUS_USAGE;
        }
        status = check_tasks(scope);

        if (status == EXIT_STATUS_OK && scope->cgroup)
                status = check_cgroup(scope->cgroup);
        if (status == EXIT_STATUS_OK && scope->cpus)
                status = check_cpus(scope->cpus);
        if (status == EXIT_STATUS_OK)
                status = check_right(scope);
        if (status == EXIT_STATUS_OK && record_options_is_attaching(options) &&
            options->client_ring_bytes > 0 && !options->quiet)
                complain(
                        "note: --client-ring: programs that are already running keep the size of their rings");
        if (status == EXIT_STATUS_OK && record_options_is_attaching(options) && !options->quiet &&
            options->injection != INJECTION_AUTO && options->injection != 0)
                complain("note: --inject: programs that are already running are left as they are");
        return status;
}
