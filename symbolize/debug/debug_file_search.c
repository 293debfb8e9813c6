/* SPDX-License-Identifier: MIT */
#include "symbolize/debug/debug_file_search.h"

#include "base/bytes.h"
#include "symbolize/debug/debug_file.h"
#include "symbolize/debug/symbol_search.h"
#include "symbolize/elf/byte_order.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/elf/image_code.h"

#include <dirent.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEBUG_DIRECTORY "/usr/lib/debug"
#define LINK_CRC_BYTES  4
#define ID_BYTES_MAX    ELF_IMAGE_BUILD_ID_MAX
#define PATH_BYTES_MAX  4096

#define SUP_VERSION  5
#define CHECKSUM_MAX 64

static const struct symbol_search own_folders = { .sysroot = NULL };

/* One search for the debug file of an image. */
struct hunt {
        const struct elf_image *image;
        const char *path;
        const struct symbol_search *search;
        const char *link; /* of .gnu_debuglink: a name without a slash, or NULL */
        uint32_t link_crc;
        bool wants_tables;              /* a file is wanted for its unwind tables */
        bool is_in_named_folder;        /* the file or folder under examination */
        char hex[2 * ID_BYTES_MAX + 1]; /* the build-id; "" = there is none */
        struct debug_file best;         /* one with symbols only; all zero = none yet */
        struct debug_file alike;        /* one without code that describes the image; all zero = none yet */
        bool has_other_alike;           /* a second, different file fits too: neither is used */
};

static void format_hex(char *out, const uint8_t *id, size_t id_bytes)
{
        out[0] = '\0';
        for (size_t i = 0; i < id_bytes && i < ID_BYTES_MAX; i++)
                (void)snprintf(out + 2 * i, 3, "%02x", id[i]);
}

/* The directory part of @path with its last slash; 0 if it has none. */
static int count_directory(const char *path)
{
        const char *slash = strrchr(path, '/');

        return slash ? (int)(slash - path) + 1 : 0;
}

static const char *find_sysroot(const struct symbol_search *search)
{
        return search->sysroot ? search->sysroot : "";
}

/*
 * Reads a file name, followed by a checksum at the next multiple of four bytes.  A name with a slash is
 * refused, because it could lead anywhere.
 */
static void read_link(struct hunt *hunt)
{
        size_t n_bytes, name_bytes, crc_off;
        const uint8_t *bytes = debug_file_find_bytes(hunt->image->elf, ".gnu_debuglink", &n_bytes);
        GElf_Ehdr header;

        if (!bytes || !gelf_getehdr(hunt->image->elf, &header))
                return;
        name_bytes = strnlen((const char *)bytes, n_bytes);
        crc_off = (name_bytes + LINK_CRC_BYTES) & ~(size_t)(LINK_CRC_BYTES - 1);
        if (name_bytes == 0 || name_bytes > PATH_BYTES_MAX || crc_off + LINK_CRC_BYTES > n_bytes ||
            memchr(bytes, '/', name_bytes))
                return;
        hunt->link = (const char *)bytes;
        hunt->link_crc = (uint32_t)byte_order_read(bytes + crc_off, LINK_CRC_BYTES,
                                                   header.e_ident[EI_DATA] == ELFDATA2MSB);
}

/*
 * A debug file belongs to the image by its build-id.  For an image without one, the checksum of the link
 * decides or, in a folder that the user named, equal code.
 */
static bool belongs(const struct hunt *hunt, const struct debug_file *file)
{
        if (hunt->image->build_id_bytes > 0)
                return debug_file_has_build_id(file, hunt->image->build_id, hunt->image->build_id_bytes);
        if (hunt->link && debug_file_has_checksum(file, hunt->link_crc))
                return true;
        return hunt->is_in_named_folder && image_code_is_equal(hunt->image, file->image);
}

/* Whether two files are the same, byte for byte. */
static bool has_same_bytes(const struct debug_file *a, const struct debug_file *b)
{
        size_t n_a, n_b;
        const char *bytes_a = elf_rawfile(a->elf, &n_a), *bytes_b = elf_rawfile(b->elf, &n_b);

        return bytes_a && bytes_b && n_a == n_b && memcmp(bytes_a, bytes_b, n_a) == 0;
}

