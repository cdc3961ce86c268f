import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { createIssuerSite } from "../site/issuer_site.ts";
import { makeKey, startAgent, withOpenSsh } from "../../tests/kit/open_ssh.ts";
import { codeOf, invited } from "../testdata/enrolment.ts";
import { sig } from "../testdata/process.ts";
import { withIssuer, type Workspace } from "../testdata/workspace.ts";

async function key(workspace: Workspace): Promise<string> {
  await workspace.sig(["key", "generate", "--out", "$D/a.jwk"]);
  const { stdout } = await workspace.sig(["key", "did", "$D/a.jwk"]);
  return stdout.trim();
}

Deno.test("accept makes a key of its own, for its owner alone, and answers with it", () =>
  withIssuer(async (workspace) => {
    const cwd = workspace.dir;
    const soon = { io: { now: () => new Date() } };
    const made = await workspace.sig(
      ["invite", "--dir", "$D/acme", "--type", "other", "--out", "$D/i"],
      soon,
    );
    assertEquals(made.stdout, "Wrote invitation $D/i\n");
    const words = ["accept", "./i", "--sig", "./acme", "--format", "json"];
    const files: string[] = [];
    for (const _ of [1, 2]) {
      const { code, stdout, stderr } = await sig(words, { cwd });
      assertEquals([code, stderr], [0, ""]);
      const { key_file, subject, verified, issuer } = JSON.parse(stdout);
      assertEquals([verified, issuer], [true, "did:web:acme.example"]);
      assertMatch(key_file, /^acme\.example-[1-9A-Za-z]{8}\.jwk$/);
      const { mode } = await Deno.stat(workspace.path(key_file));
      assertEquals(mode! & 0o777, 0o600);
      const did = await workspace.sig(["key", "did", `$D/${key_file}`]);
      assertEquals(did.stdout.trim(), subject);
      files.push(key_file);
    }
    assertEquals(new Set(files).size, 2);
    // Where the answer can't be put, no key is made for it.
    const before = await workspace.snapshot();
    const refused = await sig([...words, "--out", "i"], { cwd });
    assertEquals(codeOf(refused), [2, "write_failed"]);
    assertEquals(JSON.parse(refused.stderr).hint, "Choose another name.");
    assertEquals(await workspace.snapshot(), before);
  }));

Deno.test("accept shows what it answers before it does, and asks on a terminal", () =>
  withIssuer(async (workspace) => {
    const did = await key(workspace);
    const invitation = await invited(workspace, [
      ...["--for", "Alice", "--valid-from", "2026-02-01"],
    ]);
    const words = [
      ...["accept", invitation, "--sig", "$D/acme", "--key", "$D/a.jwk"],
      ...["--out", "$D/answer.json"],
    ];
    const before = await workspace.snapshot();
    const asked: string[] = [];
    const declined = await workspace.sig(words, {
      terminals: ["stdout"],
      io: { ask: (question) => asked.push(question) > 1 },
    });
    assertEquals([declined.code, asked], [2, ["Answer this invitation?"]]);
    assertEquals(
      declined.stderr,
      `invited by   did:web:acme.example (verified with the keys of $D/acme)
as           contractor
roles        review
valid        from 2026-02-01T00:00:00Z without an end
for          Alice (never published)
open until   2026-01-08T00:00:${declined.stderr.match(/08T00:00:(\d\d)/)?.[1]}Z
published as ${did}
with key     $D/a.jwk
error: confirmation_required: Cannot answer invitation: not confirmed
  hint: Nothing was written. --yes skips the question.
`,
    );
    assertEquals(await workspace.snapshot(), before);
    // Elsewhere nobody could answer; the answer is one's own to give.
    const { code, stdout } = await workspace.sig(words);
    assertEquals([code, stdout], [0, "Wrote answer $D/answer.json\n"]);
    const answer = JSON.parse(
      await Deno.readTextFile(workspace.path("answer.json")),
    );
    assertEquals(Object.keys(answer), ["invitation", "attestation"]);
    const again = await workspace.sig([...words, "--format", "json"]);
    assertEquals(codeOf(again), [2, "write_failed"]);
  }));

withOpenSsh(
  "accept does not call a key in an agent a secret file",
  () =>
    withIssuer(async (workspace) => {
      await using agent = await startAgent(workspace.dir);
      await agent.add(await makeKey(workspace.dir, "alice"));
      const words = ["accept", await invited(workspace), "--sig", "$D/acme"];
      const { code, stderr } = await workspace.sig(
        [...words, "--key", "agent:", "--yes"],
        { env: { SSH_AUTH_SOCK: agent.socket } },
      );
      assertEquals(code, 0, stderr);
      assertStringIncludes(
        stderr,
        "\nKeep your key: it identifies you to the issuer.\n",
      );
    }),
);

