import { createMemoryStore } from "@sig/consumer/store";
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { ErrorCode } from "@sig/core";
import { challengesIn } from "./challenges.ts";
import {
  createChallenge,
  type CreateChallengeOptions,
} from "./create_challenge.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { sha256 } from "../testdata/answer.ts";
import { AUDIENCE, LoginFixture, START_MS } from "./testdata/login_fixture.ts";

const DID_KEY = "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp";

function create(
  input: unknown,
  more: Partial<CreateChallengeOptions> = {},
) {
  return createChallenge(input, {
    challenges: challengesIn(createMemoryStore()),
    audiences: [AUDIENCE, "did:web:shop.example"],
    now: () => new Date(START_MS),
    ...more,
  });
}

Deno.test("rejects the scope enrol if the audience is a DID", async () => {
  const scopes = ["email", "enrol"];
  const error = await expectSigError(
    create({ audience: "did:web:shop.example", scopes }),
    "invalid_request",
    "/scopes/1: it must not be enrol",
  );
  const [fault] = error.context.errors as unknown as { pointer: string }[];
  assertEquals(fault?.pointer, "/scopes/1");
  // With an origin as the audience it is allowed, since an origin can't be an
  // issuer.
  assertEquals((await create({ scopes })).scopes, scopes);
});

Deno.test("a challenge has exactly the members of the protocol", async () => {
  const challenge = await create({
    audience: "did:web:shop.example",
    scopes: ["profile", "email"],
    subject: DID_KEY,
    ttl_seconds: 30,
  }, { require: ["relationship=employee"] });
  const { challenge_id, nonce } = challenge;
  assertEquals(Object.entries(challenge), [
    ["challenge_id", challenge_id],
    ["audience", "did:web:shop.example"],
    ["nonce", nonce],
    ["scopes", ["email", "profile"]],
    ["subject", DID_KEY],
    ["require", ["relationship=employee"]],
    ["issued_at", "2026-01-31T09:00:00Z"],
    ["expires_at", "2026-01-31T09:00:30Z"],
    [
      "message",
      [
        "did:web:shop.example wants you to sign in with your key:",
        DID_KEY,
        "",
        "You grant: email profile",
        "You must have: relationship=employee",
        "Agree only if you are on this site and started this yourself.",
        "",
        "URI: did:web:shop.example",
        "Version: 1",
        `Nonce: ${nonce}`,
        "Issued At: 2026-01-31T09:00:00Z",
        "Expiration Time: 2026-01-31T09:00:30Z",
        `Request ID: ${challenge_id}`,
      ].join("\n"),
    ],
  ]);
});

Deno.test("an empty request gets the first audience, any subject and the server's default lifetime", async () => {
  const { audience, scopes, subject, require, expires_at } = await create({});
  assertEquals(
    [audience, scopes, subject, require, expires_at],
    [AUDIENCE, [], null, null, "2026-01-31T09:05:00Z"],
  );
  const longest = await create({}, { defaultTtlSeconds: 900 });
  assertEquals(longest.expires_at, "2026-01-31T09:15:00Z");
  const invalid: readonly (readonly [object, string])[] = [
    ...[29, 901, 30.5, NaN].map((defaultTtlSeconds) =>
      [
        { defaultTtlSeconds },
        "defaultTtlSeconds must be a whole number from 30 to 900",
      ] as const
    ),
    [{ audiences: [] }, "no audience is configured"],
  ];
  for (const [options, says] of invalid) {
    await assertRejects(() => create({}, options), RangeError, says);
  }
});

Deno.test("the store contains a digest of the nonce, not the nonce", async () => {
  const login = await LoginFixture.make();
  const { nonce, challenge_id } = await login.create();
  const reading = await login.challenges.read(challenge_id, login.now());
  assert(reading.state === "issued");
  assertEquals(JSON.stringify(reading).includes(nonce), false);
  assertEquals(reading.record.nonce_sha256, await sha256(nonce));
});

