/* SPDX-License-Identifier: MIT */
#include "symbolize/debug/packed_symbols.h"

#include "base/byte_buffer.h"
#include "symbolize/debug/debug_file.h"
#include "symbolize/elf/elf_image.h"

#include <lzma.h>
#include <stdbool.h>
#include <stdint.h>

#define PIECE_BYTES      65536
#define MEMORY_BYTES_MAX (UINT64_C(128) << 20) /* of the decoder; `xz -9` asks for 65 MiB */

static bool packed_symbols_unpack(const uint8_t *bytes, size_t n_bytes, struct byte_buffer *out)
{
        lzma_stream stream = LZMA_STREAM_INIT;
        lzma_ret r = lzma_stream_decoder(&stream, MEMORY_BYTES_MAX, LZMA_CONCATENATED);

        if (r != LZMA_OK)
                return false;
        stream.next_in = bytes;
        stream.avail_in = n_bytes;
        while (r == LZMA_OK && out->used_bytes <= PACKED_SYMBOLS_BYTES_MAX) {
                uint8_t *piece = byte_buffer_reserve(out, PIECE_BYTES);

                if (!piece)
                        break;
                stream.next_out = piece;
                stream.avail_out = PIECE_BYTES;
                r = lzma_code(&stream, LZMA_FINISH);
                out->used_bytes += PIECE_BYTES - stream.avail_out;
        }
        lzma_end(&stream);
        return r == LZMA_STREAM_END && out->used_bytes <= PACKED_SYMBOLS_BYTES_MAX;
}

int packed_symbols_open(Elf *elf, struct elf_image **ret_image)
{
        struct byte_buffer out = { .data = NULL };
        size_t n_bytes;
        const uint8_t *bytes = debug_file_find_bytes(elf, ".gnu_debugdata", &n_bytes);
        int found;

        found = bytes && packed_symbols_unpack(bytes, n_bytes, &out) &&
                elf_image_open_memory(out.data, out.used_bytes, ret_image, NULL) == 0;
        byte_buffer_deinit(&out);
        return found;
}
