/* SPDX-License-Identifier: MIT */
#include "cli/invoking_user.h"

#include "cli/option_table.h"

#include <stdlib.h>
#include <unistd.h>

static bool read_id(const char *variable, uint32_t *ret_id)
{
        const char *text = getenv(variable); /* NOLINT(concurrency-mt-unsafe): nobody here sets variables */
        uint64_t id;

        /* Root itself needs no handing over, and UINT32_MAX means "unchanged" to chown(2). */
        if (!text || option_parse_number(text, 1, UINT32_MAX - 1, &id) < 0)
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
