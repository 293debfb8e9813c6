// SPDX-License-Identifier: MIT
// The search of the timeline finds all: each hit once, in the order of time, from the view on, whatever it is the name of;
// how many; a list to choose from.  Expected hits are counted from the made-up trace itself.
'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');
const test = require('node:test');
const assert = require('node:assert');
const { Chromium } = require('./chromium.js');
const { FakeTrace } = require('./fake_trace.js');
const { makePage } = require('./make_page.js');

const folder = fs.mkdtempSync(path.join(process.env.TMPDIR || os.tmpdir(), 'hyprof-search-'));
const timeline = 'hyprofShell.made.get("timeline")';
const N_ITEMS = 40;
let browser;

/** A thread more, with zones item_00 to item_39 that begin at times of others, and a thread that has little. */
class ItemsTrace extends FakeTrace {
        build() {
                super.build();
                const first = this.locationNames.length;
                for (let i = 0; i < N_ITEMS; i++) {
                        this.locationNames.push('item_' + String(i).padStart(2, '0'));
                }
                for (const [id, name, tid] of [[7, 'items', 5000], [8, 'frobnicator', 5001], [9, 'twin', 5002]]) {
                        this.threads.push({ id, handle: 't' + id, process: 1, tid, name, is_fiber: false });
                }
                const at = (i) => 5e8 + i * 1e6;
                const items = this.track('thread', 'items', 7);
                this.lane(items, 'zones', 0, { spans: Array.from({ length: N_ITEMS }, (_, i) => [at(i), at(i) + 5e5, first + 1 + i]) });
                this.lane(this.track('thread', 'frobnicator', 8), 'states', 0, { spans: [[1e6, 2e6, 1 << 28]] });
                /* Zones that begin with others, some of no length. */
                const twin = this.track('thread', 'twin', 9);
                this.lane(twin, 'zones', 0, { spans: Array.from({ length: 10 }, (_, i) => [at(i), at(i) + (i % 2 ? 5e5 : 0), first + 1]) });
                this.strings.push([99, 'a needle in a haystack']);
                this.lane(twin, 'messages', 0, { spans: [[7e8, 7e8, 99], [7e8, 7e8, 99]] });
                /* Every 10th zone of `items` has a text, and one of `twin`. */
                this.texts.push([1, 'GET /index.html'], [2, 'POST /upload\nslow disk']);
                this.lane(items, 'texts', 0, { spans: [0, 10, 20, 30].map((i) => [at(i), at(i) + 5e5, i === 20 ? 2 : 1]) });
                this.lane(twin, 'texts', 0, { spans: [[at(3), at(3) + 5e5, 2]] });
        }
}

const game = new ItemsTrace();
const file = path.join(folder, 'items.html');
fs.writeFileSync(file, makePage(game.dataElements()));
const address = 'file://' + file;

/** [begin, lane] of all items of these kinds whose name passes. */
function hitsOf(kinds, isName) {
        return game.tracks.flatMap((track) => track.lanes).filter((lane) => kinds.includes(lane.kind)).flatMap((lane) =>
                game.lanes.find((one) => one.id === lane.id).spans.filter((span) => isName(lane.kind, span[2]))
                        .map((span) => [span[0], lane.id]))
                .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
}

const isItem = (kind, what) => /item_/.test(game.locationNames[what - 1]);

test.before(async () => {
        browser = await Chromium.start();
});

test.after(async () => {
        await browser.close();
        fs.rmSync(folder, { recursive: true, force: true });
});

async function withPage(fragment, action) {
        const page = await browser.open(address + fragment);
        try {
                await page.until('window.hyprofShell && ' + timeline, 'the timeline');
                await action(page);
                page.noComplaints();
        } finally {
                await page.close();
        }
}

const hits = '#search-hits';

async function search(page, text) {
        await page.press('/');
        await page.call('Input.insertText', { text });
}

