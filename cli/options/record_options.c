/* SPDX-License-Identifier: MIT */
#include "cli/options/record_options.h"

#include "base/clock.h"
#include "base/error.h"
#include "cli/options/argument_words.h"
#include "cli/options/common_options.h"
#include "cli/options/host_options.h"
#include "cli/options/source_options.h"
#include "cli/terminal/complaint.h"
#include "instrument/client_abi.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define DEFAULT_HZ             997 /* prime: a round rate would sample in step with timers */
#define HZ_MAX                 100000
#define RING_BYTES_MIN         UINT64_C(4096)
#define RING_BYTES_MAX         (UINT64_C(960) << 20)
#define EMBED_BYTES_MAX        (UINT64_C(1) << 36)
#define FLIGHT_BYTES_MIN       (UINT64_C(1) << 20)
#define FLIGHT_BYTES_MAX       (UINT64_C(1) << 36)
#define FLIGHT_BYTES           (UINT64_C(1) << 29) /* the size of a ring that is given only as a time */
#define FLIGHT_NS_MIN          (NS_PER_S / 10)
#define DUMPS_DEFAULT          10
#define ZONE_FUNCTION_RATE     100000
#define ZONE_FUNCTION_RATE_MAX 1000000000
#define DUMPS_MAX              1000
#define TRACE_BYTES_MIN        (UINT64_C(1) << 16)
#define DURATION_MAX           (UINT64_C(100) * 24 * 3600 * NS_PER_S)

/* In the order of the enums that they are turned into. */
#define UNWIND_CHOICES "auto|fp|dwarf|none"
#define PYTHON_CHOICES "auto|frames|off" /* as enum python_mode */
#define SCOPE_CHOICES  "auto|cgroup|cpus|threads"
#define EMBED_CHOICES  "auto|all|none"
#define KEEP_CHOICES   "[=cut|all]"
#define DROP_CHOICES   "oldest|newest"
#define BUFFER_MIN     (UINT64_C(1) << 16)
#define BUFFER_MAX     (UINT64_C(1) << 34)

enum {
        LETTER_NO_SYMBOLIZE = OPTION_LONG_ONLY,
        LETTER_EMBED_SOURCE,
        LETTER_CLIENT_RING,
        LETTER_INJECT,
        LETTER_STAT,
        LETTER_STRICT_FREQ,
        LETTER_LIST_EVENTS,
        LETTER_MAX_SIZE,
        LETTER_UNWIND,
        LETTER_CALL_GRAPH,
        LETTER_PYTHON,
        LETTER_STACK_SIZE,
        LETTER_KEEP_STACKS,
        LETTER_KEEP_STACKS_MAX,
        LETTER_OFF_CPU,
        LETTER_SYSCALLS,
        LETTER_ZONE_FUNCTION, /* these five as enum probe_wish_kind */
        LETTER_ZONE_USDT,
        LETTER_USDT,
        LETTER_ZONE_TRACEPOINT,
        LETTER_ZONE_SYSCALLS,
        LETTER_ZONE_FUNCTION_LIMIT,
        LETTER_IDLE,
        LETTER_NO_SWITCHES,
        LETTER_NO_SAMPLING,
        LETTER_NO_CSWITCH,
        LETTER_CGROUP,
        LETTER_NO_CHILDREN,
        LETTER_SELF,
        LETTER_DELAY,
        LETTER_SCOPE,
        LETTER_AS_ROOT,
        LETTER_VIEW,
        LETTER_IGNORE_STATUS,
        LETTER_EMBED,
        LETTER_EMBED_MAX,
        LETTER_RING,
        LETTER_TRIGGER,
        LETTER_MAX_DUMPS,
        LETTER_LISTEN,
        LETTER_NO_WAIT,
        LETTER_BUFFER,
        LETTER_DROP,
        LETTER_LINGER,
        LETTER_ATTENDED,
        LETTER_ZONES, /* from here on in the order of `families` */
        LETTER_FRAMES,
        LETTER_MESSAGES,
        LETTER_PLOTS,
        LETTER_MEMORY,
        LETTER_LOCKS,
        LETTER_DEVICES,
};

static const uint32_t families[] = {
        CLIENT_ABI_FAMILY_ZONES,   CLIENT_ABI_FAMILY_FRAMES, CLIENT_ABI_FAMILY_MESSAGES,
        CLIENT_ABI_FAMILY_PLOTS,   CLIENT_ABI_FAMILY_MEMORY, CLIENT_ABI_FAMILY_LOCKS,
        CLIENT_ABI_FAMILY_DEVICES,
};

