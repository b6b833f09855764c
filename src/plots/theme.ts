// Colours of all plots, light and dark. The series' colours keep 3:1 against the ground and differ in lightness, so
// that they can be told apart without seeing hues.

export interface PlotColours {
  text: string;
  muted: string;
  grid: string;
  ground: string;
  series: readonly [string, string, string, string, string];
}

export const lightColours: PlotColours = {
  text: "#1c2430",
  muted: "#4d5866",
  grid: "#dfe3e8",
  ground: "#ffffff",
  series: ["#0b5cad", "#b34700", "#00735c", "#8a2f9e", "#6b6f00"],
};

export const darkColours: PlotColours = {
  text: "#e6e9ee",
  muted: "#aab4c0",
  grid: "#333b46",
  ground: "#14181d",
  series: ["#6fb3ff", "#ff9e5e", "#4fd1b3", "#d79bec", "#d6d35c"],
};

/** What dark mode is told by. */
export const DARK = "(prefers-color-scheme: dark)";

/** The same as custom properties: --text, --muted, --grid, --ground, --series-1 ... */
function properties(colours: PlotColours): string {
  const { text, muted, grid, ground, series } = colours;
  const lines = series.map((colour, i) => `--series-${i + 1}:${colour}`);
  return [`--text:${text}`, `--muted:${muted}`, `--grid:${grid}`, `--ground:${ground}`, ...lines].join(";");
}

/** Style sheet of the colours. Paper is light. */
export const themeStyle: string =
  `:root{color-scheme:light dark;${properties(lightColours)}}` +
  `@media screen and ${DARK}{:root{${properties(darkColours)}}}`;
