/* SPDX-License-Identifier: MIT */
/*
 * How a copy of the library finds the other copies
 *
 * Each copy has a note in a PT_NOTE segment of the object into which it was linked: owner "hyprof", type 1,
 * and 8 bytes that state the distance from the note to its struct client_link.
 *
 * The distance needs no relocation, and the note needs neither an exported symbol nor the name of the
 * object: it is found with RTLD_LOCAL, --exclude-libs, and in static programs.  Constructors and
 * destructors run under the lock of the dynamic linker, as does the search; so no two copies do this at
 * once.
 *
 * Why no pointer dangles
 *
 * The copy with the region is never unloaded, because threads that end call into it.  The other copies may
 * be unloaded: the copy with the region keeps only the addresses of their control pages, in a list that
 * they leave before they go.
 */
#include "instrument/client/client.h"

#include "instrument/client/region_memory.h"
#include "instrument/client_abi.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

#define NOTE_OWNER "hyprof"
#define NOTE_TYPE  1

/*
 * Refers to dlopen() by its oldest version.  A static libc does not have that version: so a static program
 * gets no linker warning about dlopen(), and it does not need the call, since nothing in it is ever unloaded.
 * The address is NULL where dlopen() is not in libc.so itself but in another library, as before glibc 2.34.
 * Other libcs have no versions: musl has dlopen() in its one library.
 */
#if defined(__x86_64__)
#define DLOPEN_VERSION "GLIBC_2.2.5"
#elif defined(__riscv)
#define DLOPEN_VERSION "GLIBC_2.27"
#else
#define DLOPEN_VERSION "GLIBC_2.17"
#endif
#ifdef __GLIBC__
__asm__(".symver client_link_dlopen, dlopen@" DLOPEN_VERSION);
extern void *client_link_dlopen(const char *path, int mode) __attribute__((weak));
#else
extern void *client_link_dlopen(const char *path, int mode) __asm__("dlopen") __attribute__((weak));
#endif

#define X(name) extern __typeof__(hyprof_emit_##name) client_own_##name __attribute__((visibility("hidden")));
CLIENT_LINK_FUNCTIONS(X)
#undef X

static void join_region(struct client_link *copy);
static void part(struct client_link *copy);

/* Not static: the note below refers to it. */
extern struct client_link client_link_self __attribute__((visibility("hidden")));
__attribute__((used)) struct client_link client_link_self = { .version = CLIENT_LINK_VERSION,
                                                              .bytes = sizeof(struct client_link),
                                                              .control_page = hyprof_control,
                                                              .join = join_region,
                                                              .part = part,
#define X(name) .functions.name = client_own_##name,
                                                              CLIENT_LINK_FUNCTIONS(X)
#undef X
};

__asm__(".pushsection .note.hyprof, \"a\", %note\n"
        "        .balign 4\n"
        "        .long 7, 8, 1\n" /* bytes of owner and descriptor, type */
        "        .asciz \"" NOTE_OWNER "\"\n"
        "        .balign 4\n"
        "1:      .quad client_link_self - 1b\n"
        "        .popsection\n");

/* One object's bytes that are certainly mapped. */
static bool is_loaded(const struct dl_phdr_info *object, const ElfW(Phdr) * note)
{
        for (size_t i = 0; i < object->dlpi_phnum; i++) {
                const ElfW(Phdr) *p = &object->dlpi_phdr[i];

                if (p->p_type == PT_LOAD && p->p_flags & PF_R && note->p_vaddr >= p->p_vaddr &&
                    note->p_memsz <= p->p_filesz && note->p_vaddr - p->p_vaddr <= p->p_filesz - note->p_memsz)
                        return true;
        }
        return false;
}

static size_t round_up(size_t n, size_t alignment)
{
        return (n + alignment - 1) & ~(alignment - 1);
}

static void *memory_at(uintptr_t address)
{
        return (void *)address; /* NOLINT(performance-no-int-to-ptr): as the linker says */
}

/* The copy that the notes of a segment describe, or NULL. */
static struct client_link *find_in_notes(const uint8_t *at, size_t n_bytes, size_t alignment)
{
        ElfW(Nhdr) h;

