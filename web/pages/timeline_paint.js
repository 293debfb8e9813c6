// SPDX-License-Identifier: MIT
/*
 * timeline_paint.js - the picture: time axis, lanes of all kinds, selection
 *
 * Way of the data:  timeline_rows, lane_cache -> [timeline_paint] -> a canvas
 *
 * Nothing here fetches or keeps data: one call draws one frame.
 */

import { CAUSES, mixOfCauses } from './cause_steps.js';
import { nameColorOf, pixelOfColor } from './colors.js';
import { formatCount, formatDuration, formatPlural, formatShare, formatTime, formatValue, roundStep } from './format.js';
import { frameSetOf } from './frame_budget.js';
import { lowerBound } from './lanes.js';
import { cutToWidth, widthOfText } from './text_width.js';
import { paintHatch, paintHatchedWords, paintName, setLaneFont } from './timeline_marks.js';
import { cpusOf, meanAfter, partsOfParallel } from './timeline_parallel.js';
import { LOAD_LEGEND_PX, NO_LANE } from './timeline_rows.js';

/**
 * @typedef {import('./cause_steps.js').CauseSteps} CauseSteps
 * @typedef {import('./colors.js').NameColor} NameColor
 * @typedef {import('./frame_budget.js').FrameBudgets} FrameBudgets
 * @typedef {import('./lane_cache.js').LaneCache} LaneCache
 * @typedef {import('./lanes.js').PointItems} PointItems
 * @typedef {import('./lanes.js').SpanItems} SpanItems
 * @typedef {import('./model.js').TraceModel} TraceModel
 * @typedef {import('./timeline_rows.js').LaneRow} LaneRow
 * @typedef {import('./timeline_rows.js').TimelineRow} TimelineRow
 */

export const AXIS_PX = 26;
const LABEL_LEAST_PX = 22;
/** No letter of a label is narrower in the mean. */
const LETTER_LEAST_PX = 4;
/** Kinds of lanes of which at least one name can be read. */
const NAMED_KINDS = ['zones', 'ghosts', 'device'];
/** Boxes that are no farther from each other stand side by side. */
const RUN_GAP_PX = 3;
/** The upper part of the strip of CPUs, where its causes are. */
const LOAD_CAUSES_PX = 14;
const LABEL_HEIGHT_LEAST_PX = 10;

/**
 * @typedef {object} TimelineFrame
 * @property {CanvasRenderingContext2D} context
 * @property {number} width            CSS pixels
 * @property {number} height
 * @property {number} from             ns at the left edge
 * @property {number} to
 * @property {number} top              how far it is scrolled down
 * @property {number} scale            pixels of the screen in a CSS pixel
 * @property {Record<string, string>} colors
 * @property {boolean} isDark
 * @property {TraceModel} model
 * @property {import('./zone_paint.js').ZonePaint} zonePaint  the colours of zones
 * @property {import('./name_matches.js').NameMatches|null} search
 * @property {{ what: number, from: number, to: number }|null} highlight  instances of a zone that are selected elsewhere
 * @property {LaneCache} cache
 * @property {CauseSteps|null} causes      why CPUs did not run the program; null = not known
 * @property {string} lack                 why that is not known; "" = it is awaited
 * @property {FrameBudgets} budgets
 * @property {import('./box_row.js').BoxRow|null} boxes  null: boxes are painted one by one, as for a file
 * @property {number} bucketLog2
 * @property {{ name: string, y: number, left: number, right: number }[]} named  names of arrows that go on at an edge
 */

/** @param {TimelineFrame} frame @param {number} ns */
export function xOfTime(frame, ns) {
        return (ns - frame.from) / (frame.to - frame.from) * frame.width;
}

/**
 * The edge of a pixel of the screen that is nearest to an instant, a little beyond the view at most.
 * @param {TimelineFrame} frame
 * @param {number} ns
 */
function edgeOfTime(frame, ns) {
        return Math.round(Math.max(-2, Math.min(frame.width + 2, xOfTime(frame, ns))) * frame.scale) / frame.scale;
}

