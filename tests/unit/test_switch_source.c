/* SPDX-License-Identifier: MIT */
/*
 * sampler/switches/switch_source.c: programs in the kernel are loaded where they are wanted, and can be
 */
#include "sampler/switches/switch_source.h"

#include "base/error.h"
#include "sampler/bpf/switch_layout.h"
#include "sampler/kernel/kernel_types.h"
#include "tests/unit/unit_test.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define INITIAL_NAMESPACE UINT64_C(0xeffffffc)
#define COPY_BYTES        8192 /* of a stack */

/* Stands for the kernel: it has hooks, and says of each object what of it would be loaded. */
static struct {
        bool has_late_hook, refuses_types;
        int n_loads;
        size_t rings_bytes; /* of a CPU */
        uint64_t copy_bytes;
        bool loads_late, loads_waking, loads_syscalls;
} kernel;

int stat(const char *restrict path, struct stat *restrict ret)
{
        int r = (int)syscall(SYS_newfstatat, AT_FDCWD, path, ret, 0);

        if (strcmp(path, "/proc/self/ns/pid") == 0)
                ret->st_ino = INITIAL_NAMESPACE;
        return r;
}

int kernel_types_open(const struct kernel_types_request *request, struct error *err)
{
        (void)err;
        if (kernel.refuses_types)
                return -EBADMSG;
        for (size_t i = 0; i < request->n_hooks; i++)
                request->hooks[i].id = strcmp(request->hooks[i].name, "sched_exit_tp") != 0 ||
                                       kernel.has_late_hook;
        return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static bool is_loaded(const struct bpf_object *object, const char *program)
{
        return bpf_program__autoload(bpf_object__find_program_by_name(object, program));
}

int bpf_object__load(struct bpf_object *object)
{
        const struct switch_settings *settings;
        size_t n_bytes;

        kernel.n_loads++;
        kernel.rings_bytes = bpf_map__value_size(bpf_object__find_map_by_name(object, "rings"));
        settings = bpf_map__initial_value(bpf_object__find_map_by_name(object, ".rodata"), &n_bytes);
        ck_assert(settings && n_bytes >= sizeof(*settings));
        kernel.copy_bytes = settings->copy_bytes;
        kernel.loads_late = is_loaded(object, "on_exit");
        kernel.loads_waking = is_loaded(object, "on_waking");
        kernel.loads_syscalls = is_loaded(object, "on_syscall");
        return -EPERM;
}

/*
 * Stacks of long waits need a hook that few kernels have; where the kernel's types cannot be picked, whether
 * it has the hook is not known.
 */
static const struct {
        bool stacks, syscalls, has_late_hook, refuses_types;
        bool loads_late, loads_waking, loads_syscalls;
} cases[] = {
        { .stacks = true, .has_late_hook = true, .loads_late = true, .loads_waking = true },
        { .stacks = true, .loads_waking = true },
        { .has_late_hook = true },
        { .syscalls = true, .has_late_hook = true, .loads_syscalls = true },
        { .stacks = true, .has_late_hook = true, .refuses_types = true, .loads_waking = true },
};

START_LOOP_TEST(test_programs, 0, sizeof(cases) / sizeof(cases[0]))
{
        const struct switch_source_options options = { .stacks = cases[_i].stacks,
                                                       .copy_bytes = COPY_BYTES,
                                                       .ring_bytes = 1 << 20,
                                                       .syscalls = cases[_i].syscalls,
                                                       .python_fd = -1 };
        struct switch_source *source = NULL;
        struct error err = ERROR_NONE;

        kernel.has_late_hook = cases[_i].has_late_hook;
        kernel.refuses_types = cases[_i].refuses_types;
        ck_assert_int_eq(switch_source_open(&options, &source, &err), -EPERM);
        ck_assert_ptr_null(source);
        ck_assert_int_eq(kernel.n_loads, 1);
        ck_assert_uint_ge(kernel.rings_bytes, 1 << 16);
        ck_assert_uint_eq(kernel.copy_bytes, options.stacks || options.syscalls ? COPY_BYTES : 0);
        ck_assert_int_eq(kernel.loads_late, cases[_i].loads_late);
        ck_assert_int_eq(kernel.loads_waking, cases[_i].loads_waking);
        ck_assert_int_eq(kernel.loads_syscalls, cases[_i].loads_syscalls);
}
END_TEST

/* libbpf 1.1 frees memory twice where a handler is registered after the last one was unregistered. */
UNIT_TEST_PLAN(.always_forks = true);
