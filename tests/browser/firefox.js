// SPDX-License-Identifier: MIT
// Drives Firefox by Marionette, its own protocol over a socket of this machine: the pages and their methods are those of
// chromium.js, but for call() and the network.
//
// Errors and warnings that the browser prints about the page are remembered, and noComplaints() fails on them.
'use strict';

const { spawn } = require('child_process');
const fs = require('fs');
const net = require('net');
const os = require('os');
const path = require('path');
const { Page, Thrown } = require('./chromium.js');

const START_MS = 60000;
const PREFERENCES = { 'marionette.port': 0, 'browser.shell.checkDefaultBrowser': false, 'browser.startup.page': 0,
        'datareporting.policy.dataSubmissionEnabled': false, 'toolkit.telemetry.enabled': false, 'app.update.disabledForTesting': true,
        'network.captive-portal-service.enabled': false, 'network.connectivity-service.enabled': false,
        'extensions.update.enabled': false, 'services.settings.server': 'data:,', 'browser.safebrowsing.update.enabled': false,
        'dom.ipc.processPrelaunch.enabled': false, 'ui.prefersReducedMotion': 1, 'layout.css.devPixelsPerPx': '1.0',
        'devtools.console.stdout.content': true, 'network.proxy.type': 0, 'browser.aboutwelcome.enabled': false,
        'browser.newtabpage.enabled': false, 'network.dns.native-is-localhost': true };

function findFirefox() {
        const names = [process.env.FIREFOX, '/usr/bin/firefox-esr', '/usr/bin/firefox'];
        return names.find((name) => name && fs.existsSync(name)) || null;
}

class Firefox {
        /** Starts the browser with a profile of its own. */
        static async start() {
                const browser = new Firefox();
                browser.folder = fs.mkdtempSync(path.join(process.env.TMPDIR || os.tmpdir(), 'hyprof-firefox-'));
                fs.writeFileSync(path.join(browser.folder, 'user.js'), Object.entries(PREFERENCES).map(([name, value]) =>
                        `user_pref("${name}", ${JSON.stringify(value)});\n`).join(''));
                browser.process = spawn(findFirefox(), ['--headless', '--marionette', '--no-remote', '--profile', browser.folder,
                        'about:blank'], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, HOME: browser.folder,
                        MOZ_CRASHREPORTER_DISABLE: '1' } });
                browser.complaints = [];
                for (const stream of [browser.process.stdout, browser.process.stderr]) {
                        stream.on('data', (bytes) => browser.complaints.push(...String(bytes).split('\n').filter((line) =>
                                /^(console\.(error|warn)|JavaScript (error|warning)): .*(file|http):/.test(line))));
                }
                browser.ended = new Promise((resolve) => browser.process.on('exit', resolve));
                browser.waiting = new Map();
                browser.nCalls = 0;
                await browser.connect(await browser.port());
                await browser.call('WebDriver:NewSession', { capabilities: { alwaysMatch: { unhandledPromptBehavior: 'ignore' } } });
                return browser;
        }

        /** The port is in a file of the profile once it is open. */
        async port() {
                const file = path.join(this.folder, 'MarionetteActivePort');
                for (const end = Date.now() + START_MS; Date.now() < end;) {
                        if (fs.existsSync(file) && fs.readFileSync(file, 'utf8') !== '') {
                                return Number(fs.readFileSync(file, 'utf8'));
                        }
                        await new Promise((resolve) => setTimeout(resolve, 50));
                }
                throw new Error('Firefox did not open a port');
        }

        /** Messages are "length:json"; the first one greets. */
        connect(port) {
                return new Promise((resolve, reject) => {
                        let rest = Buffer.alloc(0);
                        this.socket = net.connect(port, '127.0.0.1');
                        this.socket.on('error', reject);
                        this.socket.on('data', (bytes) => {
                                rest = Buffer.concat([rest, bytes]);
                                for (let colon = rest.indexOf(58); colon >= 0; colon = rest.indexOf(58)) {
                                        const end = colon + 1 + Number(rest.subarray(0, colon));
                                        if (rest.length < end) {
                                                return;
                                        }
                                        const message = JSON.parse(rest.subarray(colon + 1, end).toString('utf8'));
                                        rest = rest.subarray(end);
                                        Array.isArray(message) ? this.take(message) : resolve();
                                }
                        });
                });
        }

        take([, id, error, result]) {
                const { resolve, reject, method } = this.waiting.get(id);
                this.waiting.delete(id);
                if (error) {
                        reject(new Error(method + ': ' + error.message));
                } else {
                        resolve(result);
                }
        }

        call(method, params) {
                const id = ++this.nCalls;
                const text = Buffer.from(JSON.stringify([0, id, method, params || {}]));
                this.socket.write(text.length + ':' + text);
                return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject, method }));
        }

        /** The one window shows the address. */
        async open(url, { width = 1400, height = 900 } = {}) {
                const page = new FirefoxPage(this);
                await page.resize(width, height);
                await page.go(url);
                return page;
        }

        async close() {
                this.call('Marionette:Quit', { flags: ['eForceQuit'] }).catch(() => {});
                await this.ended;
                this.socket.destroy();
                fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
        }
}

