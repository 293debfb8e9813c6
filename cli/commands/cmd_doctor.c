/* SPDX-License-Identifier: MIT */
#include "base/error.h"
#include "cli/commands/command_frame.h"
#include "cli/exit_status.h"
#include "cli/manual/commands.h"
#include "cli/options/output_options.h"
#include "cli/terminal/complaint.h"
#include "sampler/kernel/ring_size.h"
#include "sampler/kernel/unwind_request.h"
#include "sampler/rights/perf_access.h"
#include "view/document/answer_schema.h"
#include "view/document/view_document.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

/* ------------------------------------------------------------------ findings */

/*
 * Says what this machine and this user can record, a line each, and what would allow the rest.
 */

#define DOCTOR_FINDINGS_MAX 24

struct doctor_finding {
        const char *what; /* static */
        bool good;
        char words[200];
        char remedy[200]; /* a command; "" = none is known, or needed */
};

struct doctor_findings {
        struct doctor_finding items[DOCTOR_FINDINGS_MAX];
        size_t n_items;
};

#define DESCRIPTORS_FEW 1024
#define MLOCK_KIB_MIN   516 /* what kernels allow by default */
#define TRACING         "/sys/kernel/tracing"
#define USUAL_RATE_HZ   997

static void add_row(struct doctor_findings *f, bool good, const char *what, const char *format, ...)
        __attribute__((format(printf, 4, 5)));

static void add_row(struct doctor_findings *f, bool good, const char *what, const char *format, ...)
{
        struct doctor_finding *item = &f->items[f->n_items++];
        va_list args;

        assert(f->n_items <= DOCTOR_FINDINGS_MAX);
        *item = (struct doctor_finding){ .what = what, .good = good };
        va_start(args, format);
        (void)vsnprintf(item->words, sizeof(item->words), format, args);
        va_end(args);
}

/* The latest one's. */
static void set_remedy(struct doctor_findings *f, const char *command)
{
        struct doctor_finding *item = &f->items[f->n_items - 1];

        (void)snprintf(item->remedy, sizeof(item->remedy), "%s", command);
}

static void add_refused(struct doctor_findings *f, const struct perf_access *a, const char *what, int code,
                        bool wants_kernel)
{
        struct perf_refusal refusal;

        perf_access_explain(a, code, wants_kernel, &refusal);
        add_row(f, false, what, "%s", refusal.reason);
        set_remedy(f, refusal.remedy);
}

/* Without stack copies, the callers of code built without frame pointers are missing. */
static void add_stack_copies(struct doctor_findings *f, const struct perf_access *a)
{
        struct perf_refusal refusal;

        if (a->stack_copy_error == 0) {
                add_row(f, true, "stack copies", "callers in code without frame pointers");
                return;
        }
        perf_access_explain_copies(a, &refusal);
        add_row(f, false, "stack copies", "%s", refusal.reason);
        set_remedy(f, refusal.remedy);
}

static void add_code(struct doctor_findings *f, const struct perf_access *a)
{
        if (a->user_error == 0)
                add_row(f, true, "user code", "call stacks of one's own programs");
        else
                add_refused(f, a, "user code", a->user_error, false);
        add_stack_copies(f, a);
        if (a->kernel_error == 0)
                add_row(f, true, "kernel code", "the kernel's part of call stacks");
        else
                add_refused(f, a, "kernel code", a->kernel_error, true);
        if (a->kernel_symbols) {
                add_row(f, true, "kernel names", "/proc/kallsyms shows addresses");
                return;
        }
        add_row(f, false, "kernel names", "addresses are hidden (kernel.kptr_restrict is %ld)",
                a->kptr_restrict);
        set_remedy(f, a->kptr_restrict > 0 ? "sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1"
                                           : "sudo sysctl kernel.perf_event_paranoid=1");
}

/* Without access to tracefs, tracepoints have no names; context switches are recorded all the same. */
static void add_tracepoints(struct doctor_findings *f)
{
        if (access(TRACING "/events/sched/sched_switch/id", R_OK) == 0) {
                add_row(f, true, "tracepoints", TRACING " can be read");
                return;
        }
        if (access(TRACING "/events", F_OK) < 0 && errno == ENOENT) {
                add_row(f, false, "tracepoints", "tracefs is not mounted: tracepoints have no names");
                set_remedy(f, "sudo mount -t tracefs none " TRACING);
                return;
        }
        add_row(f, false, "tracepoints", TRACING " cannot be read: tracepoints have no names");
        set_remedy(f, "sudo mount -o remount,mode=755 " TRACING);
}

