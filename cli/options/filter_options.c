/* SPDX-License-Identifier: MIT */
#include "cli/options/filter_options.h"

#include "analyze/trace/handle_word.h"
#include "analyze/walk/loaded_trace.h"
#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "cli/exit_status.h"
#include "cli/options/option_table.h"
#include "cli/terminal/complaint.h"
#include "view/text/shell_word.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int take_time(const char *name, const char *value, uint64_t *ret_ns, bool *ret_has)
{
        if (option_parse_duration(value, 0, UINT64_MAX, ret_ns) < 0) {
                complain("error: %s %s: not a time", name, value);
                complain_try("%s 1.5s, with one of the units ns, us, ms, s, m, h", name);
                return OPTION_ADVISED;
        }
        *ret_has = true;
        return 1;
}

static int check_range(const struct trace_filter_request *request)
{
        if (!request->has_from || !request->has_to || request->from_ns < request->to_ns)
                return 1;
        complain("error: --from is not before --to: nothing lies between them");
        return -EINVAL;
}

/* As perf has it: "1.5s,2s", "1.5s," and ",2s". */
static int take_times(struct trace_filter_request *request, const char *value)
{
        const char *comma = strchr(value, ',');
        char from[32];
        int r = 1;

        if (!comma || (size_t)(comma - value) >= sizeof(from) || (comma == value && comma[1] == '\0')) {
                complain("error: --time %s: not two times with a comma between them", value);
                complain_try("--time 1.5s,2s");
                return OPTION_ADVISED;
        }
        (void)snprintf(from, sizeof(from), "%.*s", (int)(comma - value), value);
        if (from[0] != '\0')
                r = take_time("--time", from, &request->from_ns, &request->has_from);
        if (r == 1 && comma[1] != '\0')
                r = take_time("--time", comma + 1, &request->to_ns, &request->has_to);
        return r < 0 ? r : check_range(request);
}

static int take_word(const char *name, const char *value, const char **ret_word)
{
        if (value[0] == '\0') {
                complain("error: %s is empty", name);
                return -EINVAL;
        }
        *ret_word = value;
        return 1;
}

static int take_names(struct trace_filter_request *request, const char *value)
{
        uint64_t fd;

        if (option_parse_number(value, STDERR_FILENO + 1, INT_MAX, &fd) < 0) {
                complain("error: --names-fd %s: not a descriptor", value);
                return -EINVAL;
        }
        request->names_fd = (int)fd;
        return 1;
}

int filter_options_take(struct trace_filter_request *request, int letter, const char *value)
{
        int r;

        switch (letter) {
        case FILTER_OPTION_FROM:
                r = take_time("--from", value, &request->from_ns, &request->has_from);
                return r < 0 ? r : check_range(request);
        case FILTER_OPTION_TO:
                r = take_time("--to", value, &request->to_ns, &request->has_to);
                return r < 0 ? r : check_range(request);
        case FILTER_OPTION_TIME:
                return take_times(request, value);
        case FILTER_OPTION_PROCESS:
                return take_word("--process", value, &request->process);
        case FILTER_OPTION_THREAD:
                return take_word("--thread", value, &request->thread);
        case FILTER_OPTION_TID:
                return take_word("--tid", value, &request->thread);
        case FILTER_OPTION_CPU:
                return take_word("--cpu", value, &request->cpu);
        case FILTER_OPTION_ZONE:
                return take_word("--zone", value, &request->zone);
        case FILTER_OPTION_MODULE:
                return take_word("--module", value, &request->module);
        case FILTER_OPTION_NAMES:
                return take_names(request, value);
        case FILTER_OPTION_EVENT:
                return take_word("--event", value, &request->event);
        default:
                return 0;
        }
}

static void add_time(struct byte_buffer *words, const char *name, uint64_t ns)
{
        char text[64];
        int n = snprintf(text, sizeof(text), "%s%s %" PRIu64 ".%09" PRIu64 " s",
                         words->used_bytes != 0 ? ", " : "", name, ns / NS_PER_S, ns % NS_PER_S);

        byte_buffer_add(words, text, (size_t)n);
}

static void add_word(struct byte_buffer *words, const char *name, const char *word)
{
        if (!word)
                return;
        byte_buffer_add(words, ", ", words->used_bytes != 0 ? 2 : 0);
        byte_buffer_add(words, name, strlen(name));
        byte_buffer_add(words, " ", 1);
        byte_buffer_add(words, word, strlen(word));
}

/* "handle:z7" is shown as the handle. */
static const char *without_prefix(const char *word, char letter)
{
        struct handle_word parsed = { .bare = NULL };

        if (word)
                parsed = handle_word_parse(word, letter);
        return parsed.id != 0 ? parsed.bare : word;
}

int filter_options_find_zone(struct trace_filter_request *request, struct loaded_trace *trace,
                             const char *zone, char **ret_zone, struct error *err)
{
        struct trace_filter_request asked = { .zone = zone, .thread = request->thread };
        struct trace_filter filter = { .is_empty = true };
        const char *thread;
        int r = trace_filter_init(&filter, &asked, trace, err);

        trace_filter_deinit(&filter);
        *ret_zone = NULL;
        if (r == 0 && trace_filter_split_zone(trace->dictionary, zone, ret_zone, &thread) < 0)
                r = error_set(err, -ENOMEM, "out of memory");
        if (r == 0 && *ret_zone)
                request->thread = thread;
        return r;
}

bool filter_options_is_empty(const struct trace_filter_request *request)
{
        return !request->has_from && !request->has_to && !request->process && !request->thread &&
               !request->cpu && !request->zone && !request->module && !request->event;
}

void filter_options_describe(const struct trace_filter_request *request, struct byte_buffer *words)
{
        if (request->has_from)
                add_time(words, "from", request->from_ns);
        if (request->has_to)
                add_time(words, "to", request->to_ns);
        add_word(words, "process", request->process);
        add_word(words, "thread", without_prefix(request->thread, 't'));
        add_word(words, "CPU", request->cpu);
        add_word(words, "zone", without_prefix(request->zone, 'z'));
        add_word(words, "module", request->module);
        add_word(words, "event", request->event);
}

/* The command that lists the requested names; if there are several, the one that is looked up last. */
static const char *find_list(const struct trace_filter_request *request)
{
        if (request->module)
                return "--modules";
        if (request->zone)
                return "--zones";
        if (request->cpu)
                return "--cpus";
        return request->thread || request->process ? "--threads" : NULL;
}

int filter_options_explain(const struct trace_filter_request *request, int code, const char *path,
                           const struct error *err)
{
        const char *list = find_list(request);

        complain_of_trace(code, path, err);
        if (code == -ENOENT && list && (strcmp(path, "-") == 0 || access(path, F_OK) == 0))
                complain_try("hyprof report %s %s", list, shell_word_of(path).text);
        return code == -EINVAL ? EXIT_STATUS_USAGE : EXIT_STATUS_FAILED;
}
