// SPDX-License-Identifier: MIT
// The timeline of a made-up trace with known answers: zoom, pan, hover, click, search, ghost zones, measuring, pins,
// folding, keyboard alone, 200 % zoom, a thousand threads, CPUs in use; and how soon a frame follows an input.
'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');
const test = require('node:test');
const assert = require('node:assert');
const { Chromium } = require('./chromium.js');
const { Firefox } = require('./firefox.js');
const { FakeTrace } = require('./fake_trace.js');
const { makePage } = require('./make_page.js');

const folder = fs.mkdtempSync(path.join(process.env.TMPDIR || os.tmpdir(), 'hyprof-timeline-'));
const DRAWN_MS = 50;
const timeline = 'hyprofShell.made.get("timeline")';
const isFirefox = process.env.HYPROF_BROWSER === 'firefox';
let browser;

/** The tests before these are enough to see that another browser draws, and takes mouse and keys. */
const testInChromium = isFirefox ? () => {} : test;

function pageFile(name, trace) {
        const file = path.join(folder, name + '.html');
        fs.writeFileSync(file, makePage(trace.dataElements()));
        return 'file://' + file;
}

const game = new FakeTrace();
const fake = pageFile('fake', game);
const [lateBegin, lateEnd] = game.frameTimes(game.lateFrame);
const aroundLate = fake + '#view_from=' + (lateBegin - 3e7) + '&view_to=' + (lateEnd + 3e7);

test.before(async () => {
        browser = await (isFirefox ? Firefox : Chromium).start();
});

test.after(async () => {
        await browser.close();
        fs.rmSync(folder, { recursive: true, force: true });
});

/** All visible lanes are there in the view's own resolution. */
const isSharp = timeline + ` && (() => {
        const { rowsBetween } = pageModules['timeline_rows.js'];
        const screen = ${timeline};
        const frame = screen.frame();
        return frame && !screen.cache.isFetching && !screen.cache.wanted && !screen.isDrawAsked &&
                rowsBetween(screen.layout.rows, frame.top, frame.height).every((row) => row.lanes.every((lane) =>
                        screen.cache.has(lane.lane.id, frame.from, frame.to, frame.bucketLog2)));
})()`;

async function withTimeline(url, options, action) {
        const page = await browser.open(url, options);
        try {
                await page.until('window.hyprofShell', 'the page');
                await page.until(isSharp, 'the timeline');
                await action(page);
                page.noComplaints();
        } finally {
                await page.close();
        }
}

/** Where an instant on a lane is on the screen; the lane comes into sight first. */
async function placeOf(page, title, kind, depth, ns) {
        const place = placeExpression(title, kind, depth, ns);
        await page.value(place);
        await page.until(isSharp, 'the lane');
        return page.value(place);
}

function placeExpression(title, kind, depth, ns) {
        return `(() => {
                const { AXIS_PX } = pageModules['timeline_paint.js'];
                const screen = ${timeline};
                const row = screen.layout.rows.find((one) => one.title.startsWith(${JSON.stringify(title)}));
                const lane = row.lanes.find((one) => one.lane.kind === ${JSON.stringify(kind)} && one.lane.depth === ${depth});
                screen.reveal(lane);
                const box = screen.canvas.getBoundingClientRect();
                return { x: box.left + (${ns} - screen.from) / (screen.to - screen.from) * box.width,
                         y: box.top + AXIS_PX + lane.y + lane.height / 2 - screen.scroll.scrollTop };
        })()`;
}

const viewOf = (page) => page.value('(({from, to}) => ({from, to}))(' + timeline + ')');

