import { assertEquals } from "@std/assert";
import { unpackedFeed } from "../tests/kit/unpack_vectors.ts";
import {
  readOneFeedOfEach,
  readQuestionVectors,
} from "../tests/kit/vectors.ts";
import { type Ran, Workspace } from "./testdata/workspace.ts";

const workspace = new Workspace("/nowhere");

const sig = (now: string, ...args: string[]): Promise<Ran> =>
  workspace.sig([...args, "--format", "json"], {
    io: { now: () => new Date(now) },
  });

/** Asserts exit code 2 without output, and returns the problem of stderr. */
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

for (const feed of readOneFeedOfEach()) {
  const { expected: vector, name } = feed;
  Deno.test(`feed ${name}: verify exits with ${vector.result === "valid" ? 0 : 1}`, async () => {
    const { options = {}, now } = vector;
    const policy = Object.entries(options).map(([flag, value]) =>
      `--${flag.replaceAll("_", "-")}=${value}`
    );
    await using unpacked = await unpackedFeed(feed);
    const dir = unpacked.path;
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
        // Reports name the kid in more cases than the vectors require.
        kid: kid ?? report.errors[0].kid,
      });
      // The other commands fail with the same error for an invalid feed.
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

for (const vector of readQuestionVectors()) {
  Deno.test(`check ${vector.name}: ${vector.description}`, async () => {
    const { expected, feed, question } = vector;
    await using unpacked = await unpackedFeed(feed);
    const ran = await sig(
      question.now,
      ...["check", "--sig", unpacked.path, `--subject=${question.subject}`],
      ...question.require.map((each) => `--require=${each}`),
      ...question.at === null ? [] : [`--at=${question.at}`],
      ...question.as_of === null ? [] : [`--as-of=${question.as_of}`],
    );
    if (expected.error !== undefined) {
      // Flags reject empty values before the check.
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
