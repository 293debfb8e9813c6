/* SPDX-License-Identifier: MIT */
#include "sampler/kernel/kernel_types.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"

#include <bpf/btf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define KERNEL_TYPES_PATH "/sys/kernel/btf/vmlinux"
#define BYTES_MAX         (UINT32_C(1) << 28) /* 6 MiB are usual */
#define STRUCTS_MAX       32
#define NESTED_MAX        8  /* depth of nested members without a name */
#define CHAIN_MAX         32 /* names and qualifiers of a type */
#define FLAVOR            "___"
#define HOOK_PREFIX       "btf_trace_" /* of the name of a hook's type */

/* The kernel's, in place. */
struct kernel_types {
        const uint8_t *types;
        uint32_t types_bytes;
        const char *names; /* ends with a NUL */
        uint32_t names_bytes;
        uint32_t *places; /* heap; by id: where each type begins; 0 is void and has none */
        uint32_t n_types;
};

/* A wanted struct, by its name in the kernel. */
struct wanted {
        const char *name; /* borrowed; without its flavor */
        size_t name_bytes;
        uint32_t id; /* the kernel's; 0 = it has none */
};

struct picker {
        const struct kernel_types_request *request;
        const struct btf *local; /* of the request */
        struct kernel_types kernel;
        struct wanted wanted[STRUCTS_MAX];
        uint32_t n_wanted;
        struct btf *out;
};

/* ---- the kernel's types -------------------------------------------------------------------------------- */

/* The number of bytes after the head of a type; UINT32_MAX for a kind that is not known. */
static uint32_t count_tail_bytes(const struct btf_type *type)
{
        uint32_t n = btf_vlen(type);

        switch (btf_kind(type)) {
        case BTF_KIND_INT:
        case BTF_KIND_VAR:
        case BTF_KIND_DECL_TAG:
                return sizeof(uint32_t);
        case BTF_KIND_ARRAY:
                return sizeof(struct btf_array);
        case BTF_KIND_STRUCT:
        case BTF_KIND_UNION:
                return n * (uint32_t)sizeof(struct btf_member);
        case BTF_KIND_ENUM:
                return n * (uint32_t)sizeof(struct btf_enum);
        case BTF_KIND_ENUM64:
                return n * (uint32_t)sizeof(struct btf_enum64);
        case BTF_KIND_FUNC_PROTO:
                return n * (uint32_t)sizeof(struct btf_param);
        case BTF_KIND_DATASEC:
                return n * (uint32_t)sizeof(struct btf_var_secinfo);
        case BTF_KIND_PTR:
        case BTF_KIND_FWD:
        case BTF_KIND_TYPEDEF:
        case BTF_KIND_VOLATILE:
        case BTF_KIND_CONST:
        case BTF_KIND_RESTRICT:
        case BTF_KIND_FUNC:
        case BTF_KIND_FLOAT:
        case BTF_KIND_TYPE_TAG:
                return 0;
        default:
                return UINT32_MAX;
        }
}

static const struct btf_type *type_of(const struct kernel_types *k, uint32_t id)
{
        return id > 0 && id < k->n_types ? (const void *)(k->types + k->places[id]) : NULL;
}

static const char *name_at(const struct kernel_types *k, uint32_t offset)
{
        return offset < k->names_bytes ? k->names + offset : "";
}

/* The type itself, after names and qualifiers. */
static const struct btf_type *resolve(const struct kernel_types *k, uint32_t id, uint32_t *ret_id)
{
        for (unsigned i = 0; i < CHAIN_MAX; i++) {
                const struct btf_type *type = type_of(k, id);

                *ret_id = id;
                if (!type || (!btf_is_mod(type) && !btf_is_typedef(type) && !btf_is_type_tag(type)))
                        return type;
                id = type->type;
        }
        return NULL;
}

