/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Runs at each sample, before the kernel writes the sample, and for the stacks of waits when a thread
 * begins to wait or wakes another thread.  If the thread runs Python, its Python frames are put into the
 * ring of the CPU.
 *
 * The frames of an interpreter are a linked list in the program's memory, which is hostile: every address
 * is read with bpf_probe_read_user(), which reads only user memory that is present, and every loop is
 * bounded.
 *
 * A code object is copied at the first sample that contains it, with its name, path and lines.  By the time
 * the recorder could read them, the code object of a module is gone, since a module runs only once.
 */
#include <linux/bpf.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>

#include "sampler/bpf/python_memory.h"
#include "sampler/bpf/python_record.h"
#include "sampler/bpf/switch_layout.h"
#include "sampler/bpf/switch_machine.h"

/* Not really volatile: the loader writes it. */
const volatile struct python_settings settings = { .ring_bytes = 4096 };

/* One ring for each CPU; the loader sets the sizes. */
struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(map_flags, BPF_F_MMAPABLE);
        __uint(max_entries, 1);
        __uint(key_size, sizeof(__u32));
        __uint(value_size, SWITCH_RING_HEAD_BYTES);
} rings SEC(".maps");

/* The recorder writes this through a mapping, because it has dropped its rights by then. */
struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(map_flags, BPF_F_MMAPABLE);
        __uint(max_entries, 1);
        __type(key, __u32);
        __type(value, struct python_processes);
} processes SEC(".maps");

/* The place where a thread's state was found last; each use checks it. */
struct known_thread {
        __u64 state_avma;          /* 0 = it has none */
        __u64 first_ns, looked_ns; /* without a state: times of the first and last search */
};

struct {
        __uint(type, BPF_MAP_TYPE_LRU_HASH);
        __uint(max_entries, PYTHON_KNOWN_THREADS);
        __type(key, __u32);
        __type(value, struct known_thread);
} threads SEC(".maps");

/* Since when a thread has been waiting.  Threads that share a slot overwrite each other's entry. */
struct waiting_thread {
        __u64 out_ns; /* 0 = the thread is not waiting */
        __u32 tid, unused;
};

struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(max_entries, PYTHON_WAIT_SLOTS);
        __type(key, __u32);
        __type(value, struct waiting_thread);
} waiting SEC(".maps");

/*
 * The bytes of a frame, in memory that may be read at a variable offset, and the words that identify its
 * code object.
 */
struct frame_bytes {
        __u8 bytes[128];
        __u64 code[PYTHON_CODE_WORDS], path[PYTHON_PATH_WORDS];
        __u64 is_busy; /* an NMI may take a sample while a switch is handled */
};

struct {
        __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
        __uint(max_entries, 1);
        __type(key, __u32);
        __type(value, struct frame_bytes);
} scratch SEC(".maps");

/* The code objects of one slot that were copied last, the newest first, each as its value of seen_as(). */
struct seen_slot {
        __u64 ways[PYTHON_SEEN_WAYS];
};

struct {
        __uint(type, BPF_MAP_TYPE_ARRAY);
        __uint(max_entries, PYTHON_SEEN_SLOTS);
        __type(key, __u32);
        __type(value, struct seen_slot);
} seen SEC(".maps");

char license_name[] SEC("license") = "Dual MIT/GPL";

/*
 * The verifier checks a function that is not static once, not on each path that leads to it: the code after
 * a search is checked for one slot, not for each slot in which the search may end.  On most machines
 * nothing runs Python, and verifying this program took half of the time to start a recording.
 */
__attribute__((noinline)) int slot_of_process(__u32 pid)
{
        __u32 key = 0;
        const struct python_processes *all = bpf_map_lookup_elem(&processes, &key);

        return all ? python_find_slot(all, pid) : -1;
}

/* The slot is looked up last: kernels up to 6.12 refuse to add it to a pointer that may still be NULL. */
static __always_inline const struct python_process *find_process(__u32 pid)
{
        __u32 key = 0;
        const struct python_processes *all = bpf_map_lookup_elem(&processes, &key);
        int slot;

        if (!all)
                return NULL;
        slot = slot_of_process(pid);
        return slot >= 0 ? &all->slots[slot & (PYTHON_SLOTS - 1)] : NULL;
}

