import { assertEquals, assertStringIncludes } from "@std/assert";
import { importVerificationKey } from "@sig/jose";
import {
  formatVerifierKey,
  type NoteKey,
  openCheckpoint,
} from "@sig/jose/proofs";
import { buildGo, WITHOUT_GO } from "../../tests/kit/go.ts";
import { freePort, tempFolder, TestProcess } from "../../tests/kit/process.ts";
import { readWitness } from "./checkpoint.ts";
import {
  draftsOf,
  issuerTest as test,
  withIssuer,
  type Workspace,
} from "../testdata/workspace.ts";

// promise: From a witness only the named key's signature over the published
//   checkpoint is added.

const ORIGIN = "acme.example/.well-known/sig";

/** Returns the issuer's only key as a note key. */
async function issuerKey(workspace: Workspace): Promise<NoteKey> {
  const jwks = await workspace.read("acme/.well-known/jwks.json");
  const { keys: [jwk] } = JSON.parse(jwks);
  const key = await importVerificationKey(jwk);
  return { name: ORIGIN, type: "note", key };
}

const WITNESS = (dir: string, witness: string) =>
  `checkpoint --dir $D/${dir} --allow-insecure --witness ${witness}`;

/** Returns the numbers of events and of a witness's signatures. */
async function signatures(workspace: Workspace, dir: string, witness: string) {
  const { key } = await issuerKey(workspace);
  const cosigner = (await readWitness(witness)).key;
  const { size, cosignatures } = await openCheckpoint(
    await workspace.read(`${dir}/.well-known/sig/checkpoint`),
    { origin: ORIGIN, keys: new Map([["k", key]]), cosigners: [cosigner] },
  );
  return [size, cosignatures.size];
}

async function append(workspace: Workspace, dir: string, count: number) {
  const stdin = draftsOf(count);
  await workspace.ok(`import --dir $D/${dir} -`, { stdin });
}

Deno.test({
  name:
    "an independent witness implementation cosigns a checkpoint that extends its last one",
  ignore: WITHOUT_GO,
  fn: () =>
    withIssuer(async (workspace) => {
      await using folder = await tempFolder();
      const source = new URL("../testdata/witness.go", import.meta.url);
      const program = await buildGo(source, folder.path);
      await workspace.ok("checkpoint --dir $D/acme --init");
      const known = formatVerifierKey(await issuerKey(workspace));
      const start = async (log: string) => {
        const child = new TestProcess(program, ["witness.example/1", log]);
        const [, address, vkey] = await child.said(/^(\S+) (\S+)\n/);
        return { child, witness: `http://${address}/w=${vkey}` };
      };
      const { child, witness } = await start(known);
      await using _child = child;
      await workspace.copy("acme", "old");
      const cosigned = async (size: number) => {
        await workspace.ok(WITNESS("acme", witness));
        assertEquals(await signatures(workspace, "acme", witness), [size, 1]);
      };

      await cosigned(3);
      // Repeating without new events replaces the signature line.
      await cosigned(3);
      // Growth within a tile, past its end, and past two ends.
      let size = 3;
      for (const count of [1, 252, 1, 600]) {
        await append(workspace, "acme", count);
        size += count;
        assertEquals(await signatures(workspace, "acme", witness), [size, 0]);
        await cosigned(size);
      }

      const refused = async (
        dir: string,
        named: string,
        ...parts: readonly string[]
      ) => {
        const ran = await workspace.says(WITNESS(dir, named), { code: 2 });
        for (const part of parts) assertStringIncludes(ran.stderr, part);
      };
      await refused(
        "old",
        witness,
        'feed_rolled_back: Cannot get cosignature: "http:',
        '" has cosigned 857 events, and the checkpoint has 3\n',
      );
      await append(workspace, "old", 854);
      await refused(
        "old",
        witness,
        'feed_rewritten: Cannot get cosignature: the 857 events that "http:',
        '" has cosigned are different\n',
      );
      await append(workspace, "old", 1);
      await refused(
        "old",
        witness,
        'fetch_status: Cannot get cosignature: "http:',
        '" answered with status 422: the feed does not continue the events that it has cosigned\n',
      );
      assertEquals(await signatures(workspace, "old", witness), [858, 0]);

      const { key } = await issuerKey(workspace);
      const elsewhere = await start(
        formatVerifierKey({ name: "other.example", type: "note", key }),
      );
      await using _elsewhere = elsewhere.child;
      await refused(
        "acme",
        elsewhere.witness,
        "answered with status 404: it does not know this issuer\n",
      );
      // The witness has another key than the operator named.
      const [here, there] = [witness, elsewhere.witness].map((each) => {
        const [, url, vkey] = /^(.*?)=(.*)$/.exec(each)!;
        return { url, vkey };
      });
      await refused("acme", `${there!.url}=${here!.vkey}`);
      await refused(
        "acme",
        `${here!.url}=${there!.vkey}`,
        'invalid_checkpoint: Cannot get cosignature: the answer has no signature by "witness.example/1"\n',
      );
    }),
});

test("an unreachable witness is reported after the checkpoint is signed", async (workspace) => {
  await workspace.ok("checkpoint --dir $D/acme --init");
  const vkey = formatVerifierKey({
    ...await issuerKey(workspace),
    ...{ name: "witness.example/1", type: "cosignature" },
  });
  const text = () => workspace.read("acme/.well-known/sig/checkpoint");
  for (
    const [witness, code, message] of [
      ["http://127.0.0.1:9", "invalid_request", "--witness must be"],
      [
        `http://127.0.0.1:${freePort()}=${vkey} --allow-insecure`,
        "fetch_failed",
        "127.0.0.1",
      ],
      [
        `http://witness.example/w=${vkey}`,
        "insecure_url",
        'Cannot fetch over "http:": only https is allowed',
      ],
    ] as const
  ) {
    const before = await text();
    await workspace.says(`checkpoint --dir $D/acme --witness ${witness}`, {
      code: 2,
      err: [`${code}: `, message],
    });
    assertEquals(await text() === before, code === "invalid_request");
  }
});
