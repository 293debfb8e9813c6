/* SPDX-License-Identifier: MIT */
#include "sampler/python/python_late.h"

#include "sampler/kernel/process_memory.h"
#include "sampler/kernel/raw_stack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>

#define PAGE_BYTES    UINT64_C(4096)
#define WINDOWS_MAX   32   /* of a stack; frames of a chunk lie together */
#define KNOWN_THREADS 1024 /* a power of two */
#define CALLS_MAX     4    /* to read the identities of a stack */

/* Where a thread's state was found last; it is checked each time. */
struct late_thread {
        uint32_t pid, tid, own_tid;   /* own_tid: in its PID namespace */
        uint64_t state_avma;          /* 0 = it has none */
        uint64_t first_ns, looked_ns; /* without a state: it was looked for since then, and last */
};

/* Reads of a stack's objects, one after the other. */
struct late_gather {
        struct iovec there[PYTHON_FRAMES_MAX]; /* address 0 = it was not read */
        uint8_t bytes[sizeof(uint64_t) * PYTHON_CODE_WORDS * PYTHON_FRAMES_MAX];
};

struct python_late {
        struct late_thread known[KNOWN_THREADS];
        dev_t namespace_device; /* of our own PID namespace */
        ino_t namespace_inode;
        uint64_t steps_start_ns;
        unsigned n_steps;     /* of searches since then */
        uint64_t window_avma; /* of what `window` has */
        size_t window_bytes;
        uint32_t n_windows; /* of the walk that is under way */
        uint8_t window[PAGE_BYTES + PYTHON_FRAME_BYTES];
        struct late_gather gather; /* scratch */
};

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

/* The last number of its line NSpid: that of the innermost namespace. */
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

/* A thread may have a state in each of them. */
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

/* Through the threads of all interpreters, those of the one that was made last first; 0 = no more. */
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

/* A program may have lists without an end, and threads that are found after many steps. */
static bool may_search_threads(struct python_late *l, uint64_t now_ns)
{
        if (now_ns - l->steps_start_ns >= PYTHON_RETRY_NS) {
                l->steps_start_ns = now_ns;
                l->n_steps = 0;
        }
        return l->n_steps < PYTHON_LATE_STEPS;
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
        struct late_thread *known = &l->known[tid & (KNOWN_THREADS - 1)];
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
        for (size_t i = 0; l && i < KNOWN_THREADS; i++)
                if (l->known[i].pid == pid)
                        l->known[i].pid = 0;
}

/* ---- frames -------------------------------------------------------------------------------------------- */

/* A frame's bytes: callers lie below it, mostly in the same page.  NULL = they cannot be read. */
static const uint8_t *late_frame_at(struct python_late *l, const struct process_memory *memory, uint64_t avma)
{
        uint64_t start_avma = avma & ~(PAGE_BYTES - 1);
        size_t wanted = (size_t)(avma - start_avma) + PYTHON_FRAME_BYTES;

        if (avma < l->window_avma || avma - l->window_avma > l->window_bytes ||
            l->window_bytes - (avma - l->window_avma) < PYTHON_FRAME_BYTES) {
                if (l->n_windows++ == WINDOWS_MAX)
                        return NULL;
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
        struct python_raw_frame *frame = &to->sample.frames[to->sample.n_frames];

        frame->code = member(bytes, p->offsets.frame_code) & ~UINT64_C(7);
        frame->instruction = late_instruction(memory, p, bytes, frame->code);
        frame->identity = 0;
        if (p->offsets.frame_is_entry != PYTHON_NO_OFFSET && bytes[p->offsets.frame_is_entry] != 0)
                frame->code |= 1;
        to->frame_avma[to->sample.n_frames++] = avma;
}

static void walk_late_frames(struct python_late *l, const struct process_memory *memory,
                             const struct python_process *p, uint64_t at, struct python_late_sample *to)
{
        const uint8_t *bytes;

        for (unsigned i = 0; at != 0 && i < PYTHON_FRAMES_MAX + PYTHON_ENTRIES_MAX; i++) {
                bytes = to->sample.n_frames < PYTHON_FRAMES_MAX ? late_frame_at(l, memory, at) : NULL;
                if (!bytes)
                        break;
                if (bytes[p->offsets.frame_owner] < p->owner_entry)
                        put_late_frame(memory, p, bytes, at, to);
                else if (to->sample.n_frames > 0)
                        to->sample.frames[to->sample.n_frames - 1].code |= 1;
                at = member(bytes, p->offsets.frame_previous);
        }
        if (at != 0)
                to->sample.flags |= PYTHON_FLAG_CUT;
}

/* The frames of the interpreters that called the one of @state. */
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
                if (to->sample.n_frames > 0)
                        to->sample.frames[to->sample.n_frames - 1].code |= 1;
                walk_late_frames(l, memory, p, late_innermost(memory, p, caller), to);
        }
}

