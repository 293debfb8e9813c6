/* SPDX-License-Identifier: MIT */
/*
 * cli/options/record_options.h - the options of `hyprof record`
 *
 * Way of the data:  command line -> [record_options] -> cmd_record -> recorder
 */
#ifndef CLI_OPTIONS_RECORD_OPTIONS_H
#define CLI_OPTIONS_RECORD_OPTIONS_H

#include "analyze/trace/zone_pattern.h"
#include "cli/options/host_options.h"
#include "sampler/events/event_request.h"
#include "sampler/events/event_scope.h"
#include "sampler/keep/code_keeper.h"
#include "sampler/kernel/unwind_request.h"
#include "sampler/probes/probe_plan.h"
#include "sampler/tracks/zone_trigger.h"
#include "symbolize/listing/source_rule.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct option_table;

/*
 * ring_trigger.c - "zone:NAME>16ms": what `hyprof record --trigger` waits for
 *
 * Way of the data:  command line -> [ring_trigger] -> zone_trigger
 */

struct ring_trigger {
        const char *words; /* as it was given; borrowed */
        struct zone_pattern pattern;
        uint64_t longer_than_ns;
};

/* Returns 0, or -EINVAL after a complaint. */
int ring_trigger_init(struct ring_trigger *t, const char *words);
void ring_trigger_deinit(struct ring_trigger *t);

/* Borrows @t. */
struct zone_trigger_rule ring_trigger_rule(const struct ring_trigger *t);

/*
 * injection_words.c - which interfaces of other tools are to be recorded, of --inject
 *
 * Way of the data:  command line -> [injection_words] -> record_options, injection
 */
enum injection_part {
        INJECTION_ITT = 1,
        INJECTION_OMPT = 2,
        INJECTION_NVTX = 4,
        INJECTION_ALL = 7,
        INJECTION_AUTO = 8 | INJECTION_ALL, /* it was not asked for: nothing is said where it cannot be */
};

#define INJECTION_WORDS_BYTES 24

/* Reads "auto", "none" or "itt,nvtx".  Returns 0, or -EINVAL after a complaint. */
int injection_parse(const char *words, uint32_t *ret_parts);

/* The inverse, for INJECTION_ALL and parts of it. */
void injection_print(uint32_t parts, char words[INJECTION_WORDS_BYTES]);

#define RECORD_OPTIONS_TASKS_MAX 1024 /* processes, and threads, that can be named */

#define RECORD_OPTIONS_TRIGGERS_MAX 8

#define RECORD_OPTIONS_PROBES_MAX 32 /* patterns of functions and static probes */

struct record_options {
        const char *path;
        struct event_request events;
        struct unwind_request unwinder;
        enum python_mode python;
        enum code_keeper_mode embed;
        struct event_scope_request scope; /* its lists are those below */
        uint32_t pids[RECORD_OPTIONS_TASKS_MAX];
        uint32_t tids[RECORD_OPTIONS_TASKS_MAX];
        uint32_t families;    /* CLIENT_ABI_FAMILY_*; 0 = all */
        uint32_t n_dumps_max; /* that triggers may cause */
        uint32_t injection;   /* enum injection_part, 0 = nothing, or INJECTION_AUTO */
        uint64_t client_ring_bytes;
        uint64_t duration_ns;     /* 0 = until the end */
        uint64_t delay_ns;        /* before the recording begins */
        uint64_t bytes_max;       /* of the trace; 0 = without limit */
        uint64_t embed_bytes_max; /* 0 = nothing */
        uint64_t ring_ns;         /* how long the ring reaches back; 0 = as far as fits */
        uint64_t ring_bytes;      /* of events in memory */
        char ring_words[40];      /* as it was asked for */
        struct ring_trigger triggers[RECORD_OPTIONS_TRIGGERS_MAX];
        size_t n_triggers;
        const char *listen;         /* --listen: the address where takers of the trace connect; NULL = none */
        uint64_t listen_bytes;      /* of events that wait in memory */
        uint64_t linger_ns;         /* how long to wait for a taker at the end; UINT64_MAX = without limit */
        bool no_wait, drops_newest; /* begin without a taker; drop new events, not those that wait */
        struct host_options host;   /* another machine to record on */
        bool is_attended;           /* by hyprof record --on, which knows the address, and speaks for it */
        unsigned mode;              /* of the trace; 0 = not given */
        bool has_path;              /* -o was given */
        bool has_rate, has_period;  /* -F, -c */
        bool to_stdout;             /* -o -: standard output gets the trace and nothing else */
        bool ring;                  /* only the end is kept */
        struct probe_wish probes[RECORD_OPTIONS_PROBES_MAX]; /* words borrowed */
        size_t n_probes;
        uint64_t zone_function_rate; /* calls a second of one function, before it is switched off */
        bool off_cpu;
        bool no_switches;
        bool syscalls;       /* count system calls */
        bool idle;           /* idle times of CPUs */
        bool view;           /* then show the trace */
        bool as_root;        /* run the command as root, though another user called sudo */
        bool ignore_status;  /* of the command */
        bool has_callstacks; /* -g: always so */
        bool wants_rate_max; /* -F max: until rate_limit_apply(), events.rate_hz is our own maximum */
        bool is_rate_strict; /* a rate over the kernel's limit is refused */
        bool lists_events;   /* --list-events: instead of recording */
        bool no_symbolize;
        bool embed_source;
        struct source_folders source_folders; /* whose files may be private */
        bool quiet;
        bool help;
};

/*
 * record_options_parse() - from the command line
 * @options:      stays where it is: it refers to itself
 * @ret_operand:  index of the command in @argv, or @argc
 * Returns 0, or -EINVAL after a complaint.
 */
int record_options_parse(struct record_options *options, int argc, char **argv, int *ret_operand);

void record_options_deinit(struct record_options *options);

void record_options_print_help(void);
const struct option_table *record_options_table(void);

/* True if something that runs already is to be recorded: the command, if any, only says how long. */
static inline bool record_options_is_attaching(const struct record_options *options)
{
        const struct event_scope_request *scope = &options->scope;

        return scope->n_pids > 0 || scope->n_tids > 0 || scope->whole_machine || scope->cgroup != NULL;
}

#endif /* CLI_OPTIONS_RECORD_OPTIONS_H */
