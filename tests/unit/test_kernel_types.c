/* SPDX-License-Identifier: MIT */
/*
 * sampler/kernel/kernel_types.c: each field that a program names is where the kernel has it, and
 * damaged types are refused
 */
#include "base/byte_buffer.h"
#include "sampler/kernel/kernel_types.h"
#include "tests/unit/unit_test.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct btf *kernel, *local;
static struct kernel_hook hooks[2];
static struct kernel_types_request request;

/*
 * typedef int id_t; struct task { long first; const id_t pid; struct { struct { short deep; }; void *stack;
 * }; struct node node; unsigned bits : 3; int list[4]; const struct node nodes[3]; };
 * struct node { char a, b; };
 */
static void make_kernel(void)
{
        int number, number_16, number_64, byte, number_typedef, constant, pointer, innermost, inner, node,
                array, nodes;

        kernel = btf__new_empty();
        number = btf__add_int(kernel, "int", 4, BTF_INT_SIGNED);
        number_16 = btf__add_int(kernel, "short", 2, BTF_INT_SIGNED);
        number_64 = btf__add_int(kernel, "long", 8, BTF_INT_SIGNED);
        byte = btf__add_int(kernel, "char", 1, 0);
        number_typedef = btf__add_typedef(kernel, "id_t", number);
        constant = btf__add_const(kernel, number_typedef);
        pointer = btf__add_ptr(kernel, 0);
        array = btf__add_array(kernel, number, number, 4);
        (void)btf__add_func_proto(kernel, 0);
        innermost = btf__add_struct(kernel, NULL, 2);
        (void)btf__add_field(kernel, "deep", number_16, 0, 0);
        inner = btf__add_union(kernel, NULL, 8);
        (void)btf__add_field(kernel, NULL, innermost, 0, 0);
        (void)btf__add_field(kernel, "stack", pointer, 0, 0);
        node = btf__add_struct(kernel, "node", 2);
        (void)btf__add_field(kernel, "a", byte, 0, 0);
        (void)btf__add_field(kernel, "b", byte, 8, 0);
        nodes = btf__add_array(kernel, number, btf__add_const(kernel, node), 3);
        (void)btf__add_struct(kernel, "task", 64);
        (void)btf__add_field(kernel, "first", number_64, 0, 0);
        (void)btf__add_field(kernel, "pid", constant, 64, 0);
        (void)btf__add_field(kernel, NULL, inner, 128, 0);
        (void)btf__add_field(kernel, "node", node, 192, 0);
        (void)btf__add_field(kernel, "bits", number, 224, 3);
        (void)btf__add_field(kernel, "list", array, 256, 0);
        (void)btf__add_field(kernel, "nodes", nodes, 384, 0);
        (void)btf__add_typedef(kernel, "switch", number);
        (void)btf__add_typedef(kernel, "btf_trace_switch_more", number);
        (void)btf__add_typedef(kernel, "btf_trace_switch", number);
}

static void setup(void)
{
        static const char *const fields[] = { "pid",  "deep", "stack", "node",
                                              "bits", "list", "nodes", "not_there" };
        int number;

        make_kernel();
        local = btf__new_empty();
        number = btf__add_int(local, "int", 4, 0);
        (void)btf__add_struct(local, "task", 64);
        for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
                (void)btf__add_field(local, fields[i], number, (unsigned)i * 32, 0);
        (void)btf__add_struct(local, "absent", 4);
        (void)btf__add_field(local, "x", number, 0, 0);
        (void)btf__add_struct(local, "node", 4);
        (void)btf__add_field(local, "b", number, 0, 0);
        (void)btf__add_struct(local, "task___older", 8);
        (void)btf__add_field(local, "first", number, 0, 0);
        hooks[0] = (struct kernel_hook){ .name = "switch" };
        hooks[1] = (struct kernel_hook){ .name = "not_there" };
        request = (struct kernel_types_request){ .local = local, .hooks = hooks, .n_hooks = 2 };
}

static void teardown(void)
{
        btf__free(kernel);
        btf__free(local);
}

/* A field of a struct; @ret_bits: where it is. */
static uint32_t type_of_field(const struct btf *types, const char *name, const char *field,
                              unsigned *ret_bits)
{
        int id = btf__find_by_name_kind(types, name, BTF_KIND_STRUCT);
        const struct btf_type *type = btf__type_by_id(types, (uint32_t)id);

        ck_assert_int_gt(id, 0);
        for (uint16_t i = 0; i < btf_vlen(type); i++)
                if (strcmp(btf__name_by_offset(types, btf_members(type)[i].name_off), field) == 0) {
                        *ret_bits = btf_member_bit_offset(type, i);
                        return btf_members(type)[i].type;
                }
        ck_abort_msg("%s has no %s", name, field);
}

