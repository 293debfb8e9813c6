// SPDX-License-Identifier: MIT
// Flows on the timeline: an arrow from where a zone handed work over to where the next one took it, of another process too, and
// the words in the panel of either that lead to the other; of a trace that is served, of one that grows, of a page in one file.
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
                        '["front", "back", "pool"].every((name) => hyprofViewer.model.tracks.some((one) => one.title.includes(name) && ' +
                        'one.lanes.some((lane) => lane.kind === "zones" && lane.items >= (name === "back" ? 1000 : 1))))', 'all zones');
                await action(page);
                if (address.startsWith('file:')) {
                        page.noComplaints();
                }
        } finally {
                await page.close();
        }
}

/** Chooses the first zone of a name, once it is there. */
async function choose(page, name) {
        await page.value(`(async () => {
                for (;;) {
                        const { model, source } = hyprofViewer;
                        const what = model.locations.findIndex((one) => one.name === ${JSON.stringify(name)}) + 1;
                        const lanes = model.lanesOfKind('zones').map((one) => one.lane.id);
                        const found = what > 0 && lanes.length > 0 ? await source.find(lanes, 0, 'next', what) : null;

                        if (found && ${timeline}.rowOf(found.lane)) {
                                ${timeline}.chooseFound(found.lane, found);
                                return;
                        }
                        await new Promise((resolve) => setTimeout(resolve, 50));
                }
        })()`);
        await page.untilText('.panel h2', new RegExp('^' + name + ':'));
}

/** Goes to the first other end; what comes into the panel meanwhile may move the button. */
function follow(page) {
        return page.value('document.querySelector(".panel-launches button").click()');
}

/** The arrows of the chosen zone as [name of the other zone, time there, time here, whether it comes from there]. */
const arrows = `${timeline}.launches.found.ends.map((one) => [one.what && hyprofViewer.model.locationName(one.what), one.at, one.own,
        one.isFrom])`;

async function checkEnds(page) {
        await choose(page, 'alone');
        await page.value('new Promise((resolve) => setTimeout(resolve, 100))');
        assert.equal(await page.text('.panel-launches'), '');
        await choose(page, 'submit');
        const begin = await page.value(timeline + '.chosen.begin');
        await page.untilText('.panel-launches', /^taken over by serve in .*pool.*, 40(\.0+)? us later$/);
        assert.deepEqual(await page.value(arrows), [['serve', begin + 100000, begin + 60000, false]]);
        await follow(page);
        await page.untilText('.panel h2', /^serve: /);
        await page.untilText('.panel-launches', /handed over by submit in .*front.*, taken 40(\.0+)? us later/);
        await page.untilText('.panel-launches', /taken over by no zone in .*back.*, 300 us later/);
        assert.deepEqual(await page.value(arrows), [['submit', begin + 60000, begin + 100000, true],
                [0, begin + 400000, begin + 100000, false]]);
        assert.equal(await page.value('document.querySelectorAll(".panel-launches button").length'), 1);

        /* The line is drawn half way between both. */
        const nOfAccent = `(() => {
                const screen = ${timeline};
                const { AXIS_PX } = pageModules['timeline_paint.js'];
                const accent = getComputedStyle(document.documentElement).getPropertyValue('--accent').trim();
                const parts = [1, 3, 5].map((at) => parseInt(accent.slice(at, at + 2), 16));
                const [end] = screen.launches.found.ends;
                const placeOf = (lane, ns) => {
                        const row = screen.rowOf(lane);
                        return [(ns - screen.from) / (screen.to - screen.from) * screen.canvas.clientWidth,
                                row.y + row.height / 2 - screen.scroll.scrollTop + AXIS_PX];
                };
                const [a, b] = [placeOf(end.span.lane, end.at), placeOf(screen.chosen.lane.lane.id, end.own)];
                const copy = document.createElement('canvas');
                copy.width = copy.height = 7;
                const context = copy.getContext('2d', { willReadFrequently: true });
                screen.drawNow();
                context.drawImage(screen.canvas, Math.round((a[0] + b[0]) / 2 * devicePixelRatio) - 3,
                        Math.round((a[1] + b[1]) / 2 * devicePixelRatio) - 3, 7, 7, 0, 0, 7, 7);
                const { data } = context.getImageData(0, 0, 7, 7);
                let n = 0;
                for (let i = 0; i < data.length; i += 4)
                        n += parts.every((part, k) => Math.abs(data[i + k] - part) < 40) ? 1 : 0;
                return n;
        })()`;
        await page.value(`${timeline}.showRange(${begin - 1e4}, ${begin + 5e5})`);
        assert.ok(await page.value(nOfAccent) > 0, 'the arrow');
        await follow(page);
        await page.untilText('.panel h2', /^submit: /);
}

/** The switch draws both arrows, from begin to end, and a link has it. */
async function checkAll(page) {
        const drawn = `${timeline}.arrows.flows.shown.map(({ from, to }) => [from.x, to.x].map((x) => Math.round(${timeline}.from +
                x / ${timeline}.canvas.clientWidth * (${timeline}.to - ${timeline}.from))))`;

        await choose(page, 'submit');
        const begin = await page.value(timeline + '.chosen.begin');
        await page.value(`${timeline}.showRange(${begin - 1e4}, ${begin + 5e5})`);
        await page.until(timeline + '.arrows.flows.shown.length === 0');
        await page.click('.timeline-tools button', 'Flows');
        await page.until(timeline + '.arrows.flows.shown.length === 2', 'both arrows');
        const seen = (await page.value(drawn)).sort((a, b) => a[0] - b[0]);
        [[6e4, 1e5], [1e5, 4e5]].forEach((ends, i) => ends.forEach((at, k) =>
                assert.ok(Math.abs(seen[i][k] - begin - at) < 2, String(seen))));
        await page.untilText('.timeline-tools', /2 hand-overs/);
        await page.until('/rows=[^&]*\\bw\\b/.test(location.hash)', 'the address');
        await page.value(`${timeline}.showRange(${begin - 1e4}, ${begin + 8e4})`);
        await page.until(timeline + '.arrows.flows.shown.length === 1', 'the one that reaches into the view');
        await page.value(`${timeline}.showRange(${begin + 6e5}, ${begin + 8e5})`);
        await page.until(timeline + '.arrows.flows.shown.length === 0', 'none there');
        await page.press('u');
        await page.until('!/rows=[^&]*\\bw\\b/.test(location.hash)', 'the switch is off');
}

test('all arrows in view on a switch, of a trace that is served and of a page in one file', async () => {
        await withPage(await served(path.join(folder, 'whole.hyp')), checkAll);
        await withPage('file://' + path.join(folder, 'page.html'), checkAll);
});

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

test('the same from the index that the server kept; whether there are any is asked after the first picture', async () => {
        await withPage(await served(path.join(folder, 'whole.hyp')), async (page) => {
                await checkEnds(page);
                const asked = page.requests.map((url) => /[^/?]*(?=\?)/.exec(url)?.[0]);

                assert.ok(asked.includes('arrows') && asked.indexOf('arrows') > asked.indexOf('lanes'), asked.join());
        });
});
