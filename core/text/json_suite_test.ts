import { assertEquals } from "@std/assert";
import { JsonError, parseJson } from "./json.ts";
import { vectorPath, vectorTest } from "../../tests/kit/others_vectors.ts";

/**
 * The only two `i_` files that are accepted: their numbers underflow to zero.
 */
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

const PARSING = "jsontestsuite/test_parsing";

vectorTest(
  "JSONTestSuite: accepts and rejects the required texts",
  PARSING,
  () => {
    const folder = vectorPath(PARSING);
    const wrong: string[] = [];
    const count = { y: 0, n: 0, i: 0 };
    for (const { name } of Deno.readDirSync(folder)) {
      const kind = name[0] as keyof typeof count;
      count[kind]++;
      const expected = kind === "y"
        ? !name.startsWith("y_object_duplicated_key")
        : kind === "i" && ACCEPTED_I.includes(name);
      const accepted = isAccepted(Deno.readFileSync(`${folder}/${name}`));
      if (accepted !== expected) wrong.push(name);
    }
    assertEquals(wrong, []);
    assertEquals(count, { y: 95, n: 188, i: 35 });
  },
);
