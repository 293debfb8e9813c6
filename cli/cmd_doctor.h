/* SPDX-License-Identifier: MIT */
/*
 * cli/cmd_doctor.h - `hyprof doctor`
 *
 * Way of the data:  perf_access -> [cmd_doctor] -> standard output
 */
#ifndef CLI_CMD_DOCTOR_H
#define CLI_CMD_DOCTOR_H

/* Returns the exit status. */
int cmd_doctor(int argc, char **argv);

#endif /* CLI_CMD_DOCTOR_H */
