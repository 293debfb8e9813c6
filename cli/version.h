/* SPDX-License-Identifier: MIT */
/*
 * cli/version.h - which hyprof this is, and its compiled-in features: for reports of faults
 *
 * Way of the data:  Makefile -> [version] -> standard output
 */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H

#define VERSION_JSON_SCHEMA "hyprof.version/1"

/* @argv: from "--version" on, then perhaps "--json".  Returns an exit status. */
int version_run(int argc, char **argv);

#endif /* CLI_VERSION_H */
