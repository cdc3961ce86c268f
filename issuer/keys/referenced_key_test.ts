import {
  createFileKeyStore,
  createMemoryStore,
  initIssuer,
  openIssuer,
  type ReferencedKey,
} from "@sig/issuer";
import { generateSigningKey, importSigningKey } from "@sig/jose";
import { assertEquals } from "@std/assert";
import { tempFolder } from "../../tests/kit/process.ts";
import { expectSigError } from "../../tests/kit/sig_errors.ts";
import { DID, modeOf, upsert, withMethods } from "../testdata/support.ts";

const REFERENCE = `SHA256:${"A".repeat(43)}`;
const NAME = { host: "acme.example", kid: "orgsign-1" };

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
