/* SPDX-License-Identifier: MIT */
#include "sampler/tables/jit_tables.h"

#include "base/array.h"
#include "base/io.h"
#include "sampler/tables/jit_frames.h"
#include "sampler/tables/table_process.h"
#include "unwind/unwind_module.h"
#include "unwind/unwind_module_bytes.h"
#include "unwind/unwind_table.h"

#include <errno.h>
#include <stdlib.h>

static void drop_modules(struct jit_tables *t, struct jit_process_tables *p)
{
        for (size_t i = 0; i < p->n_modules; i++) {
                t->n_bytes -= p->modules[i]->n_bytes;
                unwind_module_free(p->modules[i]);
        }
        p->n_modules = 0;
}

void jit_tables_deinit(struct jit_tables *t)
{
        for (size_t i = 0; i < t->n_processes; i++)
                drop_modules(t, &t->processes[i]);
        free(t->processes);
        *t = (struct jit_tables){ .n_bytes = 0 };
}

static struct jit_process_tables *find_process(const struct jit_tables *t, uint32_t process)
{
        for (size_t i = 0; i < t->n_processes; i++)
                if (t->processes[i].process == process)
                        return &t->processes[i];
        return NULL;
}

static int add_process(struct jit_tables *t, uint32_t process, struct jit_process_tables **ret_process)
{
        int r = array_reserve(&t->processes, &t->capacity, t->n_processes + 1, sizeof(*t->processes));

        if (r < 0)
                return r;
        *ret_process = &t->processes[t->n_processes++];
        **ret_process = (struct jit_process_tables){ .process = process };
        return 0;
}

static uint32_t next_request(struct jit_tables *t)
{
        t->last_request = (t->last_request + 1) & ~JIT_TABLES_REQUEST;
        return t->last_request | JIT_TABLES_REQUEST;
}

int jit_tables_ask(struct jit_tables *t, struct table_process *to, uint32_t process,
                   const struct jit_frames *frames)
{
        struct jit_process_tables *p = find_process(t, process);
        struct table_request request = { .build_id_bytes = 0 };
        int fd, r;

        if (frames->bytes.used_bytes == (p ? p->asked_bytes : 0) || (p && p->request != 0) ||
            t->n_bytes >= JIT_TABLES_BYTES_MAX || to->n_waiting == TABLE_PROCESS_WAITING_MAX)
                return 0;
        r = p ? 0 : add_process(t, process, &p);
        if (r < 0)
                return r;
        p->asks_all = p->n_modules == JIT_TABLES_MAX;
        fd = jit_frames_file(frames, p->asks_all ? 0 : p->asked_bytes);
        if (fd < 0)
                return fd == -ENOMEM ? fd : 0; /* no descriptor: another time */
        request.id = next_request(t);
        r = table_process_ask(to, &request, fd);
        io_close(&fd);
        if (r < 0)
                return r == -EPIPE ? r : 0;
        p->request = request.id;
        p->asked_bytes = frames->bytes.used_bytes;
        return 0;
}

int jit_tables_take(struct jit_tables *t, const struct table_answer *answer)
{
        struct jit_process_tables *p = NULL;
        struct unwind_module *module = NULL;
        int r;

        for (size_t i = 0; i < t->n_processes; i++)
                if (t->processes[i].request == answer->id)
                        p = &t->processes[i];
        if (!p)
                return 0;
        p->request = 0;
        if (answer->status == TABLE_STATUS_NOTHING)
                return 0;
        if (answer->status != TABLE_STATUS_BUILT)
                return -ENODATA;
        r = unwind_module_decode(answer->bytes, answer->n_bytes, &module, NULL);
        if (r < 0)
                return r == -ENOMEM ? r : -ENODATA;
        if (p->asks_all)
                drop_modules(t, p);
        if (!module->table || p->n_modules == JIT_TABLES_MAX) {
                unwind_module_free(module);
                return -ENODATA;
        }
        p->modules[p->n_modules++] = module;
        t->n_bytes += module->n_bytes;
        return 1;
}

const struct unwind_table *jit_tables_find(const struct jit_tables *t, uint32_t process, uint64_t avma)
{
        const struct jit_process_tables *p = find_process(t, process);

        for (size_t i = p ? p->n_modules : 0; i-- > 0;)
                if (unwind_table_find(p->modules[i]->table, avma))
                        return p->modules[i]->table;
        return NULL;
}

bool jit_tables_forget(struct jit_tables *t, uint32_t process)
{
        struct jit_process_tables *p = find_process(t, process);
        bool had_some = p && p->n_modules > 0;

        if (!p)
                return false;
        drop_modules(t, p);
        *p = t->processes[--t->n_processes];
        return had_some;
}
