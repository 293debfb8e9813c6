/* SPDX-License-Identifier: MIT */
#include "sampler/perf_access.h"

#include "base/byte_buffer.h"
#include "base/io.h"
#include "unwind/unwind_machine.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STACK_COPY_BYTES  1024
#define SETTING_BYTES_MAX 4096
#define KALLSYMS_HEAD     4096 /* enough for the first symbols */

/* Opens an event on ourselves and closes it again: 0 or -errno. */
static int try_attr(struct perf_event_attr *attr)
{
        long fd = syscall(SYS_perf_event_open, attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

        if (fd < 0)
                return -errno;
        (void)close((int)fd);
        return 0;
}

static struct perf_event_attr make_attr(uint32_t type, uint64_t config, bool exclude_kernel)
{
        return (struct perf_event_attr){
                .size = sizeof(struct perf_event_attr),
                .type = type,
                .config = config,
                .sample_period = 1000000,
                .disabled = 1,
                .exclude_hv = 1,
                .exclude_kernel = exclude_kernel,
        };
}

static int try_event(uint32_t type, uint64_t config, bool exclude_kernel)
{
        struct perf_event_attr attr = make_attr(type, config, exclude_kernel);

        return try_attr(&attr);
}

static int try_build_ids(void)
{
        struct perf_event_attr attr = make_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, true);

        attr.mmap = 1;
        attr.mmap2 = 1;
        attr.build_id = 1;
        return try_attr(&attr);
}

/* Not every kernel does this for its machine. */
static int try_stack_copies(void)
{
        struct perf_event_attr attr = make_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true);

        if (!unwind_machine_own())
                return -EOPNOTSUPP;
        attr.exclude_callchain_user = 1;
        attr.sample_type = PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
        attr.sample_regs_user = unwind_machine_own()->perf_registers;
        attr.sample_stack_user = STACK_COPY_BYTES;
        return try_attr(&attr);
}

static long read_setting(const char *path)
{
        struct byte_buffer text = { .data = NULL };
        long value = LONG_MIN;
        char *end;

        if (io_read_file(AT_FDCWD, path, SETTING_BYTES_MAX, &text, NULL) == 0 && text.used_bytes > 0) {
                value = strtol((const char *)text.data, &end, 10);
                if (end == (const char *)text.data)
                        value = LONG_MIN;
        }
        byte_buffer_deinit(&text);
        return value;
}

/* The addresses of all symbols read as zeroes when they are hidden. */
static bool kernel_symbols_visible(void)
{
        char head[KALLSYMS_HEAD];
        size_t got = 0;
        int fd = open("/proc/kallsyms", O_RDONLY | O_CLOEXEC);
        bool visible = false;

        if (fd >= 0 && io_read_full(fd, head, sizeof(head), &got, NULL) == 0)
                for (size_t i = 0; i < got && !visible; i++)
                        /* Addresses are the 16 digits at the start of each line. */
                        visible = (i == 0 || head[i - 1] == '\n') && i + 16 < got &&
                                  strspn(head + i, "0") < 16 && head[i] != '0';
        io_close(&fd);
        return visible;
}

static bool map_files_readable(void)
{
        struct byte_buffer maps = { .data = NULL };
        char path[64];
        bool readable = false;
        int fd;

        /* The first line is a mapping of our own executable. */
        if (io_read_file(AT_FDCWD, "/proc/self/maps", SIZE_MAX / 2, &maps, NULL) == 0) {
                size_t n = strcspn((const char *)maps.data, " ");

                if (n < 40) {
                        memcpy(path, "/proc/self/map_files/", 21);
                        memcpy(path + 21, maps.data, n);
                        path[21 + n] = '\0';
                        fd = open(path, O_RDONLY | O_CLOEXEC);
                        readable = fd >= 0;
                        io_close(&fd);
                }
        }
        byte_buffer_deinit(&maps);
        return readable;
}

void perf_access_read(struct perf_access *ret_access)
{
        *ret_access = (struct perf_access){
                .user_error = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, true),
                .kernel_error = try_event(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false),
                .hardware_error = try_event(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true),
                .build_id_error = try_build_ids(),
                .stack_copy_error = try_stack_copies(),
                .paranoid = read_setting("/proc/sys/kernel/perf_event_paranoid"),
                .kptr_restrict = read_setting("/proc/sys/kernel/kptr_restrict"),
                .max_sample_hz = read_setting("/proc/sys/kernel/perf_event_max_sample_rate"),
                .mlock_kib = read_setting("/proc/sys/kernel/perf_event_mlock_kb"),
                .kernel_symbols = kernel_symbols_visible(),
                .map_files = map_files_readable(),
                .is_root = geteuid() == 0,
        };
}
