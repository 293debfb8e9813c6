// SPDX-License-Identifier: MIT
// An address shows the same to someone else: the chosen item, ghost zones, idle tracks, pins, folded rows, colours; a range
// that is not within the recording is cut, with one sentence; Back leads to the view before.
'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');
const test = require('node:test');
const assert = require('node:assert');
const { Chromium } = require('./chromium.js');
const { FakeTrace } = require('./fake_trace.js');
const { makePage } = require('./make_page.js');

const folder = fs.mkdtempSync(path.join(process.env.TMPDIR || os.tmpdir(), 'hyprof-link-'));
const timeline = 'hyprofShell.made.get("timeline")';
const game = new FakeTrace();
const file = path.join(folder, 'page.html');
const [lateBegin, lateEnd] = game.frameTimes(game.lateFrame);
const aroundLate = '#view_from=' + (lateBegin - 3e7) + '&view_to=' + (lateEnd + 3e7);
const mainZones = game.tracks.find((track) => track.title === 'main').lanes.find((lane) => lane.kind === 'zones' && lane.depth === 0).id;
const late = { lane: mainZones, begin_ns: lateBegin, end_ns: lateEnd - 2e6, what: 1 };
const all = game.duration_ns;
const FOREIGN = [['#view_from=9e9&view_to=1e10', 0, all], ['#view_to=-5', 0, all], ['#view_from=x&view_to=y', 0, all],
        ['#from=9e9&to=1e10&view_from=9e9&view_to=1e10', 0, all], ['#view_from=3e9&view_to=1e12', 3e9, all], ['#from=7&to=3', 0, all]];
let browser;

test.before(async () => {
        fs.writeFileSync(file, makePage(game.dataElements()));
        browser = await Chromium.start();
});

test.after(async () => {
        await browser.close();
        fs.rmSync(folder, { recursive: true, force: true });
});

async function withPage(fragment, action) {
        const page = await browser.open('file://' + file + fragment);
        try {
                await page.until('window.hyprofShell && ' + timeline, 'the timeline');
                await action(page);
                page.noComplaints();
        } finally {
                await page.value('localStorage.clear()');
                await page.close();
        }
}

const viewOf = (page) => page.value('(({ from, to }) => ({ from, to }))(' + timeline + ')');

/** All that a person sees, but for pixels. */
const shown = `(({ choice, chosen, from, to, layout }) => ({ from: Math.round(from), to: Math.round(to), ghosts: choice.showsGhosts,
        idle: choice.showsIdle, wakes: choice.showsWakes, pinned: choice.pinned, closed: [...choice.closed].sort(),
        rows: layout.rows.map((row) => [row.title, row.isOpen, row.isPinned, row.lanes.length]),
        chosen: chosen && [chosen.lane.lane.id, chosen.begin, chosen.end, chosen.what],
        panel: document.querySelector('.panel h2')?.innerText, theme: document.documentElement.dataset.theme }))(${timeline})`;

test('the address shows the same, without anything that was remembered', async () => {
        let hash;
        let seen;
        await withPage(aroundLate, async (page) => {
                await page.press('g');
                await page.press('u');
                await page.click('[aria-label="pin CPU 1"]');
                await page.click('.timeline-name', '▾ worker 1 4243');
                await page.value(`${timeline}.labels.toggleOpen('cpu:7')`);
                await page.value(`hyprofShell.nextTheme(), hyprofShell.nextTheme()`);
                await page.value(`${timeline}.search.goToItem(${JSON.stringify(late)})`);
                await page.untilText('.panel h2', /^Frame/);
                await page.until('/item=/.test(location.hash)');
                hash = await page.value('location.hash');
                seen = await page.value(shown);
        });
        assert.deepStrictEqual(seen.chosen, [mainZones, lateBegin, lateEnd - 2e6, 1]);
        assert.strictEqual(seen.wakes, true);
        assert.deepStrictEqual([seen.ghosts, seen.pinned, seen.closed, seen.theme], [true, ['cpu:8'], ['cpu:7', 'thread:2'], 'dark']);
        await withPage(hash, async (page) => {
                await page.untilText('.panel h2', /^Frame/);
                assert.deepStrictEqual(await page.value(shown), seen);
        });
});

test('a range that is not within the recording is cut to it, and said once', async () => {
        for (const [fragment, from, to] of FOREIGN) {
                await withPage(fragment, async (page) => {
                        await page.untilText('#warnings', /not within this recording of 3\.99 s/);
                        await page.until(`(({ windows, isFetching, wanted }) => windows.size > 0 && !isFetching && !wanted)` +
                                `(${timeline}.cache)`);
                        assert.strictEqual(await page.value('document.querySelectorAll(".failure").length'), 1, fragment);
                        assert.deepStrictEqual(await viewOf(page), { from, to });
                        assert.ok(await page.value('hyprofViewer.range().to > hyprofViewer.range().from'));
                });
        }
        await withPage(aroundLate, async (page) => {
                assert.strictEqual(await page.value('document.querySelectorAll(".failure").length'), 0);
        });
});

