import { assert, assertEquals } from "@std/assert";
import { ASSETS, PAGE_CSP } from "../ui/assets.ts";

const FOLDER = new URL("../ui/", import.meta.url);

/** Every file below the page's folder, by its path there. */
async function* filesBelow(path = ""): AsyncGenerator<string> {
  for await (const entry of Deno.readDir(new URL(path, FOLDER))) {
    if (entry.isDirectory) yield* filesBelow(`${path}${entry.name}/`);
    else yield path + entry.name;
  }
}

function nameOf(path: string): string {
  return path === "/" ? "index.html" : path.replace("/ui/", "");
}

Deno.test("every file of the page is served, and nothing else", async () => {
  const files = (await Array.fromAsync(filesBelow()))
    .filter((name) => !/\.tsx?$/.test(name));
  const served = [...ASSETS.keys()].map(nameOf);
  assertEquals(served.sort(), files.sort());
  for (const [path, { text }] of ASSETS) {
    const file = await Deno.readTextFile(new URL(nameOf(path), FOLDER));
    assertEquals(text, file, path);
  }
});

Deno.test("the page refers to its own files only", () => {
  for (const [path, { text }] of ASSETS) {
    const references = text.matchAll(/\b(?:src|href)="(\/[^"]*)"/g);
    for (const [, name] of references) {
      assert(ASSETS.has(name!), `${path} refers to ${name}`);
    }
    assert(!/url\(|@import/.test(path.endsWith(".css") ? text : ""), path);
  }
});

const SCRIPTS = ["app.js", "more.js"];

/** Every way from text to markup or code. */
const FORBIDDEN =
  /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|srcdoc|createContextualFragment|setHTML|dangerouslySet/;

Deno.test("the page has no inline script or style and no way from text to markup", async () => {
  const page = ASSETS.get("/")!.text;
  assert(!/<script(?![^>]*\bsrc=)|<style|\son[a-z]+=|\sstyle=/i.test(page));
  for await (const name of filesBelow()) {
    // The bundle holds preact, which knows the ways that no component takes.
    if (SCRIPTS.includes(name)) continue;
    const text = await Deno.readTextFile(new URL(name, FOLDER));
    assert(!FORBIDDEN.test(text), name);
  }
  const others = SCRIPTS.map((name) => ASSETS.get(`/ui/${name}`)!.text).join("")
    .split(/^(?=\/\/ \S+\.\w+$)/m).filter((part) =>
      !part.startsWith("// npm:preact@")
    );
  assert(others.length > 50);
  for (const part of others) assert(!FORBIDDEN.test(part), part.slice(0, 80));
});

Deno.test("the policy allows nothing from elsewhere and nothing inline", () => {
  assertEquals(
    PAGE_CSP,
    "default-src 'none'; script-src 'self'; style-src 'self'; " +
      "connect-src 'self'; img-src 'self' data:; base-uri 'none'; " +
      "form-action 'none'; frame-ancestors 'none'",
  );
});
