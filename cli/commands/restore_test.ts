import { assertEquals, assertStringIncludes } from "@std/assert";
import { withIssuer, type Workspace } from "../testdata/workspace.ts";

const FEED = "acme/.well-known/sig/events.jsonl";

/** The issuer, a published copy of it, and a backup's feed put back. */
async function putBack(workspace: Workspace, lines: number): Promise<string> {
  const feed = workspace.path(FEED);
  const all = await Deno.readTextFile(feed);
  await Deno.mkdir(workspace.path("www"));
  const { success } = await new Deno.Command("cp", {
    args: ["-r", workspace.path("acme/.well-known"), workspace.path("www/")],
  }).output();
  assertEquals(success, true);
  const kept = all.split("\n").slice(0, lines).map((line) => `${line}\n`);
  await Deno.writeTextFile(feed, kept.join(""));
  // As after a restored machine: no index knows better.
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
];

async function writeInputs(workspace: Workspace): Promise<void> {
  await Deno.writeTextFile(
    workspace.path("drafts.jsonl"),
    '{"event_type":"relationship.upsert","subject":"did:web:y.example","relationship_type":"other"}\n',
  );
  await Deno.writeTextFile(
    workspace.path("people.csv"),
    "subject,type\ndid:web:x.example,other\n",
  );
}

Deno.test("every append with --against is refused behind the published feed, and writes nothing", () =>
  withIssuer(async (workspace) => {
    await writeInputs(workspace);
    await putBack(workspace, 2);
    const before = await workspace.snapshot();
    for (const command of COMMANDS) {
      const words = `${command} --dir $D/acme --against $D/www`.split(" ");
      const { code, stdout, stderr } = await workspace.sig(words);
      assertEquals([code, stdout], [2, ""], command);
      assertStringIncludes(
        stderr,
        "feed_rolled_back: Cannot append to the feed: it ends at sequence 2, but the published feed at 3",
      );
      assertStringIncludes(stderr, "sig restore");
    }
    assertEquals(await workspace.snapshot(), before);
  }));

Deno.test("restore brings the feed up to the published bytes, and appends go on", () =>
  withIssuer(async (workspace) => {
    await writeInputs(workspace);
    const all = await putBack(workspace, 1);
    // The copy broke off in the middle of a line.
    await Deno.writeTextFile(workspace.path(FEED), '{"protec', {
      append: true,
    });
    const words = "restore --dir $D/acme --from $D/www".split(" ");
    const done = await workspace.sig(words);
    assertEquals([done.code, done.stdout], [
      0,
      "Restored 2 events: the feed ends at sequence 3 again\n",
    ]);
    assertEquals(await Deno.readTextFile(workspace.path(FEED)), all);
    const again = await workspace.sig([...words, "--format", "json"]);
    assertEquals(JSON.parse(again.stdout), { restored: 0, last_sequence: 3 });
    for (const command of COMMANDS) {
      const words = `${command} --dir $D/acme --against $D/www`.split(" ");
      const { code, stderr } = await workspace.sig(words);
      // The offboarded one has ended by then.
      const isEnded = /^(set|offboard)/.test(command);
      assertEquals(code, isEnded ? 2 : 0, `${command}: ${stderr}`);
    }
  }));

Deno.test("restore refuses another history, another issuer and a damaged feed, and writes nothing", () =>
  withIssuer(async (workspace) => {
    await putBack(workspace, 2);
    const published = workspace.path("www/.well-known/sig/events.jsonl");
    const all = await Deno.readTextFile(published);
    const restore = () =>
      workspace.sig("restore --dir $D/acme --from $D/www".split(" "));
    const before = await Deno.readTextFile(workspace.path(FEED));
    const forged = all.replace(
      /"signature":"(.)/g,
      (_, first) => `"signature":"${first === "A" ? "B" : "A"}`,
    );
    const damages = [
      ["signature_invalid", forged],
      ["incomplete_line", all.trimEnd()],
    ] as const;
    for (const [expected, bytes] of damages) {
      await Deno.writeTextFile(published, bytes);
      const { code, stderr } = await restore();
      assertEquals(code, 2);
      assertStringIncludes(stderr, expected);
    }
    await Deno.writeTextFile(published, all);
    const branch = await workspace.sig(
      "upsert --dir $D/acme --subject did:web:z.example --type other"
        .split(" "),
    );
    assertEquals(branch.code, 0);
    const after = await Deno.readTextFile(workspace.path(FEED));
    const rewritten = await restore();
    assertEquals([rewritten.code, rewritten.stdout], [2, ""]);
    assertStringIncludes(
      rewritten.stderr,
      "feed_rewritten: Cannot use the feed: it and the published feed have different lines from sequence 3 on",
    );
    await workspace.sig("init other.example --dir $D/other".split(" "));
    const foreign = await workspace.sig(
      "restore --dir $D/acme --from $D/other".split(" "),
    );
    assertStringIncludes(foreign.stderr, "issuer_mismatch");
    const unreachable = await workspace.sig(
      "upsert --dir $D/acme --subject did:web:z.example --type other --against $D/nowhere"
        .split(" "),
    );
    assertEquals(unreachable.code, 2);
    assertStringIncludes(unreachable.stderr, "source_not_found");
    assertEquals(await Deno.readTextFile(workspace.path(FEED)), after);
    assertEquals(after.startsWith(before), true);
  }));

Deno.test("restore brings the proofs up to the feed, too", () =>
  withIssuer(async (workspace) => {
    const sizeOf = async () => {
      const path = workspace.path("acme/.well-known/sig/checkpoint");
      return Number((await Deno.readTextFile(path)).split("\n")[1]);
    };
    const upsert =
      "upsert --dir $D/acme --subject did:web:z.example --type other";
    await workspace.sig("checkpoint --dir $D/acme --init".split(" "));
    const checkpoint = workspace.path("acme/.well-known/sig/checkpoint");
    const old = await Deno.readTextFile(checkpoint);
    await workspace.sig(upsert.split(" "));
    await putBack(workspace, 3);
    await Deno.writeTextFile(checkpoint, old);
    const words = "restore --dir $D/acme --from $D/www".split(" ");
    const done = await workspace.sig(words);
    assertEquals([done.code, done.stderr], [0, ""]);
    assertEquals(await sizeOf(), 4);
    // A warning names what can't be updated.
    await Deno.remove(checkpoint);
    const failed = await workspace.sig([...words, "--format", "json"]);
    assertEquals(JSON.parse(failed.stdout), {
      ...{ restored: 0, last_sequence: 4 },
      warnings: [{
        code: "proofs_behind",
        detail:
          "the proofs were not updated: Cannot update proofs: the checkpoint is missing",
      }],
    });
  }));
