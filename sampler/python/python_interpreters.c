/* SPDX-License-Identifier: MIT */
#include "sampler/python/python_interpreters.h"

#include "base/array.h"
#include "format/trace_dictionary.h"
#include "sampler/proc/process_memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void python_interpreters_deinit(struct python_interpreters *p)
{
        free(p->items);
        p->items = NULL;
        p->n_items = p->capacity = 0;
}

static struct python_interpreter *interpreter_of(const struct python_interpreters *p, uint32_t pid)
{
        for (size_t i = 0; i < p->n_items; i++)
                if (p->items[i].pid == pid && !p->items[i].is_announced)
                        return &p->items[i];
        return NULL;
}

static struct python_interpreter *find_announced(const struct python_interpreters *p, uint32_t pid,
                                                 uint64_t mapped_ns)
{
        for (size_t i = 0; i < p->n_items; i++)
                if (p->items[i].pid == pid && p->items[i].is_announced &&
                    p->items[i].process.since_ns == mapped_ns)
                        return &p->items[i];
        return NULL;
}

const struct python_interpreter *python_interpreters_find(const struct python_interpreters *p, uint32_t pid)
{
        return interpreter_of(p, pid);
}

/* ---- the table of the BPF program ---------------------------------------------------------------------- */

/* The slot of a process, or a free one if allowed; NULL if there is none. */
static struct python_process *slot_for(const struct python_interpreters *p, uint32_t pid, bool may_be_free)
{
        struct python_process *free_slot = NULL;

        for (uint32_t i = 0; p->table && i < PYTHON_PROBES; i++) {
                struct python_process *slot = &p->table->slots[(pid + i) & (PYTHON_SLOTS - 1)];

                if (slot->pid == pid)
                        return slot;
                if (slot->pid == 0 && !free_slot)
                        free_slot = slot;
        }
        return may_be_free ? free_slot : NULL;
}

static void clear_slot(const struct python_interpreters *p, uint32_t pid, uint64_t time_ns)
{
        struct python_process *slot = slot_for(p, pid, false);

        if (slot && slot->since_ns <= time_ns)
                __atomic_store_n(&slot->pid, 0, __ATOMIC_RELEASE);
}

/*
 * Enters a process in the table.  Without a slot it has no Python frames, as without BPF.  The slot of a
 * later program of the process, which was announced, stays.
 */
static void put_slot(struct python_interpreters *p, const struct python_process *process)
{
        struct python_process *slot = slot_for(p, process->pid, true), copy = *process;

        if (!slot || (slot->pid == process->pid && slot->since_ns > process->since_ns))
                return;
        __atomic_store_n(&slot->pid, 0, __ATOMIC_RELEASE);
        copy.pid = 0;
        copy.serial = ++p->n_entered;
        *slot = copy;
        __atomic_store_n(&p->table->n_entered, p->n_entered, __ATOMIC_RELEASE);
        __atomic_store_n(&slot->pid, process->pid, __ATOMIC_RELEASE);
}

/* Finds the PID namespace of a process, in which its threads know their numbers. */
static bool find_namespace(struct python_process *process)
{
        struct stat status;
        char path[48];

        (void)snprintf(path, sizeof(path), "/proc/%" PRIu32 "/ns/pid", process->pid);
        if (stat(path, &status) < 0)
                return false;
        process->namespace_device = status.st_dev;
        process->namespace_inode = status.st_ino;
        return true;
}

/* ---- interpreters -------------------------------------------------------------------------------------- */

static int note(struct python_interpreters *p, enum trace_notice_id what, const char *words)
{
        struct trace_notice notice = { .notice = what };
        uint32_t id;
        int r = 0;

        if (p->noted & UINT32_C(1) << what)
                return 0;
        p->noted |= UINT32_C(1) << what;
        r = trace_dictionary_add_string(p->dictionary, words, strlen(words), &notice.detail);
        if (r == 0)
                r = trace_dictionary_add(p->dictionary, TRACE_TABLE_NOTICES, &notice, &id);
        return r == -EOVERFLOW ? 0 : r;
}

static int note_unknown(struct python_interpreters *p, uint64_t version)
{
        char words[64];

        (void)snprintf(words, sizeof(words), "CPython %" PRIu64 ".%" PRIu64 "; 3.11 to 3.14 are known",
                       version >> 24 & 0xff, version >> 16 & 0xff);
        return note(p, TRACE_NOTICE_PYTHON_UNKNOWN, words);
}

/*
 * True if the version has the form that every release has.  Other bytes are there while a file is being
 * mapped: ld.so first maps all of it in one piece.
 */
static bool is_release(uint64_t version)
{
        uint64_t level = version >> 4 & 0xf;

        return version >> 24 == 3 && ((level >= 0xa && level <= 0xc) || level == 0xf);
}

int python_interpreters_note_unready(struct python_interpreters *p)
{
        return note(p, TRACE_NOTICE_NO_PYTHON, "its interpreter's data made no sense for 10 s");
}

/* @code: why the interpreter cannot be read; a process that has ended is not reported. */
static int note_unreadable(struct python_interpreters *p, int code)
{
        return code == EPERM
                       ? note(p, TRACE_NOTICE_NO_PYTHON, "its memory may not be read: record it as root")
                       : 0;
}

int python_interpreters_note_old(struct python_interpreters *p)
{
        return note(p, TRACE_NOTICE_PYTHON_UNKNOWN, "CPython before 3.11; 3.11 to 3.14 are known");
}

int python_interpreters_note_stripped(struct python_interpreters *p)
{
        return note(p, TRACE_NOTICE_NO_PYTHON,
                    "its symbols _PyRuntime, Py_Version and _PyEval_EvalFrameDefault are stripped");
}

