// SPDX-License-Identifier: MIT
// Two traces side by side, served from one address: both timelines move together, with one axis or with instances of a zone or
// chosen items at one place; the histograms of a zone over each other; a link shows the same; hostile names stay text.
'use strict';

const fs = require('fs');
const path = require('path');
const { execFileSync } = require('child_process');
const test = require('node:test');
const assert = require('node:assert');
const { Chromium } = require('./chromium.js');
const { Firefox } = require('./firefox.js');
const { serveTrace } = require('./served_trace.js');

const folder = process.env.TMPDIR;
const hyprof = process.env.HYPROF;
const HOSTILE = '<img src=x onerror="globalThis.ran = 1">';
const MS = 1e6;
const isFirefox = process.env.HYPROF_BROWSER === 'firefox';
let browser, viewer, page, address;

/** A trace with instances of the zone "work" at these times and of these lengths, in ms, in a frame that lasts as long as all. */
function makeTrace(name, length_ms, works) {
        const json = path.join(folder, name + '.json');
        const zone = (title, at, ms, tid) => ({ ph: 'X', name: title, ts: at * 1000, dur: ms * 1000, pid: 7, tid });

        const named = (tid, title) => ({ ph: 'M', name: 'thread_name', pid: 7, tid, args: { name: title } });

        fs.writeFileSync(json, JSON.stringify({ traceEvents: [named(1, 'main'), named(2, 'worker'), zone('w*', 0, length_ms, 1),
                zone(HOSTILE, 1, 1, 1),
                ...works.map(([at, ms]) => zone('work', at, ms, 2)), zone(`only ${name}`, 2, 1, 2)] }));
        execFileSync(hyprof, ['import', json, '-o', path.join(folder, name + '.hyp')], { stdio: 'ignore' });
        return path.join(folder, name + '.hyp');
}

test.before(async () => {
        const before = makeTrace('before', 100, [[10, 2], [30, 2], [50, 2]]);
        const after = makeTrace('after', 200, [[25, 4], [75, 4]]);

        ({ viewer, address } = await serveTrace(before, after));
        browser = await (isFirefox ? Firefox : Chromium).start();
        page = await browser.open(address + '#screen=compare');
        await page.until(sides, 'both timelines');
        await page.until(`${side('before')}.viewer.model.progress === 1 && ${side('after')}.viewer.model.progress === 1`, 'both indexes');
});

test.after(async () => {
        await browser.close();
        viewer.removeAllListeners('exit');
        await new Promise((resolve) => {
                viewer.on('exit', resolve);
                viewer.kill('SIGINT');
        });
});

/** Those before are enough to see that another browser has both timelines. */
const testInChromium = isFirefox ? () => {} : test;

const screen = 'hyprofShell.made.get("compare")';
const sides = `globalThis.hyprofShell && ${screen} && ${screen}.sides`;
const side = (name) => `${screen}.sides.${name}.timeline`;
const viewOf = async (name) => page.value(`[${side(name)}.from, ${side(name)}.to]`);

/** Where a time is in a timeline, as a share of its width. */
async function placeOf(name, ms) {
        const [from, to] = await viewOf(name);

        return (ms * MS - from) / (to - from);
}

function isNear(a, b, slack = 1e-3) {
        assert.ok(Math.abs(a - b) < slack, `${a} and ${b}`);
}

test('both show all of the longer one, and move together', async () => {
        await page.until(`${side('before')}.to > 150e6`, 'room for the longer one');
        assert.deepStrictEqual(await viewOf('before'), await viewOf('after'));
        await page.value(`${side('before')}.canvas.focus()`);
        await page.press('w');
        await page.press('d');
        const moved = await viewOf('before');
        assert.ok(moved[1] - moved[0] < 190e6);
        assert.deepStrictEqual(moved, await viewOf('after'));
        const { x, y } = await page.place('.compare-side[aria-label=after] .timeline-canvas');
        await page.drag({ x, y }, { x: x + 60, y });
        assert.notDeepStrictEqual(await viewOf('after'), moved);
        assert.deepStrictEqual(await viewOf('before'), await viewOf('after'));
        await page.until('/both_from=/.test(location.hash)', 'the view in the address');
});

