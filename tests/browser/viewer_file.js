// SPDX-License-Identifier: MIT
// The one-file page of a made-up trace in a browser, by what a person does: open, click, type, read; at 200 % zoom; by
// keyboard alone; with a trace whose every text is an attack.  No console message, no request.
'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');
const test = require('node:test');
const assert = require('node:assert');
const { Chromium } = require('./chromium.js');
const { FakeTrace } = require('./fake_trace.js');
const { makePage } = require('./make_page.js');

const folder = fs.mkdtempSync(path.join(process.env.TMPDIR || os.tmpdir(), 'hyprof-pages-'));
let browser;

/** The address of the page of a trace, for file://. */
function pageFile(name, trace) {
        const file = path.join(folder, name + '.html');
        fs.writeFileSync(file, makePage(trace.dataElements()));
        return 'file://' + file;
}

/** A trace all of whose texts try to become markup or code. */
class AttackTrace extends FakeTrace {
        model() {
                const attack = '"><img src=x onerror="window.attacked=1"><script>window.attacked=1</script>{{7*7}}';
                const long = attack + 'x'.repeat(2000);
                const model = super.model();
                model.title = model.host = attack;
                model.warnings = [attack];
                model.events = [attack];
                model.wait_states = model.wait_states.map(() => attack);
                for (const one of [...model.processes, ...model.threads, ...model.functions, ...model.locations]) {
                        one.name = long;
                }
                for (const location of model.locations) {
                        location.function = location.place = attack;
                }
                for (const track of model.tracks) {
                        track.title = attack;
                }
                return model;
        }

        dataElements() {
                this.strings = this.strings.map(([id]) => [id, '<script>window.attacked=1</script>']);
                return super.dataElements();
        }
}

test.before(async () => {
        browser = await Chromium.start();
});

test.after(async () => {
        await browser.close();
        fs.rmSync(folder, { recursive: true, force: true });
});

/** Opens a page, does something with it, and expects that it did not complain. */
async function withPage(url, options, action) {
        const page = await browser.open(url, options);
        try {
                await page.until('document.querySelector("[role=tab]") || document.querySelector(".failure")', 'the page');
                await action(page);
                page.noComplaints();
        } finally {
                await page.close();
        }
}

const fake = pageFile('fake', new FakeTrace());
const tabs = '[...document.querySelectorAll("[role=tab]")]';

test('the page opens from a file, with title, facts and warnings as text', async () => {
        await withPage(fake, {}, async (page) => {
                assert.strictEqual(await page.value('document.title'), './game --fast - hyprof');
                assert.match(await page.text('.facts'), /box.*3\.99 s.*cpu-clock.*6 threads/);
                assert.match(await page.text('#warnings'), /made up: no program ran/);
        });
});

test('each tab shows its screen when it is clicked', async () => {
        await withPage(fake, {}, async (page) => {
                const titles = await page.value(tabs + '.map((tab) => tab.innerText)');
                assert.ok(titles.includes('Timeline'));
                for (const title of titles) {
                        await page.click('[role=tab]', title);
                        await page.until(tabs + '.find((tab) => tab.innerText === ' + JSON.stringify(title) +
                                ').getAttribute("aria-selected") === "true"');
                        assert.strictEqual(await page.value('[...document.querySelectorAll("[role=tabpanel]")].filter((e) => ' +
                                '!e.hidden).map((e) => e.getAttribute("aria-labelledby")).join()'), await page.value(tabs +
                                '.find((tab) => tab.getAttribute("aria-selected") === "true").id'));
                }
        });
});

test('by keyboard alone: tabs by arrows, screens by numbers, search by a slash, help by a question mark', async () => {
        await withPage(fake, {}, async (page) => {
                await page.value(tabs + '[0].focus()');
                await page.press('ArrowRight');
                assert.strictEqual(await page.value(tabs + '.findIndex((tab) => tab.getAttribute("aria-selected") === "true")'), 1);
                await page.press('Home');
                await page.press('ArrowLeft');
                assert.strictEqual(await page.value(tabs + '.at(-1).getAttribute("aria-selected")'), 'true');
                await page.press('ArrowRight');
                await page.press('Shift+D');
                await page.press('1');
                assert.strictEqual(await page.value(tabs + '.findIndex((tab) => tab.getAttribute("aria-selected") === "true")'), 0);
                await page.press('/');
                assert.strictEqual(await page.value('document.activeElement.id'), 'search');
                await page.type('draw');
                await page.until('location.hash.includes("text=draw")');
                await page.press('Escape');
                await page.until('!location.hash.includes("text=")');
                await page.press('?');
                await page.until('document.querySelector("dialog").open');
                await page.press('Escape');
                await page.until('!document.querySelector("dialog").open');
        });
});

