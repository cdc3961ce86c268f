import { assert, assertEquals } from "@std/assert";
import {
  type AskedQuestion,
  type CheckAnswer,
  isSigError,
  parseQuestion,
  parseRequirements,
} from "@sig/core";
import type { SigningKey } from "@sig/jose";
import { answerFrom } from "../ask/answer_from.ts";
import { checkIssuer } from "../ask/check_issuer.ts";
import { createMemoryReader } from "../testdata/memory_reader.ts";
import {
  FIRST_DAY_MS,
  type Random,
  randomLines,
  randomOf,
  subjectName,
} from "../testdata/random_feed.ts";
import { verifyIssuer } from "../verify/verify_feed.ts";
import { revoke, upsert as validUpsert } from "../../tests/kit/events.ts";
import { PROOFS, publishProofs } from "../../tests/kit/proofs.ts";
import {
  DID,
  importTestKeys,
  lineOf,
  makeDocuments,
  PATHS,
} from "../../tests/kit/test_issuer.ts";

// promise: An answer by proof equals that of the whole feed, whatever byte or
//   file is changed.

const [key1] = await importTestKeys();
assert(key1);

const ORIGIN = "https://acme.example";
const NOW = new Date("2026-06-01T00:00:00Z");
const SUBJECTS = 12;

/** Returns the files of an issuer with proofs of its first `size` lines. */
async function makeIssuer(
  lines: readonly string[],
  size: number,
  key: SigningKey,
) {
  const files = new Map<string, string | Uint8Array>(
    makeDocuments({ keys: [key], lines }),
  );
  const content = { origin: ORIGIN, keys: [key], lines: lines.slice(0, size) };
  await publishProofs(files, content);
  return files;
}

function locationOf(files: ReadonlyMap<string, string | Uint8Array>) {
  const reader = createMemoryReader(files, "remote");
  const metadataRef = ORIGIN + PATHS.metadata;
  return { reader, metadataRef, expectedIssuer: DID };
}

function randomQuestion(random: Random, events: number): AskedQuestion {
  const day = (n: number) => new Date(FIRST_DAY_MS + n * 86_400_000);
  const at = random(3) > 0 ? undefined : day(random(events + 10)).toISOString();
  const hasAsOf = at !== undefined && random(2) === 0;
  return {
    subject: subjectName(random(SUBJECTS + 1)),
    require: parseRequirements(
      [
        ["relationship=employee"],
        ["role=deploy"],
        ["role=read", "relationship=contractor"],
      ][random(3)]!,
    ),
    ...(at === undefined ? {} : { at }),
    ...(hasAsOf ? { asOf: 1 + random(events) } : {}),
    explain: true,
  };
}

/**
 * Returns the members that must be equal with and without proof. A proof gives
 * no warnings about other subjects.
 */
function comparable(answer: CheckAnswer) {
  const { proof: _p, warnings: _w, freshness: _f, ...rest } = answer;
  return rest;
}

Deno.test("an answer by proof equals the answer from the whole feed", async () => {
  let proven = 0;
  let answers = 0;
  for (let seed = 1; seed <= 8; seed++) {
    const random = randomOf(seed);
    const events = 1 + random(seed === 8 ? 400 : 60);
    const lines = await randomLines(random, {
      ...{ events, subjects: SUBJECTS, issuer: DID, key: key1 },
    });
    for (let moment = 0; moment < 4; moment++) {
      const known = 1 + random(events);
      const size = Math.max(1, known - (random(2) === 0 ? 0 : random(9)));
      const files = await makeIssuer(lines.slice(0, known), size, key1);
      const whole = await verifyIssuer(locationOf(files), { now: NOW });
      for (let i = 0; i < 15; i++) {
        const question = randomQuestion(random, known);
        const options = { now: NOW };
        const answer = await checkIssuer(locationOf(files), question, options);
        const full = answerFrom(whole, parseQuestion(question), options);
        assertEquals(comparable(answer), comparable(full), `seed ${seed}`);
        answers++;
        if (answer.proof !== null) proven++;
      }
    }
  }
  assertEquals(answers, 480);
  assert(proven > 300, `only ${proven} by proof`);
});