Deno.test("rejects invalid requests instead of correcting them", async () => {
  const range = "/ttl_seconds: it must be an integer from 30 to 900";
  const token = "it must be a scope token: printable ASCII";
  const many = Array.from({ length: 33 }, (_, i) => `s${i}`);
  const invalid: readonly (readonly [unknown, string])[] = [
    ...[null, [], "{}"].map((body) =>
      [body, "the body: it must be an object"] as const
    ),
    [
      { scope: [] },
      '/scope: there is no member "scope"; did you mean "scopes"?',
    ],
    [
      // All errors of form are reported together.
      { scopes: ["a b", "c", "c"], ttl_seconds: 5, subjct: "x" },
      '/subjct: there is no member "subjct"; did you mean "subject"? (and 3 more)',
    ],
    [{ ttl: 60 }, 'Cannot read request: /ttl: there is no member "ttl"'],
    [{ "x\n\u001b[2J": 1 }, "/x\\u000a\\u001b[2J: there is no member"],
    [JSON.parse('{"__proto__":1}'), "/__proto__: there is no member"],
    [{ audience: 5 }, "/audience: it must be a string"],
    [{ audience: null }, "/audience: it must be a string"],
    [{ subject: null }, "/subject: it must be a string"],
    ...[29, 901, 0, -1, 60.5, "60", null, NaN, Infinity]
      .map((ttl_seconds) => [{ ttl_seconds }, range] as const),
    [{ scopes: "email" }, "/scopes: it must be an array"],
    [{ scopes: many }, "/scopes: it must have 0 to 32 items"],
    [{ scopes: ["a", "b", "a"] }, "/scopes/2: it is a duplicate"],
    ...["", "a b", 'a"b', "a\\b", "ä", "a\n", "\u007f"]
      .map((scope) => [{ scopes: [scope] }, `/scopes/0: ${token}`] as const),
    ...[5, null].map((scope) =>
      [{ scopes: [scope] }, "/scopes/0: it must be a string"] as const
    ),
    [
      { scopes: ["a".repeat(129)] },
      "/scopes/0: it must have at most 128 characters",
    ],
  ];
  for (const [input, says] of invalid) {
    await expectSigError(() => create(input), "invalid_request", says);
  }
  const subjects: readonly (readonly [string, ErrorCode, string])[] = [
    ["alice", "invalid_identifier", "it must be a did:key or did:web"],
    ["", "invalid_identifier", "it must be a did:key or did:web"],
    [`${DID_KEY}#x`, "invalid_identifier", "must be base58"],
    [
      "did:key:zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169",
      ...["invalid_identifier", "not an Ed25519 key"] as const,
    ],
    ["did:jwk:e30", "unsupported_did_method", "only did:web is supported"],
    ["did:web:", "invalid_identifier", "the host must be"],
    ["did:web:a.example\nURI: x", "invalid_identifier", "the host must be"],
    ["did:web:localhost", "address_not_allowed", "local names"],
    [
      `did:web:a.example:${"x".repeat(500)}`,
      ...["invalid_identifier", "it is longer than 512 characters"] as const,
    ],
  ];
  for (const [subject, code, says] of subjects) {
    await expectSigError(() => create({ subject }), code, says);
  }
  for (const audience of ["https://evil.example", `${AUDIENCE}/`, ""]) {
    await expectSigError(
      () => create({ audience }),
      "audience_not_allowed",
      `this server is not configured for audience "${audience}"`,
    );
  }
});

Deno.test("accepts the limits of every range", async () => {
  const ttl = async (ttl_seconds: number) =>
    (await create({ ttl_seconds })).expires_at;
  assertEquals(await ttl(30), "2026-01-31T09:00:30Z");
  assertEquals(await ttl(900), "2026-01-31T09:15:00Z");
  const scopes = Array.from({ length: 32 }, (_, i) => `${i}`.padEnd(128, "~"));
  assertEquals((await create({ scopes })).scopes, scopes.toSorted());
  for (
    const subject of [DID_KEY, "did:web:a.example", "did:web:a.example:u:x"]
  ) {
    assertEquals((await create({ subject })).subject, subject);
  }
  const local = { subject: "did:web:localhost%3A8080" };
  assertEquals(
    (await create(local, { allowPrivate: true })).subject,
    local.subject,
  );
});

Deno.test("the error for a thousand unknown members is small", async () => {
  const input = Object.fromEntries(
    Array.from({ length: 1_000 }, (_, i) => [`${i}`.padEnd(900, "~/"), 1]),
  );
  const error = await expectSigError(
    () => create(input),
    "invalid_request",
    "there is no member",
  );
  assertEquals(error.context.errors?.length, 100);
  assert(JSON.stringify(error.context).length < 40_000);
});

Deno.test("W5: ids and nonces are unique and of full length", async () => {
  const seen = new Set<string>();
  const challenges = challengesIn(createMemoryStore());
  for (let i = 0; i < 100; i++) {
    const { challenge_id, nonce } = await create({}, { challenges });
    assertMatch(`${challenge_id} ${nonce}`, /^[\w-]{32} [\w-]{43}$/);
    // Each part is random, not only the whole.
    const parts = `${challenge_id}${nonce}`.match(/.{8}/g) ?? [];
    for (const part of parts) seen.add(part);
  }
  assertEquals(seen.size, 900);
});