static const struct option_row option_rows[] = {
        { 'o', "output", "FILE",
          "the trace, - for a pipe; default: " OPTION_DEFAULT_TRACE
          " (an earlier one becomes " OPTION_DEFAULT_TRACE ".old)" },
        COMMON_ROW_MODE,
        { 'F', "freq", "HZ|max",
          "samples per second on each CPU, 1 to 100000, or max; higher rates are reduced to the kernel's "
          "limit (kernel.perf_event_max_sample_rate); default: 997, and every hit of a tracepoint" },
        { LETTER_STRICT_FREQ, "strict-freq", NULL, "refuse a rate over the kernel's limit" },
        { 'c', "count", "N", "instead of -F: one sample every N events" },
        { 'e', "event", "EVENTS",
          "events to sample: cycles, cpu-clock, page-faults:u, sched:sched_switch, r01c2, "
          "{cycles,instructions}:S, ...; 'hyprof list' shows them; default: cycles, or cpu-clock where "
          "there is no cycle counter" },
        { LETTER_LIST_EVENTS, "list-events", NULL, "show the events, as 'hyprof list' does" },
        { LETTER_STAT, "stat", NULL,
          "add totals of clocks, faults, switches, cycles, instructions, branches" },
        { LETTER_UNWIND, "unwind", UNWIND_CHOICES,
          "call stacks: auto, by unwind tables, and frame pointers where there are none; dwarf, by tables "
          "alone; fp, by frame pointers alone; none, only the innermost function; default: auto" },
        { LETTER_CALL_GRAPH, "call-graph", "fp|dwarf|none", "=--unwind" },
        { 'g', "callstacks", NULL, "=nothing, for there are always call stacks" },
        { LETTER_PYTHON, "python", PYTHON_CHOICES,
          "Python functions in call stacks: auto, in place of the interpreter's own functions; frames, beside them; off; "
          "default: auto" },
        { LETTER_STACK_SIZE, "stack-size", "SIZE",
          "how much of the stack is copied with each sample: 1K to 64K; default: 32K where the kernel's rings have room "
          "for a quarter of a second, which they have up to about 4,000 samples a second, else 16K" },
        { LETTER_KEEP_STACKS, "keep-stacks", KEEP_CHOICES,
          "write these copies to the trace, too, which have what the program had on its stacks: cut, those of call "
          "stacks that lack an unwind table, for 'hyprof symbolize --debug-dir'; all; default: all" },
        { LETTER_KEEP_STACKS_MAX, "keep-stacks-max", "SIZE",
          "the limit for all of these copies, before they are packed to a twentieth or less: 64M, 4G; default: 1G" },
        { LETTER_OFF_CPU, "off-cpu", NULL,
          "record what threads wait for, where, and which thread wakes them" },
        { LETTER_IDLE, "idle", NULL,
          "with --off-cpu: record for how long each CPU was idle; needs root, or CAP_BPF and CAP_PERFMON" },
        { LETTER_SYSCALLS, "syscalls", NULL,
          "count all system calls: number, time, bytes, errors of each thread; needs root, or CAP_BPF and CAP_PERFMON" },
        { LETTER_ZONE_FUNCTION, "zone-function", "MODULE!PATTERN",
          "record each call of these functions as a zone: 'query_*', 'libz.so!inflate*', with arguments: 'run(n, q->sql)'; "
          "nothing is rebuilt; up to 32 times; needs root (sudo); each call costs some microseconds" },
        { LETTER_ZONE_USDT, "zone-usdt", "MODULE!BEGIN,END",
          "record zones from one static probe (SDT, USDT) to another, with arguments: 'query__start,query__done'" },
        { LETTER_USDT, "usdt", "MODULE!NAMES", "record static probes as messages: 'postgresql:lock*'" },
        { LETTER_ZONE_TRACEPOINT, "zone-tracepoint", "BEGIN,END[,KEY]",
          "record zones from one tracepoint of the kernel to another of the same thread or, with KEY, of any" },
        { LETTER_ZONE_SYSCALLS, "zone-syscalls", "[=NAMES]", "record system calls as zones, with results" },
        { LETTER_ZONE_FUNCTION_LIMIT, "zone-function-limit", "N",
          "switch a function off that is called more than N times in a second; default: 100000" },
        { LETTER_NO_SWITCHES, "no-switches", NULL,
          "do not record context switches (cheaper for programs that switch very often)" },
        { LETTER_NO_SAMPLING, "no-sampling", NULL,
          "record only what the program reports (zones, messages ...), which leaves its times undisturbed: "
          "no samples, no context switches" },
        { LETTER_NO_CSWITCH, "no-cswitch", NULL, "=--no-sampling" },
        { 'p', "pid", "PID[,...]",
          "record running processes, with their children; until they end, or as long as COMMAND runs if there is one" },
        { 't', "tid", "TID[,...]", "record running threads, as -p does processes" },
        { 'a', "all", NULL, "record the whole machine" },
        { LETTER_CGROUP, "cgroup", "PATH", "record all processes of a cgroup" },
        { 'C', "cpu", "CPUS", "record only these CPUs: 0-3,8" },
        { LETTER_NO_CHILDREN, "no-children", NULL,
          "record only the processes that are given, or COMMAND itself, not the processes that they start" },
        { LETTER_SELF, "self", NULL, "record hyprof itself as well" },
        { LETTER_SCOPE, "scope", SCOPE_CHOICES,
          "how events are bound; default: auto, the best that is permitted" },
        { LETTER_DELAY, "delay", "TIME", "wait this long before recording: 500ms, 10s" },
        { 'd', "duration", "TIME", "stop recording after this time: 500ms, 10s, 2m, 1h" },
        { LETTER_RING, "ring", "TIME|SIZE",
          "keep only the end, in memory: the last 30s, or 64M of events; both if given twice; written at the end, "
          "and at SIGUSR2 into a file with the time in its name" },
        { LETTER_TRIGGER, "trigger", "RULE",
          "with --ring: 'zone:NAME>16ms' writes such a file whenever an instance of that zone lasted longer; NAME as in "
          "--zone of 'hyprof report'; up to 8 times" },
        { LETTER_MAX_DUMPS, "max-dumps", "N", "write at most N files because of --trigger; default: 10" },
        { LETTER_LISTEN, "listen", "ADDRESS",
          "give the trace to 'hyprof capture', at a port of this machine (0: a free one, which is printed, also with -q) "
          "or at the path of a socket, with a /; recording begins when it connects; without -o nothing is written here" },
        { LETTER_NO_WAIT, "no-wait", NULL, "with --listen: begin at once, and keep what comes" },
        { LETTER_BUFFER, "buffer", "SIZE",
          "with --listen: events that wait for a taker, in memory; default: 64M; with -o they wait in the file" },
        { LETTER_DROP, "drop", DROP_CHOICES,
          "with --listen: which events are dropped, and counted, when that is full; default: oldest" },
        { LETTER_LINGER, "linger", "TIME",
          "with --listen: how long to wait at the end while nothing is taken; default: until Ctrl-C" },
        { LETTER_ATTENDED, "attended", NULL, NULL },
        HOST_OPTION_ROWS,
        { LETTER_MAX_SIZE, "max-size", "SIZE",
          "stop recording when the trace has this size: 500M, 2G; names and what the queue holds come on top" },
        { LETTER_VIEW, "view", NULL,
          "show it in the browser while it runs, and after it: hyprof view --follow" },
        { LETTER_AS_ROOT, "as-root", NULL, "under sudo: run COMMAND as root, not as you" },
        { LETTER_IGNORE_STATUS, "ignore-child-status", NULL,
          "exit with 0, whatever the exit status of COMMAND" },
        { LETTER_ZONES, "zones", "[=callstacks]",
          "of the events that the program reports, record only zones ..." },
        { LETTER_FRAMES, "frames", NULL, "... and frames ..." },
        { LETTER_MESSAGES, "messages", "[=callstacks]", "... and messages ..." },
        { LETTER_PLOTS, "plots", NULL, "... and plots ..." },
        { LETTER_MEMORY, "memory", "[=callstacks]", "... and allocations of memory ..." },
        { LETTER_LOCKS, "locks", NULL, "... and locks ..." },
        { LETTER_DEVICES, "devices", "[=callstacks]",
          "... and work on devices: each that is named; default: all, without call stacks" },
        { LETTER_CLIENT_RING, "client-ring", "SIZE",
          "memory that each program may fill with events that are not recorded yet, beyond 1M for each of "
          "its threads: 64M; from 4K to 960M; up to 1M it is all that a thread has; default: a 32nd of the "
          "machine's memory, and at most an 8th of what the program's cgroup allows; all programs together "
          "have at most twice that" },
        { LETTER_INJECT, "inject", "LIST",
          "record what programs mark for other tools: itt, ompt (OpenMP), nvtx; none; default: auto, all of them" },
        { LETTER_EMBED, "embed", EMBED_CHOICES,
          "code that is copied into the trace: auto, code that may be gone later (deleted and temporary "
          "files, memfds, containers' files); all, also every other file with samples; none; default: auto" },
        { LETTER_EMBED_MAX, "embed-max", "SIZE", "the limit for all of that code: 64M, 1G; default: 256M" },
        { LETTER_EMBED_SOURCE, "embed-source", NULL, "keep the sources of sampled lines as well" },
        SOURCE_OPTION_ROW,
        { LETTER_NO_SYMBOLIZE, "no-symbolize", NULL,
          "record addresses without names, except the kernel's; 'hyprof symbolize' adds the rest" },
        COMMON_ROW_QUIET,
        COMMON_ROW_HELP,
};

