/** A real browser: found, not downloaded. @module */

const NAMES = ["chromium", "chromium-browser", "google-chrome", "chrome"];

/** The browser that `SIG_BROWSER` names, or the first one on the PATH. */
export async function findBrowser(): Promise<string | undefined> {
  const wanted = Deno.env.get("SIG_BROWSER");
  const folders = (Deno.env.get("PATH") ?? "").split(":");
  const candidates = wanted === undefined
    ? folders.flatMap((dir) => NAMES.map((name) => `${dir}/${name}`))
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
