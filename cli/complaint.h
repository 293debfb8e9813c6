/* SPDX-License-Identifier: MIT */
/*
 * cli/complaint.h - how every command talks to people: what is wrong, what was done
 *
 * Way of the data:  error -> [complaint] -> standard error
 *
 *      hyprof: error: WHAT
 *        try: COMMAND
 *
 * One line each, whatever control characters are in the names.
 */
#ifndef CLI_COMPLAINT_H
#define CLI_COMPLAINT_H

/* "hyprof: ..." on standard error. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* "next: ...", the command that is likely to follow. */
void complain_next(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The remedy, below what is wrong. */
void complain_try(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* CLI_COMPLAINT_H */
