import { assert, assertEquals } from "@std/assert";
import { ENTRIES, PACKAGES, ROOT } from "../../tools/workspace.ts";
import { runWell } from "../kit/process.ts";

/** The used part of `deno doc --json`. */
interface Doc {
  readonly nodes: Readonly<Record<string, Module>>;
}

interface Module {
  readonly module_doc?: JsDoc;
  readonly symbols: readonly {
    readonly name: string;
    readonly declarations: readonly { readonly jsDoc?: JsDoc }[];
  }[];
}

interface JsDoc {
  readonly doc?: string;
  readonly tags?: readonly { readonly kind: string }[];
}

async function readDoc(file: string): Promise<Module> {
  const args = ["doc", "--quiet", "--json", file];
  const text = await runWell(Deno.execPath(), args, { cwd: ROOT });
  const { nodes }: Doc = JSON.parse(text);
  const [module] = Object.values(nodes);
  assert(module !== undefined, file);
  return module;
}

function hasExample({ doc = "", tags = [] }: JsDoc): boolean {
  return doc.includes("```") || tags.some(({ kind }) => kind === "example");
}

const modules = await Promise.all(
  ENTRIES.map(async (entry) => ({ ...entry, ...await readDoc(entry.file) })),
);

Deno.test("every entry point for users has a module doc with an example", () => {
  const lacking = modules.filter(({ specifier, module_doc }) =>
    !specifier.endsWith("/internal") &&
    (module_doc === undefined || !hasExample(module_doc))
  );
  assertEquals(lacking.map(({ file }) => file), []);
});

Deno.test("at least 95 % of the exported symbols of a package are documented", () => {
  for (const name of PACKAGES) {
    const symbols = modules.filter((each) => each.name === name)
      .flatMap(({ symbols }) => symbols);
    const bare = symbols.filter(({ declarations }) =>
      declarations.every(({ jsDoc }) => !jsDoc?.doc)
    );
    assert(symbols.length > 0, name);
    const share = 1 - bare.length / symbols.length;
    const names = bare.map((each) => each.name).join(", ");
    assert(share >= 0.95, `${name}: ${Math.round(share * 100)} %: ${names}`);
  }
});

Deno.test("every README has installation and an example", async () => {
  for (const name of PACKAGES) {
    const readme = await Deno.readTextFile(
      new URL(`${name}/README.md`, ROOT),
    );
    assert(readme.includes("```"), `${name}: an example`);
    assert(readme.includes(`jsr:@sig/${name}`), `${name}: jsr:@sig/${name}`);
  }
});