static int append_interpreter(struct python_interpreters *p, const struct python_interpreter *new)
{
        if (array_reserve(&p->items, &p->capacity, p->n_items + 1, sizeof(*p->items)) < 0)
                return -ENOMEM;
        p->items[p->n_items++] = *new;
        return 0;
}

static int put_interpreter(struct python_interpreters *p, const struct python_interpreter *new)
{
        struct python_interpreter *item = interpreter_of(p, new->pid);

        if (!item)
                return append_interpreter(p, new);
        *item = *new;
        return 0;
}

/*
 * Returns 0, -ENOTSUP for a version that is not known, -EAGAIN if its data is not there yet, or -errno if it
 * cannot be read.
 */
static int read_interpreter(uint32_t pid, const struct python_landmarks *landmarks,
                            struct python_interpreter *ret_interpreter, uint64_t *ret_version)
{
        const struct process_memory memory = process_memory_of(pid);
        struct python_interpreter new = { .pid = pid, .module = landmarks->module };
        struct python_process *process = &new.process;
        uint8_t head[PYTHON_LAYOUT_HEAD_BYTES];
        int r;

        *ret_interpreter = new;
        errno = EFAULT;
        if (!process_memory_read_all(&memory, landmarks->version_avma, ret_version, sizeof(*ret_version)) ||
            !process_memory_read_all(&memory, landmarks->runtime_avma, head, sizeof(head)))
                return errno == EPERM || errno == ESRCH ? -errno : -EAGAIN;
        r = python_layout_find(*ret_version, head, &new.layout);
        if (r < 0)
                return r == -ENOTSUP && is_release(*ret_version) ? r : -EAGAIN;
        memcpy(new.eval, landmarks->eval, sizeof(new.eval));
        process->pid = pid;
        process->since_ns = landmarks->mapped_ns;
        process->owner_entry = new.layout.owner_entry;
        process->interpreters_avma = landmarks->runtime_avma + new.layout.interpreters;
        process->current_avma = new.layout.current ? landmarks->runtime_avma + new.layout.current : 0;
        process->gil_avma = new.layout.gil ? landmarks->runtime_avma + new.layout.gil : 0;
        process->offsets = new.layout.walk;
        process->objects = new.layout.objects;
        if (!find_namespace(process))
                return -ESRCH;
        *ret_interpreter = new;
        return 0;
}

/* True if the turn of the interpreter's mapping came while it was tried ahead of that. */
static bool is_added(const struct python_interpreters *p, uint32_t pid, uint64_t mapped_ns)
{
        const struct python_interpreter *item = interpreter_of(p, pid);

        return item && item->process.since_ns >= mapped_ns;
}

int python_interpreters_announce(struct python_interpreters *p, uint32_t pid,
                                 const struct python_landmarks *landmarks)
{
        struct python_interpreter new;
        uint64_t version;
        int r;

        if (!p->table || p->n_items >= PYTHON_SLOTS || find_announced(p, pid, landmarks->mapped_ns) ||
            is_added(p, pid, landmarks->mapped_ns))
                return 0;
        r = read_interpreter(pid, landmarks, &new, &version);
        if (r < 0)
                return r == -EAGAIN ? 1 : 0;
        new.is_announced = true;
        put_slot(p, &new.process);
        return append_interpreter(p, &new);
}

int python_interpreters_add(struct python_interpreters *p, uint32_t pid,
                            const struct python_landmarks *landmarks)
{
        struct python_interpreter *announced = find_announced(p, pid, landmarks->mapped_ns), known, new;
        uint64_t version;
        int r = read_interpreter(pid, landmarks, &new, &version);

        if (announced) {
                known = *announced;
                known.is_announced = false;
                *announced = p->items[--p->n_items];
                if (r != -ENOTSUP) /* the process is in the table, or a later one is; it may have ended */
                        return put_interpreter(p, &known);
                clear_slot(p, pid, landmarks->mapped_ns);
        }
        if (r == -EAGAIN)
                return 1;
        if (r < 0)
                return r == -ENOTSUP ? note_unknown(p, version) : note_unreadable(p, -r);
        r = put_interpreter(p, &new);
        if (r < 0)
                return r;
        put_slot(p, &new.process);
        return p->table ? 0
                        : note(p, TRACE_NOTICE_PYTHON_APPROXIMATE,
                               "exact as root, or with CAP_BPF and CAP_PERFMON, on Linux 5.17 or later "
                               "whose BPF compiler is on (net.core.bpf_jit_enable)");
}

int python_interpreters_fork(struct python_interpreters *p, uint32_t parent_pid, uint32_t pid,
                             uint64_t time_ns)
{
        const struct python_interpreter *parent = interpreter_of(p, parent_pid);
        struct python_interpreter child;
        int r;

        if (!parent || interpreter_of(p, pid))
                return 0;
        child = *parent;
        child.pid = child.process.pid = pid;
        child.process.since_ns = time_ns;
        if (!find_namespace(&child.process))
                return 0; /* it has ended */
        r = put_interpreter(p, &child);
        if (r == 0)
                put_slot(p, &child.process);
        return r;
}

void python_interpreters_forget(struct python_interpreters *p, uint32_t pid, uint64_t time_ns)
{
        size_t n_kept = 0;

        clear_slot(p, pid, time_ns);
        for (size_t i = 0; i < p->n_items; i++)
                if (p->items[i].pid != pid || p->items[i].process.since_ns > time_ns)
                        p->items[n_kept++] = p->items[i];
        p->n_items = n_kept;
}
