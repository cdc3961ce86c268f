import { assert, assertEquals } from "@std/assert";

/** Returns the folders below `web/` that an entry loads, with their modules. */
async function foldersOf(entry: string): Promise<Map<string, number>> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "--json", new URL(`../${entry}`, import.meta.url).href],
    stderr: "null",
  }).output();
  const { modules } = JSON.parse(new TextDecoder().decode(stdout)) as {
    modules: { specifier: string; kind: string; dependencies?: Dependency[] }[];
  };
  const found = new Map(modules.map((each) => [each.specifier, each]));
  const root = new URL("../", import.meta.url).href;
  const seen = new Set<string>();
  const counts = new Map<string, number>();
  const visit = (specifier: string) => {
    if (seen.has(specifier)) return;
    seen.add(specifier);
    if (specifier.startsWith(root)) {
      const [folder = ""] = specifier.slice(root.length).split("/");
      counts.set(folder, (counts.get(folder) ?? 0) + 1);
    }
    for (
      const { code, isDynamic } of found.get(specifier)?.dependencies ?? []
    ) {
      if (code?.specifier !== undefined && !isDynamic) visit(code.specifier);
    }
  };
  visit(new URL(`../${entry}`, import.meta.url).href);
  return counts;
}

interface Dependency {
  /** Absent for types, which are not loaded. */
  readonly code?: { readonly specifier?: string };
  readonly isDynamic?: boolean;
}

for (
  const entry of ["mod.ts", "main.ts", "serve.ts", "app.ts", "hono/mod.ts"]
) {
  Deno.test(`web/${entry} does not load the OpenID Provider`, async () => {
    const counts = await foldersOf(entry);
    assert(counts.size > 0);
    assertEquals([counts.get("openid"), counts.get("gate")], [
      undefined,
      undefined,
    ]);
    // Its error pages only.
    assert((counts.get("sign_in") ?? 0) <= 2, `${counts.get("sign_in")}`);
  });
}

Deno.test("web/openid/mod.ts loads the provider and forward auth", async () => {
  const counts = await foldersOf("openid/mod.ts");
  assert(counts.get("openid")! >= 10);
  assert(counts.get("gate")! >= 3);
});