test('the whole recording is drawn: every row of the first screen has pixels that are no background', async () => {
        await withTimeline(fake, {}, async (page) => {
                const empty = await page.value(`(() => {
                        const { AXIS_PX } = pageModules['timeline_paint.js'];
                        const screen = ${timeline};
                        const { width, height } = screen.canvas;
                        const all = screen.canvas.getContext('2d').getImageData(0, 0, width, height).data;
                        const scale = devicePixelRatio;
                        const bottom = screen.scroll.scrollTop + screen.canvas.clientHeight - AXIS_PX;
                        return screen.layout.rows.flatMap((row) => row.lanes).filter((lane) => lane.y + lane.height < bottom)
                                .filter((lane) => {
                                        const from = Math.round((AXIS_PX + lane.y) * scale) * width * 4;
                                        const to = from + Math.round(lane.height * scale) * width * 4;
                                        const colors = new Set();
                                        for (let i = from; i < to; i += 4)
                                                colors.add(all[i] << 16 | all[i + 1] << 8 | all[i + 2]);
                                        return colors.size < 2;
                                }).map((lane) => lane.track.title + ' ' + lane.lane.kind);
                })()`);
                assert.deepStrictEqual(empty, []);
        });
});

test('boxes that are set as pixels are those that are painted one by one, at any zoom', async () => {
        await withTimeline(fake, {}, async (page) => {
                const at = await placeOf(page, 'main', 'zones', 0, lateBegin);
                const nColors = [];
                for (let i = 0; i < 4; i++) {
                        await page.wheel(at.x, at.y, -600 * i);
                        await page.until(isSharp, 'the view');
                        const { nUnlike, colors } = await page.value(`(() => {
                                const screen = ${timeline};
                                const { width, height } = screen.canvas;
                                const copy = new OffscreenCanvas(width, height).getContext('2d', { willReadFrequently: true });
                                const drawn = (boxes) => {
                                        const kept = screen.boxes;
                                        screen.boxes = boxes;
                                        screen.drawNow();
                                        screen.boxes = kept;
                                        copy.drawImage(screen.canvas, 0, 0);
                                        return new Uint32Array(copy.getImageData(0, 0, width, height).data.buffer);
                                };
                                const [pixels, boxes] = [drawn(screen.boxes), drawn(null)];
                                return { nUnlike: pixels.filter((pixel, i) => pixel !== boxes[i]).length, colors: new Set(pixels).size };
                        })()`);
                        assert.equal(nUnlike, 0);
                        nColors.push(colors);
                }
                assert.ok(Math.min(...nColors) > 10, nColors.join());
        });
});

test('the wheel zooms about the pointer, a drag moves, and the address follows', async () => {
        await withTimeline(fake, {}, async (page) => {
                const at = await placeOf(page, 'main', 'zones', 0, lateBegin);
                const before = await viewOf(page);
                await page.wheel(at.x, at.y, -600);
                await page.until(timeline + '.to - ' + timeline + '.from < ' + (before.to - before.from) * 0.6);
                const zoomed = await viewOf(page);
                const after = await placeOf(page, 'main', 'zones', 0, lateBegin);
                assert.ok(Math.abs(after.x - at.x) < 2, 'the instant under the pointer stays there');
                await page.drag(at, { x: at.x - 200, y: at.y });
                const moved = await viewOf(page);
                assert.ok(moved.from > zoomed.from && Math.abs((moved.to - moved.from) - (zoomed.to - zoomed.from)) < 10);
                await page.until('location.hash.includes("view_from=" + Math.floor(' + timeline + '.from))');
        });
});

