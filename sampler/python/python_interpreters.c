/* SPDX-License-Identifier: MIT */
#include "sampler/python/python_interpreters.h"

#include "base/array.h"
#include "format/trace_dictionary.h"
#include "sampler/kernel/process_memory.h"

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
                if (p->items[i].pid == pid)
                        return &p->items[i];
        return NULL;
}

const struct python_interpreter *python_interpreters_find(const struct python_interpreters *p, uint32_t pid)
{
        return interpreter_of(p, pid);
}

/* ---- the table of the BPF program ---------------------------------------------------------------------- */

/* Its slot, or a free one; NULL if there is none. */
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

static void clear_slot(const struct python_interpreters *p, uint32_t pid)
{
        struct python_process *slot = slot_for(p, pid, false);

        if (slot)
                __atomic_store_n(&slot->pid, 0, __ATOMIC_RELEASE);
}

/* Without a slot it has no Python frames, as without BPF. */
static void put_slot(struct python_interpreters *p, const struct python_process *process)
{
        struct python_process *slot = slot_for(p, process->pid, true), copy = *process;

        if (!slot)
                return;
        __atomic_store_n(&slot->pid, 0, __ATOMIC_RELEASE);
        copy.pid = 0;
        copy.serial = ++p->n_entered;
        *slot = copy;
        __atomic_store_n(&slot->pid, process->pid, __ATOMIC_RELEASE);
}

/* The PID namespace of a process: its threads know their numbers there. */
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

static int python_interpreters_note(struct python_interpreters *p, enum trace_notice_id what,
                                    const char *words)
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
        return python_interpreters_note(p, TRACE_NOTICE_PYTHON_UNKNOWN, words);
}

/* @code: why.  One that has ended is nothing to report. */
static int note_unreadable(struct python_interpreters *p, int code)
{
        return code == EPERM ? python_interpreters_note(p, TRACE_NOTICE_NO_PYTHON,
                                                        "its memory may not be read: record it as root")
                             : 0;
}

int python_interpreters_note_old(struct python_interpreters *p)
{
        return python_interpreters_note(p, TRACE_NOTICE_PYTHON_UNKNOWN,
                                        "CPython before 3.11; 3.11 to 3.14 are known");
}

int python_interpreters_note_stripped(struct python_interpreters *p)
{
        return python_interpreters_note(
                p, TRACE_NOTICE_NO_PYTHON,
                "its symbols _PyRuntime, Py_Version and _PyEval_EvalFrameDefault are stripped");
}

static int put_interpreter(struct python_interpreters *p, const struct python_interpreter *new)
{
        struct python_interpreter *item = interpreter_of(p, new->pid);

        if (!item) {
                if (array_reserve(&p->items, &p->capacity, p->n_items + 1, sizeof(*p->items)) < 0)
                        return -ENOMEM;
                item = &p->items[p->n_items++];
        }
        *item = *new;
        return 0;
}

int python_interpreters_add(struct python_interpreters *p, uint32_t pid,
                            const struct python_landmarks *landmarks)
{
        const struct process_memory memory = process_memory_of(pid);
        struct python_interpreter new = { .pid = pid, .module = landmarks->module };
        struct python_process process = { .pid = pid };
        uint8_t head[PYTHON_LAYOUT_HEAD_BYTES];
        uint64_t version;
        int r;

        errno = 0;
        if (!process_memory_read_all(&memory, landmarks->version_avma, &version, sizeof(version)) ||
            !process_memory_read_all(&memory, landmarks->runtime_avma, head, sizeof(head)))
                return note_unreadable(p, errno);
        memcpy(new.eval, landmarks->eval, sizeof(new.eval));
        if (python_layout_find(version, head, &new.layout) < 0)
                return note_unknown(p, version);
        process.owner_entry = new.layout.owner_entry;
        process.interpreters_avma = landmarks->runtime_avma + new.layout.interpreters;
        process.current_avma = new.layout.current ? landmarks->runtime_avma + new.layout.current : 0;
        process.gil_avma = new.layout.gil ? landmarks->runtime_avma + new.layout.gil : 0;
        process.offsets = new.layout.walk;
        process.objects = new.layout.objects;
        if (!find_namespace(&process))
                return 0;
        new.process = process;
        r = put_interpreter(p, &new);
        if (r < 0)
                return r;
        put_slot(p, &process);
        return p->table ? 0
                        : python_interpreters_note(
                                  p, TRACE_NOTICE_PYTHON_APPROXIMATE,
                                  "exact as root, or with CAP_BPF and CAP_PERFMON, on Linux 5.17 or later");
}

int python_interpreters_fork(struct python_interpreters *p, uint32_t parent_pid, uint32_t pid)
{
        const struct python_interpreter *parent = interpreter_of(p, parent_pid);
        struct python_interpreter child;
        int r;

        if (!parent || interpreter_of(p, pid))
                return 0;
        child = *parent;
        child.pid = child.process.pid = pid;
        if (!find_namespace(&child.process))
                return 0; /* it has ended */
        r = put_interpreter(p, &child);
        if (r == 0)
                put_slot(p, &child.process);
        return r;
}

void python_interpreters_forget(struct python_interpreters *p, uint32_t pid)
{
        struct python_interpreter *item = interpreter_of(p, pid);

        clear_slot(p, pid);
        if (item)
                *item = p->items[--p->n_items];
}
