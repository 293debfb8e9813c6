// SPDX-License-Identifier: MIT
// A service worker that another user left at the viewer's port sees nothing of it, and notes are found at the next visit.
//
// The worker answers each request of its origin with its own page, which names the address. That it does so where it
// was left is tried too: otherwise nothing would be shown by its absence.
'use strict';

const fs = require('fs');
const http = require('http');
const path = require('path');
const { spawn } = require('child_process');
const test = require('node:test');
const assert = require('node:assert');
const { Chromium } = require('./chromium.js');
const { Firefox } = require('./firefox.js');

const hyprof = process.env.HYPROF;
const trace = 'tests/golden/v1.4.hyp';
const viewers = [];
let browser;

const WORKER = `self.addEventListener('install', (e) => self.skipWaiting());
self.addEventListener('activate', (e) => e.waitUntil(clients.claim()));
self.addEventListener('fetch', (e) => e.respondWith(new Response('<p id="seen">SEEN ' + e.request.url,
        { headers: { 'Content-Type': 'text/html' } })));`;
const LURE = `<script>navigator.serviceWorker.register('/worker.js', { scope: '/' });</script>`;

/** Somebody else's server at 127.0.0.1, whose page leaves the worker. */
function listen(port) {
        return new Promise((resolve) => {
                const server = http.createServer((request, reply) => {
                        const isWorker = request.url === '/worker.js';
                        reply.setHeader('Content-Type', isWorker ? 'text/javascript' : 'text/html');
                        reply.setHeader('Connection', 'close');
                        reply.end(isWorker ? WORKER : LURE);
                });
                server.listen(port, '127.0.0.1', () => resolve(server));
        });
}

/** A viewer, and its address. */
function view(...options) {
        return new Promise((resolve, reject) => {
                const child = spawn(hyprof, ['view', '--no-open', ...options], { stdio: ['ignore', 'pipe', 'inherit'] });
                viewers.push(child);
                let text = '';
                child.stdout.on('data', (bytes) => {
                        const found = /^http:\/\/(\S+?):(\d+)\/(\S+)\/$/m.exec(text += bytes);
                        if (found) {
                                resolve({ child, address: found[0], name: found[1], port: found[2], token: found[3] });
                        }
                });
                child.on('exit', () => reject(new Error('hyprof view ended: ' + text)));
        });
}

function end(viewer) {
        return new Promise((resolve) => {
                viewer.child.on('exit', resolve);
                viewer.child.kill('SIGINT');
        });
}

const isWhole = 'document.querySelector("[role=tab]") && hyprofViewer.model.progress === 1';

test.before(async () => {
        browser = await Chromium.start();
});

test.after(async () => {
        viewers.forEach((child) => child.kill('SIGKILL')); // those that a failed test left
        await browser.close();
});

test('a worker that was left at the same port, by address and by name, does not see the viewer', async () => {
        const server = await listen(0);
        const { port } = server.address();
        const lure = await browser.open(`http://127.0.0.1:${port}/`);
        await lure.until('navigator.serviceWorker.controller', 'the worker');
        await lure.go(`http://localhost:${port}/`);
        await lure.until('navigator.serviceWorker.controller', 'the worker by name');
        server.close();
        const viewer = await view('--port', String(port), trace);

        await lure.go(`http://127.0.0.1:${viewer.port}/${'0'.repeat(32)}/`);
        await lure.untilText('#seen', /SEEN/);
        await lure.go(viewer.address);
        await lure.until(isWhole, 'the viewer');
        assert.strictEqual(await lure.value('document.getElementById("seen")'), null);
        assert.strictEqual(await lure.value('navigator.serviceWorker.controller'), null);
        await lure.close();
        await end(viewer);
});

test('the same in Firefox', async () => {
        const firefox = await Firefox.start();
        const page = await firefox.open('about:blank');
        const server = await listen(0);
        const { port } = server.address();
        for (const name of ['127.0.0.1', 'localhost']) {
                await page.go(`http://${name}:${port}/`);
                await page.until('navigator.serviceWorker.controller', 'the worker at ' + name);
        }
        server.close();
        const viewer = await view('--port', String(port), trace);

        await page.go(`http://127.0.0.1:${viewer.port}/${'0'.repeat(32)}/`);
        assert.match(await page.value('document.getElementById("seen").innerText'), /SEEN/);
        await page.go(viewer.address);
        await page.until(isWhole, 'the viewer');
        assert.strictEqual(await page.value('document.getElementById("seen")'), undefined);
        assert.strictEqual(await page.value('navigator.serviceWorker && navigator.serviceWorker.controller'), undefined);
        assert.strictEqual(await page.value('localStorage.length + sessionStorage.length'), 0);
        await firefox.close();
        await end(viewer);
});

test('the page leaves nothing in the browser', async () => {
        const viewer = await view(trace);
        const page = await browser.open(viewer.address);
        await page.until(isWhole, 'the viewer');
        await page.click('button[aria-label^="Colours"]');
        assert.strictEqual(await page.value('localStorage.length + sessionStorage.length'), 0);
        assert.strictEqual(await page.value('navigator.serviceWorker.getRegistrations().then((all) => all.length)'), 0);
        const refused = await page.value('navigator.serviceWorker.register("page.js").then(() => "", (e) => e.message)');
        assert.notStrictEqual(refused, '', 'a script of the viewer cannot be made a worker');
        await page.close();
        await end(viewer);
});

test('notes, pins and colours are there at the next visit, of this trace alone', async () => {
        const first = await view(trace);
        const page = await browser.open(first.address);
        await page.until(isWhole, 'the viewer');
        await page.press('b');
        await page.until('document.querySelector(".note-dialog")?.open', 'the dialog');
        await page.type('why so slow');
        await page.press('Enter');
        await page.until('[...document.querySelectorAll("button")].some((e) => e.innerText === "Notes (1)")', 'the note');
        await page.value('hyprofShell.nextTheme()');
        const theme = await page.value('hyprofShell.theme');
        await page.until(`fetch("kept").then((r) => r.json()).then((kept) => kept.theme && kept.notes)`, 'both are kept');
        await page.close();
        await end(first);

        const second = await view(trace);
        const again = await browser.open(second.address);
        await again.until(isWhole, 'the viewer');
        assert.notStrictEqual(second.name, first.name);
        await again.until('[...document.querySelectorAll("button")].some((e) => e.innerText === "Notes (1)")', 'the note');
        assert.strictEqual(await again.value('hyprofShell.theme'), theme);
        again.noComplaints((url) => url.startsWith(second.address));
        await again.close();
        await end(second);

        const copy = path.join(process.env.TMPDIR, 'other.hyp');
        fs.copyFileSync(process.env.OTHER_TRACE, copy);
        const other = await view(copy);
        const clean = await browser.open(other.address);
        await clean.until(isWhole, 'the viewer');
        assert.strictEqual(await clean.value('[...document.querySelectorAll("button")].some((e) => /^Notes \\(/.test(e.innerText))'),
                false);
        assert.strictEqual(await clean.value('hyprofShell.theme'), theme);
        await clean.close();
        await end(other);
});