static int check_header(struct kernel_types *k, const void *bytes, size_t n_bytes, struct error *err)
{
        struct btf_header head;

        if (n_bytes < sizeof(head) || n_bytes > BYTES_MAX)
                return error_set(err, -EBADMSG, "the kernel's types: %zu bytes", n_bytes);
        memcpy(&head, bytes, sizeof(head));
        if (head.magic != BTF_MAGIC || head.version != BTF_VERSION || head.hdr_len % sizeof(uint32_t) != 0 ||
            head.type_off % sizeof(uint32_t) != 0)
                return error_set(err, -ENOTSUP, "the kernel's types: another format");
        if ((uint64_t)head.hdr_len + head.type_off + head.type_len > n_bytes ||
            (uint64_t)head.hdr_len + head.str_off + head.str_len > n_bytes)
                return error_set(err, -EBADMSG, "the kernel's types are cut off");
        k->types = (const uint8_t *)bytes + head.hdr_len + head.type_off;
        k->types_bytes = head.type_len;
        k->names = (const char *)bytes + head.hdr_len + head.str_off;
        k->names_bytes = head.str_len;
        if (k->names_bytes == 0 || k->names[k->names_bytes - 1] != '\0')
                return error_set(err, -EBADMSG, "the kernel's types: names without an end");
        return 0;
}

/* ---- the wanted types ---------------------------------------------------------------------------------- */

static size_t count_name_bytes(const char *name)
{
        const char *flavor = strstr(name, FLAVOR);

        return flavor ? (size_t)(flavor - name) : strlen(name);
}

static struct wanted *find_wanted(struct picker *p, const char *name, size_t name_bytes)
{
        for (uint32_t i = 0; i < p->n_wanted; i++)
                if (p->wanted[i].name_bytes == name_bytes && memcmp(p->wanted[i].name, name, name_bytes) == 0)
                        return &p->wanted[i];
        return NULL;
}

static int list_wanted(struct picker *p, struct error *err)
{
        for (uint32_t id = 1; id < btf__type_cnt(p->local); id++) {
                const struct btf_type *type = btf__type_by_id(p->local, id);
                const char *name = btf__name_by_offset(p->local, type->name_off);
                size_t n = count_name_bytes(name);

                if (!btf_is_struct(type) || n == 0 || find_wanted(p, name, n))
                        continue;
                if (p->n_wanted == STRUCTS_MAX)
                        return error_set(err, -EOVERFLOW, "a program with more than %d structs", STRUCTS_MAX);
                p->wanted[p->n_wanted++] = (struct wanted){ .name = name, .name_bytes = n };
        }
        return 0;
}

static void note_struct(struct picker *p, const struct btf_type *type, uint32_t id)
{
        const char *name = name_at(&p->kernel, type->name_off);
        struct wanted *wanted = NULL;

        /*
         * Compares first letters first, because most names differ there; measuring a name's length would
         * take as long as this whole loop.
         */
        for (uint32_t i = 0; i < p->n_wanted && !wanted; i++)
                if (p->wanted[i].name[0] == name[0] && p->wanted[i].id == 0 &&
                    strncmp(p->wanted[i].name, name, p->wanted[i].name_bytes) == 0 &&
                    name[p->wanted[i].name_bytes] == '\0')
                        wanted = &p->wanted[i];
        if (wanted)
                wanted->id = id;
}

static void note_hook(struct picker *p, const struct btf_type *type, uint32_t id)
{
        const char *name = name_at(&p->kernel, type->name_off);
        size_t n_prefix = sizeof(HOOK_PREFIX) - 1;

        if (strncmp(name, HOOK_PREFIX, n_prefix) != 0)
                return;
        for (size_t i = 0; i < p->request->n_hooks; i++)
                if (strcmp(p->request->hooks[i].name, name + n_prefix) == 0)
                        p->request->hooks[i].id = id;
}

/* One pass through all types: finds where each one begins and which ones are wanted. */
static int scan(struct picker *p, struct error *err)
{
        struct kernel_types *k = &p->kernel;
        uint32_t at = 0, n_max = k->types_bytes / (uint32_t)sizeof(struct btf_type) + 1;

        k->places = malloc(n_max * sizeof(*k->places));
        if (!k->places)
                return error_set(err, -ENOMEM, "no memory for the kernel's types");
        for (k->n_types = 1; at < k->types_bytes; k->n_types++) {
                const struct btf_type *type = (const void *)(k->types + at);
                uint32_t tail_bytes;

                if (k->types_bytes - at < sizeof(*type))
                        return error_set(err, -EBADMSG, "the kernel's types: type %u is cut off", k->n_types);
                tail_bytes = count_tail_bytes(type);
                if (tail_bytes == UINT32_MAX)
                        return error_set(err, -ENOTSUP, "the kernel's types: type %u is of a new kind",
                                         k->n_types);
                if (k->types_bytes - at - sizeof(*type) < tail_bytes)
                        return error_set(err, -EBADMSG, "the kernel's types: type %u is cut off", k->n_types);
                k->places[k->n_types] = at;
                if (btf_is_struct(type))
                        note_struct(p, type, k->n_types);
                else if (btf_is_typedef(type))
                        note_hook(p, type, k->n_types);
                at += (uint32_t)sizeof(*type) + tail_bytes;
        }
        return 0;
}

