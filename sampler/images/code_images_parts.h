/* SPDX-License-Identifier: MIT */
/*
 * sampler/images/code_images_parts.h - shared parts of code_images and of the files that do its work
 *
 * Way of the data:  code_images -> [code_images_parts] -> image_modules, landmark_files, recent_mappings,
 *                   searched_memory
 *
 * For these files alone, in the collector's thread; code_images.h is the interface.
 */
#ifndef SAMPLER_IMAGES_CODE_IMAGES_PARTS_H
#define SAMPLER_IMAGES_CODE_IMAGES_PARTS_H

#include "base/intern.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address_range;
struct byte_buffer;
struct event_set;
struct jit_lists;
struct memory_image;
struct noted_file;
struct perf_record_layout;
struct recording;
struct ring_watch;
struct sampled_place;
struct trace_dictionary;
struct trace_module;

/*
 * sampler/images/image_modules.c - the modules of images in memory
 *
 * Way of the data:  memory_image, jit_objects -> [image_modules] -> trace_dictionary (MODULES)
 */

/*
 * image_modules_add() - a module of kind IMAGE
 * @row:     all but kind and path
 * @mapped:  the number of its mapped bytes; the upper half is in its name
 * Returns as trace_dictionary_add().
 */
int image_modules_add(struct trace_dictionary *d, struct trace_module *row, uint64_t mapped,
                      uint32_t *ret_module);

/*
 * The same for an image that has a build-id.  If a file that is mapped around it, or the program's own
 * file, has that build-id, the module is that file.
 */
int image_modules_add_build_id(struct trace_dictionary *d, const struct memory_image *image,
                               uint32_t *ret_module);

/* The module of the file that an image comes from, by its build-id; 0 = it is not known. */
uint32_t image_modules_find_file(const struct trace_dictionary *d, const struct memory_image *image);

/*
 * A nameless file in memory with these bytes, for the builder of unwind tables; the caller's. -1 on
 * failure.
 */
int image_modules_hold(const struct byte_buffer *bytes);

/*
 * sampler/images/landmark_files.c - mapped files whose landmarks are not known yet: a JIT's list of code, an
 * interpreter
 *
 * Way of the data:  code_images (mappings), code_tables (landmarks) -> [landmark_files] -> jit_lists,
 *                   python_frames
 *
 * Used by the collector's thread.
 */

struct landmark_files {
        const struct recording *recording; /* borrowed */
        struct jit_lists *lists;           /* borrowed */
        /* heap, owned: files that wait for their tables, or for their data in memory */
        struct noted_file *noted;
        size_t n_noted, capacity;
};

void landmark_files_deinit(struct landmark_files *l);

/* A file is mapped in a process since @mapped_ns.  Returns 0 or -ENOMEM. */
int landmark_files_note(struct landmark_files *l, uint32_t pid, const struct address_range *range,
                        uint64_t mapped_ns);

/*
 * The same ahead of the mapping's turn, while older records of the process wait for theirs: an interpreter is
 * announced to BPF, and nothing else happens.
 */
int landmark_files_announce(struct landmark_files *l, uint32_t pid, const struct address_range *range,
                            uint64_t mapped_ns);

/* Looks again at the files that wait.  Returns 0 or -ENOMEM. */
int landmark_files_decide(struct landmark_files *l);

/* Are there some whose data will be there soon? */
bool landmark_files_lack_data(const struct landmark_files *l, uint64_t now_ns);

/* A child has its parent's files.  Returns 0 or -ENOMEM. */
int landmark_files_fork(struct landmark_files *l, uint32_t parent_pid, uint32_t pid, uint64_t time_ns);

/* The process has ended, or runs another program; files that it mapped later stay. */
void landmark_files_forget(struct landmark_files *l, uint32_t pid, uint64_t time_ns);

/*
 * sampler/images/searched_memory.c - how often the memory of processes was looked at: places that samples
 * fall into, and all of a process's memory
 *
 * Way of the data:  kernel_side -> code_images -> [searched_memory] -> code_images
 */

#define SAMPLED_PLACES_MAX       65536 /* stretches that are remembered; others are never due */
#define SAMPLED_PLACES_LOOKS_MAX 4     /* at the 1st, 8th, 64th, ... sample */

