/** `sig backup` and `sig restore`. @module */

import { isSigError, type PrivateJwk, WELL_KNOWN_PATHS } from "@sig/core";
import type { BackupKeys, IssuerBackup, RestoredBackup } from "@sig/issuer";
import {
  file,
  optional,
  required,
  usageError,
  type Values,
} from "@sig/api/program";
import { type Call, typedCommand } from "../command_line/command.ts";
import { requireEither, source } from "../command_line/values.ts";
import { INSECURE_FLAG, SOURCE_HELP } from "../ask/source_flags.ts";
import { DIR_FLAG } from "../issue/flags.ts";
import {
  counted,
  givenWarnings,
  type Output,
  safe,
  toSecond,
  warn,
  writeJson,
  writeWarnings,
} from "../output/write.ts";

/** The flag for the passphrase of a backup. */
const PASSPHRASE_FLAG = {
  "passphrase-file": optional(
    file,
    "file with the passphrase of the backup, one line; - is standard input",
  ),
};

const OIDC_FLAGS = {
  "oidc-keys": optional(file, "add this file of keys of sig web"),
  "oidc-clients": optional(file, "add this file of applications of sig web"),
};

/** Maximum size in bytes of each file of {@linkcode OIDC_FLAGS}. */
const MAX_OIDC_BYTES = 8 * 1024 * 1024;

/** `sig backup` */
export const backup = typedCommand({
  description: `
    Writes all data of an issuer that can't be rebuilt to one file: private keys,
    names, documents, and the feed, whose every line is verified first. With a
    passphrase the file is encrypted (age). Without one, its folder must be closed
    to others. A key in ssh-agent is not in it, only its fingerprint.`,
  flags: {
    ...DIR_FLAG,
    out: required(file, "a new file"),
    ...PASSPHRASE_FLAG,
    ...OIDC_FLAGS,
  },
  examples: [
    "sig backup --dir acme.example --out acme.age --passphrase-file passphrase",
  ],
  async run(call) {
    const { io, flags } = call;
    const { out } = flags;
    const { agentKeys, packBackup } = await import(
      "../issue/backup_archive.ts"
    );
    const { readPassphrase } = await import("../issue/passphrase.ts");
    const { openIssuerDir } = await import("../issue/open_issuer.ts");
    const { verifyBackup } = await import("@sig/issuer");
    const passphrase = await readPassphrase(call, flags["passphrase-file"]);
    if (passphrase === undefined) await requireClosedFolder(call, out);
    await using issuer = await openIssuerDir(call);
    const { files, keys } = await issuer.backup(await findKeys(call));
    const all = new Map(files);
    for (const name of Object.keys(OIDC_FLAGS) as (keyof typeof OIDC_FLAGS)[]) {
      const path = flags[name];
      if (path === undefined) continue;
      all.set(`/.sig/${name}.json`, await io.readFile(path, MAX_OIDC_BYTES));
    }
    const made = { files: all, keys };
    const { issuer: did, kids, last_sequence } = await verifyBackup(made);
    await io.createPrivateFile(
      out,
      await packBackup(io, made, passphrase),
    );
    const agents = agentKeys(made);
    const shown = {
      out,
      issuer: did,
      last_sequence,
      encrypted: passphrase !== undefined,
      keys: [...keys.keys()].filter((kid) => !agents.includes(kid)),
      agent_keys: agents,
      missing_keys: kids.filter((kid) => !keys.has(kid)),
    };
    if (call.format === "json") writeJson(io, shown);
    else {
      const how = shown.encrypted ? "encrypted" : "not encrypted";
      io.stdout(
        `Backed up ${safe(did)} (seq=${last_sequence}) to ${
          safe(out)
        }, ${how}\n`,
      );
      writeKeys(call, "private keys", shown.keys);
      writeKeys(call, "not in it, in an agent", shown.agent_keys);
      writeKeys(call, "not in it, not found", shown.missing_keys);
      if (hasRecovery(files)) {
        io.stdout("  not in it, kept offline: the recovery key\n");
      }
    }
  },
});

function writeKeys({ io }: Output, what: string, kids: readonly string[]) {
  if (kids.length > 0) io.stdout(`  ${what}: ${kids.map(safe).join(", ")}\n`);
}

/** Returns whether the issuer has published a commitment to a recovery key. */
function hasRecovery(files: IssuerBackup["files"]): boolean {
  const metadata = files.get(WELL_KNOWN_PATHS.metadata);
  return metadata !== undefined &&
    "recovery" in JSON.parse(new TextDecoder().decode(metadata));
}

/** Refuses a folder in which other users could list or replace the backup. */
async function requireClosedFolder(
  { io }: Call<unknown>,
  out: string,
): Promise<void> {
  // The path is not normalized, because a component before /.. may be a link.
  const folder = out.slice(0, out.lastIndexOf("/") + 1) || ".";
  const mode = await io.fileMode(folder) ?? 0;
  if ((mode & 0o066) === 0) return;
  throw usageError(
    `a backup without a passphrase has open private keys, and others may list or write ${
      JSON.stringify(folder)
    } (mode ${mode.toString(8)})`,
    {
      flag: "--out",
      hint: "Add --passphrase-file, or use a folder of mode 700.",
    },
  );
}

/** Collects the keys of the key store, and the key of `SIG_KEY_FILE`. */
async function findKeys(call: Call<unknown>): Promise<BackupKeys> {
  const { fileKeys } = await import("../issue/open_issuer.ts");
  const { readPrivateJwk } = await import("../issue/private_key.ts");
  const { findAgentKey, isAgentKey } = await import("../issue/agent_key.ts");
  const keys = fileKeys(call);
  const name = call.io.env("SIG_KEY_FILE");
  if (name === undefined) return { keys };
  if (isAgentKey(name)) {
    const { open, x } = await findAgentKey(call, name);
    return { keys, own: { x, key: await open() } };
  }
  const { d, x } = await readPrivateJwk(call, name);
  const key = { kty: "OKP", crv: "Ed25519", x, d } as PrivateJwk;
  return { keys, own: { x, key } };
}

