/* SPDX-License-Identifier: MIT */
#include "view/shell_word.h"

#include "base/byte_buffer.h"

#include <stdbool.h>
#include <string.h>

static bool is_plain(const char *bytes, size_t n_bytes)
{
        static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:+@%";

        for (size_t i = 0; i < n_bytes; i++)
                if (bytes[i] == '\0' || !strchr(plain, bytes[i]))
                        return false;
        return n_bytes > 0;
}

const char *shell_word_make(struct byte_buffer *storage, const char *bytes, size_t n_bytes)
{
        bool plain = is_plain(bytes, n_bytes);

        byte_buffer_clear(storage);
        if (!plain)
                byte_buffer_add_u8(storage, '\'');
        for (size_t i = 0; i < n_bytes; i++) {
                /* What ends a quotation is put behind a backslash, and the next one begun. */
                if (bytes[i] == '\'')
                        byte_buffer_add(storage, "'\\''", 4);
                else
                        byte_buffer_add_u8(storage, (uint8_t)bytes[i]);
        }
        if (!plain)
                byte_buffer_add_u8(storage, '\'');
        byte_buffer_add_u8(storage, 0);
        return storage->failed ? "" : (const char *)storage->data;
}
