// SPDX-License-Identifier: MIT
// The page decodes pictures of frames: the right side up, in the colors that the program had, and refuses what is none.
// Usage: pictures.js, with PICTURES in the environment: "FRAME:FILE ..." as the server gave them for w_pictures.
'use strict';

const fs = require('fs');
const test = require('node:test');
const assert = require('node:assert');
const { loadPages } = require('./loaded_pages.js');

const inPages = loadPages();
const decodePicture = inPages('decodePicture');
const bytesOf = (buffer) => buffer.buffer.slice(buffer.byteOffset, buffer.byteOffset + buffer.length);

for (const one of process.env.PICTURES.split(' ')) {
        const [frame, file] = one.split(':');

        test(`the picture of frame ${frame}`, () => {
                const picture = decodePicture(bytesOf(fs.readFileSync(file)));

                assert.deepStrictEqual([picture.width, picture.height, picture.pixels.length], [16, 8, 16 * 8 * 4]);
                for (let at = 0; at < 16 * 8; at++) {
                        const wanted = [20 * frame, 255 - 20 * frame, at < 64 ? 0 : 255, 255];

                        wanted.forEach((channel, i) => assert.ok(Math.abs(picture.pixels[at * 4 + i] - channel) <= 5,
                                `pixel ${at}, channel ${i}: ${picture.pixels[at * 4 + i]}, not ${channel}`));
                }
        });
}

test('two colors of a block, and those between them', () => {
        const block = Buffer.from([4, 0, 4, 0, 0, 0, 0, 0, 0x00, 0xf8, 0x1f, 0x00, 0xe4, 0xe4, 0xe4, 0xe4]);
        const { pixels } = decodePicture(bytesOf(block));

        assert.deepStrictEqual([...pixels.slice(0, 16)], [255, 0, 0, 255, 0, 0, 255, 255, 170, 0, 85, 255, 85, 0, 170, 255]);
});

test('what is no picture', () => {
        for (const bytes of [[], [4, 0, 4, 0, 0, 0, 0, 0], [3, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
                             [0, 0, 0, 0, 0, 0, 0, 0], [255, 255, 4, 0, 0, 0, 0, 0], [0, 16, 0, 16, 0, 0, 0, 0]])
                assert.strictEqual(decodePicture(bytesOf(Buffer.from(bytes))), null);
});
