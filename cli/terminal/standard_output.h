/* SPDX-License-Identifier: MIT */
/*
 * cli/terminal/standard_output.h - may bytes go there, and did it all arrive?
 *
 * Way of the data:  cmd_* -> [standard_output] -> shell
 */
#ifndef CLI_TERMINAL_STANDARD_OUTPUT_H
#define CLI_TERMINAL_STANDARD_OUTPUT_H

struct error;

/*
 * standard_output_check_bytes() - may standard output get bytes that are not text?
 * @what: the name of these bytes, "a trace"
 * Returns 0, or -EINVAL if it is a terminal.
 */
int standard_output_check_bytes(const char *what, struct error *err);

/*
 * standard_output_finish() - flush standard output
 * @status:  what the command would end with
 * @what:    for the complaint, "the report"
 * Returns @status; EXIT_STATUS_FAILED after a complaint if not all could be written.  A reader
 * that has seen enough (`| head`) is no failure.
 */
int standard_output_finish(int status, const char *what);

/*
 * The two halves of standard_output_finish(), for a command that also flushes while it runs, since only the
 * first flush that fails knows the reason. standard_output_flush() returns 0, -EPIPE: the reader is gone, or
 * -errno.
 * @r: of the flush that failed, or of the last one
 */
int standard_output_flush(void);
int standard_output_judge(int status, int r, const char *what);

#endif /* CLI_TERMINAL_STANDARD_OUTPUT_H */