test('hovering says name, duration, thread and source place; a fold says how many and the longest', async () => {
        await withTimeline(aroundLate, {}, async (page) => {
                const at = await page.moveTo(() => placeOf(page, 'main', 'zones', 0, lateBegin + 2e7));
                await page.untilText('.timeline-tip', /Frame: 47\.8 ms/);
                const words = await page.text('.timeline-tip');
                assert.match(words, /self 3\.00 us/);
                assert.match(words, /main 4242/);
                assert.match(words, /src\/game\.c:10/);
        });
        await withTimeline(fake, {}, async (page) => {
                const at = await page.moveTo(() => placeOf(page, 'worker 1', 'zones', 1, 1e9));
                await page.untilText('.timeline-tip', /zones within|: \d/);
                const folds = await page.value(`(() => {
                        const { wordsOfHit } = pageModules['timeline_words.js'];
                        const screen = ${timeline};
                        const row = screen.layout.rows.find((one) => one.title.startsWith('worker 1'));
                        const lane = row.lanes.find((one) => one.lane.kind === 'zones' && one.lane.depth === 1);
                        const items = screen.cache.best(lane.lane.id, screen.from, screen.to, screen.frame().bucketLog2);
                        const i = Array.from(items.count).findIndex((n) => n > 3);
                        return wordsOfHit(screen.viewer, screen.hitOf(row, lane, items.begin[i] + 1)).join('; ');
                })()`);
                assert.match(folds, /\d+ zones within .*longest: (decode|compress), \d/);
        });
});

test('a click opens the panel of one instance; next, previous and Escape', async () => {
        await withTimeline(aroundLate, {}, async (page) => {
                const at = await placeOf(page, 'main', 'zones', 0, lateBegin + 2e7);
                await page.clickAt(at.x, at.y);
                await page.untilText('.panel h2', /Frame: 47\.8 ms/);
                await page.click('.panel button', 'next');
                await page.untilText('.panel h2', /Frame: 14\.6 ms/);
                await page.click('.panel button', 'previous');
                await page.untilText('.panel h2', /Frame: 47\.8 ms/);
                await page.press('Escape');
                await page.until('document.querySelector(".panel").hidden');
        });
});

test('search jumps between hits: Enter, n and N', async () => {
        await withTimeline(fake, {}, async (page) => {
                await page.press('/');
                await page.type('physics');
                await page.press('Enter');
                await page.untilText('.panel h2', /^physics/);
                const first = await page.value(timeline + '.chosen.begin');
                await page.value('document.activeElement.blur()');
                await page.press('n');
                await page.until(timeline + '.chosen.begin > ' + first);
                await page.press('N');
                await page.until(timeline + '.chosen.begin === ' + first);
        });
});

test('g shows the ghost zones, and hides them again', async () => {
        await withTimeline(fake, {}, async (page) => {
                const nLanes = timeline + '.layout.rows.flatMap((row) => row.lanes).filter((lane) => lane.lane.kind === "ghosts").length';
                assert.strictEqual(await page.value(nLanes), 0);
                await page.press('g');
                await page.until(nLanes + ' > 5');
                await page.press('g');
                await page.until(nLanes + ' === 0');
        });
});

test('m measures a drag; Shift and a drag select the range for all screens', async () => {
        await withTimeline(fake, {}, async (page) => {
                const at = await placeOf(page, 'main', 'zones', 0, 1e9);
                const to = await placeOf(page, 'main', 'zones', 0, 2e9);
                await page.press('m');
                await page.drag(at, to);
                const measured = await page.value(timeline + '.measure.to - ' + timeline + '.measure.from');
                assert.ok(Math.abs(measured - 1e9) < 2e7, String(measured));
                await page.press('Escape');
                await page.until(timeline + '.measure === null');
                await page.drag(at, to, { modifiers: 8 });
                await page.untilText('.range-box', /1\.00 s|99\d ms/);
        });
});

test('a pinned track comes first', async () => {
        await withTimeline(fake, {}, async (page) => {
                await page.click('[aria-label="pin main 4242"]');
                await page.until(timeline + '.layout.rows[0].title === "main 4242"');
                await page.click('[aria-label="unpin main 4242"]');
                await page.until(timeline + '.layout.rows[0].title !== "main 4242"');
        });
});

