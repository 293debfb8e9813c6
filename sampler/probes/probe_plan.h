/* SPDX-License-Identifier: MIT */
/*
 * sampler/probes/probe_plan.h - which instructions tell that a function of a program begins and ends
 *
 * Way of the data:  'module!pattern', ELF file -> [probe_plan] -> probe_source
 *
 * The file is read in a child without rights (symbols, debug information, instructions).  A function begins
 * at its first instruction and ends at its returns and at jumps to other functions.  The return address is
 * never replaced, as the kernel's return probes do: C++ exceptions, Go and call stacks would not survive.
 * For x86-64.
 */
#ifndef SAMPLER_PROBES_PROBE_PLAN_H
#define SAMPLER_PROBES_PROBE_PLAN_H

#include "base/byte_buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PROBE_PLAN_FUNCTIONS_MAX 1000 /* of all patterns together */
#define PROBE_PLAN_POINTS_MAX    16384
#define PROBE_PLAN_FILES_MAX     32

struct error;
struct probe_arg;
struct probe_spec;

/* A file whose functions are probed. */
struct probe_file {
        int fd;     /* owned */
        char *path; /* heap: as its programs call it */
};

/* The kind of zones that an option names. */
enum probe_wish_kind {
        PROBE_WISH_FUNCTION,    /* "pattern": calls of functions */
        PROBE_WISH_STATIC_ZONE, /* "begin,end": from one static probe to another */
        PROBE_WISH_MESSAGE,     /* "provider:pattern": messages of static probes */
        PROBE_WISH_TRACEPOINT,  /* "begin,end", "begin,end,key": from one tracepoint to another */
        PROBE_WISH_SYSCALLS,    /* "names", "" = all: system calls */
};

#define PROBE_PLAN_FIELDS 4 /* PROBE_ARGS_MAX: arguments that are recorded */

struct probe_function {
        enum probe_wish_kind kind;
        bool is_joined; /* by keys: its ends may come on other threads, its zones are spans */
        char *fields[PROBE_PLAN_FIELDS];      /* heap: names of arguments; NULL = none */
        bool has_arguments;                   /* a function's, by its debug information: */
        uint8_t styles[PROBE_PLAN_FIELDS];    /* enum probe_style */
        uint8_t sizes[PROBE_PLAN_FIELDS];     /* bytes */
        uint32_t text_max[PROBE_PLAN_FIELDS]; /* characters of an array; 0 = up to a NUL */
        char *enumerators[PROBE_PLAN_FIELDS]; /* heap: "1 RED,2 GREEN"; NULL = none */
        char *parameters; /* heap: "int n, char *name"; NULL = not known, or not asked for */
        char *name;       /* heap: for people */
        char *source;     /* heap; NULL = not known */
        uint32_t line;
        uint32_t file;     /* index */
        uint32_t location; /* id in the table LOCATIONS, and of spans */
        uint32_t device;   /* that in DEVICES; set by the recorder */
        uint64_t n_taken;  /* records, since `since_ns` */
        uint64_t since_ns;
        bool is_off; /* it has no probes: too many calls, refused, or an earlier one is the same */
};

struct probe_point {
        char *tracepoint; /* heap: "irq:irq_handler_entry"; NULL = an instruction: */
        uint64_t file_off;
        uint64_t semaphore_off; /* of a static probe: of what tells the program that it is probed; 0 = none */
        uint64_t cookie;        /* probe_cookie() */
        uint32_t function;
};

/* Zero-initialised is empty and valid. */
struct probe_plan {
        struct probe_file files[PROBE_PLAN_FILES_MAX];
        size_t n_files;
        struct probe_function *functions; /* heap */
        size_t n_functions, functions_capacity;
        struct probe_point *points; /* heap */
        size_t n_points, points_capacity;
        struct probe_spec *specs; /* heap: where static probes have their arguments */
        size_t n_specs, specs_capacity;
        struct probe_spec *pending; /* heap: of the last function, whose begin comes yet; NULL = none */
        size_t n_pending;
        size_t n_tracepoints; /* of the points */
        uint64_t syscalls[2]
                         [8]; /* bits: the wanted numbers of 64-bit and of 32-bit programs, with SYSCALLS */
        struct byte_buffer notes; /* lines for people: functions that were left out, and why */
};

