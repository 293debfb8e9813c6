/* SPDX-License-Identifier: MIT */
/*
 * cli/version.h - which hyprof this is, and its compiled-in features: for reports of faults
 *
 * Way of the data:  Makefile -> [version] -> view_document -> standard output
 */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H

struct answer_schema;

extern const struct answer_schema version_schema; /* of its document */

/*
 * @argv: from "--version" on, then how the answer is printed: --json and its like.  Returns an exit status.
 */
int version_run(int argc, char **argv);

#endif /* CLI_VERSION_H */
