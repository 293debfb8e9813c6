// SPDX-License-Identifier: MIT
// Devices on the timeline: the arrow from the zone of a thread to the work of a device that it handed over, and the words
// in the panel of either end that lead to the other; of a trace that is served, of one that grows, of a page in one file.
'use strict';

const path = require('path');
const test = require('node:test');
const assert = require('node:assert');
const { Chromium } = require('./chromium.js');
const { serveTrace } = require('./served_trace.js');

const folder = process.env.TMPDIR;
const timeline = 'hyprofShell.made.get("timeline")';
const viewers = [];
let browser;

test.before(async () => {
        browser = await Chromium.start();
});

test.after(async () => {
        viewers.forEach((one) => one.kill('SIGINT'));
        await browser.close();
});

/** The address of a trace that `hyprof view` serves. */
async function served(...words) {
        const { viewer, address } = await serveTrace(...words);

        viewers.push(viewer);
        return address;
}

async function withPage(address, action) {
        const page = await browser.open(address);
        try {
                await page.until('window.hyprofShell && ' + timeline + ' && ' + timeline + '.frame() && ' +
                        'hyprofViewer.model.lanesOfKind("device").length > 0', 'the timeline');
                await action(page);
                if (address.startsWith('file:')) {
                        page.noComplaints();
                }
        } finally {
                await page.close();
        }
}

/** Chooses the first item of a name. */
async function choose(page, kind, name) {
        await page.value(`(async () => {
                const { model, source } = hyprofViewer;
                const what = model.locations.find((one) => one.name === ${JSON.stringify(name)}).id;
                const found = await source.find(model.lanesOfKind(${JSON.stringify(kind)}).map((one) => one.lane.id), 0, 'next', what);
                ${timeline}.chooseFound(found.lane, found);
        })()`);
        await page.untilText('.panel h2', new RegExp('^' + name + ':'));
}

/** How many pixels have the accent's color around the middle of the line between two zones' begins. */
function accentBetween(page, from, to) {
        return page.value(`(() => {
                const { AXIS_PX } = pageModules['timeline_paint.js'];
                const screen = ${timeline};
                const accent = getComputedStyle(document.documentElement).getPropertyValue('--accent').trim();
                const parts = [1, 3, 5].map((at) => parseInt(accent.slice(at, at + 2), 16));
                const scale = devicePixelRatio;
                const placeOf = ([title, kind, ns]) => {
                        const track = screen.viewer.model.tracks.find((one) => one.title.endsWith(title));
                        const lane = screen.rowOf(track.lanes.find((one) => one.kind === kind).id);
                        return { x: (ns - screen.from) / (screen.to - screen.from) * screen.canvas.clientWidth,
                                 y: lane.y + lane.height / 2 - screen.scroll.scrollTop + AXIS_PX };
                };
                const [a, b] = [placeOf(${JSON.stringify(from)}), placeOf(${JSON.stringify(to)})];
                const copy = document.createElement('canvas');
                copy.width = copy.height = 7;
                const context = copy.getContext('2d', { willReadFrequently: true });
                screen.drawNow();
                context.drawImage(screen.canvas, Math.round((a.x + b.x) / 2 * scale) - 3, Math.round((a.y + b.y) / 2 * scale) - 3,
                        7, 7, 0, 0, 7, 7);
                const data = context.getImageData(0, 0, 7, 7).data;
                let n = 0;
                for (let i = 0; i < data.length; i += 4)
                        n += parts.every((part, k) => Math.abs(data[i + k] - part) < 40) ? 1 : 0;
                return n;
        })()`);
}

/** The arrow and the words of both ends, and the way from each to the other. */
async function checkEnds(page) {
        await page.until('hyprofViewer.model.lanesOfKind("zones").some((one) => one.lane.items > 1000)', 'zones');
        await choose(page, 'zones', 'forward');
        const begin = await page.value(timeline + '.chosen.begin');
        const ends = [['main', 'zones', begin], ['stream 7', 'device', begin + 12000]];
        const around = `${timeline}.showRange(${begin - 1e4}, ${begin + 5e4})`;
        await choose(page, 'zones', 'alone');
        await page.value(around);
        assert.equal(await accentBetween(page, ...ends), 0, 'no arrow of another zone');
        await choose(page, 'zones', 'forward');
        await page.untilText('.panel-launches', /ran on device 0 \/ stream 7: matmul, 12(\.0+)? us later \(placed within .*\)/);
        await page.untilText('.panel-launches', /ran on device 0 \/ stream 9: softmax, 120(\.0+)? us later/);
        await page.value(around);
        assert.ok(await accentBetween(page, ...ends) > 0, 'the arrow of a zone of a thread');
        await page.click('.panel-launches div:nth-child(1) button');
        await page.untilText('.panel h2', /^matmul: /);
        await page.untilText('.panel-launches', /^submitted by forward in main, began 12(\.0+)? us later$/);
        await page.value(around);
        assert.ok(await accentBetween(page, ...ends) > 0, 'the arrow of work of a device');
        await page.click('.panel-launches button');
        await page.untilText('.panel h2', /^forward: /);
}

test('a trace that is served: an arrow, and each end names the other', async () => {
        await withPage(await served(path.join(folder, 'whole.hyp')), checkEnds);
});

test('a page in one file has them as well', async () => {
        await withPage('file://' + path.join(folder, 'page.html'), checkEnds);
});

