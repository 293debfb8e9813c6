/* SPDX-License-Identifier: MIT */
#include "sampler/relay/relay_wire.h"

#include "base/bytes.h"

#include <errno.h>
#include <string.h>

#define TAKER_MAGIC UINT64_C(0x31454b4154505948) /* "HYPTAKE1" */
#define GIVER_MAGIC UINT64_C(0x3145564947505948) /* "HYPGIVE1" */

static uint8_t *put(uint8_t *at, uint64_t value, size_t n_bytes)
{
        for (size_t i = 0; i < n_bytes; i++)
                at[i] = (uint8_t)(value >> 8 * i);
        return at + n_bytes;
}

void relay_hello_encode(const struct relay_hello *hello, int from_taker, uint8_t bytes[RELAY_HELLO_BYTES])
{
        uint8_t *at = put(bytes, from_taker ? TAKER_MAGIC : GIVER_MAGIC, 8);

        at = put(at, hello->recording, 8);
        at = put(at, hello->generation, 4);
        at = put(at, hello->status, 4);
        at = put(at, hello->position, 8);
        (void)put(at, hello->features, 8);
}

int relay_hello_decode(const uint8_t bytes[RELAY_HELLO_BYTES], int from_taker, struct relay_hello *ret)
{
        struct byte_reader in = byte_reader_of(bytes, RELAY_HELLO_BYTES);

        if (bytes_u64(&in) != (from_taker ? TAKER_MAGIC : GIVER_MAGIC))
                return -EBADMSG;
        ret->recording = bytes_u64(&in);
        ret->generation = bytes_u32(&in);
        ret->status = bytes_u32(&in);
        ret->position = bytes_u64(&in);
        ret->features = bytes_u64(&in);
        return 0;
}

void relay_position_encode(uint64_t position, uint8_t bytes[RELAY_ACK_BYTES])
{
        (void)put(bytes, position, RELAY_ACK_BYTES);
}

uint64_t relay_position_decode(const uint8_t bytes[RELAY_ACK_BYTES])
{
        struct byte_reader in = byte_reader_of(bytes, RELAY_ACK_BYTES);

        return bytes_u64(&in);
}
