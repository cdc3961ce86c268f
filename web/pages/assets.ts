/** The page's files, as text. @module */

import icon from "../ui/icon.svg" with { type: "text" };
import page from "../ui/index.html" with { type: "text" };
import script from "../ui/page.min.js" with { type: "text" };
import style from "../ui/style.css" with { type: "text" };

/** HTML of the page; {@linkcode addPage} completes it. */
export const PAGE: string = page;

/** The icon, as SVG. */
export const ICON: string = icon;

/** The style sheet, which the demo's applications and other pages share. */
export const STYLE: string = style;

/** The script: `deno task bundle` makes it from `web/ui/page.tsx`. */
export const SCRIPT: string = script;
