import { isSigError } from "@sig/core";
import type { IssuerBackup, RestoredBackup } from "@sig/issuer";
import { file, optional, usageError, type Values } from "@sig/api/flags";
import { DIR_FLAG } from "../issue/flags.ts";
import { type Call, typedCommand } from "../command_line/command.ts";
import { source } from "../command_line/values.ts";
import {
  counted,
  givenWarnings,
  safe,
  toSecond,
  warn,
  writeJson,
  writeWarnings,
} from "../output/write.ts";
import { INSECURE_FLAG, SOURCE_HELP } from "../ask/source_flags.ts";
import { PASSPHRASE_FLAG } from "./backup.ts";

const FLAGS = {
  ...DIR_FLAG,
  backup: optional(file, "backup made by sig backup"),
  ...PASSPHRASE_FLAG,
  from: optional(source, SOURCE_HELP),
  ...INSECURE_FLAG,
};

type RestoreCall = Call<Values<typeof FLAGS>>;

/** `sig restore` */
export const restore = typedCommand({
  description:
    "With --from: appends the events that the published feed has and the local one\nlost, after every signature was verified with the local key set, and only if the\npublished feed continues the local lines byte for byte. Then it updates the\nproofs.\n\nWith --backup: puts back the data of a backup, after all of it was verified: keys\ninto the key store, everything else into the directory. Data that differs is\nnever overwritten.",
  flags: FLAGS,
  examples: [
    "sig restore --dir acme.example --from acme.example",
    "sig restore --dir acme.example --backup acme.age --passphrase-file passphrase",
  ],
  async run(call) {
    const { backup, from } = call.flags;
    if ((backup === undefined) === (from === undefined)) {
      throw usageError("either --from or --backup must be given", {
        hint: "See: sig restore --help",
      });
    }
    if (backup !== undefined) await restoreFromBackup(call, backup);
    else await restoreEvents(call, from!);
    return 0;
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
  const { agentKeys, MAX_BACKUP_BYTES, readPassphrase, unpackBackup } =
    await import("../issue/backup_archive.ts");
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
  await rebuild(call, done, backup.keys);
  const { issuer, last_sequence, restored } = done;
  const agents = agentKeys(backup);
  const files = [...backup.files.keys()].map((path) => `${dir}${path}`);
  const kids = [...backup.keys.keys()].filter((kid) => !agents.includes(kid));
  if (call.format === "json") {
    return writeJson(io, {
      ...{ issuer, restored, last_sequence },
      ...{ keys: kids, agent_keys: agents, files },
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

/** What is not in a backup: the index, and the files of proofs. */
async function rebuild(
  call: RestoreCall,
  { has_proofs, kids }: RestoredBackup,
  keys: IssuerBackup["keys"],
): Promise<void> {
  const isAgents = "reference" in (keys.get(kids.at(-1) ?? "") ?? {});
  const byHand = `sig checkpoint --dir ${call.flags.dir} --rebuild`;
  try {
    const { openIssuerDir } = await import("../issue/open_issuer.ts");
    await using issuer = await openIssuerDir(call);
    await issuer.current({});
    if (has_proofs && !isAgents) await issuer.checkpoint({ rebuild: true });
    else if (has_proofs) warn(call, `the proofs are not rebuilt: ${byHand}`);
  } catch (error) {
    if (!isSigError(error)) throw error;
    const how = has_proofs ? `; then: ${byHand}` : "";
    warn(call, `the data is restored, but: ${error.message}${how}`);
  }
}