/* A quick test for every switch and wake-up, since on most machines nothing runs Python. */
static __always_inline bool is_any_known(void)
{
        __u32 key = 0;
        const struct python_processes *all = bpf_map_lookup_elem(&processes, &key);

        return all && all->n_entered != 0;
}

static __always_inline bool is_of_thread(const struct python_process *p, __u64 state, __u32 own_tid)
{
        return state != 0 && (__u32)python_read_word(state + p->offsets.thread_native_id) == own_tid;
}

static __always_inline __u64 innermost_frame(const struct python_process *p, __u64 state)
{
        __u64 frame = python_read_word(state + p->offsets.thread_frame);

        return frame != 0 && p->offsets.link_frame != PYTHON_NO_OFFSET
                       ? python_read_word(frame + p->offsets.link_frame)
                       : frame;
}

/* A thread may have a state in each interpreter. */
static __always_inline bool has_several_interpreters(const struct python_process *p)
{
        __u64 interpreter = python_read_word(p->interpreters_avma);

        return interpreter != 0 && python_read_word(interpreter + p->offsets.interpreter_next) != 0;
}

/* The position of search_state(), as numbers only, so that the verifier checks a step only once. */
struct search {
        __u64 interpreter, state; /* addresses: of the next state */
        __u64 found, idle;        /* the thread's state that has a frame; its first state without one; or 0 */
        __u64 skip;               /* a state that is not wanted; or 0 */
        __u32 pid, own_tid;
};

/*
 * Checks one thread state and goes to the next, of this interpreter or of the next one.  Ends after a
 * wanted state, or after the last one.
 */
static long search_step(__u32 step, struct search *at)
{
        const struct python_process *p = find_process(at->pid);

        (void)step;
        if (!p || at->interpreter == 0)
                return 1;
        if (at->state != at->skip && is_of_thread(p, at->state, at->own_tid)) {
                if (innermost_frame(p, at->state) != 0)
                        at->found = at->state;
                else if (at->idle == 0)
                        at->idle = at->state;
        }
        if (at->state != 0) {
                at->state = python_read_word(at->state + p->offsets.thread_next);
                return at->found != 0;
        }
        at->interpreter = python_read_word(at->interpreter + p->offsets.interpreter_next);
        if (at->interpreter != 0)
                at->state = python_read_word(at->interpreter + p->offsets.interpreter_threads);
        return 0;
}

static __always_inline void begin_search(const struct python_process *p, __u64 skip, struct search *at)
{
        at->interpreter = python_read_word(p->interpreters_avma);
        at->state = at->interpreter != 0 ? python_read_word(at->interpreter + p->offsets.interpreter_threads)
                                         : 0;
        at->found = at->idle = 0;
        at->skip = skip;
}

/* Searches the threads of all interpreters, beginning with the interpreter that was created last. */
__attribute__((noinline)) __u64 search_state(struct search *search)
{
        struct search at;

        if (!search)
                return 0;
        at = *search; /* bpf_loop() accepts only a context on the stack */
        at.found = 0;
        (void)bpf_loop(PYTHON_THREADS_MAX, search_step, &at, 0);
        *search = at;
        return at.found;
}

/*
 * The state of the thread that runs here; 0 = it is not a Python thread.  In a process with several
 * interpreters, a thread has a state in each interpreter that it ran: the state with a frame is wanted.
 */
static __always_inline __u64 find_python_state(const struct python_process *p, __u32 tid, __u64 now_ns,
                                               bool has_several, struct search *at)
{
        struct bpf_pidns_info own = { .pid = 0 };
        struct known_thread known = { .first_ns = now_ns, .looked_ns = now_ns };
        const struct known_thread *last;

        if (bpf_get_ns_current_pid_tgid(p->namespace_device, p->namespace_inode, &own, sizeof(own)) < 0)
                return 0;
        at->own_tid = own.pid;
        if (p->current_avma != 0) {
                known.state_avma = python_read_word(p->current_avma);
                if (is_of_thread(p, known.state_avma, own.pid))
                        return known.state_avma;
        }
        last = bpf_map_lookup_elem(&threads, &tid);
        if (last && (last->state_avma == 0 ? !python_looks_again(last->first_ns, last->looked_ns, now_ns)
                                           : !has_several && is_of_thread(p, last->state_avma, own.pid)))
                return last->state_avma;
        if (last && last->state_avma == 0)
                known.first_ns = last->first_ns;
        begin_search(p, 0, at);
        if (at->interpreter == 0) /* no interpreter yet: the program was mapped just now */
                return 0;
        known.state_avma = search_state(at);
        if (known.state_avma == 0)
                known.state_avma = at->idle;
        (void)bpf_map_update_elem(&threads, &tid, &known, BPF_ANY);
        return known.state_avma;
}

