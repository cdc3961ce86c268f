import { generateSigningKey } from "@sig/jose";
import {
  createFileKeyStore,
  createMemoryKeyStore,
  type KeyStore,
} from "@sig/issuer";
import { assertEquals } from "@std/assert";
import { tempFolder } from "../../tests/kit/process.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";

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