test('both timelines are as wide as each other, also beside the panel of one', async () => {
        const widths = `[...document.querySelectorAll('.compare .timeline-canvas')].map((one) => one.clientWidth)`;
        const [one, other] = await page.value(widths);
        assert.strictEqual(one, other);
        await page.value(`(async () => { const t = ${side('before')};
                const { lane } = t.viewer.model.lanesOfKind('zones').find((one) => one.track.title.startsWith('worker'));
                t.chooseFound(lane.id, await t.viewer.source.find([lane.id], 9e6, 'next', null)); })()`);
        await page.until(`${side('before')}.chosen`, 'a chosen item');
        const [narrow, same] = await page.value(widths);
        assert.ok(narrow < one);
        assert.strictEqual(narrow, same);
});

test('an instance of a zone is at one place in both, and the next one', async () => {
        await page.value(`(${screen}.zone.value = 'work', ${screen}.zone.dispatchEvent(new Event('change')))`);
        await page.until(`${screen}.shift === 15e6`, 'the first instances at one place');
        isNear(await placeOf('before', 10), await placeOf('after', 25));
        await page.click('.compare button', '›');
        await page.until(`${screen}.shift === 45e6`, 'the second ones');
        isNear(await placeOf('before', 30), await placeOf('after', 75));
        await page.click('.compare button', '›');
        await page.untilText('.compare [role=status]', /no instance 3 of work after/);
});

test('its histograms are over each other, in shares, and the numbers beside each other', async () => {
        await page.untilText('.zone-histograms', /before[\s\S]*3[\s\S]*after[\s\S]*2/);
        assert.match(await page.text('.zone-histograms table'), /2\.00 ms/);
        assert.match(await page.text('.zone-histograms table'), /4\.00 ms/);
        assert.strictEqual(await page.value(`[...document.querySelectorAll('.zone-histograms label')].some((one) =>
                one.innerText.trim() === 'shares' && one.querySelector('input').checked)`), true);
});

test('names that only one of them has are not offered, and hostile ones are text', async () => {
        const names = await page.value(`[...${screen}.zone.options].map((one) => one.textContent)`);

        assert.deepStrictEqual(names.slice(1), [HOSTILE, 'w*', 'work']);
        await page.value(`(${screen}.zone.value = ${JSON.stringify(HOSTILE)}, ${screen}.zone.dispatchEvent(new Event('change')))`);
        await page.untilText('.zone-histograms h3', /<img/);
        assert.strictEqual(await page.value('globalThis.ran === undefined && document.querySelectorAll(".compare img").length'), 0);
});

test('a name that looks like a pattern means the zone of that name', async () => {
        await page.value(`(${screen}.zone.value = 'w*', ${screen}.zone.dispatchEvent(new Event('change')))`);
        await page.untilText('.zone-histograms h3', /^w\*/);
        assert.deepStrictEqual(await page.value(`[...document.querySelectorAll('.zone-histograms tbody tr')]
                .map((row) => row.cells[1].innerText)`), ['1', '1']);
});

test('chosen items are at one place', async () => {
        for (const [name, at] of [['before', 50], ['after', 25]]) {
                await page.value(`(async () => { const t = ${side(name)};
                        const { lane } = t.viewer.model.lanesOfKind('zones').find((one) => one.track.title.startsWith('worker'));
                        t.chooseFound(lane.id, await t.viewer.source.find([lane.id], ${at * MS - 1}, 'next', null)); })()`);
                await page.until(`${side(name)}.chosen && ${side(name)}.chosen.begin === ${at * MS}`, 'the item at ' + at);
        }
        await page.click('.compare button', 'Align the chosen items');
        await page.until(`${screen}.shift === -25e6`, 'the chosen items at one place');
        isNear(await placeOf('before', 50), await placeOf('after', 25));
});

/** All that a person sees of both, but for pixels. */
const shownOf = (one) => one.value(`['before', 'after'].map((name) => {
        const { choice, chosen, from, to, layout, zonePaint } = ${screen}.sides[name].timeline;

        return { from: Math.round(from), to: Math.round(to), chosen: chosen && [chosen.lane.lane.id, chosen.begin],
                ghosts: choice.showsGhosts, pinned: choice.pinned, closed: [...choice.closed], filter: choice.filter, sort: choice.sort,
                paint: zonePaint.text, rows: layout.rows.map((row) => [row.title, row.isOpen, row.lanes.length]) };
})`);