test('a trace that grows has them as well', async () => {
        await withPage(await served('--follow', path.join(folder, 'growing.hyp')), async (page) => {
                assert.equal(await page.value('hyprofViewer.model.isLive'), true);
                await page.value('document.querySelector(".live-buttons button").click()');
                await checkEnds(page);
        });
});

test('of much work eight pieces are named and the rest is counted; zones without a key say nothing', async () => {
        await withPage('file://' + path.join(folder, 'page.html'), async (page) => {
                await choose(page, 'zones', 'backward');
                await page.untilText('.panel-launches', /step 1, .*step 8, .*and 62 more$/s);
                assert.equal(await page.value('document.querySelectorAll(".panel-launches button").length'), 8);
                for (const [kind, name] of [['zones', 'alone'], ['device', 'keyless']]) {
                        await choose(page, kind, name);
                        await page.value('new Promise((resolve) => setTimeout(resolve, 100))');
                        assert.equal(await page.text('.panel-launches'), '');
                }
        });
});

test('the other end is unfolded when it is gone to', async () => {
        await withPage('file://' + path.join(folder, 'page.html'), async (page) => {
                await page.value(`(() => {
                        const screen = ${timeline};
                        const { keysAround } = pageModules['timeline_rows.js'];
                        const track = hyprofViewer.model.tracks.find((one) => one.title.endsWith('stream 9'));
                        screen.choice.closed.add(keysAround(track).at(-1));
                        screen.arrange();
                })()`);
                await choose(page, 'zones', 'forward');
                await page.click('.panel-launches div:nth-child(2) button');
                await page.untilText('.panel h2', /^softmax: /);
        });
});

/** The rows of devices as they are drawn: their depth, title and note. */
const rowsOfDevices = `${timeline}.layout.rows.filter((row) => row.depth !== undefined)
        .map((row) => '-'.repeat(row.depth) + row.title + (row.note ? ': ' + row.note : ''))`;

/** Clicks the name of a row once it is drawn; rows move by it. */
async function clickName(page, words) {
        const found = `[...document.querySelectorAll('.timeline-name')].find((one) => one.textContent === ${JSON.stringify(words)})`;
        await page.until(found, words);
        await page.value(found + '.click()');
}

test('a chip of 100 cores is one row with its share and its busiest lanes; it unfolds to cores, and these to lanes', async () => {
        for (const address of ['file://' + path.join(folder, 'chip.html'), await served(path.join(folder, 'chip.hyp'))]) {
                await withPage(address, async (page) => {
                        const folded = await page.value(rowsOfDevices);
                        assert.equal(folded.length, 2);
                        assert.match(folded[0], /^chip 0: 200 lanes, 2\d\.\d% busy$/);
                        assert.match(folded[1], /^gpu 1/);
                        const strips = `${timeline}.layout.rows.find((row) => row.title === 'chip 0').lanes`;
                        assert.equal(await page.value(strips + '.length'), 6);
                        assert.ok(await page.value(strips + '.some((one) => one.track.title.includes("core 10 / "))'));
                        /* Beside the name where there is room; it is in its title in any case. */
                        await page.until('document.querySelector(".timeline-name.group")?.title.startsWith("chip 0, 200 lanes, 2")',
                                         'the name with its note');
                        await clickName(page, '▸ chip 0');
                        const cores = await page.value(rowsOfDevices);
                        assert.equal(cores.length, 102);
                        assert.match(cores[1], /^-core 0: 2 lanes/);
                        assert.match(cores[3], /^-core 2: 2 lanes/);
                        assert.match(cores[11], /^-core 10: 2 lanes/);
                        assert.match(cores[100], /^-core 99: 2 lanes/);
                        await page.until('document.querySelector(".timeline-labels").textContent.includes("core 0")', 'the cores');
                        const indent = 'parseFloat([...document.querySelectorAll(".timeline-label")].find((one) => ' +
                                'one.textContent.includes("WORD")).style.paddingLeft)';
                        assert.ok(await page.value(indent.replace('WORD', 'core 0') + ' > ' + indent.replace('WORD', 'chip 0')));
                        await clickName(page, '▸ core 1');
                        assert.deepEqual((await page.value(rowsOfDevices)).slice(2, 5).map((one) => one.replace(/:.*/, '')),
                                ['-core 1', '--stream 0', '--stream 1']);
                        await clickName(page, '▾ chip 0');
                        assert.equal((await page.value(rowsOfDevices)).length, 2);
                });
        }
});

test('the arrow to work in a folded chip ends at its row, and going there unfolds the way to it', async () => {
        await withPage('file://' + path.join(folder, 'chip.html'), async (page) => {
                await choose(page, 'zones', 'launch');
                await page.untilText('.panel-launches', /ran on chip 0 \/ core 10 \/ stream 1: wanted, 1\.90 ms later/);
                const row = `${timeline}.layout.rows.find((row) => row.title === 'chip 0')`;
                const y = await page.value(`(({ launches, layout }) => launches.middleOf({ top: 0 }, launches.found.ends[0].track, -1) -
                        pageModules['timeline_paint.js'].AXIS_PX)(${timeline})`);
                assert.equal(y, await page.value(`(({ y, height }) => y + height / 2)(${row})`));
                await page.click('.panel-launches button');
                await page.untilText('.panel h2', /^wanted: /);
                assert.ok((await page.value(rowsOfDevices)).includes('--stream 1'));
                await page.untilText('.panel-launches', /^submitted by launch in /);
        });
});