static void add_events(struct doctor_findings *f, const struct perf_access *a)
{
        struct perf_refusal refusal;

        perf_access_explain(a, a->hardware_error, false, &refusal);
        if (a->hardware_error == 0)
                add_row(f, true, "hardware counters", "cycles, instructions, cache misses ...");
        else
                add_row(f, false, "hardware counters", "%s; cpu-clock is sampled instead of cycles",
                        refusal.reason);
        add_tracepoints(f);
        if (a->build_id_error == 0)
                add_row(f, true, "build-ids", "the kernel reports them with each mapping");
        else if (a->build_id_error == -EINVAL)
                add_row(f, false, "build-ids", "not from this kernel (5.12 does)");
        else
                add_refused(f, a, "build-ids", a->build_id_error, false);
}

static void add_deleted_files(struct doctor_findings *f, const struct perf_access *a)
{
        if (a->map_files_error == 0) {
                add_row(f, true, "deleted files", "mapped files can be read after they were deleted");
        } else if (a->map_files_error == -EPERM || a->map_files_error == -EACCES) {
                add_row(f, false, "deleted files",
                        "needs CAP_CHECKPOINT_RESTORE: files that a program deletes are lost");
                set_remedy(f, "sudo hyprof record ...");
        } else {
                add_row(f, false, "deleted files", "/proc/self/map_files: %s",
                        strerrordesc_np(-a->map_files_error));
        }
}

static void add_files(struct doctor_findings *f, const struct perf_access *a)
{
        /* NOLINTNEXTLINE(concurrency-mt-unsafe): there is one thread */
        const char *servers = getenv("DEBUGINFOD_URLS");
        bool has_servers = servers && servers[0] != '\0';

        add_deleted_files(f, a);
        add_row(f, has_servers, "debug files", "%s",
                has_servers ? "debuginfod is asked for them (DEBUGINFOD_URLS)"
                            : "of this machine alone: DEBUGINFOD_URLS names no server");
}

/* "2", or "unknown" */
static const char *setting(long value, char digits[24])
{
        if (value == LONG_MIN)
                (void)snprintf(digits, 24, "unknown");
        else
                (void)snprintf(digits, 24, "%ld", value);
        return digits;
}

static void add_rights(struct doctor_findings *f, const struct perf_access *a)
{
        char paranoid[24], kptr[24];

        add_row(f, true, "settings", "kernel.perf_event_paranoid is %s, kernel.kptr_restrict is %s",
                setting(a->paranoid, paranoid), setting(a->kptr_restrict, kptr));
        add_row(f, a->has_perfmon, "capabilities", "CAP_PERFMON: %s, CAP_IPC_LOCK: %s",
                a->has_perfmon ? "yes" : "no", a->locks_memory ? "yes" : "no");
        add_row(f, !a->is_filtered, "system calls", "%s",
                a->is_filtered ? "a seccomp filter is there, as in containers" : "no seccomp filter");
}

static void add_pinned(struct doctor_findings *f, uint64_t n_cpus)
{
        struct ring_size_wanted wanted = { .rate_hz = USUAL_RATE_HZ,
                                           .n_events = 1,
                                           .copy_bytes = UNWIND_COPY_LONG,
                                           .n_cpus = n_cpus,
                                           .memory_bytes = ring_size_machine_memory() };
        uint64_t cpu_bytes = ring_size_find(&wanted) + ring_size_of_tracker(true, false, n_cpus);
        uint64_t all_bytes = cpu_bytes * n_cpus + ring_size_of_switches(false, n_cpus);

        add_row(f, true, "ring memory",
                "%llu MiB would be pinned for one event at %d Hz, at most %u MiB for samples at any rate",
                (unsigned long long)(all_bytes >> 20), USUAL_RATE_HZ, RING_SIZE_ALL_BYTES >> 20);
}

static void add_limits(struct doctor_findings *f, const struct perf_access *a)
{
        struct rlimit files = { .rlim_max = 0 };
        long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);

        (void)getrlimit(RLIMIT_NOFILE, &files);
        add_row(f, files.rlim_max >= DESCRIPTORS_FEW, "descriptors",
                "up to %llu; %ld are needed on %ld CPUs for one event", (unsigned long long)files.rlim_max,
                2 * n_cpus, n_cpus);
        if (a->max_sample_hz != LONG_MIN)
                add_row(f, true, "sample rate", "up to %ld Hz (kernel.perf_event_max_sample_rate)",
                        a->max_sample_hz);
        if (a->locks_memory)
                add_pinned(f, n_cpus > 0 ? (uint64_t)n_cpus : 1);
        else if (a->mlock_kib != LONG_MIN)
                add_row(f, a->mlock_kib >= MLOCK_KIB_MIN, "ring memory", "%ld KiB for each CPU",
                        a->mlock_kib);
}

/* Adds all findings in the order in which they are shown. */
static void add_findings(struct doctor_findings *findings, const struct perf_access *access)
{
        add_code(findings, access);
        add_events(findings, access);
        add_files(findings, access);
        add_rights(findings, access);
        add_limits(findings, access);
}

/* ------------------------------------------------------------------ the answer */