/** Until a movement is over, and the next one is a step of its own. */
async function rest(one) {
        await one.until(`['before', 'after'].every((name) => ${screen}.sides[name].timeline.stateTimer === 0)`, 'the end of the movement');
        await one.until(`performance.now() - ${side('after')}.viewer.movedAt > 1100`, 'a pause');
}

testInChromium('Back leads to the view before, of both; movements right after each other are one step', async () => {
        const other = await browser.open(address + '#screen=compare');
        const steps = async (step) => {
                const before = await other.value('history.length');

                await step();
                await rest(other);
                return await other.value('history.length') - before;
        };

        try {
                await other.until(`${sides} && ${side('before')}.to === 200e6`, 'both timelines');
                await rest(other);
                const all = await shownOf(other);
                assert.strictEqual(await steps(() => other.value(`${side('after')}.showRange(20e6, 90e6),
                        ${side('before')}.showRange(30e6, 60e6)`)), 1);
                const zoomed = await shownOf(other);
                assert.deepStrictEqual(zoomed.map(({ from, to }) => [from, to]), [[30e6, 60e6], [30e6, 60e6]]);
                assert.strictEqual(await steps(() => other.value(`${side('before')}.showRange(40e6, 50e6)`)), 1);
                await other.value('history.back()');
                await other.until(`${side('before')}.from === 30e6 && ${side('after')}.from === 30e6`, 'the view before');
                assert.deepStrictEqual(await shownOf(other), zoomed);
                await other.value('history.back()');
                await other.until(`${side('before')}.to === 200e6 && ${side('after')}.to === 200e6`, 'all');
                assert.deepStrictEqual(await shownOf(other), all);
                await other.value('history.go(2)');
                await other.until(`${side('before')}.from === 40e6 && ${side('after')}.from === 40e6`, 'the last view');
        } finally {
                await other.close();
        }
});

testInChromium('an alignment is one step, also if the view moves for it; Back leads to both as they were', async () => {
        const other = await browser.open(address + '#screen=compare&both_from=150000000&both_to=190000000');

        try {
                await other.until(`${sides} && ${side('before')}.from === 150e6`, 'both timelines');
                await rest(other);
                const before = await shownOf(other);
                const nSteps = await other.value('history.length');
                await other.value(`(${screen}.zone.value = 'work', ${screen}.zone.dispatchEvent(new Event('change')))`);
                await other.until(`${screen}.shift === 15e6 && ${side('after')}.from === 21e6`, 'the first instances in sight');
                await rest(other);
                assert.strictEqual(await other.value('history.length'), nSteps + 1);
                assert.match(await other.value('location.hash'), /align=work&both_from=21000000&both_to=61000000/);
                assert.deepStrictEqual((await shownOf(other)).map(({ from }) => from), [6e6, 21e6]);
                await other.value(`${side('before')}.showRange(0, 20e6); hyprofViewer.go('zones')`);
                assert.match(await other.value('location.hash'), /both_from=15000000&both_to=35000000/);
                await other.value('history.back()');
                await other.until(`hyprofViewer.state.screen === 'compare' && ${side('before')}.from === 0`, 'the movement');
                await other.value('history.go(-2)');
                await other.until(`${screen}.shift === 0 && ${side('before')}.from === 150e6`, 'the place before');
                assert.deepStrictEqual(await shownOf(other), before);
        } finally {
                await other.close();
        }
});