/* ---- the result ---------------------------------------------------------------------------------------- */

/*
 * The order of the output's types: numbers of 1, 2, 4 and 8 bytes, a pointer, the wanted structs, then an
 * array of each wanted struct.  The order makes their ids known before the types are made.
 */
enum { OUT_NUMBERS = 1, OUT_POINTER = 5, OUT_STRUCTS = 6 };

static int add_simple_types(struct btf *out)
{
        static const char *const names[] = { "u8", "u16", "u32", "u64" };
        int r = 0;

        for (size_t i = 0; r >= 0 && i < sizeof(names) / sizeof(names[0]); i++)
                r = btf__add_int(out, names[i], (size_t)1 << i, 0);
        return r < 0 ? r : btf__add_ptr(out, 0);
}

/* A field's type in @out; 0 if it has none there. */
static uint32_t find_out_type(const struct picker *p, uint32_t kernel_id)
{
        uint32_t id, first_struct = OUT_STRUCTS;
        const struct btf_type *type = resolve(&p->kernel, kernel_id, &id);

        if (type && btf_is_array(type)) {
                type = resolve(&p->kernel, btf_array(type)->type, &id);
                if (!type || !btf_is_struct(type))
                        return 0;
                first_struct += p->n_wanted;
        }
        if (!type)
                return 0;
        if (btf_is_ptr(type))
                return OUT_POINTER;
        if ((btf_is_int(type) || btf_is_any_enum(type)) && type->size <= 8 &&
            (type->size & (type->size - 1)) == 0 && type->size > 0)
                return OUT_NUMBERS + (uint32_t)__builtin_ctz(type->size);
        for (uint32_t i = 0; btf_is_struct(type) && i < p->n_wanted; i++)
                if (p->wanted[i].id == id)
                        return first_struct + i;
        return 0;
}

/*
 * Finds a field, also inside members without a name.  Adds its place to @bits; returns NULL if it does not
 * exist.
 */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as such members, with a limit */
static const struct btf_member *find_field(const struct kernel_types *k, const struct btf_type *type,
                                           const char *name, unsigned depth, uint32_t *bits)
{
        const struct btf_member *members = btf_members(type);

        for (uint16_t i = 0; i < btf_vlen(type); i++) {
                const char *own = name_at(k, members[i].name_off);
                const struct btf_member *found = &members[i];
                const struct btf_type *inner;
                uint32_t id, at = *bits + btf_member_bit_offset(type, i);

                if (own[0] == '\0') {
                        inner = resolve(k, members[i].type, &id);
                        found = inner && btf_is_composite(inner) && depth < NESTED_MAX
                                        ? find_field(k, inner, name, depth + 1, &at)
                                        : NULL;
                } else if (strcmp(own, name) != 0 || btf_member_bitfield_size(type, i) != 0) {
                        found = NULL;
                }
                if (found) {
                        *bits = at;
                        return found;
                }
        }
        return NULL;
}

/* One view's fields of a struct. */
static int add_fields(struct picker *p, const struct btf_type *view, const struct btf_type *type)
{
        int r = 0;

        for (uint16_t i = 0; r == 0 && i < btf_vlen(view); i++) {
                const char *name = btf__name_by_offset(p->local, btf_members(view)[i].name_off);
                uint32_t bits = 0;
                const struct btf_member *field = find_field(&p->kernel, type, name, 0, &bits);
                uint32_t out_type = field ? find_out_type(p, field->type) : 0;

                if (out_type != 0)
                        r = btf__add_field(p->out, name, (int)out_type, bits, 0);
        }
        return r;
}

