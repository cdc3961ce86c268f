import { Validator } from "@cfworker/json-schema";
import { assert, assertEquals } from "@std/assert";
import {
  type FeedVector,
  readFeedVectors,
  readOneFeedOfEach,
} from "./vectors.ts";

const FOLDER = new URL("../../vectors/", import.meta.url);

// deno-lint-ignore no-explicit-any -- reads files of any shape
type Json = any;

function readJson(path: string): Json {
  return JSON.parse(Deno.readTextFileSync(new URL(path, FOLDER)));
}

const validator = new Validator(readJson("schema.json"), "2020-12", false);
const feedFiles = [...Deno.readDirSync(new URL("feed/", FOLDER))]
  .map(({ name }) => `feed/${name}`).sort();

Deno.test("the files of the vectors match their schema", () => {
  for (const path of [...feedFiles, "questions.json"]) {
    const { valid, errors } = validator.validate(readJson(path));
    assert(valid, `${path}: ${JSON.stringify(errors.slice(-3))}`);
  }
});

Deno.test("the schema rejects unknown and invalid members", () => {
  const changes: readonly ((file: Json) => void)[] = [
    (file) => file.kind = "other",
    (file) => file.extra = true,
    (file) => delete file.usual,
    (file) => file.cases = [],
    (file) => file.cases[0].name = "../up",
    (file) => file.cases[0].documents.feed = 1,
    (file) => file.cases[0].documents.feed = ["line\n"],
    (file) => file.cases[0].documents.feed = { base64: "-_" },
    (file) => file.cases[0].expected.code = "invalid_line",
    (file) => file.cases[0].expected.result = "perhaps",
    (file) => delete file.cases[0].expected.last_sequence,
  ];
  for (const change of changes) {
    const file = readJson("feed/history.json");
    assert(validator.validate(file).valid);
    change(file);
    assert(!validator.validate(file).valid, String(change));
  }
});

Deno.test("the files contain no characters that an editor hides", () => {
  for (const path of [...feedFiles, "questions.json"]) {
    const text = Deno.readTextFileSync(new URL(path, FOLDER));
    const found = /(?!\n)[\p{C}\p{M}\p{Zl}\p{Zp}\u00a0]/u.exec(text);
    assertEquals(found?.index, undefined, path);
  }
});

function outcomesOf(vectors: readonly FeedVector[]): ReadonlySet<string> {
  return new Set(
    vectors.flatMap(({ theme, expected }) =>
      expected.result === "invalid"
        ? [`${theme}: ${expected.code}`]
        : ["valid", ...expected.warnings].map((each) => `${theme}: ${each}`)
    ),
  );
}

Deno.test("readOneFeedOfEach has every error code and warning of every theme", () => {
  const few = readOneFeedOfEach();
  assertEquals(outcomesOf(few), outcomesOf(readFeedVectors()));
  assert(few.length > 50 && few.length < 80, `${few.length} feeds`);
});
