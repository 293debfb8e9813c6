/* SPDX-License-Identifier: MIT */
/*
 * format/trace_rows.h - one struct a table: what the rows of a trace hold
 *
 * Way of the data:  sampler -> [trace_rows] in trace_dictionary -> file -> the same -> analyze
 * Specification:    docs/understand/trace-format.md, "Tables"
 *
 * A row is named by its id: its place in its table, counted from 1; 0 means
 * "none".  A member that is called like a table holds an id of that table, and
 * one marked "string" an id of the table STRINGS; the reader has checked that
 * such ids exist.  No struct has padding: rows are compared as bytes.
 */
#ifndef FORMAT_TRACE_ROWS_H
#define FORMAT_TRACE_ROWS_H

#include <stdint.h>

struct trace_meta {
        uint32_t key;   /* string, e.g. "command"; the keys are listed in the specification */
        uint32_t value; /* string */
};

struct trace_process {
        uint32_t pid;       /* in the recorder's PID namespace */
        uint32_t parent;    /* process; 0 = not recorded */
        uint64_t start_ns;  /* first seen; tells reused PIDs apart */
        uint32_t recording; /* 0 = the only one */
        uint32_t reserved;  /* not in the file */
};

struct trace_thread {
        uint32_t process;
        uint32_t tid; /* in the recorder's PID namespace */
        uint64_t start_ns;
        uint32_t kind;  /* enum trace_thread_kind */
        uint32_t fiber; /* FIBER: tells the fibers of a process apart; `tid` is 0 */
        /* thread that created it, also the first one of a process; 0 = not known */
        uint32_t creator;
        uint32_t reserved; /* not in the file */
};

/* Values of `generation` with a meaning of their own. */
#define TRACE_MODULE_TOLD_BY_JIT 1          /* of an IMAGE: its program announced it; it was not recognised */
#define TRACE_MODULE_VDSO_32     32         /* of a VDSO: that of 32-bit processes */
#define TRACE_MODULE_KERNEL_GONE UINT32_MAX /* of the KERNEL: code was removed there */

struct trace_module {
        /* string: the path when it was mapped, or "[kernel]", "[vdso]", "//anon", "[image 3f0c..]" */
        uint32_t path;
        uint32_t build_id; /* string of raw bytes; 0 = unknown */
        uint32_t kind;     /* enum trace_module_kind */
        uint32_t process;  /* for ANONYMOUS: whose memory; else 0 */
        uint64_t device;   /* st_dev, 0 = unknown: the kernel reports either this or the build-id */
        uint64_t inode;
        /*
         * IMAGE: XXH3 of its code, where it has no build-id; FILE: see
         * docs/understand/trace-format.md; else 0
         */
        uint64_t content;
        uint32_t generation; /* ANONYMOUS: how often code was put over other code there before; FILE: of the
                             * inode; IMAGE: 1 = a JIT announced it; KERNEL: 0 = its own code, else how many
                             * codes were there that it made while it ran, with this one */
        uint32_t recording;  /* whose module it is, if two modules of one path may differ; else 0 */
};

struct trace_mapping {
        uint64_t start_avma; /* first address in the process */
        uint64_t length_bytes;
        uint64_t file_offset_bytes; /* of the byte at `start_avma` */
        uint64_t time_ns;           /* valid from here, until a later mapping covers it */
        uint32_t process;
        uint32_t module;
};

struct trace_frame {
        uint64_t offset; /* FILE, VDSO, IMAGE: byte in the file; KERNEL, ANONYMOUS, no module: address */
        uint32_t module; /* 0 = an address outside of every known mapping */
        uint32_t flags;  /* TRACE_FRAME_* */
};

#define TRACE_FRAME_RETURN_ADDRESS UINT32_C(1) /* the call is the instruction before `offset` */

struct trace_stack {
        uint32_t parent; /* stack of the caller; 0 = this frame is the thread's root */
        uint32_t frame;  /* innermost frame */
};

struct trace_location {
        uint32_t name;     /* string: of the zone */
        uint32_t function; /* string */
        uint32_t file;     /* string */
        uint32_t line;     /* 0 = unknown */
        uint32_t color;    /* 0xRRGGBB; 0 = none chosen */
};

struct trace_zone_path {
        uint32_t parent;   /* zone path of the enclosing zone; 0 = outermost */
        uint32_t location; /* of the innermost zone */
};

struct trace_sample_event {
        uint32_t name;     /* string, as the user wrote it: "cycles:u" */
        uint32_t type;     /* perf_event_attr.type */
        uint64_t config;   /* perf_event_attr.config */
        uint64_t rate;     /* Hz or events per sample, see `mode` */
        uint32_t mode;     /* enum trace_sample_mode */
        uint32_t unit;     /* string: of the samples' weight, "ns", "cycles", "events" */
        uint32_t leader;   /* WITH_LEADER: the sample_event with whose samples it was read; else 0 */
        uint32_t reserved; /* not in the file */
};

