/* SPDX-License-Identifier: MIT */
#include "sampler/recording/recording_facts.h"
#include "sampler/kernel/unwind_request.h"

#include "base/byte_buffer.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "instrument/client_abi.h"
#include "sampler/events/event_request.h"
#include "sampler/events/event_set.h"
#include "sampler/kernel/host_clocks.h"
#include "sampler/proc/process_environment.h"
#include "sampler/proc/running_process.h"
#include "sampler/rights/perf_access.h"
#include "sampler/stacks/stack_unwinder.h"
#include "symbolize/images/trace_origin.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The limit on the environments of many processes: further ones are left out, which is noted. */
#define ENVIRONMENTS_BYTES_MAX 4096

int recording_facts_add_meta(struct trace_dictionary *d, const char *key, const char *value)
{
        struct trace_meta row;
        uint32_t id;
        int r = trace_dictionary_add_string(d, key, strlen(key), &row.key);

        if (r == 0)
                r = trace_dictionary_add_string(d, value, strlen(value), &row.value);
        return r < 0 ? r : trace_dictionary_add(d, TRACE_TABLE_META, &row, &id);
}

int recording_facts_add_number(struct trace_dictionary *d, const char *key, uint64_t value)
{
        char text[24];

        (void)snprintf(text, sizeof(text), "%" PRIu64, value);
        return recording_facts_add_meta(d, key, text);
}

int recording_facts_add_notice(struct trace_dictionary *d, enum trace_notice_id notice, const char *detail)
{
        struct trace_notice row = { .notice = (uint32_t)notice };
        uint32_t id;
        int r = 0;

        if (detail)
                r = trace_dictionary_add_string(d, detail, strlen(detail), &row.detail);
        return r < 0 ? r : trace_dictionary_add(d, TRACE_TABLE_NOTICES, &row, &id);
}

/* Consumes @text. */
static int add_text(struct trace_dictionary *d, const char *key, struct byte_buffer *text, struct error *err)
{
        int r = -ENOMEM;

        byte_buffer_add_u8(text, '\0');
        if (!text->failed)
                r = recording_facts_add_meta(d, key, (const char *)text->data);
        byte_buffer_deinit(text);
        return r < 0 ? error_set(err, r, "no memory to describe the recording") : 0;
}

/* Joins the arguments with blanks, as `ps` shows them. */
int recording_facts_add_command(struct trace_dictionary *d, char **argv, struct error *err)
{
        struct byte_buffer text = { .data = NULL };

        for (size_t i = 0; argv[i]; i++) {
                if (i > 0)
                        byte_buffer_add_u8(&text, ' ');
                byte_buffer_add(&text, argv[i], strlen(argv[i]));
        }
        return add_text(d, "command", &text, err);
}

int recording_facts_add_processes(struct trace_dictionary *d, const uint32_t *pids, size_t n_pids,
                                  struct error *err)
{
        struct byte_buffer commands = { .data = NULL }, numbers = { .data = NULL };
        int r;

        for (size_t i = 0; i < n_pids; i++) {
                char number[16];

                (void)snprintf(number, sizeof(number), "%s%" PRIu32, i > 0 ? "," : "", pids[i]);
                byte_buffer_add(&numbers, number, strlen(number));
                if (i > 0)
                        byte_buffer_add(&commands, "; ", 2);
                running_process_add_command_line(pids[i], &commands);
        }
        r = add_text(d, "command", &commands, err);
        if (r < 0)
                byte_buffer_deinit(&numbers);
        return r < 0 ? r : add_text(d, "attached_pids", &numbers, err);
}

/*
 * True if an earlier process had the same environment.  Environments are divided by "; ", which is in no
 * value.
 */
