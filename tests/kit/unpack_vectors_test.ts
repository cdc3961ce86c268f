import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { unpack, UsageError } from "../../tools/unpack_vectors.ts";
import { ROOT, run, tempFolder } from "./process.ts";
import { readFeedVectors, readQuestionVectors } from "./vectors.ts";

function namesIn(folder: string): readonly string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

Deno.test("vectors:unpack writes every case if none is named", async () => {
  await using folder = await tempFolder();
  const path = `${folder.path}/new/cases`;
  const [feeds, questions] = [readFeedVectors(), readQuestionVectors()];
  assertEquals(
    await unpack([path]),
    `${feeds.length} feeds and ${questions.length} questions in ${path}`,
  );
  for (const { documents, expected, name } of feeds) {
    for (const [file, bytes] of documents) {
      const found = await Deno.readFile(`${path}/${name}/${file}`);
      assertEquals(found.toBase64(), bytes.toBase64(), file);
    }
    const text = await Deno.readTextFile(`${path}/${name}/expected.json`);
    assertEquals(JSON.parse(text), expected);
  }
  assertEquals(
    namesIn(path),
    [
      ...feeds.map(({ name }) => name),
      ...questions.map(({ name }) => `${name}.json`),
    ].sort(),
  );
});

Deno.test("vectors:unpack writes the named cases, and a question with its feed", async () => {
  await using folder = await tempFolder();
  await unpack([folder.path, "upsert", "all-in-one"]);
  assertEquals(namesIn(folder.path), ["all-in-one.json", "history", "upsert"]);
  const text = await Deno.readTextFile(`${folder.path}/all-in-one.json`);
  const { name: _, ...content } = readQuestionVectors().find(({ name }) =>
    name === "all-in-one"
  )!;
  assertEquals(JSON.parse(text), content);
});

Deno.test("vectors:unpack refuses unknown names and flags, and a directory that is not empty, and writes nothing", async () => {
  await using folder = await tempFolder();
  const { path } = folder;
  const mine = `${path}/mine`;
  await Deno.writeTextFile(mine, "");
  for (
    const [args, says] of [
      [
        [`${path}/new`, "upsert", "histroy"],
        'there is no case "histroy". Did you mean history?',
      ],
      [[`${path}/new`, "../upsert"], 'there is no case "../upsert"'],
      [[`${path}/new`, "--all"], "unknown flag --all"],
      [[], "DIR is missing"],
      [[path, "upsert"], `${path} is not empty. Name a new directory`],
      [[mine], `${mine} is not a directory`],
    ] as const
  ) {
    await assertRejects(
      () => unpack(args),
      UsageError,
      `Cannot unpack: ${says}`,
    );
  }
  assertEquals(namesIn(path), ["mine"]);
  assertStringIncludes(
    await unpack(["--help"]),
    "Usage: deno task vectors:unpack DIR [CASE…]",
  );
});

Deno.test("the task vectors:unpack exits with 2 for wrong arguments", async () => {
  const { code, stdout, stderr } = await run(
    Deno.execPath(),
    ["task", "--quiet", "vectors:unpack"],
    { cwd: ROOT, env: { NO_COLOR: "1" } },
  );
  assertEquals([code, stdout], [2, ""]);
  assertEquals(
    stderr,
    "Cannot unpack: DIR is missing\n\nSee: deno task vectors:unpack --help\n",
  );
});
