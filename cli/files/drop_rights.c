/* SPDX-License-Identifier: MIT */
#include "cli/files/drop_rights.h"

#include "base/confinement.h"
#include "base/error.h"
#include "cli/terminal/complaint.h"
#include "sampler/rights/privileges.h"

#include <errno.h>
#include <stdbool.h>

int drop_rights_for_good(const char *advice)
{
        struct invoking_user user = invoking_user_read();
        struct error err = ERROR_NONE;
        int r = privileges_become_user(&user, 0, &err);

        if (r == 0)
                r = user.known ? privileges_drop(&err) : confinement_keep_file_rights(&err);
        if (r < 0) {
                complain("error: %s", err.text);
                complain_try("%s", advice);
        }
        return r;
}

int drop_rights_to_read(void)
{
        struct error err = ERROR_NONE;

        if (confinement_bar_rights(&err) == 0)
                return drop_rights_for_good("the same without sudo");
        complain("error: %s", err.text);
        return -EPERM;
}
