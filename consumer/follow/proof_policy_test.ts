import { assertEquals } from "@std/assert";
import {
  cosignNote,
  formatSignature,
  formatVerifierKey,
  type NoteKey,
  parseNote,
  parseVerifierKey,
} from "@sig/jose/proofs";
import { importVerificationKey, type SigningKey } from "@sig/jose";
import type { ConsumerOptions } from "../consumer.ts";
import { checkIssuer } from "../ask/check_issuer.ts";
import { createConsumer } from "../create_consumer.ts";
import { openPinFile } from "../../tests/kit/pin_file.ts";
import { PROOFS, watchProven } from "../../tests/kit/proofs.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { importTestKeys, PATHS } from "../../tests/kit/test_issuer.ts";
import { QUESTION, START_MS } from "../../tests/kit/watched_issuer.ts";
import type { ProofPolicy } from "../proofs/proof_policy.ts";

// promise: A required recent checkpoint, or cosigners, must be there for an
//   answer.

const [key1, key2, stranger] = await importTestKeys();
const START = START_MS / 1000;
const HOUR_MS = 3_600_000;

async function cosignerOf(name: string, key: SigningKey): Promise<NoteKey> {
  const of = await importVerificationKey(key.publicJwk);
  const vkey = { name, type: "cosignature" as const, key: of };
  return await parseVerifierKey(formatVerifierKey(vkey));
}

/**
 * Starts an issuer whose checkpoint was confirmed at a time, with helpers to
 * query it.
 */
async function setUp(time: number | null) {
  const watched = await watchProven(3, key1, { time });
  const { did, server: { documents } } = watched;
  const path = `${PROOFS}checkpoint`;
  return {
    ...watched,
    ask: (
      checkpointPolicy: ProofPolicy,
      options: Partial<ConsumerOptions> = {},
    ) =>
      createConsumer({
        ...{ issuers: [did], allowPrivate: true, checkpointPolicy },
        now: () => new Date(START_MS),
        // A refresh in the background may outlast the test.
        refreshAhead: false,
        ...options,
      }).check(did, QUESTION),
    /** As `ask`, without a memory. */
    askOnce: (checkpointPolicy: ProofPolicy) =>
      checkIssuer(did, QUESTION, {
        ...{ allowPrivate: true, checkpointPolicy },
        now: new Date(START_MS),
      }),
    async cosign(name: string, key: SigningKey, time: number) {
      const note = new TextDecoder().decode(
        documents.get(path) as Uint8Array<ArrayBuffer>,
      );
      const { text } = parseNote(note);
      const line = await cosignNote(text, name, key, time);
      const signed = note + formatSignature(line);
      documents.set(path, new TextEncoder().encode(signed));
    },
    forget: () => documents.delete(path),
    /** Publishes metadata that name no proofs. */
    withdraw() {
      const metadata = documents.get(PATHS.metadata) as string;
      const { proofs_uri: _, ...rest } = JSON.parse(metadata);
      documents.set(PATHS.metadata, JSON.stringify(rest));
    },
  };
}

Deno.test("rejects a checkpoint that is too old or has no time", async () => {
  const stale = ["checkpoint_stale", "Cannot answer: "] as const;
  await using issuer = await setUp(START - 7_200);
  const young = { maxCheckpointAgeMs: 3 * HOUR_MS };
  assertEquals((await issuer.ask(young)).decision, "allow");
  const old = { maxCheckpointAgeMs: HOUR_MS };
  await expectSigError(() => issuer.ask(old), ...stale);
  // The same applies to a read of the whole feed.
  const never = { proofs: "never" } as const;
  await expectSigError(() => issuer.ask(old, never), ...stale);
  assertEquals((await issuer.ask(young, never)).decision, "allow");
  issuer.forget();
  await expectSigError(() => issuer.ask(young), ...stale);
  issuer.withdraw();
  await expectSigError(() => issuer.ask(young), ...stale);
  await expectSigError(() => issuer.askOnce(young), ...stale);
  await using without = await setUp(null);
  await expectSigError(() => without.ask(young), ...stale);
  await using ahead = await setUp(START + 3_600);
  await expectSigError(() => ahead.ask(young), ...stale);
});