/* Checks where a field of a struct is, and of what kind. */
static void expect(const struct btf *types, const char *name, const char *field, unsigned bits, unsigned kind,
                   unsigned n_bytes)
{
        unsigned found_bits;
        uint32_t type = type_of_field(types, name, field, &found_bits);

        ck_assert_uint_eq(found_bits, bits);
        ck_assert_uint_eq(btf_kind(btf__type_by_id(types, type)), kind);
        ck_assert_int_eq(btf__resolve_size(types, type), n_bytes);
}

/* The type of an array's elements. */
static uint32_t find_element(const struct btf *types, const char *name, const char *field)
{
        unsigned bits;

        return btf_array(btf__type_by_id(types, type_of_field(types, name, field, &bits)))->type;
}

START_TEST(test_fields_are_where_the_kernel_has_them)
{
        struct byte_buffer out = { .data = NULL };
        struct btf *types;
        uint32_t n_bytes;
        const void *bytes = btf__raw_data(kernel, &n_bytes);
        const struct btf_type *task;

        ck_assert_int_eq(kernel_types_pick(&request, bytes, n_bytes, &out, NULL), 0);
        types = btf__new(out.data, (uint32_t)out.used_bytes);
        ck_assert_ptr_nonnull(types);
        expect(types, "task", "pid", 64, BTF_KIND_INT, 4);
        expect(types, "task", "deep", 128, BTF_KIND_INT, 2);
        expect(types, "task", "stack", 128, BTF_KIND_PTR, 8);
        expect(types, "task", "node", 192, BTF_KIND_STRUCT, 2);
        expect(types, "task", "first", 0, BTF_KIND_INT, 8);
        expect(types, "task", "nodes", 384, BTF_KIND_ARRAY, 0);
        ck_assert_uint_eq(find_element(types, "task", "nodes"),
                          (uint32_t)btf__find_by_name_kind(types, "node", BTF_KIND_STRUCT));
        expect(types, "node", "b", 8, BTF_KIND_INT, 1);
        task = btf__type_by_id(types, (uint32_t)btf__find_by_name_kind(types, "task", BTF_KIND_STRUCT));
        ck_assert_uint_eq(btf_vlen(task), 6); /* neither bits nor the list nor what is not there */
        ck_assert_uint_eq(task->size, 64);
        ck_assert_int_lt(btf__find_by_name(types, "absent"), 0);
        ck_assert_int_eq((int)hooks[0].id, btf__find_by_name(kernel, "btf_trace_switch"));
        ck_assert_uint_eq(hooks[1].id, 0);
        btf__free(types);
        byte_buffer_deinit(&out);
}
END_TEST

START_TEST(test_cut_anywhere)
{
        uint32_t n_bytes;
        const void *bytes = btf__raw_data(kernel, &n_bytes);

        for (uint32_t n = 0; n < n_bytes; n++) {
                struct byte_buffer out = { .data = NULL };
                uint8_t *cut = malloc(n + 1); /* exactly as long, for the sanitizer */

                memcpy(cut, bytes, n);
                ck_assert_int_eq(kernel_types_pick(&request, cut, n, &out, NULL), -EBADMSG);
                ck_assert_uint_eq(out.used_bytes, 0);
                free(cut);
        }
}
END_TEST

/* Each byte in turn: whatever comes of it, nothing is read that is not there. */
START_TEST(test_damaged_anywhere)
{
        uint32_t n_bytes;
        const void *bytes = btf__raw_data(kernel, &n_bytes);

        for (uint32_t at = 0; at < n_bytes; at++) {
                struct byte_buffer out = { .data = NULL };
                uint8_t *copy = malloc(n_bytes);

                memcpy(copy, bytes, n_bytes);
                copy[at] ^= 0xff;
                (void)kernel_types_pick(&request, copy, n_bytes, &out, NULL);
                byte_buffer_deinit(&out);
                free(copy);
        }
}
END_TEST

START_TEST(test_a_newer_kind)
{
        struct byte_buffer out = { .data = NULL };
        uint32_t n_bytes;
        const void *bytes = btf__raw_data(kernel, &n_bytes);
        uint8_t *copy = malloc(n_bytes);

        memcpy(copy, bytes, n_bytes);
        copy[sizeof(struct btf_header) + 7] = 31; /* of the first type */
        ck_assert_int_eq(kernel_types_pick(&request, copy, n_bytes, &out, NULL), -ENOTSUP);
        free(copy);
}
END_TEST

UNIT_TEST_PLAN(.setup = setup, .teardown = teardown);