/*
 * Keeps a file without code, as objcopy --only-keep-debug makes it, from a folder that the user named.
 * Only its layout shows that it belongs to an image without build-id and link, so there must be only one
 * such file.
 * @file: taken over
 */
static void keep_alike(struct hunt *hunt, struct debug_file *file)
{
        bool is_alike = hunt->is_in_named_folder && hunt->image->build_id_bytes == 0 && !hunt->link &&
                        file->image->build_id_bytes == 0 &&
                        image_code_is_described(hunt->image, file->image) > 0;

        if (is_alike && !hunt->alike.elf) {
                hunt->alike = *file;
                return;
        }
        if (is_alike && !has_same_bytes(&hunt->alike, file))
                hunt->has_other_alike = true;
        debug_file_close(file);
}

/* Takes the file without code if exactly one was found.  Returns whether it did. */
static bool take_alike(struct hunt *hunt, struct debug_file *ret_file)
{
        if (!hunt->alike.elf || hunt->has_other_alike)
                return false;
        *ret_file = hunt->alike;
        hunt->alike = (struct debug_file){ .path = NULL };
        return true;
}

static bool has_tables(Elf *elf)
{
        return debug_file_find_section(elf, ".eh_frame") || debug_file_find_section(elf, ".debug_frame") ||
               debug_file_find_section(elf, ".zdebug_frame");
}

/* @path: heap, taken over.  Returns 1 if it is the wanted file; one that only has symbols is kept aside. */
static int try_path(struct hunt *hunt, char *path, struct debug_file *ret_file)
{
        struct debug_file file;

        if (!debug_file_open(path, &file))
                return 0;
        if (!belongs(hunt, &file)) {
                keep_alike(hunt, &file);
                return 0;
        }
        if (hunt->wants_tables ? has_tables(file.elf) : debug_file_has_debug_info(file.elf)) {
                *ret_file = file;
                return 1;
        }
        if (!hunt->wants_tables && !hunt->best.elf && debug_file_find_section(file.elf, ".symtab"))
                hunt->best = file;
        else
                debug_file_close(&file);
        return 0;
}

static int try_build_id(struct hunt *hunt, const char *root, const char *directory,
                        struct debug_file *ret_file)
{
        if (strlen(hunt->hex) <= 2)
                return 0;
        return try_path(hunt,
                        debug_file_format_path("%s%s/.build-id/%.2s/%s.debug", root, directory, hunt->hex,
                                               hunt->hex + 2),
                        ret_file);
}

/* Tries a folder that the user named: DIR/.build-id, DIR/PATH, DIR/NAME, and the name in .gnu_debuglink. */
static int try_folder(struct hunt *hunt, const char *folder, struct debug_file *ret_file)
{
        static const char *const suffixes[] = { "", ".debug" };
        const char *path = hunt->path;
        int found = try_build_id(hunt, "", folder, ret_file);

        for (size_t i = 0; path && i < 2 && !found; i++) {
                found = try_path(hunt, debug_file_format_path("%s/%s%s", folder, path, suffixes[i]),
                                 ret_file);
                if (!found)
                        found = try_path(hunt,
                                         debug_file_format_path("%s/%s%s", folder,
                                                                path + count_directory(path), suffixes[i]),
                                         ret_file);
        }
        if (!found && hunt->link)
                found = try_path(hunt, debug_file_format_path("%s/%s", folder, hunt->link), ret_file);
        return found;
}

/*
 * Tries every file in the folder, whatever its name: the image may have been renamed where it was installed,
 * or have been in a file with a temporary name.
 */
static int try_all_of_folder(struct hunt *hunt, const char *folder, struct debug_file *ret_file)
{
        DIR *dir = opendir(folder);
        const struct dirent *entry;
        int found = 0;

        /* NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is ours alone */
        for (unsigned n = 0; dir && n < SYMBOL_SEARCH_FILES_MAX && !found && (entry = readdir(dir)); n++)
                if (entry->d_type == DT_REG || entry->d_type == DT_LNK || entry->d_type == DT_UNKNOWN)
                        found = try_path(hunt, debug_file_format_path("%s/%s", folder, entry->d_name),
                                         ret_file);
        if (dir)
                (void)closedir(dir);
        return found;
}