static __always_inline __u64 word_at(const struct frame_bytes *frame, __u16 offset)
{
        return *(const __u64 *)(frame->bytes + (offset & 0x78));
}

static __always_inline __u8 byte_at(const struct frame_bytes *frame, __u16 offset)
{
        return frame->bytes[offset & 0x7f];
}

/* The progress of a stack walk, as numbers only, as above. */
struct walk {
        __u64 at;       /* address of the next frame */
        __u64 position; /* of the record in its ring */
        __u32 pid, n, flags, n_new, n_left_out_entries;
};

/*
 * Positions in a ring are multiples of a word; the masks prove it to the verifier, which refuses misaligned
 * access on RISC-V.
 */
static __always_inline struct python_record *record_at(__u64 position)
{
        __u32 cpu = bpf_get_smp_processor_id();
        char *ring = bpf_map_lookup_elem(&rings, &cpu);

        return ring ? (struct python_record *)(ring + SWITCH_RING_HEAD_BYTES +
                                               (position & (settings.ring_bytes - 1) & ~7ull))
                    : NULL;
}

/*
 * A frame of the record.  The mask is for verifiers that learn little from comparisons, such as Linux
 * 6.1's.
 */
static __always_inline struct python_raw_frame *frame_of(struct python_record *record, __u32 i)
{
        barrier_var(i);
        return &record->frames[i & (PYTHON_FRAMES_MAX - 1)];
}

static __always_inline __u32 half_at(const struct frame_bytes *frame, __u16 offset)
{
        return *(const __u32 *)(frame->bytes + (offset & 0x7c));
}

/*
 * Translates a frame's place in a thread's own copy of the instructions to the place in the code object:
 * threads that run without a lock have such copies.
 */
static __always_inline __u64 instruction_at(const struct python_process *p, const struct frame_bytes *bytes,
                                            __u64 code)
{
        __u64 instruction = word_at(bytes, p->offsets.frame_instruction), copies, start;
        __u32 copy;

        if (p->offsets.frame_copy == PYTHON_NO_OFFSET || p->offsets.code_copies == PYTHON_NO_OFFSET)
                return instruction;
        copy = half_at(bytes, p->offsets.frame_copy);
        if (copy == 0 || copy >= PYTHON_COPIES_MAX)
                return instruction;
        copies = python_read_word(code + p->offsets.code_copies);
        start = copies != 0 ? python_read_word(copies + python_copy_off(copy)) : 0;
        return start != 0 ? code + p->offsets.code_instructions + (instruction - start) : instruction;
}

/* A value that differs between code objects, and between programs that have one at the same address. */
static __always_inline __u64 seen_as(const struct python_process *p, const struct python_raw_frame *frame)
{
        return (frame->identity * 31 + python_code_of(frame->code)) * 31 + p->serial;
}

static __always_inline struct seen_slot *find_seen(const struct python_process *p,
                                                   const struct python_raw_frame *frame)
{
        __u32 slot = python_seen_slot(frame->code, p->serial);

        return bpf_map_lookup_elem(&seen, &slot);
}

static __always_inline bool is_new(const struct python_process *p, const struct python_raw_frame *frame)
{
        const struct seen_slot *slot = find_seen(p, frame);
        __u64 as = seen_as(p, frame);

        return slot && frame->identity != 0 && slot->ways[0] != as && slot->ways[1] != as;
}

/* Reads the path of a code object whose words are already read. */
static __always_inline bool read_path(const struct python_process *p, struct frame_bytes *bytes)
{
        __u64 file = (p->objects.code_file - python_identity_off(&p->objects)) / sizeof(__u64);
        __u64 *path = bytes->path, text, off, n_bytes;
        struct python_text_head head;

        if (file >= PYTHON_CODE_WORDS)
                return false;
        text = bytes->code[file];
        if (bpf_probe_read_user(&head, sizeof(head), (const void *)(text + p->objects.text_length)) < 0)
                return false;
        path[0] = head.length;
        for (__u32 i = 1; i < PYTHON_PATH_WORDS; i++)
                path[i] = 0;
        n_bytes = python_path_end(&p->objects, &head, &off);
        if (n_bytes > PYTHON_PATH_BYTES)
                return false;
        return n_bytes == 0 || bpf_probe_read_user(path + 1, n_bytes, (const void *)(text + off)) == 0;
}