static const struct option_group groups[] = {
        { "Used most", "output freq event off-cpu pid all duration view quiet help", NULL },
        { "What to record",
          "tid cgroup cpu no-children idle syscalls stat no-switches no-sampling list-events",
          "self scope as-root" },
        { "How often", "count strict-freq", NULL },
        { "Call stacks, their names and code", "unwind python embed embed-source no-symbolize",
          "stack-size keep-stacks keep-stacks-max embed-max source-dir" },
        { "Events that the program reports, and functions as zones",
          "zone-function zone-usdt usdt zone-tracepoint zone-syscalls inject zones frames messages plots memory locks devices",
          "client-ring zone-function-limit" },
        { "When it ends", "delay max-size ring trigger", "max-dumps mode ignore-child-status" },
        { "On another machine", "on deploy sudo debug-dir", "sysroot" },
        { "From another machine", "listen", "no-wait buffer drop linger" },
};

static const struct option_table table = {
        .command = "hyprof record",
        .operands = "[--] COMMAND [ARGS]\n       hyprof record [OPTIONS] -p PID [[--] COMMAND [ARGS]]",
        .about =
                "Runs COMMAND and records where it spends its time: call stacks of all its threads and children,\n"
                "and the zones and other events that they emit.  With -p, -t, -a or --cgroup, does so with what\n"
                "is already running.\n",
        .rows = option_rows,
        .n_rows = sizeof(option_rows) / sizeof(option_rows[0]),
        .groups = groups,
        .n_groups = sizeof(groups) / sizeof(groups[0]),
        .closing =
                "Ctrl-C ends the recording and keeps the trace; a second Ctrl-C skips symbolization.\n"
                "\n"
                "exit status: that of COMMAND (128 + N if a signal N ended it), or 0 with -p and the like;\n"
                "125 = hyprof failed; 126 = COMMAND cannot be executed; 127 = COMMAND not found; 2 = usage\n",
        .ends_at_operand = true,
};

