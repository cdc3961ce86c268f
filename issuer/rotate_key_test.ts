import { parseFeedLine, SigError } from "@sig/core";
import { generateSigningKey, importSigningKey } from "@sig/jose";
import {
  createMemoryKeyStore,
  createMemoryStore,
  initIssuer,
  openIssuer,
} from "@sig/issuer";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  DID,
  HOST,
  modeOf,
  NOW,
  type Place,
  placeTest as test,
  readFeed,
  upsert,
  walk,
} from "./testdata/support.ts";
import { expectSigError } from "../tests/kit/sig_errors.ts";
import { type Json, kids, readJson, writeJson } from "./testdata/documents.ts";

test("a rotation adds the key at the end, keeps the old key, and signs with the new key", async ({ issuer, place }) => {
  await issuer.append(upsert());
  const metadata = await readJson(place, "sig.json");
  assertEquals(await issuer.rotateKey({ kid: "key-2" }), {
    kid: "key-2",
    warnings: [],
  });
  await issuer.append(upsert());
  assertEquals(await kids(place), ["orgsign-1", "key-2"]);
  await readFeed(place);
  const { keys } = await readJson(place, "jwks.json") as { keys: Json[] };
  assertEquals(keys.map(({ kid }) => kid), ["orgsign-1", "key-2"]);
  assertEquals((await readJson(place, "did.json")).assertionMethod, [
    `${DID}#orgsign-1`,
    `${DID}#key-2`,
  ]);
  assertEquals(await readJson(place, "sig.json"), metadata);
  assertEquals(modeOf(privateKey(place, "key-2")), 0o600);
  // A newly opened issuer uses the last key by default.
  await (await place.open()).append(upsert());
  await (await place.open({ kid: "orgsign-1" })).append(upsert());
  assertEquals((await kids(place)).slice(2), ["key-2", "orgsign-1"]);
});

const privateKey = (place: Place, kid = "orgsign-1") =>
  `${place.keysDir}/${HOST}/${kid}.jwk`;

for (
  const [what, isKept, isGiven, message] of [
    ["already signs", true, false, "a key of this kid is published already"],
    ["already signs", true, true, "a key of this kid is published already"],
    [
      "is published without a private key here",
      ...[false, false] as const,
      "it is published, and its private part is not here",
    ],
    [
      "is published without a private key here",
      ...[false, true] as const,
      "this kid stands for another key",
    ],
  ] as const
) {
  const how = isGiven ? "with a key" : "without a key";
  test(`refuses a kid that ${what}, ${how}`, async ({ issuer, place }) => {
    const before = await readJson(place, "jwks.json");
    if (!isKept) await Deno.remove(privateKey(place));
    const files = [...walk(place.keysDir)];
    const kid = "orgsign-1";
    const key = isGiven && { key: await generateSigningKey({ kid }) };
    await expectSigError(
      issuer.rotateKey({ kid, ...key }),
      "kid_exists",
      `Cannot add key "orgsign-1": ${message}`,
    );
    assertEquals(await readJson(place, "jwks.json"), before);
    assertEquals([...walk(place.keysDir)], files);
  });
}

test("an issuer with a lost private key rotates to a new one", async ({ issuer, place }) => {
  await issuer.append(upsert());
  await Deno.remove(privateKey(place));
  const again = await place.open();
  await expectSigError(
    again.append(upsert()),
    "signing_key_not_found",
    "the private part of none of the issuer's keys is in the key store",
  );
  await again.rotateKey({ kid: "key-2" });
  await again.append(upsert());
  assertEquals(await kids(place), ["orgsign-1", "key-2"]);
  await readFeed(place);
});

test("accepts a given new key, and refuses one that can't sign", async ({ issuer, place }) => {
  const key = await generateSigningKey({ kid: "named-otherwise" });
  const other = await generateSigningKey();
  const error = await expectSigError(
    issuer.rotateKey({ kid: "key-2", key: { ...key, x: other.x } }),
    "invalid_key",
    "x is not the public key of d",
  );
  assertEquals(
    JSON.stringify([error.message, error.context]).includes(key.d),
    false,
  );
  await issuer.rotateKey({ kid: "key-2", key });
  await issuer.append(upsert());
  assertEquals(await kids(place), ["key-2"]);
  await readFeed(place);
});

