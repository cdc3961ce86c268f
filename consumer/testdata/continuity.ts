/** What holds of histories in one process, and across processes. */

import { assert, assertEquals } from "@std/assert";
import type { ErrorCode } from "@sig/core";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { ALICE, importTestKeys } from "../../tests/kit/test_issuer.ts";
import { openPinFile } from "../../tests/kit/pin_file.ts";
import {
  consumerOfManyProcesses,
  type WatchedIssuer,
  watchIssuer,
} from "../../tests/kit/watched_issuer.ts";

const acrossProcesses: typeof watchIssuer = async (n, key, options = {}) => {
  const { pins, ...file } = await openPinFile();
  const watched = await watchIssuer(
    n,
    key,
    options,
    (all) => consumerOfManyProcesses({ ...all, pins }),
  );
  return {
    ...watched,
    async [Symbol.asyncDispose]() {
      await watched[Symbol.asyncDispose]();
      await file[Symbol.asyncDispose]();
    },
  };
};

/**
 * A test of what holds in one process, and across processes with one memory:
 * there each question comes from a process of its own.
 */
export function continuityTest(
  name: string,
  fn: (watch: typeof watchIssuer, t: Deno.TestContext) => Promise<void>,
): void {
  Deno.test(name, (t) => fn(watchIssuer, t));
  Deno.test(`across processes: ${name}`, (t) => fn(acrossProcesses, t));
}

const [key1, key2, stranger] = await importTestKeys();
assert(key1 && key2 && stranger);

/** The keys of the tests; the stranger's has the kid of the first. */
export const KEYS = { key1, key2, stranger };

/** Events that are remembered. */
export const EVENTS = 6;

/** What is asked. */
export const QUESTION = { subject: ALICE, require: ["role=deploy"] } as const;

/** Asserts that nothing is answered, and why. */
export async function expectNoAnswer(
  { consumer, server }: WatchedIssuer,
  code: ErrorCode,
  message: string,
): Promise<void> {
  const ask: readonly (() => Promise<unknown>)[] = [
    () => consumer.verify(server.did),
    () => consumer.check(server.did, QUESTION),
    () => consumer.state(server.did),
    () => consumer.observe(server.did),
  ];
  for (const each of ask) await expectSigError(each, code, message);
  const report = await consumer.report(server.did);
  assert(!report.valid);
  assertEquals(report.errors.map((each) => each.code), [code]);
  assertEquals(report.issuer, server.did);
}

/** Asserts that questions are answered again, with the warning. */
export async function expectRecovered(
  { consumer, server }: WatchedIssuer,
): Promise<void> {
  const answer = await consumer.check(server.did, QUESTION);
  assertEquals(answer.decision, "allow");
  assertEquals(answer.continuity, "consistent");
  assertEquals(
    answer.warnings.map(({ code }) => code),
    ["history_was_inconsistent"],
  );
  // And as long as the state is young, nobody asks the issuer again.
  const { length } = server.exchanges;
  await consumer.check(server.did, QUESTION);
  assertEquals(server.exchanges.length, length);
}