static __always_inline __u64 identify(const struct python_process *p, struct frame_bytes *bytes, __u64 code)
{
        __u64 avma = code + python_identity_off(&p->objects), identity;
        bool needs_path;

        if (bpf_probe_read_user(bytes->code, sizeof(bytes->code), (const void *)avma) < 0)
                return 0;
        needs_path = python_needs_path(&p->objects, &bytes->code[0]);
        identity = python_identity_add(0, bytes->code, PYTHON_CODE_WORDS);
        if (!needs_path)
                return python_identity_end(identity);
        return read_path(p, bytes)
                       ? python_identity_end(python_identity_add(identity, bytes->path, PYTHON_PATH_WORDS))
                       : 0;
}

static __always_inline void put_frame(const struct python_process *p, struct frame_bytes *bytes,
                                      struct python_raw_frame *frame)
{
        frame->code = python_code_of(word_at(bytes, p->offsets.frame_code));
        frame->identity = identify(p, bytes, frame->code);
        frame->instruction = instruction_at(p, bytes, frame->code);
        if (p->offsets.frame_is_entry != PYTHON_NO_OFFSET && byte_at(bytes, p->offsets.frame_is_entry) != 0)
                frame->code |= PYTHON_CODE_ENTRY;
}

/*
 * Notes the address of a frame that may be one of the outermost, which is known only at the end of the
 * walk.  Reading all of these frames would take too long, so only their addresses are kept, in places that
 * are used in turn.
 */
static __always_inline void put_outer_address(const struct python_process *p, const struct frame_bytes *bytes,
                                              struct python_raw_frame *frame, __u64 avma, struct walk *w)
{
        if (w->n >= PYTHON_FRAMES_MAX)
                w->n_left_out_entries += (frame->code & PYTHON_CODE_ENTRY) != 0;
        frame->instruction = avma;
        frame->identity = 0;
        frame->code = p->offsets.frame_is_entry != PYTHON_NO_OFFSET &&
                                      byte_at(bytes, p->offsets.frame_is_entry) != 0
                              ? PYTHON_CODE_ENTRY
                              : 0;
}

static long walk_step(__u32 step, struct walk *w)
{
        __u64 avma = w->at;
        __u32 key = 0, n = w->n;
        struct frame_bytes *bytes = bpf_map_lookup_elem(&scratch, &key);
        const struct python_process *p = find_process(w->pid);
        struct python_record *record = record_at(w->position);

        (void)step;
        if (!bytes || !p || !record || avma == 0)
                return 1;
        if (bpf_probe_read_user(bytes->bytes, PYTHON_FRAME_BYTES, (const void *)avma) < 0) {
                w->flags |= PYTHON_FLAG_CUT;
                return 1;
        }
        w->at = word_at(bytes, p->offsets.frame_previous);
        if (byte_at(bytes, p->offsets.frame_owner) < p->owner_entry) {
                struct python_raw_frame *frame = frame_of(record, python_frame_place(n));

                if (n < PYTHON_INNER_FRAMES) {
                        put_frame(p, bytes, frame);
                        w->n_new += is_new(p, frame);
                } else {
                        put_outer_address(p, bytes, frame, avma, w);
                }
                w->n++;
        } else if (n > 0) {
                frame_of(record, python_frame_place(n - 1))->code |= PYTHON_CODE_ENTRY;
        }
        return 0;
}

/* Reads one of the outermost frames, whose address was kept during the walk. */
static long read_outer_step(__u32 i, struct walk *w)
{
        __u32 key = 0, n = PYTHON_INNER_FRAMES + i;
        struct frame_bytes *bytes = bpf_map_lookup_elem(&scratch, &key);
        const struct python_process *p = find_process(w->pid);
        struct python_record *record = record_at(w->position);
        struct python_raw_frame *frame;
        __u64 entry;

        if (!bytes || !p || !record || n >= w->n)
                return 1;
        frame = frame_of(record, n);
        entry = frame->code & PYTHON_CODE_ENTRY;
        if (bpf_probe_read_user(bytes->bytes, PYTHON_FRAME_BYTES, (const void *)frame->instruction) < 0) {
                frame->instruction = 0;
                return 0;
        }
        put_frame(p, bytes, frame);
        w->n_new += is_new(p, frame);
        frame->code |= entry;
        return 0;
}

