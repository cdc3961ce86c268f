import { assert, assertEquals } from "@std/assert";
import { ASSETS, PAGE_CSP } from "../ui/assets.ts";

const FOLDER = new URL("../ui/", import.meta.url);

Deno.test("every file of the page is served, and nothing else", async () => {
  const files: string[] = [];
  for await (const { name } of Deno.readDir(FOLDER)) {
    if (name !== "assets.ts") files.push(name);
  }
  const served = [...ASSETS.keys()].map((path) =>
    path === "/" ? "index.html" : path.replace("/ui/", "")
  );
  assertEquals(served.sort(), files.sort());
  for (const [path, { text }] of ASSETS) {
    const name = path === "/" ? "index.html" : path.replace("/ui/", "");
    assertEquals(text, await Deno.readTextFile(new URL(name, FOLDER)), path);
  }
});

Deno.test("the page refers to its own files only", () => {
  for (const [path, { text }] of ASSETS) {
    const imports = text.matchAll(/\bfrom "(\.[^"]+)"/g);
    const references = text.matchAll(/\b(?:src|href)="(\/[^"]*)"/g);
    for (const [, name] of imports) {
      const file = `/ui/${name!.replace("./", "")}`;
      assert(ASSETS.has(file), `${path} imports ${name}`);
    }
    for (const [, name] of references) {
      assert(ASSETS.has(name!), `${path} refers to ${name}`);
    }
  }
});

Deno.test("the page has no inline script or style and no way from text to markup", () => {
  const page = ASSETS.get("/")!.text;
  assert(!/<script(?![^>]*\bsrc=)|<style|\son[a-z]+=|\sstyle=/i.test(page));
  assertEquals(page.match(/<h1[\s>]/g)?.length, 1);
  const forbidden =
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|srcdoc|createContextualFragment/;
  for (const [path, { text }] of ASSETS) {
    assert(!forbidden.test(text), path);
  }
});

Deno.test("the policy allows nothing from elsewhere and nothing inline", () => {
  assertEquals(
    PAGE_CSP,
    "default-src 'none'; script-src 'self'; style-src 'self'; " +
      "connect-src 'self'; img-src 'self' data:; base-uri 'none'; " +
      "form-action 'none'; frame-ancestors 'none'",
  );
});
