// SPDX-License-Identifier: MIT
// Drives Chromium by its DevTools protocol over a pipe: pages are opened, clicked and typed into as a person does.
//
// Errors and warnings on a page's console, exceptions, and requests to other addresses are remembered, and
// noComplaints() fails on them.
'use strict';

const { spawn } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');

const FLAGS = ['--headless=new', '--remote-debugging-pipe', '--disable-gpu', '--no-first-run', '--no-default-browser-check',
        '--disable-background-networking', '--disable-component-update', '--disable-sync', '--disable-extensions',
        '--disable-default-apps', '--disable-domain-reliability', '--disable-client-side-phishing-detection',
        '--disable-features=Translate,OptimizationHints,MediaRouter', '--metrics-recording-only', '--mute-audio',
        '--hide-scrollbars', '--force-color-profile=srgb', '--disable-dev-shm-usage'];
/** HYPROF_BROWSER_SLOWER=6: the scripts of a page take six times as long, and what waits for them has as much more time. */
const SLOWER = Number(process.env.HYPROF_BROWSER_SLOWER || 1);
const WAIT_MS = 60000 * SLOWER;

function findChromium() {
        const names = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser'];
        return names.find((name) => name && fs.existsSync(name)) || null;
}

class Chromium {
        /** Starts the browser with a profile of its own. */
        static async start() {
                const browser = new Chromium();
                browser.folder = fs.mkdtempSync(path.join(process.env.TMPDIR || os.tmpdir(), 'hyprof-chromium-'));
                const flags = [...FLAGS, '--user-data-dir=' + browser.folder];
                if (process.getuid() === 0) {
                        flags.push('--no-sandbox');
                }
                browser.process = spawn(findChromium(), [...flags, 'about:blank'],
                        { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
                browser.waiting = new Map();
                browser.pages = new Map();
                browser.nCalls = 0;
                browser.listen(browser.process.stdio[4]);
                browser.ended = new Promise((resolve) => browser.process.on('exit', resolve));
                await browser.call('Target.setDiscoverTargets', { discover: true });
                return browser;
        }

        listen(stream) {
                let rest = Buffer.alloc(0);
                stream.on('data', (bytes) => {
                        rest = Buffer.concat([rest, bytes]);
                        for (let end = rest.indexOf(0); end >= 0; end = rest.indexOf(0)) {
                                const message = JSON.parse(rest.subarray(0, end).toString('utf8'));
                                rest = rest.subarray(end + 1);
                                this.take(message);
                        }
                });
        }

        take(message) {
                if (message.id !== undefined) {
                        const { resolve, reject, method } = this.waiting.get(message.id);
                        this.waiting.delete(message.id);
                        if (message.error) {
                                reject(new Error(method + ': ' + message.error.message));
                        } else {
                                resolve(message.result);
                        }
                } else if (message.sessionId && this.pages.has(message.sessionId)) {
                        this.pages.get(message.sessionId).take(message);
                }
        }

        call(method, params, sessionId) {
                const id = ++this.nCalls;
                this.process.stdio[3].write(JSON.stringify({ id, method, params: params || {}, sessionId }) + '\0');
                return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject, method }));
        }

        /** A new tab that shows the address. */
        async open(url, { width = 1400, height = 900, scale = 1, isDark = false } = {}) {
                const { targetId } = await this.call('Target.createTarget', { url: 'about:blank' });
                const { sessionId } = await this.call('Target.attachToTarget', { targetId, flatten: true });
                const page = new Page(this, sessionId, targetId);
                this.pages.set(sessionId, page);
                await page.prepare({ width, height, scale, isDark });
                await page.go(url);
                return page;
        }

        async close() {
                this.call('Browser.close').catch(() => {});
                await this.ended;
                fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
        }
}

/** Names of keys as the protocol wants them. */
const KEYS = { Enter: [13, '\r'], Escape: [27], Tab: [9], ArrowLeft: [37], ArrowUp: [38], ArrowRight: [39], ArrowDown: [40],
        Home: [36], End: [35], PageUp: [33], PageDown: [34], Backspace: [8], Delete: [46], ' ': [32, ' '] };
const MODIFIERS = { Alt: 1, Control: 2, Meta: 4, Shift: 8 };

/** An exception of an expression in the page; or the page began anew, and the answer is lost. */
class Thrown extends Error {}

/** Words of the protocol for an expression whose page begins anew. */
const BEGINS_ANEW = /navigated or closed|context was destroyed|Cannot find (default execution )?context/;

