import { parseFeedLine, SigError } from "@sig/core";
import { generateSigningKey, importSigningKey } from "@sig/jose";
import {
  createFileKeyStore,
  createFileStore,
  createMemoryKeyStore,
  createMemoryStore,
  initIssuer,
  openIssuer,
} from "@sig/issuer";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  DID,
  HOST,
  NOW,
  readFeed,
  upsert,
  withPlace,
} from "./testdata/support.ts";
import { expectSigError } from "../tests/kit/sig_errors.ts";
import { type Json, kids, readJson, writeJson } from "./testdata/documents.ts";

Deno.test("a rotation adds the key at the end, keeps the old one, and signs with the new", () =>
  withPlace(async (place) => {
    const issuer = await place.open();
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
    const path = `${place.keysDir}/${HOST}/key-2.jwk`;
    assertEquals(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
    // A fresh process takes the last key, too (default).
    await (await place.open()).append(upsert());
    await (await place.open({ kid: "orgsign-1" })).append(upsert());
    assertEquals((await kids(place)).slice(2), ["key-2", "orgsign-1"]);
  }));

Deno.test("an issuer that is open takes over a rotation by someone else", () =>
  withPlace(async (place) => {
    const issuer = await place.open();
    await issuer.append(upsert());
    await (await place.open()).rotateKey({ kid: "key-2" });
    await issuer.append(upsert());
    assertEquals(await kids(place), ["orgsign-1", "key-2"]);
  }));

Deno.test("a kid that signs already is not given again", () =>
  withPlace(async (place) => {
    const issuer = await place.open();
    const before = await readJson(place, "jwks.json");
    await expectSigError(
      issuer.rotateKey({ kid: "orgsign-1" }),
      "kid_exists",
      'Cannot add key "orgsign-1": a key of this kid is published already',
    );
    const key = await generateSigningKey({ kid: "orgsign-1" });
    await expectSigError(
      issuer.rotateKey({ kid: "orgsign-1", key }),
      "kid_exists",
      "published already",
    );
    assertEquals(await readJson(place, "jwks.json"), before);
  }));

Deno.test("a kid that is published for a key that is not here is not given again", () =>
  withPlace(async (place) => {
    const issuer = await place.open();
    await Deno.remove(`${place.keysDir}/${HOST}/orgsign-1.jwk`);
    await expectSigError(
      issuer.rotateKey({ kid: "orgsign-1" }),
      "kid_exists",
      "its private part is not here",
    );
    const key = await generateSigningKey({ kid: "orgsign-1" });
    await expectSigError(
      issuer.rotateKey({ kid: "orgsign-1", key }),
      "kid_exists",
      "stands for another key",
    );
    assertEquals([...Deno.readDirSync(`${place.keysDir}/${HOST}`)], []);
  }));

Deno.test("an issuer whose private key is lost goes on with a new one", () =>
  withPlace(async (place) => {
    const issuer = await place.open();
    await issuer.append(upsert());
    await Deno.remove(`${place.keysDir}/${HOST}/orgsign-1.jwk`);
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
  }));

Deno.test("the new key may be given, and what does not sign is refused", () =>
  withPlace(async (place) => {
    const issuer = await place.open();
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
  }));

Deno.test("a kid that is not there or not published is refused", () =>
  withPlace(async (place) => {
    await expectSigError(
      (await place.open({ kid: "key-9" })).append(upsert()),
      "signing_key_not_found",
      'there is no private key "key-9"',
    );
    const key = await importSigningKey(
      await generateSigningKey({ kid: "key-9" }),
    );
    await expectSigError(
      (await place.open({ keys: key })).append(upsert()),
      "signing_key_not_found",
      'key "key-9" is not in the issuer\'s key set',
    );
    await expectSigError(
      (await place.open({ keys: key, kid: "orgsign-1" })).append(upsert()),
      "signing_key_not_found",
      'there is no private key "orgsign-1"',
    );
  }));

Deno.test("with a single key a rotation must be given the next one", async () => {
  const store = createMemoryStore();
  const first = await importSigningKey(await generateSigningKey({ kid: "a" }));
  await initIssuer({ store, keys: first, did: DID });
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

Deno.test("the feed and the key set are where sig.json says", () =>
  withPlace(async (place) => {
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
  }));

Deno.test("an own kid in the store that the key set does not list is reused by the rotation", async () => {
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

Deno.test("a file store and a key store may be shared by several issuers", () =>
  withPlace(async (place) => {
    const keys = createFileKeyStore(place.keysDir);
    const store = createFileStore(`${place.base}/other`);
    const did = "did:web:other.example%3A8443";
    await initIssuer({ store, keys, did });
    await using issuer = await openIssuer({ store, keys, now: () => NOW });
    await issuer.append(upsert());
    const path = `${place.keysDir}/other.example:8443/orgsign-1.jwk`;
    assert((await Deno.stat(path)).isFile);
    await (await place.open()).append(upsert());
  }));

Deno.test("a key source may be a function of the documents, which may refuse", () =>
  withPlace(async (place) => {
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
    // Not before one is needed.
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
        throw new SigError("issuer_mismatch", "Cannot sign for this one");
      },
    });
    await expectSigError(
      () => refusing.append(upsert()),
      "issuer_mismatch",
      "Cannot sign for this one",
    );
    assertEquals(await Deno.readTextFile(place.feed), "");
  }));
