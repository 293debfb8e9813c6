/* SPDX-License-Identifier: MIT */
/*
 * cli/invoking_user.h - who called us through sudo
 *
 * Way of the data:  environment -> [invoking_user] -> output_file, symbol_process
 */
#ifndef CLI_INVOKING_USER_H
#define CLI_INVOKING_USER_H

#include <stdbool.h>
#include <stdint.h>

/* The user on whose behalf root works: as sudo says in SUDO_UID and SUDO_GID. */
struct invoking_user {
        bool known; /* false: we are not root, or nobody said for whom; then the numbers are 0 */
        uint32_t uid, gid;
};

struct invoking_user invoking_user_read(void);

#endif /* CLI_INVOKING_USER_H */
