/* SPDX-License-Identifier: MIT */
#include "sampler/rights/privileges.h"

#include "base/confinement.h"
#include "base/error.h"
#include "base/user_account.h"
#include "sampler/rights/system_calls.h"

#include <errno.h>
#include <grp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/capability.h>
#include <sys/prctl.h>
#include <unistd.h>

/* How long a capability is held, and whether it takes effect without being raised. */
struct capability_use {
        cap_value_t capability;
        bool effective;
        enum {
                UNTIL_OPEN,
                UNTIL_PROBES_OPEN,
                UNTIL_END,
                UNTIL_END_TO_OPEN_FILES,
                UNTIL_END_WITH_CGROUP
        } until;
};

/* docs/understand/privileges.md has the same table in words. */
static const struct capability_use uses[] = {
        { CAP_PERFMON, true, UNTIL_OPEN },
        { CAP_BPF, true, UNTIL_OPEN },
        { CAP_IPC_LOCK, true, UNTIL_OPEN },
        { CAP_SYS_RESOURCE, true, UNTIL_OPEN },
        { CAP_SYS_NICE, true, UNTIL_OPEN },
        { CAP_SYSLOG, true, UNTIL_OPEN },
        { CAP_SETPCAP, false, UNTIL_OPEN },
        { CAP_SYS_ADMIN, false, UNTIL_PROBES_OPEN },
        { CAP_SYS_PTRACE, true, UNTIL_END_TO_OPEN_FILES },
        { CAP_CHECKPOINT_RESTORE, true, UNTIL_END_TO_OPEN_FILES },
        { CAP_KILL, true, UNTIL_END },
        { CAP_DAC_READ_SEARCH, false, UNTIL_END },
        { CAP_DAC_OVERRIDE, false, UNTIL_END_WITH_CGROUP },
};

/* The capability that Linux 5.8 and 5.9 divided. */
static const struct capability_use old_use = { CAP_SYS_ADMIN, true, UNTIL_END };

/* ---- the user ------------------------------------------------------------------------------------------ */

static bool read_id(const char *variable, uint32_t *ret_id)
{
        const char *text = getenv(variable); /* NOLINT(concurrency-mt-unsafe): one thread */
        unsigned long id;
        char *end;

        if (!text || text[0] < '1' || text[0] > '9')
                return false;
        errno = 0;
        id = strtoul(text, &end, 10);
        /* Nothing has to be handed over to root, and UINT32_MAX means "unchanged" to the kernel. */
        if (errno != 0 || *end != '\0' || id >= UINT32_MAX)
                return false;
        *ret_id = (uint32_t)id;
        return true;
}

struct invoking_user invoking_user_read(void)
{
        struct invoking_user user = { .known = false };

        user.known = geteuid() == 0 && read_id("SUDO_UID", &user.uid) && read_id("SUDO_GID", &user.gid);
        return user.known ? user : (struct invoking_user){ .known = false };
}

struct account {
        struct user_account user;
        bool known;
};

static void find_account(struct account *account, uid_t uid)
{
        account->known = user_account_find(&account->user, uid);
}

/* A user without an account entry has only the group @gid. */
static int take_groups(const struct account *account, gid_t gid, struct error *err)
{
        int r;

        if (account->known)
                r = user_account_take_groups(&account->user, gid);
        else
                r = setgroups(1, &gid) < 0 ? -errno : 0;
        return r < 0 ? error_set(err, r, "taking the groups of group %u's user", gid) : 0;
}

static int set_variable(const char *name, const char *value, struct error *err)
{
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): one thread */
        if ((value ? setenv(name, value, 1) : unsetenv(name)) < 0)
                return error_errno(err, "setting %s", name);
        return 0;
}

/* Sets the variables as a login does, and removes those of sudo: the command does not run under sudo. */
static int set_environment(const struct account *account, struct error *err)
{
        const struct passwd *entry = account->known ? &account->user.entry : NULL;
        const struct {
                const char *name, *value;
        } variables[] = {
                { "HOME", entry ? entry->pw_dir : NULL },
                { "USER", entry ? entry->pw_name : NULL },
                { "LOGNAME", entry ? entry->pw_name : NULL },
                { "SHELL", entry ? entry->pw_shell : NULL },
                { "SUDO_USER", NULL },
                { "SUDO_UID", NULL },
                { "SUDO_GID", NULL },
                { "SUDO_COMMAND", NULL },
        };
        int r = 0;

        for (size_t i = 0; r == 0 && i < sizeof(variables) / sizeof(variables[0]); i++)
                r = set_variable(variables[i].name, variables[i].value, err);
        return r;
}

/* ---- capabilities -------------------------------------------------------------------------------------- */

static bool has_flag(cap_t set, cap_value_t capability, cap_flag_t flag)
{
        cap_flag_value_t value = CAP_CLEAR;

        return cap_get_flag(set, capability, flag, &value) == 0 && value == CAP_SET;
}

/* Adds what @from permits. */
static int add_use(cap_t to, cap_t from, const struct capability_use *use)
{
        if (!has_flag(from, use->capability, CAP_PERMITTED))
                return 0;
        if (cap_set_flag(to, CAP_PERMITTED, 1, &use->capability, CAP_SET) < 0)
                return -errno;
        /* Capabilities from a file may be permitted only; those that were not effective stay so. */
        if (use->effective && cap_set_flag(to, CAP_EFFECTIVE, 1, &use->capability, CAP_SET) < 0)
                return -errno;
        return 0;
}

/*
 * Keeps those permitted capabilities whose use has its bit in @moments; none is inheritable.
 * @permit_all:  the others stay permitted, not effective
 */
