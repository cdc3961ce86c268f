import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { run, runWell } from "../../tests/kit/process.ts";
import { makeKey, startAgent, withOpenSsh } from "../../tests/kit/open_ssh.ts";
import { withIssuer, type Workspace } from "../testdata/workspace.ts";

const BACKUP = ["backup", "--dir", "$D/acme", "--out"];
const RESTORE = ["restore", "--dir", "$D/new", "--backup"];
const WITH_PASSPHRASE = ["--passphrase-file", "$D/passphrase"];
const PASSPHRASE = "correct horse battery staple";

/** Keys of another machine. */
const ELSEWHERE = (workspace: Workspace) => ({
  env: { SIG_KEYS_DIR: workspace.path("other/keys") },
});

async function withPassphrase(
  work: (workspace: Workspace) => Promise<void>,
): Promise<void> {
  await withIssuer(async (workspace) => {
    await Deno.chmod(workspace.dir, 0o700);
    const mode = { mode: 0o600 };
    await Deno.writeTextFile(
      workspace.path("passphrase"),
      `${PASSPHRASE}\n`,
      mode,
    );
    await work(workspace);
  });
}

async function succeed(
  workspace: Workspace,
  words: readonly string[],
  given: Parameters<Workspace["sig"]>[1] = {},
): Promise<string> {
  const { code, stdout, stderr } = await workspace.sig(words, given);
  assertEquals(code, 0, stderr);
  return stdout;
}

const read = (workspace: Workspace, path: string) =>
  Deno.readFile(workspace.path(path));

Deno.test("an encrypted backup restores the issuer on another machine, where it can append", () =>
  withPassphrase(async (workspace) => {
    await Deno.writeTextFile(
      workspace.path("acme/.sig/names.csv"),
      "subject,name\ndid:web:alice.example,Alice\n",
    );
    const made = await workspace.sig([
      ...[...BACKUP, "$D/acme.age"],
      ...WITH_PASSPHRASE,
    ]);
    assertEquals(made, {
      code: 0,
      stdout:
        "Backed up did:web:acme.example (seq=3) to $D/acme.age, encrypted\n  private keys: orgsign-1\n",
      stderr: "",
    });
    const bytes = await read(workspace, "acme.age");
    const text = new TextDecoder().decode(bytes);
    assert(text.startsWith("age-encryption.org/v1\n-> scrypt "));
    const secret = await Deno.readTextFile(
      workspace.path("keys/acme.example/orgsign-1.jwk"),
    );
    assert(!text.includes("did:web:acme.example"));
    assert(!text.includes(JSON.parse(secret).d));
    const restored = await workspace.sig(
      [...RESTORE, "$D/acme.age", ...WITH_PASSPHRASE],
      ELSEWHERE(workspace),
    );
    assertEquals([restored.code, restored.stdout], [
      0,
      [
        "Restored did:web:acme.example in $D/new: 3 events, the feed ends at sequence 3",
        "  private key orgsign-1 in $D/other/keys",
        "  $D/new/.sig/names.csv",
        "  $D/new/.well-known/sig/events.jsonl",
        "  $D/new/.well-known/jwks.json",
        "  $D/new/.well-known/did.json",
        "  $D/new/.well-known/sig.json",
        "The backup is of 2026-01-01T00:00:06Z. If events were published later: sig restore --dir $D/new --from did:web:acme.example",
        "",
      ].join("\n"),
    ]);
    assertEquals(restored.stderr, "");
    await succeed(workspace, [
      ...["set", "--dir", "$D/new", "--subject", "Alice"],
      ...["--add-role", "audit"],
    ], ELSEWHERE(workspace));
    assertStringIncludes(
      await succeed(workspace, ["verify", "$D/new"]),
      "4 events",
    );
  }));

