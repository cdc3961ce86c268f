import { assertEquals, assertStringIncludes } from "@std/assert";
import { type Ran, ROOT, run, tempFolder } from "./process.ts";
import { unpackedFeed } from "./unpack_vectors.ts";
import {
  type FeedVector,
  readFeedVector,
  readFeedVectors,
  readQuestionVectors,
} from "./vectors.ts";

function unpack(...args: string[]): Promise<Ran> {
  return run(
    Deno.execPath(),
    ["task", "--quiet", "vectors:unpack", ...args],
    { cwd: ROOT, env: { NO_COLOR: "1" } },
  );
}

function namesIn(folder: string): readonly string[] {
  return [...Deno.readDirSync(folder)].map(({ name }) => name).sort();
}

async function assertUnpacked(
  { documents, expected }: FeedVector,
  folder: string,
): Promise<void> {
  for (const [path, bytes] of documents) {
    const found = await Deno.readFile(`${folder}/${path}`);
    assertEquals(found.toBase64(), bytes.toBase64(), path);
  }
  const text = await Deno.readTextFile(`${folder}/expected.json`);
  assertEquals(JSON.parse(text), expected);
}

Deno.test("vectors:unpack writes every case if none is named", async () => {
  await using folder = await tempFolder();
  const path = `${folder.path}/new/cases`;
  assertEquals(await unpack(path), {
    code: 0,
    stdout: `${readFeedVectors().length} feeds and ` +
      `${readQuestionVectors().length} questions in ${path}\n`,
    stderr: "",
  });
  for (const vector of readFeedVectors()) {
    await assertUnpacked(vector, `${path}/${vector.name}`);
  }
  assertEquals(
    namesIn(path),
    [
      ...readFeedVectors().map(({ name }) => name),
      ...readQuestionVectors().map(({ name }) => `${name}.json`),
    ].sort(),
  );
});

Deno.test("vectors:unpack writes the named cases, and a question with its feed", async () => {
  await using folder = await tempFolder();
  const { code } = await unpack(folder.path, "upsert", "all-in-one");
  assertEquals(code, 0);
  assertEquals(namesIn(folder.path), ["all-in-one.json", "history", "upsert"]);
  const text = await Deno.readTextFile(`${folder.path}/all-in-one.json`);
  const { name: _, ...content } = readQuestionVectors().find(({ name }) =>
    name === "all-in-one"
  )!;
  assertEquals(JSON.parse(text), content);
});

Deno.test("vectors:unpack refuses a directory that is not empty, and leaves it unchanged", async () => {
  await using folder = await tempFolder();
  await Deno.writeTextFile(`${folder.path}/mine`, "");
  const { code, stdout, stderr } = await unpack(folder.path, "upsert");
  assertEquals([code, stdout], [2, ""]);
  assertStringIncludes(
    stderr,
    `Cannot unpack: ${folder.path} is not empty. Name a new directory\n`,
  );
  assertEquals(namesIn(folder.path), ["mine"]);
  const ran = await unpack(`${folder.path}/mine`);
  assertEquals(ran.code, 2);
  assertStringIncludes(ran.stderr, "/mine is not a directory\n");
});

Deno.test("vectors:unpack rejects unknown names and flags, and writes nothing", async () => {
  await using folder = await tempFolder();
  const path = `${folder.path}/new`;
  for (
    const [args, says] of [
      [
        [path, "upsert", "histroy"],
        'there is no case "histroy". Did you mean history?',
      ],
      [[path, "../upsert"], 'there is no case "../upsert"'],
      [[path, "--all"], "unknown flag --all"],
      [[], "DIR is missing"],
    ] as const
  ) {
    const { code, stdout, stderr } = await unpack(...args);
    assertEquals([code, stdout], [2, ""]);
    assertStringIncludes(stderr, `Cannot unpack: ${says}`);
    assertStringIncludes(stderr, "See: deno task vectors:unpack --help");
  }
  assertEquals(namesIn(folder.path), []);
  const help = await unpack("--help");
  assertEquals(help.code, 0);
  assertStringIncludes(
    help.stdout,
    "Usage: deno task vectors:unpack DIR [CASE…]",
  );
});

Deno.test("an unpacked feed is removed when its scope ends", async () => {
  let path: string;
  {
    await using unpacked = await unpackedFeed("did-missing");
    path = unpacked.path;
    const { documents } = readFeedVector("did-missing");
    assertEquals(documents.has(".well-known/did.json"), false);
    assertEquals(namesIn(`${path}/.well-known`).includes("did.json"), false);
  }
  const found = await Deno.stat(path).then(() => true, () => false);
  assertEquals(found, false);
});
