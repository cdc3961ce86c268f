import { assert, assertEquals } from "@std/assert";

/** The specifiers of imports that load a module of this package at once. */
const IMPORTS = /^(?:import|export) (?!type )[^;]*?"(\.{1,2}\/[^"]+\.tsx?)"/gm;
const WEB = new URL("../", import.meta.url);

/** Returns the folders below `web/` that an entry loads, with their modules. */
async function foldersOf(entry: string) {
  const counts: Record<string, number> = {};
  const modules = new Set([new URL(entry, WEB).href]);
  for (const href of modules) {
    const [folder = ""] = href.slice(WEB.href.length).split("/");
    counts[folder] = (counts[folder] ?? 0) + 1;
    const text = await Deno.readTextFile(new URL(href));
    for (const [, to = ""] of text.matchAll(IMPORTS)) {
      modules.add(new URL(to, href).href);
    }
  }
  return counts;
}

for (
  const entry of ["mod.ts", "main.ts", "serve.ts", "app.ts", "hono/mod.ts"]
) {
  Deno.test(`web/${entry} does not load the OpenID Provider`, async () => {
    const { openid, gate, sign_in = 0 } = await foldersOf(entry);
    assertEquals([openid, gate], [undefined, undefined]);
    // Its error pages only.
    assert(sign_in <= 2, `${sign_in}`);
  });
}

Deno.test("web/openid/mod.ts loads the provider and forward auth", async () => {
  const { openid = 0, gate = 0 } = await foldersOf("openid/mod.ts");
  assert(openid >= 10 && gate >= 3, `${openid}, ${gate}`);
});
