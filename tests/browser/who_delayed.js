// SPDX-License-Identifier: MIT
// "who delayed this?" and the arrows of wake-ups on a made-up trace with known answers: the line over the lanes, the dim
// rest, the panel, its rows, the menu and the keys.
'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');
const test = require('node:test');
const assert = require('node:assert');
const { Chromium } = require('./chromium.js');
const { chooseItem: choose } = require('./choose_item.js');
const { FakeTrace } = require('./fake_trace.js');
const { makePage } = require('./make_page.js');

const folder = fs.mkdtempSync(path.join(process.env.TMPDIR || os.tmpdir(), 'hyprof-delayed-'));
const timeline = 'hyprofShell.made.get("timeline")';
let browser;

const game = new FakeTrace();
const [lateBegin, lateEnd] = game.frameTimes(game.lateFrame);
const frameEnd = lateEnd - 2e6;

function pageFile(name, trace) {
        const file = path.join(folder, name + '.html');
        fs.writeFileSync(file, makePage(trace.dataElements()));
        return 'file://' + file;
}

const around = pageFile('fake', game) + '#view_from=' + (lateBegin - 3e7) + '&view_to=' + (lateEnd + 3e7);

/** The late frame: main ran, then waited for worker 2, which had waited for worker 4, and ran on. */
const answer = { schema: 'hyprof.path/1', answer: "70% of 'Frame' (47.8 ms): thread 'worker 2' ran flush_log(); main waited for it",
        warnings: ['made up'], slowest: { about: 'the instance', left_out: 3, rows: [
                { depth: 0, at_ns: 0, ns: 2e6, thread: 't1', kind: 'run', function: 'update', woken_by: null },
                { depth: 2, at_ns: 2e6, ns: 8e6, thread: 't5', kind: 'disk', function: 'load_file', woken_by: null },
                { depth: 1, at_ns: 10e6, ns: 5e6, thread: 't3', kind: 'ready', function: null, woken_by: 't5' },
                { depth: 1, at_ns: 15e6, ns: 20e6, thread: 't3', kind: 'run', function: 'flush_log', woken_by: null },
                { depth: 0, at_ns: 35e6, ns: frameEnd - lateBegin - 35e6, thread: 't1', kind: 'run', function: '<b>render</b>',
                        woken_by: null },
                { depth: 0, at_ns: 0, ns: 5, thread: 't99999', kind: 'run', function: 'of no thread', woken_by: null }] } };

test.before(async () => {
        browser = await Chromium.start();
});

test.after(async () => {
        await browser.close();
        fs.rmSync(folder, { recursive: true, force: true });
});

/** A page whose source answers as `hyprof view` would; `answers` false: as a page in one file. */
async function withPage(url, action, { answers = true, options = {} } = {}) {
        const page = await browser.open(url, options);
        try {
                await page.until('window.hyprofShell && ' + timeline + ' && ' + timeline + '.frame()', 'the timeline');
                if (answers) {
                        await page.value(`(() => {
                                const { viewer } = ${timeline};
                                window.asked = [];
                                viewer.model.file = null;
                                viewer.source.answer = async (question, parameters) => {
                                        window.asked.push([question, parameters]);
                                        if (question !== 'path')
                                                throw new Error('not asked for here');
                                        return ${JSON.stringify(answer)};
                                };
                        })()`);
                }
                await action(page);
                page.noComplaints();
        } finally {
                await page.close();
        }
}

async function showPath(page) {
        await choose(page, 'main', 'zones', lateBegin);
        await page.press('p');
        await page.until(timeline + '.path.isShown() && !' + timeline + '.isDrawAsked', 'the path');
}

/** In the page: pixelsAt(x, y, width, height) of the timeline as it is now, in pixels of the canvas. */
const pixelsAt = `(x, y, width, height) => {
        const screen = ${timeline};
        const copy = document.createElement('canvas');
        screen.drawNow();
        copy.width = width;
        copy.height = height;
        const context = copy.getContext('2d', { willReadFrequently: true });
        context.drawImage(screen.canvas, x, y, width, height, 0, 0, width, height);
        return context.getImageData(0, 0, width, height).data;
}`;