/** Names of keys as WebDriver wants them. */
const KEYS = { Enter: '\uE007', Escape: '\uE00C', Tab: '\uE004', ArrowLeft: '\uE012', ArrowUp: '\uE013', ArrowRight: '\uE014',
        ArrowDown: '\uE015', Home: '\uE011', End: '\uE010', PageUp: '\uE00E', PageDown: '\uE00F', Backspace: '\uE003', Delete: '\uE017',
        Shift: '\uE008', Control: '\uE009', Alt: '\uE00A' };
const SHIFT = 8;

class FirefoxPage extends Page {
        constructor(browser) {
                super(browser, null, null);
                browser.complaints.length = 0;
        }

        async resize(width, height) {
                const { value } = await this.browser.call('WebDriver:ExecuteScript', { script:
                        'return [outerWidth - innerWidth, outerHeight - innerHeight]', args: [] });
                await this.browser.call('WebDriver:SetWindowRect', { width: width + value[0], height: height + value[1] });
        }

        async go(url) {
                this.address = url;
                await this.browser.call('WebDriver:Navigate', { url: 'about:blank' }); // an address that differs in its fragment alone
                await this.browser.call('WebDriver:Navigate', { url });
                await this.until('document.readyState === "complete"');
                // A constant of the page's script is not seen from outside; a page from a file may have another script.
                await this.value(`document.head.append(Object.assign(document.createElement('script'), { textContent:
                        'globalThis.pageModules = pageModules' }))`);
        }

        async value(expression) {
                const script = 'const done = arguments[0]; (async () => (' + expression + '))().then((value) => done({ value }), ' +
                        '(error) => done({ error: String(error) }));';
                const { value } = await this.browser.call('WebDriver:ExecuteAsyncScript', { script, args: [], sandbox: null })
                        .catch((error) => {
                                throw /unloaded/i.test(error.message) ? new Thrown(expression + ': ' + error.message) : error;
                        });
                if (value.error) {
                        throw new Thrown(expression + ': ' + value.error);
                }
                return value.value === null ? undefined : value.value;
        }

        perform(...actions) {
                return this.browser.call('WebDriver:PerformActions', { actions });
        }

        keys(...values) {
                return this.perform({ type: 'key', id: 'keys', actions: values.map(([type, value]) => ({ type, value })) });
        }

        async mouse(type, x, y, { modifiers = 0 } = {}) {
                const move = { type: 'pointerMove', x: Math.round(x), y: Math.round(y), origin: 'viewport', duration: 0 };
                const buttons = { mousePressed: [{ type: 'pointerDown', button: 0 }], mouseReleased: [{ type: 'pointerUp', button: 0 }] };
                if (type === 'mousePressed' && (modifiers & SHIFT)) {
                        await this.keys(['keyDown', KEYS.Shift]);
                }
                await this.perform({ type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' },
                        actions: [move, ...(buttons[type] || [])] });
                if (type === 'mouseReleased' && (modifiers & SHIFT)) {
                        await this.keys(['keyUp', KEYS.Shift]);
                }
        }

        async wheel(x, y, deltaY, { deltaX = 0 } = {}) {
                await this.perform({ type: 'wheel', id: 'wheel', actions: [{ type: 'scroll', x: Math.round(x), y: Math.round(y),
                        deltaX, deltaY, origin: 'viewport', duration: 0 }] });
        }

        async press(name) {
                const parts = name.length > 1 ? name.split('+') : [name];
                const values = parts.map((part) => KEYS[part] || part);
                await this.keys(...values.map((value) => ['keyDown', value]), ...values.reverse().map((value) => ['keyUp', value]));
        }

        noComplaints() {
                if (this.browser.complaints.length) {
                        throw new Error(this.browser.complaints.join('\n'));
                }
        }

        async close() {
                await this.browser.call('WebDriver:Navigate', { url: 'about:blank' });
        }
}

module.exports = { Firefox, findFirefox };