static struct iovec late_piece(uint64_t avma, size_t n_bytes)
{
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): an address elsewhere is a number */
        return (struct iovec){ .iov_base = (void *)(uintptr_t)avma, .iov_len = n_bytes };
}

/* The kernel stops at the first one that is not there: it is passed over, as often as CALLS_MAX allows. */
static void gather_pieces(struct late_gather *g, uint32_t pid, uint32_t n)
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

/* Returns 0 if they were not read, or those before. */
static uint64_t add_identity_words(uint64_t identity, const struct iovec *piece, const __u64 *words,
                                   uint32_t n_words)
{
        return identity != 0 && piece->iov_base ? python_identity_add(identity, words, n_words) : 0;
}

/* From their code objects' words.  @ret_files: addresses of the paths that are needed; or 0 */
static void read_code_words(struct python_late *l, const struct python_process *p,
                            struct python_sample *sample, uint64_t *ret_files)
{
        const uint64_t off = python_identity_off(&p->objects);
        const size_t file = (p->objects.code_file - off) / sizeof(uint64_t);
        struct late_gather *g = &l->gather;
        __u64 words[PYTHON_CODE_WORDS];

        for (uint32_t i = 0; i < sample->n_frames; i++)
                g->there[i] = late_piece((sample->frames[i].code & ~UINT64_C(1)) + off, sizeof(words));
        gather_pieces(g, p->pid, sample->n_frames);
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

/* From the paths that are needed as well: first their lengths, then their ends. */
static void read_paths(struct python_late *l, const struct python_process *p, struct python_sample *sample,
                       const uint64_t *files)
{
        struct late_gather *g = &l->gather;
        const uint8_t *from = g->bytes;
        struct python_text_head head;
        __u64 path[PYTHON_PATH_WORDS - 1], off = 0, n_bytes;

        for (uint32_t i = 0; i < sample->n_frames; i++)
                g->there[i] = late_piece(files[i] + p->objects.text_length, files[i] ? sizeof(head) : 0);
        gather_pieces(g, p->pid, sample->n_frames);
        for (uint32_t i = 0; i < sample->n_frames; i++) {
                __u64 *identity = &sample->frames[i].identity;

                n_bytes = 0;
                if (files[i] != 0) {
                        memcpy(&head, from, sizeof(head));
                        from += sizeof(head);
                        *identity = add_identity_words(*identity, &g->there[i], &head.length, 1);
                        n_bytes = *identity != 0 ? python_path_end(&p->objects, &head, &off) : 0;
                }
                g->there[i] = late_piece(files[i] + off, n_bytes);
        }
        gather_pieces(g, p->pid, sample->n_frames);
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

static void read_identities(struct python_late *l, const struct python_process *p,
                            struct python_sample *sample)
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
        if (state == 0)
                return 0;
        l->window_bytes = 0;
        l->n_windows = 0;
        walk_late_frames(l, &memory, process, late_innermost(&memory, process, state), ret_sample);
        if (has_several_late(&memory, process) && may_search_threads(l, now_ns))
                walk_late_callers(l, &memory, process, state, ret_sample);
        read_identities(l, process, &ret_sample->sample);
        return ret_sample->sample.n_frames > 0;
}

/* ---- does it fit --------------------------------------------------------------------------------------- */

static bool has_word(const uint8_t *bytes, size_t n_bytes, uint64_t word)
{
        uint64_t found;

        for (size_t i = 0; i + sizeof(found) <= n_bytes; i += sizeof(found)) {
                memcpy(&found, bytes + i, sizeof(found));
                if (found == word)
                        return true;
        }
        return false;
}

bool python_late_fits(const struct python_late_sample *late, const struct raw_stack *raw)
{
        bool is_first = true, has_ended = false;

        if (!raw->registers || !raw->copy)
                return false;
        for (uint32_t i = 0; i < late->sample.n_frames; i++) {
                bool is_innermost = i == 0 || (late->sample.frames[i - 1].code & 1) != 0;

                if (!is_innermost)
                        continue;
                if (has_word(raw->copy, raw->copy_bytes, late->frame_avma[i]) ||
                    (is_first && has_word(raw->registers, raw->registers_bytes, late->frame_avma[i]))) {
                        if (has_ended) /* an outer one is there, so one between is missing */
                                return false;
                } else if (is_first || !raw->copy_is_full) {
                        return false;
                } else {
                        has_ended = true;
                }
                is_first = false;
        }
        return true;
}