/** @param {TimelineFrame} frame @param {TimelineRow[]} rows */
export function paintRows(frame, rows) {
        const { context } = frame;

        context.font = `11px ${frame.colors.sans || 'sans-serif'}`;
        context.textBaseline = 'middle';
        for (const row of rows) {
                const y = row.y - frame.top + AXIS_PX;

                context.fillStyle = row.kind === 'group' ? frame.colors.surface : frame.colors.background;
                context.fillRect(0, y, frame.width, row.height);
                context.fillStyle = frame.colors.grid;
                context.fillRect(0, y + row.height - 1, frame.width, 1);
                const fault = row.lanes.map((lane) => paintLaneSafely(frame, lane)).find((words) => words !== '') ?? row.fault;

                if (fault)
                        paintFault(frame, fault, y, row.height);
                else
                        paintToCome(frame, row, y);
        }
}

/**
 * A lane that cannot be drawn takes no other with it.
 * @param {TimelineFrame} frame
 * @param {LaneRow} row
 * @returns {string} what is wrong with it; "" = nothing
 */
function paintLaneSafely(frame, row) {
        try {
                paintLane(frame, row);
        } catch (error) {
                frame.context.globalAlpha = 1;
                frame.context.textAlign = 'left';
                return `this row cannot be drawn: ${/** @type {Error} */ (error).message}`;
        }
        return frame.cache.faultOf(row.lane.id);
}

/**
 * While the trace grows: the part of a row, up to the end of what has arrived, that is not known yet.
 * @param {TimelineFrame} frame
 * @param {TimelineRow} row
 * @param {number} y
 */
function paintToCome(frame, row, y) {
        const { duration_ns, isLive } = frame.model;
        const strip = { y: y + 1, height: row.height - 2 };
        const known = Math.min(duration_ns, ...row.lanes.map((lane) => lane.track.known_ns ?? duration_ns));
        const { causes } = frame;

        if (!isLive)
                return;
        if (known < duration_ns)
                paintHatchedWords(frame, xOfTime(frame, known), xOfTime(frame, duration_ns), strip, 'still to come');
        if (row.track?.kind === 'load' && causes && causes.n > 0 && causes.end[causes.n - 1] < known)
                paintHatchedWords(frame, xOfTime(frame, causes.end[causes.n - 1]), xOfTime(frame, known),
                        { y: y + 1, height: LOAD_CAUSES_PX }, 'causes still to come');
}

/** @param {TimelineFrame} frame @param {string} words @param {number} y @param {number} height */
function paintFault(frame, words, y, height) {
        const { context, colors } = frame;
        const width = Math.min(frame.width - 8, words.length * 6.4 + 16);

        context.fillStyle = colors.surface;
        context.fillRect(4, y + 1, width, Math.min(18, height - 2));
        context.fillStyle = colors.bad;
        context.fillText(words, 12, y + 1 + Math.min(18, height - 2) / 2, width - 12);
}

/** @param {TimelineFrame} frame @param {LaneRow} row */
function paintLane(frame, row) {
        const items = frame.cache.best(row.lane.id, frame.from, frame.to, frame.bucketLog2);
        const y = row.y - frame.top + AXIS_PX;

        if (row.lane.kind === 'cpu_time' && row.lane.depth === 0)
                paintParallel(frame, items && items.isPoints ? items : null, y, row);
        if (!items || y + row.height < AXIS_PX || y > frame.height)
                return;
        setLaneFont(frame, row);
        if (items.isPoints && row.lane.kind === 'cpu_time')
                paintWanted(frame, items, y, row);
        else if (items.isPoints)
                paintPlot(frame, items, y, row.height, row);
        else if (row.lane.kind === 'states')
                paintStates(frame, items, y, row.height);
        else if (row.lane.kind === 'samples' || row.lane.kind === 'messages')
                paintTicks(frame, items, y, row.height, row.lane.kind === 'messages');
        else if (row.lane.kind === 'frames')
                paintFrames(frame, items, y, row);
        else if (row.lane.kind === 'unrecorded')
                paintUnrecorded(frame, items, y, row.height);
        else
                paintSpans(frame, items, y, row.height, row.lane.kind, row.track.title);
}