const RESTORE_FLAGS = {
  ...DIR_FLAG,
  backup: optional(file, "backup made by sig backup"),
  ...PASSPHRASE_FLAG,
  from: optional(source, SOURCE_HELP),
  ...INSECURE_FLAG,
};

type RestoreCall = Call<Values<typeof RESTORE_FLAGS>>;

/** `sig restore` */
export const restore = typedCommand({
  description: `
    With --from: appends the events that the published feed has and the local one
    lost, after every signature was verified with the local key set, and only if the
    published feed continues the local lines byte for byte. Then it updates the
    proofs.

    With --backup: puts back the data of a backup, after all of it was verified: keys
    into the key store, everything else into the directory. Data that differs is
    never overwritten.`,
  flags: RESTORE_FLAGS,
  examples: [
    "sig restore --dir acme.example --from acme.example",
    "sig restore --dir acme.example --backup acme.age --passphrase-file passphrase",
  ],
  async run(call) {
    const { backup, from } = call.flags;
    requireEither(call.flags, "from", "backup");
    if (backup !== undefined) await restoreFromBackup(call, backup);
    else if (call.flags["passphrase-file"] === undefined) {
      await restoreEvents(call, from!);
    } else throw usageError("--passphrase-file is for --backup");
  },
});

async function restoreEvents(call: RestoreCall, from: string): Promise<void> {
  const { openIssuerDir } = await import("../issue/open_issuer.ts");
  const { readPublishedFeed } = await import("../issue/published_feed.ts");
  await using issuer = await openIssuerDir(call);
  const published = await readPublishedFeed(call, from);
  const done = await issuer.restore(published);
  const { last_sequence, restored } = done;
  const warnings = await issuer.refreshProofs();
  writeWarnings(call, warnings);
  if (call.format === "json") {
    writeJson(call.io, { ...done, ...givenWarnings(warnings) });
  } else {
    call.io.stdout(
      restored === 0
        ? `Nothing to restore: the feed ends at sequence ${last_sequence}, and the published one no later\n`
        : `Restored ${
          counted(restored, "event")
        }: the feed ends at sequence ${last_sequence} again\n`,
    );
  }
}

async function restoreFromBackup(
  call: RestoreCall,
  path: string,
): Promise<void> {
  const { io, flags: { dir } } = call;
  const { agentKeys, MAX_BACKUP_BYTES, unpackBackup } = await import(
    "../issue/backup_archive.ts"
  );
  const { readPassphrase } = await import("../issue/passphrase.ts");
  const { createFileStore, restoreBackup } = await import("@sig/issuer");
  const { fileKeys } = await import("../issue/open_issuer.ts");
  const { keyStoreDir } = await import("../issue/private_key.ts");
  const passphrase = await readPassphrase(call, call.flags["passphrase-file"]);
  const bytes = await io.readFile(path, MAX_BACKUP_BYTES);
  const { madeAt, ...backup } = await unpackBackup(bytes, passphrase);
  const store = createFileStore(dir);
  const keys = fileKeys(call);
  const done = await restoreBackup(backup, { store, keys, now: io.now })
    .finally(() => store.close());
  const notices = await rebuild(call, done, backup.keys);
  for (const each of notices) warn(call, each);
  const { issuer, last_sequence, restored } = done;
  const agents = agentKeys(backup);
  const files = [...backup.files.keys()].map((path) => `${dir}${path}`);
  const kids = [...backup.keys.keys()].filter((kid) => !agents.includes(kid));
  if (call.format === "json") {
    return writeJson(io, {
      issuer,
      restored,
      last_sequence,
      keys: kids,
      agent_keys: agents,
      files,
      ...(notices.length === 0 ? {} : { notices }),
    });
  }
  const lines = [
    `Restored ${issuer} in ${dir}: ${
      counted(restored, "event")
    }, the feed ends at sequence ${last_sequence}`,
    ...kids.map((kid) => `  private key ${kid} in ${keyStoreDir(io)}`),
    ...agents.map((kid) => `  private key ${kid} is in an agent, not here`),
    ...files.map((file) => `  ${file}`),
    `The backup is of ${
      toSecond(madeAt.toISOString())
    }. If events were published later: sig restore --dir ${dir} --from ${issuer}`,
  ];
  io.stdout(lines.map((line) => `${safe(line)}\n`).join(""));
}

/** Rebuilds the index and the proof files, which a backup does not contain. */
async function rebuild(
  call: RestoreCall,
  { has_proofs, kids }: RestoredBackup,
  keys: IssuerBackup["keys"],
): Promise<readonly string[]> {
  const isAgents = "reference" in (keys.get(kids.at(-1) ?? "") ?? {});
  const byHand = `sig checkpoint --dir ${call.flags.dir} --rebuild`;
  try {
    const { openIssuerDir } = await import("../issue/open_issuer.ts");
    await using issuer = await openIssuerDir(call);
    await issuer.current({});
    if (!has_proofs) return [];
    if (isAgents) return [`the proofs are not rebuilt: ${byHand}`];
    await issuer.checkpoint({ rebuild: true });
    return [];
  } catch (error) {
    if (!isSigError(error)) throw error;
    const how = has_proofs ? `; then: ${byHand}` : "";
    return [`the data is restored, but: ${error.message}${how}`];
  }
}
