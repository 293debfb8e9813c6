/* SPDX-License-Identifier: MIT */
#include "sampler/python/python_late.h"

#include "sampler/kernel/raw_stack.h"
#include "sampler/pace/pace.h"
#include "sampler/proc/process_memory.h"
#include "sampler/python/python_late_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define CALLS_MAX       4 /* to read the identities of a stack */
#define OWNER_GENERATOR 1

int python_late_new(struct python_late **ret_late)
{
        struct python_late *l = calloc(1, sizeof(*l));
        struct stat status;

        if (!l)
                return -ENOMEM;
        if (stat("/proc/self/ns/pid", &status) == 0) {
                l->namespace_device = status.st_dev;
                l->namespace_inode = status.st_ino;
        }
        *ret_late = l;
        return 0;
}

void python_late_free(struct python_late *l)
{
        free(l);
}

/* ---- the thread's state -------------------------------------------------------------------------------- */

/* Reads the last number in a thread's line NSpid: its number in the innermost PID namespace. */
static uint32_t read_own_tid(uint32_t pid, uint32_t tid)
{
        char path[64], line[256];
        uint32_t own_tid = tid;
        FILE *file;

        (void)snprintf(path, sizeof(path), "/proc/%" PRIu32 "/task/%" PRIu32 "/status", pid, tid);
        file = fopen(path, "re");
        if (!file)
                return tid;
        while (fgets(line, sizeof(line), file))
                if (strncmp(line, "NSpid:", 6) == 0) {
                        const char *last = strrchr(line, '\t');

                        own_tid = last ? (uint32_t)strtoul(last, NULL, 10) : tid;
                }
        (void)fclose(file);
        return own_tid;
}

static uint64_t late_word(const struct process_memory *memory, uint64_t avma)
{
        uint64_t word = 0;

        return process_memory_read_all(memory, avma, &word, sizeof(word)) ? word : 0;
}

static bool is_own_state(const struct process_memory *memory, const struct python_process *p, uint64_t state,
                         uint32_t own_tid)
{
        return state != 0 && (uint32_t)late_word(memory, state + p->offsets.thread_native_id) == own_tid;
}

static uint64_t late_innermost(const struct process_memory *memory, const struct python_process *p,
                               uint64_t state)
{
        uint64_t frame = late_word(memory, state + p->offsets.thread_frame);

        return frame != 0 && p->offsets.link_frame != PYTHON_NO_OFFSET
                       ? late_word(memory, frame + p->offsets.link_frame)
                       : frame;
}

/* A thread may have a state in each of several interpreters. */
static bool has_several_late(const struct process_memory *memory, const struct python_process *p)
{
        uint64_t interpreter = late_word(memory, p->interpreters_avma);

        return interpreter != 0 && late_word(memory, interpreter + p->offsets.interpreter_next) != 0;
}

/* As in python_frames.bpf.c. */
struct late_search {
        uint64_t interpreter, state; /* addresses: of the next state */
        uint64_t idle, skip;
        unsigned n_steps;
};

static void late_search_begin(const struct process_memory *memory, const struct python_process *p,
                              uint64_t skip, struct late_search *s)
{
        *s = (struct late_search){ .interpreter = late_word(memory, p->interpreters_avma), .skip = skip };
        if (s->interpreter != 0)
                s->state = late_word(memory, s->interpreter + p->offsets.interpreter_threads);
}

/*
 * Finds a thread's next state in the lists of all interpreters, the latest interpreter first; 0 = no more.
 */
static uint64_t late_search_next(struct python_late *l, const struct process_memory *memory,
                                 const struct python_process *p, uint32_t own_tid, struct late_search *s)
{
        for (; s->interpreter != 0 && s->n_steps < PYTHON_THREADS_MAX; s->n_steps++) {
                uint64_t state = s->state;

                l->n_steps++;

                if (state == 0) {
                        s->interpreter = late_word(memory, s->interpreter + p->offsets.interpreter_next);
                        if (s->interpreter != 0)
                                s->state = late_word(memory, s->interpreter + p->offsets.interpreter_threads);
                        continue;
                }
                s->state = late_word(memory, state + p->offsets.thread_next);
                if (state == s->skip || !is_own_state(memory, p, state, own_tid))
                        continue;
                if (late_innermost(memory, p, state) != 0)
                        return state;
                s->idle = s->idle != 0 ? s->idle : state;
        }
        return 0;
}

/*
 * Limits the search: a program may have lists without an end, and threads that are found only after many
 * steps.
 */
static bool may_search_threads(struct python_late *l, uint64_t now_ns)
{
        if (now_ns - l->steps_start_ns >= PYTHON_RETRY_NS) {
                l->steps_start_ns = now_ns;
                l->n_steps = 0;
        }
        return l->n_steps < PACE_PYTHON_STEPS;
}

