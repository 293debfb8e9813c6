/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Writes words at @used bytes into the text and returns the bytes used then; a cut text ends in "...". */
static __attribute__((format(printf, 3, 0))) size_t put(struct error *err, size_t used, const char *fmt,
                                                        va_list args)
{
        static const char cut[] = "...";
        size_t room = sizeof(err->text) - used;
        int wanted = vsnprintf(err->text + used, room, fmt, args);

        if (wanted < 0) {
                err->text[used] = '\0';
                return used;
        }
        if ((size_t)wanted < room)
                return used + (size_t)wanted;
        memcpy(err->text + sizeof(err->text) - sizeof(cut), cut, sizeof(cut));
        return sizeof(err->text) - 1;
}

/* The same for words of our own. */
static __attribute__((format(printf, 3, 4))) void put_more(struct error *err, size_t used, const char *fmt,
                                                           ...)
{
        va_list args;

        va_start(args, fmt);
        (void)put(err, used, fmt, args);
        va_end(args);
}

int error_set(struct error *err, int code, const char *fmt, ...)
{
        va_list args;

        assert(code < 0);
        if (!err)
                return code;

        err->code = code;
        va_start(args, fmt);
        (void)put(err, 0, fmt, args);
        va_end(args);
        return code;
}

int error_errno(struct error *err, const char *fmt, ...)
{
        int code = errno > 0 ? -errno : -EIO;
        const char *reason = strerrordesc_np(-code);
        va_list args;
        size_t used;

        if (!err)
                return code;

        err->code = code;
        va_start(args, fmt);
        used = put(err, 0, fmt, args);
        va_end(args);
        put_more(err, used, ": %s", reason ? reason : "unknown error");
        return code;
}

int error_prefix(struct error *err, int code, const char *fmt, ...)
{
        char cause[ERROR_TEXT_BYTES];
        va_list args;
        size_t used;

        assert(code < 0);
        if (!err)
                return code;

        memcpy(cause, err->text, sizeof(cause));
        err->code = code;
        va_start(args, fmt);
        used = put(err, 0, fmt, args);
        va_end(args);
        put_more(err, used, ": %s", cause);
        return code;
}

int error_prefix_once(struct error *err, int code, const char *name)
{
        size_t n = strlen(name);

        if (err && strncmp(err->text, name, n) == 0 && err->text[n] == ':') {
                err->code = code;
                return code;
        }
        return error_prefix(err, code, "%s", name);
}