/*
 * Tries the link's name beside the image, in .debug/ there, and in the debug folder under the image's path.
 */
static int try_link(struct hunt *hunt, const char *root, struct debug_file *ret_file)
{
        const char *path = hunt->path;
        int directory_bytes = path ? count_directory(path) : 0;
        int found;

        if (!hunt->link || !path)
                return 0;
        found = try_path(hunt, debug_file_format_path("%s%.*s%s", root, directory_bytes, path, hunt->link),
                         ret_file);
        if (!found)
                found = try_path(
                        hunt,
                        debug_file_format_path("%s%.*s.debug/%s", root, directory_bytes, path, hunt->link),
                        ret_file);
        if (!found && path[0] == '/')
                found = try_path(hunt,
                                 debug_file_format_path("%s" DEBUG_DIRECTORY "%.*s%s", root, directory_bytes,
                                                        path, hunt->link),
                                 ret_file);
        return found;
}

static int find(const struct elf_image *image, const char *path, const struct symbol_search *search,
                bool wants_tables, struct debug_file *ret_file)
{
        struct hunt hunt = { .image = image,
                             .path = path,
                             .search = search ? search : &own_folders,
                             .wants_tables = wants_tables };
        const char *sysroot = find_sysroot(hunt.search);
        int found = 0;

        format_hex(hunt.hex, image->build_id, image->build_id_bytes);
        read_link(&hunt);
        hunt.is_in_named_folder = true;
        for (size_t i = 0; i < hunt.search->n_debug_dirs && !found; i++)
                found = try_folder(&hunt, hunt.search->debug_dirs[i], ret_file);
        for (size_t i = 0; i < hunt.search->n_debug_dirs && !found; i++)
                found = try_all_of_folder(&hunt, hunt.search->debug_dirs[i], ret_file);
        if (!found)
                found = take_alike(&hunt, ret_file);
        hunt.is_in_named_folder = false;
        if (!found)
                found = try_build_id(&hunt, sysroot, DEBUG_DIRECTORY, ret_file);
        if (!found)
                found = try_link(&hunt, sysroot, ret_file);
        if (!found && sysroot[0])
                found = try_link(&hunt, "", ret_file); /* the path may have the sysroot in it already */
        if (!found && hunt.best.elf) {
                *ret_file = hunt.best;
                debug_file_close(&hunt.alike);
                return 1;
        }
        debug_file_close(&hunt.best);
        debug_file_close(&hunt.alike);
        return found;
}

int debug_file_search_find(const struct elf_image *image, const char *path,
                           const struct symbol_search *search, struct debug_file *ret_file)
{
        return find(image, path, search, false, ret_file);
}

int debug_file_search_find_tables(const struct elf_image *image, const char *path,
                                  const struct symbol_search *search, struct debug_file *ret_file)
{
        return find(image, path, search, true, ret_file);
}

/* ------------------------------------------------------------------ supplements */

/* The contents of a .debug_sup. */
struct sup {
        bool is_supplement; /* the file is one that others refer to */
        const char *name;
        const uint8_t *checksum;
        size_t checksum_bytes;
};

/* A string with its NUL.  If the NUL is missing, NULL, and the reader stays failed. */
static const char *take_string(struct byte_reader *r)
{
        const uint8_t *end = memchr(r->at, '\0', r->left);

        if (!end) {
                r->short_read = true;
                return NULL;
        }
        return (const char *)bytes_take(r, (size_t)(end - r->at) + 1);
}

static bool read_sup(Elf *elf, struct sup *ret_sup)
{
        size_t n_bytes;
        const uint8_t *bytes = debug_file_find_bytes(elf, ".debug_sup", &n_bytes);
        struct byte_reader r;
        const uint8_t *version;
        GElf_Ehdr header;

        if (!bytes || !gelf_getehdr(elf, &header))
                return false;
        r = byte_reader_of(bytes, n_bytes);
        version = bytes_take(&r, 2);
        ret_sup->is_supplement = bytes_u8(&r) != 0;
        ret_sup->name = take_string(&r);
        ret_sup->checksum_bytes = bytes_varint(&r);
        ret_sup->checksum = bytes_take(&r, ret_sup->checksum_bytes);
        return !r.short_read &&
               byte_order_read(version, 2, header.e_ident[EI_DATA] == ELFDATA2MSB) == SUP_VERSION &&
               ret_sup->checksum_bytes > 0 && ret_sup->checksum_bytes <= CHECKSUM_MAX;
}