test("refuses a kid that is missing or not published", async ({ place }) => {
  const keys = await importSigningKey(
    await generateSigningKey({ kid: "key-9" }),
  );
  for (
    const [options, message] of [
      [{ kid: "key-9" }, 'there is no private key "key-9"'],
      [{ keys }, 'key "key-9" is not in the issuer\'s key set'],
      [{ keys, kid: "orgsign-1" }, 'there is no private key "orgsign-1"'],
    ] as const
  ) {
    const issuer = await place.open(options);
    const work = issuer.append(upsert());
    await expectSigError(work, "signing_key_not_found", message);
  }
});

Deno.test("rotating an issuer opened with a single key requires a new key", async () => {
  const store = createMemoryStore();
  const first = await importSigningKey(await generateSigningKey({ kid: "a" }));
  const { keyReused } = await initIssuer({ store, keys: first, did: DID });
  assertEquals(keyReused, true);
  const issuer = await openIssuer({ store, keys: first, now: () => NOW });
  await assertRejects(
    () => issuer.rotateKey({ kid: "b" }),
    TypeError,
    "the new private key must be given",
  );
  await issuer.rotateKey({ kid: "b", key: await generateSigningKey() });
  await issuer.append(upsert());
  const text = new TextDecoder().decode(
    store.files.get("/.well-known/sig/events.jsonl"),
  );
  assertEquals(parseFeedLine(text.trimEnd()).header.kid, "b");
});

test("uses the paths of feed and key set in sig.json", async ({ place }) => {
  const metadata = await readJson(place, "sig.json");
  await writeJson(place, "sig.json", {
    ...metadata,
    jwks_uri: "https://acme.example/keys/all%20keys.json",
    events_uri: "https://cdn.acme.example/feed/v1.jsonl?x=1",
  });
  await Deno.mkdir(`${place.dir}/keys`);
  await Deno.rename(
    `${place.dir}/.well-known/jwks.json`,
    `${place.dir}/keys/all keys.json`,
  );
  await Deno.mkdir(`${place.dir}/feed`);
  await Deno.rename(place.feed, `${place.dir}/feed/v1.jsonl`);
  const issuer = await place.open();
  await issuer.append(upsert());
  await issuer.rotateKey({ kid: "key-2" });
  await issuer.append(upsert());
  assertEquals((await issuer.state()).last_sequence, 2);
  const text = await Deno.readTextFile(`${place.dir}/feed/v1.jsonl`);
  assertEquals(text.split("\n").length, 3);
  assert(
    (await Deno.readTextFile(`${place.dir}/keys/all keys.json`))
      .includes("key-2"),
  );
});

Deno.test("a rotation reuses a stored key that the key set does not list", async () => {
  const store = createMemoryStore();
  const keys = createMemoryKeyStore();
  await initIssuer({ store, keys, did: DID });
  const kept = await generateSigningKey({ kid: "key-2" });
  await keys.write({ host: HOST, kid: "key-2" }, kept);
  await using issuer = await openIssuer({ store, keys, now: () => NOW });
  const other = await generateSigningKey({ kid: "key-2" });
  await expectSigError(
    issuer.rotateKey({ kid: "key-2", key: other }),
    "kid_exists",
    "stands for another key",
  );
  await issuer.rotateKey({ kid: "key-2" });
  const jwks = new TextDecoder().decode(
    store.files.get("/.well-known/jwks.json"),
  );
  assert(jwks.includes(kept.x));
});

test("a key source may be a function of the documents, and may refuse", async ({ place }) => {
  const key = await importSigningKey(
    await generateSigningKey({ kid: "key-2" }),
  );
  const asked: string[] = [];
  const issuer = await place.open({
    keys: ({ metadata, jwks }) => {
      asked.push(`${metadata.issuer} ${JSON.stringify(jwks)}`);
      return key;
    },
  });
  // Not called before a key is needed.
  assertEquals(asked, []);
  await expectSigError(
    () => issuer.append(upsert()),
    "signing_key_not_found",
    'key "key-2" is not in the issuer\'s key set',
  );
  const published = JSON.stringify(await readJson(place, "jwks.json"));
  assertEquals(asked, [`${DID} ${published}`]);
  const refusing = await place.open({
    keys: () => {
      throw new SigError("issuer_mismatch", {
        reason: "Cannot sign for this one",
      });
    },
  });
  await expectSigError(
    () => refusing.append(upsert()),
    "issuer_mismatch",
    "Cannot sign for this one",
  );
  assertEquals(await Deno.readTextFile(place.feed), "");
});