static uint64_t find_late_state(struct python_late *l, const struct process_memory *memory,
                                const struct python_process *p, uint32_t own_tid)
{
        struct late_search search;
        uint64_t state;

        late_search_begin(memory, p, 0, &search);
        state = late_search_next(l, memory, p, own_tid, &search);
        return state != 0 ? state : search.idle;
}

static uint64_t late_state_of(struct python_late *l, const struct process_memory *memory,
                              const struct python_process *p, uint32_t tid, uint64_t now_ns)
{
        bool has_several = has_several_late(memory, p);
        struct late_thread *known = &l->known[tid & (PYTHON_LATE_KNOWN_THREADS - 1)];
        bool is_near = p->namespace_device == l->namespace_device && p->namespace_inode == l->namespace_inode;

        if (known->pid != p->pid || known->tid != tid)
                *known = (struct late_thread){ .pid = p->pid,
                                               .tid = tid,
                                               .own_tid = is_near ? tid : read_own_tid(p->pid, tid),
                                               .first_ns = now_ns };
        else if (known->state_avma == 0 && !python_looks_again(known->first_ns, known->looked_ns, now_ns))
                return 0;
        if ((!has_several || !may_search_threads(l, now_ns)) &&
            is_own_state(memory, p, known->state_avma, known->own_tid))
                return known->state_avma;
        if (!may_search_threads(l, now_ns))
                return 0;
        if (known->state_avma != 0)
                known->first_ns = now_ns;
        known->looked_ns = now_ns;
        known->state_avma = find_late_state(l, memory, p, known->own_tid);
        return known->state_avma;
}

void python_late_forget(struct python_late *l, uint32_t pid)
{
        for (size_t i = 0; l && i < PYTHON_LATE_KNOWN_THREADS; i++)
                if (l->known[i].pid == pid)
                        l->known[i].pid = 0;
        for (size_t i = 0; l && i < PYTHON_LATE_CODE_SLOTS; i++)
                for (size_t j = 0; j < PYTHON_LATE_CODE_WAYS; j++)
                        if (l->codes[i][j].pid == pid)
                                l->codes[i][j].pid = 0;
}

/* ---- frames -------------------------------------------------------------------------------------------- */

/*
 * Returns the bytes of a frame, whose callers lie below it, mostly in the same page.  NULL = they cannot be
 * read.
 */
const uint8_t *python_late_frame_at(struct python_late *l, const struct process_memory *memory, uint64_t avma)
{
        uint64_t start_avma = avma & ~(PYTHON_LATE_PAGE_BYTES - 1);
        size_t wanted = (size_t)(avma - start_avma) + PYTHON_FRAME_BYTES;

        if (l->raw && avma >= l->raw_avma && avma - l->raw_avma < l->raw->copy_bytes &&
            l->raw->copy_bytes - (avma - l->raw_avma) >= PYTHON_FRAME_BYTES)
                return l->raw->copy + (avma - l->raw_avma);
        if (avma < l->window_avma || avma - l->window_avma > l->window_bytes ||
            l->window_bytes - (avma - l->window_avma) < PYTHON_FRAME_BYTES) {
                if (l->n_windows == 0)
                        return NULL;
                l->n_windows--;
                l->window_avma = start_avma;
                l->window_bytes = process_memory_read_all(memory, start_avma, l->window, wanted) ? wanted : 0;
        }
        return l->window_bytes == 0 ? NULL : l->window + (avma - l->window_avma);
}

static uint64_t member(const uint8_t *frame, uint16_t offset)
{
        uint64_t word;

        memcpy(&word, frame + offset, sizeof(word));
        return word;
}

/* As instruction_at() of python_frames.bpf.c. */
static uint64_t late_instruction(const struct process_memory *memory, const struct python_process *p,
                                 const uint8_t *bytes, uint64_t code)
{
        uint64_t instruction = member(bytes, p->offsets.frame_instruction), copies, start;
        uint32_t copy;

        if (p->offsets.frame_copy == PYTHON_NO_OFFSET || p->offsets.code_copies == PYTHON_NO_OFFSET)
                return instruction;
        memcpy(&copy, bytes + p->offsets.frame_copy, sizeof(copy));
        if (copy == 0 || copy >= PYTHON_COPIES_MAX)
                return instruction;
        copies = late_word(memory, code + p->offsets.code_copies);
        start = copies != 0 ? late_word(memory, copies + python_copy_off(copy)) : 0;
        return start != 0 ? code + p->offsets.code_instructions + (instruction - start) : instruction;
}

