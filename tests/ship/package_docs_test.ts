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
    readonly declarations: readonly {
      /** "reference" for what another entry point exports, too. */
      readonly kind?: string;
      readonly jsDoc?: JsDoc;
    }[];
  }[];
}

interface JsDoc {
  readonly doc?: string;
  readonly tags?: readonly { readonly kind: string }[];
}

function hasExample({ doc = "", tags = [] }: JsDoc): boolean {
  return doc.includes("```") || tags.some(({ kind }) => kind === "example");
}

const args = ["doc", "--quiet", "--json", ...ENTRIES.map(({ file }) => file)];
const { nodes }: Doc = JSON.parse(
  await runWell(Deno.execPath(), args, { cwd: ROOT }),
);
const modules = ENTRIES.map((entry) => {
  const module = nodes[new URL(entry.file, ROOT).href];
  assert(module !== undefined, entry.file);
  return { ...entry, ...module };
});

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
      declarations.every(({ jsDoc, kind }) =>
        kind !== "reference" && !jsDoc?.doc
      )
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
