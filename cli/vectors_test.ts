import type { ErrorCode } from "@sig/core";
import { assertEquals } from "@std/assert";
import { createDenoIo } from "./deno_io.ts";
import { run } from "./run.ts";
import type { Ran } from "./testdata/workspace.ts";

const VECTORS = new URL("../vectors/", import.meta.url);

interface FeedVector {
  readonly description: string;
  readonly now: string;
  readonly options?: {
    readonly unknown_events?: string;
    readonly unmatched_revoke?: string;
  };
  readonly result: "valid" | "invalid";
  readonly code?: ErrorCode;
  readonly line?: number;
  readonly sequence?: number;
  readonly kid?: string;
  readonly last_sequence?: number;
  readonly by_relationship_id?: { readonly [id: string]: unknown };
}

interface CheckVector {
  readonly description: string;
  readonly feed: string;
  readonly question: {
    readonly subject: string;
    readonly require: readonly string[];
    readonly at: string | null;
    readonly as_of: number | string | null;
    readonly now: string;
  };
  readonly expected: {
    readonly error?: ErrorCode;
    readonly decision?: "allow" | "deny";
    readonly reasons?: unknown;
    readonly matched_relationship_id?: string | null;
    readonly last_sequence?: number;
  };
}

function read(path: string): unknown {
  return JSON.parse(Deno.readTextFileSync(new URL(path, VECTORS)));
}

function names(folder: string): readonly string[] {
  const entries = Deno.readDirSync(new URL(folder, VECTORS));
  return [...entries].map(({ name }) => name).sort();
}

function folderOf(feed: string): string {
  return new URL(`feed/${feed}/`, VECTORS).pathname;
}

async function sig(now: string, ...args: string[]): Promise<Ran> {
  let [stdout, stderr] = ["", ""];
  const code = await run([...args, "--format", "json"], {
    ...createDenoIo(),
    stdout: (text) => void (stdout += text),
    stderr: (text) => void (stderr += text),
    now: () => new Date(now),
    interrupted: () => new Promise(() => {}),
  });
  return { code, stdout, stderr };
}

/** On exit code 2: one problem on stderr, and nothing on stdout. */
function problemOf({ code, stdout, stderr }: Ran): {
  readonly [member: string]: unknown;
} {
  assertEquals([code, stdout], [2, ""]);
  return JSON.parse(stderr);
}

function placeOf({ line, sequence, kid }: {
  readonly line?: unknown;
  readonly sequence?: unknown;
  readonly kid?: unknown;
}) {
  return { line, sequence, kid };
}

for (const name of names("feed/")) {
  const vector = read(`feed/${name}/expected.json`) as FeedVector;
  Deno.test(`feed ${name}: verify ends with ${vector.result === "valid" ? 0 : 1}`, async () => {
    const { options = {}, now } = vector;
    const policy = Object.entries(options).map(([flag, value]) =>
      `--${flag.replaceAll("_", "-")}=${value}`
    );
    const dir = folderOf(name);
    const verified = await sig(now, "verify", dir, ...policy);
    const check = ["--subject", "did:web:alice.example", "--require", "role=x"];
    const asked = [
      await sig(now, "dump-state", dir, ...policy),
      await sig(now, "log", dir, ...policy),
      await sig(now, "check", "--sig", dir, ...check, ...policy),
    ] as const;
    assertEquals(verified.stderr, "");
    const report = JSON.parse(verified.stdout);
    if (vector.result === "invalid") {
      assertEquals([verified.code, report.valid], [1, false]);
      assertEquals(report.errors[0].code, vector.code);
      const { line, sequence, kid } = vector;
      assertEquals(placeOf(report.errors[0]), {
        line,
        sequence,
        // Named more often than a case demands.
        kid: kid ?? report.errors[0].kid,
      });
      // What can't be believed has no state, no events and no answer.
      for (const ran of asked) {
        const problem = problemOf(ran);
        assertEquals(problem.code, vector.code);
        assertEquals(placeOf(problem), placeOf(report.errors[0]));
      }
      return;
    }
    assertEquals([verified.code, report.valid], [0, true]);
    assertEquals(report.last_sequence, vector.last_sequence);
    const [dump, log, answer] = asked;
    assertEquals([dump.code, log.code, answer.code], [0, 0, 1]);
    assertEquals([dump.stderr, log.stderr, answer.stderr], ["", "", ""]);
    const state = JSON.parse(dump.stdout).by_relationship_id;
    assertEquals(state, vector.by_relationship_id);
    assertEquals(JSON.parse(answer.stdout).decision, "deny");
    const lines = log.stdout === "" ? [] : log.stdout.trimEnd().split("\n");
    assertEquals(lines.length, report.verified_events);
    for (const line of lines) JSON.parse(line);
  });
}

for (const name of names("check/")) {
  const vector = read(`check/${name}`) as CheckVector;
  Deno.test(`check ${name}: ${vector.description}`, async () => {
    const { expected, feed, question } = vector;
    const ran = await sig(
      question.now,
      ...["check", "--sig", folderOf(feed), `--subject=${question.subject}`],
      ...question.require.map((each) => `--require=${each}`),
      ...question.at === null ? [] : [`--at=${question.at}`],
      ...question.as_of === null ? [] : [`--as-of=${question.as_of}`],
    );
    if (expected.error !== undefined) {
      // An empty word is no value of a flag.
      const code = question.subject === "" ? "invalid_request" : expected.error;
      assertEquals(problemOf(ran).code, code);
      return;
    }
    assertEquals([ran.code, ran.stderr], [
      expected.decision === "allow" ? 0 : 1,
      "",
    ]);
    const answer = JSON.parse(ran.stdout);
    for (const [member, value] of Object.entries(expected)) {
      assertEquals(answer[member], value, member);
    }
  });
}
