import type { PrivateJwk } from "@sig/core";
import type { BackupKeys } from "@sig/issuer";
import { file, optional, required, usageError } from "@sig/api/flags";
import { type Call, typedCommand } from "../command_line/command.ts";
import { DIR_FLAG } from "../issue/flags.ts";
import { type Output, safe, writeJson } from "../output/write.ts";

/** The flag of what encrypts a backup. */
export const PASSPHRASE_FLAG = {
  "passphrase-file": optional(
    file,
    "file with the passphrase of the backup, one line; - is standard input",
  ),
};

const OIDC_FLAGS = {
  "oidc-keys": optional(file, "add this file of keys of sig web"),
  "oidc-clients": optional(file, "add this file of applications of sig web"),
};

/** Bytes of a file of {@linkcode OIDC_FLAGS} at most. */
const MAX_OIDC_BYTES = 8 * 1024 * 1024;

/** `sig backup` */
export const backup = typedCommand({
  description:
    "Writes all data of an issuer that can't be rebuilt to one file: private keys,\nnames, documents, and the feed, whose every line is verified first. With a\npassphrase the file is encrypted (age). Without one, its folder must be closed\nto others. A key in ssh-agent is not in it, only its fingerprint.",
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
    const { agentKeys, packBackup, readPassphrase } = await import(
      "../issue/backup_archive.ts"
    );
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
      await packBackup(made, io.now(), passphrase),
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
    }
    return 0;
  },
});

function writeKeys({ io }: Output, what: string, kids: readonly string[]) {
  if (kids.length > 0) io.stdout(`  ${what}: ${kids.map(safe).join(", ")}\n`);
}

/** Others could list or replace what has private keys. */
async function requireClosedFolder(
  { io }: Call<unknown>,
  out: string,
): Promise<void> {
  const folder = io.absolutePath(`${out}/..`);
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

/** The key store, and the key of `SIG_KEY_FILE`. */
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