const UNRECORDED_WORDS = 'other programs, not recorded';
/** On a busy machine most of a CPU's lane is hatched: it is no louder than what the program did. */
const HATCH_ALPHA = 0.5;

/**
 * Slanted lines where no recorded thread had a CPU while one was ready to run there.  Between the longer stretches of a
 * bucket others may have had it, so these are as tall as a part of the lane.
 * @param {TimelineFrame} frame
 * @param {SpanItems} items
 * @param {number} y
 * @param {number} height
 */
function paintUnrecorded(frame, items, y, height) {
        const { context, colors } = frame;

        for (let i = firstInSight(frame, items); i < items.n && items.begin[i] < frame.to; i++) {
                const left = Math.max(-2, xOfTime(frame, items.begin[i]));
                const right = Math.min(frame.width + 2, xOfTime(frame, items.end[i]));
                const tall = items.count[i] > 1 ? Math.round(height * 0.3) : height;

                if (right < 0)
                        continue;
                if (right - left < 3) {
                        context.fillStyle = colors.preempted;
                        context.fillRect(left, y + height - tall * 0.5, 1, tall * 0.5);
                        continue;
                }
                context.globalAlpha = HATCH_ALPHA;
                paintHatch(frame, { left, y: y + height - tall, width: right - left, height: tall }, colors.preempted);
                context.globalAlpha = 1;
                context.fillStyle = colors.text;
                if (items.count[i] === 1 && right - left > 6.2 * UNRECORDED_WORDS.length + 16)
                        paintName(frame, UNRECORDED_WORDS, Math.max(0, left) + 6, y + height / 2);
        }
}

/**
 * Frames are low boxes; late ones are as tall as the lane and have the color for lateness.
 * @param {TimelineFrame} frame
 * @param {SpanItems} items
 * @param {number} y
 * @param {LaneRow} row
 */
function paintFrames(frame, items, y, row) {
        const { context, colors } = frame;
        const budget = frame.budgets.of(frameSetOf(row.track.title));
        const low = Math.round(row.height * 0.6);

        paintSpans(frame, items, y + row.height - low, low, 'frames', row.track.title);
        for (let i = firstInSight(frame, items); i < items.n && items.begin[i] < frame.to; i++) {
                if (items.longestNs[i] <= budget)
                        continue;
                const left = Math.max(-2, xOfTime(frame, items.longestBegin[i]));
                const right = Math.min(frame.width + 2, xOfTime(frame, items.longestBegin[i] + items.longestNs[i]));
                const width = Math.max(2, right - left - (right - left > 3 ? 1 : 0));

                context.fillStyle = colors.late;
                context.fillRect(left, y, width, row.height);
                if (width > LABEL_LEAST_PX && items.count[i] === 1) {
                        context.fillStyle = colors.background;
                        paintLabel(context, `late: ${frame.model.nameOf('frames', items.what[i])}`, Math.max(0, left),
                                   Math.min(frame.width, right), y, row.height);
                }
        }
}

/**
 * The first item that may be in sight.
 * @param {TimelineFrame} frame
 * @param {SpanItems|PointItems} items
 */
function firstInSight(frame, items) {
        const at = lowerBound(items.begin, frame.from, 0, items.n);

        return Math.max(0, at - 1);
}

/**
 * @param {TimelineFrame} frame
 * @param {SpanItems} items
 * @param {number} y
 * @param {number} height
 * @param {string} kind
 * @param {string} track  its title
 */
