/* SPDX-License-Identifier: MIT */
/*
 * cli/files/drop_rights.h - for commands that read foreign data: under sudo, the invoking user's rights
 * and no more
 *
 * Way of the data:  environment -> [drop_rights] -> command_table, cmd_view, cmd_top
 */
#ifndef CLI_FILES_DROP_RIGHTS_H
#define CLI_FILES_DROP_RIGHTS_H

/*
 * Gives up all rights but the invoking user's, for good: no capability stays.  @advice: a command to try
 * after a failure.  Returns 0, or -errno after a complaint.
 */
int drop_rights_for_good(const char *advice);

/* The same, and no program that the process starts has more.  Some browsers need more. */
int drop_rights_to_read(void);

#endif /* CLI_FILES_DROP_RIGHTS_H */