/** Clicks an entry of the list, by all its words. */
async function clickEntry(page, words) {
        const entry = `[...document.querySelectorAll('.found-entry')].find((e) => e.innerText.replace(/\\s+/g, ' ').trim() === '${words}')`;
        await page.until(entry, words);
        const at = await page.value(`(() => { const e = ${entry}; e.scrollIntoView({ block: 'nearest' });
                const r = e.getBoundingClientRect(); return { x: r.x + 20, y: r.y + r.height / 2 }; })()`);
        await page.clickAt(at.x, at.y);
}

/** Presses a key until the hits say "n of ...". */
async function stepTo(page, key, n, all) {
        await page.press(key);
        await page.untilText(hits, new RegExp('^' + n + ' of ' + all + '$'));
        return page.value(`(({ chosen, search: { foundKey } }) => chosen ? [chosen.begin, chosen.lane.lane.id] : [foundKey])(${timeline})`);
}

test('Enter goes through all instances of all names, in the order of time, and then begins anew', async () => {
        await withPage('', async (page) => {
                const expected = hitsOf(['zones'], isItem);
                assert.strictEqual(expected.length, N_ITEMS + 10);
                await search(page, 'item_');
                await page.untilText(hits, new RegExp('^' + expected.length + ' hits$'));
                const seen = [];
                for (let i = 1; i <= expected.length; i++) {
                        seen.push(await stepTo(page, 'Enter', i, expected.length));
                }
                assert.deepStrictEqual(seen, expected);
                assert.deepStrictEqual(await stepTo(page, 'Enter', 1, expected.length), expected[0]);
                assert.deepStrictEqual(await stepTo(page, 'Shift+Enter', expected.length, expected.length), expected.at(-1));
                assert.deepStrictEqual(await stepTo(page, 'Shift+Enter', expected.length - 1, expected.length), expected.at(-2));
        });
});

test('the first hit is the first one in the view', async () => {
        await withPage('#view_from=515000000&view_to=530000000', async (page) => {
                const expected = hitsOf(['zones'], isItem);
                const n = expected.findIndex(([begin]) => begin >= 515e6) + 1;
                await search(page, 'ITEM_');
                assert.deepStrictEqual(await stepTo(page, 'Enter', n, expected.length), expected[n - 1]);
                assert.deepStrictEqual(await stepTo(page, 'Shift+Enter', n - 1, expected.length), expected[n - 2]);
        });
});

/** From now on hits are not counted until `release()` is called. */
function holdCounts(page) {
        return page.value(`(() => {
                const { source } = hyprofViewer;
                const search = source.search.bind(source);
                const released = new Promise((resolve) => { globalThis.release = resolve; });
                source.search = async (request) => {
                        if (request.wantsCounts)
                                await released;
                        return search(request);
                };
        })()`);
}

test('the hit is shown before all hits are counted', async () => {
        await withPage('', async (page) => {
                const expected = hitsOf(['zones'], isItem);
                await holdCounts(page);
                await search(page, 'item_');
                for (const [begin, lane] of expected.slice(0, 2)) {
                        await page.press('Enter');
                        await page.until(`(({ chosen }) => chosen && chosen.begin === ${begin} &&
                                chosen.lane.lane.id === ${lane})(${timeline})`);
                        assert.strictEqual(await page.text(hits), '');
                }
                await page.value('release()');
                await page.untilText(hits, new RegExp('^2 of ' + expected.length + '$'));
        });
});

test('a hit that was left before it was counted does not make the next one the first', async () => {
        await withPage('#view_from=515000000&view_to=530000000', async (page) => {
                const expected = hitsOf(['zones'], isItem);
                const n = expected.findIndex(([begin]) => begin >= 515e6);
                await search(page, 'item_');
                await page.untilText(hits, new RegExp('^' + expected.length + ' hits$'));
                await holdCounts(page);
                for (const [begin, lane] of expected.slice(n, n + 2)) {
                        await page.press('Enter');
                        await page.until(`(({ chosen }) => chosen && chosen.begin === ${begin} &&
                                chosen.lane.lane.id === ${lane})(${timeline})`);
                        assert.strictEqual(await page.text(hits), expected.length + ' hits');
                }
                await page.value('release()');
                await page.untilText(hits, new RegExp('^' + (n + 2) + ' of ' + expected.length + '$'));
        });
});