struct sampled_places {
        struct intern stretches;
        struct sampled_place *places; /* heap; by the id in `stretches` - 1 */
        size_t capacity;
};

void sampled_places_init(struct sampled_places *s);
void sampled_places_deinit(struct sampled_places *s);

/* Counts a sample.  Returns 1 if the memory is to be looked at, 0, -ENOMEM. */
int sampled_places_is_due(struct sampled_places *s, uint32_t pid, uint64_t start_avma);

/* An image was found there: samples are counted from 0 again, since other code may come to that place. */
void sampled_places_restart(struct sampled_places *s, uint32_t pid, uint64_t start_avma);

#define SEARCHED_PROCESSES_MAX 65536

/* The state of searching a process's memory. */
struct searched_process {
        uint32_t n_images;   /* that were found in it */
        uint32_t n_searches; /* of all of it, for code */
        uint32_t n_misses;   /* images in a row whose whole was searched for and not found */
        uint32_t n_programs; /* that the process has run and left */
        /* where the last whole was: loaders use a place again and again; 0 = not known */
        uint64_t near_avma;
        bool writes_code; /* it has executable memory that it can write, there or at another address */
};

struct searched_processes {
        struct intern pids;
        struct searched_process *processes; /* heap; by the id in `pids` - 1 */
        size_t capacity;
};

void searched_processes_init(struct searched_processes *s);
void searched_processes_deinit(struct searched_processes *s);

/*
 * The entry of a process, made if need be; borrowed until the next call.  NULL if there are too many, or no
 * memory.
 */
struct searched_process *searched_processes_get(struct searched_processes *s, uint32_t pid);

/* The process has ended, or runs another program. */
void searched_processes_leave(struct searched_processes *s, uint32_t pid);

/*
 * sampler/images/recent_mappings.c - where memory was made executable of late
 *
 * Way of the data:  ring_watch -> perf_record (MMAP2) -> [recent_mappings] -> code_images
 *
 * A look into a process because of a record sees the state at the time of the look.  If the same memory was
 * made executable once more in between, it may have other contents than the record reported.  The kernel
 * reports that before the program can run on, so all of it is in the rings when the recorder looks at them
 * after the process.  This file reads them from a position of its own, ahead of the reader of the records.
 *
 * Used by the thread that takes the records.
 */

#define RECENT_MAPPINGS_MAX 4096 /* the latest that were added; older ones are forgotten */

struct recent_mapping {
        uint64_t start_avma, end_avma;
        uint64_t time_ns;
        uint32_t pid;
};

/* All zero is empty, and has no rings. */
struct recent_mappings {
        struct recent_mapping mappings[RECENT_MAPPINGS_MAX];
        size_t n_added;
        uint64_t forgotten_ns;                   /* the latest time of the mappings that are forgotten */
        const struct perf_record_layout *layout; /* borrowed, as the rings */
        struct ring_watch *watches;              /* heap, owned: of the rings that report mappings */
        size_t n_watches;
};

/*
 * recent_mappings_init() - will look into the tracker's rings of @events
 * @events:  borrowed; rings may be mapped later
 * Returns 0 or -ENOMEM.
 */
int recent_mappings_init(struct recent_mappings *r, const struct event_set *events);
void recent_mappings_deinit(struct recent_mappings *r);

/* Takes in the new records of the rings.  To be called before records are given back to the kernel. */
void recent_mappings_look(struct recent_mappings *r);

void recent_mappings_add(struct recent_mappings *r, const struct recent_mapping *mapping);

/*
 * Was any of @memory made executable after @memory->time_ns, up to @until_ns?  Also true if such a mapping
 * may be forgotten.
 */
bool recent_mappings_have_newer(const struct recent_mappings *r, const struct recent_mapping *memory,
                                uint64_t until_ns);

/*
 * When was any of @memory made executable last, up to @until_ns?  0 = not known, or the mapping may be
 * forgotten.
 */
uint64_t recent_mappings_find_last_ns(const struct recent_mappings *r, const struct recent_mapping *memory,
                                      uint64_t until_ns);

#endif /* SAMPLER_IMAGES_CODE_IMAGES_PARTS_H */
