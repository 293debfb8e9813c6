// SPDX-License-Identifier: MIT
// The timeline by fingers, trackpad, plus and minus, on a phone; what its colors and marks mean.
'use strict';

const fs = require('fs');
const os = require('os');
const path = require('path');
const test = require('node:test');
const assert = require('node:assert');
const { Chromium } = require('./chromium.js');
const { FakeTrace } = require('./fake_trace.js');
const { makePage } = require('./make_page.js');

const folder = fs.mkdtempSync(path.join(process.env.TMPDIR || os.tmpdir(), 'hyprof-hands-'));
const timeline = 'hyprofShell.made.get("timeline")';
const MODIFIER_CONTROL = 2;
const file = path.join(folder, 'fake.html');
let browser;

test.before(async () => {
        fs.writeFileSync(file, makePage(new FakeTrace().dataElements()));
        browser = await Chromium.start();
});

test.after(async () => {
        await browser.close();
        fs.rmSync(folder, { recursive: true, force: true });
});

async function withTimeline(options, action) {
        const page = await browser.open('file://' + file, options);
        try {
                await page.until('window.hyprofShell && ' + timeline, 'the timeline');
                await action(page);
                page.noComplaints();
        } finally {
                await page.close();
        }
}

/** The view, and the canvas: how much time is left of the pointer. */
const placeOf = (page) => page.value(`(() => {
        const { from, to, canvas } = ${timeline};
        const { left, top, width, height } = canvas.getBoundingClientRect();
        return { from, to, length: to - from, left, top, width, height };
})()`);

const timeAt = ({ from, length, left, width }, x) => from + (x - left) / width * length;

test('two fingers apart zoom in about their middle, together zoom out, and leave no click', async () => {
        await withTimeline({ width: 390, height: 844 }, async (page) => {
                await page.call('Emulation.setTouchEmulationEnabled', { enabled: true, maxTouchPoints: 2 });
                const before = await placeOf(page);
                const middle = before.left + before.width / 2;
                const y = before.top + before.height / 2;
                const touch = (type, apart) => page.call('Input.dispatchTouchEvent', { type, touchPoints: apart === null ? [] :
                        [{ x: middle - apart / 2, y, id: 1 }, { x: middle + apart / 2, y, id: 2 }] });
                const held = timeAt(before, middle);
                await touch('touchStart', 60);
                await touch('touchMove', 120);
                await touch('touchMove', 180);
                await page.until(`${timeline}.to - ${timeline}.from < ${before.length / 2.9}`, 'a third');
                const after = await placeOf(page);
                assert.ok(after.length > before.length / 3.1);
                assert.ok(Math.abs(timeAt(after, middle) - held) < after.length * 0.02, 'the time between the fingers stays');
                await touch('touchMove', 90);
                await page.until(`${timeline}.to - ${timeline}.from > ${before.length / 1.6}`, 'zoomed out');
                await touch('touchEnd', null);
                assert.strictEqual(await page.value(timeline + '.chosen === null'), true);
                const finger = (type, x) => page.call('Input.dispatchTouchEvent', { type, touchPoints: x === null ? []
                        : [{ x, y, id: 3 }] });
                const moved = await placeOf(page);
                await finger('touchStart', middle);
                await finger('touchMove', middle - 40);
                await finger('touchEnd', null);
                await page.until(`${timeline}.from > ${moved.from}`, 'one finger still drags');
                assert.ok(Math.abs((await placeOf(page)).length - moved.length) < 1);
        });
});

test('a pinch on a trackpad zooms at the pointer, in one gesture as far as fingers would', async () => {
        await withTimeline({}, async (page) => {
                const before = await placeOf(page);
                const x = before.left + before.width / 4;
                const held = timeAt(before, x);
                for (let i = 0; i < 10; i++)
                        await page.wheel(x, before.top + 100, -8, { modifiers: MODIFIER_CONTROL });
                await page.until(`${timeline}.to - ${timeline}.from < ${before.length / 2}`, 'half');
                const after = await placeOf(page);
                assert.ok(Math.abs(timeAt(after, x) - held) < after.length * 0.02);
                assert.strictEqual(await page.value('devicePixelRatio'), 1);
        });
});

test('plus and minus zoom, as keys and as buttons; moving at the edges does not', async () => {
        await withTimeline({}, async (page) => {
                const whole = await placeOf(page);
                const isLength = (length, words) => page.until(`Math.abs(${timeline}.to - ${timeline}.from - ${length}) < 10`, words);
                await page.press('+');
                await isLength(whole.length * 0.7, 'plus');
                await page.click('.timeline-zoom button', '+');
                await isLength(whole.length * 0.49, 'its button');
                await page.press('-');
                await isLength(whole.length * 0.7, 'minus');
                for (const key of ['d', 'd', 'd', 'd', 'd', 'd', 'd', 'a', 'a', 'a', 'a', 'a', 'a', 'a', 'a'])
                        await page.press(key);
                const { left, top, width, length } = await placeOf(page);
                assert.ok(Math.abs(length - whole.length * 0.7) < 10);
                for (const [from, to] of [[0.2, 0.9], [0.2, 0.9], [0.9, 0.1], [0.9, 0.1], [0.9, 0.1]])
                        await page.drag({ x: left + width * from, y: top + 200 }, { x: left + width * to, y: top + 200 });
                await isLength(whole.length * 0.7, 'the same length');
                await page.click('.timeline-zoom button', '−');
                await isLength(whole.length, 'all');
        });
});

test('on a phone the timeline has half of the screen, and nothing is wider than it', async () => {
        await withTimeline({ width: 390, height: 844 }, async (page) => {
                assert.ok((await placeOf(page)).height >= 844 / 2, 'the canvas is ' + (await placeOf(page)).height + ' px high');
                assert.ok(await page.value('document.documentElement.scrollWidth') <= 390);
                assert.ok(await page.value('[...document.querySelectorAll(".tab, .timeline-tools button")].length') > 8);
        });
});

test('colors and marks are explained in a line that stays closed, and in the help', async () => {
        await withTimeline({}, async (page) => {
                for (const word of [/running/, /ready/, /preempted/, /waiting/, /message/, /several in one/])
                        assert.match(await page.text('.timeline-hint'), word);
                // The signs have the colors of the picture.
                for (const word of ['running', 'runnable', 'preempted', 'waiting'])
                        assert.strictEqual(await page.value(`getComputedStyle(document.querySelector('.timeline-hint .${word}'))` +
                                `.getPropertyValue('--sign') === pageModules['colors.js'].themeColors()['${word}']`), true, word);
                await page.click('.timeline-hint button');
                await page.until('document.querySelector(".timeline-hint").hidden');
                await page.reload();
                await page.until(`globalThis.hyprofShell && ${timeline} && document.querySelector(".timeline-hint").hidden`,
                        'still closed');
                await page.press('?');
                await page.untilText('dialog[open]', /Colors and marks of the timeline[\s\S]*preempted\s*it could run on/);
        });
});