static bool has_environment(const struct byte_buffer *all, const struct byte_buffer *one)
{
        const char *at = (const char *)all->data, *end = at + all->used_bytes;

        while (all->used_bytes > 0 && at < end) {
                const char *next = memmem(at, (size_t)(end - at), "; ", 2);
                size_t n_bytes = (size_t)((next ? next : end) - at);

                if (n_bytes == one->used_bytes && memcmp(at, one->data, n_bytes) == 0)
                        return true;
                at = next ? next + 2 : end;
        }
        return false;
}

/* Appends those of processes, each one once. */
static void add_environments(const uint32_t *pids, size_t n_pids, struct byte_buffer *all)
{
        for (size_t i = 0; i < n_pids; i++) {
                struct byte_buffer one = { .data = NULL };

                if (process_environment_add_of(pids[i], &one) == 0 && !one.failed && one.used_bytes > 0 &&
                    !has_environment(all, &one)) {
                        byte_buffer_add(all, "; ", all->used_bytes > 0 ? 2 : 0);
                        byte_buffer_add(all, one.data, one.used_bytes);
                }
                byte_buffer_deinit(&one);
                if (all->used_bytes > ENVIRONMENTS_BYTES_MAX) {
                        byte_buffer_add(all, "; (more)", strlen("; (more)"));
                        return;
                }
        }
}

int recording_facts_add_environment(struct trace_dictionary *d, const uint32_t *pids, size_t n_pids,
                                    struct error *err)
{
        struct byte_buffer text = { .data = NULL };

        if (n_pids == 0)
                process_environment_add_own(environ, &text);
        else
                add_environments(pids, n_pids, &text);
        if (text.used_bytes > 0 || text.failed)
                return add_text(d, "environment", &text, err);
        byte_buffer_deinit(&text);
        return 0;
}

static uint64_t realtime_ns(void)
{
        struct timespec now;

        (void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail for this clock */
        return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* The time of CLOCK_REALTIME at @raw_ns, a time of CLOCK_MONOTONIC_RAW a moment ago. */
static uint64_t realtime_at(uint64_t raw_ns)
{
        uint64_t now_ns = clock_raw_ns();

        return realtime_ns() - (now_ns - raw_ns);
}

/*
 * The error that CLOCK_REALTIME may have according to the kernel; 0 = nothing keeps the clock synchronised.
 */
static uint64_t realtime_error_ns(void)
{
        struct timex state = { .modes = 0 };
        int r = adjtimex(&state);

        if (r < 0 || r == TIME_ERROR || (state.status & STA_UNSYNC) || state.maxerror <= 0)
                return 0;
        return (uint64_t)state.maxerror * NS_PER_US;
}

int recording_facts_begin(struct trace_dictionary *d, uint64_t start_ns, struct error *err)
{
        long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);
        char boot_id[TRACE_ORIGIN_BOOT_ID_BYTES];
        uint64_t error_ns = realtime_error_ns();
        struct utsname system;
        bool has_names = uname(&system) == 0;
        const struct {
                const char *key, *value; /* NULL or empty = unknown */
        } words[] = {
                { "hostname", has_names ? system.nodename : NULL },
                { "kernel", has_names ? system.release : NULL },
                { "machine", has_names ? system.machine : NULL },
                { "boot_id", boot_id },
                { "hyprof_version", HYPROF_VERSION },
        };
        int r = 0;

        trace_origin_read_boot_id(boot_id);
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) && r == 0; i++)
                if (words[i].value && words[i].value[0] != '\0')
                        r = recording_facts_add_meta(d, words[i].key, words[i].value);
        if (r < 0)
                goto fail;
        r = recording_facts_add_number(d, "cpus", n_cpus > 0 ? (uint64_t)n_cpus : 0);
        if (r < 0)
                goto fail;
        r = recording_facts_add_number(d, "start_realtime_ns", realtime_at(start_ns));
        if (r < 0)
                goto fail;
        if (error_ns != 0)
                r = recording_facts_add_number(d, "realtime_error_ns", error_ns);
        if (r < 0)
                goto fail;
        r = recording_facts_add_number(d, "start_raw_ns", start_ns);
        if (r == 0)
                r = host_clocks_add(d); /* before the first event */
        if (r < 0)
                goto fail;
        return 0;

