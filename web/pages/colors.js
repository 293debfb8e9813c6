// SPDX-License-Identifier: MIT
// Colours: the page's own are variables of page.css; those of names are chosen here, so that text on them has a contrast
// of at least 4.5 to 1 in light and dark.

import { CAUSES } from './cause_steps.js';

/**
 * The same text has the same number in all pages (FNV-1a).
 * @param {string} text
 */
export function hashOfText(text) {
        let hash = 0x811c9dc5;
        for (let i = 0; i < text.length; i++) {
                hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
        }
        hash ^= hash >>> 15;
        hash = Math.imul(hash, 0x2c1b3c6d) >>> 0;
        return (hash ^ (hash >>> 13)) >>> 0;
}

/**
 * @param {number} hue degrees
 * @param {number} saturation 0 to 1
 * @param {number} lightness 0 to 1
 * @returns {[number, number, number]} 0 to 255
 */
function rgbOfHsl(hue, saturation, lightness) {
        const chroma = (1 - Math.abs(2 * lightness - 1)) * saturation;
        /** @param {number} n */
        const part = (n) => {
                const k = (n + hue / 30) % 12;
                return Math.round(255 * (lightness - chroma / 2 * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
        };
        return [part(0), part(8), part(4)];
}

/**
 * Relative luminance of WCAG 2.
 * @param {readonly number[]} rgb
 */
function luminanceOfRgb(rgb) {
        const [r, g, b] = rgb.map((value) => {
                const share = value / 255;
                return share <= 0.04045 ? share / 12.92 : Math.pow((share + 0.055) / 1.055, 2.4);
        });
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/**
 * @param {readonly number[]} one
 * @param {readonly number[]} other
 * @returns {number} 1 to 21
 */
export function contrastOfRgb(one, other) {
        const [dark, light] = [luminanceOfRgb(one), luminanceOfRgb(other)].sort((a, b) => a - b);
        return (light + 0.05) / (dark + 0.05);
}

/** @param {readonly number[]} rgb */
function cssOfRgb(rgb) {
        return '#' + rgb.map((value) => value.toString(16).padStart(2, '0')).join('');
}

/** @param {readonly number[]} rgb */
function pixelOfRgb([r, g, b]) {
        return b << 16 | g << 8 | r;
}

/**
 * A color of the page as 0xbbggrr.
 * @param {string} css  '#rrggbb', as page.css has them
 */
export function pixelOfColor(css) {
        const value = parseInt(css.slice(1), 16);

        return pixelOfRgb([value >> 16 & 255, value >> 8 & 255, value & 255]);
}

/**
 * The color of text that is readable on this one: black or white, whichever stands out more.
 * @param {readonly number[]} rgb
 */
function textColorOn(rgb) {
        return contrastOfRgb(rgb, [255, 255, 255]) > contrastOfRgb(rgb, [0, 0, 0]) ? '#ffffff' : '#000000';
}

const NAME_HUES = [210, 28, 152, 268, 340, 190, 48, 120, 300, 0, 232, 80];

/** @typedef {{fill: string, edge: string, text: string, pixel: number}} NameColor  `pixel`: the fill as 0xbbggrr */
/**
 * On light and on dark pages: by name, and by value.
 * @type {{ names: Map<string, NameColor>, values: Map<number, NameColor> }[]}
 */
const nameColors = [false, true].map(() => ({ names: new Map(), values: new Map() }));

/**
 * Fill, edge and text of a box with this name.
 * @param {string} text
 * @param {boolean} isDark
 * @returns {NameColor}
 */
export function nameColorOf(text, isDark) {
        const { names } = nameColors[Number(isDark)];
        let color = names.get(text);
        if (color === undefined) {
                const hash = hashOfText(text);
                const hue = (NAME_HUES[hash % NAME_HUES.length] + ((hash >>> 8) % 13) - 6 + 360) % 360;
                const step = ((hash >>> 16) % 5) / 4;
                color = isDark ? nameColorOfHsl(hue, 0.36 + 0.1 * step, 0.30 + 0.07 * step, 0.13)
                        : nameColorOfHsl(hue, 0.50 + 0.2 * step, 0.74 + 0.07 * step, -0.17);
                names.set(text, color);
        }
        return color;
}

/**
 * @param {number} hue
 * @param {number} saturation
 * @param {number} lightness
 * @param {number} edge how much lighter the edge is
 * @returns {NameColor}
 */
function nameColorOfHsl(hue, saturation, lightness, edge) {
        const rgb = rgbOfHsl(hue, saturation, lightness);
        return { fill: cssOfRgb(rgb), edge: cssOfRgb(rgbOfHsl(hue, saturation, lightness + edge)), text: textColorOn(rgb),
                 pixel: pixelOfRgb(rgb) };
}

/** --background of page.css. */
export const PAGE_RGB = { light: [255, 255, 255], dark: [16, 18, 24] };
/** A box with less contrast to the page is hard to see on it. */
const FILL_CONTRAST_LEAST = 1.5;
const SHIFT_STEPS = 32;

/**
 * The colour itself, or, of one that is nearly that of the page, the nearest that can be seen on it: darker on a light page,
 * lighter on a dark one.
 * @param {readonly number[]} rgb
 * @param {boolean} isDark
 */
function apartFromPage(rgb, isDark) {
        const page = isDark ? PAGE_RGB.dark : PAGE_RGB.light;
        /** @param {number} step */
        const shifted = (step) => rgb.map((part) => Math.round(part + ((isDark ? 255 : 0) - part) * step / SHIFT_STEPS));
        let step = 0;
        while (step < SHIFT_STEPS && contrastOfRgb(shifted(step), page) < FILL_CONTRAST_LEAST) {
                step++;
        }
        return shifted(step);
}

/**
 * A colour that the program gave its zone, 0xrrggbb, made readable: fill, edge and text.
 * @param {number} value
 * @param {boolean} isDark
 * @returns {NameColor}
 */
export function nameColorOfValue(value, isDark) {
        const { values } = nameColors[Number(isDark)];
        let color = values.get(value);
        if (color === undefined) {
                const rgb = apartFromPage([(value >> 16) & 255, (value >> 8) & 255, value & 255], isDark);
                const edge = rgb.map((part) => Math.round(isDark ? part + (255 - part) * 0.25 : part * 0.75));
                color = { fill: cssOfRgb(rgb), edge: cssOfRgb(edge), text: textColorOn(rgb), pixel: pixelOfRgb(rgb) };
                values.set(value, color);
        }
        return color;
}

/**
 * Gives the page its colours: page.css has them for data-theme "light" and "dark".
 * @param {string} theme 'light', 'dark', or 'system': as the browser's
 */
export function showTheme(theme) {
        const isDark = theme === 'system' ? matchMedia('(prefers-color-scheme: dark)').matches : theme === 'dark';
        document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
}

/** Whether the page is dark: the person chose that, or the browser is. */
export function isDarkPage() {
        return document.documentElement.dataset.theme === 'dark';
}

/**
 * Variables of page.css for a canvas: themeColors().text, .accent ...
 * @returns {Record<string, string>}
 */
export function themeColors() {
        const style = getComputedStyle(document.documentElement);
        /** @type {Record<string, string>} */
        const colors = {};
        for (const name of THEME_COLOR_NAMES) {
                colors[name] = style.getPropertyValue('--' + name).trim();
        }
        return colors;
}

const THEME_COLOR_NAMES = ['background', 'surface', 'raised', 'text', 'muted', 'line', 'accent', 'on-accent', 'selection',
        'running', 'waiting', 'runnable', 'preempted', 'late', 'good', 'bad', 'folded', 'grid', 'mono', 'sans',
        ...CAUSES.map((word) => `cause-${word}`)];
