/* SPDX-License-Identifier: MIT */
#include "analyze/stats/call_finder.h"

#include "analyze/samples/function_table.h"
#include "analyze/samples/python_stacks.h"
#include "analyze/stats/wait_places.h"
#include "analyze/trace/function_name.h"
#include "format/trace_dictionary.h"

#include <string.h>

#define FRAMES_MAX 256 /* frames read of a stack: bounds the work per stack */

static bool has_text(struct text_view name, const char *text)
{
        return name.n_bytes != 0 && memmem(name.bytes, name.n_bytes, text, strlen(text));
}

struct text_view call_finder_system_call(struct text_view name)
{
        static const char *const prefixes[] = { "__x64_sys_",   "__ia32_sys_", "__arm64_sys_",
                                                "__riscv_sys_", "__se_sys_",   "__do_sys_" };

        for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
                size_t n = strlen(prefixes[i]);

                if (text_view_begins_with(name, prefixes[i]))
                        return (struct text_view){ name.bytes + n, name.n_bytes - n };
        }
        return (struct text_view){ .n_bytes = 0 };
}

struct text_view call_finder_name(const struct call_finder *f, uint32_t label)
{
        const struct function *function = function_table_get(f->functions, label);

        return trace_dictionary_text(f->dictionary, function->name);
}

static void take_entry_frame(const struct call_finder *f, uint32_t frame, struct kernel_entry *entry)
{
        const struct label_groups *frames = &f->functions->frames;

        for (uint32_t i = frames->first[frame]; i < frames->first[frame + 1]; i++) {
                struct text_view name = call_finder_name(f, frames->labels[i]);

                if (call_finder_system_call(name).n_bytes != 0)
                        entry->function = frames->labels[i];
                entry->is_system_call |= has_text(name, "syscall") || has_text(name, "SYSCALL") ||
                                         has_text(name, "el0_svc");
                entry->is_fault |= has_text(name, "page_fault");
                entry->is_child |= text_view_is(name, "do_wait");
        }
}

struct kernel_entry call_finder_entry(const struct call_finder *f, uint32_t stack)
{
        const struct trace_dictionary *d = f->dictionary;
        struct kernel_entry entry = { .is_kernel = false };

        for (uint32_t n = 0; stack != 0 && n < FRAMES_MAX; n++) {
                const struct trace_stack *row = trace_dictionary_row(d, TRACE_TABLE_STACKS, stack);

                if (!trace_dictionary_is_kernel_frame(d, row->frame)) {
                        entry.user_stack = stack;
                        break;
                }
                entry.is_kernel = true;
                take_entry_frame(f, row->frame, &entry);
                stack = row->parent;
        }
        return entry;
}

struct text_view call_finder_as_written(struct text_view name)
{
        static const char *const prefixes[] = { "__GI_", "__libc_", "__" };
        const char *version = name.n_bytes != 0 ? memchr(name.bytes, '@', name.n_bytes) : NULL;
        struct text_view in_kernel = call_finder_system_call(name);

        if (in_kernel.n_bytes != 0)
                return in_kernel;
        if (version && version != name.bytes)
                name.n_bytes = (size_t)(version - name.bytes);
        for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
                size_t n = strlen(prefixes[i]);

                if (name.n_bytes > n && memcmp(name.bytes, prefixes[i], n) == 0) {
                        name.bytes += n;
                        name.n_bytes -= n;
                }
        }
        return name;
}

/*
 * Whether a function of the C library only carries out the system call: "__utimensat64_helper", or
 * "openat64_nocancel".  No program calls it by that name.
 */
static bool is_inner_call_name(struct text_view name, struct text_view system_call)
{
        while (name.n_bytes != 0 && name.bytes[0] == '_') {
                name.bytes++;
                name.n_bytes--;
        }
        return system_call.n_bytes != 0 && name.n_bytes > system_call.n_bytes &&
               memcmp(name.bytes, system_call.bytes, system_call.n_bytes) == 0 &&
               memchr(name.bytes + system_call.n_bytes, '_', name.n_bytes - system_call.n_bytes);
}

