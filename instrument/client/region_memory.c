/* SPDX-License-Identifier: MIT */
#include "instrument/client/region_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* The region takes one part in so many of a limited address space; the program keeps the rest. */
#define SHARE_OF_ADDRESS_SPACE 8

#define OPEN_STEP_BYTES \
        CLIENT_ABI_HEADER_ROOM_BYTES /* a multiple of any page size, and enough for many programs */

/*
 * The sizes to try, one after the other.  A page of an area exists only once it is used, so that a large
 * area costs nothing but addresses.
 */
struct size {
        uint32_t n_slots;
        uint32_t area_shift; /* the areas are smaller by this power of two */
        uint32_t n_chunks;
};
static const struct size sizes[] = {
        { REGION_MEMORY_SLOTS_MAX, 0, REGION_MEMORY_CHUNKS_MAX },
        { 2048, 0, REGION_MEMORY_CHUNKS_MAX },
        { 1024, 0, 2048 },
        { 512, 0, 1024 },
        { 256, 0, 512 },
        { 256, 2, 256 },
        { 128, 4, 128 },
        { 64, 6, 64 },
        { 32, 8, 16 },
        { 16, 10, 0 },
};
#define N_SIZES (sizeof(sizes) / sizeof(sizes[0]))

/* Fills in the layout; every area begins at a page boundary, for pages of any size. */
static struct client_abi_header layout(const struct region_options *options, const struct size *size)
{
        uint32_t n_slots = size->n_slots;
        struct client_abi_header h = {
                .magic = CLIENT_ABI_MAGIC,
                .abi_major = CLIENT_ABI_MAJOR,
                .abi_minor = CLIENT_ABI_MINOR,
                .header_bytes = sizeof(struct client_abi_header),
                .pid = (uint32_t)getpid(),
                .clock_kind = options->clock_kind,
                .slots_offset = CLIENT_ABI_HEADER_ROOM_BYTES,
                .slot_bytes = sizeof(struct client_abi_slot),
                .n_slots = n_slots,
                .location_bytes = sizeof(struct client_abi_location),
                .n_locations_max = REGION_MEMORY_LOCATIONS_MAX >> size->area_shift,
                .strings_bytes = REGION_MEMORY_STRINGS_BYTES >> size->area_shift,
                .ring_bytes = options->ring_bytes,
                .blobs_bytes = REGION_MEMORY_BLOBS_BYTES >> size->area_shift,
                .chunk_bytes = REGION_MEMORY_CHUNK_BYTES,
                .n_chunks = size->n_chunks,
                .control_word = options->control_word,
        };
        uint64_t n_chunks_allowed = options->spare_bytes / h.chunk_bytes;
        uint64_t slots_bytes = (uint64_t)n_slots * h.slot_bytes;
        uint64_t page_mask = CLIENT_ABI_HEADER_ROOM_BYTES - 1;

        h.locations_offset = h.slots_offset + ((slots_bytes + page_mask) & ~page_mask);
        h.strings_offset = (h.locations_offset + (uint64_t)h.n_locations_max * h.location_bytes + page_mask) &
                           ~page_mask;
        h.rings_offset = h.strings_offset + h.strings_bytes;
        h.blobs_offset = (h.rings_offset + n_slots * h.ring_bytes + page_mask) & ~page_mask;
        h.chunks_offset = (h.blobs_offset + h.blobs_bytes + page_mask) & ~page_mask;
        h.region_bytes = h.chunks_offset + (uint64_t)h.n_chunks * h.chunk_bytes;
        h.n_chunks_allowed = n_chunks_allowed < h.n_chunks ? (uint32_t)n_chunks_allowed : h.n_chunks;
        return h;
}

/* The largest region that no limit of this process forbids. */
static uint64_t room_bytes(void)
{
        struct rlimit file, space;
        uint64_t room = SIZE_MAX / SHARE_OF_ADDRESS_SPACE;

        /* Beyond this one, ftruncate() would not only fail but raise SIGXFSZ. */
        if (getrlimit(RLIMIT_FSIZE, &file) == 0 && file.rlim_cur != RLIM_INFINITY && file.rlim_cur < room)
                room = file.rlim_cur;
        if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY &&
            space.rlim_cur / SHARE_OF_ADDRESS_SPACE < room)
                room = space.rlim_cur / SHARE_OF_ADDRESS_SPACE;
        return room;
}

