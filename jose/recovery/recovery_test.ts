/** Test vectors of recovery, made by an independent implementation. @module */

import { isSigError, SigError } from "@sig/core";
import {
  assert,
  assertEquals,
  assertMatch,
  assertRejects,
  assertStringIncludes,
} from "@std/assert";
import { readJsonVectors, vectorTest } from "../../tests/kit/others_vectors.ts";
import { generateSigningKey, importSigningKey } from "../keys/signing_key.ts";
import { readRecovery } from "./recovery.ts";
import {
  commitmentTo,
  signStatement,
  type StatementClaims,
} from "./statement.ts";

// promise: Every fault of a recovery statement is refused with its number,
//   before any answer.

interface StatementFile {
  readonly issuer: string;
  readonly cases: readonly {
    readonly name: string;
    readonly valid: boolean;
    readonly recovery: unknown;
    readonly result?: {
      readonly ended: { readonly [kid: string]: number };
      readonly keys: { readonly [kid: string]: string } | null;
    };
  }[];
}

vectorTest(
  "statements are read as the vectors say",
  "recovery/statements.json",
  async (t) => {
    const { issuer, cases } = readJsonVectors<StatementFile>(
      "recovery/statements.json",
    );
    for (const { name, valid, recovery, result } of cases) {
      await t.step(name, async () => {
        if (!valid) {
          const error = await assertRejects(
            () => readRecovery(recovery, issuer),
            SigError,
            "Cannot use recovery: ",
          );
          assertEquals(error.code, "invalid_recovery");
          // A fault of a statement names it, any other one its member.
          const { pointer, statement } = error.context;
          const [, index] = /^\/recovery\/statements\/(\d+)(?:\/\w+)?$/.exec(
            String(pointer),
          ) ?? [];
          const number = index === undefined ? undefined : Number(index) + 1;
          assertEquals(statement, number);
          if (number !== undefined) {
            assertStringIncludes(error.message, `: statement ${number}: `);
          } else assertMatch(String(pointer), /^\/recovery(?:\/[a-z]+)?$/);
          return;
        }
        const { ended, keys } = await readRecovery(recovery, issuer);
        assertEquals(
          Object.fromEntries(
            Array.from(ended.values(), (key) => [key.kid, key.last_sequence]),
          ),
          result?.ended,
        );
        assertEquals(keys, result?.keys ?? null);
      });
    }
  },
);

const issuer = "did:web:acme.example";

/** Returns recovery keys, and claims of a chain of them that end nothing. */
async function makeChain(length: number) {
  const make = async () => await importSigningKey(await generateSigningKey());
  const keys = await Promise.all(Array.from({ length: length + 1 }, make));
  const signer = await make();
  const claims = (n: number): StatementClaims => ({
    iss: issuer,
    iat: 1_780_000_000,
    n,
    key: keys[n - 1]!.publicJwk.x,
    next: commitmentTo(keys[n]!.publicJwk.x),
    ended: [],
    keys: { "orgsign-1": signer.publicJwk.x },
    size: 3,
    root: commitmentTo(signer.publicJwk.x),
  });
  const commitment = commitmentTo(keys[0]!.publicJwk.x);
  return { keys, claims, commitment, make };
}

Deno.test("a fault of a statement names its number and its member", async () => {
  const { keys, claims, commitment, make } = await makeChain(2);
  const thief = await make();
  const x = thief.publicJwk.x;
  const faults: [string, Partial<StatementClaims>, string][] = [
    ["iss", { iss: "did:web:evil.example" }, "it is of"],
    ["n", { n: 1 }, "it has the number 1"],
    ["next", { next: commitment }, "repeats a commitment"],
    ["keys", { keys: { k: keys[2]!.publicJwk.x } }, "also a recovery key"],
    ["keys", { keys: {} }, "at least one"],
    ["ended", {
      ended: [{ kid: "k", x, last_sequence: 4, reason: "lost" }],
    }, "ends after size"],
    ["ended", {
      ended: [
        { kid: "k", x, last_sequence: 1, reason: "lost" },
        { kid: "k", x, last_sequence: 2, reason: "lost" },
      ],
    }, "each kid once"],
    ["root", { root: "AA" }, "must be 32 bytes"],
  ];
  const first = await signStatement(claims(1), keys[0]!);
  for (const [name, change, why] of faults) {
    const second = await signStatement(
      { ...claims(2), ...change },
      keys[1]!,
    );
    const error = await assertRejects(
      () => readRecovery({ commitment, statements: [first, second] }, issuer),
      SigError,
      "statement 2: ",
    );
    assert(isSigError(error, "invalid_recovery"));
    assert(error.message.includes(why), error.message);
    assertEquals(error.context.statement, 2);
    assertEquals(error.context.pointer, `/recovery/statements/1/${name}`);
  }
});

Deno.test("a key that ended can't be raised under another kid", async () => {
  const { keys, claims, commitment, make } = await makeChain(2);
  const { x } = (await make()).publicJwk;
  const end = (kid: string, last_sequence: number) =>
    ({ ended: [{ kid, x, last_sequence, reason: "compromised" }] }) as const;
  const statements = [
    await signStatement({ ...claims(1), ...end("a", 1) }, keys[0]!),
    await signStatement({ ...claims(2), ...end("b", 2) }, keys[1]!),
  ];
  const error = await assertRejects(
    () => readRecovery({ commitment, statements }, issuer),
    SigError,
    'last_sequence of key "b" is raised',
  );
  assertEquals(error.code, "invalid_recovery");
});

Deno.test("a chain has at most 16 statements", async () => {
  const { keys, claims, commitment } = await makeChain(17);
  const statements = await Promise.all(
    Array.from(
      { length: 17 },
      (_, i) => signStatement(claims(i + 1), keys[i]!),
    ),
  );
  const read = (count: number) =>
    readRecovery(
      { commitment, statements: statements.slice(0, count) },
      issuer,
    );
  assertEquals((await read(16)).statements.length, 16);
  const error = await assertRejects(() => read(17), SigError, "at most 16");
  assertEquals(error.code, "invalid_recovery");
});
