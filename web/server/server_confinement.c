/* SPDX-License-Identifier: MIT */
#include "web/server/server_confinement.h"

#include "base/call_filter.h"
#include "base/confinement.h"
#include "base/landlock.h"

#include <signal.h>

int server_confinement_enter(int *fds, size_t n_fds, uint64_t file_bytes_max, struct error *err)
{
        int r = confinement_enter_serving((struct confinement_user){ 0, 0 }, fds, n_fds, file_bytes_max, err);

        if (r < 0)
                return r;
        (void)signal(SIGINT, SIG_IGN);
        (void)signal(SIGHUP, SIG_IGN);
        (void)signal(SIGPIPE, SIG_IGN);
        (void)landlock_restrict(
                LANDLOCK_BAN_CHANGES); /* where available; the other restrictions hold without it */
        return 0;
}

int server_confinement_close(struct error *err)
{
        (void)landlock_restrict(LANDLOCK_BAN_FILES);
        return call_filter_enter(CALL_FILTER_BAN_FILES, err);
}
