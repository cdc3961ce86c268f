/** A real browser: found, not downloaded. @module */

// The shell is the same engine without a window, and takes a fifth less time.
const NAMES = [
  "chromium-headless-shell",
  "chromium",
  "chromium-browser",
  "google-chrome",
  "chrome",
];

/** The browser that `SIG_BROWSER` names, or the first one on the PATH. */
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

/** How it is started. */
export const BROWSER_ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
