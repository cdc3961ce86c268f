import { type OpenObject, parseIssuerDid, SigError } from "@sig/core";
import type { ParsedInvitation, SigningKey } from "@sig/jose";
import {
  file,
  optional,
  toggle,
  usageError,
  type Values,
} from "@sig/api/program";
import { INSECURE_FLAG } from "../ask/source_flags.ts";
import { type Call, typedCommand } from "../command_line/command.ts";
import { did, signingKey, source } from "../command_line/values.ts";
import { safe, warn, writeJson } from "../output/write.ts";
import { termLines, writeLines } from "../output/fields.ts";

const FLAGS = {
  key: optional(
    signingKey,
    "your private JWK, or key in ssh-agent (default: SIG_KEY_FILE, else a new key in ./<issuer's host>-….jwk)",
  ),
  subject: optional(did, "a did:web of yours (default: the key's did:key)"),
  out: optional(
    file,
    "write the answer there (never overwritten), not to stdout",
  ),
  sig: optional(
    source,
    "where the issuer's keys are (default: where its DID says)",
  ),
  ...INSECURE_FLAG,
  yes: toggle("do not ask for confirmation"),
};

type AcceptCall = Call<Values<typeof FLAGS>>;

/** `sig accept` */
export const accept = typedCommand({
  description: `
    Shows the invitation, verifies it with the keys that the issuer publishes, and
    prints the answer to give back. Creates a new key unless --key names one; keep
    it: it identifies you to the issuer. The answer can't be used to log in.`,
  positionals: [{
    name: "invitation",
    kind: "file",
    help: "the invitation, its link, a file with it, or - for standard input",
  }],
  flags: FLAGS,
  examples: [
    "sig accept alice.invitation --out answer.json",
    "sig accept https://login.acme.example/#/invitation/eyJhbGci… --key alice.jwk",
  ],
  async run(call) {
    const { io } = call;
    const word = call.positionals[0]!;
    const given = call.flags.key ?? io.env("SIG_KEY_FILE");
    if (word === "-" && given === "-") {
      throw usageError("invitation and --key can't both be standard input", {
        flag: "--key",
      });
    }
    if (call.flags.subject !== undefined && given === undefined) {
      throw usageError("--subject needs the --key that its document lists", {
        flag: "--subject",
      });
    }
    const { readInvitation, whyUnverified } = await import(
      "../issue/invitations.ts"
    );
    const invitation = await readInvitation(io, word);
    const unverified = await whyUnverified(call, invitation);
    const own = given === undefined
      ? await makeKey(invitation)
      : await readKey(call, given);
    requireFree(call, call.flags.out);
    const subject = call.flags.subject;
    const who = subject ?? own.did;
    await requireAgreement(call, invitation, unverified, { ...own, who });
    const { answerInvitation } = await import("@sig/jose");
    const answer = await answerInvitation({
      invitation,
      key: own.key,
      now: io.now,
      ...(subject === undefined ? {} : { subject }),
    });
    // The key is saved first: without it the answer is useless.
    if (own.text !== undefined) await io.createPrivateFile(own.file, own.text);
    await writeAnswer(call, answer, {
      issuer: invitation.claims.iss,
      subject: who,
      verified: unverified === undefined,
      key_file: own.file,
    });
  },
});

/** The person's key, which signs the answer. */
interface OwnKey {
  readonly key: SigningKey;
  readonly did: string;
  readonly file: string;
  /** The content to write into `file`; undefined if the file exists already. */
  readonly text?: string;
}

async function readKey(call: AcceptCall, file: string): Promise<OwnKey> {
  const { jwkToDidKey } = await import("@sig/jose");
  const { readSigningKey } = await import("../issue/private_key.ts");
  const key = await readSigningKey(call, file);
  return { key, did: jwkToDidKey(key.publicJwk), file };
}

/**
 * Generates a key in memory. It is saved once the person has agreed, in a file
 * whose name is unique: the issuer's host and the end of the did:key.
 */
async function makeKey({ claims }: ParsedInvitation): Promise<OwnKey> {
  const { host } = parseIssuerDid(claims.iss, { allowPrivate: true });
  const { generateSigningKey, importSigningKey, jwkToDidKey } = await import(
    "@sig/jose"
  );
  const jwk = await generateSigningKey();
  const did = jwkToDidKey(jwk);
  const file = `${host.replace(/[^A-Za-z0-9.-]/g, "")}-${did.slice(-8)}.jwk`;
  const text = `${JSON.stringify(jwk, null, 2)}\n`;
  return { key: await importSigningKey(jwk), did, file, text };
}

/** Refuses an existing file early; the write itself checks again. */
function requireFree({ io }: AcceptCall, file: string | undefined): void {
  if (file === undefined || !io.exists(file)) return;
  throw new SigError("write_failed", {
    action: `write ${JSON.stringify(file)}`,
    reason: "it exists already, and is not overwritten",
    context: { flag: "--out", hint: "Choose another name." },
  });
}

/** Shows the invitation's terms, and asks for confirmation on a terminal. */
async function requireAgreement(
  call: AcceptCall,
  { claims, expires_at }: ParsedInvitation,
  unverified: string | undefined,
  own: OwnKey & { readonly who: string },
): Promise<void> {
  const { io } = call;
  if (call.format !== "text") return;
  const source = call.flags.sig;
  const keys = source === undefined
    ? "its published keys"
    : `the keys of ${source}`;
  const file = `${own.text === undefined ? "" : "new, "}${own.file}`;
  writeLines(io, [
    [
      "invited by",
      `${claims.iss} (${
        unverified === undefined ? `verified with ${keys}` : "NOT VERIFIED"
      })`,
    ],
    ...termLines(claims),
    ...(claims.for === undefined
      ? []
      : [["for", `${claims.for} (never published)`] as const]),
    ["open until", expires_at],
    ["published as", own.who],
    ["with key", file],
  ]);
  if (unverified !== undefined) {
    warn(
      call,
      `could not verify that ${claims.iss} made this: ${unverified}. It accepts answers to its own invitations only`,
    );
  }
  if (call.flags.yes || !io.isTerminal("stdout")) return;
  if (await io.ask("Answer this invitation?")) return;
  throw new SigError("confirmation_required", {
    action: "answer invitation",
    reason: "not confirmed",
    context: { hint: "Nothing was written. --yes skips the question." },
  });
}

async function writeAnswer(
  call: AcceptCall,
  answer: { readonly invitation: string; readonly attestation: string },
  about: OpenObject & { readonly issuer: string; readonly key_file: string },
): Promise<void> {
  const { io, flags: { out } } = call;
  const text = `${JSON.stringify(answer)}\n`;
  if (out !== undefined) await io.createPrivateFile(out, text);
  if (call.format === "json") {
    return writeJson(io, { ...answer, ...about, file: out });
  }
  const { isAgentKey } = await import("../issue/agent_key.ts");
  const [issuer, key] = [about.issuer, about.key_file].map(safe);
  io.stderr(
    `${
      isAgentKey(about.key_file)
        ? "Keep your key: it identifies you to the issuer."
        : `Keep ${key} secret: this key identifies you to the issuer.`
    }
Give the answer to ${issuer}: sig enrol --answer ${safe(out ?? "FILE")}
`,
  );
  io.stdout(out === undefined ? text : `Wrote answer ${safe(out)}\n`);
}