struct probe_wish {
        enum probe_wish_kind kind;
        const char *words; /* with "module!" before them, or of the program itself */
};

struct probe_plan_request {
        enum probe_wish_kind kind;
        /* 'module!pattern', or 'pattern' for the program itself; of functions 'pattern(argument, ...)' too */
        const char *words;
        bool wants_parameters; /* of functions, for people */
        const char *program;   /* path of the command's file; NULL = there is no command */
        uint32_t pid;          /* of a running process, whose files are meant; 0 = the command's */
        uint32_t uid, gid;     /* whom the child becomes, if it is root */
};

/*
 * probe_plan_add() - adds the functions that a pattern names
 * Blocks until the child has answered; the process must have one thread.
 * Returns 0; -ENOENT if there is no such file or function, or if it was inlined everywhere; -EOVERFLOW for
 * too many; -ENOTSUP on other machines; -EINVAL for words without a pattern; -ENOMEM, -errno.
 */
int probe_plan_add(struct probe_plan *plan, const struct probe_plan_request *request, struct error *err);

/* Two tracepoints, and what of their records is wanted. */
struct probe_pair {
        enum probe_wish_kind kind;
        const char *begin, *end;        /* "irq:irq_handler_entry" */
        const char *name;               /* of the zones */
        const struct probe_spec *specs; /* of both */
        const char *fields[PROBE_PLAN_FIELDS];
};

/* Adds zones from one tracepoint to another.  Copies all.  Returns 0, -EOVERFLOW or -ENOMEM. */
int probe_plan_add_pair(struct probe_plan *plan, const struct probe_pair *pair, struct error *err);

/* How many zones of the plan begin or end at the tracepoint. */
size_t probe_plan_count_uses(const struct probe_plan *plan, const char *tracepoint);

void probe_plan_deinit(struct probe_plan *plan);

/* How much of a begin's name is that of the zones: "query" of "query__start" and "query__done". */
size_t probe_plan_common_part(const char *begin, size_t n_begin, const char *end);

/*
 * sampler/probes/probe_file.c - which file 'module' means
 *
 * Way of the data:  command, /proc/PID/maps -> [probe_file] -> probe_plan
 *
 * A path; else the name of the program; else of a library that the process has mapped or, of a command, that
 * lies where the loader looks for the program's libraries.  `libz.so` means libz.so.1 as well.
 */

/* Returns 0 with an open file, -ENOENT or -errno. */
int probe_file_open(const struct probe_plan_request *request, const char *module, size_t module_bytes,
                    struct probe_file *ret_file, struct error *err);

/*
 * sampler/probes/probe_finder.c - reads the functions of one file, in the child
 *
 * Way of the data:  ELF file -> [probe_finder] -> pipe -> probe_plan
 *
 * Its answer is lines of fields with tabs between them:
 *   F <line> <source file or -> <name> <parameters or ->                   a function, followed by its
 *   A <name> <numbers of a struct probe_arg> <names of an enumeration or ->  recorded arguments, and its
 *   P <kind> <offset in the file> <register> <offset in the function> <size of the function>
 *   S <kind> <offset in the file> <offset of the semaphore> <arguments, as in the note>    or a static probe
 *   N <words>                                 a function that was left out
 *   E <errno> <words>                         nothing can be done
 */

struct probe_finder_task {
        const struct probe_plan_request *request;
        const struct probe_file *file;
        const char *pattern;
};

/* child_answer_run: @context is a probe_finder_task. */
int probe_finder_run(void *context, int pipe_fd);

#endif /* SAMPLER_PROBES_PROBE_PLAN_H */