        while (n_bytes >= sizeof(h)) {
                size_t descriptor_at, next_at;
                int64_t distance;

                memcpy(&h, at, sizeof(h));
                descriptor_at = round_up(sizeof(h) + h.n_namesz, alignment);
                next_at = round_up(descriptor_at + h.n_descsz, alignment);
                if (h.n_namesz > n_bytes || h.n_descsz > n_bytes || descriptor_at + h.n_descsz > n_bytes)
                        return NULL;
                if (h.n_type == NOTE_TYPE && h.n_namesz == sizeof(NOTE_OWNER) &&
                    h.n_descsz == sizeof(distance) && memcmp(at + sizeof(h), NOTE_OWNER, h.n_namesz) == 0) {
                        memcpy(&distance, at + descriptor_at, sizeof(distance));
                        return memory_at((uintptr_t)(at + descriptor_at) + (uintptr_t)distance);
                }
                if (next_at >= n_bytes)
                        return NULL;
                at += next_at;
                n_bytes -= next_at;
        }
        return NULL;
}

static struct client_link *find_in_object(const struct dl_phdr_info *object)
{
        struct client_link *found = NULL;

        for (size_t i = 0; i < object->dlpi_phnum && !found; i++) {
                const ElfW(Phdr) *p = &object->dlpi_phdr[i];

                if (p->p_type == PT_NOTE && is_loaded(object, p))
                        found = find_in_notes(memory_at(object->dlpi_addr + p->p_vaddr), p->p_memsz,
                                              p->p_align == 8 ? 8 : 4);
        }
        return found;
}

/* For dl_iterate_phdr(); stops at the copy that has the region. */
static int find_leader(struct dl_phdr_info *object, size_t info_bytes, void *ret_leader)
{
        struct client_link *found = find_in_object(object);

        (void)info_bytes;
        if (!found || !found->has_region)
                return 0;
        *(struct client_link **)ret_leader = found;
        return 1;
}

/* The control page of a copy that differs too much stays zero, so that copy emits nothing. */
bool client_link_join(const struct client_link_functions **ret_functions)
{
        struct client_link *leader = NULL;

        (void)dl_iterate_phdr(find_leader, &leader);
        if (!leader)
                return false;
        if (leader->version == CLIENT_LINK_VERSION && leader->bytes >= CLIENT_LINK_BYTES_MIN) {
                leader->join(&client_link_self);
                *ret_functions = &leader->functions;
        }
        return true;
}

/*
 * Two copies have one control page where the dynamic linker has bound the symbols of one
 * to those of the other.
 */
static void show(const struct region_memory *region, struct client_link *copy)
{
        if (copy->control_page == hyprof_control)
                return;
        if (region->base)
                (void)region_memory_share_control(region, copy->control_page);
        else
                (void)region_memory_blank_control(copy->control_page);
}

/* One store makes a copy part of the list: fork() in another thread finds it whole or not at all. */
static void join_region(struct client_link *copy)
{
        show(&client_self.region, copy);
        copy->next = client_link_self.next;
        __atomic_store_n(&client_link_self.next, copy, __ATOMIC_RELEASE);
}

static void part(struct client_link *copy)
{
        for (struct client_link *c = &client_link_self; c->next; c = c->next)
                if (c->next == copy) {
                        __atomic_store_n(&c->next, copy->next, __ATOMIC_RELEASE);
                        return;
                }
}

void client_link_renew(const struct region_memory *region)
{
        for (struct client_link *c = client_link_self.next; c; c = c->next)
                show(region, c);
}

/* For dl_iterate_phdr(); stops at the object that this copy lies in.  The program itself has no name. */
static int pin_own_object(struct dl_phdr_info *object, size_t info_bytes, void *unused)
{
        (void)info_bytes;
        (void)unused;
        if (find_in_object(object) != &client_link_self)
                return 0;
        if (object->dlpi_name && *object->dlpi_name != '\0')
                (void)client_link_dlopen(object->dlpi_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
        return 1;
}

void client_link_lead(void)
{
        client_link_self.has_region = 1;
}

/* dlopen() allocates, so this is for the constructor, and not for an event that came before it. */
void client_link_pin(void)
{
        if (client_link_self.has_region && client_link_dlopen)
                (void)dl_iterate_phdr(pin_own_object, NULL);
}

/* The functions of the other copy stay in use: later destructors may still emit events. */
__attribute__((destructor)) static void end(void)
{
        struct client_link *leader = NULL;

        if (!client_self.other)
                return;
        (void)dl_iterate_phdr(find_leader, &leader);
        if (leader)
                leader->part(&client_link_self);
}
