import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { freePort, hasProgram, TestProcess } from "../../tests/kit/process.ts";
import {
  inWorkspace,
  withIssuer,
  type Workspace,
} from "../testdata/workspace.ts";

const UPSERT = [
  ...["upsert", "--dir", "$D/acme", "--type", "advisor"],
  ...["--subject", "did:web:eve.example"],
];
const CHECKPOINT = ["checkpoint", "--dir", "$D/acme"];

async function withProofs(
  work: (workspace: Workspace) => Promise<void>,
): Promise<void> {
  await withIssuer(async (workspace) => {
    assertEquals(await workspace.sig([...CHECKPOINT, "--init"]), {
      code: 0,
      stdout:
        "Signed the checkpoint of 3 events (acme.example/.well-known/sig)\n",
      stderr: "",
    });
    await work(workspace);
  });
}

const checkpointOf = (workspace: Workspace) =>
  Deno.readTextFile(workspace.path("acme/.well-known/sig/checkpoint"));

async function sizeOf(workspace: Workspace): Promise<number> {
  return Number((await checkpointOf(workspace)).split("\n")[1]);
}

Deno.test("proofs begin with --init, and every command that appends brings them up to the feed, once", () =>
  withIssuer(async (workspace) => {
    const early = await workspace.sig(CHECKPOINT);
    assertEquals([early.code, early.stdout], [2, ""]);
    assertStringIncludes(
      early.stderr,
      "invalid_request: Cannot update proofs: this issuer publishes none\n  hint: Begin with: sig checkpoint --init.",
    );
    const init = await workspace.sig(
      [...CHECKPOINT, "--init", "--format", "json"],
    );
    const { origin, size, ...hashes } = JSON.parse(init.stdout);
    assertEquals([origin, size], ["acme.example/.well-known/sig", 3]);
    assertEquals(Object.keys(hashes), ["root", "bytes", "state", "keys"]);
    const upsert = await workspace.sig(UPSERT);
    assertEquals([upsert.code, upsert.stderr], [0, ""]);
    assertEquals(await sizeOf(workspace), 4);
    const drafts = [1, 2, 3].map((n) =>
      JSON.stringify({
        event_type: "relationship.upsert",
        subject: `did:web:p${n}.example`,
        relationship_type: "other",
      })
    );
    const imported = await workspace.sig(
      ["import", "--dir", "$D/acme", "-"],
      { stdin: drafts.map((draft) => `${draft}\n`).join("") },
    );
    assertEquals([imported.code, imported.stderr], [0, ""]);
    assertEquals(await sizeOf(workspace), 7);
    const tiles = workspace.path("acme/.well-known/sig/tile/0/000.p");
    const widths = [...Deno.readDirSync(tiles)].map(({ name }) => name).sort();
    assertEquals(widths, ["3", "4", "7"]);
  }));

Deno.test("an append whose proofs fail remains in effect, with a warning", () =>
  withProofs(async (workspace) => {
    const before = await checkpointOf(workspace);
    const tile = workspace.path("acme/.well-known/sig/tile/0/000.p/3");
    await Deno.writeTextFile(tile, "damaged");
    const text = await workspace.sig(UPSERT);
    assertEquals(text.code, 0);
    assert(text.stdout.startsWith("Appended relationship.upsert "));
    const why =
      "the proofs were not updated: Cannot use proof: the tiles are not those of the checkpoint";
    assertEquals(text.stderr, `warning: proofs_behind: ${why}\n`);
    const json = await workspace.sig([...UPSERT, "--format", "json"]);
    assertEquals([json.code, json.stderr], [0, ""]);
    assertEquals(JSON.parse(json.stdout).warnings, [
      { code: "proofs_behind", detail: why },
    ]);
    assertEquals(await checkpointOf(workspace), before);
    const refused = await workspace.sig(CHECKPOINT);
    assertEquals([refused.code, refused.stdout], [2, ""]);
    assertStringIncludes(refused.stderr, "hint: Make the proofs again");
    const rebuilt = await workspace.sig([...CHECKPOINT, "--rebuild"]);
    assertEquals([rebuilt.code, rebuilt.stderr], [0, ""]);
    assertEquals(await sizeOf(workspace), 5);
  }));