fail:
        return error_set(err, r, "no memory to describe the recording");
}

int recording_facts_add_unwinding(struct trace_dictionary *d, const struct unwind_request *wanted,
                                  const struct unwind_request *used, const struct perf_access *access,
                                  struct error *err)
{
        static const char *const names[] = {
                [UNWIND_AUTO] = "auto", [UNWIND_FP] = "fp", [UNWIND_DWARF] = "dwarf"
        };
        struct perf_refusal refusal;
        char detail[sizeof(refusal.reason) + sizeof(refusal.remedy) + 8];
        int r = recording_facts_add_meta(d, "unwind", wanted->innermost_only ? "none" : names[used->mode]);

        if (r == 0 && used->mode != UNWIND_FP && used->copy_bytes > 0)
                r = recording_facts_add_number(d, "stack_copy_bytes", used->copy_bytes);
        if (r == 0 && used->mode != UNWIND_FP && used->keeping != STACK_KEEPING_NONE)
                r = recording_facts_add_meta(d, "kept_stacks",
                                             used->keeping == STACK_KEEPING_CUT ? "cut" : "all");
        if (r < 0 || used->mode != UNWIND_FP || wanted->innermost_only)
                return r < 0 ? error_set(err, r, "no memory to describe the recording") : 0;
        if (wanted->mode == UNWIND_FP) {
                r = recording_facts_add_notice(d, TRACE_NOTICE_FRAME_POINTERS_ONLY, NULL);
        } else {
                perf_access_explain_copies(access, &refusal);
                (void)snprintf(detail, sizeof(detail), "%s%s%s", refusal.reason,
                               refusal.remedy[0] == '\0' ? "" : "; try: ", refusal.remedy);
                r = recording_facts_add_notice(d, TRACE_NOTICE_NO_STACK_COPIES, detail);
        }
        return r < 0 ? error_set(err, r, "no memory to describe the recording") : 0;
}

int recording_facts_add_limits(struct trace_dictionary *d, const struct perf_access *access, int fallback,
                               struct error *err)
{
        struct perf_refusal counters;
        char detail[160];
        int r = 0;

        perf_access_explain(access, access->hardware_error, false, &counters);
        if (fallback)
                r = recording_facts_add_notice(d, TRACE_NOTICE_NO_HARDWARE_COUNTERS,
                                               perf_access_only_counts(access) ? counters.reason : NULL);
        if (r == 0 && access->kernel_error < 0) {
                (void)snprintf(
                        detail, sizeof(detail),
                        "kernel.perf_event_paranoid is %ld; try: sudo sysctl kernel.perf_event_paranoid=1",
                        access->paranoid == LONG_MIN ? -1 : access->paranoid);
                r = recording_facts_add_notice(d, TRACE_NOTICE_NO_KERNEL_STACKS, detail);
        } else if (r == 0 && !access->kernel_symbols) {
                (void)snprintf(
                        detail, sizeof(detail),
                        "kernel.kptr_restrict is %ld; try: sudo sysctl kernel.kptr_restrict=0, or record as root",
                        access->kptr_restrict == LONG_MIN ? -1 : access->kptr_restrict);
                r = recording_facts_add_notice(d, TRACE_NOTICE_KERNEL_SYMBOLS_HIDDEN, detail);
        }
        return r < 0 ? error_set(err, r, "no memory to describe the recording") : 0;
}

/* Describes when an event is sampled, and how often. */
static void describe_rate(const struct event_request *request, size_t i, const uint32_t *ids,
                          struct trace_sample_event *row)
{
        const struct event_spec *spec = &request->specs[i];