Deno.test("a changed byte or a missing file never changes an answer", async (t) => {
  const random = randomOf(7);
  const lines = await randomLines(random, {
    ...{ events: 70, subjects: 40, issuer: DID, key: key1 },
  });
  const files = await makeIssuer(lines, 66, key1);
  const ask = async (changed: typeof files, subject: string) =>
    comparable(
      await checkIssuer(locationOf(changed), {
        ...{ subject, require: ["relationship=employee"], explain: true },
      }, { now: NOW }),
    );
  const subjects = [0, 3, 99].map(subjectName);
  const paths = [...files.keys()].filter((path) =>
    path.startsWith(PROOFS) && !path.includes("/tile/")
  );
  assert(paths.length > 10);
  const expected = new Map<string, unknown>();
  for (const subject of subjects) {
    expected.set(subject, await ask(files, subject));
  }
  await t.step("a missing file", async () => {
    for (const path of paths.filter((each) => each !== PATHS.feed)) {
      const fewer = new Map(files);
      fewer.delete(path);
      for (const subject of subjects) {
        assertEquals(await ask(fewer, subject), expected.get(subject), path);
      }
    }
  });
  for (const path of paths) {
    await t.step(path, async () => {
      const original = files.get(path)!;
      const bytes = typeof original === "string"
        ? new TextEncoder().encode(original)
        : original;
      // Every seventh byte of a small file, every 797th of a large one.
      const step = bytes.length < 1_100 ? 7 : 797;
      for (let at = 0; at < bytes.length; at += step) {
        const changed = bytes.slice();
        changed[at]! ^= 1 << random(8);
        const subject = subjects[at / step % subjects.length]!;
        try {
          const answer = await ask(new Map(files).set(path, changed), subject);
          assertEquals(answer, expected.get(subject), `byte ${at}`);
        } catch (error) {
          // Only a fault of the feed itself may be an error.
          if (!isSigError(error) || path !== PATHS.feed) throw error;
          assertEquals(error.category, "invalid");
        }
      }
    });
  }
});

Deno.test("files from different times never change an answer", async () => {
  const random = randomOf(11);
  const lines = await randomLines(random, {
    ...{ events: 80, subjects: SUBJECTS, issuer: DID, key: key1 },
  });
  const files = await makeIssuer(lines, 80, key1);
  const older = await makeIssuer(lines.slice(0, 50), 40, key1);
  const whole = await verifyIssuer(locationOf(files), { now: NOW });
  for (const path of [`${PROOFS}checkpoint`, PATHS.feed]) {
    const mixed = new Map(files).set(path, older.get(path)!);
    for (let i = 0; i < SUBJECTS; i++) {
      const question = {
        subject: subjectName(i),
        require: ["role=deploy"],
      } as const;
      const asked = { ...question, explain: true };
      const answer = await checkIssuer(locationOf(mixed), asked, { now: NOW });
      const full = answerFrom(whole, parseQuestion(asked), { now: NOW });
      assertEquals(comparable(answer), comparable(full));
      const [warning] = answer.warnings;
      const isBehind = warning?.code === "feed_behind_checkpoint";
      assertEquals(isBehind, path === PATHS.feed);
    }
  }
});

Deno.test("rejects the signed lines of an earlier state as proof of a later state", async () => {
  const subject = subjectName(1);
  const upsert = { issuer: DID, subject, relationship_id: "r1" };
  const lines = [
    await lineOf({ ...validUpsert(1, upsert) }, key1),
    await lineOf({ ...revoke(2, upsert) }, key1),
  ];
  const older = await makeIssuer(lines.slice(0, 1), 1, key1);
  const files = await makeIssuer(lines, 2, key1);
  const stateOf = (of: typeof files) =>
    [...of.keys()].filter((path) => path.includes("/state/"));
  const [[before], [now]] = [stateOf(older), stateOf(files)];
  const mixed = new Map(files).set(now!, older.get(before!)!);
  const answer = await checkIssuer(locationOf(mixed), {
    ...{ subject, require: ["role=deploy"] },
  }, { now: NOW });
  assertEquals([answer.decision, answer.proof], ["deny", null]);
  assertEquals(
    answer.warnings.map(({ code, detail }) => [code, detail]),
    [["proof_not_used", "proof_invalid"]],
  );
});
