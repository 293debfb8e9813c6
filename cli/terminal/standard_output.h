/* SPDX-License-Identifier: MIT */
/*
 * cli/terminal/standard_output.h - the end of every command that prints: did it all arrive?
 *
 * Way of the data:  cmd_* -> [standard_output] -> shell
 */
#ifndef CLI_TERMINAL_STANDARD_OUTPUT_H
#define CLI_TERMINAL_STANDARD_OUTPUT_H

/*
 * standard_output_finish() - flush standard output
 * @status:  what the command would end with
 * @what:    for the complaint, "the report"
 * Returns @status; EXIT_STATUS_FAILED after a complaint if not all could be written.  A reader
 * that has seen enough (`| head`) is no failure.
 */
int standard_output_finish(int status, const char *what);

#endif /* CLI_TERMINAL_STANDARD_OUTPUT_H */