static void put_late_frame(const struct process_memory *memory, const struct python_process *p,
                           const uint8_t *bytes, uint64_t avma, struct python_late_sample *to)
{
        uint32_t n = to->sample.n_frames + to->sample.n_left_out, at = python_frame_place(n);
        struct python_raw_frame *frame = &to->sample.frames[at];

        if (n < PYTHON_FRAMES_MAX) {
                to->sample.n_frames++;
        } else {
                to->sample.n_left_out++;
                to->sample.n_left_out_entries += (frame->code & PYTHON_CODE_ENTRY) != 0;
        }
        frame->code = python_code_of(member(bytes, p->offsets.frame_code));
        frame->instruction = late_instruction(memory, p, bytes, frame->code);
        frame->identity = 0;
        if (p->offsets.frame_is_entry != PYTHON_NO_OFFSET && bytes[p->offsets.frame_is_entry] != 0)
                frame->code |= PYTHON_CODE_ENTRY;
        if (bytes[p->offsets.frame_owner] == OWNER_GENERATOR)
                frame->code |= PYTHON_CODE_GENERATOR;
        to->frame_avma[at] = avma;
}

/* Notes that C called the frame that was put last. */
static void note_late_entry(struct python_late_sample *to)
{
        uint32_t n = to->sample.n_frames + to->sample.n_left_out;

        if (n > 0)
                to->sample.frames[python_frame_place(n - 1)].code |= PYTHON_CODE_ENTRY;
}

/* Sorts the outermost frames, whose places were used in turn. */
void python_late_sort(struct python_late_sample *to)
{
        struct python_late_sample was;

        if (to->sample.n_left_out == 0)
                return;
        was = *to;
        for (uint32_t i = PYTHON_INNER_FRAMES; i < to->sample.n_frames; i++) {
                uint32_t place = python_frame_place(i + to->sample.n_left_out);

                to->sample.frames[i] = was.sample.frames[place];
                to->frame_avma[i] = was.frame_avma[place];
        }
}

void python_late_walk(struct python_late *l, const struct process_memory *memory,
                      const struct python_process *p, uint64_t at, struct python_late_sample *to)
{
        const uint8_t *bytes;

        for (; at != 0 && l->n_frame_steps > 0; l->n_frame_steps--) {
                bytes = python_late_frame_at(l, memory, at);
                if (!bytes)
                        break;
                if (bytes[p->offsets.frame_owner] < p->owner_entry)
                        put_late_frame(memory, p, bytes, at, to);
                else
                        note_late_entry(to);
                at = member(bytes, p->offsets.frame_previous);
        }
        if (at != 0)
                to->sample.flags |= PYTHON_FLAG_CUT;
}

/* Walks the frames of the interpreters that called the interpreter of @state. */
static void walk_late_callers(struct python_late *l, const struct process_memory *memory,
                              const struct python_process *p, uint64_t state, struct python_late_sample *to)
{
        uint32_t own_tid = (uint32_t)late_word(memory, state + p->offsets.thread_native_id);
        struct late_search search;
        uint64_t caller;

        late_search_begin(memory, p, state, &search);
        for (unsigned i = 0; i < PYTHON_NESTED_MAX; i++) {
                caller = late_search_next(l, memory, p, own_tid, &search);
                if (caller == 0)
                        return;
                note_late_entry(to);
                l->n_frame_steps = PYTHON_STEPS_MAX;
                python_late_walk(l, memory, p, late_innermost(memory, p, caller), to);
        }
}

/*
 * Reads all pieces.  The kernel stops at the first piece that is not there, which is then skipped, as often
 * as CALLS_MAX allows.
 */
void python_late_gather(struct late_gather *g, uint32_t pid, uint32_t n)
{
        size_t at = 0;
        uint32_t i = 0;

        for (unsigned n_calls = 0; i < n && n_calls < CALLS_MAX; n_calls++) {
                struct iovec here = { .iov_base = g->bytes + at, .iov_len = sizeof(g->bytes) - at };
                ssize_t r = process_vm_readv((pid_t)pid, &here, 1, g->there + i, n - i, 0);
                size_t n_left = r > 0 ? (size_t)r : 0;

                for (; i < n && g->there[i].iov_len <= n_left; i++) {
                        n_left -= g->there[i].iov_len;
                        at += g->there[i].iov_len;
                }
                if (i < n) {
                        at += g->there[i].iov_len;
                        g->there[i++].iov_base = NULL;
                }
        }
        for (; i < n; i++)
                g->there[i].iov_base = NULL;
}

