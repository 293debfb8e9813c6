// SPDX-License-Identifier: MIT
// The pointer on a frame shows the picture of that frame.  Usage: picture_tip.js, with VIEWER, the address of a viewer of
// w_pictures, in the environment.
'use strict';

const test = require('node:test');
const assert = require('node:assert');
const { Chromium } = require('./chromium.js');

const timeline = 'hyprofShell.made.get("timeline")';
const FRAME = 5;
let browser;

test.before(async () => {
        browser = await Chromium.start();
});

test.after(async () => {
        await browser.close();
});

/** Begin and end of the frame. */
const spanOf = `(async () => {
        const screen = ${timeline};
        const { from, to } = screen.viewer.range();
        const lane = screen.layout.rows.flatMap((row) => row.lanes).find((one) => one.lane.kind === 'frames').lane;
        const items = (await screen.viewer.source.lanes([lane.id], from, to, 0)).get(lane.id);
        const at = [...items.what].indexOf(${FRAME});
        return [items.begin[at], items.end[at]];
})()`;

const placeOf = (ns) => `(() => {
        const { AXIS_PX } = pageModules['timeline_paint.js'];
        const screen = ${timeline};
        const lane = screen.layout.rows.flatMap((row) => row.lanes).find((one) => one.lane.kind === 'frames');
        const row = screen.layout.rows.find((one) => one.lanes.includes(lane));
        const box = screen.canvas.getBoundingClientRect();
        return { x: box.left + (${ns} - screen.from) / (screen.to - screen.from) * box.width,
                 y: box.top + AXIS_PX + lane.y + lane.height / 2 - screen.scroll.scrollTop, title: row.title, id: lane.lane.id };
})()`;

test('the tip of a frame has its picture', async () => {
        const page = await browser.open(process.env.VIEWER);

        await page.until(`typeof hyprofShell !== 'undefined' && ${timeline} &&
                ${timeline}.layout.rows.some((row) => row.lanes.some((one) => one.lane.kind === 'frames'))`, 'the frames');
        const [begin, end] = await page.value(spanOf);
        await page.go(`${process.env.VIEWER}#view_from=${begin - (end - begin)}&view_to=${end + (end - begin)}`);
        await page.until(`typeof hyprofShell !== 'undefined' && ${timeline} &&
                ${timeline}.from >= ${begin - (end - begin) - 1} && ${timeline}.layout.rows.length > 0`,
                'the range');
        const { id } = await page.value(placeOf((begin + end) / 2));
        await page.until(`hyprofViewer.model.progress === 1 && ${timeline}.fit.room > 0 && !${timeline}.isDrawAsked &&
                ${timeline}.cache.has(${id}, ${timeline}.from, ${timeline}.to, ${timeline}.frame().bucketLog2)`, 'its lane');
        await page.moveTo(() => page.value(placeOf((begin + end) / 2)));
        await page.until('document.querySelector(".timeline-tip canvas.frame-picture")', 'the picture');
        const [width, height, ...pixel] = await page.value(`(() => {
                const canvas = document.querySelector('.timeline-tip canvas.frame-picture');
                return [canvas.width, canvas.height, ...canvas.getContext('2d').getImageData(3, 6, 1, 1).data];
        })()`);
        assert.deepStrictEqual([width, height], [16, 8]);
        [20 * FRAME, 255 - 20 * FRAME, 255, 255].forEach((channel, i) => assert.ok(Math.abs(pixel[i] - channel) <= 5, pixel.join()));
        await page.close();
});
