import type { Checkpoint } from "@sig/jose/proofs";
import type { Issuer } from "@sig/issuer";
import {
  file,
  many,
  optional,
  toggle,
  usageError,
  type Values,
} from "@sig/api/program";
import { readCosigner } from "../ask/pin_flags.ts";
import { INSECURE_FLAG } from "../ask/source_flags.ts";
import { DIR_FLAG } from "../issue/flags.ts";
import { kid, signingKey, textOf } from "../command_line/values.ts";
import { type Call, typedCommand } from "../command_line/command.ts";
import { counted, type Output, warn, writeJson } from "../output/write.ts";
import { readInput } from "../terminal/read_input.ts";

/** Maximum bytes of signature lines, more than any checkpoint has. */
const MAX_LINES_BYTES = 128 * 1024;

/** `sig checkpoint` */
export const checkpoint = typedCommand({
  description: `
    Proofs are static files that show a reader one subject's relationships without
    the feed. Updates them to the end of the feed, and signs their checkpoint with
    every available key of the issuer. After --init, commands that append do the
    same. Run it again to renew the checkpoint's time.`,
  flags: {
    ...DIR_FLAG,
    init: toggle("start to publish proofs"),
    rebuild: toggle("rebuild every file from the feed"),
    add: optional(
      file,
      "add a cosigner's signature line to the checkpoint (- for stdin)",
    ),
    cosigner: many(
      textOf("VKEY"),
      "cosigner whose lines --add adds, if they are valid (default: any, which replace nothing)",
    ),
    drop: many(
      kid,
      "continue without the signature of this key, whose private part is lost",
    ),
    witness: many(
      textOf("URL=VKEY"),
      "ask a witness (C2SP tlog-witness) for a cosignature, and add it",
    ),
    ...INSECURE_FLAG,
    key: optional(
      signingKey,
      "private JWK, or key in ssh-agent, to sign with in addition to those of the key store",
    ),
  },
  examples: [
    "sig checkpoint --dir acme.example --init",
    "sig checkpoint --dir acme.example",
    "sig checkpoint --dir acme.example --add cosignature.txt --cosigner auditor.example+2a3b4c5d+BA…",
    "sig checkpoint --dir acme.example --witness https://w.example=w.example+2a3b4c5d+BA…",
  ],
  async run(call) {
    const { openIssuerDir } = await import("../issue/open_issuer.ts");
    const { isReferenced } = await import("@sig/issuer/internal");
    const { init, rebuild } = call.flags;
    const lines = call.flags.add;
    const add = lines === undefined ? undefined : new TextDecoder().decode(
      await readInput(call.io, lines, MAX_LINES_BYTES),
    );
    const cosigners = await Promise.all(
      call.flags.cosigner.map((vkey) => readCosigner(vkey, "--cosigner")),
    );
    if (cosigners.length > 0 && add === undefined) {
      throw usageError("--cosigner needs --add", { flag: "--cosigner" });
    }
    const witnesses = await Promise.all(call.flags.witness.map(readWitness));
    await using issuer = await openIssuerDir(call);
    const signed = await issuer.checkpoint({
      init,
      rebuild,
      add,
      cosigners,
      drop: call.flags.drop,
      onKeys(keys) {
        const count = keys.filter(isReferenced).length;
        if (add !== undefined || count === 0) return;
        warn(call, `asking ssh-agent for ${counted(count, "signature")}`);
      },
    });
    await askWitnesses(call, issuer, witnesses);
    await report(call, signed, add !== undefined);
  },
});

type Witness = Awaited<ReturnType<typeof readWitness>>;

/** Parses a `--witness` value. */
export async function readWitness(text: string) {
  const [, url, vkey] = /^(.+?)=([^=+]+\+[0-9a-f]{8}\+.*)$/.exec(text) ?? [];
  if (url === undefined || vkey === undefined) {
    throw usageError(
      "--witness must be the witness's URL, an equals sign, and its key as <name>+<key ID>+<base64>",
      { flag: "--witness" },
    );
  }
  return { url, key: await readCosigner(vkey, "--witness") };
}

/** Requests a cosignature from each witness and adds those that succeed. */
async function askWitnesses(
  { flags, io }: Call<
    Values<typeof DIR_FLAG & typeof INSECURE_FLAG>
  >,
  issuer: Issuer,
  witnesses: readonly Witness[],
): Promise<void> {
  if (witnesses.length === 0) return;
  const { openSource } = await import("@sig/consumer");
  const { requestCosignature } = await import("@sig/consumer/internal");
  const location = openSource({ kind: "directory", path: flags.dir });
  const policy = { allowPrivate: flags["allow-insecure"], now: io.now() };
  const failures: unknown[] = [];
  for (const witness of witnesses) {
    try {
      const add = await requestCosignature(location, witness, policy);
      await issuer.checkpoint({ add, cosigners: [witness.key] });
    } catch (error) {
      failures.push(error);
    }
  }
  if (failures.length > 0) throw failures[0];
}

async function report(
  call: Output,
  signed: Checkpoint,
  isAdded: boolean,
): Promise<void> {
  const { origin, size } = signed;
  if (call.format === "text") {
    const events = counted(size, "event");
    const done = isAdded ? "Added a signature to" : "Signed";
    return call.io.stdout(`${done} the checkpoint of ${events} (${origin})\n`);
  }
  const { encodeBase64 } = await import("@sig/jose/proofs");
  const { bytes, keys, root, state } = signed;
  writeJson(call.io, {
    origin,
    size,
    root: encodeBase64(root),
    bytes,
    state: encodeBase64(state),
    keys: encodeBase64(keys),
  });
}