test('a selected range is in the head and the address, and Escape clears it', async () => {
        await withPage(fake + '#from=1000000000&to=1500000000', {}, async (page) => {
                assert.match(await page.text('.range-box'), /1\.0+ s to 1\.50+ s\s*500 ms/);
                await page.press('Escape');
                await page.untilText('.range-box', /whole recording/);
                assert.ok(!(await page.value('location.hash')).includes('from='));
                await page.value('history.back()');
                await page.untilText('.range-box', /500 ms/);
        });
});

test('a part of a zone is counted from the rows of the file; what is not in them says so, and there is nothing to try again', async () => {
        await withPage(fake, {}, async (page) => {
                const shown = '[role=tabpanel]:not([hidden])';
                const zone = await page.value(`(() => {
                        const { model } = hyprofViewer;
                        const lane = model.lanesOfKind('zones').find((one) => one.lane.items > 10).lane;
                        return hyprofViewer.source.allLanes().then((all) => model.location(all.get(lane.id)().what[0]).handle);
                })()`);
                await page.value(`hyprofViewer.go('zones', { zone: '${zone}', longer: '1' })`);
                await page.untilText(shown, /instances of 1 ns to the longest: [1-9]/);
                assert.match(await page.text(shown), /Slowest of the selection/);
                await page.value(`hyprofViewer.set({ group: 'text' })`);
                await page.untilText(shown, /instances: this file does not hold this answer/);
                assert.doesNotMatch(await page.text(shown), /try again/);
        });
});

test('light and dark: by the system, and by the button', async () => {
        const background = 'getComputedStyle(document.body).backgroundColor';
        await withPage(fake, { isDark: true }, async (page) => {
                assert.strictEqual(await page.value(background), 'rgb(16, 18, 24)');
                await page.setDark(false);
                await page.until(background + ' === "rgb(255, 255, 255)"');
                await page.setDark(true);
                await page.until(background + ' === "rgb(16, 18, 24)"');
                await page.click('.tools button:has(+ [aria-label=Keys])');
                await page.until(background + ' === "rgb(255, 255, 255)"');
                await page.value('document.documentElement.removeAttribute("data-theme")');
                assert.notStrictEqual(await page.value(background), 'rgb(255, 255, 255)', 'dark before the script has begun');
        });
});

test('at 200 % zoom all tabs are reached and nothing is cut off sideways', async () => {
        await withPage(fake, { width: 1280, height: 1024, scale: 2 }, async (page) => {
                const titles = await page.value(tabs + '.map((tab) => tab.innerText)');
                for (const title of titles) {
                        await page.click('[role=tab]', title);
                        assert.ok(await page.value('document.documentElement.scrollWidth <= innerWidth'), title + ' is too wide');
                }
        });
});

test('text and background of all variables have a contrast of 4.5 to 1', async () => {
        for (const isDark of [false, true]) {
                await withPage(fake, { isDark }, async (page) => {
                        const worst = await page.value(`(() => {
                                const { contrastOfRgb, themeColors } = pageModules['colors.js'];
                                const colors = themeColors();
                                const rgb = (css) => [1, 3, 5].map((at) => parseInt(css.slice(at, at + 2), 16));
                                const pairs = ['text', 'muted', 'accent', 'good', 'bad'].flatMap((front) =>
                                        ['background', 'surface', 'raised'].map((back) => [front, back]));
                                return pairs.concat([['on-accent', 'accent']]).map(([front, back]) =>
                                        [contrastOfRgb(rgb(colors[front]), rgb(colors[back])), front + ' on ' + back])
                                        .sort((a, b) => a[0] - b[0])[0];
                        })()`);
                        assert.ok(worst[0] >= 4.5, worst.join(' '));
                });
        }
});

test('a trace whose every text is an attack is shown as text, in every screen', async () => {
        await withPage(pageFile('attack', new AttackTrace()), {}, async (page) => {
                const titles = await page.value(tabs + '.map((tab) => tab.innerText)');
                for (const title of titles) {
                        await page.click('[role=tab]', title);
                }
                assert.match(await page.text('h1'), /onerror/);
                assert.strictEqual(await page.value('document.images.length'), 0);
                assert.strictEqual(await page.value('window.attacked'), undefined);
                assert.strictEqual(await page.value('document.querySelectorAll("script:not([type])").length'), 1);
        });
});

test('a damaged file says so instead of drawing', async () => {
        const file = path.join(folder, 'damaged.html');
        fs.writeFileSync(file, makePage('<script type="application/octet-stream" id="data-model">AAAA</script>'));
        await withPage('file://' + file, {}, async (page) => {
                await page.until('document.querySelector("[role=alert]")');
        });
});