/** The color of a pixel at an instant, at the middle of a thread's states or of another lane. */
function colorAt(page, ns, thread, kind = 'states', offset = 0) {
        return page.value(`(() => {
                const { AXIS_PX } = pageModules['timeline_paint.js'];
                const screen = ${timeline};
                const track = screen.viewer.model.tracksByThread.get(${thread});
                const lane = screen.rowOf(track.lanes.find((one) => one.kind === ${JSON.stringify(kind)}).id);
                const scale = devicePixelRatio;
                const x = (${ns} - screen.from) / (screen.to - screen.from) * screen.canvas.clientWidth;
                const y = lane.y + lane.height / 2 + ${offset} - screen.scroll.scrollTop + AXIS_PX;
                return [...(${pixelsAt})(Math.round(x * scale), Math.round(y * scale), 1, 1)].slice(0, 3);
        })()`);
}

/** How many pixels have the accent's color in the column of an instant, or in one beside it. */
function accentAt(page, ns) {
        return page.value(`(() => {
                const screen = ${timeline};
                const accent = getComputedStyle(document.documentElement).getPropertyValue('--accent').trim();
                const parts = [1, 3, 5].map((at) => parseInt(accent.slice(at, at + 2), 16));
                const scale = devicePixelRatio;
                const x = Math.round((${ns} - screen.from) / (screen.to - screen.from) * screen.canvas.clientWidth * scale);
                return Math.max(...[-1, 0, 1].map((step) => {
                        const data = (${pixelsAt})(x + step, 0, 1, screen.canvas.height);
                        let n = 0;
                        for (let i = 0; i < data.length; i += 4)
                                n += [0, 1, 2].every((part) => Math.abs(data[i + part] - parts[part]) < 12);
                        return n;
                }));
        })()`);
}

const fillOf = (page, name) => page.value(`(() => {
        const fill = pageModules['colors.js'].nameColorOf(${JSON.stringify(name)}, pageModules['colors.js'].isDarkPage()).fill;
        return [1, 3, 5].map((at) => parseInt(fill.slice(at, at + 2), 16));
})()`);

test('the question is about the instance, and its sentence and parts are in the panel', async () => {
        await withPage(around, async (page) => {
                await choose(page, 'main', 'zones', lateBegin);
                await page.click('.panel button', 'who delayed this?');
                await page.untilText('.panel .headline', /^70% of 'Frame'/);
                assert.deepStrictEqual(await page.value('window.asked.filter((one) => one[0] === "path").map((one) => one[1])'),
                        [{ zone: 'z1', thread: 't1', at: String(lateBegin), top: '2000' }]);
                const rows = await page.value(`[...document.querySelectorAll('.panel [aria-label="The path"] tbody tr')]
                        .map((row) => row.innerText.replace(/\\s+/g, ' ').trim())`);
                assert.deepStrictEqual(rows, ['0 ns 2.00 ms main ran update -', '2.00 ms 8.00 ms worker 4 waited for the disk load_file -',
                        '10.0 ms 5.00 ms worker 2 ready to run - worker 4', '15.0 ms 20.0 ms worker 2 ran flush_log -',
                        '35.0 ms 12.8 ms main ran <b>render</b> -']);
                const words = await page.text('.panel');
                assert.match(words, /made up/);
                assert.match(words, /without 3 shorter parts of the path/);
                assert.strictEqual(await page.value('document.querySelectorAll(".panel b").length'), 0, 'names are text');
                await page.until('/70% of/.test(document.getElementById("live").textContent)', 'the live region');
        });
});

