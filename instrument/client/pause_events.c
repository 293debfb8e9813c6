/* SPDX-License-Identifier: MIT */
/*
 * instrument/client/pause_events.c - the program leaves its own events out for a while
 *
 * All copies of this library in a process look at one control page, so no copy has to ask another.  The
 * program removes the families from the control word, as the recorder does for a pause of its own, and
 * notes the pause in the client's line, so that a recorder of version 1.2 leaves the families out as well.
 * The recorder's line has the families that the recorder wants.  Older recorders write nothing there; then
 * the control word from before the pause comes back.
 */
#include "instrument/client/client.h"

#include <stdint.h>
#include <string.h>

#define TRIES_MAX 64 /* a recorder that changes the word more often keeps its own */

static uint32_t word_before_pause; /* atomic */

static struct client_abi_header *control_header(void)
{
        return (struct client_abi_header *)(void *)hyprof_control;
}

static uint32_t paused_word(uint32_t word)
{
        uint32_t families = CLIENT_ABI_FAMILIES | CLIENT_ABI_CALLSTACKS;

        return (word & CLIENT_ABI_FAMILIES) != 0 ? (word & ~families) | CLIENT_ABI_FAMILY_ALWAYS : word;
}

static void announce(const char *text)
{
        if (client_control_word() & CLIENT_ABI_FAMILY_MESSAGES)
                hyprof_emit_message(text, strlen(text), HYPROF_SEVERITY_INFO, 0, 0);
}

void hyprof_emit_pause(void)
{
        struct client_abi_header *h = control_header();
        uint32_t word;

        (void)client_begin(); /* else what is stored here would be lost */
        word = client_control_word();
        if (__atomic_load_n(&h->paused, __ATOMIC_SEQ_CST) != 0)
                return;
        announce("events paused by the program");
        __atomic_store_n(&word_before_pause, word, __ATOMIC_SEQ_CST);
        __atomic_store_n(&h->paused, 1, __ATOMIC_SEQ_CST);
        for (unsigned n = 0; n < TRIES_MAX; n++) {
                word = __atomic_load_n(&h->control_word, __ATOMIC_SEQ_CST);
                if (__atomic_compare_exchange_n(&h->control_word, &word, paused_word(word), false,
                                                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
                        return;
        }
}

/* The word that the recorder of the present session wants; 0 = it does not say. */
static uint32_t wanted_word(const struct client_abi_header *h, uint32_t word)
{
        uint32_t wanted = __atomic_load_n(&h->wanted_word, __ATOMIC_SEQ_CST);

        if (wanted == 0)
                wanted = __atomic_load_n(&word_before_pause, __ATOMIC_SEQ_CST);
        return wanted >> CLIENT_ABI_SESSION_SHIFT == word >> CLIENT_ABI_SESSION_SHIFT ? wanted : 0;
}

void hyprof_emit_resume(void)
{
        struct client_abi_header *h = control_header();

        if (__atomic_exchange_n(&h->paused, 0, __ATOMIC_SEQ_CST) == 0)
                return;
        for (unsigned n = 0; n < TRIES_MAX; n++) {
                uint32_t word = __atomic_load_n(&h->control_word, __ATOMIC_SEQ_CST);
                uint32_t wanted = wanted_word(h, word);

                if ((word & CLIENT_ABI_FAMILIES) == 0 || wanted == 0)
                        break; /* no recorder, or one that came since the pause */
                if (__atomic_compare_exchange_n(&h->control_word, &word, wanted, false, __ATOMIC_SEQ_CST,
                                                __ATOMIC_SEQ_CST) &&
                    wanted_word(h, wanted) == wanted)
                        break;
        }
        announce("events resumed by the program");
}
