import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { sig } from "../testdata/process.ts";
import {
  issuerTest as test,
  serveIssuer,
  type Workspace,
} from "../testdata/workspace.ts";

const KEY = "--key $D/a.jwk";

/** Creates the key file of {@linkcode KEY} and returns the key's DID. */
async function makeOwnKey(workspace: Workspace): Promise<string> {
  await workspace.ok("key generate --out $D/a.jwk");
  return (await workspace.ok("key did $D/a.jwk")).trim();
}

test("accept creates a key file of mode 0600 and answers with that key", async (workspace) => {
  const cwd = workspace.dir;
  const soon = { io: { now: () => new Date() } };
  const invite = "invite --dir $D/acme --type other --out $D/i";
  const made = await workspace.sig(invite, soon);
  assertEquals(made.stdout, "Wrote invitation $D/i\n");
  const words = ["accept", "./i", "--sig", "./acme", "--format", "json"];
  const files = new Set<string>();
  for (const _ of [1, 2]) {
    const { code, stdout, stderr } = await sig(words, { cwd });
    assertEquals([code, stderr], [0, ""]);
    const { key_file, subject, verified, issuer } = JSON.parse(stdout);
    assertEquals([verified, issuer], [true, "did:web:acme.example"]);
    assertMatch(key_file, /^acme\.example-[1-9A-Za-z]{8}\.jwk$/);
    assertEquals(await workspace.mode(key_file), 0o600);
    const did = await workspace.ok(`key did $D/${key_file}`);
    assertEquals(did.trim(), subject);
    files.add(key_file);
  }
  assertEquals(files.size, 2);
  // If the answer can't be written, no key is created.
  await workspace.refused("accept $D/i --sig $D/acme --out $D/i", [
    "error: write_failed: ",
    "hint: Choose another name.",
  ], soon);
});

/** Creates an invitation of an issuer on loopback with this request handler. */
async function invitedBy(
  workspace: Workspace,
  handler?: Parameters<typeof serveIssuer>[2],
) {
  await makeOwnKey(workspace);
  const server = await serveIssuer(workspace, "local", handler);
  const { stdout } = await workspace.sig("invite --dir $D/local --type other");
  return { invitation: stdout.trim(), server };
}

test("accept verifies the invitation with the issuer's published keys", async (workspace) => {
  const { invitation, server } = await invitedBy(workspace);
  await using _server = server;
  const words = `accept ${invitation} ${KEY}`;
  const good = await workspace.json(`${words} --allow-insecure`);
  assertEquals(good.verified, true);
  const written = await workspace.sig(`${words} --allow-insecure`);
  assertStringIncludes(written.stderr, "(verified with its published keys)\n");
  const signed = invitation.slice(0, invitation.lastIndexOf("."));
  await workspace.refused(
    `accept ${signed}.${"A".repeat(86)} ${KEY} --allow-insecure`,
    "error: signature_invalid: ",
  );
  // Another issuer's keys can't verify it.
  await workspace.refused(
    `${words} --sig $D/acme`,
    "error: invalid_invitation: ",
  );
  // Private addresses are not requested without --allow-insecure.
  assertEquals((await workspace.json(words)).verified, false);
});

test("accept reports an unreachable issuer as not verified", async (workspace) => {
  const { invitation, server } = await invitedBy(
    workspace,
    () => new Response("down", { status: 503 }),
  );
  const words = `accept ${invitation} ${KEY} --allow-insecure`;
  await workspace.says(words, {
    err: [
      "(NOT VERIFIED)\n",
      "warning: could not verify that did:web:127.0.0.1",
    ],
  });
  assertEquals((await workspace.json(words)).verified, false);
  await server[Symbol.asyncDispose]();
  assertEquals((await workspace.json(words)).verified, false);
  // With --sig, an unreachable source is an error.
  await workspace.refused(
    `${words} --sig ${server.host}`,
    "error: fetch_failed: ",
  );
  // An expired invitation is not shown.
  const late = await workspace.refused(words, [], {
    io: { now: () => new Date("2026-02-01T00:00:00Z") },
  });
  assertMatch(late, /^error: invitation_expired: /);
});

test("accept exits 2 on invalid documents of the issuer", async (workspace) => {
  const { invitation, server } = await invitedBy(
    workspace,
    () => Response.json({ issuer: "did:web:evil.example" }),
  );
  await using _server = server;
  await workspace.refused(
    `accept ${invitation} ${KEY} --allow-insecure`,
    "error: invalid_metadata: ",
  );
});
