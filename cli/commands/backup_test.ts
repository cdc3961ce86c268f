import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { run, runWell } from "../../tests/kit/process.ts";
import { makeKey, startAgent, withOpenSsh } from "../../tests/kit/open_ssh.ts";
import {
  FEED,
  initIssuer,
  issuerTest,
  testsWith,
  withIssuer,
  type Workspace,
} from "../testdata/workspace.ts";

// promise: A backup is 0600, and without a passphrase only in a private folder.

const BACKUP = "backup --dir $D/acme --out";
const RESTORE = "restore --dir $D/new --backup";
const WITH_PASSPHRASE = "--passphrase-file $D/passphrase";
const PASSPHRASE = "correct horse battery staple";

/** The key store of another machine. */
const elsewhere = (workspace: Workspace) => ({
  env: { SIG_KEYS_DIR: workspace.path("other/keys") },
});

const test = testsWith<Workspace>(async (workspace, work) => {
  await initIssuer(workspace);
  await Deno.chmod(workspace.dir, 0o700);
  await workspace.write("passphrase", `${PASSPHRASE}\n`);
  await work(workspace);
});

/** Creates an unencrypted backup and restores it to a second directory. */
async function restored(workspace: Workspace): Promise<void> {
  await workspace.ok(`${BACKUP} $D/a.tar`);
  await workspace.ok(`${RESTORE} $D/a.tar`, elsewhere(workspace));
}

/** Truncates a feed to its first event. */
async function shorten(workspace: Workspace, feed: string): Promise<void> {
  const [first] = (await workspace.read(feed)).split("\n");
  await workspace.write(feed, `${first}\n`);
}

test("a backup's passphrase costs as much to guess as one of age", async (workspace) => {
  const words = `${BACKUP} $D/acme.age ${WITH_PASSPHRASE}`;
  await workspace.ok(words, { io: { passphraseCost: undefined } });
  assertMatch(
    await workspace.read("acme.age"),
    /^age-encryption\.org\/v1\n-> scrypt \S+ 18\n/,
  );
});

test("an encrypted backup restores the issuer on another machine, where it can append", async (workspace) => {
  await workspace.write(
    "acme/.sig/people.csv",
    "subject,name\ndid:web:alice.example,Alice\n",
  );
  assertEquals(
    await workspace.ok(`${BACKUP} $D/acme.age ${WITH_PASSPHRASE}`),
    "Backed up did:web:acme.example (seq=3) to $D/acme.age, encrypted\n  private keys: orgsign-1\n",
  );
  const text = await workspace.read("acme.age");
  const secret = await workspace.read("keys/acme.example/orgsign-1.jwk");
  assert(!text.includes("did:web:acme.example"));
  assert(!text.includes(JSON.parse(secret).d));
  await workspace.write("wrong", "x\n");
  for (
    const [words, why] of [
      ["--passphrase-file $D/wrong", "the passphrase is wrong, or the file"],
      ["", "it is encrypted"],
    ] as const
  ) {
    await workspace.refused(
      `${RESTORE} $D/acme.age ${words}`.trim(),
      `error: invalid_request: Cannot use the backup: ${why}`,
      elsewhere(workspace),
    );
  }
  assertEquals(
    await workspace.ok(
      `${RESTORE} $D/acme.age ${WITH_PASSPHRASE}`,
      elsewhere(workspace),
    ),
    `Restored did:web:acme.example in $D/new: 3 events, the feed ends at sequence 3
  private key orgsign-1 in $D/other/keys
  $D/new/.sig/people.csv
  $D/new/.well-known/sig/events.jsonl
  $D/new/.well-known/jwks.json
  $D/new/.well-known/did.json
  $D/new/.well-known/sig.json
The backup is of 2026-01-01T00:00:06Z. If events were published later: sig restore --dir $D/new --from did:web:acme.example
`,
  );
  await workspace.ok(
    "set --dir $D/new --subject Alice --add-role audit",
    elsewhere(workspace),
  );
  assertStringIncludes(await workspace.ok("verify $D/new"), "4 events");
});

