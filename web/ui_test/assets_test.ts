import { assert, assertEquals } from "@std/assert";
import { ICON, PAGE, STYLE } from "../pages/assets.ts";
import { PAGE_CSP } from "../pages/page.ts";

// promise: The page runs no foreign script.

/** The folders of the page's own code. */
const FOLDERS = ["../ui/", "../browser/", "../demo/"];

/** The sources of the page's script by their paths. */
async function* sources(): AsyncGenerator<readonly [string, string]> {
  const folders = FOLDERS.map((path) => new URL(path, import.meta.url));
  for (let folder; (folder = folders.pop());) {
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      if (isDirectory) folders.push(new URL(`${name}/`, folder));
      else if (/(?<!_test)\.tsx?$/.test(name)) {
        const url = new URL(name, folder);
        yield [url.pathname, await Deno.readTextFile(url)];
      }
    }
  }
}

/** Every API that turns text into markup or code. */
const FORBIDDEN =
  /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|srcdoc|createContextualFragment|setHTML|dangerouslySet/;

Deno.test("the page has no inline script or style, and no API turns text into markup", async () => {
  assert(!/<script(?![^>]*\bsrc=)|<style|\son[a-z]+=|\sstyle=/i.test(PAGE));
  assert(!/url\(|@import/.test(STYLE));
  assert(!/<script|\son[a-z]+=|href/i.test(ICON));
  let count = 0;
  for await (const [name, code] of sources()) {
    count++;
    assert(!FORBIDDEN.test(code), name);
  }
  assert(count > 30, `${count}`);
});

Deno.test("the page sends requests only to its own server, in two places", async () => {
  const asking: string[] = [];
  for await (const [name, code] of sources()) {
    if (!/\/web\/ui\/|story\.tsx/.test(name)) continue;
    if (
      /\bfetch\(|XMLHttpRequest|WebSocket|EventSource|sendBeacon/.test(code)
    ) {
      asking.push(name.slice(name.indexOf("/web/ui/")));
    }
  }
  assertEquals(asking.sort(), [
    "/web/ui/api.ts",
    "/web/ui/explore/documents.ts",
  ]);
});

Deno.test("the policy allows nothing from other origins and nothing inline", () => {
  assertEquals(
    PAGE_CSP,
    "default-src 'none'; script-src 'self'; style-src 'self'; " +
      "connect-src 'self'; img-src 'self' data:; base-uri 'none'; " +
      "form-action 'none'; frame-ancestors 'none'",
  );
});
