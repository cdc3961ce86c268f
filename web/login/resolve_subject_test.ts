import { assertEquals, assertRejects } from "@std/assert";
import { type ErrorCode, SigError } from "@sig/core";
import { signAttestation, type SigningKey } from "@sig/jose";
import { createSubjectKeys } from "./subject_key.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { serveLoopback } from "../../tests/kit/loopback.ts";
import { Person } from "../testdata/independent_client.ts";
import { LoginFixture, newKey } from "./testdata/login_fixture.ts";

const KEY = await newKey();

/** Returns a DID document that lists one key under the given relationships. */
function documentOf(did: string, key: SigningKey, lists: readonly string[]) {
  const method = {
    id: `${did}#key-1`,
    type: "JsonWebKey2020",
    controller: did,
    publicKeyJwk: key.publicJwk,
  };
  return {
    id: did,
    verificationMethod: [method],
    ...Object.fromEntries(lists.map((list) => [list, [method.id]])),
  };
}

/** A subject's site on loopback with one response, which a test may change. */
function openSite() {
  const requests: string[] = [];
  const server = serveLoopback((request) => {
    requests.push(new URL(request.url).pathname);
    return site.answer();
  });
  const { did } = server;
  const site = {
    did,
    requests,
    answer: () => Response.json(documentOf(did, KEY, ["authentication"])),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
  return site;
}

const resolveKey = createSubjectKeys({ allowPrivate: true });

async function attempt(login: LoginFixture, did: string) {
  const challenge = await login.create();
  const { now } = login;
  const jwt = await signAttestation({ challenge, key: KEY, subject: did, now });
  return await login.verify(jwt);
}

Deno.test("a did:web subject logs in with a key listed under authentication", async () => {
  await using site = openSite();
  const login = await LoginFixture.make({ resolveKey });
  const { subject, kid } = await attempt(login, site.did);
  assertEquals([subject, kid], [site.did, `${site.did}#key-1`]);
  // Each login fetches the document again, since a key may have been removed.
  await attempt(login, site.did);
  assertEquals(site.requests, Array(2).fill("/.well-known/did.json"));
});

Deno.test("rejects and counts a key that is not listed under authentication", async () => {
  await using site = openSite();
  const none = documentOf(site.did, KEY, []);
  const documents = [
    documentOf(site.did, KEY, ["assertionMethod"]),
    none,
    { id: site.did },
    { ...none, authentication: ["#key-2"] },
    { ...none, authentication: ["did:web:other.example#key-1"] },
  ];
  for (const document of documents) {
    site.answer = () => Response.json(document);
    const login = await LoginFixture.make({ resolveKey });
    await expectSigError(
      () => attempt(login, site.did),
      "attestation_signature_invalid",
      "does not list its kid under authentication",
    );
    assertEquals(login.failures, 1);
  }
});

Deno.test("a document that can't be fetched or parsed is key_unresolvable and not counted", async () => {
  await using site = openSite();
  const good = JSON.stringify(documentOf(site.did, KEY, ["authentication"]));
  const invalid = "invalid_did_document";
  const { did: id } = site;
  const answers: readonly (readonly [() => Response, ErrorCode])[] = [
    [() => new Response("none", { status: 404 }), "fetch_status"],
    [() => new Response("oops", { status: 500 }), "fetch_status"],
    [() => Response.redirect("http://127.0.0.1:1/", 302), "fetch_redirected"],
    [() => new Response(" ".repeat(2 ** 20)), "document_too_large"],
    ...["{", "[]", good.replace("{", '{"id":"x",')]
      .map((text) => [() => new Response(text), invalid] as const),
    [() => Response.json({ id: "did:web:other.example" }), invalid],
    [() => Response.json({ id, authentication: "#key-1" }), invalid],
  ];
  for (const [answer, reason] of answers) {
    site.answer = answer;
    const login = await LoginFixture.make({ resolveKey });
    const error = await expectSigError(
      () => attempt(login, id),
      "key_unresolvable",
      `Cannot get the keys of "${id}": its DID document can't be used`,
    );
    assertEquals(error.context.reason, reason);
    assertEquals(login.failures, 0);
  }
});

Deno.test("rejects and counts a name that resolves to this machine", async () => {
  const login = await LoginFixture.make({
    resolveKey: createSubjectKeys({
      resolve: () => Promise.resolve(["127.0.0.1"]),
    }),
  });
  await expectSigError(
    () => attempt(login, "did:web:alice.example"),
    "address_not_allowed",
    "Cannot fetch",
  );
  assertEquals(login.failures, 1);
});

Deno.test("F1: nothing is fetched for a did:web of this machine, an invalid did:web, or before all other checks have passed", async () => {
  const asked: string[] = [];
  const login = await LoginFixture.make({
    resolveKey: createSubjectKeys({
      fetch: ({ url }) => {
        asked.push(url);
        return Promise.reject(new Error("asked"));
      },
    }),
  });
  const verify = async (did: string, claims: object = {}) => {
    const all = { iss: did, sub: did, ...claims };
    const kid = `${did}#key-1`;
    return await login.verify(
      await login.forge(await login.create(), all, { kid }),
    );
  };
  const cases: Record<string, ErrorCode> = {
    "did:web:127.0.0.1": "address_not_allowed",
    "did:web:localhost%3A8080": "address_not_allowed",
    "did:web:169.254.169.254": "address_not_allowed",
    "did:web:router.local": "address_not_allowed",
    "did:web:A.example": "invalid_header",
    "did:web:a.example%2Fx": "invalid_header",
    "did:web:a.example:..:x": "invalid_header",
  };
  for (const [did, code] of Object.entries(cases)) {
    await expectSigError(() => verify(did), code, "Cannot use ");
  }
  const alice = "did:web:alice.example";
  const spoilt = [
    ...[{ jti: "A".repeat(32) }, { aud: "x" }, { nonce: "x" }, { iss: "x" }],
    ...[{ scope: "x" }, { exp: 1 }],
  ];
  for (const claims of spoilt) {
    await assertRejects(() => verify(alice, claims), SigError);
  }
  assertEquals(asked, []);
  await assertRejects(() => verify(alice), SigError);
  assertEquals(asked, ["https://alice.example/.well-known/did.json"]);
});

Deno.test("rejects did:web without a fetch policy", async () => {
  const login = await LoginFixture.make();
  await expectSigError(
    () => attempt(login, "did:web:alice.example"),
    "unsupported_did_method",
    "only did:key is supported here",
  );
  assertEquals(login.failures, 0);
});

Deno.test("caches 1,024 did:key keys and evicts the least recently used", async () => {
  const keys = createSubjectKeys();
  const kids: string[] = [];
  for (let i = 0; i <= 1_024; i++) kids.push(new Person().kid);
  const [a, b, ...others] = kids as [string, string, ...string[]];
  const firstA = await keys(a);
  const firstB = await keys(b);
  for (const kid of others.slice(1)) await keys(kid);
  assertEquals(await keys(a) === firstA, true);
  await keys(others[0]!); // evicts b, the least recently used
  assertEquals(await keys(a) === firstA, true);
  assertEquals(await keys(b) === firstB, false);
  assertEquals((await keys(b)).jwk, firstB.jwk);
});