Deno.test("a backup without a passphrase is a tar archive for its owner, in a folder closed to others", () =>
  withPassphrase(async (workspace) => {
    await Deno.mkdir(workspace.path("open"));
    for (const [mode, code] of [[0o755, 2], [0o720, 2], [0o711, 0]] as const) {
      await Deno.chmod(workspace.path("open"), mode);
      const ran = await workspace.sig([...BACKUP, "$D/open/acme.tar"]);
      assertEquals(ran.code, code, ran.stderr);
      if (code === 0) continue;
      assertStringIncludes(
        ran.stderr,
        `invalid_request: Cannot run: a backup without a passphrase has open private keys, and others may list or write "$D/open/" (mode ${
          mode.toString(8)
        })`,
      );
      assertStringIncludes(ran.stderr, "hint: Add --passphrase-file, or");
    }
    await Deno.mkdir(workspace.path("shared/folder"), { recursive: true });
    await Deno.chmod(workspace.path("shared"), 0o777);
    await Deno.symlink(workspace.path("shared/folder"), workspace.path("link"));
    const linked = await workspace.sig([...BACKUP, "$D/link/../acme.tar"]);
    assertEquals(linked.code, 2);
    assertStringIncludes(linked.stderr, '"$D/link/../" (mode 777)');
    const archive = workspace.path("open/acme.tar");
    assertEquals((await Deno.stat(archive)).mode! & 0o777, 0o600);
    // Other programs read it: tar and sha256sum.
    await Deno.mkdir(workspace.path("by-hand"));
    const cwd = workspace.path("by-hand");
    await runWell("tar", ["-xf", archive, "-C", cwd]);
    const sums = await run("sh", [
      "-c",
      'cd "$0" && sha256sum --strict -c SIG-BACKUP-1.sha256',
      cwd,
    ]);
    assertEquals(sums.code, 0, sums.stdout);
    assertStringIncludes(sums.stdout, "keys/orgsign-1.jwk: OK\n");
    await succeed(workspace, ["verify", "$D/by-hand"]);
    const existing = await workspace.sig([...BACKUP, "$D/open/acme.tar"]);
    assertEquals(existing.code, 2);
    assertStringIncludes(existing.stderr, "write_failed");
  }));

Deno.test("a backup as JSON names what is in it, and what is not", () =>
  withPassphrase(async (workspace) => {
    await Deno.writeTextFile(workspace.path("oidc.json"), '{"keys":[]}');
    await succeed(workspace, ["rotate-key", "--dir", "$D/acme", "--kid", "k2"]);
    await Deno.rename(
      workspace.path("keys/acme.example/orgsign-1.jwk"),
      workspace.path("kept.jwk"),
    );
    const words = [...BACKUP, "$D/acme.tar", "--oidc-keys", "$D/oidc.json"];
    const made = await succeed(workspace, [...words, "--format", "json"]);
    assertEquals(JSON.parse(made), {
      ...{ out: "$D/acme.tar", issuer: "did:web:acme.example" },
      ...{ last_sequence: 3, encrypted: false },
      ...{ keys: ["k2"], agent_keys: [], missing_keys: ["orgsign-1"] },
    });
    const restored = await workspace.sig(
      [...RESTORE, "$D/acme.tar", "--format", "json"],
      ELSEWHERE(workspace),
    );
    assertEquals([restored.code, restored.stderr], [0, ""]);
    assertEquals(JSON.parse(restored.stdout), {
      ...{ issuer: "did:web:acme.example", restored: 3, last_sequence: 3 },
      ...{ keys: ["k2"], agent_keys: [] },
      files: [
        ...["sig/events.jsonl", "jwks.json", "did.json", "sig.json"]
          .map((name) => `$D/new/.well-known/${name}`),
        "$D/new/.sig/oidc-keys.json",
      ],
    });
    const keys = workspace.path("new/.sig/oidc-keys.json");
    assertEquals((await Deno.stat(keys)).mode! & 0o777, 0o600);
    // The key in a file of its own is not in the key store.
    const given = { env: { SIG_KEY_FILE: workspace.path("kept.jwk") } };
    const own = await succeed(
      workspace,
      [...BACKUP, "$D/own.tar", "--format", "json"],
      given,
    );
    assertEquals(JSON.parse(own).keys, ["orgsign-1", "k2"]);
  }));

