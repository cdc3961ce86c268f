import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { importVerificationKey } from "@sig/jose";
import {
  createSha256,
  formatVerifierKey,
  type NoteKey,
  openCheckpoint,
} from "@sig/jose/proofs";
import { buildGo, WITHOUT_GO } from "../../tests/kit/go.ts";
import { freePort, tempFolder, TestProcess } from "../../tests/kit/process.ts";
import { readWitness } from "./checkpoint.ts";
import { withIssuer, type Workspace } from "../testdata/workspace.ts";

const ORIGIN = "acme.example/.well-known/sig";
const sha256 = createSha256();

/** The issuer's only key, as a note's. */
async function issuerKey(workspace: Workspace): Promise<NoteKey> {
  const path = workspace.path("acme/.well-known/jwks.json");
  const { keys: [jwk] } = JSON.parse(await Deno.readTextFile(path));
  const key = await importVerificationKey(jwk);
  return { name: ORIGIN, type: "note", key };
}

async function ask(workspace: Workspace, dir: string, witness: string) {
  return await workspace.sig([
    ...["checkpoint", "--dir", `$D/${dir}`, "--witness", witness],
    "--allow-insecure",
  ]);
}

/** The numbers of events, and of signatures by a witness. */
async function signatures(workspace: Workspace, dir: string, witness: string) {
  const path = workspace.path(`${dir}/.well-known/sig/checkpoint`);
  const { key } = await issuerKey(workspace);
  const cosigner = (await readWitness(witness)).key;
  const { size, cosignatures } = await openCheckpoint(
    sha256,
    await Deno.readTextFile(path),
    { origin: ORIGIN, keys: new Map([["k", key]]), cosigners: [cosigner] },
  );
  return [size, cosignatures.size];
}

async function append(workspace: Workspace, dir: string, count: number) {
  const lines = Array.from({ length: count }, (_, i) =>
    JSON.stringify({
      event_type: "relationship.upsert",
      subject: `did:web:p${i}.example`,
      relationship_type: "other",
    }));
  const { code, stderr } = await workspace.sig(
    ["import", "--dir", `$D/${dir}`, "-"],
    { stdin: lines.join("\n") },
  );
  assertEquals([code, stderr], [0, ""]);
}

async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to);
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    const [source, target] = [`${from}/${name}`, `${to}/${name}`];
    if (isDirectory) await copyFolder(source, target);
    else await Deno.copyFile(source, target);
  }
}