int supplement_link_read(Elf *elf, struct debug_file_reference *ret_reference)
{
        size_t n_bytes;
        const uint8_t *bytes = debug_file_find_bytes(elf, ".gnu_debugaltlink", &n_bytes);
        struct sup sup;

        if (bytes) {
                struct byte_reader r = byte_reader_of(bytes, n_bytes);
                const char *name = take_string(&r);

                if (!name || r.left == 0)
                        return 0;
                *ret_reference =
                        (struct debug_file_reference){ .name = name, .id = r.at, .id_bytes = r.left };
                return 1;
        }
        if (!read_sup(elf, &sup) || sup.is_supplement)
                return 0;
        *ret_reference = (struct debug_file_reference){
                .name = sup.name, .id = sup.checksum, .id_bytes = sup.checksum_bytes, .is_checksum = true
        };
        return 1;
}

/* True if the file is one that others refer to by this checksum. */
static bool has_sup_checksum(Elf *elf, const uint8_t *checksum, size_t checksum_bytes)
{
        struct sup sup;

        return read_sup(elf, &sup) && sup.is_supplement && sup.checksum_bytes == checksum_bytes &&
               memcmp(sup.checksum, checksum, checksum_bytes) == 0;
}

static int try_supplement(const struct debug_file_reference *reference, char *path,
                          struct debug_file *ret_file)
{
        struct debug_file file;
        bool is_equal;

        if (!debug_file_open_split(path, &file))
                return 0;
        is_equal = debug_file_has_build_id(&file, reference->id, reference->id_bytes);
        if (!is_equal && reference->is_checksum)
                is_equal = has_sup_checksum(file.elf, reference->id, reference->id_bytes);
        if (!is_equal) {
                debug_file_close(&file);
                return 0;
        }
        *ret_file = file;
        return 1;
}

static int try_supplement_id(const struct debug_file_reference *reference, const char *root,
                             const char *directory, struct debug_file *ret_file)
{
        char hex[2 * ID_BYTES_MAX + 1];

        if (reference->id_bytes < 2 || reference->id_bytes > ID_BYTES_MAX)
                return 0;
        format_hex(hex, reference->id, reference->id_bytes);
        return try_supplement(
                reference,
                debug_file_format_path("%s%s/.build-id/%.2s/%s.debug", root, directory, hex, hex + 2),
                ret_file);
}

static int try_supplement_folder(const struct debug_file_reference *reference, const char *folder,
                                 struct debug_file *ret_file)
{
        const char *name = reference->name;
        int found = try_supplement_id(reference, "", folder, ret_file);

        if (!found && name[0])
                found = try_supplement(reference, debug_file_format_path("%s/%s", folder, name), ret_file);
        if (!found && name[0])
                found = try_supplement(reference,
                                       debug_file_format_path("%s/%s", folder, name + count_directory(name)),
                                       ret_file);
        return found;
}

int debug_file_search_find_supplement(const struct debug_file_reference *reference,
                                      const struct symbol_search *search, struct debug_file *ret_file)
{
        const char *name = reference->name, *said_by = reference->said_by;
        const char *sysroot;
        int found = 0;

        if (!search)
                search = &own_folders;
        sysroot = find_sysroot(search);
        for (size_t i = 0; i < search->n_debug_dirs && !found; i++)
                found = try_supplement_folder(reference, search->debug_dirs[i], ret_file);
        if (!found && name[0] == '/')
                found = try_supplement(reference, debug_file_format_path("%s%s", sysroot, name), ret_file);
        if (!found && name[0] && name[0] != '/' && said_by)
                found = try_supplement(
                        reference, debug_file_format_path("%.*s%s", count_directory(said_by), said_by, name),
                        ret_file);
        if (!found)
                found = try_supplement_id(reference, sysroot, DEBUG_DIRECTORY, ret_file);
        return found;
}
