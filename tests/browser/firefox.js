// SPDX-License-Identifier: MIT
// Drives Firefox by its Marionette protocol: one page, which goes to addresses and evaluates expressions.
'use strict';

const { spawn } = require('child_process');
const fs = require('fs');
const net = require('net');
const os = require('os');
const path = require('path');

const WAIT_MS = 60000;
const STEP_MS = 50;
const PREFERENCES = { 'marionette.port': 0, 'browser.shell.checkDefaultBrowser': false, 'app.update.auto': false,
        'browser.aboutwelcome.enabled': false, 'datareporting.policy.dataSubmissionEnabled': false,
        'toolkit.telemetry.enabled': false, 'network.captive-portal-service.enabled': false,
        'network.connectivity-service.enabled': false, 'browser.safebrowsing.provider.mozilla.updateURL': '',
        'services.settings.server': 'http://127.0.0.1:9', 'browser.region.network.url': '' };

const pause = () => new Promise((resolve) => setTimeout(resolve, STEP_MS));

class Firefox {
        static find() {
                return ['/usr/bin/firefox-esr', '/usr/bin/firefox'].find((name) => fs.existsSync(name)) || null;
        }

        /** Starts the browser with a profile of its own. */
        static async start() {
                const browser = new Firefox();
                browser.folder = fs.mkdtempSync(path.join(process.env.TMPDIR || os.tmpdir(), 'hyprof-firefox-'));
                fs.writeFileSync(path.join(browser.folder, 'user.js'), Object.entries(PREFERENCES).map(([name, value]) =>
                        `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`).join(''));
                browser.process = spawn(Firefox.find(), ['--headless', '--no-remote', '--marionette', '--profile', browser.folder],
                        { stdio: 'ignore', env: { ...process.env, HOME: browser.folder } });
                browser.ended = new Promise((resolve) => browser.process.on('exit', resolve));
                browser.waiting = new Map();
                browser.nCalls = 0;
                await browser.connect();
                await browser.call('WebDriver:NewSession', { capabilities: { alwaysMatch: { acceptInsecureCerts: false } } });
                return browser;
        }

        async connect() {
                const file = path.join(this.folder, 'MarionetteActivePort');
                const until = Date.now() + WAIT_MS;
                while (!fs.existsSync(file) || fs.readFileSync(file, 'utf8') === '') {
                        if (Date.now() > until) {
                                throw new Error('Firefox does not start');
                        }
                        await pause();
                }
                this.socket = net.connect(Number(fs.readFileSync(file, 'utf8')), '127.0.0.1');
                let rest = Buffer.alloc(0);
                this.socket.on('data', (bytes) => {
                        rest = Buffer.concat([rest, bytes]);
                        for (let colon = rest.indexOf(58); colon > 0; colon = rest.indexOf(58)) {
                                const end = colon + 1 + Number(rest.subarray(0, colon));
                                if (end > rest.length) {
                                        return;
                                }
                                this.take(JSON.parse(rest.subarray(colon + 1, end).toString('utf8')));
                                rest = rest.subarray(end);
                        }
                });
        }

        take(message) {
                if (!Array.isArray(message) || !this.waiting.has(message[1])) {
                        return; // it says hello
                }
                const [, id, error, result] = message;
                const { resolve, reject } = this.waiting.get(id);
                this.waiting.delete(id);
                if (error) {
                        reject(new Error(error.message));
                } else {
                        resolve(result);
                }
        }

        call(name, parameters) {
                const id = ++this.nCalls;
                const text = JSON.stringify([0, id, name, parameters || {}]);
                this.socket.write(Buffer.byteLength(text) + ':' + text);
                return new Promise((resolve, reject) => this.waiting.set(id, { resolve, reject }));
        }

        go(url) {
                return this.call('WebDriver:Navigate', { url });
        }

        /** The value of an expression in the page, awaited. */
        async value(expression) {
                const script = 'const done = arguments[0]; (async () => (' + expression +
                        '))().then((value) => done([value]), (error) => done([null, String(error)]));';
                const { value } = await this.call('WebDriver:ExecuteAsyncScript', { script, args: [], sandbox: null });
                if (value[1]) {
                        throw new Error(value[1]);
                }
                return value[0];
        }

        async until(expression, what) {
                for (const end = Date.now() + WAIT_MS; !await this.value(expression).catch(() => false);) {
                        if (Date.now() > end) {
                                throw new Error('not there: ' + (what || expression));
                        }
                        await pause();
                }
        }

        async close() {
                this.call('Marionette:Quit', { flags: ['eForceQuit'] }).catch(() => {});
                await this.ended;
                this.socket.destroy();
                fs.rmSync(this.folder, { recursive: true, force: true, maxRetries: 5 });
        }
}

module.exports = { Firefox };
