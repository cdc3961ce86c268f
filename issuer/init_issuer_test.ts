import {
  createMemoryKeyStore,
  createMemoryStore,
  initIssuer,
  openIssuer,
} from "@sig/issuer";
import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  DID,
  init,
  modeOf,
  NOW,
  placeTest as test,
  upsert,
  walk,
} from "./testdata/support.ts";
import { expectSigError } from "../tests/kit/sig_errors.ts";
import { readJson } from "./testdata/documents.ts";

test("init writes only the four files of docs/protocol.md §1 and one key", async ({ place }) => {
  assertEquals([...walk(place.base)], [
    "/issuer/.sig/.gitignore",
    "/issuer/.sig/lock",
    "/issuer/.well-known/did.json",
    "/issuer/.well-known/jwks.json",
    "/issuer/.well-known/sig/events.jsonl",
    "/issuer/.well-known/sig.json",
    "/keys/acme.example/orgsign-1.jwk",
  ]);
  for (
    const [path, mode] of [
      ["keys/acme.example/orgsign-1.jwk", 0o600],
      ["keys/acme.example", 0o700],
      ["keys", 0o700],
      ["issuer/.sig", 0o700],
      ["issuer/.sig/lock", 0o600],
      ["issuer/.sig/.gitignore", 0o600],
    ] as const
  ) assertEquals([path, modeOf(`${place.base}/${path}`)], [path, mode]);
  const ignored = await Deno.readTextFile(`${place.dir}/.sig/.gitignore`);
  assertEquals(ignored, "*\n");
});

test("an append writes the .gitignore that a crash after the folder left out", async ({ place }) => {
  const path = `${place.dir}/.sig/.gitignore`;
  await Deno.remove(path);
  await using issuer = await place.open();
  await issuer.append(upsert());
  assertEquals(await Deno.readTextFile(path), "*\n");
});

for (
  const name of ["did.json", "jwks.json", "sig/events.jsonl", "sig.json"]
) {
  test(`init does not change a foreign ${name}`, async ({ place }) => {
    await Deno.mkdir(`${place.dir}/.well-known/sig`, { recursive: true });
    const path = `${place.dir}/.well-known/${name}`;
    await Deno.writeTextFile(path, "{}");
    await expectSigError(init(place), "issuer_exists", name);
    assertEquals(await Deno.readTextFile(path), "{}");
    // No key was made either.
    await assertRejects(() => Deno.stat(place.keysDir));
  }, { empty: true });
}

test("init reuses the stored key of this host and kid", async ({ place }) => {
  const second = { ...place, dir: `${place.base}/second` };
  assertEquals((await init(second)).keyReused, true);
  const [one, other] = [place, second];
  assertEquals(
    await readJson(other, "jwks.json"),
    await readJson(one, "jwks.json"),
  );
  // Another host gets another key in the same key store.
  const did = "did:web:other.example%3A8443";
  const third = { ...place, dir: `${place.base}/third` };
  assertEquals((await init(third, { did })).keyReused, false);
  const path = "/other.example:8443/orgsign-1.jwk";
  assert([...walk(place.keysDir)].includes(path));
});

test("init with another kid does not complete an interrupted init", async ({ place }) => {
  await Deno.remove(`${place.dir}/.well-known/sig.json`);
  await expectSigError(
    init(place, { kid: "orgsign-2" }),
    "issuer_exists",
    "is there already",
  );
  assertEquals([...walk(place.keysDir)], ["/acme.example/orgsign-1.jwk"]);
  await init(place);
  await place.open();
});

Deno.test("an issuer on this machine has http URIs and a key folder with its port", async () => {
  const store = createMemoryStore();
  const keys = createMemoryKeyStore();
  const did = "did:web:127.0.0.1%3A8080";
  await expectSigError(
    initIssuer({ store, keys, did }),
    "address_not_allowed",
    "IP addresses",
  );
  const how = { store, keys, did, allowPrivate: true };
  const { metadata } = await initIssuer(how);
  assert(metadata.events_uri.startsWith("http://127.0.0.1:8080/"));
  const name = { host: "127.0.0.1:8080", kid: "orgsign-1" };
  assertEquals(await keys.has(name), true);
  await using issuer = await openIssuer({ store, keys, now: () => NOW });
  const { event } = await issuer.append(upsert());
  assertEquals(event.issuer, did);
});

for (const kid of ["", ".hidden", "a/b", "..", "a b", "ä", "x".repeat(65)]) {
  Deno.test(`refuses a kid that is not a valid file name: ${JSON.stringify(kid)}`, async () => {
    const store = createMemoryStore();
    const keys = createMemoryKeyStore();
    await expectSigError(
      initIssuer({ store, keys, did: DID, kid }),
      "invalid_identifier",
      "it must be 1 to 64 of",
    );
    assertEquals(store.files.size, 0);
  });
}
