import { assertEquals } from "@std/assert";
import { ownFiles, ROOT } from "../../tools/workspace.ts";

/** Matches files that may cite, without this one and other projects' files. */
const CITING =
  /^(?!vectors\/others\/|tests\/docs\/citations_test\.ts$).*\.(?:tsx?|md|json)$/;
/**
 * Matches a file and sections of it: `docs/protocol.md §2.6, §3` or `§2–§4`.
 */
const CITATION =
  /(?<![\w/.])((?:docs\/)?[\w/-]+\.md) (§[\d.]*\d(?:(?:, |–| and )§[\d.]*\d)*)/g;
/** Matches documents that are not in the repository. */
const UNKNOWN =
  /\b(?:PROTOCOL|INTERFACES|PROOFS|OPENID) ?§|\bSECURITY(?:,? [A-Z]\d| §)|\bthe seed's (?:field|table)/;

async function sectionsOf(path: string): Promise<Set<string>> {
  const text = await Deno.readTextFile(new URL(path, ROOT));
  const headings = text.matchAll(/^#{2,4} (\d+(?:\.\d+)*)\.? /gm);
  return new Set(Array.from(headings, ([, number]) => number!));
}

Deno.test("every cited section and document exists", async () => {
  const known = new Map<string, Set<string>>();
  const wrong: string[] = [];
  let count = 0;
  for (const file of ownFiles()) {
    if (!CITING.test(file)) continue;
    const text = await Deno.readTextFile(new URL(file, ROOT));
    for (const [all, path, list] of text.matchAll(CITATION)) {
      if (!known.has(path!)) {
        known.set(path!, await sectionsOf(path!).catch(() => new Set()));
      }
      for (const [, section] of list!.matchAll(/§([\d.]*\d)/g)) {
        count++;
        if (!known.get(path!)!.has(section!)) wrong.push(`${file}: ${all}`);
      }
    }
    const [unknown] = UNKNOWN.exec(text) ?? [];
    if (unknown !== undefined) wrong.push(`${file}: ${unknown}`);
  }
  assertEquals(wrong, []);
  // Asserts that the expressions above still match citations.
  assertEquals(count > 100, true, `${count} citations`);
});
