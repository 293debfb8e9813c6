/* SPDX-License-Identifier: MIT */
/*
 * symbolize/process/live_names_file.h - names that were found while a trace grows -> rows of its SYMBOLS
 *
 * Way of the data:  live_names (options.pass_on) -> file -> [live_names_file] -> trace_dictionary -> analyze
 *
 * For a process that reads the trace once, in the middle of the recording: until its end the trace has no
 * names.
 */
#ifndef SYMBOLIZE_PROCESS_LIVE_NAMES_FILE_H
#define SYMBOLIZE_PROCESS_LIVE_NAMES_FILE_H

struct error;
struct trace_dictionary;

/*
 * live_names_file_take() - names for the frames of @d that have none
 * @fd:  the file, borrowed; its position stays, others may write to its end meanwhile
 * Rows of frames that @d does not have are left out, and so is what is not whole.  Returns 0, -ENOMEM, -errno
 * of pread(2).
 */
int live_names_file_take(struct trace_dictionary *d, int fd, struct error *err);

#endif /* SYMBOLIZE_PROCESS_LIVE_NAMES_FILE_H */
