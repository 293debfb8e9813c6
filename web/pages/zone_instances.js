// SPDX-License-Identifier: MIT
/*
 * zone_instances.js - the answer about the instances of one zone, from the lanes that a one-file page holds: those in a
 * part of the histogram, in a range, of a thread, in groups by thread or by the zone around
 *
 * Way of the data:  whole lanes of the file -> [zone_instances] -> source_file
 *
 * The numbers are those of `hyprof report --zone`.  Where the file has merged short items, only the longest of each is
 * known: the answer then says so, and what it names is right.
 */

import { formatCount, formatDuration, formatPlural } from './format.js';
import { rangeDocument, ThreadZoneSums } from './range_sums.js';

/**
 * @typedef {import('./lanes.js').WholeLane} WholeLane
 * @typedef {import('./model.js').TraceModel} TraceModel
 * @typedef {import('./range_sums.js').SumRange} SumRange
 * @typedef {SumRange & {location: number, longer: number, shorter: number, groupBy: string}} InstanceRequest
 * @typedef {{thread: number, begin: number, length: number, self: number, onCpu: number, isInside: boolean, parent: number}}
 *     ZoneInstance  `isInside`: of another instance of the same zone; `parent`: location of the zone around, 0 = none
 */

/** Groups that a file can make; 'text', 'name' and 'value' are not in its lanes. */
export const GROUPS_OF_FILE = ['', 'thread', 'parent'];
const SLOWEST_MAX = 10;
/** Bins of the distribution, for each doubling of the length. */
const BINS_A_DOUBLING = 8;

/**
 * In no order; `nMerged`: how many of all zones in the range have no place of their own in the file.
 * @param {TraceModel} model
 * @param {Map<number, () => WholeLane>} lanes
 * @param {InstanceRequest} request
 */
export function instancesOf(model, lanes, request) {
        /** @type {ZoneInstance[]} */
        const instances = [];
        let nMerged = 0;
        /** @param {{ id: number } | undefined} lane */
        const wholeOf = (lane) => lane && lanes.has(lane.id) ? /** @type {() => WholeLane} */ (lanes.get(lane.id))() : null;

        for (const [thread, track] of model.tracksByThread) {
                if (request.thread !== null && request.thread !== thread)
                        continue;
                const depths = /** @type {WholeLane[]} */ (track.lanes.filter((lane) => lane.kind === 'zones')
                        .sort((a, b) => a.depth - b.depth).map(wholeOf).filter((lane) => lane !== null));
                const sums = new ThreadZoneSums(new Map(), request, depths, wholeOf(track.lanes.find((lane) => lane.kind === 'states')));

                depths.forEach((lane, depth) => {
                        for (let i = 0; i < lane.n; i++) {
                                const begin = lane.count[i] > 1 ? lane.longestBegin[i] : lane.begin[i];
                                const length = lane.count[i] > 1 ? lane.longestNs[i] : lane.end[i] - lane.begin[i];

                                if (begin < request.from || begin >= request.to)
                                        continue;
                                nMerged += lane.count[i] - 1;
                                if (lane.what[i] !== request.location || !isOfLength(model, request, begin, length))
                                        continue;
                                const around = sums.locationsAt(begin, depth);

                                instances.push({ thread, begin, length, self: length - sums.childrenOf(depth, begin, begin + length),
                                        onCpu: sums.running.between(begin, begin + length),
                                        isInside: around.includes(request.location), parent: around[around.length - 1] ?? 0 });
                        }
                });
        }
        return { instances, nMerged };
}

/**
 * How long a zone lasts that is open at the end of the recording is not known: it is in no part.
 * @param {TraceModel} model
 * @param {InstanceRequest} request
 * @param {number} begin
 * @param {number} length
 */
function isOfLength(model, { longer, shorter }, begin, length) {
        const isWhole = longer === 0 && shorter === Infinity;

        return isWhole || (length >= longer && length < shorter && begin + length < model.duration_ns);
}

/** @param {ZoneInstance[]} sorted by length @param {number} share */
function percentile(sorted, share) {
        return sorted.length === 0 ? null : sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)].length;
}

/** @param {ZoneInstance[]} instances */
function binsOf(instances) {
        /** @type {Map<number, {from_ns: number, to_ns: number, count: number, total_ns: number}>} */
        const bins = new Map();

        for (const { length } of instances) {
                const at = Math.floor(Math.log2(Math.max(1, length)) * BINS_A_DOUBLING);
                const bin = bins.get(at) ?? { from_ns: Math.ceil(2 ** (at / BINS_A_DOUBLING)),
                        to_ns: Math.ceil(2 ** ((at + 1) / BINS_A_DOUBLING)), count: 0, total_ns: 0 };

                bin.count++;
                bin.total_ns += length;
                bins.set(at, bin);
        }
        return [...bins.values()].sort((a, b) => a.from_ns - b.from_ns);
}

