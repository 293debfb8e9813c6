// SPDX-License-Identifier: MIT
/*
 * model_checks.js - a model and items of lanes as they should be, whatever came: one bad name, track or item takes no other
 * with it
 *
 * Way of the data:  document, LaneItems -> [model_checks] -> TraceModel, lane_cache
 */

/**
 * @typedef {import('./lanes.js').LaneItems} LaneItems
 * @typedef {import('./model.js').LaneOfModel} LaneOfModel
 * @typedef {import('./model.js').TrackOfModel} TrackOfModel
 */

export const NO_NAME = '[no name]';
const DEPTH_MAX = 1e5;

/** @param {any} value @returns {string} "" if it is no text */
export function textOf(value) {
        return typeof value === 'string' ? value : typeof value === 'number' ? String(value) : '';
}

/** @param {any} value @param {number} otherwise */
export function numberOf(value, otherwise) {
        return typeof value === 'number' && isFinite(value) ? value : otherwise;
}

/**
 * The objects of a list, with these members as texts.
 * @param {any} list
 * @param {string[]} texts
 * @returns {any[]}
 */
export function objectsOf(list, texts) {
        return (Array.isArray(list) ? list : []).map((one) => {
                const object = one !== null && typeof one === 'object' ? one : {};

                return texts.every((name) => typeof object[name] === 'string') ? object
                        : Object.assign({}, object, Object.fromEntries(texts.map((name) => [name, textOf(object[name])])));
        });
}

/** @param {any} list @returns {string[]} */
export function textsOf(list) {
        return (Array.isArray(list) ? list : []).map(textOf);
}

/** @param {any} lane */
function isLane(lane) {
        return lane !== null && typeof lane === 'object' && isIndex(lane.id) && typeof lane.kind === 'string' && isIndex(lane.depth) &&
                lane.depth <= DEPTH_MAX && numberOf(lane.items, -1) >= 0;
}

/** @param {any} value whether it is 0xRRGGBB */
export function isColor(value) {
        return isIndex(value) && value <= 0xffffff;
}

/** @param {any} value */
function isIndex(value) {
        return Number.isInteger(value) && value >= 0;
}

/**
 * Tracks with what could be read of each; `fault` says what could not.
 * @param {any} list
 * @returns {TrackOfModel[]}
 */
export function tracksOf(list) {
        return objectsOf(list, []).map((one, at) => {
                const lanes = (Array.isArray(one.lanes) ? one.lanes : []).filter(isLane);
                const isWhole = Array.isArray(one.lanes) && lanes.length === one.lanes.length;

                if (isWhole && isIndex(one.id) && typeof one.kind === 'string' && typeof one.title === 'string' && one.title !== '')
                        return one;
                const title = textOf(one.title) || NO_NAME;

                return Object.assign({}, one, { id: isIndex(one.id) ? one.id : -1 - at, kind: textOf(one.kind) || 'unknown', title, lanes },
                                     isWhole ? {} : { fault: 'this track cannot be read in full' });
        });
}

/**
 * What is wrong with items, in words; "" = nothing.
 * @param {LaneItems} items
 * @param {number} duration_ns
 */
export function faultOfItems(items, duration_ns) {
        const most = 2 * duration_ns + 1e9;
        let before = 0;

        for (let i = 0; i < items.n; i++) {
                const begin = items.begin[i];
                const end = items.isPoints ? begin : items.end[i];

                if (!(begin >= 0 && end <= most && begin >= before && end >= begin))
                        return 'items of this row are out of range';
                before = begin;
        }
        return '';
}