/*
 * The rows of one frame follow each other, the innermost inlined function first; a later
 * group replaces an earlier.
 */
struct trace_symbol {
        uint32_t frame;
        uint32_t function; /* string, demangled; 0 = unknown */
        uint32_t file;     /* string; 0 = unknown */
        uint32_t line;     /* 0 = unknown */
        uint32_t column;   /* 0 = unknown */
        uint32_t flags;    /* TRACE_SYMBOL_* */
        /* where the function begins in its ELF file; 0 = unknown, inlined, or the code may move */
        uint64_t start_svma;
        uint32_t declared_file; /* string: where the function is declared; 0 = unknown */
        uint32_t declared_line; /* 0 = unknown */
        uint32_t instance;      /* tells functions of one name and declaration apart */
        uint32_t aliases;       /* string: other names of its address, one a line; 0 = none known */
        uint32_t plain_name;    /* string, not in the trace: its `function`; see loaded_trace */
        uint32_t reserved;      /* not in the file */
};

#define TRACE_SYMBOL_INLINED    UINT32_C(1) /* inlined into the function of the next row */
#define TRACE_SYMBOL_STALE_FILE UINT32_C(2) /* another file has the path now: no name is taken from it */
#define TRACE_SYMBOL_UNNAMED \
        UINT32_C(4) /* no symbol: `function` consists of the module and the first address */

struct trace_loss {
        uint32_t reason; /* enum trace_loss_reason */
        uint32_t thread; /* 0 = not one thread's */
        uint64_t count;
        uint64_t time_ns; /* when it was noticed */
};

struct trace_notice {
        uint32_t notice; /* enum trace_notice_id */
        uint32_t detail; /* string: the reason and the remedy on this machine; 0 = none */
};

struct trace_clock {
        uint64_t ticks;    /* of the clock; nanoseconds of MONOTONIC, REALTIME and BOOTTIME */
        uint64_t raw_ns;   /* CLOCK_MONOTONIC_RAW at the same instant */
        uint32_t kind;     /* enum trace_clock_kind */
        uint32_t error_ns; /* the pair was read within this time */
        /* whose clock it is, in a merged trace; 0 = the only one's */
        uint32_t recording;
        uint32_t reserved; /* not in the file */
};

/* How to show a plot; a later row of the same name replaces an earlier. */
struct trace_plot {
        uint32_t name;   /* string */
        uint32_t unit;   /* string; 0 = none */
        uint32_t format; /* enum trace_plot_format */
        uint32_t flags;  /* TRACE_PLOT_* */
        uint32_t color;  /* 0xRRGGBB; 0 = none chosen */
};

#define TRACE_PLOT_STEP UINT32_C(1) /* the value stays until the next one, else a line between them */
#define TRACE_PLOT_FILL UINT32_C(2) /* the area below is filled */

struct trace_lock {
        uint32_t process;
        uint32_t location; /* its name, and where it is defined */
        uint32_t number;   /* tells locks of one process and location apart */
};

struct trace_device {
        uint32_t process;     /* 0 = of no process: an imported file does not name one */
        uint32_t name;        /* string */
        uint64_t period_bits; /* of a double: nanoseconds a tick; 0 = follows from its pairs of times */
        uint32_t kind;        /* the program's */
        uint32_t number;      /* tells devices of one process and name apart */
        uint32_t clock_name;  /* string: of its clock, for people; 0 = it has none */
        uint32_t recording;   /* whose device it is, if it has no process; 0 = the only one */
};

struct trace_device_clock {
        uint64_t ticks;    /* of the device */
        uint64_t raw_ns;   /* CLOCK_MONOTONIC_RAW at the same instant */
        uint64_t error_ns; /* the instant is at most this far from `raw_ns`; 0 = not known */
        uint32_t device;
        uint32_t epoch; /* readings of different epochs say nothing about each other's ticks */
};

/*
 * A lane of a device, and the track that it is a part of.  The first row of a lane of a device counts; a
 * reader treats a parent of another device as none.
 */
struct trace_track {
        uint32_t device;
        uint32_t parent; /* track; 0 = the device itself */
        uint32_t number; /* the `lane` of DEVICE_SPAN and the like */
        uint32_t name;   /* string; 0 = by its number */
        uint32_t kind;   /* enum trace_track_kind */
};

/* A fact that a program reports about itself; a later row of the same process and key replaces an earlier. */
struct trace_program_info {
        uint32_t process;
        uint32_t key;   /* string; 0 = free text: all rows count, not the last alone */
        uint32_t value; /* string */
};

/* A key that the recorder writes as well: the file that a compiler, an assembler or a linker works on. */
#define TRACE_INFO_WORKS_ON "works on"

/* Something large that came with the program; its bytes are in ATTACHMENT chunks. */
struct trace_attachment {
        uint64_t size_bytes;
        uint64_t hash; /* XXH3 of its bytes: equal attachments are kept once */
        uint32_t kind; /* enum trace_attachment_kind */
        uint32_t name; /* string: SOURCE_TEXT: the file's; else the code's */
};

