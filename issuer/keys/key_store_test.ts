import { generateSigningKey, importSigningKey } from "@sig/jose";
import {
  createFileKeyStore,
  createMemoryKeyStore,
  createMemoryStore,
  initIssuer,
  type KeyStore,
  openIssuer,
  type ReferencedKey,
} from "@sig/issuer";
import { assertEquals } from "@std/assert";
import { tempFolder } from "../../tests/kit/process.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { DID, modeOf, upsert, withMethods } from "../testdata/support.ts";

// promise: Private keys are 0600 in 0700, and are never published.

const NAME = { host: "acme.example", kid: "orgsign-1" };

/** The rules that every key store must pass. */
const CONTRACT: readonly [string, (keys: KeyStore) => Promise<void>][] = [
  ["reads written keys, and no others", async (keys) => {
    const key = await generateSigningKey({ kid: NAME.kid });
    assertEquals(await keys.has(NAME), false);
    assertEquals(await keys.read(NAME), undefined);
    await keys.write(NAME, key);
    assertEquals(await keys.has(NAME), true);
    assertEquals(await keys.read(NAME), key);
    assertEquals(await keys.has({ ...NAME, host: "b.example" }), false);
    assertEquals(await keys.has({ ...NAME, kid: "orgsign-2" }), false);
  }],
  ["never replaces a key", async (keys) => {
    const key = await generateSigningKey({ kid: NAME.kid });
    const other = await generateSigningKey({ kid: NAME.kid });
    await keys.write(NAME, key);
    const error = await expectSigError(
      keys.write(NAME, other),
      "kid_exists",
      "Cannot keep key",
    );
    assertEquals(await keys.read(NAME), key);
    const described = `${error.message} ${JSON.stringify(error.context)}`;
    assertEquals(
      described.includes(key.d) || described.includes(other.d),
      false,
    );
  }],
  ["refuses a name that could leave the store", async (keys) => {
    const key = await generateSigningKey({ kid: NAME.kid });
    for (const kid of ["../x", ".x", "a/b", "", "a\0b"]) {
      const work = keys.read({ ...NAME, kid });
      await expectSigError(work, "invalid_identifier", "Cannot use kid");
    }
    for (const host of ["..", "../x", "a/b", "", ".", "A.example", "a..b"]) {
      const work = keys.write({ ...NAME, host }, key);
      await expectSigError(work, "invalid_identifier", "Cannot use host");
    }
  }],
];

for (const [rule, test] of CONTRACT) {
  Deno.test(`memory key store: ${rule}`, () => test(createMemoryKeyStore()));
  Deno.test(`file key store: ${rule}`, () =>
    withFolder((dir) => test(createFileKeyStore(`${dir}/a/keys`))));
}

async function withFolder(test: (dir: string) => Promise<void>): Promise<void> {
  await using folder = await tempFolder();
  await test(folder.path);
}

for (
  const [path, mode, want] of [
    ["acme.example/orgsign-1.jwk", 0o644, "mode 644, expected 600"],
    ["acme.example/orgsign-1.jwk", 0o660, "mode 660, expected 600"],
    ["acme.example", 0o755, "mode 755, expected 700"],
  ] as const
) {
  Deno.test(`refuses ${path} with mode ${mode.toString(8)}, or warns on request`, () =>
    withFolder(async (dir) => {
      const key = await generateSigningKey({ kid: NAME.kid });
      const keys = createFileKeyStore(dir);
      await keys.write(NAME, key);
      await Deno.chmod(`${dir}/${path}`, mode);
      const error = await expectSigError(keys.read(NAME), "invalid_key", want);
      assertEquals(error.context.hint?.startsWith("Run: chmod "), true);
      assertEquals(`${error.message}${error.stack}`.includes(key.d), false);
      const warnings: string[] = [];
      const onWarning = (warning: string) => warnings.push(warning);
      assertEquals(
        await createFileKeyStore(dir, { onWarning }).read(NAME),
        key,
      );
      assertEquals(warnings.map((text) => text.includes(want)), [true]);
    }));
}