/** @param {ZoneInstance[]} instances @param {(one: ZoneInstance) => number} key */
function groupsOf(instances, key) {
        /** @type {Map<number, ZoneInstance[]>} */
        const groups = new Map();

        for (const one of instances) {
                const group = groups.get(key(one));

                if (group)
                        group.push(one);
                else
                        groups.set(key(one), [one]);
        }
        return [...groups];
}

/** @param {ZoneInstance[]} instances */
function factsOf(instances) {
        const sorted = [...instances].sort((a, b) => a.length - b.length);
        const outer = instances.filter((one) => !one.isInside);
        const sum = instances.reduce((total, one) => total + one.length, 0);
        const total = outer.reduce((ns, one) => ns + one.length, 0);
        const onCpu = outer.reduce((ns, one) => ns + one.onCpu, 0);

        return { count: instances.length, total_ns: total, self_ns: instances.reduce((ns, one) => ns + one.self, 0), on_cpu_ns: onCpu,
                waiting_ns: total - onCpu, min_ns: sorted[0]?.length ?? null, max_ns: sorted[sorted.length - 1]?.length ?? null,
                mean_ns: instances.length ? Math.floor(sum / instances.length) : null, p50_ns: percentile(sorted, 0.5),
                p90_ns: percentile(sorted, 0.9), p99_ns: percentile(sorted, 0.99), p99_9_ns: percentile(sorted, 0.999) };
}

/** @param {TraceModel} model @param {ZoneInstance} one @param {InstanceRequest} request */
function slowRow(model, one, request) {
        const thread = model.thread(one.thread);

        return { duration_ns: one.length, at_ns: one.begin, thread: thread?.handle ?? null, thread_name: thread?.name ?? null,
                on_cpu_ns: one.onCpu, waiting_ns: one.length - one.onCpu, self_ns: one.self,
                handle: model.location(request.location)?.handle ?? null, name: model.locationName(request.location),
                text: null, value: null, instance_name: null };
}

/**
 * @param {TraceModel} model
 * @param {ZoneInstance[]} instances
 * @param {InstanceRequest} request
 * @param {number} total
 */
function groupRows(model, instances, request, total) {
        const rows = groupsOf(instances, (one) => request.groupBy === 'thread' ? one.thread : one.parent).map(([key, group]) => {
                const facts = factsOf(group);
                const isThread = request.groupBy === 'thread';

                return { handle: isThread ? model.thread(key)?.handle ?? null : model.location(key)?.handle ?? null,
                        group: isThread ? model.threadName(key) : key === 0 ? null : model.locationName(key), count: facts.count,
                        total_ns: facts.total_ns, share: total === 0 ? null : facts.total_ns / total, mean_ns: facts.mean_ns,
                        p50_ns: facts.p50_ns, p99_ns: facts.p99_ns, max_ns: facts.max_ns };
        });

        return rows.sort((a, b) => b.total_ns - a.total_ns);
}

/**
 * @param {TraceModel} model
 * @param {any} whole  the document of all zones
 * @param {Map<number, () => WholeLane>} lanes
 * @param {InstanceRequest} request
 */
export function zoneOfFile(model, whole, lanes, request) {
        const { instances, nMerged } = instancesOf(model, lanes, request);
        const facts = factsOf(instances);
        const about = rangeDocument(model, { warnings: whole.warnings }, request, null);
        const merged = nMerged === 0 ? [] : [`${formatPlural(nMerged, 'short item')} of the rows are merged in this file: ` +
                'of these, only the longest are counted here'];
        const slowest = [...instances].sort((a, b) => b.length - a.length || a.begin - b.begin || a.thread - b.thread).slice(0, SLOWEST_MAX)
                .map((one) => slowRow(model, one, request));

        return { ...about, ...facts, n_samples: null,
                answer: `zone ${model.locationName(request.location)}: ${formatCount(facts.count)} instances` +
                        (facts.max_ns === null ? '' : `; longest ${formatDuration(facts.max_ns)}`),
                warnings: [...merged, ...about.warnings, 'counted from the rows of this file: calls, waits and counters are left out'],
                distribution: { rows: binsOf(instances), left_out: 0 }, slowest: { rows: slowest, left_out: 0 },
                threads: { rows: groupRows(model, instances, { ...request, groupBy: 'thread' }, facts.total_ns).map((row) =>
                        ({ ...row, name: row.group })), left_out: 0 },
                ...(request.groupBy === '' ? {} : { groups: { rows: groupRows(model, instances, request, facts.total_ns),
                        left_out: 0 } }) };
}
