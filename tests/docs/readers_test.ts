/**
 * Tests the readers in other languages with every vector that has the default
 * options.
 */

import { assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import {
  hasProgram,
  isCi,
  lacks,
  ROOT,
  run,
  runWell,
  tempFolder,
} from "../kit/process.ts";
import { unpackFeed } from "../kit/unpack_vectors.ts";
import {
  readFeedVector,
  readFeedVectors,
  readQuestionVectors,
} from "../kit/vectors.ts";

/** The arguments of a reader: directory, subject, role, instant. */
type Words = readonly [string, string, string, string];

/**
 * Debian's packages need Debian's Python, which may not be the first in PATH.
 */
const PYTHON = Deno.build.os === "linux" ? "/usr/bin/python3" : "python3";

const HAS_PYTHON = isCi ||
  (hasProgram("python3") &&
    (await run(PYTHON, ["-c", "import cryptography"])).code === 0);

/** One process for all questions, which prints the exit code of each. */
const PYTHON_LOOP = `
import contextlib, io, json, sys
sys.path.insert(0, sys.argv[1])
import check
for line in sys.stdin:
    try:
        with contextlib.redirect_stdout(io.StringIO()): code = check.main(*json.loads(line))
    except check.Refused: code = 2
    print(code, flush=True)
`;

async function askPython(questions: readonly Words[]): Promise<number[]> {
  const folder = new URL("examples/python/", ROOT).pathname;
  const text = questions.map((words) => JSON.stringify(words) + "\n").join("");
  const answers = await runWell(PYTHON, ["-c", PYTHON_LOOP, folder], {
    stdin: { text },
  });
  return answers.trim().split("\n").map(Number);
}

/** Asks all questions in one shell, and prints the exit code of each. */
const GO_LOOP =
  'while [ $# -gt 0 ]; do "$0" "$1" "$2" "$3" "$4" 2>&1 >&3; echo $?; shift 4; done 3>/dev/null';

async function askGo(
  questions: readonly Words[],
  program: string,
): Promise<number[]> {
  const args = ["-c", GO_LOOP, program, ...questions.flat()];
  const answers = await runWell("sh", args);
  // Exit code 2 comes after one line, the reason; the others have none.
  return [...answers.matchAll(/^no answer: .*\n(2)$|^([01])$/gm)]
    .map(([, refused, answered]) => Number(refused ?? answered));
}

/** Writes each vector as a question, with the expected exit code. */
async function writeQuestions(
  dir: string,
): Promise<{ name: string; words: Words; code: number }[]> {
  const usual = readFeedVectors().filter(({ expected }) => {
    const { options = {} } = expected;
    // Plain readers do not know recovery keys.
    const isOurs = expected.result === "invalid" &&
      ["invalid_recovery", "recovery_contradicted"].includes(expected.code);
    return Object.keys(options).length === 0 && !isOurs;
  });
  const questions = await Promise.all(usual.map(async (feed) => {
    await unpackFeed(feed, dir);
    return {
      name: feed.name,
      words: [
        `${dir}/${feed.name}`,
        "nobody",
        "none",
        feed.expected.now,
      ] as Words,
      code: feed.expected.result === "valid" ? 1 : 2,
    };
  }));
  for (const { name, feed, question, expected } of readQuestionVectors()) {
    const { subject, require, at, as_of, now } = question;
    const [role, ...others] = require;
    if (!role?.startsWith("role=") || others.length > 0) continue;
    if ((at ?? as_of ?? null) !== null) continue;
    const words: Words = [`${dir}/${feed}`, subject, role.slice(5), now];
    const code = "error" in expected
      ? 2
      : expected.decision === "allow"
      ? 0
      : 1;
    questions.push({ name, words, code });
  }
  return questions;
}

Deno.test("the readers in Python and Go agree with every vector", async (t) => {
  await using dir = await tempFolder();
  const questions = await writeQuestions(dir.path);
  assertEquals(readFeedVector("history").expected.result, "valid");
  assertEquals(new Set(questions.map(({ code }) => code)).size, 3);
  const words = questions.map((question) => question.words);
  const compare = (codes: readonly number[]) =>
    assertEquals(
      questions.map(({ name }, i) => `${name} ${codes[i]}`),
      questions.map(({ name, code }) => `${name} ${code}`),
    );
  await t.step({
    name: "Python",
    ignore: !HAS_PYTHON,
    fn: async () => compare(await askPython(words)),
  });
  await t.step({
    name: "Go",
    ignore: lacks("go"),
    fn: async () => {
      compare(await askGo(words, await buildGo(dir.path)));
    },
  });
});

/** Builds the reader in Go, with Go's own cache. */
async function buildGo(dir: string): Promise<string> {
  const program = `${dir}/check`;
  const source = new URL("examples/go/check.go", ROOT).pathname;
  await runWell("go", ["build", "-o", program, source], {
    env: { GOFLAGS: "-mod=mod" },
  });
  return program;
}

Deno.test("the readers print their answer, accept issuers of closed networks on request, and exit with 2 on every error", async (t) => {
  await using dir = await tempFolder();
  await unpackFeed(readFeedVector("history"), dir.path);
  const history = `${dir.path}/history`;
  const metadata = `${history}/.well-known/sig.json`;
  const published = JSON.parse(await Deno.readTextFile(metadata));
  const test = async (program: readonly [string, ...string[]]) => {
    const [command, ...first] = program;
    const ask = async (...words: string[]) => {
      const ran = await run(command, [...first, ...words]);
      return [ran.code, ran.stdout, /^no answer: \w+/.exec(ran.stderr)?.[0]];
    };
    const now = "2026-06-01T00:00:00Z";
    const alice = "did:web:alice.example";
    await Deno.writeTextFile(metadata, JSON.stringify(published));
    const allowed = await ask(history, alice, "read", now);
    assertEquals(allowed, [0, "allow\n", undefined]);
    const denied = await ask(history, alice, "root", now);
    assertEquals(denied, [1, "deny\n", undefined]);
    for (
      const host of [
        ...["127.0.0.1%3A8080", "localhost%3A8080", "members", "a.internal"],
      ]
    ) {
      const local = { ...published, issuer: `did:web:${host}` };
      await Deno.writeTextFile(metadata, JSON.stringify(local));
      const words = [history, alice, "read", now];
      const refused = [2, "", "no answer: invalid_metadata"];
      assertEquals(await ask(...words), refused, host);
      // The metadata is accepted; the events name another issuer.
      const accepted = await ask("--allow-insecure", ...words);
      assertEquals(accepted.slice(0, 2), [2, ""]);
      assertNotEquals(accepted, refused, host);
    }
    for (
      const words of [
        [],
        ["--allow-insecure"],
        [history, "a"],
        [history, "a", "b", now, "more"],
        [history, "", "b"],
        [history, "a", ""],
        [history, "a", "b", "yesterday"],
        ["/nowhere", "a", "b"],
      ]
    ) {
      const [code, stdout, stderr = ""] = await ask(...words);
      assertEquals([code, stdout], [2, ""], `${words}`);
      assertMatch(String(stderr), /^no answer: \w+/);
    }
  };
  await t.step({
    name: "Python",
    ignore: !HAS_PYTHON,
    fn: async () => {
      const source = new URL("examples/python/check.py", ROOT).pathname;
      await test([PYTHON, source]);
      // Without the library.
      await Deno.mkdir(`${dir.path}/without/cryptography`, { recursive: true });
      const ran = await run(PYTHON, [source, history, "a", "b"], {
        env: { PYTHONPATH: `${dir.path}/without` },
      });
      assertEquals([ran.code, ran.stdout], [2, ""]);
    },
  });
  await t.step({
    name: "Go",
    ignore: lacks("go"),
    fn: async () => await test([await buildGo(dir.path)]),
  });
});
