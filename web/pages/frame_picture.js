// SPDX-License-Identifier: MIT
/*
 * frame_picture.js - what a frame looked like: the small picture that the program handed over with it
 *
 * Way of the data:  source.lanes(), source.picture() -> [frame_picture] -> the tip of the timeline
 *
 * A picture has 2 bytes for its width, 2 for its height, 4 for whether the lowest row comes first, and then blocks of
 * 4 by 4 pixels (DXT1): two colors of 16 bits, and for each pixel two bits that choose one of four places between them.
 */

import { el } from './dom.js';

/**
 * @typedef {import('./timeline_hits.js').TimelineHit} TimelineHit
 * @typedef {import('./viewer.js').Viewer} Viewer
 */

const HEAD_BYTES = 8;
const BLOCK_BYTES = 8;
const SIDE_MAX = 2048;

/** @param {number} color  5, 6 and 5 bits */
function channelsOf(color) {
        return [(color >> 11) * 255 / 31, (color >> 5 & 63) * 255 / 63, (color & 31) * 255 / 31];
}

/**
 * The four colors of a block.
 * @param {number} first
 * @param {number} second
 */
function colorsOf(first, second) {
        const [from, to] = [channelsOf(first), channelsOf(second)];
        /** @param {number} share */
        const between = (share) => from.map((channel, at) => channel + (to[at] - channel) * share);

        return first > second ? [from, to, between(1 / 3), between(2 / 3)] : [from, to, between(1 / 2), [0, 0, 0]];
}

/**
 * @param {ArrayBuffer} bytes
 * @returns {{width: number, height: number, pixels: Uint8ClampedArray}|null}  rows from the top, 4 bytes a pixel; null: no picture
 */
export function decodePicture(bytes) {
        const view = new DataView(bytes);
        const [width, height] = bytes.byteLength < HEAD_BYTES ? [0, 0] : [view.getUint16(0, true), view.getUint16(2, true)];

        if (width === 0 || height === 0 || width % 4 !== 0 || height % 4 !== 0 || width > SIDE_MAX || height > SIDE_MAX ||
            bytes.byteLength < HEAD_BYTES + width * height / 16 * BLOCK_BYTES)
                return null;
        const isFlipped = (view.getUint32(4, true) & 1) !== 0;
        const pixels = new Uint8ClampedArray(width * height * 4);

        for (let block = 0; block < width * height / 16; block++) {
                const at = HEAD_BYTES + block * BLOCK_BYTES;
                const colors = colorsOf(view.getUint16(at, true), view.getUint16(at + 2, true));
                const places = view.getUint32(at + 4, true);
                const left = block % (width / 4) * 4;
                const top = Math.floor(block / (width / 4)) * 4;

                for (let i = 0; i < 16; i++) {
                        const row = isFlipped ? height - 1 - top - (i >> 2) : top + (i >> 2);

                        pixels.set([...colors[places >>> 2 * i & 3], 255], (row * width + left + (i & 3)) * 4);
                }
        }
        return { width, height, pixels };
}

/**
 * The picture of a frame that was hit; null: it has none.
 * @param {Viewer} viewer
 * @param {TimelineHit} hit
 * @returns {Promise<HTMLCanvasElement|null>}
 */
export async function pictureOfHit(viewer, hit) {
        const lane = hit.count === 1 && hit.lane.lane.kind === 'frames' ? hit.lane.track.lanes.find((one) => one.kind === 'pictures')
                                                                        : undefined;

        if (!lane)
                return null;
        const items = (await viewer.source.lanes([lane.id], hit.begin, hit.end, 0)).get(lane.id);
        const at = items ? [...items.begin].findIndex((begin) => Math.abs(begin - hit.begin) < 1) : -1;
        const bytes = items && at >= 0 ? await viewer.source.picture(/** @type {any} */ (items).what[at]) : null;
        const picture = bytes ? decodePicture(bytes) : null;

        if (!picture)
                return null;
        const canvas = /** @type {HTMLCanvasElement} */ (el('canvas', { class: 'frame-picture', role: 'img',
                'aria-label': 'the picture of the frame' }));

        canvas.width = picture.width;
        canvas.height = picture.height;
        canvas.getContext('2d')?.putImageData(new ImageData(picture.pixels, picture.width, picture.height), 0, 0);
        return canvas;
}
