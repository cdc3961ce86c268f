/** Finds an installed browser. @module */

// The headless shell is the same engine without a window, and a fifth faster.
const NAMES = [
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "chrome",
];

/** Returns the browser of `SIG_BROWSER`, or the first one on the PATH. */
export async function findBrowser(): Promise<string | undefined> {
  const wanted = Deno.env.get("SIG_BROWSER");
  const folders = (Deno.env.get("PATH") ?? "").split(":");
  const candidates = wanted === undefined
    ? NAMES.flatMap((name) => folders.map((dir) => `${dir}/${name}`))
    : [wanted];
  for (const path of candidates) {
    if (await Deno.stat(path).then((it) => it.isFile, () => false)) return path;
  }
  return undefined;
}

/** Its command line flags. */
export const BROWSER_ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