Deno.test({
  name: "a witness written by others cosigns what continues the feed it knows",
  ignore: WITHOUT_GO,
  fn: () =>
    withIssuer(async (workspace) => {
      await using folder = await tempFolder();
      const source = new URL("../testdata/witness.go", import.meta.url);
      const program = await buildGo(source, folder.path);
      await workspace.sig(["checkpoint", "--dir", "$D/acme", "--init"]);
      const known = formatVerifierKey(sha256, await issuerKey(workspace));
      const start = async (log: string) => {
        const child = new TestProcess(program, ["witness.example/1", log]);
        const [, address, vkey] = await child.said(/^(\S+) (\S+)\n/);
        return { child, witness: `http://${address}/w=${vkey}` };
      };
      const { child, witness } = await start(known);
      await using _child = child;
      await copyFolder(workspace.path("acme"), workspace.path("old"));

      const first = await ask(workspace, "acme", witness);
      assertEquals([first.code, first.stderr], [0, ""]);
      assertEquals(await signatures(workspace, "acme", witness), [3, 1]);
      // Again: nothing is new, and the line is renewed.
      assertEquals((await ask(workspace, "acme", witness)).code, 0);
      assertEquals(await signatures(workspace, "acme", witness), [3, 1]);
      // Steps within a tile, over its end, and over two of them.
      let size = 3;
      for (const count of [1, 252, 1, 600]) {
        await append(workspace, "acme", count);
        size += count;
        assertEquals(await signatures(workspace, "acme", witness), [size, 0]);
        const { code, stderr } = await ask(workspace, "acme", witness);
        assertEquals([code, stderr], [0, ""]);
        assertEquals(await signatures(workspace, "acme", witness), [size, 1]);
      }

      const shorter = await ask(workspace, "old", witness);
      assertEquals([shorter.code, shorter.stdout], [2, ""]);
      assertMatch(
        shorter.stderr,
        /feed_rolled_back: Cannot get cosignature: "http:\S+" has cosigned 857 events, and the checkpoint has 3\n/,
      );
      await append(workspace, "old", 854);
      const other = await ask(workspace, "old", witness);
      assertEquals([other.code, other.stdout], [2, ""]);
      assertMatch(
        other.stderr,
        /feed_rewritten: Cannot get cosignature: the 857 events that "http:\S+" has cosigned are different\n/,
      );
      await append(workspace, "old", 1);
      const longer = await ask(workspace, "old", witness);
      assertEquals([longer.code, longer.stdout], [2, ""]);
      assertMatch(
        longer.stderr,
        /fetch_status: Cannot get cosignature: "http:\S+" answered with status 422: the feed does not continue the events that it has cosigned\n/,
      );
      assertEquals(await signatures(workspace, "old", witness), [858, 0]);

      const { key } = await issuerKey(workspace);
      const elsewhere = await start(
        formatVerifierKey(sha256, { name: "other.example", type: "note", key }),
      );
      await using _elsewhere = elsewhere.child;
      const unknown = await ask(workspace, "acme", elsewhere.witness);
      assertEquals([unknown.code, unknown.stdout], [2, ""]);
      assertStringIncludes(
        unknown.stderr,
        "answered with status 404: it does not know this issuer\n",
      );
      // The witness is not the one that the operator named.
      const [url] = elsewhere.witness.split("=");
      const [, vkey] = /=(.*)$/.exec(witness) ?? [];
      assertEquals((await ask(workspace, "acme", `${url}=${vkey}`)).code, 2);
      const [right] = witness.split("=");
      const [, wrong] = /=(.*)$/.exec(elsewhere.witness) ?? [];
      const mistaken = await ask(workspace, "acme", `${right}=${wrong}`);
      assertEquals([mistaken.code, mistaken.stdout], [2, ""]);
      assertStringIncludes(
        mistaken.stderr,
        'invalid_checkpoint: Cannot get cosignature: the answer has no signature by "witness.example/1"\n',
      );
    }),
});

Deno.test("a witness that can't be reached is reported, after the checkpoint was signed", () =>
  withIssuer(async (workspace) => {
    await workspace.sig(["checkpoint", "--dir", "$D/acme", "--init"]);
    const vkey = formatVerifierKey(sha256, {
      ...await issuerKey(workspace),
      ...{ name: "witness.example/1", type: "cosignature" },
    });
    const text = () =>
      Deno.readTextFile(workspace.path("acme/.well-known/sig/checkpoint"));
    for (
      const [witness, code, message, flags] of [
        ["http://127.0.0.1:9", "invalid_request", "--witness must be"],
        [
          `http://127.0.0.1:${freePort()}=${vkey}`,
          "fetch_failed",
          "127.0.0.1",
          ["--allow-insecure"],
        ],
        [
          `http://witness.example/w=${vkey}`,
          "insecure_url",
          'Cannot fetch over "http:": only https is allowed',
        ],
      ] as const
    ) {
      const before = await text();
      const { code: exit, stderr, stdout } = await workspace.sig([
        ...["checkpoint", "--dir", "$D/acme", "--witness", witness],
        ...flags ?? [],
      ]);
      assertEquals([exit, stdout], [2, ""]);
      assertStringIncludes(stderr, `${code}: `);
      assertStringIncludes(stderr, message);
      assertEquals(await text() === before, code === "invalid_request");
    }
  }));
