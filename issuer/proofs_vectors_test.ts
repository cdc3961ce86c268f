/** Compares proofs with those of an independent implementation. @module */

import {
  createFileStore,
  createMemoryKeyStore,
  type Issuer,
  openIssuer,
} from "@sig/issuer";
import { assertEquals } from "@std/assert";
import { walk } from "./testdata/support.ts";
import { tempFolder } from "../tests/kit/process.ts";
import {
  readJsonVectors,
  vectorPath,
  vectorTest,
} from "../tests/kit/others_vectors.ts";

interface Vector {
  readonly checkpoints: readonly string[];
}

interface TestKeys {
  readonly private_jwk: { readonly kid: string };
  readonly private_jwk_2: { readonly kid: string };
}

const WELL_KNOWN = ".well-known";
const FEED = `${WELL_KNOWN}/sig/events.jsonl`;
const CHECKPOINT = `${WELL_KNOWN}/sig/checkpoint`;
const DOCUMENTS = ["did.json", "jwks.json", "sig.json"];

/** Every published file below a folder, by its path, as hexadecimal text. */
const filesBelow = (root: string): Map<string, string> =>
  new Map(
    [...walk(root, `/${WELL_KNOWN}`)].map((path) =>
      [path, Deno.readFileSync(root + path).toHex()] as const
    ),
  );

async function testKeys() {
  const { private_jwk, private_jwk_2 } = readJsonVectors<TestKeys>(
    "proofs/TEST-KEY.json",
  );
  const keys = createMemoryKeyStore();
  for (const jwk of [private_jwk, private_jwk_2]) {
    const { kid } = jwk;
    await keys.write({ host: "acme.example", kid }, jwk as never);
  }
  return keys;
}

/**
 * Makes a directory with the documents of a vector, before it published proofs.
 */
async function inDirectory(
  name: string,
  work: (place: {
    readonly dir: string;
    /** Appends this many lines of the vector to the feed. */
    grow(lines?: number): Promise<void>;
    open(now: Date): Promise<Issuer>;
  }) => Promise<void>,
): Promise<void> {
  const source = vectorPath(`proofs/${name}`);
  await using folder = await tempFolder();
  const dir = folder.path;
  const keys = await testKeys();
  await Deno.mkdir(`${dir}/${WELL_KNOWN}/sig`, { recursive: true });
  for (const file of DOCUMENTS) {
    const path = `${WELL_KNOWN}/${file}`;
    const { proofs_uri: _, ...document } = readJsonVectors<
      Record<string, unknown>
    >(`proofs/${name}/${path}`);
    await Deno.writeTextFile(
      `${dir}/${path}`,
      `${JSON.stringify(document, null, 2)}\n`,
    );
  }
  const feed = await Deno.readTextFile(`${source}/${FEED}`);
  await work({
    dir,
    grow: (lines) =>
      Deno.writeTextFile(
        `${dir}/${FEED}`,
        feed.split("\n").slice(0, -1).slice(0, lines)
          .map((line) => `${line}\n`).join(""),
      ),
    open: (now) =>
      openIssuer({ store: createFileStore(dir), keys, now: () => now }),
  });
}

function timeOf(checkpoint: string): Date {
  const last = checkpoint.trimEnd().split(" ").at(-1)!;
  const bytes = Uint8Array.fromBase64(last);
  return new Date(Number(new DataView(bytes.buffer, 4).getBigUint64(0)) * 1000);
}

for (const name of ["small", "pages", "rotated-tail", "empty"]) {
  vectorTest(
    `writes the proofs of ${name} step by step`,
    `proofs/${name}/expected.json`,
    () =>
      inDirectory(name, async ({ dir, grow, open }) => {
        const { checkpoints } = readJsonVectors<Vector>(
          `proofs/${name}/expected.json`,
        );
        for (const [step, checkpoint] of checkpoints.entries()) {
          await grow(Number(checkpoint.split("\n")[1]));
          await using issuer = await open(timeOf(checkpoint));
          await issuer.checkpoint({ init: step === 0 });
          const made = await Deno.readTextFile(`${dir}/${CHECKPOINT}`);
          assertEquals(made, checkpoint);
        }
        await grow();
        const made = filesBelow(dir);
        for (const [path, hex] of filesBelow(vectorPath(`proofs/${name}`))) {
          assertEquals(made.get(path), hex, path);
        }
      }),
    { write: true },
  );

  vectorTest(
    `writes and rebuilds the proofs of ${name} in one step`,
    `proofs/${name}/expected.json`,
    () =>
      inDirectory(name, async ({ dir, grow, open }) => {
        const { checkpoints } = readJsonVectors<Vector>(
          `proofs/${name}/expected.json`,
        );
        const checkpoint = checkpoints.at(-1)!;
        await grow(Number(checkpoint.split("\n")[1]));
        await using issuer = await open(timeOf(checkpoint));
        await issuer.checkpoint({ init: true });
        await grow();
        const expected = filesBelow(vectorPath(`proofs/${name}`));
        const made = filesBelow(dir);
        // Exactly the expected files, except for older tiles.
        for (const path of expected.keys()) {
          if (path.includes(".p/") && !made.has(path)) expected.delete(path);
        }
        assertEquals(made, expected);
        for (const path of made.keys()) {
          if (!/\/(?:tile|state)\//.test(path)) continue;
          await Deno.writeTextFile(`${dir}/${path}`, "damaged");
        }
        await grow(Number(checkpoint.split("\n")[1]));
        await issuer.checkpoint({ rebuild: true });
        await grow();
        assertEquals(filesBelow(dir), expected);
      }),
    { write: true },
  );
}
