/* SPDX-License-Identifier: MIT */
/*
 * sampler/tracks/recording.h - what the stages of one recording share
 *
 * Way of the data:  recorder, merge -> [recording] -> all stages of the collector
 *
 * The recorder fills in what it has opened; collector_init() copies that and adds what it makes, from top
 * to bottom.  A stage keeps a pointer to all of it, and looks up what it needs at the moment that it needs
 * it: so nothing is handed on member by member, and stages that need each other can be made one after the
 * other.  The comment at a member that can be NULL says what NULL means.
 *
 * Everything is borrowed from here, and it outlives all stages.  Threads: the collector's.
 */
#ifndef SAMPLER_TRACKS_RECORDING_H
#define SAMPLER_TRACKS_RECORDING_H

#include "sampler/kernel/unwind_request.h"

#include <stdbool.h>
#include <stdint.h>

struct attachment_store;
struct code_keeper;
struct code_regions;
struct code_tables;
struct event_set;
struct jit_files;
struct kernel_code;
struct loss_counter;
struct opened_files;
struct probe_source;
struct process_filter;
struct process_table;
struct python_frames;
struct python_gil;
struct python_source;
struct recorder_pace;
struct stack_builder;
struct stack_unwinder;
struct switch_source;
struct thread_sink;
struct trace_dictionary;
struct zone_source;

struct recording {
        /* ---- by the recorder ---- */
        struct trace_dictionary *dictionary;
        struct event_set *events;      /* the rings that report mappings */
        const uint32_t *sample_events; /* for each spec, its id in the table SAMPLE_EVENTS */
        /* id in SAMPLE_EVENTS of samples of counted system calls; 0 = none */
        uint32_t syscall_event;
        struct switch_source *switches;      /* NULL = switches come through the rings */
        struct probe_source *probes;         /* NULL = no functions are probed */
        struct python_source *python_source; /* NULL = Python programs are like any other */
        struct process_filter *filter;       /* whose records and zones are taken; NULL = all */
        struct kernel_code *kernel_code;     /* code that the kernel made; NULL = it is not known */
        struct opened_files *opened;         /* files that are open already; NULL = none */
        int stop_fd;                         /* readable = the recording is to end soon; -1 = there is none */
        uint64_t start_ns; /* the beginning of the recording, before which no idle time of CPUs counts */
        bool cpu_wide;     /* events of CPUs or of a cgroup: records may be of unknown processes */

        /* ---- by collector_init(), which owns them ---- */
        struct recorder_pace *pace;
        struct loss_counter *losses;
        struct process_table *processes;
        struct thread_sink *sink;
        enum stack_keeping keeping; /* copies of stacks that become events as well */
        struct stack_builder *stacks;
        struct zone_source *zones;
        /* machine code that JITs report goes there; NULL = it is not kept */
        struct attachment_store *attachments;
        struct code_keeper *keeper; /* NULL = no code is kept */
        struct code_tables *tables; /* NULL = stacks are not walked by tables, and JITs are not looked for */
        struct stack_unwinder *unwinder;
        struct code_regions *regions; /* NULL = code in anonymous memory is always the same */
        struct jit_files *jit;        /* NULL = programs announce no code in files */
        struct python_frames *python; /* NULL = as `python_source` */
        struct python_gil *gil;       /* NULL = as `python_source` */
};

#endif /* SAMPLER_TRACKS_RECORDING_H */
