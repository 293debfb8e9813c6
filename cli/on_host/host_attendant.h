/* SPDX-License-Identifier: MIT */
/*
 * cli/on_host/host_attendant.h - the part of `hyprof record --on` that runs on the host
 *
 * Way of the data:  recorder, program -> [host_attendant] -> socket -> `__host join` -> ssh -> host_record
 *
 *      hyprof __host start FOLDER WORD...   runs a recorder, and its attendant, in the background
 *      hyprof __host join FOLDER            connects the attendant with the standard streams
 *      hyprof __host take FOLDER            connects the recorder's socket, which gives the trace, with them
 *
 * FOLDER is the user's alone; HOST_ATTENDANT_SOCKET and HOST_TRACE_SOCKET are in it.  The attendant is in a
 * session of its own, so neither it nor the recorder ends when a connection does.  It keeps the last of what
 * the program prints for the side that comes back; meanwhile the program is not held up, and what comes on
 * top is lost and counted.  At the end it removes FOLDER: when it is told to, or ten minutes after the
 * recorder has ended, or after the start if no connection was ever made.
 */
#ifndef CLI_ON_HOST_HOST_ATTENDANT_H
#define CLI_ON_HOST_HOST_ATTENDANT_H

#define HOST_ATTENDANT_COMMAND "__host"
#define HOST_ATTENDANT_SOCKET  "a"
#define HOST_TRACE_SOCKET      "t"

/* @words: those after HOST_ATTENDANT_COMMAND.  Returns an exit status; that of a failed start is 125. */
int host_attendant_run(int n_words, char **words);

#endif /* CLI_ON_HOST_HOST_ATTENDANT_H */