test('Back leads to the view before, and to what was chosen then', async () => {
        await withPage(aroundLate, async (page) => {
                const before = await viewOf(page);
                await page.value(`${timeline}.search.goToItem(${JSON.stringify(late)})`);
                await page.press('f');
                await page.until(`${timeline}.from > ${before.from} && ${timeline}.stateTimer === 0`);
                const zoomed = await viewOf(page);
                assert.ok(zoomed.to - zoomed.from < before.to - before.from);
                await page.value('history.back()');
                await page.until(`${timeline}.from === ${before.from} && ${timeline}.to === ${before.to}`, 'the view before');
                await page.value('history.forward()');
                await page.until(`Math.abs(${timeline}.from - ${zoomed.from}) < 2`, 'the view after');
        });
});

test('zooms leave a way back: each of them is a click', async () => {
        await withPage('', async (page) => {
                const crumbs = 'document.querySelector(".timeline-crumbs").innerText.replace(/\\s+/g, " ").trim()';
                const zoomTo = async (from, to) => {
                        await page.value(`${timeline}.showRange(${from}, ${to})`);
                        await page.until(`${timeline}.stateTimer === 0`);
                };
                assert.strictEqual(await page.value(crumbs), '');
                await zoomTo(1e9, 2e9);
                await zoomTo(1.1e9, 1.3e9);
                await zoomTo(1.11e9, 1.29e9); // a small step: no crumb of its own
                await zoomTo(1.2e9, 1.21e9);
                assert.strictEqual(await page.value(crumbs), '› 1.00 s › 180 ms › 10.0 ms');
                await zoomTo(1.22e9, 1.23e9); // beside
                assert.strictEqual(await page.value(crumbs), '› 1.00 s › 180 ms › 10.0 ms');
                await page.click('.timeline-crumbs button', '1.00 s');
                await page.until(`${timeline}.from === 1e9 && ${timeline}.to === 2e9 && ${timeline}.stateTimer === 0`);
                assert.strictEqual(await page.value(crumbs), '› 1.00 s');
                await page.press('Home');
                await page.until(`${crumbs} === ''`);
        });
        await withPage('#view_from=100000000&view_to=300000000', async (page) => {
                assert.match(await page.value('document.querySelector(".timeline-crumbs").innerText'), /^\s*› 200 ms$/);
        });
});

test('a link has the filter, the sort, ghost zones of one thread, all folded, what is hidden', async () => {
        let hash;
        let seen;
        await withPage('#sort=first&filter=worker*', async (page) => {
                await page.click('.timeline-tracks button', 'Hide empty');
                await page.click('.timeline-tracks button', 'Fold all');
                await page.value(`${timeline}.labels.toggleOpen('process:1')`);
                await page.click('button[aria-label="ghost zones of worker 1 4243"]', 'ƒ');
                await page.until('/xthread/.test(location.hash)');
                hash = await page.value('location.hash');
                seen = await page.value(shown);
        });
        assert.ok(seen.rows.every(([title]) => /worker|game|helper/.test(title)), JSON.stringify(seen.rows));
        await withPage(hash, async (page) => {
                assert.deepStrictEqual(await page.value(shown), seen);
        });
});

test('a step right after a movement is one step: Back leads to the view that was moved to', async () => {
        await withPage('', async (page) => {
                const all = await viewOf(page);
                await page.value(`${timeline}.showRange(1e8, 2e8); hyprofViewer.go('zones')`);
                assert.match(await page.value('location.hash'), /^#screen=zones.*view_from=100000000/);
                assert.strictEqual(await page.value(timeline + '.stateTimer'), 0, 'no movement is still to come');
                await page.value('history.back()');
                await page.until('hyprofViewer.state.screen !== "zones"', 'the timeline again');
                assert.deepStrictEqual(await page.value('[hyprofViewer.state.view_from, hyprofViewer.state.view_to]'),
                        ['100000000', '200000000'], JSON.stringify(all));
        });
});

test('several movements at once are one step back; moving at the end does not zoom', async () => {
        await withPage('', async (page) => {
                for (let i = 0; i < 6; i++) {
                        await page.press('w');
                }
                await page.until(`${timeline}.stateTimer === 0 && /view_from/.test(location.hash)`);
                const zoomed = await viewOf(page);
                for (let i = 0; i < 12; i++) {
                        await page.press('d');
                        await page.until(`${timeline}.stateTimer === 0`);
                }
                const moved = await viewOf(page);
                assert.ok(Math.abs((moved.to - moved.from) - (zoomed.to - zoomed.from)) < 4, JSON.stringify([zoomed, moved]));
                await page.until('performance.now() - hyprofViewer.movedAt > 1100');
                await page.press('Home');
                await page.until(`${timeline}.stateTimer === 0 && ${timeline}.from <= 0`);
                await page.value('history.back()');
                await page.until(`Math.abs(${timeline}.to - ${moved.to}) < ${game.duration_ns * 0.011}`, 'the view before');
        });
});
