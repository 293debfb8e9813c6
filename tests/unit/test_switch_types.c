/* SPDX-License-Identifier: MIT */
/*
 * sampler/bpf/switch_events.bpf.c: the types that are picked for it have each field of the running kernel
 * that it names, for without one of them it is loaded in a way that takes tens of milliseconds
 */
#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "sampler/kernel/bpf_programs.h"
#include "sampler/kernel/kernel_types.h"
#include "tests/unit/unit_test.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

static struct bpf_object *program;
static struct btf *kernel, *picked;

static void setup(void)
{
        struct kernel_types_request request = { .n_hooks = 0 };
        struct byte_buffer bytes = { .data = NULL };
        struct error err = ERROR_NONE;
        char path[32];
        int fd;

        kernel = btf__load_vmlinux_btf();
        if (!kernel)
                unit_test_skip_all("the kernel does not tell its types");
        program = bpf_object__open_mem(switch_program, switch_program_bytes, NULL);
        ck_assert_ptr_nonnull(program);
        request.local = bpf_object__btf(program);
        fd = kernel_types_open(&request, &err);
        ck_assert_msg(fd >= 0, "%s", err.text);
        (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
        ck_assert_int_eq(io_read_file(AT_FDCWD, path, 1 << 20, &bytes, &err), 0);
        picked = btf__new(bytes.data, (uint32_t)bytes.used_bytes);
        ck_assert_ptr_nonnull(picked);
        byte_buffer_deinit(&bytes);
        io_close(&fd);
}

static void teardown(void)
{
        btf__free(picked);
        btf__free(kernel);
        bpf_object__close(program);
}

/* A field of a struct itself, not of what lies in it without a name. */
static bool has_field(const struct btf *types, const char *name, const char *field)
{
        int id = btf__find_by_name_kind(types, name, BTF_KIND_STRUCT);
        const struct btf_type *type = id > 0 ? btf__type_by_id(types, (uint32_t)id) : NULL;

        for (uint16_t i = 0; type && i < btf_vlen(type); i++)
                if (strcmp(btf__name_by_offset(types, btf_members(type)[i].name_off), field) == 0)
                        return true;
        return false;
}

START_TEST(test_each_field_is_picked)
{
        const struct btf *local = bpf_object__btf(program);
        unsigned n_fields = 0;

        for (uint32_t id = 1; id < btf__type_cnt(local); id++) {
                const struct btf_type *type = btf__type_by_id(local, id);
                char name[128] = "";
                char *flavor;

                if (!btf_is_struct(type))
                        continue;
                strncat(name, btf__name_by_offset(local, type->name_off), sizeof(name) - 1);
                flavor = strstr(name, "___");
                if (flavor)
                        *flavor = '\0';
                for (uint16_t i = 0; i < btf_vlen(type); i++) {
                        const char *field = btf__name_by_offset(local, btf_members(type)[i].name_off);

                        if (!has_field(kernel, name, field))
                                continue; /* its own struct, or a field that other kernels have */
                        n_fields++;
                        ck_assert_msg(has_field(picked, name, field), "%s of %s", field, name);
                }
        }
        ck_assert_uint_gt(n_fields, 10);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