Deno.test("a wrong passphrase, none, or one for an open backup is refused, and nothing is written", () =>
  withPassphrase(async (workspace) => {
    await succeed(workspace, [...BACKUP, "$D/a.age", ...WITH_PASSPHRASE]);
    await succeed(workspace, [...BACKUP, "$D/a.tar"]);
    for (const [name, text] of [["wrong", "x\n"], ["empty", "\n"]] as const) {
      await Deno.writeTextFile(workspace.path(name), text, { mode: 0o600 });
    }
    const before = await workspace.snapshot();
    const cases = [
      [
        ["$D/a.age", "--passphrase-file", "$D/wrong"],
        "Cannot use the backup: the passphrase is wrong, or the file is damaged",
      ],
      [["$D/a.age"], "Cannot use the backup: it is encrypted"],
      [
        ["$D/a.tar", ...WITH_PASSPHRASE],
        "Cannot use the backup: it is not encrypted",
      ],
      [
        ["$D/a.age", "--passphrase-file", "$D/empty"],
        "Cannot run: the passphrase must be one line of text",
      ],
      [
        ["$D/passphrase"],
        "Cannot use the backup: it is damaged, or not a backup made by sig",
      ],
      [
        ["$D/a.tar", "--from", "acme.example"],
        "Cannot run: either --from or --backup must be given",
      ],
    ] as const;
    for (const [words, message] of cases) {
      const { code, stdout, stderr } = await workspace.sig(
        [...RESTORE, ...words],
        ELSEWHERE(workspace),
      );
      assertEquals([code, stdout], [2, ""], message);
      assertStringIncludes(stderr, `error: invalid_request: ${message}`);
    }
    const from = ["restore", "--dir", "$D/acme", "--from", "$D/acme"];
    const other = await workspace.sig([...from, ...WITH_PASSPHRASE]);
    assertEquals(other.code, 2);
    assertStringIncludes(other.stderr, "--passphrase-file is for --backup");
    assertEquals(await workspace.snapshot(), before);
  }));

Deno.test("whatever byte of a backup is damaged, it is refused, or all of it is as it was", () =>
  withPassphrase(async (workspace) => {
    await succeed(workspace, [...BACKUP, "$D/a.tar"]);
    const bytes = await read(workspace, "a.tar");
    const { unpackBackup } = await import("../issue/backup_archive.ts");
    const whole = await unpackBackup(bytes, undefined);
    let refused = 0;
    for (let at = 0; at < bytes.length; at += 7) {
      const damaged = bytes.slice();
      damaged[at]! ^= 1 << (at % 8);
      try {
        const { files, keys } = await unpackBackup(damaged, undefined);
        assertEquals([files, keys], [whole.files, whole.keys], `byte ${at}`);
      } catch (error) {
        assertStringIncludes(String(error), "SigError: Cannot use the backup");
        refused++;
      }
    }
    assert(refused > bytes.length / 14, `${refused}`);
    for (const length of [0, 100, 512, 1024, bytes.length >> 1]) {
      const { code } = await unpackBackup(bytes.slice(0, length), undefined)
        .then(() => ({ code: "" }), (error) => error);
      assertEquals(code, "invalid_request", `${length} bytes`);
    }
  }));

/** An archive's entries, the first of which has the digests of the others. */
async function withSums(
  [first, ...rest]: readonly {
    readonly header: { readonly name: string; readonly size: number };
    readonly data?: Uint8Array | undefined;
  }[],
) {
  let sums = "";
  for (const { header: { name }, data = new Uint8Array() } of rest) {
    const digest = await crypto.subtle.digest("SHA-256", data.slice());
    sums += `${new Uint8Array(digest).toHex()}  ${name}\n`;
  }
  const data = new TextEncoder().encode(sums);
  return [
    { header: { ...first!.header, size: data.length }, data },
    ...rest,
  ];
}

Deno.test("an archive with a link, a folder, a second file of a name or a path of others is refused", () =>
  withPassphrase(async (workspace) => {
    await succeed(workspace, [...BACKUP, "$D/a.tar"]);
    const { packTar, unpackTar } = await import("modern-tar");
    const found = await unpackTar(await read(workspace, "a.tar"));
    const file = found[1]!;
    const other = (name: string) => ({
      ...file,
      header: { ...file.header, name },
    });
    const cases = [
      [...found, { header: { name: "dir/", size: 0, type: "directory" } }],
      [...found, {
        header: { name: "l", size: 0, type: "symlink", linkname: "/etc" },
      }],
      [...found, file],
      [...found, other("../../evil")],
      [...found, other("/etc/evil")],
      found.slice(1),
      found.slice(0, -1),
      // Their digests are in the archive.
      await withSums([...found, {
        header: {
          ...{ name: ".sig/names.csv", size: 0 },
          ...{ type: "symlink", linkname: "/etc" },
        },
      }]),
      await withSums([...found, other("keys/orgsign-1.agent")]),
    ] as const;
    for (const [i, entries] of cases.entries()) {
      const path = workspace.path(`${i}.tar`);
      await Deno.writeFile(path, await packTar([...entries] as never));
      const before = await workspace.snapshot();
      const { code, stderr } = await workspace.sig(
        [...RESTORE, path],
        ELSEWHERE(workspace),
      );
      assertEquals(code, 2, `${i}`);
      assertStringIncludes(stderr, "invalid_request: Cannot use the backup");
      assertEquals(await workspace.snapshot(), before);
    }
  }));

