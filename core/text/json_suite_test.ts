import { assertEquals } from "@std/assert";
import { JsonError, parseJson } from "./json.ts";
import { vectorTest } from "../testdata/vectors.ts";

/** The only two `i_` files that are accepted: they underflow to zero. */
const ACCEPTED_I = [
  "i_number_double_huge_neg_exp.json",
  "i_number_real_underflow.json",
];

function isAccepted(bytes: Uint8Array): boolean {
  try {
    parseJson(bytes);
    return true;
  } catch (error) {
    if (error instanceof JsonError) return false;
    throw error;
  }
}

vectorTest("JSONTestSuite: accepted and refused as required", (vectors) => {
  const folder = new URL("jsontestsuite/test_parsing/", vectors);
  const wrong: string[] = [];
  const count = { y: 0, n: 0, i: 0 };
  for (const { name } of Deno.readDirSync(folder)) {
    const kind = name[0] as keyof typeof count;
    count[kind]++;
    const expected = kind === "y"
      ? !name.startsWith("y_object_duplicated_key")
      : kind === "i" && ACCEPTED_I.includes(name);
    const accepted = isAccepted(
      Deno.readFileSync(new URL(encodeURIComponent(name), folder)),
    );
    if (accepted !== expected) wrong.push(name);
  }
  assertEquals(wrong, []);
  assertEquals(count, { y: 95, n: 188, i: 35 });
});
