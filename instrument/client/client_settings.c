/* SPDX-License-Identifier: MIT */
#include "instrument/client/client.h"

#include "instrument/client/region_memory.h"
#include "instrument/client_abi.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define SPARE_BYTES_MAX (UINT64_C(1) << 40) /* more than any region has */

static const struct {
        const char *name;
        uint32_t families;
} family_names[] = {
        { "all", CLIENT_ABI_FAMILIES },         { "zones", CLIENT_ABI_FAMILY_ZONES },
        { "frames", CLIENT_ABI_FAMILY_FRAMES }, { "messages", CLIENT_ABI_FAMILY_MESSAGES },
        { "plots", CLIENT_ABI_FAMILY_PLOTS },   { "memory", CLIENT_ABI_FAMILY_MEMORY },
        { "locks", CLIENT_ABI_FAMILY_LOCKS },   { "devices", CLIENT_ABI_FAMILY_DEVICES },
};

/* A decimal number and nothing else, at most @max; else 0.  (strtoull() would touch errno and take signs.) */
static uint64_t parse_number(const char *text, uint64_t max)
{
        uint64_t v = 0;

        if (*text == '\0')
                return 0;
        for (; *text; text++) {
                if (*text < '0' || *text > '9')
                        return 0;
                v = v * 10 + (uint64_t)(*text - '0');
                if (v > max)
                        return 0;
        }
        return v;
}

/* The families that one name asks for, 0 if it is unknown. */
static uint32_t parse_name(const char *name, size_t n)
{
        static const char suffix[] = "=callstacks";
        size_t n_suffix = sizeof(suffix) - 1;
        bool with_callstacks = n > n_suffix && memcmp(name + n - n_suffix, suffix, n_suffix) == 0;

        if (with_callstacks)
                n -= n_suffix;
        for (size_t i = 0; i < sizeof(family_names) / sizeof(family_names[0]); i++) {
                uint32_t families = family_names[i].families;

                if (strlen(family_names[i].name) == n && memcmp(family_names[i].name, name, n) == 0)
                        return with_callstacks ? families | families << CLIENT_ABI_CALLSTACK_SHIFT : families;
        }
        return 0;
}

uint32_t client_settings_parse_wanted(const char *text)
{
        uint32_t wanted;

        if (!text)
                return 0;
        wanted = (uint32_t)parse_number(text, CLIENT_ABI_FAMILIES | CLIENT_ABI_CALLSTACKS);
        while (*text) {
                size_t n = strcspn(text, ",");

                wanted |= parse_name(text, n);
                text += n;
                text += *text == ',';
        }
        return (wanted & CLIENT_ABI_FAMILIES) != 0 ? wanted | CLIENT_ABI_FAMILY_ALWAYS : 0;
}

uint64_t client_settings_parse_ring_bytes(const char *text)
{
        uint64_t v = text ? parse_number(text, REGION_MEMORY_RING_BYTES_MAX) : 0;

        return v >= REGION_MEMORY_RING_BYTES_MIN && (v & (v - 1)) == 0 ? v : 0;
}

uint64_t client_settings_parse_spare_bytes(const char *text)
{
        return text ? parse_number(text, SPARE_BYTES_MAX) : 0;
}

struct client_settings client_settings_read(void)
{
        const char *full = secure_getenv("HYPROF_FULL");
        const char *recorder = secure_getenv("HYPROF_RECORDER");
        const char *spare = secure_getenv("HYPROF_SPARE");
        uint64_t ring_bytes = client_settings_parse_ring_bytes(secure_getenv("HYPROF_RING"));

        struct client_settings settings = {
                .wanted = client_settings_parse_wanted(secure_getenv("HYPROF_RECORD")),
                .ring_bytes = ring_bytes ? ring_bytes : REGION_MEMORY_RING_BYTES,
                .spare_bytes = client_settings_parse_spare_bytes(spare),
                .wait_when_full = full && strcmp(full, "wait") == 0,
        };

        /*
         * A recorder that knows of chunks sets the ring size for clients that do not know of them; this
         * client limits it to the usual size.
         */
        if (spare && settings.ring_bytes > REGION_MEMORY_RING_BYTES)
                settings.ring_bytes = REGION_MEMORY_RING_BYTES;
        if (recorder && strlen(recorder) < sizeof(settings.recorder))
                memcpy(settings.recorder, recorder, strlen(recorder) + 1);
        return settings;
}