Deno.test("accept takes the invitation as text, link, file, JSON or standard input", () =>
  withIssuer(async (workspace) => {
    await key(workspace);
    const invitation = await invited(workspace);
    const link = `https://login.example/x#/invitation/${invitation}`;
    const json = JSON.stringify({ invitation, issuer: "?" });
    const inputs: readonly (readonly [string, string])[] = [
      [invitation, ""],
      [link, ""],
      ["-", `${invitation}\n`],
      ["-", link],
      ["-", json],
      ["$D/file", ` ${invitation}\r\n`],
    ];
    for (const [word, text] of inputs) {
      if (word === "$D/file") {
        await Deno.writeTextFile(workspace.path("file"), text);
      }
      const { code, stdout, stderr } = await workspace.sig([
        ...["accept", word, "--sig", "$D/acme", "--key", "$D/a.jwk"],
      ], { stdin: text });
      assertEquals(code, 0, stderr);
      assertEquals(JSON.parse(stdout).invitation, invitation);
    }
    await Deno.writeTextFile(workspace.path("large"), " ".repeat(65_537));
    for (
      const [word, text, code] of [
        ["-", "{}", "invalid_invitation"],
        ["-", "hello", "invalid_invitation"],
        ["$D/large", "", "document_too_large"],
        [`${link.slice(0, 30)}x`, "", "source_not_found"],
        ["$D/nowhere", "", "source_not_found"],
      ] as const
    ) {
      const refused = await workspace.sig([
        ...["accept", word, "--sig", "$D/acme", "--key", "$D/a.jwk"],
        ...["--format", "json"],
      ], { stdin: text });
      assertEquals(codeOf(refused), [2, code]);
    }
  }));

Deno.test("accept verifies with what the issuer publishes", () =>
  withIssuer(async (workspace) => {
    await key(workspace);
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      createIssuerSite(workspace.path("local")),
    );
    const host = `127.0.0.1:${server.addr.port}`;
    await workspace.sig(
      ["init", host, "--dir", "$D/local", "--allow-insecure"],
    );
    const { stdout } = await workspace.sig(
      ["invite", "--dir", "$D/local", "--type", "other"],
    );
    const run = (text: string, words: readonly string[]) =>
      workspace.sig([
        ...["accept", text, "--key", "$D/a.jwk", "--format", "json"],
        ...words,
      ]);
    const good = await run(stdout.trim(), ["--allow-insecure"]);
    assertEquals(JSON.parse(good.stdout).verified, true);
    const told = await workspace.sig([
      ...["accept", stdout.trim(), "--key", "$D/a.jwk", "--allow-insecure"],
    ]);
    assertStringIncludes(told.stderr, "(verified with its published keys)\n");
    const [header, claims] = stdout.split(".");
    const forged = `${header}.${claims}.${"A".repeat(86)}`;
    assertEquals(codeOf(await run(forged, ["--allow-insecure"])), [
      2,
      "signature_invalid",
    ]);
    // Another issuer's keys say nothing about it.
    assertEquals(codeOf(await run(stdout.trim(), ["--sig", "$D/acme"])), [
      2,
      "invalid_invitation",
    ]);
    // A private address is asked by nobody who did not say so.
    const guarded = await run(stdout.trim(), []);
    assertEquals(JSON.parse(guarded.stdout).verified, false);
  }));

Deno.test("that the issuer could not be asked is said, and is not a verification", () =>
  withIssuer(async (workspace) => {
    await key(workspace);
    const server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      () => new Response("down", { status: 503 }),
    );
    const host = `127.0.0.1:${server.addr.port}`;
    await workspace.sig(
      ["init", host, "--dir", "$D/local", "--allow-insecure"],
    );
    const { stdout } = await workspace.sig(
      ["invite", "--dir", "$D/local", "--type", "other"],
    );
    const words = [
      ...["accept", stdout.trim(), "--key", "$D/a.jwk", "--allow-insecure"],
    ];
    const text = await workspace.sig(words);
    assertEquals(text.code, 0);
    assertStringIncludes(text.stderr, "(NOT VERIFIED)\n");
    assertStringIncludes(
      text.stderr,
      "warning: could not verify that did:web:127.0.0.1",
    );
    const json = await workspace.sig([...words, "--format", "json"]);
    assertEquals(JSON.parse(json.stdout).verified, false);
    await server.shutdown();
    const gone = await workspace.sig([...words, "--format", "json"]);
    assertEquals(JSON.parse(gone.stdout).verified, false);
    // Who names a source wants to know.
    const named = await workspace.sig([
      ...[...words, "--format", "json", "--sig", host],
    ]);
    assertEquals(codeOf(named), [2, "fetch_failed"]);
    // What has expired is not even shown.
    const late = await workspace.sig(words, {
      io: { now: () => new Date("2026-02-01T00:00:00Z") },
    });
    assertEquals(late.code, 2);
    assertMatch(late.stderr, /^error: invitation_expired: /);
  }));

Deno.test("wrong documents of the issuer are an error, not an issuer that is away", () =>
  withIssuer(async (workspace) => {
    await key(workspace);
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      () => Response.json({ issuer: "did:web:evil.example" }),
    );
    const host = `127.0.0.1:${server.addr.port}`;
    await workspace.sig(
      ["init", host, "--dir", "$D/local", "--allow-insecure"],
    );
    const { stdout } = await workspace.sig(
      ["invite", "--dir", "$D/local", "--type", "other"],
    );
    const refused = await workspace.sig([
      ...["accept", stdout.trim(), "--key", "$D/a.jwk", "--allow-insecure"],
      ...["--format", "json"],
    ]);
    assertEquals(codeOf(refused), [2, "invalid_metadata"]);
  }));

Deno.test("accept refuses words that contradict each other", () =>
  withIssuer(async (workspace) => {
    for (
      const [words, says] of [
        [["-", "--key", "-"], "can't both be standard input"],
        [["x", "--subject", "did:web:a.example"], "--subject needs the --key"],
        [[], "invitation"],
      ] as const
    ) {
      const { code, stderr } = await workspace.sig(["accept", ...words]);
      assertEquals(code, 2);
      assertStringIncludes(stderr, says);
    }
  }));