test("keeps members, keys and methods that SIG does not define", async ({ place }) => {
  const foreign = { kty: "RSA", n: "AQAB", e: "AQAB", kid: "mail" };
  const jwks = await readJson(place, "jwks.json") as { keys: Json[] };
  await writeJson(place, "jwks.json", {
    note: "ours",
    keys: [foreign, ...jwks.keys],
  });
  const did = await readJson(place, "did.json");
  const service = [{ id: "#files", type: "Files", serviceEndpoint: "x" }];
  const embedded = {
    id: `${DID}#sep`,
    type: "JsonWebKey2020",
    controller: DID,
    publicKeyJwk: foreign,
  };
  await writeJson(place, "did.json", {
    ...did,
    service,
    assertionMethod: [...did.assertionMethod as unknown[], embedded],
  });
  const issuer = await place.open();
  await issuer.rotateKey({ kid: "key-2" });
  const after = await readJson(place, "jwks.json") as Json & { keys: Json[] };
  assertEquals(after.note, "ours");
  assertEquals(after.keys.map(({ kid }) => kid), [
    "mail",
    "orgsign-1",
    "key-2",
  ]);
  const document = await readJson(place, "did.json");
  assertEquals(document.service, service);
  assertEquals((document.assertionMethod as unknown[])[1], embedded);
  await expectSigError(
    issuer.rotateKey({ kid: "mail" }),
    "kid_exists",
    "published already",
  );
  await issuer.append(upsert());
  await readFeed(place);
});

test("without a DID document only the key set counts", async ({ place }) => {
  await Deno.remove(`${place.dir}/.well-known/did.json`);
  const issuer = await place.open();
  await issuer.append(upsert());
  await issuer.rotateKey({ kid: "key-2" });
  await issuer.append(upsert());
  assertEquals(await kids(place), ["orgsign-1", "key-2"]);
  await assertRejects(() => Deno.stat(`${place.dir}/.well-known/did.json`));
  // Only the key set says that the kid is another key's.
  await Deno.remove(privateKey(place));
  await expectSigError(
    issuer.rotateKey({ kid: "orgsign-1", key: await generateSigningKey() }),
    "kid_exists",
    'Cannot add key "orgsign-1": this kid stands for another key',
  );
  assertEquals([...walk(place.keysDir)], [`/${HOST}/key-2.jwk`]);
});

test("does not write documents that exceed the size limits of readers", async ({ place }) => {
  const jwks = await readJson(place, "jwks.json") as { keys: Json[] };
  const [one] = jwks.keys;
  // Room for two keys, but not for three.
  const size = (note: string, count: number) =>
    JSON.stringify({ note, keys: Array(count).fill(one) }, null, 2).length;
  const note = "x".repeat(256 * 1024 - size("", 3) + 20);
  await writeJson(place, "jwks.json", { note, ...jwks });
  const issuer = await place.open();
  await issuer.rotateKey({ kid: "key-2" });
  await expectSigError(
    issuer.rotateKey({ kid: "key-3" }),
    "document_too_large",
    "at most 262144",
  );
  // A refused rotation leaves no private key in the store.
  const names = [...walk(`${place.keysDir}/${HOST}`)];
  assertEquals(names, ["/key-2.jwk", "/orgsign-1.jwk"]);
});

test("does not sign with a key that is published but not authorised", async ({ place }) => {
  const did = await readJson(place, "did.json");
  await (await place.open()).rotateKey({ kid: "key-2" });
  await writeJson(place, "did.json", did);
  await expectSigError(
    (await place.open({ kid: "key-2" })).append(upsert()),
    "key_not_authorized",
    "assertionMethod does not list it",
  );
  await (await place.open()).append(upsert());
  assertEquals(await kids(place), ["orgsign-1"]);
});

test("refuses swapped or damaged keys before writing anything", async ({ place }) => {
  const path = privateKey(place);
  const good = JSON.parse(await Deno.readTextFile(path)) as Json;
  const other = await generateSigningKey({ kid: "orgsign-1" });
  for (
    const [jwk, message] of [
      [other, 'another key is published as "orgsign-1"'],
      [{ ...good, d: other.d }, "x is not the public key of d"],
      [{ ...good, x: other.x }, "x is not the public key of d"],
      [{ ...good, d: "AAAA" }, ""],
      [{ kty: "OKP" }, "is not a file with a private Ed25519 JWK"],
      ["{oops", "is not a file with a private Ed25519 JWK"],
    ] as const
  ) {
    const text = typeof jwk === "string" ? jwk : JSON.stringify(jwk);
    await Deno.writeTextFile(path, text);
    const error = await expectSigError(
      (await place.open()).append(upsert()),
      "invalid_key",
      message,
    );
    const described = `${JSON.stringify(error.context)}${error.stack}`;
    assert(!described.includes(String(good.d)) && !described.includes(other.d));
  }
  assertEquals(await Deno.readTextFile(place.feed), "");
});