/* Returns a sealed memfd that begins with @h and with all chunks free, or -errno. */
static int open_memfd(const struct client_abi_header *h)
{
        uint64_t page[CLIENT_ABI_FREE_CHUNKS_OFFSET / sizeof(uint64_t) + CLIENT_ABI_CHUNKS_MAX / 64] = { 0 };
        uint64_t *free_chunks = page + CLIENT_ABI_FREE_CHUNKS_OFFSET / sizeof(uint64_t);
        int fd = memfd_create(CLIENT_ABI_MEMFD_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);
        int code;

        if (fd < 0)
                return -errno;
        if (ftruncate(fd, (off_t)h->region_bytes) < 0)
                goto fail;
        if (fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
                goto fail;
        memcpy(page, h, sizeof(*h));
        for (uint32_t i = 0; i < h->n_chunks; i++)
                free_chunks[i / 64] |= UINT64_C(1) << i % 64;
        if (pwrite(fd, page, sizeof(page), 0) != (ssize_t)sizeof(page))
                goto fail;
        return fd;

fail:
        code = errno > 0 ? -errno : -EIO;
        (void)close(fd);
        return code;
}

/* Maps what @fd holds.  The recorder may open the region as soon as the first mmap() is done. */
static int map(struct region_memory *m, int fd, const struct client_abi_header *h, void *control_page)
{
        struct stat st;
        uint8_t *base;
        int code;

        if (fstat(fd, &st) < 0)
                return -errno;
        base = mmap(NULL, (size_t)h->region_bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
        if (base == MAP_FAILED)
                return -errno;
        /* The part after the slots is opened as it is used. */
        if (mprotect(base + h->locations_offset, (size_t)(h->region_bytes - h->locations_offset), PROT_NONE) <
            0) {
                code = -errno;
                (void)munmap(base, (size_t)h->region_bytes);
                return code;
        }
        if (mmap(control_page, CLIENT_ABI_HEADER_ROOM_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                 fd, 0) == MAP_FAILED) {
                code = -errno;
                (void)munmap(base, (size_t)h->region_bytes);
                return code;
        }
        /* Gigabytes of mostly nothing are useless in a core file. */
        (void)madvise(base, (size_t)h->region_bytes, MADV_DONTDUMP);

        *m = (struct region_memory){
                .base = base,
                .bytes = (size_t)h->region_bytes,
                .header = (struct client_abi_header *)(void *)base,
                .slots = (struct client_abi_slot *)(void *)(base + h->slots_offset),
                .locations = (struct client_abi_location *)(void *)(base + h->locations_offset),
                .strings = base + h->strings_offset,
                .rings = base + h->rings_offset,
                .blobs = base + h->blobs_offset,
                .chunks = base + h->chunks_offset,
                .free_chunks = (uint64_t *)(void *)(base + CLIENT_ABI_FREE_CHUNKS_OFFSET),
                .chunk_links = (struct client_abi_link *)(void *)(base + CLIENT_ABI_CHUNK_LINKS_OFFSET),
                .strings_bytes = h->strings_bytes,
                .ring_bytes = h->ring_bytes,
                .blobs_bytes = h->blobs_bytes,
                .n_slots = h->n_slots,
                .n_locations_max = h->n_locations_max,
                .n_chunks = h->n_chunks,
                .chunk_bytes = h->chunk_bytes,
                .location_area = { .base = base + h->locations_offset,
                                   .bytes = (uint64_t)h->n_locations_max * h->location_bytes },
                .string_area = { .base = base + h->strings_offset, .bytes = h->strings_bytes },
                .ring_area = { .base = base + h->rings_offset,
                               .bytes = h->n_slots * h->ring_bytes,
                               .step_bytes = h->ring_bytes },
                .blob_area = { .base = base + h->blobs_offset, .bytes = h->blobs_bytes },
                .chunk_area = { .base = base + h->chunks_offset,
                                .bytes = (uint64_t)h->n_chunks * h->chunk_bytes,
                                .step_bytes = h->chunk_bytes },
                .fd = fd,
                .fd_device = st.st_dev,
                .fd_inode = st.st_ino,
        };
        return 0;
}

int region_memory_create(struct region_memory *m, const struct region_options *options, void *control_page)
{
        uint64_t room = room_bytes();
        int r = -EFBIG;

        /* The loader did not honour the alignment of the control page, or pages are larger than we know. */
        if ((uintptr_t)control_page % (uintptr_t)sysconf(_SC_PAGESIZE) != 0 ||
            sysconf(_SC_PAGESIZE) > CLIENT_ABI_HEADER_ROOM_BYTES)
                return -EINVAL;

        for (size_t i = 0; i < N_SIZES; i++) {
                struct client_abi_header h = layout(options, &sizes[i]);
                int fd;

                if (h.region_bytes > room)
                        continue;
                fd = open_memfd(&h);
                if (fd < 0)
                        return fd;
                r = map(m, fd, &h, control_page);
                if (r == 0)
                        return 0;
                (void)close(fd);
                if (r != -ENOMEM)
                        return r;
        }
        return r;
}

void region_memory_show(const struct region_memory *m)
{
        size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
        void *shown = mmap(NULL, page_bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, m->fd, 0);

        if (shown != MAP_FAILED)
                (void)munmap(shown, page_bytes);
}

static uint64_t least(uint64_t a, uint64_t b)
{
        return a < b ? a : b;
}

/* Opens areas that have no fixed step by doubling, so that few calls are needed. */
int region_area_open(struct region_area *area, uint64_t until_bytes)
{
        uint64_t seen = __atomic_load_n(&area->open_bytes, __ATOMIC_RELAXED);
        uint64_t step = area->step_bytes;
        int saved_errno = errno, code;

        if (until_bytes <= seen)
                return 0;
        if (until_bytes > area->bytes)
                return -ENOSPC;
        if (step == 0)
                step = seen > OPEN_STEP_BYTES ? seen : OPEN_STEP_BYTES;
        until_bytes = until_bytes > area->bytes - step ? area->bytes : (until_bytes + step - 1) / step * step;
        if (mprotect(area->base, (size_t)until_bytes, PROT_READ | PROT_WRITE) < 0) {
                code = -errno;
                errno = saved_errno;
                return code;
        }
        while (seen < until_bytes && !__atomic_compare_exchange_n(&area->open_bytes, &seen, until_bytes, true,
                                                                  __ATOMIC_RELAXED, __ATOMIC_RELAXED))
                ;
        return 0;
}

/*
 * Other threads of the parent may be adding to @from at this moment.  Entries that this process refers to
 * were complete before it was forked; the rest is copied in whatever state it is and never read, or not
 * copied if it is not open yet.  The count is read first, then the entries, then the strings, so that no
 * copied entry lacks its strings.
 *
 * A recorder may write into the header as well: its numbers are checked even here.
 */
int region_memory_copy_locations(struct region_memory *m, const struct region_memory *from)
{
        uint32_t n = __atomic_load_n(&from->header->n_locations, __ATOMIC_ACQUIRE);
        uint64_t locations_bytes, strings_bytes;
        int code;

        if (n > from->n_locations_max || n > m->n_locations_max)
                return -ENOSPC;
        locations_bytes = least(n * sizeof(*m->locations),
                                __atomic_load_n(&from->location_area.open_bytes, __ATOMIC_RELAXED));
        code = region_area_open(&m->location_area, locations_bytes);
        if (code < 0)
                return code;
        memcpy(m->locations, from->locations, (size_t)locations_bytes);
        strings_bytes = __atomic_load_n(&from->header->strings_used_bytes, __ATOMIC_ACQUIRE);
        if (strings_bytes > from->strings_bytes || strings_bytes > m->strings_bytes)
                return -ENOSPC;
        __atomic_store_n(&m->header->strings_used_bytes, strings_bytes, __ATOMIC_RELAXED);
        strings_bytes = least(strings_bytes,
                              __atomic_load_n(&from->string_area.open_bytes, __ATOMIC_RELAXED));
        code = region_area_open(&m->string_area, strings_bytes);
        if (code < 0)
                return code;
        memcpy(m->strings, from->strings, (size_t)strings_bytes);
        __atomic_store_n(&m->header->n_locations, n, __ATOMIC_RELEASE);
        return 0;
}

/*
 * An old size of 0 makes mremap(2) add a second mapping of the same pages.  The descriptor is not used: the
 * program may have closed it.
 */
int region_memory_share_control(const struct region_memory *m, void *control_page)
{
        int code;

        if (mremap(m->base, 0, CLIENT_ABI_HEADER_ROOM_BYTES, MREMAP_MAYMOVE | MREMAP_FIXED, control_page) !=
            MAP_FAILED)
                return 0;
        code = -errno;
        (void)region_memory_blank_control(control_page); /* whatever was there may be gone */
        return code;
}

/* Closes the descriptor, unless the program closed it already and uses the number for something else. */
static void close_own_fd(struct region_memory *m)
{
        struct stat st;

        if (fstat(m->fd, &st) == 0 && st.st_dev == m->fd_device && st.st_ino == m->fd_inode)
                (void)close(m->fd);
        m->fd = -1;
}

void region_memory_destroy(struct region_memory *m)
{
        if (!m->base)
                return;
        close_own_fd(m);
        (void)munmap(m->base, m->bytes);
        m->base = NULL;
}

int region_memory_cover(struct region_memory *m)
{
        void *covered = mmap(m->base, m->bytes, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);

        close_own_fd(m);
        return covered == MAP_FAILED ? -errno : 0;
}

int region_memory_blank_control(void *control_page)
{
        void *blank = mmap(control_page, CLIENT_ABI_HEADER_ROOM_BYTES, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

        return blank == MAP_FAILED ? -errno : 0;
}