static const struct option_row option_rows[] = {
        OUTPUT_OPTION_ROWS,
        COMMON_ROW_HELP,
};

static const struct option_table table = {
        .command = "hyprof doctor",
        .operands = "",
        .about =
                "Shows what this machine and this user can record, and the command that would allow the rest.\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .closing = "exit status: 0 = programs can be recorded; 1 = they cannot; 2 = usage\n",
};

static int take_option(void *context, int letter, const char *value)
{
        int r = output_options_take(context, letter, value);

        return r < 0 ? r : 0;
}

/* The verdict. */
static const char *answer(const struct perf_access *a)
{
        return a->user_error == 0 ? "hyprof record COMMAND works here."
                                  : "hyprof record cannot work here until that is allowed.";
}

/*
 * A kernel setting, for programs that read the answer; people see it among the findings.  Unknown if it
 * cannot be read.
 */
static struct view_value setting_value(long value)
{
        return view_known((uint64_t)value, value >= 0);
}

/* clang-format off */
#define DOCTOR_FACTS(FACT)                                                                                    \
        FACT(BOOL, "can_record", NULL, view_number(access->user_error == 0), NULL)                            \
        FACT(STRING, "version", "hyprof", view_words(HYPROF_VERSION), NULL)                                   \
        FACT(STRING, "kernel", "Linux", view_words(system->release), NULL)                                    \
        FACT(STRING, "machine", "machine", view_words(system->machine), NULL)                                 \
        FACT(STRING, "user", "user", view_words(access->is_root ? "root" : "ordinary"), NULL,                 \
             .one_of = "root|ordinary", .may_be_null = true)                                                  \
        FACT(ID, "perf_event_max_sample_rate", NULL, setting_value(access->max_sample_hz),                          \
             "of the kernel: samples a second", .may_be_null = true)                                          \
        FACT(ID, "perf_event_mlock_kb", NULL, setting_value(access->mlock_kib),                                     \
             "of the kernel: KiB that rings of ordinary users may take", .may_be_null = true)
#define FINDING_COLUMNS(COLUMN)                                                                               \
        COLUMN(BOOL, "is_good", "", view_number(item->good), NULL)                                            \
        COLUMN(STRING, "what", "what", view_words(item->what), "the subject", .n_columns_max = 22)            \
        COLUMN(STRING, "words", "found", view_words(item->words), NULL)                                       \
        COLUMN(STRING, "remedy", "try", view_words(item->remedy), "a command", .is_below = true)
/* clang-format on */

static const struct view_column fact_columns[] = { DOCTOR_FACTS(VIEW_MEMBER) };
static const struct view_column finding_columns[] = { FINDING_COLUMNS(VIEW_COLUMN) };
static const struct answer_part facts_part = ANSWER_FACTS(fact_columns);
static const struct answer_part findings_part = ANSWER_TABLE(
        "findings", finding_columns, "something that this machine or user can record, or not");
const struct answer_schema doctor_schema = {
        .name = "hyprof.doctor/2",
        .command = "hyprof doctor --json",
        .parts = (const struct answer_part *const[]){ &facts_part, &findings_part, NULL },
};

static void fill(struct view_document *d, const struct doctor_findings *findings,
                 const struct perf_access *access, const struct utsname *system)
{
        const char *sentence = answer(access);
        struct view_table *t;

        view_document_set_answer(d, (struct text_view){ sentence, strlen(sentence) });
        DOCTOR_FACTS(VIEW_FACT)
        t = view_document_add_part(d, &findings_part, "Findings");
        for (size_t i = 0; i < findings->n_items; i++) {
                const struct doctor_finding *item = &findings->items[i];

                FINDING_COLUMNS(VIEW_CELL)
        }
}

static int run(void *context, struct common_options *common)
{
        struct output_options *output = context;
        struct doctor_findings findings = { .n_items = 0 };
        struct perf_access access;
        struct utsname system = { .release = "" };
        struct view_document document;
        int status;

        if (output_options_adopt(output, common) < 0)
                return EXIT_STATUS_USAGE;
        output_options_complete(output);
        perf_access_read(&access);
        (void)uname(&system);
        add_findings(&findings, &access);
        view_document_init(&document, doctor_schema.name);
        fill(&document, &findings, &access, &system);
        status = output_options_print(output, &document);
        view_document_deinit(&document);
        return status == EXIT_STATUS_OK && access.user_error != 0 ? EXIT_STATUS_FAILED : status;
}

const struct option_table *cmd_doctor_options(void)
{
        return &table;
}

int cmd_doctor(int argc, char **argv)
{
        struct output_options output;
        const struct command_frame frame = {
                .table = &table, .take = take_option, .context = &output, .run = run
        };

        output_options_init(&output);
        output.document.full_names = true; /* a finding that is cut helps little */
        return command_frame_run(&frame, argc, argv);
}