function paintSpans(frame, items, y, height, kind, track) {
        const { boxes, context, model } = frame;
        const folds = new FoldBar(frame, y, height);
        const names = new RunNames(frame, y, height);
        const isPicky = frame.search !== null || (frame.highlight !== null && (kind === 'zones' || kind === 'device'));
        const usual = kind === 'ghosts' ? 0.72 : 1;
        /** @type {Map<number, { name: string, color: NameColor }>} by what */
        const looks = new Map();
        /** Boxes around which there is a line. @type {[number, number][]} */
        const found = [];

        boxes?.begin(frame.width, frame.scale);
        for (let i = firstInSight(frame, items); i < items.n && items.begin[i] < frame.to; i++) {
                const left = edgeOfTime(frame, items.begin[i]);
                const right = edgeOfTime(frame, items.end[i]);

                if (right < 0)
                        continue;
                const what = items.what[i];
                const count = items.count[i];
                const width = Math.max(1, right - left);
                const isFound = isPicky && isWanted(frame, kind, items, i);
                let look = looks.get(what);

                if (look === undefined) {
                        const name = model.nameOf(kind, what);

                        look = { name, color: colorOfSpan(frame, kind, what, name, track) };
                        looks.set(what, look);
                }
                const drawn = width > 3 ? width - 1 : width;
                const alpha = isPicky && !isFound ? 0.28 : usual;

                if (boxes) {
                        boxes.add(left, drawn, look.color.pixel, alpha);
                } else {
                        context.globalAlpha = alpha;
                        context.fillStyle = look.color.fill;
                        context.fillRect(left, y, drawn, height);
                }
                if (count > 1)
                        folds.add(left, width);
                else
                        folds.end();
                if (count === 1 && width > LABEL_LEAST_PX && height >= LABEL_HEIGHT_LEAST_PX)
                        names.addNamed(left, right, look.name, look.color.text);
                else if (!isPicky)
                        names.add(left, width, what, look.name, count, look.color.text);
                if (isFound && (width > 4 || frame.highlight))
                        found.push([left, width]);
        }
        context.globalAlpha = 1;
        boxes?.paint(context, y, height);
        context.globalAlpha = isPicky ? 0.28 : usual;
        folds.paint();
        context.globalAlpha = 1;
        names.paint(NAMED_KINDS.includes(kind));
        context.strokeStyle = frame.colors.text;
        context.lineWidth = 1;
        for (const [left, width] of found)
                context.strokeRect(left + 0.5, y + 0.5, width - 2, height - 1);
}

/**
 * Whether an item is one that was searched for, or is of the selected part of a zone's histogram.
 * @param {TimelineFrame} frame
 * @param {string} kind
 * @param {SpanItems} items
 * @param {number} i
 */
function isWanted(frame, kind, items, i) {
        const { search, highlight } = frame;

        if (highlight && (kind === 'zones' || kind === 'device'))
                return items.what[i] === highlight.what && items.longestNs[i] >= highlight.from && items.longestNs[i] <= highlight.to;
        return search !== null && search.has(kind, items.what[i]);
}

/** @param {TimelineFrame} frame @param {string} kind @param {number} what @param {string} name @param {string} track */
function colorOfSpan(frame, kind, what, name, track) {
        if (kind === 'zones' || kind === 'device')
                return frame.zonePaint.colorOf(name, frame.model.location(what)?.color, track, frame.isDark);
        if (kind === 'ghosts')
                return frame.zonePaint.colorOf(name, null, track, frame.isDark);
        if (kind === 'frames')
                return nameColorOf(what % 2 === 0 ? 'even frames' : 'odd frames of all', frame.isDark);
        return nameColorOf(name, frame.isDark);
}

/**
 * A bar at the foot of a box that stands for several items.  The bars of neighbours are joined, which halves the
 * number of boxes to paint.
 */
class FoldBar {
        /** @param {TimelineFrame} frame @param {number} y @param {number} height */
        constructor(frame, y, height) {
                this.frame = frame;
                this.y = y + height * 0.7;
                this.height = height * 0.3;
                this.left = 0;
                this.right = -Infinity;
                /** @type {[number, number][]} left and width */
                this.bars = [];
        }

        /** @param {number} left @param {number} width */
        add(left, width) {
                if (left > this.right + 0.5) {
                        this.end();
                        this.left = left;
                }
                this.right = Math.max(this.right, left + width);
        }

        end() {
                if (this.right > this.left)
                        this.bars.push([this.left, this.right - this.left]);
                this.right = -Infinity;
        }

