// SPDX-License-Identifier: MIT
/*
 * device_tree.js - lanes of devices as a tree: device, core, processor; without a page
 *
 * Way of the data:  TraceModel: the path of each lane -> [device_tree] -> timeline_rows
 */

/**
 * @typedef {import('./model.js').TrackOfModel} TrackOfModel
 * @typedef {{ title: string, key: string, tracks: TrackOfModel[], own: TrackOfModel|null, children: Map<string, DeviceNode> }}
 *     DeviceNode  `tracks`: all lanes at and below it; `own`: the lane that is this node
 */

/** A device with more lanes is folded until the user opens it. */
const LANES_OPEN_MAX = 16;
/** Lanes that a folded row shows. */
const BUSIEST_MAX = 6;
const NODES = 'lanes:';
/** Between names in a key; a name may have any other letter. */
const DIVIDER = '\u0000';

/** @param {TrackOfModel} track */
export function pathOfTrack(track) {
        return track.path && track.path.length > 0 ? track.path : [track.title];
}

/**
 * Names with numbers in the order of these: core 2 before core 10.
 * @param {TrackOfModel} a
 * @param {TrackOfModel} b
 */
export function compareLanes(a, b) {
        const one = pathOfTrack(a);
        const other = pathOfTrack(b);

        for (let i = 0; i < Math.min(one.length, other.length); i++) {
                const order = one[i].localeCompare(other[i], 'en', { numeric: true });

                if (order !== 0)
                        return order;
                if (i === 0 && a.number !== b.number)
                        return (a.number ?? 0) - (b.number ?? 0);
        }
        return one.length - other.length || (a.lane ?? 0) - (b.lane ?? 0);
}

/** @param {string} key whether it is that of a node */
export function isNodeKey(key) {
        return key.startsWith(NODES);
}

/**
 * The keys of the nodes around a lane, from the device on.
 * @param {TrackOfModel} track
 */
export function nodeKeysOf(track) {
        const path = pathOfTrack(track);

        return path.map((_, i) => [NODES + track.number, ...path.slice(0, i + 1)].join(DIVIDER));
}

/**
 * deviceTree() - the devices of some lanes, in the order in which they come
 * @param {TrackOfModel[]} tracks
 * @returns {DeviceNode[]}
 */
export function deviceTree(tracks) {
        /** @type {Map<string, DeviceNode>} */
        const roots = new Map();

        for (const track of tracks) {
                const path = pathOfTrack(track);
                const keys = nodeKeysOf(track);
                let level = roots;

                path.forEach((title, i) => {
                        const isLast = i === path.length - 1;
                        const key = keys[i];
                        let node = level.get(key);

                        if (!node || (isLast && node.own)) {
                                node = { title, key, tracks: [], own: null, children: new Map() };
                                level.set(level.has(key) ? `${key}${DIVIDER}${track.id}` : key, node);
                        }
                        node.tracks.push(track);
                        if (isLast)
                                node.own = track;
                        level = node.children;
                });
        }
        return [...roots.values()];
}

/** @param {DeviceNode} root a device */
export function isOpenAtFirst(root) {
        return root.tracks.length <= LANES_OPEN_MAX;
}

/**
 * The lanes that were busy the longest, in the order of the tree.
 * @param {DeviceNode} node
 */
export function busiestOf(node) {
        const busy = [...node.tracks].sort((a, b) => (b.busy_ns ?? 0) - (a.busy_ns ?? 0)).slice(0, BUSIEST_MAX);

        return node.tracks.filter((track) => busy.includes(track));
}

/**
 * The share of the time in which a lane of a node was busy, of all its lanes the mean.
 * @param {DeviceNode} node
 * @param {number} duration_ns
 */
export function busyShareOf(node, duration_ns) {
        return node.tracks.reduce((sum, track) => sum + (track.busy_ns ?? 0), 0) / (node.tracks.length * duration_ns);
}