class Page {
        constructor(browser, sessionId, targetId) {
                this.browser = browser;
                this.sessionId = sessionId;
                this.targetId = targetId;
                this.complaints = [];
                this.requests = [];
                this.origin = null;
        }

        call(method, params) {
                return this.browser.call(method, params, this.sessionId);
        }

        async prepare({ width, height, scale, isDark }) {
                await Promise.all([this.call('Page.enable'), this.call('Runtime.enable'), this.call('Network.enable'),
                        this.call('Log.enable'), this.resize(width, height, scale), this.setDark(isDark),
                        this.call('Emulation.setCPUThrottlingRate', { rate: SLOWER })]);
        }

        /** The system prefers dark pages, or light ones. */
        setDark(isDark) {
                return this.call('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme',
                        value: isDark ? 'dark' : 'light' }] });
        }

        /** scale 2 is a person's 200 % zoom: half as many CSS pixels, each twice as large. */
        resize(width, height, scale = 1) {
                return this.call('Emulation.setDeviceMetricsOverride', { width: Math.round(width / scale),
                        height: Math.round(height / scale), deviceScaleFactor: scale, mobile: false });
        }

        take({ method, params }) {
                if (method === 'Runtime.exceptionThrown') {
                        const details = params.exceptionDetails;
                        this.complaints.push('thrown: ' + (details.exception && details.exception.description || details.text));
                } else if (method === 'Runtime.consoleAPICalled' && params.type !== 'debug') {
                        this.complaints.push('console: ' + params.args.map((arg) => arg.value || arg.description).join(' '));
                } else if (method === 'Log.entryAdded' && ['error', 'warning'].includes(params.entry.level)) {
                        this.complaints.push('log: ' + params.entry.text + ' ' + (params.entry.url || ''));
                } else if (method === 'Network.requestWillBeSent') {
                        this.requests.push(params.request.url);
                }
        }

        async go(url) {
                this.requests = [];
                this.address = url;
                await this.call('Page.navigate', { url });
                await this.until('document.readyState === "complete"');
        }

        /** The value of an expression in the page; promises are awaited. */
        async value(expression) {
                const { result, exceptionDetails } = await this.call('Runtime.evaluate', { expression, awaitPromise: true,
                        returnByValue: true }).catch((error) => {
                        throw BEGINS_ANEW.test(error.message) ? new Thrown(expression + ': ' + error.message) : error;
                });
                if (exceptionDetails) {
                        throw new Thrown(expression + ': ' + (exceptionDetails.exception.description || exceptionDetails.text));
                }
                return result.value;
        }

        /** Waits until an expression, or its promise, is true. */
        async until(expression, what) {
                await this.found('(async () => Boolean(await (' + expression + ')))()', what || expression);
        }

        /** The first value of an expression that is not false, null or 0; one that throws has none: what it looks into may be absent. */
        async found(expression, what) {
                const end = Date.now() + WAIT_MS;
                for (;;) {
                        let thrown = [];
                        try {
                                const value = await this.value(expression);
                                if (value) {
                                        return value;
                                }
                        } catch (error) {
                                if (!(error instanceof Thrown)) {
                                        throw error;
                                }
                                thrown = [error.message];
                        }
                        if (Date.now() > end) {
                                throw new Error('waited in vain for ' + what + '; ' + [...thrown, ...this.complaints].join('; '));
                        }
                        await new Promise((resolve) => setTimeout(resolve, 20));
                }
        }

        /** The page begins anew: what is waited for after this is not found in the old one. */
        async reload() {
                await this.value('globalThis.isOld = true');
                await this.value('location.reload()').catch(() => {});
                await this.until('!globalThis.isOld && document.readyState === "complete"', 'the page anew');
        }

        /** Text that a person can read in the first element of a selector. */
        async text(selector) {
                return this.value('(document.querySelector(' + JSON.stringify(selector) + ') || {}).innerText || ""');
        }

        async untilText(selector, pattern) {
                await this.until(pattern + '.test((document.querySelector(' + JSON.stringify(selector) + ') || {}).innerText || "")',
                        pattern + ' in ' + selector);
        }

        /**
         * Middle of the first visible element of a selector, or of the one whose text is as wanted, once it rests: what is still
         * being filled in above it moves it away from the pointer.
         */
        async place(selector, text) {
                const found = '[...document.querySelectorAll(' + JSON.stringify(selector) + ')].find((e) => e.offsetParent !== null' +
                        (text === undefined ? '' : ' && e.innerText.trim() === ' + JSON.stringify(text)) + ')';
                return this.found(`(async () => {
                        const middle = () => { const r = ${found}.getBoundingClientRect();
                                return { x: r.x + r.width / 2, y: r.y + r.height / 2 }; };
                        const frame = () => new Promise((done) => { requestAnimationFrame(done); setTimeout(done, 200); });
                        ${found}.scrollIntoView({ block: 'nearest' });
                        const before = middle();
                        await frame();
                        await frame();
                        const { x, y } = middle();
                        return x === before.x && y === before.y ? { x, y } : null;
                })()`, (text || '') + ' ' + selector + ', at rest');
        }

        async mouse(type, x, y, more) {
                await this.call('Input.dispatchMouseEvent', Object.assign({ type, x, y, button: 'none', buttons: 0 }, more));
        }

        async move(x, y) {
                await this.mouse('mouseMoved', x, y);
        }

        /** Moves to a place, and again where it is elsewhere by then: a line that came above it moves it away from the pointer. */
        async moveTo(findPlace) {
                const frames = 'new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); ' +
                        'setTimeout(done, 200); })';
                for (;;) {
                        const { x, y } = await findPlace();
                        await this.move(x, y);
                        await this.value(frames);
                        const after = await findPlace();
                        if (after.x === x && after.y === y) {
                                return { x, y };
                        }
                }
        }

        async clickAt(x, y, options) {
                await this.move(x, y);
                await this.pressAt(x, y, options);
        }

        async pressAt(x, y, { modifiers = 0, clickCount = 1 } = {}) {
                await this.mouse('mousePressed', x, y, { button: 'left', buttons: 1, clickCount, modifiers });
                await this.mouse('mouseReleased', x, y, { button: 'left', clickCount, modifiers });
        }

        async click(selector, text) {
                const { x, y } = await this.moveTo(() => this.place(selector, text));
                await this.pressAt(x, y);
        }

        async drag(from, to, { modifiers = 0, steps = 5 } = {}) {
                await this.move(from.x, from.y);
                await this.mouse('mousePressed', from.x, from.y, { button: 'left', buttons: 1, clickCount: 1, modifiers });
                for (let i = 1; i <= steps; i++) {
                        await this.mouse('mouseMoved', from.x + (to.x - from.x) * i / steps, from.y + (to.y - from.y) * i / steps,
                                { button: 'left', buttons: 1, modifiers });
                }
                await this.mouse('mouseReleased', to.x, to.y, { button: 'left', clickCount: 1, modifiers });
        }

        async wheel(x, y, deltaY, { deltaX = 0, modifiers = 0 } = {}) {
                await this.mouse('mouseWheel', x, y, { deltaX, deltaY, modifiers });
        }

        /** 'a', 'Enter', 'Shift+Tab' ... */
        async press(name) {
                const parts = name.length > 1 ? name.split('+') : [name];
                const key = parts.pop();
                const modifiers = parts.reduce((sum, part) => sum | MODIFIERS[part], 0);
                const [code, text] = KEYS[key] || [key.toUpperCase().charCodeAt(0), key];
                const isLetter = !KEYS[key];
                const event = { key, modifiers: modifiers | (isLetter && key !== key.toLowerCase() ? MODIFIERS.Shift : 0),
                        windowsVirtualKeyCode: code, nativeVirtualKeyCode: code };
                await this.call('Input.dispatchKeyEvent', Object.assign({ type: text && !(modifiers & 7) ? 'keyDown' : 'rawKeyDown' },
                        event, text && !(modifiers & 7) ? { text } : {}));
                await this.call('Input.dispatchKeyEvent', Object.assign({ type: 'keyUp' }, event));
        }

        async type(text) {
                for (const letter of text) {
                        await this.press(letter);
                }
        }

        async screenshot(file) {
                const { data } = await this.call('Page.captureScreenshot', { format: 'png' });
                fs.writeFileSync(file, Buffer.from(data, 'base64'));
        }

        /** Fails if the page complained, or asked for anything but what `isAllowed` says. */
        noComplaints(isAllowed = (url) => url === this.address.replace(/#.*/, '')) {
                const strays = this.requests.filter((url) => !/^(data|blob|about):/.test(url) && !isAllowed(url.replace(/#.*/, '')));
                const all = [...this.complaints, ...strays.map((url) => 'request: ' + url.slice(0, 200))];
                if (all.length) {
                        throw new Error(all.join('\n'));
                }
        }

        async close() {
                this.browser.pages.delete(this.sessionId);
                await this.browser.call('Target.closeTarget', { targetId: this.targetId });
        }
}

module.exports = { Chromium, Page, Thrown, findChromium };