        paint() {
                const { context, colors } = this.frame;

                this.end();
                context.fillStyle = colors.folded;
                for (const [left, width] of this.bars)
                        context.fillRect(left, this.y, width, this.height);
        }
}

/**
 * Names boxes too narrow for a name of their own that stand side by side and are of one name: "draw ×64".  Of a box that
 * stands for several items only the longest is known: "draw, longest of 1,204".  The words have the room of the boxes.  In
 * a lane without any name, the widest of its boxes has one, on a ground of its own.
 */
class RunNames {
        /** @param {TimelineFrame} frame @param {number} y @param {number} height */
        constructor(frame, y, height) {
                this.frame = frame;
                this.y = y;
                this.height = height;
                this.left = 0;
                this.right = -Infinity;
                this.what = -1;
                this.name = '';
                this.ink = '';
                this.nBoxes = 0;
                this.nItems = 0;
                this.isNamed = false;
                this.widest = { left: 0, width: 0, words: '' };
                /** @type {{ ink: string, words: string, left: number, right: number, height: number }[]} to be painted over the boxes */
                this.labels = [];
        }

        /**
         * A box that has room for a name of its own.
         * @param {number} left
         * @param {number} right
         * @param {string} words
         * @param {string} ink
         */
        addNamed(left, right, words, ink) {
                this.end();
                this.labels.push({ ink, words, left: Math.max(0, left), right: Math.min(this.frame.width, right), height: this.height });
        }

        /**
         * Is called for each box of a picture.
         * @param {number} left
         * @param {number} width
         * @param {number} what
         * @param {string} name
         * @param {number} count
         * @param {string} ink
         */
        add(left, width, what, name, count, ink) {
                if (what !== this.what || left > this.right + RUN_GAP_PX) {
                        this.end();
                        this.left = left;
                        this.what = what;
                        this.name = name;
                        this.ink = ink;
                        this.nBoxes = this.nItems = 0;
                }
                this.right = Math.max(this.right, left + width);
                this.nBoxes++;
                this.nItems += count;
        }

        end() {
                const { frame, height, ink, left, name, nBoxes, nItems, right, widest } = this;
                const from = Math.max(0, left);
                const to = Math.min(frame.width, right);
                const isNamed = nItems > 1 && height >= LABEL_HEIGHT_LEAST_PX && to - from > LABEL_LEAST_PX;

                this.what = -1;
                this.right = -Infinity;
                if (!isNamed && to - from <= widest.width)
                        return;
                const words = nItems === nBoxes ? `${name} ×${formatCount(nItems)}` : `${name}, longest of ${formatCount(nItems)}`;

                if (to - from > widest.width)
                        this.widest = { left: from, width: to - from, words: nItems === 1 ? name : words };
                if (!isNamed || words.length * LETTER_LEAST_PX + 8 > to - from || widthOfText(frame.context, words) + 8 > to - from)
                        return;
                this.labels.push({ ink, words, left: from, right: to, height: nItems === nBoxes ? height : height * 0.8 });
        }

        /** @param {boolean} namesWidest  if no box has a name */
        paint(namesWidest) {
                const { context } = this.frame;

                this.end();
                for (const { ink, words, left, right, height } of this.labels) {
                        context.fillStyle = ink;
                        this.isNamed = paintLabel(context, words, left, right, this.y, height) || this.isNamed;
                }
                if (namesWidest)
                        this.nameWidest();
        }

        nameWidest() {
                const { frame, height, isNamed, widest, y } = this;
                const { font } = frame.context;

                if (isNamed || widest.words === '' || height < LABEL_HEIGHT_LEAST_PX)
                        return;
                paintName(frame, widest.words, widest.left + 3, y + height / 2);
                frame.context.font = font;
        }
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} left
 * @param {number} right
 * @param {number} y
 * @param {number} height
 * @returns {boolean} whether there was room for some of it
 */
export function paintLabel(context, text, left, right, y, height) {
        const room = right - left - 7;
        const shown = room < 12 ? '' : cutToWidth(context, text, room);

        if (shown !== '')
                context.fillText(shown, left + 4, y + height / 2 + 0.5);
        return shown !== '';
}

