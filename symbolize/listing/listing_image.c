/* SPDX-License-Identifier: MIT */
#include "symbolize/listing/listing_image.h"

#include "base/error.h"
#include "base/io.h"
#include "format/trace_dictionary.h"
#include "format/trace_rows.h"
#include "symbolize/elf/elf_image.h"
#include "symbolize/images/image_finder.h"
#include "symbolize/listing/disassembler.h"
#include "symbolize/listing/listing_reader.h"
#include "symbolize/symbols/region_images.h"

#include <assert.h>
#include <elf.h>
#include <errno.h>
#include <gelf.h>
#include <stdlib.h>

/* Sets the error that explains why there is no code. */
static int explain_finding(const struct listing_request *request, const struct found_image *found,
                           struct error *err)
{
        const struct image_finder *f = request->finder;
        const struct trace_module *row = trace_dictionary_row(f->dictionary, TRACE_TABLE_MODULES,
                                                              request->module);
        const char *path = found->path ? found->path : request->path ? request->path : "";

        if (found->source == IMAGE_SOURCE_DIFFERS)
                return error_set(err, -ESTALE,
                                 row->build_id ? "%s: the build-id is not that of the recording"
                                               : "%s: not the file that was recorded",
                                 path);
        if (found->source == IMAGE_SOURCE_UNCHECKED)
                return error_set(err, -ESTALE, "%s: cannot be recognised as the file that was recorded",
                                 path);
        if (found->source == IMAGE_SOURCE_DEBUG)
                return error_set(err, -ENOENT, "%s: a debug file, which has no code", path);
        return path[0] == '/' ? error_set(err, -ENOENT, "%s: missing or unreadable", path)
                              : error_set(err, -ENOENT, "the trace does not keep the code");
}

static int find_image(struct listing_image *i, struct error *err)
{
        struct found_image found;
        int r = image_finder_find_code(i->request->finder, i->request->module, &found);

        if (r < 0)
                return error_set(err, r, "no memory for an image");
        if (found.image && found.source >= IMAGE_SOURCE_PARTS) {
                i->image = found.image;
                i->fd = found.fd;
                i->path = found.path;
                found.path = NULL;
                found.image = NULL;
                found.fd = -1;
        } else {
                r = explain_finding(i->request, &found, err);
        }
        found_image_close(&found);
        return r;
}

int listing_image_open(struct listing_image *i, const struct listing_request *request, struct error *err)
{
        GElf_Ehdr header;
        char *bytes;
        int r;

        *i = (struct listing_image){ .request = request, .fd = -1 };
        if (request->image)
                r = elf_image_open_memory(request->image, request->image_bytes, &i->image, err);
        else if (request->finder)
                r = find_image(i, err);
        else
                r = error_set(err, -ENOENT, "the trace does not keep the code");
        if (r < 0)
                return r;
        assert(i->image);
        bytes = elf_rawfile(i->image->elf, &i->file_bytes);
        if (!bytes || !gelf_getehdr(i->image->elf, &header))
                return error_set(err, -EBADMSG, "the image cannot be read");
        i->file = (const uint8_t *)bytes;
        i->machine = header.e_machine;
        i->is_64_bit = header.e_ident[EI_CLASS] == ELFCLASS64;
        i->is_big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB;
        return 0;
}

void listing_image_close(struct listing_image *i)
{
        elf_image_close(i->image);
        io_close(&i->fd);
        free(i->path);
        *i = (struct listing_image){ .fd = -1 };
}

bool listing_image_find_svma(const struct listing_image *i, uint64_t offset, uint64_t *ret_svma)
{
        const struct listing_request *request = i->request;

        if (request->region_bytes == 0)
                return elf_image_find_svma(i->image, offset, ret_svma);
        return region_images_place(i->image, request->region_avma, request->region_bytes, offset, ret_svma);
}

const struct elf_image_segment *listing_image_find_segment(const struct listing_image *i, uint64_t svma)
{
        for (size_t k = 0; k < i->image->n_segments; k++) {
                const struct elf_image_segment *s = &i->image->segments[k];

                if (svma >= s->svma && svma - s->svma < s->file_bytes && s->executable)
                        return s;
        }
        return NULL;
}

int listing_image_open_disassembler(const struct listing_image *i, struct disassembler **ret_disassembler,
                                    struct error *err)
{
        return disassembler_open(
                &(struct disassembler_options){
                        .machine = i->machine,
                        .is_64_bit = i->is_64_bit,
                        .is_big_endian = i->is_big_endian,
                        .intel_syntax = i->request->intel_syntax,
                },
                ret_disassembler, err);
}