Deno.test("requires recent signatures of the configured cosigners, and counts each once", async () => {
  await using issuer = await setUp(START);
  const first = await cosignerOf("cosigner.example/1", key2);
  const second = await cosignerOf("cosigner.example/2", stranger);
  const missing = (count: string) =>
    [
      "cosignatures_missing",
      `Cannot answer: ${count} cosigners have signed the checkpoint`,
    ] as const;
  const both = { cosigners: [first, second] };
  await expectSigError(() => issuer.ask(both), ...missing("0 of 2"));
  await issuer.cosign("cosigner.example/1", key2, START - 7_200);
  await expectSigError(() => issuer.ask(both), ...missing("1 of 2"));
  const twice = { cosigners: [first, first], requiredCosigners: 2 };
  await expectSigError(() => issuer.ask(twice), ...missing("1 of 2"));
  const one = { ...both, requiredCosigners: 1 };
  assertEquals((await issuer.ask(one)).decision, "allow");
  const late = { ...one, cosignedWithinMs: HOUR_MS };
  await expectSigError(() => issuer.ask(late), ...missing("0 of 1"));
  await issuer.cosign("cosigner.example/2", stranger, START);
  assertEquals((await issuer.ask({ ...late })).decision, "allow");
  assertEquals((await issuer.ask(both)).decision, "allow");
  issuer.forget();
  await expectSigError(() => issuer.ask(one), ...missing("0 of 1"));
  issuer.withdraw();
  await expectSigError(() => issuer.ask(one), ...missing("0 of 1"));
  await expectSigError(() => issuer.askOnce(one), ...missing("0 of 1"));
});

Deno.test("with a policy, the feed must match the checkpoint", async () => {
  await using issuer = await setUp(START);
  const { documents } = issuer.server;
  for (const path of documents.keys()) {
    if (path.includes("/state/")) documents.delete(path);
  }
  const policy = { maxCheckpointAgeMs: HOUR_MS };
  for (const ask of [issuer.ask, issuer.askOnce]) {
    const answer = await ask(policy);
    assertEquals(answer.decision, "allow");
    assertEquals(
      answer.warnings.map(({ code, detail }) => [code, detail]),
      [["proof_not_used", "fetch_status"]],
    );
  }
  const other = await issuer.line(2, key1, { roles: ["deploy", "other"] });
  issuer.publish(issuer.lines.with(1, other));
  for (const ask of [issuer.ask, issuer.askOnce]) {
    await expectSigError(
      () => ask(policy),
      "proof_invalid",
      "the feed is not what the checkpoint says",
    );
  }
});

Deno.test("a state read without a policy does not answer with a policy", async () => {
  await using issuer = await setUp(START);
  await using file = await openPinFile();
  const { pins } = file;
  await createConsumer({
    ...{ issuers: [issuer.did], allowPrivate: true, pins },
    now: () => new Date(START_MS),
  }).verify(issuer.did);
  const cosigners = [await cosignerOf("cosigner.example/1", key2)];
  await expectSigError(
    () => issuer.ask({ cosigners }, { pins }),
    "cosignatures_missing",
    "Cannot answer: 0 of 1 cosigners have signed the checkpoint",
  );
  await issuer.cosign("cosigner.example/1", key2, START);
  const { decision } = await issuer.ask({ cosigners }, { pins });
  assertEquals(decision, "allow");
});

Deno.test("graceMs does not override the age of a checkpoint or of its cosignatures", async () => {
  for (const proofs of ["always", "never"] as const) {
    for (
      const policyOf of [
        () => ({ maxCheckpointAgeMs: HOUR_MS }),
        (cosigner: NoteKey) => ({
          cosigners: [cosigner],
          cosignedWithinMs: HOUR_MS,
        }),
      ]
    ) {
      await using issuer = await setUp(START);
      await issuer.cosign("watchdog.example", key2, START);
      const { did, server: { documents } } = issuer;
      let nowMs = START_MS;
      const consumer = createConsumer({
        ...{ issuers: [did], allowPrivate: true, refreshAhead: false, proofs },
        checkpointPolicy: policyOf(await cosignerOf("watchdog.example", key2)),
        graceMs: 10 * HOUR_MS,
        now: () => new Date(nowMs),
      });
      const check = () => consumer.check(did, QUESTION);
      assertEquals((await check()).decision, "allow");
      documents.delete(PATHS.metadata);
      nowMs += HOUR_MS;
      assertEquals((await check()).freshness?.status, "stale");
      nowMs += 1_000;
      await expectSigError(check, "feed_stale", "Cannot answer");
    }
  }
});
