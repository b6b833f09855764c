// Line plots in a page: uPlot with axes that have units, colours for light and dark, and the width of its element.
// The page that uses it also brings uplot/dist/uPlot.min.css.

import uPlot from "uplot";
import { readable } from "../../src/report/numbers.ts";

export interface AxisOptions {
  label: string;
  unit?: string;
  /** Ends of the axis, where they should not follow the data. */
  from?: number;
  to?: number;
}

export interface LineOptions {
  x: AxisOptions;
  y: AxisOptions;
  /** Name of each line. */
  series: readonly string[];
  /** A description of the plot for screen readers. */
  description: string;
  /** Height in CSS pixels, without the legend (default 240). */
  height?: number;
  /** A dot on each value: for lines of few values. */
  dots?: boolean;
}

/** A gap in a line is null. */
export type LineValues = readonly (number | null)[];

export interface LinePlot {
  /** Draws these values: x rises, and each line has as many values. */
  set(x: readonly number[], lines: readonly LineValues[]): void;
  destroy(): void;
}

/** Colours of the page as they are now: src/report/base.css. */
interface PlotColours {
  muted: string;
  grid: string;
  series: readonly string[];
}

function coloursOf(target: HTMLElement): PlotColours {
  const style = getComputedStyle(target);
  const colour = (name: string): string => style.getPropertyValue(name).trim();
  return {
    muted: colour("--muted"),
    grid: colour("--grid"),
    series: [1, 2, 3].map((i) => colour(`--series-${i}`)),
  };
}

const HEIGHT = 240;
const LEAST_WIDTH = 200;

const title = ({ label, unit }: AxisOptions): string => (unit === undefined ? label : `${label} (${unit})`);

/** The least and greatest value of an axis: those given, else those of the data with a little room. */
function range({ from, to }: AxisOptions, pad: number) {
  return (_: uPlot, least: number | null, greatest: number | null): uPlot.Range.MinMax => {
    const [low, high] = [least ?? 0, greatest ?? 1];
    const room = pad * (high > low ? high - low : Math.abs(high) || 1);
    return [from ?? low - room, to ?? high + room];
  };
}

function axis(options: AxisOptions, colours: PlotColours, vertical: boolean): uPlot.Axis {
  return {
    label: title(options),
    labelSize: 28,
    labelFont: "13px system-ui, sans-serif",
    font: "12px system-ui, sans-serif",
    stroke: colours.muted,
    grid: { stroke: colours.grid, width: 1 },
    ticks: { stroke: colours.grid, width: 1 },
    values: (_, ticks) => ticks.map((tick) => readable(tick)),
    ...(vertical ? { size: widthOfTicks } : { size: 34, space: 60 }),
  };
}

/** Wide enough for the longest number on the axis. */
function widthOfTicks(_: uPlot, ticks: string[] | null): number {
  return 20 + 7.2 * Math.max(3, ...(ticks ?? []).map((tick) => tick.length));
}

function plotOptions(options: LineOptions, colours: PlotColours, width: number): uPlot.Options {
  const name = title(options.x);
  return {
    width,
    height: options.height ?? HEIGHT,
    scales: { x: { time: false, range: range(options.x, 0) }, y: { range: range(options.y, 0.05) } },
    axes: [axis(options.x, colours, false), axis(options.y, colours, true)],
    cursor: { y: false, points: { size: 7 } },
    series: [
      { label: name, value: (_, value) => readable(value) },
      ...options.series.map((label, i) => ({
        label,
        stroke: colours.series[i % colours.series.length],
        width: 2,
        spanGaps: true,
        points: { show: options.dots === true, size: 6 },
        value: (_: uPlot, value: number | null) => readable(value),
      })),
    ],
  };
}

/** Puts a plot into an element and keeps it as wide as that and in its colours, until it is destroyed. */
export function linePlot(target: HTMLElement, options: LineOptions): LinePlot {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let data: [number[], ...(number | null)[][]] = [[], ...options.series.map(() => [])];
  const width = (): number => Math.max(LEAST_WIDTH, Math.floor(target.clientWidth));
  const make = (): uPlot => new uPlot(plotOptions(options, coloursOf(target), width()), data, target);
  let plot = make();
  target.setAttribute("role", "img");
  target.setAttribute("aria-label", options.description);

  // uPlot takes the colours of its legend once: another theme is another plot.
  const recolour = (): void => {
    plot.destroy();
    plot = make();
  };
  const sizes = new ResizeObserver(() => {
    if (plot.width !== width()) plot.setSize({ width: width(), height: options.height ?? HEIGHT });
  });
  sizes.observe(target);
  dark.addEventListener("change", recolour);
  return {
    set(x, lines) {
      data = [[...x], ...lines.map((line) => [...line])];
      plot.setData(data);
    },
    destroy() {
      sizes.disconnect();
      dark.removeEventListener("change", recolour);
      plot.destroy();
    },
  };
}