static __always_inline __u64 gil_flag_of(const struct python_process *p, __u64 state)
{
        __u64 gil = python_find_gil(p);

        if (gil == 0)
                return 0;
        return python_read_holder(p, gil) == state ? PYTHON_FLAG_HAS_GIL : PYTHON_FLAG_NO_GIL;
}

__attribute__((noinline)) int walk_state(__u64 state, struct walk *walk)
{
        const struct python_process *p;
        struct walk w;

        if (!walk || !(p = find_process(walk->pid)))
                return 0;
        w = *walk; /* as in search_state() */
        w.at = innermost_frame(p, state);
        (void)bpf_loop(PYTHON_STEPS_MAX, walk_step, &w, 0);
        if (w.at != 0)
                w.flags |= PYTHON_FLAG_CUT;
        *walk = w;
        return 0;
}

/* Walks the frames of the interpreters that called this one. */
static __always_inline void walk_callers(const struct python_process *p, __u64 state, struct search *at,
                                         struct walk *w)
{
        begin_search(p, state, at);
        for (__u32 i = 0; i < PYTHON_NESTED_MAX; i++) {
                struct python_record *record = record_at(w->position);
                __u32 n = w->n;
                __u64 caller = search_state(at);

                if (caller == 0 || !record)
                        return;
                if (n > 0)
                        frame_of(record, python_frame_place(n - 1))->code |= PYTHON_CODE_ENTRY;
                (void)walk_state(caller, w);
        }
}

__attribute__((noinline)) int read_outer(struct walk *walk)
{
        struct walk w;

        if (!walk)
                return 0;
        w = *walk; /* as in search_state() */
        (void)bpf_loop(PYTHON_OUTER_FRAMES, read_outer_step, &w, 0);
        *walk = w;
        return 0;
}

static __always_inline __u32 count_kept(const struct walk *w)
{
        return w->n < PYTHON_FRAMES_MAX ? w->n : PYTHON_FRAMES_MAX;
}

/* ---- copies of code objects ---------------------------------------------------------------------------- */

/* The progress of a record with copies, as numbers only, as above. */
struct copying {
        __u64 position;            /* of the record in its ring */
        __u64 n_bytes, room_bytes; /* of the record: so far, at most */
        __u32 pid, n_frames;
};

/* Returns 0, 1 if there is no room, -1 if it cannot be read. */
__attribute__((noinline)) int copy_piece(struct copying *copying, __u64 avma, __u64 n_bytes)
{
        const __u64 longest = sizeof(struct python_piece) + PYTHON_LINES_BYTES;
        char *record = copying ? (char *)record_at(copying->position) : NULL;
        struct python_piece *piece;
        __u64 at;

        if (!record || n_bytes == 0)
                return -1;
        barrier_var(n_bytes); /* Linux 6.12's verifier learns nothing if these comparisons are merged */
        if (n_bytes > PYTHON_LINES_BYTES)
                return -1;
        at = copying->n_bytes;
        if (at > PYTHON_RECORD_BYTES - longest ||
            at + sizeof(*piece) + ((n_bytes + 7) & ~7ULL) > copying->room_bytes)
                return 1;
        piece = (struct python_piece *)(record + (at & ~7ull));
        if (bpf_probe_read_user(piece->bytes, n_bytes, (const void *)avma) < 0)
                return -1;
        piece->avma = avma;
        piece->n_bytes = n_bytes;
        piece->reserved = 0;
        copying->n_bytes = at + sizeof(*piece) + ((n_bytes + 7) & ~7ULL);
        return 0;
}

static __always_inline __u64 count_at_most(__u64 n_bytes, __u64 max)
{
        return n_bytes < max ? n_bytes : max;
}

static __always_inline int copy_text(const struct python_process *p, struct copying *copying, __u64 avma)
{
        __u64 length = python_read_word(avma + p->objects.text_length);
        __u32 kind = python_text_kind((__u32)python_read_word(avma + p->objects.text_state));
        __u64 head = (kind & PYTHON_TEXT_ASCII) != 0 ? p->objects.text_ascii : p->objects.text_wide;

        length = count_at_most(length, PYTHON_TEXT_BYTES) * PYTHON_TEXT_WIDTH(kind);
        return copy_piece(copying, avma, count_at_most(head + length, PYTHON_TEXT_BYTES));
}

