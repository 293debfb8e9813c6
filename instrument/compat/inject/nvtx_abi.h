/* SPDX-License-Identifier: MIT */
/*
 * instrument/compat/inject/nvtx_abi.h - what a program with NVTX 3 shares with an injected library
 *
 * Way of the data:  program -> [nvtx_abi] -> nvtx_bridge
 *
 * Numbers and layouts of NVTX's binary interface, as its documentation states them.
 */
#ifndef INSTRUMENT_COMPAT_INJECT_NVTX_ABI_H
#define INSTRUMENT_COMPAT_INJECT_NVTX_ABI_H

#include <stddef.h>
#include <stdint.h>

enum nvtx_table {
        NVTX_TABLE_CALLBACKS = 1,
};

enum nvtx_module {
        NVTX_MODULE_CORE = 1,
        NVTX_MODULE_CORE2 = 5,
};

/* Slots of the module CORE. */
enum nvtx_core {
        NVTX_CORE_MARK_EX = 1,
        NVTX_CORE_MARK_A = 2,
        NVTX_CORE_MARK_W = 3,
        NVTX_CORE_RANGE_START_EX = 4,
        NVTX_CORE_RANGE_START_A = 5,
        NVTX_CORE_RANGE_START_W = 6,
        NVTX_CORE_RANGE_END = 7,
        NVTX_CORE_RANGE_PUSH_EX = 8,
        NVTX_CORE_RANGE_PUSH_A = 9,
        NVTX_CORE_RANGE_PUSH_W = 10,
        NVTX_CORE_RANGE_POP = 11,
        NVTX_CORE_NAME_CATEGORY_A = 12,
        NVTX_CORE_NAME_CATEGORY_W = 13,
        NVTX_CORE_NAME_THREAD_A = 14,
        NVTX_CORE_NAME_THREAD_W = 15,
};

/* Slots of the module CORE2. */
enum nvtx_core2 {
        NVTX_CORE2_MARK_EX = 1,
        NVTX_CORE2_RANGE_START_EX = 2,
        NVTX_CORE2_RANGE_END = 3,
        NVTX_CORE2_RANGE_PUSH_EX = 4,
        NVTX_CORE2_RANGE_POP = 5,
        NVTX_CORE2_NAME_CATEGORY_A = 8,
        NVTX_CORE2_NAME_CATEGORY_W = 9,
        NVTX_CORE2_REGISTER_STRING_A = 10,
        NVTX_CORE2_REGISTER_STRING_W = 11,
        NVTX_CORE2_DOMAIN_CREATE_A = 12,
        NVTX_CORE2_DOMAIN_CREATE_W = 13,
        NVTX_CORE2_DOMAIN_DESTROY = 14,
};

enum nvtx_color_type {
        NVTX_COLOR_ARGB = 1,
};

enum nvtx_payload_type {
        NVTX_PAYLOAD_NONE = 0,
        NVTX_PAYLOAD_U64 = 1,
        NVTX_PAYLOAD_I64 = 2,
        NVTX_PAYLOAD_F64 = 3,
        NVTX_PAYLOAD_U32 = 4,
        NVTX_PAYLOAD_I32 = 5,
        NVTX_PAYLOAD_F32 = 6,
};

enum nvtx_message_type {
        NVTX_MESSAGE_NONE = 0,
        NVTX_MESSAGE_ASCII = 1,
        NVTX_MESSAGE_WIDE = 2,
        NVTX_MESSAGE_REGISTERED = 3,
};

struct nvtx_event {
        uint16_t version;
        uint16_t size_bytes; /* of this struct in the program */
        uint32_t category;   /* 0 = none */
        int32_t color_type;
        uint32_t color;
        int32_t payload_type;
        int32_t reserved;
        uint64_t payload;
        int32_t message_type;
        const void *message;
};
_Static_assert(sizeof(struct nvtx_event) == 48, "NVTX's own size");

/* The functions that a slot is for have many types. */
typedef void nvtx_function(void);

struct nvtx_callbacks {
        size_t size_bytes;
        int (*get_table)(uint32_t module, nvtx_function ****ret_slots, unsigned *ret_n_slots);
};

typedef const void *nvtx_get_export_table(uint32_t table);

#endif /* INSTRUMENT_COMPAT_INJECT_NVTX_ABI_H */
