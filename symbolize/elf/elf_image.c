/* SPDX-License-Identifier: MIT */
#include "symbolize/elf/elf_image.h"

#include "base/byte_buffer.h"
#include "base/error.h"
#include "base/io.h"
#include "symbolize/elf/dynamic_symbols.h"
#include "symbolize/elf/loaded_object.h"

#include <errno.h>
#include <gelf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#define SEGMENTS_MAX   4096       /* PT_LOAD in one file; a handful is usual */
#define NOTE_BYTES_MAX (1U << 20) /* of one note segment or section that is searched */
#define VDSO_BYTES_MAX (1U << 20)
#define GNU_NOTE_NAME  "GNU"

static bool lies_within(uint64_t offset, uint64_t n_bytes, uint64_t file_bytes)
{
        return offset <= file_bytes && n_bytes <= file_bytes - offset;
}

/*
 * libelf trusts some table offsets unchecked, so a file with a table outside of its bounds is refused here.
 */
static int check_header(Elf *elf, uint64_t file_bytes, struct error *err)
{
        size_t n_program_headers, n_sections;
        GElf_Ehdr header;

        if (elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
                return error_set(err, -EBADMSG, "not an ELF file");
        if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
                return error_set(err, -EBADMSG, "ELF type %u: neither executable nor shared object",
                                 header.e_type);
        if (elf_getphdrnum(elf, &n_program_headers) != 0 || elf_getshdrnum(elf, &n_sections) != 0)
                return error_set(err, -EBADMSG, "damaged ELF header: %s", elf_errmsg(-1));
        /* libelf counts only headers that fit into the file; a file that states more was cut. */
        if (header.e_phnum != PN_XNUM)
                n_program_headers = header.e_phnum;
        if (header.e_shnum != 0)
                n_sections = header.e_shnum;
        if (!lies_within(header.e_phoff, n_program_headers * header.e_phentsize, file_bytes))
                return error_set(err, -EBADMSG, "ELF program headers lie outside of the file");
        if (n_sections > 0 && !lies_within(header.e_shoff, n_sections * header.e_shentsize, file_bytes))
                return error_set(err, -EBADMSG, "ELF section headers lie outside of the file");
        return 0;
}

static int read_segments(struct elf_image *image, struct error *err)
{
        size_t n_headers = 0;

        if (elf_getphdrnum(image->elf, &n_headers) != 0 || n_headers > SEGMENTS_MAX)
                return error_set(err, -EBADMSG, "%zu ELF program headers", n_headers);
        image->segments = calloc(n_headers + 1, sizeof(*image->segments));
        if (!image->segments)
                return error_set(err, -ENOMEM, "no memory for %zu program headers", n_headers);

        for (size_t i = 0; i < n_headers; i++) {
                GElf_Phdr header;

                if (!gelf_getphdr(image->elf, (int)i, &header) || header.p_type != PT_LOAD)
                        continue;
                image->segments[image->n_segments++] = (struct elf_image_segment){
                        .file_off = header.p_offset,
                        .file_bytes = header.p_filesz,
                        .svma = header.p_vaddr,
                        .memory_bytes = header.p_memsz,
                        .executable = header.p_flags & PF_X,
                        .writable = header.p_flags & PF_W,
                };
        }
        return 0;
}

/* Takes the build-id out of the notes in @data, if one is there; gelf_getnote() checks the bounds. */
static bool take_build_id(struct elf_image *image, Elf_Data *data)
{
        size_t name_off, description_off;
        GElf_Nhdr note;

        for (size_t at = 0; at < data->d_size;) {
                size_t next = gelf_getnote(data, at, &note, &name_off, &description_off);
                const uint8_t *bytes = data->d_buf;

                if (next <= at)
                        return false;
                at = next;
                if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof(GNU_NOTE_NAME) ||
                    memcmp(bytes + name_off, GNU_NOTE_NAME, sizeof(GNU_NOTE_NAME)) != 0)
                        continue;
                if (note.n_descsz == 0 || note.n_descsz > ELF_IMAGE_BUILD_ID_MAX)
                        return false;
                memcpy(image->build_id, bytes + description_off, note.n_descsz);
                image->build_id_bytes = note.n_descsz;
                return true;
        }
        return false;
}

