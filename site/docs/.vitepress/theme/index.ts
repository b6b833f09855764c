// The default theme with the fonts of the system: nothing more to fetch, and no licence of a font to carry.

import theme from "vitepress/theme-without-fonts";
import "./style.css";

export default theme;
