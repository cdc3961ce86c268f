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
  init,
  NOW,
  readFeed,
  upsert,
  withPlace,
} from "./testdata/support.ts";
import { expectSigError } from "../tests/kit/sig_errors.ts";

Deno.test("init writes the four files of docs/protocol.md §1 and one key, and nothing else", () =>
  withPlace(async (place) => {
    const names: string[] = [];
    const walk = (path: string) => {
      for (const entry of Deno.readDirSync(`${place.base}/${path}`)) {
        const name = `${path}/${entry.name}`;
        if (entry.isDirectory) walk(name);
        else names.push(name);
      }
    };
    walk("issuer");
    walk("keys");
    assertEquals(names.sort(), [
      "issuer/.sig/.gitignore",
      "issuer/.sig/lock",
      "issuer/.well-known/did.json",
      "issuer/.well-known/jwks.json",
      "issuer/.well-known/sig.json",
      "issuer/.well-known/sig/events.jsonl",
      "keys/acme.example/orgsign-1.jwk",
    ]);
    assertEquals(await Deno.readTextFile(place.feed), "");
    const modeOf = async (path: string) =>
      ((await Deno.stat(`${place.base}/${path}`)).mode ?? 0) & 0o777;
    assertEquals(await modeOf("keys/acme.example/orgsign-1.jwk"), 0o600);
    assertEquals(await modeOf("keys/acme.example"), 0o700);
    assertEquals(await modeOf("keys"), 0o700);
    assertEquals(await modeOf("issuer/.sig"), 0o700);
    assertEquals(await modeOf("issuer/.sig/lock"), 0o600);
    assertEquals(await modeOf("issuer/.sig/.gitignore"), 0o600);
    assertEquals(
      await Deno.readTextFile(`${place.dir}/.sig/.gitignore`),
      "*\n",
    );
    // No private part in the published tree.
    const { d } = JSON.parse(
      await Deno.readTextFile(`${place.base}/keys/acme.example/orgsign-1.jwk`),
    ) as { d: string };
    for (const name of ["did.json", "jwks.json", "sig.json"]) {
      const text = await Deno.readTextFile(`${place.dir}/.well-known/${name}`);
      assertEquals(text.includes(d) || text.includes('"d"'), false);
    }
  }));

Deno.test("init refuses to overwrite, and changes nothing", () =>
  withPlace(async (place) => {
    await (await place.open()).append(upsert());
    const error = await expectSigError(
      init(place),
      "issuer_exists",
      '"/.well-known/sig.json" is there already',
    );
    assert(error.context.hint?.includes("Nothing was overwritten"));
    assertEquals((await readFeed(place)).length, 1);
  }));

for (
  const name of ["did.json", "jwks.json", "sig/events.jsonl", "sig.json"]
) {
  Deno.test(`init leaves a foreign ${name} alone`, () =>
    withPlace(async (place) => {
      await Deno.mkdir(`${place.dir}/.well-known/sig`, { recursive: true });
      const path = `${place.dir}/.well-known/${name}`;
      await Deno.writeTextFile(path, "{}");
      await expectSigError(init(place), "issuer_exists", name);
      assertEquals(await Deno.readTextFile(path), "{}");
      // Not even a key was made.
      await assertRejects(() => Deno.stat(place.keysDir));
    }, { empty: true }));
}

Deno.test("init uses the key that the store has for this host and kid", () =>
  withPlace(async (place) => {
    const keys = createFileKeyStore(place.keysDir);
    const store = createFileStore(`${place.base}/second`);
    const { keyReused } = await initIssuer({ store, keys, did: DID });
    await store.close();
    assertEquals(keyReused, true);
    const read = (dir: string) =>
      Deno.readTextFile(`${dir}/.well-known/jwks.json`);
    assertEquals(await read(`${place.base}/second`), await read(place.dir));
  }));

Deno.test("init with another kid does not complete what was broken off", () =>
  withPlace(async (place) => {
    await Deno.remove(`${place.dir}/.well-known/sig.json`);
    const store = createFileStore(place.dir);
    const keys = createFileKeyStore(place.keysDir);
    const kid = "orgsign-2";
    await expectSigError(
      initIssuer({ store, keys, did: DID, kid }),
      "issuer_exists",
      "is there already",
    );
    await store.close();
    assertEquals(await keys.has({ host: HOST, kid }), false);
    await init(place);
    await place.open();
  }));

Deno.test("init with a key kept elsewhere publishes it and stores nothing", async () => {
  const store = createMemoryStore();
  const key = await importSigningKey(
    await generateSigningKey({ kid: "hsm-1" }),
  );
  const { kid, keyReused } = await initIssuer({ store, keys: key, did: DID });
  assertEquals([kid, keyReused], ["hsm-1", true]);
  await using issuer = await openIssuer({ store, keys: key, now: () => NOW });
  assertEquals((await issuer.append(upsert())).sequence, 1);
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
  const { metadata } = await initIssuer({
    store,
    keys,
    did,
    allowPrivate: true,
  });
  assert(metadata.events_uri.startsWith("http://127.0.0.1:8080/"));
  const name = { host: "127.0.0.1:8080", kid: "orgsign-1" };
  assertEquals(await keys.has(name), true);
  await using issuer = await openIssuer({ store, keys, now: () => NOW });
  const { event } = await issuer.append(upsert());
  assertEquals(event.issuer, did);
});

for (const kid of ["", ".hidden", "a/b", "..", "a b", "ä", "x".repeat(65)]) {
  Deno.test(`a kid that is not a file name is refused: ${JSON.stringify(kid)}`, async () => {
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

Deno.test("a did:web that is malformed, has a path or is another DID is refused", async () => {
  for (
    const [did, code] of [
      ["did:web:acme.example:team", "invalid_identifier"],
      ["did:web:Acme.example", "invalid_identifier"],
      ["did:key:z6Mk", "unsupported_did_method"],
    ] as const
  ) {
    await expectSigError(
      initIssuer({
        store: createMemoryStore(),
        keys: createMemoryKeyStore(),
        did,
      }),
      code,
      "Cannot use",
    );
  }
});
