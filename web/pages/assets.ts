/** The page's files as texts. @module */

import icon from "../ui/icon.svg" with { type: "text" };
import page from "../ui/index.html" with { type: "text" };
import script from "../ui/page.min.js" with { type: "text" };
import style from "../ui/style.css" with { type: "text" };

/** HTML of the page; {@linkcode addPage} completes it. */
export const PAGE: string = page;

/** The icon, as SVG. */
export const ICON: string = icon;

/** The style sheet, shared by the demo's applications and other pages. */
export const STYLE: string = style;

/** The script, which `deno task bundle` builds from `web/ui/page.tsx`. */
export const SCRIPT: string = script;