Deno.test("proofs are made again", () =>
  withPassphrase(async (workspace) => {
    await succeed(workspace, ["checkpoint", "--dir", "$D/acme", "--init"]);
    await succeed(workspace, [...BACKUP, "$D/a.tar"]);
    await succeed(workspace, [...RESTORE, "$D/a.tar"], ELSEWHERE(workspace));
    const evidence = await workspace.sig([
      ...["evidence", "make", "--sig", "$D/new", "--out", "$D/e.json"],
      ...["--subject", "did:web:alice.example", "--require", "role=deploy"],
    ]);
    assertEquals(evidence.code, 0, evidence.stderr);
  }));

Deno.test("the index is made again, and notices what gets lost later", () =>
  withPassphrase(async (workspace) => {
    await succeed(workspace, [...BACKUP, "$D/a.tar"]);
    await succeed(workspace, [...RESTORE, "$D/a.tar"], ELSEWHERE(workspace));
    const feed = workspace.path("new/.well-known/sig/events.jsonl");
    const [first] = (await Deno.readTextFile(feed)).split("\n");
    await Deno.writeTextFile(feed, `${first}\n`);
    const { code, stderr } = await workspace.sig(
      "upsert --dir $D/new --subject did:web:z.example --type other".split(" "),
      ELSEWHERE(workspace),
    );
    assertEquals(code, 2);
    assertStringIncludes(stderr, "feed_rolled_back");
  }));

Deno.test("a restore says that the index knows of events which neither the feed nor the backup has", () =>
  withPassphrase(async (workspace) => {
    await succeed(workspace, [...BACKUP, "$D/a.tar"]);
    const words =
      "upsert --dir $D/acme --subject did:web:z.example --type other";
    await succeed(workspace, words.split(" "));
    const feed = workspace.path("acme/.well-known/sig/events.jsonl");
    const [first] = (await Deno.readTextFile(feed)).split("\n");
    await Deno.writeTextFile(feed, `${first}\n`);
    const restore = ["restore", "--dir", "$D/acme", "--backup", "$D/a.tar"];
    const json = await succeed(workspace, [...restore, "--format", "json"]);
    const { notices, restored } = JSON.parse(json);
    assertEquals([restored, notices.length], [2, 1]);
    assertStringIncludes(
      notices[0],
      "the data is restored, but: Cannot append to the feed: it ends at sequence 3, but the index beside it knows sequence 4",
    );
    const { stderr } = await workspace.sig(restore);
    assertEquals(stderr, `warning: ${notices[0]}\n`);
  }));

withOpenSsh(
  "a key in an agent is not in a backup; its reference is restored",
  () =>
    withPassphrase(async (workspace) => {
      await using agent = await startAgent(workspace.dir);
      await agent.add(await makeKey(workspace.dir, "org"));
      const given = { env: { SSH_AUTH_SOCK: agent.socket } };
      await succeed(
        workspace,
        "rotate-key --dir $D/acme --kid k2 --key agent:".split(" "),
        given,
      );
      await succeed(
        workspace,
        ["checkpoint", "--dir", "$D/acme", "--init"],
        given,
      );
      // Neither needs the agent.
      assertEquals(
        await succeed(workspace, [...BACKUP, "$D/a.tar"]),
        "Backed up did:web:acme.example (seq=3) to $D/a.tar, not encrypted\n" +
          "  private keys: orgsign-1\n  not in it, in an agent: k2\n",
      );
      const restored = await workspace.sig(
        [...RESTORE, "$D/a.tar"],
        ELSEWHERE(workspace),
      );
      assertEquals(restored.code, 0);
      assertStringIncludes(
        restored.stdout,
        "  private key k2 is in an agent, not here\n",
      );
      assertStringIncludes(
        restored.stderr,
        "warning: the proofs are not rebuilt: sig checkpoint --dir $D/new --rebuild\n",
      );
      const name = "keys/acme.example/k2.agent";
      assertEquals(
        await Deno.readTextFile(workspace.path(`other/${name}`)),
        await Deno.readTextFile(workspace.path(name)),
      );
      await succeed(
        workspace,
        "set --dir $D/new --relationship-id r1 --add-role x".split(" "),
        { env: { ...given.env, ...ELSEWHERE(workspace).env } },
      );
    }),
);