test("a backup without a passphrase is a tar archive of mode 0600, in a folder closed to other users", async (workspace) => {
  await Deno.mkdir(workspace.path("open"));
  const words = `${BACKUP} $D/open/acme.tar`;
  for (const mode of [0o755, 0o720]) {
    await Deno.chmod(workspace.path("open"), mode);
    await workspace.refused(words, [
      `invalid_request: Cannot run: a backup without a passphrase has open private keys, and others may list or write "$D/open/" (mode ${
        mode.toString(8)
      })`,
      "hint: Add --passphrase-file, or",
    ]);
  }
  await Deno.mkdir(workspace.path("shared/folder"), { recursive: true });
  await Deno.chmod(workspace.path("shared"), 0o777);
  await Deno.symlink(workspace.path("shared/folder"), workspace.path("link"));
  await workspace.refused(
    `${BACKUP} $D/link/../acme.tar`,
    '"$D/link/../" (mode 777)',
  );
  await Deno.chmod(workspace.path("open"), 0o711);
  await workspace.ok(words);
  assertEquals(await workspace.mode("open/acme.tar"), 0o600);
  // tar and sha256sum read it too.
  const [archive, cwd] = ["open/acme.tar", "by-hand"].map((name) =>
    workspace.path(name)
  );
  await Deno.mkdir(cwd!);
  await runWell("tar", ["-xf", archive!, "-C", cwd!]);
  const sums = await run("sh", [
    "-c",
    'cd "$0" && sha256sum --strict -c SIG-BACKUP-1.sha256',
    cwd!,
  ]);
  assertEquals(sums.code, 0, sums.stdout);
  assertStringIncludes(sums.stdout, "keys/orgsign-1.jwk: OK\n");
  await workspace.ok("verify $D/by-hand");
  await workspace.refused(words, "error: write_failed: ");
});

test("backup --format json lists the included and the missing keys", async (workspace) => {
  await workspace.write("oidc.json", '{"keys":[]}');
  await workspace.ok("rotate-key --dir $D/acme --kid k2");
  await Deno.rename(
    workspace.path("keys/acme.example/orgsign-1.jwk"),
    workspace.path("kept.jwk"),
  );
  assertEquals(
    await workspace.json(`${BACKUP} $D/acme.tar --oidc-keys $D/oidc.json`),
    {
      ...{ out: "$D/acme.tar", issuer: "did:web:acme.example" },
      ...{ last_sequence: 3, encrypted: false },
      ...{ keys: ["k2"], agent_keys: [], missing_keys: ["orgsign-1"] },
    },
  );
  assertEquals(
    await workspace.json(`${RESTORE} $D/acme.tar`, elsewhere(workspace)),
    {
      ...{ issuer: "did:web:acme.example", restored: 3, last_sequence: 3 },
      ...{ keys: ["k2"], agent_keys: [] },
      files: [
        ...["sig/events.jsonl", "jwks.json", "did.json", "sig.json"]
          .map((name) => `$D/new/.well-known/${name}`),
        "$D/new/.sig/oidc-keys.json",
      ],
    },
  );
  assertEquals(await workspace.mode("new/.sig/oidc-keys.json"), 0o600);
  // The key of SIG_KEY_FILE is not in the key store.
  const own = await workspace.json(`${BACKUP} $D/own.tar`, {
    env: { SIG_KEY_FILE: workspace.path("kept.jwk") },
  });
  assertEquals(own.keys, ["orgsign-1", "k2"]);
});

test("restore refuses an unexpected passphrase, and writes nothing", async (workspace) => {
  await workspace.ok(`${BACKUP} $D/a.tar`);
  const cases = [
    [
      `${RESTORE} $D/a.tar ${WITH_PASSPHRASE}`,
      "Cannot use the backup: it is not encrypted",
    ],
  ] as const;
  for (const [words, message] of cases) {
    const error = `error: invalid_request: ${message}`;
    await workspace.refused(words, error, elsewhere(workspace));
  }
  for (const [at, text] of ["\n", " \n", "\t\n", "a\nb\n"].entries()) {
    await workspace.write(`odd${at}`, text);
    await workspace.refused(
      `${BACKUP} $D/b.age --passphrase-file $D/odd${at}`,
      "error: invalid_request: Cannot run: the passphrase must be one line of text",
    );
  }
});

test("a damaged byte of a backup is refused or has no effect", async (workspace) => {
  await workspace.ok(`${BACKUP} $D/a.tar`);
  const bytes = await Deno.readFile(workspace.path("a.tar"));
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
});

/**
 * Returns the archive's entries with the digests in the first entry recomputed.
 */
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

test("restore refuses an archive with a link, a folder, a duplicate or a foreign path", async (workspace) => {
  await workspace.ok(`${BACKUP} $D/a.tar`);
  const { packTar, unpackTar } = await import("modern-tar");
  const found = await unpackTar(
    await Deno.readFile(workspace.path("a.tar")),
  );
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
    // With correct digests.
    await withSums([...found, {
      header: {
        ...{ name: ".sig/people.csv", size: 0 },
        ...{ type: "symlink", linkname: "/etc" },
      },
    }]),
    await withSums([...found, other("keys/orgsign-1.agent")]),
  ] as const;
  for (const [i, entries] of cases.entries()) {
    const path = workspace.path(`${i}.tar`);
    await Deno.writeFile(path, await packTar([...entries] as never));
    await workspace.refused(
      `${RESTORE} ${path}`,
      "invalid_request: Cannot use the backup",
      elsewhere(workspace),
    );
  }
});

