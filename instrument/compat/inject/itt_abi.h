/* SPDX-License-Identifier: MIT */
/*
 * instrument/compat/inject/itt_abi.h - what a program with ITT shares with a collector
 *
 * Way of the data:  program -> [itt_abi] -> itt_bridge, itt_sync, itt_counters, itt_jit
 *
 * Numbers and layouts of ITT's binary interface, version 3, and of the interface for JIT compilers, as their
 * documentation states them.  The functions that a bridge hands over are declared here as well.
 */
#ifndef INSTRUMENT_COMPAT_INJECT_ITT_ABI_H
#define INSTRUMENT_COMPAT_INJECT_ITT_ABI_H

#include "instrument/compat/inject/inject.h"

#include <pthread.h>

#define ITT_VERSION_MAJOR 3

struct itt_domain {
        int flags; /* 0 = off */
        const char *name;
        void *wide_name;
        int extra;
        void *more;
        struct itt_domain *next;
};

struct itt_string {
        const char *text;
        void *wide_text;
        int extra;
        void *more;
        struct itt_string *next;
};

struct itt_id {
        unsigned long long d1, d2, d3;
};

/* One function of the interface, in a list that ends with a name of NULL. */
struct itt_function {
        const char *name; /* "__itt_task_begin" */
        void **slot;      /* where the program looks for it */
        void *first;      /* what is there before the collector is loaded */
        void *none;       /* what is to be there if the collector lacks it */
        int group;
};

/* One copy of the interface has one; more members may follow. */
struct itt_global {
        unsigned char magic[8];
        unsigned long version_major, version_minor, version_build;
        volatile long is_initialized, is_mutex_initialized, counter;
        pthread_mutex_t mutex;
        void *library;
        void *error_handler;
        const char **library_path;
        struct itt_function *functions;
};

/* How the value of a counter, and a number of metadata, is stored. */
enum itt_type {
        ITT_U64 = 1,
        ITT_I64 = 2,
        ITT_U32 = 3,
        ITT_I32 = 4,
        ITT_U16 = 5,
        ITT_I16 = 6,
        ITT_F32 = 7,
        ITT_F64 = 8,
};

#define ITT_SYNC_BARRIER 1 /* an attribute of sync objects */
#define ITT_SYNC_MUTEX   2

#define ITT_TIME_NONE UINT64_MAX

/* A bridge puts it into the slot of that name. */
struct itt_entry {
        const char *name; /* after "__itt_"; NULL ends the list */
        void (*function)(void);
};

/* itt_bridge.c - tasks, frames, regions, markers, metadata, names */
/* itt_sync.c - objects that threads wait for, as locks */
/* itt_counters.c - counters, as plots */
extern const struct itt_entry itt_sync_entries[] __attribute__((visibility("hidden")));
extern const struct itt_entry itt_counter_entries[] __attribute__((visibility("hidden")));

/* The number of one value of the type at @value; @ret_real is set instead if it is none, and 0 returned. */
bool itt_number(enum itt_type type, const void *value, int64_t *ret_number, double *ret_real);

/* ---- JIT compilers ------------------------------------------------------------------------------------- */

enum itt_jit_event {
        ITT_JIT_LOADED = 13,
        ITT_JIT_UNLOAD = 14,
        ITT_JIT_LOADED_2 = 21,
        ITT_JIT_LOADED_3 = 22,
};

#define ITT_JIT_IS_WANTED 1 /* the result of Initialize() */

/* The code from the end of the entry before up to `end_bytes` is of this line. */
struct itt_jit_line {
        unsigned end_bytes;
        unsigned line;
};

/* The beginning of all versions of it; the first one has another number before the last two names. */
struct itt_jit_method {
        unsigned id;
        const char *name;
        void *address;
        unsigned n_bytes;
        unsigned n_lines;
        const struct itt_jit_line *lines;
};

struct itt_jit_method_1 {
        struct itt_jit_method method;
        unsigned class_id;
        const char *class_name;
        const char *file;
};

struct itt_jit_method_2 {
        struct itt_jit_method method;
        const char *class_name;
        const char *file;
        const char *module;
};

#endif /* INSTRUMENT_COMPAT_INJECT_ITT_ABI_H */