/**
 * The color and the share of the height: nothing is said by color alone.
 * @type {{ [kind: number]: [string, number] }}
 */
const STATE_LOOKS = { 1: ['running', 0.75], 2: ['waiting', 0.2], 3: ['runnable', 0.4], 4: ['preempted', 0.4] };

/** @param {TimelineFrame} frame @param {SpanItems} items @param {number} y @param {number} height */
function paintStates(frame, items, y, height) {
        const { context } = frame;

        for (let i = firstInSight(frame, items); i < items.n && items.begin[i] < frame.to; i++) {
                const left = edgeOfTime(frame, items.begin[i]);
                const right = edgeOfTime(frame, items.end[i]);
                const [color, share] = STATE_LOOKS[items.what[i] >>> 28] ?? STATE_LOOKS[2];
                const width = Math.max(1, right - left);
                const tall = Math.max(2, height * share);

                context.fillStyle = frame.colors[color];
                context.fillRect(left, y + height - tall, width, tall);
                if (share < 0.5 && width > 70 && height > 10 && items.count[i] === 1)
                        paintStateName(frame, frame.model.stateName(items.what[i]), Math.max(0, left) + 3, y + 4, width - 6);
        }
}

/**
 * Above the thin bar of a state in which the thread does not run.
 * @param {TimelineFrame} frame
 * @param {string} name
 * @param {number} x
 * @param {number} y
 * @param {number} room
 */
function paintStateName(frame, name, x, y, room) {
        const { context } = frame;
        const short = name.replace('waiting: ', '');

        if (widthOfText(context, short) > room)
                return;
        context.fillStyle = frame.colors.muted;
        context.fillText(short, x, y);
}

/**
 * @param {TimelineFrame} frame
 * @param {SpanItems} items
 * @param {number} y
 * @param {number} height
 * @param {boolean} isMessage
 */
function paintTicks(frame, items, y, height, isMessage) {
        const { context } = frame;
        const boxes = isMessage ? null : frame.boxes;
        const color = frame.colors[isMessage ? 'accent' : 'muted'];
        const pixel = pixelOfColor(color);

        context.fillStyle = color;
        boxes?.begin(frame.width, frame.scale);
        for (let i = firstInSight(frame, items); i < items.n && items.begin[i] < frame.to; i++) {
                const x = isMessage ? xOfTime(frame, items.begin[i]) : edgeOfTime(frame, items.begin[i]);
                const width = Math.max(1, Math.min(3, edgeOfTime(frame, items.end[i]) - x));

                if (x < -4 || (!isMessage && x < -1))
                        continue;
                if (isMessage) {
                        context.beginPath();
                        context.moveTo(x, y);
                        context.lineTo(x + 4, y + height / 2);
                        context.lineTo(x, y + height);
                        context.lineTo(x - 4, y + height / 2);
                        context.fill();
                } else if (boxes) {
                        boxes.add(x, width, pixel, 1);
                } else {
                        context.fillRect(x, y + 2, width, height - 4);
                }
        }
        boxes?.paint(context, y + 2, height - 4);
}

/** @param {TimelineFrame} frame @param {PointItems} items @param {number} y @param {number} height @param {LaneRow} row */
function paintPlot(frame, items, y, height, row) {
        const { context } = frame;
        const first = firstInSight(frame, items);
        let least = Infinity;
        let most = -Infinity;
        let end = first;

        for (; end < items.n && (end === first || items.begin[end - 1] < frame.to); end++) {
                least = Math.min(least, items.min[end]);
                most = Math.max(most, items.max[end]);
        }
        if (end === first)
                return;
        const tall = most > least ? most - least : 1;
        /** @param {number} value */
        const yOf = (value) => y + height - 3 - (value - least) / tall * (height - 8);

        context.strokeStyle = context.fillStyle = frame.colors.accent;
        context.lineWidth = 1.2;
        context.beginPath();
        for (let i = first; i < end; i++) {
                const x = xOfTime(frame, items.begin[i]);

                if (i === first)
                        context.moveTo(x, yOf(items.first[i]));
                context.lineTo(x, yOf(items.first[i]));
                context.lineTo(x, yOf(items.last[i]));
                if (items.count[i] > 1)
                        context.fillRect(x, yOf(items.max[i]), 1, Math.max(1, yOf(items.min[i]) - yOf(items.max[i])));
        }
        context.stroke();
        context.fillStyle = frame.colors.muted;
        context.textAlign = 'right';
        context.fillText(formatValue(most, row.track.unit), frame.width - 4, y + 7);
        context.fillText(formatValue(least, row.track.unit), frame.width - 4, y + height - 7);
        context.textAlign = 'left';
}