test("restore rebuilds the proofs", async (workspace) => {
  await workspace.ok("checkpoint --dir $D/acme --init");
  await restored(workspace);
  await workspace.ok(
    "evidence make --sig $D/new --out $D/e.json --subject did:web:alice.example --require role=deploy",
  );
});

test("restore rebuilds the index, which detects a later loss of events", async (workspace) => {
  await restored(workspace);
  await shorten(workspace, FEED.replace("acme", "new"));
  await workspace.refused(
    "upsert --dir $D/new --subject did:web:z.example --type other",
    "feed_rolled_back",
    elsewhere(workspace),
  );
});

test("restore warns if the index has events that the feed and the backup lack", async (workspace) => {
  await workspace.ok(`${BACKUP} $D/a.tar`);
  await workspace.ok(
    "upsert --dir $D/acme --subject did:web:z.example --type other",
  );
  await shorten(workspace, FEED);
  const restore = "restore --dir $D/acme --backup $D/a.tar";
  const { notices, restored } = await workspace.json(restore);
  assertEquals([restored, notices.length], [2, 1]);
  assertStringIncludes(
    notices[0],
    "the data is restored, but: Cannot append to the feed: it ends at sequence 3, but the index beside it knows sequence 4",
  );
  const { stderr } = await workspace.sig(restore);
  assertEquals(stderr, `warning: ${notices[0]}\n`);
});

withOpenSsh(
  "a key in an agent is not in a backup; its reference is restored",
  () =>
    withIssuer(async (workspace) => {
      await Deno.chmod(workspace.dir, 0o700);
      await using agent = await startAgent(workspace.dir);
      await agent.add(await makeKey(workspace.dir, "org"));
      const given = { env: { SSH_AUTH_SOCK: agent.socket } };
      const rotate = "rotate-key --dir $D/acme --kid k2 --key agent:";
      await workspace.ok(rotate, given);
      await workspace.sig("checkpoint --dir $D/acme --init", given);
      // Backup and restore do not need the agent.
      assertEquals(
        await workspace.ok(`${BACKUP} $D/a.tar`),
        "Backed up did:web:acme.example (seq=3) to $D/a.tar, not encrypted\n" +
          "  private keys: orgsign-1\n  not in it, in an agent: k2\n",
      );
      await workspace.says(`${RESTORE} $D/a.tar`, {
        ...elsewhere(workspace),
        out: "  private key k2 is in an agent, not here\n",
        err:
          "warning: the proofs are not rebuilt: sig checkpoint --dir $D/new --rebuild\n",
      });
      const name = "keys/acme.example/k2.agent";
      assertEquals(
        await workspace.read(`other/${name}`),
        await workspace.read(name),
      );
      await workspace.says(
        "set --dir $D/new --relationship-id r1 --add-role x",
        { env: { ...given.env, ...elsewhere(workspace).env } },
      );
    }),
);

const RESTORE_FROM = "restore --dir $D/acme --from $D/www";
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

issuerTest(
  "restore adds the missing published events, and appends work afterwards",
  async (workspace) => {
    const all = await putBack(workspace, 1);
    // The local feed ends within a line.
    await Deno.writeTextFile(workspace.path(FEED), '{"protec', {
      append: true,
    });
    await workspace.says(RESTORE_FROM, {
      stdout: "Restored 2 events: the feed ends at sequence 3 again\n",
    });
    assertEquals(await workspace.read(FEED), all);
    assertEquals(await workspace.json(RESTORE_FROM), {
      restored: 0,
      last_sequence: 3,
    });
    await workspace.ok(UPSERT);
  },
);

issuerTest("restore refuses a damaged feed", async (workspace) => {
  await putBack(workspace, 2);
  const published = "www/.well-known/sig/events.jsonl";
  const all = await workspace.read(published);
  const forged = all.replace(
    /"signature":"(.)/g,
    (_, first) => `"signature":"${first === "A" ? "B" : "A"}`,
  );
  await workspace.write(published, forged);
  await workspace.refused(RESTORE_FROM, "signature_invalid");
  await workspace.write(published, all.trimEnd());
  await workspace.refused(RESTORE_FROM, "incomplete_line");
});

issuerTest("restore --from updates the proofs", async (workspace) => {
  await workspace.ok("checkpoint --dir $D/acme --init");
  const old = await workspace.read(CHECKPOINT);
  await workspace.ok(UPSERT);
  await putBack(workspace, 3);
  await workspace.write(CHECKPOINT, old);
  await workspace.ok(RESTORE_FROM);
  assertStringIncludes(await workspace.read(CHECKPOINT), "\n4\n");
  // Proofs that can't be updated cause a warning.
  await Deno.remove(workspace.path(CHECKPOINT));
  assertEquals(await workspace.json(RESTORE_FROM), {
    ...{ restored: 0, last_sequence: 4 },
    warnings: [{
      code: "proofs_behind",
      detail:
        "the proofs were not updated: Cannot update proofs: the checkpoint is missing",
    }],
  });
});