        if (spec->only_counts && spec->leader != i) {
                row->mode = TRACE_SAMPLE_MODE_WITH_LEADER;
                row->leader = ids[spec->leader];
        } else if (spec->only_counts) {
                row->mode = TRACE_SAMPLE_MODE_COUNTED;
        } else if (spec->is_tracepoint && request->rate_is_default) {
                row->mode = TRACE_SAMPLE_MODE_PERIOD;
                row->rate = 1;
        } else if (request->rate_hz == 0) {
                row->mode = TRACE_SAMPLE_MODE_PERIOD;
                row->rate = request->period;
        } else {
                row->mode = TRACE_SAMPLE_MODE_FREQUENCY_HZ;
                row->rate = request->rate_hz;
        }
}

int recording_facts_add_events(struct trace_dictionary *d, const struct event_request *request,
                               uint32_t *ret_ids, struct error *err)
{
        int r = 0;

        for (size_t i = 0; r == 0 && i < request->n_specs; i++) {
                const struct event_spec *spec = &request->specs[i];
                struct trace_sample_event row = { .type = spec->type, .config = spec->config };

                ret_ids[i] = 0;
                if (spec->role != EVENT_ROLE_SAMPLES)
                        continue;
                describe_rate(request, i, ret_ids, &row);
                r = trace_dictionary_add_string(d, spec->name, strlen(spec->name), &row.name);
                if (r == 0)
                        r = trace_dictionary_add_string(d, spec->unit, strlen(spec->unit), &row.unit);
                if (r == 0)
                        r = trace_dictionary_add(d, TRACE_TABLE_SAMPLE_EVENTS, &row, &ret_ids[i]);
        }
        return r < 0 ? error_set(err, r, "no memory to describe the events") : 0;
}

int recording_facts_end(struct trace_dictionary *d, uint64_t end_ns, int wait_status)
{
        char status[32];
        int r = recording_facts_add_number(d, "end_raw_ns", end_ns);

        if (r == 0)
                r = recording_facts_add_number(d, "end_realtime_ns", realtime_at(end_ns));
        if (wait_status >= 0 && WIFSIGNALED(wait_status))
                (void)snprintf(status, sizeof(status), "signal %d", WTERMSIG(wait_status));
        else
                (void)snprintf(status, sizeof(status), "%d", WEXITSTATUS(wait_status));
        if (r == 0 && wait_status >= 0)
                r = recording_facts_add_meta(d, "exit_status", status);
        return r;
}

int recording_facts_add_times(struct trace_dictionary *d, uint64_t cpu_ns, uint64_t kernel_ns)
{
        int r = recording_facts_add_number(d, "command_user_ns", cpu_ns - kernel_ns);

        return r == 0 ? recording_facts_add_number(d, "command_kernel_ns", kernel_ns) : r;
}

int recording_facts_add_families(struct trace_dictionary *d, uint32_t families)
{
        static const struct {
                uint32_t family;
                const char *name;
        } names[] = {
                { CLIENT_ABI_FAMILY_ZONES, "zones" },       { CLIENT_ABI_FAMILY_FRAMES, "frames" },
                { CLIENT_ABI_FAMILY_MESSAGES, "messages" }, { CLIENT_ABI_FAMILY_PLOTS, "plots" },
                { CLIENT_ABI_FAMILY_MEMORY, "memory" },     { CLIENT_ABI_FAMILY_LOCKS, "locks" },
                { CLIENT_ABI_FAMILY_DEVICES, "devices" },
        };
        char list[80] = "";
        size_t used = 0;

        if ((families & CLIENT_ABI_FAMILIES) == CLIENT_ABI_FAMILIES)
                return 0;
        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                if (families & names[i].family)
                        used += (size_t)snprintf(list + used, sizeof(list) - used, "%s%s",
                                                 used != 0 ? "," : "", names[i].name);
        return recording_facts_add_meta(d, "families", list[0] != '\0' ? list : "none");
}