static bool take_build_id_at(struct elf_image *image, uint64_t offset, uint64_t n_bytes, uint64_t align)
{
        Elf_Data *data;

        if (n_bytes == 0 || n_bytes > NOTE_BYTES_MAX || offset > INT64_MAX)
                return false;
        data = elf_getdata_rawchunk(image->elf, (int64_t)offset, n_bytes,
                                    align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
        return data && take_build_id(image, data);
}

/* From the segments, which every loaded file has, else from the sections: a debug file has only those. */
static void read_build_id(struct elf_image *image)
{
        Elf_Scn *section = NULL;
        size_t n_headers = 0;
        GElf_Phdr segment;
        GElf_Shdr header;

        (void)elf_getphdrnum(image->elf, &n_headers);
        for (size_t i = 0; i < n_headers && i < SEGMENTS_MAX; i++)
                if (gelf_getphdr(image->elf, (int)i, &segment) && segment.p_type == PT_NOTE &&
                    take_build_id_at(image, segment.p_offset, segment.p_filesz, segment.p_align))
                        return;
        while ((section = elf_nextscn(image->elf, section)))
                if (gelf_getshdr(section, &header) && header.sh_type == SHT_NOTE &&
                    take_build_id_at(image, header.sh_offset, header.sh_size, header.sh_addralign))
                        return;
}

static int read_image(struct elf_image *image, uint64_t file_bytes, struct error *err)
{
        int r;

        if (!image->elf)
                return error_set(err, -EBADMSG, "not an ELF file: %s", elf_errmsg(-1));
        r = check_header(image->elf, file_bytes, err);
        if (r < 0)
                return r;
        r = read_segments(image, err);
        if (r < 0)
                return r;
        read_build_id(image);
        return 0;
}

static struct elf_image *image_new(void)
{
        struct elf_image *image = calloc(1, sizeof(*image));

        (void)elf_version(EV_CURRENT);
        if (image)
                image->fd = -1;
        return image;
}

/* Some images are changed before they are read: see loaded_object.h and dynamic_symbols.h. */
static bool is_relocatable(const void *header, size_t n_bytes)
{
        ElfW(Ehdr) h;

        if (n_bytes < sizeof(h))
                return false;
        memcpy(&h, header, sizeof(h));
        return memcmp(h.e_ident, ELFMAG, SELFMAG) == 0 && h.e_type == ET_REL;
}

/* Takes the memory of @bytes. */
static int open_buffer(struct byte_buffer *bytes, struct elf_image **ret_image, struct error *err)
{
        struct elf_image *image = image_new();
        int r = image ? 0 : error_set(err, -ENOMEM, "no memory for an ELF image");

        if (r == 0 && is_relocatable(bytes->data, bytes->used_bytes))
                r = loaded_object_link(bytes, err);
        if (r == 0 && dynamic_symbols_add(bytes) < 0)
                r = error_set(err, -ENOMEM, "no memory for the sections of an ELF image");
        if (r < 0)
                goto fail;
        image->memory = bytes->data;
        image->elf = elf_memory((char *)image->memory, bytes->used_bytes);
        r = read_image(image, bytes->used_bytes, err);
        *bytes = (struct byte_buffer){ .data = NULL };
        if (r < 0)
                goto fail;
        *ret_image = image;
        return 0;

fail:
        byte_buffer_deinit(bytes);
        elf_image_close(image);
        return r;
}

/* Reads all of a file whose bytes have to be changed before libelf reads it. */
static int open_in_memory(int fd, uint64_t file_bytes, struct elf_image **ret_image, struct error *err)
{
        struct byte_buffer bytes = { .data = NULL };
        size_t got = 0;
        int r;

        if (file_bytes > ELF_IMAGE_MEMORY_MAX)
                return error_set(err, -EBADMSG, "ELF object of %llu bytes", (unsigned long long)file_bytes);
        if (!byte_buffer_reserve(&bytes, file_bytes + 1))
                return error_set(err, -ENOMEM, "no memory for an ELF object");
        r = io_pread_full(fd, bytes.data, file_bytes, 0, &got, err);
        bytes.used_bytes = got;
        if (r == 0)
                return open_buffer(&bytes, ret_image, err);
        byte_buffer_deinit(&bytes);
        return r;
}

static int open_file(int fd, Elf_Cmd command, struct elf_image **ret_image, struct error *err)
{
        struct elf_image *image;
        uint8_t begin[sizeof(Elf64_Ehdr)];
        struct stat status;
        size_t got = 0;
        int r;

        if (fstat(fd, &status) < 0)
                return error_errno(err, "fstat of an ELF file");
        if (io_pread_full(fd, begin, sizeof(begin), 0, &got, NULL) == 0 &&
            (is_relocatable(begin, got) ||
             (dynamic_symbols_are_needed(begin, got) && (uint64_t)status.st_size <= ELF_IMAGE_MEMORY_MAX)))
                return open_in_memory(fd, (uint64_t)status.st_size, ret_image, err);
        image = image_new();
        if (!image)
                return error_set(err, -ENOMEM, "no memory for an ELF image");
        image->fd = fd;
        image->elf = elf_begin(fd, command, NULL);
        r = read_image(image, (uint64_t)status.st_size, err);
        if (r < 0) {
                elf_image_close(image);
                return r;
        }
        *ret_image = image;
        return 0;
}

int elf_image_open(int fd, struct elf_image **ret_image, struct error *err)
{
        return open_file(fd, ELF_C_READ_MMAP, ret_image, err);
}

int elf_image_open_unmapped(int fd, struct elf_image **ret_image, struct error *err)
{
        return open_file(fd, ELF_C_READ, ret_image, err);
}

int elf_image_open_memory(const void *bytes, size_t n_bytes, struct elf_image **ret_image, struct error *err)
{
        struct byte_buffer copy = { .data = NULL };

        if (!byte_buffer_reserve(&copy, n_bytes + 1))
                return error_set(err, -ENOMEM, "no memory for an ELF image of %zu bytes", n_bytes);
        byte_buffer_add(&copy, bytes, n_bytes);
        return open_buffer(&copy, ret_image, err);
}

/* How far the image in memory reaches: to the end of its last segment or of its section headers. */
static size_t count_vdso_bytes(const ElfW(Ehdr) * header)
{
        const uint8_t *base = (const uint8_t *)header;
        size_t end = header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;

        for (size_t i = 0; i < header->e_phnum; i++) {
                const ElfW(Phdr) *segment = (const ElfW(Phdr) *)(const void *)(base + header->e_phoff +
                                                                               i * header->e_phentsize);

                if (segment->p_type == PT_LOAD && segment->p_offset + segment->p_filesz > end)
                        end = segment->p_offset + segment->p_filesz;
        }
        return end;
}

int elf_image_open_vdso(struct elf_image **ret_image, struct error *err)
{
        /* NOLINTNEXTLINE(performance-no-int-to-ptr): that is how the kernel hands it over */
        const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)getauxval(AT_SYSINFO_EHDR);
        size_t n_bytes;

        if (!header)
                return error_set(err, -ENODATA, "this kernel provides no vdso");
        n_bytes = count_vdso_bytes(header);
        if (n_bytes > VDSO_BYTES_MAX)
                return error_set(err, -EOVERFLOW, "vdso of %zu bytes", n_bytes);
        return elf_image_open_memory(header, n_bytes, ret_image, err);
}