testInChromium('the address shows what is chosen, folded, pinned, sorted and colored in each of them', async () => {
        const other = await browser.open(address + '#screen=compare');
        let again;

        try {
                await other.until(`${sides} && ${side('before')}.to === 200e6`, 'both timelines');
                for (const [name, at] of [['before', 30], ['after', 75]]) {
                        await other.value(`(async () => { const t = ${side(name)};
                                const { lane } = t.viewer.model.lanesOfKind('zones').find((one) => one.track.title.startsWith('worker'));
                                t.chooseFound(lane.id, await t.viewer.source.find([lane.id], ${at * MS - 1}, 'next', null)); })()`);
                        await other.until(`${side(name)}.chosen && ${side(name)}.chosen.begin === ${at * MS}`, 'the item at ' + at);
                }
                await other.click('.compare-side[aria-label=before] [aria-label^="pin worker"]');
                await other.click('.compare-side[aria-label=after] .timeline-name', '▾ main 1');
                await other.value(`(${side('after')}.viewer.set({ sort: 'first', paint: 'thread' }),
                        ${side('before')}.viewer.set({ filter: 'work' }))`);
                await other.value(`${side('after')}.showRange(10e6, 110e6)`);
                await rest(other);
                const seen = await shownOf(other);
                assert.deepStrictEqual(seen.map(({ pinned, closed }) => [pinned.length, closed.length]), [[1, 0], [0, 1]]);
                assert.deepStrictEqual([seen[0].filter, seen[1].filter, seen[1].paint, seen[0].sort], ['work', '', 'thread', '']);
                again = await browser.open(address + await other.value('location.hash'));
                await again.until(`${sides} && ${side('before')}.chosen && ${side('after')}.chosen`, 'what is chosen');
                assert.deepStrictEqual(await shownOf(again), seen);
                await again.close();
                again = await browser.open(address + '#screen=compare&both_from=9e15&both_to=-7&shift=1e999&after_item=x&before_rows=%00');
                await again.until(`${sides} && ${side('before')}.to === 200e6 && ${side('after')}.to === 200e6`, 'all, without nonsense');
        } finally {
                await again?.close();
                await other.close();
        }
});

testInChromium('the address shows the same to another', async () => {
        await page.until('/both_from=/.test(location.hash) && /shift=-25000000/.test(location.hash)', 'the address');
        const seen = await viewOf('before');
        const other = await browser.open(address + await page.value('location.hash'));
        const own = page;

        try {
                await other.until(sides + ` && ${screen}.shift === -25e6`, 'the same shift');
                page = other;
                const [from, to] = await viewOf('before');
                isNear(from / MS, seen[0] / MS);
                isNear(to / MS, seen[1] / MS);
        } finally {
                page = own;
                await other.close();
        }
});

testInChromium('they have one axis also while an instance is looked for', async () => {
        const other = await browser.open('about:blank');

        try {
                await other.call('Page.addScriptToEvaluateOnNewDocument', { source: `{
                        const { fetch } = globalThis;
                        globalThis.fetch = (place, ...more) => /search/.test(place) ? new Promise(() => {}) : fetch(place, ...more);
                }` });
                await other.go(address + '#screen=compare&align=work&nth=2');
                await other.until(sides, 'both timelines');
                assert.deepStrictEqual(await other.value(`[${side('before')}.from, ${side('before')}.to]`),
                        await other.value(`[${side('after')}.from, ${side('after')}.to]`));
        } finally {
                await other.close();
        }
});

testInChromium('instances that are looked for at the same time are found one after the other', async () => {
        const other = await browser.open(address + '#screen=compare');

        try {
                await other.until(sides, 'both timelines');
                await other.until(`${side('before')}.viewer.model.progress === 1`, 'the index');
                assert.deepStrictEqual(await other.value(`Promise.all([1, 2, 3, 2].map((nth) =>
                        ${screen}.beginOf('before', 'work', nth)))`), [10 * MS, 30 * MS, 50 * MS, 30 * MS]);
        } finally {
                await other.close();
        }
});

testInChromium('notes belong to the trace on which they are written', async () => {
        await page.value(`(${side('before')}.notes.notes = [{ from: 1, to: 1, text: 'here' }], ${side('before')}.notes.changed(true))`);
        await page.until(`fetch('before/kept').then((reply) => reply.json()).then((kept) => /here/.test(kept.notes))`, 'the note is kept');
        assert.strictEqual(await page.value(`fetch('kept').then((reply) => reply.json()).then((kept) => kept.notes ?? '')`), '');
});