testInChromium('a track moves by a drag of its name, and by Alt and an arrow', async () => {
        await withTimeline(fake, {}, async (page) => {
                const order = timeline + '.layout.rows.filter((row) => /^CPU \\d/.test(row.title)).map((row) => row.title).join()';
                assert.strictEqual(await page.value(order), 'CPU 0,CPU 1');
                const from = await page.place('.timeline-name', '▾ CPU 0');
                const to = await page.place('.timeline-name', '▾ CPU 1');
                await page.drag(from, to);
                await page.until(order + ' === "CPU 1,CPU 0"');
                await page.value('[...document.querySelectorAll(".timeline-name")].find((e) => e.innerText.includes("CPU 0")).focus()');
                await page.press('Alt+ArrowUp');
                await page.until(order + ' === "CPU 0,CPU 1"');
                assert.ok(await page.value(timeline + '.choice.closed.size === 0'), 'a drag is no click');
        });
});

test('by keyboard alone: to a zone, its panel, zoom, and what is under the cursor is said', async () => {
        await withTimeline(aroundLate, {}, async (page) => {
                await page.value('document.querySelector(".timeline-canvas").focus()');
                for (let i = 0; i < 40 && await page.value(`!${timeline}.chosen || ${timeline}.chosen.lane.lane.kind !== 'zones'`); i++) {
                        await page.press('ArrowDown');
                }
                await page.press('ArrowRight');
                await page.untilText('.panel h2', /^Frame/);
                await page.until('/Frame: .*main 4242/.test(document.getElementById("live").textContent)', 'the live region');
                const before = await viewOf(page);
                await page.press('w');
                await page.until(timeline + '.to - ' + timeline + '.from < ' + (before.to - before.from));
                const from = (await viewOf(page)).from;
                await page.press('d');
                await page.until(timeline + '.from > ' + from);
                await page.press('Home');
                await page.until(timeline + '.to - ' + timeline + '.from >= ' + game.duration_ns * 0.98);
                await page.press('Enter');
                assert.ok(await page.value('document.querySelector(".panel").contains(document.activeElement)'));
        });
});

testInChromium('at 200 % zoom the timeline keeps a canvas that shows rows, and hovering hits what is drawn', async () => {
        await withTimeline(aroundLate, { width: 1400, height: 1200, scale: 2 }, async (page) => {
                assert.ok(await page.value(timeline + '.canvas.clientHeight >= 150'), 'the canvas is too low');
                const at = await page.moveTo(() => placeOf(page, 'main', 'zones', 0, lateBegin + 2e7));
                await page.untilText('.timeline-tip', /Frame: 47\.8 ms/);
        });
});

testInChromium('a note is written at the chosen zone, is there again after a reload, and goes with the saved page', async () => {
        const text = 'why so late? <b>see the lock</b>';
        const saved = path.join(folder, 'saved.html');
        await withTimeline(aroundLate, {}, async (page) => {
                const at = await placeOf(page, 'main', 'zones', 0, lateBegin + 2e7);
                await page.clickAt(at.x, at.y);
                await page.press('b');
                await page.until('document.querySelector(".note-dialog").open');
                await page.type(text);
                await page.press('Enter');
                await page.until(timeline + '.notes.notes.length === 1');
                assert.strictEqual(await page.value(timeline + '.notes.notes[0].from'), lateBegin);
                await page.reload();
                await page.until('window.hyprofShell && ' + timeline + '.notes.notes.length === 1', 'the note after a reload');
                await page.click('.timeline-tools button', 'Notes (1)');
                assert.strictEqual(await page.text('.note-text'), text);
                fs.writeFileSync(saved, await page.value(`hyprofViewer.source.page(${timeline}.notes.notes)`));
                await page.click('.notes li button:last-child');
                await page.until(timeline + '.notes.notes.length === 0');
        });
        await withTimeline('file://' + saved, {}, async (page) => {
                await page.click('.timeline-tools button', 'Notes (1)');
                assert.strictEqual(await page.text('.note-text'), text);
                assert.strictEqual(await page.value('document.querySelectorAll("#data-notes, .note-text").length'), 2);
        });
});