static int take_events(struct record_options *options, const char *list)
{
        struct error err = ERROR_NONE;

        if (event_request_add(&options->events, list, &err) == 0)
                return 0;
        complain("error: -e %s: %s", list, err.text);
        if (!strstr(err.text, "; try: ")) /* which is a better one */
                complain_try("hyprof list");
        return OPTION_ADVISED;
}

static bool contains(const uint32_t *numbers, size_t n_numbers, uint32_t number)
{
        for (size_t i = 0; i < n_numbers; i++)
                if (numbers[i] == number)
                        return true;
        return false;
}

/* A list of numbers of processes or threads, each once. */
static int take_tasks(uint32_t *tasks, uint32_t *n_tasks, const char *what, const char *list)
{
        while (true) {
                size_t n = strcspn(list, ",");
                char text[16];
                uint64_t number = 0;

                (void)snprintf(text, sizeof(text), "%.*s", (int)n, list);
                if (n >= sizeof(text) || option_parse_number(text, 1, INT32_MAX, &number) < 0) {
                        complain("error: %s %.*s: not the ID of a process or thread", what, (int)n, list);
                        return -EINVAL;
                }
                if (*n_tasks == RECORD_OPTIONS_TASKS_MAX) {
                        complain("error: %s: more than %d", what, RECORD_OPTIONS_TASKS_MAX);
                        return -EINVAL;
                }
                if (!contains(tasks, *n_tasks, (uint32_t)number))
                        tasks[(*n_tasks)++] = (uint32_t)number;
                if (list[n] == '\0')
                        return 0;
                list += n + 1;
        }
}

static int take_family(struct record_options *options, int letter, const char *value)
{
        uint32_t family = families[letter - LETTER_ZONES];

        options->families |= family;
        if (value)
                options->families |= family << CLIENT_ABI_CALLSTACK_SHIFT;
        return 0;
}

