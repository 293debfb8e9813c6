/* SPDX-License-Identifier: MIT */
/*
 * web/server/web_channel.h - what the HTTP server and the command that started it say to each other, over a
 * socket pair
 *
 * Way of the data:  http_server (confined) <-> [web_channel] <-> view_front
 *
 * One message is one packet.  The server is the less trusted side: the front checks each question again.
 */
#ifndef WEB_SERVER_WEB_CHANNEL_H
#define WEB_SERVER_WEB_CHANNEL_H

#include "base/byte_buffer.h"

#include <stdint.h>

#define WEB_CHANNEL_TEXT_MAX 65536
#define WEB_CHANNEL_FDS      3

struct error;

enum web_message_kind {
        /* from the server */
        WEB_MESSAGE_ASK = 1,    /* text: the query of the question */
        WEB_MESSAGE_CANCEL,     /* of an answer that was asked for */
        WEB_MESSAGE_READY,      /* requests are answered */
        WEB_MESSAGE_FAILED,     /* text: why; number: -errno */
        WEB_MESSAGE_INDEX_DONE, /* the index is whole: it may be kept; id: an enum web_side */
        WEB_MESSAGE_KEEP, /* text: a part of a value; number: an enum kept_name; id: of enum web_keep_part */
        WEB_MESSAGE_NEARBY,    /* which traces are in the folder */
        WEB_MESSAGE_COMPARE,   /* text: the name of one of them: the next server shows it as well */
        WEB_MESSAGE_LIVE_OVER, /* the recording that was followed is over: nothing more is added to it */
        /* from the front */
        WEB_MESSAGE_STARTED, /* with three pipes, as struct answer_process has them */
        WEB_MESSAGE_REFUSED, /* text: why; number: an HTTP status */
        /* to KEEP, NEARBY and COMPARE; number: 0, and text: the reply; or -errno, and text: why */
        WEB_MESSAGE_KEPT,
        WEB_MESSAGE_ENDED, /* number: the wait status of the child, -1 = the trace was replaced meanwhile */
};

/*
 * Whether a part of a value is the first one.  The value before may be incomplete, if its rest could not be
 * sent.  WEB_KEEP_BEFORE: it is kept for the trace of WEB_SIDE_BEFORE.
 */
enum web_keep_part { WEB_KEEP_MORE = 1, WEB_KEEP_FIRST = 2, WEB_KEEP_BEFORE = 4 };

struct web_message {
        uint32_t kind; /* enum web_message_kind; as it came, not checked */
        uint32_t id;   /* of the answer, chosen by the server, unless the kind says otherwise */
        int32_t number;
        struct byte_buffer text;  /* owned */
        int fds[WEB_CHANNEL_FDS]; /* -1 = none; owned by the receiver, borrowed from the sender */
};

void web_message_init(struct web_message *m, enum web_message_kind kind, uint32_t id);
/* Closes the descriptors too: for messages that were received. */
void web_message_deinit(struct web_message *m);

/* Blocks until the packet is taken.  Returns 0 or -errno. */
int web_channel_send(int fd, const struct web_message *m, struct error *err);

/*
 * Returns 1, 0 if the other side is gone, -EAGAIN if nothing is there, -EBADMSG, -ENOMEM, -errno.
 * Deinitialise it.
 */
int web_channel_receive(int fd, struct web_message *ret, struct error *err);

#endif /* WEB_SERVER_WEB_CHANNEL_H */
