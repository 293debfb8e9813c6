/* SPDX-License-Identifier: MIT */
/*
 * web/server/browser_page.h - opens an address in the user's browser
 *
 * Way of the data:  view_front -> [browser_page] -> a file -> xdg-open
 *
 * The token must not appear in a command line, which every user of the machine can read, so the browser
 * opens a file that leads to the address.
 */
#ifndef WEB_SERVER_BROWSER_PAGE_H
#define WEB_SERVER_BROWSER_PAGE_H

#define BROWSER_PAGE_BYTES 512

/* Zero-initialised: none. */
struct browser_page {
        char path[BROWSER_PAGE_BYTES]; /* of the file; "" = none */
};

/*
 * Starts the browser and does not wait for it.  Where there is none, nothing happens: the address is
 * printed anyway.
 */
void browser_page_open(struct browser_page *page, const char *url);

/* Removes the file. */
void browser_page_close(struct browser_page *page);

#endif /* WEB_SERVER_BROWSER_PAGE_H */