Deno.test("refuses a key file that is a symbolic link or a directory", () =>
  withFolder(async (dir) => {
    const keys = createFileKeyStore(dir);
    await keys.write(NAME, await generateSigningKey({ kid: NAME.kid }));
    const path = `${dir}/acme.example`;
    await Deno.symlink(`${path}/orgsign-1.jwk`, `${path}/link.jwk`);
    await Deno.mkdir(`${path}/dir.jwk`);
    for (const kid of ["link", "dir"]) {
      await expectSigError(
        keys.read({ ...NAME, kid }),
        "invalid_key",
        "is not a file with a private Ed25519 JWK",
      );
    }
  }));

Deno.test("exactly one of several concurrent writers of a key succeeds", () =>
  withFolder(async (dir) => {
    const results = await Promise.allSettled(
      Array.from({ length: 8 }, async () => {
        const key = await generateSigningKey({ kid: NAME.kid });
        await createFileKeyStore(dir).write(NAME, key);
        return key;
      }),
    );
    const kept = results.filter(({ status }) => status === "fulfilled");
    assertEquals(kept.length, 1);
    const names = [...Deno.readDirSync(`${dir}/acme.example`)];
    assertEquals(names.map(({ name }) => name), ["orgsign-1.jwk"]);
  }));

const REFERENCE = `SHA256:${"A".repeat(43)}`;

/** A key that signs here but claims to be kept elsewhere. */
async function makeReferenced(): Promise<ReferencedKey> {
  const key = await importSigningKey(await generateSigningKey(NAME));
  const { kid, publicJwk } = key;
  const sign = (message: Uint8Array) => key.sign(message);
  return { kid, publicJwk, sign, reference: REFERENCE };
}

Deno.test("saves the reference of a key kept elsewhere, and other writers wait 40 s for its signature", async () => {
  await using folder = await tempFolder();
  const key = await makeReferenced();
  const asked: unknown[] = [];
  const keys = createFileKeyStore(folder.path, {
    findReferenced: (...reference) => {
      asked.push(reference);
      return Promise.resolve(key);
    },
  });
  const memory = createMemoryStore();
  const waits: number[] = [];
  const store = withMethods(memory, {
    exclusively(options, work) {
      waits.push(options.timeoutMs);
      return memory.exclusively(options, work);
    },
  });
  await initIssuer({ store, keys, key, did: DID });
  const file = `${folder.path}/acme.example/orgsign-1.agent`;
  assertEquals(await Deno.readTextFile(file), `${REFERENCE}\n`);
  assertEquals(modeOf(file), 0o600);
  assertEquals(await keys.has(NAME), true);
  waits.length = 0;
  await using issuer = await openIssuer({ store, keys, now: () => new Date() });
  const { sequence } = await issuer.append(upsert());
  assertEquals(sequence, 1);
  assertEquals([...new Set(waits)], [40_000]);
  assertEquals(asked, [[REFERENCE, NAME.kid]]);
  await expectSigError(
    keys.write(NAME, await generateSigningKey(NAME)),
    "kid_exists",
    "Cannot keep key",
  );
});

Deno.test("refuses a malformed reference, or one that no function can resolve", async () => {
  await using folder = await tempFolder();
  const keys = createFileKeyStore(folder.path);
  await keys.write(NAME, await makeReferenced());
  await expectSigError(
    keys.read(NAME),
    "signing_key_not_found",
    `Cannot use key: ${REFERENCE} is in an agent`,
  );
  const file = `${folder.path}/acme.example/orgsign-1.agent`;
  for (const text of ["", "SHA256:AAAA\n", `${REFERENCE}\nx\n`]) {
    await Deno.writeTextFile(file, text);
    await expectSigError(keys.read(NAME), "invalid_key", "is not a file with");
  }
});