for (const isDark of [false, true]) {
        test('the line has the colors of functions, all else is dim: ' + (isDark ? 'dark' : 'light'), async () => {
                await withPage(around, async (page) => {
                        const at = lateBegin + 25e6;
                        await choose(page, 'main', 'zones', lateBegin);
                        await page.value(timeline + '.zoomToChosen()');
                        await page.until(timeline + '.cache.has(' + timeline + '.chosen.lane.lane.id, ' + timeline + '.from, ' + timeline +
                                '.to, ' + timeline + '.frame().bucketLog2)', 'the lanes');
                        const before = await colorAt(page, at, 1, 'zones', 7);
                        await showPath(page);
                        assert.deepStrictEqual(await colorAt(page, at, 3, 'states', -5), await fillOf(page, 'flush_log'));
                        const background = await page.value('[1, 3, 5].map((at) => parseInt(getComputedStyle(document.documentElement)' +
                                '.getPropertyValue("--background").trim().slice(at, at + 2), 16))');
                        const after = await colorAt(page, at, 1, 'zones', 7);
                        after.forEach((part, i) => assert.ok(Math.abs(part - (0.3 * before[i] + 0.7 * background[i])) < 3,
                                `${before} became ${after}`));
                        assert.ok(await accentAt(page, lateBegin + 35e6) > 20, 'an arrow at the wake-up');
                        assert.ok(await accentAt(page, lateBegin + 2e6) === 0, 'no arrow where the wait begins');
                        await page.until('document.querySelectorAll(".timeline-label.dim").length > 0');
                        const bright = await page.value(`[...document.querySelectorAll('.timeline-label:not(.dim)')]
                                .map((e) => e.innerText.replace(/[^a-z0-9 ]/g, '').trim()).join()`);
                        assert.strictEqual(bright, 'main 4242,worker 2 4244,worker 4 4246');
                        await page.press('Escape');
                        await page.untilText('.panel h2', /^Frame: 47\.8 ms/);
                        assert.deepStrictEqual(await colorAt(page, at, 1, 'zones', 7), before);
                        assert.strictEqual(await page.value('document.querySelectorAll(".timeline-label.dim").length'), 0);
                }, { options: { isDark } });
        });
}

test('the path of the run: no zone is asked for, its threads come by their time on it; the address has it, Escape ends it', async () => {
        await withPage(around, async (page) => {
                await page.value(`{ const { source } = ${timeline}.viewer; const answered = source.answer;
                        source.answer = async (...asked) => ({ ...await answered(...asked), shown_begin_ns: ${lateBegin} }); }`);
                await page.click('.timeline-tools button', 'Critical path');
                await page.until(timeline + '.path.isShown() && !' + timeline + '.isDrawAsked', 'the path');
                assert.deepStrictEqual(await page.value('window.asked.filter((one) => one[0] === "path").map((one) => one[1])'),
                        [{ top: '2000' }]);
                await page.untilText('.panel h2', /^Who delayed the run\?/);
                assert.deepStrictEqual(await page.value(timeline + '.path.segments.map((one) => one.begin)'),
                        [0, 2e6, 10e6, 15e6, 35e6].map((ns) => lateBegin + ns));
                assert.deepStrictEqual(await page.value(timeline + '.choice.path.threads'), [1, 3, 5]);
                await page.until('/path=run/.test(location.hash)');
                await page.press('Escape');
                await page.until('!' + timeline + '.path.isShown() && !/path=/.test(location.hash)');
        });
        await withPage(around + '&path=run', async (page) => {
                await page.until(timeline + '.path.subject && !' + timeline + '.path.subject.hit', 'the question of the address');
        }, { answers: false });
});

