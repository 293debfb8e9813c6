/* SPDX-License-Identifier: MIT */
/*
 * cli/on_host/host_record.h - hyprof record --on: the program runs on another machine, its trace comes here
 *
 * Way of the data:  cmd_record -> [host_record] (host_place, host_attendant there) -> standard streams
 *                   recorder there -> ssh -> [host_record] -> cmd_capture -> file
 *
 * Two kinds of connections: one with the attendant, for the program's streams, signals and the end; and one
 * for the trace whenever `hyprof capture`, a child, asks for one at a socket here.  When they are cut, both
 * are made again, once a second, and go on where they were.
 */
#ifndef CLI_ON_HOST_HOST_RECORD_H
#define CLI_ON_HOST_HOST_RECORD_H

struct record_options;

/*
 * host_record_run() - the whole of it, with one thread
 * @argv:  the command; NULL = there is none
 * Returns the exit status of the recorder there, which is the command's; EXIT_STATUS_RECORD_FAILED after a
 * complaint if it could not be started or its trace did not come.
 */
int host_record_run(struct record_options *options, char **argv);

#endif /* CLI_ON_HOST_HOST_RECORD_H */