void elf_image_close(struct elf_image *image)
{
        if (!image)
                return;
        if (image->elf)
                (void)elf_end(image->elf);
        free(image->segments);
        free(image->memory);
        free(image);
}

bool elf_image_find_svma(const struct elf_image *image, uint64_t file_off, uint64_t *ret_svma)
{
        const struct elf_image_segment *found = NULL;

        for (size_t i = 0; i < image->n_segments; i++) {
                const struct elf_image_segment *s = &image->segments[i];

                if (file_off < s->file_off || file_off - s->file_off >= s->file_bytes)
                        continue;
                if (!found || (s->executable && !found->executable))
                        found = s;
        }
        if (!found)
                return false;
        *ret_svma = file_off - found->file_off + found->svma;
        return true;
}

Elf_Scn *elf_image_find_section(const struct elf_image *image, const char *name, GElf_Shdr *ret_header)
{
        Elf_Scn *section = NULL;
        size_t names;

        if (elf_getshdrstrndx(image->elf, &names) != 0)
                return NULL;
        while ((section = elf_nextscn(image->elf, section))) {
                const char *its_name = gelf_getshdr(section, ret_header)
                                               ? elf_strptr(image->elf, names, ret_header->sh_name)
                                               : NULL;

                if (its_name && strcmp(its_name, name) == 0)
                        return section;
        }
        return NULL;
}

/*
 * The first address at which code can begin in a part that starts at byte @file_off of the file: after the
 * file's header.
 */
static uint64_t without_header(const struct elf_image *image, uint64_t svma, uint64_t file_off)
{
        GElf_Ehdr header;

        if (file_off != 0 || !gelf_getehdr(image->elf, &header) || svma > UINT64_MAX - header.e_ehsize)
                return svma;
        return svma + header.e_ehsize;
}

/* The lowest address of a loaded section of code; UINT64_MAX if no section has code. */
static uint64_t find_first_code_section(const struct elf_image *image)
{
        const uint64_t flags = SHF_ALLOC | SHF_EXECINSTR;
        uint64_t first = UINT64_MAX;
        Elf_Scn *section = NULL;
        GElf_Shdr header;

        while ((section = elf_nextscn(image->elf, section))) {
                uint64_t svma;

                if (!gelf_getshdr(section, &header) || (header.sh_flags & flags) != flags ||
                    header.sh_size == 0)
                        continue;
                svma = without_header(image, header.sh_addr, header.sh_offset);
                first = svma < first ? svma : first;
        }
        return first;
}

uint64_t elf_image_first_code(const struct elf_image *image)
{
        uint64_t first = find_first_code_section(image);
        bool has_section = first != UINT64_MAX;

        for (size_t i = 0; !has_section && i < image->n_segments; i++) {
                const struct elf_image_segment *s = &image->segments[i];
                uint64_t svma = without_header(image, s->svma, s->file_off);

                if (s->executable && svma < first)
                        first = svma;
        }
        return first == UINT64_MAX ? 1 : first;
}

/* A mapping begins at a page, so before its segment or within it; never compare addresses alone. */
bool elf_image_part_find_bias(const struct elf_image_part *part, uint64_t start_avma, uint64_t file_off,
                              uint64_t length_bytes, uint64_t *ret_bias)
{
        if (file_off >= part->file_off + part->file_bytes || part->file_off >= file_off + length_bytes)
                return false;
        *ret_bias = start_avma - (part->svma - part->file_off + file_off);
        return true;
}