/*
 * Takes a function of the program, the innermost first.  Returns whether it is a caller with a name.
 * @in_kernel:  NULL = no call is wanted; label of the kernel's function for the call, 0 = unknown
 */
static bool take_function(const struct call_finder *f, uint32_t label, const uint32_t *in_kernel,
                          struct found_call *key, bool *has_left_library)
{
        const struct function *function = function_table_get(f->functions, label);
        const struct trace_dictionary *d = f->dictionary;
        bool is_named = function->kind == FUNCTION_NAMED;
        bool is_library = wait_places_is_c_library(trace_dictionary_text(d, function->module));

        if (!is_named && function->kind != FUNCTION_UNNAMED) {
                if (in_kernel && key->call == 0 && *in_kernel != 0 && function->kind != FUNCTION_MARK) {
                        key->call = *in_kernel;
                        *has_left_library = !is_library;
                }
                return false;
        }
        if (in_kernel && !*has_left_library && (is_library || key->call == 0)) {
                struct text_view name = call_finder_name(f, label);
                bool is_inner = *in_kernel != 0 &&
                                is_inner_call_name(name,
                                                   call_finder_system_call(call_finder_name(f, *in_kernel)));
                bool tells = is_named && !is_inner && !text_view_is(name, "syscall");

                if (tells || is_inner || key->call == 0)
                        key->call = tells || *in_kernel == 0 ? label : *in_kernel;
                *has_left_library = !is_library;
                if (is_library || key->call == label)
                        return false;
        }
        *has_left_library = true;
        if (is_library || wrapper_names_have(call_finder_name(f, label)))
                return false;
        if (is_named || key->caller == 0)
                key->caller = label;
        return is_named;
}

struct found_call call_finder_of_stack(const struct call_finder *f, uint32_t stack, const uint32_t *in_kernel)
{
        uint32_t python = f->folds ? python_stacks_find(f->folds, stack) : 0;
        const struct trace_dictionary *d = f->dictionary;
        const struct label_groups *frames = &f->functions->frames;
        struct found_call key = { .call = 0 };
        bool has_left_library = false;

        for (uint32_t n = 0; stack != 0 && n < FRAMES_MAX; n++) {
                const struct trace_stack *row = trace_dictionary_row(d, TRACE_TABLE_STACKS, stack);

                if (stack == python) {
                        key.caller = frames->labels[frames->first[row->frame]];
                        return key;
                }
                stack = row->parent;
                if (f->skips_python && python_stacks_is_python(d, row->frame))
                        continue;
                for (uint32_t i = frames->first[row->frame]; i < frames->first[row->frame + 1]; i++)
                        if (take_function(f, frames->labels[i], in_kernel, &key, &has_left_library) &&
                            python == 0)
                                return key;
        }
        return key;
}

struct text_view call_finder_counted_call(const struct call_finder *f, uint32_t label)
{
        static const char prefix[] = "sys_";
        const struct function *function = function_table_get(f->functions, label);
        struct text_view name = call_finder_name(f, label);
        size_t n = sizeof(prefix) - 1;

        if (function->kind != FUNCTION_NAMED || !text_view_begins_with(name, prefix) ||
            !text_view_is(trace_dictionary_text(f->dictionary, function->module), "[syscalls]"))
                return (struct text_view){ .n_bytes = 0 };
        return (struct text_view){ name.bytes + n, name.n_bytes - n };
}

bool call_finder_only_waits(struct text_view name)
{
        static const char *const waits[] = {
                "epoll_wait",   "epoll_pwait",   "epoll_pwait2",    "poll",           "ppoll",
                "select",       "pselect6",      "futex",           "futex_waitv",    "nanosleep",
                "wait4",        "waitid",        "pause",           "accept",         "clock_nanosleep",
                "accept4",      "rt_sigsuspend", "rt_sigtimedwait", "msgrcv",         "semtimedop",
                "io_getevents", "semop",         "futex_wait",      "io_uring_enter",
        };

        for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
                if (text_view_is(name, waits[i]))
                        return true;
        return false;
}