Deno.test("--add reads a cosigner's line from a file or standard input", () =>
  withProofs(async (workspace) => {
    const line = "— cosigner.example/1 AAAAAAAAAAAAAAA=\n";
    const before = await checkpointOf(workspace);
    const added = await workspace.sig([...CHECKPOINT, "--add", "-"], {
      stdin: line,
    });
    assertEquals([added.code, added.stdout], [
      0,
      "Added a signature to the checkpoint of 3 events (acme.example/.well-known/sig)\n",
    ]);
    assertEquals(await checkpointOf(workspace), before + line);
    await Deno.writeTextFile(workspace.path("line"), "no signature\n");
    const refused = await workspace.sig([...CHECKPOINT, "--add", "$D/line"]);
    assertEquals(refused.code, 2);
    assertStringIncludes(
      refused.stderr,
      "invalid_checkpoint: Cannot read checkpoint: signature line 1 is malformed",
    );
    assertEquals(await checkpointOf(workspace), before + line);
  }));

Deno.test("a rotation and a key that is given sign beside the key store", () =>
  withProofs(async (workspace) => {
    const count = async () =>
      (await checkpointOf(workspace)).match(/^— /gm)?.length;
    assertEquals(await count(), 2);
    const words = ["rotate-key", "--dir", "$D/acme", "--kid", "k2"];
    const { code, stderr } = await workspace.sig(words);
    assertEquals([code, stderr], [0, ""]);
    assertEquals(await count(), 3);
    const keys = workspace.path("keys/acme.example");
    await Deno.rename(`${keys}/k2.jwk`, workspace.path("k2.jwk"));
    assertEquals((await workspace.sig(CHECKPOINT)).code, 0);
    assertEquals(await count(), 2);
    const given = [...UPSERT, "--key", "$D/k2.jwk"];
    assertEquals((await workspace.sig(given)).code, 0);
    assertEquals(await count(), 3);
  }));

Deno.test({
  name:
    "a plain static server without ranges is asked for proofs, and then for the feed",
  ignore: !hasProgram("python3") && Deno.env.get("SIG_CI") !== "1",
  fn: () =>
    inWorkspace(async (workspace) => {
      const port = freePort();
      const host = `127.0.0.1:${port}`;
      const insecure = "--allow-insecure";
      const dir = ["--dir", "$D/acme"];
      await workspace.sig(["init", host, ...dir, insecure]);
      const upsert = ["upsert", ...dir, "--type", "employee"];
      const subject = ["--subject", "did:web:alice.example"];
      await workspace.sig([...upsert, ...subject, "--relationship-id", "r1"]);
      await workspace.sig(["checkpoint", ...dir, "--init"]);
      await using server = new TestProcess("python3", [
        ...["-m", "http.server", String(port), "--bind", "127.0.0.1"],
        ...["--directory", workspace.path("acme")],
      ]);
      await server.listens(port);
      const check = async () => {
        const { code, stdout } = await workspace.sig([
          ...["check", "--sig", host, insecure, ...subject, "--format", "json"],
          ...["--require", "relationship=employee"],
        ]);
        const { decision, last_sequence, proof } = JSON.parse(stdout);
        return [code, decision, last_sequence, proof];
      };
      assertEquals(await check(), [0, "allow", 1, null]);
      const revoke = ["revoke", ...dir, "--relationship-id", "r1"];
      await workspace.sig([...revoke, "--reason-code", "other"]);
      assertEquals(await check(), [1, "deny", 2, null]);
      assertStringIncludes(server.stderr, "/.well-known/sig/checkpoint HTTP");
      assertStringIncludes(server.stderr, "/.well-known/sig/state/");
    }),
});