/**
 * How many threads could have run: what ran is painted over it.  Where causes are known, they say more.
 * @param {TimelineFrame} frame
 * @param {PointItems} items
 * @param {number} y
 * @param {LaneRow} row
 */
function paintWanted(frame, items, y, row) {
        if (row.lane.depth !== 1 || frame.causes)
                return;
        frame.context.fillStyle = frame.colors.runnable;
        for (let i = firstInSight(frame, items); i + 1 < items.n && items.begin[i] < frame.to; i++)
                paintCpus(frame, items.begin[i], items.begin[i + 1], { y, height: row.height },
                          { from: 0, to: meanAfter(items, i) / cpusOf(frame.model) });
}

/**
 * A box of some CPUs.
 * @param {TimelineFrame} frame
 * @param {number} begin  ns
 * @param {number} end
 * @param {{ y: number, height: number }} strip
 * @param {{ from: number, to: number }} part  of the height, from below
 */
function paintCpus(frame, begin, end, { y, height }, { from, to }) {
        /* Whole pixels have no seams. */
        const left = Math.round(Math.max(-2, xOfTime(frame, begin)));
        const right = Math.round(Math.min(frame.width + 2, xOfTime(frame, end)));
        const bottom = y + height * (1 - Math.min(1, from));
        const top = y + height * (1 - Math.min(1, to));

        frame.context.fillRect(left, top, Math.max(1, right - left), bottom - top);
}

/**
 * The strip of the CPUs: what ran, above that the causes for which CPUs did not run the program, and what the colors mean.
 * @param {TimelineFrame} frame
 * @param {PointItems|null} ran
 * @param {number} y
 * @param {LaneRow} row
 */
function paintParallel(frame, ran, y, row) {
        const { context, colors } = frame;
        const n = cpusOf(frame.model);
        const isLane = row.lane.id !== NO_LANE;

        if (y + row.height + LOAD_LEGEND_PX < AXIS_PX || y > frame.height)
                return;
        for (const part of isLane && !ran ? [] : partsOfParallel(ran, frame.causes, { from: frame.from, to: frame.to, nCpus: n })) {
                let from = part.ran / n;

                context.fillStyle = colors.running;
                paintCpus(frame, part.begin, part.end, { y, height: row.height }, { from: 0, to: from });
                for (let cause = 0; part.cores && cause < CAUSES.length; cause++) {
                        const to = from + part.cores[cause] / n;

                        if (to <= from)
                                continue;
                        context.fillStyle = colors[`cause-${CAUSES[cause]}`];
                        paintCpus(frame, part.begin, part.end, { y, height: row.height }, { from, to });
                        from = to;
                }
        }
        context.fillStyle = colors.text;
        context.textAlign = 'right';
        context.fillText(formatPlural(n, 'CPU'), frame.width - 4, y + 7);
        context.textAlign = 'left';
        if (row.height > LOAD_LEGEND_PX)
                paintLoadLegend(frame, y + row.height + LOAD_LEGEND_PX / 2 + 1);
}

/**
 * The colors and their shares in the view; where causes are not known, why.
 * @param {TimelineFrame} frame
 * @param {number} y  its middle
 */