static __always_inline int copy_lines(const struct python_process *p, struct copying *copying, __u64 avma)
{
        __u64 length = count_at_most(python_read_word(avma + p->objects.bytes_length), PYTHON_LINES_BYTES);

        return copy_piece(copying, avma, count_at_most(p->objects.bytes_data + length, PYTHON_LINES_BYTES));
}

static __always_inline int copy_code(const struct python_process *p, struct copying *copying, __u64 code)
{
        int r = copy_piece(copying, code, count_at_most(p->objects.code_instructions, PYTHON_CODE_BYTES));

        if (r == 0)
                r = copy_text(p, copying, python_read_word(code + p->objects.code_name));
        if (r == 0)
                r = copy_text(p, copying, python_read_word(code + p->objects.code_file));
        return r == 0 ? copy_lines(p, copying, python_read_word(code + p->objects.code_lines)) : r;
}

/* Copies a frame's code object.  An unreadable one is not tried again: the recorder reads it. */
static long copy_step(__u32 i, struct copying *copying)
{
        const struct python_process *p = find_process(copying->pid);
        struct python_record *record = record_at(copying->position);
        __u64 n_before = copying->n_bytes;
        struct python_raw_frame *frame;
        struct seen_slot *slot;
        int r;

        if (!p || !record || i >= PYTHON_FRAMES_MAX || i >= copying->n_frames)
                return 1;
        frame = frame_of(record, i);
        if (!is_new(p, frame))
                return 0;
        r = copy_code(p, copying, python_code_of(frame->code));
        if (r != 0)
                copying->n_bytes = n_before;
        if (r > 0)
                return 1;
        if (r == 0)
                frame->code |= PYTHON_CODE_COPIED;
        slot = find_seen(p, frame);
        if (slot) {
                slot->ways[1] = slot->ways[0];
                slot->ways[0] = seen_as(p, frame);
        }
        return 0;
}

/*
 * Copies the code objects of which there is no copy yet.  Copies fill at most half of the ring: the frames
 * of the next samples need the rest, and a code object that finds no room is copied at a later sample.
 * Returns the length of the record.
 */
static __always_inline __u64 copy_new(const struct walk *w, __u64 used_bytes)
{
        __u64 free_bytes = used_bytes < settings.ring_bytes / 2 ? settings.ring_bytes / 2 - used_bytes : 0;
        struct copying copying = { .position = w->position,
                                   .n_bytes = sizeof(struct python_record) +
                                              count_kept(w) * sizeof(struct python_raw_frame),
                                   .room_bytes = count_at_most(free_bytes, PYTHON_RECORD_BYTES),
                                   .pid = w->pid,
                                   .n_frames = count_kept(w) };

        if (w->n_new > 0)
                (void)bpf_loop(PYTHON_FRAMES_MAX, copy_step, &copying, 0);
        return copying.n_bytes;
}

/* ---- samples ------------------------------------------------------------------------------------------- */

static __always_inline void put_python_frames(const struct python_process *p, __u32 tid,
                                              struct switch_ring_head *ring, __u32 flags)
{
        struct python_record *record;
        struct walk w = { .position = ring->head, .pid = p->pid, .flags = flags };
        struct search at = { .pid = p->pid };
        __u64 now_ns = bpf_ktime_get_ns(), state;
        __u64 used_bytes = ring->head - ring->tail;
        bool has_several;

        if (used_bytes + PYTHON_FRAMES_BYTES > settings.ring_bytes) {
                ring->n_lost++;
                return;
        }
        has_several = has_several_interpreters(p);
        state = find_python_state(p, tid, now_ns, has_several, &at);
        if (state != 0) {
                (void)walk_state(state, &w);
                if (has_several)
                        walk_callers(p, state, &at, &w);
                if (w.n > PYTHON_INNER_FRAMES)
                        (void)read_outer(&w);
                w.flags |= gil_flag_of(p, state);
        } else {
                w.flags |= PYTHON_FLAG_NO_THREAD;
        }
        record = record_at(w.position);
        if (!record)
                return;
        record->n_bytes = copy_new(&w, used_bytes);
        record->tid = tid;
        record->time_ns = now_ns;
        record->n_frames = count_kept(&w);
        record->flags = w.flags;
        record->pid = p->pid;
        record->n_left_out = w.n - count_kept(&w);
        record->n_left_out_entries = w.n_left_out_entries;
        /* Pairs with the acquire in switch_ring_look(). */
        MACHINE_STORE_RELEASE(&ring->head, ring->head + record->n_bytes);
}