test('threads, messages, functions of ghost zones, frames, plots and files are found', async () => {
        const ofFunction = hitsOf(['ghosts'], (kind, what) => game.functionNames[what] === 'simulate');
        const ofFile = hitsOf(['zones'], (kind, what) => what === 5);
        for (const [text, all, at] of [['frobnic', 1, /^thread:/], ['needle', 2, 7e8], ['simulate', ofFunction.length, ofFunction[0][0]],
                ['frame 17', 1, game.lanes[0].spans[17][0]], ['bodies', 1, /^plot:/],
                ['game.c:14', ofFile.length, ofFile[0][0]]]) {
                await withPage('', async (page) => {
                        await search(page, text);
                        await page.untilText(hits, new RegExp('^' + all.toLocaleString('en') + ' hits?$'));
                        const [found] = await stepTo(page, 'Enter', 1, all.toLocaleString('en'));
                        assert.ok(at instanceof RegExp ? at.test(found) : found === at, text + ': ' + found);
                });
        }
});

test('the list beside the box names what was found, and a click goes to the next of one name', async () => {
        await withPage('', async (page) => {
                const one = hitsOf(['zones'], (kind, what) => game.locationNames[what - 1] === 'item_17')[0];
                await search(page, 'item');
                await page.untilText(hits, /^51 hits$/);
                await page.untilText('#found', /items 5000\s*thread/);
                const entries = await page.value('[...document.querySelectorAll(".found-entry")].map((e) => ' +
                        'e.innerText.replace(/\\s+/g, " ").trim())');
                assert.strictEqual(entries.length, 1 + N_ITEMS);
                assert.ok(entries.includes('item_00 zone 11'), entries.join('; '));
                await clickEntry(page, 'item_17 zone 1');
                await page.until(`${timeline}.chosen && ${timeline}.chosen.begin === ${one[0]}`);
                await page.untilText(hits, /^\d+ of 51$/);
                await clickEntry(page, 'items 5000 thread');
                await page.until(`/^thread:/.test(${timeline}.search.foundKey)`);
                await page.untilText(hits, /^1 of 51$/);
                await page.press('2');
                await page.press('/');
                await page.until('document.getElementById("found").hidden', 'another screen without the list');
                await page.press('Escape');
                await page.press('1');
                await search(page, 'item');
                await page.untilText(hits, /^51 hits$/);
                await page.untilText('#found', /items 5000/);
                await page.press('ArrowDown');
                assert.ok(await page.value('document.activeElement.classList.contains("found-entry")'), 'the list by keyboard');
                await page.press('Escape');
                assert.strictEqual(await page.value('document.activeElement.id'), 'search');
        });
});

test('texts of zones are found, and lead to their zones', async () => {
        await withPage('', async (page) => {
                const lanes = (title) => game.tracks.find((track) => track.title === title).lanes;
                const begins = [[5e8 + 3e6, lanes('twin')[0].id], [5e8 + 20e6, lanes('items')[0].id]];
                await search(page, 'SLOW disk');
                await page.untilText(hits, /^2 hits$/);
                await page.untilText('#found', /POST \/upload\s+slow disk\s*text\s*2/);
                for (const [i, begin] of begins.entries()) {
                        assert.deepStrictEqual(await stepTo(page, 'Enter', i + 1, 2), begin);
                        assert.strictEqual(await page.value(`${timeline}.chosen.lane.lane.kind`), 'zones');
                }
                assert.deepStrictEqual(await stepTo(page, 'Enter', 1, 2), begins[0]);
                assert.ok(!(await page.value(`${timeline}.layout.rows.flatMap((row) => row.lanes.map((l) => l.lane.kind))`))
                        .includes('texts'), 'texts are not drawn');
        });
});

test('a text that nothing has says so, also if it is no pattern', async () => {
        await withPage('', async (page) => {
                await search(page, 'item_*(');
                await page.untilText(hits, /^no hits$/);
                await page.press('Enter');
                await page.untilText('.timeline-tools', /nothing here has "item_\*\(" in its name/);
        });
});