testInChromium('a flame graph of differences is dark where the page is, and its words can be read', async () => {
        const found = await page.value(`(() => {
                const { FlameGraph } = pageModules['flame_graph.js'];
                const { contrastOfRgb } = pageModules['colors.js'];
                const node = (name, value, before) => ({ name, value, before, self: value, module: '', row: {}, children: [],
                        parent: null });
                const root = node('all', 100, 100);
                const brush = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
                const rgb = (css) => {
                        brush.fillStyle = css;
                        brush.fillRect(0, 0, 1, 1);
                        return [...brush.getImageData(0, 0, 1, 1).data].slice(0, 3);
                };
                const seen = [];
                for (const theme of ['dark', 'light']) {
                        const ground = theme === 'dark' ? [0, 0, 0] : [255, 255, 255];
                        const see = (what, { fill, ink }) => seen.push([theme, what, contrastOfRgb(rgb(ink), rgb(fill)),
                                contrastOfRgb(rgb(fill), ground)]);
                        hyprofShell.setTheme(theme);
                        const graph = new FlameGraph({ name: 'x', root, format: String });
                        for (const growth of [-90, -20, -1, 0, 1, 20, 90])
                                see(growth, graph.colorsOf(node('n', 100 + growth, 100), false));
                        see('ratio', graph.colorsOf({ ...node('n', 100, null), row: { ratio: 1.5 } }, false));
                        graph.stop();
                }
                hyprofShell.setTheme('system');
                return seen;
        })()`);

        for (const [theme, growth, ink, ground] of found) {
                assert.ok(ink >= 4.5, `${theme} ${growth}: words have a contrast of ${ink}`);
                assert.ok(ground < 4.6, `${theme} ${growth}: a contrast of ${ground} to the page`);
        }
});

/** A viewer of one trace, in a folder of its own, and its page. */
async function withViewerOf(file, action) {
        const { viewer: own, address: place } = await serveTrace(file);
        const one = await browser.open(place);

        try {
                await one.until('globalThis.hyprofShell && hyprofViewer.model.progress === 1', 'the page');
                await action(one);
        } finally {
                await one.close();
                own.removeAllListeners('exit');
                await new Promise((resolve) => {
                        own.on('exit', resolve);
                        own.kill('SIGINT');
                });
        }
}

testInChromium('a recording of the folder is chosen on the page; one that cannot be read is named, and the page stays', async () => {
        const place = fs.mkdtempSync(path.join(folder, 'nearby-'));

        for (const name of ['before.hyp', 'after.hyp'])
                fs.copyFileSync(path.join(folder, name), path.join(place, name));
        fs.writeFileSync(path.join(place, 'broken.hyp'), Buffer.concat([Buffer.from('HYPC'), Buffer.alloc(200)]));
        fs.writeFileSync(path.join(place, 'other.hyp'), 'no trace');
        fs.symlinkSync('/etc/passwd', path.join(place, 'link.hyp'));
        await withViewerOf(path.join(place, 'after.hyp'), async (one) => {
                await one.click('button', 'Compare with…');
                await one.untilText('.compare-list', /before\.hyp/);
                const offered = await one.value(`[...document.querySelectorAll('.compare-list button')].map((b) => b.textContent)`);
                assert.deepStrictEqual(offered.sort(), ['before.hyp', 'broken.hyp']);
                await one.click('.compare-list button', 'broken.hyp');
                await one.untilText('.compare-list', /broken\.hyp cannot be shown: .*broken\.hyp/);
                await one.click('dialog button', 'Close');
                assert.strictEqual(await one.value(`fetch('model').then((reply) => reply.json())
                        .then((model) => model.has_before)`), false);
                for (const name of ['other.hyp', 'link.hyp', '../compare/before.hyp', '/etc/passwd', ''])
                        assert.strictEqual(await one.value(`fetch('compare', { method: 'POST', body: ${JSON.stringify(name)} })
                                .then((reply) => reply.status)`), 400, name);
                one.complaints.length = 0; // of those requests
                await one.click('button', 'Compare with…');
                await one.click('.compare-list button', 'before.hyp');
                await one.until(sides, 'both timelines of the page that has begun anew');
                assert.strictEqual(await one.value('hyprofViewer.model.document.has_before'), true);
                assert.strictEqual(await one.value(`fetch('answer?question=overview&side=before').then((reply) => reply.json())
                        .then((answer) => Math.round(answer.duration_ns / 1e6))`), 100);
                assert.strictEqual(await one.value(`${side('before')}.viewer.model.duration_ns`), 100e6);
        });
});

test('nothing was asked of others, and nothing complained', () => page.noComplaints((url) => url.startsWith(address)));
