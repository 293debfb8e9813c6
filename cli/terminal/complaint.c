/* SPDX-License-Identifier: MIT */
#include "cli/terminal/complaint.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "format/trace_spec.h"
#include "format/trace_version.h"
#include "import/formats/import_formats.h"
#include "view/text/shell_word.h"
#include "view/text/text_number.h"
#include "view/text/text_table.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Used if there is no memory for escaping: a failure is reported all the same. */
static void replace_unprintable(char *text)
{
        for (; *text != '\0'; text++)
                if ((unsigned char)*text < ' ' || (unsigned char)*text >= 0x7f)
                        *text = '?';
}

static __attribute__((format(printf, 2, 0))) void put_line(const char *start, const char *format,
                                                           va_list args)
{
        struct byte_buffer line = { .data = NULL };
        char text[PATH_MAX + ERROR_TEXT_BYTES]; /* the longest name, and its description */

        (void)vsnprintf(text, sizeof(text), format, args);
        (void)text_escape(&line, text, strlen(text));
        if (line.failed) {
                replace_unprintable(text);
                (void)fprintf(stderr, "%s%s\n", start, text);
        } else {
                (void)fprintf(stderr, "%s%.*s\n", start, (int)line.used_bytes, (const char *)line.data);
        }
        byte_buffer_deinit(&line);
}

void complain(const char *format, ...)
{
        va_list args;

        va_start(args, format);
        put_line("hyprof: ", format, args);
        va_end(args);
}

void complain_of_trace(int code, const char *path, const struct error *err)
{
        complain("error: %s", err->text);
        if (code == -ENOENT && strcmp(path, "-") != 0 && access(path, F_OK) < 0)
                complain_try("hyprof record COMMAND");
        else if ((code == -EBADMSG || code == -EISDIR) && strcmp(path, "-") != 0 &&
                 import_formats_can_read(path))
                complain_try("hyprof import %s", shell_word_of(path).text);
        else if (code == -EBADMSG || code == -EISDIR)
                complain_try("a file that hyprof record wrote");
        else if (code == -ENOTSUP)
                complain_try("a newer hyprof");
        else if (code == -EACCES && access(path, R_OK) < 0) /* and it is not the result that was refused */
                complain_try(
                        "sudo chown, to make it yours: also under sudo, traces are read with your rights");
}

void complain_of_existing(const char *command, const char *option, const char *path, const char *trace,
                          const struct error *err)
{
        complain("error: %s", err->text);
        if (path)
                complain_try("%s --force %s %s %s", command, option, shell_word_of(path).text,
                             shell_word_of(trace).text);
        else
                complain_try("%s --force %s", command, shell_word_of(trace).text);
}

void complain_try_repair(const char *path)
{
        struct stat status;

        if (strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISREG(status.st_mode))
                complain_try(
                        "hyprof check --repair %s, which keeps the part before, and the old file as %s.unrepaired",
                        shell_word_of(path).text, path);
        else
                complain_try("write it to a FILE, and then hyprof check --repair FILE");
}

void complain_of_newer(const char *path, const struct trace_version *version, uint64_t n_unknown_events)
{
        bool is_counted = n_unknown_events != UINT64_MAX;

        if (trace_version_is_newer(version))
                complain("warning: %s: trace version %u.%u of a newer hyprof, read as %d.%d: %s%s%s left out",
                         path, version->major, version->minor, TRACE_VERSION_MAJOR, TRACE_VERSION_MINOR,
                         is_counted ? text_number_counted(n_unknown_events, "events").text : "",
                         is_counted ? " and " : "",
                         text_number_counted(version->n_unknown_chunks, "chunks").text);
}

void complain_next(const char *format, ...)
{
        va_list args;

        va_start(args, format);
        put_line("next: ", format, args);
        va_end(args);
}

void complain_try(const char *format, ...)
{
        va_list args;

        va_start(args, format);
        put_line("  try: ", format, args);
        va_end(args);
}