static int take_ring(struct record_options *options, const char *value)
{
        uint64_t n_bytes;

        if (option_parse_bytes(value, RING_BYTES_MIN, RING_BYTES_MAX, &n_bytes) < 0) {
                complain("error: --client-ring %s: not a size from 4K to 960M", value);
                return -EINVAL;
        }
        options->client_ring_bytes = n_bytes;
        return 0;
}

static int take_stack_size(struct record_options *options, const char *value)
{
        uint64_t n_bytes;

        if (option_parse_bytes(value, UNWIND_COPY_MIN, UINT64_C(1) << 16, &n_bytes) < 0) {
                complain("error: --stack-size %s: not a size from 1K to 64K", value);
                return -EINVAL;
        }
        if (n_bytes > UNWIND_COPY_MAX)
                n_bytes = UNWIND_COPY_MAX; /* a record of 64 KiB cannot hold more */
        options->unwinder.copy_bytes = (uint32_t)(n_bytes & ~UINT64_C(7));
        return 0;
}

/* The limit for what a recording keeps. */
static int take_limit(const char *name, const char *value, uint64_t *ret_bytes)
{
        if (option_parse_bytes(value, 0, EMBED_BYTES_MAX, ret_bytes) == 0)
                return 0;
        complain("error: %s %s: not a size such as 64M, up to 64G", name, value);
        return -EINVAL;
}

static int take_buffer(struct record_options *options, const char *value)
{
        if (option_parse_bytes(value, BUFFER_MIN, BUFFER_MAX, &options->listen_bytes) == 0)
                return 0;
        complain("error: --buffer %s: not a size from 64K to 16G", value);
        return -EINVAL;
}

static int take_max_size(struct record_options *options, const char *value)
{
        if (option_parse_bytes(value, TRACE_BYTES_MIN, UINT64_MAX, &options->bytes_max) == 0)
                return 0;
        complain("error: --max-size %s: not a size such as 500M or 2G, 64K or more", value);
        return -EINVAL;
}

/* @word: a valid choice; with "none", only the innermost function of the frame-pointer chain is kept. */
static void take_unwinding(struct record_options *options, const char *word)
{
        int mode = argument_words_find(UNWIND_CHOICES, word);

        options->unwinder.innermost_only = mode > UNWIND_DWARF;
        options->unwinder.mode = options->unwinder.innermost_only ? UNWIND_FP : (enum unwind_mode)mode;
}

static int take_rate(struct record_options *options, const char *value)
{
        struct event_request *events = &options->events;

        options->has_rate = true;
        events->period = 0;
        events->rate_is_default = false;
        options->wants_rate_max = strcmp(value, "max") == 0;
        if (options->wants_rate_max) {
                events->rate_hz = HZ_MAX;
                return 0;
        }
        if (option_parse_number(value, 1, HZ_MAX, &events->rate_hz) == 0)
                return 0;
        complain("error: -F %s: neither a number from 1 to %d nor max", value, HZ_MAX);
        return -EINVAL;
}

static int take_time(const char *option, const char *value, uint64_t *ret_ns)
{
        if (option_parse_duration(value, 1, DURATION_MAX, ret_ns) == 0)
                return 0;
        complain("error: %s %s: not a time such as 500ms, 10s, 2m or 1h", option, value);
        return -EINVAL;
}

static int take_number(const char *option, const char *value, uint64_t max, uint64_t *ret_number)
{
        if (option_parse_number(value, 1, max, ret_number) == 0)
                return 0;
        complain("error: %s %s: not a number from 1 to %llu", option, value, (unsigned long long)max);
        return -EINVAL;
}

/* A time, or else a size; "64m" are minutes, "64M" is a size. */
static int take_flight(struct record_options *options, const char *value)
{
        size_t used = strlen(options->ring_words);
        uint64_t number;

        if (option_parse_duration(value, FLIGHT_NS_MIN, DURATION_MAX, &number) == 0 &&
            strpbrk(value, "smh")) {
                options->ring_ns = number;
        } else if (option_parse_bytes(value, FLIGHT_BYTES_MIN, FLIGHT_BYTES_MAX, &number) == 0) {
                options->ring_bytes = number;
        } else {
                complain("error: --ring %s: neither a time such as 30s or 2m, nor a size from 1M to 64G",
                         value);
                return -EINVAL;
        }
        options->ring = true;
        (void)snprintf(options->ring_words + used, sizeof(options->ring_words) - used, "%s%.18s",
                       used > 0 ? " " : "", value);
        return 0;
}

