import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import {
  freePort,
  hasProgram,
  tempFolder,
  TestProcess,
} from "../../tests/kit/process.ts";
import {
  draftsOf,
  inWorkspace,
  issuerTest as test,
  withIssuer,
  type Workspace,
} from "../testdata/workspace.ts";
import { importVerificationKey } from "@sig/jose";
import {
  formatVerifierKey,
  type NoteKey,
  openCheckpoint,
} from "@sig/jose/proofs";
import { buildGo, WITHOUT_GO } from "../../tests/kit/go.ts";
import { readWitness } from "./checkpoint.ts";

const UPSERT =
  "upsert --dir $D/acme --type advisor --subject did:web:eve.example";
const CHECKPOINT = "checkpoint --dir $D/acme";

const checkpointOf = (workspace: Workspace) =>
  workspace.read("acme/.well-known/sig/checkpoint");

async function sizeOf(workspace: Workspace): Promise<number> {
  return Number((await checkpointOf(workspace)).split("\n")[1]);
}

test("checkpoint --init creates the proofs, and each command that appends updates them once", async (workspace) => {
  await workspace.refused(
    CHECKPOINT,
    "invalid_request: Cannot update proofs: this issuer publishes none\n  hint: Begin with: sig checkpoint --init.",
  );
  const { origin, size, ...hashes } = await workspace.json(
    `${CHECKPOINT} --init`,
  );
  assertEquals([origin, size], ["acme.example/.well-known/sig", 3]);
  assertEquals(Object.keys(hashes), ["root", "bytes", "state", "keys"]);
  await workspace.ok(UPSERT);
  assertEquals(await sizeOf(workspace), 4);
  await workspace.ok("import --dir $D/acme -", { stdin: draftsOf(3) });
  assertEquals(await sizeOf(workspace), 7);
  const tiles = workspace.path("acme/.well-known/sig/tile/0/000.p");
  const widths = [...Deno.readDirSync(tiles)].map(({ name }) => name).sort();
  assertEquals(widths, ["3", "4", "7"]);
});

test("init publishes the proofs of an empty feed, unless --no-proofs is given", async (workspace) => {
  const published = async (dir: string) => {
    const text = await workspace.read(`${dir}/.well-known/sig.json`);
    return JSON.parse(text).proofs_uri;
  };
  await workspace.ok("init b.example --dir $D/b");
  assertEquals(await published("b"), "https://b.example/.well-known/sig/");
  const size = async () =>
    (await workspace.read("b/.well-known/sig/checkpoint")).split("\n")[1];
  assertEquals(await size(), "0");
  await workspace.ok(UPSERT.replace("acme", "b"));
  assertEquals(await size(), "1");
  await workspace.ok("init c.example --dir $D/c --no-proofs");
  assertEquals(await published("c"), undefined);
});

test("an append succeeds with a warning if its proofs can't be updated", async (workspace) => {
  await workspace.ok(`${CHECKPOINT} --init`);
  const before = await checkpointOf(workspace);
  await workspace.write("acme/.well-known/sig/tile/0/000.p/3", "damaged");
  const detail =
    "the proofs were not updated: Cannot use proof: the tiles are not those of the checkpoint";
  const text = await workspace.sig(UPSERT);
  assert(text.stdout.startsWith("Appended relationship.upsert "));
  assertEquals(
    [text.code, text.stderr],
    [0, `warning: proofs_behind: ${detail}\n`],
  );
  const { warnings } = await workspace.json(UPSERT);
  assertEquals(warnings, [{ code: "proofs_behind", detail }]);
  assertEquals(await checkpointOf(workspace), before);
  await workspace.refused(CHECKPOINT, "hint: Make the proofs again");
  await workspace.ok(`${CHECKPOINT} --rebuild`);
  assertEquals(await sizeOf(workspace), 5);
});

test("checkpoint --add reads a cosigner's line from a file or standard input", async (workspace) => {
  assertEquals(
    await workspace.ok(`${CHECKPOINT} --init`),
    "Signed the checkpoint of 3 events (acme.example/.well-known/sig)\n",
  );
  const stdin = "— cosigner.example/1 AAAAAAAAAAAAAAA=\n";
  const before = await checkpointOf(workspace);
  assertEquals(
    await workspace.ok(`${CHECKPOINT} --add -`, { stdin }),
    "Added a signature to the checkpoint of 3 events (acme.example/.well-known/sig)\n",
  );
  assertEquals(await checkpointOf(workspace), before + stdin);
  const replaced = stdin.replace("A=", "E=");
  await workspace.refused(`${CHECKPOINT} --add -`, [
    'invalid_checkpoint: Cannot add signature to checkpoint: it has another line by the same key of "cosigner.example/1"',
    "--cosigner",
  ], { stdin: replaced });
  const cosigner =
    "auditor.example+3fbeda9c+BNdamAGCsQq31Uv+08lkBzoO4XLz2qYjJa8CGmj3B1Ea";
  await workspace.refused(
    `${CHECKPOINT} --add - --cosigner ${cosigner}`,
    "no line is by a given cosigner",
    { stdin: replaced },
  );
  await workspace.refused(
    `${CHECKPOINT} --cosigner ${cosigner}`,
    "--cosigner needs --add",
  );
  await workspace.write("line", "no signature\n");
  await workspace.refused(
    `${CHECKPOINT} --add $D/line`,
    "invalid_checkpoint: Cannot read checkpoint: signature line 1 is malformed",
  );
});

test("proofs are signed by the key store, a rotated key and the key of --key", async (workspace) => {
  const signatures = async (words: string, count: number) => {
    await workspace.says(words);
    const found = (await checkpointOf(workspace)).match(/^— /gm);
    assertEquals(found?.length, count);
  };
  await signatures(`${CHECKPOINT} --init`, 2);
  await signatures("rotate-key --dir $D/acme --kid k2", 3);
  const key = workspace.path("keys/acme.example/k2.jwk");
  await Deno.rename(key, workspace.path("k2.jwk"));
  await signatures(CHECKPOINT, 3);
  await signatures(`${CHECKPOINT} --drop k2`, 2);
  await signatures(`${UPSERT} --key $D/k2.jwk`, 3);
});

Deno.test({
  name:
    "check reads proofs, then the feed, from a static server without range support",
  ignore: !hasProgram("python3") && Deno.env.get("SIG_CI") !== "1",
  fn: () =>
    inWorkspace(async (workspace) => {
      const port = freePort();
      const host = `127.0.0.1:${port}`;
      const subject = "--subject did:web:alice.example";
      for (
        const words of [
          `init ${host} --dir $D/acme --allow-insecure --no-proofs`,
          `upsert --dir $D/acme --type employee ${subject} --relationship-id r1`,
          `${CHECKPOINT} --init`,
        ]
      ) await workspace.ok(words);
      await using server = new TestProcess("python3", [
        ...["-m", "http.server", String(port), "--bind", "127.0.0.1"],
        ...["--directory", workspace.path("acme")],
      ]);
      await server.listens(port);
      const check = async () => {
        const { decision, last_sequence, proof } = await workspace.json(
          `check --sig ${host} --allow-insecure ${subject} --require relationship=employee`,
        );
        return [decision, last_sequence, proof];
      };
      assertEquals(await check(), ["allow", 1, null]);
      await workspace.ok(
        "revoke --dir $D/acme --relationship-id r1 --reason-code other",
      );
      assertEquals(await check(), ["deny", 2, null]);
      assertStringIncludes(server.stderr, "/.well-known/sig/checkpoint HTTP");
      assertStringIncludes(server.stderr, "/.well-known/sig/state/");
    }),
});

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
