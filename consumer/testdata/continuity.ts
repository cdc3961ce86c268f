/**
 * Tests of continuity in one process, and across processes that share a pin
 * store.
 */

import { assert, assertEquals } from "@std/assert";
import type { ErrorCode } from "@sig/core";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { importTestKeys } from "../../tests/kit/test_issuer.ts";
import { openPinFile } from "../../tests/kit/pin_file.ts";
import {
  consumerOfManyProcesses,
  type WatchedIssuer,
  watchIssuer,
} from "../../tests/kit/watched_issuer.ts";

const [key1, key2, stranger] = await importTestKeys();

/** The keys of the tests; the stranger's key has the kid of `key1`. */
export const KEYS = { key1, key2, stranger };

/** Number of events that are remembered. */
export const EVENTS = 6;

/** Starts an issuer with events signed by key 1. */
type Watch = (
  events?: number,
  options?: Parameters<typeof watchIssuer>[2],
) => Promise<WatchedIssuer>;

const inOneProcess: Watch = (events = EVENTS, options) =>
  watchIssuer(events, key1, options);

const acrossProcesses: Watch = async (events = EVENTS, options = {}) => {
  const { pins, path, ...file } = await openPinFile();
  const mirrorFolder = `${path}.feeds`;
  const watched = await watchIssuer(
    ...[events, key1, options] as const,
    (all) => consumerOfManyProcesses({ ...all, pins, mirrorFolder }),
  );
  return {
    ...watched,
    async [Symbol.asyncDispose]() {
      await watched[Symbol.asyncDispose]();
      await file[Symbol.asyncDispose]();
    },
  };
};

/** Registers a test of the state that one process keeps. */
export function oneProcessTest(
  name: string,
  fn: (watch: Watch, t: Deno.TestContext) => Promise<void>,
): void {
  Deno.test(name, (t) => fn(inOneProcess, t));
}

/**
 * Registers a test twice: in one process, and across processes that share a pin
 * store and copies of feeds, where each question comes from a separate process.
 */
export function continuityTest(
  name: string,
  fn: (watch: Watch, t: Deno.TestContext) => Promise<void>,
): void {
  Deno.test(name, (t) => fn(inOneProcess, t));
  Deno.test(`across processes: ${name}`, (t) => fn(acrossProcesses, t));
}

/** Asserts that every question fails with this error. */
export async function expectNoAnswer(
  { consumer, did, check, verify }: WatchedIssuer,
  code: ErrorCode,
  message: string,
): Promise<void> {
  for (
    const ask of [
      ...[verify, () => check(), () => consumer.state(did)],
      () => consumer.observe(did),
    ]
  ) await expectSigError(ask, code, message);
  const report = await consumer.report(did);
  assert(!report.valid);
  assertEquals(report.errors.map((each) => each.code), [code]);
  assertEquals(report.issuer, did);
}

/** Asserts that questions are answered again, with the warning. */
export async function expectRecovered(
  { check }: WatchedIssuer,
): Promise<void> {
  const { decision, continuity, warnings } = await check();
  assertEquals([decision, continuity], ["allow", "consistent"]);
  assertEquals(warnings.map(({ code }) => code), ["history_was_inconsistent"]);
}