static int keep(unsigned moments, bool permit_all, struct error *err)
{
        cap_t now = cap_get_proc(), wanted = permit_all ? cap_dup(now) : cap_init();
        int r = 0;

        if (!now || !wanted)
                r = -ENOMEM;
        else if (cap_clear_flag(wanted, CAP_EFFECTIVE) < 0 || cap_clear_flag(wanted, CAP_INHERITABLE) < 0)
                r = -errno;
        for (size_t i = 0; r == 0 && i < sizeof(uses) / sizeof(uses[0]); i++)
                if (moments & 1U << uses[i].until && CAP_IS_SUPPORTED(uses[i].capability))
                        r = add_use(wanted, now, &uses[i]);
        if (r == 0 && moments != 0 && !CAP_IS_SUPPORTED(CAP_CHECKPOINT_RESTORE))
                r = add_use(wanted, now, &old_use);
        if (r == 0 && cap_set_proc(wanted) < 0)
                r = -errno;
        (void)cap_free(now);
        (void)cap_free(wanted);
        return r < 0 ? error_set(err, r, "cannot give up capabilities") : 0;
}

/* Sets or clears one capability in the effective set. */
static bool set_effective(int capability, cap_flag_value_t value)
{
        cap_value_t one = capability;
        cap_t set = cap_get_proc();
        bool done = set && (value == CAP_CLEAR || has_flag(set, one, CAP_PERMITTED)) &&
                    cap_set_flag(set, CAP_EFFECTIVE, 1, &one, value) == 0 && cap_set_proc(set) == 0;

        (void)cap_free(set);
        return done;
}

bool privileges_has(int capability)
{
        cap_t set = cap_get_proc();
        bool has = set && has_flag(set, capability, CAP_EFFECTIVE);

        (void)cap_free(set);
        return has;
}

bool privileges_raise(int capability)
{
        return privileges_has(capability) || set_effective(capability, CAP_SET);
}

void privileges_lower(int capability)
{
        /* CAP_SETPCAP is a sign of root with all its capabilities: they stay in effect. */
        if (!privileges_has(CAP_SETPCAP))
                (void)set_effective(capability, CAP_CLEAR);
}

int privileges_drop(struct error *err)
{
        return keep(0, false, err);
}

int privileges_drop_all_but(int capability, struct error *err)
{
        const struct capability_use use = { .capability = capability };
        cap_t now = cap_get_proc(), wanted = cap_init();
        int r = now && wanted ? add_use(wanted, now, &use) : -ENOMEM;

        if (r == 0 && cap_set_proc(wanted) < 0)
                r = -errno;
        (void)cap_free(now);
        (void)cap_free(wanted);
        return r < 0 ? error_set(err, r, "cannot give up capabilities") : 0;
}

/* ---- from one to the other ----------------------------------------------------------------------------- */

static int set_ids(uid_t uid, gid_t gid, struct error *err)
{
        struct account account;
        int r;

        find_account(&account, uid);
        r = take_groups(&account, gid, err);
        if (r < 0)
                return r;
        if (setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
                return error_errno(err, "becoming user %u, group %u", uid, gid);
        return 0;
}

/*
 * If the command runs as root, all capabilities stay permitted for a while: the kernel ends the events of a
 * process that gains capabilities by execve(2), so the child must have them before that call.
 */
int privileges_become_user(const struct invoking_user *user, unsigned needs, struct error *err)
{
        const unsigned moments = 1U << UNTIL_OPEN | 1U << UNTIL_END | 1U << UNTIL_END_TO_OPEN_FILES |
                                 1U << UNTIL_END_WITH_CGROUP |
                                 (needs & PRIVILEGES_SET_PROBES ? 1U << UNTIL_PROBES_OPEN : 0);
        bool command_as_root = needs & PRIVILEGES_COMMAND_AS_ROOT;
        struct account account;
        int r = 0;

        if (!user->known)
                return 0;
        if (!command_as_root) {
                find_account(&account, user->uid);
                r = set_environment(&account, err);
        }
        if (r < 0)
                return r;
        if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) < 0)
                r = error_errno(err, "keeping capabilities");
        if (r < 0)
                return r;
        r = set_ids(user->uid, user->gid, err);
        if (r < 0)
                return r;
        r = keep(moments, command_as_root, err);
        if (r < 0)
                return r;
        if (prctl(PR_SET_KEEPCAPS, 0, 0, 0, 0) < 0)
                r = error_errno(err, "keeping capabilities");
        return r;
}

int privileges_become_root(struct error *err)
{
        if (!privileges_raise(CAP_SETGID) || !privileges_raise(CAP_SETUID))
                return error_set(err, -EPERM, "becoming root again: not permitted any more");
        return set_ids(0, 0, err);
}

int privileges_narrow_thread(struct error *err)
{
        return keep(1U << UNTIL_END_TO_OPEN_FILES, false, err);
}

int privileges_narrow(bool keeps_cgroup, int filter_fd, struct error *err)
{
        int barred = confinement_bar_rights(err); /* takes CAP_SETPCAP, which goes then */
        int r = keep(1U << UNTIL_END | 1U << UNTIL_END_TO_OPEN_FILES |
                             (keeps_cgroup ? 1U << UNTIL_END_WITH_CGROUP : 0),
                     false, barred < 0 ? NULL : err);
        int filtered;

        r = barred < 0 ? barred : r;
        /* One is better than none. */
        filtered = system_calls_restrict(filter_fd, r < 0 ? NULL : err);
        return r < 0 ? r : filtered;
}
