// SPDX-License-Identifier: MIT
/*
 * timeline_wakes.js - the arrow from the thread that woke another one
 *
 * Way of the data:  a state of a thread -> source.find() -> [timeline_wakes] -> a canvas
 */

import { STATE_PREEMPTED, STATE_RUNNABLE, STATE_RUNNING } from './model.js';
import { widthOfText } from './text_width.js';
import { paintName } from './timeline_marks.js';
import { AXIS_PX, xOfTime } from './timeline_paint.js';

/**
 * @typedef {import('./timeline_hits.js').TimelineHit} TimelineHit
 * @typedef {import('./source_server.js').FoundSpan} FoundSpan
 * @typedef {import('./source_server.js').TraceSource} TraceSource
 * @typedef {import('./timeline_paint.js').TimelineFrame} TimelineFrame
 */

/** @typedef {{ at: number, waker: number, lane: number }} WakeUp  `lane`: of the states of the thread that was woken */

/** @param {number} what of a state */
const kindOf = (what) => what >>> 28;

/**
 * The wake-up at which a thread became ready to run.
 * @param {FoundSpan|null} span
 * @param {number} lane
 * @returns {WakeUp|null} null if that is not its state, or no recorded thread woke it
 */
function wakeUpOfSpan(span, lane) {
        const waker = span ? span.what & 0x0fffffff : 0;

        return span && kindOf(span.what) === STATE_RUNNABLE && waker !== 0 ? { at: span.begin_ns, waker, lane } : null;
}

/**
 * The wake-up at which the state of an item begins.
 * @param {TimelineHit} hit
 * @returns {WakeUp|null}
 */
export function wakeUpAt(hit) {
        const isState = hit.lane.lane.kind === 'states' && hit.count === 1;

        return isState ? wakeUpOfSpan({ begin_ns: hit.begin, end_ns: hit.end, what: hit.what }, hit.lane.lane.id) : null;
}

/**
 * wakeUpOf() - the wake-up that ended a wait, or after which the thread was ready to run, or ran
 * @param {TraceSource} source
 * @param {TimelineHit} hit
 * @returns {Promise<WakeUp|null>}
 */
export async function wakeUpOf(source, hit) {
        const lane = hit.lane.lane.id;
        const kind = kindOf(hit.what);

        if (hit.lane.lane.kind !== 'states' || hit.count !== 1 || kind === STATE_PREEMPTED)
                return null;
        if (kind === STATE_RUNNABLE)
                return wakeUpAt(hit);
        if (kind === STATE_RUNNING) {
                const before = await source.find([lane], hit.begin, 'previous', null);

                return wakeUpOfSpan(before && before.end_ns === hit.begin ? before : null, lane);
        }
        const after = await source.find([lane], hit.begin, 'next', null);

        return wakeUpOfSpan(after && after.begin_ns === hit.end ? after : null, lane);
}

/**
 * An end of an arrow: the middle of a row, or null for a thread that has no row.
 * @typedef {{ y: number|null, name: string }} ArrowEnd
 */

/**
 * paintWakeUp() - from the thread that woke to the one that was woken
 * An end that is out of sight is a mark at the edge, with the thread's name.
 * @param {TimelineFrame} frame
 * @param {number} ns
 * @param {ArrowEnd} from
 * @param {ArrowEnd} to
 */
export function paintWakeUp(frame, ns, from, to) {
        const { context } = frame;
        const x = xOfTime(frame, ns);

        context.strokeStyle = context.fillStyle = frame.colors.accent;
        context.lineWidth = 2;
        if (x < 0 || x > frame.width) {
                paintSideMark(frame, x < 0, to, `woken by ${from.name}`);
                return;
        }
        const fromY = from.y ?? AXIS_PX;
        const toY = to.y ?? AXIS_PX;
        const way = toY >= fromY ? 1 : -1;
        const first = clampToRows(frame, fromY);
        const last = clampToRows(frame, toY);

        if (first === last && first !== fromY)
                return; /* both are out of sight on one side */
        context.beginPath();
        context.moveTo(x, first);
        context.lineTo(x, last - (last === toY ? 6 * way : 0));
        context.stroke();
        if (first === fromY && from.y !== null)
                paintDot(context, x, first);
        else
                paintMark(frame, x, first, -way, from.name);
        if (last === toY && to.y !== null)
                paintHead(context, x, last, way);
        else
                paintMark(frame, x, last, way, to.name);
}

/** @param {TimelineFrame} frame @param {number} y */
function clampToRows(frame, y) {
        return Math.max(AXIS_PX + 1, Math.min(frame.height - 1, y));
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y */
function paintDot(context, x, y) {
        context.beginPath();
        context.arc(x, y, 3, 0, 7);
        context.fill();
}

/** @param {CanvasRenderingContext2D} context @param {number} x @param {number} y @param {number} way 1 = downwards */
function paintHead(context, x, y, way) {
        context.beginPath();
        context.moveTo(x, y);
        context.lineTo(x - 4, y - 8 * way);
        context.lineTo(x + 4, y - 8 * way);
        context.fill();
}

/**
 * At the upper or lower edge: the arrow goes on.
 * @param {TimelineFrame} frame
 * @param {number} x
 * @param {number} y
 * @param {number} way  1 = it goes on below
 * @param {string} name
 */
function paintMark(frame, x, y, way, name) {
        const { context } = frame;

        context.beginPath();
        for (const step of [2, 8]) {
                context.moveTo(x - 5, y - (step + 5) * way);
                context.lineTo(x, y - step * way);
                context.lineTo(x + 5, y - (step + 5) * way);
        }
        context.stroke();
        const place = { name, y: y - 9 * way, left: x + 9, right: x + 13 + widthOfText(context, name) };

        /* Many arrows end at one edge: a name over another one could not be read. */
        if (!frame.named.some((one) => one.y === place.y && one.left < place.right && one.right > place.left))
                frame.named.push(place);
}

/**
 * The names at the edges, over all arrows.
 * @param {TimelineFrame} frame
 */
export function paintMarkNames(frame) {
        for (const { name, left, y } of frame.named)
                paintName(frame, name, left, y);
}

/**
 * At the left or right edge: the wake-up was before, or comes later.
 * @param {TimelineFrame} frame
 * @param {boolean} isLeft
 * @param {ArrowEnd} end
 * @param {string} words
 */
function paintSideMark(frame, isLeft, end, words) {
        const { context } = frame;
        const x = isLeft ? 2 : frame.width - 2;
        const way = isLeft ? 1 : -1;

        if (end.y === null || end.y !== clampToRows(frame, end.y))
                return;
        context.beginPath();
        context.moveTo(x, end.y);
        context.lineTo(x + 9 * way, end.y - 5);
        context.lineTo(x + 9 * way, end.y + 5);
        context.fill();
        paintName(frame, words, isLeft ? x + 13 : x - 13, end.y, !isLeft);
}