static int take_trigger(struct record_options *options, const char *value)
{
        if (options->n_triggers == RECORD_OPTIONS_TRIGGERS_MAX) {
                complain("error: --trigger: more than %d", RECORD_OPTIONS_TRIGGERS_MAX);
                return -EINVAL;
        }
        return ring_trigger_init(&options->triggers[options->n_triggers++], value);
}

static int take_probe(struct record_options *options, int letter, const char *value)
{
        const enum probe_wish_kind kind = (enum probe_wish_kind)(letter - LETTER_ZONE_FUNCTION);
        uint64_t *rate = &options->zone_function_rate;

        if (letter == LETTER_ZONE_FUNCTION_LIMIT)
                return take_number("--zone-function-limit", value, ZONE_FUNCTION_RATE_MAX, rate);
        if (options->n_probes == RECORD_OPTIONS_PROBES_MAX) {
                complain("error: more than %d functions and static probes", RECORD_OPTIONS_PROBES_MAX);
                return -EINVAL;
        }
        options->probes[options->n_probes++] = (struct probe_wish){ .kind = kind, .words = value };
        return 0;
}

/* The switch that a letter without an argument turns on; NULL for the others. */
static bool *find_switch(struct record_options *options, int letter)
{
        switch (letter) {
        case LETTER_STAT:
                return &options->events.wants_totals;
        case LETTER_STRICT_FREQ:
                return &options->is_rate_strict;
        case LETTER_LIST_EVENTS:
                return &options->lists_events;
        case LETTER_OFF_CPU:
                return &options->off_cpu;
        case LETTER_SYSCALLS:
                return &options->syscalls;
        case LETTER_IDLE:
                return &options->idle;
        case LETTER_NO_SAMPLING:
                return &options->events.no_samples;
        case LETTER_NO_SWITCHES:
        case LETTER_NO_CSWITCH:
                return &options->no_switches;
        case 'a':
                return &options->scope.whole_machine;
        case LETTER_NO_CHILDREN:
                return &options->scope.no_children;
        case LETTER_SELF:
                return &options->scope.with_self;
        case LETTER_AS_ROOT:
                return &options->as_root;
        case LETTER_VIEW:
                return &options->view;
        case LETTER_IGNORE_STATUS:
                return &options->ignore_status;
        case LETTER_ATTENDED:
                return &options->is_attended;
        case 'g':
                return &options->has_callstacks;
        case LETTER_NO_SYMBOLIZE:
                return &options->no_symbolize;
        case LETTER_EMBED_SOURCE:
                return &options->embed_source;
        case 'q':
                return &options->quiet;
        case 'h':
                return &options->help;
        default:
                return NULL;
        }
}

/* Opening these by name would let the command print into the trace. */
static bool is_stdout(const char *path)
{
        static const char *const names[] = { "-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1" };

        for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                if (strcmp(path, names[i]) == 0)
                        return true;
        return false;
}

static int take_max_dumps(struct record_options *options, const char *value)
{
        uint64_t number;

        if (take_number("--max-dumps", value, DUMPS_MAX, &number) < 0)
                return -EINVAL;
        options->n_dumps_max = (uint32_t)number;
        return 0;
}

static int take_listening(struct record_options *options, int letter, const char *value)
{
        if (letter == LETTER_BUFFER)
                return take_buffer(options, value);
        if (letter == LETTER_LINGER)
                return take_time("--linger", value, &options->linger_ns);
        if (letter == LETTER_LISTEN)
                options->listen = value;
        else if (letter == LETTER_NO_WAIT)
                options->no_wait = true;
        else
                options->drops_newest = argument_words_find(DROP_CHOICES, value) == 1;
        return 0;
}

static void take_path(struct record_options *options, const char *value)
{
        options->has_path = true;
        options->to_stdout = is_stdout(value);
        options->path = options->to_stdout ? "standard output" : value;
}

static int take_keeping(struct record_options *options, int letter, const char *value)
{
        if (letter == LETTER_KEEP_STACKS_MAX)
                return take_limit("--keep-stacks-max", value, &options->unwinder.kept_bytes_max);
        options->unwinder.keeping = value && strcmp(value, "cut") == 0 ? STACK_KEEPING_CUT
                                                                       : STACK_KEEPING_ALL;
        return 0;
}