/* Returns whether the thread belongs to a Python process. */
static __always_inline bool put_current(__u32 flags)
{
        __u64 id = bpf_get_current_pid_tgid();
        __u32 cpu = bpf_get_smp_processor_id(), key = 0;
        const struct python_process *p = id >> 32 != 0 ? find_process(id >> 32) : NULL;
        struct switch_ring_head *ring;
        struct frame_bytes *work;

        if (!p)
                return false;
        ring = bpf_map_lookup_elem(&rings, &cpu);
        work = bpf_map_lookup_elem(&scratch, &key);
        if (!ring || !work)
                return true;
        if (work->is_busy) {
                __sync_fetch_and_add(&ring->n_lost, 1);
                return true;
        }
        work->is_busy = 1;
        __asm__ __volatile__("" : : : "memory");
        put_python_frames(p, (__u32)id, ring, flags);
        __asm__ __volatile__("" : : : "memory");
        work->is_busy = 0;
        return true;
}

static __always_inline struct waiting_thread *waiting_slot(__u32 tid)
{
        __u32 slot = tid & (PYTHON_WAIT_SLOTS - 1);

        return bpf_map_lookup_elem(&waiting, &slot);
}

/* The sample is taken in any case. */
SEC("perf_event")
int on_sample(void *ctx)
{
        (void)ctx;
        put_current(0);
        return 1;
}

/* Has the tracepoint's arguments.  Interrupts are off, and the thread that leaves is the current one. */
SEC("raw_tp/sched_switch")
int on_switch(struct bpf_raw_tracepoint_args *ctx)
{
        bool is_preempted = (__u8)ctx->args[0] != 0 || (__u32)ctx->args[3] == 0;
        struct waiting_thread *slot;
        __u32 tid;

        if (is_preempted || !is_any_known())
                return 0;
        tid = (__u32)bpf_get_current_pid_tgid();
        if (put_current(PYTHON_FLAG_SWITCH) && (slot = waiting_slot(tid)) != NULL) {
                slot->tid = tid;
                slot->out_ns = bpf_ktime_get_ns();
        }
        return 0;
}

/*
 * The thread is back but has not continued yet.  If it was away for long, switch_events.bpf may read its
 * stack only now, so its Python frames are needed as well.  An interrupt may wake another thread while this
 * runs: on_waking() then finds the scratch memory in use, and counts a lost record.
 */
SEC("raw_tp/sched_exit_tp")
int on_return(struct bpf_raw_tracepoint_args *ctx)
{
        struct waiting_thread *slot;
        __u64 out_ns;
        __u32 tid;

        (void)ctx;
        if (!is_any_known())
                return 0;
        tid = (__u32)bpf_get_current_pid_tgid();
        slot = waiting_slot(tid);
        if (!slot || slot->out_ns == 0 || slot->tid != tid)
                return 0;
        out_ns = slot->out_ns;
        slot->out_ns = 0;
        if (bpf_ktime_get_ns() - out_ns >= SWITCH_LONG_WAIT_NS)
                put_current(PYTHON_FLAG_SWITCH);
        return 0;
}

/*
 * Runs before switch_events.bpf copies the stack: that program says for which calls, and is attached later.
 */
SEC("raw_tp/sys_exit")
int on_call_end(struct bpf_raw_tracepoint_args *ctx)
{
        __u32 key = 0, tid = (__u32)bpf_get_current_pid_tgid();
        const struct python_processes *all = bpf_map_lookup_elem(&processes, &key);

        (void)ctx;
        if (all && all->n_entered != 0 && all->calls[tid & (PYTHON_CALL_SLOTS - 1)] == tid)
                put_current(PYTHON_FLAG_CALL);
        return 0;
}

SEC("raw_tp/sched_waking")
int on_waking(struct bpf_raw_tracepoint_args *ctx)
{
        (void)ctx;
        if (is_any_known())
                put_current(PYTHON_FLAG_SWITCH);
        return 0;
}
