import {
  assert,
  assertEquals,
  assertMatch,
  assertStringIncludes,
} from "@std/assert";
import { run, runWell } from "../../tests/kit/process.ts";
import { makeKey, startAgent, withOpenSsh } from "../../tests/kit/open_ssh.ts";
import {
  initIssuer,
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

test("a backup's passphrase costs as much to guess as one of age", async (workspace) => {
  const words = `${BACKUP} $D/acme.age ${WITH_PASSPHRASE}`;
  await workspace.ok(words, { io: { passphraseCost: undefined } });
  assertMatch(
    await workspace.read("acme.age"),
    /^age-encryption\.org\/v1\n-> scrypt \S+ 18\n/,
  );
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

test("a passphrase is one line of text", async (workspace) => {
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