test('a row leads to its place, by mouse and by keyboard', async () => {
        await withPage(around, async (page) => {
                await showPath(page);
                await page.value(timeline + '.showRange(0, 1e8)');
                await page.click('.panel [aria-label="The path"] td', 'flush_log');
                await page.until(`${timeline}.from <= ${lateBegin + 15e6} && ${timeline}.to >= ${lateBegin + 35e6}`, 'its time');
                await page.until('document.getElementById("live").textContent === "worker 2: flush_log() 20.0 ms"', 'the live region');
                await page.value('document.querySelector(".panel .data-pane").focus()');
                await page.press('Home');
                await page.press('Enter');
                await page.until('document.getElementById("live").textContent === "main: update() 2.00 ms"', 'the first row');
                assert.ok(await page.value(timeline + '.path.isShown()'));
        });
});

test('the address has the path: back leaves it, and forward shows it again; another item ends it', async () => {
        await withPage(around, async (page) => {
                await showPath(page);
                await page.until('/path=z1/.test(location.hash) && location.hash.includes("at=' + lateBegin + '")');
                await page.until(timeline + '.stateTimer === 0', 'its view in the address'); // without a step of its own
                await page.value('history.back()');
                await page.until('!' + timeline + '.path.isShown()', 'no path after a step back');
                await page.value('history.forward()');
                await page.until(timeline + '.path.isShown()', 'the path after a step forward');
                await choose(page, 'main', 'zones', game.frameTimes(game.lateFrame - 1)[0]);
                await page.until('!' + timeline + '.path.isShown() && !/path=/.test(location.hash)');
                await page.untilText('.panel h2', /^Frame: 14\.6 ms/);
        });
});

test('what a person chooses while an item of the address is looked for stays chosen', async () => {
        await withPage(around, async (page) => {
                const other = game.frameTimes(game.lateFrame - 1)[0];
                await page.value(`(async () => {
                        const screen = ${timeline};
                        const { lane } = screen.layout.rows.find((one) => one.title.startsWith('main')).lanes
                                .find((one) => one.lane.kind === 'zones' && one.lane.depth === 0);
                        const found = await screen.viewer.source.find([lane.id], ${other} - 1, 'next', null);
                        const { handle } = screen.viewer.model.threads.find((one) => one.name === 'main');
                        const looking = screen.chooseAt(handle, ${lateBegin});
                        screen.chooseFound(lane.id, found);
                        await looking;
                })()`);
                assert.strictEqual(await page.value(timeline + '.chosen.begin'), other);
        });
});

test('a page in one file says that it cannot answer', async () => {
        await withPage(around, async (page) => {
                await choose(page, 'main', 'zones', lateBegin);
                await page.click('.panel button', 'who delayed this?');
                await page.untilText('.panel [role=alert]', /one file .*hyprof view/);
                await page.press('Escape');
                await page.untilText('.panel h2', /^Frame/);
        }, { answers: false });
});

test('the right button and the menu key open a menu; for what is no zone the question is off', async () => {
        await withPage(around, async (page) => {
                const place = await page.value(`(() => {
                        const { AXIS_PX } = pageModules['timeline_paint.js'];
                        const screen = ${timeline};
                        const lane = screen.layout.rows.find((one) => one.title.startsWith('main')).lanes
                                .find((one) => one.lane.kind === 'zones');
                        const box = screen.canvas.getBoundingClientRect();
                        return { x: box.left + (${lateBegin + 2e7} - screen.from) / (screen.to - screen.from) * box.width,
                                 y: box.top + AXIS_PX + lane.y + lane.height / 2 - screen.scroll.scrollTop };
                })()`);
                await page.mouse('mousePressed', place.x, place.y, { button: 'right', buttons: 2, clickCount: 1 });
                await page.mouse('mouseReleased', place.x, place.y, { button: 'right', clickCount: 1 });
                await page.until('document.querySelector("[role=menu]").contains(document.activeElement)', 'the menu');
                await page.press('Escape');
                await page.until('!document.querySelector("[role=menu]") && document.activeElement === ' + timeline + '.canvas');
                const onAxis = await page.value(timeline + '.canvas.getBoundingClientRect().top + 5');
                assert.strictEqual(await page.value(timeline + '.canvas.dispatchEvent(new MouseEvent("contextmenu", { button: 2, ' +
                        `clientX: 300, clientY: ${onAxis}, bubbles: true, cancelable: true }))`), true, 'it comes where there is no item');
                const openByKey = timeline + '.canvas.dispatchEvent(new MouseEvent("contextmenu", ' +
                        '{ button: 0, clientX: 300, clientY: 300, bubbles: true, cancelable: true }))';
                assert.strictEqual(await page.value(openByKey), false, "the browser's own menu stays away");
                await page.press('ArrowDown');
                await page.press('ArrowUp');
                await page.press('Enter');
                await page.until(timeline + '.path.isShown() && !document.querySelector("[role=menu]")', 'the path');
                await page.press('Escape');
                const [state] = game.lanes.find((one) => one.id === game.tracks.find((track) => track.title === 'main').lanes[0].id).spans
                        .filter((span) => span[0] > lateBegin);
                await choose(page, 'main', 'states', state[0]);
                await page.value(openByKey);
                await page.until('document.querySelector("[role=menuitem]").disabled');
                await page.press('p');
                assert.ok(await page.value('!' + timeline + '.path.subject'), 'nor by its key');
        });
});