static int add_struct(struct picker *p, const struct wanted *wanted)
{
        const struct btf_type *type = type_of(&p->kernel, wanted->id);
        char name[128];
        int r;

        if (wanted->name_bytes >= sizeof(name))
                return -ENAMETOOLONG;
        memcpy(name, wanted->name, wanted->name_bytes);
        name[wanted->name_bytes] = '\0';
        /* A struct that the kernel lacks still takes its id, but gets no name, so it is never looked up. */
        r = type ? btf__add_struct(p->out, name, type->size) : btf__add_struct(p->out, NULL, 0);
        for (uint32_t id = 1; r >= 0 && type && id < btf__type_cnt(p->local); id++) {
                const struct btf_type *view = btf__type_by_id(p->local, id);
                const char *own = btf__name_by_offset(p->local, view->name_off);

                if (btf_is_struct(view) && count_name_bytes(own) == wanted->name_bytes &&
                    memcmp(own, name, wanted->name_bytes) == 0)
                        r = add_fields(p, view, type);
        }
        return r < 0 ? r : 0;
}

static int make(struct picker *p, struct byte_buffer *out, struct error *err)
{
        const void *bytes = NULL;
        uint32_t n_bytes = 0;
        int r;

        p->out = btf__new_empty();
        if (!p->out)
                return error_set(err, -ENOMEM, "no memory for the kernel's types");
        r = add_simple_types(p->out);
        for (uint32_t i = 0; r >= 0 && i < p->n_wanted; i++)
                r = add_struct(p, &p->wanted[i]);
        for (uint32_t i = 0; r >= 0 && i < p->n_wanted; i++)
                r = btf__add_array(p->out, OUT_NUMBERS + 2, (int)(OUT_STRUCTS + i), 0);
        if (r >= 0)
                bytes = btf__raw_data(p->out, &n_bytes);
        if (bytes)
                byte_buffer_add(out, bytes, n_bytes);
        btf__free(p->out);
        if (r < 0)
                return error_set(err, r, "the kernel's types: those that are needed cannot be written");
        return !bytes || out->failed ? error_set(err, -ENOMEM, "no memory for the kernel's types") : 0;
}

int kernel_types_pick(const struct kernel_types_request *request, const void *kernel, size_t kernel_bytes,
                      struct byte_buffer *out, struct error *err)
{
        struct picker p = { .request = request, .local = request->local };
        int r = check_header(&p.kernel, kernel, kernel_bytes, err);

        if (r != 0)
                goto done;
        r = list_wanted(&p, err);
        if (r != 0)
                goto done;
        r = scan(&p, err);
        if (r != 0)
                goto done;
        r = make(&p, out, err);

done:
        free(p.kernel.places);
        return r;
}

/* ---- the running kernel's ------------------------------------------------------------------------------ */

/*
 * Since Linux 6.16 the kernel's types can be mapped; older kernels only let them be read, a page at a time.
 */
static int pick_from(int fd, const struct kernel_types_request *request, struct byte_buffer *out,
                     struct error *err)
{
        struct byte_buffer copy = { .data = NULL };
        struct stat status;
        void *map = MAP_FAILED;
        int r;

        if (fstat(fd, &status) == 0 && status.st_size > 0 && status.st_size <= BYTES_MAX)
                map = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map != MAP_FAILED) {
                r = kernel_types_pick(request, map, (size_t)status.st_size, out, err);
                (void)munmap(map, (size_t)status.st_size);
                return r;
        }
        r = io_read_file(AT_FDCWD, KERNEL_TYPES_PATH, BYTES_MAX, &copy, err);
        if (r == 0)
                r = kernel_types_pick(request, copy.data, copy.used_bytes, out, err);
        byte_buffer_deinit(&copy);
        return r;
}

static int make_file(const struct byte_buffer *bytes, struct error *err)
{
        int fd = memfd_create("hyprof-kernel-types", MFD_CLOEXEC);
        int r;

        if (fd < 0)
                return error_errno(err, "a file in memory");
        r = io_write_all(fd, bytes->data, bytes->used_bytes, err);
        if (r < 0)
                io_close(&fd);
        return r < 0 ? r : fd;
}

int kernel_types_open(const struct kernel_types_request *request, struct error *err)
{
        struct byte_buffer out = { .data = NULL };
        int r, fd = open(KERNEL_TYPES_PATH, O_RDONLY | O_CLOEXEC);

        if (fd < 0)
                return error_errno(err, "%s", KERNEL_TYPES_PATH);
        r = pick_from(fd, request, &out, err);
        io_close(&fd);
        if (r == 0)
                r = make_file(&out, err);
        byte_buffer_deinit(&out);
        return r;
}
