import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { describeProgress, groupByLines, safe, safeJson } from "./write.ts";
import { issuerTest as test } from "../testdata/workspace.ts";

/** Bidi and terminal controls, zero-width space, soft hyphen, filler, tag. */
const EVIL = "a\u202eb\u009b31mc\u200bd\u00ade\u3164f\u{e0061}g\u200dh";
const RAW = /[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Zl}\p{Zp}\p{Cc}]/u;

/**
 * Whether an output has raw control or invisible characters, except line feeds.
 */
function hidesText(output: string): boolean {
  return RAW.test(output.replaceAll("\n", ""));
}

Deno.test("text that could forge lines on a terminal is escaped", () => {
  assertEquals(safe("a\nb\x1b[31m\u061c"), "a\\u000ab\\u001b[31m\\u061c");
});

Deno.test("safe JSON is equivalent JSON", () => {
  const value = { [EVIL]: [EVIL, "\n", "ä€😀"] };
  const json = safeJson(JSON.stringify(value, null, 2));
  assert(!hidesText(json));
  assertEquals(JSON.parse(json), value);
});

test("texts of a feed are escaped on a terminal", async (workspace) => {
  await workspace.says([
    ...["upsert", "--dir", "$D/acme", "--subject", "did:web:eve.example"],
    ...["--type", "other", "--role", EVIL, "--title", `x\n${EVIL}`],
    ...["--reason", EVIL, "--relationship-id", "a\u202eb"],
    "--metadata",
    JSON.stringify({ [EVIL]: EVIL }),
  ], { out: "relationship.upsert a\\u202eb (seq=4)" });
  const check =
    `check --sig $D/acme --subject did:web:eve.example --explain --require role=${EVIL}`;
  for (
    const words of [
      "log $D/acme",
      "dump-state $D/acme",
      "verify $D/acme",
      check,
      `${check} --require role=${EVIL}2`,
      `verify ${EVIL}`,
      EVIL,
      `verify --${EVIL}`,
      `verify $D/acme ${EVIL}`,
      `key did $D/${EVIL}`,
      `serve $D/${EVIL}`,
      `serve $D/acme --addr ${EVIL}`,
    ]
  ) {
    for (const format of ["text", "json"]) {
      const { stdout, stderr } = await workspace.sig(
        `--format ${format} ${words}`,
      );
      assert(stdout + stderr !== "");
      assert(!hidesText(stdout + stderr), `${words} ${format}`);
    }
  }
});

test("colours only terminals, and not with NO_COLOR", async (workspace) => {
  const words = "verify $D/acme";
  const terminals = ["stdout", "stderr"] as const;
  const coloured = await workspace.sig(words, { terminals });
  assertStringIncludes(coloured.stdout, "\x1b[32mvalid\x1b[0m");
  const env = { NO_COLOR: "1" };
  for (const given of [{ terminals, env }, {}]) {
    const { stdout } = await workspace.sig(words, given);
    assert(!stdout.includes("\x1b"));
  }
  const json = await workspace.sig(`${words} --format json`, { terminals });
  assert(!(json.stdout + json.stderr).includes("\x1b"));
});

Deno.test("findings of one kind are written once with all their lines", () => {
  const at = (code: string, line?: number) => ({
    code,
    ...(line === undefined ? {} : { line }),
  });
  const found = [
    ...[3, 4, 5, 9].map((line) => at("a", line)),
    at("b", 4),
    ...[at("c"), at("c")],
  ];
  assertEquals(
    groupByLines(found, ({ code }) => code).map(({ first, lines }) => [
      first.code,
      lines,
    ]),
    [["a", "lines 3 to 5, 9"], ["b", "line 4"], ["c", ""], ["c", ""]],
  );
  const scattered = Array.from({ length: 20 }, (_, at) => ({ line: 2 * at }));
  assertEquals(
    groupByLines(scattered, () => "")[0]!.lines,
    "lines 0, 2, 4, 6, 8, 10, 12, 14 and 12 more places",
  );
});

test("JSON has the same next step as text", async (workspace) => {
  const cases: readonly (readonly [string, string, RegExp?])[] = [
    ["verify $D/nowhere", "source_not_found", /holds \.well-known/],
    [
      "init acme.example --dir $D/acme",
      "issuer_exists",
      /^sig upsert --help$/,
    ],
    [
      "key generate --out $D/nowhere/a.jwk",
      "write_failed",
      /^check the path/,
    ],
    // The hint already has the next step.
    ["key generate --out $D/acme", "write_failed"],
    ["verify $D/acme --ful", "invalid_request"],
  ];
  for (const [words, code, step] of cases) {
    const { stderr } = await workspace.sig(`${words} --format json`);
    const problem = JSON.parse(stderr);
    assertEquals(problem.code, code);
    const text = await workspace.sig(words);
    if (step === undefined) assert(!("next" in problem), stderr);
    else assertMatch(problem.next, step);
    assertEquals(text.stderr.match(/next: (.+)\n/)?.[1], problem.next);
  }
});

const MIB = 1024 * 1024;

Deno.test("progress shows events, their rate, and the time left or the bytes read", () => {
  const half = { bytes: 40 * MIB, events: 50_000, elapsedMs: 2_000 };
  const start = { bytes: 9 * MIB, events: 0, elapsedMs: 0 };
  for (
    const [progress, totalBytes, shown] of [
      [half, 80 * MIB, "verified 50000 events, 25000/s, 2 s left"],
      [half, 4_000 * MIB, "verified 50000 events, 25000/s, 4 min left"],
      [start, undefined, "verified 0 events, 0/s, 9 MiB read"],
      // A length that is too short results in no time left.
      [start, MIB, "verified 0 events, 0/s, 0 s left"],
    ] as const
  ) assertEquals(describeProgress({ ...progress, totalBytes }), shown);
});