/* Options that are neither a switch nor of another machine. */
static int take_own_option(struct record_options *options, int letter, const char *value)
{
        if (letter == SOURCE_OPTION_DIR)
                return source_options_take(&options->source_folders, value);
        if (letter == COMMON_OPTION_MODE)
                return common_options_parse_mode(value, &options->mode);
        if (letter >= LETTER_ZONES)
                return take_family(options, letter, value);
        if (letter >= LETTER_ZONE_FUNCTION && letter <= LETTER_ZONE_FUNCTION_LIMIT)
                return take_probe(options, letter, value ? value : "");
        switch (letter) {
        case 'F':
                return take_rate(options, value);
        case 'c':
                options->has_period = true;
                options->events.rate_hz = 0;
                options->events.rate_is_default = false;
                return take_number("-c", value, INT64_MAX, &options->events.period);
        case 'e':
                return take_events(options, value);
        case LETTER_UNWIND:
        case LETTER_CALL_GRAPH: /* with the words that both know */
                take_unwinding(options, value);
                return 0;
        case LETTER_PYTHON:
                options->python = (enum python_mode)argument_words_find(PYTHON_CHOICES, value);
                return 0;
        case LETTER_MAX_SIZE:
                return take_max_size(options, value);
        case LETTER_STACK_SIZE:
                return take_stack_size(options, value);
        case LETTER_KEEP_STACKS:
        case LETTER_KEEP_STACKS_MAX:
                return take_keeping(options, letter, value);
        case LETTER_EMBED:
                options->embed = (enum code_keeper_mode)argument_words_find(EMBED_CHOICES, value);
                return 0;
        case LETTER_EMBED_MAX:
                return take_limit("--embed-max", value, &options->embed_bytes_max);
        case LETTER_RING:
                return take_flight(options, value);
        case LETTER_TRIGGER:
                return take_trigger(options, value);
        case LETTER_MAX_DUMPS:
                return take_max_dumps(options, value);
        case 'p':
                return take_tasks(options->pids, &options->scope.n_pids, "-p", value);
        case 't':
                return take_tasks(options->tids, &options->scope.n_tids, "-t", value);
        case LETTER_CGROUP:
                options->scope.cgroup = value;
                return 0;
        case 'C':
                options->scope.cpus = value;
                return 0;
        case LETTER_SCOPE:
                options->scope.kind = (enum event_scope_kind)argument_words_find(SCOPE_CHOICES, value);
                return 0;
        case LETTER_DELAY:
                return take_time("--delay", value, &options->delay_ns);
        case 'd':
                return take_time("-d", value, &options->duration_ns);
        case LETTER_CLIENT_RING:
                return take_ring(options, value);
        case LETTER_INJECT:
                return injection_parse(value, &options->injection);
        case LETTER_LISTEN:
        case LETTER_NO_WAIT:
        case LETTER_BUFFER:
        case LETTER_DROP:
        case LETTER_LINGER:
                return take_listening(options, letter, value);
        case 'o':
                take_path(options, value);
                return 0;
        default:
                return -EINVAL; /* not reached */
        }
}

static int take_option(void *context, int letter, const char *value)
{
        struct record_options *options = context;
        bool *is_on = find_switch(options, letter);
        int r = host_options_take(&options->host, letter, value);

        if (r != 0)
                return r < 0 ? r : 0;
        if (is_on)
                *is_on = true;
        else
                r = take_own_option(options, letter, value);
        /* The trace is here, and so is the viewer. */
        if (r < 0 || letter == 'o' || letter == COMMON_OPTION_MODE || letter == LETTER_VIEW)
                return r;
        return host_options_forward(&options->host, option_table_find_letter(&table, letter), value);
}

/* Contradictory options about another machine; NULL = none. */
static const char *find_wrong_host(const struct record_options *options)
{
        if (!options->host.on)
                return host_options_find_stray(&options->host);
        if (options->listen)
                return "--on takes the trace itself; --listen leaves that to a capture; use one of them";
        if (options->to_stdout)
                return "--on writes the trace to a file, so that it can go on after a cut; -o - is a pipe";
        if (options->ring)
                return "--on and --ring keep the recording in different ways; use one of them";
        return NULL;
}

/* Contradictory options about a taker; NULL = none. */
static const char *find_wrong_listening(const struct record_options *options)
{
        if (options->host.on)
                return NULL;
        if (!options->listen)
                return options->no_wait || options->listen_bytes != 0 || options->linger_ns != UINT64_MAX ||
                                       options->drops_newest
                               ? "--no-wait, --buffer, --drop and --linger are about --listen"
                               : NULL;
        if (options->to_stdout)
                return "--listen gives the trace to a capture, and -o - to a pipe; use one of them";
        if (options->ring)
                return "--listen and --ring keep the recording in different ways; use one of them";
        if (options->view)
                return "--listen: the trace is viewed where it is taken, by hyprof capture --view";
        return NULL;
}

