import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  draftsOf,
  FEED,
  issuerTest as test,
  type Workspace,
} from "../testdata/workspace.ts";

const RESTORE = "restore --dir $D/acme --from $D/www";
const UPSERT = "upsert --dir $D/acme --subject did:web:z.example --type other";
const CHECKPOINT = "acme/.well-known/sig/checkpoint";

/** Publishes a copy, then truncates the local feed as an old backup would. */
async function putBack(workspace: Workspace, lines: number): Promise<string> {
  const all = await workspace.read(FEED);
  await workspace.copy("acme", "www");
  const kept = all.split("\n").slice(0, lines).map((line) => `${line}\n`);
  await workspace.write(FEED, kept.join(""));
  // A restored machine has no index that would show the loss.
  await Deno.remove(workspace.path("acme/.sig"), { recursive: true });
  return all;
}

const COMMANDS = [
  "upsert --subject did:web:z.example --type other",
  "revoke --relationship-id r1 --reason-code other",
  "set --relationship-id r1 --add-role x",
  "offboard --subject did:web:alice.example --reason-code other --yes",
  "import $D/drafts.jsonl",
  "apply --from $D/people.csv --yes",
].map((words) => `${words} --dir $D/acme --against $D/www`);

async function writeInputs(workspace: Workspace): Promise<void> {
  await workspace.write("drafts.jsonl", draftsOf(1));
  await workspace.write(
    "people.csv",
    "subject,type\ndid:web:x.example,other\n",
  );
}

test("every command refuses to append with --against if the published feed has more events, and writes nothing", async (workspace) => {
  await writeInputs(workspace);
  await putBack(workspace, 2);
  for (const command of COMMANDS) {
    await workspace.refused(command, [
      "feed_rolled_back: Cannot append to the feed: it ends at sequence 2, but the published feed at 3",
      "sig restore",
    ]);
  }
});

test("restore adds the missing published events, and appends work afterwards", async (workspace) => {
  await writeInputs(workspace);
  const all = await putBack(workspace, 1);
  // The local feed ends within a line.
  await Deno.writeTextFile(workspace.path(FEED), '{"protec', { append: true });
  await workspace.says(RESTORE, {
    stdout: "Restored 2 events: the feed ends at sequence 3 again\n",
  });
  assertEquals(await workspace.read(FEED), all);
  assertEquals(await workspace.json(RESTORE), {
    restored: 0,
    last_sequence: 3,
  });
  for (const command of COMMANDS) {
    const { code, stderr } = await workspace.sig(command);
    // offboard has already ended this relationship.
    const isEnded = /^(set|offboard)/.test(command);
    assertEquals(code, isEnded ? 2 : 0, `${command}: ${stderr}`);
  }
});

test("restore refuses another history, another issuer and a damaged feed, and writes nothing", async (workspace) => {
  await putBack(workspace, 2);
  const published = "www/.well-known/sig/events.jsonl";
  const all = await workspace.read(published);
  const forged = all.replace(
    /"signature":"(.)/g,
    (_, first) => `"signature":"${first === "A" ? "B" : "A"}`,
  );
  await workspace.write(published, forged);
  await workspace.refused(RESTORE, "signature_invalid");
  await workspace.write(published, all.trimEnd());
  await workspace.refused(RESTORE, "incomplete_line");
  await workspace.write(published, all);
  await workspace.ok(UPSERT);
  await workspace.refused(
    RESTORE,
    "feed_rewritten: Cannot use the feed: it and the published feed have different lines from sequence 3 on",
  );
  await workspace.ok("init other.example --dir $D/other");
  await workspace.refused(RESTORE.replace("www", "other"), "issuer_mismatch");
  await workspace.refused(
    `${UPSERT} --against $D/nowhere`,
    "source_not_found",
  );
});

test("restore --from updates the proofs", async (workspace) => {
  await workspace.ok("checkpoint --dir $D/acme --init");
  const old = await workspace.read(CHECKPOINT);
  await workspace.ok(UPSERT);
  await putBack(workspace, 3);
  await workspace.write(CHECKPOINT, old);
  await workspace.ok(RESTORE);
  assertStringIncludes(await workspace.read(CHECKPOINT), "\n4\n");
  // Proofs that can't be updated cause a warning.
  await Deno.remove(workspace.path(CHECKPOINT));
  assertEquals(await workspace.json(RESTORE), {
    ...{ restored: 0, last_sequence: 4 },
    warnings: [{
      code: "proofs_behind",
      detail:
        "the proofs were not updated: Cannot update proofs: the checkpoint is missing",
    }],
  });
});
