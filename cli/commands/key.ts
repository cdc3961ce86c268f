import type { Jwk, OpenObject } from "@sig/core";
import { isIdentifier } from "@sig/core/internal";
import { file, optional, type Values } from "@sig/api/program";
import { type Call, typedCommand } from "../command_line/command.ts";
import { checked, kid } from "../command_line/values.ts";
import { safe, safeJson, writeResult } from "../output/write.ts";

const OUT_FLAG = {
  out: optional(
    file,
    "write there (mode 0600, never overwritten) instead of to stdout",
  ),
};

const KEY_FILE = {
  name: "file",
  help:
    "a JWK file, a file with an OpenSSH public key, or - for standard input",
  kind: "file",
} as const;

/** The `--kid` of a new key. */
const newKid = checked(
  kid,
  (text) => isIdentifier(text) && text.length <= 256,
  "be 1 to 256 characters without control characters",
);

/** `sig key generate` */
export const keyGenerate = typedCommand({
  flags: { ...OUT_FLAG, kid: optional(newKid, "the key's identifier") },
  examples: ["sig key generate --out alice.jwk"],
  async run(call) {
    const { kid, out } = call.flags;
    const { generateSigningKey, jwkToDidKey } = await import("@sig/jose");
    const jwk = await generateSigningKey(kid === undefined ? {} : { kid });
    const did = jwkToDidKey(jwk);
    return await writeKey(
      call,
      JSON.stringify(jwk, null, 2),
      `Wrote private key ${out} (${did})`,
      { kid: jwk.kid, did },
    );
  },
});

/** `sig key public` */
export const keyPublic = typedCommand({
  positionals: [KEY_FILE],
  flags: OUT_FLAG,
  examples: ["sig key public alice.jwk"],
  async run(call) {
    const text = safeJson(JSON.stringify(await readPublic(call), null, 2));
    return await writeKey(call, text, `Wrote public key ${call.flags.out}`);
  },
});

/** `sig key did` */
export const keyDid = typedCommand({
  positionals: [KEY_FILE],
  flags: OUT_FLAG,
  examples: ["sig key did alice.jwk", "sig key did id_ed25519.pub"],
  async run(call) {
    const { jwkToDidKey } = await import("@sig/jose");
    const did = jwkToDidKey(await readPublic(call));
    const text = call.format === "json" ? JSON.stringify({ did }) : did;
    return await writeKey(call, text, `Wrote ${call.flags.out}`);
  },
});

/** `sig key ssh` */
export const keySsh = typedCommand({
  positionals: [{
    ...KEY_FILE,
    name: "key",
    help: `a did:key, ${KEY_FILE.help}`,
  }],
  flags: OUT_FLAG,
  examples: [
    "sig key ssh did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp",
    "sig key ssh alice.jwk",
  ],
  async run(call) {
    const { didKeyToJwk, jwkToDidKey, jwkToSshKey } = await import(
      "@sig/jose"
    );
    const [word] = call.positionals;
    const jwk = word!.startsWith("did:")
      ? didKeyToJwk(word!)
      : await readPublic(call);
    const [ssh, did] = [jwkToSshKey(jwk), jwkToDidKey(jwk)];
    const text = call.format === "json"
      ? JSON.stringify({ ssh, did })
      : `${ssh} ${did}`;
    return await writeKey(call, text, `Wrote ${call.flags.out}`);
  },
});

/** Reads the public part of the key in the argument. */
async function readPublic({ io, positionals: [path] }: Call): Promise<Jwk> {
  const { importSigningKey, sshKeyToJwk, toPublicJwk } = await import(
    "@sig/jose"
  );
  const { readKeyFile } = await import("../issue/private_key.ts");
  const read = await readKeyFile(io, path!);
  if (typeof read === "string") return toPublicJwk(sshKeyToJwk(read));
  // Importing checks that `x` belongs to `d`; otherwise the key would show
  // another key's DID.
  return Object.hasOwn(read, "d")
    ? (await importSigningKey(read)).publicJwk
    // `toPublicJwk` validates its members.
    : toPublicJwk(read as OpenObject & Jwk);
}

/** Prints a text, or writes it to the file of `--out` and reports that. */
async function writeKey(
  call: Call<Values<typeof OUT_FLAG>>,
  text: string,
  said: string,
  about: object = {},
): Promise<void> {
  const { flags: { out }, io } = call;
  if (out === undefined) return io.stdout(`${text}\n`);
  await io.createPrivateFile(out, `${text}\n`);
  writeResult(call, { file: out, ...about }, `${safe(said)}\n`);
}
