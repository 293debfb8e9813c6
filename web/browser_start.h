/* SPDX-License-Identifier: MIT */
/*
 * web/browser_start.h - opens an address in the user's browser
 *
 * Way of the data:  view_front -> [browser_start] (a file that only the user reads) -> xdg-open -> the
 *                   browser
 *
 * The token must not stand in a command line, which every user of the machine can read: the browser opens a
 * file that
 * leads to the address.
 */
#ifndef WEB_BROWSER_START_H
#define WEB_BROWSER_START_H

#define BROWSER_PAGE_BYTES 512

/* Zero-initialised: none. */
struct browser_page {
        char path[BROWSER_PAGE_BYTES]; /* of the file; "" = none */
};

/*
 * Starts the browser and does not wait for it.  Where there is none, nothing happens: the address is
 * printed anyway.
 */
void browser_start(struct browser_page *page, const char *url);

/* Removes the file. */
void browser_end(struct browser_page *page);

#endif /* WEB_BROWSER_START_H */
