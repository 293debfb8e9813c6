/* SPDX-License-Identifier: MIT */
/*
 * base/error.h - how every fallible function of hyprof reports failure
 *
 * Way of the data:  any unit -> [error] -> cli
 *
 * A function that can fail returns int: 0 for success, a positive value for an
 * outcome that its header names (an iterator: 1 = an item, 0 = the end), and
 * -errno for failure, which callers hand up unchanged.
 *
 * A function that touches the world outside (kernel, files, bytes of a trace,
 * memory of the target) takes a struct error * as its last parameter and says
 * there, in words, what it was doing to which object.  No code ever looks into
 * the words; only cli/ shows them.
 *
 * The codes used on purpose: -EBADMSG malformed data, -ENODATA cut off,
 * -ENOTSUP newer version or missing kernel feature, -EPERM and -EACCES with the
 * remedy in the words, -ENOMEM, -EOVERFLOW a limit of ours.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#define ERROR_TEXT_BYTES 320

struct error {
        int code;                    /* -errno of the failure; 0 = none */
        char text[ERROR_TEXT_BYTES]; /* one line without newline, for people */
};

#define ERROR_NONE ((struct error){ .code = 0 })

/*
 * error_set() - record a failure; returns @code, so that call sites read
 * `return error_set(err, -EBADMSG, ...)`
 * @err:   overwritten; NULL drops the words and keeps the code
 * @code:  a negative errno
 * @fmt:   lower case, the object first, then the numbers; words that do not fit
 *         are cut and end in "..."
 */
int error_set(struct error *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/*
 * error_errno() - error_set() after a failed system call
 *
 * Reads errno before anything else, appends its description and returns
 * -errno.  Thread-safe, unlike strerror(3).
 */
int error_errno(struct error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* error_prefix() - puts "<words>: " before the text of a failure on its way up; returns @code */
int error_prefix(struct error *err, int code, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* error_prefix_once() - the same with "<name>: ", unless the text begins with that */
int error_prefix_once(struct error *err, int code, const char *name);

#endif /* BASE_ERROR_H */