static const char *find_wrong_ring(const struct record_options *options)
{
        if (!options->ring)
                return options->n_triggers > 0 ? "--trigger needs --ring, which says how much is kept" : NULL;
        if (options->events.wants_totals)
                return "--stat counts the whole recording, and --ring keeps only its end";
        if (options->syscalls)
                return "--syscalls counts the whole recording, and --ring keeps only its end";
        return options->bytes_max > 0
                       ? "--max-size cannot be combined with --ring, which takes a size itself: --ring 64M"
                       : NULL;
}

/* Contradictory options about which samples are taken. */
static const char *find_wrong_samples(const struct record_options *options)
{
        const struct event_request *events = &options->events;

        if (options->has_period && options->has_rate)
                return "use only one of -F (samples a second) and -c (one sample in so many events)";
        if (events->no_samples && events->n_specs > 0)
                return "--no-sampling leaves out the events that -e names";
        if (events->no_samples && !events->rate_is_default)
                return "--no-sampling cannot be combined with -F or -c, which set the rate of samples";
        if (options->unwinder.keeping != STACK_KEEPING_NONE && options->unwinder.mode == UNWIND_FP)
                return "--keep-stacks: with --unwind=fp or none there are no copies of stacks";
        if (options->embed_source && options->no_symbolize)
                return "--embed-source needs the lines that --no-symbolize leaves out";
        return NULL;
}

/* Contradictory options about context switches. */
static const char *find_wrong_switches(const struct record_options *options)
{
        if (options->off_cpu && options->no_switches)
                return "--off-cpu needs the switches that --no-switches leaves out";
        if (options->off_cpu && options->events.no_samples)
                return "--off-cpu needs the switches that --no-sampling leaves out";
        if (options->idle && !options->off_cpu)
                return "--idle is a part of --off-cpu; use both";
        if (options->syscalls && (options->no_switches || options->events.no_samples))
                return "--syscalls counts in the BPF program of the switches, which --no-switches and --no-sampling "
                       "leave out";
        return NULL;
}

static const char *find_wrong_scope(const struct event_scope_request *scope)
{
        int n_ways = (scope->n_pids + scope->n_tids > 0) + scope->whole_machine + (scope->cgroup != NULL);

        if (n_ways > 1)
                return "use only one of -p (with -t), -a and --cgroup";
        if (scope->cgroup && scope->cgroup[0] == '\0')
                return "--cgroup is empty; the root of all is /";
        return NULL;
}

/* Contradictory options. */
static int check(const struct record_options *options)
{
        const char *const wrongs[] = { find_wrong_scope(&options->scope), find_wrong_switches(options),
                                       find_wrong_samples(options),       find_wrong_ring(options),
                                       find_wrong_listening(options),     find_wrong_host(options) };

        for (size_t i = 0; i < sizeof(wrongs) / sizeof(wrongs[0]); i++) {
                if (!wrongs[i])
                        continue;
                complain("error: %s", wrongs[i]);
                complain_try("hyprof record --help");
                return -EINVAL;
        }
        return 0;
}

int record_options_parse(struct record_options *options, int argc, char **argv, int *ret_operand)
{
        *options = (struct record_options){ .path = OPTION_DEFAULT_TRACE };
        options->events.rate_hz = DEFAULT_HZ;
        options->events.rate_is_default = true;
        options->zone_function_rate = ZONE_FUNCTION_RATE;
        options->injection = INJECTION_AUTO;
        options->embed_bytes_max = CODE_KEEPER_BYTES_MAX;
        options->unwinder.kept_bytes_max = STACK_KEEPING_BYTES_DEFAULT;
        options->n_dumps_max = DUMPS_DEFAULT;
        options->linger_ns = UINT64_MAX;
        options->scope.pids = options->pids;
        options->scope.tids = options->tids;
        if (option_table_parse(&table, argc, argv, take_option, options, ret_operand) < 0)
                return -EINVAL;
        if (options->ring && options->ring_bytes == 0)
                options->ring_bytes = FLIGHT_BYTES;
        return options->help ? 0 : check(options);
}

void record_options_deinit(struct record_options *options)
{
        for (size_t i = 0; i < options->n_triggers; i++)
                ring_trigger_deinit(&options->triggers[i]);
        host_options_deinit(&options->host);
}

void record_options_print_help(void)
{
        option_table_print(&table, stdout);
}

const struct option_table *record_options_table(void)
{
        return &table;
}