test('threads that are far from each other come together on top, and go back', async () => {
        const many = new FakeTrace({ nThreads: 1000, nFrames: 12 });
        const [begin] = many.frameTimes(many.lateFrame);
        await withPage(pageFile('many', many), async (page) => {
                await page.value(`(() => {
                        const { viewer } = ${timeline};
                        [viewer.model.thread(5).handle, viewer.model.thread(900).handle] = ['t900', 't5'];
                })()`);
                await choose(page, 'main', 'zones', begin);
                await page.press('p');
                await page.until(timeline + '.path.isShown()', 'the path');
                const titles = timeline + '.layout.rows.slice(0, 3).map((row) => row.title.replace(/ \\d+$/, "")).join()';
                assert.strictEqual(await page.value(titles), 'main,worker 899,worker 2');
                await page.press('Escape');
                await page.until(titles + '.startsWith("CPUs in use")');
        });
});

test('a chosen wait has an arrow from the thread that ended it, or a mark where that is out of sight', async () => {
        await withPage(around, async (page) => {
                const [{ id }] = game.tracks.find((track) => track.title === 'worker 3').lanes;
                const states = game.lanes.find((one) => one.id === id).spans;
                const waiting = states.find((span) => span[2] >>> 28 === 2 && span[0] > lateBegin && span[1] - span[0] > 1e6);
                await choose(page, 'worker 3', 'states', waiting[0]);
                await page.until(timeline + '.wakeUp', 'the wake-up');
                assert.deepStrictEqual(await page.value(`(({at, waker}) => [at, waker])(${timeline}.wakeUp)`), [waiting[1], 1]);
                await page.click('.panel button', 'zoom to it');
                await page.until(timeline + '.to - ' + timeline + '.from < ' + 2 * (waiting[1] - waiting[0]));
                assert.ok(await accentAt(page, waiting[1]) > 40, 'from main down to worker 3');
                await page.value(`(() => {
                        const screen = ${timeline};
                        screen.layout.rows = screen.layout.rows.filter((row) => !row.title.startsWith('main'));
                })()`);
                assert.ok(await accentAt(page, waiting[1]) > 10, 'the mark of a thread that has no row');
                await page.value(timeline + '.arrange()');
                await page.value(`${timeline}.showRange(${waiting[1] + 1e6}, ${waiting[1] + 9e6})`);
                assert.ok(await accentAt(page, waiting[1] + 1e6 + 8e6 * 8 / await page.value(timeline + '.canvas.clientWidth')) > 2,
                        'a mark at the left edge');
                await page.untilText('.panel', /to main, which woke it/);
                await page.click('.panel button', 'to main, which woke it');
                await page.until(timeline + '.chosen.lane.track.title === "main"');
        });
});