/* Code that a program generated in memory and announced: one function, or an image. */
struct trace_code_region {
        uint64_t start_avma;
        uint64_t length_bytes;
        uint64_t time_ns; /* valid from here; until a later row with `gone` covers it */
        uint32_t process;
        uint32_t name;       /* string */
        uint32_t attachment; /* its ELF image; 0 = none */
        uint32_t gone;       /* 1: there is no code there any more */
        uint32_t source;     /* enum trace_code_source */
        uint32_t module; /* ANONYMOUS: the memory at that time: this region names frames of it, and of later
                          * generations that nothing covers; 0 = not known */
};

/* The code of a module, kept in the trace; a later row of the same module replaces an earlier. */
struct trace_module_image {
        uint32_t module;
        uint32_t attachment; /* MODULE_FILE or MODULE_PARTS; 0 = it was not kept, `state` says why */
        uint32_t state;      /* enum trace_image_state */
};

/* The code of a region belongs to this line from this byte on, up to that of the next row. */
struct trace_code_line {
        uint32_t region;       /* code_region */
        uint32_t offset_bytes; /* from the region's start; rows of a region ascend */
        uint32_t file;         /* string */
        uint32_t line;         /* 0 = unknown */
};

/*
 * The total of an event over all recorded CPUs and threads; a later row of the same event replaces an
 * earlier.
 */
struct trace_counter {
        uint64_t value;
        uint64_t enabled_ns; /* wanted to count; of all CPUs together */
        uint64_t running_ns; /* in which it counted: if less, readers scale the value by enabled / running */
        uint32_t event;      /* sample_event */
        uint32_t reserved;   /* not in the file */
};

/* The exact sums of a thread's calls of one system call, over the whole recording (record --syscalls). */
struct trace_syscall {
        uint64_t n_calls, n_errors; /* that returned */
        uint64_t time_ns;           /* from entry to return, with waiting */
        uint64_t longest_ns;        /* of one call */
        uint64_t n_bytes;           /* the sum of what read, write and the like returned; 0 for other calls */
        uint32_t thread;            /* 0 = several threads, for which there was no room */
        uint32_t name;              /* string: "write" */
};

/* A trace that was merged into this one; its processes refer to it.  The table is empty in other traces. */
struct trace_recording {
        uint64_t start_ns; /* on this trace's timeline; 0 = unknown, as the next */
        uint64_t end_ns;
        uint64_t offset_ns; /* the time added to its times; two's complement */
        uint64_t error_ns;  /* the largest error of its times against the first recording; see `clock` */
        uint64_t drift;     /* in 2^-60, two's complement: so much was added as well for each nanosecond after
                               start_ns */
        uint32_t label;     /* string: for people, each once: "node1", "node1:rank0" */
        uint32_t hostname;  /* string */
        uint32_t boot_id;   /* string; 0 = unknown */
        uint32_t command;   /* string */
        uint32_t trace;     /* string: the name of its file */
        uint32_t clock;     /* enum trace_alignment */
        uint32_t first_cpu; /* the number added to the numbers of its CPUs */
        uint32_t n_cpus;
};

/* A question of a capture to the recorder's machine, and the answer, each with the times of both clocks. */
struct trace_exchange {
        uint64_t taker_high, taker_low; /* the boot of the capture's machine: its boot id as a number */
        uint64_t asked_ns, got_ns;      /* by the capture's CLOCK_MONOTONIC_RAW */
        uint64_t heard_ns, answered_ns; /* by the recorder's */
        uint32_t recording;             /* that was captured, in a merged trace; 0 = the only one */
        uint32_t reserved;              /* not in the file */
};

/* A file of another tool that was read into this trace. */
struct trace_import {
        uint64_t n_rows;             /* that were read */
        uint64_t n_malformed;        /* of these, that could not be used */
        uint64_t first_malformed_at; /* line, or byte of a binary file; 0 = there is none */
        uint64_t n_dropped;          /* that the file says its producer lost */
        uint64_t error_ns; /* the largest error of its times, of every clock; UINT64_MAX = not known */
        uint64_t cut_at;   /* the file ends in the middle of something here: as above; 0 = it is whole */
        uint32_t file;     /* string: its name */
        uint32_t format;   /* string: "ireeprof", as `hyprof import` calls it */
        uint32_t version;  /* string: of the format, as the file has it; 0 = it has none */
        uint32_t first_malformed; /* string: what is wrong at `first_malformed_at` */
        uint32_t clock;           /* string: the clock of its times */
        uint32_t reserved;        /* not in the file */
};

/* Something in an imported file that is not in the trace. */
struct trace_import_loss {
        uint64_t count;
        uint32_t import;
        uint32_t kind; /* string: "executable_trace" */
};

#endif /* FORMAT_TRACE_ROWS_H */