/* Returns 0 if these words were not read, or if earlier ones were not. */
static uint64_t add_identity_words(uint64_t identity, const struct iovec *piece, const __u64 *words,
                                   uint32_t n_words)
{
        return identity != 0 && piece->iov_base ? python_identity_add(identity, words, n_words) : 0;
}

/*
 * Makes the identities from the words of the code objects.  @ret_files: addresses of the paths that are
 * needed; or 0
 */
static void read_code_words(struct python_late *l, const struct python_process *p,
                            struct python_sample *sample, uint64_t *ret_files)
{
        const uint64_t off = python_identity_off(&p->objects);
        const size_t file = (p->objects.code_file - off) / sizeof(uint64_t);
        struct late_gather *g = &l->gather;
        __u64 words[PYTHON_CODE_WORDS];

        for (uint32_t i = 0; i < sample->n_frames; i++)
                g->there[i] = python_late_piece(python_code_of(sample->frames[i].code) + off, sizeof(words));
        python_late_gather(g, p->pid, sample->n_frames);
        for (uint32_t i = 0; i < sample->n_frames; i++) {
                memcpy(words, g->bytes + i * sizeof(words), sizeof(words));
                ret_files[i] = python_needs_path(&p->objects, &words[0]) && file < PYTHON_CODE_WORDS
                                       ? words[file]
                                       : 0;
                sample->frames[i].identity = g->there[i].iov_base
                                                     ? python_identity_add(0, words, PYTHON_CODE_WORDS)
                                                     : 0;
        }
}

/* Adds the paths that are needed to the identities: first their lengths, then their ends. */
static void read_paths(struct python_late *l, const struct python_process *p, struct python_sample *sample,
                       const uint64_t *files)
{
        struct late_gather *g = &l->gather;
        const uint8_t *from = g->bytes;
        struct python_text_head head;
        __u64 path[PYTHON_PATH_WORDS - 1], off = 0, n_bytes;

        for (uint32_t i = 0; i < sample->n_frames; i++)
                g->there[i] = python_late_piece(files[i] + p->objects.text_length,
                                                files[i] ? sizeof(head) : 0);
        python_late_gather(g, p->pid, sample->n_frames);
        for (uint32_t i = 0; i < sample->n_frames; i++) {
                __u64 *identity = &sample->frames[i].identity;

                n_bytes = 0;
                if (files[i] != 0) {
                        memcpy(&head, from, sizeof(head));
                        from += sizeof(head);
                        *identity = add_identity_words(*identity, &g->there[i], &head.length, 1);
                        n_bytes = *identity != 0 ? python_path_end(&p->objects, &head, &off) : 0;
                }
                g->there[i] = python_late_piece(files[i] + off, n_bytes);
        }
        python_late_gather(g, p->pid, sample->n_frames);
        from = g->bytes;
        for (uint32_t i = 0; i < sample->n_frames; from += g->there[i++].iov_len) {
                __u64 *identity = &sample->frames[i].identity;

                if (files[i] == 0)
                        continue;
                memset(path, 0, sizeof(path));
                memcpy(path, from, g->there[i].iov_len);
                *identity = add_identity_words(*identity, &g->there[i], path, PYTHON_PATH_WORDS - 1);
        }
}

void python_late_identify(struct python_late *l, const struct python_process *p, struct python_sample *sample)
{
        uint64_t files[PYTHON_FRAMES_MAX];

        read_code_words(l, p, sample, files);
        if (!p->objects.code_is_numbered)
                read_paths(l, p, sample, files);
        for (uint32_t i = 0; i < sample->n_frames; i++)
                if (sample->frames[i].identity != 0)
                        sample->frames[i].identity = python_identity_end(sample->frames[i].identity);
}

int python_late_read(struct python_late *l, const struct python_process *process, uint32_t tid,
                     uint64_t now_ns, struct python_late_sample *ret_sample)
{
        const struct process_memory memory = process_memory_of(process->pid);
        uint64_t state = late_state_of(l, &memory, process, tid, now_ns);

        ret_sample->sample.n_frames = 0;
        ret_sample->sample.flags = 0;
        ret_sample->sample.n_left_out = ret_sample->sample.n_left_out_entries = 0;
        if (state == 0)
                return 0;
        l->window_bytes = 0;
        l->n_windows = PYTHON_LATE_WINDOWS_MAX;
        l->n_frame_steps = PYTHON_STEPS_MAX;
        python_late_walk(l, &memory, process, late_innermost(&memory, process, state), ret_sample);
        if (has_several_late(&memory, process) && may_search_threads(l, now_ns))
                walk_late_callers(l, &memory, process, state, ret_sample);
        python_late_sort(ret_sample);
        python_late_identify(l, process, &ret_sample->sample);
        return ret_sample->sample.n_frames > 0;
}
