/** The look of `/docs`. @module */

/** The page's only style sheet; its hash stands in the policy. */
export const STYLE: string = `
:root { color-scheme: light dark; --line: #8884; --soft: #8881; --mark: #0b62d0; }
@media (prefers-color-scheme: dark) { :root { --mark: #7db4ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 56rem; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; margin: .5rem 0; }
h2 { font-size: 1.15rem; margin: 2.5rem 0 .25rem; border-top: 1px solid var(--line); padding-top: 1rem; }
h3 { font-size: 1rem; margin: 1.25rem 0 .25rem; }
code, pre { font: .875em/1.45 ui-monospace, monospace; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: .4rem; padding: .6rem .75rem; overflow-x: auto; }
a { color: var(--mark); }
nav ul { list-style: none; padding: 0; }
.method { color: var(--mark); font-weight: 600; }
dl { margin: .5rem 0; }
dt { margin-top: .5rem; }
dd { margin: 0 0 0 1rem; }
.note { opacity: .75; font-size: .875em; }
summary { cursor: pointer; }
:focus-visible { outline: 2px solid var(--mark); outline-offset: 2px; }
`;