testInChromium('a thousand threads: as many rows as fit are made, and the last one is reached', async () => {
        const many = pageFile('many', new FakeTrace({ nThreads: 1000, nFrames: 12 }));
        await withTimeline(many, {}, async (page) => {
                assert.ok(await page.value('document.querySelectorAll(".timeline-label").length < 60'));
                await page.value(timeline + '.scroll.scrollTop = 1e9');
                await page.until('[...document.querySelectorAll(".timeline-name")].some((e) => /worker 99\\d/.test(e.innerText))',
                        'the last threads');
                await page.until(isSharp, 'the last rows');
        });
});

testInChromium('the strip of CPUs shows the mean of what ran, and of what could have run, at any zoom', async () => {
        const states = game.tracks.flatMap((track) => track.lanes).filter((lane) => lane.kind === 'states')
                .flatMap((lane) => game.lanes.find((one) => one.id === lane.id).spans);
        await withTimeline(aroundLate, {}, async (page) => {
                const row = timeline + '.layout.rows.find((one) => one.title === "CPUs in use")';
                assert.strictEqual(await page.value(row + ' === ' + timeline + '.layout.rows[0]'), true);
                for (const span of [3e6, 4e7, game.duration_ns]) {
                        const from = span === game.duration_ns ? 0 : lateBegin;
                        await page.value(`${timeline}.showRange(${from}, ${from + span})`);
                        await page.until(isSharp, 'the strip');
                        const hit = await page.value(`(() => {
                                const hit = ${timeline}.hitOf(${row}, ${row}.lanes[0], ${from + span * 0.4});
                                return { begin: hit.begin, end: hit.end, ran: hit.longestBegin, wanted: hit.longestNs };
                        })()`);
                        const meanOf = (kinds) => states.filter((one) => kinds.includes(one[2] >>> 28)).reduce((sum, one) =>
                                sum + Math.max(0, Math.min(one[1], hit.end) - Math.max(one[0], hit.begin)), 0) / (hit.end - hit.begin);
                        assert.ok(Math.abs(hit.ran - meanOf([1])) < 1e-6, JSON.stringify(hit));
                        assert.ok(Math.abs(hit.wanted - meanOf([1, 3, 4])) < 1e-6, JSON.stringify(hit));
                }
                const words = await page.value(`pageModules['timeline_words.js'].wordsOfHit(${timeline}.viewer,
                        ${timeline}.hitOf(${row}, ${row}.lanes[0], ${game.duration_ns * 0.4})).join('; ')`);
                assert.match(words, /^[\d.]+ of 2 CPUs ran threads of the program; [\d.]+ threads could run/);
        });
});

testInChromium('a frame follows an input within 50 ms (p95) while a person zooms and pans', async (t) => {
        await withTimeline(fake, {}, async (page) => {
                const at = await placeOf(page, 'main', 'zones', 0, lateBegin);
                await page.value(timeline + '.delays.length = 0');
                for (let i = 0; i < 60; i++) {
                        await page.wheel(at.x, at.y, i % 20 < 12 ? -200 : 200);
                }
                for (let i = 0; i < 40; i++) {
                        await page.press(i % 2 ? 'd' : 'a');
                }
                await page.until(timeline + '.delays.length > 30');
                const delays = (await page.value(timeline + '.delays')).sort((a, b) => a - b);
                const p95 = delays[Math.floor(delays.length * 0.95)];
                t.diagnostic('from input to drawn: median ' + delays[delays.length >> 1].toFixed(1) + ' ms, p95 ' + p95.toFixed(1) +
                        ' ms, most ' + delays[delays.length - 1].toFixed(1) + ' ms, of ' + delays.length);
                if (process.env.HYPROF_MEASURE) {
                        assert.ok(p95 <= DRAWN_MS, p95.toFixed(1) + ' ms');
                }
        });
});