function paintLoadLegend(frame, y) {
        const { context, colors, causes } = frame;
        const mix = causes && mixOfCauses(causes, frame.from, frame.to);
        const n = cpusOf(frame.model);
        const entries = [{ color: 'running', words: mix ? `ran ${formatShare(mix.running / n)}` : 'ran' },
                         ...(mix ? CAUSES.map((word, cause) => ({ color: `cause-${word}`, share: mix.cores[cause] / n, word }))
                                 .filter((one) => one.share >= 0.0005)
                                 .map(({ color, share, word }) => ({ color, words: `${word} ${formatShare(share)}` }))
                                 : [{ color: 'runnable', words: 'could run' }])];
        let x = 4;

        for (const { color, words } of entries) {
                context.fillStyle = colors[color];
                context.fillRect(x, y - 4, 9, 9);
                context.fillStyle = colors.muted;
                context.fillText(words, x + 12, y + 1);
                x += context.measureText(words).width + 24;
        }
        paintLabel(context, mix ? causes.note : frame.lack, x - 4, frame.width, y - 1, 2);
}

/** @param {TimelineFrame} frame @param {{ from: number, to: number, isSelected: boolean }} range */
export function paintAxis(frame, range) {
        const { context, colors } = frame;
        const step = roundStep((frame.to - frame.from) / Math.max(2, frame.width / 130));

        context.fillStyle = colors.surface;
        context.fillRect(0, 0, frame.width, AXIS_PX);
        if (range.isSelected) {
                context.fillStyle = colors.selection;
                context.fillRect(xOfTime(frame, range.from), 0, xOfTime(frame, range.to) - xOfTime(frame, range.from), frame.height);
        }
        context.font = `11px ${colors.sans || 'sans-serif'}`;
        context.textBaseline = 'middle';
        for (let at = Math.ceil(frame.from / step) * step; at <= frame.to; at += step) {
                const x = xOfTime(frame, at);

                context.fillStyle = colors.line;
                context.fillRect(x, AXIS_PX - 5, 1, 5);
                context.fillStyle = colors.muted;
                if (x + 4 + widthOfText(context, formatTime(at, step)) < frame.width)
                        context.fillText(formatTime(at, step), x + 4, AXIS_PX / 2 - 1);
        }
        context.fillStyle = colors.line;
        context.fillRect(0, AXIS_PX - 1, frame.width, 1);
}

/**
 * Lines through all rows at the axis's marks.
 * @param {TimelineFrame} frame
 */
export function paintGrid(frame) {
        const step = roundStep((frame.to - frame.from) / Math.max(2, frame.width / 130));

        frame.context.fillStyle = frame.colors.grid;
        for (let at = Math.ceil(frame.from / step) * step; at <= frame.to; at += step)
                frame.context.fillRect(xOfTime(frame, at), AXIS_PX, 1, frame.height);
}

/**
 * A box around the selected item.
 * @param {TimelineFrame} frame
 * @param {{ begin: number, end: number }} span
 * @param {number} y
 * @param {number} height
 */
export function paintChosen(frame, span, y, height) {
        const left = xOfTime(frame, span.begin);
        const width = Math.max(3, xOfTime(frame, span.end) - left);

        frame.context.strokeStyle = frame.colors.text;
        frame.context.lineWidth = 2;
        frame.context.strokeRect(left - 1, y - 1, width + 2, height + 2);
}

/** @param {TimelineFrame} frame @param {number} from @param {number} to */
export function paintMeasure(frame, from, to) {
        const { context, colors } = frame;
        const left = xOfTime(frame, Math.min(from, to));
        const right = xOfTime(frame, Math.max(from, to));
        const words = formatDuration(Math.abs(to - from));

        context.fillStyle = colors.selection;
        context.fillRect(left, 0, right - left, frame.height);
        context.fillStyle = colors.accent;
        context.fillRect(left, 0, 1, frame.height);
        context.fillRect(right, 0, 1, frame.height);
        const width = words.length * 7 + 12;
        const x = Math.max(2, Math.min(frame.width - width - 2, (left + right) / 2 - width / 2));
        context.fillRect(x, AXIS_PX + 4, width, 20);
        context.fillStyle = colors['on-accent'];
        context.fillText(words, x + 6, AXIS_PX + 14);
}
